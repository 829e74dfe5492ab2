package container_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// archive returns a tar archive of files, in which a name that ends in a slash
// is a directory.
func archive(t *testing.T, files [][2]string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, file := range files {
		header := &tar.Header{Name: file[0], Mode: 0o640, Size: int64(len(file[1])), Typeflag: tar.TypeReg}
		if strings.HasSuffix(file[0], "/") {
			header.Typeflag, header.Mode = tar.TypeDir, 0o755
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, file[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// unpacked returns the files of an archive by their names.
func unpacked(t *testing.T, b io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	r := tar.NewReader(b)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(header.Name, "./")] = string(data)
	}
}

func TestTarRoundTrip(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		files := [][2]string{
			{"dir/", ""}, {"dir/file", "content"}, {"dir/empty", ""}, {"-rf", "dash"},
			{"line\nbreak", "\x00\xff"}, {"large", strings.Repeat("0123456789abcdef", 200_000)},
		}
		want := map[string]string{}
		for _, file := range files {
			want[file[0]] = file[1]
		}
		var last container.TarProgress
		err := f.ImportTar(t.Context(), "new/place", archive(t, files), &container.TarOptions{
			Progress: func(p container.TarProgress) { last = p },
		})
		if err != nil {
			t.Fatalf("ImportTar = %v, want nil", err)
		}
		if last.Names != len(files) || last.Bytes != 3_200_000+7+4+2 || last.Path != "large" {
			t.Errorf("the last progress is %+v, want %d names up to %q", last, len(files), "large")
		}
		var out bytes.Buffer
		if err := f.ExportTar(t.Context(), "new/place", &out, nil); err != nil {
			t.Fatalf("ExportTar = %v, want nil", err)
		}
		if diff := gocmp.Diff(want, unpacked(t, &out)); diff != "" {
			t.Errorf("what was imported is exported otherwise (-want +got):\n%.2000s", diff)
		}
	})
}

// TestExportTarOfHiddenLinks exports files that are hard links of ones whose names no caller
// could give, in whatever order the directory has them.
func TestExportTarOfHiddenLinks(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		want := map[string]string{}
		for i := range 8 {
			for _, name := range []string{fmt.Sprint("a", i), fmt.Sprint("dir/b", i), fmt.Sprint("z", i)} {
				want[name] = fmt.Sprintln("content", i)
			}
		}
		r.run(t, "sh", "-c", `cd "$1" && mkdir dir
for i in 0 1 2 3 4 5 6 7; do
	hidden=$(printf "z\377$i")
	link=$(printf "y\377$i")
	ln -s a$i "$link" && ln "$link" x$i && ln "$link" yy$i || exit
	echo content $i >"$hidden" && ln "$hidden" a$i && ln "$hidden" dir/b$i && ln "$hidden" z$i && ln "$hidden" .workspacekit-tmp-$i
done`, "sh", f.Root())
		var out bytes.Buffer
		if err := f.ExportTar(t.Context(), ".", &out, nil); err != nil {
			t.Fatalf("ExportTar = %v, want nil", err)
		}
		back := r.open(t)
		if err := back.ImportTar(t.Context(), ".", &out, nil); err != nil {
			t.Fatalf("ImportTar = %v, want nil", err)
		}
		for name, content := range want {
			if data, err := back.ReadFile(t.Context(), name); err != nil || string(data) != content {
				t.Errorf("%q was exported as %q, %v, want %q", name, data, err, content)
			}
		}
		for i := range 8 {
			for _, name := range []string{fmt.Sprint("x", i), fmt.Sprint("yy", i)} {
				if info, err := back.Stat(t.Context(), name); err == nil && info.Type != workspace.TypeSymlink {
					t.Errorf("the symlink %q was exported as %v", name, info.Type)
				}
			}
		}
	})
}

func TestImportTarRefuses(t *testing.T) {
	exhaustive.NotShort(t, "runs many programs")
	f := places()[0].start(t).open(t)
	for name, test := range map[string]struct {
		header tar.Header
		want   error
	}{
		"absolute":         {tar.Header{Name: "/etc/x", Typeflag: tar.TypeReg}, workspace.ErrEscape},
		"climbing":         {tar.Header{Name: "a/../../x", Typeflag: tar.TypeReg}, workspace.ErrEscape},
		"symlink-out":      {tar.Header{Name: "a/link", Linkname: "../../x", Typeflag: tar.TypeSymlink}, workspace.ErrEscape},
		"absolute-symlink": {tar.Header{Name: "link", Linkname: "/etc", Typeflag: tar.TypeSymlink}, workspace.ErrEscape},
		"device":           {tar.Header{Name: "null", Typeflag: tar.TypeChar}, fs.ErrInvalid},
		"root":             {tar.Header{Name: "./.", Typeflag: tar.TypeReg}, workspace.ErrIsDir},
		"reserved":         {tar.Header{Name: ".workspacekit-tmp-x", Typeflag: tar.TypeReg}, fs.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := tar.NewWriter(&b)
			if err := w.WriteHeader(&test.header); err != nil {
				t.Fatal(err)
			}
			w.Close()
			err := f.ImportTar(t.Context(), "new/deep", &b, nil)
			if !errors.Is(err, test.want) {
				t.Errorf("ImportTar of %q = %v, want %q", test.header.Name, err, test.want)
			}
			if infos, err := f.Ls(t.Context(), ".", nil); err != nil || len(infos) != 0 {
				t.Errorf("Ls after a refused archive = %v, %v, want nothing", infos, err)
			}
		})
	}
}

// TestImportTarOfATornArchive looks at once for what is left of archives that end early, or
// are damaged.
func TestImportTarOfATornArchive(t *testing.T) {
	r := places()[0].start(t)
	f := r.open(t)
	whole := archive(t, [][2]string{{"first", ""}, {"a", strings.Repeat("x", 100_000)}}).Bytes()
	torn := errors.New("torn")
	for _, dir := range []string{".", "new/deep"} {
		for _, length := range []int{0, 512, 1024, 50_000} {
			part := io.MultiReader(bytes.NewReader(whole[:length]), iotest.ErrReader(torn))
			if err := f.ImportTar(t.Context(), dir, part, nil); !errors.Is(err, torn) {
				t.Errorf("ImportTar of %d bytes of an archive into %q = %v, want %q", length, dir, err, torn)
			}
			if left := r.run(t, "ls", "-A", f.Root()); left != "" {
				t.Errorf("after %d bytes of an archive for %q there is %q, want nothing", length, dir, left)
			}
		}
	}
	zeros := archive(t, [][2]string{{"zeros", strings.Repeat("\x00", 1024)}}).Bytes()
	for name, part := range map[string][]byte{
		"empty": nil, "in content": whole[:50_000], "in padding": whole[:101_370], "in a header": whole[:700],
		"between two entries": whole[:512], "after the last": whole[:101_376], "in the mark": whole[:101_476],
		"after zeros": zeros[:1536], "damaged": append(whole[:512:512], bytes.Repeat([]byte("x"), 512)...),
	} {
		err := f.ImportTar(t.Context(), ".", bytes.NewReader(part), nil)
		if !errors.Is(err, fs.ErrInvalid) || name != "damaged" && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("ImportTar of an archive that ends %s = %v, want %q", name, err, fs.ErrInvalid)
		}
		if left := r.run(t, "ls", "-A", f.Root()); left != "" {
			t.Errorf("after an archive that ends %s there is %q, want nothing", name, left)
		}
	}
	if err := f.ImportTar(t.Context(), ".", bytes.NewReader(whole[:101_376+512]), nil); err != nil {
		t.Errorf("ImportTar of an archive with one block of zeros at its end = %v, want nil", err)
	}
	if _, err := f.WriteFile(t.Context(), "after", nil, nil); err != nil {
		t.Errorf("WriteFile after that = %v, want nil", err)
	}
}

// entry is an entry of a hostile archive: a directory if its name ends in a
// slash, a hard link or a symlink if it has a target, or else a file.
type entry struct{ name, symlink, link string }

// hostile returns an archive of entries. Every file has the content "imported".
func hostile(t *testing.T, entries []entry) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len("imported"))}
		switch {
		case e.symlink != "":
			header.Typeflag, header.Linkname, header.Size = tar.TypeSymlink, e.symlink, 0
		case e.link != "":
			header.Typeflag, header.Linkname, header.Size = tar.TypeLink, e.link, 0
		case strings.HasSuffix(e.name, "/"):
			header.Typeflag, header.Mode, header.Size = tar.TypeDir, 0o755, 0
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			if _, err := io.WriteString(w, "imported"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// errAny is an error of a program that has no kind.
var errAny = errors.New("any error")

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestExportAfterFailedImport exports while the files of an import that was given
// up are still being removed.
func TestExportAfterFailedImport(t *testing.T) {
	exhaustive.NotShort(t, "waits for a command that fails")
	f := open(t, &container.Options{Executor: container.Command{}, Root: t.TempDir()})
	entries := []entry{}
	for i := range 1000 { // which are removed within the time that an export waits
		entries = append(entries, entry{name: fmt.Sprintf("dir%d/file", i)})
	}
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		last := readerFunc(func([]byte) (int, error) {
			cancel()
			<-ctx.Done()
			return 0, io.ErrUnexpectedEOF
		})
		part := hostile(t, entries).Bytes()
		part = part[:len(part)-1024] // without its end
		if err := f.ImportTar(ctx, ".", io.MultiReader(bytes.NewReader(part), last), nil); !errors.Is(err, context.Canceled) {
			t.Fatalf("ImportTar = %v, want %v", err, context.Canceled)
		}
		if err := f.ExportTar(t.Context(), ".", io.Discard, nil); err != nil {
			t.Fatalf("ExportTar after an import that failed = %v, want nil", err)
		}
	}
}

// TestTarStaysInside imports archives, each after what is in the one before,
// that try to write or to read outside of the root, which is beside a directory
// with a secret. Then it exports what they left.
func TestTarStaysInside(t *testing.T) {
	attacks := map[string]struct {
		before   string // a script in the root
		archives [][]entry
		want     error // of the last import
	}{
		"symlink-then-file": {archives: [][]entry{{{name: "out", symlink: "a/.."}, {name: "out/file"}}}, want: workspace.ErrSymlink},
		"symlink-through-symlink": {archives: [][]entry{{
			{name: "s/"}, {name: "s/top", symlink: ".."}, {name: "s/top/out", symlink: ".."}, {name: "out/outside/planted"},
		}}, want: workspace.ErrSymlink},
		"symlink-of-a-symlink": {archives: [][]entry{
			{{name: "a", symlink: "."}, {name: "out", symlink: "a/.."}},
			{{name: "out/outside/planted"}},
		}, want: workspace.ErrEscape},
		"in-turn": {archives: [][]entry{
			{{name: "a/b/"}, {name: "a/b/top", symlink: "../.."}},
			{{name: "out", symlink: "a/b/top/.."}},
			{{name: "out/outside/planted"}},
		}, want: workspace.ErrEscape},
		"directory-over-symlink": {before: "ln -s ../outside out", archives: [][]entry{{{name: "out/"}, {name: "out/planted"}}}, want: workspace.ErrEscape},
		"below-symlink":          {before: "mkdir in; ln -s ../../outside in/out", archives: [][]entry{{{name: "in/out/deep/planted"}}}, want: workspace.ErrEscape},
		"file-over-symlink":      {before: "ln -s ../outside/secret file", archives: [][]entry{{{name: "file"}}}},
		"file-over-directory":    {before: "ln -s ../outside dir", archives: [][]entry{{{name: "dir"}}}},
		"symlink-over-directory": {before: "mkdir dir", archives: [][]entry{{{name: "dir", symlink: "x"}}}, want: workspace.ErrIsDir},
		"link-through-symlink": {before: "ln -s ../outside out", archives: [][]entry{{{name: "stolen", link: "out/secret"}}},
			want: errAny},
		"link-through-own-symlink": {archives: [][]entry{
			{{name: "a", symlink: "."}, {name: "out", symlink: "a/.."}, {name: "stolen", link: "out/outside/secret"}},
		}, want: errAny},
		"link-then-write": {before: "ln ../outside/secret file || touch file", archives: [][]entry{{{name: "file"}, {name: "other", link: "file"}}, {{name: "other"}}}},
		"climbing-link":   {archives: [][]entry{{{name: "stolen", link: "../outside/secret"}}}, want: workspace.ErrEscape},
		"absolute-link":   {archives: [][]entry{{{name: "stolen", link: "/etc/passwd"}}}, want: workspace.ErrEscape},
		"climbing-inside": {archives: [][]entry{{{name: "a", symlink: "."}, {name: "a/b/../../../outside/planted"}}}, want: workspace.ErrEscape},
		"options":         {archives: [][]entry{{{name: "--to-command=touch ../outside/planted"}, {name: "-C"}, {name: "../outside"}}}, want: workspace.ErrEscape},
	}
	inImages(t, func(t *testing.T, r *running) {
		whole := r.open(t)
		r.run(t, "sh", "-c", `cd "$1" && mkdir root outside && echo secret >outside/secret`, "sh", whole.Root())
		opts := r.options(t)
		opts.Root = whole.Root() + "/root"
		f := open(t, opts)
		for name, attack := range attacks {
			r.run(t, "sh", "-c", `cd "$1" && rm -rf root/* outside/* && echo secret >outside/secret && cd root && `+cmp.Or(attack.before, ":"), "sh", whole.Root())
			var err error
			for _, entries := range attack.archives {
				err = f.ImportTar(t.Context(), ".", hostile(t, entries), nil)
			}
			if !errors.Is(err, attack.want) {
				if attack.want != errAny || err == nil {
					t.Errorf("%s: ImportTar = %v, want %v", name, err, attack.want)
				}
			}
			var out bytes.Buffer
			if err := f.ExportTar(t.Context(), ".", &out, nil); err != nil {
				t.Errorf("%s: ExportTar = %v, want nil", name, err)
			}
			for file, content := range unpacked(t, &out) {
				if strings.Contains(content, "secret") && attack.before == "" {
					t.Errorf("%s: ExportTar has the secret in %q", name, file)
				}
			}
			eventually(t, name+" changed something outside of the root, or left something", func() error {
				left := r.run(t, "sh", "-c", `cd "$1" && find . -path ./root -prune -o -print | sort && cat outside/secret && find root -name '.workspacekit-tmp-*'`, "sh", whole.Root())
				if want := ".\n./outside\n./outside/secret\nsecret\n"; left != want {
					return fmt.Errorf("%q, want %q", left, want)
				}
				return nil
			})
		}
	})
}
