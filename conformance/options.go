package conformance

import (
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// defaultWatchWait is how long the suite waits for an event of a watch if the
// options name no time.
const defaultWatchWait = 10 * time.Second

// defaultCaseTime is how long a case may take if the options name no time.
const defaultCaseTime = 5 * time.Minute

// Options adapt the suite to a file system. The zero Options are right for a
// plain provider.
type Options struct {
	// Skip leaves out cases: from "Group/case" to the reason, which the
	// skipped test shows. A case that does not exist and a reason that is
	// empty are failures. Empty means that all cases run.
	Skip map[string]string
	// Only runs no other cases than these, each "Group/case" or the name of a
	// whole group. It is for a variant of a file system that has a full run of
	// its own. Empty means that all cases run.
	Only []string
	// Short leaves out the long cases, as -short does, for a variant of a file
	// system that has a full run of its own. With -short, such a variant runs
	// one case in four of each group, and at least one. False leaves the long
	// cases to -short.
	Short bool
	// CleanNames says that the file system cleans names with
	// [workspace.CleanName], as [*workspace.Workspace] does, where a provider
	// refuses them. False means that it refuses them.
	CleanNames bool
	// Peer returns another FileSystem over the very files of fsys: a second
	// client of the bucket, or what a read-only wrapper wraps. The suite
	// prepares files with it and makes the changes of others with it. Nil
	// means fsys itself.
	Peer func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem
	// Symlink creates name as a symlink to target in the store of fsys. A target
	// is relative to the directory of name, and may lead out of the workspace.
	// Nil means that the store has no symlinks, which leaves out the cases
	// about them.
	Symlink func(t *testing.T, fsys workspace.FileSystem, target, name string)
	// WatchWait is the longest time between a change and its event. Zero or less
	// means ten seconds. It is a bound and no delay: it is only used up by a file
	// system that fails.
	WatchWait time.Duration
	// CaseTime is the longest time that a case may take: one that takes longer fails,
	// and its calls are left to themselves. Zero or less means five minutes, which is
	// too short for a large -rapid.checks in a slow store.
	CaseTime time.Duration
}

// caseTime returns how long a case may take.
func (o Options) caseTime() time.Duration {
	if o.CaseTime > 0 {
		return o.CaseTime
	}
	return defaultCaseTime
}

// watchWait returns how long an event may take.
func (o Options) watchWait() time.Duration {
	if o.WatchWait > 0 {
		return o.WatchWait
	}
	return defaultWatchWait
}
