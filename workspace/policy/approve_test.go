package policy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func ExampleNewApprover() {
	fsys, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{
		{Ask: []policy.Op{policy.OpWrite, policy.OpEdit}, Paths: []string{"**"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	approver := policy.NewApprover(func(_ context.Context, r policy.Request) (policy.Answer, error) {
		fmt.Println(r.Text())
		return policy.Answer{Allow: r.Path != "main.go", Reason: "not this one"}, nil
	}, nil)
	ctx := policy.WithApprover(context.Background(), approver)
	for _, name := range []string{"notes.txt", "main.go"} {
		_, err := fsys.WriteFile(ctx, name, []byte("hello\n"), nil)
		fmt.Println(err)
	}
	// Output:
	// write notes.txt
	// asked by: rules[0]
	// note: it is a new file
	// --- a/notes.txt
	// +++ b/notes.txt
	// @@ -0,0 +1 @@
	// +hello
	// <nil>
	// write main.go
	// asked by: rules[0]
	// note: it is a new file
	// --- a/main.go
	// +++ b/main.go
	// @@ -0,0 +1 @@
	// +hello
	// write_file main.go: forbidden by policy: it matches rules[0], "**", which asks before write; allowed: read, delete, move, copy, list, mkdir; it was refused: not this one
}

// person answers questions, and records them.
type person struct {
	mu       sync.Mutex
	requests []policy.Request                            // guarded by mu
	answer   func(n int, r policy.Request) policy.Answer // the n-th question, from 1
}

func (p *person) ask(_ context.Context, r policy.Request) (policy.Answer, error) {
	p.mu.Lock()
	p.requests = append(p.requests, r)
	n := len(p.requests)
	p.mu.Unlock()
	if p.answer == nil {
		return policy.Answer{Allow: true}, nil
	}
	return p.answer(n, r), nil
}

// asked returns how the questions begin.
func (p *person) asked() (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		list = append(list, strings.TrimSpace(string(r.Op)+" "+r.Path+" "+r.To))
	}
	p.requests = nil
	return list
}

// asking returns fsys under rules, and a context that asks p.
func asking(t *testing.T, fsys workspace.FileSystem, p *person, rules ...policy.Rule) (context.Context, *policy.RestrictedFS) {
	t.Helper()
	r, err := policy.Restrict(fsys, policy.Rules{FirstMatch: rules})
	if err != nil {
		t.Fatal(err)
	}
	return policy.WithApprover(t.Context(), policy.NewApprover(p.ask, nil)), r
}

var askAll = policy.Rule{Ask: policy.Ops(), Paths: []string{"**"}}

// operations are calls of each method on a name that exists or not.
var operations = []struct {
	name string
	do   func(ctx context.Context, fsys *policy.RestrictedFS, name string) error
	want string // the question
}{
	{"ReadFile", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.ReadFile(ctx, n)
		return err
	}, "read NAME"},
	{"ReadVersioned", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, _, err := f.ReadVersioned(ctx, n, 0)
		return err
	}, "read NAME"},
	{"Open", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		stream, _, err := f.Open(ctx, n, nil)
		if err == nil {
			err = stream.Close()
		}
		return err
	}, "read NAME"},
	{"WriteFile", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.WriteFile(ctx, n, []byte("x"), nil)
		return err
	}, "write NAME"},
	{"WriteFile if not exist", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.WriteFile(ctx, n, []byte("x"), &workspace.WriteOptions{IfNotExist: true})
		return err
	}, "write NAME"},
	{"WriteFile if version", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.WriteFile(ctx, n, []byte("x"), &workspace.WriteOptions{IfVersion: "v"})
		return err
	}, "edit NAME"},
	{"Stat", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.Stat(ctx, n)
		return err
	}, "list NAME"},
	{"Resolve", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.Resolve(ctx, n)
		return err
	}, "list NAME"},
	{"Ls", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.Ls(ctx, n, nil)
		return err
	}, "list NAME"},
	{"Walk", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		return f.Walk(ctx, n, nil, func(_ workspace.FileInfo, err error) error { return err })
	}, "list NAME"},
	{"Glob", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.Glob(ctx, "*", &workspace.GlobOptions{Dir: n})
		return err
	}, "list NAME"},
	{"Grep", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.Grep(ctx, "x", &workspace.GrepOptions{Path: n})
		return err
	}, "read NAME"},
	{"Watch", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		_, err := f.Watch(ctx, n, nil)
		return err
	}, "list NAME"},
	{"Mkdir", func(ctx context.Context, f *policy.RestrictedFS, n string) error { return f.Mkdir(ctx, n, nil) }, "mkdir NAME"},
	{"Mkdir recursive", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		return f.Mkdir(ctx, n, &workspace.MkdirOptions{Recursive: true})
	}, "mkdir NAME"},
	{"Rm", func(ctx context.Context, f *policy.RestrictedFS, n string) error { return f.Rm(ctx, n, nil) }, "delete NAME"},
	{"Rm recursive", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		return f.Rm(ctx, n, &workspace.RmOptions{Recursive: true})
	}, "delete NAME"},
	{"Move", func(ctx context.Context, f *policy.RestrictedFS, n string) error { return f.Move(ctx, n, "to") }, "move NAME to"},
	{"Copy", func(ctx context.Context, f *policy.RestrictedFS, n string) error {
		_, err := f.Copy(ctx, n, "to")
		return err
	}, "copy NAME to"},
}

// withFiles opens a store that has a file and a directory.
func withFiles(t *testing.T, open func(t *testing.T) workspace.FileSystem) workspace.FileSystem {
	t.Helper()
	fsys := open(t)
	write(t, fsys, "file", "x\n")
	write(t, fsys, "dir/child", "x\n")
	return fsys
}

// TestEveryOperationAsks tests each method on what exists and what does not: with an
// approval it does what it does without rules; without, it does nothing, and the
// error and the question are the same for every name.
func TestEveryOperationAsks(t *testing.T) {
	for store, open := range stores() {
		for _, op := range operations {
			for _, name := range []string{"file", "dir", "missing", "dir/child", "no/such", "file/below"} {
				t.Run(store+"/"+op.name+"/"+name, func(t *testing.T) {
					t.Parallel()
					plain, err := policy.Restrict(withFiles(t, open), policy.Rules{FirstMatch: []policy.Rule{{Allow: policy.Ops(), Paths: []string{"**"}}}, DeniedPaths: []string{"none"}})
					if err != nil {
						t.Fatal(err)
					}
					want := op.do(t.Context(), plain, name)

					p := &person{}
					ctx, r := asking(t, withFiles(t, open), p, askAll)
					got := op.do(ctx, r, name)
					if fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("approved: %v, want %v", got, want)
					}
					question := []string{strings.ReplaceAll(op.want, "NAME", name)}
					if diff := cmp.Diff(question, p.asked()); diff != "" {
						t.Errorf("questions (-want +got):\n%s", diff)
					}

					p.answer = func(int, policy.Request) policy.Answer { return policy.Answer{} }
					fsys := withFiles(t, open)
					before := list(t, fsys)
					ctx, r = asking(t, fsys, p, askAll)
					err = op.do(ctx, r, name)
					var denied *policy.DeniedError
					if !errors.Is(err, workspace.ErrPolicy) || !errors.As(err, &denied) || denied.Rule() != "rules[0]" {
						t.Errorf("refused: %v, want a denial by rules[0]", err)
					}
					if diff := cmp.Diff(question, p.asked()); diff != "" {
						t.Errorf("questions that are refused (-want +got):\n%s", diff)
					}
					if diff := cmp.Diff(before, list(t, fsys)); diff != "" {
						t.Errorf("a refused operation changes something (-before +after):\n%s", diff)
					}
					if err = op.do(t.Context(), r, name); !errors.Is(err, workspace.ErrPolicy) || !errors.Is(err, policy.ErrNoApprover) || !strings.Contains(err.Error(), "nobody can approve it here") {
						t.Errorf("without an approver: %v", err)
					}
				})
			}
		}
	}
}

// list returns what there is, with the contents.
func list(t *testing.T, fsys workspace.FileSystem) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := workspace.Walk(t.Context(), fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		if err != nil || info.Type != workspace.TypeFile {
			all[info.Path] = string(info.Type)
			return err
		}
		data, err := fsys.ReadFile(t.Context(), info.Path)
		all[info.Path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDeniedIsNotAsked tests that nobody is asked about what is denied whoever
// approves.
func TestDeniedIsNotAsked(t *testing.T) {
	dir := t.TempDir()
	fsys := openLocal(t, dir)
	for _, name := range []string{"a", "secret/key", "tree/in/key", "fixed"} {
		write(t, fsys, name, "x")
	}
	makeSymlink(t, dir, "secret/key", "link")
	makeSymlink(t, dir, "secret", "dirlink")
	p := &person{}
	r, err := policy.Restrict(fsys, policy.Rules{
		DeniedPaths: []string{"secret"}, ReadOnlyPaths: []string{"fixed"}, AllowedPaths: []string{"*", "secret/**", "tree/**"},
		FirstMatch: []policy.Rule{
			{Deny: []policy.Op{policy.OpDelete, policy.OpMove}, Paths: []string{"tree/in/key"}},
			askAll,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := policy.WithApprover(t.Context(), policy.NewApprover(p.ask, nil))
	_, read := r.ReadFile(ctx, "secret/key")
	_, link := r.ReadFile(ctx, "link")
	_, dirlink := r.ReadFile(ctx, "dirlink/key")
	_, outside := r.ReadFile(ctx, "other/a")
	_, fixed := r.WriteFile(ctx, "fixed", nil, nil)
	_, through := r.WriteFile(ctx, "link", nil, nil)
	_, copied := r.Copy(ctx, "a", "secret/a")
	_, copiedLink := r.Copy(ctx, "link", "b")
	for what, err := range map[string]error{
		"read":                        read,
		"read by a symlink":           link,
		"read below a symlink":        dirlink,
		"read of what no rule allows": outside,
		"write of read-only":          fixed,
		"write through a symlink":     through,
		"copy to denied":              copied,
		"copy of a symlink":           copiedLink,
		"move to denied":              r.Move(ctx, "a", "secret/a"),
		"move of read-only":           r.Move(ctx, "fixed", "b"),
		"rm of a tree":                r.Rm(ctx, "tree", &workspace.RmOptions{Recursive: true}),
		"move of a tree":              r.Move(ctx, "tree", "b"),
		"mkdir":                       r.Mkdir(ctx, "secret/d", nil),
	} {
		if !errors.Is(err, workspace.ErrPolicy) || strings.Contains(err.Error(), "asks") {
			t.Errorf("%s = %v, want a denial that is no question", what, err)
		}
	}
	if asked := p.asked(); len(asked) > 0 {
		t.Errorf("asked: %v, want no question", asked)
	}
}

// plainFS has no versions and no conditional writes.
type plainFS struct{ *memory.FS }

func (p plainFS) Capabilities() workspace.Capabilities {
	caps := p.FS.Capabilities()
	caps.Versions, caps.ConditionalWrite = false, false
	return caps
}

func (p plainFS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	data, _, err := p.FS.ReadVersioned(ctx, name, limit)
	return data, "", err
}

func (p plainFS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := p.FS.Stat(ctx, name)
	info.Version = ""
	return info, err
}

func (p plainFS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if opts != nil && (opts.IfVersion != "" || opts.IfNotExist) {
		return "", errors.ErrUnsupported
	}
	_, err := p.FS.WriteFile(ctx, name, data, nil)
	return "", err
}

// TestChangeWhileAsked changes what is shown while the question is open: there is a
// new question about what is there then.
func TestChangeWhileAsked(t *testing.T) {
	for _, store := range []string{"memory", "plain"} {
		for _, op := range []string{"write", "create", "delete", "delete tree", "move", "copy"} {
			t.Run(store+"/"+op, func(t *testing.T) {
				t.Parallel()
				m := memory.New(nil)
				var fsys workspace.FileSystem = m
				if store == "plain" {
					fsys = plainFS{m}
				}
				write(t, m, "a", "one\n")
				write(t, m, "d/a", "one\n")
				changes := 1
				p := &person{answer: func(n int, _ policy.Request) policy.Answer {
					if n <= changes {
						text := fmt.Sprintf("change %d\n", n)
						for _, name := range []string{"a", "new", "d/b"} {
							write(t, m, name, text)
						}
					}
					return policy.Answer{Allow: true}
				}}
				ctx, r := asking(t, fsys, p, askAll)
				do := map[string]func() error{
					"write":       func() error { _, err := r.WriteFile(ctx, "a", []byte("mine\n"), nil); return err },
					"create":      func() error { _, err := r.WriteFile(ctx, "new", []byte("mine\n"), nil); return err },
					"delete":      func() error { return r.Rm(ctx, "a", nil) },
					"delete tree": func() error { return r.Rm(ctx, "d", &workspace.RmOptions{Recursive: true}) },
					"move":        func() error { return r.Move(ctx, "a", "b") },
					"copy":        func() error { _, err := r.Copy(ctx, "a", "b"); return err },
				}[op]
				if err := do(); err != nil {
					t.Errorf("%s = %v", op, err)
				}
				if n := len(p.requests); n != 2 {
					t.Errorf("%s asks %d times, want 2: %+v", op, n, p.requests)
				}
				if last := p.requests[len(p.requests)-1]; (op == "write" || op == "create") && !strings.Contains(last.Diff, "-change 1\n+mine\n") {
					t.Errorf("the second question does not show the change:\n%s", last.Diff)
				}

				p.asked()
				changes = 100
				before := list(t, m)
				if _, exists := before["a"]; !exists {
					write(t, m, "a", "one\n")
				}
				write(t, m, "d/a", "again\n")
				_ = m.Rm(t.Context(), "b", nil)
				if err := do(); !errors.Is(err, workspace.ErrConflict) {
					t.Errorf("%s of what always changes = %v, want ErrConflict", op, err)
				}
				if n := len(p.requests); n != 3 {
					t.Errorf("%s of what always changes asks %d times, want 3", op, n)
				}
				if data, err := m.ReadFile(t.Context(), "a"); err != nil || string(data) != "change 3\n" {
					t.Errorf("a is %q, %v after a conflict", data, err)
				}
			})
		}
	}
}

// TestSymlinkIsAskedOnce approves operations on names with a symlink: there is one
// question, about the target, and the operation succeeds.
func TestSymlinkIsAskedOnce(t *testing.T) {
	dir := t.TempDir()
	fsys := openLocal(t, dir)
	for _, name := range []string{"a", "d/x"} {
		write(t, fsys, name, name)
	}
	makeSymlink(t, dir, "a", "link")
	makeSymlink(t, dir, "d", "dirlink")
	for name, want := range map[string]struct {
		target string
		ops    []string
	}{
		"link":        {"a", []string{"ReadFile", "ReadVersioned", "Open", "Resolve", "Grep", "WriteFile"}},
		"dirlink/x":   {"d/x", []string{"ReadFile", "ReadVersioned", "Open", "Resolve", "Grep", "WriteFile", "Stat"}},
		"dirlink":     {"d", []string{"Resolve", "Ls", "Walk", "Glob", "Grep", "Watch"}},
		"dirlink/new": {"d/new", []string{"Mkdir"}},
	} {
		for _, op := range operations {
			if !slices.Contains(want.ops, op.name) {
				continue
			}
			p := &person{}
			ctx, r := asking(t, fsys, p, askAll)
			if err := op.do(ctx, r, name); err != nil {
				t.Errorf("%s(%q) = %v", op.name, name, err)
			}
			if len(p.requests) != 1 || p.requests[0].Path != want.target {
				t.Errorf("%s(%q) asked %+v, want one question about %s", op.name, name, p.requests, want.target)
			}
		}
	}
}

// TestSwapWhileAsked replaces a symlink while the question about its target is open.
func TestSwapWhileAsked(t *testing.T) {
	dir := t.TempDir()
	fsys := openLocal(t, dir)
	for _, name := range []string{"a", "b"} {
		write(t, fsys, name, name)
	}
	makeSymlink(t, dir, "a", "link")
	swap := func(n int, r policy.Request) policy.Answer {
		if n == 1 {
			if err := fsys.Rm(t.Context(), "link", nil); err != nil {
				t.Error(err)
			}
			makeSymlink(t, dir, "b", "link")
		}
		return policy.Answer{Allow: r.Path == "a", Reason: "not b"}
	}
	for op, do := range map[string]func(ctx context.Context, r *policy.RestrictedFS) error{
		"read": func(ctx context.Context, r *policy.RestrictedFS) error { _, err := r.ReadFile(ctx, "link"); return err },
		"grep": func(ctx context.Context, r *policy.RestrictedFS) error {
			_, err := r.Grep(ctx, "b", &workspace.GrepOptions{Path: "link"})
			return err
		},
		"write": func(ctx context.Context, r *policy.RestrictedFS) error {
			_, err := r.WriteFile(ctx, "link", nil, nil)
			return err
		},
		"copy": func(ctx context.Context, r *policy.RestrictedFS) error {
			_, err := r.Copy(ctx, "link", "c")
			return err
		},
	} {
		_ = fsys.Rm(t.Context(), "link", nil)
		makeSymlink(t, dir, "a", "link")
		p := &person{answer: swap}
		ctx, r := asking(t, fsys, p, askAll)
		if err := do(ctx, r); !errors.Is(err, workspace.ErrPolicy) {
			t.Errorf("%s = %v, want a denial", op, err)
		}
		if len(p.requests) != 2 || p.requests[0].Path != "a" || p.requests[1].Path != "b" || !strings.Contains(p.requests[0].Note, "link") {
			t.Errorf("%s asked %+v, want questions about a and b that say link", op, p.requests)
		}
	}
	if data, err := fsys.ReadFile(t.Context(), "b"); err != nil || string(data) != "b" {
		t.Errorf("b is %q, %v", data, err)
	}
}

// TestSession tests what "for this session" covers.
func TestSession(t *testing.T) {
	m := memory.New(nil)
	write(t, m, "a/x", "needle\n")
	write(t, m, "b/x", "needle\n")
	p := &person{answer: func(int, policy.Request) policy.Answer { return policy.Answer{Allow: true, Session: true} }}
	inA := policy.Rule{Ask: policy.Ops(), Paths: []string{"a"}}
	inB := policy.Rule{Ask: policy.Ops(), Paths: []string{"b"}}
	ctx, r := asking(t, m, p, inA, inB)
	found := func(ctx context.Context) (names []string) {
		result, err := r.Grep(ctx, "needle", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range result.Matches {
			names = append(names, m.Path)
		}
		return names
	}
	if names := found(ctx); names != nil {
		t.Errorf("a search above finds %v, want nothing that was not approved", names)
	}
	if _, err := r.Create(ctx, "a/new", nil); !errors.Is(err, workspace.ErrPolicy) || !strings.Contains(err.Error(), "stream") {
		t.Errorf("Create = %v, want a denial that says why", err)
	}
	if err := r.Mkdir(ctx, "a/d", nil); err != nil {
		t.Error(err)
	}
	// The rule is allowed: nothing of it asks, and it is not hidden.
	if _, err := r.WriteFile(ctx, "a/x", []byte("needle 2\n"), nil); err != nil {
		t.Error(err)
	}
	w, err := r.Create(ctx, "a/new", nil)
	if err == nil {
		_, _ = io.WriteString(w, "needle\n")
		_, err = w.Commit()
	}
	if err != nil {
		t.Errorf("Create in a session that allows it = %v", err)
	}
	if diff := cmp.Diff([]string{"a/new", "a/x"}, found(ctx)); diff != "" {
		t.Errorf("a search (-want +got):\n%s", diff)
	}
	if names := found(t.Context()); names != nil {
		t.Errorf("a search outside of the session finds %v", names)
	}
	exact, err := r.Exact()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exact.ReadFile(ctx, "a/x"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"mkdir a/d"}, p.asked()); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	// Another rule, and another file system with the same rules, still ask.
	if _, err := r.ReadFile(ctx, "b/x"); err != nil {
		t.Error(err)
	}
	other, err := policy.Restrict(m, policy.Rules{FirstMatch: []policy.Rule{inA}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ReadFile(ctx, "a/x"); err != nil {
		t.Error(err)
	}
	if err := r.Move(ctx, "a/x", "b/y"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"read b/x", "read a/x"}, p.asked()); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

// TestOneQuestionForTwoRules tests that an operation that two rules ask about is one
// question, and that a change of one name below makes it new.
func TestOneQuestionForTwoRules(t *testing.T) {
	m := memory.New(nil)
	write(t, m, "tree/a", "x")
	write(t, m, "tree/keys/b", "x")
	p := &person{}
	ctx, r := asking(t, m, p,
		policy.Rule{Ask: []policy.Op{policy.OpDelete}, Paths: []string{"keys"}},
		policy.Rule{Ask: []policy.Op{policy.OpMove, policy.OpRead}, Paths: []string{"tree"}},
		policy.Rule{Ask: []policy.Op{policy.OpWrite, policy.OpMkdir}, Paths: []string{"to"}})
	if err := r.Move(ctx, "tree", "to"); err != nil {
		t.Error(err)
	}
	want := []policy.Request{{Op: policy.OpMove, Path: "tree", To: "to", Note: "a directory with 3 names below it: a, keys, keys/b", Rules: []string{"rules[1]", "rules[2]"}}}
	if diff := cmp.Diff(want, p.requests, cmpopts.IgnoreFields(policy.Request{}, "Fingerprint")); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	p.asked()
	if err := r.Rm(ctx, "to", &workspace.RmOptions{Recursive: true}); err != nil {
		t.Error(err)
	}
	want = []policy.Request{{Op: policy.OpDelete, Path: "to", Recursive: true, Note: "a directory with 3 names below it: a, keys, keys/b", Rules: []string{"rules[0]"}}}
	if diff := cmp.Diff(want, p.requests, cmpopts.IgnoreFields(policy.Request{}, "Fingerprint")); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

// TestApproverFails tests approvers that do not answer.
func TestApproverFails(t *testing.T) {
	for name, c := range map[string]struct {
		ask  func(context.Context, policy.Request) (policy.Answer, error)
		want string
		kind error
	}{
		"error": {func(context.Context, policy.Request) (policy.Answer, error) {
			return policy.Answer{Allow: true}, errors.New("token abc")
		}, "the question got no valid answer", policy.ErrRefused},
		"panic": {func(context.Context, policy.Request) (policy.Answer, error) { panic("token abc") }, "the question got no valid answer", policy.ErrRefused},
		"goexit": {func(context.Context, policy.Request) (policy.Answer, error) {
			runtime.Goexit()
			return policy.Answer{}, nil
		}, "the question got no valid answer", policy.ErrRefused},
		"nil": {nil, "the question got no valid answer", policy.ErrRefused},
		"slow": {func(ctx context.Context, _ policy.Request) (policy.Answer, error) {
			<-ctx.Done()
			return policy.Answer{Allow: true}, nil
		}, "nobody answered in time", policy.ErrNoAnswer},
		"deaf": {func(context.Context, policy.Request) (policy.Answer, error) {
			time.Sleep(time.Hour)
			return policy.Answer{Allow: true, Session: true}, nil
		}, "nobody answered in time", policy.ErrNoAnswer},
		"reason": {func(context.Context, policy.Request) (policy.Answer, error) {
			return policy.Answer{Session: true, Reason: "no\x1b[2J " + strings.Repeat("x", 5000)}, nil
		}, `it was refused: no\x1b[2J x`, policy.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := memory.New(nil)
				r, err := policy.Restrict(m, policy.Rules{FirstMatch: []policy.Rule{askAll}})
				if err != nil {
					t.Fatal(err)
				}
				limited, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				ctx := policy.WithApprover(limited, policy.NewApprover(c.ask, nil))
				for range 2 { // what fails once must not be stuck
					_, err = r.WriteFile(ctx, "a", nil, nil)
					if !errors.Is(err, workspace.ErrPolicy) || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) && name != "deaf" || strings.Contains(err.Error(), "token") || len(err.Error()) > 1000 {
						t.Errorf("WriteFile = %v, want a denial with %q", err, c.want)
					}
				}
				if name == "deaf" {
					if !strings.Contains(err.Error(), "another question was not answered in time") {
						t.Errorf("the second WriteFile = %v", err)
					}
					time.Sleep(2 * time.Hour) // the late answers come
					if _, err = r.WriteFile(context.WithoutCancel(ctx), "a", nil, nil); !errors.Is(err, workspace.ErrPolicy) {
						t.Errorf("WriteFile after a late answer = %v", err)
					}
				}
				time.Sleep(2 * time.Hour)
				if _, err := m.Stat(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("Stat = %v: a refused file exists", err)
				}
			})
		})
	}
}

// TestCallEndsWhileAsked ends the context of an operation while its question is
// open.
func TestCallEndsWhileAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{askAll}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, _ policy.Request) (policy.Answer, error) {
		cancel()
		<-ctx.Done()
		return policy.Answer{Allow: true}, nil
	}
	if _, err := r.WriteFile(policy.WithApprover(ctx, policy.NewApprover(ask, nil)), "a", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("WriteFile = %v, want context.Canceled", err)
	}
}

// TestOneQuestionAtATime tests that questions of concurrent operations do not
// overlap, and that an answer for the session answers those that wait.
func TestOneQuestionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{askAll}})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		n := 0
		ask := func(context.Context, policy.Request) (policy.Answer, error) {
			if !mu.TryLock() {
				t.Error("two questions at a time")
				return policy.Answer{}, nil
			}
			defer mu.Unlock()
			n++
			time.Sleep(time.Second)
			return policy.Answer{Allow: true, Session: n == 3}, nil
		}
		ctx := policy.WithApprover(t.Context(), policy.NewApprover(ask, nil))
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if _, err := r.WriteFile(ctx, fmt.Sprint(i), nil, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n != 3 {
			t.Errorf("%d questions, want 3: the third answer was for the session", n)
		}
	})
}

// TestTurnIsNoAnswer tests that the time for an answer begins when the question is asked, and
// that a question waits for its turn for half of the time of its operation.
func TestTurnIsNoAnswer(t *testing.T) {
	for _, c := range []struct {
		name            string
		limit           time.Duration // of the operations, 0 for none
		allowed, noTurn int
	}{
		{"without a limit", 0, 10, 0},
		{"with a limit", 4 * time.Second, 5, 5}, // 2 s for the turn; the tenth would come after 3.6 s
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{askAll}})
				if err != nil {
					t.Fatal(err)
				}
				ctx := t.Context()
				if c.limit > 0 {
					limited, cancel := context.WithTimeout(ctx, c.limit)
					defer cancel()
					ctx = limited
				}
				ask := func(context.Context, policy.Request) (policy.Answer, error) {
					time.Sleep(410 * time.Millisecond)
					return policy.Answer{Allow: true}, nil
				}
				ctx = policy.WithApprover(ctx, policy.NewApprover(ask, &policy.ApproverOptions{Timeout: 500 * time.Millisecond}))
				var allowed, noTurn atomic.Int32
				var wg sync.WaitGroup
				for i := range 10 {
					wg.Go(func() {
						switch _, err := r.WriteFile(ctx, fmt.Sprint(i), nil, nil); {
						case err == nil:
							allowed.Add(1)
						case errors.Is(err, policy.ErrNoAnswer) && strings.Contains(err.Error(), "another question"):
							noTurn.Add(1)
						default:
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if int(allowed.Load()) != c.allowed || int(noTurn.Load()) != c.noTurn {
					t.Errorf("%d writes are allowed, and %d questions have no turn, want %d and %d", allowed.Load(), noTurn.Load(), c.allowed, c.noTurn)
				}
			})
		})
	}
}

// TestTurnBesideStuckQuestion asks while a question is open whose function never returns: others do
// not wait for ever, also without a limit of their own.
func TestTurnBesideStuckQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{askAll}})
		if err != nil {
			t.Fatal(err)
		}
		end := make(chan struct{})
		ask := func(context.Context, policy.Request) (policy.Answer, error) {
			<-end
			return policy.Answer{Allow: true}, nil
		}
		ctx := policy.WithApprover(t.Context(), policy.NewApprover(ask, &policy.ApproverOptions{Timeout: time.Second}))
		start := time.Now()
		for _, name := range []string{"a", "b"} {
			if _, err := r.WriteFile(ctx, name, nil, nil); !errors.Is(err, policy.ErrNoAnswer) {
				t.Errorf("WriteFile(%q) = %v, want %v", name, err, policy.ErrNoAnswer)
			}
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("two questions took %v, want their Timeout and some seconds", took)
		}
		close(end)
	})
}

// TestParallelQuestions tests that as many questions are open at a time as the options
// say, and that answers for the session add up.
func TestParallelQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rules policy.Rules
		for _, name := range []string{"0", "1", "2"} {
			rules.FirstMatch = append(rules.FirstMatch, policy.Rule{Ask: []policy.Op{policy.OpWrite}, Paths: []string{name}})
		}
		r, err := policy.Restrict(memory.New(nil), rules)
		if err != nil {
			t.Fatal(err)
		}
		var open, total atomic.Int32
		answer := make(chan struct{})
		ask := func(context.Context, policy.Request) (policy.Answer, error) {
			total.Add(1)
			open.Add(1)
			defer open.Add(-1)
			<-answer
			return policy.Answer{Allow: true, Session: true}, nil
		}
		ctx := policy.WithApprover(t.Context(), policy.NewApprover(ask, &policy.ApproverOptions{Parallel: 2}))
		var wg sync.WaitGroup
		write := func() {
			for i := range 3 {
				wg.Go(func() {
					if _, err := r.WriteFile(ctx, fmt.Sprint(i), nil, nil); err != nil {
						t.Error(err)
					}
				})
			}
		}
		write()
		synctest.Wait()
		if n := open.Load(); n != 2 {
			t.Errorf("%d questions are open, want 2", n)
		}
		close(answer)
		wg.Wait()
		write()
		wg.Wait()
		if n := total.Load(); n != 3 {
			t.Errorf("%d questions, want one for each rule", n)
		}
	})
}

// TestTextShowsNoFake tests that no name and no content can look like another
// question.
func TestTextShowsNoFake(t *testing.T) {
	r := policy.Request{
		Op: policy.OpWrite, Path: "a\nasked by: nobody\x1b[2J\u202etxt", To: "b\rc", Workspace: "w\u200b", Rules: []string{"rules[0]"},
		Diff: "@@ -1 +1 @@\n-a\r\x1b[1A\n+\u2028write b\n", Note: "x\ny",
	}
	want := `write a\x0aasked by: nobody\x1b[2J\u202etxt to b\x0dc, in the workspace w\u200b
asked by: rules[0]
note: x\x0ay
@@ -1 +1 @@
-a\x0d\x1b[1A
+\u2028write b`
	if diff := cmp.Diff(want, r.Text()); diff != "" {
		t.Errorf("Text (-want +got):\n%s", diff)
	}
}

// TestErrorOfWalkFuncIsNoQuestion tests that the error of a caller's function is not
// taken for one of the walk.
func TestErrorOfWalkFuncIsNoQuestion(t *testing.T) {
	m := memory.New(nil)
	write(t, m, "a", "x")
	p := &person{}
	ctx, r := asking(t, m, p, policy.Rule{Ask: []policy.Op{policy.OpRead}, Paths: []string{"**"}}, policy.Rule{Ask: policy.Ops(), Paths: []string{"other"}})
	_, denial := r.ReadFile(t.Context(), "a")
	calls := 0
	err := r.Walk(ctx, ".", nil, func(workspace.FileInfo, error) error { calls++; return denial })
	if err != denial || calls != 1 || len(p.asked()) > 0 {
		t.Errorf("Walk = %v after %d calls, want the error of the function after one call", err, calls)
	}
}

// TestFingerprint tests that equal requests have equal fingerprints, and others not.
func TestFingerprint(t *testing.T) {
	m := memory.New(nil)
	write(t, m, "a", "one")
	write(t, m, "b", "one")
	p := &person{answer: func(int, policy.Request) policy.Answer { return policy.Answer{} }}
	ctx, r := asking(t, m, p, askAll)
	fingerprints := []string{}
	ctx = session.WithWorkspace(ctx, "one")
	do := func(name, content string, opts *workspace.WriteOptions) {
		if _, err := r.WriteFile(ctx, name, []byte(content), opts); !errors.Is(err, workspace.ErrPolicy) {
			t.Fatal(err)
		}
		fingerprints = append(fingerprints, p.requests[len(p.requests)-1].Fingerprint)
	}
	do("a", "two", nil)
	do("a", "two", nil)
	do("a", "three", nil)
	do("b", "two", nil)
	do("a", "two", &workspace.WriteOptions{IfNotExist: true})
	write(t, m, "a", "changed")
	do("a", "two", nil)
	ctx = session.WithWorkspace(ctx, "two")
	do("a", "two", nil)
	if fingerprints[0] != fingerprints[1] {
		t.Errorf("two equal requests have the fingerprints %v", fingerprints[:2])
	}
	rest := slices.Clone(fingerprints[1:])
	slices.Sort(rest)
	if len(slices.Compact(rest)) != 6 {
		t.Errorf("the fingerprints of six requests are not six: %v", fingerprints[1:])
	}
}

// TestStaleEdit tests that a write with the version of other bytes is a conflict: one
// that nobody is asked about, if the version is no secret, and after one question if
// the file changes while it is open.
func TestStaleEdit(t *testing.T) {
	m := memory.New(nil)
	write(t, m, "a", "one")
	stale, err := m.Stat(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	write(t, m, "a", "two")
	edits := policy.Rule{Ask: []policy.Op{policy.OpEdit}, Paths: []string{"**"}}
	hidden := policy.Rule{Ask: []policy.Op{policy.OpEdit, policy.OpList}, Paths: []string{"**"}}
	for _, c := range []struct {
		rule  policy.Rule
		asked int
	}{{edits, 0}, {hidden, 1}} {
		p := &person{}
		ctx, r := asking(t, m, p, c.rule)
		_, err := r.WriteFile(ctx, "a", nil, &workspace.WriteOptions{IfVersion: stale.Version})
		if n := len(p.asked()); !errors.Is(err, workspace.ErrConflict) || n != c.asked {
			t.Errorf("a stale write with %v = %v after %d questions, want ErrConflict after %d", c.rule, err, n, c.asked)
		}
	}
	// Workspace.Edit reads the file again, so the second question is about that.
	p := &person{answer: func(n int, _ policy.Request) policy.Answer {
		if n == 1 {
			write(t, m, "a", "three")
		}
		return policy.Answer{Allow: true}
	}}
	ctx, r := asking(t, m, p, edits)
	data, _, err := workspace.New("test", r, nil).Edit(ctx, "a", func(old []byte) ([]byte, error) { return append(old, '!'), nil })
	if string(data) != "three!" || err != nil || len(p.requests) != 2 || !strings.Contains(p.requests[1].Diff, "+three!") {
		t.Errorf("Edit = %q, %v after %+v, want two questions, the second one about three!", data, err, p.requests)
	}
}

// TestSwapsAgainstApprovals replaces a symlink all the time, while an approver allows
// what leads to one file only: nothing is read from another one, or written to it.
func TestSwapsAgainstApprovals(t *testing.T) {
	dir := t.TempDir()
	fsys := openLocal(t, dir)
	write(t, fsys, "a", "open")
	write(t, fsys, "b", "secret")
	makeSymlink(t, dir, "a", "link")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(dir, "next")
			if os.Symlink([]string{"b", "a"}[i%2], next) == nil {
				_ = os.Rename(next, filepath.Join(dir, "link")) // the test looks at the files alone
			}
		}
	}()
	p := &person{answer: func(_ int, r policy.Request) policy.Answer { return policy.Answer{Allow: r.Path == "a" && r.To != "b"} }}
	ctx, r := asking(t, fsys, p, askAll)
	written := 0
	for i := range 300 {
		if data, err := r.ReadFile(ctx, "link"); err == nil && string(data) == "secret" {
			t.Fatalf("read %d shows what was not approved", i)
		}
		if result, err := r.Grep(ctx, "secret", &workspace.GrepOptions{Path: "link"}); err == nil && len(result.Matches) > 0 {
			t.Fatalf("search %d shows what was not approved", i)
		}
		if _, err := r.WriteFile(ctx, "link", []byte("open"), nil); err == nil {
			written++
		}
		if _, err := r.Copy(ctx, "link", "copy"); err == nil {
			holdsText(t, fsys, "copy", "open")
			if err := fsys.Rm(t.Context(), "copy", nil); err != nil {
				t.Fatal(err)
			}
		}
		holdsText(t, fsys, "b", "secret")
	}
	close(stop)
	<-stopped
	t.Logf("%d of 300 writes took place", written)
}

// holdsText tests what a file holds.
func holdsText(t *testing.T, fsys workspace.FileSystem, name, want string) {
	t.Helper()
	if data, err := fsys.ReadFile(t.Context(), name); err != nil || string(data) != want {
		t.Fatalf("%s holds %q, %v, want %q", name, data, err, want)
	}
}
