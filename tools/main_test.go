package tools_test

import (
	"os"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
)

func TestMain(m *testing.M) {
	exhaustive.Quicken()
	os.Exit(m.Run())
}
