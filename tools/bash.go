package tools

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scratch"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// Bash makes the shells of the tool "bash". It must be safe for concurrent use.
//
// Package tools knows no shell: an implementation is in another package, so that a program
// without the tool does not link one.
type Bash interface {
	// NewShell returns a shell over workspaces: one is its root, several are directories
	// of its root under their names.
	NewShell(workspaces []*workspace.Workspace) Shell
	// Programs returns the names of programs that scripts can call, for the description.
	Programs() []string
}

// Shell runs scripts of bash. Its state is kept from one script to the next, and is what
// it marshals as JSON. It must be safe for concurrent use.
type Shell interface {
	// Run runs a script, and returns when nothing of it runs any more. A script that
	// fails is no error.
	//
	// # Errors
	//
	// What keeps the script from beginning, such as a Dir that does not exist. A limit that
	// is reached is no error: the result has Stopped.
	Run(ctx context.Context, call *ShellCall) (*ShellResult, error)
	// ReadScratch returns the content of a file below /tmp or /dev/shm that is in no
	// workspace.
	ReadScratch(ctx context.Context, name string) ([]byte, error)
	// Spill keeps an output that is too long for a model as such a file, and returns its
	// name.
	Spill(ctx context.Context, output []byte) (name string, err error)
	json.Marshaler
	json.Unmarshaler
}

// ShellCall is one script for a [Shell].
type ShellCall struct {
	// Script is what is run.
	Script string
	// Dir is the working directory. Empty means the one where the last script ended.
	Dir string
	// Timeout is how long the script may run, and less if ctx ends before that, so that there
	// is a result. Zero means as long as the shell allows.
	Timeout time.Duration
	// Observer learns of what the script does with files, and can refuse changes.
	Observer ShellObserver
}

// ShellObserver learns of what a script does with files. Calls may come from several
// goroutines of one script at a time.
type ShellObserver interface {
	// Read is called for a file that was read to its end. sum is the SHA-256 of its
	// content, and lines is how many lines it has.
	Read(ctx context.Context, ws *workspace.Workspace, name string, version workspace.Version, sum [32]byte, lines int)
	// Wrote is called for a file that was written whole.
	Wrote(ctx context.Context, ws *workspace.Workspace, name string, version workspace.Version, sum [32]byte, lines int)
	// Change is called before a change of name by op. info is nil if it does not exist, and for a
	// mkdir. An error of Change becomes the error of the operation.
	Change(ctx context.Context, op string, ws *workspace.Workspace, name string, info *workspace.FileInfo) error
	// Moved is called after name, with all below it, was moved to to, or was removed if to
	// is empty.
	Moved(ctx context.Context, ws *workspace.Workspace, name, to string)
	// Copied is called after the file name was copied to the file to. Neither Read nor Wrote is
	// called for it.
	Copied(ctx context.Context, ws *workspace.Workspace, name, to string)
}

// ShellResult is what a script did.
type ShellResult struct {
	// ExitCode is the exit status.
	ExitCode int
	// Output is standard output and standard error in order.
	Output string
	// Cut is how many bytes are missing in the middle of Output.
	Cut int
	// Spilled is the file below /dev/shm that has the whole output, if Output is cut.
	Spilled string
	// Stopped says which limit ended the script, or that a panic did, empty for neither.
	Stopped string
	// Changes are the files that were changed, in order.
	Changes []ShellChange
}

// ShellChange is a change of one file or directory.
type ShellChange struct {
	// Op is "write_file", "rm", "mkdir" or "move".
	Op string `json:"op" jsonschema:"write_file, rm, mkdir or move"`
	// Workspace is the name of the workspace.
	Workspace string `json:"workspace" jsonschema:"the name of the workspace"`
	// Path is the name in the workspace.
	Path string `json:"path" jsonschema:"the name from its root"`
	// To is the destination of a move.
	To string `json:"to,omitempty" jsonschema:"where it was moved to"`
	// Version is the version of a file that was written.
	Version workspace.Version `json:"version,omitempty" jsonschema:"the version of the file now"`
}

// bash is the shells of a set: one for each session.
//
// One tool serves all workspaces of the set, also if these do not share their other tools, as
// a script often works over several of them.
type bash struct {
	make     Bash
	toolsets []*toolset // of the workspaces
	mu       sync.Mutex // held while a shell is made
}

// bashInput are the parameters of bash.
type bashInput struct {
	Script  string  `json:"script" jsonschema:"what to run"`
	Dir     string  `json:"dir,omitempty" jsonschema:"the working directory; the one where the last call ended if left out"`
	Timeout integer `json:"timeout,omitempty" jsonschema:"seconds"`
}

// bashOutput is the result of bash. Cut and Spilled are set only if the output was too
// long.
type bashOutput struct {
	ExitCode    int           `json:"exitCode" jsonschema:"the exit status: 124 if the time was up, 137 if another limit ended it"`
	Output      string        `json:"output" jsonschema:"standard output and standard error, in order"`
	Cut         int           `json:"cut,omitempty" jsonschema:"how many bytes are left out in the middle of output"`
	Spilled     string        `json:"spilled,omitempty" jsonschema:"the file that has the whole output, if it is cut"`
	Stopped     string        `json:"stopped,omitempty" jsonschema:"the limit that ended the script"`
	Changes     []ShellChange `json:"changes,omitempty" jsonschema:"what was changed, in order"`
	MoreChanges int           `json:"moreChanges,omitempty" jsonschema:"how many more changes there were"`

	several bool // there are several workspaces
}

// maxScriptSeconds is the longest timeout of a script, if a call may take longer.
const maxScriptSeconds = 3600

var bashSpec = spec{
	op: ops.Bash, annotations: Annotations{Title: "Run script", Destructive: true}, handler: define(runBash, planBash),
	shape: func(p properties, ts *toolset) { p.between("timeout", 1, ts.maxTimeout()) },
}

// addBash adds the tool bash to a set over the workspaces of toolsets, if shells can be
// made and nobody disabled it.
//
// It runs after all other tools are made, and completes the toolsets: read_file then finds
// what scripts have left in /tmp. Over several workspaces the name has no {name}.
func (s *Set) addBash(toolsets []*toolset, naming string, o Options) error {
	if o.Bash == nil || slices.Contains(o.Disable, ops.Bash) {
		return nil
	}
	first := toolsets[0]
	if len(toolsets) > 1 {
		naming = sharedNaming(naming)
	}
	name, err := toolName(naming, first.ws.Name(), bashSpec.op)
	if err != nil {
		return err
	}
	b := &bash{make: o.Bash, toolsets: toolsets}
	for _, ts := range toolsets {
		ts.bash = b
		ts.names[ops.Bash] = name
	}
	s.tools = append(s.tools, first.tool(bashSpec, name))
	return s.collision()
}

// shell returns the shell of the session of a call. It is made when it is used first. The
// state of a session that was restored goes to the first set that asks for a shell.
//
// mu is locked before the mutex of the session. Both are held while the shell is made, so
// that there is one for a session; NewShell and UnmarshalJSON must not call the session.
func (b *bash) shell(ctx context.Context) (Shell, error) {
	s := b.toolsets[0].current(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.shells[b]; known != nil {
		return known, nil
	}
	var workspaces []*workspace.Workspace
	for _, ts := range b.toolsets {
		workspaces = append(workspaces, ts.ws)
	}
	made := b.make.NewShell(workspaces)
	if s.stored != nil {
		if err := made.UnmarshalJSON(s.stored); err != nil {
			return nil, err
		}
		s.stored = nil
	}
	if s.shells == nil {
		s.shells = map[*bash]Shell{}
	}
	s.shells[b] = made
	return made, nil
}

// runBash runs a script in the shell of the session. A script that fails, or is stopped by a
// limit, is a result, whose exit code says so. A stored state that is damaged fails one call. ts is
// the toolset of the first workspace: its timeout is that of all.
func runBash(ctx context.Context, ts *toolset, in *bashInput) (*bashOutput, error) {
	shell, err := ts.bash.shell(ctx)
	if err != nil {
		s := ts.current(ctx)
		s.mu.Lock()
		s.stored = nil
		s.mu.Unlock()
		return nil, &hintedError{errors.New("the shell of the session could not be restored"), "The next call begins a new one, without its directory, variables and functions."}
	}
	result, err := shell.Run(ctx, &ShellCall{Script: in.Script, Dir: in.Dir, Timeout: ts.scriptTime(in.Timeout), Observer: ts.bash})
	if err != nil {
		return nil, ts.bash.explainDir(ctx, err)
	}
	changes := result.Changes[:min(len(result.Changes), maxChanges)]
	return &bashOutput{ExitCode: result.ExitCode, Output: result.Output, Cut: result.Cut, Spilled: result.Spilled, Stopped: result.Stopped,
		Changes: changes, MoreChanges: len(result.Changes) - len(changes), several: len(ts.bash.toolsets) > 1}, nil
}

// explainDir adds a hint to the error of a directory that does not exist, where there are
// several workspaces: it is in one of them, or names none.
func (b *bash) explainDir(ctx context.Context, err error) error {
	if len(b.toolsets) == 1 || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	name, below, _ := strings.Cut(strings.TrimPrefix(ops.Path(err), "/"), "/")
	for _, ts := range b.toolsets {
		if ts.ws.Name() != name || below == "" {
			continue
		}
		_, dir, near := ts.nearName(policy.WithApprover(ctx, nil), below) // nobody is asked for a hint
		if near != "" && near != below {
			return &hintedError{err, fmt.Sprintf("Did you mean %q?", "/"+name+"/"+near)}
		}
		return &hintedError{err, strings.TrimSpace(ts.lookHint(dir))}
	}
	return &hintedError{err, "The directories of the workspaces are " + b.roots() + "."}
}

// maxChanges is how many changes a result lists: a script can make a million.
const maxChanges = 1000

// scriptTime returns how long a script may run: a twentieth less than the call, so that what
// it printed is not lost with the call. Zero seconds mean the time of the call. The result is
// 0 if that has no limit either.
func (ts *toolset) scriptTime(seconds integer) time.Duration {
	limit := time.Duration(seconds) * time.Second
	if ts.timeout > 0 {
		if most := ts.timeout - ts.timeout/20; limit == 0 || limit > most {
			limit = most
		}
	}
	return limit
}

// maxTimeout returns the most seconds for the parameter timeout.
func (ts *toolset) maxTimeout() int { return max(1, int(ts.scriptTime(maxScriptSeconds).Seconds())) }

// planBash says that a script may do anything: what it does is known when it does it. The
// rules of the workspace still ask about each operation.
func planBash(_ context.Context, ts *toolset, _ *bashInput) ([]policy.Request, error) {
	var requests []policy.Request
	for _, member := range ts.bash.toolsets {
		name := member.ws.Name()
		requests = append(requests, policy.Request{Workspace: name, Op: policy.OpRead, Path: "."})
		if member.caps.Write {
			requests = append(requests, policy.Request{Workspace: name, Op: policy.OpWrite, Path: "."},
				policy.Request{Workspace: name, Op: policy.OpDelete, Path: ".", Recursive: true})
		}
	}
	return requests, nil
}

// root says what the root of the shells is.
func (b *bash) root() string {
	if len(b.toolsets) == 1 {
		return "the root of the workspace"
	}
	return "the directory of the workspaces: " + b.roots()
}

// scratchDir returns the directory of the scratch space, unless the only workspace has a tmp.
func (b *bash) scratchDir() string {
	if len(b.toolsets) > 1 && slices.ContainsFunc(b.toolsets, func(ts *toolset) bool { return ts.ws.Name() == "tmp" }) {
		return "/dev/shm" // which no workspace hides
	}
	return "/tmp"
}

// roots lists the directories of several workspaces.
func (b *bash) roots() string {
	var names []string
	for _, ts := range b.toolsets {
		names = append(names, "/"+ts.ws.Name())
	}
	return strings.Join(names, ", ")
}

// member returns the toolset of a workspace. It returns nil for one that is not in the set.
func (b *bash) member(ws *workspace.Workspace) *toolset {
	for _, ts := range b.toolsets {
		if ts.ws == ws {
			return ts
		}
	}
	return nil
}

// Read implements [ShellObserver]: a file that a script has read was shown. Only hashes are
// kept, so an error about the file has no diff.
func (b *bash) Read(ctx context.Context, ws *workspace.Workspace, name string, version workspace.Version, sum [32]byte, lines int) {
	ts := b.member(ws)
	if ts == nil {
		return
	}
	if s := ts.session(ctx); s != nil {
		now := &shownFile{Version: version, SHA256: hex.EncodeToString(sum[:]), Total: lines}
		now.add(1, lines)
		s.put(ts.fileKey(name), now)
	}
}

// Wrote implements [ShellObserver]: a session knows what it has written itself.
func (b *bash) Wrote(ctx context.Context, ws *workspace.Workspace, name string, version workspace.Version, sum [32]byte, lines int) {
	b.Read(ctx, ws, name, version, sum, lines)
}

// Change implements [ShellObserver]: it refuses to change a file that the session has not
// read as it is. To write a file again, all of it must have been shown; to remove or move it,
// a part is enough. What does not exist, and what is no file, can be changed.
func (b *bash) Change(ctx context.Context, op string, ws *workspace.Workspace, name string, info *workspace.FileInfo) error {
	ts := b.member(ws)
	if ts == nil || info == nil || info.Type != workspace.TypeFile {
		return nil
	}
	s := ts.session(ctx)
	if s == nil {
		return nil
	}
	shown := s.file(ts.fileKey(name))
	if shown == nil {
		return ts.readRequired(ctx, op, name, nil)
	}
	err := ts.checkVersion(ctx, op, name, shown, info.Version)
	if err == nil && op == ops.WriteFile && !shown.whole() {
		err = ts.readRequired(ctx, op, name, shown)
	}
	return err
}

// Moved implements [ShellObserver]: what the session has been shown of name, it knows as to.
func (b *bash) Moved(ctx context.Context, ws *workspace.Workspace, name, to string) {
	if ts := b.member(ws); ts != nil {
		ts.forget(ctx, name, to)
	}
}

// Copied implements [ShellObserver]: what the session has been shown of name, it has been
// shown of its copy.
func (b *bash) Copied(ctx context.Context, ws *workspace.Workspace, name, to string) {
	if ts := b.member(ws); ts != nil {
		ts.copied(ctx, name, to)
	}
}

// scratchSpace keeps the long outputs of a session, as files that read_file can read. A
// [Shell] is one, and so is a [scratch.Space].
type scratchSpace interface {
	ReadScratch(ctx context.Context, name string) ([]byte, error)
	Spill(ctx context.Context, output []byte) (name string, err error)
}

// scratch returns the scratch space of the session of a call: that of its shell, so that
// scripts can read what is there, and without the tool bash one of its own.
func (ts *toolset) scratch(ctx context.Context) (scratchSpace, error) {
	if ts.bash != nil {
		return ts.bash.shell(ctx)
	}
	s := ts.current(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.space == nil {
		s.space = scratch.New(scratch.DefaultLimit)
	}
	return s.space, nil
}

// text returns the output, and in brackets what a terminal would not show: the exit code, if
// it is not 0, and what was changed. What Stopped says is in the output already.
func (o *bashOutput) text() string {
	var b strings.Builder
	b.WriteString(o.Output)
	if o.Output != "" && !strings.HasSuffix(o.Output, "\n") {
		b.WriteByte('\n')
	}
	if o.ExitCode != 0 {
		fmt.Fprintf(&b, "[exit code %d]\n", o.ExitCode)
	}
	if len(o.Changes) > 0 {
		b.WriteString("[" + o.changed() + "]\n")
	}
	if b.Len() == 0 {
		return "(no output)"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// shownChanges is how many changes the text names.
const shownChanges = 10

// changed names the changes in one line.
func (o *bashOutput) changed() string {
	var parts []string
	verbs := map[string]string{ops.WriteFile: "wrote", ops.Rm: "removed", ops.Mkdir: "made", ops.Move: "moved"}
	for i, c := range o.Changes {
		if i == shownChanges {
			parts = append(parts, fmt.Sprintf("and %d more", len(o.Changes)-i+o.MoreChanges))
			break
		}
		path := c.Path
		if o.several {
			path = "/" + c.Workspace + "/" + path
		}
		text := verbs[c.Op] + " " + onOneLine(path)
		if c.To != "" {
			text += " to " + onOneLine(c.To)
		}
		if c.Version != "" {
			text += " (version " + string(c.Version) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
