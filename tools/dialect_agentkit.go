package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// agentkitDialect has the tools of the Rust crate agentkit-tool-fs, whose names have
// an underscore in place of the dot, which vendors refuse.
var agentkitDialect = &dialect{name: DialectAgentkit, naming: "{op}", plain: true, fail: (*Error).plainText, specs: []spec{
	{
		op: "fs_read_file", like: ops.ReadFile, annotations: readOnly("Read file"), handler: define(runAgentkitRead, planAgentkitRead),
		about: "Reads a text file, or the lines from to to of it, which are counted from 1.",
		shape: func(p properties, _ *toolset) {
			p.between("from", 1, math.MaxInt32)
			p.between("to", 1, math.MaxInt32)
		},
	},
	{
		op: "fs_write_file", like: ops.WriteFile, annotations: Annotations{Title: "Write file", Destructive: true}, needs: canWrite,
		about:   "Creates a text file, or replaces all of its content.",
		handler: define(runAgentkitWrite, planAgentkitWrite),
		shape:   func(p properties, _ *toolset) { p.byDefault("create_parents", true) },
	},
	{
		op: "fs_replace_in_file", like: ops.EditFile, annotations: editFileSpec.annotations, needs: editFileSpec.needs,
		about:   "Replaces exact text in a file: the first occurrence, or all. It fails if the text does not occur.",
		handler: define(runAgentkitReplace, planAgentkitReplace),
		shape:   func(p properties, _ *toolset) { p.byDefault("replace_all", false) },
	},
	{
		op: "fs_move", like: ops.Move, annotations: moveSpec.annotations, needs: moveSpec.needs,
		about:   "Moves or renames a file or a directory. Unless overwrite is set, it fails if the destination exists.",
		handler: define(runAgentkitMove, planAgentkitMove),
		shape: func(p properties, _ *toolset) {
			p.byDefault("create_parents", true)
			p.byDefault("overwrite", false)
		},
	},
	{
		op: "fs_delete", like: ops.Rm, annotations: Annotations{Title: "Delete", Destructive: true}, needs: canWrite,
		about:   "Deletes a file or an empty directory, or with recursive a directory with everything below it.",
		handler: define(runAgentkitDelete, planAgentkitDelete),
		shape: func(p properties, _ *toolset) {
			p.byDefault("recursive", false)
			p.byDefault("missing_ok", false)
		},
	},
	{
		op: "fs_list_directory", like: ops.Ls, annotations: readOnly("List directory"), handler: define(runAgentkitList, planAgentkitList),
		about: "Lists what is in a directory, sorted by name.",
	},
	{
		op: "fs_create_directory", like: ops.Mkdir, annotations: Annotations{Title: "Create directory", Destructive: true, Idempotent: true}, needs: canWrite,
		about: "Makes a directory with its missing parents. It is no error if the directory exists.",
		handler: adapt(func(in *agentkitPath) *mkdirInput { return &mkdirInput{Path: in.Path, Recursive: true} },
			runMkdir, planMkdir, func(o *mkdirOutput) *agentkitMade { return &agentkitMade{o.Path, true} }),
	},
}}

// agentkitPath is the parameter that names a file or a directory.
type agentkitPath struct {
	Path string `json:"path" jsonschema:"the name from the root of the workspace"`
}

// agentkitReadInput are the parameters of fs_read_file. A line of 0 is one that was left out.
type agentkitReadInput struct {
	agentkitPath
	From integer `json:"from,omitempty" jsonschema:"the first line to return"`
	To   integer `json:"to,omitempty" jsonschema:"the last line to return"`
}

// agentkitText is the result of fs_read_file. Its text is the lines and nothing else.
type agentkitText struct {
	Text string `json:"text" jsonschema:"the text"`
}

func (o *agentkitText) text() string { return o.Text }

// check refuses lines in the wrong order, which a schema cannot say.
func (in *agentkitReadInput) check() error {
	if in.To > 0 && in.To < in.From {
		return &argumentError{message: fmt.Sprintf(`parameter "from" is %d, and "to" is %d`, in.From, in.To), hint: "Give a last line that is not before the first."}
	}
	return nil
}

// runAgentkitRead returns the whole text as it is, or lines without the end of the last one.
// From a line after the end it returns nothing.
func runAgentkitRead(ctx context.Context, ts *toolset, in *agentkitReadInput) (*agentkitText, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	path, file, err := ts.readText(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	if in.From == 0 && in.To == 0 {
		return &agentkitText{ts.showWhole(ctx, path, file)}, nil
	}
	lines := ts.showLines(ctx, path, file, max(1, int(in.From)), int(cmp.Or(in.To, integer(file.lines))))
	return &agentkitText{wording.LineBody(lines)}, nil
}

// planAgentkitRead checks the parameters first, as a call with such arguments fails, and so
// must its plan.
func planAgentkitRead(ctx context.Context, ts *toolset, in *agentkitReadInput) ([]policy.Request, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return planReadFile(ctx, ts, &readFileInput{Path: in.Path})
}

// agentkitWriteInput are the parameters of fs_write_file. A CreateParents of nil is true.
type agentkitWriteInput struct {
	agentkitPath
	Contents      string `json:"contents" jsonschema:"the whole new content"`
	CreateParents *bool  `json:"create_parents,omitempty" jsonschema:"make missing directories"`
}

// agentkitWritten is the result of fs_write_file. The size is of the stored bytes, which in
// another encoding than UTF-8 is not the length of the text.
type agentkitWritten struct {
	Path         string `json:"path" jsonschema:"the file"`
	BytesWritten int    `json:"bytes_written" jsonschema:"the size of the file now"`
	Created      *bool  `json:"created,omitempty" jsonschema:"whether there was no file before; absent if that cannot be told"`
}

func (o *agentkitWritten) text() string { return jsonText(o) }

func runAgentkitWrite(ctx context.Context, ts *toolset, in *agentkitWriteInput) (*agentkitWritten, error) {
	if err := ts.needsParent(ctx, ops.WriteFile, in.Path, in.CreateParents); err != nil {
		return nil, err
	}
	out, err := runWriteFile(ctx, ts, &writeFileInput{Path: in.Path, Content: in.Contents})
	if err != nil {
		return nil, err
	}
	return &agentkitWritten{out.Path, out.Bytes, out.Created}, nil
}

func planAgentkitWrite(ctx context.Context, ts *toolset, in *agentkitWriteInput) ([]policy.Request, error) {
	return planWriteFile(ctx, ts, &writeFileInput{Path: in.Path, Content: in.Contents})
}

// needsParent returns the error of a name whose directory does not exist, if that must not be
// made. A nil create is true. It is a test before the operation, so a directory that
// disappears in between is made again.
func (ts *toolset) needsParent(ctx context.Context, op, name string, create *bool) error {
	if create == nil || *create {
		return nil
	}
	path, err := ts.ws.Clean(ctx, op, name)
	if err != nil {
		return err
	}
	dir, _ := workspace.Split(path)
	_, err = ts.ws.Stat(ctx, dir)
	return ops.Rename(err, op, dir)
}

// agentkitReplaceInput are the parameters of fs_replace_in_file. Without ReplaceAll, the
// first occurrence is replaced, however many there are.
type agentkitReplaceInput struct {
	agentkitPath
	Find       string `json:"find" jsonschema:"the text to replace"`
	Replace    string `json:"replace" jsonschema:"the text to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
}

// agentkitReplaced is the result of fs_replace_in_file.
type agentkitReplaced struct {
	Path         string `json:"path" jsonschema:"the file"`
	Replacements int    `json:"replacements" jsonschema:"how many texts were replaced"`
}

func (o *agentkitReplaced) text() string { return jsonText(o) }

func runAgentkitReplace(ctx context.Context, ts *toolset, in *agentkitReplaceInput) (*agentkitReplaced, error) {
	e, err := ts.agentkitEditor(ctx, in)
	if err != nil {
		return nil, err
	}
	if _, err := ts.edit(ctx, e, false); err != nil {
		return nil, err
	}
	return &agentkitReplaced{e.path, len(e.change.Spans())}, nil
}

func planAgentkitReplace(ctx context.Context, ts *toolset, in *agentkitReplaceInput) ([]policy.Request, error) {
	e, err := ts.agentkitEditor(ctx, in)
	if err != nil {
		return nil, err
	}
	return ts.planEdit(ctx, e, false, false)
}

// agentkitEditor returns the editor of the file. It refuses an empty text to find, and a
// replacement that changes nothing.
func (ts *toolset) agentkitEditor(ctx context.Context, in *agentkitReplaceInput) (*editor, error) {
	if in.Find == "" || in.Find == in.Replace {
		return nil, &argumentError{message: `parameter "find" is empty, or the same as "replace"`, hint: "Give the text that is in the file, and another one to put in its place."}
	}
	path, err := ts.ws.Clean(ctx, ops.EditFile, in.Path)
	return &editor{path: path, limit: ts.whole.MaxFileSize(), by: in.change}, err
}

// change plans the replacement. One of the first occurrence needs a sequence, since
// [edit.New] refuses a text that occurs twice.
func (in *agentkitReplaceInput) change(text []byte) (*edit.Change, error) {
	if in.ReplaceAll {
		return edit.New(text, []edit.Edit{{Old: in.Find, New: in.Replace, All: true}})
	}
	s := edit.NewSequence(text)
	err := s.First(in.Find, in.Replace)
	return s.Change(), err
}

// agentkitMoveInput are the parameters of fs_move. A CreateParents of nil is true.
type agentkitMoveInput struct {
	From          string `json:"from" jsonschema:"the file or directory to move"`
	To            string `json:"to" jsonschema:"its new name, not the directory to put it in"`
	CreateParents *bool  `json:"create_parents,omitempty" jsonschema:"make missing directories"`
	Overwrite     bool   `json:"overwrite,omitempty" jsonschema:"delete what has the new name first, with everything below it; fails for symlinks"`
}

// agentkitMoved is the result of fs_move.
type agentkitMoved struct {
	From  string `json:"from" jsonschema:"the old name"`
	To    string `json:"to" jsonschema:"the new name"`
	Moved bool   `json:"moved" jsonschema:"always true"`
}

func (o *agentkitMoved) text() string { return jsonText(o) }

// runAgentkitMove brings back what it has deleted to make room, if the move then fails. Where
// policies leave no room for a transaction, it deletes nothing.
func runAgentkitMove(ctx context.Context, ts *toolset, in *agentkitMoveInput) (moved *agentkitMoved, err error) {
	if err := ts.needsParent(ctx, ops.Move, in.To, in.CreateParents); err != nil {
		return nil, err
	}
	if !in.Overwrite || transaction.Check(ts.ws) != nil {
		return agentkitMove(ctx, ts, in)
	}
	err = transaction.Run(ctx, ts.ws, func(ctx context.Context, tx *workspace.Workspace) error {
		inner := *ts
		inner.ws = tx
		moved, err = agentkitMove(ctx, &inner, in)
		return err
	})
	return moved, err
}

// agentkitMove deletes a destination, if it may, once it knows that the source
// exists.
func agentkitMove(ctx context.Context, ts *toolset, in *agentkitMoveInput) (*agentkitMoved, error) {
	if in.Overwrite {
		if err := ts.clear(ctx, in.From, in.To); err != nil {
			return nil, err
		}
	}
	out, err := runMove(ctx, ts, &moveInput{in.From, in.To})
	switch {
	case in.Overwrite && errors.Is(err, fs.ErrExist):
		return nil, ts.deleteFirst(err)
	case err != nil:
		return nil, err
	}
	return &agentkitMoved{out.Source, out.Destination, true}, nil
}

// deleteFirst is the error err of a destination that is not deleted to make room.
func (ts *toolset) deleteFirst(err error) error {
	return &hintedError{err, "It could not be brought back if the move failed." + ts.ifTool(ops.Rm, " Delete it with %s first.")}
}

// clear deletes destination, if it exists, to make room for source. Without a transaction
// it leaves that to be refused by the move, as nothing would bring it back.
//
// All that can be known before is tested first: that the source exists, that the session may
// move it, and that neither name is below the other, since deleting one would then delete
// both.
//
// # Errors
//
// [fs.ErrInvalid] for such names, and those of a removal, but no error if nothing is there.
func (ts *toolset) clear(ctx context.Context, source, destination string) error {
	from, to, err := ts.cleanPair(ctx, ops.Move, source, destination)
	if err != nil {
		return err
	}
	if from == to || strings.HasPrefix(from+"/", to+"/") || strings.HasPrefix(to+"/", from+"/") {
		return ops.Error(ops.Move, to, fs.ErrInvalid, errors.New("one of the names is below the other"))
	}
	if _, err := ts.ws.Stat(ctx, from); err != nil {
		return ops.Rename(err, ops.Move, from)
	}
	if err := ts.checkKnown(ctx, ops.Move, from); err != nil {
		return err
	}
	if transaction.Check(ts.ws) != nil {
		return nil
	}
	_, err = runRm(ctx, ts, &rmInput{Path: to, Recursive: true})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errors.ErrUnsupported): // a symlink
		return ts.deleteFirst(err)
	}
	return err
}

// planAgentkitMove has the removal first, if there may be one, also if nothing has the new
// name now.
func planAgentkitMove(ctx context.Context, ts *toolset, in *agentkitMoveInput) ([]policy.Request, error) {
	requests, err := planMove(ctx, ts, &moveInput{in.From, in.To})
	if err != nil || !in.Overwrite || transaction.Check(ts.ws) != nil {
		return requests, err
	}
	removed, err := planRm(ctx, ts, &rmInput{Path: in.To, Recursive: true})
	return append(removed, requests...), err
}

// agentkitDeleteInput are the parameters of fs_delete.
type agentkitDeleteInput struct {
	agentkitPath
	Recursive bool `json:"recursive,omitempty" jsonschema:"delete a directory with everything below it"`
	MissingOK bool `json:"missing_ok,omitempty" jsonschema:"it is no error if the name does not exist"`
}

// agentkitDeleted is the result of fs_delete. Either Deleted or Missing is true.
type agentkitDeleted struct {
	Path    string `json:"path" jsonschema:"the name"`
	Deleted bool   `json:"deleted" jsonschema:"whether it existed"`
	Missing bool   `json:"missing,omitempty" jsonschema:"whether it did not exist"`
}

func (o *agentkitDeleted) text() string { return jsonText(o) }

// runAgentkitDelete removes like rm. A name that leads out of the workspace is an error, also
// with missing_ok.
func runAgentkitDelete(ctx context.Context, ts *toolset, in *agentkitDeleteInput) (*agentkitDeleted, error) {
	path, err := ts.ws.Clean(ctx, ops.Rm, in.Path)
	if err != nil {
		return nil, err
	}
	_, err = runRm(ctx, ts, &rmInput{path, in.Recursive})
	if in.MissingOK && errors.Is(err, fs.ErrNotExist) {
		return &agentkitDeleted{Path: path, Missing: true}, nil
	}
	return &agentkitDeleted{Path: path, Deleted: true}, err
}

func planAgentkitDelete(ctx context.Context, ts *toolset, in *agentkitDeleteInput) ([]policy.Request, error) {
	return planRm(ctx, ts, &rmInput{in.Path, in.Recursive})
}

// agentkitEntries is the result of fs_list_directory: in its structured form an object, as
// every result is.
type agentkitEntries struct {
	Entries []agentkitEntry `json:"entries" jsonschema:"the direct children"`
}

type agentkitEntry struct {
	Name string             `json:"name" jsonschema:"the name in the directory"`
	Path string             `json:"path" jsonschema:"the name from the root"`
	Kind workspace.FileType `json:"kind" jsonschema:"file, directory, symlink or other"`
}

// text is the list that the crate returns. It is JSON and nothing else, as clients parse
// it: there is no room for a note that entries are missing.
func (o *agentkitEntries) text() string { return jsonText(o.Entries) }

// isArray keeps notes out of the text.
func (*agentkitEntries) isArray() {}

// runAgentkitList fails where others cut the list, because its text has no place to say so.
func runAgentkitList(ctx context.Context, ts *toolset, in *agentkitPath) (*agentkitEntries, error) {
	children, more, err := ts.list(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, &argumentError{message: fmt.Sprintf("there are more than %d entries in %s", wholeEntries, onOneLine(in.Path)),
			hint: "Ask for a directory further down."}
	}
	out := &agentkitEntries{Entries: make([]agentkitEntry, len(children))}
	for i, c := range children {
		out.Entries[i] = agentkitEntry{c.Name, c.Path, c.Type}
	}
	return out, nil
}

func planAgentkitList(ctx context.Context, ts *toolset, in *agentkitPath) ([]policy.Request, error) {
	return planLs(ctx, ts, &lsInput{Path: in.Path})
}

// agentkitMade is the result of fs_create_directory. Created is true also for a directory
// that was there.
type agentkitMade struct {
	Path    string `json:"path" jsonschema:"the directory"`
	Created bool   `json:"created" jsonschema:"always true"`
}

func (o *agentkitMade) text() string { return jsonText(o) }
