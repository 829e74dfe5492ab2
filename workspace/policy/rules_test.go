package policy_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func firstMatch(t *testing.T, fsys workspace.FileSystem, rules ...policy.Rule) *policy.RestrictedFS {
	t.Helper()
	r, err := policy.Restrict(fsys, policy.Rules{FirstMatch: rules})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// opCalls are calls of each method on files and directories in the directory x,
// and the operations that each needs.
var opCalls = []struct {
	name  string
	needs []policy.Op
	do    func(ctx context.Context, fsys workspace.FileSystem) error
}{
	{"ReadFile", []policy.Op{policy.OpRead}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.ReadFile(ctx, "x/a")
		return err
	}},
	{"ReadVersioned", []policy.Op{policy.OpRead}, func(ctx context.Context, f workspace.FileSystem) error {
		_, _, err := workspace.ReadVersioned(ctx, f, "x/a", 0)
		return err
	}},
	{"Open", []policy.Op{policy.OpRead}, func(ctx context.Context, f workspace.FileSystem) error {
		stream, _, err := workspace.Open(ctx, f, "x/a", nil)
		if err == nil {
			stream.Close()
		}
		return err
	}},
	{"Grep", []policy.Op{policy.OpList, policy.OpRead}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.Grep(ctx, "a", &workspace.GrepOptions{Path: "x/a"})
		return err
	}},
	{"WriteFile", []policy.Op{policy.OpWrite}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.WriteFile(ctx, "x/a", nil, nil)
		return err
	}},
	{"WriteFile in a new directory", []policy.Op{policy.OpWrite}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.WriteFile(ctx, "x/new/dir/a", nil, nil)
		return err
	}},
	{"WriteFile IfNotExist", []policy.Op{policy.OpWrite}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.WriteFile(ctx, "x/new", nil, &workspace.WriteOptions{IfNotExist: true})
		return err
	}},
	{"WriteFile IfVersion", []policy.Op{policy.OpEdit}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.WriteFile(ctx, "x/a", nil, &workspace.WriteOptions{IfVersion: "other"})
		if errors.Is(err, workspace.ErrConflict) {
			return nil
		}
		return err
	}},
	{"Create", []policy.Op{policy.OpWrite}, func(ctx context.Context, f workspace.FileSystem) error {
		w, err := workspace.Create(ctx, f, "x/a", nil)
		if err != nil {
			return err
		}
		defer w.Close()
		_, err = w.Commit()
		return err
	}},
	{"Edit", []policy.Op{policy.OpRead, policy.OpEdit}, func(ctx context.Context, f workspace.FileSystem) error {
		_, _, err := workspace.New("w", f, nil).Edit(ctx, "x/a", func(old []byte) ([]byte, error) { return append(old, 'b'), nil })
		return err
	}},
	{"Rm", []policy.Op{policy.OpDelete}, func(ctx context.Context, f workspace.FileSystem) error { return f.Rm(ctx, "x/a", nil) }},
	{"Rm recursive", []policy.Op{policy.OpDelete}, func(ctx context.Context, f workspace.FileSystem) error {
		return f.Rm(ctx, "x", &workspace.RmOptions{Recursive: true})
	}},
	{"Move from", []policy.Op{policy.OpMove, policy.OpRead}, func(ctx context.Context, f workspace.FileSystem) error {
		return workspace.Move(ctx, f, "x/a", "free/b")
	}},
	{"Move a directory from", []policy.Op{policy.OpMove, policy.OpRead}, func(ctx context.Context, f workspace.FileSystem) error {
		return workspace.Move(ctx, f, "x", "free/moved")
	}},
	{"Move to", []policy.Op{policy.OpWrite}, func(ctx context.Context, f workspace.FileSystem) error {
		return workspace.Move(ctx, f, "free/a", "x/b")
	}},
	{"Move a directory to", []policy.Op{policy.OpWrite, policy.OpMkdir}, func(ctx context.Context, f workspace.FileSystem) error {
		return workspace.Move(ctx, f, "free", "x/free")
	}},
	{"Copy from", []policy.Op{policy.OpCopy, policy.OpRead}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := workspace.Copy(ctx, f, "x/a", "free/b")
		return err
	}},
	{"Copy to", []policy.Op{policy.OpWrite}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := workspace.Copy(ctx, f, "free/a", "x/new/b")
		return err
	}},
	{"Mkdir", []policy.Op{policy.OpMkdir}, func(ctx context.Context, f workspace.FileSystem) error { return f.Mkdir(ctx, "x/new", nil) }},
	{"Mkdir recursive", []policy.Op{policy.OpMkdir}, func(ctx context.Context, f workspace.FileSystem) error {
		return f.Mkdir(ctx, "x/new/dir", &workspace.MkdirOptions{Recursive: true})
	}},
	{"Stat", []policy.Op{policy.OpList}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.Stat(ctx, "x/a")
		return err
	}},
	{"Ls", []policy.Op{policy.OpList}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.Ls(ctx, "x", nil)
		return err
	}},
	{"Glob", []policy.Op{policy.OpList}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.Glob(ctx, "**", &workspace.GlobOptions{Dir: "x"})
		return err
	}},
	{"Walk", []policy.Op{policy.OpList}, func(ctx context.Context, f workspace.FileSystem) error {
		return workspace.Walk(ctx, f, "x", nil, func(workspace.FileInfo, error) error { return nil })
	}},
	{"Watch", []policy.Op{policy.OpList}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := f.Watch(ctx, "x", nil)
		return err
	}},
	{"Resolve", []policy.Op{policy.OpList}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := workspace.Resolve(ctx, f, "x/a")
		return err
	}},
	{"ReadFile of io/fs", []policy.Op{policy.OpRead}, func(ctx context.Context, f workspace.FileSystem) error {
		_, err := fs.ReadFile(workspace.New("w", f, nil).FS(ctx), "x/a")
		return err
	}},
}

// TestOperations denies one operation after the other and makes every call: it
// is refused exactly if it needs the operation, with the place of the rule.
func TestOperations(t *testing.T) {
	for _, op := range policy.Ops() {
		for _, effect := range []policy.Effect{policy.Deny, policy.Ask} {
			rule := policy.Rule{Deny: []policy.Op{op}, Paths: []string{"x"}}
			if effect == policy.Ask {
				rule = policy.Rule{Ask: []policy.Op{op}, Paths: []string{"x"}}
			}
			for _, call := range opCalls {
				m := memory.New(nil)
				write(t, m, "x/a", "a")
				write(t, m, "free/a", "a")
				err := call.do(t.Context(), firstMatch(t, m, policy.Rule{Deny: policy.Ops(), Paths: []string{"elsewhere"}}, rule))
				if !slices.Contains(call.needs, op) {
					if err != nil {
						t.Errorf("%s without %s = %v, want nil", call.name, op, err)
					}
					continue
				}
				var denied *policy.DeniedError
				if !errors.Is(err, workspace.ErrPolicy) || !errors.As(err, &denied) {
					t.Errorf("%s without %s = %v, want %v", call.name, op, err, workspace.ErrPolicy)
					continue
				}
				want := policy.Decision{Op: op, Effect: effect, Rule: "rules[1]", Reason: denied.Error()}
				if diff := cmp.Diff(want, denied.Decision()); diff != "" {
					t.Errorf("%s without %s (-want +got):\n%s", call.name, op, diff)
				}
			}
		}
	}
}

// TestOperationsBelow denies an operation on one file of a tree, and makes calls
// on the whole.
func TestOperationsBelow(t *testing.T) {
	for store, open := range stores() {
		t.Run(store, func(t *testing.T) {
			for _, tt := range []struct {
				name string
				deny []policy.Op
				path string
				do   func(ctx context.Context, f workspace.FileSystem) error
				want string // the end of the error
			}{
				{"Rm", []policy.Op{policy.OpDelete}, "dir/in/key", opRm("dir"),
					`rm dir: forbidden by policy: it holds in/key: it matches rules[0], "dir/in/key", which denies delete; allowed: read, write, edit, move, copy, list, mkdir`},
				{"Rm hidden", []policy.Op{policy.OpDelete, policy.OpList}, "dir/in/key", opRm("dir"),
					`rm dir: forbidden by policy: it holds names that may not be used`},
				{"Move unreadable", []policy.Op{policy.OpRead}, "dir/in/key", opMove("dir", "moved"),
					`move dir: forbidden by policy: it holds in/key: it matches rules[0], "dir/in/key", which denies read; allowed: write, edit, delete, move, copy, list, mkdir`},
				{"Move to unwritable", []policy.Op{policy.OpWrite}, "moved/in/key", opMove("dir", "moved"),
					`move dir: forbidden by policy: it holds in/key: it matches rules[0], "moved/in/key", which denies write; allowed: read, edit, delete, move, copy, list, mkdir`},
				{"Move to where no directory may be created", []policy.Op{policy.OpMkdir}, "moved/in", opMove("dir", "moved"),
					`move dir: forbidden by policy: it holds in: it matches rules[0], "moved/in", which denies mkdir; allowed: read, write, edit, delete, move, copy, list`},
			} {
				fsys := open(t)
				write(t, fsys, "dir/in/key", "needle")
				write(t, fsys, "dir/other", "needle")
				err := tt.do(t.Context(), firstMatch(t, fsys, policy.Rule{Deny: tt.deny, Paths: []string{tt.path}}))
				if err == nil || err.Error() != tt.want {
					t.Errorf("%s = %v, want %s", tt.name, err, tt.want)
				}
				if got := contents(t, fsys, []string{"dir/in/key", "dir/other"}); len(got) != 2 {
					t.Errorf("%s has changed something: %v", tt.name, got)
				}
			}
		})
	}
}

func opRm(name string) func(context.Context, workspace.FileSystem) error {
	return func(ctx context.Context, f workspace.FileSystem) error {
		return f.Rm(ctx, name, &workspace.RmOptions{Recursive: true})
	}
}

func opMove(from, to string) func(context.Context, workspace.FileSystem) error {
	return func(ctx context.Context, f workspace.FileSystem) error { return workspace.Move(ctx, f, from, to) }
}

// TestUnreadable tests that a search leaves out, without a word, what may be
// listed and not read.
func TestUnreadable(t *testing.T) {
	m := memory.New(nil)
	for _, name := range []string{"a", "dir/key", "dir/other", "keys/x"} {
		write(t, m, name, "needle")
	}
	write(t, m, "dir/.gitignore", "other\n# needle")
	for _, gitignore := range []bool{false, true} {
		r := firstMatch(t, m, policy.Rule{Deny: []policy.Op{policy.OpRead}, Paths: []string{"dir/key", "keys/**", ".gitignore"}})
		found, err := r.Grep(t.Context(), "needle", &workspace.GrepOptions{Gitignore: gitignore})
		want := []workspace.Match{{Path: "a", LineNumber: 1, Line: "needle"}, {Path: "dir/other", LineNumber: 1, Line: "needle"}}
		if gitignore {
			want = want[:1]
		}
		if err != nil || len(found.Skipped) > 0 || cmp.Diff(want, found.Matches) != "" {
			t.Errorf("Grep = %+v, %v, want %v and nothing skipped", found, err, want)
		}
		names, err := r.Glob(t.Context(), "**", nil)
		if diff := cmp.Diff([]string{"a", "dir/.gitignore", "dir/key", "dir/other", "keys/x"}, names); err != nil || diff != "" {
			t.Errorf("Glob: %v, names (-want +got):\n%s", err, diff)
		}
	}
}

// TestFirstMatch tests the order of rules, and directories that lead to what is
// allowed.
func TestFirstMatch(t *testing.T) {
	m := memory.New(nil)
	for _, name := range []string{"src/a.go", "src/gen/b.go", "docs/guide.md", "top"} {
		write(t, m, name, "x")
	}
	r := firstMatch(t, m,
		policy.Rule{Deny: []policy.Op{policy.OpWrite}, Paths: []string{"src/gen"}},
		policy.Rule{Allow: policy.Ops(), Paths: []string{"src/**"}},
		policy.Rule{Allow: []policy.Op{policy.OpList, policy.OpRead}, Paths: []string{"docs/*.md"}},
		policy.Rule{Deny: policy.Ops(), Paths: []string{"**"}})
	ctx := t.Context()
	_, gen := r.WriteFile(ctx, "src/gen/b.go", nil, nil)
	_, src := r.WriteFile(ctx, "src/a.go", nil, nil)
	_, docs := r.WriteFile(ctx, "docs/guide.md", nil, nil)
	_, read := r.ReadFile(ctx, "docs/guide.md")
	_, top := r.ReadFile(ctx, "top")
	_, none := r.ReadFile(ctx, "none")
	_, dir := r.ReadFile(ctx, "docs")
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"src/gen/b.go": {gen, `write_file src/gen/b.go: forbidden by policy: it matches rules[0], "src/gen", which denies write; allowed: read, edit, delete, move, copy, list, mkdir`},
		"src/a.go":     {src, "<nil>"},
		"docs write":   {docs, `write_file docs/guide.md: forbidden by policy: it matches rules[3], "**", which denies write; allowed: read, list`},
		"docs read":    {read, "<nil>"},
		"top":          {top, `read_file top: forbidden by policy: it matches rules[3], "**", which denies read`},
		"none":         {none, `read_file none: forbidden by policy: it matches rules[3], "**", which denies read`},
		"docs":         {dir, `read_file docs: forbidden by policy: it matches rules[3], "**", which denies read`},
	} {
		if got := fmt.Sprint(tt.err); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	found, err := r.Glob(ctx, "**", nil)
	if diff := cmp.Diff([]string{"docs/guide.md", "src/a.go", "src/gen/b.go"}, found); err != nil || diff != "" {
		t.Errorf("Glob: %v, names (-want +got):\n%s", err, diff)
	}
	if _, err := r.Stat(ctx, "docs"); err != nil {
		t.Errorf("Stat of a directory that leads to what is allowed = %v", err)
	}
	if _, err := r.Stat(ctx, "top"); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Stat(top) = %v, want %v", err, workspace.ErrPolicy)
	}
	if err := r.Rm(ctx, "docs", nil); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Rm(docs) = %v, want %v", err, workspace.ErrPolicy)
	}
}

// TestRuleErrors tests which rules are refused.
func TestRuleErrors(t *testing.T) {
	for want, rule := range map[string]policy.Rule{
		`restrict rules[0]: invalid argument: a rule has no operations: give it one of allow, deny and ask`:                                           {Paths: []string{"a"}},
		`restrict rules[0]: invalid argument: a rule has allow and ask: make two rules of it`:                                                         {Allow: []policy.Op{"read"}, Ask: []policy.Op{"list"}, Paths: []string{"a"}},
		`restrict rules[0]: invalid argument: a rule has no paths: "**" is all of them`:                                                               {Deny: []policy.Op{"read"}},
		`restrict rules[0]: invalid argument: there is no operation "rm": the operations are read, write, edit, delete, move, copy, list, mkdir, run`: {Deny: []policy.Op{"rm"}, Paths: []string{"a"}},
		`restrict a[: invalid pattern: an escape, a class or a brace is not complete`:                                                                 {Deny: []policy.Op{"read"}, Paths: []string{"a["}},
	} {
		if _, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{rule}}); fmt.Sprint(err) != want {
			t.Errorf("Restrict(%+v) = %v, want %s", rule, err, want)
		}
	}
}

// TestRulesConformance runs the suite with rules that allow everything, and that
// are tested for each name.
func TestRulesConformance(t *testing.T) {
	wrap := func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
		return firstMatch(t, fsys,
			policy.Rule{Allow: policy.Ops(), Paths: []string{"*", "**/*"}},
			policy.Rule{Deny: policy.Ops(), Paths: []string{"never/**"}})
	}
	t.Run("memory", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return wrap(t, memory.New(nil)) },
			&conformance.Options{Short: !exhaustive.On()})
	})
	t.Run("local", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return wrap(t, openLocal(t, t.TempDir())) },
			ofFolders())
	})
}

// ExampleRestrict lets an agent read everything, and change only the source.
func ExampleRestrict() {
	ctx := context.Background()
	fsys := memory.New(nil)
	r, err := policy.Restrict(fsys, policy.Rules{FirstMatch: []policy.Rule{
		{Allow: policy.Ops(), Paths: []string{"src/**"}},
		{Allow: []policy.Op{policy.OpRead, policy.OpList}, Paths: []string{"**"}},
		{Deny: policy.Ops(), Paths: []string{"**"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = r.WriteFile(ctx, "src/main.go", []byte("package main\n"), nil)
	fmt.Println(err)
	_, err = r.WriteFile(ctx, "go.mod", nil, nil)
	fmt.Println(err)
	// Output:
	// <nil>
	// write_file go.mod: forbidden by policy: it matches rules[2], "**", which denies write; allowed: read, list
}

// TestExtensions tests files and directories with and without an extension.
func TestExtensions(t *testing.T) {
	m := memory.New(nil)
	for _, name := range []string{"a.go", "b.GO", "c.txt", "Makefile", "dir/a.go", "dir.go/x", "dir.go/y.go", "bin/a.exe", "e.exe/a.go"} {
		write(t, m, name, "x")
	}
	r, err := policy.Restrict(m, policy.Rules{AllowedExtensions: []string{".go"}, DeniedExtensions: []string{".exe"}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.Glob(t.Context(), "**", nil)
	if diff := cmp.Diff([]string{"a.go", "b.GO", "dir.go/y.go", "dir/a.go"}, found); err != nil || diff != "" {
		t.Errorf("Glob: %v, names (-want +got):\n%s", err, diff)
	}
	_, write := r.WriteFile(t.Context(), "new.txt", nil, nil)
	_, exe := r.ReadFile(t.Context(), "e.exe/a.go")
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"write": {write, "write_file new.txt: forbidden by policy: it has none of the allowed extensions (.go)"},
		"read":  {exe, `read_file e.exe/a.go: forbidden by policy: it matches deniedExtensions[0], "*.exe"`},
		"move":  {r.Move(t.Context(), "a.go", "a.txt"), "move a.txt: forbidden by policy: it has none of the allowed extensions (.go)"},
		"mkdir": {r.Mkdir(t.Context(), "new", nil), "<nil>"},
		"rm":    {r.Rm(t.Context(), "dir", &workspace.RmOptions{Recursive: true}), "<nil>"},
		"tree":  {r.Rm(t.Context(), "dir.go", &workspace.RmOptions{Recursive: true}), "rm dir.go: forbidden by policy: it holds names that may not be used"},
		"other": {policy.CheckExtension("go"), "restrict go: invalid argument: an extension is a dot and what follows it, such as .go"},
	} {
		if got := fmt.Sprint(tt.err); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestExtensionsBesideRules tests that rules for single operations hold for directories,
// which allowed extensions say nothing of.
func TestExtensionsBesideRules(t *testing.T) {
	m := memory.New(nil)
	for _, name := range []string{"d/a.go", "asked/a.go", "open/a.go"} {
		write(t, m, name, "x")
	}
	refused := []policy.Op{policy.OpList, policy.OpMove, policy.OpDelete}
	r, err := policy.Restrict(m, policy.Rules{AllowedExtensions: []string{".go"}, FirstMatch: []policy.Rule{
		{Allow: refused, Paths: []string{"d/a.go", "open"}},
		{Ask: refused, Paths: []string{"asked"}},
		{Deny: refused, Paths: []string{"**"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	approved := policy.WithApprover(t.Context(), policy.NewApprover(func(context.Context, policy.Request) (policy.Answer, error) {
		return policy.Answer{Allow: true}, nil
	}, nil))
	_, none := r.Ls(t.Context(), "none", nil)
	_, asked := r.Ls(approved, "asked", nil)
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"ls":         {none, "rules[2]"},
		"move":       {r.Move(t.Context(), "d", "e"), "rules[2]"},
		"rm":         {r.Rm(t.Context(), "d", &workspace.RmOptions{Recursive: true}), "rules[2]"},
		"extension":  {r.Rm(t.Context(), "open/b.txt", nil), "allowedExtensions"},
		"asked ls":   {asked, ""},
		"asked move": {r.Move(approved, "asked", "f"), ""},
	} {
		var denied *policy.DeniedError
		if errors.As(tt.err, &denied); (tt.err == nil) != (tt.want == "") || denied != nil && denied.Rule() != tt.want {
			t.Errorf("%s: %v, want %q to refuse it", name, tt.err, tt.want)
		}
	}
}

// TestShowDenied tests that listings show denied names and nothing else of them.
func TestShowDenied(t *testing.T) {
	m := memory.New(nil)
	write(t, m, ".env", "needle")
	write(t, m, "a", "needle")
	for name, rules := range map[string]policy.Rules{
		"denied": {DeniedPaths: []string{".env"}, ShowDenied: true}, "sensitive": {DenySensitive: true, ShowDenied: true},
	} {
		r, err := policy.Restrict(m, rules)
		if err != nil {
			t.Fatal(err)
		}
		infos, err := r.Ls(t.Context(), ".", nil)
		if want := (workspace.FileInfo{Name: ".env", Path: ".env", Type: workspace.TypeFile}); err != nil || len(infos) != 2 || infos[0] != want {
			t.Errorf("%s: Ls = %v, %v, want %v first", name, infos, err, want)
		}
		_, stat := r.Stat(t.Context(), ".env")
		_, read := r.ReadFile(t.Context(), ".env")
		if !errors.Is(stat, workspace.ErrPolicy) || !errors.Is(read, workspace.ErrPolicy) {
			t.Errorf("%s: Stat = %v, ReadFile = %v, want %v", name, stat, read, workspace.ErrPolicy)
		}
		names, err := r.Glob(t.Context(), "*", nil)
		if diff := cmp.Diff([]string{".env", "a"}, names); err != nil || diff != "" {
			t.Errorf("%s: Glob: %v, names (-want +got):\n%s", name, err, diff)
		}
	}
}

// TestReportOfLeadingNames tests that a listing of a name that leads to allowed ones is
// reported if it is a denied file, and not if it does not exist.
func TestReportOfLeadingNames(t *testing.T) {
	m := memory.New(nil)
	write(t, m, "d/file", "")
	for name, want := range map[string]int{"d/file": 1, "d/none": 0, "d": 0} {
		var got []policy.Decision
		r, err := policy.Restrict(m, policy.Rules{
			AllowedPaths: []string{"d/*/*.md"},
			Report:       func(_ context.Context, _ string, d policy.Decision) { got = append(got, d) },
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = r.Stat(t.Context(), name)
		if len(got) != want {
			t.Errorf("Stat(%q) reports %+v, want %d decisions", name, got, want)
		}
	}
}

// TestReport tests that everything is let through, and that what the rules would
// refuse is reported.
func TestReport(t *testing.T) {
	for _, op := range policy.Ops() {
		for _, call := range opCalls {
			m := memory.New(nil)
			write(t, m, "x/a", "a")
			write(t, m, "free/a", "a")
			var got []policy.Decision
			r, err := policy.Restrict(m, policy.Rules{
				FirstMatch: []policy.Rule{{Deny: []policy.Op{op}, Paths: []string{"x"}}},
				Report:     func(_ context.Context, _ string, d policy.Decision) { got = append(got, d) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := call.do(t.Context(), r); err != nil {
				t.Errorf("%s without %s = %v, want nil", call.name, op, err)
			}
			if refused := len(got) > 0; refused != slices.Contains(call.needs, op) || refused && (got[0].Op != op || got[0].Rule != "rules[0]") {
				t.Errorf("%s without %s: reported %+v", call.name, op, got)
			}
		}
	}
}

// TestReportShowsEverything tests that names are not hidden while rules are tried
// out, and that a stream is committed once.
func TestReportShowsEverything(t *testing.T) {
	m := memory.New(nil)
	write(t, m, ".env", "needle")
	write(t, m, "dir/.env", "needle")
	var reported []string
	r, err := policy.Restrict(m, policy.Rules{DenySensitive: true, Report: func(_ context.Context, name string, d policy.Decision) {
		reported = append(reported, fmt.Sprint(name, " ", d.Op, " ", d.Rule))
	}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.Grep(t.Context(), "needle", nil)
	if err != nil || len(found.Matches) != 2 {
		t.Errorf("Grep = %v, %v, want both", found, err)
	}
	w, err := r.Create(t.Context(), ".env", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(); err != nil {
		t.Error(err)
	}
	if err := r.Rm(t.Context(), "dir", &workspace.RmOptions{Recursive: true}); err != nil {
		t.Error(err)
	}
	want := []string{".env write sensitive", "dir delete sensitive"}
	if diff := cmp.Diff(want, reported); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}
