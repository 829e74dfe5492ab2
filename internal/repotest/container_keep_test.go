package repotest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/providers/container"
)

// TestKeep tests that Close removes a container that was created, unless the
// option keep is set.
func TestKeep(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			dir := t.TempDir()
			calls := filepath.Join(dir, "calls")
			engine := filepath.Join(dir, "engine")
			script := fmt.Sprintf(`#!/bin/sh
echo "$1" >>'%[1]s'
case $1 in
container) echo 'Error: No such container: kept' >&2; exit 1 ;;
create) echo made ;;
start) [ "$2" = made ] || { echo; cat; echo removed >>'%[1]s'; } ;;
exec) exec sh ;;
esac
`, calls)
			if err := os.WriteFile(engine, []byte(script), 0o777); err != nil {
				t.Fatal(err)
			}
			path := writeConfig(t, dir, fmt.Sprintf(
				"workspaces: {main: {provider: {kind: container, image: box, workspaceDir: %s, name: kept, keep: %t}}}", dir, keep))
			t.Setenv(container.EnvEngine, engine)
			workspaces, err := workspacekit.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := lookup(t, workspaces, "main").Stat(t.Context(), "."); err != nil {
				t.Fatal(err)
			}
			if err := workspaces.Close(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			if removed := strings.Contains(string(data), "removed\n"); removed == keep {
				t.Errorf("the container was removed: %t, want %t", removed, !keep)
			}
		})
	}
}
