package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// requestCase is an operation and the requests that it may send.
type requestCase struct {
	name string
	keys []string // that exist, below the prefix
	// before prepares the workspace, with requests that do not count.
	before func(ctx context.Context, f *objectstore.FS) error
	do     func(ctx context.Context, f *objectstore.FS) error
	kind   error  // of the error; nil for none
	want   string // the requests in order, as trace spells them
	modest string // those of the modest store; empty if they are the same
}

func (c requestCase) wantOf(p profile) string {
	if p.name == "modest" && c.modest != "" {
		return c.modest
	}
	return c.want
}

// TestRequests counts what each operation costs, as its doc comment says.
func TestRequests(t *testing.T) {
	for _, group := range []struct {
		name  string
		cases []requestCase
	}{
		{"read", readRequests()}, {"ls", lsRequests()}, {"write", writeRequests()}, {"rm", rmRequests()},
		{"mkdir", mkdirRequests()}, {"copy", copyRequests()}, {"walk", walkRequests()}, {"glob", globRequests()},
		{"grep", grepRequests()},
	} {
		for _, c := range group.cases {
			for _, p := range profiles() {
				t.Run(group.name+"/"+c.name+"/"+p.name, func(t *testing.T) { c.test(t, p) })
			}
		}
	}
}

func (c requestCase) test(t *testing.T, p profile) {
	ctx := t.Context()
	server := s3test.New(t, p.options)
	seed(server, c.keys...)
	fsys := inProcess(server, p.compat).open(t, "p", objectstore.Options{})
	if c.before != nil {
		if err := c.before(ctx, fsys); err != nil {
			t.Fatalf("preparing: %v", err)
		}
	}
	server.ResetRequests()
	if err := c.do(ctx, fsys); !errors.Is(err, c.kind) {
		t.Errorf("error = %v, want %v", err, c.kind)
	}
	if got, want := trace(server.Requests()), c.wantOf(p); got != want {
		t.Errorf("requests = %q, want %q", got, want)
	}
}

// trace spells the operations of requests, and how often those that were
// repeated were sent: "ListObjectsV2*10 GetObject".
func trace(requests []s3test.Request) string {
	var spelled []string
	for i := 0; i < len(requests); {
		n := 1
		for i+n < len(requests) && requests[i+n].Op == requests[i].Op {
			n++
		}
		op := requests[i].Op
		if n > 1 {
			op = fmt.Sprintf("%s*%d", op, n)
		}
		spelled = append(spelled, op)
		i += n
	}
	return strings.Join(spelled, " ")
}

// The operations that cases share.

type action = func(ctx context.Context, f *objectstore.FS) error

func readFile(name string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		_, err := f.ReadFile(ctx, name)
		return err
	}
}

func stat(name string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		_, err := f.Stat(ctx, name)
		return err
	}
}

func write(name string, opts *workspace.WriteOptions) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		_, err := f.WriteFile(ctx, name, []byte("new"), opts)
		return err
	}
}

func rm(name string, recursive bool) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		return f.Rm(ctx, name, &workspace.RmOptions{Recursive: recursive})
	}
}

func mkdir(name string, recursive bool) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		return f.Mkdir(ctx, name, &workspace.MkdirOptions{Recursive: recursive})
	}
}

// lists asks for a listing of want entries.
func lists(dir string, opts *workspace.LsOptions, want int) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		infos, err := f.Ls(ctx, dir, opts)
		if err == nil && len(infos) != want {
			return fmt.Errorf("Ls(%q) has %d entries, want %d", dir, len(infos), want)
		}
		return err
	}
}
