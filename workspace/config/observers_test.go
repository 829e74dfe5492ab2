package config_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestAuditOfReference tests that the operations on what a reference opens are
// recorded in the log of the workspace that it refers to.
func TestAuditOfReference(t *testing.T) {
	dir := t.TempDir()
	file := "workspaces: {main: {provider: {kind: localbash, root: .}, audit: {file: log, hashPaths: true}}}"
	opened := open(t, parse(t, dir, file))
	ref, err := opened.All()[0].Ref(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(ref)
	if err != nil {
		t.Fatal(err)
	}
	again := config.Ref{}
	if err := json.Unmarshal(stored, &again); err != nil {
		t.Fatal(err)
	}
	ws, err := workspacekit.NewRegistry().Resolve(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Mkdir(t.Context(), "by-reference", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.WriteFile(t.Context(), "log", nil, nil); err == nil {
		t.Error("a workspace from a reference can change its log")
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || strings.Count(string(log), `"op":`) != 2 || strings.Contains(string(log), "by-reference") {
		t.Errorf("the log is %s, %v, want two operations with hashed names", log, err)
	}
}

// TestAuditOfAllowed writes to a file that rules let nobody list. With mode: audit, the log does
// not say that the write would be refused: only the log wants to know the version.
func TestAuditOfAllowed(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "files", "a"), "old")
	opened := open(t, parse(t, dir, `
workspaces:
  main:
    provider: { kind: localbash, root: files }
    fs: { mode: audit, rules: [{ deny: [list], paths: ["**"] }] }
    audit: { file: log }
`))
	if _, err := opened.All()[0].WriteFile(t.Context(), "a", []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || !strings.Contains(string(log), `"versionBefore":`) || strings.Contains(string(log), "would-deny") {
		t.Errorf("the log is %s, %v, want a version and no denial", log, err)
	}
}

// TestStagedUndo tests that what a failed transaction undoes is staged, in the order in which it
// is undone.
func TestStagedUndo(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), exhaustive.Program(t, "git"), append([]string{"-C", dir}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	for _, name := range []string{"a", "tree/a", "tree/sub/b", "moves/a", "moves/sub/b"} {
		writeFile(t, filepath.Join(dir, name), name)
	}
	git("add", ".")
	want := git("ls-files", "--stage")
	writeFile(t, filepath.Join(dir, "moves", "untracked"), "x")
	file := "workspaces: {main: {provider: {kind: localbash, root: .}, git: {stage: true}}}"
	ws := lookup(t, open(t, parse(t, dir, file)), "main")
	failed := errors.New("failed")
	err := ws.Transaction(t.Context(), func(ctx context.Context) error {
		return errors.Join(
			second(ws.WriteFile(ctx, "a", []byte("1"), nil)),
			second(ws.WriteFile(ctx, "new/file", []byte("1"), nil)),
			ws.Move(ctx, "new/file", "moved"),
			second(ws.Copy(ctx, "moved", "copy")),
			ws.Rm(ctx, "tree", &workspace.RmOptions{Recursive: true}),
			ws.Move(ctx, "moves", "tree"),
			ws.Move(ctx, "tree", "elsewhere"),
			second(ws.WriteFile(ctx, "elsewhere/a", []byte("2"), nil)),
			failed)
	})
	if !errors.Is(err, failed) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("Transaction() = %v, want %v alone", err, failed)
	}
	if got := git("ls-files", "--stage"); got != want {
		t.Errorf("the index has\n%s\nwant\n%s", got, want)
	}
}

// TestObserverErrors tests that an observer that cannot be opened is reported where the file
// describes it.
func TestObserverErrors(t *testing.T) {
	const head = "workspaces:\n  main:\n    provider: {kind: localbash, root: .}\n"
	t.Setenv("PATH", t.TempDir()) // without git
	const create = "file does not exist: create its folder first, or correct the path"
	for text, want := range map[string][2]string{
		"    audit: {file: none/log}\n":                                {`workspace.yaml:4:12: the workspace "main" cannot be opened: audit log: open `, "log: " + create},
		"    audit: {file: none/log, hashPaths: true}\n":               {`workspace.yaml:4:12: the workspace "main" cannot be opened: audit log: open `, "log: " + create},
		"    audit: {file: log, hashPaths: true, keyFile: none/key}\n": {`workspace.yaml:4:12: the workspace "main" cannot be opened: audit log: the key: open `, "key: " + create},
		"    git: {stage: true}\n":                                     {`workspace.yaml:4:10: the workspace "main" cannot be opened: git: `, ""},
	} {
		_, err := parse(t, t.TempDir(), head+text).Open(t.Context(), workspacekit.NewRegistry())
		if err == nil || !strings.HasPrefix(err.Error(), want[0]) || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("Open with %q = %v, want %s", text, err, want)
		}
	}
}
