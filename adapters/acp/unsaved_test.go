package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/adapters/acp"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// buffers is an editor with open files, which records what it is asked.
type buffers struct {
	fsys  workspace.FileSystem
	keeps bool          // what is written stays in the editor and is not saved
	fails error         // of every request
	hangs bool          // every request waits for the end of its context
	done  chan struct{} // closed when it has disconnected

	mu    sync.Mutex
	open  map[string]string // guarded by mu; text that is not saved, by path
	asked []string          // guarded by mu
}

func newBuffers(fsys workspace.FileSystem, open map[string]string) *buffers {
	if open == nil {
		open = map[string]string{}
	}
	return &buffers{fsys: fsys, open: open, done: make(chan struct{})}
}

func (b *buffers) Done() <-chan struct{} { return b.done }

// begin records a request and returns its name in the workspace.
func (b *buffers) begin(ctx context.Context, what, path string) (string, error) {
	b.mu.Lock()
	name, ok := strings.CutPrefix(path, "/work/")
	b.asked = append(b.asked, what+" "+name)
	b.mu.Unlock()
	switch {
	case !ok:
		return "", fmt.Errorf("%s is outside", path)
	case b.hangs:
		<-ctx.Done()
		return "", ctx.Err()
	}
	return name, b.fails
}

func (b *buffers) ReadTextFile(ctx context.Context, req sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	name, err := b.begin(ctx, "read", req.Path)
	if err != nil {
		return sdk.ReadTextFileResponse{}, err
	}
	b.mu.Lock()
	text, ok := b.open[name]
	b.mu.Unlock()
	if ok {
		return sdk.ReadTextFileResponse{Content: text}, nil
	}
	data, err := b.fsys.ReadFile(ctx, name)
	if err != nil {
		return sdk.ReadTextFileResponse{}, &sdk.RequestError{Code: -32002, Message: "no file /host/" + name}
	}
	return sdk.ReadTextFileResponse{Content: string(data)}, nil
}

func (b *buffers) WriteTextFile(ctx context.Context, req sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	name, err := b.begin(ctx, "write", req.Path)
	if err != nil {
		return sdk.WriteTextFileResponse{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keeps {
		b.open[name] = req.Content
		return sdk.WriteTextFileResponse{}, nil
	}
	delete(b.open, name)
	_, err = b.fsys.WriteFile(ctx, name, []byte(req.Content), nil)
	return sdk.WriteTextFileResponse{}, err
}

// take returns what was asked since the last call.
func (b *buffers) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.asked
	b.asked = nil
	return asked
}

var atWorkRoot = &acp.FSOptions{Root: "/work"}

// TestAgentSeesUnsaved is a script of reads, searches and writes of an agent while
// the user types.
func TestAgentSeesUnsaved(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{false, true} {
		t.Run(fmt.Sprintf("keeps=%v", keeps), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			below := newMemory(t, map[string]string{"a.go": "saved a\n", "b.go": "saved b\n", "dir/c.go": "saved c\n", "image": "\x00\x01"})
			editor := newBuffers(below, map[string]string{"a.go": "typed a\nsecond\n", "new.go": "typed new\n"})
			editor.keeps = keeps
			fsys := newFS(t, below, editor, both, atWorkRoot)
			ws := workspace.New("main", fsys, nil)

			data, version, err := ws.ReadVersioned(ctx, "a.go", 0)
			if err != nil || string(data) != "typed a\nsecond\n" {
				t.Fatalf("reading a.go = %q, %v, want the text that is not saved", data, err)
			}
			info, err := ws.Stat(ctx, "a.go")
			if err != nil || info.Version != version || info.Size != int64(len(data)) {
				t.Errorf("Stat of a.go = %+v, %v, want the size and the version of what was read, %s", info, err, version)
			}
			stream, info, err := ws.Open(ctx, "a.go", &workspace.OpenOptions{Offset: 8})
			if err != nil || info.Version != version {
				t.Fatalf("Open of a.go = %+v, %v, want the version %s", info, err, version)
			}
			if rest, err := io.ReadAll(stream); err != nil || string(rest) != "second\n" {
				t.Errorf("the stream of a.go = %q, %v, want %q", rest, err, "second\n")
			}
			if got, err := ws.ReadFile(ctx, "new.go"); err != nil || string(got) != "typed new\n" {
				t.Errorf("reading new.go = %q, %v, want the text that is not saved", got, err)
			}
			if got, err := ws.ReadFile(ctx, "image"); err != nil || string(got) != "\x00\x01" {
				t.Errorf("reading image = %q, %v, want its bytes", got, err)
			}
			found := func(pattern string, opts *workspace.GrepOptions) (lines []string) {
				t.Helper()
				result, err := ws.Grep(ctx, pattern, opts)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range result.Matches {
					lines = append(lines, fmt.Sprintf("%s:%d:%s", m.Path, m.LineNumber, m.Line))
				}
				return lines
			}
			want := []string{"a.go:1:typed a", "b.go:1:saved b", "dir/c.go:1:saved c"}
			if diff := cmp.Diff(want, found("typed|saved", nil)); diff != "" {
				t.Errorf("what grep finds differs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"a.go:2:second"}, found("s.*", &workspace.GrepOptions{Path: "a.go"})); diff != "" {
				t.Errorf("what grep finds in a.go differs (-want +got):\n%s", diff)
			}

			saved, err := below.Stat(ctx, "a.go")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ws.WriteFile(ctx, "a.go", []byte("lost"), &workspace.WriteOptions{IfVersion: saved.Version}); !errors.Is(err, workspace.ErrConflict) {
				t.Errorf("a write on the condition of what is saved = %v, want %q", err, workspace.ErrConflict)
			}
			if _, err := ws.WriteFile(ctx, "new.go", []byte("lost"), &workspace.WriteOptions{IfNotExist: true}); !errors.Is(err, fs.ErrExist) {
				t.Errorf("creating a file that is open in the editor = %v, want %q", err, fs.ErrExist)
			}
			if _, err := ws.Copy(ctx, "a.go", "copy.go"); err != nil {
				t.Fatal(err)
			}
			if got, err := ws.ReadFile(ctx, "copy.go"); err != nil || string(got) != "typed a\nsecond\n" {
				t.Errorf("the copy of a.go = %q, %v, want the text that is not saved", got, err)
			}

			editor.take()
			after, version, err := ws.Edit(ctx, "a.go", func(old []byte) ([]byte, error) {
				return []byte(strings.ReplaceAll(string(old), "typed", "edited")), nil
			})
			if err != nil || string(after) != "edited a\nsecond\n" {
				t.Fatalf("the edit of a.go = %q, %v, want %q", after, err, "edited a\nsecond\n")
			}
			if diff := cmp.Diff([]string{"read a.go", "read a.go", "write a.go"}, editor.take()); diff != "" {
				t.Errorf("the requests of an edit differ (-want +got):\n%s", diff)
			}
			data, again, err := ws.ReadVersioned(ctx, "a.go", 0)
			if err != nil || string(data) != "edited a\nsecond\n" || again != version {
				t.Errorf("after the edit, a.go is %q, %s, %v, want the version %s", data, again, err, version)
			}
			if info, err := ws.Stat(ctx, "a.go"); err != nil || info.Version != version {
				t.Errorf("after the edit, Stat of a.go = %+v, %v, want the version %s", info, err, version)
			}
			if _, err := ws.WriteFile(ctx, "empty", nil, nil); err != nil {
				t.Errorf("writing an empty file = %v, want nil", err)
			}
			if got, err := ws.ReadFile(ctx, "empty"); err != nil || len(got) != 0 {
				t.Errorf("reading the empty file = %q, %v, want nothing", got, err)
			}
		})
	}
}

// TestUnsavedIsNotReplaced writes what the editor cannot write, over text that it
// shows and has not saved.
func TestUnsavedIsNotReplaced(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, c := range map[string]struct {
		can  sdk.FileSystemCapabilities
		data string
	}{
		"bytes that are not text":      {both, "\x00"},
		"a client that does not write": {sdk.FileSystemCapabilities{ReadTextFile: true}, "text"},
	} {
		below := newMemory(t, map[string]string{"open": "saved", "closed": "saved"})
		editor := newBuffers(below, map[string]string{"open": "typed"})
		fsys := newFS(t, below, editor, c.can, atWorkRoot)
		if _, err := fsys.WriteFile(ctx, "open", []byte(c.data), nil); !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("%s: writing a file with text that is not saved = %v, want %q", name, err, workspace.ErrConflict)
		}
		if got := saved(t, below, "open"); got != "saved" {
			t.Errorf("%s: the file holds %q, want what was saved", name, got)
		}
		version, err := fsys.WriteFile(ctx, "closed", []byte(c.data), nil)
		if err != nil || saved(t, below, "closed") != c.data {
			t.Errorf("%s: writing a file that is saved = %v, and it holds %q", name, err, saved(t, below, "closed"))
		}
		if _, err := fsys.WriteFile(ctx, "closed", []byte(c.data+"2"), &workspace.WriteOptions{IfVersion: version}); err != nil {
			t.Errorf("%s: writing it again on the condition of its version = %v, want nil", name, err)
		}
	}
}

// TestNotCarried reads and writes what the protocol has no form for: the editor is not
// asked to write it, nor for what is saved.
func TestNotCarried(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, data := range map[string]string{"image": "a\x00", "latin1": "caf\xe9", "large": strings.Repeat("x", 10<<20), "escaped": strings.Repeat("<", 2<<20)} {
		below := newMemory(t, map[string]string{name: data})
		editor := newBuffers(below, nil)
		fsys := newFS(t, below, editor, both, atWorkRoot)
		got, version, err := fsys.ReadVersioned(ctx, name, 0)
		if err != nil || string(got) != data {
			t.Errorf("reading %s = %d bytes, %v, want its %d", name, len(got), err, len(data))
		}
		if _, err := fsys.WriteFile(ctx, name, []byte(data), &workspace.WriteOptions{IfVersion: version}); err != nil {
			t.Errorf("writing %s = %v, want nil", name, err)
		}
		if asked := editor.take(); asked != nil {
			t.Errorf("for %s, the editor was asked %q, want nothing", name, asked)
		}
	}
}

// TestAskedAsAdvertised makes each kind of call, and looks what the editor is asked.
func TestAskedAsAdvertised(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, c := range []struct {
		can  sdk.FileSystemCapabilities
		want []string
	}{
		{sdk.FileSystemCapabilities{}, nil},
		{sdk.FileSystemCapabilities{ReadTextFile: true}, []string{"read"}},
		{sdk.FileSystemCapabilities{WriteTextFile: true}, []string{"write"}},
		{both, []string{"read", "write"}},
	} {
		below := newMemory(t, map[string]string{"a": "text", "dir/b": "text", "image": "\x00"})
		editor := newBuffers(below, map[string]string{"a": "typed"})
		fsys := newFS(t, below, editor, c.can, atWorkRoot)
		exact, err := workspace.Exact(fsys)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []workspace.FileSystem{fsys, exact} {
			_, _ = f.ReadFile(ctx, "a") // what is asked counts, not what comes of it
			_, _, _ = workspace.ReadVersioned(ctx, f, "none", 0)
			_, _ = f.Stat(ctx, "a")
			_, _ = f.Ls(ctx, ".", nil)
			_, _ = f.Grep(ctx, "t", nil)
			_, _ = f.Glob(ctx, "**", nil)
			_, _ = f.WriteFile(ctx, "new", []byte("text"), &workspace.WriteOptions{IfNotExist: true})
			_, _ = f.WriteFile(ctx, "dir/b", []byte("text"), nil)
			_, _ = workspace.Copy(ctx, f, "a", "copy")
			_ = workspace.Move(ctx, f, "copy", "moved")
			_ = f.Rm(ctx, "moved", nil)
			_ = f.Mkdir(ctx, "new-dir", nil)
			if stream, _, err := workspace.Open(ctx, f, "a", nil); err == nil {
				stream.Close()
			}
			if w, err := workspace.Create(ctx, f, "created", nil); err == nil {
				_, _ = w.Commit()
			}
		}
		kinds := map[string]bool{}
		for _, asked := range editor.take() {
			kind, _, _ := strings.Cut(asked, " ")
			kinds[kind] = true
		}
		for _, kind := range []string{"read", "write"} {
			want := kind == "read" && c.can.ReadTextFile || kind == "write" && c.can.WriteTextFile
			if kinds[kind] != want {
				t.Errorf("with %+v, the editor was asked to %s: %v, want %v", c.can, kind, kinds[kind], want)
			}
		}
	}
}

// TestNamesStayInside writes and reads names that lead out of the root: the editor
// is not asked.
func TestNamesStayInside(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := newFolder(t, map[string]string{"root/a": "text", "outside": "key"})
	for link, target := range map[string]string{"out": "../outside", "up": "..", "new": "../created", "in": "a"} {
		if err := os.Symlink(target, filepath.Join(dir, "root", link)); err != nil {
			t.Fatal(err)
		}
	}
	below := openFolder(t, filepath.Join(dir, "root"))
	editor := newBuffers(below, nil)
	fsys := newFS(t, below, editor, both, atWorkRoot)
	for _, name := range []string{"out", "up/outside", "up/created", "new", "../outside"} {
		if _, err := fsys.ReadFile(ctx, name); !errors.Is(err, workspace.ErrEscape) {
			t.Errorf("ReadFile(%q) = %v, want %q", name, err, workspace.ErrEscape)
		}
		if _, err := fsys.WriteFile(ctx, name, []byte("x"), nil); !errors.Is(err, workspace.ErrEscape) {
			t.Errorf("WriteFile(%q) = %v, want %q", name, err, workspace.ErrEscape)
		}
	}
	if asked := editor.take(); asked != nil {
		t.Errorf("the editor was asked %q, want nothing", asked)
	}
	if _, err := fsys.WriteFile(ctx, "in", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"write a"}, editor.take()); diff != "" {
		t.Errorf("the editor is asked for the target of a symlink (-want +got):\n%s", diff)
	}
}

// TestEditorFails is what each failure of the editor becomes.
func TestEditorFails(t *testing.T) {
	t.Parallel()
	const secret = "/host/place"
	for _, c := range []struct {
		name  string
		set   func(b *buffers)
		read  error // nil if the file is read from below
		write error
	}{
		{"internal error", func(b *buffers) { b.fails = sdk.NewInternalError(secret) }, workspace.ErrUnavailable, workspace.ErrUnavailable},
		{"any error", func(b *buffers) { b.fails = errors.New(secret) }, workspace.ErrUnavailable, workspace.ErrUnavailable},
		{"no such method", func(b *buffers) { b.fails = sdk.NewMethodNotFound(secret) }, workspace.ErrUnavailable, workspace.ErrUnavailable},
		{"refusal", func(b *buffers) { b.fails = &sdk.RequestError{Code: -32000, Message: secret} }, fs.ErrPermission, fs.ErrPermission},
		{"not found", func(b *buffers) { b.fails = &sdk.RequestError{Code: -32002, Message: secret} }, nil, workspace.ErrUnavailable},
		{"cancelled", func(b *buffers) { b.fails = sdk.NewRequestCancelled(secret) }, workspace.ErrUnavailable, workspace.ErrUnavailable},
		{"silence", func(b *buffers) { b.hangs = true }, workspace.ErrUnavailable, workspace.ErrUnavailable},
		{"gone", func(b *buffers) { b.fails = errors.New(secret); close(b.done) }, workspace.ErrUnavailable, workspace.ErrUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			below := newMemory(t, map[string]string{"a": "text"})
			editor := newBuffers(below, nil)
			c.set(editor)
			opts := *atWorkRoot
			if editor.hangs {
				opts.Timeout = 1
			}
			fsys := newFS(t, below, editor, both, &opts)
			check := func(what string, err, want error) {
				t.Helper()
				if !errors.Is(err, want) || want == nil && err != nil || err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("%s = %v, want %v without a text of the editor", what, err, want)
				}
			}
			_, err := fsys.ReadFile(t.Context(), "a")
			check("ReadFile", err, c.read)
			_, err = fsys.WriteFile(t.Context(), "a", []byte("x"), nil)
			check("WriteFile", err, c.write)
			info, err := fsys.Stat(t.Context(), "a")
			check("Stat", err, nil)
			if info.Size != 4 {
				t.Errorf("Stat = %+v, want what is saved", info)
			}
			result, err := fsys.Grep(t.Context(), "t", nil)
			switch {
			case c.name == "gone", c.name == "silence":
				check("Grep", err, workspace.ErrUnavailable)
			case err != nil || len(result.Matches)+len(result.Skipped) != 1:
				t.Errorf("Grep = %+v, %v, want a match or a file that is skipped", result, err)
			}
			_, err = fsys.Grep(t.Context(), "t", &workspace.GrepOptions{Path: "a"})
			check("Grep of the file", err, c.read)
			_, err = fsys.Copy(t.Context(), "a", "copy")
			check("Copy", err, c.read)
			if got := saved(t, below, "a"); got != "text" {
				t.Errorf("the file holds %q, want what was there", got)
			}
		})
	}
}

// TestWaitsEnd cancels calls that wait for the editor, and for each other.
func TestWaitsEnd(t *testing.T) {
	t.Parallel()
	below := newMemory(t, map[string]string{"a": "text"})
	editor := newBuffers(below, nil)
	editor.hangs = true
	fsys := newFS(t, below, editor, both, atWorkRoot)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 3 {
		go func() {
			_, err := fsys.WriteFile(ctx, "a", []byte("x"), nil)
			ended <- err
		}()
		go func() {
			_, err := fsys.ReadFile(ctx, "a")
			ended <- err
		}()
	}
	cancel()
	for range 6 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a call whose context ended = %v, want %q", err, context.Canceled)
		}
	}
}

// TestSearchSaved asks only about files that were named.
func TestSearchSaved(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	below := newMemory(t, map[string]string{"a": "saved", "b": "saved", "c": "saved"})
	editor := newBuffers(below, map[string]string{"a": "typed", "b": "typed"})
	fsys := newFS(t, below, editor, both, &acp.FSOptions{Root: "/work", SearchSaved: true})
	matches := func(opts *workspace.GrepOptions) (paths []string) {
		t.Helper()
		result, err := fsys.Grep(ctx, "typed", opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range result.Matches {
			paths = append(paths, m.Path)
		}
		return paths
	}
	if got := matches(nil); got != nil {
		t.Errorf("a search before a read finds %q, want nothing", got)
	}
	if got := matches(&workspace.GrepOptions{Path: "b"}); !cmp.Equal(got, []string{"b"}) {
		t.Errorf("a search of b finds %q, want b", got)
	}
	if _, err := fsys.ReadFile(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	editor.take()
	if got := matches(nil); !cmp.Equal(got, []string{"a"}) {
		t.Errorf("a search after the read of a finds %q, want a", got)
	}
	if diff := cmp.Diff([]string{"read a"}, editor.take()); diff != "" {
		t.Errorf("the requests of a search differ (-want +got):\n%s", diff)
	}
}

// TestSearchSavedSymlink reads and writes by symlinks: a search asks about the targets.
func TestSearchSavedSymlink(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := newFolder(t, map[string]string{"a": "saved", "b": "saved", "c": "saved"})
	for _, name := range []string{"a", "b"} {
		if err := os.Symlink(name, filepath.Join(dir, "to-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	below := openFolder(t, dir)
	editor := newBuffers(below, map[string]string{"a": "typed", "c": "typed"})
	fsys := newFS(t, below, editor, both, &acp.FSOptions{Root: "/work", SearchSaved: true})
	if _, err := fsys.ReadFile(ctx, "to-a"); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.WriteFile(ctx, "to-b", []byte("typed"), nil); err != nil {
		t.Fatal(err)
	}
	editor.take()
	if _, err := fsys.Grep(ctx, "typed", nil); err != nil {
		t.Fatal(err)
	}
	asked := editor.take()
	slices.Sort(asked)
	if diff := cmp.Diff([]string{"read a", "read b"}, asked); diff != "" {
		t.Errorf("the requests of a search differ (-want +got):\n%s", diff)
	}
}

// TestWrappers puts rules and transactions over the files of an editor: text that is
// not saved and may not be read is not shown, and a patch that fails is undone by
// the editor.
func TestWrappers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	below := newMemory(t, map[string]string{"a": "one\n", "secret/key": "saved key"})
	editor := newBuffers(below, map[string]string{"a": "one\ntyped\n", "secret/key": "typed key", "secret/new": "typed key"})
	over := newFS(t, below, editor, both, atWorkRoot)
	if err := over.Transaction(ctx, func(context.Context) error { return nil }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Transaction of the FS alone = %v, want %q", err, errors.ErrUnsupported)
	}
	hidden, err := backup.Hide(over, transaction.DefaultDir)
	if err != nil {
		t.Fatal(err)
	}
	undoing, err := transaction.New(hidden, &transaction.Options{Store: below})
	if err != nil {
		t.Fatal(err)
	}
	restricted, err := policy.Restrict(undoing, policy.Rules{DeniedPaths: []string{"secret/**"}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(workspace.New("main", restricted, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string, args any) *tools.Result {
		t.Helper()
		tool, ok := set.Lookup(name)
		if !ok {
			t.Fatalf("there is no tool %s", name)
		}
		encoded, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		result, err := tool.Call(ctx, encoded)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	if result := call("grep", map[string]any{"pattern": "typed"}); !strings.Contains(result.Text, "a\n2:typed") || strings.Contains(result.Text, "key") {
		t.Errorf("grep = %s, want the line of a alone", result.Text)
	}
	for _, name := range []string{"secret/key", "secret/new"} {
		if result := call("read_file", map[string]any{"path": name}); !result.IsError || string(result.Error.Code) != "POLICY_DENIED" {
			t.Errorf("read_file %s = %s, want a denial", name, result.Text)
		}
	}
	patch := "*** Begin Patch\n*** Update File: a\n@@\n one\n-typed\n+patched\n*** Add File: b\n+new\n%s*** End Patch\n"
	if result := call("apply_patch", map[string]any{"patch": fmt.Sprintf(patch, "*** Delete File: none\n")}); !result.IsError {
		t.Errorf("a patch with a mistake = %s, want an error", result.Text)
	}
	if result := call("read_file", map[string]any{"path": "a"}); !strings.Contains(result.Text, "typed") {
		t.Errorf("after the patch that failed, a is %s, want what was typed", result.Text)
	}
	editor.take()
	if result := call("apply_patch", map[string]any{"patch": fmt.Sprintf(patch, "")}); result.IsError {
		t.Errorf("the patch = %s, want no error", result.Text)
	}
	var written []string
	for _, asked := range editor.take() {
		if name, ok := strings.CutPrefix(asked, "write "); ok {
			written = append(written, name)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, written); diff != "" {
		t.Errorf("the editor's writes for the patch differ (-want +got):\n%s", diff)
	}
	if got := saved(t, below, "a"); got != "one\npatched\n" {
		t.Errorf("a holds %q, want the patched text", got)
	}
}
