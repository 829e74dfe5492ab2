package localbash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// maxWriteAttempts bounds how often an operation that others disturb begins
// again.
const maxWriteAttempts = 10

// WriteFile implements [workspace.FileSystem]. A read-only file is
// [fs.ErrPermission], as it is for any program that writes to it in place.
func (f *FS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	o, err := f.checkWrite(ctx, workspace.OpWriteFile, name, opts)
	if err != nil {
		return "", err
	}
	for attempt := 1; ; attempt++ {
		version, err := f.writeOnce(ctx, name, data, o)
		if !errors.Is(err, errOvertaken) || attempt == maxWriteAttempts {
			return version, f.fault(workspace.OpWriteFile, name, err)
		}
	}
}

func (f *FS) checkWrite(ctx context.Context, op, name string, opts *workspace.WriteOptions) (workspace.WriteOptions, error) {
	var o workspace.WriteOptions
	if opts != nil {
		o = *opts
	}
	if err := o.Check(op, name); err != nil {
		return o, err
	}
	return o, f.check(ctx, op, name)
}

func (f *FS) writeOnce(ctx context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	d, err := f.begin(ctx, name, opts, newPerm)
	if err != nil {
		return "", err
	}
	defer d.discard()
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := d.file.Write(data[:min(len(data), writeChunk)])
		if err != nil {
			return "", err
		}
		data = data[n:]
	}
	return d.commit(ctx)
}

// writeChunk is how much is written between two looks at the context.
const writeChunk = 4 << 20

// writeTarget returns where a write of name takes place: the directory, and
// the name in it. A symlink stands for its target, unless the write asks that
// nothing has the name.
func (f *FS) writeTarget(ctx context.Context, name string, opts workspace.WriteOptions) (dir, base string, err error) {
	if opts.IfNotExist {
		dir, base = workspace.Split(name)
		return dir, base, nil
	}
	s, err := f.lstat(name)
	if err == nil && s.kind == workspace.TypeSymlink {
		if name, err = f.linkTarget(ctx, name); errors.Is(err, fs.ErrNotExist) {
			err = errOvertaken
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	if isReserved(name) {
		return "", "", fmt.Errorf("%w: a symlink leads to a reserved name", fs.ErrInvalid)
	}
	dir, base = splitUnclean(name)
	return dir, base, nil
}

// isReserved reports whether an element of name is that of a temporary file.
func isReserved(name string) bool {
	return strings.HasPrefix(name, workspace.ReservedPrefix) || strings.Contains(name, "/"+workspace.ReservedPrefix)
}

// linkTarget returns the name of what the symlink name leads to, there or not.
func (f *FS) linkTarget(ctx context.Context, name string) (string, error) {
	if f.exact {
		return "", workspace.ErrSymlink
	}
	if relaxed, ok := f.host.(plain); ok {
		return relaxed.linkTarget(name)
	}
	return f.resolve(ctx, name)
}

// linkTarget follows the last element only, as the operating system follows
// the others.
func (p plain) linkTarget(name string) (string, error) {
	for range maxLinks {
		target, err := p.Readlink(name)
		if err != nil {
			return name, nil
		}
		name = p.besides(name, target)
	}
	return "", fmt.Errorf("%w: too many symlinks", fs.ErrInvalid)
}
