package policy

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// alias is a name that a caller uses, and the name that stands for it below. The
// methods called outer… translate from there to the caller's names.
type alias struct {
	name   string
	target string // the same until a symlink is found in it
}

// maxFollows bounds how often an operation starts again because someone changes
// a symlink in its name.
const maxFollows = 100

// follow calls act, which follows no symlink, until it finds none. Before each
// call but the first, resolve replaces the names that act uses by their targets
// at that moment, and tests those; if there is nothing to replace, the error of
// act is final. A symlink that changes between the two makes act fail, so act
// only uses names that were tested.
//
// For example, link is a symlink to the directory src, which is allowed. While
// link/a is read, a program replaces src by a symlink to keys, which is denied:
//
//	act      reads link/a: ErrSymlink
//	resolve  link/a stands for src/a, which is allowed
//	         now the program replaces src
//	act      reads src/a: ErrSymlink
//	resolve  link/a stands for keys/a, which is denied, and follow returns that error
func follow(ctx context.Context, op, name string, act func() error, resolve func() (again bool, err error)) error {
	for range maxFollows {
		err := act()
		if !errors.Is(err, workspace.ErrSymlink) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return ops.Error(op, name, err, nil)
		}
		again, resolveErr := resolve()
		if resolveErr != nil {
			return resolveErr
		}
		if !again {
			return err
		}
	}
	return changingLinkError(op, name)
}

// changingLinkError is the error of a name whose symlinks change all the time.
func changingLinkError(op, name string) error {
	return ops.Error(op, name, workspace.ErrUnavailable, errors.New("a symlink in the name keeps changing"))
}

// rebase returns path with to in the place of from, if path is from or below it.
// It returns any other path as it is.
func rebase(path, from, to string) string {
	switch {
	case from == to:
		return path
	case path == from:
		return to
	case from == ".":
		return workspace.Join(to, path)
	}
	rest, below := strings.CutPrefix(path, from+"/")
	if !below {
		return path
	}
	return workspace.Join(to, rest)
}

// outer returns a path below the target as the caller spells it.
func (a alias) outer(path string) string { return rebase(path, a.target, a.name) }

// outerInfo returns info with the name and path that the caller knows.
func (a alias) outerInfo(info workspace.FileInfo) workspace.FileInfo {
	info.Path = a.outer(info.Path)
	_, info.Name = workspace.Split(info.Path)
	return info
}

// outerError returns err with the path that the caller knows.
func (a alias) outerError(err error) error {
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		return err
	}
	return ops.Rename(err, "", a.outer(pathError.Path))
}

// outerPatternError is outerError for an error that may be about a pattern:
// patterns has the caller's pattern for each one that the operation used.
func (a alias) outerPatternError(err error, patterns map[string]string) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		if pattern, ok := patterns[pathError.Path]; ok {
			return ops.Rename(err, "", pattern)
		}
	}
	return a.outerError(err)
}

// position translates the path after which the caller continues a listing of
// name to a path after which a listing of target continues. Paths are compared
// as strings: after need not be a name.
func (a alias) position(after string) string {
	outer, inner := prefixOf(a.name), prefixOf(a.target)
	if after == "" || outer == inner {
		return after
	}
	rest, below := strings.CutPrefix(after, outer)
	switch {
	case after == a.name && outer != "": // a search of one file
		return a.target
	case below:
		return inner + rest
	case after < a.name, after < outer && inner == "":
		return ""
	case after < outer: // after a file of that name, and before all below it
		return a.target + "!"
	}
	return strings.TrimSuffix(inner, "/") + "\xff" // which no name reaches
}

// prefixOf returns the prefix of all names below dir.
func prefixOf(dir string) string {
	if dir == "." {
		return ""
	}
	return dir + "/"
}

// innerHidden translates what is hidden from a search in name to a search in
// target.
func (a alias) innerHidden(hidden scan.Hidden) scan.Hidden {
	if hidden == nil || a.name == a.target {
		return hidden
	}
	return func(dir string) func(name string, isDir bool) bool { return hidden(a.outer(dir)) }
}

// hiding returns fsys without what is hidden from searches: its own view if it has
// one, and else searches by its other methods.
func hiding(fsys workspace.FileSystem, hidden scan.Hidden) workspace.FileSystem {
	if hidden == nil {
		return fsys
	}
	if hider, ok := workspace.As[fallback.Hider](fsys); ok {
		if view, err := hider.Hide(hidden); err == nil {
			return view
		}
	}
	return fallback.Hide(fsys, hidden)
}

// walk walks target in fsys for a caller who walks name.
func (a alias) walk(ctx context.Context, fsys workspace.FileSystem, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	var o workspace.WalkOptions
	if opts != nil {
		o = *opts
		o.After = a.position(opts.After)
	}
	var stopped error // an error of fn, which keeps its names
	err := workspace.Walk(ctx, fsys, a.target, &o, func(info workspace.FileInfo, err error) error {
		err = fn(a.outerInfo(info), a.outerError(err))
		if ops.EndsWalk(err, info.IsDir()) {
			stopped = err
		}
		return err
	})
	if stopped != nil {
		return stop{stopped}
	}
	return a.outerError(err)
}

// stop is the error of a caller's function. It is never a reason to follow a
// symlink.
type stop struct{ error }

// unstop returns the error that a walk returns to its caller.
func unstop(err error) error {
	if s, ok := err.(stop); ok {
		return s.error
	}
	return err
}

// forward sends the events of a watch of target under their outer names until
// the watch ends. It leaves out the events that shows refuses.
func (a alias) forward(ctx context.Context, events <-chan workspace.Event, out chan<- workspace.Event, shows func(workspace.Event) bool) {
	defer close(out)
	for event := range events {
		event.Path = a.outer(event.Path)
		if !shows(event) {
			continue
		}
		select {
		case out <- event:
		case <-ctx.Done():
			return
		}
	}
}

// create is [workspace.Create] for target. It looks for symlinks first, as
// Create may not look at the name before the commit, which is too late to follow
// one.
func (a alias) create(ctx context.Context, fsys workspace.FileSystem, opts *workspace.WriteOptions) (workspace.Writer, error) {
	name := a.target
	if !follows(opts) {
		name, _ = workspace.Split(name)
	}
	if _, err := workspace.Resolve(ctx, fsys, name); err != nil {
		return nil, ops.Rename(err, ops.Create, a.name)
	}
	return workspace.Create(ctx, fsys, a.target, opts)
}

// writer renames the errors of a Writer.
type writer struct {
	workspace.Writer
	name       string
	outerError func(error) error
}

// Write implements [workspace.Writer].
func (w *writer) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	return n, w.outerError(err)
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	version, err := w.Writer.Commit()
	if errors.Is(err, workspace.ErrSymlink) {
		return "", changingLinkError(ops.Create, w.name)
	}
	return version, w.outerError(err)
}

// Close implements [workspace.Writer].
func (w *writer) Close() error { return w.outerError(w.Writer.Close()) }
