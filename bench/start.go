package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/workspacekit/workspacekit/bench/measure"
)

// startsPerTurn is how often a turn starts a program. One start is too short to
// be measured alone.
const startsPerTurn = 10

// benchStart compares the time from the start of the command to its first byte.
// The Go program that only prints a line shows what any Go program takes.
func benchStart(b *bench) error {
	command, err := b.command()
	if err != nil {
		return err
	}
	hello, err := b.buildHello()
	if err != nil {
		return err
	}
	dir := filepath.Join(b.temp, "start")
	if err := serve(dir, lines(largeBytes), lines(smallBytes)); err != nil {
		return err
	}
	others := []measure.Contender{by("a Go program that prints a line", starts(hello))}
	if _, err := exec.LookPath("rg"); err == nil {
		others = append(others, by("rg --version", starts("rg", "--version")))
	}
	for _, job := range []struct {
		what string
		args []string
	}{
		{"version", []string{"version"}},
		{"call ls", []string{"-C", dir, "call", "ls"}},
		{"call read_file", []string{"-C", dir, "call", "read_file", "--path", "small.txt"}},
	} {
		if err := b.Run(fmt.Sprintf("%d times %s", startsPerTurn, job.what), by("workspace", starts(command, job.args...)), others...); err != nil {
			return err
		}
	}
	return nil
}

// buildHello compiles a program that prints a line.
func (b *bench) buildHello() (string, error) {
	source, built := filepath.Join(b.temp, "hello.go"), filepath.Join(b.temp, "hello")
	if err := os.WriteFile(source, []byte("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"hello\\n\") }\n"), 0o666); err != nil {
		return "", err
	}
	return built, quietly("go", "build", "-o", built, source)
}

// starts returns what starts a program, reads its first byte and waits for its end,
// several times. The end counts: it is short, and else the next start would meet it.
func starts(program string, args ...string) func() (int, error) {
	return func() (int, error) {
		for range startsPerTurn {
			if err := firstByte(exec.Command(program, args...)); err != nil {
				return 0, err
			}
		}
		return measure.Uncounted, nil
	}
}

// firstByte runs a program, and returns an error if it prints nothing. The caller
// measures all of it, from the start of the process to its end.
func firstByte(cmd *exec.Cmd) error {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = io.ReadFull(out, make([]byte, 1))
	_, rest := io.Copy(io.Discard, out)
	return errors.Join(err, rest, cmd.Wait())
}
