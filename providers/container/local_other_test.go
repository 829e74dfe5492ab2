//go:build !linux

package container_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/providers/container"
)

// localExecutor returns the Executor for this computer with which the suite runs.
func localExecutor(*testing.T) container.Executor { return container.Command{} }
