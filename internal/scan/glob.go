package scan

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/workspace"
)

// Glob is [workspace.FileSystem].Glob over src.
func Glob(ctx context.Context, src Source, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	var o workspace.GlobOptions
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	if err := workspace.Check(ctx, workspace.OpGlob, o.Dir); err != nil {
		return nil, err
	}
	if err := CheckGlob(pattern, o); err != nil {
		return nil, err
	}
	compiled, err := compileGlob(pattern)
	if err != nil {
		return nil, err
	}
	g := globber{after: o.After, limit: o.Limit, dirs: compiled.Dirs(), paths: []string{}}
	w := &walk{
		explorer: explorer{ctx: ctx, src: src, pattern: compiled, begin: o.After, gitignore: o.Gitignore},
		visit:    g.visit,
	}
	if err := w.run(o.Dir); err != nil && !errors.Is(err, fs.SkipAll) {
		return nil, workspace.RenameError(err, workspace.OpGlob, o.Dir)
	}
	return g.paths, nil
}

// CheckGlob returns the [fs.ErrInvalid] error of options that no search can
// honour.
func CheckGlob(pattern string, o workspace.GlobOptions) error {
	if o.Limit < 0 {
		return workspace.NewPathError(workspace.OpGlob, pattern, fs.ErrInvalid, errors.New("negative limit"))
	}
	return nil
}

// compileGlob compiles a pattern of the caller's.
func compileGlob(pattern string) (*glob.Pattern, error) {
	compiled, err := glob.Compile(pattern)
	if err != nil {
		return nil, workspace.NewPathError(workspace.OpGlob, pattern, nil, err)
	}
	return compiled, nil
}

// globber collects the paths that a walk finds.
type globber struct {
	after string // paths up to it are not wanted
	limit int
	dirs  bool
	paths []string
}

func (g *globber) visit(in *folder, child Child) error {
	if !g.wants(child.Type) || !in.match.Match(child.Name) {
		return nil
	}
	path := in.join(child.Name)
	if g.after != "" && path <= g.after {
		return nil
	}
	g.paths = append(g.paths, path)
	if len(g.paths) == g.limit {
		return fs.SkipAll
	}
	return nil
}

func (g *globber) wants(t workspace.FileType) bool {
	if g.dirs {
		return t == workspace.TypeDirectory
	}
	return t == workspace.TypeFile || t == workspace.TypeSymlink
}
