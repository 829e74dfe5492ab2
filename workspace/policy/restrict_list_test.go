package policy_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func TestRestrictLs(t *testing.T) {
	r, _ := newTree(t)
	tests := []struct {
		name, dir string
		opts      *workspace.LsOptions
		want      []string
	}{
		{"root", ".", nil, []string{"docs", "pkg", "src", "top.txt"}},
		{"leading", "docs", nil, []string{"docs/guide.md"}},
		{"leading-in-leading", "pkg", nil, []string{"pkg/one", "pkg/two"}},
		{"all-denied", "pkg/two", nil, []string{}},
		{"whole", "src", nil, []string{"src/a.go", "src/in"}},
		{"limit", ".", &workspace.LsOptions{Limit: 2}, []string{"docs", "pkg"}},
		{"after", ".", &workspace.LsOptions{Limit: 2, After: "pkg"}, []string{"src", "top.txt"}},
		{"after-denied", ".", &workspace.LsOptions{After: "secret.env"}, []string{"src", "top.txt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			infos, err := r.Ls(t.Context(), tt.dir, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, paths(infos)); diff != "" {
				t.Errorf("Ls(%q, %+v) (-want +got):\n%s", tt.dir, tt.opts, diff)
			}
		})
	}
}

func paths(infos []workspace.FileInfo) []string {
	all := []string{}
	for _, info := range infos {
		all = append(all, info.Path)
	}
	return all
}

// TestRestrictLsPages tests a page that lies behind more denied names than are
// asked for at a time.
func TestRestrictLsPages(t *testing.T) {
	m := memory.New(nil)
	for i := range 2500 {
		write(t, m, "a"+string(rune('0'+i/1000))+string(rune('0'+i/100%10))+string(rune('0'+i/10%10))+string(rune('0'+i%10)), "")
	}
	write(t, m, "b.txt", "")
	write(t, m, "c.txt", "")
	infos, err := restrict(t, m, "*.txt").Ls(t.Context(), ".", &workspace.LsOptions{Limit: 1})
	if err != nil || len(infos) != 1 || infos[0].Path != "b.txt" {
		t.Errorf("Ls(., Limit: 1) = %v, %v, want b.txt", paths(infos), err)
	}
}

func TestRestrictWalk(t *testing.T) {
	r, _ := newTree(t)
	tests := []struct {
		name, dir string
		want      []string
	}{
		{"root", ".", []string{"docs", "docs/guide.md", "pkg", "pkg/one", "pkg/one/one.go", "pkg/two",
			"src", "src/a.go", "src/in", "src/in/b.go", "top.txt"}},
		{"whole", "src", []string{"src/a.go", "src/in", "src/in/b.go"}},
		{"leading", "pkg", []string{"pkg/one", "pkg/one/one.go", "pkg/two"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := []string{}
			err := r.Walk(t.Context(), tt.dir, nil, func(info workspace.FileInfo, err error) error {
				got = append(got, info.Path)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Walk(%q) (-want +got):\n%s", tt.dir, diff)
			}
		})
	}
}

func TestRestrictGlob(t *testing.T) {
	r, _ := newTree(t)
	tests := []struct {
		name, pattern string
		opts          *workspace.GlobOptions
		want          []string
	}{
		{"all", "**", nil, []string{"docs/guide.md", "pkg/one/one.go", "src/a.go", "src/in/b.go", "top.txt"}},
		{"directories", "**/", nil, []string{"docs", "pkg", "pkg/one", "pkg/two", "src", "src/in"}},
		{"spelled-out", "secret.env", nil, []string{}},
		{"denied-directory", "vault/**", nil, []string{}},
		{"in-whole", "*.go", &workspace.GlobOptions{Dir: "src"}, []string{"src/a.go"}},
		{"limit", "**", &workspace.GlobOptions{Limit: 2}, []string{"docs/guide.md", "pkg/one/one.go"}},
		{"after", "**", &workspace.GlobOptions{Limit: 2, After: "docs/guide.md"}, []string{"pkg/one/one.go", "src/a.go"}},
		{"gitignore", "**", &workspace.GlobOptions{Gitignore: true}, []string{"docs/guide.md", "pkg/one/one.go", "src/a.go", "src/in/b.go", "top.txt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.Glob(t.Context(), tt.pattern, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Glob(%q, %+v) (-want +got):\n%s", tt.pattern, tt.opts, diff)
			}
		})
	}
}

func TestRestrictGrep(t *testing.T) {
	r, _ := newTree(t)
	tests := []struct {
		name      string
		opts      *workspace.GrepOptions
		want      []string
		truncated bool
	}{
		{"all", nil, []string{"docs/guide.md", "pkg/one/one.go", "src/a.go", "src/in/b.go", "top.txt"}, false},
		{"whole", &workspace.GrepOptions{Path: "src"}, []string{"src/a.go", "src/in/b.go"}, false},
		{"file", &workspace.GrepOptions{Path: "docs/guide.md"}, []string{"docs/guide.md"}, false},
		{"include-denied", &workspace.GrepOptions{IncludeGlob: "*.{env,pem}"}, []string{}, false},
		{"limit", &workspace.GrepOptions{MaxResults: 4}, []string{"docs/guide.md", "pkg/one/one.go", "src/a.go", "src/in/b.go"}, true},
		{"limit-of-all", &workspace.GrepOptions{MaxResults: 5}, []string{"docs/guide.md", "pkg/one/one.go", "src/a.go", "src/in/b.go", "top.txt"}, false},
		{"gitignore", &workspace.GrepOptions{Gitignore: true}, []string{"docs/guide.md", "pkg/one/one.go", "src/a.go", "src/in/b.go", "top.txt"}, false},
		{"gitignore-limit", &workspace.GrepOptions{Gitignore: true, MaxResults: 1}, []string{"docs/guide.md"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, err := r.Grep(t.Context(), "needle", tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, match := range result.Matches {
				got = append(got, match.Path)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Grep(%+v) (-want +got):\n%s", tt.opts, diff)
			}
			if result.Truncated != tt.truncated || len(result.Skipped) > 0 {
				t.Errorf("Grep(%+v) = truncated %t, skipped %v, want %t and none", tt.opts, result.Truncated, result.Skipped, tt.truncated)
			}
		})
	}
}

// TestRestrictDeniedIgnoreFile tests that a search honours an ignore file that
// is denied, and does not show it.
func TestRestrictDeniedIgnoreFile(t *testing.T) {
	m := memory.New(nil)
	write(t, m, ".gitignore", "needle.txt\n# needle\n")
	write(t, m, "needle.txt", "needle")
	write(t, m, "other.txt", "needle")
	write(t, m, "src/.gitignore", "gen.txt\n# needle")
	write(t, m, "src/gen.txt", "needle")
	write(t, m, "src/made.txt", "needle")
	r := restrict(t, m, "**/*.txt")
	want := []string{"other.txt", "src/made.txt"}
	for _, limit := range []int{0, 1, 2, 3} {
		got, err := r.Glob(t.Context(), "**", &workspace.GlobOptions{Gitignore: true, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first(want, limit), got); diff != "" {
			t.Errorf("Glob(**, Gitignore, Limit: %d) (-want +got):\n%s", limit, diff)
		}
		result, err := r.Grep(t.Context(), "needle", &workspace.GrepOptions{Gitignore: true, MaxResults: limit, MaxFileSize: 100})
		if err != nil {
			t.Fatal(err)
		}
		got = []string{}
		for _, match := range result.Matches {
			got = append(got, match.Path)
		}
		if diff := cmp.Diff(first(want, limit), got); diff != "" {
			t.Errorf("Grep(needle, Gitignore, MaxResults: %d) (-want +got):\n%s", limit, diff)
		}
		if result.Truncated != (limit == 1) || len(result.Skipped) > 0 {
			t.Errorf("Grep(needle, Gitignore, MaxResults: %d) = truncated %t, skipped %v", limit, result.Truncated, result.Skipped)
		}
	}
	if _, err := r.ReadFile(t.Context(), ".gitignore"); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("ReadFile(.gitignore) = %v, want %v", err, workspace.ErrPolicy)
	}
}

func first(all []string, limit int) []string {
	if limit == 0 {
		return all
	}
	return all[:min(limit, len(all))]
}

// TestRestrictTrees tests what is done to directories that are allowed in part:
// all of it happens, or nothing.
func TestRestrictTrees(t *testing.T) {
	const src, dest = "pkg/one", "pkg/moved"
	tests := []struct {
		name  string
		extra string // a file in pkg/one beside one.go
		do    func(t *testing.T, r *policy.RestrictedFS) error
		want  error
		left  []string // what of pkg is there afterwards, if it succeeds
	}{
		{"rm-all-allowed", "pkg/one/in/two.go", func(t *testing.T, r *policy.RestrictedFS) error {
			return r.Rm(t.Context(), src, &workspace.RmOptions{Recursive: true})
		}, nil, nil},
		{"rm-with-denied", "pkg/one/in/key", func(t *testing.T, r *policy.RestrictedFS) error {
			return r.Rm(t.Context(), src, &workspace.RmOptions{Recursive: true})
		}, workspace.ErrPolicy, nil},
		{"move-all-allowed", "pkg/one/in/two.go", func(t *testing.T, r *policy.RestrictedFS) error {
			return r.Move(t.Context(), src, dest)
		}, nil, []string{"pkg/moved/in/two.go", "pkg/moved/one.go"}},
		{"move-with-denied", "pkg/one/in/key", func(t *testing.T, r *policy.RestrictedFS) error {
			return r.Move(t.Context(), src, dest)
		}, workspace.ErrPolicy, nil},
		{"move-to-where-denied", "pkg/one/in/two.go", func(t *testing.T, r *policy.RestrictedFS) error {
			return r.Move(t.Context(), src, "docs/one.md")
		}, workspace.ErrPolicy, nil},
		{"move-to-whole", "pkg/one/in/two.go", func(t *testing.T, r *policy.RestrictedFS) error {
			return r.Move(t.Context(), src, "src/one")
		}, nil, nil},
		{"move-from-whole-to-where-denied", "src/in/key", func(t *testing.T, r *policy.RestrictedFS) error {
			return r.Move(t.Context(), "src/in", "pkg/in")
		}, workspace.ErrPolicy, nil},
		{"move-into-itself", "pkg/one/in/two.go", func(t *testing.T, r *policy.RestrictedFS) error {
			return r.Move(t.Context(), src, "pkg/one/in/deeper")
		}, fs.ErrInvalid, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := memory.New(nil)
			write(t, m, "pkg/one/one.go", "")
			write(t, m, tt.extra, "")
			before := files(t, m)
			err := tt.do(t, restrict(t, m, treeRules...))
			if !errors.Is(err, tt.want) {
				t.Fatalf("= %v, want %v", err, tt.want)
			}
			want := tt.left
			if err != nil {
				want = before
			}
			got := slices.DeleteFunc(files(t, m), func(path string) bool { return err == nil && path[:4] == "src/" })
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRestrictRmWholeInside tests a directory in which a directory is allowed as
// a whole, whatever is in it.
func TestRestrictRmWholeInside(t *testing.T) {
	m := memory.New(nil)
	for _, name := range []string{"pkg/a/gen/x/y", "pkg/a/gen/z", "pkg/b/gen/x", "pkg/b/key"} {
		write(t, m, name, "")
	}
	r := restrict(t, m, "pkg/*/gen/**")
	recursive := &workspace.RmOptions{Recursive: true}
	if err := r.Rm(t.Context(), "pkg", recursive); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Rm(pkg) = %v, want %v", err, workspace.ErrPolicy)
	}
	if diff := cmp.Diff([]string{"pkg/a/gen/x/y", "pkg/a/gen/z", "pkg/b/gen/x", "pkg/b/key"}, files(t, m)); diff != "" {
		t.Errorf("after Rm(pkg), which is refused (-want +got):\n%s", diff)
	}
	if err := r.Rm(t.Context(), "pkg/a", recursive); err != nil {
		t.Errorf("Rm(pkg/a) = %v", err)
	}
	if diff := cmp.Diff([]string{"pkg/b/gen/x", "pkg/b/key"}, files(t, m)); diff != "" {
		t.Errorf("after Rm(pkg/a) (-want +got):\n%s", diff)
	}
}

func files(t *testing.T, fsys workspace.FileSystem) (paths []string) {
	t.Helper()
	all, err := fsys.Glob(t.Context(), "**", nil)
	if err != nil {
		t.Fatal(err)
	}
	return append(paths, all...)
}
