package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// numberedTree is the directory dir with its marker, n files of different
// contents, and one in a directory below it.
func numberedTree(dir string, n int) objects {
	tree := objects{dir + "/": "", dir + "/sub/": "", dir + "/sub/deep": "deep"}
	for i, name := range numbered(dir+"/f%02d", n) {
		tree[name] = strings.Repeat(fmt.Sprint("file ", i), 1+i*partSize/20)
	}
	return tree
}

// TestMoveDenied refuses the 21st of 40 copies. The error says what happened,
// and the same move continues once the copy is allowed.
func TestMoveDenied(t *testing.T) {
	t.Parallel()
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			server := newFaultServer(p, numberedTree("d", 40))
			defer server.Close()
			s := inProcess(server, p.compat, impatient(2))
			fsys := s.open(t, faultPrefix, objectstore.Options{})
			var copies atomic.Int32
			server.Inject(func(r s3test.Request) s3test.Fault {
				if (r.Op == "CopyObject" || r.Op == "UploadPartCopy") && copies.Add(1) >= 21 {
					return s3test.Fault{Status: http.StatusForbidden, Code: "AccessDenied"}
				}
				return s3test.Fault{}
			})
			err := fsys.Move(t.Context(), "d", "m")
			if !errors.Is(err, fs.ErrPermission) || !strings.Contains(fmt.Sprint(err), "at least 20 files have the new name alone") {
				t.Errorf("Move = %v, want %v that says that 20 files have moved", err, fs.ErrPermission)
			}
			files := 0
			for key := range objectsOf(server) {
				if !strings.HasSuffix(key, "/") {
					files++
				}
			}
			if files != 41 {
				t.Errorf("there are %d files, want each of the 41 at one name", files)
			}
			server.Inject(nil)
			if err := s.open(t, faultPrefix, objectstore.Options{}).Move(t.Context(), "d", "m"); err != nil {
				t.Errorf("Move, again = %v, want nil", err)
			}
			if diff := cmp.Diff(numberedTree("m", 40), objectsOf(server)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMoveDeniedAtOnce refuses every copy: nothing has happened, and the error
// does not say otherwise.
func TestMoveDeniedAtOnce(t *testing.T) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			server := newFaultServer(p, numberedTree("d", 3))
			defer server.Close()
			server.Deny(faultPrefix + "/m/f")
			fsys := inProcess(server, p.compat, impatient(2)).open(t, faultPrefix, objectstore.Options{Workers: 1})
			err := fsys.Move(t.Context(), "d", "m")
			if !errors.Is(err, fs.ErrPermission) || strings.Contains(fmt.Sprint(err), "new name") {
				t.Errorf("Move = %v, want %v that says nothing of new names", err, fs.ErrPermission)
			}
			if _, err := fsys.Stat(t.Context(), "m"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Stat(%q) = %v, want %v", "m", err, fs.ErrNotExist)
			}
		})
	}
}

// TestMoveGivenUp gives up the first copy of a move: its context ends, or the answer takes too
// long. The store makes the copy after the move has returned, and the same move continues.
func TestMoveGivenUp(t *testing.T) {
	t.Parallel()
	aws := profiles()[0]
	for name, want := range map[string]error{"canceled": context.Canceled, "timeout": workspace.ErrUnavailable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newFaultServer(aws, numberedTree("d", 3))
			defer server.Close()
			fsys := inProcess(server, aws.compat, impatient(1)).open(t, faultPrefix, objectstore.Options{Workers: 1})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			returned := make(chan struct{})
			server.Inject(func(r s3test.Request) s3test.Fault {
				if r.Op == "CopyObject" {
					if name == "canceled" {
						cancel()
					}
					<-returned
				}
				return s3test.Fault{}
			})
			if name == "timeout" {
				fsys.SetTimeouts(briefly, briefly)
			}
			err := fsys.Move(ctx, "d", "m")
			server.Inject(nil)
			close(returned)
			fsys.SetTimeouts(patience, patience)
			if !errors.Is(err, want) {
				t.Fatalf("Move = %v, want %v", err, want)
			}
			pollUntil(t, "the late copy", func() bool { return objectsOf(server)["m/f00"] != "" })
			if again := fsys.Move(t.Context(), "d", "m"); again != nil {
				t.Errorf("Move again, after %v = %v, want nil", err, again)
			}
			if diff := cmp.Diff(numberedTree("m", 3), objectsOf(server)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMoveKilled ends a move before, or after, each of its requests, as if the
// process had been killed, and moves again in another process.
func TestMoveKilled(t *testing.T) {
	exhaustive.Long(t)
	for _, p := range profiles() {
		for _, served := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/served=%v", p.name, served), func(t *testing.T) {
				t.Parallel()
				step := exhaustive.Some(t, "two of three requests, others each time", 1, 3)
				for n := 1 + rand.IntN(step); moveKilled(t, p, n, served); n += step {
				}
			})
		}
	}
}

// moveKilled ends the move at its request n, which may be served before. It
// returns false if there was none.
func moveKilled(t *testing.T, p profile, n int, served bool) (reached bool) {
	server := newFaultServer(p, numberedTree("d", 5))
	defer server.Close()
	s := inProcess(server, p.compat, impatient(1))
	open := func() *objectstore.FS {
		fsys := s.open(t, faultPrefix, objectstore.Options{Workers: 2})
		fsys.SetPartSizes(partSize)
		return fsys
	}
	var count atomic.Int32
	server.Inject(func(s3test.Request) s3test.Fault {
		switch i := int(count.Add(1)); {
		case i == n:
			return s3test.Fault{Reset: !served, ResetAfter: served}
		case i > n:
			return s3test.Fault{Reset: true}
		}
		return s3test.Fault{}
	})
	err := open().Move(t.Context(), "d", "m")
	server.Inject(nil)
	if int(count.Load()) < n {
		if err != nil {
			t.Errorf("Move = %v, want nil", err)
		}
		return false
	}
	again := open().Move(t.Context(), "d", "m")
	if again != nil && !errors.Is(again, fs.ErrNotExist) {
		t.Errorf("request %d: Move again, after %v = %v, want nil", n, err, again)
	}
	if diff := cmp.Diff(numberedTree("m", 5), objectsOf(server)); diff != "" {
		t.Errorf("request %d: objects (-want +got):\n%s", n, diff)
	}
	// Nothing is left of the move that is done.
	server.Put(bucket, faultPrefix+"/d/f", []byte("new"))
	if err := open().Move(t.Context(), "d", "m"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("request %d: Move to what exists = %v, want %v", n, err, fs.ErrExist)
	}
	return true
}

// TestMoveResumedOverOther writes a file at the new name while the move is not
// done. It stays, and so does the one that would have taken its name.
func TestMoveResumedOverOther(t *testing.T) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			server := newFaultServer(p, objects{"d/f": "mine"})
			defer server.Close()
			fsys := inProcess(server, p.compat, impatient(1)).open(t, faultPrefix, objectstore.Options{})
			server.Inject(func(r s3test.Request) s3test.Fault {
				if r.Key == faultPrefix+"/d/f" && (r.Op == "PutObject" || r.Op == "DeleteObject") {
					return s3test.Fault{Reset: true}
				}
				return s3test.Fault{}
			})
			if err := fsys.Move(t.Context(), "d", "m"); err == nil || !strings.Contains(err.Error(), "others may have both") {
				t.Fatalf("Move = %v, want an error that says that a file may have both names", err)
			}
			server.Inject(nil)
			if _, err := fsys.WriteFile(t.Context(), "m/f", []byte("ours"), nil); err != nil {
				t.Fatal(err)
			}
			if err := fsys.Move(t.Context(), "d", "m"); !errors.Is(err, fs.ErrExist) {
				t.Errorf("Move, again = %v, want %v", err, fs.ErrExist)
			}
			if got := objectsOf(server); got["d/f"] != "mine" || got["m/f"] != "ours" {
				t.Errorf("objects = %q, want both files as they were", got)
			}
		})
	}
}

// TestMoveResumedTakenBack resumes a move while the other one takes back its copy. The file has
// not been created by somebody else, and the same move again continues.
func TestMoveResumedTakenBack(t *testing.T) {
	p := profiles()[1]
	server := newFaultServer(p, objects{"d/f": "mine"})
	defer server.Close()
	s := inProcess(server, p.compat, impatient(1))
	fsys := s.open(t, faultPrefix, objectstore.Options{})
	source, copied := faultPrefix+"/d/f", faultPrefix+"/m/f"
	server.Inject(func(r s3test.Request) s3test.Fault {
		return s3test.Fault{Reset: r.Key == source && r.Op == "PutObject"}
	})
	if err := fsys.Move(t.Context(), "d", "m"); err == nil {
		t.Fatal("Move = nil, want an error")
	}
	var looks atomic.Int32
	server.Inject(func(r s3test.Request) s3test.Fault {
		if r.Key == copied && r.Op == "HeadObject" && looks.Add(1) == 2 { // the first is of the copy that is refused
			s.putTombstone(t, copied)
		}
		return s3test.Fault{}
	})
	if err := fsys.Move(t.Context(), "d", "m"); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("Move, again = %v, want %v", err, workspace.ErrUnavailable)
	}
	if err := fsys.Move(t.Context(), "d", "m"); err != nil {
		t.Errorf("Move, once more = %v, want nil", err)
	}
	if got := objectsOf(server); got["m/f"] != "mine" {
		t.Errorf("objects = %q, want the file at its new name", got)
	}
}

// TestMovesMeet moves one directory many times at once, to one name and to
// several, each as often as it takes. No file is lost.
func TestMovesMeet(t *testing.T) {
	exhaustive.Long(t)
	for _, p := range profiles() {
		for _, destinations := range [][]string{{"m", "m", "m", "m"}, {"m", "m", "n", "n"}} {
			t.Run(p.name+"/"+strings.Join(destinations, ""), func(t *testing.T) {
				server := newFaultServer(p, numberedTree("d", 30))
				defer server.Close()
				s := inProcess(server, p.compat, impatient(1))
				var group sync.WaitGroup
				for _, destination := range destinations {
					group.Go(func() {
						fsys := s.open(t, faultPrefix, objectstore.Options{Workers: 3})
						for range 50 {
							err := fsys.Move(t.Context(), "d", destination)
							if err == nil || errors.Is(err, fs.ErrNotExist) {
								return
							}
							if !errors.Is(err, workspace.ErrUnavailable) && !errors.Is(err, fs.ErrExist) {
								t.Errorf("Move(%q) = %v, want %v or %v", destination, err, workspace.ErrUnavailable, fs.ErrExist)
							}
						}
					})
				}
				group.Wait()
				found := make(map[string]bool)
				for _, content := range objectsOf(server) {
					found[content] = true
				}
				for name, content := range numberedTree("d", 30) {
					if !found[content] {
						t.Errorf("the content of %q is lost", name)
					}
				}
			})
		}
	}
}

// breaking is a way to a store that ends with its request number n.
type breaking struct {
	s3.HTTPClient
	left atomic.Int32
}

func (b *breaking) Do(request *http.Request) (*http.Response, error) {
	if b.left.Add(-1) < 0 {
		return nil, errors.New("the connection is lost")
	}
	return b.HTTPClient.Do(request)
}

// TestMoveResumed ends a move after some requests to each kind of store.
func TestMoveResumed(t *testing.T) {
	everyStore(t, func(t *testing.T, s store) {
		fsys, prefix := s.emptyPrefix(t)
		for name := range numberedTree("d", 5) {
			if !strings.HasSuffix(name, "/") {
				if err := createText(name, name, nil)(t.Context(), fsys); err != nil {
					t.Fatal(err)
				}
			}
		}
		way := &breaking{HTTPClient: s.client.Options().HTTPClient}
		way.left.Store(12)
		broken := s
		broken.client = s3.New(s.client.Options(), impatient(1), func(o *s3.Options) { o.HTTPClient = way })
		if err := broken.open(t, prefix, objectstore.Options{Workers: 1}).Move(t.Context(), "d", "m"); err == nil {
			t.Fatal("Move = nil, want an error: it takes more requests")
		}
		if err := fsys.Move(t.Context(), "d", "m"); err != nil {
			t.Errorf("Move, again = %v, want nil", err)
		}
		paths, err := walked(t.Context(), fsys, ".", nil)
		if want := "m m/f00 m/f01 m/f02 m/f03 m/f04 m/sub m/sub/deep"; err != nil || strings.Join(paths, " ") != want {
			t.Errorf("Walk = %q, %v, want %s", paths, err, want)
		}
		if err := fsys.Mkdir(t.Context(), "d", nil); err != nil {
			t.Fatal(err)
		}
		if err := fsys.Move(t.Context(), "d", "m"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Move to what exists = %v, want %v", err, fs.ErrExist)
		}
	})
}
