package command

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// newTestProcess returns a process over one workspace in memory with files, and what
// it prints.
func newTestProcess(t *testing.T, files map[string]string, args ...string) (p *Process, stdout, stderr *strings.Builder) {
	t.Helper()
	ws := workspace.New("repo", memory.New(nil), nil)
	for name, content := range files {
		if _, err := ws.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr = &strings.Builder{}, &strings.Builder{}
	return &Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Dir: "/",
		Env: func(string) string { return "" }, Environ: func() []string { return nil },
		Files: NewFiles([]*workspace.Workspace{ws}, workspace.New("scratch", memory.New(nil), nil), Hooks{}),
		Run: func(ctx context.Context, p *Process) int {
			if program := Programs[p.Args[0]]; program != nil {
				return program(ctx, p)
			}
			return exitUnknown
		},
		Now: time.Now, MaxMemory: 64 << 20,
	}, stdout, stderr
}

func TestFlags(t *testing.T) {
	t.Parallel()
	cases := []struct {
		args, want string // want: operands, options, or the error
	}{
		{"x a -n5 b", "n=5 [a b]"},
		{"x -n 5 -- -r", "n=5 [-r]"},
		{"x -rn=5", "invalid argument '=5' for '--lines'"},
		{"x --li=7 --rev", "n=7 r [rest]"},
		{"x -12 a", "n=12 [a]"},
		{"x -", "n=1 [-]"},
		{"x --lines", "option '--lines' requires an argument"},
		{"x -n", "option requires an argument -- 'n'"},
		{"x --re=1", "option '--reverse' doesn't allow an argument"},
		{"x -z", "invalid option -- 'z'"},
		{"x --zap", "unrecognized option '--zap'"},
		{"x --l", "option '--l' is ambiguous; possibilities: '--lines' '--last'"},
		{"x -i.bak a", "n=1 i=.bak [a]"},
		{"x -i a", "n=1 i=none [a]"},
	}
	for _, c := range cases {
		p, _, stderr := newTestProcess(t, nil, strings.Fields(c.args)...)
		f := newFlags(p, "")
		f.number = "lines"
		n := f.IntP("lines", "n", 1, "")
		r := f.BoolP("reverse", "r", false, "")
		f.Bool("last", false, "")
		i := f.StringP("in-place", "i", "", "")
		f.Lookup("in-place").NoOptDefVal = "none"
		operands, _, ok := f.parse()
		got, _, _ := strings.Cut(strings.TrimPrefix(stderr.String(), "x: "), "\n")
		if ok {
			got = "n=" + strconv.Itoa(*n)
			if *r {
				got += " r"
			}
			if *i != "" {
				got += " i=" + *i
			}
			if len(operands) == 0 {
				operands = []string{"rest"}
			}
			got += " [" + strings.Join(operands, " ") + "]"
		}
		if got != c.want {
			t.Errorf("parse(%q) = %q, want %q", c.args, got, c.want)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	a, b := workspace.New("a", memory.New(nil), nil), workspace.New("b", memory.New(nil), nil)
	scratch := workspace.New("scratch", memory.New(nil), nil)
	own := workspace.New("own", memory.New(nil), nil)
	if err := own.Mkdir(t.Context(), "tmp", nil); err != nil {
		t.Fatal(err)
	}
	hidden, err := policy.Restrict(own, policy.Rules{AllowedPaths: []string{"src/**"}})
	if err != nil {
		t.Fatal(err)
	}
	ruled := []*workspace.Workspace{workspace.New("ruled", hidden, nil)}
	only, both, other := []*workspace.Workspace{a}, []*workspace.Workspace{a, b}, []*workspace.Workspace{own}
	cases := []struct {
		workspaces      []*workspace.Workspace
		dir, name, want string
	}{
		{only, "/", "x/y", "a:x/y"},
		{only, "/x", "../../../y", "a:y"},
		{only, "/", "/", "a:."},
		{only, "/", "/tmp/x", "scratch:x"},
		{only, "/", "tmp/x", "a:tmp/x"},
		{only, "/tmp", "x", "scratch:x"},
		{only, "/", "/dev/shm/x", "scratch:x"},
		{other, "/", "/tmp/x", "own:tmp/x"},
		{other, "/", "/dev/shm", "scratch:."},
		{ruled, "/", "/tmp/x", "scratch:x"},
		{ruled, "/", "tmp/x", "ruled:tmp/x"},
		{both, "/", "/", "nil:."},
		{both, "/a", "x", "a:x"},
		{both, "/a", "../b/x", "b:x"},
		{both, "/", "/tmp", "scratch:."},
		{both, "/", "c/x", "file does not exist"},
	}
	for _, c := range cases {
		got := ""
		at, err := NewFiles(c.workspaces, scratch, Hooks{}).Locate(t.Context(), c.dir, c.name)
		switch {
		case err != nil:
			got = errors.Unwrap(err).Error()
		case at.Workspace == nil:
			got = "nil:" + at.Name
		default:
			got = at.Workspace.Name() + ":" + at.Name
		}
		if got != c.want {
			t.Errorf("Locate(%q, %q) = %s, want %s", c.dir, c.name, got, c.want)
		}
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	p, _, _ := newTestProcess(t, map[string]string{"f": "old\n"}, "x")
	write := func(out io.WriteCloser, text string) {
		t.Helper()
		if _, err := io.WriteString(out, text); err != nil {
			t.Fatal(err)
		}
	}
	content := func() string {
		t.Helper()
		data, _, err := p.ReadFile(t.Context(), "f")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first, err := p.Create(t.Context(), "f", os.O_APPEND)
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Create(t.Context(), "/f", 0)
	if err != nil {
		t.Fatal(err)
	}
	write(first, "1")
	write(second, "2")
	second.Close()
	if got := content(); got != "old\n" {
		t.Errorf("before the last Close: %q", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(); got != "old\n12" {
		t.Errorf("after: %q", got)
	}
	late, err := p.Create(t.Context(), "f", 0)
	if err != nil {
		t.Fatal(err)
	}
	write(late, "late")
	if err := p.WriteFile(t.Context(), "f", []byte("other"), nil); err != nil {
		t.Fatal(err)
	}
	if err := late.Close(); !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("Close after another write = %v, want ErrConflict", err)
	}
	for name, want := range map[string]error{"no/f": fs.ErrNotExist, "f/x": workspace.ErrNotDir, "/": workspace.ErrIsDir} {
		if _, err := p.Create(t.Context(), name, 0); !errors.Is(err, want) {
			t.Errorf("Create(%q) = %v, want %v", name, err, want)
		}
	}
}

// plain is a file system that neither copies nor moves, and has no conditional writes.
type plain struct{ workspace.FileSystem }

func (plain) Capabilities() workspace.Capabilities { return workspace.Capabilities{Write: true} }

// TestPlain copies and moves files in a workspace that can only read, write and remove them.
func TestPlain(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cp f g": "d/x=x f=f g=f", "cp f d/x": "d/x=f f=f", "cp -r d e": "d/x=x e/x=x f=f", "cp -t d f": "d/f=f d/x=x f=f",
		"mv f g": "d/x=x g=f", "mv f d/x": "d/x=f", "mv f d": "d/f=f d/x=x", "mv d e": "e/x=x f=f", "mv -n f d/x": "d/x=x f=f",
	} {
		fsys := memory.New(nil)
		ws := workspace.New("repo", plain{fsys}, nil)
		for name, content := range map[string]string{"f": "f", "d/x": "x"} {
			if _, err := ws.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		_, stderr, status := run(t, ws, "", line)
		var files []string
		for name, content := range contents(t, ws) {
			files = append(files, name+"="+content)
		}
		slices.Sort(files)
		if got := strings.Join(files, " "); got != want || status != 0 {
			t.Errorf("%s prints %q with status %d, and leaves %s, want %s", line, stderr, status, got, want)
		}
	}
}

func TestCat(t *testing.T) {
	t.Parallel()
	p, stdout, stderr := newTestProcess(t, map[string]string{"f": "a\n\n\n\tb\x01"}, "cat", "-An", "f", "-s", "missing")
	if status := cat(t.Context(), p); status != 1 {
		t.Errorf("status %d", status)
	}
	if want := "     1\ta$\n     2\t$\n     3\t^Ib^A"; stdout.String() != want {
		t.Errorf("stdout %q, want %q", stdout, want)
	}
	if want := "cat: missing: No such file or directory\n"; stderr.String() != want {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
}
