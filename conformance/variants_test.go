package conformance_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// readOnly refuses what changes files.
type readOnly struct{ workspace.FileSystem }

func (readOnly) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{Versions: true, Watch: workspace.WatchPolled}
}

func (readOnly) WriteFile(_ context.Context, name string, _ []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
	return "", ops.Error(ops.WriteFile, name, fs.ErrPermission, nil)
}

func (readOnly) Rm(_ context.Context, name string, _ *workspace.RmOptions) error {
	return ops.Error(ops.Rm, name, fs.ErrPermission, nil)
}

func (readOnly) Mkdir(_ context.Context, name string, _ *workspace.MkdirOptions) error {
	return ops.Error(ops.Mkdir, name, fs.ErrPermission, nil)
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "runs the suite a second time")
	conformance.Run(t, func(*testing.T) workspace.FileSystem { return readOnly{newReference()} }, &conformance.Options{
		Peer: func(_ *testing.T, fsys workspace.FileSystem) workspace.FileSystem { return fsys.(readOnly).FileSystem },
	})
}

// plain has the nine methods, as little as the contract allows, and writes.
type plain struct{ workspace.FileSystem }

func (plain) Capabilities() workspace.Capabilities { return workspace.Capabilities{Write: true} }

func (p plain) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if opts != nil && *opts != (workspace.WriteOptions{}) {
		return "", ops.Error(ops.WriteFile, name, errors.ErrUnsupported, nil)
	}
	_, err := p.FileSystem.WriteFile(ctx, name, data, nil)
	return "", err
}

func (p plain) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := p.FileSystem.Stat(ctx, name)
	info.Version = ""
	return info, err
}

func (p plain) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	infos, err := p.FileSystem.Ls(ctx, dir, opts)
	for i := range infos {
		infos[i].Version = ""
	}
	return infos, err
}

func (plain) Watch(_ context.Context, dir string, _ *workspace.WatchOptions) (<-chan workspace.Event, error) {
	return nil, ops.Error(ops.Watch, dir, errors.ErrUnsupported, nil)
}

func TestPlain(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(*testing.T) workspace.FileSystem { return plain{newReference()} }, &conformance.Options{Short: true})
}

// resolving has symlinks, and of the ways to read the first alone.
type resolving struct {
	workspace.FileSystem
	workspace.Resolver
	fallback.Capable
}

func TestResolving(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(*testing.T) workspace.FileSystem {
		r := newReference()
		return resolving{r, r, r}
	}, &conformance.Options{
		Short: true,
		Only:  []string{"Symlink/read-follows", "Symlink/copy", "Symlink/loop", "ReadVersioned", "Open", "Copy"},
		Symlink: func(t *testing.T, fsys workspace.FileSystem, target, name string) {
			symlink(t, fsys.(resolving).FileSystem, target, name)
		},
	})
}

// TestLiveWalk proves that a walk may look for each entry after the one before, and so report
// what its function has created.
func TestLiveWalk(t *testing.T) {
	t.Parallel()
	h := newHooked()
	h.walk = func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		for after := ""; ; {
			var next workspace.FileInfo
			err := workspace.Walk(ctx, h.reference, dir, &workspace.WalkOptions{After: after}, func(info workspace.FileInfo, err error) error {
				next = info
				return fs.SkipAll
			})
			if err != nil || next.Path == "" {
				return err
			}
			if err := fn(next, nil); err != nil {
				return err
			}
			after = next.Path
		}
	}
	if got := conformance.RunCase(t, "Walk/call-in-function", h, conformance.Options{}); got.Failed {
		t.Errorf("case Walk/call-in-function fails for a walk that sees what is new: %s", got.Log)
	}
}

// TestCaseTime proves that a case ends if a call of it does not, or panics. A call that returns when
// the test has ended must not use it: that would end all tests.
func TestCaseTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testCaseTime)
}

func testCaseTime(t *testing.T) {
	forever, end := context.WithCancel(t.Context())
	var outcomes []conformance.Outcome
	for name, c := range map[string]struct {
		stat func(context.Context, string) (workspace.FileInfo, error)
		want string // in the failure
	}{
		"waits until its context ends": {func(ctx context.Context, name string) (workspace.FileInfo, error) {
			<-ctx.Done()
			return workspace.FileInfo{}, ops.Error(ops.Stat, name, ctx.Err(), nil)
		}, "not done after"},
		"waits for ever": {func(context.Context, string) (workspace.FileInfo, error) {
			<-forever.Done()
			return workspace.FileInfo{}, nil
		}, "not done after"},
		"panics": {func(context.Context, string) (workspace.FileInfo, error) { panic("too bad") }, "too bad"},
	} {
		h := newHooked()
		h.stat = c.stat
		got := conformance.RunCase(t, "Stat/file", h, conformance.Options{CaseTime: 100 * time.Millisecond})
		if !got.Failed || !strings.Contains(got.Log, c.want) || !strings.Contains(got.Log, "(contract T1") {
			t.Errorf("case Stat/file, whose Stat %s: failed %v, log %q, want %q and the clause", name, got.Failed, got.Log, c.want)
		}
		outcomes = append(outcomes, got)
	}
	end()
	synctest.Wait()
	for _, got := range outcomes {
		if got.Late() {
			t.Errorf("case Stat/file with the log %q goes on when it has ended", got.Log)
		}
	}
}

// These stores have a method that is not used, or are right.
type (
	opensByPointer struct{ provider.Store }
	closesQuietly  struct{ provider.Store }
	renames        struct{ provider.Store }
	moves          struct{ provider.Store }
)

func (opensByPointer) Open(context.Context, string, *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	return nil, workspace.FileInfo{}, nil
}

func (closesQuietly) Close() {}

func (renames) Rename(context.Context, string, string) error { return nil }

func (moves) Move(context.Context, string, string) error { return nil }

// TestMethodsOfStore proves that the suite names methods that are not used or are missing.
func TestMethodsOfStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		store provider.Store
		caps  workspace.Capabilities
		want  string // in the failure, empty if there is none
	}{
		{opensByPointer{}, workspace.Capabilities{}, "provider.Opener, Open(context.Context, string, workspace.OpenOptions)"},
		{closesQuietly{}, workspace.Capabilities{}, "io.Closer, Close() error"},
		{renames{}, workspace.Capabilities{Move: true}, "renames declares Move and is not a provider.Mover"},
		{moves{}, workspace.Capabilities{Move: true}, ""},
		{moves{}, workspace.Capabilities{Watch: workspace.WatchNative}, "is not a provider.Watcher"},
		{moves{}, workspace.Capabilities{Watch: workspace.WatchPolled}, ""},
		{moves{}, workspace.Capabilities{Run: true}, "is not a provider.Runner"},
		{moves{}, workspace.Capabilities{Copy: true}, "is not a provider.Copier"},
		{moves{}, workspace.Capabilities{Copy: true, ConditionalWrite: true}, ""},
	} {
		got := conformance.RunCase(t, "Capabilities/methods-of-store", provider.New(c.store, provider.Facts{Capabilities: c.caps}), conformance.Options{})
		if got.Skipped || got.Failed != (c.want != "") || !strings.Contains(got.Log, c.want) {
			t.Errorf("%T with %+v: skipped %v, failed %v, log %q, want %q", c.store, c.caps, got.Skipped, got.Failed, got.Log, c.want)
		}
	}
}

// TestUndeclared proves that a case about a capability that is not there is
// skipped with its name, or is about the refusal.
func TestUndeclared(t *testing.T) {
	for name, want := range map[string]string{
		"Move/file":                         "Capabilities.Move",
		"Copy/file":                         "Capabilities.Copy",
		"Watch/file":                        "Capabilities.Watch",
		"WriteFile/if-not-exist-race":       "Capabilities.ConditionalWrite",
		"WriteFile/version-stays":           "Capabilities.Versions",
		"Symlink/read-follows":              "Options.Symlink",
		"Names/cleaned":                     "Options.CleanNames",
		"Open/canceled-stream":              "an Opener",
		"Create/canceled-write":             "a Creator",
		"ReadVersioned/version-for-a-write": "Capabilities.Versions and Capabilities.ConditionalWrite",
	} {
		got := conformance.RunCase(t, name, plain{newReference()}, conformance.Options{})
		if !got.Skipped || got.Log != "needs "+want {
			t.Errorf("case %s: skipped %v, log %q, want it skipped with %q", name, got.Skipped, got.Log, "needs "+want)
		}
	}
	for _, name := range []string{"write", "watch", "move", "copy", "conditional-write", "versions"} {
		got := conformance.RunCase(t, "Capabilities/"+name, plain{newReference()}, conformance.Options{})
		if got.Skipped || got.Failed {
			t.Errorf("case Capabilities/%s: skipped %v, failed %v: %s", name, got.Skipped, got.Failed, got.Log)
		}
	}
	got := conformance.RunCase(t, "ReadFile/content", readOnly{newReference()}, conformance.Options{})
	if !got.Skipped || !strings.Contains(got.Log, "Options.Peer") {
		t.Errorf("case ReadFile/content without a way to write: skipped %v, log %q, want Options.Peer named", got.Skipped, got.Log)
	}
}

// TestCleanNames runs cases for what cleans names on what does, and on what
// refuses them.
func TestCleanNames(t *testing.T) {
	opts := conformance.Options{CleanNames: true}
	for _, name := range append(casesLike("Names/", "-malformed", "-escape"), "Names/cleaned") {
		cleans := workspace.New("test", newReference(), nil)
		if got := conformance.RunCase(t, name, cleans, opts); got.Failed || got.Skipped {
			t.Errorf("case %s of a Workspace: failed %v, skipped %v: %s", name, got.Failed, got.Skipped, got.Log)
		}
	}
	if got := conformance.RunCase(t, "Names/cleaned", newReference(), opts); !got.Failed {
		t.Errorf("case Names/cleaned of a provider that refuses names passes, want it to fail")
	}
}

func TestSkip(t *testing.T) {
	for _, c := range []struct {
		name string
		skip map[string]string
		only []string
		want string // in the failure, empty if there is none
	}{
		{"nothing", nil, nil, ""},
		{"a-reason", map[string]string{"ReadFile/empty": "the store has no empty files"}, nil, ""},
		{"no-reason", map[string]string{"ReadFile/empty": ""}, nil, "gives no reason"},
		{"unknown-case", map[string]string{"ReadFile/emtpy": "typo"}, nil, "no such case"},
		{"a-group", map[string]string{"ReadFile": "all of it"}, nil, "no such case"},
		{"only", nil, []string{"ReadFile", "Stat/file"}, ""},
		{"only-unknown", nil, []string{"ReadFiel"}, "no such case or group"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := conformance.CheckSkips(t, conformance.Options{Skip: c.skip, Only: c.only})
			if got.Failed != (c.want != "") || !strings.Contains(got.Log, c.want) {
				t.Errorf("Skip %v, Only %q: failed %v, log %q, want %q", c.skip, c.only, got.Failed, got.Log, c.want)
			}
		})
	}
}

// TestOnly runs a group and a case, and a case that is too long for Short.
func TestOnly(t *testing.T) {
	t.Parallel()
	var made atomic.Int64
	t.Run("suite", func(t *testing.T) {
		conformance.Run(t, func(*testing.T) workspace.FileSystem {
			made.Add(1)
			return newReference()
		}, &conformance.Options{Only: []string{"Stat/file", "Rm/recursive-eleven-hundred"}, Short: true})
	})
	if got := made.Load(); got != 2 {
		t.Errorf("Run with Only of two cases makes %d file systems, want 2", got)
	}
}
