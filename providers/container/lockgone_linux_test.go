package container_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/providers/container"
)

// TestLockOfRemovedDirectory has a directory removed by the time that a shell in
// it makes a lock, which it must not try for ever.
func TestLockOfRemovedDirectory(t *testing.T) {
	program, err := container.Program()
	if err != nil {
		t.Fatal(err)
	}
	for _, sh := range []string{"sh", "busybox sh"} {
		t.Run(sh, func(t *testing.T) {
			words := strings.Fields(sh)
			if _, err := exec.LookPath(words[0]); err != nil {
				enginetest.Lacking(t, "there is no %s here: get it with your package manager", words[0])
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			script := program + "\nme='a 1 1'; mkdir dir && cd dir && rmdir ../dir; lock; [ $? -eq $overtaken ] && echo given up\n"
			cmd := exec.CommandContext(ctx, words[0], append(words[1:], "-c", script)...)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != "given up\n" {
				t.Errorf("lock in a directory that was removed: %v, %q", err, out)
			}
		})
	}
}
