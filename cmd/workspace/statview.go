package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// statView prints what a name is, one fact on a line.
type statView struct{ console }

func (v *statView) show(result json.RawMessage) error {
	var info workspace.FileInfo
	if err := json.Unmarshal(result, &info); err != nil {
		return fault(err)
	}
	fmt.Fprintf(v, "path      %s\n", v.look.name(info.Path))
	fmt.Fprintf(v, "type      %s\n", info.Type)
	if info.Type == workspace.TypeFile {
		fmt.Fprintf(v, "size      %d\n", info.Size)
	}
	if !info.ModTime.IsZero() {
		fmt.Fprintf(v, "modified  %s\n", info.ModTime.Local().Format(time.RFC3339))
	}
	if info.Version != "" {
		fmt.Fprintf(v, "version   %s\n", info.Version)
	}
	return nil
}

func (v *statView) end() error { return nil }
