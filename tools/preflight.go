package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/workspacekit/workspacekit/workspace/policy"
)

// Preflight returns what [Tool.Call] with the same args would touch, and changes no
// file: for a framework that shows its user a call before it takes place. A
// request to change a file has the diff against what the file holds now. A container
// that is not started yet may be, to read that, or to know what an absolute name means.
//
// A request to read or to change a name includes that the call describes it. One to
// change it includes that the call reads it, for a diff or a condition. One to
// list a directory includes that the call lists what is below it. One to
// delete a directory with Recursive, or to move one, includes all below it. What a
// failed call looks up to say what to do instead is not in the list.
//
// Preflight asks nobody for an approval: where a rule asks before a read, there is no
// diff of a write, and no preflight of an edit.
//
// Preflight promises nothing. A file can change before the call, and the call can be
// refused: rules of package policy ask at the moment of the operation instead, about
// the bytes that are then written.
//
// # Errors
//
// An [*Error], which Call would return as its result or for one of its files: for arguments
// that are not valid, for an edit that cannot be made, for a container that cannot be started,
// and for a timeout. And the error of ctx once it has ended.
func (t *Tool) Preflight(ctx context.Context, args json.RawMessage) ([]policy.Request, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	if t.members != nil {
		member, rest, err := t.takeWorkspace(args)
		if err != nil {
			return nil, t.toolset.explain(ctx, t.does, err)
		}
		return member.Preflight(ctx, rest)
	}
	// A plan may read files, for a diff. It has the time of a call, but not the bound on a
	// file system that ignores its context.
	limited, cancel := policy.WithApprover(t.toolset.identified(ctx), nil), context.CancelFunc(func() {})
	if t.toolset.timeout >= 0 {
		limited, cancel = context.WithTimeout(limited, t.toolset.timeout)
	}
	defer cancel()
	args, _, err := t.arguments(args)
	if err == nil {
		var requests []policy.Request
		if requests, err = t.plan(limited, t.toolset, args); err == nil {
			for i := range requests {
				requests[i].Workspace = cmp.Or(requests[i].Workspace, t.toolset.ws.Name())
			}
			return requests, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", t.Name, ctx.Err())
	case limited.Err() != nil:
		return nil, t.toolset.timedOut(t.does, stopped)
	}
	return nil, t.toolset.explain(limited, t.does, err)
}

// touches returns the one request of a call that does op with the name of the tool's
// parameter. tool is the operation for the error of a name that is not valid.
func (ts *toolset) touches(ctx context.Context, tool string, op policy.Op, name string) ([]policy.Request, error) {
	path, err := ts.ws.Clean(ctx, tool, name)
	if err != nil {
		return nil, err
	}
	return []policy.Request{{Op: op, Path: path}}, nil
}

// touchesPair is touches for a call that creates a destination. The source comes first, so
// that a caller can add to its request.
func (ts *toolset) touchesPair(ctx context.Context, tool string, op policy.Op, source, destination string) ([]policy.Request, error) {
	from, to, err := ts.cleanPair(ctx, tool, source, destination)
	if err != nil {
		return nil, err
	}
	return []policy.Request{{Op: op, Path: from, To: to}, {Op: policy.OpWrite, Path: to}}, nil
}

// cleanPair returns the clean names of a source and a destination. The error is about the
// first name that is not valid.
func (ts *toolset) cleanPair(ctx context.Context, tool, source, destination string) (from, to string, err error) {
	if from, err = ts.ws.Clean(ctx, tool, source); err != nil {
		return "", "", err
	}
	to, err = ts.ws.Clean(ctx, tool, destination)
	return from, to, err
}
