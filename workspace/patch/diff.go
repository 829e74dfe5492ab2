package patch

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// parseDiff reads a unified diff.
func parseDiff(text string) ([]section, error) {
	text = headersWithLF(text)
	if err := checkHeaders(text); err != nil {
		return nil, err
	}
	parsed, _, err := gitdiff.Parse(strings.NewReader(text))
	if err != nil {
		return nil, diffError(err)
	}
	files, prefixed := make([]section, len(parsed)), prefixedNames(text)
	for i, f := range parsed {
		if files[i], err = diffSection(f, prefixed); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// hunkHeader matches the header of a hunk, with its numbers of lines.
var hunkHeader = lazyregexp.New(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// headersWithLF returns a diff without the "\r" at the ends of lines outside of hunks, where
// it ends a name for git. In "diff --git" it stays, as git finds no name there.
func headersWithLF(text string) string {
	if !strings.Contains(text, "\r\n") {
		return text
	}
	var out strings.Builder
	old, now := 0, 0 // lines of the hunk that are still to come
	for line := range strings.Lines(text) {
		switch {
		case old <= 0 && now <= 0:
			if m := hunkHeader().FindStringSubmatch(line); m != nil {
				old, _ = strconv.Atoi(cmp.Or(m[1], "1")) // which are digits
				now, _ = strconv.Atoi(cmp.Or(m[2], "1"))
			}
			if body, ok := strings.CutSuffix(line, "\r\n"); ok && !strings.HasPrefix(line, "diff --git ") {
				line = body + "\n"
			}
		case line[0] == '-':
			old--
		case line[0] == '+':
			now--
		case line[0] != '\\':
			old--
			now--
		}
		out.WriteString(line)
	}
	return out.String()
}

// checkHeaders refuses a hunk after "diff --git" without "---" and "+++", as git does. The
// library reads it. It also refuses names there without git's prefixes: the library cuts the
// first directory, whatever it is, and another file would change.
func checkHeaders(text string) error {
	named, number := true, 0
	names := "" // of "diff --git", until its first hunk
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "diff --git "):
			named, names = false, line[len("diff --git "):]
			if !prefixed(names) {
				return &SyntaxError{Line: number, Reason: fmt.Sprintf("%q: the names need git's prefixes, such as a/ and b/: a diff of git --no-prefix is not applied", line)}
			}
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- ") && names != "":
			named = named || line[0] == '+'
			name, _, _ := strings.Cut(line[len("+++ "):], "\t")
			if names != "" && name != "/dev/null" && !strings.HasPrefix(names, name+" ") && !strings.HasSuffix(names, " "+name) {
				return &SyntaxError{Line: number, Reason: fmt.Sprintf("%q: the name is none of diff --git %s", line, names)}
			}
		case strings.HasPrefix(line, "@@ -"):
			if !named {
				return &SyntaxError{Line: number, Reason: `a hunk without "---" and "+++" before it`}
			}
			names = ""
		}
	}
	return nil
}

// gitPrefixes matches names of "diff --git" with the prefixes that git writes: a/ and b/, or
// those of diff.mnemonicPrefix.
var gitPrefixes = lazyregexp.New(`^(/dev/null|"?[abciow12]/.*) (/dev/null$|"?[abciow12]/)`)

// prefixed reports whether the two names of "diff --git" have prefixes. Those of a diff without
// are the same, such as "a/x a/x".
func prefixed(names string) bool {
	half := len(names) / 2
	return gitPrefixes().MatchString(names) && names[:half] != names[half+1:]
}

// lineOfError matches the errors of the library.
var lineOfError = lazyregexp.New(`^gitdiff: line (\d+): (.*)$`)

// diffError is the error of a diff that the library cannot read.
func diffError(err error) error {
	m := lineOfError().FindStringSubmatch(err.Error())
	if m == nil {
		return &SyntaxError{Reason: strings.TrimPrefix(err.Error(), "gitdiff: ")}
	}
	line, _ := strconv.Atoi(m[1]) // which are digits
	return &SyntaxError{Line: line, Reason: strings.TrimSpace(m[2])}
}

// prefixedNames returns the names that a header without one of git has with git's
// prefixes: "b/x" if it has "--- a/x" and "+++ b/x". The library returns one of the two
// names, and the prefix may be a directory. It has cut those of a header of git.
func prefixedNames(text string) map[string]bool {
	names := map[string]bool{}
	old, git := "", false
	for line := range strings.Lines(text) {
		git = strings.HasPrefix(line, "diff --git ") || git && !strings.HasPrefix(line, "@@ -")
		if now, ok := headerName(line, "+++ "); ok && !git && old != "" && now == "b/"+strings.TrimPrefix(old, "a/") {
			names[now] = true
		}
		old, _ = headerName(line, "--- ")
	}
	return names
}

// headerName returns the name on a line of a header that begins with mark.
func headerName(line, mark string) (name string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimRight(line, "\r\n"), mark)
	if quoted, err := strconv.QuotedPrefix(name); err == nil {
		name, _ = strconv.Unquote(quoted) // which QuotedPrefix has checked
		return name, ok
	}
	name, _, _ = strings.Cut(name, "\t")
	return name, ok
}

// diffSection returns what a diff says about one file. A diff has a header of
// git if it has something that only git writes: an object id, a mode, a rename
// or a copy. Its names are then without "a/" and "b/" already. Without one, a
// single hunk that expects no line may also create the file.
func diffSection(f *gitdiff.File, prefixed map[string]bool) (section, error) {
	s := section{kind: Modified, old: f.OldName, new: f.NewName, exact: true}
	switch {
	case f.IsNew:
		s.kind, s.old = Added, ""
	case f.IsDelete:
		s.kind, s.new = Deleted, ""
	case f.IsRename:
		s.kind = Renamed
	case f.IsCopy:
		s.kind = Copied
	}
	if f.IsCopy && f.IsRename {
		return s, &SyntaxError{Reason: s.name() + ": it is both a copy and a rename"}
	}
	git := f.OldOIDPrefix != "" || f.OldMode != 0 || f.NewMode != 0 || f.IsRename || f.IsCopy
	if !git {
		s.old, s.new = plainNames(s.old, s.new, prefixed)
		s.maybeNew = s.kind == Modified && len(f.TextFragments) == 1 && f.TextFragments[0].OldLines == 0
	}
	name := s.name()
	if f.IsBinary {
		return s, &SyntaxError{Reason: name + ": binary changes are not applied; write the file instead"}
	}
	if err := s.checkModes(f); err != nil {
		return s, err
	}
	if s.kind == Modified && s.old != s.new {
		return s, &SyntaxError{Reason: fmt.Sprintf("%s and %s: two names, and no rename", s.old, s.new)}
	}
	if s.kind == Modified && len(f.TextFragments) == 0 && (f.OldMode == 0 || f.NewMode == 0 || f.OldMode == f.NewMode) {
		return s, &SyntaxError{Reason: name + ": there is no hunk"}
	}
	for _, fragment := range f.TextFragments {
		s.hunks = append(s.hunks, diffHunk(fragment))
	}
	return s, nil
}

// name returns the name that errors and changes show.
func (s *section) name() string {
	if s.new == "" {
		return s.old
	}
	return s.new
}

// read returns the name of the file that the hunks must apply to.
func (s *section) read() string { return cmp.Or(s.old, s.new) }

// checkModes returns the error of what is no file, and notes that modes do not change.
func (s *section) checkModes(f *gitdiff.File) error {
	for _, mode := range []os.FileMode{f.OldMode, f.NewMode} {
		// The library keeps the bits of git: 100644, 120000 for a symlink, 160000 for a submodule.
		if mode != 0 && mode&gitType != gitFile {
			return &SyntaxError{Reason: s.name() + ": it is a symlink or a submodule, which a patch cannot change here"}
		}
	}
	if f.NewMode != 0 && f.NewMode != f.OldMode && (s.kind != Added || f.NewMode&0o111 != 0) {
		s.notes = append(s.notes, fmt.Sprintf("mode %o not set", f.NewMode&0o777))
	}
	return nil
}

// The bits of git's modes that tell files from symlinks and submodules.
const (
	gitType = 0o170000
	gitFile = 0o100000
)

// plainNames returns the names of a file without git's prefixes "a/" and "b/", for a diff
// that has no header of git.
func plainNames(old, now string, prefixed map[string]bool) (string, string) {
	switch {
	case old == "":
		return "", strings.TrimPrefix(now, "b/")
	case now == "":
		return strings.TrimPrefix(old, "a/"), ""
	case prefixed[old] && prefixed[now]:
		return old[len("b/"):], now[len("b/"):]
	}
	return old, now
}

// diffHunk returns a hunk of a diff. As for git, one that begins at the first line must
// be there, and one that ends without context must be at the end of the file.
//
// The place is that in the new file, since the hunks before it have been
// applied by the time that it is looked for.
func diffHunk(f *gitdiff.TextFragment) hunk {
	h := hunk{
		label: strings.TrimRight(f.Header(), "\n"), at: int(max(f.NewPosition-1, 0)),
		atStart: f.OldPosition <= 1, atEnd: f.TrailingContext == 0,
	}
	for _, line := range f.Lines {
		h.lines = append(h.lines, patchLine{" -+"[line.Op], line.Line})
	}
	return h
}
