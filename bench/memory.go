package main

import (
	"context"
	"fmt"
	iofs "io/fs"
	"path"
	"strings"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/spf13/afero"

	"github.com/workspacekit/workspacekit/providers/memory"
)

// The tree of the memory benchmarks: 100,000 files at two levels of
// directories. One file in ten is a test.
const (
	folders   = 1000
	perFolder = 100
)

// benchMemory compares the memory provider with afero's on the same tree.
func benchMemory(b *bench) error {
	ours := memory.New(nil)
	theirs := afero.NewMemMapFs()
	if err := fill(ours, theirs); err != nil {
		return err
	}
	err := b.Run(fmt.Sprintf("glob **/*_test.go in %d files in memory", folders*perFolder),
		by("memory", func() (int, error) {
			paths, err := ours.Glob(context.Background(), "**/*_test.go", nil)
			return len(paths), err
		}),
		by("afero.MemMapFs, afero.Walk", func() (int, error) { return walkAfero(theirs) }),
	)
	if err != nil {
		return err
	}
	every := make([]string, folders)
	for i := range every {
		every[i] = folder(i)
	}
	if err := benchLs(b, fmt.Sprintf("ls of %d entries in each of %d folders", perFolder, folders), ours, theirs, every); err != nil {
		return err
	}
	const flat = "flat"
	ours, theirs = memory.New(nil), afero.NewMemMapFs()
	for i := range folders * perFolder {
		if err := write(ours, theirs, fmt.Sprintf("%s/file%06d.go", flat, i)); err != nil {
			return err
		}
	}
	err = benchLs(b, fmt.Sprintf("ls of %d entries in one folder", folders*perFolder), ours, theirs, []string{flat})
	if err != nil {
		return err
	}
	return benchMemoryGrep(b)
}

// benchMemoryGrep compares searches with those of eino's backend in memory. Its backend for
// local files is not on the module proxy.
func benchMemoryGrep(b *bench) error {
	const files, word = 10_000, "needle"
	ctx := context.Background()
	ours, theirs := memory.New(nil), filesystem.NewInMemoryBackend()
	text := lines(smallBytes)
	for i := range files {
		name, content := fmt.Sprintf("%s/file%d.go", folder(i), i), text
		if i%1000 == 0 {
			content += word + "\n"
		}
		if _, err := ours.WriteFile(ctx, name, []byte(content), nil); err != nil {
			return err
		}
		if err := theirs.Write(ctx, &filesystem.WriteRequest{FilePath: name, Content: content}); err != nil {
			return err
		}
	}
	return b.Run(fmt.Sprintf("grep of a rare word in %d files of 4 KiB", files),
		by("memory", func() (int, error) {
			result, err := ours.Grep(ctx, word, nil)
			if err != nil {
				return 0, err
			}
			return len(result.Matches), nil
		}),
		by("eino's backend in memory", func() (int, error) {
			matches, err := theirs.GrepRaw(ctx, &filesystem.GrepRequest{Pattern: word})
			return len(matches), err
		}))
}

// benchLs lists each of dirs.
func benchLs(b *bench, job string, ours *memory.FS, theirs afero.Fs, dirs []string) error {
	return b.Run(job,
		by("memory", func() (int, error) {
			n := 0
			for _, dir := range dirs {
				infos, err := ours.Ls(context.Background(), dir, nil)
				if err != nil {
					return 0, err
				}
				n += len(infos)
			}
			return n, nil
		}),
		by("afero.MemMapFs, afero.ReadDir", func() (int, error) {
			n := 0
			for _, dir := range dirs {
				infos, err := afero.ReadDir(theirs, dir)
				if err != nil {
					return 0, err
				}
				n += len(infos)
			}
			return n, nil
		}),
	)
}

// folder returns the name of one of the folders, which are nested in groups.
func folder(i int) string { return fmt.Sprintf("d%02d/p%03d", i%100/10, i) }

// fill writes the same files to both: one in ten is a test, for globs to find.
func fill(ours *memory.FS, theirs afero.Fs) error {
	for i := range folders {
		for j := range perFolder {
			name := path.Join(folder(i), fmt.Sprintf("file%03d.go", j))
			if j%10 == 0 {
				name = strings.TrimSuffix(name, ".go") + "_test.go"
			}
			if err := write(ours, theirs, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes one file to both.
func write(ours *memory.FS, theirs afero.Fs, name string) error {
	if _, err := ours.WriteFile(context.Background(), name, []byte("package p\n"), nil); err != nil {
		return err
	}
	return afero.WriteFile(theirs, name, []byte("package p\n"), 0o666)
}

// walkAfero finds the tests as a user of afero would: afero.Glob has no "**".
func walkAfero(theirs afero.Fs) (int, error) {
	n := 0
	err := afero.Walk(theirs, ".", func(name string, info iofs.FileInfo, err error) error {
		if err == nil && !info.IsDir() && strings.HasSuffix(name, "_test.go") {
			n++
		}
		return err
	})
	return n, err
}
