package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The tree that is globbed: so many folders, with so many files in each.
const (
	globFolders = 100
	globFiles   = 100
)

// globRounds is how often the walk is made, folder by folder: it takes long.
const globRounds = 3

// benchGlob measures a Glob over 10,000 files. It must be one message to the
// container. Both must find the same names, in the same order.
func benchGlob(ctx context.Context, b *box, t *table) error {
	archive, err := globTree()
	if err != nil {
		return err
	}
	if err := b.files.ImportTar(ctx, "tree", archive, nil); err != nil {
		return err
	}
	f, err := b.attach(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	var globbed, walked []string
	messages := int64(0)
	ours := func() error {
		before := b.sent.Load()
		globbed, err = f.Glob(ctx, "tree/**/*7.txt", nil)
		messages = b.sent.Load() - before
		return err
	}
	theirs := func() error {
		walked, err = b.walk(ctx, "tree", "7.txt")
		return err
	}
	err = t.compareIn(min(globRounds, t.rounds), "Glob over 10,000 files in 100 folders", 20,
		contender{name: "container", turns: longTurns, do: ours}, contender{name: "docker exec find -maxdepth 1 for each folder", turns: 1, do: theirs})
	if err != nil {
		return err
	}
	if !slices.Equal(globbed, walked) {
		return fmt.Errorf("the Glob finds %d files, and the walk %d or others", len(globbed), len(walked))
	}
	if messages != 1 {
		return fmt.Errorf("the last Glob took %d messages to the container, want 1", messages)
	}
	return nil
}

// globTree returns the files of the benchmark as a tar archive, as one upload is faster
// than many.
func globTree() (*bytes.Buffer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range globFolders {
		for j := range globFiles {
			name := fmt.Sprintf("folder%d/file%d.txt", i, j)
			if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
				return nil, err
			}
		}
	}
	return &b, w.Close()
}

// walk returns the files below dir with a suffix, sorted. It asks for one folder
// at a time, as a program does that knows no better.
func (b *box) walk(ctx context.Context, dir, suffix string) ([]string, error) {
	var found []string
	for open := []string{dir}; len(open) > 0; open = open[1:] {
		out, err := b.exec(ctx, "find", open[0], "-maxdepth", "1", "(", "-type", "d", "-exec", "echo", "{}/", ";", "-o", "-print", ")")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			name := strings.TrimSuffix(line, "\n")
			switch folder, is := strings.CutSuffix(name, "/"); {
			case is && path.Clean(folder) != path.Clean(open[0]):
				open = append(open, folder)
			case strings.HasSuffix(name, suffix):
				found = append(found, name)
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.New("the walk finds nothing")
	}
	slices.Sort(found)
	return found, nil
}
