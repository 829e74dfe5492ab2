package engine

import (
	"io"
	"os"
	"os/exec"
	"slices"
)

// Pipes is a program on this computer, with a pipe to each of its streams.
type Pipes struct {
	Stdin          io.WriteCloser
	Stdout, Stderr *os.File
	cmd            *exec.Cmd
}

// StartPipes starts a program on this computer, words[0] with the other words as its
// arguments. Wait must be called.
func StartPipes(words []string) (p *Pipes, err error) {
	cmd := exec.Command(words[0], words[1:]...)
	detach(cmd)
	p = &Pipes{cmd: cmd}
	if p.Stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	var inside []*os.File
	defer func() {
		for _, file := range inside {
			file.Close()
		}
	}()
	for _, stream := range []**os.File{&p.Stdout, &p.Stderr} {
		ours, theirs, err := os.Pipe()
		if err != nil {
			p.closePipes()
			return nil, err
		}
		*stream, inside = ours, append(inside, theirs)
	}
	cmd.Stdout, cmd.Stderr = inside[0], inside[1]
	if err := cmd.Start(); err != nil {
		p.closePipes()
		return nil, startFault(words[0], err)
	}
	return p, nil
}

// closePipes closes what is open.
func (p *Pipes) closePipes() {
	p.Stdin.Close()
	p.Stdout.Close() // of a nil file it does nothing
	p.Stderr.Close()
}

// Wait waits for the end of the program, and returns its exit code, -1 if a signal ended
// it. The outputs stay open.
func (p *Pipes) Wait() int {
	_ = p.cmd.Wait() // the state says all
	return p.cmd.ProcessState.ExitCode()
}

// Kill ends the program at once. It must not be called after Wait has returned.
func (p *Pipes) Kill() { kill(p.cmd) }

// Words returns the command line that starts a program in the container.
func (p *Pod) Words(args ...string) []string {
	words := append(slices.Clone(p.Command), "exec", "-i", p.Name)
	if p.Container != "" {
		words = append(words, "-c", p.Container)
	}
	return append(append(words, "--"), args...)
}
