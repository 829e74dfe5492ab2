// Package nodetest leads tests to the packages of npm that .ci/node/package.json
// lists:
//
//	WORKSPACEKIT_NODE_PACKAGES    the folder that they are installed in
//	WORKSPACEKIT_REQUIRE_PROGRAMS makes a test fail that would skip because one is missing
package nodetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
)

// Modules returns the folder node_modules with the packages: that of
// WORKSPACEKIT_NODE_PACKAGES, or a new one. It skips the test unless tests try what takes
// long, as Node.js does.
func Modules(t *testing.T) string {
	t.Helper()
	exhaustive.Long(t)
	refuse := t.Skipf
	if os.Getenv("WORKSPACEKIT_REQUIRE_PROGRAMS") != "" {
		refuse = t.Fatalf
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			refuse("%s is not installed: apt-get install nodejs npm", program)
		}
	}
	dir := os.Getenv("WORKSPACEKIT_NODE_PACKAGES")
	if dir == "" {
		dir = t.TempDir()
		install(t, dir, refuse)
	}
	return filepath.Join(dir, "node_modules")
}

func install(t *testing.T, dir string, refuse func(format string, args ...any)) {
	t.Helper()
	_, self, _, _ := runtime.Caller(0)
	list, err := os.ReadFile(filepath.Join(filepath.Dir(self), "..", "..", ".ci", "node", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), list, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--fetch-retries=0").CombinedOutput(); err != nil {
		refuse("npm cannot install the packages: %v\n%s", err, out)
	}
}
