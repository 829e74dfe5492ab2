package scan

import (
	"strings"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/workspace"
)

// filter chooses the files that a search looks into.
type filter struct {
	include, exclude *fileGlob // nil for none
}

// fileGlob is a glob on the name of a file, or on its path.
type fileGlob struct {
	pattern *glob.Pattern
	path    bool
}

func newFilter(include, exclude string) (f filter, err error) {
	if f.include, err = newFileGlob(include); err != nil {
		return filter{}, err
	}
	f.exclude, err = newFileGlob(exclude)
	return f, err
}

func newFileGlob(pattern string) (*fileGlob, error) {
	if pattern == "" {
		return nil, nil
	}
	path := strings.Contains(pattern, "/")
	compiled, err := glob.Compile(strings.TrimPrefix(pattern, "/"))
	if err != nil {
		return nil, workspace.NewPathError(workspace.OpGrep, pattern, nil, err)
	}
	return &fileGlob{pattern: compiled, path: path}, nil
}

// wants reports whether the file name of the directory in is to be searched.
func (f filter) wants(in *folder, name string) bool {
	if f.include != nil && !f.include.match(in, name) {
		return false
	}
	return f.exclude == nil || !f.exclude.match(in, name)
}

func (g *fileGlob) match(in *folder, name string) bool {
	if g.path {
		return g.pattern.Match(in.join(name))
	}
	return g.pattern.Match(name)
}
