package command

import (
	"bytes"
	"io"
	"sync"
)

// trailer passes on what is written to it, up to a marker, and keeps the rest of its line:
// how the command ended. It holds back only what may be the beginning of the marker.
type trailer struct {
	to     io.Writer // nil to discard
	after  io.Writer // gets what follows the line; nil to discard
	marker []byte
	found  chan struct{} // closed when the line is whole

	mu   sync.Mutex
	held []byte // guarded by mu: not passed on
	seen bool   // guarded by mu: held begins after the marker
	line string // guarded by mu: empty until it is whole
}

// Write implements [io.Writer].
func (t *trailer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = append(t.held, p...)
	if !t.seen {
		at := bytes.Index(t.held, t.marker)
		t.seen = at >= 0
		if at < 0 {
			at = len(t.held) - prefixAtEnd(t.held, t.marker)
		}
		if err := pass(t.to, t.held[:at]); err != nil {
			return 0, err
		}
		t.held = t.held[at:]
		if t.seen {
			t.held = t.held[len(t.marker):]
		}
	}
	if end := bytes.IndexByte(t.held, '\n'); t.seen && t.line == "" && end >= 0 {
		t.line = string(t.held[:end+1])
		t.held = t.held[end+1:]
		close(t.found)
	}
	if t.line == "" {
		return len(p), nil
	}
	err := pass(t.after, t.held)
	t.held = nil
	return len(p), err
}

// pass passes p on.
func pass(to io.Writer, p []byte) error {
	if len(p) == 0 || to == nil {
		return nil
	}
	_, err := to.Write(p)
	return err
}

// end passes on what was held back, as nothing follows, and returns the line.
func (t *trailer) end() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.seen {
		_ = pass(t.to, t.held) // the caller of Run learns of it
		t.held = nil
	}
	return t.line
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
