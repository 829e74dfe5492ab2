package providers_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// deniedRules are rules for the names of [forest].
var deniedRules = []policy.Rules{
	{DeniedPaths: []string{".env", "*.GO"}},
	{DeniedPaths: []string{"a/src", "src/*/", "**/c/a-b"}},
	{DeniedPaths: []string{".gitignore", "z*", "*-b", "n?de*", "+x"}},
	{AllowedPaths: []string{"a/**", "src/*.go", "*/src/c", "*.go"}},
	{AllowedPaths: []string{"**/src/**", "a"}, DeniedPaths: []string{"c", "**/a/b.go"}},
	{AllowedPaths: []string{"**/*"}},
	{AllowedPaths: []string{"**"}, DeniedPaths: []string{"*.pem"}},
	{FirstMatch: []policy.Rule{
		{Allow: []policy.Op{policy.OpList, policy.OpRead}, Paths: []string{"a/src", "*.GO"}},
		{Deny: []policy.Op{policy.OpList, policy.OpRead}, Paths: []string{"a", "src/*", ".env"}},
	}},
	{FirstMatch: []policy.Rule{
		{Allow: policy.Ops(), Paths: []string{"a", "**/src/c"}},
		{Deny: policy.Ops(), Paths: []string{"**"}},
	}},
	{FirstMatch: []policy.Rule{{Deny: []policy.Op{policy.OpRead}, Paths: []string{"*.go", "c", "a/src/a"}}}},
}

// deniedLayers restrict a file system that has the files of a forest, through one
// more wrapper or some.
var deniedLayers = map[string]func(t *testing.T, fsys workspace.FileSystem, rules policy.Rules) (workspace.FileSystem, error){
	"Restrict": func(_ *testing.T, fsys workspace.FileSystem, rules policy.Rules) (workspace.FileSystem, error) {
		return policy.Restrict(fsys, rules)
	},
	"Exact": func(_ *testing.T, fsys workspace.FileSystem, rules policy.Rules) (workspace.FileSystem, error) {
		r, err := policy.Restrict(fsys, rules)
		if err != nil {
			return nil, err
		}
		return r.Exact()
	},
	"wrappers": func(_ *testing.T, fsys workspace.FileSystem, rules policy.Rules) (workspace.FileSystem, error) {
		protected, err := policy.Restrict(policy.ReadOnly(workspace.New("w", fsys, nil)), policy.Rules{ReadOnlyPaths: []string{"a"}})
		if err != nil {
			return nil, err
		}
		return policy.Restrict(protected, rules)
	},
	"twice": func(_ *testing.T, fsys workspace.FileSystem, rules policy.Rules) (workspace.FileSystem, error) {
		inner, err := policy.Restrict(fsys, policy.Rules{DeniedPaths: rules.DeniedPaths, AllowedPaths: []string{"**/*"}})
		if err != nil || len(rules.AllowedPaths) == 0 {
			return inner, err
		}
		return policy.Restrict(inner, policy.Rules{AllowedPaths: rules.AllowedPaths})
	},
	"bare": func(_ *testing.T, fsys workspace.FileSystem, rules policy.Rules) (workspace.FileSystem, error) {
		exact, err := workspace.Exact(fsys)
		if err != nil {
			return nil, err
		}
		return policy.Restrict(struct{ workspace.FileSystem }{exact}, rules)
	},
}

// TestDeniedNames searches random trees through rules, and compares each answer
// with the search of a tree that never had the denied names, but for the ignore
// files.
func TestDeniedNames(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "tests many rules in every store")
	for _, backend := range backends {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			open := backend.prepare(t)
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			oneIn := exhaustive.Some(t, "most rules through most layers, others each time", 1, 50)
			if backend.share > 1 { // it is fast
				oneIn = exhaustive.Some(t, "two of three rules and layers, others each time", 1, 3)
			}
			if !exhaustive.IsLong() {
				oneIn *= 10
			}
			for range exhaustive.Some(t, "a second tree", 2, 1) {
				fsys := open(t)
				forest(t, random, fsys)
				testLayers(t, fsys, func() bool { return random.IntN(oneIn) == 0 })
				// Sub honours the ignore file above it, which the expected tree has not.
				if err := fsys.Rm(t.Context(), ".gitignore", nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				below, err := policy.Sub(fsys, "a")
				if err != nil {
					t.Fatal(err)
				}
				testLayers(t, below, func() bool { return random.IntN(oneIn) == 0 })
			}
		})
	}
}

// testLayers tests the rules and layers that chosen chooses.
func testLayers(t *testing.T, fsys workspace.FileSystem, chosen func() bool) {
	t.Helper()
	for _, rules := range deniedRules {
		for name, layer := range deniedLayers {
			if chosen() {
				testDenied(t, fmt.Sprintf("%T %s %+v", fsys, name, rules), rules, layer, fsys)
			}
		}
	}
}

// forest fills fsys with a random tree of names that sort in unusual places, and
// with ignore files.
func forest(t *testing.T, random *rand.Rand, fsys workspace.FileSystem) {
	t.Helper()
	names := []string{"a", "a-b", "b.go", "+x", ".env", ".git", "c", "src", "node_modules", "z.txt", "B.Go"}
	if err := fsys.Mkdir(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		elements := make([]string, 1+random.IntN(4))
		for i := range elements {
			elements[i] = names[random.IntN(len(names))]
		}
		name := strings.Join(elements, "/")
		content := fmt.Sprintf("needle in %s\nhay\nneedle\n", name)
		switch random.IntN(6) {
		case 0:
			dir, _ := workspace.Split(name)
			name, content = workspace.Join(dir, ".gitignore"), "# needle\n"+names[random.IntN(len(names))]+"\n!a\n"
		case 1:
			content = "needle\x00"
		}
		_, err := fsys.WriteFile(t.Context(), name, []byte(content), nil)
		if err != nil && !errors.Is(err, workspace.ErrIsDir) && !errors.Is(err, workspace.ErrNotDir) {
			t.Fatalf("WriteFile(%q) = %v", name, err)
		}
	}
}

// testDenied compares the searches of a layer over fsys with those of what it
// shows.
func testDenied(t *testing.T, what string, rules policy.Rules, layer func(*testing.T, workspace.FileSystem, policy.Rules) (workspace.FileSystem, error), fsys workspace.FileSystem) {
	t.Helper()
	restricted, err := layer(t, fsys, rules)
	if err != nil {
		t.Fatal(err)
	}
	v := visible{memory.New(nil), restricted, map[string]bool{}}
	v.add(t, fsys, ".")
	for _, pattern := range []string{"**", "**/", "*", "a/**", "src/**/*.go", "a/b.go", "*/{a,src}/**", ".env", "src/a/c", "a/src/b.go", "**/.gitignore"} {
		for _, o := range []workspace.GlobOptions{{}, {Gitignore: true}, {Dir: "a"}, {Dir: "a/src", Gitignore: true}, {After: "a-b"}, {Limit: 3, Gitignore: true}, {Dir: "c", Limit: 1, After: "c/a"}} {
			want, wantErr := v.glob(t.Context(), pattern, o)
			got, err := restricted.Glob(t.Context(), pattern, &o)
			v.compare(t, fmt.Sprintf("%s: Glob(%q, %+v)", what, pattern, o), o.Dir, want, got, wantErr, err)
		}
	}
	for _, o := range []workspace.GrepOptions{
		{}, {Gitignore: true}, {Path: "a"}, {Path: "src", Gitignore: true}, {Path: "b.go"}, {Path: ".env"}, {IncludeGlob: "*.go"}, {MaxResults: 1, Before: 1}, {MaxResults: 3, Gitignore: true},
		{ExcludeGlob: "a/**"}, {StartAfter: workspace.Position{Path: "a-b/c", LineNumber: 1}}, {StartAfter: workspace.Position{Path: "a/src/b.go"}, MaxResults: 2, Gitignore: true},
	} {
		want, wantErr := v.grep(t.Context(), o)
		got, err := restricted.Grep(t.Context(), "needle", &o)
		v.compare(t, fmt.Sprintf("%s: Grep(%+v)", what, o), o.Path, want, got, wantErr, err)
	}
	for _, dir := range []string{".", "a", "src/c", "b.go"} {
		for _, after := range []string{"", "a-b", "a/src/c", "src/z"} {
			want, wantErr := walked(t.Context(), v.files, dir, after, v.extra)
			got, err := walked(t.Context(), restricted, dir, after, nil)
			v.compare(t, fmt.Sprintf("%s: Walk(%q, %q)", what, dir, after), dir, want, got, wantErr, err)
		}
	}
}

// visible is a tree of what another one shows.
type visible struct {
	files      *memory.FS
	restricted workspace.FileSystem
	extra      map[string]bool // ignore files that are denied, in directories that are not
}

// add adds what is below dir.
func (v visible) add(t *testing.T, fsys workspace.FileSystem, dir string) {
	t.Helper()
	all, err := fsys.Ls(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := v.restricted.Ls(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range all {
		denied := !slices.ContainsFunc(shown, func(s workspace.FileInfo) bool { return s.Path == info.Path })
		switch {
		case info.IsDir() && !denied:
			if err := v.files.Mkdir(t.Context(), info.Path, nil); err != nil {
				t.Fatal(err)
			}
			v.add(t, fsys, info.Path)
		case !info.IsDir() && (!denied || info.Name == ".gitignore"):
			v.extra[info.Path] = denied
			data, err := fsys.ReadFile(t.Context(), info.Path)
			if err == nil {
				_, err = v.files.WriteFile(t.Context(), info.Path, data, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// compare compares two answers about dir. An answer about a denied name is
// compared with nothing.
func (v visible) compare(t *testing.T, call, dir string, want, got any, wantErr, err error) {
	t.Helper()
	if errors.Is(err, workspace.ErrPolicy) {
		if _, err := v.files.Stat(t.Context(), dir); dir == "" || err == nil && !v.extra[dir] && v.readable(t.Context(), dir) {
			t.Fatalf("%s = %v for a name that is listed", call, err)
		}
		return
	}
	if tools.CodeOf(err) != tools.CodeOf(wantErr) {
		t.Fatalf("%s = %v, want %v", call, err, wantErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" && err == nil {
		t.Fatalf("%s (-want +got):\n%s", call, diff)
	}
}

// glob searches without the denied ignore files, and then applies After and Limit.
func (v visible) glob(ctx context.Context, pattern string, o workspace.GlobOptions) ([]string, error) {
	after, limit := o.After, o.Limit
	o.After, o.Limit = "", 0
	paths, err := fallback.Glob(ctx, v.files, pattern, &o)
	paths = slices.DeleteFunc(paths, func(path string) bool { return v.extra[path] || path <= after })
	if limit > 0 {
		paths = paths[:min(limit, len(paths))]
	}
	return paths, err
}

// grep is glob for contents.
func (v visible) grep(ctx context.Context, o workspace.GrepOptions) (*workspace.GrepResult, error) {
	limit := o.MaxResults
	o.MaxResults = 0
	result, err := fallback.Grep(ctx, v.files, "needle", &o)
	if err != nil {
		return nil, err
	}
	hidden := map[string]bool{} // that were searched, as each text has a match at its end
	for _, m := range result.Matches {
		if !v.readable(ctx, m.Path) {
			hidden[m.Path] = true
		}
	}
	result.Searched -= len(hidden)
	result.Matches = slices.DeleteFunc(result.Matches, func(m workspace.Match) bool { return hidden[m.Path] })
	result.Skipped = slices.DeleteFunc(result.Skipped, func(s workspace.Skipped) bool { return !v.readable(ctx, s.Path) })
	if limit > 0 && len(result.Matches) > limit {
		result.Matches, result.Truncated, result.Searched = result.Matches[:limit], true, 0
		last := result.Matches[limit-1].Path
		result.Skipped = slices.DeleteFunc(result.Skipped, func(s workspace.Skipped) bool { return s.Path > last })
	}
	return result, nil
}

// readable reports whether a file may be read.
func (v visible) readable(ctx context.Context, name string) bool {
	_, err := v.restricted.ReadFile(ctx, name)
	return !errors.Is(err, workspace.ErrPolicy)
}

// walked returns the paths of a walk.
func walked(ctx context.Context, fsys workspace.FileSystem, dir, after string, without map[string]bool) ([]string, error) {
	paths := []string{}
	err := workspace.Walk(ctx, fsys, dir, &workspace.WalkOptions{After: after}, func(info workspace.FileInfo, err error) error {
		if err == nil && !without[info.Path] {
			paths = append(paths, info.Path)
		}
		if info.Name == "c" && info.IsDir() && after == "" {
			return fs.SkipDir
		}
		return err
	})
	return paths, err
}
