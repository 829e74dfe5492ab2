package main

import (
	"encoding/json"
	"fmt"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// doneView says on one line what mkdir, rm, move or copy did.
type doneView struct {
	console
	op string
}

type doneResult struct {
	Path        string `json:"path"`
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

func (v *doneView) show(result json.RawMessage) error {
	var done doneResult
	if err := json.Unmarshal(result, &done); err != nil {
		return fault(err)
	}
	fmt.Fprintln(v, v.sentence(done))
	return nil
}

func (v *doneView) end() error { return nil }

func (v *doneView) sentence(done doneResult) string {
	name := v.look.name
	switch v.op {
	case ops.Mkdir:
		return "made " + name(done.Path)
	case ops.Rm:
		return "removed " + name(done.Path)
	case ops.Move:
		return "moved " + name(done.Source) + " to " + name(done.Destination)
	}
	return "copied " + name(done.Source) + " to " + name(done.Destination)
}
