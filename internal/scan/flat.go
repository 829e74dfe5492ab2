package scan

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// flat visits the tree below a directory as a [Walker] lists it. What is
// ignored, or where the pattern cannot match, is left out.
type flat struct {
	*explorer
	visit func(in *folder, info workspace.FileInfo) error
	open  []*folder // the directories from the one where it begins to the present one
}

// flat visits what is below in, behind the path after.
func (x *explorer) flat(walker Walker, in *folder, after string, visit func(in *folder, info workspace.FileInfo) error) error {
	f := &flat{explorer: x, visit: visit, open: []*folder{in}}
	opened, ended := false, false
	err := walker.Walk(x.ctx, in.path, after, func(info workspace.FileInfo) error {
		if !opened {
			opened = true
			if err := f.enterRules(in, info.Path); err != nil {
				return err
			}
		}
		err := f.entry(info)
		ended = errors.Is(err, fs.SkipAll)
		return err
	})
	if ended {
		return fs.SkipAll // which ends more than this Walk
	}
	return err
}

// entry visits info unless it is left out.
func (f *flat) entry(info workspace.FileInfo) error {
	in, err := f.folder(info.Path)
	switch {
	case err != nil:
		return err
	case in == nil || f.ignored(in, info.Name, info.IsDir()):
		return leaveOut(info)
	}
	if err := f.visit(in, info); err != nil {
		return err
	}
	if info.IsDir() && f.enter(in, info.Name) == nil {
		return fs.SkipDir
	}
	return nil
}

// leaveOut returns what a walk is told of what is not wanted.
func leaveOut(info workspace.FileInfo) error {
	if info.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// folder returns the directory that path lies in, nil if it is left out.
func (f *flat) folder(path string) (*folder, error) {
	for len(f.open) > 1 && !lies(path, f.open[len(f.open)-1].path) {
		f.open = f.open[:len(f.open)-1]
	}
	for {
		in := f.open[len(f.open)-1]
		name, _, deeper := strings.Cut(below(path, in.path), "/")
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
		if err := f.enterRules(child, path); err != nil {
			return nil, err
		}
		f.open = append(f.open, child)
	}
}

// lies reports whether path lies below dir.
func lies(path, dir string) bool {
	return dir == "." || strings.HasPrefix(path, dir) && len(path) > len(dir) && path[len(dir)] == '/'
}

// below returns path as seen from dir, which it lies below.
func below(path, dir string) string {
	if dir == "." {
		return path
	}
	return path[len(dir)+1:]
}

// enterRules adds the rules of the directory's own ignore file to those of its
// parent. It looks for the file only if first, the first path that is met in
// the directory, is that file or comes before it, or if the walk began behind
// it.
func (f *flat) enterRules(in *folder, first string) error {
	if !f.gitignore {
		return nil
	}
	file := in.join(ignoreFile)
	if first > file && f.begin <= file {
		_, name := workspace.Split(in.path)
		in.rules = in.rules.Enter(name, nil)
		return nil
	}
	return f.openRules(in)
}

// literal goes down from in as long as the pattern has one literal name for
// directories alone, without listing anything. It returns nil if that leads to
// what is left out.
func (x *explorer) literal(in *folder) (*folder, error) {
	for {
		name, ok := in.match.Literal()
		if !ok || in.match.Match(name) {
			return in, nil
		}
		if err := x.openRules(in); err != nil {
			return nil, err
		}
		if x.ignored(in, name, true) {
			return nil, nil
		}
		if in = x.enter(in, name); in == nil {
			return nil, nil
		}
	}
}

// ignored reports whether the rules of in, which are open, leave out its child
// name.
func (x *explorer) ignored(in *folder, name string, dir bool) bool {
	return x.gitignore && in.rules.Ignored(name, dir)
}

// openRules adds the rules of in's own ignore file to those of its parent, if
// they are wanted, without knowing whether there is such a file.
func (x *explorer) openRules(in *folder) (err error) {
	if x.gitignore {
		_, name := workspace.Split(in.path)
		in.rules, err = x.rulesIn(in.rules, name, in.path)
	}
	return err
}

// notThere reports whether err says that a directory is not there, is none, may
// not be looked into, or has a name that nothing can have.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, workspace.ErrNotDir) || errors.Is(err, fs.ErrPermission)
}
