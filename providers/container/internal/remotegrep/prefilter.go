package remotegrep

import (
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
