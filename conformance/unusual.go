package conformance

import "github.com/workspacekit/workspacekit/workspace"

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
		{"spaces", []string{" ", "  two  ", " lead", "trail ", "in side", "\u00a0"}},
		{"control", []string{"tab\there", "line\nbreak", "\n", "car\rriage", "end\r", "\x01\x1b[31m\x7f", "\u2028"}},
		{"shell", []string{"-", "-rf", "--help", "~", "~root", "$HOME", "`id`", "$(id)", "semi;colon", "pipe|pipe", "amp&and", "!bang", "(", ")", "<tag>", "#hash"}},
		{"quotes", []string{"it's", "'", `"quoted"`, `"`, `back\slash`, `\`, `\\server\share`, `new\nline`}},
		{"url", []string{"%s%n", "%2e%2e", "%2F", "%", "+", "a+b c", "query?x=1", "a=b", "@at", "^caret", "comma,comma", "a:b", "C:"}},
		{"pattern", []string{"*", "**", "?", "[a]", "[", "]", "{a,b}", "{", "}", "[!a]"}},
		{"dots", []string{".hidden", "...", "..a", "a..", ".a.", "a.", "con", "nul.txt", ".git", ".gitignore", ".workspacekit-tmp", "x.workspacekit-tmp-x"}},
		{"unicode", []string{"é", "e\u0301", "日本語", "ß", "İ", "🙂", "👩‍👩‍👧", "\u202e", "\ufeff", "שלום", "\U0010ffff"}},
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
// and finds them again by every way.
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

// search finds the names by Glob and Grep.
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
