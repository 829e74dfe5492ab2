package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// cancelCases returns the cases for ended contexts: two for every call, and
// those that end a call on its way. A deadline has a case of its own, because a
// provider that turns a client library's error into context.Canceled can still
// miss context.DeadlineExceeded, with which a timeout ends a call. A user who
// stops an agent expects that nothing changes from then on.
func cancelCases() []testCase {
	cases := []testCase{
		{"walk-canceled-on-the-way", "C2", needFiles, walkCanceledOnTheWay},
		{"grep-canceled-on-the-way", "C2", needFiles, grepCanceledOnTheWay},
		{"watch-ends", "C2 H8", needWatch, watchEnds},
	}
	for _, c := range calls() {
		cases = append(cases,
			testCase{c.name + "-canceled", "C1 E1 E2", needFiles | c.needs, c.refusesCanceled},
			testCase{c.name + "-deadline", "C1 E1 E2", needFiles | c.needs, c.refusesExpired})
	}
	return cases
}

// watchEnds is the watch of the Context group. A watch that goes on costs a
// goroutine, and what the operating system keeps for it, for each session that
// ever watched.
func watchEnds(e *env) {
	ctx, cancel := context.WithCancel(e.ctx)
	w := e.watchUntil(ctx, ".", nil)
	cancel()
	w.awaitClose()
}

// refusesCanceled tests c with a context that was canceled before the call.
func (c call) refusesCanceled(e *env) {
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	c.refusesEnded(e, ctx, context.Canceled)
}

// refusesExpired tests c with a context whose deadline has passed.
func (c call) refusesExpired(e *env) {
	ctx, cancel := context.WithDeadline(e.ctx, time.Unix(0, 0))
	defer cancel()
	c.refusesEnded(e, ctx, context.DeadlineExceeded)
}

// refusesEnded uses a name for which c would succeed, so that nothing but the
// context can be the reason. It finds the provider that looks at the context
// between two requests only: such a provider stops a walk, and still makes the
// single write that was canceled before it began.
func (c call) refusesEnded(e *env, ctx context.Context, want error) {
	e.given(callTree())
	before := e.tree()
	name := c.fitting()
	if err := c.do(ctx, e.fsys, name); err == nil {
		e.Errorf(c.text+" with an ended context = nil, want %q", name, want)
	} else {
		paths := []string{name}
		if c.op == ops.Move || c.op == ops.Copy {
			paths = append(paths, "file", "new/destination")
		}
		e.refused(err, want, at(c.op, paths...), c.text+" with an ended context", name)
	}
	e.unchanged(before, c.text+" with an ended context", name)
}

// fitting returns a name in callTree for which c succeeds: a directory for
// calls that need one, a free name for those that create, and a file for the
// others. Cases use it for calls that can fail for one reason only.
func (c call) fitting() string {
	switch c.name {
	case "ls", "glob-dir", "watch", "walk", "rm-recursive":
		return "dir"
	case "mkdir", "mkdir-recursive", "move-destination", "copy-destination":
		return "new"
	}
	return "file"
}

// walkCanceledOnTheWay walks many files of one listing, and more directories than are plausibly
// listed ahead.
// The function itself never fails, so the walk must notice the end. One that
// tests the context only where it begins would go on through a whole bucket for
// an agent that has been stopped.
func walkCanceledOnTheWay(e *env) {
	tree := make(files)
	for i := range 40 {
		tree[fmt.Sprintf("dir%02d/file", i)], tree[fmt.Sprintf("a%02d", i)] = "x", "x"
	}
	e.given(tree)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	calls := 0
	err := workspace.Walk(ctx, e.fsys, ".", nil, func(workspace.FileInfo, error) error {
		calls++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls > 1 {
		e.Errorf("Walk(%q), canceled at the first entry = %v after %d calls, want %q after one", ".", err, calls, context.Canceled)
	}
}

// grepCanceledOnTheWay searches one long line for a pattern that takes a second, and gives it
// much less. What was found until then must not pass for the whole result: a model would
// conclude that a text is nowhere. How soon Grep returns is not tested, as no bound holds on
// every machine.
func grepCanceledOnTheWay(e *env) {
	e.given(files{"line": "1" + strings.Repeat("a", 512<<10)})
	ctx, cancel := context.WithTimeout(e.ctx, 20*time.Millisecond)
	defer cancel()
	const pattern = ".{1,900}[0-9]"
	_, err := e.fsys.Grep(ctx, pattern, nil)
	if ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("Grep(%q) whose context ended in the middle of a line = %v, want %q", pattern, err, context.DeadlineExceeded)
	}
}
