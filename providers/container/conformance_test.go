package container_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestConformance(t *testing.T) {
	inPlaces(t, func(t *testing.T, r *running) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return r.open(t) },
			&conformance.Options{Symlink: r.symlink})
	})
}
