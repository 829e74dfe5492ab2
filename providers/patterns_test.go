package providers_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// searchTree is files to search.
type searchTree struct {
	name  string
	files map[string]string
	gnu   bool // GNU grep finds the same: the files are lines of ASCII
}

// TestPatterns searches three trees for generated patterns. Every store must find the lines
// that package regexp finds, line by line, and GNU grep the same ones. Most patterns are made of
// what is in the trees, so that what stores do before they run a regular expression has much
// to decide.
func TestPatterns(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	count := exhaustive.Some(t, "most of 2,000 patterns", 2_000, 40)
	processes := exhaustive.Some(t, "most searches by other programs", 1, 8) // one in so many patterns
	for _, tree := range []searchTree{sourceTree(t), oddTree(), tinyTree()} {
		t.Run(tree.name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			g := generator{rand.New(rand.NewPCG(seed, 0)), []rune(strings.Join(slices.Sorted(valuesOf(tree.files)), "\n"))}
			dir := writeTree(t, tree)
			stores := searchedStores(t, tree, dir)
			shell := openContainer(t, dir)
			matched := 0
			for n := range count {
				pattern := g.pattern()
				want := tree.search(t, pattern)
				if len(want) > 0 {
					matched++
				}
				for name, fsys := range stores {
					compareLines(t, name, pattern, want, grepLines(t, fsys, pattern))
				}
				if n%processes == 0 && shell != nil {
					compareLines(t, "container", pattern, want, grepLines(t, shell, pattern))
				}
				if n%processes == 0 && tree.gnu {
					compareLines(t, "grep", pattern, want, gnuLines(t, dir, pattern))
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%d of %d patterns match something", matched, count)
			if matched == 0 {
				t.Error("no pattern matches anything")
			}
		})
	}
}

func valuesOf(files map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, content := range files {
			if !yield(content) {
				return
			}
		}
	}
}

// generator makes patterns from pieces of a text.
type generator struct {
	*rand.Rand
	text []rune
}

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

// pattern returns a pattern that means the same to package regexp and, after "(?i)", to
// "grep -E" and "grep -iE".
func (g generator) pattern() string {
	whole := g.pick("", "", "", "^", `\b`) + g.part(g.IntN(4)) + g.pick("", "", "", "$", `\b`)
	if g.IntN(6) == 0 {
		whole = "(" + whole + "|" + g.pick("", "^", `\b`) + g.part(1) + ")"
	}
	return g.pick("", "", "(?i)") + whole
}

// part returns a part of a pattern without anchors.
func (g generator) part(depth int) string {
	if depth == 0 {
		if g.IntN(3) == 0 {
			return g.pick("[a-f]", "[A-Z]", "[0-9]", "[^a-z ]", ".", ".*", `\w`, "[st]", "[ksKS]", "x")
		}
		return regexp.QuoteMeta(g.literal())
	}
	switch g.IntN(5) {
	case 0:
		return "(" + g.part(depth-1) + "|" + g.part(depth-1) + ")"
	case 1:
		return "(" + g.part(depth-1) + ")" + g.pick("*", "+", "?", "{2}", "{1,3}")
	}
	return g.part(depth-1) + g.part(depth-1)
}

// literal returns a piece of a line, one in four with something changed.
func (g generator) literal() string {
	for {
		at := g.IntN(len(g.text) - 12)
		piece := slices.Clone(g.text[at : at+2+g.IntN(9)])
		if slices.ContainsFunc(piece, func(r rune) bool { return r < ' ' || r == '\ufffd' }) {
			continue
		}
		if g.IntN(4) == 0 {
			piece[g.IntN(len(piece))] = rune(g.pick("q", "Z", "7", "_")[0])
		}
		return string(piece)
	}
}

// search returns the lines that match.
func (s searchTree) search(t *testing.T, pattern string) (found []string) {
	t.Helper()
	re, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatalf("Compile(%q) = %v", pattern, err)
	}
	for name, content := range s.files {
		if strings.Contains(content[:min(len(content), 8<<10)], "\x00") {
			continue
		}
		for n, line := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
			if content != "" && re.MatchString(strings.TrimSuffix(line, "\r")) {
				found = append(found, fmt.Sprintf("%s:%d", name, n+1))
			}
		}
	}
	slices.Sort(found)
	return found
}

// grepLines returns the lines that a Grep finds.
func grepLines(t *testing.T, fsys workspace.FileSystem, pattern string) (found []string) {
	t.Helper()
	result, err := fsys.Grep(t.Context(), pattern, nil)
	if err != nil {
		t.Errorf("Grep(%q) = %v", pattern, err)
		return nil
	}
	for _, m := range result.Matches {
		found = append(found, fmt.Sprintf("%s:%d", m.Path, m.LineNumber))
	}
	slices.Sort(found)
	return found
}

// gnuLines returns the lines that GNU grep finds.
func gnuLines(t *testing.T, dir, pattern string) (found []string) {
	t.Helper()
	flags := "-rnE"
	if rest, folds := strings.CutPrefix(pattern, "(?i)"); folds {
		flags, pattern = "-rniE", rest
	}
	command := exec.CommandContext(t.Context(), "grep", flags, "-e", pattern, ".")
	command.Dir, command.Env = dir, append(os.Environ(), "LC_ALL=C")
	out, err := command.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Errorf("grep %s %q: %v", flags, pattern, err)
	}
	for line := range bytes.Lines(out) {
		parts := bytes.SplitN(line, []byte(":"), 3)
		found = append(found, fmt.Sprintf("%s:%s", bytes.TrimPrefix(parts[0], []byte("./")), parts[1]))
	}
	slices.Sort(found)
	return found
}

func compareLines(t *testing.T, store, pattern string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: Grep(%q) differs from package regexp (-regexp +%s):\n%s", store, pattern, store, diff)
	}
}

// searchedStores are the stores that hold tree, with all that they keep for searches.
func searchedStores(t *testing.T, tree searchTree, dir string) map[string]workspace.FileSystem {
	t.Helper()
	server := s3test.New(t, &s3test.Options{Public: true})
	stores := map[string]workspace.FileSystem{
		"localbash": openFolder(t, dir, nil), "memory": memory.New(nil), "memory with summaries": memory.New(nil),
		"objectstore":               openBucket(t, server, objectstore.Options{}),
		"objectstore with an index": openBucket(t, server, objectstore.Options{Index: &objectstore.IndexOptions{}, CacheSize: -1}),
	}
	for name, content := range tree.files {
		server.Put("workspace", name, []byte(content))
		for _, m := range []string{"memory", "memory with summaries"} {
			if _, err := stores[m].WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 16 {
		grepLines(t, stores["memory with summaries"], "a word")
	}
	warm := openFolder(t, dir, &localbash.IndexOptions{})
	grepLines(t, warm, "a word")
	for deadline := time.Now().Add(time.Minute); warm.IndexState().Reading; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the index is not complete after a minute")
		}
	}
	if runtime.GOOS == "linux" && warm.IndexState().Files == 0 {
		t.Log("the index of the folder knows nothing: it is on no local file system")
	}
	stores["localbash with an index"] = warm
	return stores
}

func openFolder(t *testing.T, dir string, index *localbash.IndexOptions) *localbash.FS {
	t.Helper()
	fsys, err := localbash.Open(dir, &localbash.Options{Index: index})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func openBucket(t *testing.T, server *s3test.Server, opts objectstore.Options) *objectstore.FS {
	t.Helper()
	opts.Bucket, opts.Endpoint, opts.Region, opts.Anonymous = "workspace", server.URL, server.Region, true
	fsys, err := objectstore.Open(t.Context(), &opts)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// openContainer opens dir by the programs of this computer, which take the place of those of
// a container. It returns nil where there are none.
func openContainer(t *testing.T, dir string) workspace.FileSystem {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Logf("without the programs of a container: %v", err)
		return nil
	}
	fsys, err := container.Open(t.Context(), &container.Options{Executor: container.Command{}, Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func writeTree(t *testing.T, tree searchTree) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range tree.files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sourceTree is some of the source of this module, where it is ASCII.
func sourceTree(t *testing.T) searchTree {
	t.Helper()
	files := map[string]string{}
	source := os.DirFS("..")
	for _, pattern := range []string{"internal/lines/*.go", "internal/scan/*.go", "workspace/policy/*.go", "docs/design*.md"} {
		names, err := fs.Glob(source, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			content, err := fs.ReadFile(source, name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = strings.Map(func(r rune) rune {
				if r > '~' {
					return '?'
				}
				return r
			}, string(content))
		}
	}
	return searchTree{"source", files, runtime.GOOS == "linux"}
}

// oddTree is what programs treat in different ways.
func oddTree() searchTree {
	text := "The Kelvin sign \u212a, a long s ſ, größe und GRÖSSE, 日本語\nkelvin KISS kiss_me 1234\n"
	return searchTree{"odd", map[string]string{
		"empty": "", "no final break": "one\ntwo words", "breaks": "\n\n\nx\n\n", "crlf": strings.ReplaceAll(text, "\n", "\r\n"),
		"unicode/a b": text, "unicode/latin": "caf\xe9 \xff\xfe kiss\n" + text, ".hidden/file": "kiss\n" + text,
		"binary": "kiss\x00me\n" + text, "late NUL": strings.Repeat("kiss and tell\n", 1000) + "\x00 kiss_me\n",
		"long": strings.Repeat("abcdefgh ", 9000) + "kiss\nshort\n", "deep/er/and/deeper": text + "x_7 x_77\n",
	}, false}
}

// tinyTree is many files of few words.
func tinyTree() searchTree {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("get set stats Context readGCStats ReadFile x_1 x_22 abc ABC kiss SKI 1234 99 foo-bar a.b")
	files := map[string]string{}
	for n := range 40 {
		var content strings.Builder
		for range 1 + random.IntN(6) {
			content.WriteString(words[random.IntN(len(words))] + []string{" ", "\n", ""}[random.IntN(3)])
		}
		files[fmt.Sprintf("d%d/f%d", n%4, n)] = content.String() + "\n"
	}
	return searchTree{"tiny", files, runtime.GOOS == "linux"}
}
