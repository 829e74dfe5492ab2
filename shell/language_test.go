package shell_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// languageFiles are the files that each script of testdata/language.txt finds.
var languageFiles = map[string]string{
	"f.txt": "alpha\nbeta\ngamma\n", "g.txt": "one\n", "empty": "", "d/a.txt": "a\n", "d/b": "b\n", ".hidden": "h\n",
}

// languageScript is one script of testdata/language.txt.
type languageScript struct{ feature, text string }

func languageScripts(t *testing.T) []languageScript {
	t.Helper()
	data, err := os.ReadFile("testdata/language.txt")
	if err != nil {
		t.Fatal(err)
	}
	var scripts []languageScript
	for part := range strings.SplitSeq(string(data), "## ") {
		feature, rest, _ := strings.Cut(part, "\n")
		if feature == "" {
			continue
		}
		for text := range strings.SplitSeq(rest, "\n---\n") {
			scripts = append(scripts, languageScript{feature, strings.TrimSuffix(text, "\n") + "\n"})
		}
	}
	return scripts
}

// TestLanguage compares scripts with the bash of the system: standard output and exit
// status are the same.
func TestLanguage(t *testing.T) {
	t.Parallel()
	bash := exhaustive.Program(t, "bash")
	scripts := languageScripts(t)
	if len(scripts) < 300 {
		t.Errorf("%d scripts, want 300", len(scripts))
	}
	for _, script := range scripts {
		t.Run(script.feature, func(t *testing.T) {
			exhaustive.Sample(t, 1) // all, but for -short
			t.Parallel()
			want, wantExit := realBash(t, bash, script.text)
			got, gotExit := ourBash(t, script.text)
			if got != want || gotExit != wantExit {
				t.Errorf("script:\n%sgot %q, exit %d\nwant %q, exit %d", script.text, got, gotExit, want, wantExit)
			}
		})
	}
}

// realBash runs a script with the bash of the system.
func realBash(t *testing.T, bash, script string) (string, int) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range languageFiles {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), bash, "-c", script, "bash")
	cmd.Dir = dir
	cmd.Env = []string{"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", "HOME=/root"}
	out, err := cmd.Output()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// ourBash runs a script in a shell over memory.
func ourBash(t *testing.T, script string) (string, int) {
	t.Helper()
	ws := workspace.New("repo", memory.New(nil), nil)
	for name, content := range languageFiles {
		if _, err := ws.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	result, err := shell.New([]*workspace.Workspace{ws}, nil).Run(t.Context(), script, &shell.RunOptions{Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("standard error: %s", stderr.String())
	}
	return stdout.String(), result.ExitCode
}

// TestManyShells parses one expansion in many shells at a time, for the race detector: they
// share nothing.
func TestManyShells(t *testing.T) {
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if out, status := ourBash(t, `x=aab; echo ${x##+($'a')}`); out != "b\n" || status != 0 {
				t.Errorf("printed %q with status %d, want b", out, status)
			}
		})
	}
}
