package container

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// entry is one name of a listing.
type entry struct {
	record
	name string // from the directory that was listed
}

func (e entry) isUnnamed() bool { return scan.Child{Type: e.kind}.IsUnnamed() }

// errBelow says that the tree is there, and the part of it that was asked for
// is not.
var errBelow = errors.New("there is no such directory below")

const (
	// maxListings bounds how often a listing is made because something fails or
	// changes meanwhile.
	maxListings = 5
	// maxVanished is how many are made where all that happens is that something
	// vanishes: then the last will do.
	maxVanished = 3
)

// named returns what list does without what has no valid name.
func named(entries []entry, err error) ([]entry, error) {
	return slices.DeleteFunc(entries, entry.isUnnamed), err
}

// list makes a call whose reply is a listing of dir, or of what is below it,
// and returns it sorted by name. Files and directories without a valid name are
// marked by their kind. Whatever else has none is left out, and so are temporary
// files.
//
// A program that lists says by one and the same status that a directory cannot
// be read and that something failed. The first shows in the listing. If something
// has vanished meanwhile, the tree is listed again, as it may have been moved; what
// vanishes from the last of these listings is left out.
func (f *FS) list(ctx context.Context, op, dir string, call shell.Call) ([]entry, error) {
	for attempt := 1; ; attempt++ {
		body, status, err := f.pool.Do(ctx, call)
		if err != nil {
			return nil, f.broken(op, dir, err)
		}
		if status > statusOther {
			return nil, errBelow
		}
		if status != 0 && status != statusPartial && status != statusVanished {
			return nil, statusError(op, dir, status, nil)
		}
		entries, err := parseListing(body, dir)
		if err != nil {
			return nil, ops.Error(op, dir, nil, err)
		}
		if status == 0 || status == statusVanished && attempt == maxVanished || slices.ContainsFunc(entries, f.inside().hides) {
			return entries, nil
		}
		if attempt == maxListings {
			return nil, ops.Error(op, dir, workspace.ErrUnavailable,
				errors.New("a listing is never complete, as something changes or fails all the time"))
		}
	}
}

// The bits of a permission.
const (
	mayEnter = 1
	mayRead  = 4
)

// hides reports whether e is a directory that cannot be listed by the user
// that the shell runs as.
func (i image) hides(e entry) bool {
	return (e.kind == workspace.TypeDirectory || e.kind == scan.UnnamedDirectory) && !i.allows(e, mayRead|mayEnter)
}

// allows reports whether that user has a permission.
func (i image) allows(e entry, bits uint64) bool {
	perm := e.perm
	switch {
	case i.user == 0:
		return true
	case e.uid == i.user:
		perm >>= 6
	case slices.Contains(i.groups, e.gid):
		perm >>= 3
	}
	return perm&bits == bits
}

// parseListing reads records that have their path from dir and the end of a
// record behind them.
func parseListing(body []byte, dir string) ([]entry, error) {
	var entries []entry
	for len(body) > 0 {
		line, rest, found := bytes.Cut(body, []byte("//\n"))
		if !found {
			return nil, errRecord
		}
		body = rest
		r, name, err := parseRecord(line)
		if err != nil {
			return nil, err
		}
		e := entry{r, path.Clean(string(name))}
		ok := !isTemporary(e.name)
		if ok && !workspace.ValidName(workspace.Join(dir, e.name)) {
			e.kind, ok = scan.Unnamed(e.kind)
		}
		if ok {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, byName)
	return entries, nil
}

func byName(a, b entry) int { return strings.Compare(a.name, b.name) }

// isTemporary reports whether name is a temporary file, or below what has such a
// name.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ops.ReservedPrefix) || strings.Contains(name, "/"+ops.ReservedPrefix)
}
