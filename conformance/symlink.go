package conformance

import (
	"errors"
	"io/fs"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// symlinkCases are the cases for a store that has symlinks. An agent's own
// commands make symlinks, and so do package managers: one that is followed
// where it must not be removes or shows files that nobody has named.
var symlinkCases = []testCase{
	{"stat-describes-itself", "Y1", needFiles | needSymlink, symlinkStat},
	{"read-follows", "Y2 RV1", needFiles | needSymlink, symlinkRead},
	{"middle-followed", "Y2", needFiles | needSymlink, symlinkMiddle},
	{"write-follows", "Y3", needWrite | needSymlink, symlinkWrite},
	{"write-dangling", "Y3", needWrite | needSymlink, symlinkDangling},
	{"write-new", "V1 Y3 Y10", needWrite | needConditional | needSymlink, symlinkWriteNew},
	{"ls-of-symlink", "Y4", needFiles | needSymlink, symlinkLs},
	{"glob", "Y5", needFiles | needSymlink, symlinkGlob},
	{"grep", "Y6", needFiles | needSymlink, symlinkGrep},
	{"walk", "Y5", needFiles | needSymlink, symlinkWalk},
	{"rm", "Y7", needWrite | needSymlink, symlinkRm},
	{"rm-recursive", "Y7", needWrite | needSymlink, symlinkRmRecursive},
	{"move", "Y8", needWrite | needSymlink | needMove, symlinkMove},
	{"copy", "Y8", needWrite | needSymlink | needCopy, symlinkCopy},
	{"escape", "Y9 E1 E2", needFiles | needSymlink, symlinkEscape},
	{"detour", "Y9 E1 E2", needFiles | needSymlink, symlinkDetour},
	{"escape-by-writing", "Y9 E1 E2", needWrite | needSymlink, symlinkEscapeWrite},
	{"loop", "Y10 E1 E2", needFiles | needSymlink, symlinkLoop},
	{"resolve", "Y11", needFiles | needSymlink, symlinkResolve},
	{"gitignore", "Y12 G13", needFiles | needSymlink, symlinkGitignore},
}

// givenLinks prepares a file, a directory, and symlinks to both.
func (e *env) givenLinks() {
	e.Helper()
	e.given(files{"file": "needle\n", "dir/child": "needle\n", "dir/sub/deep": "needle\n", "links/": ""})
	e.link("../file", "links/file")
	e.link("../dir", "links/dir")
	e.link("none", "links/dangling")
}

// symlinkStat tests that Stat describes a symlink itself, and follows symlinks
// in the middle. A walk decides by the Type whether to go on, so a target's
// type would lead it in circles.
func symlinkStat(e *env) {
	e.givenLinks()
	for _, name := range []string{"links/file", "links/dir", "links/dangling"} {
		info := e.stat(name)
		if info.Type != workspace.TypeSymlink || info.Path != name || info.Size != 0 || info.Version != "" {
			e.Errorf("Stat(%q) = %+v, want a symlink without size and version", name, info)
		}
	}
	if info := e.stat("links/dir/child"); info.Type != workspace.TypeFile || info.Path != "links/dir/child" {
		e.Errorf("Stat(%q) = %+v, want a file of that Path", "links/dir/child", info)
	}
}

// symlinkRead tests that every way of reading follows a symlink. A version that is asked
// for by the name of the symlink is none: Stat does not follow it.
func symlinkRead(e *env) {
	e.givenLinks()
	e.has("links/file", "needle\n")
	e.streams("links/file", workspace.OpenOptions{}, "needle\n")
	if data, version := e.readVersioned("links/file", 0); data != "needle\n" || version != e.stat("file").Version {
		e.Errorf("ReadVersioned(%q) = %q, %q, want the bytes and the version of the target", "links/file", data, version)
	}
	for name, want := range map[string]error{"links/dangling": fs.ErrNotExist, "links/dir": workspace.ErrIsDir} {
		_, err := e.fsys.ReadFile(e.ctx, name)
		e.refused(err, want, at(ops.ReadFile, name), "ReadFile(%q)", name)
		_, _, err = workspace.ReadVersioned(e.ctx, e.fsys, name, 0)
		e.refused(err, want, at(ops.ReadFile, name), "ReadVersioned(%q)", name)
	}
	_, _, err := workspace.ReadVersioned(e.ctx, e.fsys, "links/file", 1)
	e.refused(err, workspace.ErrTooLarge, at(ops.ReadFile, "links/file"), "ReadVersioned(%q, limit 1)", "links/file")
}

// symlinkMiddle tests that symlinks in the middle of a name are followed. A
// symlink to a file is not a directory, like the file.
func symlinkMiddle(e *env) {
	e.givenLinks()
	e.has("links/dir/child", "needle\n")
	e.has("links/dir/sub/deep", "needle\n")
	_, err := e.fsys.ReadFile(e.ctx, "links/file/x")
	e.refused(err, workspace.ErrNotDir, at(ops.ReadFile, "links/file/x"), "ReadFile(%q)", "links/file/x")
}

// symlinkWrite tests that a write goes to the target and keeps the symlink. A
// write to a temporary name, and a rename, replaces the symlink: the target
// keeps the old bytes, and a configuration that is shared by its symlink falls
// apart.
func symlinkWrite(e *env) {
	e.givenLinks()
	e.write("links/file", "new")
	e.has("file", "new")
	e.write("links/dir/child", "new too")
	e.has("dir/child", "new too")
	if info := e.stat("links/file"); info.Type != workspace.TypeSymlink {
		e.Errorf("Stat(%q) after WriteFile = %+v, want still a symlink", "links/file", info)
	}
}

// symlinkDangling tests that what is created by the name of a symlink that leads to nothing
// is created where it leads, as Resolve says, at the end of a name and in the middle.
func symlinkDangling(e *env) {
	e.givenLinks()
	e.link("../made", "links/directory")
	e.link("../other", "links/other")
	e.link("../some/where/file", "links/deep")
	e.write("links/deep", "new")
	e.has("some/where/file", "new")
	e.write("links/dangling", "new")
	e.has("links/none", "new")
	e.write("links/directory/child", "new")
	e.has("made/child", "new")
	e.link("../missing/../climbed", "links/climbing")
	switch _, err := e.fsys.WriteFile(e.ctx, "links/climbing/child", []byte("new"), nil); {
	case err == nil:
		e.has("climbed/child", "new")
	case errors.Is(err, workspace.ErrUnavailable): // a provider may refuse it, but for good
		e.Errorf("WriteFile(%q) = %v, want nil or an error for good", "links/climbing/child", err)
	}
	e.mkdir("links/other/sub", &workspace.MkdirOptions{Recursive: true})
	e.link("../last", "links/last")
	e.mkdir("links/last", &workspace.MkdirOptions{Recursive: true})
	e.equal(e.names("last", nil), []string{}, "Ls(%q) after Mkdir(%q)", "last", "links/last")
	if info := e.stat("other/sub"); info.Type != workspace.TypeDirectory {
		e.Errorf("Stat(%q) after Mkdir(%q) = %+v, want a directory", "other/sub", "links/other/sub", info)
	}
}

// symlinkWriteNew wants a new file where a symlink has the name. O_CREAT with
// O_EXCL follows no symlink either. A test for the target would find nothing
// where a dangling one leads, and the write would create a file somewhere else.
func symlinkWriteNew(e *env) {
	e.givenLinks()
	e.link("loop", "links/loop")
	before := e.tree()
	for _, name := range []string{"links/file", "links/dir", "links/dangling", "links/loop"} {
		_, err := e.writeIf(name, "new", workspace.WriteOptions{IfNotExist: true})
		e.refused(err, fs.ErrExist, at(ops.WriteFile, name), "WriteFile(%q, IfNotExist)", name)
		_, err = create(e.ctx, e.fsys, name, "new", &workspace.WriteOptions{IfNotExist: true})
		e.refused(err, fs.ErrExist, at(ops.Create, name), "Create(%q, IfNotExist) to its Commit", name)
	}
	e.unchanged(before, "WriteFile(IfNotExist) of symlinks")
}

// symlinkLs tests how a symlink is listed, and that a symlink to a directory
// can be listed. The paths begin with the name that was listed, so they are
// names that a policy has seen.
func symlinkLs(e *env) {
	e.givenLinks()
	e.equal(e.names("links", nil), []string{"dangling", "dir", "file"}, "Ls(%q)", "links")
	for _, info := range e.ls("links", nil) {
		if info.Type != workspace.TypeSymlink {
			e.Errorf("Ls(%q) describes %+v, want a symlink", "links", info)
		}
	}
	for _, info := range e.ls("links/dir", nil) {
		if want := "links/dir/" + info.Name; info.Path != want {
			e.Errorf("Ls(%q) describes %q with Path %q, want %q", "links/dir", info.Name, info.Path, want)
		}
	}
	e.equal(e.names("links/dir", nil), []string{"child", "sub"}, "Ls(%q)", "links/dir")
}

// symlinkGlob tests that Glob reports symlinks and follows only the one where
// it begins. Followed symlinks would return a file under several paths, and
// never end in a loop. A pattern that spells a symlink out does not follow it
// either: how a pattern is written must not decide that.
func symlinkGlob(e *env) {
	e.givenLinks()
	e.equal(e.glob("links/**", nil), []string{"links/dangling", "links/dir", "links/file"}, "Glob(%q)", "links/**")
	e.equal(e.glob("links/dir/*", nil), []string{}, "Glob(%q)", "links/dir/*")
	for _, link := range []string{"links/dangling", "links/dir", "links/file"} {
		e.equal(e.glob(link+"/**", nil), []string{link}, "Glob(%q)", link+"/**")
		e.equal(e.glob(link+"/**/", nil), []string{}, "Glob(%q)", link+"/**/")
		e.equal(e.glob(link+"/child/**", nil), []string{}, "Glob(%q)", link+"/child/**")
	}
	e.equal(e.glob("links/*/", nil), []string{}, "Glob(%q)", "links/*/")
	got := e.glob("**", &workspace.GlobOptions{Dir: "links/dir"})
	e.equal(got, []string{"links/dir/child", "links/dir/sub/deep"}, "Glob(%q, Dir: %q)", "**", "links/dir")
}

// symlinkGrep tests that Grep follows only a symlink that Path names. A symlink
// is not listed as skipped, as nothing of the tree is left out.
func symlinkGrep(e *env) {
	e.givenLinks()
	e.equal(paths(e.grep("needle", nil).Matches), []string{"dir/child", "dir/sub/deep", "file"}, "Grep(%q)", "needle")
	for path, want := range map[string][]string{
		"links":      {},
		"links/file": {"links/file"},
		"links/dir":  {"links/dir/child", "links/dir/sub/deep"},
	} {
		got := e.grep("needle", &workspace.GrepOptions{Path: path})
		e.equal(paths(got.Matches), want, "Grep(%q, Path: %q)", "needle", path)
		if diff := cmp.Diff([]workspace.Skipped{}, got.Skipped, cmpopts.EquateEmpty()); diff != "" {
			e.Errorf("Grep(%q, Path: %q).Skipped (-want +got):\n%s", "needle", path, diff)
		}
	}
}

// symlinkWalk tests that a walk reports symlinks and follows only the one
// where it begins.
func symlinkWalk(e *env) {
	e.givenLinks()
	e.equal(e.walked("links", "", nil), []string{"links/dangling", "links/dir", "links/file"}, "Walk(%q)", "links")
	e.equal(e.walked("links/dir", "", nil), []string{"links/dir/child", "links/dir/sub", "links/dir/sub/deep"}, "Walk(%q)", "links/dir")
}

// symlinkRm tests that Rm removes symlinks and keeps their targets. A provider
// that resolves a name before it acts removes the target, and leaves a dangling
// symlink.
func symlinkRm(e *env) {
	e.givenLinks()
	for _, name := range []string{"links/file", "links/dir", "links/dangling"} {
		e.rm(name, nil)
	}
	e.leaves(linkTargets(), "Rm of symlinks")
}

// linkTargets is what givenLinks leaves once the symlinks are removed.
func linkTargets() files {
	return files{
		"file": "needle\n", "dir/": "", "dir/child": "needle\n", "dir/sub/": "", "dir/sub/deep": "needle\n", "links/": "",
	}
}

// symlinkRmRecursive tests that a tree with symlinks is removed without their
// targets. The mistake is a walk that goes into a symlink to a directory, and
// empties it.
func symlinkRmRecursive(e *env) {
	e.givenLinks()
	e.rm("links/dir", &workspace.RmOptions{Recursive: true})
	e.rm("links", &workspace.RmOptions{Recursive: true})
	want := linkTargets()
	delete(want, "links/")
	e.leaves(want, "Rm(%q, Recursive)", "links")
}

// symlinkMove tests that Move moves the symlink itself and keeps its target.
// The symlink is relative and moves within its directory, so it still leads to
// the file.
func symlinkMove(e *env) {
	e.given(files{"file": "x"})
	e.link("file", "link")
	e.move("link", "moved")
	e.leaves(files{"file": "x", "moved": "a symlink"}, "Move(%q, %q)", "link", "moved")
	e.has("moved", "x")
}

// symlinkCopy tests that Copy copies the target.
func symlinkCopy(e *env) {
	e.givenLinks()
	e.copyTo("links/file", "copy")
	if info := e.stat("copy"); info.Type != workspace.TypeFile {
		e.Errorf("Stat(%q) = %+v, want a file with the bytes of the target", "copy", info)
	}
	e.has("copy", "needle\n")
}

// givenEscapes prepares symlinks that lead out of the workspace. What the suite
// writes through them, were it let out, would do no harm.
func (e *env) givenEscapes() {
	e.Helper()
	e.given(files{"dir/": ""})
	e.link("../..", "dir/up")
	e.link("/tmp/workspacekit-conformance-escaped", "absolute")
	e.link("../../../../../../../../etc/hostname", "dir/far")
}

// symlinkEscape tests that no call reads through a symlink that leads out. A
// symlink needs no ".." in the name that a caller gives, so a check of the text
// finds nothing. A search reports such symlinks by their names and reads
// nothing.
func symlinkEscape(e *env) {
	e.givenEscapes()
	for _, name := range []string{"dir/up/x", "absolute", "dir/far"} {
		_, err := e.fsys.ReadFile(e.ctx, name)
		e.refused(err, workspace.ErrEscape, at(ops.ReadFile, name), "ReadFile(%q)", name)
		_, err = workspace.Resolve(e.ctx, e.fsys, name)
		e.refused(err, workspace.ErrEscape, at(ops.Resolve, name), "Resolve(%q)", name)
	}
	_, err := e.fsys.Ls(e.ctx, "dir/up", nil)
	e.refused(err, workspace.ErrEscape, at(ops.Ls, "dir/up"), "Ls(%q)", "dir/up")
	_, err = e.fsys.Stat(e.ctx, "dir/up/x")
	e.refused(err, workspace.ErrEscape, at(ops.Stat, "dir/up/x"), "Stat(%q)", "dir/up/x")
	for _, c := range []call{{text: "Glob(Dir: %q)", op: ops.Glob, do: callGlob}, {text: "Grep(Path: %q)", op: ops.Grep, do: callGrep}} {
		err := c.do(e.ctx, e.fsys, "dir/up")
		e.refused(err, workspace.ErrEscape, at(c.op, "dir/up"), c.text, "dir/up")
	}
	e.equal(e.glob("**", nil), []string{"absolute", "dir/far", "dir/up"}, "Glob(%q)", "**")
}

// symlinkDetour reads through a symlink that leaves the workspace and comes
// back. A provider may refuse it, but must neither read another file nor report
// it as missing.
func symlinkDetour(e *env) {
	e.given(files{"file": "x"})
	e.link(fallback.Root(e.fsys)+"/file", "detour")
	data, err := e.fsys.ReadFile(e.ctx, "detour")
	if err != nil {
		e.refused(err, workspace.ErrEscape, at(ops.ReadFile, "detour"), "ReadFile(%q)", "detour")
		return
	}
	if string(data) != "x" {
		e.Errorf("ReadFile(%q) = %q, want that of %q", "detour", data, "file")
	}
}

// symlinkEscapeWrite tests that no call changes anything through a symlink that
// leads out. A file written outside, such as one in a home directory, can run
// commands of its author's choice at the next login.
func symlinkEscapeWrite(e *env) {
	e.givenEscapes()
	before := e.tree()
	for _, name := range []string{"dir/up/workspacekit-escape", "absolute"} {
		_, err := e.fsys.WriteFile(e.ctx, name, []byte("x"), nil)
		e.refused(err, workspace.ErrEscape, at(ops.WriteFile, name), "WriteFile(%q)", name)
	}
	err := e.fsys.Mkdir(e.ctx, "dir/up/workspacekit-escape", nil)
	e.refused(err, workspace.ErrEscape, at(ops.Mkdir, "dir/up/workspacekit-escape"), "Mkdir(%q)", "dir/up/workspacekit-escape")
	err = e.fsys.Rm(e.ctx, "dir/up/workspacekit-escape", nil)
	e.refused(err, workspace.ErrEscape, at(ops.Rm, "dir/up/workspacekit-escape"), "Rm(%q)", "dir/up/workspacekit-escape")
	e.unchanged(before, "writes through symlinks that lead out")
}

// symlinkLoop tests that a loop is an error where it is followed, and ends no
// walk or search. A link that leads to itself needs no second one. Each call
// has an end, and a walk still reports the file beside them. For mkdir of an
// operating system, a loop is just something that has the name.
func symlinkLoop(e *env) {
	e.given(files{"file": "x"})
	e.link("b", "a")
	e.link("a", "b")
	e.link("self", "self")
	for _, name := range []string{"a", "self", "a/x"} {
		_, err := e.fsys.ReadFile(e.ctx, name)
		e.refused(err, fs.ErrInvalid, at(ops.ReadFile, name), "ReadFile(%q) of a loop", name)
		_, err = workspace.Resolve(e.ctx, e.fsys, name)
		e.refused(err, fs.ErrInvalid, at(ops.Resolve, name), "Resolve(%q) of a loop", name)
		if e.caps.Write {
			err = callMkdirRecursive(e.ctx, e.fsys, name)
			e.refused(err, fs.ErrInvalid, at(ops.Mkdir, name), "Mkdir(%q, Recursive) of a loop", name)
		}
	}
	e.equal(e.walked(".", "", nil), []string{"a", "b", "file", "self"}, "Walk(%q)", ".")
}

// symlinkResolve tests that Resolve follows symlinks everywhere in a name. The
// rest of a name that does not exist is kept, also where a symlink leads to
// nothing. Two symlinks in a row are followed.
func symlinkResolve(e *env) {
	e.givenLinks()
	e.link("links/dir", "twice")
	for name, want := range map[string]string{
		"links/file":       "file",
		"links/dir":        "dir",
		"links/dir/child":  "dir/child",
		"links/dir/none":   "dir/none",
		"links/dangling":   "links/none",
		"twice":            "dir",
		"twice/sub/deep":   "dir/sub/deep",
		"twice/none/other": "dir/none/other",
		"file":             "file",
	} {
		e.resolves(name, want)
	}
}

// symlinkGitignore tests that a symlink named .gitignore has no rules, wherever a
// search begins. A provider that opens the file by its name above Dir, without having
// listed it, follows the symlink there and not below.
func symlinkGitignore(e *env) {
	e.given(files{"rules": "*.log\n", "sub/a.log": "needle\n", "sub/deep/b.log": "needle\n"})
	e.link("rules", ".gitignore")
	want := []string{"sub/a.log", "sub/deep/b.log"}
	for _, search := range []struct{ pattern, dir string }{
		{"**/*.log", "."},
		{"sub/**/*.log", "."}, // lists nothing above "sub" if it is clever
		{"**/*.log", "sub"},
	} {
		got := e.glob(search.pattern, &workspace.GlobOptions{Dir: search.dir, Gitignore: true})
		e.equal(got, want, "Glob(%q, Dir: %q, Gitignore)", search.pattern, search.dir)
	}
	for _, dir := range []string{".", "sub"} {
		got := e.grep("needle", &workspace.GrepOptions{Path: dir, Gitignore: true})
		e.equal(paths(got.Matches), want, "Grep(%q, Path: %q, Gitignore)", "needle", dir)
	}
}
