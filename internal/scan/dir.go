package scan

import (
	"context"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/ignore"
	"github.com/workspacekit/workspacekit/workspace"
)

// dirReader lists the directories of a tree and leaves out what a search does
// not want. It is safe for concurrent use.
type dirReader struct {
	ctx       context.Context
	src       Source
	pattern   *glob.Pattern // directories in which it cannot match are left out; nil for none
	begin     string        // directories that end before this path are left out
	gitignore bool
	hidden    Hidden // nil if nothing is hidden
}

// dirState is a directory and what the search knows from the way to it.
type dirState struct {
	path  string
	match glob.State                         // the rest of the pattern, for the names in this directory
	rules *ignore.Rules                      // the .gitignore rules of its parent; once it is open, its own
	hides func(name string, isDir bool) bool // as rules: the parent's, then its own; nil if nothing below is hidden
	top   bool                               // the search begins here, so an error here is its error
}

// shows reports whether the child name of d, which is open, is not hidden.
func (d *dirState) shows(name string, isDir bool) bool {
	return d.hides == nil || !d.hides(name, isDir)
}

// join returns the path of the child name.
func (d *dirState) join(name string) string { return workspace.Join(d.path, name) }

// maxIgnoreFile is the size in bytes above which an ignore file is not read.
const maxIgnoreFile = 1 << 20

// top returns the directory at which a search begins, with the rules of the
// directories above it.
func (r *dirReader) top(dir string) (*dirState, error) {
	top := &dirState{path: dir, top: true}
	if r.pattern != nil {
		top.match = r.pattern.Start()
	}
	if !r.gitignore || dir == "." {
		return top, nil
	}
	above := dirState{path: "."}
	for element := range strings.SplitSeq(dir, "/") {
		if err := r.readRules(&above, true); err != nil {
			return nil, err
		}
		above.path = above.join(element)
	}
	top.rules = above.rules
	return top, nil
}

// openDir opens in.
func (r *dirReader) openDir(in *dirState) (Dir, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if opener, ok := r.src.(Opener); ok {
		return opener.OpenDir(in.path, in.top)
	}
	return unopened{r.src, in}, nil
}

// list returns the children of in, which dir is, that are not ignored, in any order. Hidden
// ones are among them: a hidden ignore file counts, and a search asks only about the names
// that it wants otherwise.
func (r *dirReader) list(in *dirState, dir Dir) ([]Child, error) {
	children, err := dir.List(r.ctx)
	if err != nil {
		return nil, err
	}
	if err := r.readRules(in, r.gitignore && hasFile(children, ignore.FileName)); err != nil {
		return nil, err
	}
	if !r.gitignore {
		return children, nil
	}
	kept := make([]Child, 0, len(children))
	for _, child := range children {
		if !r.ignored(in, child.Name, child.Type == workspace.TypeDirectory || child.Type == UnnamedDirectory) {
			kept = append(kept, child)
		}
	}
	return kept, nil
}

// hasFile looks for the file name among children.
func hasFile(children []Child, name string) bool {
	return slices.Contains(children, Child{Name: name, Type: workspace.TypeFile})
}

// sorted returns children sorted by name.
func sorted(children []Child) []Child {
	byName := func(a, b Child) int { return strings.Compare(a.Name, b.Name) }
	if slices.IsSortedFunc(children, byName) {
		return children
	}
	return slices.SortedFunc(slices.Values(children), byName)
}

// readRules opens the rules of in: which names are hidden in it, and the rules of
// its own ignore file, if there can be one, after the rules of its parent. A file
// that cannot be read has no rules.
func (r *dirReader) readRules(in *dirState, mayExist bool) error {
	if r.hidden != nil && (in.top || in.hides != nil) {
		in.hides = r.hidden(in.path)
	}
	if !r.gitignore {
		return nil
	}
	var file *ignore.File
	if mayExist {
		data, err := r.src.Read(r.ctx, in.join(ignore.FileName), new([]byte), ReadOptions{Limit: maxIgnoreFile})
		if ended := r.ctx.Err(); ended != nil {
			return ended
		}
		if err == nil {
			file = ignore.Parse(data)
		}
	}
	_, name := workspace.Split(in.path)
	in.rules = in.rules.Enter(name, file)
	return nil
}

// ignored reports whether the rules of in, which are open, exclude its child
// name.
func (r *dirReader) ignored(in *dirState, name string, dir bool) bool {
	return r.gitignore && in.rules.Ignored(name, dir)
}

// enter returns the child directory name of in, which is open, or nil if the
// search wants nothing in it, or it is hidden.
func (r *dirReader) enter(in *dirState, name string) *dirState {
	child := &dirState{path: in.join(name), rules: in.rules, hides: in.hides}
	if r.pattern != nil {
		if child.match = in.match.Enter(name); child.match.Empty() {
			return nil
		}
	}
	// All below "a" is less than "a0", as "0" follows "/".
	if r.begin != "" && child.path+"0" <= r.begin || !in.shows(name, true) {
		return nil
	}
	return child
}
