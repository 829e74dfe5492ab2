package conformance

import (
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// globGitignoreCases are the cases for ignore files in a Glob. A model that
// searches for its own code must not get a hundred matches of node_modules, and
// must not miss a file that git tracks.
var globGitignoreCases = []testCase{
	{"gitignore", "G13", needFiles, globGitignore},
	{"gitignore-directories", "G13 G3", needFiles, globGitignoreDirectories},
	{"gitignore-below-dir", "G13 G5", needFiles, globGitignoreBelowDir},
	{"gitignore-in-excluded", "G13 G5", needFiles, globGitignoreInExcluded},
	{"gitignore-off", "G13", needFiles, globGitignoreOff},
	{"gitignore-directory", "G13 G3", needFiles, globGitignoreDirectory},
}

// ignored is the tree for .gitignore: each file with whether it is left out.
//
// What is easy to get wrong:
//
//	sub2/tmp          is a file, and "tmp/" excludes directories only
//	sub/b.log         a deeper file takes back what a higher one excludes
//	vendor/keep.txt   nothing is taken back in a directory that is excluded
//	doc/deep/a.txt    "*" matches no slash
//	sub/doc/a.txt     a slash in the middle anchors a rule to its own directory
//	one/gen.go        "**" between slashes also stands for no directory at all
//	sub/anchored.txt  a line may end in "\r\n"
//	!bang             a "!" that is escaped takes nothing back
//	#hash             a line that begins with "#" is a comment
//	#number           but with "\#" it is a pattern
//	"space "          spaces at the end of a line are no part of the pattern
func ignored() map[string]bool {
	return map[string]bool{
		"a.log": true, "keep.log": false, "sub/b.log": false, "sub/c.log": true, "sub/keep.log": false,
		"build/x.txt": true, "sub/build/x.txt": false,
		"tmp/y.txt": true, "sub/tmp/z.txt": true, "sub2/tmp": false,
		"root-only.txt": true, "sub/root-only.txt": false,
		"doc/a.txt": true, "doc/deep/a.txt": false, "sub/doc/a.txt": false,
		"sub/local.txt": true, "sub/deep/local.txt": true, "local.txt": false,
		"sub/anchored.txt": true, "sub/deep/anchored.txt": false,
		"vendor/keep.txt": true, "vendor/other.txt": true,
		"one/any/depth/gen.go": true, "one/gen.go": true, "gen.go": false,
		"#hash": false, "#number": true, "!bang": true, "space ": false,
		".gitignore": false, "sub/.gitignore": false,
		".git/config": true, ".git/objects/aa/bb": true,
	}
}

// The .gitignore files of the tree: the one in the root, and the one in "sub".
// Comparisons use them, too.
const (
	rootIgnore = "# a comment\n\n*.log\n!keep.log\n/build/\ntmp/\n/root-only.txt\ndoc/*.txt\n" +
		"vendor/\n!vendor/keep.txt\none/**/gen.go\n\\!bang\n#hash\n\\#number\nspace \n# the end\n"
	subIgnore = "!b.log\nlocal.txt\n/anchored.txt\r\n"
)

// givenIgnored prepares a tree with ignore files at several depths.
func (e *env) givenIgnored() (kept []string) {
	e.Helper()
	tree := make(files)
	for name, out := range ignored() {
		tree[name] = "needle\n"
		if !out {
			kept = append(kept, name)
		}
	}
	tree[".gitignore"], tree["sub/.gitignore"] = rootIgnore, subIgnore
	e.given(tree)
	slices.Sort(kept)
	return kept
}

// globGitignore tests which files ignore files exclude from a Glob, and from
// the rest of it after any of its paths, such as that of an ignore file. A page
// that begins after a .gitignore file must still read it: the rules count for
// the whole directory, wherever the listing begins.
func globGitignore(e *env) {
	kept := e.givenIgnored()
	e.equal(e.glob("**", &workspace.GlobOptions{Gitignore: true}), kept, "Glob(%q, Gitignore)", "**")
	for i, after := range kept {
		got := e.glob("**", &workspace.GlobOptions{Gitignore: true, After: after})
		e.equal(got, append([]string{}, kept[i+1:]...), "Glob(%q, Gitignore, After: %q)", "**", after)
	}
	got := e.glob("*.log", &workspace.GlobOptions{Gitignore: true})
	e.equal(got, []string{"keep.log"}, "Glob(%q, Gitignore)", "*.log")
	got = e.glob("build/*", &workspace.GlobOptions{Gitignore: true})
	e.equal(got, []string{}, "Glob(%q, Gitignore)", "build/*")
}

// globGitignoreDirectories tests that excluded directories are left out with
// everything below them. Directories with nothing but excluded files, such as
// "one/any/depth", stay: no rule is about them.
func globGitignoreDirectories(e *env) {
	e.givenIgnored()
	want := []string{"doc", "doc/deep", "one", "one/any", "one/any/depth", "sub", "sub/build", "sub/deep", "sub/doc", "sub2"}
	e.equal(e.glob("**/", &workspace.GlobOptions{Gitignore: true}), want, "Glob(%q, Gitignore)", "**/")
}

// globGitignoreBelowDir begins below the directory with the .gitignore. The
// rules above it count as well. A provider that reads only what it passes on
// its way finds, from "sub", the logs that it leaves out from the root.
func globGitignoreBelowDir(e *env) {
	kept := e.givenIgnored()
	for _, dir := range []string{"sub", "sub/deep", "doc", "one/any"} {
		want := []string{}
		for _, name := range kept {
			if len(name) > len(dir) && name[:len(dir)+1] == dir+"/" {
				want = append(want, name)
			}
		}
		got := e.glob("**", &workspace.GlobOptions{Dir: dir, Gitignore: true})
		e.equal(got, want, "Glob(%q, Dir: %q, Gitignore)", "**", dir)
	}
}

// globGitignoreInExcluded begins in directories that are excluded themselves: who names one
// wants what is in it. Other rules hold there.
func globGitignoreInExcluded(e *env) {
	e.givenIgnored()
	for dir, want := range map[string][]string{
		"vendor":       {"vendor/keep.txt", "vendor/other.txt"},
		"build":        {"build/x.txt"},
		"sub/tmp":      {"sub/tmp/z.txt"},
		".git":         {".git/config", ".git/objects/aa/bb"},
		".git/objects": {".git/objects/aa/bb"},
	} {
		got := e.glob("**", &workspace.GlobOptions{Dir: dir, Gitignore: true})
		e.equal(got, want, "Glob(%q, Dir: %q, Gitignore)", "**", dir)
	}
}

// globGitignoreDirectory tests that a directory named .gitignore is one, without rules.
// A provider that lists only what a pattern spells out must not mistake it for a file.
func globGitignoreDirectory(e *env) {
	e.given(files{".gitignore/": "", "sub/.gitignore/a.log": "a"})
	for _, gitignore := range []bool{false, true} {
		for pattern, want := range map[string][]string{
			".gitignore":        {},
			".gitignore/**":     {},
			"**/.gitignore":     {},
			"sub/.gitignore/**": {"sub/.gitignore/a.log"},
			"**":                {"sub/.gitignore/a.log"},
		} {
			got := e.glob(pattern, &workspace.GlobOptions{Gitignore: gitignore})
			e.equal(got, want, "Glob(%q, Gitignore: %t)", pattern, gitignore)
		}
	}
}

// globGitignoreOff tests that nothing is left out without the option. It finds
// a provider whose search program reads these files by default.
func globGitignoreOff(e *env) {
	e.givenIgnored()
	want := []string{}
	for name := range ignored() {
		want = append(want, name)
	}
	e.equal(e.glob("**", nil), sorted(want), "Glob(%q)", "**")
}

// grepGitignore tests that Grep leaves out what Glob leaves out. A file that
// Path names is searched although it is excluded, because a model that names a
// log wants that log.
func grepGitignore(e *env) {
	var want []string
	for _, name := range e.givenIgnored() {
		if name != ".gitignore" && name != "sub/.gitignore" {
			want = append(want, name)
		}
	}
	result := e.grep("needle", &workspace.GrepOptions{Gitignore: true})
	e.equal(paths(result.Matches), want, "Grep(%q, Gitignore)", "needle")
	result = e.grep("needle", &workspace.GrepOptions{Gitignore: true, Path: "a.log"})
	e.equal(paths(result.Matches), []string{"a.log"}, "Grep(%q, Path: %q, Gitignore)", "needle", "a.log")
	result = e.grep("needle", nil)
	if got := len(paths(result.Matches)); got != len(ignored())-2 {
		e.Errorf("Grep(%q) without Gitignore finds %d files, want all but the two .gitignore of %d", "needle", got, len(ignored()))
	}
}
