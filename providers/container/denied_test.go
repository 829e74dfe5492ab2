package container_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestDenied has files in a container that the user of the workspace must not
// read, and a directory that he must not write.
func TestDenied(t *testing.T) {
	in(t, places()[1:3], func(t *testing.T, r *running) {
		opts := r.options(t)
		r.run(t, "sh", "-c", `cd "$1" && mkdir -p dir pass secret/sub && echo needle | tee open closed dir/file pass/file secret/file >closed2 && chmod 600 closed && chmod 711 pass && chmod 700 secret && chmod 755 . dir
			mkdir -p own/fixed own/none && touch own/fixed/file own/none/file && chmod 777 own && chmod 555 own/fixed && chmod 000 own/none`, "sh", opts.Root)
		opts.User = "1000:1000"
		f := open(t, opts)
		for name, err := range map[string]error{
			"ReadFile": second(f.ReadFile(t.Context(), "closed")), "Ls": second(f.Ls(t.Context(), "secret", nil)),
			"WriteFile": second(f.WriteFile(t.Context(), "dir/file", nil, nil)), "a new file": second(f.WriteFile(t.Context(), "dir/new", nil, nil)),
			"Mkdir": f.Mkdir(t.Context(), "dir/new", nil), "Rm": f.Rm(t.Context(), "dir/file", nil), "Stat": second(f.Stat(t.Context(), "secret/file")),
			"Rm, recursive":               f.Rm(t.Context(), "own/fixed", &workspace.RmOptions{Recursive: true}),
			"Rm of what cannot be listed": f.Rm(t.Context(), "own/none", &workspace.RmOptions{Recursive: true}),
			"Move from":                   f.Move(t.Context(), "own/fixed/file", "own/new"),
			"Move to":                     f.Move(t.Context(), "own/fixed", "dir/new"),
		} {
			if !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s of what is denied = %v, want %q", name, err, fs.ErrPermission)
			}
		}
		if err := f.Rm(t.Context(), "own/none", nil); !errors.Is(err, workspace.ErrNotEmpty) {
			t.Errorf("Rm of a directory that cannot be listed = %v, want %q", err, workspace.ErrNotEmpty)
		}
		result, err := f.Grep(t.Context(), "needle", nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []workspace.Skipped{
			{Path: "closed", Reason: workspace.SkipUnreadable}, {Path: "own/none", Reason: workspace.SkipUnreadable},
			{Path: "pass", Reason: workspace.SkipUnreadable}, {Path: "secret", Reason: workspace.SkipUnreadable},
		}
		if diff := cmp.Diff(want, result.Skipped); diff != "" {
			t.Errorf("Grep skips (-want +got):\n%s", diff)
		}
		if got, want := matched(result), []string{"closed2", "dir/file", "open"}; !slices.Equal(got, want) {
			t.Errorf("Grep finds %q, want %q", got, want)
		}
		var refused []string
		err = f.Walk(t.Context(), ".", nil, func(info workspace.FileInfo, err error) error {
			if err != nil {
				refused = append(refused, info.Path)
			}
			return nil
		})
		if err != nil || !slices.Equal(refused, []string{"own/none", "pass", "secret"}) {
			t.Errorf("Walk = %v, and it could not list %q, want those of own/none, pass and secret", err, refused)
		}
		for _, pattern := range []string{"pass/*", "pass/**", "pass/file", "secret/*", "secret/sub/*"} {
			if paths, err := f.Glob(t.Context(), pattern, nil); err != nil || len(paths) > 0 {
				t.Errorf("Glob(%q) = %q, %v, want none", pattern, paths, err)
			}
		}
		for _, dir := range []string{"pass", "secret"} {
			if _, err := f.Glob(t.Context(), "*/*", &workspace.GlobOptions{Dir: dir}); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("Glob in %s = %v, want %q", dir, err, fs.ErrPermission)
			}
		}
		if _, err := f.Glob(t.Context(), "sub/*", &workspace.GlobOptions{Dir: "secret"}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Glob of sub/* in secret = %v, want %q", err, fs.ErrPermission)
		}
	})
}

// TestDeniedToRoot has directories that root without capabilities must not read.
func TestDeniedToRoot(t *testing.T) {
	in(t, places()[1:3], func(t *testing.T, r *running) {
		opts := r.options(t)
		r.run(t, "sh", "-c", `cd "$1" && mkdir -p full/none enter && echo needle | tee open closed full/none/file >enter/file && chmod 000 closed full/none && chmod 100 enter && mkdir fixed && touch fixed/file && chmod 555 fixed`, "sh", opts.Root)
		f := open(t, opts)
		if paths, err := f.Glob(t.Context(), "**", nil); err != nil {
			t.Errorf("Glob = %v, want nil", err)
		} else if want := []string{"closed", "fixed/file", "open"}; !slices.Equal(paths, want) {
			t.Errorf("Glob = %q, want %q", paths, want)
		}
		result, err := f.Grep(t.Context(), "needle", nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []workspace.Skipped{
			{Path: "closed", Reason: workspace.SkipUnreadable}, {Path: "enter", Reason: workspace.SkipUnreadable}, {Path: "full/none", Reason: workspace.SkipUnreadable},
		}
		if diff := cmp.Diff(want, result.Skipped); diff != "" {
			t.Errorf("Grep skips (-want +got):\n%s", diff)
		}
		if got, want := matched(result), []string{"open"}; !slices.Equal(got, want) {
			t.Errorf("Grep finds %q, want %q", got, want)
		}
		events, err := f.Watch(t.Context(), ".", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteFile(t.Context(), "full/new", nil, nil); err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-events:
			if e.Path != "full/new" {
				t.Errorf("Watch reports %+v, want full/new", e)
			}
		case <-time.After(time.Minute):
			t.Error("Watch reports nothing, want full/new")
		}
		view, err := f.Exact()
		if err != nil {
			t.Fatal(err)
		}
		for which, f := range map[string]*container.FS{"plain": f, "exact": view.(*container.FS)} {
			for name, err := range map[string]error{
				"Ls": second(f.Ls(t.Context(), "full/none", nil)), "Ls of what can be entered": second(f.Ls(t.Context(), "enter", nil)),
				"Walk":          f.Walk(t.Context(), "enter", nil, func(_ workspace.FileInfo, err error) error { return err }),
				"Rm, recursive": f.Rm(t.Context(), "full", &workspace.RmOptions{Recursive: true}),
				"WriteFile":     second(f.WriteFile(t.Context(), "fixed/file", nil, nil)), "a new file": second(f.WriteFile(t.Context(), "fixed/new", nil, nil)),
				"Mkdir": f.Mkdir(t.Context(), "fixed/new", nil), "Rm": f.Rm(t.Context(), "fixed/file", nil),
				"Move from": f.Move(t.Context(), "fixed/file", "new"),
				"Move to":   f.Move(t.Context(), "open", "fixed/new"),
			} {
				if !errors.Is(err, fs.ErrPermission) {
					t.Errorf("%s of what is denied in the %s view = %v, want %q", name, which, err, fs.ErrPermission)
				}
			}
		}
	})
}

// second returns the error of a call that returns something else, too.
func second[T any](_ T, err error) error { return err }

// TestRootBelowDenied opens a root below a directory that the user may not enter.
func TestRootBelowDenied(t *testing.T) {
	in(t, places()[1:2], func(t *testing.T, r *running) {
		opts := r.options(t)
		r.run(t, "sh", "-c", `cd "$1" && mkdir -p closed/dir open && touch file && chmod 700 closed`, "sh", opts.Root)
		opts.User = "1234"
		for below, want := range map[string]error{
			"closed/dir": fs.ErrPermission, "closed": fs.ErrPermission, "open/missing/dir": fs.ErrNotExist, "open": nil,
		} {
			other := *opts
			other.Root = opts.Root + "/" + below
			f, err := container.Open(t.Context(), &other)
			if !errors.Is(err, want) {
				t.Errorf("Open with the Root %q = %v, want %v", below, err, want)
			}
			if err == nil {
				f.Close()
			}
		}
	})
}
