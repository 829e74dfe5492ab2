// Package dirwatch reports changes in directories, with the means of the
// operating system: inotify on Linux, and fsnotify elsewhere. A [Notice] only
// says where to look. It may be late or repeated. If notices are lost, one says
// so.
package dirwatch

import (
	"context"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
)

// Notifier watches directories. It is for one goroutine.
type Notifier interface {
	// Add watches dir. A directory that is watched already keeps its ID.
	Add(dir Dir) (ID, error)
	// Remove ends a watch. Earlier notices of it may still come.
	Remove(ID)
	// Wait returns what happened, in order, as soon as there is something, and
	// nothing at the deadline (unless that is zero) or when ctx has ended.
	Wait(ctx context.Context, deadline time.Time) []Notice
	// Now returns the Position of the last notice of what has happened so far, whether
	// Wait has returned it or not.
	Now() Position
	// Close ends all watches.
	Close()
}

// Dir is an open directory.
type Dir struct {
	Descriptor int // on Linux
	ID         sys.FileID
	Path       string // from the directory that all others are in, which is "."
}

// ID is the number of a watch. It is never zero.
type ID int32

// Notice is what a Notifier reports.
type Notice struct {
	Kind     Kind
	Watch    ID     // of the directory
	Name     string // in the directory
	Position Position
}

// Position is the place of a notice in the order in which things happened. It is zero
// where the system does not tell the order.
type Position int64

// Kind says what happened.
type Kind int

const (
	Appeared Kind = iota // something got the name
	Vanished             // something lost the name
	Written              // the bytes of what has the name changed
	Moved                // the directory itself was moved
	Ended                // the watch ended: the directory was removed, or its file system unmounted
	Lost                 // notices were lost, of any watch
)

// waitFor waits for what a Notifier does without the operating system.
func waitFor(ctx context.Context, wake <-chan struct{}, deadline time.Time) {
	var expired <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-ctx.Done():
	case <-expired:
	case <-wake:
	}
}
