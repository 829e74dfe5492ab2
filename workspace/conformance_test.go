package workspace_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) workspace.FileSystem {
		return workspace.New("test", memory.New(nil), &workspace.Options{MaxFileSize: -1})
	}, &conformance.Options{CleanNames: true})
}
