package engine

import (
	"time"

	"github.com/workspacekit/workspacekit/internal/process"
)

// IsLeft reports whether the process self takes a container for one that nobody
// uses.
func IsLeft(name string, labels map[string]string, running bool, age time.Duration, self string) bool {
	c := inspected{Name: name, Created: time.Now().Add(-age), Running: running, Labels: labels}
	p, _ := process.Parse(self)
	return c.isLeft(p, time.Now())
}
