package main

import (
	"bytes"
	"context"
	"fmt"
)

// The turns in a round of what takes a millisecond, and of what takes fifty.
const (
	shortTurns = 31
	longTurns  = 5
)

// benchSmall measures the operations on small files.
func benchSmall(ctx context.Context, b *box, t *table) error {
	data := bytes.Repeat([]byte("0123456789abcde\n"), 4<<10/16)
	if err := smallFiles(ctx, b, data); err != nil {
		return err
	}
	for _, test := range []struct {
		job  string
		bar  bar
		ours func() error
		name string
		args []string
	}{
		{"ReadFile of 4 KiB", 30, func() error { return second(b.files.ReadFile(ctx, "file")) }, "docker exec cat", []string{"cat", "file"}},
		{"Stat", 30, func() error { return second(b.files.Stat(ctx, "file")) }, "docker exec stat", []string{"stat", "file"}},
		{"Ls of 100 entries", 25, func() error { return ls(ctx, b, "dir", 100) }, "docker exec ls -la", []string{"ls", "-la", "dir"}},
	} {
		err := t.compare(test.job, test.bar, contender{name: "container", turns: shortTurns, do: test.ours},
			contender{name: test.name, turns: longTurns, do: func() error { return second(b.exec(ctx, test.args...)) }})
		if err != nil {
			return err
		}
	}
	return benchWrite(ctx, b, t, data)
}

// benchWrite replaces a file. The client's command does it by a rename, too, so that
// readers see no half of it.
func benchWrite(ctx context.Context, b *box, t *table, data []byte) error {
	return t.compare("WriteFile of 4 KiB", 20,
		contender{name: "container", turns: shortTurns, do: func() error { return second(b.files.WriteFile(ctx, "file", data, nil)) }},
		contender{name: "docker exec -i sh -c 'cat > tmp && mv tmp file'", turns: longTurns, do: func() error {
			return second(b.client(ctx, data, "exec", "-i", "-w", root, b.name, "sh", "-c", "cat > tmp && mv tmp file"))
		}})
}

// smallFiles writes what the benchmarks of this file read and list.
func smallFiles(ctx context.Context, b *box, data []byte) error {
	if _, err := b.files.WriteFile(ctx, "file", data, nil); err != nil {
		return err
	}
	for i := range 100 {
		if _, err := b.files.WriteFile(ctx, fmt.Sprintf("dir/file%d", i), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// ls lists a directory, which must have want entries.
func ls(ctx context.Context, b *box, dir string, want int) error {
	infos, err := b.files.Ls(ctx, dir, nil)
	if err == nil && len(infos) != want {
		err = fmt.Errorf("Ls(%q) has %d entries, want %d", dir, len(infos), want)
	}
	return err
}

// second returns the error of a call that returns something else, too.
func second[T any](_ T, err error) error { return err }
