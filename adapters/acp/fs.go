package acp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"golang.org/x/sync/semaphore"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// DefaultTimeout is how long an [FS] whose options do not say waits for an answer of
// the editor, which may ask its user first.
const DefaultTimeout = 2 * time.Minute

// Editor reads and writes files for an agent. A [*sdk.AgentSideConnection] is one.
type Editor interface {
	// ReadTextFile returns the text of a file, or some of its lines.
	ReadTextFile(context.Context, sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error)
	// WriteTextFile creates a file, or replaces its text.
	WriteTextFile(context.Context, sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error)
	// Done returns a channel that is closed when the editor has disconnected.
	Done() <-chan struct{}
}

var _ Editor = (*sdk.AgentSideConnection)(nil)

// FSOptions tune an [FS].
type FSOptions struct {
	// Root is the absolute path of the root on the editor's computer. Empty means the
	// root of the FileSystem below.
	Root string
	// Timeout is how long the editor has for one answer. Zero means [DefaultTimeout];
	// NewFS refuses a negative one.
	Timeout time.Duration
	// SearchSaved makes a search of a directory ask the editor only about files that
	// have been read or written by name before, and read all others as they are saved:
	// some editors open each file that they are asked about. False means that a search
	// asks about each file of text that it reads.
	SearchSaved bool
}

// FS is a [workspace.FileSystem] for an agent whose files are open in an editor. It
// lies over another FileSystem, which holds the same files, and whose capabilities and
// optional interfaces it has.
//
// A file is read from both. What the editor shows counts: text that is not saved has a
// version of its own, and its size. That holds for reads, Stat, Copy and Grep; lists
// and watches report what is saved. Text is written by the editor, and the write has
// succeeded when the editor says so. All else comes from below, such as directories,
// and also what the protocol cannot carry: bytes that are not UTF-8, and text of more
// than about 9 MiB. That is not written where the editor shows text that is not saved:
// it is [workspace.ErrConflict]. Nothing is asked that the editor does not advertise, nor
// about a file that is saved with such bytes: an editor that decodes them shows other text.
//
// A condition of a write is tested against what the editor shows just before the
// write. It holds against all other calls of the FS. It does not hold against
// somebody else who writes at that moment: the protocol has no conditions. In the same
// way, the exact view holds against all that the FS does, and the editor may follow a
// symlink that another program creates during a call.
//
// What the editor answers is input: none of its texts is part of an error. It is
// [fs.ErrPermission] if it refuses, and [workspace.ErrUnavailable] if it fails, is too
// late, or has disconnected. FS has no transactions, because one below could not undo
// what the editor writes; it is safe for concurrent use.
type FS struct {
	reads
	below  workspace.FileSystem
	exact  bool        // below follows no symlink
	hidden scan.Hidden // from searches; nil but in a view of Hide
	*link
}

// reads are the methods that an FS forwards.
type reads = *policy.SubFS

// link is what an FS and its views share: the way to the editor.
type link struct {
	editor  Editor
	session sdk.SessionId
	can     sdk.FileSystemCapabilities
	opts    FSOptions

	// gate lets one call change names or contents, or any number read. Else a symlink
	// that one call moves could get between the two reads of another.
	gate *semaphore.Weighted

	mu    sync.Mutex
	named map[string]bool // guarded by mu; files that were read or written by name
}

var (
	_ workspace.FileSystem      = (*FS)(nil)
	_ workspace.VersionedReader = (*FS)(nil)
	_ workspace.Opener          = (*FS)(nil)
	_ workspace.Creator         = (*FS)(nil)
	_ workspace.Mover           = (*FS)(nil)
	_ workspace.Copier          = (*FS)(nil)
	_ workspace.Exacter         = (*FS)(nil)
	_ fallback.Rooter           = (*FS)(nil)
	_ fallback.Hider            = (*FS)(nil)
	_ fallback.Transactor       = (*FS)(nil)
)

// NewFS returns the files of below as the editor shows them in a session. can is what
// the client has advertised in its initialize request. Nil opts mean the zero
// FSOptions.
//
// # Errors
//
// [fs.ErrInvalid] for a root that is not an absolute path and for a negative Timeout.
func NewFS(below workspace.FileSystem, editor Editor, session sdk.SessionId, can sdk.FileSystemCapabilities, opts *FSOptions) (*FS, error) {
	l := &link{editor: editor, session: session, can: can, gate: semaphore.NewWeighted(all), named: map[string]bool{}}
	if opts != nil {
		l.opts = *opts
	}
	if l.opts.Root == "" {
		l.opts.Root = fallback.Root(below)
	}
	if !isAbs(l.opts.Root) {
		return nil, ops.Error("acp", l.opts.Root, fs.ErrInvalid, errors.New("the root is not an absolute path"))
	}
	if l.opts.Timeout < 0 {
		return nil, ops.Error("acp", l.opts.Root, fs.ErrInvalid, errors.New("the timeout is negative"))
	}
	if l.opts.Timeout == 0 {
		l.opts.Timeout = DefaultTimeout
	}
	return l.over(below, false, nil)
}

// over returns the view of below that the link gives, without the hidden names.
func (l *link) over(below workspace.FileSystem, exact bool, hidden scan.Hidden) (*FS, error) {
	forwarded, err := policy.Sub(below, ".")
	if err != nil {
		return nil, err
	}
	f := &FS{reads: forwarded, below: below, exact: exact, link: l}
	if hidden == nil {
		return f, nil
	}
	return f.hide(hidden)
}

// Root implements [fallback.Rooter].
func (f *FS) Root() string { return f.opts.Root }

// Exact implements [workspace.Exacter].
func (f *FS) Exact() (workspace.FileSystem, error) {
	below, err := workspace.Exact(f.below)
	if err != nil {
		return nil, err
	}
	return f.over(below, true, f.hidden)
}

// Hide implements [fallback.Hider].
func (f *FS) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	return f.hide(hidden)
}

// hide returns a view of f without the hidden names, besides those that f hides.
func (f *FS) hide(hidden scan.Hidden) (*FS, error) {
	hiding, err := f.reads.Hide(hidden)
	if err != nil {
		return nil, err
	}
	view := *f
	view.reads, view.hidden = hiding.(reads), scan.Either(f.hidden, hidden)
	return &view, nil
}

// Transaction implements [fallback.Transactor]: there are none.
func (f *FS) Transaction(context.Context, func(ctx context.Context) error) error {
	return ops.Error(ops.Transaction, ".", errors.ErrUnsupported, errors.New("what an editor writes cannot be undone below it; add transactions with transaction.New"))
}

// Close closes the FileSystem below if it is an [io.Closer].
func (f *FS) Close() error {
	if closer, ok := workspace.As[io.Closer](f.below); ok {
		return closer.Close()
	}
	return nil
}

// all is the weight of a call that changes something.
const all = 1 << 30

// enter waits for the gate, and returns what opens it again.
func (f *FS) enter(ctx context.Context, op, name string, weight int64) (leave func(), err error) {
	if err := ops.Check(ctx, op, name); err != nil {
		return nil, err
	}
	if err := f.gate.Acquire(ctx, weight); err != nil {
		return nil, ops.Error(op, name, err, nil)
	}
	return func() { f.gate.Release(weight) }, nil
}

// file is a file as the editor shows it.
type file struct {
	data    []byte
	version workspace.Version
	target  string // its name without symlinks; empty if the editor was not asked
	unsaved bool   // data is not what is saved
}

// look reads a file. Below comes first: it refuses names, and says what is not text.
func (f *FS) look(ctx context.Context, op, name string, limit int64) (file, error) {
	data, version, err := workspace.ReadVersioned(ctx, f.below, name, limit)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing || !f.can.ReadTextFile || !missing && !carries(data) {
		return file{data: data, version: version}, ops.Rename(err, op, name)
	}
	target, resolveErr := f.target(ctx, op, name)
	if resolveErr != nil {
		return file{}, resolveErr
	}
	text, askErr := f.read(ctx, op, name, target)
	switch {
	case errors.Is(askErr, fs.ErrNotExist):
		return file{data: data, version: version}, ops.Rename(err, op, name)
	case askErr != nil:
		return file{}, askErr
	case !missing && text == string(data):
		return file{data: data, version: version, target: target}, nil
	}
	if err := ops.CheckSize(op, name, int64(len(text)), limit); err != nil {
		return file{}, err
	}
	return file{data: []byte(text), version: f.versionOf([]byte(text)), target: target, unsaved: true}, nil
}

// carries reports whether the protocol can carry data.
func carries(data []byte) bool { return len(data) <= maxText && isText(data) && fits(string(data)) }

// versionOf returns the version of text that is not saved.
func (f *FS) versionOf(text []byte) workspace.Version {
	if !f.Capabilities().Versions {
		return ""
	}
	sum := sha256.Sum256(text)
	return workspace.Version("unsaved-" + hex.EncodeToString(sum[:]))
}

// target returns name without symlinks.
func (f *FS) target(ctx context.Context, op, name string) (string, error) {
	if f.exact {
		return name, nil
	}
	target, err := workspace.Resolve(ctx, f.below, name)
	return target, ops.Rename(err, op, name)
}

// read asks the editor for the text of a file.
func (f *FS) read(ctx context.Context, op, name, target string) (text string, err error) {
	err = f.ask(ctx, op, name, target, func(ctx context.Context, path string) error {
		answer, err := f.editor.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: f.session, Path: path})
		text = answer.Content
		return err
	})
	return text, err
}

// ask makes a request about a file to the editor, and explains its error.
func (l *link) ask(ctx context.Context, op, name, target string, request func(ctx context.Context, path string) error) error {
	limited, cancel := context.WithTimeout(ctx, l.opts.Timeout)
	defer cancel()
	err := request(limited, path.Join(l.opts.Root, target))
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		return ops.Error(op, name, ended, nil)
	}
	refused, _ := errors.AsType[*sdk.RequestError](err)
	switch {
	case l.gone():
		return ops.Error(op, name, workspace.ErrUnavailable, errors.New("the editor has disconnected"))
	case limited.Err() != nil:
		return ops.Error(op, name, workspace.ErrUnavailable, errors.New("the editor did not answer in time"))
	case refused != nil && refused.Code == codeNotFound:
		return ops.Error(op, name, fs.ErrNotExist, nil)
	case refused != nil && refused.Code == codePermission:
		return ops.Error(op, name, fs.ErrPermission, errors.New("the editor refuses it"))
	case refused != nil && refused.Code == codeParams:
		return ops.Error(op, name, workspace.ErrUnavailable, errParams)
	}
	return ops.Error(op, name, workspace.ErrUnavailable, errFailed)
}

// Errors of the editor. What the editor itself says is not passed on.
var (
	errFailed = errors.New("the editor failed")
	errParams = fmt.Errorf("%w: it does not take this", errFailed)
)

// gone reports whether the editor has disconnected.
func (l *link) gone() bool {
	select {
	case <-l.editor.Done():
		return true
	default:
		return false
	}
}

// maxNamed is how many files are remembered as named.
const maxNamed = 10_000

// remember records that a file was read or written by name. A search may come to it by the
// same name, or by its target.
func (l *link) remember(name, target string) {
	if !l.opts.SearchSaved {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.named) >= maxNamed {
		clear(l.named)
	}
	l.named[name], l.named[target] = true, true
}

// ReadFile implements [workspace.FileSystem].
func (f *FS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, _, err := f.ReadVersioned(ctx, name, 0)
	return data, err
}

// ReadVersioned implements [workspace.VersionedReader].
func (f *FS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	leave, err := f.enter(ctx, ops.ReadFile, name, 1)
	if err != nil {
		return nil, "", err
	}
	defer leave()
	now, err := f.look(ctx, ops.ReadFile, name, limit)
	if err != nil {
		return nil, "", err
	}
	f.remember(name, now.target)
	return now.data, now.version, nil
}

// Open implements [workspace.Opener].
func (f *FS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	stream, info, err := f.reads.Open(ctx, name, opts)
	if !f.can.ReadTextFile || err == nil && info.Size > maxText || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return stream, info, err
	}
	if err == nil {
		_ = stream.Close() // nothing was read
	}
	return workspace.Open(ctx, struct {
		workspace.FileSystem
		fallback.Capable
		workspace.VersionedReader
	}{f, f, f}, name, opts)
}

// Stat implements [workspace.FileSystem]. A file whose text is not saved has the size
// and the version of that text. If the editor fails, it is described as it is saved.
func (f *FS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	leave, err := f.enter(ctx, ops.Stat, name, 1)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	defer leave()
	info, err := f.below.Stat(ctx, name)
	missing := errors.Is(err, fs.ErrNotExist)
	if !f.can.ReadTextFile || err != nil && !missing || !missing && info.Type != workspace.TypeFile || info.Size > maxText {
		return info, err
	}
	now, lookErr := f.look(ctx, ops.Stat, name, 0)
	switch {
	case ctx.Err() != nil:
		return workspace.FileInfo{}, ops.Error(ops.Stat, name, ctx.Err(), nil)
	case lookErr != nil || !now.unsaved:
		return info, err
	}
	_, base := workspace.Split(name)
	return workspace.FileInfo{Name: base, Path: name, Type: workspace.TypeFile,
		Size: int64(len(now.data)), ModTime: info.ModTime, Version: now.version}, nil
}

// Grep implements [workspace.FileSystem].
func (f *FS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	if !f.can.ReadTextFile {
		return f.reads.Grep(ctx, pattern, opts)
	}
	view := searched{FS: f}
	if f.opts.SearchSaved {
		f.mu.Lock()
		view.only = make(map[string]bool, len(f.named)+1)
		for name := range f.named {
			view.only[name] = true
		}
		f.mu.Unlock()
		if opts != nil && opts.Path != "" {
			view.only[opts.Path] = true
		}
		if len(view.only) == 0 {
			return f.reads.Grep(ctx, pattern, opts)
		}
	}
	result, err := fallback.Hide(view, f.hidden).Grep(ctx, pattern, opts)
	if errors.Is(err, errFailed) { // for the file of opts.Path: a search in a directory skips files
		err = ops.Error(ops.Grep, ops.Path(err), workspace.ErrUnavailable, errFailed)
	}
	return result, err
}

// searched is an FS for a search.
type searched struct {
	*FS
	only map[string]bool // the files that the editor is asked about; nil for all
}

// ReadFile implements [workspace.FileSystem].
func (s searched) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, _, err := s.ReadVersioned(ctx, name, 0)
	return data, err
}

// ReadVersioned implements [workspace.VersionedReader].
func (s searched) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if s.only != nil && !s.only[name] {
		return workspace.ReadVersioned(ctx, s.below, name, limit)
	}
	leave, err := s.enter(ctx, ops.ReadFile, name, 1)
	if err != nil {
		return nil, "", err
	}
	defer leave()
	now, err := s.look(ctx, ops.ReadFile, name, limit)
	if errors.Is(err, errFailed) { // for this file: the search continues without it
		err = ops.Error(ops.ReadFile, name, nil, errFailed)
	}
	return now.data, now.version, err
}

// WriteFile implements [workspace.FileSystem].
func (f *FS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	leave, err := f.enter(ctx, ops.WriteFile, name, all)
	if err != nil {
		return "", err
	}
	defer leave()
	return f.write(ctx, name, data, opts)
}

// write writes a file. The gate must be closed.
func (f *FS) write(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	var o workspace.WriteOptions
	if opts != nil {
		o = *opts
	}
	caps := f.Capabilities()
	byEditor := f.can.WriteTextFile && carries(data)
	if !caps.Write || o != (workspace.WriteOptions{}) && !caps.ConditionalWrite || !byEditor && !f.can.ReadTextFile {
		return f.below.WriteFile(ctx, name, data, opts)
	}
	if err := ops.CheckConditions(ops.WriteFile, name, string(o.IfVersion), o.IfNotExist); err != nil {
		return "", err
	}
	target, err := f.destination(ctx, name, o)
	if err != nil {
		return "", err
	}
	if err := f.checkConditions(ctx, name, o, byEditor); err != nil {
		return "", err
	}
	if !byEditor {
		return f.below.WriteFile(ctx, name, data, opts)
	}
	err = f.ask(ctx, ops.WriteFile, name, target, func(ctx context.Context, path string) error {
		_, err := f.editor.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: f.session, Path: path, Content: string(data)})
		return err
	})
	if errors.Is(err, errParams) && len(data) == 0 { // the editor's SDK demands a content
		if err := f.checkConditions(ctx, name, o, false); err != nil {
			return "", err
		}
		return f.below.WriteFile(ctx, name, data, opts)
	}
	if errors.Is(err, fs.ErrNotExist) { // it should create what is missing
		err = ops.Error(ops.WriteFile, name, workspace.ErrUnavailable, errors.New("the editor did not create it"))
	}
	if err != nil {
		return "", err
	}
	f.remember(name, target)
	return f.written(ctx, name, data)
}

// destination returns the target of a write, which is a file or missing. The editor
// follows symlinks, so it must not get a name with any.
func (f *FS) destination(ctx context.Context, name string, o workspace.WriteOptions) (target string, err error) {
	if o.IfNotExist {
		_, err := f.below.Stat(ctx, name)
		switch {
		case err == nil:
			return "", ops.Error(ops.WriteFile, name, fs.ErrExist, nil)
		case !errors.Is(err, fs.ErrNotExist):
			return "", ops.Rename(err, ops.WriteFile, name)
		}
	}
	if target, err = f.target(ctx, ops.WriteFile, name); err != nil {
		return "", err
	}
	info, err := f.below.Stat(ctx, target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return target, nil
	case err != nil:
		return "", ops.Rename(err, ops.WriteFile, name)
	case info.IsDir():
		return "", ops.Error(ops.WriteFile, name, workspace.ErrIsDir, nil)
	case info.Type == workspace.TypeSymlink:
		return "", ops.Error(ops.WriteFile, name, workspace.ErrSymlink, nil)
	case info.Type != workspace.TypeFile:
		return "", ops.Error(ops.WriteFile, name, fs.ErrInvalid, errors.New("it is no file"))
	}
	return target, nil
}

// checkConditions tests the conditions of a write against what the editor shows. A
// write that the editor does not make needs a file that is saved.
func (f *FS) checkConditions(ctx context.Context, name string, o workspace.WriteOptions, byEditor bool) error {
	if byEditor && o.IfVersion == "" && !(o.IfNotExist && f.can.ReadTextFile) {
		return nil
	}
	now, err := f.look(ctx, ops.WriteFile, name, 0)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err
	case o.IfNotExist && !missing:
		return ops.Error(ops.WriteFile, name, fs.ErrExist, errors.New("the editor shows it, and it is not saved"))
	case o.IfVersion != "" && (missing || now.version != o.IfVersion):
		return ops.Error(ops.WriteFile, name, workspace.ErrConflict, nil)
	case !byEditor && now.unsaved:
		return ops.Error(ops.WriteFile, name, workspace.ErrConflict, errors.New("the editor shows text that is not saved, and cannot write this"))
	}
	return nil
}

// written returns the version of data, which the editor has just written: the one that
// it has below, if the editor has saved it there.
func (f *FS) written(ctx context.Context, name string, data []byte) (workspace.Version, error) {
	now, version, err := workspace.ReadVersioned(ctx, f.below, name, 0)
	if ctx.Err() != nil {
		return "", ops.Error(ops.WriteFile, name, ctx.Err(), nil)
	}
	if err == nil && bytes.Equal(now, data) {
		return version, nil
	}
	return f.versionOf(data), nil
}

// Create implements [workspace.Creator].
func (f *FS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	caps := f.Capabilities()
	if !f.can.WriteTextFile && !f.can.ReadTextFile || !caps.Write || opts != nil && *opts != (workspace.WriteOptions{}) && !caps.ConditionalWrite {
		return f.reads.Create(ctx, name, opts)
	}
	return workspace.Create(ctx, struct{ workspace.FileSystem }{f}, name, opts)
}

// Copy implements [workspace.Copier].
func (f *FS) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	leave, err := f.enter(ctx, ops.Copy, source, all)
	if err != nil {
		return "", err
	}
	defer leave()
	now, err := f.look(ctx, ops.Copy, source, 0)
	if err != nil {
		return "", err
	}
	if !now.unsaved {
		return workspace.Copy(ctx, f.below, source, destination)
	}
	version, err := f.write(ctx, destination, now.data, &workspace.WriteOptions{IfNotExist: true})
	return version, ops.Rename(err, ops.Copy, destination)
}

// Move implements [workspace.Mover].
func (f *FS) Move(ctx context.Context, source, destination string) error {
	leave, err := f.enter(ctx, ops.Move, source, all)
	if err != nil {
		return err
	}
	defer leave()
	return workspace.Move(ctx, f.below, source, destination)
}

// Rm implements [workspace.FileSystem].
func (f *FS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	leave, err := f.enter(ctx, ops.Rm, name, all)
	if err != nil {
		return err
	}
	defer leave()
	return f.below.Rm(ctx, name, opts)
}

// Mkdir implements [workspace.FileSystem].
func (f *FS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	leave, err := f.enter(ctx, ops.Mkdir, name, all)
	if err != nil {
		return err
	}
	defer leave()
	return f.below.Mkdir(ctx, name, opts)
}
