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
// dir, sorted by name. Those that have no valid name are marked by their type,
// and temporary files are left out and noted. To remove what dead processes have
// left is for a change of the directory, as one who may only read must delete
// nothing. The slice is not to be changed.
func (f *FS) visible(ctx context.Context, l listing, dir string) ([]scan.Child, error) {
	if children, ok := f.listings.get(l, dir); ok {
		return children, nil
	}
	began := changeClock()
	children, hidden, err := l.entries(ctx, dir)
	if err != nil {
		return nil, err
	}
	f.temps.note(dir, hidden)
	slices.SortFunc(children, func(a, b scan.Child) int { return cmp.Compare(a.Name, b.Name) })
	f.listings.put(l, dir, began, children)
	return children, nil
}

// entries returns the children of l, and the names of the temporary files, in
// the order of the directory. Files and directories without a valid name are
// marked by their type, and whatever else has none is left out.
func (l listing) entries(ctx context.Context, dir string) (kept []scan.Child, temps []string, err error) {
	children, err := l.children(ctx)
	if err != nil {
		return nil, nil, err
	}
	kept = children[:0]
	for _, child := range children {
		switch {
		case strings.HasPrefix(child.Name, workspace.ReservedPrefix):
			temps = append(temps, strings.Clone(child.Name)) // not the listing that it is part of
		case isListable(dir, child.Name):
			kept = append(kept, child)
		default:
			if kind, ok := scan.Unnamed(child.Type); ok {
				kept = append(kept, scan.Child{Name: child.Name, Type: kind})
			}
		}
	}
	return kept, temps, nil
}

// isListable reports whether the child name of dir can be named. What the
// operating system lists has no NUL and no slash.
func isListable(dir, name string) bool {
	return utf8.ValidString(name) &&
		len(name) <= workspace.MaxElementLength &&
		len(dir)+1+len(name) <= workspace.MaxNameLength
}
