package fallback

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/notify"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// DefaultPollInterval is the time between two walks of a [Poll] whose options set
// none.
const DefaultPollInterval = time.Second

// Poll is a [workspace.FileSystem].Watch that walks the tree at every interval
// and compares types and versions. Where fsys has no versions it compares sizes
// and modification times, and does not see a write that changes neither. It
// costs one walk for each interval and memory for each name.
//
// A walk that fails is retried at the next interval. A directory that cannot be
// listed counts as unchanged until it can be listed or no longer exists. If dir
// is removed, everything in it is reported as removed.
//
// # Errors
//
// Those of [workspace.FileSystem].Watch, and the error of a directory below dir
// that cannot be listed at the start, unless that is [io/fs.ErrPermission].
func Poll(ctx context.Context, fsys workspace.FileSystem, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	var o workspace.WatchOptions
	if opts != nil {
		o = *opts
	}
	if err := ops.Check(ctx, ops.Watch, dir); err != nil {
		return nil, err
	}
	if err := ops.CheckWatch(dir, o.Buffer, o.Interval); err != nil {
		return nil, err
	}
	if o.Interval == 0 {
		o.Interval = DefaultPollInterval
	}
	p := &poll{fsys: fsys, dir: dir}
	var err error
	if p.seen, err = p.walk(ctx); err != nil {
		return nil, ops.Rename(err, ops.Watch, dir)
	}
	p.queue = notify.New(ctx, dir, o.Buffer)
	go p.run(ctx, o.Interval)
	return p.queue.Events(), nil
}

// poll is one watch.
type poll struct {
	fsys  workspace.FileSystem
	dir   string
	queue *notify.Queue
	seen  []workspace.FileInfo // sorted by path
}

// run compares the tree with the one before at every interval, until ctx ends.
func (p *poll) run(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, err := p.walk(ctx)
		switch {
		case saysMissing(err) && p.isMissing(ctx):
			now = nil
		case err != nil:
			continue
		}
		p.compare(now)
		p.seen = now
	}
}

// isMissing reports whether the watched directory no longer exists: the error
// of a walk may be about a directory below it.
func (p *poll) isMissing(ctx context.Context) bool {
	info, err := p.fsys.Stat(ctx, p.dir)
	if err != nil {
		return saysMissing(err)
	}
	return !info.IsDir()
}

// saysMissing reports whether err says that a name does not exist, and not
// that it cannot be read.
func saysMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotDir) || errors.Is(err, workspace.ErrSymlink)
}

// walk lists the tree. Below directories that cannot be listed it repeats what
// the walk before found.
func (p *poll) walk(ctx context.Context) ([]workspace.FileInfo, error) {
	first := p.queue == nil
	unlisted := make(map[string]bool)
	var infos []workspace.FileInfo
	err := workspace.Walk(ctx, p.fsys, p.dir, nil, func(info workspace.FileInfo, err error) error {
		switch {
		case err == nil:
			infos = append(infos, info)
		case first && !errors.Is(err, fs.ErrPermission):
			return err // else all in it would look new once it can be listed
		default:
			unlisted[info.Path] = true
		}
		return nil
	})
	return p.keep(infos, unlisted), err
}

// keep adds to infos the names that the walk before found in directories that are
// unlisted now, and below them.
func (p *poll) keep(infos []workspace.FileInfo, unlisted map[string]bool) []workspace.FileInfo {
	if len(unlisted) == 0 {
		return infos
	}
	listed := infos
	for _, known := range p.seen {
		parent, _ := workspace.Split(known.Path)
		if !unlisted[parent] {
			continue
		}
		if _, found := slices.BinarySearchFunc(listed, known, byPath); !found {
			infos = append(infos, known)
			unlisted[known.Path] = true
		}
	}
	slices.SortFunc(infos, byPath)
	return infos
}

// byPath compares entries by path, bytewise.
func byPath(a, b workspace.FileInfo) int { return strings.Compare(a.Path, b.Path) }

// compare reports the differences between p.seen and now, in order of paths.
func (p *poll) compare(now []workspace.FileInfo) {
	seen := p.seen
	for len(seen) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(seen) > 0 && seen[0].Path < now[0].Path:
			p.queue.Push(workspace.Event{Op: workspace.EventRemove, Path: seen[0].Path})
			seen = seen[1:]
		case len(seen) == 0 || now[0].Path < seen[0].Path:
			p.queue.Push(workspace.Event{Op: workspace.EventCreate, Path: now[0].Path})
			now = now[1:]
		default:
			p.change(seen[0], now[0])
			seen, now = seen[1:], now[1:]
		}
	}
}

// change reports the difference between two descriptions of a name.
func (p *poll) change(before, after workspace.FileInfo) {
	if before.Type != after.Type {
		p.queue.Push(workspace.Event{Op: workspace.EventRemove, Path: before.Path})
		p.queue.Push(workspace.Event{Op: workspace.EventCreate, Path: after.Path})
		return
	}
	if after.Type == workspace.TypeFile && !SameBytes(before, after) {
		p.queue.Push(workspace.Event{Op: workspace.EventWrite, Path: after.Path})
	}
}

// SameBytes reports whether two descriptions of a file can be of the same bytes: of one
// version, or without versions of one size and time.
func SameBytes(before, after workspace.FileInfo) bool {
	if before.Version != "" || after.Version != "" {
		return before.Version == after.Version
	}
	return before.Size == after.Size && before.ModTime.Equal(after.ModTime)
}
