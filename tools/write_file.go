package tools

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/charset"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// writeFileInput are the parameters of write_file.
type writeFileInput struct {
	Path         string            `json:"path" jsonschema:"from the root"`
	Content      string            `json:"content" jsonschema:"may be empty"`
	Append       bool              `json:"append,omitempty" jsonschema:"add content at the end"`
	CreateOnly   bool              `json:"createOnly,omitempty" jsonschema:"fail if the file exists"`
	IfVersion    workspace.Version `json:"ifVersion,omitempty" jsonschema:"fail if the file has another version"`
	KeepLineEnds bool              `json:"keepLineEnds,omitempty" jsonschema:"keep the file's CRLF or LF"`
	Encoding     string            `json:"encoding,omitempty" jsonschema:"base64: content is bytes; utf-8: store as UTF-8"`
}

// writeFileOutput is the result of write_file.
type writeFileOutput struct {
	OK       bool   `json:"ok" jsonschema:"always true"`
	Path     string `json:"path" jsonschema:"the file"`
	Created  *bool  `json:"created,omitempty" jsonschema:"whether there was no file before; absent if that cannot be told"`
	Bytes    int    `json:"bytes" jsonschema:"the size of the file now"`
	Appended int    `json:"appended,omitempty" jsonschema:"how many bytes were added, if append"`
	storage
	Version  workspace.Version `json:"version,omitempty" jsonschema:"the version of the file now"`
	Note     string            `json:"note,omitempty" jsonschema:"what may not have been meant"`
	Diff     string            `json:"diff,omitempty" jsonschema:"a unified diff of at most {{.DiffKiB}} KiB; line ends of another kind are in note instead"`
	DiffNote string            `json:"diffNote,omitempty" jsonschema:"why a replaced file has no whole diff"`
}

var writeFileSpec = spec{
	op: ops.WriteFile, annotations: Annotations{Title: "Write file", Destructive: true}, handler: define(runWriteFile, planWriteFile),
	needs: canWrite,
	shape: func(p properties, ts *toolset) {
		p.oneOf("encoding", "utf-8", "base64")
		p["ifVersion"].MinLength = jsonschema.Ptr(1)
		if !ts.caps.ConditionalWrite {
			delete(p, "createOnly")
			delete(p, "ifVersion")
		}
		if !ts.caps.ConditionalWrite || !ts.caps.Versions {
			delete(p, "append")
		}
	},
}

// runWriteFile writes a whole file in one step, or adds to one. The old content is read for
// the encoding, the line ends and the diff; if that fails, the content is written as it is.
//
// # Errors
//
// Those of [workspace.Workspace.WriteFile], an [*argumentError], and those of a session that
// has not read what it would replace.
func runWriteFile(ctx context.Context, ts *toolset, in *writeFileInput) (*writeFileOutput, error) {
	path, content, err := ts.checkWrite(ctx, in)
	if err != nil {
		return nil, err
	}
	if in.Append {
		return ts.appendFile(ctx, path, content, in)
	}
	d := &draft{path: path, data: content, err: fs.ErrNotExist, plain: ts.dialect.plain}
	quiet := policy.WithApprover(ctx, nil) // nobody is asked for a diff
	if !in.CreateOnly {
		d.read(quiet, ts)
		if err := d.adapt(in); err != nil {
			return nil, err
		}
	}
	opts, err := ts.writeOptions(ctx, d, in)
	if err != nil {
		return nil, err
	}
	write := ts.ws.WriteFile
	if opts.IfNotExist && !in.CreateOnly {
		write = ts.create
	}
	asking := session.WithApproved(ctx, func() {
		if !in.CreateOnly {
			d.read(quiet, ts) // what was shown last is what is replaced
		}
	})
	version, err := write(asking, path, d.data, opts)
	if err != nil {
		return nil, ts.explainWrite(ctx, d, in, err)
	}
	if opts.IfNotExist { // that it was written tells it
		d.old, d.err, d.hidden = nil, fs.ErrNotExist, false
	}
	out := d.output()
	out.Version = version
	ts.wrote(ctx, path, out.Version, d.data)
	return out, nil
}

// explainWrite returns the error of a write_file, in the terms of the session where the
// condition was the session's own. With createOnly, the error stays as it is.
func (ts *toolset) explainWrite(ctx context.Context, d *draft, in *writeFileInput, err error) error {
	s, path := ts.session(ctx), d.path
	quiet := policy.WithApprover(ctx, nil) // nobody is asked for a hint or a diff
	if errors.Is(err, workspace.ErrConflict) && ts.missing(quiet, path) {
		return ts.conflictMissing(ctx, path, in)
	}
	if s == nil || in.CreateOnly {
		return err
	}
	shown := s.file(ts.fileKey(path))
	switch {
	case shown == nil && errors.Is(err, fs.ErrExist):
		return ts.unread(ctx, d)
	case shown != nil && errors.Is(err, workspace.ErrConflict):
		now, _ := ts.whole.ReadFile(quiet, path)
		return ts.changedSince(ops.WriteFile, path, shown, now)
	}
	return err
}

// unread is the error of a write_file over what was not shown. A directory and others that
// are no files need no reading, and have the error that reading them had.
func (ts *toolset) unread(ctx context.Context, d *draft) error {
	if errors.Is(d.err, workspace.ErrIsDir) || errors.Is(d.err, workspace.ErrNotDir) || errors.Is(d.err, fs.ErrInvalid) {
		return ops.Rename(d.err, ops.WriteFile, d.path)
	}
	return ts.readRequired(ctx, ops.WriteFile, d.path, nil)
}

// create is [workspace.Workspace.WriteFile] with IfNotExist in opts, but for a symlink whose
// target is missing it creates the target, as a write without a condition does.
func (ts *toolset) create(ctx context.Context, path string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	version, err := ts.ws.WriteFile(ctx, path, data, opts)
	if !errors.Is(err, fs.ErrExist) {
		return version, err
	}
	quiet := policy.WithApprover(ctx, nil) // nobody is asked about a target that exists
	target, resolveErr := ts.ws.Resolve(quiet, path)
	if resolveErr != nil || target == path || ts.typeOf(quiet, target) != "" {
		return version, err
	}
	version, err = ts.ws.WriteFile(ctx, target, data, opts)
	return version, ops.Rename(err, ops.WriteFile, path)
}

// conflictMissing is the error of a write_file to a file that the session or the caller knows,
// where there is none: it was deleted, or never existed. The session forgets the file, so that the
// next write can create it.
func (ts *toolset) conflictMissing(ctx context.Context, path string, in *writeFileInput) error {
	ts.forget(ctx, path, "")
	hint := "It no longer exists. The same write now creates it."
	if in.IfVersion != "" {
		hint = "The same write without ifVersion creates it."
	}
	err := ops.Error(ops.WriteFile, path, workspace.ErrConflict, nil)
	return &hintedError{&wordedError{err, onOneLine(path) + ": " + fs.ErrNotExist.Error()}, hint}
}

// writeOptions returns the conditions under which a write_file may replace what
// the session was shown.
//
// With a session that must have read the file, and without createOnly:
//
//	shown            store                  the write
//	nothing          conditional writes     creates a file, and replaces none
//	nothing          others, or ifVersion   is refused if there is a file now
//	a part           any                    is refused
//	all              conditional writes     has the version that was shown as its condition
//	all              others, or no version  is refused unless the bytes are still the same
//
// Where it can, the store tests the condition at the moment of the write. Where it cannot, a
// change between the test and the write is lost.
func (ts *toolset) writeOptions(ctx context.Context, d *draft, in *writeFileInput) (*workspace.WriteOptions, error) {
	path := d.path
	opts := &workspace.WriteOptions{IfVersion: in.IfVersion, IfNotExist: in.CreateOnly}
	s := ts.session(ctx)
	if s == nil || in.CreateOnly {
		return opts, nil
	}
	shown := s.file(ts.fileKey(path))
	switch {
	case shown == nil && ts.caps.ConditionalWrite && in.IfVersion == "":
		return &workspace.WriteOptions{IfNotExist: true}, nil
	case shown == nil:
		info, err := ts.ws.Stat(ctx, path)
		switch {
		case err == nil && info.Type == workspace.TypeSymlink && errors.Is(d.err, fs.ErrNotExist): // its target is missing
		case err == nil:
			return nil, ts.unread(ctx, d)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, ops.Rename(err, ops.WriteFile, path)
		}
		return opts, nil
	case !shown.whole():
		info, err := ts.ws.Stat(policy.WithApprover(ctx, nil), path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ts.conflictMissing(ctx, path, in)
		}
		if err == nil {
			err = ts.checkVersion(policy.WithApprover(ctx, nil), ops.WriteFile, path, shown, info.Version)
		}
		if errors.Is(err, workspace.ErrConflict) {
			return nil, err
		}
		return nil, ts.readRequired(ctx, ops.WriteFile, path, shown)
	case in.IfVersion != "" && shown.Version != "" && in.IfVersion != shown.Version:
		return nil, ts.changedSince(ops.WriteFile, path, shown, nil)
	case ts.caps.ConditionalWrite && shown.Version != "":
		return &workspace.WriteOptions{IfVersion: shown.Version}, nil
	}
	version, err := ts.checkUnchanged(ctx, ops.WriteFile, path, shown)
	if ts.caps.ConditionalWrite && opts.IfVersion == "" {
		opts.IfVersion = version
	}
	return opts, err
}

// checkWrite returns the clean name of the file and the content, or what is wrong with the
// arguments. It reads nothing. The size is tested before the file is read for a diff.
func (ts *toolset) checkWrite(ctx context.Context, in *writeFileInput) (path string, content []byte, err error) {
	switch {
	case in.CreateOnly && in.IfVersion != "":
		return "", nil, &argumentError{message: `parameters "createOnly" and "ifVersion" cannot be given together`,
			hint: "Give createOnly for a file that must not exist, ifVersion for one that must be as it was read."}
	case in.Append && (in.CreateOnly || in.IfVersion != ""):
		return "", nil, &argumentError{message: `parameter "append" cannot be given together with "createOnly" or "ifVersion"`,
			hint: "Leave them out: append loses no change of others."}
	case in.Encoding == "base64" && in.KeepLineEnds:
		return "", nil, &argumentError{message: `parameter "keepLineEnds" is for text, and "encoding" is "base64"`, hint: "Leave one of them out."}
	}
	content = []byte(in.Content)
	if in.Encoding == "base64" {
		if content, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return "", nil, &argumentError{message: `parameter "content" is not base64: ` + err.Error(),
				hint: `Write it in the standard alphabet with padding, such as "aGVsbG8=".`}
		}
	}
	if path, err = ts.ws.Clean(ctx, ops.WriteFile, in.Path); err != nil {
		return "", nil, err
	}
	return path, content, ops.CheckSize(ops.WriteFile, path, int64(len(content)), ts.ws.MaxFileSize())
}

// draft is what a write makes of a file.
type draft struct {
	path string
	data []byte // what the file will hold
	old  []byte // what it holds
	err  error  // why old is not known: [fs.ErrNotExist] if there is no file
	note string // what may not have been meant: other line ends, or an open line

	hidden  bool             // nor is it known whether there is a file
	unclear charset.Encoding // what data has, if a reader cannot guess it; empty if it can
	text    []byte           // of data, if unclear is set
	plain   bool             // note names no parameters
}

// decode returns the text of the data, as [charset.Decode] does, in the encoding in which it
// was written.
func (d *draft) decode() (text []byte, enc charset.Encoding, ok bool) {
	if d.unclear != "" {
		return d.text, d.unclear, true
	}
	return charset.Decode(d.data)
}

// read reads what the file holds. That it cannot be read is no reason not to write it. What
// it finds decides about the encoding, the line ends and the diff only.
func (d *draft) read(ctx context.Context, ts *toolset) {
	d.old, _, d.err = ts.whole.ReadVersioned(ctx, d.path, 0)
	d.hidden = false
	if d.err == nil || errors.Is(d.err, fs.ErrNotExist) {
		return
	}
	_, err := ts.ws.Stat(ctx, d.path)
	if errors.Is(err, fs.ErrNotExist) { // a rule may refuse to read what is not there
		d.err = err
		return
	}
	d.hidden = err != nil && !errors.Is(d.err, workspace.ErrTooLarge)
}

// unreadNote is the note of a file that cannot be compared.
func (d *draft) unreadNote() string {
	if d.hidden {
		return "no diff: the old content, if there is any, cannot be read"
	}
	return "no diff: the old content cannot be read"
}

// adapt makes of the data, which is the content of a call, what the file gets: in its
// encoding, with its byte order mark and, if asked for, its line ends.
//
// An existing text keeps its encoding and its mark, unless encoding is "utf-8". Text that is
// added to a file in another encoding than UTF-8 is encoded in any case, as a file cannot
// have two encodings. Bytes, and new files, are written as they are.
//
// # Errors
//
// An [*argumentError] for a character that the encoding does not have.
func (d *draft) adapt(in *writeFileInput) error {
	old, enc, ok := charset.Decode(d.old)
	text, asBytes := d.data, in.Encoding == "base64"
	if ok && asBytes { // for the note alone
		text, _, ok = charset.Decode(d.data)
	}
	if d.err != nil || !ok {
		return nil
	}
	before, now := lineEnds(old, bytes.Count(old, feed)), lineEnds(text, bytes.Count(text, feed))
	switch {
	case before == now || before == "" || now == "":
	case in.KeepLineEnds && before != endsMixed:
		text = withLineEnds(text, before)
	default:
		d.note = fmt.Sprintf("the line ends of the file were %s and those of content are %s", before, now)
		if before != endsMixed && !in.KeepLineEnds && !asBytes && !d.plain {
			d.note += ": keepLineEnds keeps them"
		}
	}
	if in.Append && len(old) > 0 && !bytes.HasSuffix(old, feed) {
		d.note = strings.TrimPrefix(d.note+"; the last line of the file had no line end, and content goes on with it", "; ")
	}
	if asBytes {
		return nil
	}
	if in.Encoding == "utf-8" && (!in.Append || enc == charset.UTF8) {
		d.data = text
		return nil
	}
	if !in.Append && len(text) > 0 && bytes.HasPrefix(old, mark) && !bytes.HasPrefix(text, mark) {
		text = slices.Concat(mark, text)
	}
	var err error
	d.data, err = enc.Encode(text)
	if again, _, ok := charset.Decode(d.data); !in.Append && err == nil && (!ok || !bytes.Equal(again, text)) {
		d.unclear, d.text = enc, text
	}
	other := ""
	if !in.Append && !d.plain {
		other = `, or encoding "utf-8"`
	}
	return explainCharacter(err, other)
}

// sameText is the note of a write that changes the encoding or the line ends only.
const sameText = "the text is the same as before, in other bytes"

// output is the result of the write, without its version. If the line ends have changed, they
// are in the note, and the diff compares the rest.
func (d *draft) output() *writeFileOutput {
	out := &writeFileOutput{OK: true, Path: d.path, Bytes: len(d.data), Note: d.note}
	if d.unclear != "" {
		note := fmt.Sprintf("the file keeps %s, which a reader cannot guess from so few characters", d.unclear)
		if !d.plain {
			note += "; encoding utf-8 stores it as UTF-8"
		}
		out.Note = strings.TrimPrefix(d.note+"; "+note, "; ")
	}
	now, enc, ok := d.decode()
	if ok {
		out.storage = storageOf(now, enc)
	}
	old, _, wasText := charset.Decode(d.old)
	created := errors.Is(d.err, fs.ErrNotExist)
	if !d.hidden {
		out.Created = &created
	}
	switch {
	case created:
	case errors.Is(d.err, workspace.ErrTooLarge), len(d.old) > unified.MaxRead:
		out.DiffNote = "no diff: the old content is too large"
	case d.err != nil:
		out.DiffNote = d.unreadNote()
	case !ok || !wasText:
		out.DiffNote = "no diff: the content is binary"
	default:
		if d.note != "" { // all line ends change, which a diff need not show
			old, now = withLineEnds(old, endsLF), withLineEnds(now, endsLF)
		}
		out.Diff, out.DiffNote = unified.Diff(d.path, old, now)
		if bytes.Equal(old, now) && !bytes.Equal(d.old, d.data) {
			out.DiffNote = sameText
		}
	}
	return out
}

// appendFile adds content to what a file holds, or creates it. The bytes that are
// there stay as they are.
//
//	Edit                  adds to the file, in a loop that loses no change of others
//	there is no file      create writes it, if it is still missing
//	now there is one      Edit again
//
// A session must know the file as it is, but not all its lines, since none is replaced. One
// that knows the file is told that it was deleted, before it creates another.
func (ts *toolset) appendFile(ctx context.Context, path string, content []byte, in *writeFileInput) (*writeFileOutput, error) {
	unlock, err := ts.lockFile(ctx, ops.WriteFile, path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	d := &draft{path: path}
	var shown *shownFile
	add := func(old []byte) (_ []byte, err error) {
		if shown, err = ts.checkEdit(ctx, path, old, nil, nil); err != nil {
			return nil, err
		}
		*d = draft{path: path, data: content, old: old}
		if err := d.adapt(in); err != nil {
			return nil, err
		}
		now := slices.Concat(old, d.data)
		return now, ops.CheckSize(ops.WriteFile, path, int64(len(now)), ts.whole.MaxFileSize())
	}
	now, version, err := ts.whole.Edit(ctx, path, add)
	if errors.Is(err, fs.ErrNotExist) {
		if s := ts.session(ctx); s != nil && s.file(ts.fileKey(path)) != nil {
			return nil, ts.conflictMissing(ctx, path, in)
		}
		version, err = ts.create(ctx, path, content, &workspace.WriteOptions{IfNotExist: true})
		if err == nil {
			ts.wrote(ctx, path, version, content)
			*d = draft{path: path, data: content, err: fs.ErrNotExist}
			out := d.output()
			out.Version, out.Appended = version, len(content)
			return out, nil
		}
	}
	if errors.Is(err, fs.ErrExist) { // somebody has just created it
		now, version, err = ts.whole.Edit(ctx, path, add)
	}
	if err != nil {
		return nil, err
	}
	ts.appended(ctx, path, version, shown, d.old, now)
	out := &writeFileOutput{OK: true, Path: path, Created: new(bool), Bytes: len(now), Appended: len(d.data), Version: version, Note: d.note}
	if text, enc, ok := charset.Decode(now); ok {
		out.storage = storageOf(text, enc)
	}
	return out, nil
}

// appended records that the end of now was added to old, which [toolset.checkEdit] let
// through. The lines of old that were shown stay shown, and the new ones are known.
func (ts *toolset) appended(ctx context.Context, path string, version workspace.Version, shown *shownFile, old, now []byte) {
	s := ts.session(ctx)
	if s == nil {
		return
	}
	after := &shownFile{Version: version, SHA256: hash(now), Total: countLines(textOf(now)), data: now}
	for _, r := range shown.Lines {
		after.add(r[0], r[1])
	}
	after.add(countLines(textOf(old))+1, after.Total)
	s.put(ts.fileKey(path), after)
}

// planWriteFile also compares with a file that createOnly does not let it replace, for the
// person who decides. The session is not asked: the call itself does that. An append also
// reads.
func planWriteFile(ctx context.Context, ts *toolset, in *writeFileInput) ([]policy.Request, error) {
	path, content, err := ts.checkWrite(ctx, in)
	if err != nil {
		return nil, err
	}
	d := &draft{path: path, data: content}
	d.read(ctx, ts)
	if !in.CreateOnly { // the call does not look at the old content
		if err := d.adapt(in); err != nil {
			return nil, err
		}
	}
	exists := !errors.Is(d.err, fs.ErrNotExist)
	change := policy.Request{Op: ts.writeOp(ctx, path, in, exists), Path: path}
	if in.Append && exists {
		change.Op, d.data = policy.OpEdit, slices.Concat(d.old, d.data)
	}
	now, _, ok := d.decode()
	switch {
	case errors.Is(d.err, workspace.ErrTooLarge), len(d.old) > unified.MaxRead:
		change.Note = ts.tooLargeNote(ctx, path, len(d.data))
	case d.err != nil && !errors.Is(d.err, fs.ErrNotExist):
		change.Note = d.unreadNote()
	case d.err != nil && ok:
		change.Diff, change.Note = unified.Created(path, now)
	case isText(d.old) && ok:
		old := textOf(d.old)
		change.Diff, change.Note = unified.Change(path, old, now)
		if bytes.Equal(old, now) && !bytes.Equal(d.old, d.data) {
			change.Note = sameText
		}
	default:
		change.Diff, change.Note = unified.Change(path, d.old, d.data)
	}
	if in.Append {
		return []policy.Request{{Op: policy.OpRead, Path: path}, change}, nil
	}
	return []policy.Request{change}, nil
}

// writeOp returns what a write of the file is: an edit, if it has the condition that
// the file has a version, the caller's or the session's. A file that the session knows by
// another name has the version that it has now, if it exists. An append has no condition where it
// creates the file, and planWriteFile knows where it does not.
func (ts *toolset) writeOp(ctx context.Context, path string, in *writeFileInput, exists bool) policy.Op {
	if in.IfVersion != "" {
		return policy.OpEdit
	}
	s := ts.session(ctx)
	if s == nil || in.CreateOnly || in.Append || !ts.caps.ConditionalWrite {
		return policy.OpWrite
	}
	if shown := s.file(ts.fileKey(path)); shown != nil && shown.whole() && (shown.Version != "" || exists && ts.caps.Versions) {
		return policy.OpEdit
	}
	return policy.OpWrite
}

// tooLargeNote says why there is no diff of a large file that gets size bytes. Two sizes tell
// a person at least whether something is lost.
func (ts *toolset) tooLargeNote(ctx context.Context, path string, size int) string {
	before := "too large"
	if info, err := ts.ws.Stat(ctx, path); err == nil && info.Type == workspace.TypeFile {
		before = wording.Bytes(info.Size)
	}
	return fmt.Sprintf("no diff: the old content is %s, and the new one %s", before, wording.Bytes(int64(size)))
}

// text is a line such as "Wrote a.txt (12 bytes, CRLF, version 3f2a).", and the diff below it.
func (o *writeFileOutput) text() string {
	size := wording.Count(o.Bytes, "byte", "bytes")
	text := "Wrote " + onOneLine(o.Path)
	switch {
	case o.Created != nil && *o.Created:
		text = "Created " + onOneLine(o.Path)
	case o.Appended > 0:
		text = fmt.Sprintf("Appended %s to %s", wording.Count(o.Appended, "byte", "bytes"), onOneLine(o.Path))
	}
	text += " (" + strings.Join(append([]string{size}, o.words()...), ", ") + versionNote(o.Version) + ")."
	if o.Note != "" {
		text += " Note: " + o.Note + "."
	}
	return text + diffText(o.Diff, o.DiffNote)
}

// versionNote returns the version for the text of a result, empty if there is none.
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
