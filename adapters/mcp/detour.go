package mcp

import (
	"crypto/rand"
	"sync"
)

// detour takes the large parts of results round the SDK, which encodes a result
// five times over: that takes ten times as long as reading a page of a file. A
// handler leaves a part here and gives the SDK a mark, a random string, in its
// place, and the connection puts the part in when it writes. What is between
// the two, such as middleware, sees the mark.
//
// A part leaves with the answer that has its mark. The SDK writes the answer of
// each call whose handler has returned, cancelled ones too, as long as the
// connection lasts, so no parts pile up. A detour is safe for concurrent use.
type detour struct {
	mu    sync.Mutex
	parts map[string]part // guarded by mu; by mark in quotes
}

// part appends its JSON to dst.
type part func(dst []byte) []byte

// detourMin is the size from which a part goes round the SDK.
const detourMin = 4 << 10

// markLength is the length of a mark in quotes.
var markLength = sync.OnceValue(func() int { return len(rand.Text()) + len(`""`) })

// newDetour returns a detour with no parts.
func newDetour() *detour { return &detour{parts: map[string]part{}} }

// detourKey is the key of a connection's detour in the context of its calls.
type detourKey struct{}

// leave takes a part and returns its mark.
func (d *detour) leave(p part) string {
	mark := rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parts[`"`+mark+`"`] = p
	return mark
}

// take returns the part of a mark in quotes, nil if quoted is none, and forgets
// it.
func (d *detour) take(quoted []byte) part {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parts[string(quoted)]
	delete(d.parts, string(quoted))
	return p
}
