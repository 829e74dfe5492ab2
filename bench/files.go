package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/workspacekit/workspacekit/providers/localbash"
)

// How many files of 4 KiB a turn reads and writes.
const (
	readsPerTurn  = 2000
	writesPerTurn = 300
)

// benchFiles compares reads, and writes that replace a file at once, with what
// a programmer would write with package os. [os.Root] resolves a name without
// leaving its directory, as localbash does; os.ReadFile follows any symlink.
func benchFiles(b *bench) error {
	dir := filepath.Join(b.temp, "files")
	content := []byte(lines(smallBytes))
	deep := filepath.FromSlash("a/b/c/d/e")
	if err := os.MkdirAll(filepath.Join(dir, deep), 0o777); err != nil {
		return err
	}
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	ctx := context.Background()
	names := []struct{ depth, name string }{{"1 deep", "file.txt"}, {"6 deep", deep + "/file.txt"}}
	for _, n := range names {
		path := filepath.Join(dir, n.name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			return err
		}
		err := b.Run(fmt.Sprintf("%d reads of 4 KiB, %s", readsPerTurn, n.depth),
			by("localbash", repeat(readsPerTurn, func() error {
				data, err := fsys.ReadFile(ctx, n.name)
				return same(data, content, err)
			})),
			by("os.ReadFile", repeat(readsPerTurn, func() error {
				data, err := os.ReadFile(path)
				return same(data, content, err)
			})),
			by("os.Root", repeat(readsPerTurn, func() error {
				data, err := root.ReadFile(n.name)
				return same(data, content, err)
			})))
		if err != nil {
			return err
		}
	}
	for _, n := range names {
		path := filepath.Join(dir, n.name)
		err := b.Run(fmt.Sprintf("%d writes of 4 KiB, %s", writesPerTurn, n.depth),
			by("localbash", repeat(writesPerTurn, func() error {
				_, err := fsys.WriteFile(ctx, n.name, content, nil)
				return err
			})),
			by("os.CreateTemp and os.Rename", repeat(writesPerTurn, func() error { return replace(path, content) })))
		if err != nil {
			return err
		}
	}
	return nil
}

// repeat returns do, so many times.
func repeat(times int, do func() error) func() (int, error) {
	return func() (int, error) {
		for range times {
			if err := do(); err != nil {
				return 0, err
			}
		}
		return times, nil
	}
}

// same returns an error unless got is want: a fast wrong answer is not a result.
func same(got, want []byte, err error) error {
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("read %d other bytes", len(got))
	}
	return err
}

// replace replaces the file path at once and keeps its permissions.
func replace(path string, content []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".temp*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Chmod(info.Mode().Perm()), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
