package command

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	// holdTime is how long the rest of a marker may take to come.
	holdTime = 500 * time.Millisecond
	// maxLine is the longest line after a marker.
	maxLine = 100
)

// trailer passes on what is written to it, up to a marker, and keeps the rest of its line:
// how the command ended. It holds back only what may be the beginning of the marker, until
// holdTime has passed without anything more.
type trailer struct {
	to     io.Writer // nil to discard
	after  io.Writer // gets what follows the line; nil to discard
	marker []byte
	found  chan struct{} // closed when the line is whole

	mu     sync.Mutex
	writes int    // guarded by mu: how many there were
	held   []byte // guarded by mu: not passed on, but for the first bytes
	passed int    // guarded by mu: how many of held were passed on
	seen   bool   // guarded by mu: held begins after the marker
	line   string // guarded by mu: empty until it is whole
}

// Write implements [io.Writer].
func (t *trailer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes++
	t.held = append(t.held, p...)
	if !t.seen {
		at := bytes.Index(t.held, t.marker)
		t.seen = at >= 0
		if at < 0 {
			at = len(t.held) - prefixAtEnd(t.held, t.marker)
		}
		if err := pass(t.to, t.held[min(t.passed, at):at]); err != nil {
			return 0, err
		}
		t.held, t.passed = t.held[at:], max(t.passed-at, 0)
		if t.seen {
			t.held = t.held[len(t.marker):]
		} else if len(t.held) > t.passed {
			last := t.writes
			time.AfterFunc(holdTime, func() { t.release(last) })
		}
	}
	if t.seen && t.line == "" {
		end := bytes.IndexByte(t.held, '\n') + 1
		if end == 0 && len(t.held) > maxLine { // the wrapper has not written that
			end = maxLine
		}
		if end > 0 {
			t.line = string(t.held[:end])
			t.held = t.held[end:]
			close(t.found)
		}
	}
	if t.line == "" {
		return len(p), nil
	}
	err := pass(t.after, t.held)
	t.held = nil
	return len(p), err
}

// release passes on what is held back, unless there was a Write after the last one.
func (t *trailer) release(last int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.writes == last {
		t.passHeld()
	}
}

// passHeld passes on what is held back. t.mu is held.
func (t *trailer) passHeld() {
	if !t.seen {
		_ = pass(t.to, t.held[t.passed:]) // the caller of Run learns of it
		t.passed = len(t.held)
	}
}

// end passes on what is held back, as nothing follows, and returns the line.
func (t *trailer) end() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passHeld()
	return t.line
}

// pass passes p on.
func pass(to io.Writer, p []byte) error {
	if len(p) == 0 || to == nil {
		return nil
	}
	_, err := to.Write(p)
	return err
}

// prefixAtEnd returns how many of the last bytes of data are the first of marker.
func prefixAtEnd(data, marker []byte) int {
	for n := min(len(data), len(marker)-1); n > 0; n-- {
		if bytes.Equal(data[len(data)-n:], marker[:n]) {
			return n
		}
	}
	return 0
}
