package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestSourceOvertaken lets somebody else write or remove the source of a copy
// or a move just before the store is asked to copy it, or to delete it.
func TestSourceOvertaken(t *testing.T) {
	copies := func(r s3test.Request) bool { return r.Op == "CopyObject" || r.Op == "UploadPartCopy" }
	takes := func(r s3test.Request) bool {
		return r.Key == "p/f" && (r.Op == "DeleteObject" || r.Op == "PutObject")
	}
	overwrite := func(server *s3test.Server) { server.Put(bucket, "p/f", []byte("other")) }
	remove := func(server *s3test.Server) { server.Delete(bucket, "p/f") }
	for _, c := range []struct {
		name   string
		do     action
		when   func(r s3test.Request) bool
		happen func(server *s3test.Server)
		want   error
		left   string // at the source
	}{
		{"copy-overwritten", copyFile("f", "g"), copies, overwrite, workspace.ErrUnavailable, "other"},
		{"copy-removed", copyFile("f", "g"), copies, remove, fs.ErrNotExist, ""},
		{"move-overwritten", moveTo("f", "g"), copies, overwrite, workspace.ErrUnavailable, "other"},
		{"move-removed", moveTo("f", "g"), copies, remove, fs.ErrNotExist, ""},
		{"move-overwritten-late", moveTo("f", "g"), takes, overwrite, workspace.ErrUnavailable, "other"},
		{"move-removed-late", moveTo("f", "g"), takes, remove, fs.ErrNotExist, ""},
	} {
		for _, p := range profiles() {
			t.Run(c.name+"/"+p.name, func(t *testing.T) {
				server := s3test.New(t, p.options)
				server.Put(bucket, "p/f", []byte("content"))
				f := inProcess(server, p.compat).open(t, "p", objectstore.Options{})
				var once sync.Once
				server.Inject(func(r s3test.Request) s3test.Fault {
					if c.when(r) {
						once.Do(func() { c.happen(server) })
					}
					return s3test.Fault{}
				})
				if err := c.do(t.Context(), f); !errors.Is(err, c.want) {
					t.Errorf("error = %v, want %v", err, c.want)
				}
				if left, _ := server.Get(bucket, "p/f"); string(left) != c.left {
					t.Errorf("the source holds %q, want %q", left, c.left)
				}
				if copied, ok := server.Get(bucket, "p/g"); ok {
					t.Errorf("there is a copy, %q, want none", copied)
				}
				if uploads := server.Uploads(); len(uploads) > 0 {
					t.Errorf("uploads left open: %v", uploads)
				}
			})
		}
	}
}

// TestCopyOvertaken lets somebody else write both names of a move just before the store is
// asked to delete the source. The move has to leave its copy, which is another's file now.
func TestCopyOvertaken(t *testing.T) {
	for _, c := range []struct{ name, source, destination, from, to string }{
		{"file", "f", "g", "p/f", "p/g"},
		{"directory", "d", "e", "p/d/f", "p/e/f"},
	} {
		for _, p := range profiles() {
			t.Run(c.name+"/"+p.name, func(t *testing.T) {
				server := s3test.New(t, p.options)
				server.Put(bucket, c.from, []byte("content"))
				f := inProcess(server, p.compat).open(t, "p", objectstore.Options{})
				var once sync.Once
				server.Inject(func(r s3test.Request) s3test.Fault {
					if r.Key == c.from && (r.Op == "DeleteObject" || r.Op == "PutObject") {
						once.Do(func() {
							server.Put(bucket, c.from, []byte("other source"))
							server.Put(bucket, c.to, []byte("other copy"))
						})
					}
					return s3test.Fault{}
				})
				if err := f.Move(t.Context(), c.source, c.destination); !errors.Is(err, workspace.ErrUnavailable) {
					t.Errorf("Move(%q, %q) = %v, want %v", c.source, c.destination, err, workspace.ErrUnavailable)
				}
				for key, want := range map[string]string{c.from: "other source", c.to: "other copy"} {
					if data, _ := server.Get(bucket, key); string(data) != want {
						t.Errorf("%q holds %q, want %q", key, data, want)
					}
				}
			})
		}
	}
}

// TestHeadLies has a HEAD say another length than the object has, as proxies
// do. What is copied or moved is the whole object.
func TestHeadLies(t *testing.T) {
	for _, length := range []int64{0, 3} {
		for _, p := range profiles() {
			t.Run(fmt.Sprintf("%d/%s", length, p.name), func(t *testing.T) {
				server := s3test.New(t, p.options)
				server.Put(bucket, "p/f", []byte("content"))
				f := inProcess(server, p.compat).open(t, "p", objectstore.Options{})
				server.Inject(func(r s3test.Request) s3test.Fault {
					if r.Op != "HeadObject" {
						return s3test.Fault{}
					}
					return s3test.Fault{Edit: func(a *s3test.Answer) { a.Length = length }}
				})
				for _, do := range []action{copyFile("f", "g"), moveTo("g", "h")} {
					if err := do(t.Context(), f); err != nil {
						t.Fatal(err)
					}
				}
				for _, key := range []string{"p/f", "p/h"} {
					if data, _ := server.Get(bucket, key); string(data) != "content" {
						t.Errorf("%q holds %q, want %q", key, data, "content")
					}
				}
			})
		}
	}
}

// TestCopyMadeAgain lets somebody else write the same bytes at the new name, and remove the
// source, just before a move is asked to delete the source. The move has to leave the other
// one's file, whose ETag is that of its own copy.
func TestCopyMadeAgain(t *testing.T) {
	moved := func(ctx context.Context, f *objectstore.FS, source, destination string) error {
		if err := f.Rm(ctx, destination, nil); err != nil {
			return err
		}
		return f.Move(ctx, source, destination)
	}
	written := func(ctx context.Context, f *objectstore.FS, source, destination string) error {
		data, err := f.ReadFile(ctx, source)
		if err != nil {
			return err
		}
		if _, err := f.WriteFile(ctx, destination, data, nil); err != nil {
			return err
		}
		return f.Rm(ctx, source, nil)
	}
	for _, c := range []struct {
		name, source, destination, from, to, content string
		other                                        func(ctx context.Context, f *objectstore.FS, source, destination string) error
	}{
		{"moved", "f", "g", "f", "g", "content", moved},
		{"moved-empty", "f", "g", "f", "g", "", moved},
		{"written", "f", "g", "f", "g", "content", written},
		{"written-empty", "f", "g", "f", "g", "", written},
		{"directory-written", "d", "e", "d/f", "e/f", "content", written},
		{"directory-moved", "d", "e", "d/f", "e/f", "content", moved},
	} {
		for _, p := range profiles() {
			t.Run(c.name+"/"+p.name, func(t *testing.T) {
				server := s3test.New(t, p.options)
				server.Put(bucket, "p/"+c.from, []byte(c.content))
				s := inProcess(server, p.compat)
				other := s.open(t, "p", objectstore.Options{})
				var once sync.Once
				server.Inject(func(r s3test.Request) s3test.Fault {
					if r.Key == "p/"+c.from && (r.Op == "DeleteObject" || r.Op == "PutObject") {
						once.Do(func() {
							server.Inject(nil)
							if err := c.other(context.Background(), other, c.from, c.to); err != nil {
								t.Error(err)
							}
						})
					}
					return s3test.Fault{}
				})
				if err := s.open(t, "p", objectstore.Options{}).Move(t.Context(), c.source, c.destination); err == nil {
					t.Errorf("Move(%q, %q) = nil, want an error", c.source, c.destination)
				}
				if data, ok := server.Get(bucket, "p/"+c.to); !ok || string(data) != c.content {
					t.Errorf("%q holds %q, exists %v, want %q", c.to, data, ok, c.content)
				}
			})
		}
	}
}

// TestMovedBack has the store refuse the removal of a move's source once, and somebody else move
// the file back before it is asked again. The file stays.
func TestMovedBack(t *testing.T) {
	for _, c := range []struct{ name, source, destination, from, to string }{
		{"file", "f", "g", "f", "g"},
		{"directory", "d", "e", "d/f", "e/f"},
	} {
		for _, op := range []string{"PutObject", "DeleteObject"} { // of the tombstone, or of the file
			for _, p := range profiles() {
				if op == "PutObject" && p.compat.ConditionalDelete {
					continue
				}
				t.Run(c.name+"/"+op+"/"+p.name, func(t *testing.T) {
					server := s3test.New(t, p.options)
					server.Put(bucket, "p/"+c.from, []byte("content"))
					s := inProcess(server, p.compat, impatient(3))
					other := s.open(t, "p", objectstore.Options{})
					var once sync.Once
					server.Inject(func(r s3test.Request) (fault s3test.Fault) {
						if r.Key == "p/"+c.from && r.Op == op {
							once.Do(func() {
								server.Inject(nil)
								if _, err := other.WriteFile(context.Background(), c.from, []byte("content"), nil); err != nil {
									t.Error(err)
								}
								server.Delete(bucket, "p/"+c.to)
								fault = s3test.Fault{Status: http.StatusServiceUnavailable, Code: "SlowDown"}
							})
						}
						return fault
					})
					err := s.open(t, "p", objectstore.Options{}).Move(t.Context(), c.source, c.destination)
					if data, _ := server.Get(bucket, "p/"+c.from); string(data) != "content" {
						t.Errorf("%q holds %q after Move = %v, want %q", c.from, data, err, "content")
					}
				})
			}
		}
	}
}
