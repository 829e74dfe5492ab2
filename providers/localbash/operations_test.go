package localbash_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// operation is one thing that can be done with a name.
type operation struct {
	name string
	// follows says that it follows a symlink that the name itself is, and so
	// fails where one leads out.
	follows bool
	// do returns all that it learned, as text.
	do func(ctx context.Context, fsys *localbash.FS, name string) (string, error)
}

// operations returns everything that can be done with a name.
func operations() []operation {
	return append(readOperations(), writeOperations()...)
}

func readOperations() []operation {
	return []operation{
		{"ReadFile", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			data, err := fsys.ReadFile(ctx, name)
			return string(data), err
		}},
		{"ReadVersioned", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			data, _, err := fsys.ReadVersioned(ctx, name, 0)
			return string(data), err
		}},
		{"Open", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			stream, info, err := fsys.Open(ctx, name, nil)
			if err != nil {
				return "", err
			}
			defer stream.Close()
			data, err := io.ReadAll(stream)
			return fmt.Sprint(info, string(data)), err
		}},
		{"Ls", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			infos, err := fsys.Ls(ctx, name, nil)
			return fmt.Sprint(infos), err
		}},
		{"Stat", false, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			info, err := fsys.Stat(ctx, name)
			return fmt.Sprint(info), err
		}},
		{"Resolve", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return fsys.Resolve(ctx, name)
		}},
		{"Glob", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			paths, err := fsys.Glob(ctx, "**", &workspace.GlobOptions{Dir: name})
			return fmt.Sprint(paths), err
		}},
		{"Grep", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			result, err := fsys.Grep(ctx, ".", &workspace.GrepOptions{Path: name})
			return fmt.Sprint(result), err
		}},
		{"Watch", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			_, err := fsys.Watch(ctx, name, nil)
			return "", err
		}},
	}
}

func writeOperations() []operation {
	return []operation{
		{"WriteFile", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			_, err := fsys.WriteFile(ctx, name, []byte("written"), nil)
			return "", err
		}},
		{"WriteFile-below", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			_, err := fsys.WriteFile(ctx, name+"/new/file", []byte("written"), nil)
			return "", err
		}},
		{"WriteFile-new", false, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			_, err := fsys.WriteFile(ctx, name, []byte("written"), &workspace.WriteOptions{IfNotExist: true})
			return "", err
		}},
		{"Create", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", create(ctx, fsys, name)
		}},
		{"Mkdir", false, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", fsys.Mkdir(ctx, name, nil)
		}},
		{"Mkdir-recursive", false, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", fsys.Mkdir(ctx, name, &workspace.MkdirOptions{Recursive: true})
		}},
		{"Mkdir-below", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", fsys.Mkdir(ctx, name+"/new/dir", &workspace.MkdirOptions{Recursive: true})
		}},
		{"Move-from", false, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", fsys.Move(ctx, name, "taken/moved")
		}},
		{"Move-to", false, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", fsys.Move(ctx, "mine", name)
		}},
		{"Move-below", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", fsys.Move(ctx, "mine", name+"/moved")
		}},
		{"Copy-from", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			_, err := fsys.Copy(ctx, name, "taken/copied")
			return "", err
		}},
		{"Copy-to", false, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			_, err := fsys.Copy(ctx, "mine", name)
			return "", err
		}},
		{"Copy-below", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			_, err := fsys.Copy(ctx, "mine", name+"/copied")
			return "", err
		}},
		{"Rm", false, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", fsys.Rm(ctx, name, nil)
		}},
		{"Rm-recursive", false, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", fsys.Rm(ctx, name, &workspace.RmOptions{Recursive: true})
		}},
		{"Rm-below", true, func(ctx context.Context, fsys *localbash.FS, name string) (string, error) {
			return "", fsys.Rm(ctx, name+"/secret", &workspace.RmOptions{Recursive: true})
		}},
	}
}

func create(ctx context.Context, fsys *localbash.FS, name string) error {
	w, err := fsys.Create(ctx, name, nil)
	if err != nil {
		return err
	}
	_, err = w.Write([]byte("written"))
	if err == nil {
		_, err = w.Commit()
	}
	return errors.Join(err, w.Close())
}
