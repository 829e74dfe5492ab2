package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
)

// Bounds of the search for a name that may have been meant.
const (
	missingClimb = 4    // directories that are tried, from the name upwards
	missingNames = 1000 // names that are looked at
)

// missingHint says what a name that does not exist could have been.
func (k *kit) missingHint(ctx context.Context, op, name string) string {
	element, dir, near := k.nearName(ctx, name)
	switch {
	case op == ops.Mkdir && near != "":
		return fmt.Sprintf("The parent directory does not exist. Did you mean %q? Set recursive to make what is missing.", near)
	case op == ops.Mkdir:
		return "The parent directory does not exist. Set recursive to make it too."
	case near != "":
		return fmt.Sprintf("Did you mean %q?", near)
	case element != name:
		return fmt.Sprintf("There is no %q either.", element) + k.lookHint(dir)
	}
	return strings.TrimSpace(k.lookHint(dir))
}

func (k *kit) lookHint(dir string) string {
	switch {
	case k.has(ops.Ls):
		return fmt.Sprintf(" See what is there with %s of %q%s.", k.name(ops.Ls), dir, k.ifTool(ops.Glob, ", or find it with %s"))
	case k.has(ops.Glob):
		return " Find it with " + k.name(ops.Glob) + "."
	}
	return ""
}

// nearName finds the first element of name that does not exist, the directory
// that it should be in, and the name with its nearest sibling in its place, or
// "" if none is near.
func (k *kit) nearName(ctx context.Context, name string) (element, dir, near string) {
	element = name
	for range missingClimb {
		dir, base := workspace.Split(element)
		children, err := k.ws.Ls(ctx, dir, &workspace.LsOptions{Limit: missingNames})
		if errors.Is(err, fs.ErrNotExist) && dir != "." {
			element = dir
			continue
		}
		if sibling := wording.Closest(base, names(children)); sibling != "" && sibling != base {
			near = workspace.Join(dir, sibling) + strings.TrimPrefix(name, element)
		}
		return element, dir, near
	}
	return element, ".", ""
}

func names(children []workspace.FileInfo) []string {
	names := make([]string, len(children))
	for i, c := range children {
		names[i] = c.Name
	}
	return names
}
