package localbash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/workspacekit/workspacekit/workspace"
)

// maxLinks is how many symlinks are followed before they are taken for a loop,
// as Linux does.
const maxLinks = 40

// Resolve implements [workspace.Resolver]. A relaxed FS, too, resolves only
// what lies in the folder.
func (f *FS) Resolve(ctx context.Context, name string) (string, error) {
	if err := f.check(ctx, workspace.OpResolve, name); err != nil {
		return "", err
	}
	resolved, err := f.resolve(ctx, name)
	return resolved, f.fault(workspace.OpResolve, name, err)
}

func (f *FS) resolve(ctx context.Context, name string) (string, error) {
	r := resolution{lstat: f.lstat, readlink: f.host.Readlink, fromRoot: f.fromRoot}
	return r.run(ctx, name)
}

// resolution is a walk along a name.
type resolution struct {
	lstat    func(name string) (stamp, error)
	readlink func(link string) (string, error)
	fromRoot func(target string) (string, error) // turns an absolute target into a path from the folder

	at    string   // so far, without symlinks
	rest  []string // the elements to come
	links int      // followed so far
}

// run returns name without the symlinks in it.
func (r *resolution) run(ctx context.Context, name string) (string, error) {
	r.at, r.rest = ".", strings.Split(filepath.ToSlash(name), "/")
	for len(r.rest) > 0 {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := r.step(); err != nil {
			return "", err
		}
	}
	return r.at, nil
}

// step takes the next element.
func (r *resolution) step() error {
	element := r.rest[0]
	r.rest = r.rest[1:]
	switch element {
	case "", ".":
		return nil
	case "..":
		return r.up()
	}
	next := workspace.Join(r.at, element)
	s, err := r.lstat(next)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.at = next
		return nil
	case err != nil:
		return err
	case s.kind == workspace.TypeSymlink:
		return r.follow(next)
	case s.kind != workspace.TypeDirectory && slices.Contains(r.rest, ".."):
		return workspace.ErrNotDir
	case s.kind != workspace.TypeDirectory: // nothing exists below it
		next, r.rest = path.Join(next, path.Join(r.rest...)), nil
	}
	r.at = next
	return nil
}

// up goes to the parent directory.
func (r *resolution) up() error {
	if r.at == "." {
		return workspace.ErrEscape
	}
	r.at = path.Dir(r.at)
	return nil
}

// follow goes on with the target of link.
func (r *resolution) follow(link string) error {
	r.links++
	if r.links > maxLinks {
		return fmt.Errorf("%w: %w", fs.ErrInvalid, syscall.ELOOP)
	}
	target, err := r.readlink(link)
	if err != nil {
		return err
	}
	if filepath.IsAbs(target) {
		if target, err = r.fromRoot(target); err != nil {
			return err
		}
		r.at = "."
	}
	r.rest = append(strings.Split(filepath.ToSlash(target), "/"), r.rest...)
	return nil
}

// fromRoot returns the absolute target as a path from the folder.
func (f *FS) fromRoot(target string) (string, error) {
	if !f.relaxed {
		return "", workspace.ErrEscape
	}
	real, err := filepath.EvalSymlinks(filepath.FromSlash(f.root))
	if err != nil {
		return "", err
	}
	for _, root := range []string{f.root, filepath.ToSlash(real)} {
		rest, ok := strings.CutPrefix(filepath.ToSlash(target)+"/", strings.TrimSuffix(root, "/")+"/")
		if ok {
			return rest, nil
		}
	}
	return "", workspace.ErrEscape
}
