package workspace_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/workspacekit/workspacekit/workspace"
)

func TestRefinedKinds(t *testing.T) {
	if !errors.Is(workspace.ErrEscape, fs.ErrInvalid) || errors.Is(fs.ErrInvalid, workspace.ErrEscape) {
		t.Error("ErrEscape must be a kind of ErrInvalid, and not the other way round")
	}
	if !errors.Is(workspace.ErrPolicy, fs.ErrPermission) || errors.Is(workspace.ErrPolicy, workspace.ErrEscape) {
		t.Error("ErrPolicy must be a kind of ErrPermission, and no kind of ErrEscape")
	}
}
