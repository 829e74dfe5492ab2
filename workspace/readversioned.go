package workspace

import (
	"context"
	"errors"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// VersionedReader is implemented by a [FileSystem] that can return bytes together
// with their version.
type VersionedReader interface {
	// ReadVersioned is ReadFile with the version of exactly the bytes it
	// returns. A file larger than limit bytes is refused before it is read into
	// memory; zero means no limit.
	//
	// # Errors
	//
	// Those of [FileSystem].ReadFile, [ErrTooLarge], and [io/fs.ErrInvalid] for
	// a negative limit.
	ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, Version, error)
}

// ReadVersioned reads name and its version by fsys's [VersionedReader].
// Without one it asks for the version, reads, and asks for the version again,
// until both are equal; if fsys has no versions, the version is empty.
//
// # Errors
//
// Those of [VersionedReader], and [ErrUnavailable] if fsys declares versions
// and the file has none, or if the file has changed during each of a thousand reads.
func ReadVersioned(ctx context.Context, fsys FileSystem, name string, limit int64) ([]byte, Version, error) {
	if reader, ok := As[VersionedReader](fsys); ok {
		return reader.ReadVersioned(ctx, name, limit)
	}
	for range maxAttempts {
		data, version, stable, err := readBetweenStats(ctx, fsys, name, limit)
		switch {
		case err != nil:
			return nil, "", err
		case stable && version == "" && CapabilitiesOf(fsys).Versions:
			return nil, "", noVersionError(ops.ReadFile, name)
		case stable:
			return data, version, nil
		}
	}
	return nil, "", ops.Error(ops.ReadFile, name, ErrUnavailable, errors.New("it changes whenever it is read"))
}

// readBetweenStats reads name once. stable says that the version was the same
// before and after. A symlink is read by the name of its target, so that the
// bytes are of the file that has the version.
func readBetweenStats(ctx context.Context, fsys FileSystem, name string, limit int64) (data []byte, version Version, stable bool, err error) {
	target, before, err := statFile(ctx, fsys, name)
	if err != nil {
		return nil, "", false, err
	}
	if err := ops.CheckSize(ops.ReadFile, name, before.Size, limit); err != nil {
		return nil, "", false, err
	}
	data, err = fsys.ReadFile(ctx, target)
	if err != nil {
		return nil, "", false, ops.Rename(err, "", name)
	}
	if err := ops.CheckSize(ops.ReadFile, name, int64(len(data)), limit); err != nil {
		return nil, "", false, err
	}
	again, after, err := statFile(ctx, fsys, name)
	if err != nil {
		return nil, "", false, err
	}
	return data, after.Version, after.Version == before.Version && again == target, nil
}

// noVersionError is the error of a read without a version where versions are
// declared. A write with an empty version as its condition would have no
// condition.
func noVersionError(op, name string) error {
	return ops.Error(op, name, ErrUnavailable, errors.New("the file was read without a version"))
}

// statFile describes what a read of name reads, and returns the name of that,
// which differs for a symlink. Its errors name the read. Where a symlink cannot
// be resolved, the read says why, or can do what Resolve cannot.
func statFile(ctx context.Context, fsys FileSystem, name string) (target string, info FileInfo, err error) {
	target = name
	info, err = fsys.Stat(ctx, name)
	if err == nil && info.Type == TypeSymlink {
		if resolved, resolveErr := Resolve(ctx, fsys, name); resolveErr == nil {
			target = resolved
			info, err = fsys.Stat(ctx, target)
		}
	}
	return target, info, ops.Rename(err, ops.ReadFile, name)
}
