package main

import (
	"context"
	"io"
)

// readInput reads all of standard input, or until ctx ends: a person may press
// Ctrl-C instead of giving any.
func readInput(ctx context.Context, in io.Reader) ([]byte, error) {
	type content struct {
		data []byte
		err  error
	}
	read := make(chan content, 1)
	go func() {
		data, err := io.ReadAll(in)
		read <- content{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case c := <-read:
		return c.data, c.err
	}
}
