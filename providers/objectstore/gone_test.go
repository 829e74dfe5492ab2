package objectstore_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestInterruptedMove looks at what a move leaves that ends before its last
// request: the object that took the place of the source is no file.
func TestInterruptedMove(t *testing.T) {
	ctx, server := t.Context(), s3test.New(t, modest())
	s := inProcess(server, otherCompat())
	fsys := s.open(t, "p", objectstore.Options{})
	seed(server, "d/")
	s.putTombstone(t, "p/d/f")
	if infos, err := fsys.Ls(ctx, "d", nil); err != nil || len(infos) != 0 {
		t.Errorf("Ls(%q) = %v, %v, want nothing", "d", infos, err)
	}
	if paths, err := fsys.Glob(ctx, "**", nil); err != nil || len(paths) != 0 {
		t.Errorf("Glob(%q) = %v, %v, want nothing", "**", paths, err)
	}
	if _, err := fsys.ReadFile(ctx, "d/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile(%q) = %v, want %v", "d/f", err, fs.ErrNotExist)
	}
	if _, err := fsys.Stat(ctx, "d/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(%q) = %v, want %v", "d/f", err, fs.ErrNotExist)
	}
	if _, err := fsys.WriteFile(ctx, "d/f", []byte("new"), &workspace.WriteOptions{IfNotExist: true}); err != nil {
		t.Errorf("WriteFile(%q, IfNotExist) = %v, want nil", "d/f", err)
	}
	if data, err := fsys.ReadFile(ctx, "d/f"); err != nil || string(data) != "new" {
		t.Errorf("ReadFile(%q) = %q, %v, want %q", "d/f", data, err, "new")
	}
}

// TestListedTombstoneReplaced lists a directory whose tombstone is replaced by a file after the store
// has listed it.
func TestListedTombstoneReplaced(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, modest())
	s := inProcess(server, otherCompat())
	s.putTombstone(t, "p/d/f")
	fsys := s.open(t, "p", objectstore.Options{})
	server.Inject(func(r s3test.Request) s3test.Fault {
		if r.Op == "HeadObject" {
			server.Put(bucket, "p/d/f", []byte("new"))
		}
		return s3test.Fault{}
	})
	infos, err := fsys.Ls(t.Context(), "d", nil)
	if err != nil || len(infos) != 1 {
		t.Fatalf("Ls(%q) = %v, %v, want the file", "d", infos, err)
	}
	if want, err := fsys.Stat(t.Context(), "d/f"); err != nil || infos[0] != want {
		t.Errorf("Ls(%q) = %v, want %v, %v as Stat says", "d", infos[0], want, err)
	}
}

// TestRmOfInterruptedMove removes a directory that has no more than that in it.
func TestRmOfInterruptedMove(t *testing.T) {
	server := s3test.New(t, modest())
	s := inProcess(server, otherCompat())
	seed(server, "d/")
	s.putTombstone(t, "p/d/f")
	fsys := s.open(t, "p", objectstore.Options{})
	if err := fsys.Rm(t.Context(), "d", nil); err != nil {
		t.Errorf("Rm(%q) = %v, want nil", "d", err)
	}
	if left := server.Objects(bucket); len(left) != 0 {
		t.Errorf("the bucket holds %q, want nothing", left)
	}
}

// TestTombstoneText writes what a tombstone has in it. It is a file like others.
func TestTombstoneText(t *testing.T) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			ctx := t.Context()
			fsys := inProcess(s3test.New(t, p.options), p.compat).open(t, "p", objectstore.Options{})
			if err := createText("d/f", objectstore.GoneText, nil)(ctx, fsys); err != nil {
				t.Fatal(err)
			}
			if infos, err := fsys.Ls(ctx, "d", nil); err != nil || len(infos) != 1 {
				t.Errorf("Ls(%q) = %v, %v, want the file", "d", infos, err)
			}
			if paths, err := walked(ctx, fsys, "d", nil); err != nil || len(paths) != 1 {
				t.Errorf("Walk(%q) = %q, %v, want the file", "d", paths, err)
			}
			if err := fsys.Mkdir(ctx, "d/f", nil); !errors.Is(err, fs.ErrExist) {
				t.Errorf("Mkdir(%q) = %v, want %v", "d/f", err, fs.ErrExist)
			}
			if err := write("d/f/g", nil)(ctx, fsys); !errors.Is(err, workspace.ErrNotDir) {
				t.Errorf("WriteFile(%q) = %v, want %v", "d/f/g", err, workspace.ErrNotDir)
			}
			if err := fsys.Rm(ctx, "d", nil); !errors.Is(err, workspace.ErrNotEmpty) {
				t.Errorf("Rm(%q) = %v, want %v", "d", err, workspace.ErrNotEmpty)
			}
			if err := fsys.Rm(ctx, "d/f", nil); err != nil {
				t.Errorf("Rm(%q) = %v, want nil", "d/f", err)
			}
		})
	}
}

// TestRmOfRemovedObjects has somebody else delete each object first, and a store
// that says so.
func TestRmOfRemovedObjects(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, "file", "dir/a", "dir/b")
	server.Inject(func(r s3test.Request) s3test.Fault {
		switch r.Op {
		case "DeleteObject":
			return s3test.Fault{Status: 404, Code: "NoSuchKey"}
		case "DeleteObjects":
			return s3test.Fault{Edit: func(a *s3test.Answer) {
				missing := strings.NewReplacer("<Deleted>", "<Error><Code>NoSuchKey</Code>", "</Deleted>", "</Error>")
				a.Body = []byte(missing.Replace(string(a.Body)))
				a.Length = int64(len(a.Body))
			}}
		}
		return s3test.Fault{}
	})
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	for _, name := range []string{"file", "dir"} {
		if err := fsys.Rm(t.Context(), name, &workspace.RmOptions{Recursive: true}); err != nil {
			t.Errorf("Rm(%q, Recursive) = %v, want nil", name, err)
		}
	}
}

// TestMoveDirOverTombstone moves a directory to where another move has just ended
// before its last request. The file keeps what describes it.
func TestMoveDirOverTombstone(t *testing.T) {
	server := s3test.New(t, nil)
	s := inProcess(server, awsCompat())
	if _, err := s.client.PutObject(t.Context(), describedObject(s.bucket, "p/d/f")); err != nil {
		t.Fatal(err)
	}
	before, _ := s.descriptionOf(t, "p/d/f")
	server.Inject(func(r s3test.Request) s3test.Fault {
		if r.Op == "CopyObject" {
			s.putTombstone(t, "p/e/f")
		}
		return s3test.Fault{}
	})
	if err := s.open(t, "p", objectstore.Options{}).Move(t.Context(), "d", "e"); err != nil {
		t.Fatal(err)
	}
	after, _ := s.descriptionOf(t, "p/e/f")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("description (-before +after):\n%s", diff)
	}
}

// putTombstone makes the object key what takes the place of a file that is
// moved away.
func (s store) putTombstone(t *testing.T, key string) {
	t.Helper()
	_, err := s.client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: &s.bucket, Key: &key, Body: strings.NewReader(objectstore.GoneText),
		Metadata: map[string]string{"workspacekit-moved": "true"},
	})
	if err != nil {
		t.Error(err)
	}
}
