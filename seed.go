package workspacekit

import (
	"context"
	"fmt"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// The most that a workspace in memory begins with, and that a reference to one
// keeps.
const (
	maxSeedBytes = 256 << 20
	maxSeedFiles = 100_000
)

// seed copies all files of the folder into fsys. A symlink is followed, unless
// it leads out of the folder or to a directory, which is an error.
func seed(ctx context.Context, fsys workspace.FileSystem, folder string) error {
	local, err := localbash.Open(folder, nil)
	if err != nil {
		return err
	}
	defer local.Close()
	bounded := workspace.New("seed", local, &workspace.Options{MaxFileSize: maxSeedBytes})
	var b bound
	return workspace.Walk(ctx, local, ".", nil, func(info workspace.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case info.IsDir():
			return fsys.Mkdir(ctx, info.Path, &workspace.MkdirOptions{Recursive: true})
		}
		data, err := bounded.ReadFile(ctx, info.Path)
		if err != nil {
			return err
		}
		if err := b.add(len(data)); err != nil {
			return err
		}
		_, err = fsys.WriteFile(ctx, info.Path, data, nil)
		return err
	})
}

// bound counts what is held in memory.
type bound struct {
	files int
	bytes int
}

// add counts a file.
//
// # Errors
//
// [workspace.ErrTooLarge] if that is more than the most.
func (b *bound) add(size int) error {
	b.files++
	b.bytes += size
	if b.files > maxSeedFiles || b.bytes > maxSeedBytes {
		return fmt.Errorf("%w: it has more than %d files or %d MiB, which are not held in memory",
			workspace.ErrTooLarge, maxSeedFiles, maxSeedBytes>>20)
	}
	return nil
}
