package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// checkPath refuses a file that is there before anything is asked. Whether it is
// there when it is written is for the write to find out.
func (i *initiation) checkPath(path string) error {
	if _, err := os.Lstat(path); err == nil && !i.force {
		return exists(path)
	}
	return nil
}

func exists(path string) error {
	return &runError{fmt.Errorf("%s is there already: nothing was written; --force replaces it", path)}
}

// write makes the file whole or not at all, and replaces none unless it is
// forced to.
func (i *initiation) write(ctx context.Context, path, text string) error {
	dir, base := filepath.Split(path)
	folder, err := localbash.Open(dir+".", nil)
	if err != nil {
		return &runError{fmt.Errorf("folder of %s: %s", path, plain(err))}
	}
	defer folder.Close()
	_, err = folder.WriteFile(ctx, base, []byte(text), &workspace.WriteOptions{IfNotExist: !i.force})
	switch {
	case errors.Is(err, fs.ErrExist):
		return exists(path)
	case err != nil:
		return &runError{fmt.Errorf("%s: %s", path, plain(err))}
	}
	return nil
}
