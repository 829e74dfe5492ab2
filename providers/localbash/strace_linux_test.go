package localbash_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
)

const (
	tracedCalls = 50
	traceBegin  = "/workspacekit-trace-begin"
	traceEnd    = "/workspacekit-trace-end"
)

// deepFile is the file on which tracedOperations work.
const deepFile = "a/b/c/d/e/f.txt"

// tracedOperations are calls with the most system calls about files that one of them makes.
var tracedOperations = map[string]struct {
	most int
	call func(*localbash.FS) error
}{
	"read": {5, func(fsys *localbash.FS) error {
		_, err := fsys.ReadFile(context.Background(), deepFile)
		return err
	}},
	"stat": {3, func(fsys *localbash.FS) error {
		_, err := fsys.Stat(context.Background(), deepFile)
		return err
	}},
	"write": {18, func(fsys *localbash.FS) error {
		_, err := fsys.WriteFile(context.Background(), deepFile, make([]byte, 4096), nil)
		return err
	}},
}

// callTraced makes a call some times between two marks: it asks for files of these names.
func callTraced(call func(*localbash.FS) error) func(dir string) error {
	return func(dir string) error {
		return withFS(dir, func(fsys *localbash.FS) error {
			errs := []error{call(fsys)} // the first one finds out what the system can do
			os.Stat(traceBegin)
			for range tracedCalls {
				errs = append(errs, call(fsys))
			}
			os.Stat(traceEnd)
			return errors.Join(errs...)
		})
	}
}

// TestSystemCalls counts the system calls of reads and writes under strace.
func TestSystemCalls(t *testing.T) {
	t.Parallel()
	strace := exhaustive.Program(t, "strace")
	for name, operation := range tracedOperations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
			put(t, filepath.Join(dir, deepFile), "content")
			c := child(t, "trace-"+name, dir)
			c.Args = append([]string{strace, "-f", "-o", log, "-e", "trace=%file,%desc"}, c.Path, dir)
			c.Path = strace
			if err := c.Run(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, began := strings.Cut(string(data), traceBegin)
			calls, _, ended := strings.Cut(rest, traceEnd)
			if !began || !ended {
				t.Fatalf("the trace has no marks:\n%.2000s", data)
			}
			n := 0
			for line := range strings.Lines(calls) {
				if strings.Contains(line, "(") && !strings.Contains(line, "resumed>") && !strings.Contains(line, " epoll_") {
					n++
				}
			}
			if each := n / tracedCalls; each > operation.most || each == 0 {
				lines := strings.SplitAfter(calls, "\n")
				t.Errorf("%d system calls, want at most %d:\n%s", each, operation.most, strings.Join(lines[:min(len(lines), 40)], ""))
			} else {
				t.Logf("%d system calls", each)
			}
		})
	}
}
