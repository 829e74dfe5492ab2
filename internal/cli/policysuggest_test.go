package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// suggestNames are names of a tree, fewer in each directory than a directory would
// stand for.
var suggestNames = []string{".", "a.txt", "src", "src/a.txt", "src/b[1].txt", "src/in", "src/in/x", "lib", "lib/a.txt", "lib/src", "src/src"}

// suggestTree returns a FileSystem with some of suggestNames.
func suggestTree(t *testing.T) workspace.FileSystem {
	t.Helper()
	m := memory.New(nil)
	for _, name := range []string{"a.txt", "src/a.txt", "src/in/x", "lib/a.txt"} {
		if _, err := m.WriteFile(t.Context(), name, []byte("needle\n"), nil); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// suggestCalls are all operations, each with what it needs for a name and for "to".
var suggestCalls = []struct {
	name string
	do   func(ctx context.Context, fsys workspace.FileSystem, name, to string) error
}{
	{"ReadFile", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		_, err := fsys.ReadFile(ctx, name)
		return err
	}},
	{"WriteFile", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		_, err := fsys.WriteFile(ctx, name, []byte("new\n"), nil)
		return err
	}},
	{"WriteFile if version", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		_, err := fsys.WriteFile(ctx, name, []byte("new\n"), &workspace.WriteOptions{IfVersion: "none"})
		return err
	}},
	{"Create", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		w, err := workspace.Create(ctx, fsys, name, nil)
		if err != nil {
			return err
		}
		defer w.Close()
		_, err = w.Commit()
		return err
	}},
	{"Rm", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		return fsys.Rm(ctx, name, &workspace.RmOptions{Recursive: true})
	}},
	{"Mkdir", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		return fsys.Mkdir(ctx, name, nil)
	}},
	{"Move", func(ctx context.Context, fsys workspace.FileSystem, name, to string) error {
		return workspace.Move(ctx, fsys, name, to)
	}},
	{"Copy", func(ctx context.Context, fsys workspace.FileSystem, name, to string) error {
		_, err := workspace.Copy(ctx, fsys, name, to)
		return err
	}},
	{"Stat", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		_, err := fsys.Stat(ctx, name)
		return err
	}},
	{"Ls", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		_, err := fsys.Ls(ctx, name, nil)
		return err
	}},
	{"Glob", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		_, err := fsys.Glob(ctx, "**", &workspace.GlobOptions{Dir: name})
		return err
	}},
	{"Grep", func(ctx context.Context, fsys workspace.FileSystem, name, _ string) error {
		_, err := fsys.Grep(ctx, "needle", &workspace.GrepOptions{Path: name})
		return err
	}},
}

// TestSuggestedRules records random operations, and replays those that succeeded under the
// rules that the record suggests: all are allowed. No other operation is allowed, but below a name
// that was used for it.
func TestSuggestedRules(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "runs the command many times")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range 300 {
		ctx := t.Context()
		path := filepath.Join(t.TempDir(), "log")
		log, err := audit.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		recorded := observe.New(suggestTree(t), "main", log)
		type step struct {
			call     int
			name, to string
		}
		var steps []step
		for range 1 + random.IntN(6) {
			s := step{random.IntN(len(suggestCalls)), suggestNames[random.IntN(len(suggestNames))], suggestNames[1+random.IntN(len(suggestNames)-1)]}
			if s.name == "." && s.call < 8 { // which fails whatever the rules are
				continue
			}
			if suggestCalls[s.call].do(ctx, recorded, s.name, s.to) == nil {
				steps = append(steps, s)
			}
		}
		used, err := readUses(audit.ReadFile(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		rules := policy.Rules{FirstMatch: used.rules()}
		replayed, err := policy.Restrict(suggestTree(t), rules)
		if err != nil {
			t.Fatal(err)
		}
		var done strings.Builder
		for _, s := range steps {
			fmt.Fprintln(&done, suggestCalls[s.call].name, s.name, s.to)
			if err := suggestCalls[s.call].do(ctx, replayed, s.name, s.to); err != nil {
				t.Fatalf("round %d: %v in the last of\n%swith %+v", round, err, &done, rules.FirstMatch)
			}
		}
		for _, op := range policy.Ops() {
			for _, name := range suggestNames[1:] {
				d, err := policy.Explain(rules, op, name)
				if err != nil {
					t.Fatal(err)
				}
				if d.Effect == policy.Allow && !used.cover(op, name) {
					t.Fatalf("round %d: %s of %s is allowed after\n%swith %+v", round, op, name, &done, rules.FirstMatch)
				}
			}
		}
	}
}

// cover reports whether name, or a directory above it, was used for op, or whether it
// leads to one that was, or is a directory that stands for many that were.
func (u uses) cover(op policy.Op, name string) bool {
	for used, did := range u {
		leads := op == policy.OpList || op == policy.OpMkdir || op == policy.OpMove // of a directory
		if did[op] && (used == everything || strings.HasPrefix(name+"/", used+"/") || leads && strings.HasPrefix(used+"/", name+"/")) {
			return true
		}
	}
	for dir := name; dir != "."; dir = path.Dir(dir) { // which may stand for many names
		in := 0
		for used, did := range u {
			if did[op] && path.Dir(used) == dir {
				in++
			}
		}
		if in >= minAlike {
			return true
		}
	}
	return false
}

// TestSuggestEdit tests which writes are edits, and that what failed is not suggested.
func TestSuggestEdit(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "log")
	log, err := audit.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	tree := suggestTree(t)
	info, err := tree.Stat(ctx, "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	fsys := observe.New(tree, "main", log)
	_, edited := fsys.WriteFile(ctx, "a.txt", []byte("x"), &workspace.WriteOptions{IfVersion: info.Version})
	_, written := fsys.WriteFile(ctx, "src/a.txt", []byte("x"), nil)
	moved := workspace.Move(ctx, fsys, "lib/a.txt", "lib/b.txt")
	if err := errors.Join(edited, written, moved); err != nil {
		t.Fatal(err)
	}
	_, denied := observe.New(policy.ReadOnly(tree), "main", log).WriteFile(ctx, "denied", nil, nil)
	_, exists := fsys.WriteFile(ctx, "src/in/x", nil, &workspace.WriteOptions{IfVersion: "none"})
	_, missing := fsys.ReadFile(ctx, "missing")
	if denied == nil || exists == nil || missing == nil {
		t.Fatalf("errors %v, %v, %v", denied, exists, missing)
	}
	used, err := readUses(audit.ReadFile(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printRules(&out, used); err != nil {
		t.Fatal(err)
	}
	want := `rules:
  - { allow: ["edit"], paths: ["a.txt/**"] }
  - { allow: ["read", "move"], paths: ["lib/a.txt"] }
  - { allow: ["write"], paths: ["lib/b.txt", "src/a.txt"] }
  - { deny: ["read", "write", "edit", "delete", "move", "copy", "list", "mkdir", "run"], paths: ["**"] }
`
	if out.String() != want {
		t.Errorf("rules:\n%s\nwant\n%s", &out, want)
	}
}

// TestSuggestedNames reads the rules that are printed for names with all kinds of
// characters. They are those that were suggested, and none of the characters could end a
// line or control a terminal.
func TestSuggestedNames(t *testing.T) {
	t.Parallel()
	used := uses{}
	used.add("!a", policy.OpRead) // without an escape, it would not be a pattern
	used.add("“a”/x’", policy.OpRead)
	for _, r := range "\x01\a\b\t\n\v\f\r\x1b !\"#$&'*,:<>?@[\\]`{|}\x7f\u0080\u0085\u009b\u00a0\u00ad\u00e9\u2028\u2029\u202e\ufeff\ufffd\ufffe\U0001f600\U000e0001" {
		used.add("a"+string(r)+"${HOME}", policy.OpRead)
		used.add(".env"+string(r), policy.OpRead) // which is in a comment, too
	}
	var out strings.Builder
	if err := printRules(&out, used); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("the rules have %q", out.String()[i:][:4])
	}
	file := "workspaces:\n  main:\n    provider: {kind: memory}\n    fs:\n" + strings.ReplaceAll("\n"+out.String(), "\n", "\n      ")
	c, err := config.Parse([]byte(file), &config.Options{Registry: workspacekit.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(used.rules(), c.Settings("main").Rules); diff != "" {
		t.Errorf("rules (-suggested +read):\n%s", diff)
	}
}
