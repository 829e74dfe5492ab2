package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

type writeFileInput struct {
	Path       string            `json:"path" jsonschema:"the file, from the root of the workspace; missing directories are made"`
	Content    string            `json:"content" jsonschema:"the whole new content of the file; empty makes an empty file"`
	CreateOnly bool              `json:"createOnly,omitempty" jsonschema:"fail if the file exists"`
	IfVersion  workspace.Version `json:"ifVersion,omitempty" jsonschema:"fail if the file no longer has this version, as a read returned it; not together with createOnly"`
}

type writeFileOutput struct {
	OK       bool              `json:"ok" jsonschema:"always true"`
	Path     string            `json:"path" jsonschema:"the file"`
	Created  bool              `json:"created" jsonschema:"whether there was no file before"`
	Bytes    int               `json:"bytes" jsonschema:"the size of the file now"`
	Version  workspace.Version `json:"version,omitempty" jsonschema:"the version of the file now"`
	Diff     string            `json:"diff,omitempty" jsonschema:"what changed, as a unified diff of at most {{.DiffKiB}} KiB"`
	DiffNote string            `json:"diffNote,omitempty" jsonschema:"why the diff is missing or not whole"`
}

var writeFileSpec = spec{
	op: ops.WriteFile, annotations: Annotations{Title: "Write file", Destructive: true, Idempotent: true}, handler: define(runWriteFile, planWriteFile),
	needs: canWrite,
	shape: func(p properties, caps workspace.Capabilities) {
		if !caps.ConditionalWrite {
			delete(p, "createOnly")
			delete(p, "ifVersion")
			return
		}
		p.byDefault("createOnly", false)
	},
}

func runWriteFile(ctx context.Context, ts *toolset, in *writeFileInput) (*writeFileOutput, error) {
	path, err := ts.checkWrite(in)
	if err != nil {
		return nil, err
	}
	out := &writeFileOutput{OK: true, Path: path, Created: in.CreateOnly, Bytes: len(in.Content)}
	if !in.CreateOnly {
		out.compare(ctx, ts.ws, []byte(in.Content))
	}
	opts, err := ts.writeOptions(ctx, path, in)
	if err != nil {
		return nil, err
	}
	if out.Version, err = ts.ws.WriteFile(ctx, path, []byte(in.Content), opts); err != nil {
		return nil, ts.explainWrite(ctx, path, in, err)
	}
	ts.wrote(ctx, path, out.Version, []byte(in.Content))
	return out, nil
}

// checkWrite returns the clean name of the file, or what is wrong with the
// arguments.
func (ts *toolset) checkWrite(in *writeFileInput) (path string, err error) {
	if in.CreateOnly && in.IfVersion != "" {
		return "", &argumentError{message: `parameters "createOnly" and "ifVersion" cannot be given together`,
			hint: "Give createOnly for a file that must not exist, ifVersion for one that must be as it was read."}
	}
	if path, err = ts.ws.Clean(ops.WriteFile, in.Path); err != nil {
		return "", err
	}
	return path, ops.CheckSize(ops.WriteFile, path, int64(len(in.Content)), ts.ws.MaxFileSize())
}

// planWriteFile also compares with a file that createOnly does not let it replace,
// for the person who decides.
func planWriteFile(ctx context.Context, ts *toolset, in *writeFileInput) ([]policy.Request, error) {
	path, err := ts.checkWrite(in)
	if err != nil {
		return nil, err
	}
	request := policy.Request{Op: ts.writeOp(ctx, path, in), Path: path}
	content := []byte(in.Content)
	switch old, _, err := ts.ws.ReadVersioned(ctx, path, unified.MaxRead); {
	case errors.Is(err, fs.ErrNotExist):
		request.Diff, request.Note = unified.Change(path, nil, content)
	case err == nil:
		request.Diff, request.Note = unified.Change(path, old, content)
	case errors.Is(err, workspace.ErrTooLarge):
		request.Note = ts.tooLargeNote(ctx, path, len(content))
	default:
		request.Note = "no diff: the old content cannot be read"
	}
	return []policy.Request{request}, nil
}

// writeOp returns what a write of the file is: an edit, if it has the condition that
// the file has a version, the caller's or the session's.
func (ts *toolset) writeOp(ctx context.Context, path string, in *writeFileInput) policy.Op {
	if in.IfVersion != "" {
		return policy.OpEdit
	}
	s := ts.session(ctx)
	if s == nil || in.CreateOnly || !ts.caps.ConditionalWrite {
		return policy.OpWrite
	}
	if shown := s.file(ts.fileKey(path)); shown != nil && shown.whole() && shown.Version != "" {
		return policy.OpEdit
	}
	return policy.OpWrite
}

// tooLargeNote says why there is no diff of a large file that gets size bytes.
func (ts *toolset) tooLargeNote(ctx context.Context, path string, size int) string {
	before := "too large"
	if info, err := ts.ws.Stat(ctx, path); err == nil && info.Type == workspace.TypeFile {
		before = wording.Bytes(info.Size)
	}
	return fmt.Sprintf("no diff: the old content is %s, and the new one %s", before, wording.Bytes(int64(size)))
}

// compare reads what the file holds before it is written. That it cannot be
// read is no reason not to write it.
func (o *writeFileOutput) compare(ctx context.Context, ws *workspace.Workspace, content []byte) {
	old, _, err := ws.ReadVersioned(policy.WithApprover(ctx, nil), o.Path, unified.MaxRead) // nobody is asked for a diff
	switch {
	case errors.Is(err, fs.ErrNotExist):
		o.Created = true
	case errors.Is(err, workspace.ErrTooLarge):
		o.DiffNote = "no diff: the old content is too large"
	case err != nil:
		o.DiffNote = "no diff: the old content cannot be read"
	case !isText(old) || !isText(content):
		o.DiffNote = "no diff: the content is binary"
	default:
		o.Diff, o.DiffNote = unified.Diff(o.Path, textOf(old), content)
	}
}

func (o *writeFileOutput) text() string {
	verb := "Wrote "
	if o.Created {
		verb = "Created "
	}
	return verb + o.Path + " (" + wording.Count(o.Bytes, "byte", "bytes") + versionNote(o.Version) + ")." + diffText(o.Diff, o.DiffNote)
}

func versionNote(version workspace.Version) string {
	if version == "" {
		return ""
	}
	return ", version " + string(version)
}

// diffText is a diff and its note as the rest of an answer.
func diffText(diff, note string) string {
	text := ""
	if note != "" {
		text = " (" + note + ")"
	}
	if diff != "" {
		text += "\n" + diff
	}
	return text
}
