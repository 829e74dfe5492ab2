package container_test

import (
	"archive/tar"
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// comparison is a workspace in a container, to which the engine's client leads
// as well.
type comparison struct {
	*testing.T
	r    *running
	f    *container.FS
	root string
}

// TestFasterThanOneProcessForEach compares, in one run, with what a program
// does that runs the engine's client for each operation. It needs a computer that
// does nothing else, and so runs only when it is asked for.
func TestFasterThanOneProcessForEach(t *testing.T) {
	if os.Getenv("WORKSPACEKIT_MEASURE") == "" {
		t.Skip("measures, on a quiet computer: set WORKSPACEKIT_MEASURE=1")
	}
	r := places()[2].start(t)
	f := r.open(t)
	c := &comparison{T: t, r: r, f: f, root: f.Root()}
	c.small()
	c.large()
	c.tree()
}

// median returns the median time of several calls.
func (c *comparison) median(times int, call func() error) time.Duration {
	c.Helper()
	var all []time.Duration
	for range times {
		start := time.Now()
		if err := call(); err != nil {
			c.Fatal(err)
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// rounds is how often a comparison is made before it counts: this computer may
// have had something else to do.
const rounds = 3

// atLeast fails the test unless ours is so many times as fast as theirs.
func (c *comparison) atLeast(times float64, what string, ours, theirs func() time.Duration) {
	c.Helper()
	var ratio float64
	for range rounds {
		a, b := ours(), theirs()
		ratio = float64(b) / float64(a)
		c.Logf("%-36s %10v, one process for each %10v: %6.1f times as fast, want %.2g", what,
			a.Round(10*time.Microsecond), b.Round(10*time.Microsecond), ratio, times)
		if ratio >= times {
			return
		}
	}
	c.Errorf("%s is %.1f times as fast as one process for each, want %.2g times", what, ratio, times)
}

// often returns a measurement: the median of several calls.
func (c *comparison) often(times int, call func() error) func() time.Duration {
	return func() time.Duration {
		c.Helper()
		return c.median(times, call)
	}
}

// client runs a program in the container by the engine's client.
func (c *comparison) client(stdin []byte, args ...string) func() error {
	return func() error {
		words := append(append(slices.Clone(c.r.engineArgs), "exec", "-i", "-w", c.root, c.r.container), args...)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdin = bytes.NewReader(stdin)
		return cmd.Run()
	}
}

// small compares the operations on small files.
func (c *comparison) small() {
	data := bytes.Repeat([]byte("0123456789abcde\n"), 256)
	c.put("file", data)
	for i := range 100 {
		c.put("dir/file"+strings.Repeat("x", i), nil)
	}
	cat := c.often(31, c.client(nil, "cat", "file"))
	c.atLeast(30, "ReadFile of 4 KiB", c.often(201, func() error {
		_, err := c.f.ReadFile(c.Context(), "file")
		return err
	}), cat)
	c.atLeast(20, "ReadVersioned of 4 KiB", c.often(201, func() error {
		_, _, err := c.f.ReadVersioned(c.Context(), "file", 0)
		return err
	}), cat)
	c.atLeast(30, "Stat", c.often(201, func() error {
		_, err := c.f.Stat(c.Context(), "file")
		return err
	}), cat)
	c.atLeast(20, "WriteFile of 4 KiB", c.often(201, func() error {
		_, err := c.f.WriteFile(c.Context(), "file", data, nil)
		return err
	}), c.often(31, c.client(data, "sh", "-c", "cat > file.new && mv file.new file")))
	c.atLeast(25, "Ls of 100 entries", c.often(201, func() error {
		infos, err := c.f.Ls(c.Context(), "dir", nil)
		if len(infos) != 100 {
			c.Fatalf("Ls = %d entries, want 100", len(infos))
		}
		return err
	}), c.often(31, c.client(nil, "ls", "-l", "dir")))
}

func (c *comparison) put(name string, data []byte) {
	c.Helper()
	if _, err := c.f.WriteFile(c.Context(), name, data, nil); err != nil {
		c.Fatal(err)
	}
}

// large compares reading a large file with the engine's own copy.
func (c *comparison) large() {
	c.put("large", bytes.Repeat([]byte("0123456789abcde\n"), 10<<20/16))
	target := filepath.Join(c.TempDir(), "copy")
	words := append(slices.Clone(c.r.engineArgs), "cp", c.r.container+":"+path.Join(c.root, "large"), target)
	c.atLeast(1, "ReadFile of 10 MiB", c.often(15, func() error {
		data, err := c.f.ReadFile(c.Context(), "large")
		if len(data) != 10<<20 {
			c.Fatalf("ReadFile = %d bytes, want 10 MiB", len(data))
		}
		return err
	}), c.often(15, func() error { return exec.Command(words[0], words[1:]...).Run() }))
	c.atLeast(20, "a window of 4 KiB of it", c.often(51, func() error {
		_, err := workspace.New("w", c.f, nil).ReadRange(c.Context(), "large", 5<<20, 4<<10)
		return err
	}), c.often(15, c.client(nil, "sh", "-c", "tail -c +5242881 large | head -c 4096")))
}

// tree compares searches of the Go toolchain's sources, of about 10,000 files.
func (c *comparison) tree() {
	source := goSource(c.T)
	local, err := localbash.Open(source, nil)
	if err != nil {
		c.Fatal(err)
	}
	defer local.Close()
	start := time.Now()
	var names int
	err = c.f.ImportTar(c.Context(), "src", packTree(c.T, source), &container.TarOptions{
		Progress: func(p container.TarProgress) { names = p.Names },
	})
	if err != nil {
		c.Fatal(err)
	}
	c.Logf("ImportTar of %d names took %v", names, time.Since(start).Round(time.Millisecond))
	c.glob(local)
	for _, test := range []struct{ pattern, option string }{
		{"readGCStats", "-rnIE"}, {`func \w+Context\(`, "-rnIE"}, {"(?i)readdeadline", "-rnIiE"}, {"[A-Z]{3,}_[0-9]+", "-rnIE"},
	} {
		c.grep(local, test.pattern, test.option)
	}
}

func (c *comparison) glob(local workspace.FileSystem) {
	const pattern = "**/*_test.go"
	want, err := local.Glob(c.Context(), pattern, nil)
	if err != nil {
		c.Fatal(err)
	}
	var got []string
	ours := c.often(11, func() error {
		got, err = c.f.Glob(c.Context(), pattern, &workspace.GlobOptions{Dir: "src"})
		return err
	})
	dirs, err := local.Glob(c.Context(), "**/", nil)
	if err != nil {
		c.Fatal(err)
	}
	one := c.often(11, c.client(nil, "find", "src", "-maxdepth", "1"))
	c.atLeast(20, "Glob over 10,000 files", ours, func() time.Duration { return one() * time.Duration(len(dirs)) })
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], "src/")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.Errorf("Glob(%q) finds other files than on a local folder (-local +container):\n%.2000s", pattern, diff)
	}
}

func (c *comparison) grep(local workspace.FileSystem, pattern, option string) {
	want, err := local.Grep(c.Context(), pattern, nil)
	if err != nil {
		c.Fatal(err)
	}
	var got *workspace.GrepResult
	ours := c.often(7, func() error {
		got, err = c.f.Grep(c.Context(), pattern, &workspace.GrepOptions{Path: "src"})
		return err
	})
	theirs := c.often(7, c.client(nil, "grep", option, "-e", strings.TrimPrefix(pattern, "(?i)"), "src"))
	c.atLeast(1/1.5, "Grep "+pattern, ours, theirs)
	for i := range got.Matches {
		got.Matches[i].Path = strings.TrimPrefix(got.Matches[i].Path, "src/")
	}
	for i := range got.Skipped {
		got.Skipped[i].Path = strings.TrimPrefix(got.Skipped[i].Path, "src/")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.Errorf("Grep(%q) differs from that of a local folder (-local +container):\n%.2000s", pattern, diff)
	}
}

// goSource returns the source tree of the Go toolchain.
func goSource(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("there is no go command to ask for its source tree: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// packTree returns a tar archive of a folder.
func packTree(t testing.TB, dir string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}
