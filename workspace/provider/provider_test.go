package provider_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// failing is a store whose methods all return err.
type failing struct{ err error }

func (s failing) ReadFile(context.Context, string, int64) ([]byte, workspace.Version, error) {
	return nil, "", s.err
}

func (s failing) WriteFile(context.Context, string, []byte, workspace.WriteOptions) (workspace.Version, error) {
	return "", s.err
}

func (s failing) Ls(context.Context, string, workspace.LsOptions) ([]workspace.FileInfo, error) {
	return nil, s.err
}

func (s failing) Stat(context.Context, string) (workspace.FileInfo, error) {
	return workspace.FileInfo{}, s.err
}

func (s failing) Rm(context.Context, string, workspace.RmOptions) error       { return s.err }
func (s failing) Mkdir(context.Context, string, workspace.MkdirOptions) error { return s.err }
func (s failing) Move(context.Context, string, string) error                  { return s.err }
func (s failing) Close() error                                                { return s.err }

func (s failing) Copy(context.Context, string, string) (workspace.Version, error) { return "", s.err }
func (s failing) Resolve(context.Context, string) (string, error)                 { return "", s.err }

func (s failing) Glob(context.Context, string, workspace.GlobOptions) ([]string, error) {
	return nil, s.err
}

func (s failing) Grep(context.Context, string, workspace.GrepOptions) (*workspace.GrepResult, error) {
	return nil, s.err
}

func (s failing) Watch(context.Context, string, workspace.WatchOptions) (<-chan workspace.Event, error) {
	return nil, s.err
}

func (s failing) Open(context.Context, string, workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	return nil, workspace.FileInfo{}, s.err
}

func (s failing) Create(context.Context, string, workspace.WriteOptions) (workspace.Writer, error) {
	return nil, s.err
}

func (s failing) Run(context.Context, workspace.RunOptions) (*workspace.RunResult, error) {
	return nil, s.err
}

func (s failing) Walk(context.Context, string, workspace.WalkOptions, workspace.WalkFunc) error {
	return s.err
}

// everything declares all capabilities.
var everything = workspace.Capabilities{
	Write: true, Versions: true, ConditionalWrite: true, Watch: workspace.WatchNative, Move: true, Copy: true, Run: true,
}

// calls are one call of each method, on a name "a".
var calls = map[string]func(context.Context, *provider.FS) error{
	"read_file":  func(ctx context.Context, f *provider.FS) error { _, err := f.ReadFile(ctx, "a"); return err },
	"write_file": func(ctx context.Context, f *provider.FS) error { _, err := f.WriteFile(ctx, "a", nil, nil); return err },
	"ls":         func(ctx context.Context, f *provider.FS) error { _, err := f.Ls(ctx, "a", nil); return err },
	"stat":       func(ctx context.Context, f *provider.FS) error { _, err := f.Stat(ctx, "a"); return err },
	"rm":         func(ctx context.Context, f *provider.FS) error { return f.Rm(ctx, "a", nil) },
	"mkdir":      func(ctx context.Context, f *provider.FS) error { return f.Mkdir(ctx, "a", nil) },
	"move":       func(ctx context.Context, f *provider.FS) error { return f.Move(ctx, "a", "b") },
	"copy":       func(ctx context.Context, f *provider.FS) error { _, err := f.Copy(ctx, "a", "b"); return err },
	"resolve":    func(ctx context.Context, f *provider.FS) error { _, err := f.Resolve(ctx, "a"); return err },
	"open":       func(ctx context.Context, f *provider.FS) error { _, _, err := f.Open(ctx, "a", nil); return err },
	"create":     func(ctx context.Context, f *provider.FS) error { _, err := f.Create(ctx, "a", nil); return err },
	"watch":      func(ctx context.Context, f *provider.FS) error { _, err := f.Watch(ctx, "a", nil); return err },
	"run": func(ctx context.Context, f *provider.FS) error {
		_, err := f.Run(ctx, &workspace.RunOptions{Command: []string{"true"}, Dir: "a"})
		return err
	},
	"glob": func(ctx context.Context, f *provider.FS) error {
		_, err := f.Glob(ctx, "*", &workspace.GlobOptions{Dir: "a"})
		return err
	},
	"grep": func(ctx context.Context, f *provider.FS) error {
		_, err := f.Grep(ctx, "x", &workspace.GrepOptions{Path: "a"})
		return err
	},
	"walk": func(ctx context.Context, f *provider.FS) error {
		return f.Walk(ctx, "a", nil, func(workspace.FileInfo, error) error { return nil })
	},
}

// TestErrors checks for every method that an error of the store gets the
// contract's form, that nothing of the host shows, and that it is logged. No error
// in the table stands for one with the name and the operation of the method.
func TestErrors(t *testing.T) {
	hostPath := &fs.PathError{Op: "open", Path: "/home/me/secret/a", Err: syscall.ENOTDIR}
	for name, test := range map[string]struct {
		err    error
		want   string // after the operation and the name
		kind   error
		logged bool
	}{
		"kind":                {fs.ErrNotExist, "file does not exist", fs.ErrNotExist, false},
		"errno of a path":     {hostPath, "not a directory", workspace.ErrNotDir, true},
		"errno alone":         {syscall.EIO, "temporarily unavailable: input/output error", workspace.ErrUnavailable, false},
		"no connection":       {dialError(syscall.ECONNREFUSED), "temporarily unavailable: connection refused", workspace.ErrUnavailable, true},
		"lost connection":     {dialError(syscall.ECONNRESET), "temporarily unavailable: connection reset by peer", workspace.ErrUnavailable, true},
		"closed connection":   {dialError(syscall.EPIPE), "temporarily unavailable: broken pipe", workspace.ErrUnavailable, true},
		"no route":            {dialError(syscall.EHOSTUNREACH), "temporarily unavailable: no route to host", workspace.ErrUnavailable, true},
		"no network":          {dialError(syscall.ENETUNREACH), "temporarily unavailable: network is unreachable", workspace.ErrUnavailable, true},
		"unknown host":        {dialError(&net.DNSError{Err: "no such host", Name: "secret", IsNotFound: true}), "temporarily unavailable", workspace.ErrUnavailable, true},
		"silent name server":  {dialError(&net.DNSError{Err: "i/o timeout", Name: "secret", IsTimeout: true}), "temporarily unavailable", workspace.ErrUnavailable, true},
		"request unanswered":  {&url.Error{Op: "Get", URL: "https://secret", Err: io.ErrUnexpectedEOF}, "temporarily unavailable", workspace.ErrUnavailable, true},
		"slow connection":     {dialError(os.ErrDeadlineExceeded), "temporarily unavailable", workspace.ErrUnavailable, true},
		"slow store":          {fmt.Errorf("dial secret:443: %w", context.DeadlineExceeded), "temporarily unavailable", workspace.ErrUnavailable, true},
		"errno of a link":     {&os.LinkError{Op: "rename", Old: "/home/me/secret", New: "b", Err: syscall.EROFS}, "permission denied: read-only file system", fs.ErrPermission, true},
		"errno in a join":     {errors.Join(hostPath, errors.New("/home/me/secret")), "not a directory", workspace.ErrNotDir, true},
		"own text":            {provider.Errorf(fs.ErrInvalid, "at most %d levels", 3), "invalid argument: at most 3 levels", fs.ErrInvalid, false},
		"own text, wrapped":   {fmt.Errorf("/home/me/secret: %w", provider.Errorf(fs.ErrInvalid, "no")), "invalid argument: no", fs.ErrInvalid, true},
		"text beside a kind":  {fmt.Errorf("dial secret:443: %w", workspace.ErrUnavailable), "temporarily unavailable", workspace.ErrUnavailable, true},
		"path of the host":    {&fs.PathError{Op: "open", Path: "a", Err: errors.New("dial secret:443")}, "the store failed", nil, true},
		"no kind":             {errors.New("key secret refused"), "the store failed", nil, true},
		"classified":          {provider.Classify(errors.New("key secret refused")), "the store failed", nil, true},
		"made by the store":   {nil, "the store failed", nil, true},
		"the contract's form": {ops.Error("other", "a", workspace.ErrConflict, nil), "file has changed", workspace.ErrConflict, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for op, call := range calls {
				var log bytes.Buffer
				storeErr := test.err
				if storeErr == nil {
					storeErr = &fs.PathError{Op: op, Path: "a", Err: errors.New("dial secret:443")}
				}
				fsys := provider.New(failing{storeErr}, provider.Facts{
					Capabilities: everything,
					Log:          slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				})
				err := call(t.Context(), fsys)
				var pathError *fs.PathError
				if !errors.As(err, &pathError) || err.Error() != op+" a: "+test.want {
					t.Errorf("%s = %q, want %q", op, err, op+" a: "+test.want)
				}
				if test.kind != nil && !errors.Is(err, test.kind) {
					t.Errorf("%s = %v, which is not %v", op, err, test.kind)
				}
				if got := strings.Contains(log.String(), "secret"); got != test.logged {
					t.Errorf("%s logged %q, want the text of the store: %v", op, log.String(), test.logged)
				}
			}
		})
	}
}

// dialError is the error of a connection to the store.
func dialError(err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.UnixAddr{Name: "secret", Net: "unix"}, Err: os.NewSyscallError("connect", err)}
}

// TestLateDeadline checks that a connection that takes its deadline from the context
// fails with the error of the context, also where the timer of the context is late.
func TestLateDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		fsys := provider.New(slow{failing{dialError(os.ErrDeadlineExceeded)}}, provider.Facts{})
		if _, err := fsys.Stat(lateTimer{ctx}, "a"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, workspace.ErrUnavailable) {
			t.Errorf("Stat after the deadline = %v, want DeadlineExceeded", err)
		}
	})
}

// slow is a store that takes two seconds to fail.
type slow struct{ failing }

func (s slow) Stat(context.Context, string) (workspace.FileInfo, error) {
	time.Sleep(2 * time.Second)
	return workspace.FileInfo{}, s.err
}

// lateTimer is a context whose deadline passes before it ends.
type lateTimer struct{ context.Context }

func (lateTimer) Err() error { return nil }

func TestEndedContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for op, call := range calls {
		if err := call(ended, provider.New(failing{}, provider.Facts{Capabilities: everything})); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context = %v, want Canceled", op, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	fsys := provider.New(cancelled{failing{errors.New("connection closed")}, cancel}, provider.Facts{})
	if _, err := fsys.Stat(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("Stat, cancelled while the store works = %v, want Canceled", err)
	}
}

// cancelled is a store whose caller gives up while it works.
type cancelled struct {
	failing
	cancel func()
}

func (s cancelled) Stat(context.Context, string) (workspace.FileInfo, error) {
	s.cancel()
	return workspace.FileInfo{}, s.err
}

func TestSecondName(t *testing.T) {
	fsys := provider.New(failing{provider.At("b", fs.ErrExist)}, provider.Facts{Capabilities: everything})
	if err := fsys.Move(t.Context(), "a", "b"); err == nil || err.Error() != "move b: file already exists" {
		t.Errorf("Move = %v, want an error about b", err)
	}
	if _, err := fsys.Copy(t.Context(), "a", "b"); err == nil || err.Error() != "copy b: file already exists" {
		t.Errorf("Copy = %v, want an error about b", err)
	}
	// The operating system's name for x/b, seen from x, is not the caller's b.
	fsys = provider.New(failing{&fs.PathError{Op: "lstatat", Path: "b", Err: syscall.ENOENT}}, provider.Facts{Capabilities: everything})
	if err := fsys.Move(t.Context(), "x/b", "b"); err == nil || err.Error() != "move x/b: file does not exist" {
		t.Errorf("Move = %v, want an error about x/b", err)
	}
}

func TestCheckName(t *testing.T) {
	asked := errors.New("the store was asked")
	for op, call := range calls {
		fsys := provider.New(failing{asked}, provider.Facts{Capabilities: everything, CheckName: func(name string) error {
			return provider.Errorf(fs.ErrInvalid, "%q is taken", name)
		}})
		if err := call(t.Context(), fsys); !errors.Is(err, fs.ErrInvalid) || errors.Is(err, asked) {
			t.Errorf("%s of a name that the store cannot hold = %v, want ErrInvalid", op, err)
		}
	}
}

// TestKind checks that a store can tell the kinds of errors that are not its own.
func TestKind(t *testing.T) {
	outside := errors.New("path escapes from parent")
	fsys := provider.New(failing{&fs.PathError{Op: "openat", Path: "/home/me", Err: outside}}, provider.Facts{
		Capabilities: everything,
		Kind: func(err error) error {
			if errors.Is(err, outside) {
				return workspace.ErrEscape
			}
			return nil
		},
	})
	for op, call := range calls {
		if err := call(t.Context(), fsys); !errors.Is(err, workspace.ErrEscape) || err.Error() != op+" a: name leads out of the workspace" {
			t.Errorf("%s = %v, want ErrEscape alone", op, err)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, test := range []struct {
		err  error
		kind error
		text string
	}{
		{nil, nil, ""},
		{&fs.PathError{Op: "open", Path: "/home/me/secret", Err: syscall.ENOTDIR}, workspace.ErrNotDir, "not a directory"},
		{syscall.EMFILE, workspace.ErrUnavailable, "temporarily unavailable: too many open files"},
		{hostError, fs.ErrPermission, "permission denied"},
	} {
		err := provider.Classify(test.err)
		if !errors.Is(err, test.kind) || err != nil && err.Error() != test.text {
			t.Errorf("Classify(%v) = %v, want %q", test.err, err, test.text)
		}
	}
}

// TestErrorfOfNoKind checks that a text of no kind is shown as it is.
func TestErrorfOfNoKind(t *testing.T) {
	_, err := provider.New(failing{provider.Errorf(nil, "no such image: %w", syscall.EIO)}, provider.Facts{}).Stat(t.Context(), "a")
	if err == nil || err.Error() != "stat a: no such image: input/output error" || !errors.Is(err, syscall.EIO) {
		t.Errorf("Stat = %v, want the text of the store", err)
	}
}

// contentReading is a store that reads files without their versions.
type contentReading struct{ failing }

func (c contentReading) ReadContent(_ context.Context, name string) ([]byte, error) {
	return []byte(name), c.err
}

func TestContentReader(t *testing.T) {
	fsys := provider.New(contentReading{}, provider.Facts{Capabilities: everything})
	if data, err := fsys.ReadFile(t.Context(), "a"); string(data) != "a" || err != nil {
		t.Errorf("ReadFile = %q, %v, want what ReadContent returns", data, err)
	}
	if _, err := fsys.ReadFile(t.Context(), "../a"); !errors.Is(err, workspace.ErrEscape) {
		t.Errorf("ReadFile of a name that leads out = %v, want ErrEscape", err)
	}
	fsys = provider.New(contentReading{failing{hostError}}, provider.Facts{})
	if _, err := fsys.ReadFile(t.Context(), "a"); err == nil || err.Error() != "read_file a: permission denied" {
		t.Errorf("ReadFile = %v, want the error without its path", err)
	}
}

// TestNoProof checks that a success without a version, or a result, is none.
func TestNoProof(t *testing.T) {
	fsys := provider.New(failing{}, provider.Facts{Capabilities: everything})
	for _, op := range []string{"read_file", "write_file", "copy", "grep"} {
		if err := calls[op](t.Context(), fsys); err == nil {
			t.Errorf("%s of a store that returns nothing = nil, want an error", op)
		}
	}
	if infos, err := fsys.Ls(t.Context(), ".", nil); err != nil || infos == nil {
		t.Errorf("Ls = %v, %v, want an empty list", infos, err)
	}
	if paths, err := fsys.Glob(t.Context(), "*", nil); err != nil || paths == nil {
		t.Errorf("Glob = %v, %v, want an empty list", paths, err)
	}
}

// noCopier is a store whose Copier fails.
type noCopier struct{ provider.Store }

func (noCopier) Copy(context.Context, string, string) (workspace.Version, error) {
	return "", errors.New("the Copier was asked")
}

// TestCopierKnows checks that a store with a Copier is believed about Copy, and
// that what it does not declare goes through the caller.
func TestCopierKnows(t *testing.T) {
	conditional := provider.Facts{Capabilities: workspace.Capabilities{Write: true, ConditionalWrite: true}}
	copier := provider.New(noCopier{&store{entries: map[string]entry{".": directory(".")}}}, conditional)
	if copier.Capabilities().Copy {
		t.Error("Copy is declared for a Copier that does not declare it")
	}
	if _, err := copier.WriteFile(t.Context(), "a", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := copier.Copy(t.Context(), "a", "b"); err != nil {
		t.Errorf("Copy = %v, want a copy through the caller", err)
	}
	if data, err := copier.ReadFile(t.Context(), "b"); err != nil || string(data) != "x" {
		t.Errorf("ReadFile(b) = %q, %v, want %q", data, err, "x")
	}
	if !provider.New(struct{ provider.Store }{failing{}}, conditional).Capabilities().Copy {
		t.Error("Copy is not declared where the caller can copy")
	}
	readOnly := provider.Facts{Capabilities: workspace.Capabilities{Versions: true, ConditionalWrite: true}}
	if provider.New(struct{ provider.Store }{failing{}}, readOnly).Capabilities().Copy {
		t.Error("Copy is declared without Write")
	}
}

// TestWatchWithoutWatcher declares a native watch for a store that reports nothing: FS polls.
func TestWatchWithoutWatcher(t *testing.T) {
	native := provider.Facts{Capabilities: workspace.Capabilities{Watch: workspace.WatchNative}}
	if mode := provider.New(struct{ provider.Store }{failing{}}, native).Capabilities().Watch; mode != workspace.WatchPolled {
		t.Errorf("Capabilities().Watch without a Watcher = %q, want %q", mode, workspace.WatchPolled)
	}
	if mode := provider.New(failing{}, native).Capabilities().Watch; mode != workspace.WatchNative {
		t.Errorf("Capabilities().Watch with a Watcher = %q, want %q", mode, workspace.WatchNative)
	}
}

// TestDeclaredWithoutMethods declares what only methods of the store can do, of a store without
// them.
func TestDeclaredWithoutMethods(t *testing.T) {
	facts := provider.Facts{Capabilities: workspace.Capabilities{Write: true, Move: true, Copy: true, Run: true}}
	got := provider.New(struct{ provider.Store }{failing{}}, facts).Capabilities()
	if want := (workspace.Capabilities{Write: true}); got != want {
		t.Errorf("Capabilities() without Mover, Copier and Runner = %+v, want %+v", got, want)
	}
}

// TestNotDeclared checks that what a store does not declare is not asked of it.
func TestNotDeclared(t *testing.T) {
	asked := errors.New("the store was asked")
	fsys := provider.New(failing{asked}, provider.Facts{})
	for op, want := range map[string]error{
		"write_file": fs.ErrPermission, "create": fs.ErrPermission, "rm": fs.ErrPermission, "mkdir": fs.ErrPermission,
		"move": errors.ErrUnsupported, "copy": errors.ErrUnsupported, "watch": errors.ErrUnsupported,
	} {
		if err := calls[op](t.Context(), fsys); !errors.Is(err, want) || errors.Is(err, asked) {
			t.Errorf("%s = %v, want %v", op, err, want)
		}
	}
	fsys = provider.New(failing{asked}, provider.Facts{Capabilities: workspace.Capabilities{Write: true}})
	_, err := fsys.WriteFile(t.Context(), "a", nil, &workspace.WriteOptions{IfNotExist: true})
	if !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, asked) {
		t.Errorf("WriteFile with a condition = %v, want ErrUnsupported", err)
	}
}

// giving is a store that gives each file a version.
type giving struct{ still }

var given = workspace.FileInfo{Name: "a", Path: "a", Type: workspace.TypeFile, Version: "1"}

func (giving) Stat(context.Context, string) (workspace.FileInfo, error) { return given, nil }

func (giving) Ls(context.Context, string, workspace.LsOptions) ([]workspace.FileInfo, error) {
	return []workspace.FileInfo{given}, nil
}

func (giving) Walk(_ context.Context, _ string, _ workspace.WalkOptions, fn workspace.WalkFunc) error {
	return fn(given, nil)
}

func (giving) Open(context.Context, string, workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	return io.NopCloser(strings.NewReader("")), given, nil
}

func (giving) Create(context.Context, string, workspace.WriteOptions) (workspace.Writer, error) {
	return &sink{}, nil
}

// TestVersionsNotDeclared checks that callers see no version of a store that declares
// none, and every one of a store that does.
func TestVersionsNotDeclared(t *testing.T) {
	t.Parallel()
	for want, declared := range map[workspace.Version]bool{"": false, "1": true} {
		caps := everything
		caps.Versions = declared
		fsys := provider.New(giving{}, provider.Facts{Capabilities: caps})
		for method, version := range versionsOf(t, fsys) {
			if version != want {
				t.Errorf("%s, with Versions declared: %t, gives the version %q, want %q", method, declared, version, want)
			}
		}
	}
}

// versionsOf returns the version of a that each method gives.
func versionsOf(t *testing.T, fsys *provider.FS) map[string]workspace.Version {
	ctx, found := t.Context(), map[string]workspace.Version{}
	note := func(method string, version workspace.Version, err error) {
		if err != nil {
			t.Errorf("%s = %v, want nil", method, err)
		}
		found[method] = version
	}
	_, version, err := fsys.ReadVersioned(ctx, "a", 0)
	note("ReadVersioned", version, err)
	version, err = fsys.WriteFile(ctx, "a", nil, nil)
	note("WriteFile", version, err)
	version, err = fsys.Copy(ctx, "a", "b")
	note("Copy", version, err)
	info, err := fsys.Stat(ctx, "a")
	note("Stat", info.Version, err)
	infos, err := fsys.Ls(ctx, ".", nil)
	note("Ls", infos[0].Version, err)
	_, info, err = fsys.Open(ctx, "a", nil)
	note("Open", info.Version, err)
	err = fsys.Walk(ctx, ".", nil, func(entry workspace.FileInfo, err error) error {
		info = entry
		return err
	})
	note("Walk", info.Version, err)
	w, err := fsys.Create(ctx, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	version, err = w.Commit()
	note("Commit", version, err)
	return found
}

// TestReadOnly checks that a store without Write is not asked to change anything, whatever
// else it declares.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	declared := everything
	declared.Write = false
	fsys := provider.New(failing{errors.New("the store was asked")}, provider.Facts{Capabilities: declared})
	for _, op := range []string{"write_file", "create", "rm", "mkdir", "move", "copy"} {
		if err := calls[op](t.Context(), fsys); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s of a store without Write = %v, want %v", op, err, fs.ErrPermission)
		}
	}
}

func TestClose(t *testing.T) {
	fsys := provider.New(failing{hostError}, provider.Facts{Capabilities: everything})
	if err := fsys.Close(); err == nil || err.Error() != "close .: permission denied" {
		t.Errorf("Close = %v, want the store's error without its path", err)
	}
	if err := fsys.Close(); err != nil {
		t.Errorf("the second Close = %v, want nil", err)
	}
	for op, call := range calls {
		if err := call(t.Context(), fsys); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after Close = %v, want ErrClosed", op, err)
		}
	}
}

// TestCloseWriter checks that a stream ends with the FS, also one that the store has no
// Creator for.
func TestCloseWriter(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]provider.Store{"a Creator": streaming{}, "no Creator": struct{ provider.Store }{failing{}}} {
		fsys := provider.New(s, provider.Facts{Capabilities: everything})
		w, err := fsys.Create(t.Context(), "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		fsys.Close()
		if _, err := w.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Write after Close of a store with %s = %v, want ErrClosed", name, err)
		}
		if _, err := w.Commit(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Commit after Close of a store with %s = %v, want ErrClosed", name, err)
		}
	}
}

// ownExact is a store that is its own exact view.
type ownExact struct {
	failing
	closed *int
}

func (s ownExact) Exact() (provider.Store, error) { return ownExact{closed: new(int)}, nil }

func (s ownExact) Close() error {
	*s.closed++
	return nil
}

// TestCloseView closes a view, and with it the whole store.
func TestCloseView(t *testing.T) {
	closed := 0
	fsys := provider.New(ownExact{closed: &closed}, provider.Facts{})
	view, err := fsys.Exact()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(view.(io.Closer).Close(), fsys.Close()); err != nil || closed != 1 {
		t.Errorf("Close of a view = %v and closes the store %d times, want once", err, closed)
	}
}

func TestExact(t *testing.T) {
	if _, err := provider.New(failing{}, provider.Facts{}).Exact(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Exact of a store that resolves symlinks = %v, want ErrUnsupported", err)
	}
	fsys := New()
	if exact, err := fsys.Exact(); exact != workspace.FileSystem(fsys) || err != nil {
		t.Errorf("Exact of a store without symlinks = %v, %v, want the file system itself", exact, err)
	}
}

var hostError = &fs.PathError{Op: "close", Path: "/home/me/secret", Err: syscall.EACCES}

// streaming is a store whose streams fail after some bytes.
type streaming struct {
	failing
	write, end error
}

func (s streaming) Open(context.Context, string, workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader("abc"), broken{s.end})), workspace.FileInfo{}, nil
}

func (s streaming) Create(context.Context, string, workspace.WriteOptions) (workspace.Writer, error) {
	return &sink{write: s.write, end: s.end}, nil
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

type sink struct {
	write  error // of the first Write
	end    error
	closed int
}

func (s *sink) Write(p []byte) (int, error) {
	end := s.write
	s.write = nil
	return len(p), cmp.Or(end, s.end)
}

func (s *sink) Commit() (workspace.Version, error) { return "1", s.end }
func (s *sink) Close() error                       { s.closed++; return nil }

func TestStream(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, _, err := provider.New(streaming{end: hostError}, provider.Facts{}).Open(ctx, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if string(data) != "abc" || err == nil || err.Error() != "open a: permission denied" {
		t.Errorf("ReadAll = %q, %v, want the bytes and the error without its path", data, err)
	}
	cancel()
	if _, err := r.Read(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Read after the end of the context = %v, want Canceled", err)
	}
}

// TestStreamClosed reads from a stream that is closed, before the Read and while it waits.
func TestStreamClosed(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		store := &closing{began: make(chan struct{}), closed: make(chan struct{})}
		r, _, err := provider.New(store, provider.Facts{}).Open(t.Context(), "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan error, 1)
		if waits {
			go func() {
				_, err := r.Read(make([]byte, 1))
				read <- err
			}()
			<-store.began
		}
		for range 2 {
			if err := r.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
		}
		if !waits {
			_, err := r.Read(make([]byte, 1))
			read <- err
		}
		if err := <-read; !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Read after Close = %v, want ErrClosed", err)
		}
	}
}

// closing is a store with a stream that waits until it is closed, once.
type closing struct {
	failing
	began, closed chan struct{}
}

func (s *closing) Open(context.Context, string, workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	return s, workspace.FileInfo{}, nil
}

func (s *closing) Read([]byte) (int, error) {
	close(s.began)
	<-s.closed
	return 0, io.ErrUnexpectedEOF
}

func (s *closing) Close() error {
	close(s.closed)
	return nil
}

func TestWriter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	create := func(end error) workspace.Writer {
		w, err := provider.New(streaming{end: end}, provider.Facts{Capabilities: everything}).Create(ctx, "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := create(nil)
	if _, err := w.Write([]byte("x")); err != nil {
		t.Errorf("Write = %v", err)
	}
	if version, err := w.Commit(); version != "1" || err != nil {
		t.Errorf("Commit = %q, %v, want 1", version, err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write after Commit = %v, want ErrClosed", err)
	}
	if _, err := w.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("the second Commit = %v, want ErrClosed", err)
	}
	failed := create(hostError)
	if _, err := failed.Commit(); err == nil || err.Error() != "create a: permission denied" {
		t.Errorf("Commit = %v, want the error without its path", err)
	}
	partial, err := provider.New(streaming{write: hostError}, provider.Facts{Capabilities: everything}).Create(ctx, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := partial.Write([]byte("x")); err == nil || err.Error() != "create a: permission denied" {
			t.Errorf("Write = %v, want the first error without its path", err)
		}
	}
	if _, err := partial.Commit(); err == nil || err.Error() != "create a: permission denied" {
		t.Errorf("Commit after a Write that failed = %v, want its error", err)
	}
	open := create(nil)
	cancel()
	if _, err := open.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit after the end of the context = %v, want Canceled", err)
	}
}

// TestWalkFuncError checks that what a WalkFunc returns comes back as it is.
func TestWalkFuncError(t *testing.T) {
	own := &fs.PathError{Op: "mine", Path: "elsewhere", Err: fs.ErrInvalid}
	err := provider.New(walking{}, provider.Facts{}).Walk(t.Context(), ".", nil, func(workspace.FileInfo, error) error { return own })
	if err != own {
		t.Errorf("Walk = %v, want what the WalkFunc returned", err)
	}
}

type walking struct{ failing }

func (walking) Walk(_ context.Context, _ string, _ workspace.WalkOptions, fn workspace.WalkFunc) error {
	return fn(workspace.FileInfo{Name: "a", Path: "a"}, nil)
}

// still is a store that answers at once.
type still struct{ failing }

func (still) ReadFile(context.Context, string, int64) ([]byte, workspace.Version, error) {
	return nil, "1", nil
}

func (still) WriteFile(context.Context, string, []byte, workspace.WriteOptions) (workspace.Version, error) {
	return "1", nil
}

var listed = []workspace.FileInfo{{Name: "a"}}

func (still) Ls(context.Context, string, workspace.LsOptions) ([]workspace.FileInfo, error) {
	return listed, nil
}

func (still) Copy(context.Context, string, string) (workspace.Version, error) { return "1", nil }

func (still) Glob(context.Context, string, workspace.GlobOptions) ([]string, error) {
	return []string{}, nil
}

// unaltered are the methods on whose success the layer allocates nothing: those
// without a stream or a function of the caller's.
var unaltered = []string{"read_file", "write_file", "ls", "stat", "rm", "mkdir", "move", "copy", "glob", "resolve", "watch"}

func TestLayerAllocatesNothing(t *testing.T) {
	fsys := provider.New(still{}, provider.Facts{Capabilities: everything})
	ctx := t.Context()
	for _, op := range unaltered {
		if n := testing.AllocsPerRun(100, func() { must(calls[op](ctx, fsys)) }); n > 0 {
			t.Errorf("%s allocates %v times, want none", op, n)
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// BenchmarkLayer measures what the layer adds to a store that answers at once.
func BenchmarkLayer(b *testing.B) {
	fsys := provider.New(still{}, provider.Facts{Capabilities: everything})
	ctx := b.Context()
	for _, op := range unaltered {
		b.Run(op, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(calls[op](ctx, fsys))
			}
		})
	}
}

// flat is a store of one directory with many files, which counts its listings.
type flat struct {
	provider.Store
	files, lists int
}

func (s *flat) GlobSource(string, workspace.GlobOptions) scan.Source { return s.source() }

func (s *flat) GrepSource(string, workspace.GrepOptions, scan.Hidden) (scan.Source, int) {
	return s.source(), 0
}

func (s *flat) source() scan.Source { return flatSource{store: s} }

type flatSource struct {
	scan.Source
	store *flat
}

func (s flatSource) List(context.Context, string, bool) ([]scan.Child, error) {
	s.store.lists++
	children := make([]scan.Child, s.store.files)
	for i := range children {
		children[i] = scan.Child{Name: fmt.Sprintf("%06d", i), Type: workspace.TypeFile}
	}
	return children, nil
}

// TestTypesOnlyListsOnce tests that the pages of a walk do not list a directory again.
func TestTypesOnlyListsOnce(t *testing.T) {
	s := &flat{files: 12345}
	var found []string
	err := provider.New(s, provider.Facts{}).Walk(t.Context(), ".", &workspace.WalkOptions{TypesOnly: true}, func(info workspace.FileInfo, err error) error {
		found = append(found, info.Path)
		return err
	})
	if err != nil || len(found) != s.files || !slices.IsSorted(found) || s.lists != 1 {
		t.Errorf("Walk = %v with %d of %d files, in order: %t, after %d listings, want one", err, len(found), s.files, slices.IsSorted(found), s.lists)
	}
}

// TestEvents proves that a reader who is late gets an overflow, and that the channel closes.
func TestEvents(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	events := provider.NewEvents(ctx, "dir", workspace.WatchOptions{Buffer: 1})
	for _, name := range []string{"dir/a", "dir/b", "dir/c", "dir/d"} {
		events.Push(workspace.Event{Op: workspace.EventCreate, Path: name})
	}
	overflow := workspace.Event{Op: workspace.EventOverflow, Path: "dir"}
	for event := range events.Channel() {
		if event == overflow {
			events.Overflow()
			break
		}
	}
	if got := <-events.Channel(); got != overflow {
		t.Errorf("after Overflow came %v, want %v", got, overflow)
	}
	cancel()
	for range events.Channel() {
	}
}
