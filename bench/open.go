package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit"
)

// How many workspaces a file describes that a program opens at once.
const (
	manyInMemory = 10_000
	manyLocal    = 1_000
)

// benchOpen measures what it takes to open many workspaces of one file.
func benchOpen(b *bench) (err error) {
	dir, err := os.MkdirTemp("", "bench-open-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprint(b.Out, "\n| | read and check the file | open | memory | goroutines | descriptors |\n|---|---|---|---|---|---|\n")
	for _, of := range []struct {
		kind  string
		n     int
		entry func(i int) (string, error)
	}{
		{"memory", manyInMemory, func(int) (string, error) { return "mem://", nil }},
		{"localbash", manyLocal, func(i int) (string, error) {
			folder := fmt.Sprintf("folder%04d", i)
			return fmt.Sprintf("{provider: {kind: localbash, root: %s}}", folder), os.Mkdir(filepath.Join(dir, folder), 0o777)
		}},
	} {
		path := filepath.Join(dir, of.kind+".yaml")
		if err := describe(path, of.n, of.entry); err != nil {
			return err
		}
		if err := b.measureOpen(of.kind, path, of.n); err != nil {
			return fmt.Errorf("%s: %w", of.kind, err)
		}
	}
	return nil
}

// describe writes a file with n workspaces.
func describe(path string, n int, entry func(i int) (string, error)) error {
	var text strings.Builder
	text.WriteString("workspaces:\n")
	for i := range n {
		value, err := entry(i)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "  w%05d: %s\n", i, value)
	}
	return os.WriteFile(path, []byte(text.String()), 0o666)
}

// opening is what one round has taken. load is for reading and checking the
// file, open for making the workspaces.
type opening struct {
	load, open              time.Duration
	heap                    int64 // bytes that are held while it is open
	goroutines, descriptors int   // more than before
}

// measureOpen prints a row about a file with n workspaces: medians of the times, of the
// memory that stays in use, and what else an open workspace holds.
func (b *bench) measureOpen(kind, path string, n int) error {
	var all []opening
	for range b.Rounds {
		o, err := openOnce(path)
		if err != nil {
			return err
		}
		all = append(all, o)
	}
	load := medianOf(all, func(o opening) int64 { return int64(o.load) })
	open := medianOf(all, func(o opening) int64 { return int64(o.open) })
	heap := medianOf(all, func(o opening) int64 { return o.heap })
	last := all[len(all)-1]
	fmt.Fprintf(b.Out, "| %d of the kind %s | %v, %v each | %v, %v each | %d KB, %d B each | %d | %d |\n", n, kind,
		time.Duration(load).Round(time.Microsecond), time.Duration(load/int64(n)),
		time.Duration(open).Round(time.Microsecond), time.Duration(open/int64(n)),
		heap>>10, heap/int64(n), last.goroutines, last.descriptors)
	return nil
}

// medianOf returns the median of one of the figures.
func medianOf(all []opening, of func(opening) int64) int64 {
	var values []int64
	for _, o := range all {
		values = append(values, of(o))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// openOnce loads and opens a file, and returns what that took and what it holds
// until it is closed. Nothing else must run in this process meanwhile, as the
// figures are those of all of it.
func openOnce(path string) (o opening, err error) {
	heap, goroutines, descriptors := heapInUse(), runtime.NumGoroutine(), openDescriptors()
	start := time.Now()
	c, err := workspacekit.Load(path)
	if err != nil {
		return o, err
	}
	o.load = time.Since(start)
	start = time.Now()
	workspaces, err := c.Open(context.Background(), workspacekit.NewRegistry())
	if err != nil {
		return o, err
	}
	o.open = time.Since(start)
	o.heap = heapInUse() - heap
	o.goroutines, o.descriptors = runtime.NumGoroutine()-goroutines, openDescriptors()-descriptors
	runtime.KeepAlive(c)
	return o, workspaces.Close()
}

// heapInUse returns the bytes of all objects that are still reachable.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // the first one leaves what finalizers and pools hold
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// openDescriptors returns how many files this process has open, 0 where that
// cannot be known.
func openDescriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
