package scan

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/ignore"
	"github.com/workspacekit/workspacekit/workspace"
)

// explorer opens the directories of a tree. It is safe for concurrent use.
type explorer struct {
	ctx       context.Context
	src       Source
	pattern   *glob.Pattern // leaves out where it cannot match; nil for everywhere
	begin     string        // directories with nothing at or after it are left out
	gitignore bool
}

// folder is a directory, with what has been learned on the way to it.
type folder struct {
	path  string
	match glob.State    // what is left of the pattern in here
	rules *ignore.Rules // the .gitignore rules of its parent; once it is open, its own
	top   bool
}

func (f *folder) join(name string) string { return workspace.Join(f.path, name) }

// ignoreFile is the name of the files with ignore rules, and maxIgnoreFile the
// size in bytes above which one is not read.
const (
	ignoreFile    = ".gitignore"
	maxIgnoreFile = 1 << 20
)

// walker returns the source if it can list whole trees.
func (x *explorer) walker() (Walker, bool) {
	walker, ok := x.src.(Walker)
	return walker, ok
}

// top returns the directory at which a search begins. The rules of the
// directories above it apply, too.
func (x *explorer) top(dir string) (*folder, error) {
	top := &folder{path: dir, top: true}
	if x.pattern != nil {
		top.match = x.pattern.Start()
	}
	if !x.gitignore || dir == "." {
		return top, nil
	}
	rules, err := x.rulesIn(nil, "", ".")
	if err != nil {
		return nil, err
	}
	elements := strings.Split(dir, "/")
	for i, name := range elements[:len(elements)-1] {
		if rules, err = x.rulesIn(rules, name, strings.Join(elements[:i+1], "/")); err != nil {
			return nil, err
		}
	}
	top.rules = rules
	return top, nil
}

// rulesIn returns the rules that apply in dir, the child name of a directory
// with the rules outer, if dir may have an ignore file.
func (x *explorer) rulesIn(outer *ignore.Rules, name, dir string) (*ignore.Rules, error) {
	data, err := x.src.Read(x.ctx, workspace.Join(dir, ignoreFile), new([]byte), ReadOptions{Limit: maxIgnoreFile})
	if x.ctx.Err() != nil {
		return nil, err
	}
	if err != nil { // there is none, or none that can be read
		return outer.Enter(name, nil), nil
	}
	return outer.Enter(name, ignore.Parse(data)), nil
}

// open returns the children of in that are not ignored, sorted.
func (x *explorer) open(in *folder) ([]Child, error) {
	if err := x.ctx.Err(); err != nil {
		return nil, err
	}
	children, err := x.src.List(x.ctx, in.path, in.top)
	if err != nil || !x.gitignore {
		return children, err
	}
	if err := x.readRules(in, children); err != nil {
		return nil, err
	}
	kept := make([]Child, 0, len(children))
	for _, child := range children {
		if !in.rules.Ignored(child.Name, child.Type == workspace.TypeDirectory || child.Type == UnnamedDirectory) {
			kept = append(kept, child)
		}
	}
	return kept, nil
}

// readRules adds the rules of the directory's own ignore file, if it has one,
// to those of its parent.
func (x *explorer) readRules(in *folder, children []Child) error {
	_, name := workspace.Split(in.path)
	if !hasFile(children, ignoreFile) {
		in.rules = in.rules.Enter(name, nil)
		return nil
	}
	rules, err := x.rulesIn(in.rules, name, in.path)
	in.rules = rules
	return err
}

// hasFile looks for name among children, which are sorted.
func hasFile(children []Child, name string) bool {
	for _, child := range children {
		if child.Name >= name {
			return child.Name == name && child.Type == workspace.TypeFile
		}
	}
	return false
}

// enter returns the child directory name of in, which is open, or nil if
// nothing in it can be wanted.
func (x *explorer) enter(in *folder, name string) *folder {
	child := &folder{path: in.join(name), rules: in.rules}
	if x.pattern != nil {
		if child.match = in.match.Enter(name); child.match.Empty() {
			return nil
		}
	}
	// All below "a" is less than "a0", as "0" follows "/".
	if x.begin != "" && child.path+"0" <= x.begin {
		return nil
	}
	return child
}

// gone reports whether err says that in was removed or replaced after it was
// listed, which is no error of a search.
func gone(in *folder, err error) bool {
	return !in.top && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotDir) || errors.Is(err, workspace.ErrSymlink))
}
