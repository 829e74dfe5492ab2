package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
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

// TestObserverErrors tests that an observer that cannot be opened is reported where the file
// describes it.
func TestObserverErrors(t *testing.T) {
	const head = "workspaces:\n  main:\n    provider: {kind: localbash, root: .}\n"
	t.Setenv("PATH", t.TempDir()) // without git
	for text, want := range map[string]string{
		"    audit: {file: none/log}\n": `workspace.yaml:4:12: the workspace "main" cannot be opened: audit log `,
		"    git: {stage: true}\n":      `workspace.yaml:4:10: the workspace "main" cannot be opened: git: `,
	} {
		_, err := parse(t, t.TempDir(), head+text).Open(t.Context(), workspacekit.NewRegistry())
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Open with %q = %v, want %s", text, err, want)
		}
	}
}
