package policy_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestShowEverywhere compares what each listing shows of denied names, and of what is
// below them, where they are hidden and where they are shown.
func TestShowEverywhere(t *testing.T) {
	t.Parallel()
	for store, open := range bypassStores(t) {
		starts := []string{".", "app"}
		if store == "local" {
			starts = append(starts, "link")
		}
		for _, start := range starts {
			t.Run(store+"/"+start, func(t *testing.T) {
				t.Parallel()
				ctx := policy.WithApprover(t.Context(), policy.NewApprover(func(context.Context, policy.Request) (policy.Answer, error) {
					t.Error("somebody was asked")
					return policy.Answer{}, nil
				}, nil))
				fsys := open(t)
				for _, name := range []string{
					"app/.env", "app/a.go", "app/keys/k.go", "app/keys/deep/k.go", "app/in/key.pem", "app/in/b.go", "app/in/asked/x", "app/in/c.pem",
					"app/unread.go", "app/zz", "other/x",
				} {
					write(t, fsys, name, "needle\n")
				}
				write(t, fsys, "app/.gitignore", "c.pem\n")
				top := start
				if start == "link" {
					symlinkIn(t, fsys, "app", "link")
				}
				in := func(names ...string) []string {
					below := []string{}
					for _, name := range names {
						if start == "." {
							name = "app/" + name
						} else {
							name = start + "/" + name
						}
						below = append(below, name)
					}
					slices.Sort(below)
					return below
				}
				rules := policy.Rules{DeniedPaths: []string{".env", "keys", "*.pem", "other"}, FirstMatch: []policy.Rule{
					{Ask: []policy.Op{policy.OpList}, Paths: []string{"asked"}}, {Deny: []policy.Op{policy.OpRead}, Paths: []string{"unread.go"}},
				}}
				hidden, err := policy.Restrict(fsys, rules)
				if err != nil {
					t.Fatal(err)
				}
				rules.ShowDenied = true
				shown, err := policy.Restrict(fsys, rules)
				if err != nil {
					t.Fatal(err)
				}
				other := func(names []string) []string { // with what is beside app
					if start == "." {
						return append(names, "other")
					}
					return names
				}

				seen := in(".gitignore", "a.go", "in/b.go", "unread.go", "zz")
				for _, tt := range []struct {
					fsys *policy.RestrictedFS
					opts workspace.GlobOptions
					pat  string
					want []string
				}{
					{hidden, workspace.GlobOptions{}, "**", seen},
					{shown, workspace.GlobOptions{}, "**", in(".env", ".gitignore", "a.go", "in/b.go", "in/c.pem", "in/key.pem", "unread.go", "zz")},
					{shown, workspace.GlobOptions{Gitignore: true}, "**", in(".env", ".gitignore", "a.go", "in/b.go", "in/key.pem", "unread.go", "zz")},
					{shown, workspace.GlobOptions{Limit: 2}, "**", in(".env", ".gitignore")},
					{shown, workspace.GlobOptions{}, "**/*.pem", in("in/c.pem", "in/key.pem")},
					{shown, workspace.GlobOptions{}, "**/k.go", in()},
					{shown, workspace.GlobOptions{}, "**/keys/*", in()},
					{shown, workspace.GlobOptions{}, "**/keys/", in("keys")},
					{hidden, workspace.GlobOptions{}, "**/{in,keys,asked,deep}/", in("in")},
					{shown, workspace.GlobOptions{}, "**/{in,keys,asked,deep}/", in("in", "in/asked", "keys")},
				} {
					tt.opts.Dir = top
					got, err := tt.fsys.Glob(ctx, tt.pat, &tt.opts)
					if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
						t.Errorf("Glob(%q, %+v): %v, names (-want +got):\n%s", tt.pat, tt.opts, err, diff)
					}
				}

				var walked []string
				err = shown.Walk(ctx, top, nil, func(info workspace.FileInfo, err error) error {
					if info.Version == "" && info.Size == 0 && info.ModTime.IsZero() || info.IsDir() {
						walked = append(walked, info.Path)
					}
					return err
				})
				want := in(".env", "in", "in/asked", "in/c.pem", "in/key.pem", "keys")
				if start == "." {
					want = append(append([]string{"app"}, want...), "other")
				}
				if diff := cmp.Diff(want, walked); err != nil || diff != "" {
					t.Errorf("Walk: %v, directories and names without more (-want +got):\n%s", err, diff)
				}

				for _, tt := range []struct {
					fsys    *policy.RestrictedFS
					opts    workspace.GrepOptions
					skipped []string
				}{
					{hidden, workspace.GrepOptions{}, nil},
					{shown, workspace.GrepOptions{}, other(in(".env", "in/asked", "in/c.pem", "in/key.pem", "keys", "unread.go"))},
					{shown, workspace.GrepOptions{IncludeGlob: "*.go"}, other(in("in/asked", "keys", "unread.go"))},
					{shown, workspace.GrepOptions{ExcludeGlob: "*.pem", Gitignore: true}, other(in(".env", "in/asked", "keys", "unread.go"))},
					{shown, workspace.GrepOptions{MaxResults: 1}, in(".env")},
					{shown, workspace.GrepOptions{StartAfter: workspace.Position{Path: in("in/c.pem")[0]}}, other(in("in/key.pem", "keys", "unread.go"))},
				} {
					tt.opts.Path = top
					got, err := tt.fsys.Grep(ctx, "needle", &tt.opts)
					if err != nil {
						t.Errorf("Grep(%+v) = %v", tt.opts, err)
						continue
					}
					var skipped []string
					for _, s := range got.Skipped {
						if s.Reason != policy.SkipDenied {
							t.Errorf("Grep(%+v) skips %s as %s", tt.opts, s.Path, s.Reason)
						}
						skipped = append(skipped, s.Path)
					}
					if diff := cmp.Diff(tt.skipped, skipped); diff != "" {
						t.Errorf("Grep(%+v): skipped (-want +got):\n%s", tt.opts, diff)
					}
					for _, m := range got.Matches {
						if !slices.Contains(seen, m.Path) || strings.HasSuffix(m.Path, "unread.go") {
							t.Errorf("Grep(%+v) finds %s", tt.opts, m.Path)
						}
					}
				}
				for _, name := range in(".env", "keys", "keys/k.go") {
					if _, err := shown.Stat(ctx, name); !errors.Is(err, workspace.ErrPolicy) {
						t.Errorf("Stat(%q) = %v, want ErrPolicy", name, err)
					}
				}
			})
		}
	}
}

// TestShowWatch tests that a watch reports when a name that is shown appears and
// disappears, and not when it changes, nor anything below it.
func TestShowWatch(t *testing.T) {
	t.Parallel()
	m := memory.New(nil)
	r, err := policy.Restrict(m, policy.Rules{DeniedPaths: []string{".env", "keys"}, AllowedPaths: []string{"**/*"}, ShowDenied: true})
	if err != nil {
		t.Fatal(err)
	}
	events, err := r.Watch(t.Context(), ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, m, ".env", "secret")
	write(t, m, ".env", "another")
	write(t, m, "keys/a", "secret")
	write(t, m, "keys/a", "another")
	remove(t, m, "keys")
	remove(t, m, ".env")
	write(t, m, "top", "x")
	want := []workspace.Event{
		{Op: workspace.EventCreate, Path: ".env"}, {Op: workspace.EventCreate, Path: "keys"}, {Op: workspace.EventRemove, Path: "keys"},
		{Op: workspace.EventRemove, Path: ".env"}, {Op: workspace.EventCreate, Path: "top"},
	}
	if diff := cmp.Diff(want, take(t, events, len(want))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
