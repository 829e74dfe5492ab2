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
	c, err := config.Parse([]byte(file), &config.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Open(t.Context(), workspacekit.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
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
