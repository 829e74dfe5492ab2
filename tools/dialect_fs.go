package tools

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path"

	"github.com/workspacekit/workspacekit/internal/errcode"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// fsDialect has tools whose results are {"success": true, "data": {}}, and whose
// errors have one of seven codes.
var fsDialect = &dialect{name: DialectFS, naming: "{op}", plain: true, code: fsCode, fail: fsFailure, specs: []spec{
	{
		op: "file_read", like: ops.ReadFile, annotations: readOnly("Read file"), handler: define(runFSRead, planFSRead),
		about: "Reads a text file, or limit lines of it from line offset on. The line ends are as they are in the file.",
		shape: func(p properties, _ *toolset) {
			p.between("offset", 1, math.MaxInt32)
			p.between("limit", 0, math.MaxInt32)
		},
	},
	{
		op: "file_write", like: ops.WriteFile, annotations: replaces, needs: canWrite,
		about: "Creates a file, with its missing directories, or replaces all of its content.",
		handler: adapt(func(in *fsWriteInput) *writeFileInput { return &writeFileInput{Path: in.Path, Content: in.Content} },
			runWriteFile, planWriteFile, func(o *writeFileOutput) *fsResult[fsPath] { return fsPathResult(o.Path) }),
	},
	{
		op: "file_edit", like: ops.EditFile, annotations: editFileSpec.annotations, needs: editFileSpec.needs,
		about:   "Replaces text in a file. old_text must be exactly what is in the file, and occur exactly once.",
		handler: define(runFSEdit, planFSEdit),
	},
	{
		op: "directory_create", like: ops.Mkdir, annotations: mkdirSpec.annotations, needs: canWrite,
		about: "Makes a directory with its missing parents. It is no error if the directory exists.",
		handler: adapt(func(in *fsPath) *mkdirInput { return &mkdirInput{in.Path, true} },
			runMkdir, planMkdir, func(o *mkdirOutput) *fsResult[fsPath] { return fsPathResult(o.Path) }),
	},
	{
		op: "directory_list", like: ops.Ls, annotations: readOnly("List directory"), handler: define(runFSList, planFSList),
		about: "Lists what is in a directory, sorted by name.",
	},
	{
		op: "file_delete", like: ops.Rm, annotations: rmSpec.annotations, needs: canWrite, handler: define(runFSDelete, planFSDelete),
		about: "Deletes a file. A directory is INVALID_PATH.",
	},
	{
		op: "file_move", like: ops.Move, annotations: moveSpec.annotations, handler: define(runFSMove, planFSMove),
		about: "Moves or renames a file, making missing directories. It fails if the destination exists.",
		needs: func(caps workspace.Capabilities) bool { return moveSpec.needs(caps) || copyFileSpec.needs(caps) },
	},
	{
		op: "file_copy", like: ops.Copy, annotations: copyFileSpec.annotations, needs: copyFileSpec.needs, handler: define(runFSCopy, planFSCopy),
		about: "Copies a file, making missing directories. It fails if the destination exists.",
	},
}}

// fsCode returns the one of the codes of the dialect that is nearest to code. Codes
// of tools and stores, such as TIMEOUT, stay.
func fsCode(code Code) Code {
	switch code {
	case CodeIsDir, CodeNotDir, CodeBinary, CodeTooLarge:
		return CodeInvalid
	case CodePolicy, CodeReadRequired:
		return CodePermission
	}
	return code
}

// fsError is the member error of a failed result.
type fsError struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// fsFailure is the text of an error.
func fsFailure(e *Error) string {
	return jsonText(struct {
		Success bool    `json:"success"`
		Error   fsError `json:"error"`
	}{false, fsError{e.Code, e.plainText()}})
}

// fsResult is the result of each tool.
type fsResult[Data any] struct {
	Success bool `json:"success" jsonschema:"always true"`
	Data    Data `json:"data" jsonschema:"the result"`
}

func (o *fsResult[Data]) text() string { return jsonText(o) }

// fsPath is a parameter, and as a result an absolute path: one that begins with a
// slash, which is the root of the workspace.
type fsPath struct {
	Path string `json:"path" jsonschema:"the name from the root of the workspace, which is /"`
}

// fsPathResult is the result of a tool that changes one name, which is clean.
func fsPathResult(name string) *fsResult[fsPath] {
	return &fsResult[fsPath]{true, fsPath{absolute(name)}}
}

// absolute returns a name from the root with a slash before it. The root, ".", is "/".
func absolute(name string) string { return path.Join("/", name) }

// fsReadInput are the parameters of file_read. A Limit of 0 asks for no lines, and nil for
// all.
type fsReadInput struct {
	fsPath
	Offset integer  `json:"offset,omitempty" jsonschema:"the first line to return, counted from 1"`
	Limit  *integer `json:"limit,omitempty" jsonschema:"how many lines to return"`
}

// fsContent is the result of file_read. TotalLines is of the file, whatever part is returned.
type fsContent struct {
	Content    string `json:"content" jsonschema:"the text with its line ends"`
	TotalLines int    `json:"total_lines" jsonschema:"how many lines the file has"`
}

// runFSRead returns lines with their ends, and no text for an offset after the last line. A
// file that is not text is an error, as the result has no room for bytes.
func runFSRead(ctx context.Context, ts *toolset, in *fsReadInput) (*fsResult[fsContent], error) {
	name, file, err := ts.readText(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	first, last := max(1, int(in.Offset)), file.lines
	if in.Limit != nil {
		last = first + int(*in.Limit) - 1
	}
	return &fsResult[fsContent]{true, fsContent{ts.showLines(ctx, name, file, first, last), file.lines}}, nil
}

func planFSRead(ctx context.Context, ts *toolset, in *fsReadInput) ([]policy.Request, error) {
	return planReadFile(ctx, ts, &readFileInput{Path: in.Path})
}

// fsWriteInput are the parameters of file_write.
type fsWriteInput struct {
	fsPath
	Content string `json:"content" jsonschema:"the whole new content"`
}

// fsEditInput are the parameters of file_edit.
type fsEditInput struct {
	fsPath
	OldText string `json:"old_text" jsonschema:"the text to replace, which is not empty"`
	NewText string `json:"new_text" jsonschema:"the text to put in its place"`
}

// edit returns the input of the default tool. It refuses an empty text to replace, and a
// replacement that changes nothing.
func (in *fsEditInput) edit() (*editFileInput, error) {
	if in.OldText == "" || in.OldText == in.NewText {
		return nil, &argumentError{message: `parameter "old_text" is empty, or the same as "new_text"`, hint: "Give the text that is in the file, and another one to put in its place."}
	}
	return &editFileInput{Path: in.Path, OldText: &in.OldText, NewText: &in.NewText}, nil
}

// runFSEdit edits one file, whose name is never a glob.
func runFSEdit(ctx context.Context, ts *toolset, in *fsEditInput) (*fsResult[fsPath], error) {
	input, err := in.edit()
	if err != nil {
		return nil, err
	}
	out, err := runEditFile(ctx, ts, input)
	if err != nil {
		return nil, err
	}
	return fsPathResult(out.Path), nil
}

func planFSEdit(ctx context.Context, ts *toolset, in *fsEditInput) ([]policy.Request, error) {
	input, err := in.edit()
	if err != nil {
		return nil, err
	}
	return planEditFile(ctx, ts, input)
}

// fsEntries is the result of directory_list. Truncated stands for pages.
type fsEntries struct {
	Entries   []fsEntry `json:"entries" jsonschema:"the direct children, sorted by name"`
	Truncated bool      `json:"truncated,omitempty" jsonschema:"whether there are more"`
}

// fsEntry is a name in a directory.
type fsEntry struct {
	Name string             `json:"name" jsonschema:"the name in the directory"`
	Type workspace.FileType `json:"type" jsonschema:"file, directory, symlink or other"`
	Size int64              `json:"size" jsonschema:"the size in bytes; 0 unless it is a file that is not denied"`
}

func runFSList(ctx context.Context, ts *toolset, in *fsPath) (*fsResult[fsEntries], error) {
	children, more, err := ts.list(ctx, in.Path)
	entries := make([]fsEntry, len(children))
	for i, c := range children {
		entries[i] = fsEntry{c.Name, c.Type, c.Size}
	}
	return &fsResult[fsEntries]{true, fsEntries{entries, more}}, err
}

func planFSList(ctx context.Context, ts *toolset, in *fsPath) ([]policy.Request, error) {
	return planLs(ctx, ts, &lsInput{Path: in.Path})
}

// onlyFile describes name. It returns the [workspace.ErrIsDir] error of a directory, and the error
// of a name that does not exist. A symlink is no directory, wherever it leads. It is a test before the
// operation, which keeps a model from a mistake and is no protection from others.
func (ts *toolset) onlyFile(ctx context.Context, op, name string) (workspace.FileInfo, error) {
	info, err := ts.ws.Stat(ctx, name)
	switch {
	case err != nil:
		return info, ops.Rename(err, op, pathOf(err, name))
	case info.Type == workspace.TypeDirectory:
		return info, ops.Error(op, info.Path, workspace.ErrIsDir, nil)
	}
	return info, nil
}

// pathOf returns the path that err is about.
func pathOf(err error, name string) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Path
	}
	return name
}

// runFSDelete removes a file or a symlink itself.
func runFSDelete(ctx context.Context, ts *toolset, in *fsPath) (*fsResult[fsPath], error) {
	if _, err := ts.onlyFile(ctx, ops.Rm, in.Path); err != nil {
		return nil, err
	}
	out, err := runRm(ctx, ts, &rmInput{Path: in.Path})
	if err != nil {
		return nil, err
	}
	return fsPathResult(out.Path), nil
}

func planFSDelete(ctx context.Context, ts *toolset, in *fsPath) ([]policy.Request, error) {
	return planRm(ctx, ts, &rmInput{Path: in.Path})
}

// fsPairInput are the parameters of file_move and file_copy.
type fsPairInput struct {
	Source      string `json:"source" jsonschema:"the file"`
	Destination string `json:"destination" jsonschema:"the new name, not the directory to put it in"`
}

// fsPair is the result of file_move and file_copy, with absolute names.
type fsPair struct {
	Source      string `json:"source" jsonschema:"the file, from the root of the workspace"`
	Destination string `json:"destination" jsonschema:"the new name, from the root of the workspace"`
}

// runFSMove moves a file. It replaces nothing.
func runFSMove(ctx context.Context, ts *toolset, in *fsPairInput) (*fsResult[fsPair], error) {
	info, err := ts.onlyFile(ctx, ops.Move, in.Source)
	if err != nil {
		return nil, err
	}
	if !ts.caps.Move {
		return runFSMoveByCopy(ctx, ts, in, info)
	}
	out, err := runMove(ctx, ts, &moveInput{in.Source, in.Destination})
	if err != nil {
		return nil, err
	}
	return &fsResult[fsPair]{true, fsPair{absolute(out.Source), absolute(out.Destination)}}, nil
}

// runFSMoveByCopy copies a file and deletes the original if it is still source, for a store
// that cannot move. If the original stays, the copy is deleted, unless somebody may have changed it.
//
// Only versions tell that nobody has: without them the copy stays. It also stays if the original
// is not found, or the removal does not say that nothing was changed: whatever has the old name now,
// it may have succeeded, or still do so. If the copy stays, the error has both causes.
func runFSMoveByCopy(ctx context.Context, ts *toolset, in *fsPairInput, source workspace.FileInfo) (*fsResult[fsPair], error) {
	if from, err := ts.ws.Clean(ctx, ops.Move, in.Source); err != nil {
		return nil, err
	} else if err := ts.checkKnown(ctx, ops.Move, from); err != nil {
		return nil, err
	}
	out, err := runCopy(ctx, ts, &copyInput{Source: in.Source, Destination: in.Destination})
	if err != nil {
		return nil, err
	}
	now, err := ts.onlyFile(ctx, ops.Move, in.Source)
	if err == nil && !fallback.SameBytes(source, now) {
		err = ops.Error(ops.Move, now.Path, workspace.ErrConflict, nil)
	}
	mayBeGone := errors.Is(err, fs.ErrNotExist)
	if err == nil {
		if _, err = runRm(ctx, ts, &rmInput{Path: in.Source}); err == nil {
			return &fsResult[fsPair]{true, fsPair{absolute(out.Source), absolute(out.Destination)}}, nil
		}
		mayBeGone = errors.Is(err, fs.ErrNotExist) || errcode.Uncertain(err)
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	info, undoErr := ts.ws.Stat(undo, out.Destination)
	switch {
	case undoErr != nil:
	case mayBeGone:
		undoErr = ops.Error(ops.Move, out.Destination, nil, errors.New("the copy stays, as the original may be gone"))
	case out.Version == "" || info.Version != out.Version:
		undoErr = ops.Error(ops.Move, out.Destination, nil, errors.New("the copy stays, as it may have been changed"))
	default:
		undoErr = ts.ws.Rm(undo, out.Destination, nil)
	}
	return nil, errors.Join(err, undoErr)
}

// planFSMove has the requests of what the store makes of it: a move, or a copy and a removal.
func planFSMove(ctx context.Context, ts *toolset, in *fsPairInput) ([]policy.Request, error) {
	if ts.caps.Move {
		return planMove(ctx, ts, &moveInput{in.Source, in.Destination})
	}
	copied, err := planFSCopy(ctx, ts, in)
	if err != nil {
		return nil, err
	}
	removed, err := planRm(ctx, ts, &rmInput{Path: in.Source})
	return append(copied, removed...), err
}

// runFSCopy copies a file. A directory is an error of the copy, and nothing is replaced.
func runFSCopy(ctx context.Context, ts *toolset, in *fsPairInput) (*fsResult[fsPair], error) {
	out, err := runCopy(ctx, ts, &copyInput{Source: in.Source, Destination: in.Destination})
	if err != nil {
		return nil, err
	}
	return &fsResult[fsPair]{true, fsPair{absolute(out.Source), absolute(out.Destination)}}, nil
}

func planFSCopy(ctx context.Context, ts *toolset, in *fsPairInput) ([]policy.Request, error) {
	return planCopy(ctx, ts, &copyInput{Source: in.Source, Destination: in.Destination})
}
