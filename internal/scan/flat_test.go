package scan_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// listed is a source by the methods of a file system. It counts what it is
// asked for.
type listed struct {
	fsys  workspace.FileSystem
	mu    *sync.Mutex
	calls map[string]int // guarded by mu
}

func (s listed) count(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[call]++
}

func (s listed) List(ctx context.Context, dir string, _ bool) ([]scan.Child, error) {
	s.count("list " + dir)
	infos, err := s.fsys.Ls(ctx, dir, nil)
	var children []scan.Child
	for _, info := range infos {
		children = append(children, scan.Child{Name: info.Name, Type: info.Type})
	}
	return children, err
}

func (s listed) Read(ctx context.Context, name string, _ *[]byte, _ scan.ReadOptions) ([]byte, error) {
	s.count("read " + name)
	return s.fsys.ReadFile(ctx, name)
}

func (s listed) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	s.count("stat " + name)
	info, err := s.fsys.Stat(ctx, name)
	return info.Type, err
}

// walked is one that can list whole trees, too.
type walked struct{ listed }

func (s walked) Walk(ctx context.Context, dir, after string, visit func(workspace.FileInfo) error) error {
	s.count("walk " + dir)
	opts := &workspace.WalkOptions{After: after}
	return workspace.Walk(ctx, s.fsys, dir, opts, func(info workspace.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return visit(info)
	})
}

func (s walked) Lookup(ctx context.Context, name string) (workspace.FileType, error) {
	t, err := s.Stat(ctx, name)
	if errors.Is(err, workspace.ErrNotDir) {
		err = fs.ErrNotExist
	}
	return t, err
}

func (s walked) WasFile(string) bool { return false }

func newListed(fsys workspace.FileSystem) listed {
	return listed{fsys, new(sync.Mutex), map[string]int{}}
}

// forest returns a random tree with names that sort in unusual places and with
// ignore files.
func forest(t *testing.T, random *rand.Rand) workspace.FileSystem {
	t.Helper()
	fsys := memory.New(nil)
	names := []string{"a", "a-b", "b.go", "+x", ".env", ".git", "c", "src", "node_modules", "z.txt"}
	for range 60 {
		elements := make([]string, 1+random.IntN(4))
		for i := range elements {
			elements[i] = names[random.IntN(len(names))]
		}
		name := strings.Join(elements, "/")
		content := fmt.Sprintf("needle in %s\nhay\n", name)
		if random.IntN(6) == 0 {
			dir, _ := workspace.Split(name)
			name, content = workspace.Join(dir, ".gitignore"), names[random.IntN(len(names))]+"\n!a\n"
		}
		_, err := fsys.WriteFile(t.Context(), name, []byte(content), nil)
		if err != nil && !errors.Is(err, workspace.ErrIsDir) && !errors.Is(err, workspace.ErrNotDir) {
			t.Fatalf("WriteFile(%q) = %v", name, err)
		}
	}
	return fsys
}

// TestFlatFindsTheSame searches random trees directory by directory and as one
// listing.
func TestFlatFindsTheSame(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	patterns := []string{
		"**", "**/", "*", "*/", "a/**", "a/*", "src/**/*.go", "a/b.go", "a", "a/", "{a,src}/**", "**/src/**", "*/a/**/",
		"src/a/**", "node_modules/**", "a/**/b.go", "**/*.{go,txt}", "+x/*/a", ".git/**", "none/**", "none", "a/none/",
		"{a,a/b.go}", "{a,a/src,a/src/c}", "{b.go,b.go/c/z.txt}", "{a,a/c/}", "{none,none/a/b}", "*/{a,a/c/b.go}",
	}
	for range 40 {
		fsys := forest(t, random)
		for _, pattern := range patterns {
			for _, opts := range []workspace.GlobOptions{
				{}, {Gitignore: true}, {Dir: "a"}, {Dir: "a/src", Gitignore: true}, {Dir: "none"}, {Dir: "z.txt", Gitignore: true}, {After: "a/src"}, {After: "a-b", Gitignore: true}, {Limit: 3, Gitignore: true},
			} {
				want, wantErr := scan.Glob(t.Context(), newListed(fsys), pattern, &opts, nil)
				got, err := scan.Glob(t.Context(), walked{newListed(fsys)}, pattern, &opts, nil)
				if diff := cmp.Diff(want, got); diff != "" || kind(err) != kind(wantErr) {
					t.Fatalf("Glob(%q, %+v) = %v, want %v (-want +got):\n%s", pattern, opts, err, wantErr, diff)
				}
			}
		}
		for _, opts := range []workspace.GrepOptions{
			{}, {Gitignore: true}, {Path: "a"}, {Path: "a/src", Gitignore: true}, {Path: "b.go"}, {IncludeGlob: "*.go"}, {IncludeGlob: "/a/**", Gitignore: true},
			{IncludeGlob: "src/*", MaxResults: 2}, {ExcludeGlob: "a/**"}, {MaxResults: 3, Gitignore: true}, {Path: "a", IncludeGlob: "a/src/**"},
			{StartAfter: workspace.Position{Path: "a-b/c", LineNumber: 1}}, {StartAfter: workspace.Position{Path: "a/src/b.go"}, Gitignore: true},
		} {
			want, wantErr := scan.Grep(t.Context(), newListed(fsys), "needle", &opts, 3, nil)
			got, err := scan.Grep(t.Context(), walked{newListed(fsys)}, "needle", &opts, 3, nil)
			if diff := cmp.Diff(want, got); diff != "" || kind(err) != kind(wantErr) {
				t.Fatalf("Grep(%+v) = %v, want %v (-want +got):\n%s", opts, err, wantErr, diff)
			}
		}
	}
}

// kind returns the kind of err.
func kind(err error) tools.Code { return tools.CodeOf(err) }

// TestFlatAsksForLittle makes sure that a source that lists trees is asked for
// no more than what is needed.
func TestFlatAsksForLittle(t *testing.T) {
	fsys := memory.New(nil)
	for _, name := range []string{"src/a/x.go", "src/b/y.go", "src/z.txt", "docs/d/e", "top.go"} {
		if _, err := fsys.WriteFile(t.Context(), name, []byte("needle"), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		pattern string
		opts    workspace.GlobOptions
		want    map[string]int
	}{
		{"**", workspace.GlobOptions{}, map[string]int{"walk .": 1}},
		{"src/**/*.go", workspace.GlobOptions{}, map[string]int{"walk src": 1}},
		{"src/a/**/*.go", workspace.GlobOptions{}, map[string]int{"walk src/a": 1}},
		{"**/x.go", workspace.GlobOptions{Dir: "src"}, map[string]int{"walk src": 1}},
		{"*", workspace.GlobOptions{}, map[string]int{"list .": 1}},
		{"src/*", workspace.GlobOptions{}, map[string]int{"list src": 1}},
		{"top.go", workspace.GlobOptions{}, map[string]int{"stat top.go": 1}},
		{"src/a/x.go", workspace.GlobOptions{}, map[string]int{"stat src/a/x.go": 1}},
		{"none/**", workspace.GlobOptions{}, map[string]int{"walk none": 1}},
		{"src/**", workspace.GlobOptions{}, map[string]int{"walk src": 1}},
		{"src/**/", workspace.GlobOptions{}, map[string]int{"stat src": 1, "walk src": 1}},
		{"top.go/**", workspace.GlobOptions{}, map[string]int{"walk top.go": 1, "stat top.go": 1}},
		{"*/a/**", workspace.GlobOptions{}, map[string]int{"list .": 1, "walk docs/a": 1, "walk src/a": 1}},
		{"src/**/*.go", workspace.GlobOptions{Gitignore: true}, map[string]int{"read .gitignore": 1, "walk src": 1}},
	} {
		source := walked{newListed(fsys)}
		if _, err := scan.Glob(t.Context(), source, c.pattern, &c.opts, nil); err != nil {
			t.Errorf("Glob(%q, %+v) = %v, want nil", c.pattern, c.opts, err)
		}
		if diff := cmp.Diff(c.want, source.calls); diff != "" {
			t.Errorf("Glob(%q, %+v) asks for other things (-want +got):\n%s", c.pattern, c.opts, diff)
		}
	}
}

// TestFlatGrepStops makes sure that a limit ends the listing.
func TestFlatGrepStops(t *testing.T) {
	fsys := memory.New(nil)
	for i := range 10_000 {
		if _, err := fsys.WriteFile(t.Context(), fmt.Sprintf("f%05d", i), []byte("needle"), nil); err != nil {
			t.Fatal(err)
		}
	}
	source := &counted{walked: walked{newListed(fsys)}}
	result, err := scan.Grep(t.Context(), source, "needle", &workspace.GrepOptions{MaxResults: 5}, 1, nil)
	if err != nil || len(result.Matches) != 5 || !result.Truncated {
		t.Fatalf("Grep = %d matches, truncated %v, %v; want 5, true, nil", len(result.Matches), result.Truncated, err)
	}
	if source.visited > 5000 {
		t.Errorf("Grep for 5 matches walked over %d files, want fewer than 5000", source.visited)
	}
}

// counted counts what it lists.
type counted struct {
	walked
	visited int
}

func (s *counted) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	if opts.Known == nil || opts.Known.Path != name || opts.Known.Size != int64(len("needle")) {
		return nil, fs.ErrInvalid
	}
	return s.fsys.ReadFile(ctx, name)
}

func (s *counted) Walk(ctx context.Context, dir, after string, visit func(workspace.FileInfo) error) error {
	return s.walked.Walk(ctx, dir, after, func(info workspace.FileInfo) error {
		s.visited++
		return visit(info)
	})
}
