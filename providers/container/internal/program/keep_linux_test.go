package program_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/enginetest"
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

// TestSweepNameWithLineBreak sweeps programs whose names have line breaks, and which are known by
// their session alone.
func TestSweepNameWithLineBreak(t *testing.T) {
	t.Parallel()
	text, err := program.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"dash", "bash", "busybox sh"} {
		for _, name := range []string{"a\nb", "\n) S 1 1 1\n"} {
			t.Run(words, func(t *testing.T) {
				t.Parallel()
				shell := strings.Fields(words)
				for _, needed := range []string{shell[0], "bash"} {
					if _, err := exec.LookPath(needed); err != nil {
						enginetest.Lacking(t, "%s is not installed", needed)
					}
				}
				file := filepath.Join(t.TempDir(), name)
				if out, err := exec.Command("sh", "-c", `cp "$(command -v sleep)" "$1"`, "sh", file).CombinedOutput(); err != nil {
					t.Fatalf("cp: %v: %s", err, out)
				}
				// Each job of bash -m has a group of its own.
				session := exec.Command("bash", "-m", "-c", `"$1" 300 >&2 & until grep -q 300 "/proc/$!/cmdline"; do :; done; echo $!; exec sleep 300`, "bash", file)
				session.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				stdout, err := session.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := session.Start(); err != nil {
					t.Fatal(err)
				}
				defer session.Wait()
				defer session.Process.Kill()
				number := make([]byte, 20)
				n, err := stdout.Read(number)
				if err != nil {
					t.Fatal(err)
				}
				sweeper := exec.Command(shell[0], shell[1:]...)
				sweeper.Stdin = strings.NewReader(text + "request first sweep NOTHING_HAS_THIS_=1 " + strconv.Itoa(session.Process.Pid) + "\n")
				if said, err := sweeper.Output(); string(said) != "\nfirst 0\n" {
					t.Errorf("sweep = %q, %v, want the status 0", said, err)
				}
				stat, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(number[:n])) + "/stat")
				if rest := string(stat[strings.LastIndex(string(stat), ")")+1:]); rest != "" && !strings.HasPrefix(rest, " Z") {
					t.Errorf("after sweep, a program with the name %q has the state %q", name, rest)
					_ = exec.Command("kill", "-9", strings.TrimSpace(string(number[:n]))).Run()
				}
			})
		}
	}
}
