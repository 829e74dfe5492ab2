package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// largeSize is the size of a large file, in bytes.
const largeSize = 10 << 20

// benchLarge measures reading a large file. The client's copy is a tar archive,
// which is left as it is.
func benchLarge(ctx context.Context, b *box, t *table) error {
	data := bytes.Repeat([]byte("0123456789abcde\n"), largeSize/16)
	if _, err := b.files.WriteFile(ctx, "large", data, nil); err != nil {
		return err
	}
	theirs := contender{name: "docker cp", turns: longTurns, do: func() error {
		out, err := b.client(ctx, nil, "cp", b.name+":"+root+"/large", "-")
		return sized(len(out), largeSize, err)
	}}
	err := t.compare("ReadFile of 10 MiB", 1, contender{name: "container", turns: longTurns, do: func() error {
		data, err := b.files.ReadFile(ctx, "large")
		return sized(len(data), largeSize, err)
	}}, theirs)
	if err != nil {
		return err
	}
	return t.compare("Open of 10 MiB, read to its end", 1,
		contender{name: "container", turns: longTurns, do: func() error { return drain(ctx, b) }}, theirs)
}

// drain reads the large file to its end, without holding it.
func drain(ctx context.Context, b *box) error {
	stream, _, err := b.files.Open(ctx, "large", nil)
	if err != nil {
		return err
	}
	defer stream.Close()
	n, err := io.Copy(io.Discard, stream)
	return sized(int(n), largeSize, err)
}

// sized returns an error unless at least want bytes have come.
func sized(got, want int, err error) error {
	if err == nil && got < want {
		return fmt.Errorf("%d bytes have come, want %d", got, want)
	}
	return err
}
