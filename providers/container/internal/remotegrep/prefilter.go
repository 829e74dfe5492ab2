package remotegrep

import (
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/workspace"
)

// prefilter says which files a search can need, and perhaps more.
type prefilter struct {
	pattern string // what is searched for
	how     lines.Options
	maxSize int64
	after   string // files before it are not needed
	noGit   bool
	few     bool      // not all matches are wanted
	first   bool      // of each file only the first match is wanted
	whole   bool      // lines that match are not enough
	include *fileGlob // nil for all
	exclude *fileGlob // nil for none
	hidden  *scan.Names
}

// prefilterOf returns what o says about the files. The search itself refuses what is
// malformed.
func prefilterOf(pattern string, o workspace.GrepOptions, hidden scan.Hidden) *prefilter {
	return &prefilter{
		pattern: pattern, how: lines.Options{Literal: o.Literal, IgnoreCase: o.IgnoreCase, Multiline: o.Multiline},
		maxSize: o.MaxFileSize, after: o.StartAfter.Path, noGit: o.Gitignore,
		few: o.MaxResults > 0, first: o.FirstOnly && !o.Count, whole: o.Before > 0 || o.After > 0 || o.Multiline,
		include: newFileGlob(o.IncludeGlob), exclude: newFileGlob(o.ExcludeGlob),
		hidden: scan.NewNames(hidden, o.Path),
	}
}

// wants reports whether a search can need the file path. It is not safe for
// concurrent use.
func (n *prefilter) wants(path string, e *program.Entry) bool {
	switch {
	case e.Kind != workspace.TypeFile, path < n.after, n.maxSize > 0 && e.Size > n.maxSize:
		return false
	case n.noGit && (strings.HasPrefix(path, ".git/") || strings.Contains(path, "/.git/")):
		return false
	}
	below := e.Name // from where the search begins
	return (n.include == nil || n.include.match(below)) && (n.exclude == nil || !n.exclude.match(below)) && !n.hidden.Hides(path, false)
}

// fileGlob is a glob on the name of a file, or on its path.
type fileGlob struct {
	pattern *glob.Pattern
	path    bool
}

// newFileGlob returns nil for an empty pattern and a malformed one.
func newFileGlob(pattern string) *fileGlob {
	compiled, err := glob.Compile(strings.TrimPrefix(pattern, "/"))
	if pattern == "" || err != nil {
		return nil
	}
	return &fileGlob{pattern: compiled, path: strings.Contains(pattern, "/")}
}

func (g *fileGlob) match(path string) bool {
	if !g.path {
		_, path = workspace.Split(path)
	}
	return g.pattern.Match(path)
}

// expressionFor returns how grep finds every line that can match, or every file with
// a match that can span lines, as options and a pattern; nothing if all files have
// to be read. grep may find more, unless it is exact.
//
//	pattern            options   pattern for grep
//	needle             -F        needle, and that is exact
//	(?i)needle|thread  -F -i     needle and thread, a line each
//	need.e             -E        need.{1,4}e
//	needle\n +thread   -F        needle: only one of the lines is looked for
//	^                  none: no byte has to be there
func expressionFor(i *program.Image, f *prefilter) (options, pattern string, exact bool) {
	tree, err := lines.Parse(f.pattern, f.how)
	if err != nil {
		return "", "", false
	}
	required := lines.RequiredBy(tree)
	for i, text := range required.Texts {
		required.Texts[i] = longestLine(text)
	}
	useless := func(text string) bool { return text == "" || strings.Contains(text, "\x00") }
	known := len(required.Texts) > 0 && !slices.ContainsFunc(required.Texts, useless)
	switch {
	case known && (required.Exact || f.how.Multiline || !i.Bytes):
		options = "-F"
		if required.Fold {
			options += " -i"
		}
		return options, strings.Join(required.Texts, "\n"), required.Exact && !required.Fold
	case !i.Bytes, f.how.Multiline:
		return "", "", false
	}
	if pattern = extended(tree); pattern == "" {
		return "", "", false
	}
	return "-E", pattern, false
}

// longestLine returns the line of text that says most about where text can be.
func longestLine(text string) string {
	return slices.MaxFunc(strings.Split(text, "\n"), func(a, b string) int { return len(a) - len(b) })
}
