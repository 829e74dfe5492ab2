package conformance

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/workspace"
)

// env is what a case works with: a fresh file system and ways to fail. Methods
// that are not named for an error end the case if their call fails.
//
// There are two ways to the files. Methods such as write and read use fsys,
// which is tested. Methods such as given and change use store, another client
// of the same files if [Options].Peer gives one: so a read-only file system
// gets its files, and caches of fsys learn of nothing that happens.
type env struct {
	testing.TB
	ctx     context.Context
	fsys    workspace.FileSystem   // under test
	store   workspace.FileSystem   // the same files, writable
	caps    workspace.Capabilities // of fsys, which decide what a case expects
	opts    Options
	clauses string                    // of the contract that the case is about, for failures
	short   bool                      // leave out what takes long
	link    func(target, name string) // makes a symlink
	givenUp *atomic.Bool              // the test has ended, and must not be used
}

// newEnv returns the env of a case on fsys that fails tb. t is for the hooks of
// o; it is tb unless the suite itself is tested. The capabilities are those
// before the first use, and the context is the context of t, which ends before
// the cleanups of t run.
func newEnv(tb testing.TB, t *testing.T, fsys workspace.FileSystem, o Options) *env {
	e := &env{
		TB: tb, ctx: t.Context(), fsys: fsys, store: fsys, opts: o, givenUp: new(atomic.Bool),
		caps: workspace.CapabilitiesOf(fsys), short: testing.Short() || o.Short,
	}
	if o.Peer != nil {
		e.store = o.Peer(t, fsys)
	}
	e.link = func(target, name string) { o.Symlink(t, fsys, target, name) }
	return e
}

// Errorf fails the case and says which clauses it is about.
func (e *env) Errorf(format string, args ...any) {
	e.endIfGivenUp()
	e.Helper()
	e.TB.Errorf(format+" (contract %s)", append(args, e.clauses)...)
}

// Fatalf is Errorf, and ends the case.
func (e *env) Fatalf(format string, args ...any) {
	e.endIfGivenUp()
	e.Helper()
	e.TB.Fatalf(format+" (contract %s)", append(args, e.clauses)...)
}

// endIfGivenUp ends the goroutine of a case that has been given up.
func (e *env) endIfGivenUp() {
	if e.givenUp.Load() {
		runtime.Goexit()
	}
}

// files are what a case begins with: from names to contents. A name that ends
// in "/" is a directory. Its parents need not be named where files are
// prepared. Where a tree is compared, every directory has an entry, and a
// symlink is "a symlink".
type files map[string]string

// given prepares files. They are made in order of their names, so a directory
// comes before what is in it, and missing parents are made on the way. Files
// that exist are replaced.
func (e *env) given(tree files) {
	e.Helper()
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		e.prepare(name, tree[name])
	}
}

// prepare creates one file or directory, by the peer if there is one.
func (e *env) prepare(name, content string) {
	e.Helper()
	if dir, ok := strings.CutSuffix(name, "/"); ok {
		if err := e.store.Mkdir(e.ctx, dir, &workspace.MkdirOptions{Recursive: true}); err != nil {
			e.Fatalf("Mkdir(%q, recursive) = %v, want nil", dir, err)
		}
		return
	}
	if _, err := e.store.WriteFile(e.ctx, name, []byte(content), nil); err != nil {
		e.Fatalf("WriteFile(%q, %d bytes) = %v, want nil", name, len(content), err)
	}
}

// read reads a file, and ends the case if that fails.
func (e *env) read(name string) string {
	e.Helper()
	data, err := e.fsys.ReadFile(e.ctx, name)
	if err != nil {
		e.Fatalf("ReadFile(%q) = %v, want nil", name, err)
	}
	return string(data)
}

// has fails the case unless the file name has content. A file that cannot be
// read ends the case, and other bytes do not.
func (e *env) has(name, content string) {
	e.Helper()
	if got := e.read(name); got != content {
		e.Errorf("ReadFile(%q) = %s, want %s", name, compare.Brief(got), compare.Brief(content))
	}
}

// write writes a file, and ends the case if that fails. It is for cases that
// are about writing: given prepares files by the store.
func (e *env) write(name, content string) workspace.Version {
	e.Helper()
	version, err := e.fsys.WriteFile(e.ctx, name, []byte(content), nil)
	if err != nil {
		e.Fatalf("WriteFile(%q, %d bytes) = %v, want nil", name, len(content), err)
	}
	return version
}

// stat describes a name, and ends the case if that fails.
func (e *env) stat(name string) workspace.FileInfo {
	e.Helper()
	info, err := e.fsys.Stat(e.ctx, name)
	if err != nil {
		e.Fatalf("Stat(%q) = %v, want nil", name, err)
	}
	return info
}

// ls lists a directory, and ends the case if that fails. An empty list must
// not be nil.
func (e *env) ls(dir string, opts *workspace.LsOptions) []workspace.FileInfo {
	e.Helper()
	infos, err := e.fsys.Ls(e.ctx, dir, opts)
	if err != nil {
		e.Fatalf("Ls(%q, %+v) = %v, want nil", dir, opts, err)
	}
	if infos == nil {
		e.Errorf("Ls(%q, %+v) = nil, want an empty list", dir, opts)
	}
	return infos
}

// names is ls for the names alone.
func (e *env) names(dir string, opts *workspace.LsOptions) []string {
	e.Helper()
	names := []string{}
	for _, info := range e.ls(dir, opts) {
		names = append(names, info.Name)
	}
	return names
}

// rm removes a name, and ends the case if that fails.
func (e *env) rm(name string, opts *workspace.RmOptions) {
	e.Helper()
	if err := e.fsys.Rm(e.ctx, name, opts); err != nil {
		e.Fatalf("Rm(%q, %+v) = %v, want nil", name, opts, err)
	}
}

// mkdir creates a directory, and ends the case if that fails.
func (e *env) mkdir(name string, opts *workspace.MkdirOptions) {
	e.Helper()
	if err := e.fsys.Mkdir(e.ctx, name, opts); err != nil {
		e.Fatalf("Mkdir(%q, %+v) = %v, want nil", name, opts, err)
	}
}

// move moves a name, and ends the case if that fails.
func (e *env) move(source, destination string) {
	e.Helper()
	if err := workspace.Move(e.ctx, e.fsys, source, destination); err != nil {
		e.Fatalf("Move(%q, %q) = %v, want nil", source, destination, err)
	}
}
