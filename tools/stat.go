package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// statInput is the parameter of stat.
type statInput struct {
	Path string `json:"path" jsonschema:"the name from the root"`
}

// statOutput is the result of stat.
type statOutput struct {
	Path    string             `json:"path" jsonschema:"the name from the root"`
	Type    workspace.FileType `json:"type" jsonschema:"file, directory, symlink or other; a symlink is not followed"`
	Size    int64              `json:"size" jsonschema:"the size in bytes; 0 unless it is a file"`
	ModTime time.Time          `json:"mtime,omitzero" jsonschema:"the modification time, in RFC 3339; absent if the store does not say"`
	Version workspace.Version  `json:"version,omitempty" jsonschema:"the version of a file"`
}

var statSpec = spec{
	op: ops.Stat, annotations: Annotations{Title: "Describe file", ReadOnly: true, Idempotent: true}, handler: define(runStat, planStat),
}

// runStat does not count as reading the file, although it returns the version: nobody has
// seen what would be replaced.
func runStat(ctx context.Context, ts *toolset, in *statInput) (*statOutput, error) {
	info, err := ts.ws.Stat(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	return &statOutput{Path: info.Path, Type: info.Type, Size: info.Size, ModTime: info.ModTime, Version: info.Version}, nil
}

// planStat asks for the right to list: a description has nothing of the content.
func planStat(ctx context.Context, ts *toolset, in *statInput) ([]policy.Request, error) {
	return ts.touches(ctx, ops.Stat, policy.OpList, in.Path)
}

// text is one line: "a.go: file, 12 bytes, modified 2026-01-02T03:04:05Z, version 3f2a".
func (o *statOutput) text() string {
	text := fmt.Sprintf("%s: %s", onOneLine(o.Path), o.Type)
	if o.Type == workspace.TypeFile {
		text += ", " + wording.Count(int(o.Size), "byte", "bytes")
	}
	if !o.ModTime.IsZero() {
		text += ", modified " + o.ModTime.UTC().Format(time.RFC3339)
	}
	return text + versionNote(o.Version)
}
