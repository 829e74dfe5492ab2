package objectstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// lostCase is a write whose answer is lost, so that it is sent again.
type lostCase struct {
	name string
	op   string // the request
	size int    // of what is written; more than partSize makes an upload
	opts func(version workspace.Version) *workspace.WriteOptions
	old  bool  // the file exists
	kind error // if the condition does not hold; nil if there is none
}

func lostCases() []lostCase {
	anyway := func(workspace.Version) *workspace.WriteOptions { return nil }
	ifNotExist := func(workspace.Version) *workspace.WriteOptions { return &workspace.WriteOptions{IfNotExist: true} }
	ifVersion := func(v workspace.Version) *workspace.WriteOptions { return &workspace.WriteOptions{IfVersion: v} }
	const put, complete, long = "PutObject", "CompleteMultipartUpload", 3 * partSize
	return []lostCase{
		{name: "put", op: put, size: 10, opts: anyway, old: true},
		{name: "put-if-not-exist", op: put, size: 10, opts: ifNotExist, kind: fs.ErrExist},
		{name: "put-if-version", op: put, size: 10, opts: ifVersion, old: true, kind: workspace.ErrConflict},
		{name: "complete", op: complete, size: long, opts: anyway, old: true},
		{name: "complete-if-not-exist", op: complete, size: long, opts: ifNotExist, kind: fs.ErrExist},
		{name: "complete-if-version", op: complete, size: long, opts: ifVersion, old: true, kind: workspace.ErrConflict},
	}
}

// lost is a store with the file "f", if the case has it, where the first
// answer to the request of the case is lost. again is called before the second
// is served, and may answer it.
func (c lostCase) lost(t *testing.T, again func(server *s3test.Server, key string) s3test.Fault) (*s3test.Server, *objectstore.FS, workspace.Version) {
	server := newFaultServer(profiles()[0], nil)
	t.Cleanup(server.Close)
	fsys := inProcess(server, awsCompat(), impatient(3)).open(t, faultPrefix, objectstore.Options{})
	fsys.SetPartSizes(partSize)
	var version workspace.Version
	if c.old {
		var err error
		if version, err = fsys.WriteFile(t.Context(), "f", []byte("old"), nil); err != nil {
			t.Fatal(err)
		}
	}
	var sent atomic.Int32
	server.Inject(func(r s3test.Request) s3test.Fault {
		if r.Op != c.op {
			return s3test.Fault{}
		}
		if sent.Add(1) == 1 {
			return s3test.Fault{ResetAfter: true}
		}
		return again(server, r.Key)
	})
	return server, fsys, version
}

func (c lostCase) write(t *testing.T, f *objectstore.FS, version workspace.Version) (workspace.Version, error) {
	w, err := f.Create(t.Context(), "f", c.opts(version))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Write([]byte(c.content())); err != nil {
		t.Fatal(err)
	}
	return w.Commit()
}

func (c lostCase) content() string { return strings.Repeat("x", c.size) }

// TestLostAnswer loses the answer to a write that took place, whose second
// sending the store refuses because of the first one's success. The write is
// reported as done.
func TestLostAnswer(t *testing.T) {
	for _, c := range lostCases() {
		t.Run(c.name, func(t *testing.T) {
			server, fsys, version := c.lost(t, func(_ *s3test.Server, _ string) s3test.Fault {
				if c.op == "CompleteMultipartUpload" { // as some stores have it
					return s3test.Fault{Status: http.StatusNotFound, Code: "NoSuchUpload"}
				}
				return s3test.Fault{}
			})
			got, err := c.write(t, fsys, version)
			if err != nil {
				t.Fatalf("Commit = %v, want nil", err)
			}
			data, now, err := fsys.ReadVersioned(t.Context(), "f", 0)
			if err != nil || string(data) != c.content() || now != got {
				t.Errorf("file has %d bytes of version %q, %v; want %d of %q", len(data), now, err, c.size, got)
			}
			if uploads := server.Uploads(); len(uploads) > 0 {
				t.Errorf("uploads left open: %v", uploads)
			}
		})
	}
}

// TestLostAnswerDenied has the credentials refused once the answer to a write was lost. What
// was written can be seen as long as the file can be described. Otherwise nobody knows, and the
// error is not that of a refusal, which changes nothing.
func TestLostAnswerDenied(t *testing.T) {
	for _, c := range lostCases() {
		for _, described := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/described=%t", c.name, described), func(t *testing.T) {
				server, fsys, version := c.lost(t, nil)
				var sent atomic.Int32
				server.Inject(func(r s3test.Request) s3test.Fault {
					switch {
					case r.Op == c.op && sent.Add(1) == 1:
						return s3test.Fault{ResetAfter: true}
					case r.Op == c.op, r.Op == "HeadObject" && sent.Load() > 0 && !described:
						return s3test.Fault{Status: http.StatusForbidden, Code: "AccessDenied"}
					}
					return s3test.Fault{}
				})
				_, err := c.write(t, fsys, version)
				if described && (c.kind != nil || c.op == "CompleteMultipartUpload") { // the requests have a token
					if err != nil {
						t.Errorf("Commit = %v, want nil", err)
					}
				} else if !errors.Is(err, workspace.ErrUnavailable) || errors.Is(err, fs.ErrPermission) {
					t.Errorf("Commit = %v, want %v and no refusal", err, workspace.ErrUnavailable)
				}
			})
		}
	}
}

// lostCopy returns a store with the file "f" that loses the answer to the first copy that took place.
// again is what comes with a repetition.
func lostCopy(t *testing.T, again func(*s3test.Server) s3test.Fault) (*s3test.Server, *objectstore.FS) {
	server := newFaultServer(profiles()[0], nil)
	t.Cleanup(server.Close)
	seed(server, "f")
	var sent atomic.Int32
	server.Inject(func(r s3test.Request) s3test.Fault {
		switch {
		case r.Op != "CopyObject":
			return s3test.Fault{}
		case sent.Add(1) == 1:
			return s3test.Fault{ResetAfter: true}
		}
		return again(server)
	})
	return server, inProcess(server, awsCompat(), impatient(2)).open(t, "p", objectstore.Options{})
}

// TestLostCopy loses the answer to a copy that took place. What comes then: the store refuses the
// repetition, also because the source was removed since, or does not answer again.
func TestLostCopy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		do    action
		again s3test.Fault
		left  []string
	}{
		{"copy", copyFile("f", "g"), s3test.Fault{}, []string{"f", "g"}},
		{"copy-refused", copyFile("f", "g"), s3test.Fault{Status: http.StatusNotFound, Code: "NoSuchKey"}, []string{"f", "g"}},
		{"copy-denied", copyFile("f", "g"), s3test.Fault{Status: http.StatusForbidden, Code: "AccessDenied"}, []string{"f", "g"}},
		{"copy-lost", copyFile("f", "g"), s3test.Fault{ResetAfter: true}, []string{"f", "g"}},
		{"move", moveTo("f", "g"), s3test.Fault{}, []string{"g"}},
		{"move-directory", moveTo("d", "e"), s3test.Fault{}, []string{"e/", "e/f", "f"}},
	} {
		server, fsys := lostCopy(t, func(*s3test.Server) s3test.Fault { return c.again })
		if c.name == "move-directory" {
			seed(server, "d/f")
		}
		if err := c.do(t.Context(), fsys); err != nil {
			t.Errorf("%s = %v, want nil", c.name, err)
		}
		left := server.Objects(bucket)
		for i, key := range left {
			left[i] = strings.TrimPrefix(key, "p/")
		}
		if !slices.Equal(left, c.left) {
			t.Errorf("%s leaves %q, want %q", c.name, left, c.left)
		}
	}
}

// TestLostCopyOvertaken lets somebody else write the copy before one whose answer was lost is sent
// again, and has the source removed or the credentials refused then. It cannot be known that the copy
// took place.
func TestLostCopyOvertaken(t *testing.T) {
	t.Parallel()
	for _, again := range []s3test.Fault{{}, {Status: http.StatusNotFound, Code: "NoSuchKey"}, {Status: http.StatusForbidden, Code: "AccessDenied"}} {
		server, fsys := lostCopy(t, func(server *s3test.Server) s3test.Fault {
			server.Put(bucket, "p/g", []byte("other"))
			return again
		})
		_, err := fsys.Copy(t.Context(), "f", "g")
		if !errors.Is(err, workspace.ErrUnavailable) || !strings.Contains(err.Error(), "to see") {
			t.Errorf("Copy, and %d to its repetition = %v, want %v that says to read the file", again.Status, err, workspace.ErrUnavailable)
		}
		if data, _ := server.Get(bucket, "p/g"); string(data) != "other" {
			t.Errorf("the copy = %.50q, want what the other wrote", data)
		}
	}
}

// TestLostAnswerOvertaken lets somebody else write the file before a write
// whose answer was lost is sent again. It cannot be known that it took place,
// and the other's content stays.
func TestLostAnswerOvertaken(t *testing.T) {
	for _, c := range lostCases() {
		if c.kind == nil {
			continue // what has no condition is written again
		}
		t.Run(c.name, func(t *testing.T) {
			server, fsys, version := c.lost(t, func(server *s3test.Server, key string) s3test.Fault {
				server.Put(bucket, key, []byte("other"))
				if c.op == "CompleteMultipartUpload" {
					return s3test.Fault{Status: http.StatusPreconditionFailed, Code: "PreconditionFailed"}
				}
				return s3test.Fault{}
			})
			_, err := c.write(t, fsys, version)
			if !errors.Is(err, workspace.ErrUnavailable) || errors.Is(err, c.kind) || !strings.Contains(err.Error(), "read it to see") {
				t.Errorf("Commit = %v, want %v that says to read the file", err, workspace.ErrUnavailable)
			}
			if data, _ := server.Get(bucket, faultPrefix+"/f"); string(data) != "other" {
				t.Errorf("file = %.50q, want what the other wrote", data)
			}
		})
	}
}

// TestRefusedAtOnce has the condition not hold from the start. No answer was
// lost, so there is no doubt about what that means.
func TestRefusedAtOnce(t *testing.T) {
	for _, c := range lostCases() {
		if c.kind == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			server, fsys, version := c.lost(t, func(*s3test.Server, string) s3test.Fault { return s3test.Fault{} })
			server.Inject(nil)
			server.Put(bucket, faultPrefix+"/f", []byte("other"))
			if _, err := c.write(t, fsys, version); !errors.Is(err, c.kind) || errors.Is(err, workspace.ErrUnavailable) {
				t.Errorf("Commit = %v, want %v", err, c.kind)
			}
		})
	}
}

// TestRefusedUnread has a server refuse a conditional write by closing the
// connection before it has read it, once or always. What the server has not
// read cannot have taken place, so there is no doubt about the result.
func TestRefusedUnread(t *testing.T) {
	t.Parallel()
	large := make([]byte, 32<<20) // more than the buffers of a connection hold
	for _, c := range []struct {
		name  string
		opts  workspace.WriteOptions
		holds bool // the condition
		kind  error
	}{
		{name: "if-not-exist", opts: workspace.WriteOptions{IfNotExist: true}, kind: fs.ErrExist},
		{name: "if-version", opts: workspace.WriteOptions{IfVersion: "stale"}, kind: workspace.ErrConflict},
		{name: "if-not-exist-holds", opts: workspace.WriteOptions{IfNotExist: true}, holds: true},
	} {
		for name, times := range map[string]int32{"once": 1, "always": 100} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				server := s3test.New(t, nil)
				if !c.holds {
					server.Put(bucket, faultPrefix+"/f", []byte("other"))
				}
				fsys := inProcess(server, awsCompat(), impatient(3)).open(t, faultPrefix, objectstore.Options{})
				var sent atomic.Int32
				server.Inject(func(r s3test.Request) s3test.Fault {
					return s3test.Fault{Unread: r.Op == "PutObject" && sent.Add(1) <= times}
				})
				want := c.kind
				if c.holds && name == "always" {
					want = workspace.ErrUnavailable
				}
				if _, err := fsys.WriteFile(t.Context(), "f", large, &c.opts); !errors.Is(err, want) {
					t.Errorf("WriteFile = %v, want %v", err, want)
				}
			})
		}
	}
}

// TestRefusedEarly has the store itself refuse many conditional writes of
// several MiB, which a server may do before it has read them.
func TestRefusedEarly(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, s store) {
		f := s.empty(t)
		if _, err := f.WriteFile(t.Context(), "f", []byte("other"), nil); err != nil {
			t.Fatal(err)
		}
		rounds := exhaustive.Some(t, "most of 60 rounds", 60, 12)
		if testing.Short() {
			rounds = 6
		}
		for i := range rounds {
			opts, want := &workspace.WriteOptions{IfNotExist: true}, fs.ErrExist
			if i%2 == 0 {
				opts, want = &workspace.WriteOptions{IfVersion: "stale"}, workspace.ErrConflict
			}
			if _, err := f.WriteFile(t.Context(), "f", make([]byte, 300<<10+(i%6)<<20), opts); !errors.Is(err, want) {
				t.Errorf("write %d = %v, want %v", i, err, want)
			}
		}
	})
}
