package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// FilesOptions tune [Files]. All functions may be called concurrently, and should
// return when their context ends.
type FilesOptions struct {
	// Roots are the absolute paths by which an agent may know the root of the
	// workspace, such as the working directory of the session. Where they lead on this
	// computer, if they are symlinks, is always among them. Empty means the workspace's
	// own root.
	Roots []string
	// Unsaved returns the text of a file that the editor has not saved yet, and
	// false for any other file. name is a name in the workspace without symlinks.
	// It is asked only for files that the workspace lets be read, or that do not
	// exist. Nil means that there are none.
	Unsaved func(ctx context.Context, name string) (text string, unsaved bool)
	// BeforeWrite is called before a write. Its error refuses the write, and its text
	// is shown to the agent. Nil does nothing.
	BeforeWrite func(ctx context.Context, name, text string) error
	// AfterWrite is called after a write that BeforeWrite has let through, with the
	// error of one that failed. It is not called if name cannot be resolved, such as a
	// symlink that leads out of the workspace. Nil does nothing.
	AfterWrite func(ctx context.Context, name, text string, err error)
	// Session is what backups, quotas and logs count the agent's operations to. Nil
	// means a new one.
	Session *tools.Session
	// Approver is asked where a rule asks. Nil means that nobody is, and that what
	// needs an approval is refused.
	Approver *policy.Approver
}

// Files serves the files of a workspace to an agent. It has the two methods of a
// [sdk.Client] for files, for those sessions whose working directory is the root of
// the workspace. It is safe for concurrent use: it reads up to 16 files at a time,
// and makes one write after the other.
//
// What the agent sends is input. A path must be absolute and lie below the root, and
// becomes a name in the workspace. Rules, limits, backups and observers of the
// workspace apply to it, also to text that is not saved. Only text is served.
//
// # Errors
//
// An error is a [*sdk.RequestError] with the code
//   - -32002 (resource not found) for a file that does not exist;
//   - -32000 if it may not be read or written, or is outside the root, with the path
//     that the agent sent as the member "path" of the data;
//   - -32602 (invalid params) for a path that is not absolute, and for lines that no
//     file can have, or that the file does not have;
//   - -32800 for a call that was cancelled;
//   - -32603 (internal error) for all else, such as a directory or a file that is too
//     large or not text.
//
// None shows more of the computer than the path that the agent sent.
type Files struct {
	ws    *workspace.Workspace
	roots []string
	opts  FilesOptions

	reading chan struct{} // has a value for each file that is being read
	writing chan struct{} // has a value while a file is being written
}

// maxReading is how many files are read at a time.
const maxReading = 16

// maxText is how many bytes of JSON the text in an answer may take. The Go SDK breaks
// off a connection with a message of more than 10 MiB.
const maxText = 9 << 20

// NewFiles returns the files of ws. Nil opts mean the zero FilesOptions.
//
// # Errors
//
// A path in opts.Roots that is not absolute, and a workspace without a root if
// opts.Roots is empty.
func NewFiles(ws *workspace.Workspace, opts *FilesOptions) (*Files, error) {
	f := &Files{ws: ws, reading: make(chan struct{}, maxReading), writing: make(chan struct{}, 1)}
	if opts != nil {
		f.opts = *opts
	}
	if f.opts.Session == nil {
		f.opts.Session = tools.NewSession()
	}
	roots := f.opts.Roots
	if root := ws.Root(); len(roots) == 0 && root != "" {
		roots = []string{root}
	}
	for _, root := range roots {
		if !isAbs(root) {
			return nil, fmt.Errorf("acp: the root %q is not an absolute path", root)
		}
		f.roots = append(f.roots, path.Clean(filepath.ToSlash(root)))
		if real, err := filepath.EvalSymlinks(filepath.FromSlash(root)); err == nil {
			f.roots = append(f.roots, filepath.ToSlash(real))
		}
	}
	if len(f.roots) == 0 {
		return nil, fmt.Errorf("acp: the workspace %q has no root: name one in Roots", ws.Name())
	}
	return f, nil
}

// Capabilities returns what a client may advertise: that files can be read, and that
// they can be written if the workspace can.
func (f *Files) Capabilities() sdk.FileSystemCapabilities {
	return sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: f.ws.Capabilities().Write}
}

// isAbs reports whether p is absolute on any system: the agent may run on another one.
func isAbs(p string) bool { return path.IsAbs(p) || filepath.IsAbs(p) }

// name returns the name of an absolute path in the workspace. ".." is resolved by its
// spelling.
func (f *Files) name(sent string) (string, error) {
	if !isAbs(sent) {
		return "", sdk.NewInvalidParams(details(sent, "the path is not absolute"))
	}
	clean := path.Clean(filepath.ToSlash(sent))
	for _, root := range f.roots {
		if clean == root {
			return ".", nil
		}
		if rest, ok := strings.CutPrefix(clean, strings.TrimSuffix(root, "/")+"/"); ok {
			return rest, nil
		}
	}
	return "", permissionDenied(sent, "the path is outside the workspace")
}

// context returns the context for an operation of the workspace.
func (f *Files) context(ctx context.Context) context.Context {
	ctx = session.WithWorkspace(session.WithCall(tools.WithSession(ctx, f.opts.Session)), f.ws.Name())
	return policy.WithApprover(ctx, f.opts.Approver)
}

// take takes a place in places, and returns what gives it back.
func take(ctx context.Context, places chan struct{}) (release func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ReadTextFile implements [sdk.Client].
func (f *Files) ReadTextFile(ctx context.Context, req sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	var none sdk.ReadTextFileResponse
	name, err := f.name(req.Path)
	if err != nil {
		return none, err
	}
	release, err := take(ctx, f.reading)
	if err != nil {
		return none, toAgent(req.Path, err)
	}
	defer release()
	text, err := f.read(f.context(ctx), name)
	if err != nil {
		return none, toAgent(req.Path, err)
	}
	part, err := cutLines(text, req.Line, req.Limit)
	if err != nil {
		return none, sdk.NewInvalidParams(details(req.Path, err.Error()))
	}
	if !fits(part) {
		return none, sdk.NewInternalError(details(req.Path, "the text is too long for one message: read it in parts, with line and limit"))
	}
	return sdk.ReadTextFileResponse{Content: part}, nil
}

// read returns the text of a file as the editor shows it.
func (f *Files) read(ctx context.Context, name string) (string, error) {
	if f.opts.Unsaved != nil {
		text, unsaved, err := f.unsaved(ctx, name)
		if unsaved || err != nil {
			return text, err
		}
	}
	data, err := f.ws.ReadFile(ctx, name)
	if err != nil {
		return "", err
	}
	if !isText(data) {
		return "", &fs.PathError{Op: "read_file", Path: name, Err: workspace.ErrBinary}
	}
	return string(data), nil
}

// unsaved returns text that is not saved, if the file may be read. The target of
// symlinks is asked about and returned: else a symlink that changes in between could
// show the text of a file that may not be read.
func (f *Files) unsaved(ctx context.Context, name string) (text string, unsaved bool, err error) {
	if name, err = f.ws.Resolve(ctx, name); err != nil {
		return "", false, err
	}
	stream, _, err := f.ws.Open(ctx, name, &workspace.OpenOptions{Length: 1})
	switch {
	case err == nil:
		_ = stream.Close() // nothing was read
	case !errors.Is(err, fs.ErrNotExist):
		return "", false, err
	}
	text, unsaved = f.opts.Unsaved(ctx, name)
	if !unsaved {
		return "", false, nil
	}
	if limit := f.ws.MaxFileSize(); limit > 0 && int64(len(text)) > limit {
		return "", false, &fs.PathError{Op: "read_file", Path: name, Err: workspace.ErrTooLarge}
	}
	return text, true, nil
}

// isText reports whether the protocol can carry data: as a string of JSON.
func isText(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8<<10)], 0) < 0 && utf8.Valid(data)
}

// cutLines returns limit lines of text from line on, which is counted from 1.
func cutLines(text string, line, limit *int) (string, error) {
	switch {
	case line != nil && *line < 1:
		return "", fmt.Errorf("line is %d, and lines are counted from 1", *line)
	case limit != nil && *limit < 0:
		return "", fmt.Errorf("limit is %d, which is less than no lines", *limit)
	}
	if line != nil {
		for skipped := 0; skipped < *line-1; skipped++ {
			end := strings.IndexByte(text, '\n')
			if end < 0 || end == len(text)-1 && skipped+1 < *line {
				return "", fmt.Errorf("line is %d, and the file has %d", *line, skipped+min(len(text), 1))
			}
			text = text[end+1:]
		}
	}
	if limit == nil {
		return text, nil
	}
	end := 0
	for range *limit {
		next := strings.IndexByte(text[end:], '\n')
		if next < 0 {
			return text, nil
		}
		end += next + 1
	}
	return text[:end], nil
}

// fits reports whether an answer can have text.
func fits(text string) bool {
	const escaped = 6 // bytes of JSON that one byte takes at most
	if len(text) <= maxText/escaped {
		return true
	}
	encoded, err := json.Marshal(text)
	return err == nil && len(encoded) <= maxText
}

// WriteTextFile implements [sdk.Client]. It creates the missing parents of the file.
func (f *Files) WriteTextFile(ctx context.Context, req sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	var none sdk.WriteTextFileResponse
	name, err := f.name(req.Path)
	if err != nil {
		return none, err
	}
	text := req.Content
	if wasEmpty(req) {
		text = ""
	}
	release, err := take(ctx, f.writing)
	if err != nil {
		return none, toAgent(req.Path, err)
	}
	defer release()
	return none, toAgent(req.Path, f.write(f.context(ctx), name, text))
}

// wasEmpty reports whether the content of a write was empty before [wire] changed it.
func wasEmpty(req sdk.WriteTextFileRequest) bool {
	return req.Content == markedContent && req.Meta[emptyMark] == true
}

// write writes a file, and calls the functions of the editor.
func (f *Files) write(ctx context.Context, name, text string) (err error) {
	if f.opts.BeforeWrite != nil || f.opts.AfterWrite != nil {
		if name, err = f.ws.Resolve(ctx, name); err != nil {
			return err
		}
	}
	if f.opts.BeforeWrite != nil {
		if err := f.opts.BeforeWrite(ctx, name, text); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return &fs.PathError{Op: "write_file", Path: name, Err: refusedByEditor{err}}
		}
	}
	_, err = f.ws.WriteFile(ctx, name, []byte(text), nil)
	if f.opts.AfterWrite != nil {
		f.opts.AfterWrite(ctx, name, text, err)
	}
	return err
}

// refusedByEditor is an error of [FilesOptions].BeforeWrite.
type refusedByEditor struct{ error }

// Unwrap returns the kind and the cause.
func (e refusedByEditor) Unwrap() []error { return []error{workspace.ErrPolicy, e.error} }
