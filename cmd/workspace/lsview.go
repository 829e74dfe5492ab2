package main

import (
	"encoding/json"
	"fmt"

	"github.com/workspacekit/workspacekit/workspace"
)

// lsView prints names: at a terminal as a table with their sizes, else one on a
// line.
type lsView struct {
	console
	cursor string
}

type lsResult struct {
	Entries    []workspace.FileInfo `json:"entries"`
	NextCursor string               `json:"nextCursor"`
}

func (v *lsView) show(result json.RawMessage) error {
	var list lsResult
	if err := json.Unmarshal(result, &list); err != nil {
		return fault(err)
	}
	v.cursor = list.NextCursor
	width := 0
	for _, e := range list.Entries {
		width = max(width, len(sizeOf(e)))
	}
	for _, e := range list.Entries {
		fmt.Fprintln(v, v.row(e, width))
	}
	return nil
}

func (v *lsView) end() error {
	if err := v.Flush(); err != nil {
		return fault(err)
	}
	v.noteMore(v.cursor)
	return nil
}

func (v *lsView) row(e workspace.FileInfo, width int) string {
	if !v.look.terminal {
		return v.look.paint(colorOf(e.Type), e.Name)
	}
	return fmt.Sprintf("%*s  %s", width, sizeOf(e), v.look.paint(colorOf(e.Type), v.look.name(e.Name))+markOf(e.Type))
}

func sizeOf(e workspace.FileInfo) string {
	if e.Type != workspace.TypeFile {
		return "-"
	}
	return fmt.Sprint(e.Size)
}

// markOf is what follows a name to say what it is, as in ls -F.
func markOf(kind workspace.FileType) string {
	switch kind {
	case workspace.TypeDirectory:
		return "/"
	case workspace.TypeSymlink:
		return "@"
	}
	return ""
}

func colorOf(kind workspace.FileType) string {
	switch kind {
	case workspace.TypeDirectory:
		return blue
	case workspace.TypeSymlink:
		return cyan
	}
	return noColor
}
