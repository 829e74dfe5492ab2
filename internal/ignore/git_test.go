package ignore_test

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/ignore"
)

// repo is a git repository to compare with.
type repo struct{ dir string }

// newRepo makes an empty repository, and skips the test where there is no git.
func newRepo(t *testing.T) repo {
	t.Helper()
	exhaustive.Program(t, "git")
	r := repo{t.TempDir()}
	if out, err := r.command("init", "--quiet", "--template=").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return r
}

// command runs git with none of the user's settings.
func (r repo) command(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.dir),
	}
	return cmd
}

// ignored returns those of paths that git ignores.
func (r repo) ignored(t fataler, paths []string) map[string]bool {
	cmd := r.command("check-ignore", "--no-index", "--verbose", "--non-matching", "--stdin", "-z")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1) {
		t.Fatalf("git check-ignore: %v: %s", err, stderr.String())
	}
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 4*len(paths)+1 {
		t.Fatalf("git check-ignore: %d fields for %d paths", len(fields), len(paths))
	}
	ignored := make(map[string]bool)
	for i := 0; i+3 < len(fields); i += 4 {
		source, pattern, name := fields[i], fields[i+2], fields[i+3]
		ignored[name] = source != "" && !strings.HasPrefix(pattern, "!")
	}
	return ignored
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// scenario is a directory of a repo with the same tree as the others and
// ".gitignore" files of its own, by the directory they are in.
type scenario map[string]string

// write puts the ".gitignore" files of s into the directory name, in place of
// those that are there.
func (r repo) write(t fataler, name string, s scenario, dirs []string) {
	for _, dir := range append([]string{"."}, dirs...) {
		file := filepath.Join(r.dir, name, dir, ".gitignore")
		content, ok := s[dir]
		if !ok {
			os.Remove(file)
			continue
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

// mkdirs makes dirs in the directory name. git looks at the disk to tell
// directories, and takes what does not exist for a file.
func (r repo) mkdirs(t *testing.T, name string, dirs []string) {
	t.Helper()
	for _, dir := range append([]string{"."}, dirs...) {
		if err := os.MkdirAll(filepath.Join(r.dir, name, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

// ignored is what a walk that obeys package ignore leaves out.
func (s scenario) ignored(name string, dir bool) bool {
	var rules *ignore.Rules
	rules = rules.Enter("", s.file("."))
	elements := strings.Split(name, "/")
	for i, element := range elements[:len(elements)-1] {
		if rules.Ignored(element, true) {
			return true
		}
		rules = rules.Enter(element, s.file(path.Join(elements[:i+1]...)))
	}
	return rules.Ignored(elements[len(elements)-1], dir)
}

func (s scenario) file(dir string) *ignore.File {
	content, ok := s[dir]
	if !ok {
		return nil
	}
	return ignore.Parse([]byte(content))
}
