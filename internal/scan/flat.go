package scan

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ignore"
	"github.com/workspacekit/workspacekit/workspace"
)

// flatWalk visits the tree below a directory in one listing of a [Walker],
// without the directories that are ignored or in which the pattern cannot
// match.
type flatWalk struct {
	*dirReader
	visit func(in *dirState, info workspace.FileInfo) error
	open  []*dirState // from the directory where it begins to the current one
}

// flatWalk visits what is below in and greater than the path after. It returns
// [fs.SkipAll] if visit does.
func (r *dirReader) flatWalk(walker Walker, in *dirState, after string, visit func(in *dirState, info workspace.FileInfo) error) error {
	f := &flatWalk{dirReader: r, visit: visit}
	stopped := false
	err := walker.Walk(r.ctx, in.path, after, func(info workspace.FileInfo) error {
		if len(f.open) == 0 {
			if err := f.push(in, info.Path); err != nil {
				return err
			}
		}
		err := f.entry(info)
		stopped = errors.Is(err, fs.SkipAll)
		return err
	})
	if stopped {
		return fs.SkipAll // which ends the whole search, and not only this Walk
	}
	return err
}

// entry visits info unless the search does not want it.
func (f *flatWalk) entry(info workspace.FileInfo) error {
	in, err := f.dirOf(info.Path)
	if err != nil {
		return err
	}
	if in == nil || f.ignored(in, info.Name, info.IsDir()) {
		if info.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if err := f.visit(in, info); err != nil {
		return err
	}
	if info.IsDir() && f.enter(in, info.Name) == nil {
		return fs.SkipDir
	}
	return nil
}

// dirOf returns the directory that holds path, nil if the search does not want
// it. The listing need not have reported the directories on the way there: it
// may have begun below them.
func (f *flatWalk) dirOf(path string) (*dirState, error) {
	for len(f.open) > 1 && !isBelow(path, f.open[len(f.open)-1].path) {
		f.open = f.open[:len(f.open)-1]
	}
	for {
		in := f.open[len(f.open)-1]
		name, _, deeper := strings.Cut(relative(path, in.path), "/")
		if !deeper {
			return in, nil
		}
		if f.ignored(in, name, true) {
			return nil, nil
		}
		child := f.enter(in, name)
		if child == nil {
			return nil, nil
		}
		if err := f.push(child, path); err != nil {
			return nil, err
		}
	}
}

// push opens dir, where first is the first path of the listing. The listing
// shows whether dir has an ignore file if it begins before that file's place;
// there is none if first is already greater. A listing that begins after begin does not
// show an ignore file at begin, or before it.
func (f *flatWalk) push(dir *dirState, first string) error {
	file := dir.join(ignore.FileName)
	f.open = append(f.open, dir)
	return f.readRules(dir, first <= file || f.begin >= file)
}

// isBelow reports whether path is somewhere below dir. "ab" is not below "a".
func isBelow(path, dir string) bool {
	return dir == "." || strings.HasPrefix(path, dir) && len(path) > len(dir) && path[len(dir)] == '/'
}

// relative returns path, which is below dir, from there.
func relative(path, dir string) string {
	if dir == "." {
		return path
	}
	return path[len(dir)+1:]
}
