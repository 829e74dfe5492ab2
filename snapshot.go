package workspacekit

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// snapshot is the content of a workspace.
type snapshot struct {
	Dirs  []string          `json:"dirs"`
	Files map[string][]byte `json:"files"`
}

// takeSnapshot returns all that is in fsys. What is changed meanwhile may be in
// it or not, a file as a whole.
func takeSnapshot(ctx context.Context, fsys workspace.FileSystem) (snapshot, error) {
	taken := snapshot{Dirs: []string{}, Files: map[string][]byte{}}
	var b bound
	err := workspace.Walk(ctx, fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case info.IsDir():
			taken.Dirs = append(taken.Dirs, info.Path)
			return nil
		}
		data, err := fsys.ReadFile(ctx, info.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile
		case err != nil:
			return err
		}
		taken.Files[info.Path] = data
		return b.add(len(data))
	})
	return taken, err
}

// restore copies all that is in s into fsys.
func (s snapshot) restore(ctx context.Context, fsys workspace.FileSystem) error {
	for _, dir := range s.Dirs {
		if err := fsys.Mkdir(ctx, dir, &workspace.MkdirOptions{Recursive: true}); err != nil {
			return err
		}
	}
	for name, data := range s.Files {
		if _, err := fsys.WriteFile(ctx, name, data, nil); err != nil {
			return err
		}
	}
	return nil
}
