package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash"
)

// indexLimit bounds how long an index may take to read a tree.
const indexLimit = 5 * time.Minute

// benchWarm compares searches of a folder that has an index, and was searched
// before, with runs of ripgrep and fd, and with searches without an index. An
// agent searches the same folder again and again, while ripgrep begins with
// nothing each time.
func benchWarm(b *bench) error {
	if err := b.warm("the tree", b.dir, patterns); err != nil {
		return err
	}
	inSmall := []pattern{
		{"rare word", "needle"},
		{"with a literal", `^need\w+$`},
		{"without a literal", `[a-z]\d{4}[a-z]`},
		{"no match", "no line of it has " + "this text"},
	}
	small := filepath.Join(b.temp, "small")
	if err := b.make(small, makeSmallFiles); err != nil {
		return err
	}
	if err := b.warm("100,000 files of 430 bytes", small, inSmall); err != nil {
		return err
	}
	large := filepath.Join(b.temp, "large")
	if err := b.make(large, b.copies); err != nil {
		return err
	}
	return b.warm(fmt.Sprintf("%d copies of the tree", copies), large, patterns)
}

// make makes a tree unless another workload has.
func (b *bench) make(dir string, tree func(dir string) error) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return tree(dir)
}

// warm compares searches of one tree. All searches are compared after the index
// is complete: how long that took is printed apart.
func (b *bench) warm(tree, dir string, patterns []pattern) error {
	fsys, err := localbash.Open(dir, &localbash.Options{Index: &localbash.IndexOptions{MaxMemory: 1 << 30}})
	if err != nil {
		return err
	}
	defer fsys.Close()
	if err := b.buildIndex(tree, fsys, dir); err != nil {
		return err
	}
	for _, p := range patterns {
		others := b.installed([]peer{{"rg", "apt-get install ripgrep", ripgrep(p.pattern, dir)}})
		others = append(others, by("without an index", func() (int, error) { return search(dir, p.pattern, nil) }))
		err := b.Run(fmt.Sprintf("%s, %s: `%s`", tree, p.what, p.pattern), by("with an index", func() (int, error) {
			result, err := fsys.Grep(context.Background(), p.pattern, nil)
			if err != nil {
				return 0, err
			}
			return len(result.Matches), nil
		}), others...)
		if err != nil {
			return err
		}
	}
	others := b.installed([]peer{{"fd", "apt-get install fd-find", []string{"fdfind", "--unrestricted", "--type", "f", "--glob", "*_test.go", dir}}})
	return b.Run(tree+", names: `**/*_test.go`", by("with an index", func() (int, error) {
		paths, err := fsys.Glob(context.Background(), "**/*_test.go", nil)
		return len(paths), err
	}), others...)
}

// buildIndex searches until the index knows the tree, and prints what that took.
func (b *bench) buildIndex(tree string, fsys *localbash.FS, dir string) error {
	began := time.Now()
	if _, err := search(dir, "readGCStats", nil); err != nil {
		return err
	}
	cold := time.Since(began)
	began = time.Now()
	if _, err := fsys.Grep(context.Background(), "readGCStats", nil); err != nil {
		return err
	}
	first := time.Since(began)
	for fsys.IndexState().Reading {
		if time.Since(began) > indexLimit {
			return fmt.Errorf("the index has not read %s within %v", dir, indexLimit)
		}
		time.Sleep(time.Millisecond)
	}
	state := fsys.IndexState()
	fmt.Fprintf(b.Out, "\n%s: %d files; a search without an index took %v, the first one with it %v, and the index %v, beside that. It has %d MiB of names and summaries, and %d MiB of contents.\n",
		tree, state.Files, cold.Round(time.Millisecond), first.Round(time.Millisecond), time.Since(began).Round(time.Millisecond),
		state.Summaries>>20, state.Contents>>20)
	return nil
}
