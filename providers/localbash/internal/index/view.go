package index

import (
	"sync"

	"github.com/workspacekit/workspacekit/internal/trigram"
	"github.com/workspacekit/workspacekit/workspace"
)

// View is what an Index knew when a search began. It is safe for concurrent use, and but for
// what is stale, it never changes.
type View struct {
	dirs  []viewed // each before what is below it
	paths func() map[string]int
}

// viewed is a directory of a View. The directories below one that is not known follow those
// that were known, as trees of their own.
type viewed struct {
	path    string
	listing *Listing // nil for one that is not known
	end     int      // the index after what is below it
}

// look returns the View of what is known. i.mu is held.
func (i *Index) look() *View {
	v := &View{dirs: make([]viewed, 0, len(i.dirs))}
	v.paths = sync.OnceValue(v.indexPaths)
	for roots := []*dir{i.dirs["."]}; len(roots) > 0; {
		root := roots[len(roots)-1]
		roots = v.add(root, roots[:len(roots)-1])
	}
	return v
}

// add adds d and what is below it. It appends the directories in those that are not known to
// roots.
func (v *View) add(d *dir, roots []*dir) []*dir {
	n := len(v.dirs)
	v.dirs = append(v.dirs, viewed{path: d.path, listing: d.listing})
	if d.listing == nil {
		for _, sub := range d.subdirs {
			roots = append(roots, sub)
		}
	} else {
		for _, name := range d.listing.dirs {
			if sub := d.subdirs[name]; sub != nil {
				roots = v.add(sub, roots)
			} else {
				v.dirs = append(v.dirs, viewed{path: workspace.Join(d.path, name), end: len(v.dirs) + 1})
			}
		}
	}
	v.dirs[n].end = len(v.dirs)
	return roots
}

// indexPaths returns the indexes of the directories by their paths.
func (v *View) indexPaths() map[string]int {
	paths := make(map[string]int, len(v.dirs))
	for n, d := range v.dirs {
		paths[d.path] = n
	}
	return paths
}

// Find returns the number of the directory path, and what is known of it. It returns false if
// that is nothing.
func (v *View) Find(path string) (n int, l *Listing, ok bool) {
	if v == nil {
		return 0, nil, false
	}
	if path != "." { // which is the first one
		if n, ok = v.paths()[path]; !ok {
			return 0, nil, false
		}
	}
	l = v.dirs[n].listing
	return n, l, l != nil
}

// Dir returns the path of the directory n, what is known of it, or nil, and the number after
// those of the directories below it.
func (v *View) Dir(n int) (path string, l *Listing, end int) {
	d := &v.dirs[n]
	return d.path, d.listing, d.end
}

// Left appends the names of the files to names that must be searched for what meets query, and
// returns how many are left out: those that Lacks returns true for.
func (l *Listing) Left(names []string, query trigram.Query, limit int64) (left []string, lacking int) {
	if !l.anyStale.Load() && (limit == 0 || l.largest <= limit) && !query.MeetsUnion(l.all) {
		return append(names, l.others...), l.texts
	}
	for n, f := range l.files {
		switch {
		case types[f.kind] != workspace.TypeFile:
		case l.Lacks(n, query, limit):
			lacking++
		default:
			names = append(names, l.Name(n))
		}
	}
	return names, lacking
}
