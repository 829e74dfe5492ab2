// Package fallback has the hard methods of a [workspace.FileSystem] for
// providers whose store does not help with them. [Walk], [Glob], [Grep] and
// [Poll] take a FileSystem, call nothing but its Ls, Stat and ReadFile (or
// ReadVersioned, Resolve and, in Poll, Walk, if it has them), and honour every
// option of the contract. A provider delegates to them in one line each.
//
//	result, err := fallback.Grep(ctx, fsys, "milk|bread", nil)
package fallback

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// Walk is a [workspace.Walker].Walk by Ls, one call for each directory, in
// pages. It never calls fsys's own Walk.
//
// # Errors
//
// Those of [workspace.Walker].
func Walk(ctx context.Context, fsys workspace.FileSystem, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return workspace.Walk(ctx, plain{fsys}, dir, opts, fn)
}

// plain hides the optional interfaces of a FileSystem.
type plain struct{ workspace.FileSystem }

// Glob is a [workspace.FileSystem].Glob by Ls, one call for each directory in
// which pattern can match, and ReadFile for ".gitignore" files if opts asks for
// them.
//
// # Errors
//
// Those of [workspace.FileSystem].Glob.
func Glob(ctx context.Context, fsys workspace.FileSystem, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return scan.Glob(ctx, source{fsys}, pattern, opts, nil)
}

// grepWorkers is how many files a Grep reads at a time. It hides the latency of a
// store over a network.
const grepWorkers = 16

// Grep is a [workspace.FileSystem].Grep by Ls and by one read for each file that
// the globs of opts want, several at a time. If opts limits the size of files, it
// reads by [workspace.ReadVersioned], so that larger files are not read.
//
// # Errors
//
// Those of [workspace.FileSystem].Grep.
func Grep(ctx context.Context, fsys workspace.FileSystem, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return scan.Grep(ctx, source{fsys}, pattern, opts, grepWorkers, nil)
}

// source shows any FileSystem to the search engine.
type source struct{ fsys workspace.FileSystem }

// List implements [scan.Source] with Ls.
func (s source) List(ctx context.Context, dir string, _ bool) ([]scan.Child, error) {
	infos, err := s.fsys.Ls(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	children := make([]scan.Child, len(infos))
	for i, info := range infos {
		children[i] = scan.Child{Name: info.Name, Type: info.Type}
	}
	return children, nil
}

// Read implements [scan.Source] with ReadVersioned, which has a limit. What is not read for
// its text is an ignore file, which no listing need have shown.
func (s source) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	if !opts.Top && !opts.Text {
		info, err := s.fsys.Stat(ctx, name)
		if err == nil && info.Type == workspace.TypeSymlink {
			err = workspace.ErrSymlink
		}
		if err != nil {
			return nil, err
		}
	}
	if opts.Limit == 0 {
		return s.fsys.ReadFile(ctx, name)
	}
	data, _, err := workspace.ReadVersioned(ctx, s.fsys, name, opts.Limit)
	return data, err
}

// Stat implements [scan.Source] with Resolve and Stat.
func (s source) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	info, err := s.fsys.Stat(ctx, name)
	if err != nil || info.Type != workspace.TypeSymlink {
		return info.Type, err
	}
	target, err := workspace.Resolve(ctx, s.fsys, name)
	if err != nil {
		return "", err
	}
	info, err = s.fsys.Stat(ctx, target)
	return info.Type, err
}
