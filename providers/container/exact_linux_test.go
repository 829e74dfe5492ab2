package container_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/swaptest"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestMain(m *testing.M) {
	swaptest.Main()
	exhaustive.Quicken()
	// Tests mostly wait, for shells, engines and watches. -parallel still wins.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	flag.Parse() // for what exhaustive asks
	// Each run draws others.
	if err := flag.Set("rapid.checks", map[bool]string{true: "100", false: "30"}[exhaustive.On()]); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := closeBoxes(); err != nil {
		fmt.Fprintln(os.Stderr, "closing the containers of all tests:", err)
		code = 1
	}
	os.RemoveAll(linkedPrograms)
	os.Exit(code)
}

// inShells runs test with each of the shells, and the programs that belong to
// it.
func inShells(t *testing.T, shells []string, test func(t *testing.T, executor container.Executor)) {
	for _, name := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(name)
			if err != nil {
				enginetest.Lacking(t, "%s is not installed", name)
			}
			bin := t.TempDir()
			if name == "busybox" {
				if out, err := exec.Command(path, "--install", "-s", bin).CombinedOutput(); err != nil {
					t.Fatalf("busybox --install: %v: %s", err, out)
				}
			} else if err := os.Symlink(path, filepath.Join(bin, "sh")); err != nil {
				t.Fatal(err)
			}
			test(t, within{bin: bin, path: bin + ":" + os.Getenv("PATH")})
		})
	}
}

// TestExactConformance runs a part of the suite on the view that follows no
// symlinks, in one shell: what differs between them is how they follow symlinks,
// for which there is TestPoliciesBesideSwaps. The view of busybox has the suite in
// TestConformance, whose directories are views.
func TestExactConformance(t *testing.T) {
	inShells(t, []string{"dash"}, func(t *testing.T, executor container.Executor) {
		exhaustive.Need(t, "the suite on the exact view, which has a group of cases")
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			view, err := workspace.Exact(open(t, &container.Options{Executor: executor, Root: t.TempDir()}))
			if err != nil {
				t.Fatalf("Exact() = %v, want nil", err)
			}
			return view
		}, &conformance.Options{Short: true, Only: append([]string{"Exact", "Glob", "Names"}, eachOperation...)})
	})
}

// TestPoliciesBesideSwaps tests that nothing gets past a policy while files and
// directories are swapped for symlinks.
func TestPoliciesBesideSwaps(t *testing.T) {
	exhaustive.Long(t)
	shells := exhaustive.Some(t, "policies in other shells than dash", []string{"dash", "bash", "busybox"}, []string{"dash"})
	inShells(t, shells, func(t *testing.T, executor container.Executor) {
		swaptest.Run(t, func(t *testing.T, dir string) workspace.FileSystem {
			return open(t, &container.Options{Executor: executor, Root: dir})
		})
	})
}

// TestFilesWithoutSize reads a file of the kernel, whose size is 0 and which has content.
func TestFilesWithoutSize(t *testing.T) {
	inShells(t, []string{"dash", "bash", "busybox"}, func(t *testing.T, executor container.Executor) {
		f := open(t, &container.Options{Executor: executor, Root: "/proc"})
		const name, want = "sys/kernel/ostype", "Linux\n"
		for _, limit := range []int64{0, 6} {
			if data, _, err := f.ReadVersioned(t.Context(), name, limit); string(data) != want || err != nil {
				t.Errorf("ReadVersioned(%q, %d) = %q, %v, want %q", name, limit, data, err, want)
			}
		}
		if data, _, err := f.ReadVersioned(t.Context(), name, 5); !errors.Is(err, workspace.ErrTooLarge) {
			t.Errorf("ReadVersioned(%q, 5) = %q, %v, want ErrTooLarge", name, data, err)
		}
		for window, want := range map[workspace.OpenOptions]string{
			{}: want, {Length: 3}: "Lin", {Offset: 3}: "ux\n", {Offset: 3, Length: 2}: "ux", {Offset: 9}: "",
		} {
			stream, _, err := f.Open(t.Context(), name, &window)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(stream)
			if stream.Close(); string(data) != want || err != nil {
				t.Errorf("Open(%q, %+v) = %q, %v, want %q", name, window, data, err, want)
			}
		}
	})
}

// TestImportTarMerges imports an archive into a tree that has some of its names,
// also in the view that follows no symlink.
func TestImportTarMerges(t *testing.T) {
	exhaustive.NotShort(t, "runs many programs")
	inShells(t, []string{"dash", "bash", "busybox"}, func(t *testing.T, executor container.Executor) {
		f := open(t, &container.Options{Executor: executor, Root: t.TempDir()})
		view, err := f.Exact()
		if err != nil {
			t.Fatal(err)
		}
		for dir, fsys := range map[string]*container.FS{"plain": f, "exact": view.(*container.FS)} {
			shell(t, f.Root(), `mkdir '`+dir+`' && cd '`+dir+`' && mkdir -p both/in '*/?' other && echo old >both/file && echo kept >both/kept && ln -s kept both/link`)
			var b bytes.Buffer
			w := tar.NewWriter(&b)
			for _, header := range []tar.Header{
				{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": "a commit"}},
				{Typeflag: tar.TypeDir, Name: "both/", Mode: 0o500},
				{Typeflag: tar.TypeReg, Name: "./both/file", Mode: 0o4755},
				{Typeflag: tar.TypeReg, Name: "both/link", Mode: 0o600},
				{Typeflag: tar.TypeReg, Name: "both/in/.hidden", Mode: 0o600},
				{Typeflag: tar.TypeSymlink, Name: "both/last", Linkname: "file"},
				{Typeflag: tar.TypeLink, Name: "both/last2", Linkname: "both/last"},
				{Typeflag: tar.TypeReg, Name: "*/?/*", Mode: 0o600},
				{Typeflag: tar.TypeReg, Name: "-n", Mode: 0o600},
				{Typeflag: tar.TypeDir, Name: "new/dir/", Mode: 0o500},
				{Typeflag: tar.TypeLink, Name: "new/dir/hard", Linkname: "-n"},
			} {
				if err := w.WriteHeader(&header); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := fsys.ImportTar(t.Context(), dir, &b, nil); err != nil {
				t.Fatalf("%s: ImportTar = %v, want nil", dir, err)
			}
			out, err := exec.Command("find", f.Root()+"/"+dir, "-mindepth", "1", "(", "-type", "d", "-printf", `%P %y%m\n`, ")", "-o", "-printf", `%P %y%m %s %l\n`).Output()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSpace(string(out)), "\n")
			slices.Sort(got)
			for i := range got {
				got[i] = strings.TrimSpace(got[i])
			}
			want := []string{
				"* d755", "*/? d755", "*/?/* f600 0", "-n f600 0", "both d755", "both/file f755 0", "both/in d755", "both/in/.hidden f600 0",
				"both/kept f644 5", "both/last l777 4 file", "both/last2 l777 4 file", "both/link f600 0", "new d755", "new/dir d700", "new/dir/hard f600 0", "other d755",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the tree has (-want +got):\n%s", dir, diff)
			}
		}
	})
}

// TestRefusedFollowsNoSymlink has a call fail where a symlink that leads out has the name of the
// shell's number, which can be guessed.
func TestRefusedFollowsNoSymlink(t *testing.T) {
	inShells(t, []string{"dash", "bash", "busybox"}, func(t *testing.T, executor container.Executor) {
		host := t.TempDir()
		shell(t, host, "mkdir root; echo keep >outside")
		noting := executor.(within)
		noting.Command = container.Command{"sh", "-c", `echo $$ >>'` + host + `/shells'; exec "$@"`, "sh"}
		f := open(t, &container.Options{Executor: noting, Root: filepath.Join(host, "root")})
		shell(t, host, "for number in $(cat shells); do ln -s ../outside root/.workspacekit-tmp-$number; done; ls -A root >before")
		if err := f.ImportTar(t.Context(), ".", strings.NewReader("this is no archive"), nil); err == nil {
			t.Error("ImportTar of what is no archive = nil, want an error")
		}
		shell(t, host, "ls -A root | cmp - before && [ $(cat outside) = keep ]")
	})
}

// TestExportTarOfExchangedDirectory exchanges a directory for a symlink before a link in it is read.
func TestExportTarOfExchangedDirectory(t *testing.T) {
	t.Parallel()
	f := open(t, &container.Options{Executor: container.Command{}, Root: t.TempDir()})
	// Whatever the order of a directory is, tar comes to dir after some of the files whose names are left out.
	shell(t, f.Root(), `mkdir tree other && ln -s tree link && cd tree
for i in 1 2 3 4; do echo content >.workspacekit-tmp-$i; done
mkdir dir
for i in 5 6 7 8; do echo content >.workspacekit-tmp-$i; done
for i in 1 2 3 4 5 6 7 8; do ln .workspacekit-tmp-$i dir/file$i && echo other >../other/file$i; done`)
	for _, dir := range []string{"tree", "link"} {
		var out bytes.Buffer
		if err := f.ExportTar(t.Context(), dir, &out, nil); err != nil {
			t.Fatalf("ExportTar(%q) = %v, want nil", dir, err)
		}
		for name, got := range unpacked(t, &out) {
			if strings.HasPrefix(name, "dir/file") && got != "content\n" {
				t.Errorf("ExportTar(%q) has %q in %q, want %q", dir, got, name, "content\n")
			}
		}
	}
	exchange := sync.OnceFunc(func() { shell(t, f.Root(), `mv tree/dir away && ln -s ../other tree/dir`) })
	var out bytes.Buffer
	err := f.ExportTar(t.Context(), "tree", &out, &container.TarOptions{Progress: func(container.TarProgress) { exchange() }})
	if !errors.Is(err, workspace.ErrUnavailable) || strings.Contains(out.String(), "other") {
		t.Errorf("ExportTar of a directory that is exchanged for a symlink = %v, want %v; it has the other file: %v", err, workspace.ErrUnavailable, strings.Contains(out.String(), "other"))
	}
}
