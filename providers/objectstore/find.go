package objectstore

import (
	"context"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// findKeys is how many keys find is to ask for where those in a directory do
// not matter: the file, a few whose names continue with a character before the
// slash, the marker, and one more in the directory.
const findKeys = 16

// finding is what there is at a name.
type finding struct {
	info   workspace.FileInfo
	exists bool
	keys   []string // in the directory, its marker included
	empty  bool     // there is nothing in the directory but its marker
	token  string   // where there are more keys; empty if these are all
}

// find looks for the file or directory name, in one request for so many keys,
// or a second if very many names continue this one.
func (f *FS) find(ctx context.Context, name string, keys int32) (finding, error) {
	key, dirKey := f.key(name), f.dirKey(name)
	p, err := f.list(ctx, listQuery{prefix: key, limit: keys, flat: true})
	if err != nil {
		return finding{}, err
	}
	if p.token != "" && !p.reaches(key, dirKey) {
		if p, err = f.list(ctx, listQuery{prefix: dirKey, limit: keys, flat: true}); err != nil {
			return finding{}, err
		}
	}
	found := finding{token: p.token, empty: true}
	for _, o := range p.objects {
		switch {
		case o.key == key && !o.isGone():
			return finding{info: o.info(name), exists: true}, nil
		case strings.HasPrefix(o.key, dirKey):
			found.keys = append(found.keys, o.key)
			found.empty = found.empty && (o.key == dirKey || o.isGone())
		}
	}
	if len(found.keys) > 0 {
		found.info, found.exists = dirInfo(name), true
	}
	if last := p.last(); last > dirKey && !strings.HasPrefix(last, dirKey) {
		found.token = "" // all of the directory has been seen
	}
	found.empty = found.empty && found.token == ""
	return found, nil
}

// reaches reports whether the page of a listing shows all that find needs of it:
// the file key, or two keys of the directory dirKey, or that it has no more.
func (p page) reaches(key, dirKey string) bool {
	inDir := 0
	for _, o := range p.objects {
		switch {
		case o.key == key && !o.isGone():
			return true
		case strings.HasPrefix(o.key, dirKey):
			inDir++
		case o.key > dirKey:
			return true
		}
	}
	return inDir > 1
}
