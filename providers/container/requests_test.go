package container_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestRequests counts the requests of each operation on a tree of 60 folders, and compares
// those that are always as many with the page.
func TestRequests(t *testing.T) {
	exhaustive.NotShort(t, "counts the requests of every operation")
	page, err := os.ReadFile("../../docs/container-details.md")
	if err != nil {
		t.Fatal(err)
	}
	fixed := []string{"ReadFile", "ReadVersioned", "Stat", "Ls", "WriteFile", "Mkdir", "Rm", "Walk", "Glob"}
	c := &observer{}
	f := open(t, &container.Options{Executor: c, Root: t.TempDir()})
	for i := range 60 {
		for _, name := range []string{"file", ".gitignore", "binary"} {
			content := map[string]string{"file": "needle\n", ".gitignore": "ignored\n", "binary": "\x00"}[name]
			if _, err := f.WriteFile(t.Context(), fmt.Sprintf("dir%02d/%s", i, name), []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := workspace.New("w", f, nil)
	for _, test := range []struct {
		name string
		most int64
		call func(ctx context.Context) error
	}{
		{"ReadFile", 1, func(ctx context.Context) error { return second(f.ReadFile(ctx, "dir00/file")) }},
		{"ReadVersioned", 1, func(ctx context.Context) error { return second(w.ReadFile(ctx, "dir00/file")) }},
		{"ReadRange", 1, func(ctx context.Context) error { return second(w.ReadRange(ctx, "dir00/file", 1, 2)) }},
		{"Stat", 1, func(ctx context.Context) error { return second(f.Stat(ctx, "dir00/file")) }},
		{"Ls", 1, func(ctx context.Context) error { return second(f.Ls(ctx, ".", nil)) }},
		{"WriteFile", 1, func(ctx context.Context) error { return second(f.WriteFile(ctx, "dir00/file", []byte("needle"), nil)) }},
		{"Mkdir", 1, func(ctx context.Context) error {
			return f.Mkdir(ctx, "a/b/c", &workspace.MkdirOptions{Recursive: true})
		}},
		{"Rm", 1, func(ctx context.Context) error { return f.Rm(ctx, "a", &workspace.RmOptions{Recursive: true}) }},
		{"Walk", 1, func(ctx context.Context) error {
			return workspace.Walk(ctx, f, ".", nil, func(_ workspace.FileInfo, err error) error { return err })
		}},
		{"Glob", 1, func(ctx context.Context) error { return second(f.Glob(ctx, "**/file", nil)) }},
		{"Glob-Gitignore", 3, func(ctx context.Context) error {
			return second(f.Glob(ctx, "**/file", &workspace.GlobOptions{Gitignore: true}))
		}},
		// The path, the listing, the lines that match and the files with a NUL, and
		// the beginnings of those.
		{"Grep", 4, func(ctx context.Context) error { return second(f.Grep(ctx, "needle", nil)) }},
		{"Grep-again", 3, func(ctx context.Context) error { return second(f.Grep(ctx, "needle", nil)) }},
		{"Grep-Gitignore", 4, func(ctx context.Context) error {
			return second(f.Grep(ctx, "needle", &workspace.GrepOptions{Gitignore: true}))
		}},
		// The files that match, and their bytes.
		{"Grep-around", 4, func(ctx context.Context) error {
			return second(f.Grep(ctx, "needle", &workspace.GrepOptions{Before: 1}))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			row := regexp.MustCompile("(?m)^\\|.*`" + test.name + "`[^|]*\\| (\\d+)").FindSubmatch(page)
			if slices.Contains(fixed, test.name) && (row == nil || string(row[1]) != fmt.Sprint(test.most)) {
				t.Errorf("docs/container-details.md has the row %q, want %d requests", row, test.most)
			}
			before := c.requests.Load()
			if err := test.call(t.Context()); err != nil {
				t.Fatal(err)
			}
			if made := c.requests.Load() - before; made > test.most || made == 0 {
				t.Errorf("%d requests were made, want at most %d", made, test.most)
			}
		})
	}
}

// TestDeniedRequests searches with denied names. The grep of the container looks
// into the other files, and no request has a denied name.
func TestDeniedRequests(t *testing.T) {
	exhaustive.Long(t)
	var asked []string
	c := &observer{secret: "secret"}
	f := open(t, &container.Options{Executor: c, Root: t.TempDir(), Shells: 1})
	for i := range 60 {
		for _, name := range []string{"file", "secret.env", "secrets/a"} {
			if _, err := f.WriteFile(t.Context(), fmt.Sprintf("dir%02d/%s", i, name), []byte("hay\n"), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := f.WriteFile(t.Context(), "dir30/file", []byte("needle\n"), nil); err != nil {
		t.Fatal(err)
	}
	restricted, err := policy.Restrict(workspace.New("w", f, nil), policy.Rules{DeniedPaths: []string{"*.env", "secrets"}})
	if err != nil {
		t.Fatal(err)
	}
	c.leaked.Store(false)
	c.before = func(function string) { asked = append(asked, function) }
	result, err := restricted.Grep(t.Context(), "needle", nil)
	if err != nil || len(result.Matches) != 1 {
		t.Fatalf("Grep = %+v, %v, want 1 match", result, err)
	}
	if c.leaked.Load() {
		t.Error("a denied name was sent")
	}
	// The path, the listing, the files that match, and the one that does.
	if len(asked) > 5 || !slices.Contains(asked, "remotegrep") {
		t.Errorf("requests = %q, want at most 5, and remotegrep among them", asked)
	}
}
