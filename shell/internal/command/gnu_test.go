package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// gnuTest says how a program is compared with the real one of the same name. Each case
// takes one alternative of every slot, and a standard input from gnuInputs.
type gnuTest struct {
	// slots are alternatives, each a list of shell words: "", "-n 3", "'a b' $'\t'".
	slots [][]string
	// lines are cases of their own: all arguments.
	lines []string
	// program is the name of our program, if it is not the name of the test.
	program string
	// real is what runs in place of the real program of that name; the arguments follow.
	real []string
	// files are in the directory besides gnuFiles.
	files map[string]string
	// env has variables, as NAME=value.
	env []string
	// changes is whether the files are compared afterwards.
	changes bool
	// noInput leaves the standard input empty.
	noInput bool
	// owner matches the arguments that show who owns a file. In ours it is the super-user, so
	// only that user can compare them.
	owner *regexp.Regexp
	// normalize takes from an output what cannot be equal.
	normalize func(output string) string
}

// gnuFiles are the files of every case. Their contents are the standard inputs, too.
var gnuFiles = map[string]string{
	"text":       "The quick brown fox\njumps over\n\n\nthe lazy dog\n\tand runs   away\nThe End.\n",
	"words":      "pear\napple\napple\nBanana\nbanana\ncherry\ncherry\ncherry\nApple\nfig\n",
	"numbers":    "10\n9\n2\n33\n-4\n1.5\n007\n1e3\n2K\n1M\n3G\n+5\n\n0\n",
	"crlf":       "one\r\ntwo\r\n\r\nthree two\r\n",
	"nonl":       "first line\nlast line without end",
	"nul":        "a\x00b\x00\nc\x00d c\x00",
	"empty":      "",
	"newline":    "\n",
	"unicode":    "héllo wörld\n日本語 テキスト\nnaïve café ☕\n😀 smile\nÀ la carte\n",
	"blanks":     "  two lead\n\ttab\ttabs\there\n trailing  \n\n   \nx\ty\tz\n",
	"csv":        "id,name,age\n1,Ann,30\n2,Bob,25\n3,\"C, D\",41\n4,,\nno separator\n",
	"colons":     "root:x:0:0\ndaemon:x:1:1\nbin::2\n:lead\ntrail:\n",
	"left":       "1 one\n2 two\n2 zwei\n3 three\n5 five\n",
	"right":      "0 null\n2 deux\n3 trois x\n3 drei\n6 six\n",
	"unsorted":   "b 1\na 2\nc 3\na 4\n",
	"long":       strings.Repeat("word ", 60) + "\n" + strings.Repeat("x", 300) + "\nshort\n",
	"binary":     "\x00\x01\x02\xff\xfe\x80text here\x7f\nabc\x1b[0m\tend\r\n\xc3\x28ok ok ok\n",
	"control":    "a\bb\rc\fd\ve\n\x01\x02\n",
	"dir/inner":  "inner\n",
	"with space": "a file\nwith a name\n",
}

// gnuDifference is a case that differs from the real program, for a reason that the table of
// docs/shell-programs.md gives. It is empty for what the page says elsewhere, and for trifles. line matches the program and its arguments, and "< " with the
// name of the standard input.
type gnuDifference struct {
	program string
	line    *regexp.Regexp
	reason  string
}

// gnuDifferences are the differences that docs/shell-programs.md lists.
var gnuDifferences = slices.Concat(gnuTextDifferences, gnuFilesDifferences, gnuAwkDifferences)

// gnuCase is one run of a program.
type gnuCase struct {
	args  []string
	stdin string // the name of its content
}

func (c gnuCase) String() string { return fmt.Sprintf("%q < %s", c.args, c.stdin) }

// TestGNU compares the programs with the real ones of Debian.
func TestGNU(t *testing.T) {
	t.Parallel()
	tests := map[string]gnuTest{}
	maps.Copy(tests, gnuTextTests)
	maps.Copy(tests, gnuFilesTests)
	maps.Copy(tests, gnuAwkTests)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			exhaustive.Sample(t, 6)
			t.Parallel()
			test.run(t, name)
		})
	}
}

// gnuCases is how many generated cases there are for a program at least, if all are
// tried.
const gnuCases = 160

func (test gnuTest) run(t *testing.T, name string) {
	program := test.program
	if program == "" {
		program = name
	}
	real := test.real
	if real == nil {
		real = []string{program}
	}
	exhaustive.Program(t, real[0])
	cases := test.cases(t, name)
	dir := t.TempDir()
	files := test.allFiles()
	writeTree(t, dir, files)
	ws := memoryTree(t, files)
	if test.owner != nil && os.Geteuid() != 0 {
		t.Log("left out: cases that show the owner of files, which only root can compare")
		cases = slices.DeleteFunc(cases, func(c gnuCase) bool { return test.owner.MatchString(strings.Join(c.args, " ")) })
	}
	failures, seen := 0, map[int]bool{} // seen: the listed differences that there are
	for i, c := range cases {
		caseDir, caseWorkspace := dir, ws
		if test.changes {
			caseDir = filepath.Join(dir, fmt.Sprint("case", i))
			writeTree(t, caseDir, files)
			caseWorkspace = memoryTree(t, files)
		}
		want := test.runReal(t, real, c, files[c.stdin], caseDir)
		got := test.runOurs(t, program, c, files[c.stdin], caseWorkspace)
		difference := slices.IndexFunc(gnuDifferences, func(d gnuDifference) bool {
			return d.program == name && d.line.MatchString(c.String())
		})
		if difference >= 0 && got != want {
			seen[difference] = true
		}
		switch {
		case got == want, difference >= 0:
		case failures < 8:
			failures++
			t.Errorf("%s %v\ngot:\n%.1500s\nwant:\n%.1500s", name, c, got, want)
		default:
			failures++
		}
	}
	for i, d := range gnuDifferences {
		if d.program == name && !seen[i] && exhaustive.On() {
			t.Errorf("the difference %q was not seen in any case", d.line)
		}
	}
	if failures > 8 {
		t.Errorf("%d of %d cases differ", failures, len(cases))
	}
}

// allFiles are the files of a case.
func (test gnuTest) allFiles() map[string]string {
	files := maps.Clone(gnuFiles)
	maps.Copy(files, test.files)
	return files
}

// cases are the lines of the test, and random combinations of its slots.
func (test gnuTest) cases(t *testing.T, name string) []gnuCase {
	hash := fnv.New64()
	hash.Write([]byte(name))
	random := rand.New(rand.NewPCG(hash.Sum64(), 1))
	inputs := slices.Sorted(maps.Keys(gnuFiles))
	if test.noInput {
		inputs = []string{"empty"}
	}
	var cases []gnuCase
	for i, line := range test.lines {
		cases = append(cases, gnuCase{shellWords(t, line), inputs[i%len(inputs)]})
	}
	oneIn := exhaustive.Some(t, "seven of eight of the cases, others each time", 1, 8)
	seen := map[string]bool{}
	for range 50 * gnuCases {
		if len(test.slots) == 0 || len(seen) == gnuCases {
			break
		}
		var args []string
		for _, slot := range test.slots {
			args = append(args, shellWords(t, slot[random.IntN(len(slot))])...)
		}
		c := gnuCase{args, inputs[random.IntN(len(inputs))]}
		if !seen[c.String()] {
			seen[c.String()] = true
			if rand.IntN(oneIn) == 0 {
				cases = append(cases, c)
			}
		}
	}
	if exhaustive.On() && len(cases) < 150 {
		t.Errorf("%s has %d cases, want at least 150", name, len(cases))
	}
	return cases
}

var shellWord = regexp.MustCompile(`^(?:\$'((?:[^'\\]|\\.)*)'|'([^']*)'|([^\s'$]|\$[^'])+)`)

// shellWords splits a line of plain words, 'quoted' and $'quoted' ones.
func shellWords(t *testing.T, line string) []string {
	var words []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		word := ""
		for line != "" && line[0] != ' ' {
			m := shellWord.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("cannot split %q", line)
			}
			line = line[len(m[0]):]
			switch {
			case strings.HasPrefix(m[0], "$'"):
				text, _ := unescapeAll(m[1])
				word += string(text)
			case strings.HasPrefix(m[0], "'"):
				word += m[2]
			default:
				word += m[0]
			}
		}
		words = append(words, word)
	}
	return words
}

// runReal returns what the real program did, as text.
func (test gnuTest) runReal(t *testing.T, real []string, c gnuCase, stdin, dir string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, real[0], append(real[1:len(real):len(real)], c.args...)...)
	var stdout, stderr boundedBuffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(stdin), &stdout, &stderr
	cmd.Env = append([]string{"LC_ALL=C.UTF-8", "TZ=UTC0", "PATH=" + os.Getenv("PATH")}, test.env...)
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, os.ErrClosed) && !strings.Contains(err.Error(), "broken pipe") {
		t.Fatal(err)
	}
	tree := ""
	if test.changes {
		tree = treeOf(t, os.DirFS(dir), test.allFiles())
	}
	// Their directory is our root.
	output := strings.ReplaceAll(strings.ReplaceAll(stdout.String(), dir+"/", "/"), dir, "/")
	return test.report(output, stderr.String(), cmd.ProcessState.ExitCode(), tree)
}

// boundedBuffer keeps the beginning of what is written to it, and refuses the rest.
type boundedBuffer struct{ bytes.Buffer }

// Write implements [io.Writer].
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len() > 1<<20 {
		return 0, errors.New("the output is too long for a test")
	}
	return b.Buffer.Write(p)
}

// ReadFrom hides the method of the buffer.
func (b *boundedBuffer) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, r)
}

// runOurs is the same for our program.
func (test gnuTest) runOurs(t *testing.T, name string, c gnuCase, stdin string, ws *workspace.Workspace) string {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var stdout, stderr boundedBuffer
	env := append([]string{"LC_ALL=C.UTF-8", "TZ=UTC0"}, test.env...)
	p := &Process{
		Args: append([]string{name}, c.args...), Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Dir: "/",
		Env:     lookup(env),
		Environ: func() []string { return env },
		Files:   NewFiles([]*workspace.Workspace{ws}, workspace.New("scratch", memory.New(nil), nil), Hooks{}),
		Run:     runProgram,
		Now:     time.Now, MaxMemory: 64 << 20,
	}
	program := Programs[name]
	if program == nil {
		t.Fatalf("there is no program %q", name)
	}
	status := program(ctx, p)
	tree := ""
	if test.changes {
		tree = treeOf(t, ws.FS(ctx), test.allFiles())
	}
	return test.report(stdout.String(), stderr.String(), status, tree)
}

// runProgram is the Run of a Process.
func runProgram(ctx context.Context, p *Process) int {
	if program := Programs[p.Args[0]]; program != nil {
		return program(ctx, p)
	}
	fmt.Fprintln(p.Stderr, "not found")
	return exitUnknown
}

func (test gnuTest) report(stdout, stderr string, status int, tree string) string {
	if test.normalize != nil {
		stdout = test.normalize(stdout)
	}
	errors := "errors"
	if stderr == "" {
		errors = "no errors"
	}
	return fmt.Sprintf("%q\nstatus %d, %s\n%s", stdout, status, errors, tree)
}

// lookup returns a function that finds variables in env.
func lookup(env []string) func(name string) string {
	return func(name string) string {
		for _, variable := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func memoryTree(t *testing.T, files map[string]string) *workspace.Workspace {
	t.Helper()
	ws := workspace.New("repo", memory.New(nil), nil)
	for name, content := range files {
		if _, err := ws.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	return ws
}

// treeOf describes how the files of a tree differ from files.
func treeOf(t *testing.T, tree fs.FS, files map[string]string) string {
	t.Helper()
	var lines []string
	seen := map[string]bool{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name != "." && name != "dir" {
				lines = append(lines, name+"/")
			}
			return nil
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := fs.ReadLink(tree, name)
			lines = append(lines, name+" -> "+target)
			return err
		}
		seen[name] = true
		data, err := fs.ReadFile(tree, name)
		if old, ok := files[name]; !ok || old != string(data) {
			lines = append(lines, fmt.Sprintf("%s: %.300q", name, data))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range files {
		if !seen[name] {
			lines = append(lines, name+" is deleted")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestDifferencesAreDocumented compares gnuDifferences with the table of
// docs/shell-programs.md.
func TestDifferencesAreDocumented(t *testing.T) {
	t.Parallel()
	var want []string
	for _, d := range gnuDifferences {
		if d.reason != "" {
			want = append(want, fmt.Sprintf("| `%s` | %s |", d.program, d.reason))
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	page, err := os.ReadFile("../../../docs/shell-programs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "|---|---|\n")
	if !ok {
		t.Fatal("docs/shell-programs.md has no table")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.TrimSpace(table)); diff != "" {
		t.Errorf("the table of docs/shell-programs.md (-want +got):\n%s", diff)
	}
}
