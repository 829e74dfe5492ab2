package conformance

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// exactCases are the cases for the exact view, which policies depend on. A rule
// such as "deny keys/" is about names. It holds only if a name that is allowed
// leads where it says, whatever symlinks a command of the agent has made.
var exactCases = []testCase{
	{"same-files", "EX1", needWrite | needExact, exactSameFiles},
	{"in-the-middle", "EX2 E1 E2 E5", needWrite | needSymlink | needExact, exactMiddle},
	{"at-the-end", "EX2 E1 E2 E5", needWrite | needSymlink | needExact, exactEnd},
	{"itself", "EX3", needWrite | needSymlink | needExact, exactItself},
	{"below-the-start", "EX3", needFiles | needSymlink | needExact, exactBelow},
	{"swapped", "EX4", needWrite | needVersions | needConditional | needMove | needCopy | needSymlink | needExact, exactSwapped},
}

// exact returns e on the exact view of its file system. The store and the
// options stay, so files and symlinks are made outside the view.
func (e *env) exact() *env {
	e.Helper()
	view, err := workspace.Exact(e.fsys)
	if err != nil {
		e.Fatalf("Exact() = %v, want nil", err)
	}
	exact := *e
	exact.fsys, exact.caps = view, workspace.CapabilitiesOf(view)
	return &exact
}

// exactSameFiles tests that the view and the file system show the same files
// with the same versions, and see each other's changes. It finds a view that is
// a copy, or has a cache of its own that the changes of the file system do not
// clear. With other versions, what a policy reads could not be written back.
func exactSameFiles(e *env) {
	e.given(files{"dir/file": "content"})
	view := e.exact()
	if want := workspace.CapabilitiesOf(e.fsys); view.caps != want { // which e.caps were before the first use
		e.Errorf("capabilities of the exact view = %+v, want %+v", view.caps, want)
	}
	if got, want := view.stat("dir/file"), e.stat("dir/file"); got.Version != want.Version || got.Path != want.Path || got.Size != want.Size {
		e.Errorf("Stat(%q) in the exact view = %+v, want %+v", "dir/file", got, want)
	}
	view.resolves("dir/file", "dir/file")
	view.write("dir/new", "by the view")
	e.has("dir/new", "by the view")
	e.write("dir/file", "by the file system")
	view.has("dir/file", "by the file system")
}

// givenExact prepares the tree that calls work on, with symlinks to a directory and
// to a file.
func (e *env) givenExact() {
	e.Helper()
	e.given(files{"file": "x", "dir/child": "x", "dir/sub/deep": "x", "links/": ""})
	e.link("../dir", "links/dir")
	e.link("../file", "links/file")
	e.link("none", "links/dangling")
}

// exactMiddle tests that the view follows no symlink in the middle of a name.
// The names exist, do not exist, or lead nowhere: in each case the symlink must
// be met first, or the kind of the error tells whether there is something on
// the other side.
func exactMiddle(e *env) {
	e.givenExact()
	e.refusesSymlinks(calls(), "links/dir/child", "links/dir/sub/deep", "links/dir/none", "links/dir/none/new", "links/dangling/new")
}

// refusesSymlinks makes each call with each name. All names have a symlink in
// them. The tree must be the same afterwards, in the file system, which would
// follow them.
func (e *env) refusesSymlinks(calls []call, names ...string) {
	e.Helper()
	view := e.exact()
	before := e.tree()
	for _, c := range calls {
		if c.needs.lacking(e) != "" {
			continue
		}
		for _, name := range names {
			err := c.do(e.ctx, view.fsys, name)
			e.refused(err, workspace.ErrSymlink, at(c.op, name), c.text+" in the exact view", name)
			if !errors.Is(err, fs.ErrInvalid) {
				e.Errorf(c.text+" in the exact view = %v, want an error that is also %q", name, err, fs.ErrInvalid)
			}
		}
	}
	e.unchanged(before, "calls in the exact view with symlinks in the name")
}

// exactEnd tests that the view follows no symlink at the end of a name. Calls
// that act on the symlink itself are left out, and exactItself has them. A
// dangling symlink is there for writes: one that follows it creates its target.
func exactEnd(e *env) {
	e.givenExact()
	var following []call
	for _, c := range calls() {
		switch c.name {
		case "stat", "rm", "rm-recursive", "mkdir", "move-source", "move-destination", "copy-destination":
		default:
			following = append(following, c)
		}
	}
	e.refusesSymlinks(following, "links/dir", "links/file", "links/dangling")
}

// exactItself tests that calls that act on a symlink itself work in the view. A
// view that refuses every name that leads to a symlink would let no agent clean
// up a broken one.
func exactItself(e *env) {
	e.givenExact()
	view := e.exact()
	for _, name := range []string{"links/dir", "links/file", "links/dangling"} {
		if info := view.stat(name); info.Type != workspace.TypeSymlink {
			e.Errorf("Stat(%q) in the exact view = %+v, want a symlink", name, info)
		}
		err := view.fsys.Mkdir(e.ctx, name, nil)
		e.refused(err, fs.ErrExist, at(ops.Mkdir, name), "Mkdir(%q) in the exact view", name)
		if e.caps.ConditionalWrite {
			_, err := view.writeIf(name, "new", workspace.WriteOptions{IfNotExist: true})
			e.refused(err, fs.ErrExist, at(ops.WriteFile, name), "WriteFile(%q, IfNotExist) in the exact view", name)
		}
	}
	view.rm("links/dangling", nil)
	view.rm("links/file", &workspace.RmOptions{Recursive: true})
	want := files{"file": "x", "dir/": "", "dir/child": "x", "dir/sub/": "", "dir/sub/deep": "x", "links/": "", "links/dir": "a symlink"}
	if e.caps.Move {
		view.move("links/dir", "moved")
		delete(want, "links/dir")
		want["moved"] = "a symlink"
	}
	e.leaves(want, "Rm and Move of symlinks in the exact view")
}

// exactBelow tests that lists and searches of the view report symlinks as the
// file system does. A search through a policy must not stop at the first
// symlink of a tree: many trees have some, such as each node_modules/.bin.
func exactBelow(e *env) {
	e.givenLinks()
	view := e.exact()
	e.equal(view.names("links", nil), []string{"dangling", "dir", "file"}, "Ls(%q) in the exact view", "links")
	e.equal(view.glob("links/**", nil), []string{"links/dangling", "links/dir", "links/file"}, "Glob(%q) in the exact view", "links/**")
	e.equal(view.glob("links/dir", nil), []string{"links/dir"}, "Glob(%q) in the exact view", "links/dir")
	e.equal(view.glob("links/dir/*", nil), []string{}, "Glob(%q) in the exact view", "links/dir/*")
	e.equal(view.walked("links", "", nil), []string{"links/dangling", "links/dir", "links/file"}, "Walk(%q) in the exact view", "links")
	e.equal(paths(view.grep("needle", nil).Matches), []string{"dir/child", "dir/sub/deep", "file"}, "Grep(%q) in the exact view", "needle")
}

// swapRounds is how often each operation is tried while a directory and a
// symlink take turns.
const swapRounds = 40

// exactSwapped moves a symlink to a directory to the name of another directory
// and back, while the name is used in the exact view.
//
// The name has four states, and the second is the trap:
//
//	Move("mine", "aside")   nothing has the name
//	Move("link", "mine")    it is a symlink to "theirs"
//	Move("mine", "link")    nothing has the name
//	Move("aside", "mine")   it is a directory again
//
// A provider that looks for symlinks and then uses the name is sometimes late
// by one move. The commands of an agent can do the same to reach what a policy
// denies.
func exactSwapped(e *env) {
	e.given(files{"mine/file": "mine\n", "theirs/file": "theirs\n", "theirs/secret": "theirs\n"})
	e.link("theirs", "link")
	version := e.stat("theirs/file").Version
	var done atomic.Bool
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for !done.Load() && !e.Failed() {
			for _, move := range [][2]string{{"mine", "aside"}, {"link", "mine"}, {"mine", "link"}, {"aside", "mine"}} {
				if err := workspace.Move(e.ctx, e.fsys, move[0], move[1]); err != nil {
					e.Errorf("Move(%q, %q) = %v, want nil", move[0], move[1], err)
				}
			}
		}
	})
	view := e.exact()
	for _, use := range swappedUses(version) {
		for range swapRounds {
			if seen := use.do(view); seen != "" {
				e.Errorf("%s in the exact view shows or changes %s, which a symlink leads to", use.name, seen)
				break
			}
		}
	}
	done.Store(true)
	swapping.Wait()
	e.has("theirs/file", "theirs\n")
	e.has("theirs/secret", "theirs\n")
}

// swappedUse is a use of "mine". do returns what it saw or did of "theirs".
type swappedUse struct {
	name string
	do   func(view *env) string
}

// swappedUses has calls that make no missing directories: those would take the
// name in turn. version is that of "theirs/file".
//
// Success alone proves a leak in most of them, as only "theirs" has a file
// "secret". The others tell the two directories apart by the bytes of "file",
// or by its version: in "mine" the write is a conflict.
func swappedUses(version workspace.Version) []swappedUse {
	only := func(text string, err error) string { // what can only succeed there
		if err != nil {
			return ""
		}
		return text
	}
	return []swappedUse{
		{"ReadFile", func(v *env) string {
			data, err := v.fsys.ReadFile(v.ctx, "mine/file")
			if string(data) == "mine\n" {
				return ""
			}
			return only(string(data), err)
		}},
		{"Open", func(v *env) string {
			stream, _, err := workspace.Open(v.ctx, v.fsys, "mine/secret", nil)
			if err != nil {
				return ""
			}
			defer stream.Close()
			return "theirs/secret"
		}},
		{"Stat", func(v *env) string {
			_, err := v.fsys.Stat(v.ctx, "mine/secret")
			return only("theirs/secret", err)
		}},
		{"Ls", func(v *env) string {
			infos, _ := v.fsys.Ls(v.ctx, "mine", nil)
			for _, info := range infos {
				if info.Name == "secret" {
					return info.Path
				}
			}
			return ""
		}},
		{"Glob", func(v *env) string {
			found, _ := v.fsys.Glob(v.ctx, "mine/secret", nil)
			more, _ := v.fsys.Glob(v.ctx, "**/secret", &workspace.GlobOptions{Dir: "mine"})
			for _, path := range append(found, more...) {
				return path
			}
			return ""
		}},
		{"Grep", func(v *env) string {
			result, err := v.fsys.Grep(v.ctx, "theirs", &workspace.GrepOptions{Path: "mine"})
			if err != nil || len(result.Matches) == 0 {
				return ""
			}
			return result.Matches[0].Path
		}},
		{"Walk", func(v *env) (seen string) {
			_ = workspace.Walk(v.ctx, v.fsys, "mine", nil, func(info workspace.FileInfo, _ error) error {
				if info.Name == "secret" {
					seen = info.Path
				}
				return nil
			})
			return seen
		}},
		{"WriteFile", func(v *env) string {
			_, err := v.writeIf("mine/file", "mine\n", workspace.WriteOptions{IfVersion: version})
			return only("theirs/file", err)
		}},
		{"Rm", func(v *env) string { return only("theirs/secret", v.fsys.Rm(v.ctx, "mine/secret", nil)) }},
		{"Copy", func(v *env) string { return only("theirs/secret", callCopySource(v.ctx, v.fsys, "mine/secret")) }},
		{"Move", func(v *env) string { return only("theirs/secret", callMoveSource(v.ctx, v.fsys, "mine/secret")) }},
	}
}
