// Package command runs commands where the files of a container are.
//
// # A command
//
// The engine's client starts a shell, which is sent [wrapper] with the command in it as
// quoted words, so that neither this computer nor the engine shows them to others:
//
//	here                          in the container
//	docker exec -i NAME ...       env WORKSPACEKIT_RUN=MARK sh
//	cleaning                 -->  env -i PATH=... WORKSPACEKIT_RUN=MARK sh
//	                         <--  clean                                (standard error)
//	wrapper, dir, command    -->  enters dir, looks for the program
//	                         <--  ready PROCESS                        (standard error)
//	MARKER                   -->  runs the command as its child
//	standard input           -->  ... its standard input
//	                         <--  ... its standard output and error
//	                         <--  MARKER                               (standard output)
//	                         <--  MARKER CODE SIGNAL                   (standard error)
//
// MARKER is known only once the shell is ready, and is not in the environment or the
// arguments of anything: a command cannot write it.
//
// # Its end
//
// Every process that a command starts inherits MARK in its environment. Another shell,
// the keeper, stays open and kills what has MARK there, what such a process has
// started, and what is in its session: after each command, when its context ends, and
// when the keeper's standard input ends, because this process was killed. No command
// starts after that: the shell is there, with MARK, before it gets MARKER, and
// without MARKER it starts nothing.
package command

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	_ "embed" // for wrapper
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

//go:embed wrapper.sh
var wrapper string

// MarkVariable marks what a command has started.
const MarkVariable = "WORKSPACEKIT_RUN"

// inherited are the variables of the container's environment that commands get.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR",
	"CARGO_HOME", "GOPATH", "GOTOOLCHAIN", "JAVA_HOME", "RUSTUP_HOME", "VIRTUAL_ENV",
}

const (
	// killTimeout bounds the wait for the end of what a command has started.
	killTimeout = 15 * time.Second
	// readyTimeout bounds the wait for the shell that runs a command.
	readyTimeout = time.Minute
	// endGrace is how long the output may pause once the command has ended: the engine's
	// client passes on the last of it, or somebody holds it open who has left no other trace.
	// The client has as long to end without the trailer.
	endGrace = 5 * time.Second
	// maxComplaint is how much of what the engine's client says is kept.
	maxComplaint = 4 << 10
)

// ErrMoved says that the directory has a symlink in it that was not there before.
var ErrMoved = errors.New("the directory was exchanged for a symlink")

// Machine runs commands. It is safe for concurrent use.
type Machine struct {
	// OpenKeeper opens a shell that knows the functions of package program.
	OpenKeeper func(ctx context.Context) (*shell.Session, error)
	// Words returns the command line that starts a program in the container.
	Words func(args ...string) []string
	// Check returns err, or why the shell that was opened just now, with the error err, is
	// not where the files are.
	Check func(ctx context.Context, err error) error

	mu      sync.Mutex
	life    context.Context    // guarded by mu: ends with Close; nil before the first Run
	end     context.CancelFunc // guarded by mu: ends life
	closed  bool               // guarded by mu
	mark    string             // what marks everything of this machine; set by the first Run
	count   int                // guarded by mu: of Runs
	running sync.WaitGroup     // of Runs

	keeping sync.Mutex     // one use of the keeper at a time, each for a bounded time
	keeper  *shell.Session // guarded by keeping: nil if there is none
}

// Command is what is run.
type Command struct {
	workspace.RunOptions
	Path  string   // the absolute path of the directory, without symlinks
	Shell []string // what starts a shell: env, its arguments, and the path of the shell
}

// Run runs a command.
func (m *Machine) Run(ctx context.Context, c Command) (*workspace.RunResult, error) {
	mark, life, err := m.enter()
	if err != nil {
		return nil, err
	}
	defer m.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	if err := m.begin(ctx, life); err != nil {
		return nil, err
	}
	pipes, err := engine.StartPipes(m.Words(words(c, mark)...))
	if err != nil {
		return nil, err
	}
	p := &running{Pipes: pipes, ended: make(chan struct{})}
	go p.wait()
	defer p.closeAll()
	leader, err := p.prepare(ctx, c, cleaning(c, mark))
	if err = m.Check(ctx, err); err != nil {
		return nil, err
	}
	result, err := p.attend(ctx, c)
	left := m.sweep(mark, leader)
	switch {
	case err != nil && left != nil:
		return nil, provider.Errorf(err, "%w", left)
	case err != nil || left != nil:
		return nil, cmp.Or(err, left)
	}
	return result()
}

// enter counts a Run, and returns the mark of its command. Close ends the context life, and
// waits for the Run.
func (m *Machine) enter() (mark string, life context.Context, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return "", nil, fs.ErrClosed
	}
	if m.life == nil {
		m.life, m.end = context.WithCancel(context.Background())
		m.mark = rand.Text() + "_"
	}
	m.running.Add(1)
	m.count++
	return m.mark + strconv.Itoa(m.count) + "_", m.life, nil
}

// Close ends all commands.
func (m *Machine) Close() {
	m.mu.Lock()
	m.closed = true
	if m.end != nil {
		m.end()
	}
	m.mu.Unlock()
	m.running.Wait()
	m.keeping.Lock()
	defer m.keeping.Unlock()
	m.leave()
}

// words returns what is started: a shell with a mark. The words mean the same to a shell
// that reads them on the way, as that of ssh does.
func words(c Command, mark string) []string {
	env, sh := c.Shell[0], c.Shell[len(c.Shell)-1]
	return []string{env, MarkVariable + "=" + mark, sh}
}

// cleaning returns a script that replaces the shell by one whose environment has nothing
// but what commands may have. The variables of the image can change what a shell does, so the first
// one does nothing else. The next one gets the rest of the input.
func cleaning(c Command, mark string) string {
	var script strings.Builder
	env, sh := c.Shell[0], c.Shell[len(c.Shell)-1]
	fmt.Fprintf(&script, "{ echo clean >&2; exec %s -i", shell.Quote(env))
	for _, name := range inherited {
		fmt.Fprintf(&script, ` ${%s+"%s=$%s"}`, name, name, name)
	}
	fmt.Fprintf(&script, " %s=%s %s; }\n", MarkVariable, mark, shell.Quote(sh))
	return script.String()
}

// begin makes sure that there is a keeper. The end of ctx ends the wait for it alone: with
// the keeper, the commands of others would end.
func (m *Machine) begin(ctx, life context.Context) error {
	kept := make(chan error, 1)
	go func() {
		m.keeping.Lock()
		defer m.keeping.Unlock()
		if ctx.Err() == nil { // or nobody waits for it any more
			kept <- m.keep(life)
		}
	}()
	select {
	case err := <-kept:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keep makes sure that there is a keeper. m.keeping is held.
func (m *Machine) keep(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	keep := program.Idempotent("keep", MarkVariable+"="+m.mark)
	if m.keeper != nil {
		if err = call(ctx, m.keeper, keep); err == nil {
			return nil
		}
		m.leave()
	}
	if m.keeper, err = m.OpenKeeper(ctx); err != nil {
		m.keeper = nil
		return err
	}
	if err = call(ctx, m.keeper, keep); err != nil {
		m.leave()
	}
	return err
}

// leave ends the keeper, if there is one. m.keeping is held.
func (m *Machine) leave() {
	if m.keeper != nil {
		m.keeper.Close()
		m.keeper = nil
	}
}

// call makes a call to a shell, which must succeed.
func call(ctx context.Context, session *shell.Session, c shell.Call) error {
	reply, err := session.Start(ctx, c)
	if err != nil {
		return err
	}
	said, err := io.ReadAll(reply)
	if err == nil && reply.Status != 0 {
		err = &shell.StatusError{Status: reply.Status, Text: string(said)}
	}
	return err
}

// sweep kills what has a mark, or is in the session of the process leader, and waits
// until it has ended.
func (m *Machine) sweep(mark, leader string) error {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	m.keeping.Lock()
	defer m.keeping.Unlock()
	err := m.keep(ctx)
	if err == nil {
		err = call(ctx, m.keeper, program.Idempotent("sweep", MarkVariable+"="+mark, leader))
	}
	if err == nil {
		return nil
	}
	return provider.Errorf(workspace.ErrUnavailable, "it is not known that everything that the command has started was killed")
}

// running is the engine's client, which leads to the command.
type running struct {
	*engine.Pipes
	ended chan struct{} // closed when the client has ended
	code  int           // its exit code; set before ended is closed
}

// wait ends with the client.
func (p *running) wait() {
	p.code = p.Wait()
	close(p.ended)
}

// closeAll ends the client, if it has not ended.
func (p *running) closeAll() {
	select {
	case <-p.ended:
	default:
		p.Kill()
	}
	p.Stdin.Close()
	<-p.ended
	p.Stdout.Close()
	p.Stderr.Close()
}

// prepare sends the wrapper, and waits until it is ready or refuses the command. leader is
// the number of its process.
func (p *running) prepare(ctx context.Context, c Command, cleaning string) (leader string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, errSilent)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		p.Stdin.Close()
		p.Stderr.Close()
	})
	defer stop()
	p.send(cleaning)
	var said bytes.Buffer
	line := make([]byte, 0, 80)
	for one := make([]byte, 1); ; {
		if _, err := p.Stderr.Read(one); err != nil {
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			return "", engine.Fault(said.String() + string(line))
		}
		if one[0] != '\n' {
			line = append(line, one[0])
			if len(line) > maxComplaint {
				return "", engine.Fault(said.String())
			}
			continue
		}
		if number, ok := strings.CutPrefix(string(line), "ready "); ok {
			return number, nil
		}
		if string(line) == "clean" {
			p.send(script(c))
			line = line[:0]
			continue
		}
		if err, refused := refusals[string(line)]; refused {
			if err == fs.ErrNotExist || err == errNotExecutable {
				err = provider.At(c.Command[0], err)
			}
			return "", err
		}
		if said.Len() < maxComplaint {
			said.Write(append(line, '\n'))
		}
		line = line[:0]
	}
}

// send sends text. Whoever reads the reply learns of a failure.
func (p *running) send(text string) {
	go func() { _, _ = io.WriteString(p.Stdin, text) }()
}

// errSilent is the error of a shell that does not say whether it is ready.
var errSilent = provider.Errorf(workspace.ErrUnavailable, "%w", shell.ErrSilent)

// errNotExecutable is the error of a program that is there.
var errNotExecutable = provider.Errorf(fs.ErrPermission, "it cannot be executed")

// refusals are why the wrapper refuses a command.
var refusals = map[string]error{
	"missing":   program.ErrOvertaken, // it was there a moment ago
	"notdir":    workspace.ErrNotDir,
	"denied":    fs.ErrPermission,
	"moved":     ErrMoved,
	"noprogram": fs.ErrNotExist,
	"noexec":    errNotExecutable,
}

// script returns the wrapper with the command in it. The shell reads it whole before it
// does anything, so that what follows is the input of the command.
func script(c Command) string {
	env, sh := c.Shell[0], c.Shell[len(c.Shell)-1]
	var environment []string
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		environment = append(environment, shell.Quote(name+"="+c.Env[name]))
	}
	words := make([]string, len(c.Command))
	for i, word := range c.Command {
		words[i] = shell.Quote(word)
	}
	search := "$PATH" // where the container looks for programs
	if path, ok := c.Env["PATH"]; ok {
		search = shell.Quote(path)
	}
	return fmt.Sprintf("{\ndir=%s env=%s sh=%s search=%s\nset -- %s\n%s}\n",
		shell.Quote(c.Path), shell.Quote(env), shell.Quote(sh), search, strings.Join(words, " "),
		strings.Replace(wrapper, "ENVIRONMENT", strings.Join(environment, " "), 1))
}

// attend lets the command begin and passes its streams on. When the command has ended, it
// returns a function that waits for the last of the output, which comes once nobody can
// write any more, and returns the result.
func (p *running) attend(ctx context.Context, c Command) (func() (*workspace.RunResult, error), error) {
	marker := "\x1e" + rand.Text() + rand.Text() // no text ends like it begins
	if _, err := io.WriteString(p.Stdin, marker+"\n"); err != nil {
		return nil, engine.Fault("")
	}
	ends := &trailer{to: c.Stderr, marker: []byte(marker), found: make(chan struct{})}
	whole := &trailer{to: c.Stdout, after: c.Stdout, marker: []byte(marker), found: make(chan struct{})}
	var copying sync.WaitGroup
	stdout, stderr := &pausing{from: p.Stdout}, &pausing{from: p.Stderr}
	copying.Go(func() { copyOutput(ends, stderr) })
	copying.Go(func() { copyOutput(whole, stdout) })
	go p.feed(c.Stdin)
	copied := make(chan struct{})
	go func() {
		copying.Wait()
		close(copied)
	}()
	select {
	case <-ends.found:
	case <-copied:
	case <-p.ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return func() (*workspace.RunResult, error) {
		stdout.bound()
		stderr.bound()
		select {
		case <-copied:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return p.result(ends.end(), whole.end() != "")
	}, nil
}

// pausing is an output of the engine's client. Once the command has ended, a Read waits for
// endGrace at most. What its reader does between two of them takes as long as it takes.
type pausing struct {
	from *os.File
	last atomic.Bool
}

// bound bounds the Read that waits, and all that follow.
func (p *pausing) bound() {
	p.last.Store(true)
	_ = p.from.SetReadDeadline(time.Now().Add(endGrace))
}

// Read implements [io.Reader].
func (p *pausing) Read(b []byte) (int, error) {
	if p.last.Load() {
		p.bound()
	}
	return p.from.Read(b)
}

// copyOutput copies an output to its end.
func copyOutput(to io.Writer, from io.Reader) {
	_, _ = io.Copy(to, from) // FS knows an error of to, and ends the context
}

// feed copies the input to the command, and closes it at its end.
func (p *running) feed(from io.Reader) {
	if from != nil {
		_, _ = io.Copy(p.Stdin, from) // as for copyOutput; a command need not read its input
	}
	p.Stdin.Close()
}

// result reads the trailer. Without one, the wrapper was killed with the command, or the
// way to it was lost. With one, the standard output is whole if the marker is in it, too.
func (p *running) result(line string, whole bool) (*workspace.RunResult, error) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		const killed = 128 + 9 // as engines report it
		select {
		case <-p.ended:
			if p.code == killed {
				return &workspace.RunResult{ExitCode: -1, Signal: "KILL"}, nil
			}
		case <-time.After(endGrace):
		}
		return nil, provider.Errorf(workspace.ErrUnavailable, "the way to the command was lost before it ended")
	}
	if fields[0] == "toolong" {
		return nil, provider.Errorf(fs.ErrInvalid, "the arguments and variables are longer than the system takes")
	}
	if !whole {
		return nil, provider.Errorf(workspace.ErrUnavailable, "the last of the output did not arrive")
	}
	code, err := strconv.Atoi(fields[0])
	if err != nil {
		return nil, provider.Errorf(workspace.ErrUnavailable, "the shell did not say how the command ended")
	}
	if len(fields) > 1 {
		signal := strings.TrimPrefix(fields[1], "SIG")
		if signal == "16" { // dash has no name for it
			signal = "STKFLT"
		}
		return &workspace.RunResult{ExitCode: -1, Signal: signal}, nil
	}
	return &workspace.RunResult{ExitCode: code}, nil
}
