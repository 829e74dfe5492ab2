package container_test

import (
	"bytes"
	"strings"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/providers/container"
)

// observer is an executor on this computer that counts what goes to its shells and
// comes from them.
type observer struct {
	path     string                // where its shells look for programs; empty for their own
	before   func(function string) // called before each request; nil for nothing
	requests atomic.Int64
	sent     atomic.Int64 // bytes, without what a new shell is taught
	received atomic.Int64 // bytes
	secret   string       // what must not be sent; empty for nothing
	leaked   atomic.Bool  // secret was sent
}

func (o *observer) Start(args ...string) (container.Process, error) {
	if o.path != "" {
		p, err := within{path: o.path}.Start(args...)
		return observed{p, o}, err
	}
	p, err := container.Command{}.Start(args...)
	return observed{p, o}, err
}

type observed struct {
	container.Process
	o *observer
}

// Write leaves out the question whether a shell that has been idle for a while
// is still there.
func (p observed) Write(b []byte) (int, error) {
	words := bytes.Fields(b)
	if len(words) > 2 && string(words[0]) == "request" && string(words[2]) != ":" {
		p.o.requests.Add(1)
		if p.o.before != nil {
			function := strings.Trim(string(words[2]), "'")
			if function == "exactly" && len(words) > 3 { // and then the function of the exact view
				function = strings.Trim(string(words[3]), "'")
			}
			p.o.before(function)
		}
	}
	if p.o.secret != "" && bytes.Contains(b, []byte(p.o.secret)) {
		p.o.leaked.Store(true)
	}
	if !bytes.HasPrefix(b, []byte("#")) { // which begins what a new shell is taught
		p.o.sent.Add(int64(len(b)))
	}
	return p.Process.Write(b)
}

func (p observed) Read(b []byte) (int, error) {
	n, err := p.Process.Read(b)
	p.o.received.Add(int64(n))
	return n, err
}
