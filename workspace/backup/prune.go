package backup

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// pruneEvery is how many changes are made between two prunes. A prune reads the journal, which
// is too much for each change in a bucket. Until then, [journal.within] leaves out what is
// beyond the limits.
const pruneEvery = 32

// prune deletes the changes beyond the limits, and the contents that no other
// change needs.
func (j *journal) prune(ctx context.Context) error {
	now := j.now()
	all, err := j.changes(ctx)
	if err != nil {
		return err
	}
	kept, needed := j.withinLimits(all)
	for i, c := range markCut(all, kept) {
		if old := all[len(all)-kept+i]; c.Cut != old.Cut || c.SessionCut != old.SessionCut {
			if err := j.update(ctx, c); err != nil {
				return err
			}
		}
	}
	for _, c := range all[:len(all)-kept] {
		if err := j.remove(ctx, c.Number); err != nil {
			return err
		}
	}
	return j.collect(ctx, needed, epochOf(now)-1)
}

// within returns for an undo the changes within the limits, the oldest first.
func (j *journal) within(ctx context.Context) ([]*Change, error) {
	all, err := j.changes(ctx)
	if blocked := j.blocked(ctx, ops.Undo, ".", "the journal cannot be read", err); blocked != nil {
		return nil, blocked
	}
	if err != nil {
		return nil, err
	}
	kept, _ := j.withinLimits(all)
	return markCut(all, kept), nil
}

// markCut returns the newest kept ones of all. The first of each call, and of each session,
// that has lost some is a copy that says so. Of a session, it is the first that is done, as a
// prune writes it, and another process may be about to.
func markCut(all []*Change, kept int) []*Change {
	type part struct {
		call, session string // one of them
		undo          bool
	}
	lost := map[part]bool{}
	for _, c := range all[:len(all)-kept] {
		undo := c.Undoes != 0
		lost[part{c.Call, "", undo}] = c.Call != ""
		lost[part{"", c.Session, undo}] = true
	}
	left := slices.Clone(all[len(all)-kept:])
	for i, c := range left {
		call, session := part{c.Call, "", c.Undoes != 0}, part{"", c.Session, c.Undoes != 0}
		marked := *c
		marked.Cut = c.Cut || lost[call]
		marked.SessionCut = c.SessionCut || lost[session] && c.Done
		if marked.Cut != c.Cut || marked.SessionCut != c.SessionCut {
			left[i] = &marked
		}
		lost[call] = false
		lost[session] = lost[session] && !c.Done
	}
	return left
}

// withinLimits returns how many of the changes, the newest ones, are within the
// limits, and the names of the contents that they need. Contents that two changes
// need count once. Undos have a limit of their own, at which each kept change can be
// undone and redone: else every undo would delete a change that is still to be undone.
func (j *journal) withinLimits(all []*Change) (kept int, needed map[string]bool) {
	var bytes int64
	var changes, undos int
	needed = map[string]bool{}
	for _, c := range slices.Backward(all) {
		for name, size := range c.contents() {
			if !needed[name] {
				bytes += size
			}
		}
		tooOld := j.limits.KeepFor > 0 && j.now().Sub(c.Time) > j.limits.KeepFor
		if c.Undoes == 0 {
			changes++
		} else {
			undos++
		}
		if changes > j.limits.Keep || undos/2 > j.limits.Keep || tooOld || kept > 0 && bytes > j.limits.KeepBytes {
			return kept, needed
		}
		for name := range c.contents() {
			needed[name] = true
		}
		kept++
	}
	return kept, needed
}

// contents returns the sizes of the contents that an undo of c needs, by name.
func (c *Change) contents() map[string]int64 {
	sizes := map[string]int64{}
	for _, step := range c.Steps {
		if step.Before.Kept != 0 {
			sizes[step.Before.contentName()] = step.Before.Size
		}
	}
	return sizes
}

// An epoch is an hour, counted from 1970. Contents are kept once in each epoch: a
// change finds contents of its own epoch only, and contents are deleted after the
// next epoch has ended. So nothing deletes contents that a change is about to use and
// that its record does not name yet:
//
//	10:59  a write is about to replace X, and finds X in the epoch of 10:00
//	10:59  the record of the write says that it needs X of 10:00
//	12:00  from now on, a prune deletes X of 10:00 if no record needs it
//
// A change whose record takes longer than [maxDelay] fails.
const (
	epochLength = time.Hour
	maxDelay    = epochLength / 2
)

// epochOf returns the epoch of a time.
func epochOf(t time.Time) int64 { return t.Unix() / int64(epochLength/time.Second) }

// firstEpoch is an hour of 2015, before there was this package: the number 2024 in a name
// is a year.
const firstEpoch = 400_000

// epochNamed returns the epoch whose directory has the given name, 0 for a name that this
// package gives to none.
func epochNamed(name string) int64 {
	epoch, err := strconv.ParseInt(name, 10, 64)
	if err != nil || epoch < firstEpoch || strconv.FormatInt(epoch, 10) != name {
		return 0
	}
	return epoch
}

// collect deletes the contents of epochs before an epoch, without those that are
// needed. The directory may hold files of others, which stay.
func (j *journal) collect(ctx context.Context, needed map[string]bool, before int64) error {
	epochs, err := j.files.Ls(ctx, j.contentsDir(), nil)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range epochs {
		if epoch := epochNamed(dir.Name); epoch == 0 || epoch >= before || !dir.IsDir() {
			continue
		}
		if err := j.collectEpoch(ctx, dir.Name, needed); err != nil {
			return err
		}
	}
	return nil
}

// collectEpoch deletes what is not needed in the directory of an epoch, and the
// directory if nothing is left.
func (j *journal) collectEpoch(ctx context.Context, epoch string, needed map[string]bool) error {
	dir := j.contentsDir() + "/" + epoch
	contents, err := j.files.Ls(ctx, dir, nil)
	if err != nil {
		return err
	}
	left := 0
	for _, content := range contents {
		if needed[epoch+"/"+content.Name] || content.Type != workspace.TypeFile || !isHash(content.Name) {
			left++
			continue
		}
		if err := j.files.Rm(ctx, dir+"/"+content.Name, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if left > 0 {
		return nil
	}
	err = j.files.Rm(ctx, dir, nil)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotEmpty) {
		return nil
	}
	return ops.Rename(err, ops.Backup, dir)
}
