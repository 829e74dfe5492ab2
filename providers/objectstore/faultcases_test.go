package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

type objects = map[string]string

// noResult makes the function of a case of an operation.
func noResult(do action) func(context.Context, *objectstore.FS) (any, error) {
	return func(ctx context.Context, f *objectstore.FS) (any, error) { return nil, do(ctx, f) }
}

func writeFaults() []faultCase {
	old, long := objects{"d/f": "old"}, strings.Repeat("0123456789", 3*partSize/10)
	copied := objects{"d/f": long, "d/g": long}
	return []faultCase{
		{name: "write-new", after: objects{"a/b/f": "new"}, do: noResult(write("a/b/f", nil))},
		{name: "write-replace", before: old, after: objects{"d/f": "new"}, do: noResult(write("d/f", nil))},
		{name: "write-if-version", before: old, after: objects{"d/f": "new"}, do: noResult(swapOnce("d/f")), done: []error{errDone}},
		{name: "write-if-not-exist", after: objects{"d/f": "new"}, done: []error{fs.ErrExist},
			do: noResult(write("d/f", &workspace.WriteOptions{IfNotExist: true}))},
		{name: "create-in-parts", before: old, after: objects{"d/f": long}, do: noResult(createText("d/f", long, nil))},
		{name: "create-in-parts-if-not-exist", after: objects{"d/f": long}, done: []error{fs.ErrExist},
			do: noResult(createText("d/f", long, &workspace.WriteOptions{IfNotExist: true}))},
		{name: "edit", before: old, after: objects{"d/f": "old and new"}, done: []error{errDone}, do: noResult(editOnce("d/f"))},
		{name: "create-abandoned", before: old, after: old, do: noResult(abandon("d/f", long))},
		{name: "copy", before: objects{"d/f": long}, after: copied, done: []error{fs.ErrExist}, do: noResult(copyFile("d/f", "d/g"))},
		{name: "move", before: objects{"d/f": long}, after: objects{"e/g": long}, keep: []string{long}, done: []error{fs.ErrExist, fs.ErrNotExist},
			do: noResult(moveTo("d/f", "e/g"))},
	}
}

// errDone says that the file has the new content already.
var errDone = errors.New("the write took place")

// swapOnce replaces the content "old" of name on the condition of its version.
func swapOnce(name string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		data, version, err := f.ReadVersioned(ctx, name, 0)
		switch {
		case err != nil:
			return err
		case string(data) != "old":
			return errDone
		}
		return write(name, &workspace.WriteOptions{IfVersion: version})(ctx, f)
	}
}

// editOnce adds to the content "old" of name.
func editOnce(name string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		_, _, err := workspace.New("test", f, nil).Edit(ctx, name, func(old []byte) ([]byte, error) {
			if string(old) != "old" {
				return nil, errDone
			}
			return []byte("old and new"), nil
		})
		return err
	}
}

// abandon begins to write text and closes the writer without a commit.
func abandon(name, text string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		w, err := f.Create(ctx, name, nil)
		if err != nil {
			return err
		}
		_, err = w.Write([]byte(text))
		return errors.Join(err, w.Close())
	}
}

func createText(name, text string, opts *workspace.WriteOptions) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		w, err := f.Create(ctx, name, opts)
		if err != nil {
			return err
		}
		defer w.Close()
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		_, err = w.Commit()
		return err
	}
}

func copyFile(source, destination string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		_, err := f.Copy(ctx, source, destination)
		return err
	}
}

func moveTo(source, destination string) action {
	return func(ctx context.Context, f *objectstore.FS) error { return f.Move(ctx, source, destination) }
}

func treeFaults() []faultCase {
	tree := objects{"d/": "", "d/a": "1", "d/b": "2", "d/e/f": "3", "z": "4"}
	return []faultCase{
		{name: "mkdir", after: objects{"d/": ""}, done: []error{fs.ErrExist}, do: noResult(mkdir("d", false))},
		{name: "mkdir-recursive", after: objects{"a/b/c/": ""}, do: noResult(mkdir("a/b/c", true))},
		{name: "rm", before: objects{"d/f": "old"}, after: objects{"d/": ""}, done: []error{fs.ErrNotExist}, do: noResult(rm("d/f", false))},
		{name: "rm-directory", before: tree, after: objects{"z": "4"}, done: []error{fs.ErrNotExist}, do: noResult(rm("d", true))},
		{name: "move-directory", before: tree, after: objects{"m/": "", "m/a": "1", "m/b": "2", "m/e/f": "3", "z": "4"}, keep: []string{"1", "2", "3"}, many: true,
			done: []error{fs.ErrNotExist}, do: noResult(moveTo("d", "m"))},
	}
}

func readFaults() []faultCase {
	tree := objects{"a": "one line\n", "d/": "", "d/b": "two lines\nhere\n", "d/e/f": "a third line\n"}
	reads := []faultCase{
		{name: "read", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			data, err := f.ReadFile(ctx, "d/b")
			return string(data), err
		}, want: tree["d/b"]},
		{name: "stream", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			stream, _, err := f.Open(ctx, "d/b", &workspace.OpenOptions{Offset: 4})
			if err != nil {
				return nil, err
			}
			defer stream.Close()
			data, err := io.ReadAll(stream)
			return string(data), err
		}, want: tree["d/b"][4:]},
		{name: "read-missing", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			_, err := f.ReadFile(ctx, "d/missing")
			if errors.Is(err, fs.ErrNotExist) {
				return "missing", nil
			}
			return "", err
		}, want: "missing"},
		{name: "stream-whole", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			stream, info, err := f.Open(ctx, "d/b", nil)
			if err != nil {
				return nil, err
			}
			defer stream.Close()
			data, err := io.ReadAll(stream)
			return fmt.Sprint(info.Size, " ", string(data)), err
		}, want: "15 two lines\nhere\n"},
		{name: "stat-file", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			info, err := f.Stat(ctx, "d/b")
			return info.Size, err
		}, want: int64(15)},
		{name: "watch", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			_, err := f.Watch(ctx, "d", nil)
			return nil, err
		}},
		{name: "server", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			_, err := f.Server(ctx)
			return nil, err
		}},
		{name: "probe", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			err := f.Probe(ctx)
			if failed, ok := errors.AsType[*fs.PathError](err); ok {
				failed.Path = "f" // it is random
			}
			return f.Capabilities().ConditionalWrite && f.Capabilities().Move, err
		}, want: true},
		{name: "stat", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			info, err := f.Stat(ctx, "d")
			return info.Type, err
		}, want: workspace.TypeDirectory},
		{name: "ls", do: func(ctx context.Context, f *objectstore.FS) (any, error) {
			infos, err := f.Ls(ctx, "d", nil)
			return pathsOf(infos), err
		}, want: []string{"d/b", "d/e"}},
		{name: "walk", do: func(ctx context.Context, f *objectstore.FS) (any, error) { return walked(ctx, f, ".", nil) },
			want: []string{"a", "d", "d/b", "d/e", "d/e/f"}},
		{name: "glob", do: func(ctx context.Context, f *objectstore.FS) (any, error) { return f.Glob(ctx, "d/*", nil) },
			want: []string{"d/b"}, passesBy: true},
		{name: "grep", do: grepPaths, want: []string{"a", "d/b", "d/e/f"}},
	}
	for i := range reads {
		reads[i].before, reads[i].after = tree, tree
	}
	return reads
}

func pathsOf(infos []workspace.FileInfo) []string {
	paths := make([]string, len(infos))
	for i, info := range infos {
		paths[i] = info.Path
	}
	return paths
}

// walked returns the paths of a walk.
func walked(ctx context.Context, f workspace.FileSystem, dir string, opts *workspace.WalkOptions) ([]string, error) {
	var infos []workspace.FileInfo
	err := workspace.Walk(ctx, f, dir, opts, func(info workspace.FileInfo, err error) error {
		infos = append(infos, info)
		return err
	})
	return pathsOf(infos), err
}

// grepPaths returns the files with a line. One that cannot be read for lack of
// the store makes an error of the search.
func grepPaths(ctx context.Context, f *objectstore.FS) (any, error) {
	result, err := f.Grep(ctx, "line", nil)
	if err != nil {
		return nil, err
	}
	for _, skipped := range result.Skipped {
		return nil, ops.Error(ops.Grep, skipped.Path, fs.ErrPermission, errors.New(string(skipped.Reason)))
	}
	var paths []string
	for _, match := range result.Matches {
		paths = append(paths, match.Path)
	}
	return paths, nil
}
