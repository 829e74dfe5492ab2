package localbash

import (
	"context"
	"time"
)

// notifier tells of changes in directories, by what the operating system has
// for that. It is for one goroutine.
type notifier interface {
	// add watches the directory that is open as l and has the given path from
	// the watched one. A directory that is watched already keeps its watchID.
	add(l listing, path string) (watchID, error)
	// remove ends a watch. What it told before may still come.
	remove(watchID)
	// wait returns what happened, in order, as soon as there is something, and
	// nothing at the deadline (unless that is zero) or when ctx has ended.
	wait(ctx context.Context, deadline time.Time) []notice
	// close ends all watches.
	close()
}

// watchID is the number of a watch. It is never zero.
type watchID int32

// notice is what a notifier tells.
type notice struct {
	kind  noticeKind
	watch watchID // of the directory
	name  string  // in the directory
}

type noticeKind int

const (
	noticeAppeared noticeKind = iota // something got the name
	noticeVanished                   // something lost the name
	noticeWritten                    // the bytes of what has the name changed
	noticeMoved                      // the directory itself was moved
	noticeEnded                      // the watch ended: the directory was removed, or its file system unmounted
	noticeLost                       // notices were lost, of any watch
)

// waitFor waits for what a notifier does without the operating system.
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
