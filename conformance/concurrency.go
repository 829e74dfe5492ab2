package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/workspace"
)

// concurrencyCases are the cases in which several calls run at once. A model
// may call several tools at once, and beside it an editor, a watch and other
// agents use the same files.
var concurrencyCases = []testCase{
	{"never-torn", "W7", needWrite, neverTorn},
	{"never-missing", "W7", needWrite, neverMissing},
	{"never-torn-streams", "W7 CR1 CR2", needWrite, neverTornStreams},
	{"same-new-parents", "P1 W2", needWrite, sameNewParents},
	{"every-method", "P1", needWrite, everyMethod},
	{"own-writes-are-read", "P1 W8", needWrite, ownWritesAreRead},
}

// uniform returns content of one letter only, in a size that depends on it, so
// that bytes of two writes differ from bytes of one.
//
//	uniform(0)   1,000 times "a"
//	uniform(1)   6,000 times "b"
//	uniform(25)  126,000 times "z"
//
// So a mixture has two letters, and a part of one write has the wrong length
// for its letter.
func uniform(i int) string {
	return strings.Repeat(string(rune('a'+i%26)), 1000+i%26*5000)
}

// torn reports whether data is not a result of uniform. Nothing at all is torn,
// too: it is what a write shows that truncates the file first.
func torn(data string) bool {
	return data == "" || data != uniform(int(data[0]-'a'))
}

// neverTorn reads by every way of reading while several writers write. The
// mistake is a write into the file itself. A model that reads the first half of
// a file edits that half, writes it back, and the rest is lost.
func neverTorn(e *env) {
	e.tornWhile(func(i int) error {
		_, err := e.fsys.WriteFile(e.ctx, "dir/file", []byte(uniform(i)), nil)
		return err
	})
}

// neverTornStreams is neverTorn with writers that stream. A provider with a
// Creator must not put the parts into the file as they come.
func neverTornStreams(e *env) {
	e.tornWhile(func(i int) error {
		_, err := create(e.ctx, e.fsys, "dir/file", uniform(i), nil)
		return err
	})
}

// tornWhile runs writers and readers of one file at once, and fails the case if
// a reader sees anything but the whole content of one write. Each reader goes
// on until the last write has returned. Which write wins is not tested, as any
// order is right.
func (e *env) tornWhile(write func(i int) error) {
	e.Helper()
	const writers, writes = 3, 20
	e.write("dir/file", uniform(0))
	var writing, reading sync.WaitGroup
	var done atomic.Bool
	for writer := range writers {
		writing.Go(func() {
			for i := range writes {
				if err := write(writer + i*writers); err != nil {
					e.Errorf("writing %q beside others = %v, want nil", "dir/file", err)
				}
			}
		})
	}
	for _, read := range []func(ctx context.Context) (string, error){e.readWhole, e.readSearched} {
		reading.Go(func() {
			for !done.Load() && !e.Failed() {
				if data, err := read(e.ctx); err != nil || torn(data) {
					e.Errorf("reading %q beside writers = %s, %v, want the whole content of one write", "dir/file", compare.Brief(data), err)
				}
			}
		})
	}
	writing.Wait()
	done.Store(true)
	reading.Wait()
}

// readWhole reads the file of tornWhile with ReadFile.
func (e *env) readWhole(ctx context.Context) (string, error) {
	data, err := e.fsys.ReadFile(ctx, "dir/file")
	return string(data), err
}

// readSearched reads by Grep, whose match is the whole of a file of one line. A
// search often reads by another way than ReadFile, such as an index or a
// program in a container, and that way must not see half a write either.
func (e *env) readSearched(ctx context.Context) (string, error) {
	result, err := e.fsys.Grep(ctx, "^.*$", &workspace.GrepOptions{Path: "dir/file"})
	if err != nil || len(result.Matches) != 1 {
		return fmt.Sprintf("%+v", result), err
	}
	return result.Matches[0].Line, nil
}

// neverMissing looks for a file by its directory while it is replaced. It finds
// a write that removes the file before it creates the new one, and a temporary
// file that a listing shows. A model that is told that its file does not exist
// creates it again, from memory.
func neverMissing(e *env) {
	e.write("dir/file", "x")
	var done atomic.Bool
	var writing sync.WaitGroup
	writing.Go(func() {
		defer done.Store(true)
		for i := range 100 {
			if _, err := e.fsys.WriteFile(e.ctx, "dir/file", []byte(uniform(i)), nil); err != nil {
				e.Errorf("WriteFile(%q) beside readers = %v, want nil", "dir/file", err)
			}
		}
	})
	for !done.Load() && !e.Failed() {
		infos, err := e.fsys.Ls(e.ctx, "dir", nil)
		if err != nil || len(infos) != 1 || infos[0].Name != "file" {
			e.Errorf("Ls(%q) beside a writer of its only file = %+v, %v, want that file", "dir", infos, err)
		}
		if info, err := e.fsys.Stat(e.ctx, "dir/file"); err != nil || info.Type != workspace.TypeFile {
			e.Errorf("Stat(%q) beside a writer = %+v, %v, want a file", "dir/file", info, err)
		}
	}
	writing.Wait()
}

// sameNewParents tests that concurrent writers can create files in one new
// directory: the parents that one creates must not be an error for another.
func sameNewParents(e *env) {
	const writers = 16
	want := files{"a/": "", "a/b/": "", "a/b/c/": ""}
	errs := make([]error, writers)
	together(writers, func(i int) {
		_, errs[i] = e.fsys.WriteFile(e.ctx, fmt.Sprintf("a/b/c/file%02d", i), []byte("x"), nil)
	})
	for i, err := range errs {
		name := fmt.Sprintf("a/b/c/file%02d", i)
		if err != nil {
			e.Errorf("WriteFile(%q) beside others in the same new directory = %v, want nil", name, err)
		}
		want[name] = "x"
	}
	e.leaves(want, "%d concurrent WriteFile in one new directory", writers)
}

// everyMethod runs all calls at once for the race detector; whether each
// succeeds depends on the others. A data race, a panic, a deadlock and a file
// system that is of no use afterwards are what it finds. Half of the names come
// and go, so calls also meet directories that vanish under them.
func everyMethod(e *env) {
	e.given(callTree())
	const rounds = 10
	all := calls()
	together(len(all), func(i int) {
		if lacks := all[i].needs.lacking(e); lacks != "" {
			return
		}
		for round := range rounds {
			all[i].do(e.ctx, e.fsys, all[i].fitting())
			all[i].do(e.ctx, e.fsys, fmt.Sprintf("dir/new%d", round%3))
		}
	})
	e.write("after", "still works")
	e.has("after", "still works")
}

// ownWritesAreRead lets each worker have files of its own. Nobody else writes
// them, so the last write must be read at once. It finds a cache that returns
// bytes from before the write, and state that calls share by mistake, such as a
// buffer. Each name is first created and then replaced.
func ownWritesAreRead(e *env) {
	const workers, rounds = 8, 10
	together(workers, func(worker int) {
		for round := range rounds {
			name := fmt.Sprintf("dir%d/file%d", worker, round%2)
			content := fmt.Sprintf("%d of %d", round, worker)
			if _, err := e.fsys.WriteFile(e.ctx, name, []byte(content), nil); err != nil {
				e.Errorf("WriteFile(%q) = %v, want nil", name, err)
			}
			data, err := e.fsys.ReadFile(e.ctx, name)
			if err != nil || string(data) != content {
				e.Errorf("ReadFile(%q) after WriteFile = %q, %v, want %q", name, data, err, content)
			}
		}
	})
}
