package conformance

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// watchCases are the cases for Watch. An editor or an agent that relies on
// events shows old bytes for each that is missing. The cases wait for an event
// and bound the wait, so only a file system that fails is slow.
var watchCases = []testCase{
	{"file", "H1", needFiles | needWatch, watchFile},
	{"directory", "H1", needFiles | needWatch, watchDirectory},
	{"at-depth", "H2", needFiles | needWatch, watchAtDepth},
	{"new-directory-with-files", "H2", needFiles | needWatch, watchNewDirectory},
	{"recursive-rm", "H3", needFiles | needWatch, watchRecursiveRm},
	{"move-file", "H4", needWrite | needWatch | needMove, watchMoveFile},
	{"move-directory", "H4", needWrite | needWatch | needMove, watchMoveDirectory},
	{"replace-directory", "H11", needWrite | needWatch | needMove, watchReplaceDirectory},
	{"same-size-rewrite", "H1", needFiles | needWatch | needVersions, watchSameSize},
	{"only-below-dir", "H5", needFiles | needWatch, watchOnlyBelow},
	{"only-what-changed", "H6", needFiles | needWatch, watchOnlyChanged},
	{"two-watchers", "H7", needFiles | needWatch, watchTwo},
	{"channel-closes", "H8", needFiles | needWatch, watchCloses},
	{"channel-stays-open", "H8", needFiles | needWatch, watchStaysOpen},
	{"closes-without-reader", "H8", needFiles | needWatch, watchClosesUnread},
	{"overflow", "H9", needFiles | needWatch, watchOverflow},
	{"after-overflow", "H9", needFiles | needWatch, watchAfterOverflow},
	{"nothing-lost", "H1 H9", needFiles | needWatch, watchNothingLost},
	{"own-writes", "H1", needWrite | needWatch, watchOwnWrites},
	{"missing", "H10 E1 E2", needFiles | needWatch, watchMissing},
	{"file-as-dir", "H10 E1 E2", needFiles | needWatch, watchFileAsDir},
	{"negative-options", "O2 E1 E2", needWatch, watchNegative},
}

// change writes a file by the peer, if there is one. A content that is written
// again unchanged need not have an event, so contents differ. A name that ends
// in "/" is a directory.
func (e *env) change(name, content string) {
	e.Helper()
	e.given(files{name: content})
}

// remove removes a tree by the peer, if there is one.
func (e *env) remove(name string) {
	e.Helper()
	if err := e.store.Rm(e.ctx, name, &workspace.RmOptions{Recursive: true}); err != nil {
		e.Fatalf("Rm(%q, Recursive) = %v, want nil", name, err)
	}
}

// watchFile tests the events in the life of a file. The last creation finds a
// provider that knows the name from before, and reports a write.
func watchFile(e *env) {
	w := e.watch(".", nil)
	e.change("file", "one")
	w.await(created("file"))
	e.change("file", "another")
	w.await(written("file"))
	e.remove("file")
	w.await(removed("file"))
	e.change("file", "again")
	w.await(created("file"))
}

// watchDirectory tests the events in the life of a directory.
func watchDirectory(e *env) {
	w := e.watch(".", nil)
	e.change("dir/", "")
	w.await(created("dir"))
	e.remove("dir")
	w.await(removed("dir"))
}

// watchAtDepth tests that changes far below the watched directory are reported.
// inotify watches one directory at a time, so a provider must add each of them.
// Paths are from the root, whatever directory is watched.
func watchAtDepth(e *env) {
	e.given(files{"a/b/c/file": "one", "a/b/c/d/": ""})
	for _, dir := range []string{".", "a", "a/b/c"} {
		w := e.watch(dir, nil)
		e.change("a/b/c/new", "x")
		w.await(created("a/b/c/new"))
		e.change("a/b/c/file", "changed for "+dir)
		w.await(written("a/b/c/file"))
		e.change("a/b/c/d/e/", "")
		w.await(created("a/b/c/d/e"))
		e.remove("a/b/c/new")
		e.remove("a/b/c/d/e")
		w.await(removed("a/b/c/new"), removed("a/b/c/d/e"))
	}
}

// watchNewDirectory fills directories at once, before a provider can have begun
// to watch them by themselves. A native provider learns of the directory first
// and then lists it: what came before its own watch has no event of the system.
// The write shows that the new directory is watched as well.
func watchNewDirectory(e *env) {
	w := e.watch(".", nil)
	for round := range 10 {
		dir := fmt.Sprintf("new%d", round)
		e.change(dir+"/deep/er/file", "x")
		e.change(dir+"/deep/er/empty/", "")
		e.change(dir+"/other", "x")
		w.await(created(dir), created(dir+"/deep"), created(dir+"/deep/er"), created(dir+"/deep/er/file"),
			created(dir+"/deep/er/empty"), created(dir+"/other"))
		e.change(dir+"/deep/er/file", "y and more")
		w.await(written(dir + "/deep/er/file"))
	}
}

// watchRecursiveRm tests that a removed tree is reported name by name. Who has
// the file open must learn of it by its own name.
func watchRecursiveRm(e *env) {
	e.given(files{"dir/a/b/file": "x", "dir/a/empty/": "", "dir/file": "x", "keep": "x"})
	w := e.watch(".", nil)
	e.remove("dir")
	w.await(removed("dir"), removed("dir/a"), removed("dir/a/b"), removed("dir/a/b/file"), removed("dir/a/empty"), removed("dir/file"))
}

// watchMoveFile tests that a move is reported as a removal and a creation. The
// system reports the two halves for two directories, and either may be outside
// of what is watched.
func watchMoveFile(e *env) {
	e.given(files{"file": "x", "dir/": ""})
	w := e.watch(".", nil)
	e.move("file", "dir/file")
	w.await(removed("file"), created("dir/file"))
}

// watchMoveDirectory tests that a directory that moves is reported with
// everything below it. The system reports the directory alone. Later changes
// must have the new path, although they happen in a directory that was first
// seen under the old one.
func watchMoveDirectory(e *env) {
	e.given(files{"a/sub/file": "x", "a/empty/": ""})
	w := e.watch(".", nil)
	e.move("a", "b")
	w.await(removed("a"), removed("a/sub"), removed("a/sub/file"), removed("a/empty"),
		created("b"), created("b/sub"), created("b/sub/file"), created("b/empty"))
	e.change("b/sub/file", "changed after the move")
	w.await(written("b/sub/file"))
}

// watchReplaceDirectory has a directory take the name of another again and
// again, as a deployment does: step by step, and then faster than a provider
// can look.
//
// One round, in which "cur" is the name that counts:
//
//	new/sub/file1   is written
//	cur -> old      with file0
//	new -> cur      with file1
//	remove old
//
// A provider that knows directories by their names believes that "cur" has not
// changed, or reports the changes of one under the name of the other.
func watchReplaceDirectory(e *env) {
	e.given(files{"cur/sub/file0": "x"})
	w := e.watch(".", nil)
	for round := range 5 {
		old, file := fmt.Sprintf("file%d", round), fmt.Sprintf("file%d", round+1)
		e.change("new/sub/"+file, "x")
		w.await(created("new"), created("new/sub"), created("new/sub/"+file))
		e.move("cur", "old")
		e.move("new", "cur")
		w.await(removed("cur/sub/"+old), created("old/sub/"+old), removed("new"), removed("new/sub/"+file), created("cur/sub/"+file))
		e.change("cur/sub/"+file, "changed after the move")
		e.change("old/sub/later", "x")
		w.await(written("cur/sub/"+file), created("old/sub/later"))
		e.remove("old")
		w.await(removed("old"), removed("old/sub/"+old), removed("old/sub/later"))
	}
	for range 30 {
		e.change("new/sub/deep/", "")
		e.move("cur", "old")
		e.move("new", "cur")
		e.remove("old")
	}
	e.change("cur/sub/deep/last", "x")
	w.await(created("cur/sub/deep/last"))
	e.change("cur/sub/deep/last", "changed at last")
	w.await(written("cur/sub/deep/last"))
}

// watchSameSize tests that a change is reported although the size stays. Where
// the provider polls, it needs versions for this: sizes are equal, and a clock
// may not have ticked.
func watchSameSize(e *env) {
	e.given(files{"file": "0"})
	w := e.watch(".", nil)
	for i := 1; i < 6; i++ {
		e.change("file", fmt.Sprint(i))
		w.await(written("file"))
	}
}

// watchOnlyBelow knows that no event is on its way once one of a later change
// has come. A prefix that is compared without its slash lets "dir2" and "dir-b"
// through.
func watchOnlyBelow(e *env) {
	e.given(files{"dir/file": "x", "dir2/file": "x", "other/file": "x"})
	w := e.watch("dir", nil)
	for _, name := range []string{"file", "dir2/file", "dir2/new", "other/file", "dir-b"} {
		e.change(name, "changed outside")
	}
	e.change("dir/last", "x")
	w.await(created("dir/last"))
	w.only("dir/last")
}

// watchOnlyChanged tests that a write reports the file that was written, and no
// other. An agent that is woken by each temporary file, or by files that were
// only listed, reads the tree again and again.
func watchOnlyChanged(e *env) {
	e.given(files{"dir/file": "x", "dir/same": "x", "dir/sub/deep": "x"})
	w := e.watch(".", nil)
	e.change("dir/file", "changed")
	e.change("dir/new", "x")
	w.await(written("dir/file"), created("dir/new"))
	e.remove("dir/new")
	w.await(removed("dir/new"))
	e.change("last", "x")
	w.await(created("last"))
	w.only("dir/file", "dir/new", "last")
}

// watchTwo tests that two watches do not affect each other. A provider that
// shares one watch of the store must count its readers, and give each event to
// all of them.
func watchTwo(e *env) {
	e.given(files{"a/": "", "b/": ""})
	ctx, cancel := context.WithCancel(e.ctx)
	first, all, second := e.watchUntil(ctx, "a", nil), e.watch(".", nil), e.watch("a", nil)
	e.change("a/one", "x")
	for _, w := range []*watcher{first, all, second} {
		w.await(created("a/one"))
	}
	cancel()
	first.awaitClose()
	e.change("a/two", "x")
	second.await(created("a/two"))
	all.await(created("a/two"))
}

// watchCloses tests that the channel closes once the context has ended.
func watchCloses(e *env) {
	e.given(files{"dir/": ""})
	ctx, cancel := context.WithCancel(e.ctx)
	w := e.watchUntil(ctx, "dir", nil)
	e.change("dir/file", "x")
	w.await(created("dir/file"))
	cancel()
	w.awaitClose()
}

// watchStaysOpen removes the watched directory, which is no reason to close. A
// second watch tells when the first has had its time. Build programs remove and
// create their directories again: a closed channel would look like the end of
// the session.
func watchStaysOpen(e *env) {
	e.given(files{"dir/file": "x"})
	w, clock := e.watch("dir", nil), e.watch(".", nil)
	e.remove("dir")
	w.await(removed("dir/file"))
	for i := range 3 {
		name := fmt.Sprintf("later%d", i)
		e.change(name, "x")
		clock.await(created(name))
	}
	if w.closed() {
		e.Errorf("Watch(%q) closed its channel before its context ended", "dir")
	}
}

// watchClosesUnread tests that it closes as well if nobody reads the events. A
// provider that waits in a send to a full channel never sees the end of its
// context, and leaks a goroutine for each session. What it sends after that, other
// than what is in the channel, shows that it waited. The provider gets more time in each round,
// so one that is slow to see the end passes.
func watchClosesUnread(e *env) {
	bound := e.opts.watchWait()
	for wait := time.Millisecond; wait < bound; wait *= 2 {
		ctx, cancel := context.WithCancel(e.ctx)
		w := e.watchUntil(ctx, ".", &workspace.WatchOptions{Buffer: 1})
		for i := range 5 {
			e.change(fmt.Sprintf("dir%d/file%d", wait, i), "x")
		}
		w.next(time.After(bound), "an event")
		cancel()
		<-time.After(wait)
		left := len(w.seen) + len(w.events)
		w.awaitClose()
		if len(w.seen) <= left {
			return
		}
	}
	e.Errorf("Watch(%q) waited for its reader after its context had ended, want the channel closed", ".")
}

// watchOwnWrites tests that changes of the same process are reported. Where the
// store reports only the changes of others, a provider must report those of its
// own calls. The next poll may also be far away.
func watchOwnWrites(e *env) {
	w := e.watch(".", nil)
	e.write("file", "x")
	w.await(created("file"))
	e.mkdir("dir", nil)
	w.await(created("dir"))
	e.rm("file", nil)
	w.await(removed("file"))
}

// watchMissing tests that a missing directory cannot be watched. A watch that
// waits until the directory appears tells a model nothing about its typing
// error.
func watchMissing(e *env) {
	e.given(files{"dir/file": "x"})
	for _, dir := range []string{"none", "dir/none", "di"} {
		_, err := e.fsys.Watch(e.ctx, dir, nil)
		e.refused(err, fs.ErrNotExist, at(ops.Watch, dir), "Watch(%q)", dir)
	}
}

// watchFileAsDir tests that a file cannot be watched.
func watchFileAsDir(e *env) {
	e.given(files{"file": "x", "dir/file": "x"})
	for _, dir := range []string{"file", "dir/file"} {
		_, err := e.fsys.Watch(e.ctx, dir, nil)
		e.refused(err, workspace.ErrNotDir, at(ops.Watch, dir), "Watch(%q)", dir)
	}
}

// watchNegative tests that a negative buffer or interval is refused.
func watchNegative(e *env) {
	for _, opts := range []workspace.WatchOptions{{Buffer: -1}, {Interval: -1}} {
		_, err := e.fsys.Watch(e.ctx, ".", &opts)
		e.refused(err, fs.ErrInvalid, at(ops.Watch, "."), "Watch(%q, %+v)", ".", opts)
	}
}

// overflowRounds is how often a case tries to make a watch overflow: a reader
// can by chance be as fast as a provider.
const overflowRounds = 10

// burst makes 200 files that nobody reads the events of meanwhile, and a second
// watch sees all of them. The second watch proves that the provider has seen
// all changes, so whatever the first has not got by then was dropped or waits
// in its buffer.
func (e *env) burst(round int, ready *watcher) []string {
	e.Helper()
	names := make([]string, 200)
	events := make([]workspace.Event, len(names))
	for i := range names {
		names[i] = fmt.Sprintf("dir/round%d-%03d", round, i)
		events[i] = created(names[i])
		e.change(names[i], "")
	}
	ready.await(events...)
	return names
}

// watchOverflow does not read while 200 files are made. What it has not been
// told then, it must have been told to look for. A provider that waits for its
// reader stops the others; one that drops events in silence leaves an editor
// with old bytes; one that keeps them all runs out of memory.
func watchOverflow(e *env) {
	e.given(files{"dir/": ""})
	slow, ready := e.watch("dir", &workspace.WatchOptions{Buffer: 4}), e.watch("dir", nil)
	for round := range overflowRounds {
		if slow.toldOf(e.burst(round, ready)) {
			return
		}
	}
	e.Errorf("Watch(%q, Buffer: 4) sent no overflow event for %d times 200 events that were not read, want one", "dir", overflowRounds)
}

// toldOf reads until every one of names has come, which is false, or an
// overflow instead, which is true. An overflow must be about the watched
// directory.
func (w *watcher) toldOf(names []string) (overflow bool) {
	w.Helper()
	missing := make(map[string]bool)
	for _, name := range names {
		missing[name] = true
	}
	timeout := time.After(w.opts.watchWait())
	for len(missing) > 0 {
		event, ok := w.next(timeout, fmt.Sprintf("an overflow, or %d names that are missing", len(missing)))
		if !ok {
			w.Fatalf("Watch(%q) closed its channel before its context ended", w.dir)
		}
		if event.Op == workspace.EventOverflow {
			if event.Path != w.dir {
				w.Errorf("Watch(%q) sent %v, want an overflow with the Path %q", w.dir, event, w.dir)
			}
			return true
		}
		delete(missing, event.Path)
	}
	return false
}

// watchAfterOverflow changes a file until a watch that had overflowed reports
// it: some of the events may be lost to the same overflow. The overflow takes
// the place of events that were dropped, and is not the end: the reader lists
// the directory again and then relies on what follows.
func watchAfterOverflow(e *env) {
	e.given(files{"dir/": ""})
	w, ready := e.watch("dir", &workspace.WatchOptions{Buffer: 4}), e.watch("dir", nil)
	w.toldOf(e.burst(0, ready))
	deadline := time.Now().Add(w.opts.watchWait())
	for try := 0; time.Now().Before(deadline); try++ {
		name := fmt.Sprintf("dir/later%d", try)
		e.change(name, "")
		if w.sendsSoon(name) {
			return
		}
	}
	e.Errorf("Watch(%q, Buffer: 4) sent no more changes in %v after an overflow", "dir", w.opts.watchWait())
}

// sendsSoon reads for a short time and reports whether name came.
func (w *watcher) sendsSoon(name string) bool {
	timeout := time.After(w.opts.watchWait() / 10)
	for {
		select {
		case event, ok := <-w.events:
			if !ok || event.Path == name {
				return ok
			}
		case <-timeout:
			return false
		}
	}
}

// watchNothingLost does not read either, but has room for everything: the
// default buffer is larger than the burst. An overflow that nobody needed costs
// a listing of the whole tree.
func watchNothingLost(e *env) {
	e.given(files{"dir/": ""})
	w := e.watch("dir", nil)
	if w.toldOf(e.burst(0, e.watch("dir", nil))) {
		e.Errorf("Watch(%q) sent an overflow for 200 events, want room for %d", "dir", ops.DefaultWatchBuffer)
	}
}
