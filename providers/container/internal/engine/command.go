package engine

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
)

// closeGrace is how long a program may take to end after its standard input
// has been closed.
const closeGrace = 2 * time.Second

// Start starts a program on this computer, words[0] with the other words as its
// arguments.
func Start(words ...string) (shell.Process, error) {
	cmd := exec.Command(words[0], words[1:]...)
	p := &commandProcess{cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &p.complaint
	cmd.WaitDelay = closeGrace // for others who have inherited its outputs
	detach(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not a StdoutPipe, which Wait closes while there is still something to read.
	stdout, inside, err := os.Pipe()
	if err != nil {
		stdin.Close()
		return nil, err
	}
	cmd.Stdout = inside
	p.stdin, p.stdout = stdin, stdout
	err = cmd.Start()
	inside.Close()
	if err != nil {
		stdin.Close()
		stdout.Close()
		return nil, startFault(words[0], err)
	}
	go p.wait()
	return p, nil
}

// commandProcess is a program on this computer that leads to the one inside.
type commandProcess struct {
	cmd       *exec.Cmd
	stdin     io.WriteCloser
	stdout    *os.File
	complaint tail
	killing   sync.Once
	ended     chan struct{} // closed when the program has ended
	result    error         // how; set before ended is closed
}

// wait ends with the program.
func (p *commandProcess) wait() {
	p.result = p.cmd.Wait()
	close(p.ended)
}

func (p *commandProcess) Read(b []byte) (int, error)  { return p.stdout.Read(b) }
func (p *commandProcess) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// Close implements [shell.Process].
func (p *commandProcess) Close() error {
	p.stdin.Close()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-p.ended:
	case <-grace.C:
	}
	p.Kill()
	return p.result
}

// Kill implements [shell.Process].
func (p *commandProcess) Kill() {
	p.killing.Do(func() {
		if !p.Ended() { // or its number may be another's by now
			kill(p.cmd)
		}
		p.stdin.Close()
		p.stdout.Close()
	})
	<-p.ended
}

// Ended reports whether the program has ended.
func (p *commandProcess) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Complaint implements [shell.Process].
func (p *commandProcess) Complaint() string { return p.complaint.String() }

// tail keeps the last of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	kept []byte // guarded by mu
}

// maxTail is how much a tail keeps.
const maxTail = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-maxTail):]...)
	t.kept = t.kept[max(0, len(t.kept)-maxTail):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}

// output runs a program to its end and returns what it wrote.
func output(ctx context.Context, words []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var complaint tail
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaint
	cmd.WaitDelay = closeGrace
	detach(cmd)
	cmd.Cancel = func() error { kill(cmd); return nil }
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && cmd.ProcessState == nil:
		return nil, startFault(words[0], err)
	case err != nil:
		return nil, Fault(complaint.String())
	}
	return said.Bytes(), nil
}
