package shell_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// The marks between which a traced process runs a script: it asks for files of these names.
const (
	traceBegin = "/workspacekit-trace-begin"
	traceEnd   = "/workspacekit-trace-end"
)

// traced is a script that does a little of everything.
const traced = `
cd d; pwd; for f in *; do cat "$f" | grep -c a > /tmp/$f; done; cd ..
type cat nosuch; command -v ls; hash cat; . ./s.sh; bash -c 'echo $0'; ./s.sh; echo ~root ~
[ -e d/a ] && [ d/a -nt s.sh ]; [[ -r s.sh && -x s.sh ]]; cat <(cat d/a) <<EOF
$(< d/a)
EOF
PATH=/usr/bin:/etc; ls; nosuch; pwd -P; source passwd; type passwd
f() { local x=$1$1; echo $x > out; }; f a & wait
trap 'echo bye' EXIT; grep -r a . ; find . -name '*.sh'; sed -i s/a/b/ d/a; echo $$ $PPID $RANDOM
export TMPDIR=/etc; cat < /etc/sh-interp-1; cat < /etc/passwd; eval 'echo ~daemon'; exec > last; echo x`

// TestTrace runs a script over memory under strace: it opens no path of the host, and starts
// no process.
func TestTrace(t *testing.T) {
	t.Parallel()
	strace := exhaustive.Program(t, "strace")
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-o", log, "-e", "trace=%file,%process,%network", os.Args[0], "-test.run=^TestTraceChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), "WORKSPACEKIT_TRACED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, began := bytes.Cut(data, []byte(traceBegin))
	run, _, ended := bytes.Cut(rest, []byte(traceEnd))
	if !began || !ended {
		t.Fatalf("the trace has no marks:\n%s", data)
	}
	_, run, _ = bytes.Cut(run, []byte("\n")) // the rest of the line of the mark
	for line := range strings.Lines(string(run)) {
		switch {
		case strings.Contains(line, "clone"), strings.Contains(line, "resumed>"): // threads of Go
			if strings.Contains(line, "clone") && !strings.Contains(line, "CLONE_THREAD") && !strings.Contains(line, "resumed>") {
				t.Errorf("a process is started: %s", line)
			}
		case strings.Contains(line, "SIGURG"), strings.Contains(line, " exit("): // Go stops and ends its threads
		case strings.Contains(line, traceEnd), strings.Contains(line, "exited with"), strings.Contains(line, "+++"), strings.Contains(line, "---"):
		case !strings.Contains(line, "("), strings.HasSuffix(strings.TrimSpace(line), `newfstatat(AT_FDCWD, "`):
		default:
			t.Errorf("a system call: %s", line)
		}
	}
}

// TestTraceChild is the process that TestTrace traces.
func TestTraceChild(t *testing.T) {
	if os.Getenv("WORKSPACEKIT_TRACED") == "" {
		return
	}
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", map[string]string{"d/a": "a\n", "s.sh": "echo sourced\n"})}, nil)
	os.Stat(traceBegin)
	result, err := s.Run(t.Context(), traced, nil)
	os.Stat(traceEnd)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(result.Output, "sourced") {
		t.Errorf("output %q", result.Output)
	}
}
