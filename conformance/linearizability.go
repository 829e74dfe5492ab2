package conformance

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/workspacekit/workspacekit/workspace"
)

// linearizabilityCases are the cases that check whether concurrent operations
// could have happened one after another. What a client sees must not depend on
// which of several caches or connections answers. An agent that writes a file
// and then runs a tool on it must not meet the old bytes.
var linearizabilityCases = []testCase{
	{"read-and-write", "W8", needWrite, linearizableWrites},
	{"conditional-write", "W8 V5", needWrite | needConditional | needVersions, linearizableConditions},
}

// The kinds of operation on the one file of a history.
const (
	regRead = iota
	regWrite
	regWriteIf
)

// regInput is what an operation was called with.
type regInput struct {
	kind      int // of the operation, such as regRead
	content   string
	ifVersion workspace.Version // the condition of a write; empty for none
}

// regState is the file: what a read returns, and what a write leaves. ok is
// false in the output of a conditional write that failed. Without versions,
// version is empty everywhere.
type regState struct {
	content string
	version workspace.Version
	ok      bool // there is a file
}

// register is a file as a sequence of whole writes, each of its own content.
//
// For example, with the start "0", no order explains these two clients, because
// the second read begins after the first has ended:
//
//	client 1:  |----- write "1" -----|
//	client 2:    |read "1"| |read "0"|
//
// A cache that some reads use and writes do not clear does this.
func register(start regState) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return start },
		Step: func(state, input, output any) (bool, any) {
			return state.(regState).step(input.(regInput), output.(regState))
		},
	}
}

// step says whether an operation on the file may have returned out, and what
// the file is afterwards. A read must return the state. A conditional write
// that was refused proves that the version was another one; one that succeeded
// proves that it was the same.
func (s regState) step(in regInput, out regState) (legal bool, next regState) {
	switch {
	case in.kind == regRead:
		return out == s, s
	case in.kind == regWriteIf && !out.ok:
		return in.ifVersion != s.version, s
	case in.kind == regWriteIf && in.ifVersion != s.version:
		return false, s
	}
	return true, regState{content: in.content, version: out.version, ok: true}
}

// history records concurrent operations on one file.
type history struct {
	*env
	start      time.Time
	mu         sync.Mutex // guards operations
	operations []porcupine.Operation
}

// The size of a history: small enough that an order of its operations is found
// at once, and large enough that clients meet.
const (
	historyClients = 5
	historySteps   = 12
)

// linearizableWrites checks reads and unconditional writes.
func linearizableWrites(e *env) { e.linearizable(regRead, regWrite) }

// linearizableConditions checks reads, conditional and unconditional writes.
func linearizableConditions(e *env) { e.linearizable(regRead, regWriteIf, regWriteIf, regWrite) }

// linearizable fails the case if no order of the operations explains what each
// of them returned. Each client uses the version that it saw last as its
// condition, which is often an old one by then: the refusal must be right, too.
// Where the search for an order takes too long, the case is skipped.
func (e *env) linearizable(kinds ...int) {
	e.Helper()
	first := regState{content: "start", version: e.write("file", "start"), ok: true}
	if !e.caps.Versions {
		first.version = ""
	}
	h := &history{env: e, start: time.Now()}
	together(historyClients, func(client int) {
		seen := first
		for step := range historySteps {
			in := regInput{kind: kinds[(client+step)%len(kinds)], content: fmt.Sprintf("client %d, step %d", client, step)}
			if in.kind == regWriteIf {
				in.ifVersion = seen.version
			}
			if out, ok := h.do(client, in); ok {
				seen = out
			}
		}
	})
	h.check(first, time.Minute)
}

// check looks for an order of the operations for timeout at most.
func (h *history) check(first regState, timeout time.Duration) {
	h.Helper()
	switch porcupine.CheckOperationsTimeout(register(first), h.operations, timeout) {
	case porcupine.Illegal:
		h.Errorf("%d concurrent operations on %q cannot have happened one after another:%s", len(h.operations), "file", h)
	case porcupine.Unknown:
		h.Skipf("undecided: it takes more than %v to find out whether %d concurrent operations can have happened one after another", timeout, len(h.operations))
	}
}

// do runs and records one operation. It returns what the client now believes
// the file to be, if it has learned that. A write that was refused has taught
// it nothing. The times include all waiting of the client, so an operation took
// effect between them.
func (h *history) do(client int, in regInput) (regState, bool) {
	began := time.Since(h.start)
	out, err := h.call(in)
	ended := time.Since(h.start)
	if err != nil {
		h.Errorf("%+v beside others = %v, want nil", in, err)
		return out, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: in, Output: out, Call: began.Nanoseconds(), Return: ended.Nanoseconds(),
	})
	return out, out.ok
}

// call runs one operation and returns the state that it has shown. A conflict
// is a result and no error.
func (h *history) call(in regInput) (regState, error) {
	if in.kind == regRead {
		data, version, err := workspace.ReadVersioned(h.ctx, h.fsys, "file", 0)
		return regState{content: string(data), version: version, ok: true}, err
	}
	opts := &workspace.WriteOptions{IfVersion: in.ifVersion}
	version, err := h.fsys.WriteFile(h.ctx, "file", []byte(in.content), opts)
	if in.kind == regWriteIf && errors.Is(err, workspace.ErrConflict) {
		return regState{}, nil
	}
	if !h.caps.Versions {
		version = ""
	}
	return regState{content: in.content, version: version, ok: true}, err
}

// String lists the operations in the order in which they began.
func (h *history) String() string {
	text := ""
	for _, op := range h.operations {
		text += fmt.Sprintf("\n\t%8.3f to %8.3f ms: client %d: %+v = %+v",
			float64(op.Call)/1e6, float64(op.Return)/1e6, op.ClientId, op.Input, op.Output)
	}
	return text
}
