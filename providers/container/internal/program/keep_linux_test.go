package program_test

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// TestKeepWithoutReader has a shell lose its client while it carries out a call: it kills what
// has the mark all the same.
func TestKeepWithoutReader(t *testing.T) {
	t.Parallel()
	const mark = "WORKSPACEKIT_RUN=TestKeepWithoutReader_"
	marked := exec.Command("sleep", "1000")
	marked.Env = append(os.Environ(), mark+"1_")
	if err := marked.Start(); err != nil {
		t.Fatal(err)
	}
	defer marked.Process.Kill()
	ended := make(chan error, 1)
	go func() { ended <- marked.Wait() }()

	text, err := program.Text()
	if err != nil {
		t.Fatal(err)
	}
	keeper := exec.Command("sh")
	stdin, err := keeper.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := keeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, text+"request first keep '"+mark+"'\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, len("\nfirst 0\n"))); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	if _, err := io.WriteString(stdin, "request second keep '"+mark+"'\n"); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	_ = keeper.Wait() // however it ends
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("after the shell has ended, a process with the mark runs")
	}
}
