package container

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// entry is one name of a listing.
type entry struct {
	record
	name string // from the directory that was listed
}

// errBelow says that the tree is there, and the part of it that was asked for
// is not.
var errBelow = errors.New("there is no such directory below")

// maxListings bounds how often a listing is made again because something
// vanished meanwhile.
const maxListings = 5

// list makes a call whose reply is a listing, and returns it sorted by name.
// Entries with names that the contract does not allow are left out, and so are
// temporary files.
//
// A program that lists says by one and the same status that a directory cannot
// be read and that something vanished. The first shows in the listing.
func (f *FS) list(ctx context.Context, op, dir string, call shell.Call) ([]entry, error) {
	for attempt := 1; ; attempt++ {
		body, status, err := f.pool.Do(ctx, call)
		if err != nil {
			return nil, f.broken(op, dir, err)
		}
		if status > statusOther {
			return nil, errBelow
		}
		if status != 0 && status != statusPartial {
			return nil, statusError(op, dir, status, nil)
		}
		entries, err := parseListing(body)
		if err != nil {
			return nil, workspace.NewPathError(op, dir, nil, err)
		}
		if status == 0 || slices.ContainsFunc(entries, f.inside().hides) {
			return entries, nil
		}
		if attempt == maxListings {
			return nil, workspace.NewPathError(op, dir, workspace.ErrUnavailable,
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
	return e.kind == workspace.TypeDirectory && !i.allows(e, mayRead|mayEnter)
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

// parseListing reads records that have their path and the end of a record
// behind them.
func parseListing(body []byte) ([]entry, error) {
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
		if e := (entry{r, path.Clean(string(name))}); workspace.ValidName(e.name) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, byName)
	return entries, nil
}

func byName(a, b entry) int { return strings.Compare(a.name, b.name) }
