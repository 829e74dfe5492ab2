package policy_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// treeRules allow a tree, the files of one kind in another, and some at the
// top. They let "docs" and every directory in "pkg" only lead to names.
var treeRules = []string{"src/**", "docs/*.md", "*.txt", "pkg/**/*.go"}

// treeFiles are the files of the tests. Those with a comment that says so are
// denied.
var treeFiles = []string{
	"top.txt",
	"secret.env",     // denied
	".gitignore",     // denied
	"src/a.go",       //
	"src/in/b.go",    //
	"docs/guide.md",  //
	"docs/key.pem",   // denied
	"pkg/one/one.go", //
	"pkg/one/key",    // denied
	"pkg/two/key",    // denied, alone in its directory
	"pkg/file",       // denied, where a directory would lead to names
	"vault/deep/key", // denied
}

// newTree returns the tree as the rules show it, and all of it.
func newTree(t *testing.T) (*policy.RestrictedFS, *memory.FS) {
	t.Helper()
	m := memory.New(nil)
	for _, name := range treeFiles {
		write(t, m, name, "needle in "+name+"\n")
	}
	return restrict(t, m, treeRules...), m
}

func write(t *testing.T, fsys workspace.FileSystem, name, text string) {
	t.Helper()
	if _, err := fsys.WriteFile(t.Context(), name, []byte(text), nil); err != nil {
		t.Fatal(err)
	}
}

// call is one operation on one name.
type call struct {
	op string
	do func(ctx context.Context, fsys *policy.RestrictedFS, name string) error
}

// readCalls look at a file, lookCalls at a directory, and writeCalls make a
// file or change one.
func readCalls() []call {
	return []call{
		{"ReadFile", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, err := r.ReadFile(ctx, name)
			return err
		}},
		{"ReadVersioned", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, _, err := r.ReadVersioned(ctx, name, 0)
			return err
		}},
		{"Open", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			stream, _, err := r.Open(ctx, name, nil)
			if err == nil {
				stream.Close()
			}
			return err
		}},
		{"Copy", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, err := r.Copy(ctx, name, "src/copied")
			return err
		}},
	}
}

func lookCalls() []call {
	return []call{
		{"Ls", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, err := r.Ls(ctx, name, nil)
			return err
		}},
		{"Glob", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, err := r.Glob(ctx, "**", &workspace.GlobOptions{Dir: name})
			return err
		}},
		{"Grep", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, err := r.Grep(ctx, "needle", &workspace.GrepOptions{Path: name})
			return err
		}},
		{"Walk", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			return r.Walk(ctx, name, nil, func(workspace.FileInfo, error) error { return nil })
		}},
		{"Watch", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, err := r.Watch(ctx, name, nil)
			return err
		}},
		{"Stat", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, err := r.Stat(ctx, name)
			return err
		}},
	}
}

func writeCalls() []call {
	return []call{
		{"WriteFile", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, err := r.WriteFile(ctx, name, []byte("x"), nil)
			return err
		}},
		{"Create", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			w, err := r.Create(ctx, name, nil)
			if err != nil {
				return err
			}
			defer w.Close()
			if _, err := io.WriteString(w, "x"); err != nil {
				return err
			}
			_, err = w.Commit()
			return err
		}},
		{"CopyTo", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			_, err := r.Copy(ctx, "top.txt", name)
			return err
		}},
		{"MoveTo", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			return r.Move(ctx, "top.txt", name)
		}},
	}
}

func removeCalls() []call {
	return []call{
		{"Rm", func(ctx context.Context, r *policy.RestrictedFS, name string) error { return r.Rm(ctx, name, nil) }},
		{"RmRecursive", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			return r.Rm(ctx, name, &workspace.RmOptions{Recursive: true})
		}},
		{"Move", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			return r.Move(ctx, name, "src/moved")
		}},
	}
}

func makeCalls() []call {
	return []call{
		{"Mkdir", func(ctx context.Context, r *policy.RestrictedFS, name string) error { return r.Mkdir(ctx, name, nil) }},
		{"MkdirRecursive", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
			return r.Mkdir(ctx, name, &workspace.MkdirOptions{Recursive: true})
		}},
	}
}

func resolveCalls() []call {
	return []call{{"Resolve", func(ctx context.Context, r *policy.RestrictedFS, name string) error {
		_, err := r.Resolve(ctx, name)
		return err
	}}}
}

func concat(lists ...[]call) (all []call) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// TestRestrictNames tests every operation with every sort of name.
func TestRestrictNames(t *testing.T) {
	every := concat(readCalls(), lookCalls(), writeCalls(), removeCalls(), makeCalls(), resolveCalls())
	looks := concat(lookCalls(), resolveCalls())
	tests := []struct {
		name  string
		path  string
		calls []call
		want  error // nil: it succeeds
	}{
		{"denied-file", "secret.env", every, workspace.ErrPolicy},
		{"denied-missing", "nothing.env", every, workspace.ErrPolicy},
		{"denied-directory", "vault", every, workspace.ErrPolicy},
		{"denied-below-denied", "vault/deep/key", every, workspace.ErrPolicy},
		{"denied-beside-allowed", "docs/key.pem", every, workspace.ErrPolicy},
		{"denied-prefix-of-allowed", "sr", every, workspace.ErrPolicy},
		{"denied-longer-than-allowed", "src2/a.go", every, workspace.ErrPolicy},
		{"denied-in-other-case", "SRC/a.go", every, workspace.ErrPolicy},
		{"file-where-directory-leads", "pkg/file", concat(readCalls(), writeCalls(), removeCalls(), makeCalls()), workspace.ErrPolicy},
		{"file-where-directory-leads", "pkg/file", lookCalls(), fs.ErrNotExist},
		{"missing-where-directory-leads", "pkg/none", concat(readCalls(), writeCalls(), removeCalls()), workspace.ErrPolicy},
		{"missing-where-directory-leads", "pkg/none", lookCalls(), fs.ErrNotExist},
		{"below-denied-file", "pkg/file/x.go", concat(writeCalls(), makeCalls()[1:]), workspace.ErrPolicy},
		{"make-where-directory-leads", "pkg/none", concat(makeCalls(), resolveCalls()), nil},

		{"allowed-file-read", "src/a.go", concat(readCalls(), resolveCalls()), nil},
		{"allowed-file-written", "src/new/c.go", concat(writeCalls(), resolveCalls()), nil},
		{"allowed-file-removed", "docs/guide.md", removeCalls(), nil},
		{"allowed-tree-looked-at", "src", looks, nil},
		{"allowed-missing-read", "docs/none.md", concat(readCalls(), lookCalls(), removeCalls()), fs.ErrNotExist},
		{"allowed-directory-read", "src/in", readCalls(), workspace.ErrIsDir},
		{"allowed-directory-made", "src/new", makeCalls()[:1], nil},
		{"allowed-tree-removed", "src", removeCalls()[1:2], nil},

		{"leading-looked-at", "docs", looks, nil},
		{"leading-read", "docs", readCalls(), workspace.ErrIsDir},
		{"leading-removed", "docs", removeCalls()[1:], workspace.ErrPolicy},
		{"leading-not-empty", "docs", removeCalls()[:1], workspace.ErrNotEmpty},
		{"leading-empty-but-for-denied", "pkg/two", removeCalls(), workspace.ErrPolicy},
		{"leading-made-again", "docs", makeCalls()[:1], fs.ErrExist},
		{"leading-made-sure-of", "docs", makeCalls()[1:], nil},

		{"root-looked-at", ".", looks, nil},
		{"root-removed", ".", removeCalls(), fs.ErrInvalid},
		{"root-read", ".", readCalls(), workspace.ErrIsDir},
	}
	for _, tt := range tests {
		for _, c := range tt.calls {
			t.Run(tt.name+"/"+c.op, func(t *testing.T) {
				r, m := newTree(t)
				before := denied(t, m)
				if err := c.do(t.Context(), r, tt.path); !errors.Is(err, tt.want) {
					t.Errorf("%s(%q) = %v, want %v", c.op, tt.path, err, tt.want)
				}
				if diff := cmp.Diff(before, denied(t, m)); diff != "" {
					t.Errorf("%s(%q) changed what is denied (-before +after):\n%s", c.op, tt.path, diff)
				}
			})
		}
	}
}

// denied returns what the rules deny of m.
func denied(t *testing.T, m *memory.FS) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"secret.env", ".gitignore", "docs/key.pem", "pkg/one/key", "pkg/two/key", "pkg/file", "vault/deep/key"} {
		data, err := m.ReadFile(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// TestRestrictTellsNothing tests that an error does not depend on whether a
// denied name exists, and what it is.
func TestRestrictTellsNothing(t *testing.T) {
	every := concat(readCalls(), lookCalls(), writeCalls(), removeCalls(), makeCalls(), resolveCalls())
	tests := []struct {
		name  string
		paths []string // the store has some of them
		calls []call
	}{
		{"denied", []string{"secret.env", "missing.env", "vault", "vault/deep", "secret.env/below", "vault/none/none"}, every},
		{"leading", []string{"pkg/file", "pkg/none"}, concat(readCalls(), lookCalls(), writeCalls(), removeCalls())},
		{"below-leading", []string{"pkg/file/x.go", "pkg/none/x.go"}, concat(readCalls(), lookCalls(), removeCalls(), makeCalls()[:1])},
		{"deep-below-leading", []string{"pkg/file/in/x.go", "pkg/none/in/x.go"}, concat(readCalls(), lookCalls(), removeCalls(), makeCalls()[:1])},
	}
	for _, tt := range tests {
		for _, c := range tt.calls {
			t.Run(tt.name+"/"+c.op, func(t *testing.T) {
				r, _ := newTree(t)
				want := told(t, c, r, tt.paths[0])
				for _, path := range tt.paths[1:] {
					if got := told(t, c, r, path); got != want {
						t.Errorf("%s(%q) tells %q, and of %q %q", c.op, tt.paths[0], want, path, got)
					}
				}
			})
		}
	}
}

// told returns what the error of a call says beside the name.
func told(t *testing.T, c call, r *policy.RestrictedFS, path string) string {
	t.Helper()
	var pathError *fs.PathError
	if err := c.do(t.Context(), r, path); !errors.As(err, &pathError) {
		t.Fatalf("%s(%q) = %v, want a PathError", c.op, path, err)
	}
	if pathError.Path != path {
		t.Errorf("%s(%q) fails for %q", c.op, path, pathError.Path)
	}
	return pathError.Op + ": " + pathError.Err.Error()
}

// TestRestrictDenialText shows the whole text of a denial.
func TestRestrictDenialText(t *testing.T) {
	r, _ := newTree(t)
	_, err := r.ReadFile(t.Context(), "secret.env")
	const want = "read_file secret.env: forbidden by policy: neither one of the allowed paths (src/**, docs/*.md, *.txt, pkg/**/*.go) nor a directory that leads to one"
	if err == nil || err.Error() != want {
		t.Errorf("ReadFile(%q) = %v, want %s", "secret.env", err, want)
	}
	if code := tools.CodeOf(err); code != tools.CodePolicy {
		t.Errorf("CodeOf(%v) = %s, want %s", err, code, tools.CodePolicy)
	}
}

func TestRestrictRules(t *testing.T) {
	tests := []struct {
		name     string
		patterns []string
		want     error
	}{
		{"none", nil, fs.ErrInvalid},
		{"empty", []string{""}, workspace.ErrPattern},
		{"malformed", []string{"src/**", "a[b"}, workspace.ErrPattern},
		{"absolute", []string{"/src"}, workspace.ErrPattern},
		{"climbing", []string{"../src"}, workspace.ErrEscape},
		{"directory-alone", []string{"src/"}, workspace.ErrPattern},
		{"negated", []string{"src/**", "!src/gen/**"}, workspace.ErrPattern},
		{"mark-alone", []string{`\!src/**`}, nil},
		{"fine", []string{"src/**"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := policy.Restrict(memory.New(nil), policy.Rules{AllowedPaths: tt.patterns})
			if !errors.Is(err, tt.want) {
				t.Errorf("Restrict(%q) = %v, want %v", tt.patterns, err, tt.want)
			}
		})
	}
}
