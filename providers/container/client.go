package container

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// client calls the functions of the program.
type client struct {
	*session
	pool   *shell.Pool
	exact  bool                  // no symlink is followed
	broken func(err error) error // returns the error of a call without a reply
}

// idempotent returns the call of a function that can be made again.
func idempotent(function string, args ...string) shell.Call {
	return shell.Call{Function: function, Args: args}
}

// once returns the call of a function that must not be made again once it may
// have been carried out.
func once(function string, args ...string) shell.Call {
	return shell.Call{Function: function, Args: args, Once: true}
}

// pair returns the two arguments that a call needs for name.
func pair(name string) []string {
	dir, base := workspace.Split(name)
	return []string{dir, base}
}

// prepare returns the call as this client makes it.
func (c *client) prepare(call shell.Call) shell.Call {
	if c.exact {
		call.Args = append([]string{call.Function}, call.Args...)
		call.Function = "exactly"
	}
	return call
}

// try makes a call and returns its whole reply, with the status.
func (c *client) try(ctx context.Context, call shell.Call) (body []byte, status int, err error) {
	body, status, err = c.pool.Do(ctx, c.prepare(call))
	return body, status, c.broken(err)
}

// do makes a call that must succeed, and returns its whole reply. A call that can
// be made again writes nothing about its failure.
func (c *client) do(ctx context.Context, call shell.Call) ([]byte, error) {
	body, status, err := c.try(ctx, call)
	switch {
	case err != nil:
		return nil, err
	case status != 0 && call.Once:
		return nil, statusError(status, body)
	case status != 0:
		return nil, statusError(status, nil)
	}
	return body, nil
}

// read makes a call whose reply is read by read.
func (c *client) read(ctx context.Context, call shell.Call, read func(reply io.Reader)) (status int, err error) {
	status, err = c.pool.Read(ctx, c.prepare(call), read)
	return status, c.broken(err)
}

// stream makes a call whose reply is read as it comes. The errors of the reply
// are for c.broken.
func (c *client) stream(ctx context.Context, call shell.Call) (*shell.Stream, error) {
	stream, err := c.pool.Stream(ctx, c.prepare(call))
	return stream, c.broken(err)
}

// stat returns what stat says of name itself.
func (c *client) stat(ctx context.Context, name string) (statInfo, error) {
	body, err := c.do(ctx, idempotent("describe", pair(name)...))
	if err != nil {
		return statInfo{}, err
	}
	info, _, err := cutStatInfo(body)
	return info, err
}

// resolve returns what name leads to.
func (c *client) resolve(ctx context.Context, name string) (string, error) {
	body, err := c.do(ctx, idempotent("resolved", name))
	if err != nil {
		return "", err
	}
	return path.Clean("./" + string(body)), nil
}

// children describes what is in dir.
func (c *client) children(ctx context.Context, dir string) ([]entry, error) {
	return c.list(ctx, dir, idempotent("children", dir))
}

// errBelow says that a tree exists, and the part of it that was asked for does
// not.
var errBelow = errors.New("there is no such directory below")

const (
	// maxListings bounds how often a listing is made because something fails or
	// changes meanwhile.
	maxListings = 5
	// maxVanished is how many are made where all that happens is that something
	// vanishes: then the last will do.
	maxVanished = 3
)

// list makes a call whose reply is a listing of dir, or of what is below it,
// and returns it sorted by name. Files and directories without a valid name are
// marked by their kind. Whatever else has none is left out, and so are temporary
// files.
//
// A program that lists says by one and the same status that a directory cannot
// be read and that something failed. The first shows in the listing. If something
// has vanished meanwhile, the tree is listed again, as it may have been moved; what
// vanishes from the last of these listings is left out.
func (c *client) list(ctx context.Context, dir string, call shell.Call) ([]entry, error) {
	for attempt := 1; ; attempt++ {
		body, status, err := c.try(ctx, call)
		if err != nil {
			return nil, err
		}
		if status > statusOther {
			return nil, errBelow
		}
		if status != 0 && status != statusPartial && status != statusVanished {
			return nil, statusError(status, nil)
		}
		entries, err := parseListing(body, dir)
		if err != nil {
			return nil, err
		}
		if status == 0 || status == statusVanished && attempt == maxVanished || slices.ContainsFunc(entries, c.hides) {
			return entries, nil
		}
		if attempt == maxListings {
			return nil, provider.Errorf(workspace.ErrUnavailable, "a listing is never complete, as something changes or fails all the time")
		}
	}
}

// named returns what list does without what has no valid name.
func named(entries []entry, err error) ([]entry, error) {
	return slices.DeleteFunc(entries, entry.isUnnamed), err
}

func (e entry) isUnnamed() bool { return scan.Child{Type: e.kind}.IsUnnamed() }

// tree describes, as list does, what is in the directory below of dir, down to a
// depth; an empty one means all levels. A find that goes by paths could be led
// astray by a symlink, so the exact view does not let it go down.
func (c *client) tree(ctx context.Context, dir, below, depth string) ([]entry, error) {
	if !c.exact || c.finds {
		return c.list(ctx, dir, idempotent("tree", dir, below, depth))
	}
	return c.treeByLevel(ctx, dir, below, depth)
}

func (c *client) treeByLevel(ctx context.Context, dir, below, depth string) ([]entry, error) {
	all, err := c.list(ctx, dir, idempotent("tree", dir, below, "1"))
	if err != nil {
		return nil, err
	}
	levels, err := strconv.Atoi(depth)
	if err != nil {
		levels = math.MaxInt
	}
	level := all
	for deep := 1; deep < levels && len(level) > 0; deep++ {
		if level, err = c.nextLevel(ctx, dir, below, level); err != nil {
			return nil, err
		}
		all = append(all, level...)
	}
	slices.SortFunc(all, byName)
	return all, nil
}

// nextLevel lists the directories among entries, which are in below of dir.
func (c *client) nextLevel(ctx context.Context, dir, below string, entries []entry) ([]entry, error) {
	var next []entry
	for _, e := range entries {
		if e.kind != workspace.TypeDirectory || c.hides(e) {
			continue
		}
		children, err := c.list(ctx, dir, idempotent("tree", dir, workspace.Join(below, e.name), "1"))
		if errors.Is(err, errBelow) || errors.Is(err, fs.ErrNotExist) { // it was removed or replaced
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range children {
			children[i].name = workspace.Join(e.name, children[i].name)
		}
		next = append(next, children...)
	}
	return next, nil
}
