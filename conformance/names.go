package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// nameCases has one case for each call and each kind of bad name, and for each
// kind of unusual name, so that one can be skipped alone. What one provider
// refuses another must not accept: an agent's work moves between them, and a
// policy that compares names relies on one spelling of each.
func nameCases() []testCase {
	cases := []testCase{
		{"root", "N6", 0, rootExists},
		{"root-is-empty", "N6 L1", 0, rootIsEmpty},
		{"longest-element", "N5 N3", needWrite, longestElement},
		{"longest-name", "N5 N3", needWrite, longestName},
		{"deep", "N9 G1 S6 WK1 X4", needWrite, deepName},
		{"deepest", "N5 N3 X4", needWrite | needTime, deepestName},
		{"letter-case", "N5 X1", needWrite, letterCase},
		{"cleaned", "N7", needFiles | needCleaning, cleanedNames},
	}
	for _, theme := range unusualThemes() {
		cases = append(cases,
			testCase{"unusual-" + theme.name, "N5 L1 T1 M1 X1", needWrite, theme.roundTrip},
			testCase{"unusual-" + theme.name + "-in-search", "N5 G1 S6", needFiles, theme.search})
	}
	for _, c := range calls() {
		cases = append(cases,
			testCase{c.name + "-malformed", "N1 N2 N3 N8 E1 E2 E5", needFiles | c.needs, c.refusesMalformed},
			testCase{c.name + "-escape", "N4 E1 E2 E5", needFiles | c.needs, c.refusesEscape})
	}
	return cases
}

// malformedNames are invalid, and also invalid after cleaning if the second
// result says so.
func malformedNames() (all []string, beyondCleaning map[string]bool) {
	long := strings.Repeat("n", ops.MaxElementLength+1)
	worse := []string{
		"a\x00b", "\x00", "a/\x00/b", "a\xffb", "\xc3\x28", "dir/\xed\xa0\x80",
		ops.ReservedPrefix, ops.ReservedPrefix + "x", "dir/" + ops.ReservedPrefix + "x", ops.ReservedPrefix + "x/child",
		long, "dir/" + long, strings.Repeat("d/", ops.MaxNameLength/2) + "e",
	}
	repaired := []string{"", "/", "/file", "file/", "dir/", "dir//child", "./file", "dir/.", "dir/./child", "//file"}
	beyondCleaning = make(map[string]bool)
	for _, name := range worse {
		beyondCleaning[name] = true
	}
	return append(worse, repaired...), beyondCleaning
}

// refusesMalformed tests c with every malformed name. A name that is repaired
// has two spellings, and a rule may deny only one of them; a name that a shell
// or a system call cuts at its NUL is another file.
func (c call) refusesMalformed(e *env) {
	e.given(callTree())
	before := e.tree()
	all, beyondCleaning := malformedNames()
	for _, name := range all {
		if e.opts.CleanNames && !beyondCleaning[name] || name == "" && c.emptyIsRoot() {
			continue
		}
		err := c.do(e.ctx, e.fsys, name)
		e.refused(err, fs.ErrInvalid, at(c.op, name), c.text, name)
	}
	e.unchanged(before, c.text, "a malformed name")
}

// emptyIsRoot reports whether the name of c is an option, whose zero value
// means the root.
func (c call) emptyIsRoot() bool { return c.op == ops.Glob || c.op == ops.Grep }

// refusesEscape tests c with names that have a ".." element. Names that lead
// back inside are refused as well: with a symlink on the way, ".." leads
// somewhere else than the text says. The kind has a name of its own, so that a
// log can tell an attempt from a typing error.
func (c call) refusesEscape(e *env) {
	e.given(callTree())
	before := e.tree()
	for _, name := range []string{"..", "../file", "dir/../../file", "dir/..", "dir/../file", "../../../../../../etc/passwd"} {
		if e.opts.CleanNames && staysInside(name) {
			continue
		}
		err := c.do(e.ctx, e.fsys, name)
		e.refused(err, workspace.ErrEscape, at(c.op, name), c.text, name)
		if !errors.Is(err, fs.ErrInvalid) {
			e.Errorf(c.text+" = %v, want also %q", name, err, fs.ErrInvalid)
		}
	}
	e.unchanged(before, c.text, "an escaping name")
}

// staysInside reports whether name stays in the workspace if it is cleaned. A
// file system that cleans names accepts these.
func staysInside(name string) bool {
	clean := path.Clean(name)
	return clean != ".." && !strings.HasPrefix(clean, "../")
}

// rootExists tests that the root is a directory with the name ".". A bucket
// without an object has no such directory, and a model begins by listing it.
func rootExists(e *env) {
	info := e.stat(".")
	if info.Name != "." || info.Path != "." || !info.IsDir() {
		e.Errorf("Stat(%q) = %+v, want Name and Path %q and a directory", ".", info, ".")
	}
}

// rootIsEmpty tests that a new file system has no files. What a provider keeps
// for itself, such as a marker or "lost+found", must not show.
func rootIsEmpty(e *env) {
	e.equal(e.names(".", nil), []string{}, "Ls(%q) of a new file system", ".")
}

// longestElement tests that an element of 255 bytes works. It counts bytes, not
// characters. A temporary name that is made by adding to it would be too long.
func longestElement(e *env) {
	for _, element := range []string{
		strings.Repeat("n", ops.MaxElementLength), strings.Repeat("é", ops.MaxElementLength/2),
	} {
		e.write(element, "file")
		e.has(element, "file")
		e.write("dir/"+element+"/child", "child")
		e.has("dir/"+element+"/child", "child")
	}
}

// longestName may be more than a store can hold, but then it says so. It has
// 4,096 bytes. On Linux a system call takes 4,095 at most, and a key of S3 has 1,024. An
// error as if the file were missing would make a model write it again.
func longestName(e *env) {
	name := strings.Repeat(strings.Repeat("d", 127)+"/", ops.MaxNameLength/128)
	name = name[:len(name)-1] + "e"
	_, err := e.fsys.WriteFile(e.ctx, name, []byte("deep"), nil)
	call := fmt.Sprintf("WriteFile(a name of %d bytes)", len(name))
	if err != nil {
		e.refused(err, fs.ErrInvalid, at(ops.WriteFile, name), "%s", call)
		return
	}
	e.has(name, "deep")
}

// deepName has as many directories as a name of 512 bytes can have. A recursion
// or a command line that grows with the depth ends before that. Every way of
// listing must get to the bottom, and Rm must not stop half-way.
func deepName(e *env) {
	const dirs = 255
	name := strings.Repeat("d/", dirs) + "f"
	e.write(name, "needle")
	e.has(name, "needle")
	e.equal(e.names(path.Dir(name), nil), []string{"f"}, "Ls(a directory in %d others)", dirs-1)
	e.equal(e.glob("**/f", nil), []string{name}, "Glob(%q)", "**/f")
	e.equal(paths(e.grep("needle", nil).Matches), []string{name}, "Grep(%q)", "needle")
	if all := e.walked(".", "", nil); len(all) != dirs+1 || all[dirs] != name {
		e.Errorf("Walk(%q) reports %d names, want %d directories and the file", ".", len(all), dirs)
	}
	e.rm("d", &workspace.RmOptions{Recursive: true})
	e.equal(e.names(".", nil), []string{}, "Ls(%q) after Rm of the topmost directory", ".")
}

// deepestName may be more than a store can hold, but then it says so.
func deepestName(e *env) {
	name := strings.Repeat("d/", ops.MaxNameLength/2-1) + "f"
	if _, err := e.fsys.WriteFile(e.ctx, name, []byte("deep"), nil); err != nil {
		e.refused(err, fs.ErrInvalid, at(ops.WriteFile, name), "WriteFile(a name of %d elements)", ops.MaxNameLength/2)
		return
	}
	e.has(name, "deep")
	e.rm("d", &workspace.RmOptions{Recursive: true})
	e.equal(e.names(".", nil), []string{}, "Ls(%q) after Rm of the topmost directory", ".")
}

// letterCase has names that differ in the case of their letters only. On a
// store that ignores case, writing "README" replaces "readme". Folding rules
// differ, so there are also letters that are not ASCII, and one that some rules
// fold to two.
func letterCase(e *env) {
	tree := make(files)
	for _, name := range []string{"readme", "README", "Readme", "dir/file", "DIR/file", "Dir/File", "é", "É", "ß", "SS", "ss"} {
		e.write(name, "content of "+name)
		tree[name] = "content of " + name
	}
	tree["dir/"], tree["DIR/"], tree["Dir/"] = "", "", ""
	e.leaves(tree, "WriteFile of names that differ in case")
	for _, name := range []string{"readMe", "dir/FILE", "DIr"} {
		_, err := e.fsys.Stat(e.ctx, name)
		e.refused(err, fs.ErrNotExist, at(ops.Stat, name), "Stat(%q)", name)
	}
	e.rm("Readme", nil)
	e.rm("DIR", &workspace.RmOptions{Recursive: true})
	for _, name := range []string{"Readme", "DIR/", "DIR/file"} {
		delete(tree, name)
	}
	e.leaves(tree, "Rm(%q) and Rm(%q, Recursive)", "Readme", "DIR")
}

// cleanedNames tests the names that only a file system that cleans names
// accepts. Models write "/src/main.go" and "./src/main.go" for the same file.
// Whatever they write, results have the one clean name, so that it can be
// compared.
func cleanedNames(e *env) {
	e.given(files{"file": "content", "dir/child": "child"})
	for _, name := range []string{"/file", "./file", "file/", "//file", "dir/../file", "/./dir/..//file"} {
		e.has(name, "content")
		if info := e.stat(name); info.Path != "file" {
			e.Errorf("Stat(%q).Path = %q, want %q", name, info.Path, "file")
		}
	}
	for _, name := range []string{"", "/", ".", "./", "dir/.."} {
		e.equal(e.names(name, nil), []string{"dir", "file"}, "Ls(%q)", name)
	}
	if _, err := e.fsys.ReadFile(e.ctx, "/none"); err != nil {
		e.refused(err, fs.ErrNotExist, at(ops.ReadFile, "none"), "ReadFile(%q)", "/none")
	}
}

// unusualTheme is names that are valid and that some store, shell, URL or
// protocol trips over, for one reason.
type unusualTheme struct {
	name     string
	elements []string
}

// unusualThemes returns names that have made trouble somewhere, by the kind of
// trouble.
func unusualThemes() []unusualTheme {
	return []unusualTheme{
		// Trimmed by what reads lines or headers, and split by a shell.
		{"spaces", []string{" ", "  two  ", " lead", "trail ", "in side", "\u00a0"}},
		// A line break ends a name where names are read line by line.
		{"control", []string{"tab\there", "line\nbreak", "\n", "car\rriage", "end\r", "\x01\x1b[31m\x7f", "\u2028"}},
		// Read as options, or expanded, where a name is not quoted.
		{"shell", []string{"-", "-rf", "--help", "~", "~root", "$HOME", "`id`", "$(id)", "semi;colon", "pipe|pipe", "amp&and", "!bang", "(", ")", "<tag>", "#hash"}},
		// End a quote too early, or begin an escape.
		{"quotes", []string{"it's", "'", `"quoted"`, `"`, `back\slash`, `\`, `\\server\share`, `new\nline`}},
		// Decoded twice or not at all in a request; "a:b" and "C:" look like a scheme and
		// a drive.
		{"url", []string{"%s%n", "%2e%2e", "%2F", "%", "+", "a+b c", "query?x=1", "a=b", "@at", "^caret", "comma,comma", "a:b", "C:"}},
		// Matched as a glob where a name was meant, which finds or removes other files.
		{"pattern", []string{"*", "**", "?", "[a]", "[", "]", "{a,b}", "{", "}", "[!a]"}},
		// Hidden by listings, regarded as "..", as a device, or as a temporary file of
		// ours.
		{"dots", []string{".hidden", "...", "..a", "a..", ".a.", "a.", "con", "nul.txt", ".git", ".gitignore", ".workspacekit-tmp", "x.workspacekit-tmp-x"}},
		// Normalized, so that two names become one; or shown in another order than they
		// are stored.
		{"unicode", []string{"é", "e\u0301", "日本語", "ß", "İ", "🙂", "👩‍👩‍👧", "\u202e", "\ufeff", "שלום", "\U0010ffff"}},
		// XML, in which S3 lists keys, has no U+FFFE, no U+FFFF and few controls.
		{"code-points", []string{
			"\x01", "\x08", "\x0b", "\x0c", "\x0e", "\x1f", "\x7f", "\u0080", "\u0085", "\u009f", // controls
			"\ufdd0", "\ufdef", "\ufffe", "\uffff", "a\uffff", "\uffffa", "\U0001fffe", "\U0001ffff", "\U0010fffe", // noncharacters
			"\ufffd", "\ufffda", "\ufffd\U0010ffff", "\ufffd\U0010ffffE", // the replacement character, and what follows it
			"\ud7ff", "\ue000", "\uf8ff", "\U000f0000", "\U00010000", "\U0010fffd", // beside the surrogates, private use, other planes
			"\u200e", "\u200f", "\u2066", "\u061c", "a\ufeff", // directions, byte order mark
		}},
	}
}

// roundTrip makes files and directories of the names, in files of the names,
// and finds them again by every way. Directories are separate from files,
// because in a bucket their keys are, and the names are last in one tree and in
// the middle of another. At last each is removed alone, which must not remove
// its neighbours.
func (theme unusualTheme) roundTrip(e *env) {
	for _, name := range theme.elements {
		for _, full := range []string{name, "dir/" + name, "deep/" + name + "/" + name} {
			e.write(full, "content of "+full)
		}
		e.mkdir("empty/"+name, &workspace.MkdirOptions{Recursive: true})
	}
	for _, name := range theme.elements {
		for _, full := range []string{name, "dir/" + name, "deep/" + name + "/" + name} {
			e.has(full, "content of "+full)
			if info := e.stat(full); info.Name != name || info.Path != full || info.Type != workspace.TypeFile {
				e.Errorf("Stat(%q) = %+v, want that Name and Path and a file", full, info)
			}
		}
		e.equal(e.names("deep/"+name, nil), []string{name}, "Ls(%q)", "deep/"+name)
		e.equal(e.names("empty/"+name, nil), []string{}, "Ls(%q)", "empty/"+name)
	}
	for _, dir := range []string{"dir", "deep", "empty"} {
		e.equal(e.names(dir, nil), sorted(theme.elements), "Ls(%q)", dir)
	}
	for _, name := range theme.elements {
		e.rm("dir/"+name, nil)
	}
	e.equal(e.names("dir", nil), []string{}, "Ls(%q) after each was removed", "dir")
}

// search finds the names by Glob and Grep. Search programs get names on their
// command lines and return them in their output, where names that ReadFile can
// read may be lost.
func (theme unusualTheme) search(e *env) {
	tree := make(files)
	want := []string{}
	for _, name := range theme.elements {
		tree["dir/"+name] = "needle\n"
		want = append(want, "dir/"+name)
	}
	e.given(tree)
	e.equal(e.glob("dir/*", nil), sorted(want), "Glob(%q)", "dir/*")
	result := e.grep("needle", &workspace.GrepOptions{Path: "dir"})
	e.equal(paths(result.Matches), sorted(want), "Grep(%q, Path: %q)", "needle", "dir")
	for _, name := range want {
		result := e.grep("needle", &workspace.GrepOptions{Path: name})
		e.equal(paths(result.Matches), []string{name}, "Grep(%q, Path: %q)", "needle", name)
	}
}
