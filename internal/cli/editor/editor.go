// Package editor is the command acp: an editor for agents of the Agent Client
// Protocol, reduced to a terminal. In goes the command line of an agent and what a
// person types; out come what the agent says and does, as text, and what it changes,
// as diffs. The agent reads and writes the files of a workspace, and nothing else
// through this program.
//
//	run       starts the agent, opens a session, and ends both
//	terminal  what the agent says, calls, asks and writes, for the person
package editor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/adapters/acp"
	"github.com/workspacekit/workspacekit/internal/cli/approve"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

const long = `Acp lets you try an agent that speaks the Agent Client Protocol. It starts the command
after --, sends it the lines of standard input as prompts, and prints what the agent says
and does, changes as diffs. It ends when standard input ends.

When the agent asks a question, the next line is the answer: the number of an option.
When a rule requires approval, it is y(es), or s(ession) for all that the same rules ask
about in this session. Any other line rejects.

The agent can do whatever your user can: the rules of the workspace apply to what it asks
acp for, and not to what it does by itself. It starts in the workspace if that is a
folder, and sees any other at the path /NAME.`

// New returns the command. version is the version of the program.
func New(flags *target.Flags, version string) *cobra.Command {
	var approved approve.Flag
	cmd := &cobra.Command{
		Use:   "acp -- AGENT [ARGUMENT]...",
		Short: "Try an agent that speaks the Agent Client Protocol",
		Long:  long,
		Example: `  workspace acp -- my-agent
  workspace -C ~/project acp -- npx @agentclientprotocol/claude-agent-acp
  echo 'What is in this folder?' | workspace --read-only acp -- gemini --acp`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || cmd.ArgsLenAtDash() != 0 {
				return errors.New("name the agent after --, such as: workspace acp -- my-agent")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.RefuseStdin("prompts"); err != nil {
				return err
			}
			ws, _, err := flags.OpenOne(cmd.Context(), "acp")
			if err != nil {
				return err
			}
			defer ws.Close()
			if err := approved.Check(ws); err != nil {
				return err
			}
			return run(cmd, flags, approved, ws, version, args)
		},
	}
	approved.Add(cmd)
	return cmd
}

// The bounds of waiting for the agent.
const (
	startTime = time.Minute      // to its answers to initialize and session/new
	endTime   = 5 * time.Second  // from the end of its input to its own
	askTime   = 10 * time.Minute // to the answer of a person to a rule that asks
)

// run runs one agent to the end of the input. It waits until the agent has ended, so that none
// is left running. The error says first what went wrong in the conversation: the exit code of
// the agent only counts if nothing did.
func run(cmd *cobra.Command, flags *target.Flags, approved approve.Flag, ws *config.Workspace, version string, args []string) error {
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	root, dir := "/"+ws.Name(), ""
	if ws.Kind() == target.KindLocal {
		root, dir = ws.Root(), filepath.FromSlash(ws.Root())
	}
	t := &terminal{root: root, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), style: flags.Style(cmd.OutOrStdout()),
		lines: readLines(ctx, cmd.InOrStdin()), prompts: term.IsTerminal(cmd.InOrStdin())}
	ask := approved.Ask(t.err, flags.Style, t.line)
	files, err := acp.NewFiles(ws.Workspace, &acp.FilesOptions{
		Roots: []string{root},
		BeforeWrite: func(ctx context.Context, name, text string) error {
			t.write(ctx, ws.Workspace, name, text)
			return nil
		},
		AfterWrite: func(_ context.Context, name, _ string, err error) {
			if err != nil { // what was shown did not happen
				t.note(name + " was not written: " + term.Plain(err))
			}
		},
		Approver: policy.NewApprover(func(ctx context.Context, r policy.Request) (policy.Answer, error) {
			t.asking.Lock()
			defer t.asking.Unlock()
			return ask(ctx, r)
		}, &policy.ApproverOptions{Timeout: askTime}),
	})
	if err != nil {
		return term.Fail(err)
	}
	agent, err := start(ctx, dir, args, t)
	if err != nil {
		return err
	}
	conn := acp.ConnectClient(client{Files: files, terminal: t}, agent.in, agent.out, nil)
	err = converse(ctx, conn, t, files.Capabilities(), version)
	if err != nil && ctx.Err() == nil && (agent.in.broken.Load() || isDone(conn)) {
		err = term.Failf("the agent has ended the connection")
	}
	return errors.Join(err, agent.end(err != nil))
}

// client is what the agent talks to: files for what it reads and writes, the terminal for what
// it says and asks, and no commands.
type client struct {
	*acp.Files
	acp.NoTerminals
	*terminal
}

var _ sdk.Client = client{}

// converse opens a session and sends the prompts of the person. The end of the input is no
// error.
func converse(ctx context.Context, conn *sdk.ClientSideConnection, t *terminal, can sdk.FileSystemCapabilities, version string) error {
	session, err := open(ctx, conn, t, can, version)
	for err == nil {
		var text string
		if text, err = t.prompt(ctx); err != nil {
			break
		}
		var answer sdk.PromptResponse
		answer, err = conn.Prompt(ctx, sdk.PromptRequest{SessionId: session, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
		t.endLine()
		if err == nil && answer.StopReason != sdk.StopReasonEndTurn {
			t.note("the agent stopped: " + string(answer.StopReason))
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return term.Fail(explain(err))
}

// isDone reports whether the connection to the agent has ended.
func isDone(conn *sdk.ClientSideConnection) bool {
	select {
	case <-conn.Done():
		return true
	default:
		return false
	}
}

// open opens a session. Both answers together may take startTime. An agent with another
// version of the protocol is an error.
func open(ctx context.Context, conn *sdk.ClientSideConnection, t *terminal, can sdk.FileSystemCapabilities, version string) (sdk.SessionId, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	about, err := conn.Initialize(ctx, sdk.InitializeRequest{
		ProtocolVersion:    sdk.ProtocolVersionNumber,
		ClientCapabilities: sdk.ClientCapabilities{Fs: can},
		ClientInfo:         &sdk.Implementation{Name: "workspacekit", Version: version},
	})
	if err != nil {
		return "", fmt.Errorf("initialize: %w", explain(err))
	}
	if about.ProtocolVersion != sdk.ProtocolVersionNumber {
		return "", fmt.Errorf("the agent speaks version %d of the protocol, and this program version %d", about.ProtocolVersion, sdk.ProtocolVersionNumber)
	}
	session, err := conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: t.root, McpServers: []sdk.McpServer{}})
	if err != nil {
		return "", fmt.Errorf("session/new: %w", explain(err))
	}
	return session.SessionId, nil
}

// explain returns an error of the agent as a person reads it.
func explain(err error) error {
	answer, ok := errors.AsType[*sdk.RequestError](err)
	switch {
	case !ok:
		return err
	case answer.Code == -32000:
		return fmt.Errorf("the agent wants you to log in first, by its own program: %s", answer.Message)
	}
	return errors.New(answer.Error())
}

// process is an agent that runs.
type process struct {
	cmd *exec.Cmd
	in  *input
	out io.Reader
	err *visibleLines
}

// input is the input of an agent. broken tells an agent that has died from one that has
// answered with an error.
type input struct {
	io.WriteCloser
	broken atomic.Bool // the agent reads no more
}

// Write implements [io.Writer].
func (i *input) Write(p []byte) (int, error) {
	n, err := i.WriteCloser.Write(p)
	if err != nil {
		i.broken.Store(true)
	}
	return n, err
}

// start starts the agent. ctx ends it by an interrupt, and kills it if it has not ended
// endTime later. It has this process's environment.
func start(ctx context.Context, dir string, args []string, t *terminal) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, args[0], args[1:]...), err: &visibleLines{to: t.err}}
	p.cmd.Dir = dir
	p.cmd.Stderr = p.err
	p.cmd.WaitDelay = endTime
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	in, err := p.cmd.StdinPipe()
	if p.in = (&input{WriteCloser: in}); err == nil {
		if p.out, err = p.cmd.StdoutPipe(); err == nil {
			err = p.cmd.Start()
		}
	}
	if err != nil {
		return nil, term.Failf("the agent cannot be started: %w", err)
	}
	return p, nil
}

// end ends the agent: it should end by itself when its input does. failed says that
// there is an error that matters more than its exit code.
func (p *process) end(failed bool) error {
	_ = p.in.Close() // it may have ended
	kill := time.AfterFunc(endTime, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	err := p.cmd.Wait()
	p.err.end()
	if err == nil || failed {
		return nil
	}
	return term.Failf("the agent has ended: %w", err)
}

// maxLine is how many bytes a line of a person can have.
const maxLine = 1 << 20

// lines are those of a person.
type lines struct {
	next chan string // closed at the end
	err  error       // how they ended, io.EOF at the end of the input; set before next is closed
}

// readLines reads the lines of in. The goroutine can stay in a read after ctx has ended; the
// process ends soon then.
func readLines(ctx context.Context, in io.Reader) *lines {
	l := &lines{next: make(chan string)}
	go func() {
		defer close(l.next)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxLine+1)
		for scanner.Scan() {
			select {
			case l.next <- scanner.Text():
			case <-ctx.Done():
				l.err = ctx.Err()
				return
			}
		}
		switch err := scanner.Err(); {
		case err == nil:
			l.err = io.EOF
		case errors.Is(err, bufio.ErrTooLong):
			l.err = fmt.Errorf("standard input: a line has more than %d MiB", maxLine>>20)
		default:
			l.err = fmt.Errorf("standard input: %w", err)
		}
	}()
	return l
}

// visibleLines passes lines on, without what a terminal would obey. It keeps what has no line
// end yet, up to 64 KiB, as a write can end within a character.
type visibleLines struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // guarded by mu
}

// Write implements [io.Writer].
func (v *visibleLines) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rest = append(v.rest, p...)
	end := strings.LastIndexByte(string(v.rest), '\n') + 1
	if len(v.rest) > 64<<10 {
		end = len(v.rest)
	}
	_, err := io.WriteString(v.to, term.Visible(string(v.rest[:end]), "\n\t"))
	v.rest = v.rest[end:]
	return len(p), err
}

// end passes on what has no line end.
func (v *visibleLines) end() {
	if len(v.rest) > 0 {
		_, _ = v.Write([]byte("\n")) // nobody else writes anymore
	}
}
