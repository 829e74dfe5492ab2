package observe_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// recorder is an observer that keeps what it is told, and refuses what refuse says.
type recorder struct {
	refuse func(e observe.Event) error

	mu     sync.Mutex
	events []observe.Event // guarded by mu
}

func (r *recorder) Before(ctx context.Context, e observe.Event) (context.Context, error) {
	if r.refuse != nil {
		return ctx, r.refuse(e)
	}
	return ctx, nil
}

func (r *recorder) After(_ context.Context, e observe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) WantsVersions() bool { return true }

// take returns the events since the last call.
func (r *recorder) take() []observe.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) workspace.FileSystem {
		return observe.New(memory.New(nil), "test", &recorder{})
	}, &conformance.Options{Short: !exhaustive.IsLong()})
}

func openLocal(t *testing.T) *localbash.FS {
	t.Helper()
	fsys, err := localbash.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func TestLocalConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		return observe.New(openLocal(t), "test", &recorder{})
	}, &conformance.Options{Short: !exhaustive.On(), Only: ofFolders(), Symlink: func(t *testing.T, fsys workspace.FileSystem, target, name string) {
		path := filepath.Join(fallback.Root(fsys), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
			t.Skipf("this computer makes no symlinks here: %v", err)
		}
	}})
}

// TestConformanceExact runs the suite on the exact view, which is observed too.
func TestConformanceExact(t *testing.T) {
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		exact, err := workspace.Exact(observe.New(openLocal(t), "test", &recorder{}))
		if err != nil {
			t.Fatal(err)
		}
		return exact
	}, &conformance.Options{Short: true, Only: ofFolders()})
}

// ofFolders returns what is run in a folder of what has a run in memory: symlinks, and a
// few calls of each kind.
func ofFolders() []string {
	if exhaustive.On() {
		return nil
	}
	return []string{"Symlink", "Exact", "Resolve", "Errors", "Rm", "Move", "Stat", "WriteFile/replace", "Glob/order", "Grep/order", "Walk/order", "Watch/at-depth"}
}

func TestNoObservers(t *testing.T) {
	m := memory.New(nil)
	if got := observe.New(m, "test"); got != workspace.FileSystem(m) {
		t.Errorf("New without observers = %v, want the file system itself", got)
	}
}

// call is one operation, with the event that it has.
type call struct {
	do   func(ctx context.Context, fsys workspace.FileSystem) error
	want observe.Event
}

// calls are the operations of a workspace with the file "a", which has the version
// a, and the directory "dir".
func calls(a workspace.Version) []call {
	write := func(name, data string, opts *workspace.WriteOptions) func(context.Context, workspace.FileSystem) error {
		return func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.WriteFile(ctx, name, []byte(data), opts)
			return err
		}
	}
	return []call{
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.ReadFile(ctx, "a")
			return err
		}, observe.Event{Op: "read_file", Path: "a", Bytes: 3}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, _, err := workspace.ReadVersioned(ctx, fsys, "a", 0)
			return err
		}, observe.Event{Op: "read_file", Path: "a", Bytes: 3, VersionBefore: a}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.ReadFile(ctx, "none")
			return err
		}, observe.Event{Op: "read_file", Path: "none", Code: "FILE_NOT_FOUND"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			stream, _, err := workspace.Open(ctx, fsys, "a", &workspace.OpenOptions{Offset: 1})
			if err != nil {
				return err
			}
			_, err = io.ReadAll(stream)
			return errors.Join(err, stream.Close(), stream.Close())
		}, observe.Event{Op: "open", Path: "a", Bytes: 2, VersionBefore: a}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, _, err := workspace.Open(ctx, fsys, "dir", nil)
			return err
		}, observe.Event{Op: "open", Path: "dir", Code: "IS_A_DIRECTORY"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.Ls(ctx, "dir", nil)
			return err
		}, observe.Event{Op: "ls", Path: "dir"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.Glob(ctx, "*", nil)
			return err
		}, observe.Event{Op: "glob", Path: "."}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.Grep(ctx, "secret", &workspace.GrepOptions{Path: "dir"})
			return err
		}, observe.Event{Op: "grep", Path: "dir"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.Stat(ctx, "../a")
			return err
		}, observe.Event{Op: "stat", Path: "../a", Code: "INVALID_PATH"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			return workspace.Walk(ctx, fsys, "dir", nil, func(workspace.FileInfo, error) error { return nil })
		}, observe.Event{Op: "walk", Path: "dir"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := workspace.Resolve(ctx, fsys, "a")
			return err
		}, observe.Event{Op: "resolve", Path: "a"}},
		{write("a", "new!", &workspace.WriteOptions{IfVersion: "other"}),
			observe.Event{Op: "write_file", Path: "a", Code: "VERSION_CONFLICT", VersionBefore: "other", Edit: true}},
		{write("a", "same", nil), observe.Event{Op: "write_file", Path: "a", Bytes: 4, VersionBefore: a, VersionAfter: "new"}},
		{write("b", "new", &workspace.WriteOptions{IfNotExist: true}),
			observe.Event{Op: "write_file", Path: "b", Bytes: 3, VersionAfter: "new"}},
		{create("c", true), observe.Event{Op: "create", Path: "c", Bytes: 5, VersionAfter: "new"}},
		{create("d", false), observe.Event{Op: "create", Path: "d", Code: "DISCARDED"}},
		{create("dir", true), observe.Event{Op: "create", Path: "dir", Code: "IS_A_DIRECTORY"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error { return fsys.Mkdir(ctx, "dir/sub", nil) },
			observe.Event{Op: "mkdir", Path: "dir/sub"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := workspace.Copy(ctx, fsys, "a", "e")
			return err
		}, observe.Event{Op: "copy", Path: "a", To: "e", VersionAfter: "new"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error { return workspace.Move(ctx, fsys, "a", "f") },
			observe.Event{Op: "move", Path: "a", To: "f", VersionBefore: "old"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error { return fsys.Rm(ctx, "f", nil) },
			observe.Event{Op: "rm", Path: "f", VersionBefore: "old"}},
		{func(ctx context.Context, fsys workspace.FileSystem) error {
			ctx, cancel := context.WithCancel(ctx)
			events, err := fsys.Watch(ctx, "dir", nil)
			cancel()
			if err != nil {
				return err // and there is no channel
			}
			for range events {
			}
			return nil
		}, observe.Event{Op: "watch", Path: "dir"}},
	}
}

// create writes five bytes to a new file, and commits them or not.
func create(name string, commit bool) func(context.Context, workspace.FileSystem) error {
	return func(ctx context.Context, fsys workspace.FileSystem) error {
		w, err := workspace.Create(ctx, fsys, name, nil)
		if err != nil {
			return err
		}
		_, err = w.Write([]byte("12345"))
		if commit {
			_, commitErr := w.Commit()
			err = errors.Join(err, commitErr)
			if _, again := w.Commit(); !errors.Is(again, fs.ErrClosed) {
				err = errors.Join(err, errors.New("a second Commit is not refused"))
			}
		}
		return errors.Join(err, w.Close(), w.Close())
	}
}

// TestEvents calls each operation, and compares its event. A version after a change
// is only known to be there.
func TestEvents(t *testing.T) {
	store, observer := memory.New(nil), &recorder{}
	a, err := store.WriteFile(t.Context(), "a", []byte("old"), nil)
	if err := errors.Join(err, store.Mkdir(t.Context(), "dir", nil)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 1)
	fsys := observe.New(store, "repo", observer, observe.Func(func(context.Context, observe.Event) { ended <- struct{}{} }))
	s := tools.NewSession()
	ctx := tools.WithSession(t.Context(), s)
	for _, c := range calls(a) {
		err := c.do(ctx, fsys)
		<-ended
		events := observer.take()
		if len(events) != 1 {
			t.Errorf("%s %s: %d events, want 1: %v", c.want.Op, c.want.Path, len(events), events)
			continue
		}
		got := events[0]
		if got.Err != nil && got.Code != "DISCARDED" && !errors.Is(err, got.Err) {
			t.Errorf("%s %s: the event has the error %v, the caller %v", got.Op, got.Path, got.Err, err)
		}
		if time.Since(got.Time) > time.Minute || got.Duration <= 0 {
			t.Errorf("%s %s: time %v, duration %v", got.Op, got.Path, got.Time, got.Duration)
		}
		for _, version := range []struct{ got, want *workspace.Version }{
			{&got.VersionBefore, &c.want.VersionBefore}, {&got.VersionAfter, &c.want.VersionAfter},
		} {
			if *version.got != "" && (*version.want == "new" || *version.want == "old") {
				*version.want = *version.got
			}
		}
		c.want.Session, c.want.Workspace, c.want.Decision = s.ID(), "repo", observe.Allowed
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(observe.Event{}, "Time", "Duration", "Err")); diff != "" {
			t.Errorf("the event of %s %s (-want +got):\n%s", c.want.Op, c.want.Path, diff)
		}
		if changes := strings.Contains("write_file create mkdir rm move copy", got.Op); got.Changes() != changes {
			t.Errorf("Changes of a %s = %v, want %v", got.Op, got.Changes(), changes)
		}
	}
}

// TestSymlink tests that a write through a symlink has the version of the file that it
// replaces. A move and a removal are of the symlink itself, which has no version.
func TestSymlink(t *testing.T) {
	local := openLocal(t)
	version, err := local.WriteFile(t.Context(), "file", []byte("old"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "file", "dangling": "none"} {
		if err := os.Symlink(target, filepath.Join(local.Root(), name)); err != nil {
			t.Skipf("this computer makes no symlinks here: %v", err)
		}
	}
	observer := &recorder{}
	fsys := observe.New(local, "test", observer)
	before := func(name string, want workspace.Version, err error) {
		t.Helper()
		if events := observer.take(); err != nil || len(events) != 1 || events[0].VersionBefore != want {
			t.Errorf("the change of %q = %v, with the events %+v, want the version %q before it", name, err, events, want)
		}
	}
	next, err := fsys.WriteFile(t.Context(), "link", []byte("new"), nil)
	before("link", version, err)
	w, err := workspace.Create(t.Context(), fsys, "link", nil)
	if err == nil {
		_, err = w.Commit()
	}
	before("link", next, err)
	_, err = fsys.WriteFile(t.Context(), "dangling", []byte("new"), nil)
	before("dangling", "", err)
	before("link", "", workspace.Move(t.Context(), fsys, "link", "moved"))
	before("moved", "", fsys.Rm(t.Context(), "moved", nil))
}

// TestRefusal tests that an operation that an observer refuses is not carried out,
// and that all observers learn of the refusal.
func TestRefusal(t *testing.T) {
	for _, refusal := range []struct {
		err, kind error
		rule      string
	}{
		{errors.New("not today"), workspace.ErrPolicy, ""},
		{workspace.ErrPolicy, workspace.ErrPolicy, ""},
		{ruled{}, workspace.ErrPolicy, "fs.rules[2]"},
		{workspace.ErrUnavailable, workspace.ErrUnavailable, ""},
		{fs.ErrPermission, fs.ErrPermission, ""},
	} {
		store := memory.New(nil)
		version, err := store.WriteFile(t.Context(), "a", []byte("old"), nil)
		if err := errors.Join(err, store.Mkdir(t.Context(), "dir", nil)); err != nil {
			t.Fatal(err)
		}
		first, last := &recorder{}, &recorder{}
		fsys := observe.New(store, "test", first, &recorder{refuse: func(e observe.Event) error {
			if e.Edit || e.VersionBefore != "" {
				t.Errorf("before %s %s the event has what is for After: %+v", e.Op, e.Path, e)
			}
			return refusal.err
		}}, last)
		for _, c := range calls(version) {
			err := c.do(t.Context(), fsys)
			var pathError *fs.PathError
			if !errors.Is(err, refusal.kind) || !errors.As(err, &pathError) || pathError.Op != c.want.Op || pathError.Path != c.want.Path {
				t.Errorf("%s %s = %v, want a PathError of the kind %v", c.want.Op, c.want.Path, err, refusal.kind)
			}
			for _, observer := range []*recorder{first, last} {
				if events := observer.take(); len(events) != 1 || events[0].Decision != observe.Denied || events[0].Rule != refusal.rule || !errors.Is(err, events[0].Err) || events[0].Edit != c.want.Edit {
					t.Errorf("%s %s: the events of the refusal are %+v", c.want.Op, c.want.Path, events)
				}
			}
		}
		var names []string
		err = workspace.Walk(t.Context(), store, ".", nil, func(info workspace.FileInfo, err error) error {
			names = append(names, info.Path+" "+string(info.Version))
			return err
		})
		if want := []string{"a " + string(version), "dir "}; err != nil || !reflect.DeepEqual(names, want) {
			t.Errorf("after refused operations there is %q, %v, want %q", names, err, want)
		}
	}
}

// ruled is a denial that names its rule.
type ruled struct{}

func (ruled) Error() string        { return "forbidden" }
func (ruled) Is(target error) bool { return target == workspace.ErrPolicy }
func (ruled) Rule() string         { return "fs.rules[2]" }

// TestDenials tests the decision and the rule of what a policy refuses.
func TestDenials(t *testing.T) {
	observer := &recorder{}
	fsys := observe.New(policy.ReadOnly(memory.New(nil)), "test", observer)
	if err := fsys.Mkdir(t.Context(), "a", nil); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Mkdir = %v", err)
	}
	if events := observer.take(); len(events) != 1 || events[0].Decision != observe.Denied || events[0].Code != "POLICY_DENIED" {
		t.Errorf("the events of a denial are %+v", events)
	}
	fsys = observe.New(memory.New(nil), "test", &recorder{refuse: func(observe.Event) error { return ruled{} }}, observer)
	if _, err := fsys.ReadFile(t.Context(), "a"); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("ReadFile = %v", err)
	}
	if events := observer.take(); len(events) != 1 || events[0].Rule != "fs.rules[2]" {
		t.Errorf("the events of a denial by a rule are %+v", events)
	}
}

// TestAsksNothing tests that an observer that wants versions makes no questions.
func TestAsksNothing(t *testing.T) {
	store := memory.New(nil)
	for _, name := range []string{"a", "b"} {
		if _, err := store.WriteFile(t.Context(), name, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	ruled, err := policy.Restrict(store, policy.Rules{FirstMatch: []policy.Rule{{Ask: []policy.Op{policy.OpList}, Paths: []string{"**"}}}})
	if err != nil {
		t.Fatal(err)
	}
	approver := policy.NewApprover(func(_ context.Context, r policy.Request) (policy.Answer, error) {
		t.Errorf("somebody is asked: %s", r.Text())
		return policy.Answer{}, nil
	}, nil)
	fsys, ctx := observe.New(ruled, "test", &recorder{}), policy.WithApprover(t.Context(), approver)
	if _, err := fsys.WriteFile(ctx, "a", nil, nil); err != nil {
		t.Errorf("WriteFile = %v", err)
	}
	if err := workspace.Move(ctx, fsys, "a", "c"); err != nil {
		t.Errorf("Move = %v", err)
	}
	if err := fsys.Rm(ctx, "b", nil); err != nil {
		t.Errorf("Rm = %v", err)
	}
}

// TestNobodyGetsPast looks for the file system below in every way in which a caller
// could get it.
func TestNobodyGetsPast(t *testing.T) {
	store := openLocal(t)
	fsys := observe.New(store, "test", &recorder{})
	if _, ok := fsys.(fallback.Unwrapper); ok {
		t.Error("the wrapper can be unwrapped")
	}
	if _, ok := workspace.As[*localbash.FS](fsys); ok {
		t.Error("As finds the provider")
	}
	observer := &recorder{}
	exact, err := workspace.Exact(observe.New(store, "test", observer))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exact.WriteFile(t.Context(), "a", nil, nil); err != nil || len(observer.take()) != 1 {
		t.Errorf("a write in the exact view is not observed: %v", err)
	}
	restricted, err := policy.Restrict(observe.New(store, "test", observer), policy.Rules{DeniedPaths: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := restricted.Grep(t.Context(), ".", nil); err != nil || len(observer.take()) != 1 {
		t.Errorf("a grep with denied names is not observed as one: %v", err)
	}
	ws := workspace.New("test", observe.New(store, "test", observer), nil)
	if _, err := fs.ReadFile(ws.FS(t.Context()), "a"); err != nil || len(observer.take()) != 1 {
		t.Errorf("a read through io/fs is not observed: %v", err)
	}
}

// spanKey is the key of a value that an observer puts into a context.
type spanKey struct{}

// spans is an observer that puts a value into the context.
type spans struct{ *recorder }

func (spans) Before(ctx context.Context, e observe.Event) (context.Context, error) {
	return context.WithValue(ctx, spanKey{}, e.Op), nil
}

// asked is a file system that says what its context has.
type asked struct {
	workspace.FileSystem
	got any
}

func (a *asked) ReadFile(ctx context.Context, _ string) ([]byte, error) {
	a.got = ctx.Value(spanKey{})
	return nil, nil
}

// TestContext tests that an operation has the context of its observers.
func TestContext(t *testing.T) {
	below := &asked{}
	if _, err := observe.New(below, "test", spans{&recorder{}}).ReadFile(t.Context(), "a"); err != nil || below.got != "read_file" {
		t.Errorf("the operation has the value %v of an observer, %v", below.got, err)
	}
}

// TestSlog compares what is logged at each level.
func TestSlog(t *testing.T) {
	store := memory.New(nil)
	if _, err := store.WriteFile(t.Context(), "a", []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	for level, want := range map[slog.Level]string{
		slog.LevelDebug: `level=DEBUG msg="workspace operation" op=read_file path=a workspace=repo decision=allowed bytes=3
level=INFO msg="workspace operation" op=mkdir path=d workspace=repo decision=allowed
level=INFO msg="workspace operation" op=mkdir path=d workspace=repo code=FILE_ALREADY_EXISTS decision=allowed error="mkdir d: file already exists"
level=INFO msg="workspace operation" op=run path=. command="\"make\"" workspace=repo decision=allowed
level=WARN msg="workspace operation" op=rm path=a workspace=repo code=POLICY_DENIED decision=denied error="rm a: forbidden by policy"
`,
		slog.LevelWarn: `level=WARN msg="workspace operation" op=rm path=a workspace=repo code=POLICY_DENIED decision=denied error="rm a: forbidden by policy"
`,
	} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "duration" {
				return slog.Attr{}
			}
			return a
		}}))
		noRm := &recorder{refuse: func(e observe.Event) error {
			if e.Op == "rm" {
				return workspace.ErrPolicy
			}
			return nil
		}}
		slogger := observe.Slog(logger)
		fsys := observe.New(store, "repo", noRm, slogger)
		_, _ = fsys.ReadFile(t.Context(), "a")
		_ = fsys.Mkdir(t.Context(), "d", nil)
		_ = fsys.Mkdir(t.Context(), "d", nil)
		slogger.After(t.Context(), observe.Finished(observe.Event{Op: "run", Path: ".", Command: `"make"`, Workspace: "repo"}, nil))
		_ = fsys.Rm(t.Context(), "a", nil)
		_ = fsys.Rm(t.Context(), "d", nil)
		got, _, _ := strings.Cut(log.String(), "level=WARN msg=\"workspace operation\" op=rm path=d")
		if got != want {
			t.Errorf("at the level %v is logged:\n%s\nwant:\n%s", level, got, want)
		}
		if err := store.Rm(t.Context(), "d", nil); err != nil {
			t.Fatal(err)
		}
	}
}

// nothing is an observer that does nothing.
func nothing(context.Context, observe.Event) {}

// BenchmarkRead reads 4 KiB from memory, with as many observers as there are.
func BenchmarkRead(b *testing.B) {
	for name, observers := range map[string][]observe.Observer{
		"bare": nil, "one": {observe.Func(nothing)}, "three": {observe.Func(nothing), observe.Func(nothing), observe.Func(nothing)},
	} {
		b.Run(name, func(b *testing.B) {
			fsys := observe.New(memory.New(nil), "test", observers...)
			if _, err := fsys.WriteFile(b.Context(), "a", make([]byte, 4096), nil); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fsys.ReadFile(b.Context(), "a"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestWatchEndsAfterObservers tests that the channel of a watch closes when the observers
// have learned of its end, so that a program which waits for that can exit.
func TestWatchEndsAfterObservers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		fsys := observe.New(memory.New(nil), "repo", observe.Func(func(context.Context, observe.Event) { <-release }))
		ctx, cancel := context.WithCancel(t.Context())
		events, err := fsys.Watch(ctx, ".", nil)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait()
		select {
		case event, open := <-events:
			t.Errorf("the channel of the watch has %v (open: %t) before the observer has returned", event, open)
		default:
		}
		close(release)
		for range events {
		}
	})
}
