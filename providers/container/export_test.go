package container

import (
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// SearchPath is the variable with which shells are started.
const SearchPath = searchPath

// Texts reports whether grep in the container can leave out what has a NUL.
func (f *FS) Texts() bool { return f.store.start.found.Load().Texts }

// EngineError returns the error of an engine's client that said something when it
// failed.
func EngineError(said string) error { return ops.Error("open", "box", visible(engineFault(said)), nil) }

// Owner returns the label of this process.
func Owner() string { return ownerLabel + "=" + thisProcess().String() }

// IsLeft reports whether the process self takes a container for one that nobody
// uses.
func IsLeft(labels map[string]string, running bool, age time.Duration, self string) bool {
	c := inspected{Created: time.Now().Add(-age), Running: running, Labels: labels}
	p, _ := parseProcess(self)
	return c.isLeft(p, time.Now())
}
