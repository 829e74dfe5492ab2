package localbash

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// visible returns the children of the open directory l, which has the name
// dir, sorted by name: without those that have no valid name, and without
// temporary files, of which it removes those that a dead process has left.
func (f *FS) visible(ctx context.Context, l listing, dir string) ([]scan.Child, error) {
	children, err := l.children(ctx)
	if err != nil {
		return nil, err
	}
	var hidden []string
	kept := children[:0]
	for _, child := range children {
		switch {
		case strings.HasPrefix(child.Name, workspace.ReservedPrefix):
			hidden = append(hidden, child.Name)
		case isListable(dir, child.Name):
			kept = append(kept, child)
		}
	}
	if len(hidden) > 0 {
		f.sweep(dir, hidden)
	}
	slices.SortFunc(kept, func(a, b scan.Child) int { return cmp.Compare(a.Name, b.Name) })
	return kept, nil
}

// isListable reports whether the child name of dir can be named. What the
// operating system lists has no NUL and no slash.
func isListable(dir, name string) bool {
	return utf8.ValidString(name) &&
		len(name) <= workspace.MaxElementLength &&
		len(dir)+1+len(name) <= workspace.MaxNameLength
}
