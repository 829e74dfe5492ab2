package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// The most that is done to count files.
const (
	maxCounted = 100_000 // files
	maxEntries = 2 * maxCounted
	countTime  = 10 * time.Second
)

// tally is what has been counted of a tree.
type tally struct {
	files, others, unlisted int
	bytes                   int64
	more                    bool // there is more than that
}

// size counts the files and their bytes.
func (e *examination) size(ctx context.Context) outcome {
	counting, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	var t tally
	err := e.ws.Walk(counting, ".", nil, t.add)
	if errors.Is(err, context.DeadlineExceeded) && t.files > 0 {
		t.more, err = true, nil
	}
	switch {
	case err != nil:
		return failed(err)
	case t.unlisted > 0:
		return outcome{
			status: statusWarn, detail: fmt.Sprintf("%s; %s cannot be listed", t, count(t.unlisted, "directory", "directories")),
			remedy: "Give this user the right to read all directories, or leave out those with allowedPaths.",
		}
	}
	return healthy(t.String())
}

// add counts one entry of a walk.
func (t *tally) add(info workspace.FileInfo, err error) error {
	switch {
	case err != nil:
		t.unlisted++
	case isMark(info):
	case t.files >= maxCounted, t.files+t.others >= maxEntries:
		t.more = true
		return fs.SkipAll
	case info.Type == workspace.TypeFile:
		t.files++
		t.bytes += info.Size
	default:
		t.others++
	}
	return nil
}

func (t tally) String() string {
	text := count(t.files, "file", "files") + ", " + byteCount(t.bytes)
	if t.more {
		return "more than " + text
	}
	return text
}

// byteCount writes a number of bytes as people read it: 1.5 MiB.
func byteCount(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	units := "KMGTPE"
	value := float64(n) / (1 << 10)
	for value >= 1<<10 {
		value /= 1 << 10
		units = units[1:]
	}
	return fmt.Sprintf("%.1f %ciB", value, units[0])
}

// version asks what the workspace runs on. It is no matter of life and death.
func (e *examination) version(ctx context.Context) outcome {
	about, err := e.about(ctx)
	switch {
	case err != nil:
		return outcome{status: statusWarn, err: err}
	case about == "":
		return skipped("not known")
	}
	e.found.About = withoutEnvironment(about)
	return healthy(e.found.About)
}
