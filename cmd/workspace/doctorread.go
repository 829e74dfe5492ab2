package main

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// The most that is done to read one file.
const (
	maxListed   = 1000
	maxAttempts = 5
	maxRead     = 1 << 20
)

// read lists the root, and reads a file.
func (e *examination) read(ctx context.Context) outcome {
	children, err := e.ws.Ls(ctx, ".", &workspace.LsOptions{Limit: maxListed + 1})
	if err != nil {
		return failed(err)
	}
	// Another workspace of the same folder may be tried at this moment.
	children = slices.DeleteFunc(children, isMark)
	entries := count(len(children), "entry", "entries")
	if len(children) > maxListed {
		entries = "more than " + count(maxListed, "entry", "entries")
	}
	name, err := e.readAny(ctx, children)
	switch {
	case err != nil:
		return outcome{status: statusWarn, err: err}
	case len(children) == 0:
		return healthy("empty")
	case name == "":
		return healthy(entries + ", none of them a file")
	}
	return healthy(entries + ", " + visible(name, "") + " read")
}

// readAny reads the first file that can be read, of those at the top or, if
// there are none, of those below. It returns no name if there is none, and the
// last error if some cannot be read.
func (e *examination) readAny(ctx context.Context, children []workspace.FileInfo) (string, error) {
	names := e.readable(children)
	if len(names) == 0 {
		names = e.below(ctx)
	}
	var last error
	for _, name := range names[:min(len(names), maxAttempts)] {
		if _, last = e.ws.ReadFile(ctx, name); last == nil {
			return name, nil
		}
	}
	return "", last
}

// readable returns the names of the files that are worth a read.
func (e *examination) readable(infos []workspace.FileInfo) []string {
	limit := int64(maxRead)
	if own := e.ws.MaxFileSize(); own > 0 {
		limit = min(limit, own)
	}
	var names []string
	for _, info := range infos {
		if info.Type == workspace.TypeFile && info.Size <= limit && !isMark(info) {
			names = append(names, info.Path)
		}
	}
	return names
}

// below returns the first files below the top.
func (e *examination) below(ctx context.Context) []string {
	var names []string
	seen := 0
	// That it cannot be walked is for the probe of the size to say.
	_ = e.ws.Walk(ctx, ".", nil, func(info workspace.FileInfo, err error) error {
		if seen++; seen > maxListed || len(names) == maxAttempts {
			return fs.SkipAll
		}
		if err == nil {
			names = append(names, e.readable([]workspace.FileInfo{info})...)
		}
		return nil
	})
	return names
}

// count returns a number of things in words.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands writes a number as people read it: 1,234.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
