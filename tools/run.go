package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scratch"
	sessionid "github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/jobs"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// sessionCommands are the commands of a workspace: those of each session, by its id.
//
// The id of a command is a number in its session, so that no session sees or kills the
// commands of another. A restored session with the same id finds its commands again.
type sessionCommands struct {
	mu  sync.Mutex
	all map[string]*jobs.Jobs // guarded by mu
}

// maxCommandSessions is how many sessions have commands in a workspace at a time.
const maxCommandSessions = 32

// of returns the commands of the session of a call, which are none that anybody keeps if it
// has started none and does not with this call. Above the maximum, it forgets the sessions in
// which nothing runs.
//
// mu is held from the test whether the session is closed to the end, so that Close, which
// waits for it, finds the commands that are returned here.
//
// # Errors
//
// [errors.ErrUnsupported] for a session that is closed, and [workspace.ErrUnavailable] if too
// many sessions have running commands.
func (c *sessionCommands) of(ctx context.Context, ws *workspace.Workspace, starts bool) (*jobs.Jobs, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := sessionid.ID(ctx)
	if s, ok := ctx.Value(sessionKey{}).(*Session); ok && s != nil && !s.starts(c, id) {
		err := ops.Error(ops.Run, ".", errors.ErrUnsupported, errors.New("the session has ended"))
		return nil, &hintedError{err, "It starts no more commands. Use other tools, or tell the user."}
	}
	if known := c.all[id]; known != nil {
		return known, nil
	}
	if !starts {
		return jobs.New(ws, nil), nil
	}
	if len(c.all) >= maxCommandSessions {
		maps.DeleteFunc(c.all, func(_ string, other *jobs.Jobs) bool {
			if slices.ContainsFunc(other.List(), func(j jobs.Job) bool { return j.Running }) {
				return false
			}
			other.Close() // for a call that is about to start something
			return true
		})
	}
	switch {
	case len(c.all) >= maxCommandSessions:
		err := ops.Error(ops.Run, ".", workspace.ErrUnavailable, fmt.Errorf("%d other sessions run commands", len(c.all)))
		return nil, &hintedError{err, "Try again when others have ended."}
	case c.all == nil:
		c.all = map[string]*jobs.Jobs{}
	}
	c.all[id] = jobs.New(ws, nil)
	return c.all[id], nil
}

// starts notes that the session starts commands, unless it is closed. The id is kept, because
// UnmarshalJSON may change the one of the session.
func (s *Session) starts(c *sessionCommands, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.commands == nil {
		s.commands = map[*sessionCommands]string{}
	}
	s.commands[c] = id
	return !s.closed
}

// end ends the commands of a session. It waits for them without the lock, since a command may
// need a moment to end.
func (c *sessionCommands) end(id string) {
	c.mu.Lock()
	all := c.all[id]
	delete(c.all, id)
	c.mu.Unlock()
	if all != nil {
		all.Close()
	}
}

// runInput are the parameters of run.
type runInput struct {
	Command    string  `json:"command" jsonschema:"a line for sh"`
	Dir        string  `json:"dir,omitempty" jsonschema:"the directory where it begins; the root if left out"`
	Timeout    integer `json:"timeout,omitempty" jsonschema:"seconds until it is killed"`
	Background bool    `json:"background,omitempty" jsonschema:"returns when it has started, and lets it run; takes no timeout"`
}

// runOutput is the result of run.
type runOutput struct {
	ID       string `json:"id" jsonschema:"its number, which processes takes"`
	Running  bool   `json:"running,omitempty" jsonschema:"it has not ended"`
	ExitCode int    `json:"exitCode" jsonschema:"the exit code; -1 while it runs, and if it was killed"`
	Signal   string `json:"signal,omitempty" jsonschema:"the signal that ended it"`
	Stopped  string `json:"stopped,omitempty" jsonschema:"why it was killed"`
	Output   string `json:"output" jsonschema:"standard output and standard error, in order"`
	Cut      int64  `json:"cut,omitempty" jsonschema:"how many bytes are left out in the middle of output"`
	Spilled  string `json:"spilled,omitempty" jsonschema:"the file that has its first 16 MiB, if it is cut"`
}

// The bounds of the tools for commands.
const (
	outputBytes = 24 << 10 // of an output that run and processes show
	spillBytes  = 16 << 20 // of an output that goes to a file
)

var runSpec = spec{
	op: ops.Run, annotations: Annotations{Title: "Run command", Destructive: true, OpenWorld: true}, handler: define(runRun, planRun),
	needs: func(c workspace.Capabilities) bool { return c.Run },
	shape: func(p properties, ts *toolset) {
		p.between("timeout", 1, ts.maxTimeout())
		if !ts.has(ops.Processes) { // nothing could end a command in the background
			delete(p, "background")
		}
	},
}

// beginning keeps the first bytes of what is written to it. With the last bytes, which
// package jobs keeps, it makes up all of an output that is not very long.
type beginning []byte

// Write implements [io.Writer]. It drops the rest and reports success, as an error would kill
// the command.
func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), spillBytes-len(*b))]...)
	return len(p), nil
}

// withCommands returns d with the tools for commands. The specs of d stay as they are.
func (d *dialect) withCommands() *dialect {
	with := *d
	with.specs = append(with.specs[:len(with.specs):len(with.specs)], runSpec, processesSpec)
	return &with
}

// oneOutput makes the two outputs of a line one, which keeps their order. It is a line of its
// own, so that the line of the model may begin with anything.
const oneOutput = "exec 2>&1\n"

// words returns the command that runs the line. The shell of the store's machine reads it, so
// pipes and quotes are as usual there.
func (in *runInput) words() []string { return []string{"sh", "-c", oneOutput + in.Command} }

// check refuses parameters that contradict each other.
func (in *runInput) check() error {
	if in.Background && in.Timeout > 0 {
		return &argumentError{message: "a command in the background has no timeout", hint: "Leave timeout out, and kill the command when it has done its work."}
	}
	return nil
}

// runRun runs a command and waits for it, or with background starts one. A command that
// fails, or is killed when its time is up, is a result. The time is a little less than the
// call has, so that the output is not lost with the call.
//
// # Errors
//
// Those of [jobs.Jobs.Start], and the error of a command that has ended without a result.
func runRun(ctx context.Context, ts *toolset, in *runInput) (*runOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	all, err := ts.commands.of(ctx, ts.ws, true)
	if err != nil {
		return nil, err
	}
	opts := &workspace.RunOptions{Command: in.words(), Dir: in.Dir}
	var begin beginning
	if !in.Background {
		opts.Stdout = &begin
	}
	id, err := all.Start(ctx, opts)
	switch {
	case errors.Is(err, jobs.ErrTooMany):
		return nil, &hintedError{err, "Wait for a command, or kill one."}
	case err != nil && ctx.Err() == nil: // else it may have begun meanwhile
		return nil, &unstartedError{err}
	case err != nil:
		return nil, err
	}
	stopped := ""
	if !in.Background {
		limit := ops.Limit(ctx, ts.scriptTime(in.Timeout))
		if stopped, err = waitOrKill(ctx, all, id, limit); err != nil {
			return nil, err
		}
		if stopped != "" {
			ctx = context.WithoutCancel(ctx) // it keeps its output
		}
		asked := time.Duration(in.Timeout) * time.Second
		if stopped != "" && (limit != asked || asked == ts.scriptTime(0).Truncate(time.Second)) {
			stopped += ", the time of one call"
			if ts.has(ops.Processes) {
				stopped += "; with background it may take longer"
			}
		}
	}
	out, err := all.Output(id, 0)
	if err != nil {
		return nil, err
	}
	if !out.Running && out.Result == nil && stopped == "" {
		return nil, out.Err
	}
	result := &runOutput{ID: id, Running: out.Running, ExitCode: -1, Stopped: stopped}
	if out.Result != nil {
		result.ExitCode, result.Signal = out.Result.ExitCode, out.Result.Signal
	}
	if in.Background {
		result.Output = newOutputPage(out).text
		return result, nil
	}
	short := scratch.Shorten(begin, out.Data, out.Next, ts.runOutput, func(output []byte) (string, error) {
		space, err := ts.scratch(ctx)
		if err != nil {
			return "", err
		}
		return space.Spill(ctx, output)
	})
	result.Output, result.Cut, result.Spilled = strings.ToValidUTF8(short.Text, "\uFFFD"), short.Cut, short.Spilled
	return result, nil
}

// unstartedError is the error of a command that did not begin, and so has done nothing.
type unstartedError struct{ err error }

func (e *unstartedError) Error() string { return e.err.Error() }
func (e *unstartedError) Unwrap() error { return e.err }

// waitOrKill waits for the end of a command, and kills it when its time is up. stopped says
// so. The time may be zero for no limit. The end of ctx kills the command, too, and is an
// error. The command has ended when waitOrKill returns without one.
func waitOrKill(ctx context.Context, all *jobs.Jobs, id string, limit time.Duration) (stopped string, err error) {
	wait, cancel := ctx, func() {}
	if limit > 0 {
		wait, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	if err := all.Wait(wait, id); err == nil {
		return "", nil
	}
	ended := ctx.Err() // a command whose time was up before may take longer than ctx to end
	if err := all.Kill(context.WithoutCancel(ctx), id); err != nil {
		return "", err
	}
	if ended != nil {
		return "", ops.Error(ops.Run, ".", ended, nil)
	}
	return fmt.Sprintf("it was killed after %s", limit.Round(time.Second/10)), nil
}

// planRun says that a command is run in a directory. What the command does to files cannot be
// known.
func planRun(ctx context.Context, ts *toolset, in *runInput) ([]policy.Request, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	dir, err := ts.ws.Clean(ctx, ops.Run, in.Dir)
	if err != nil {
		return nil, err
	}
	return []policy.Request{{Workspace: ts.ws.Name(), Op: policy.OpRun, Path: dir, Note: fmt.Sprintf("runs %q", in.words())}}, nil
}

// text is the output, and in brackets how the command ended, if that was not with 0, or that
// it still runs.
func (o *runOutput) text() string {
	var b strings.Builder
	b.WriteString(o.Output)
	if o.Output != "" && !strings.HasSuffix(o.Output, "\n") {
		b.WriteByte('\n')
	}
	switch {
	case o.Running:
		fmt.Fprintf(&b, "[runs in the background, id %s]\n", o.ID)
	case o.Stopped != "":
		fmt.Fprintf(&b, "[%s]\n", o.Stopped)
	case o.Signal != "":
		fmt.Fprintf(&b, "[ended by the signal %s]\n", o.Signal)
	case o.ExitCode != 0:
		fmt.Fprintf(&b, "[exit code %d]\n", o.ExitCode)
	}
	return cmp.Or(strings.TrimSuffix(b.String(), "\n"), "(no output)")
}

// processesInput are the parameters of processes.
type processesInput struct {
	Action string  `json:"action,omitempty" jsonschema:"list, output or kill"`
	ID     string  `json:"id,omitempty" jsonschema:"the number of a command"`
	Offset integer `json:"offset,omitempty" jsonschema:"the byte at which output begins"`
}

// processesOutput is the result of processes.
type processesOutput struct {
	Processes []process `json:"processes" jsonschema:"the commands"`
	Output    string    `json:"output,omitempty" jsonschema:"what was written from offset on"`
	Offset    int64     `json:"offset,omitempty" jsonschema:"where output begins: later than asked for if earlier bytes are deleted"`
	Next      int64     `json:"next,omitempty" jsonschema:"the offset of what comes after output"`

	shown bool  // output was asked for
	asked int64 // from this offset on
}

// process is one command in the result of processes. Command is the line of the model.
type process struct {
	ID       string `json:"id" jsonschema:"its number"`
	Command  string `json:"command" jsonschema:"what is run"`
	Dir      string `json:"dir,omitempty" jsonschema:"where it began"`
	Running  bool   `json:"running" jsonschema:"it has not ended"`
	ExitCode int    `json:"exitCode" jsonschema:"the exit code; -1 while it runs, and if it was killed"`
	Written  int64  `json:"written" jsonschema:"how many bytes it has written"`

	failed error // why it has no result, if it was not killed
}

// check refuses an action about one command that names none.
func (in *processesInput) check() error {
	if in.ID == "" && in.Action != "" && in.Action != "list" {
		return &argumentError{message: `parameter "id" is missing`, hint: fmt.Sprintf("Name a command to %s; the action list shows them.", in.Action)}
	}
	return nil
}

var processesSpec = spec{
	op: ops.Processes, annotations: Annotations{Title: "Running commands", Destructive: true}, handler: define(runProcesses, planProcesses),
	needs: func(c workspace.Capabilities) bool { return c.Run },
	shape: func(p properties, _ *toolset) {
		p.oneOf("action", "list", "output", "kill")
		p.byDefault("action", "list")
		p.atLeast("offset", 0)
	},
}

// runProcesses lists the commands of the session, or describes one after a kill or with its
// output. Commands that have ended stay for a while: see [jobs.Options].
func runProcesses(ctx context.Context, ts *toolset, in *processesInput) (*processesOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	all, err := ts.commands.of(ctx, ts.ws, false)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Action == "" || in.Action == "list":
		o := &processesOutput{Processes: []process{}}
		for _, j := range all.List() {
			o.Processes = append(o.Processes, newProcess(j))
		}
		return o, nil
	case in.Action == "kill":
		if err := all.Kill(ctx, in.ID); err != nil {
			return nil, unknownCommand(in.ID, err)
		}
	}
	out, err := all.Output(in.ID, int64(in.Offset))
	if err != nil {
		return nil, unknownCommand(in.ID, err)
	}
	o := &processesOutput{Processes: []process{newProcess(out.Job)}}
	if in.Action == "output" {
		page := newOutputPage(out)
		o.Output, o.Offset, o.Next, o.asked, o.shown = page.text, page.offset, page.next, int64(in.Offset), true
	}
	return o, nil
}

// outputPage is a part of what a command has written, from one offset to the next.
type outputPage struct {
	text         string
	offset, next int64
}

// newOutputPage returns the first page of out. It has no part of a character at its end,
// where the rest of it may follow, and none at its beginning.
//
// Pages add up to the output: next is the offset of the next one, also if the end of this one
// was cut off. Bytes that are no text become U+FFFD.
func newOutputPage(out *jobs.Output) outputPage {
	data := scratch.FromRune(out.Data)
	offset := out.Next - int64(len(data))
	data = data[:min(len(data), outputBytes)]
	if out.Running || offset+int64(len(data)) < out.Next {
		data = scratch.WholeRunes(data)
	}
	return outputPage{strings.ToValidUTF8(string(data), "\uFFFD"), offset, offset + int64(len(data))}
}

// unknownCommand explains the error of a command that is not known; others are as they are.
func unknownCommand(id string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &argumentError{message: fmt.Sprintf("no command has the id %q, or it ended long ago", clip(id, 100)), hint: "The action list shows the commands of this session."}
}

// newProcess describes a job. The exit code is -1 for one that has no result: it runs, was
// killed, or failed.
func newProcess(j jobs.Job) process {
	p := process{ID: j.ID, Command: strings.TrimPrefix(j.Command[len(j.Command)-1], oneOutput), Dir: j.Dir, Running: j.Running, ExitCode: -1, Written: j.Written}
	switch {
	case j.Result != nil:
		p.ExitCode = j.Result.ExitCode
	case !errors.Is(j.Err, context.Canceled):
		p.failed = j.Err
	}
	return p
}

// planProcesses has no requests: the command was approved when it was started.
func planProcesses(_ context.Context, _ *toolset, in *processesInput) ([]policy.Request, error) {
	return nil, in.check()
}

// text is the output, if it was asked for, and a line for each command:
//
//	[bytes 0 to 812]
//	1 running, 812 bytes written: make serve
func (o *processesOutput) text() string {
	var b strings.Builder
	if o.shown {
		if o.Offset > o.asked {
			fmt.Fprintf(&b, "[bytes %d to %d are no longer kept]\n", o.asked, o.Offset)
		}
		b.WriteString(o.Output)
		if o.Output != "" && !strings.HasSuffix(o.Output, "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[bytes %d to %d]\n", o.Offset, o.Next)
	}
	for _, p := range o.Processes {
		state := fmt.Sprintf("ended with %d", p.ExitCode)
		switch {
		case p.Running:
			state = "running"
		case p.failed != nil:
			_, why := describe(p.failed)
			state = "failed (" + why + ")"
		case p.ExitCode < 0:
			state = "killed"
		}
		fmt.Fprintf(&b, "%s %s, %s written: %s\n", p.ID, state, wording.Count(int(p.Written), "byte", "bytes"), p.Command)
	}
	return cmp.Or(strings.TrimSuffix(b.String(), "\n"), "(no commands)")
}
