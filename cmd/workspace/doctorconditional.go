package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// conditional finds out whether the conditions of writes are honoured, by
// breaking them.
func (e *examination) conditional(ctx context.Context) outcome {
	switch {
	case !e.mark.written:
		return skipped("not tried: nothing was written")
	case !e.ws.Capabilities().ConditionalWrite:
		return outcome{
			status: statusWarn, detail: "not supported: of two writers at the same time the last one wins",
			remedy: "Let one program at a time write here.",
		}
	}
	_, err := e.ws.WriteFile(ctx, e.mark.name, markData(1), &workspace.WriteOptions{IfNotExist: true})
	if !errors.Is(err, fs.ErrExist) {
		return e.ignored(err, "a write that was to create the file has replaced it")
	}
	if e.mark.version == "" { // which as a condition would be none
		return e.ignored(nil, "a write returned no version, so no later write can be conditional on it")
	}
	old := &workspace.WriteOptions{IfVersion: e.mark.version}
	if _, err := e.ws.WriteFile(ctx, e.mark.name, markData(2), old); err != nil {
		return failed(err)
	}
	if _, err := e.ws.WriteFile(ctx, e.mark.name, markData(3), old); !errors.Is(err, workspace.ErrConflict) {
		return e.ignored(err, "a write to an old version of the file has replaced the new one")
	}
	return healthy("create-only and by version")
}

// ignored is the outcome of a write that was to be refused and returned err.
func (e *examination) ignored(err error, detail string) outcome {
	if err != nil {
		return failed(err)
	}
	remedy := "Let one program at a time write here."
	if e.target.kind == nameStore {
		remedy = `Set "probe: true" in the provider, so that nothing relies on it, or use a store that honours conditions.`
	}
	return outcome{status: statusFail, detail: detail, remedy: remedy}
}
