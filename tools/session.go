package tools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scratch"
	sessionid "github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// Session is what one run of an agent has been shown, for
// [Options].ReadBeforeWrite. A context carries it: see [WithSession].
//
// It has a random id, by which the layers below the tools tell the changes of one
// session from those of another. It keeps hashes and line numbers of the files, up
// to 16 MiB of their contents for the diffs of errors, and its shells and scratch
// files. The zero Session is a new one. It is safe for concurrent use.
type Session struct {
	mu    sync.Mutex
	id    string                 // guarded by mu; empty until ID is called
	files map[fileKey]*shownFile // guarded by mu; nil until put is called
	kept  int                    // guarded by mu; how many bytes of contents are kept

	editing map[fileKey]chan struct{} // guarded by mu; closed once a call has recorded what it makes of the file

	shells map[*bash]Shell // guarded by mu; of the sets with the tool bash
	stored json.RawMessage // guarded by mu; the state of a shell that has not been used yet
	space  *scratch.Space  // guarded by mu; for outputs of commands in sets without bash; nil until it is needed

	closed   bool                        // guarded by mu
	commands map[*sessionCommands]string // guarded by mu; where it has started commands, and with which id
}

// fileKey names a file of one of the workspaces. The path is clean, and symlinks in it are
// not resolved: what was read under one name was not read under another.
type fileKey struct {
	Workspace string `json:"workspace"`
	Path      string `json:"path"`
}

// shownFile is a file as it was when it was shown.
//
// SHA256 is of the stored bytes, so that a file counts as the same on a store without
// versions, and after a move, which may change the version. A file without lines, which a
// file that is not text is for this purpose, has been shown whole.
type shownFile struct {
	Version workspace.Version `json:"version,omitempty"`
	SHA256  string            `json:"sha256"`
	Total   int               `json:"total"`           // lines of the file
	Lines   []lineRange       `json:"lines,omitempty"` // that were shown, sorted; they do not touch

	data []byte // the whole file; nil if it is not kept
}

// lineRange is lines from 1, both included. In JSON, the ranges 1-40 and 80-120 are
// [[1,40],[80,120]].
type lineRange [2]int

// keptBytes is how much of the contents of files a session keeps. Without the contents of a
// file, an error about it has no diff, and nothing else is lost.
const keptBytes = 16 << 20

// NewSession returns a session that has been shown nothing, with an id of its own.
func NewSession() *Session {
	return new(Session)
}

// ID returns the id of the session: 1 to 64 letters, digits, "-" and "_". It stays
// the same in the JSON form.
func (s *Session) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		s.id = sessionid.NewID()
	}
	return s.id
}

// Undo reverts the last change of the session in a workspace with backups, or as many
// as opts say. Nil opts mean the zero options; their Session is that of s. A file that
// it reverts has changed since it was shown, so it has to be read again before a change
// with [Options].ReadBeforeWrite.
//
// # Errors
//
// Those of [backup.FS.Undo].
func (s *Session) Undo(ctx context.Context, backups *backup.FS, opts *backup.UndoOptions) ([]backup.Change, error) {
	var o backup.UndoOptions
	if opts != nil {
		o = *opts
	}
	o.Session = s.ID()
	return backups.Undo(ctx, &o)
}

// Close ends the commands that the session runs in the background, with everything that
// they have started, and waits for that. It can start none afterwards.
//
// All tools but run and processes can still be called in the session. Close can be called
// several times, and beside other calls.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	commands := s.commands
	s.commands = nil
	s.mu.Unlock()
	for all, id := range commands {
		all.end(id)
	}
}

// sessionKey is the key of a session in a context.
type sessionKey struct{}

// WithSession returns a context for the calls of one session. Without it, the tools
// that one call of [New] or [NewAll] made share one.
//
// The context can also be given to the operations of a [workspace.Workspace]: what
// records changes then knows that they belong to the session.
//
// The context has the id that s has now. s must not be nil.
func WithSession(ctx context.Context, s *Session) context.Context {
	return context.WithValue(sessionid.WithID(ctx, s.ID()), sessionKey{}, s)
}

// sessionFile is a file in the JSON form of a session.
type sessionFile struct {
	fileKey
	shownFile
}

// MarshalJSON returns what has been shown, for [Session.UnmarshalJSON]. The
// contents of files are not in it. Of a shell it has the directory, variables, functions,
// options and $?; if the session has used several sets with the tool bash, one of them.
//
// Scratch files and commands in the background are not in it either. Files are sorted by
// workspace and path, so that the same state has the same form.
//
// It waits for a script that runs in the shell. Files that are read meanwhile may be missing.
func (s *Session) MarshalJSON() ([]byte, error) {
	s.ID() // makes the id
	s.mu.Lock()
	list := []sessionFile{}
	for key, file := range s.files {
		list = append(list, sessionFile{key, *file})
	}
	slices.SortFunc(list, func(a, b sessionFile) int {
		return strings.Compare(a.Workspace+"\x00"+a.Path, b.Workspace+"\x00"+b.Path)
	})
	form := map[string]any{"id": s.id, "files": list}
	if s.stored != nil {
		form["shell"] = s.stored
	}
	for _, shell := range s.shells {
		form["shell"] = shell
	}
	s.mu.Unlock() // the shell waits for its script, whose observer may need the session
	return json.Marshal(form)
}

// UnmarshalJSON replaces the session by one that [Session.MarshalJSON] returned. One without
// an id gets a new one. The state of a shell is kept as it is until a set needs a shell,
// which then reads it. If it is damaged, one call of bash fails, and the next one begins a new
// shell.
//
// # Errors
//
// Data that is not JSON, or not of a session: without a list of files, with an id that is not
// valid, or with lines that overlap. The session is then as it was.
func (s *Session) UnmarshalJSON(data []byte) error {
	stored := struct {
		ID    string
		Files []sessionFile
		Shell json.RawMessage
	}{ID: sessionid.NewID()}
	if err := json.Unmarshal(data, &stored); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	if stored.Files == nil { // any object but a session, which whoever saves the session would replace
		return errors.New(`session: there is no list "files"`)
	}
	if !sessionid.Valid(stored.ID) {
		return errors.New("session: the id is damaged")
	}
	files := map[fileKey]*shownFile{}
	for _, file := range stored.Files {
		if !file.valid() {
			return fmt.Errorf("session: the record of %q is damaged", file.Path)
		}
		files[file.fileKey] = &file.shownFile
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id, s.files, s.kept = stored.ID, files, 0
	s.shells, s.stored, s.space = nil, stored.Shell, nil
	return nil
}

// valid reports whether the lines are sorted, do not touch, and are of the file. Two ranges
// touch if the second begins on the line after the first: they would be one.
func (f *shownFile) valid() bool {
	last := -1
	for _, lines := range f.Lines {
		if lines[0] <= last+1 && last >= 0 || lines[0] < 1 || lines[1] < lines[0] || lines[1] > f.Total {
			return false
		}
		last = lines[1]
	}
	return len(f.SHA256) == hex.EncodedLen(sha256.Size) && f.Total >= 0
}

// whole reports whether every line was shown.
func (f *shownFile) whole() bool {
	return f.Total == 0 || len(f.Lines) == 1 && f.Lines[0] == lineRange{1, f.Total}
}

// shows reports whether the lines first to last were shown. One range must have all of them;
// ranges that touch have been joined.
func (f *shownFile) shows(first, last int) bool {
	return f.Total == 0 || slices.ContainsFunc(f.Lines, func(r lineRange) bool { return r[0] <= first && last <= r[1] })
}

// add adds the lines first to last to those that were shown, and joins ranges
// that then touch.
//
// Of 1-40 and 80-120,
//
//	add(41, 60)    makes    1-60, 80-120
//	add(30, 79)    makes    1-120
//
// A range that begins before line 1, or has no lines, is ignored.
func (f *shownFile) add(first, last int) {
	if first < 1 || last < first {
		return
	}
	n := len(f.Lines)
	f.Lines = append(f.Lines, lineRange{first, last})
	if n == 0 || first > f.Lines[n-1][1]+1 { // a patch adds many, in order
		return
	}
	slices.SortFunc(f.Lines, func(a, b lineRange) int { return a[0] - b[0] })
	joined := f.Lines[:1]
	for _, r := range f.Lines[1:] {
		if end := &joined[len(joined)-1][1]; r[0] <= *end+1 {
			*end = max(*end, r[1])
		} else {
			joined = append(joined, r)
		}
	}
	f.Lines = joined
}

// text says for an error which lines were shown: "only the lines 1-40, 80 of 120 were read".
func (f *shownFile) text() string {
	var parts []string
	for _, r := range f.Lines {
		part := fmt.Sprintf("%d-%d", r[0], r[1])
		if r[0] == r[1] {
			part = strconv.Itoa(r[0])
		}
		parts = append(parts, part)
	}
	if len(f.Lines) == 1 && f.Lines[0][0] == f.Lines[0][1] {
		return fmt.Sprintf("only line %s of %d was read", parts[0], f.Total)
	}
	return fmt.Sprintf("only the lines %s of %d were read", strings.Join(parts, ", "), f.Total)
}

// file returns what the session knows of a file, nil for nothing. It is a copy, which later
// calls do not change, but shares the content, which nobody may change.
func (s *Session) file(key fileKey) *shownFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[key]; f != nil {
		clone := *f
		clone.Lines = slices.Clone(f.Lines)
		return &clone
	}
	return nil
}

// put records a file as it is now. Lines that were shown of the same content
// before stay shown.
//
// now belongs to the session afterwards. Its content is not kept if it is a large part of the
// whole limit. If the contents are too many, those of all other files are dropped: which one
// is needed next cannot be known.
func (s *Session) put(key fileKey, now *shownFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.files[key]; before != nil {
		s.kept -= len(before.data)
		if before.SHA256 == now.SHA256 {
			for _, r := range before.Lines {
				now.add(r[0], r[1])
			}
		}
	}
	if s.files == nil {
		s.files = map[fileKey]*shownFile{}
	}
	s.files[key] = now
	if len(now.data) > keptBytes/4 {
		now.data = nil
	}
	if s.kept += len(now.data); s.kept > keptBytes {
		for _, other := range s.files {
			if other != now {
				other.data = nil
			}
		}
		s.kept = len(now.data)
	}
}

// lock waits until no other call of the session edits the file or appends to it, as the caller
// would not know the file as that call leaves it. Patches, edits by a glob and writes of whole
// files take no lock: beside one, a call can fail with [workspace.ErrConflict].
//
// The caller must call unlock once it has recorded what it has made. The end of ctx also
// unlocks, as the file system may never return. The error is that of ctx.
func (s *Session) lock(ctx context.Context, key fileKey) (unlock func(), err error) {
	ended := make(chan struct{})
	for {
		other := s.tryLock(key, ended)
		if other == nil {
			break
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	end := sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.editing, key)
		close(ended)
	})
	stop := context.AfterFunc(ctx, end)
	return func() { stop(); end() }, nil
}

// tryLock notes that a call edits the file until ended is closed, and returns nil. If another
// call edits it, the result is closed at its end.
func (s *Session) tryLock(key fileKey, ended chan struct{}) (other chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other = s.editing[key]; other != nil {
		return other
	}
	if s.editing == nil {
		s.editing = map[fileKey]chan struct{}{}
	}
	s.editing[key] = ended
	return nil
}

// rename records that path, with all below it, is now called to, or is removed
// if to is empty. Under another name a file may have another version.
//
//	rename("w", "src", "lib")    src/a.go is lib/a.go, and src2/a.go stays
//	rename("w", "src", "")       src/a.go has not been read
func (s *Session) rename(ws, path, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, file := range maps.Clone(s.files) {
		rest, below := strings.CutPrefix(key.Path, path)
		if key.Workspace != ws || !below || rest != "" && rest[0] != '/' {
			continue
		}
		delete(s.files, key)
		if to == "" {
			s.kept -= len(file.data)
			continue
		}
		file.Version = ""
		moved := fileKey{ws, to + rest}
		if stale := s.files[moved]; stale != nil {
			s.kept -= len(stale.data)
		}
		s.files[moved] = file
	}
}

// errReadRequired is the kind of a change of a file that the session has not been
// shown.
var errReadRequired = errors.New("the file has to be read first")

// session returns the session of a call, nil if nobody minds what it has read. Whoever gets
// nil records nothing and checks nothing.
func (ts *toolset) session(ctx context.Context) *Session {
	if !ts.guarded {
		return nil
	}
	return ts.current(ctx)
}

// current returns the session of a call. Without one in ctx, it is the session of the set,
// which all such calls share.
func (ts *toolset) current(ctx context.Context) *Session {
	if s, ok := ctx.Value(sessionKey{}).(*Session); ok && s != nil {
		return s
	}
	return ts.own
}

// fileKey returns the key of a file in a session, which may know several workspaces.
func (ts *toolset) fileKey(path string) fileKey { return fileKey{ts.ws.Name(), path} }

// saw records that the lines first to last of a file were shown, all of it if the file has no
// lines, nothing if last is before first. data are its stored bytes, which the session may
// keep and which must not change. Lines of the same bytes that were shown before stay shown,
// so pages add up to the whole. A path that begins with a slash is of the scratch space, which
// needs no reading.
func (ts *toolset) saw(ctx context.Context, path string, version workspace.Version, data []byte, first, last, total int) {
	s := ts.session(ctx)
	if s == nil || strings.HasPrefix(path, "/") || total > 0 && last < first {
		return
	}
	now := &shownFile{Version: version, SHA256: hash(data), Total: total, data: data}
	now.add(first, last)
	s.put(ts.fileKey(path), now)
}

// wrote records a file that the session has written as a whole. It knows these bytes, and
// need not read them before the next change. A read of all bytes as base64 is recorded in the
// same way.
func (ts *toolset) wrote(ctx context.Context, path string, version workspace.Version, data []byte) {
	if ts.session(ctx) == nil {
		return
	}
	lines := countLines(textOf(data))
	ts.saw(ctx, path, version, data, 1, lines, lines)
}

// countLines returns how many lines data has; the last may lack its line end.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// hash returns the SHA-256 of data in hexadecimal, as sessions keep it.
func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// lockFile is [Session.lock] for a file of the workspace, and does nothing if nobody minds what
// was read. The error is that of ctx, for op.
func (ts *toolset) lockFile(ctx context.Context, op, path string) (unlock func(), err error) {
	s := ts.session(ctx)
	if s == nil {
		return func() {}, nil
	}
	if unlock, err = s.lock(ctx, ts.fileKey(path)); err != nil {
		return nil, ops.Error(op, path, err, nil)
	}
	return unlock, nil
}

// readRequired is the error of a change of a file that was not shown, or only
// the lines of shown.
func (ts *toolset) readRequired(ctx context.Context, op, path string, shown *shownFile) error {
	why, hint := error(nil), ts.ifRead("Read it with %s, and then do this again.")
	switch {
	case shown == nil:
		info, err := ts.ws.Stat(policy.WithApprover(ctx, nil), path)
		if limit := ts.whole.MaxFileSize(); err == nil && limit > 0 && info.Size > limit {
			hint = "It is too large to be read here. Ask the user."
		}
	case len(shown.Lines) == 0: // those that were read have been deleted
		why = errors.New("none of its lines was read")
	default:
		why = errors.New(shown.text())
		hint = ts.ifTool(ops.ReadFile, "Read the other lines with %s.")
		hint += ts.ifTool(ops.EditFile, " With %s you can change those that were read.")
	}
	return &hintedError{ops.Error(op, path, errReadRequired, why), strings.TrimSpace(hint)}
}

// ifRead is [toolset.ifTool] for the tool that reads a file: read_file, or read_files.
func (ts *toolset) ifRead(format string) string {
	return cmp.Or(ts.ifTool(ops.ReadFile, format), ts.ifTool(ops.ReadFiles, format))
}

// changedSince is the error of a change of a file that is no longer as it was shown. now is
// what it holds, nil if that is not known. If the contents before and now are known, the hint
// has the diff.
func (ts *toolset) changedSince(op, path string, shown *shownFile, now []byte) error {
	hint := "It has changed since it was read." + ts.ifRead(" Read it again with %s, and then decide.")
	if shown.data != nil && now != nil && isText(shown.data) && isText(now) {
		if diff, note := unified.Diff(path, textOf(shown.data), textOf(now)); diff != "" {
			hint += diffText(diff, note)
		}
	}
	return &hintedError{ops.Error(op, path, workspace.ErrConflict, nil), hint}
}

// checkUnchanged returns the version of the file if it still holds what was shown, and
// an error if it does not, or where that cannot be found out. A missing file has not
// changed. Without versions or conditional writes, the file can still change afterwards.
//
// It reads the whole file, whatever its size up to the limit of files that are read whole. A
// caller that can compare versions does so first: see [toolset.checkVersion].
func (ts *toolset) checkUnchanged(ctx context.Context, op, path string, shown *shownFile) (workspace.Version, error) {
	now, version, err := ts.whole.ReadVersioned(ctx, path, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", ops.Rename(err, op, path)
	case hash(now) != shown.SHA256:
		return "", ts.changedSince(op, path, shown, now)
	}
	return version, nil
}

// checkEdit returns what the session was shown of old, which holds text, and the error of an
// edit outside that. Without a change it says whether any edit can be made.
//
// An editor calls it twice: first without a change, so that a file that was never read fails
// before the time of a search is spent on it, then with the change.
func (ts *toolset) checkEdit(ctx context.Context, path string, old, text []byte, change *edit.Change) (*shownFile, error) {
	return ts.checkLines(ctx, ops.EditFile, path, old, func() []lineChange {
		if change == nil {
			return nil
		}
		return lineChanges(text, change.Spans())
	})
}

// checkLines returns what the session was shown of old, nil if nobody minds, and the error of a
// change by op outside that. changes is called if it is needed.
//
// # Errors
//
// [toolset.readRequired] if the file or a line that changes was not shown, and
// [toolset.changedSince] if old is not what was shown.
func (ts *toolset) checkLines(ctx context.Context, op, path string, old []byte, changes func() []lineChange) (*shownFile, error) {
	s := ts.session(ctx)
	if s == nil {
		return nil, nil
	}
	shown := s.file(ts.fileKey(path))
	switch {
	case shown == nil:
		return nil, ts.readRequired(ctx, op, path, nil)
	case hash(old) != shown.SHA256:
		return nil, ts.changedSince(op, path, shown, old)
	case shown.whole():
		return shown, nil
	}
	for _, c := range changes() {
		if !shown.shows(c.first, c.last) {
			return nil, ts.readRequired(ctx, op, path, shown)
		}
	}
	return shown, nil
}

// lineChange is one replacement, in lines.
type lineChange struct {
	first, last int // the lines that it replaces a part of, from 1
	grown       int // how many lines more there are after it
}

// lineChanges returns the replacements spans of data in lines, in one pass: there
// can be 100,000 of them in a large file.
//
// Of the text "a\nb\nc\n",
//
//	"b\n" replaced by "x\ny\n"     is {2, 2, 1}
//	"x\n" inserted before "b"      is {2, 2, 1}
//	"x\n" added after "c\n"        is {3, 3, 1}
//	"a\nb" replaced by "a b"       is {1, 2, -1}
//
// A line end at the end of a span is a part of its last line, so the line after it is not
// touched. What is appended belongs to the last line, since nothing else can have been shown.
// spans are sorted and do not overlap.
func lineChanges(data []byte, spans []edit.Span) []lineChange {
	changes := make([]lineChange, len(spans))
	line, at := 1, 0
	for i, span := range spans {
		line += bytes.Count(data[at:span.Start], []byte("\n"))
		at = span.Start
		ends := bytes.Count(data[span.Start:span.End], []byte("\n"))
		changes[i] = lineChange{line, line + ends, strings.Count(span.New, "\n") - ends}
		switch {
		case ends > 0 && data[span.End-1] == '\n':
			changes[i].last--
		case at > 0 && at == len(data) && data[at-1] == '\n': // it appends: to the last line
			changes[i].first, changes[i].last = line-1, line-1
		}
	}
	return changes
}

// edited records what e has made of the file, which [toolset.checkEdit] let through. If the lines
// 1-3 and 7-9 of a file were shown, a change that replaces line 2 by three lines leaves 1-5 and
// 9-11 shown.
func (ts *toolset) edited(ctx context.Context, version workspace.Version, e *editor) {
	s := ts.session(ctx)
	if s == nil {
		return
	}
	after := &shownFile{Version: version, SHA256: hash(e.now), Total: countLines(textOf(e.now)), data: e.now}
	if e.shown.whole() {
		after.add(1, after.Total)
	} else {
		changes, shift := lineChanges(e.text, e.change.Spans()), 0
		// Each change is in one of the ranges, as checkEdit has let it through. Those in a
		// range move its end, and with it the ranges below.
		for _, r := range e.shown.Lines {
			first := r[0] + shift
			for len(changes) > 0 && changes[0].first <= r[1] {
				shift += changes[0].grown
				changes = changes[1:]
			}
			after.add(first, min(r[1]+shift, after.Total))
		}
	}
	s.put(ts.fileKey(e.path), after)
}

// checkKnown returns the error of a move or a removal of a file that the session was not
// shown as it is. A directory and a symlink need not have been read. Any part of the file is
// enough. That the file changes between this check and the operation cannot be excluded,
// because the contract has no condition for a removal or a move.
func (ts *toolset) checkKnown(ctx context.Context, op, path string) error {
	s := ts.session(ctx)
	if s == nil {
		return nil
	}
	info, err := ts.ws.Stat(ctx, path)
	if err != nil {
		return ops.Rename(err, op, path)
	}
	if info.Type != workspace.TypeFile {
		return nil
	}
	shown := s.file(ts.fileKey(path))
	if shown == nil {
		return ts.readRequired(ctx, op, path, nil)
	}
	return ts.checkVersion(ctx, op, path, shown, info.Version)
}

// checkVersion returns an error unless now is the version that was shown, or the file holds
// the same bytes. Equal versions save reading the file. A version that differs proves
// nothing: a move, or a write of the same bytes, can change it.
func (ts *toolset) checkVersion(ctx context.Context, op, path string, shown *shownFile, now workspace.Version) error {
	if now != "" && now == shown.Version {
		return nil
	}
	_, err := ts.checkUnchanged(ctx, op, path, shown)
	return err
}

// forget records that path was removed, or moved to another name. An empty to means a
// removal.
func (ts *toolset) forget(ctx context.Context, path, to string) {
	if s := ts.session(ctx); s != nil {
		s.rename(ts.ws.Name(), path, to)
	}
}

// copied records that to is a copy of the file path. Under another name a file may have
// another version, and path may have changed before it was copied.
func (ts *toolset) copied(ctx context.Context, path, to string) {
	s := ts.session(ctx)
	if s == nil {
		return
	}
	if shown := s.file(ts.fileKey(path)); shown != nil {
		shown.Version = ""
		s.put(ts.fileKey(to), shown)
	}
}
