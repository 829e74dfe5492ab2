package program

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Client calls the functions of the program.
type Client struct {
	*Image // where the files are
	Pool   *shell.Pool
	Exact  bool                  // no symlink is followed
	Broken func(err error) error // returns the error of a call without a reply
}

// Idempotent returns the call of a function that can be made again.
func Idempotent(function string, args ...string) shell.Call {
	return shell.Call{Function: function, Args: args}
}

// Once returns the call of a function that must not be made again once it may
// have been carried out.
func Once(function string, args ...string) shell.Call {
	return shell.Call{Function: function, Args: args, Once: true}
}

// Pair returns the two arguments that a call needs for name.
func Pair(name string) []string {
	dir, base := workspace.Split(name)
	return []string{dir, base}
}

// Prepare returns the call as this client makes it.
func (c *Client) Prepare(call shell.Call) shell.Call {
	if c.Exact {
		call.Args = append([]string{call.Function}, call.Args...)
		call.Function = "exactly"
	}
	return call
}

// Try makes a call and returns its whole reply, with the status.
func (c *Client) Try(ctx context.Context, call shell.Call) (body []byte, status int, err error) {
	body, status, err = c.Pool.Do(ctx, c.Prepare(call))
	return body, status, c.Broken(err)
}

// Do makes a call that must succeed, and returns its whole reply. A call that can
// be made again writes nothing about its failure.
func (c *Client) Do(ctx context.Context, call shell.Call) ([]byte, error) {
	body, status, err := c.Try(ctx, call)
	switch {
	case err != nil:
		return nil, err
	case status != 0 && call.Once:
		return nil, StatusError(status, body)
	case status != 0:
		return nil, StatusError(status, nil)
	}
	return body, nil
}

// DoPair makes a call that is about two names, which must succeed, and returns its
// whole reply. An error about the second name says so.
func (c *Client) DoPair(ctx context.Context, second string, call shell.Call) ([]byte, error) {
	body, status, err := c.Try(ctx, call)
	switch {
	case err != nil:
		return nil, err
	case status > statusOther:
		return nil, provider.At(second, StatusError(status-statusOther, body))
	case status != 0:
		return nil, StatusError(status, body)
	}
	return body, nil
}

// Read makes a call whose reply is read by read.
func (c *Client) Read(ctx context.Context, call shell.Call, read func(reply io.Reader)) (status int, err error) {
	status, err = c.Pool.Read(ctx, c.Prepare(call), read)
	return status, c.Broken(err)
}

// Stream makes a call whose reply is read as it comes. The errors of the reply
// are for c.Broken.
func (c *Client) Stream(ctx context.Context, call shell.Call) (*shell.Stream, error) {
	stream, err := c.Pool.Stream(ctx, c.Prepare(call))
	return stream, c.Broken(err)
}

// Stat returns what stat says about name itself.
func (c *Client) Stat(ctx context.Context, name string) (StatInfo, error) {
	body, err := c.Do(ctx, Idempotent("describe", Pair(name)...))
	if err != nil {
		return StatInfo{}, err
	}
	return ParseStat(body)
}

// Resolve returns what name leads to.
func (c *Client) Resolve(ctx context.Context, name string) (string, error) {
	body, err := c.Do(ctx, Idempotent("resolved", name))
	if err != nil {
		return "", err
	}
	return path.Clean("./" + string(body)), nil
}

// Children describes what is in dir, sorted by name.
func (c *Client) Children(ctx context.Context, dir string) ([]Entry, error) {
	return named(c.list(ctx, dir, Idempotent("children", dir)))
}

// ErrBelow says that a tree exists, and the part of it that was asked for does
// not.
var ErrBelow = errors.New("there is no such directory below")

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
func (c *Client) list(ctx context.Context, dir string, call shell.Call) ([]Entry, error) {
	for attempt := 1; ; attempt++ {
		body, status, err := c.Try(ctx, call)
		if err != nil {
			return nil, err
		}
		if status > statusOther {
			return nil, ErrBelow
		}
		if status != 0 && status != StatusPartial && status != statusVanished {
			return nil, StatusError(status, nil)
		}
		entries, err := parseListing(body, dir)
		if err != nil {
			return nil, err
		}
		if status == 0 || status == statusVanished && attempt == maxVanished || slices.ContainsFunc(entries, c.Hides) {
			return entries, nil
		}
		if attempt == maxListings {
			return nil, provider.Errorf(workspace.ErrUnavailable, "a listing is never complete, as something changes or fails all the time")
		}
	}
}

// parseListing reads descriptions that have their path from dir and the end of a
// description after them.
func parseListing(body []byte, dir string) ([]Entry, error) {
	var entries []Entry
	for len(body) > 0 {
		line, rest, found := bytes.Cut(body, []byte("//\n"))
		if !found {
			return nil, errStat
		}
		body = rest
		r, name, err := parseStat(line)
		if err != nil {
			return nil, err
		}
		e := Entry{r, path.Clean(string(name))}
		ok := !isTemporary(e.Name)
		if ok && !ops.ValidName(workspace.Join(dir, e.Name)) {
			e.Kind, ok = scan.Unnamed(e.Kind)
		}
		if ok {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, byName)
	return entries, nil
}

// named returns what list does without what has no valid name.
func named(entries []Entry, err error) ([]Entry, error) {
	return slices.DeleteFunc(entries, Entry.IsUnnamed), err
}

// IsUnnamed reports whether e has no valid name.
func (e Entry) IsUnnamed() bool { return scan.Child{Type: e.Kind}.IsUnnamed() }

// Tree describes what is in dir and below it, sorted by name.
func (c *Client) Tree(ctx context.Context, dir string) ([]Entry, error) {
	return named(c.Subtree(ctx, dir, ".", ""))
}

// Subtree describes what is in the directory below of dir, down to a depth; an
// empty one means all levels. Files and directories without a valid name are
// among them, marked by their kind. The error is [ErrBelow] if there is dir and no
// such directory below it. A find that goes by paths could be led astray by a
// symlink, so the exact view does not let it go down.
func (c *Client) Subtree(ctx context.Context, dir, below, depth string) ([]Entry, error) {
	if !c.Exact || c.finds {
		return c.list(ctx, dir, Idempotent("tree", dir, below, depth))
	}
	return c.treeByLevel(ctx, dir, below, depth)
}

func (c *Client) treeByLevel(ctx context.Context, dir, below, depth string) ([]Entry, error) {
	all, err := c.list(ctx, dir, Idempotent("tree", dir, below, "1"))
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
func (c *Client) nextLevel(ctx context.Context, dir, below string, entries []Entry) ([]Entry, error) {
	var next []Entry
	for _, e := range entries {
		if e.Kind != workspace.TypeDirectory || c.Hides(e) {
			continue
		}
		children, err := c.list(ctx, dir, Idempotent("tree", dir, workspace.Join(below, e.Name), "1"))
		if errors.Is(err, ErrBelow) || errors.Is(err, fs.ErrNotExist) { // it was removed or replaced
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range children {
			children[i].Name = workspace.Join(e.Name, children[i].Name)
		}
		next = append(next, children...)
	}
	return next, nil
}

// Remove removes name. An rm that goes by paths could be led astray by a symlink,
// so the exact view removes what is in a directory one by one if the image has no
// other.
func (c *Client) Remove(ctx context.Context, name string, recursive bool) error {
	switch {
	case recursive && c.Exact && !c.removes:
		return c.removeTree(ctx, name)
	case recursive:
		return c.remove(ctx, name, "recursive")
	}
	return c.remove(ctx, name, "")
}

func (c *Client) remove(ctx context.Context, name, how string) error {
	_, err := c.Do(ctx, Once("remove", append(Pair(name), how)...))
	return err
}

// removeTree removes the directory name with all below it, one by one.
func (c *Client) removeTree(ctx context.Context, name string) error {
	for attempt := 1; ; attempt++ {
		err := c.remove(ctx, name, "")
		if !errors.Is(err, workspace.ErrNotEmpty) || attempt == maxListings {
			return err
		}
		entries, err := c.Tree(ctx, name)
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(entries) {
			err := c.remove(ctx, workspace.Join(name, e.Name), "")
			if errors.Is(err, workspace.ErrNotEmpty) && c.Hides(e) {
				return fs.ErrPermission
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, workspace.ErrNotEmpty) {
				return err
			}
		}
	}
}
