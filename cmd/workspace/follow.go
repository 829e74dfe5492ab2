package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools"
)

// pages reports whether op returns its result in pages.
func pages(op string) bool {
	return slices.Contains([]string{ops.ReadFile, ops.Ls, ops.Glob, ops.Grep}, op)
}

// page is what the next page depends on.
type page struct {
	Path       string `json:"path"`
	NextCursor string `json:"nextCursor"`
	NextLine   int    `json:"nextLine"`
	Version    string `json:"version"`
}

// follow runs the tool, again and again if all pages are wanted, and gives each
// result to show.
func (i *invocation) follow(ctx context.Context, set *tools.Set, args json.RawMessage, show func(json.RawMessage) error) error {
	first := page{}
	for n := 0; ; n++ {
		result, err := i.call(ctx, set, args)
		if err != nil {
			return err
		}
		var p page
		if err := json.Unmarshal(result, &p); err != nil {
			return &runError{fmt.Errorf("result: %w", err)}
		}
		if n == 0 {
			first = p
		}
		if p.Version != first.Version {
			return changed(p.Path)
		}
		if err := show(result); err != nil {
			return err
		}
		if !i.all || p.NextCursor == "" && p.NextLine == 0 {
			return nil
		}
		if args, err = nextArguments(args, p); err != nil {
			return &runError{err}
		}
	}
}

// changed is the error of a file whose pages are not of one version.
func changed(name string) error {
	return &toolError{tool: &tools.Error{
		Code: tools.CodeConflict, Message: name + ": file has changed while it was read", Path: name,
		Hint: "Try again.", Retryable: true,
	}}
}

// nextArguments returns args for the page after p.
func nextArguments(args json.RawMessage, p page) (json.RawMessage, error) {
	next := map[string]json.RawMessage{}
	if err := json.Unmarshal(args, &next); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	name, value := "cursor", any(p.NextCursor)
	if p.NextLine > 0 {
		name, value = "line", any(p.NextLine)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	next[name] = encoded
	return json.Marshal(next)
}
