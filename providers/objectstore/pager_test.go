package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// filesOf walks over everything, and returns the files.
func filesOf(ctx context.Context, tb testing.TB, fsys *objectstore.FS) []string {
	tb.Helper()
	var files []string
	err := fsys.Walk(ctx, ".", nil, func(info workspace.FileInfo, err error) error {
		if info.Type == workspace.TypeFile {
			files = append(files, info.Path)
		}
		return err
	})
	if err != nil {
		tb.Fatalf("Walk(%q) = %v, want nil", ".", err)
	}
	return files
}

// TestWalkAgain walks a second time while the store changes in between, and
// finds what there is with no more requests than it takes to list that.
func TestWalkAgain(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "lists 5,500 objects")
	name := func(i int) string { return fmt.Sprintf("d%02d/f%05d", i%7, i) }
	all := make([]string, 5500)
	for i := range all {
		all[i] = name(i)
	}
	add := func(server *s3test.Server, prefix string, n int) {
		for i := range n {
			server.Put(bucket, fmt.Sprintf("p/%sx%05d", prefix, i), nil)
		}
	}
	remove := func(server *s3test.Server, keep func(key string) bool) {
		for _, key := range server.Objects(bucket) {
			if !keep(key) {
				server.Delete(bucket, key)
			}
		}
	}
	for change, c := range map[string]struct {
		change   func(server *s3test.Server)
		requests int // at most
	}{
		"nothing":       {func(*s3test.Server) {}, 6},
		"one-more":      {func(server *s3test.Server) { add(server, "d03/", 1) }, 7},
		"many-in-front": {func(server *s3test.Server) { add(server, "a/", 2500) }, 9},
		"many-inside":   {func(server *s3test.Server) { add(server, "d03/f", 2500) }, 9},
		"many-behind":   {func(server *s3test.Server) { add(server, "z/", 2500) }, 9},
		"half":          {func(server *s3test.Server) { remove(server, func(key string) bool { return key[len(key)-1]%2 == 0 }) }, 6},
		"none-in-middle": {func(server *s3test.Server) {
			remove(server, func(key string) bool { return key < "p/d02" || key > "p/d05" })
		}, 6},
		"no-end":       {func(server *s3test.Server) { remove(server, func(key string) bool { return key < "p/d02" }) }, 6},
		"no-beginning": {func(server *s3test.Server) { remove(server, func(key string) bool { return key > "p/d05" }) }, 6},
		"nothing-left": {func(server *s3test.Server) { remove(server, func(string) bool { return false }) }, 6},
	} {
		t.Run(change, func(t *testing.T) {
			exhaustive.Sample(t, 4)
			server := s3test.New(t, nil)
			seed(server, all...)
			fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
			filesOf(t.Context(), t, fsys)
			c.change(server)
			for round := range 3 {
				server.ResetRequests()
				want := []string{}
				for _, key := range server.Objects(bucket) {
					want = append(want, strings.TrimPrefix(key, "p/"))
				}
				got := append([]string{}, filesOf(t.Context(), t, fsys)...)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("walk %d differs (-want +got):\n%s", round, diff)
				}
				if n := len(server.Requests()); n > c.requests {
					t.Errorf("walk %d sent %d requests, want %d at most", round, n, c.requests)
				}
			}
		})
	}
}

// TestWalkAgainFromAfter pages through what has been listed, and leaves out
// directories, with the cuts of the first listing.
func TestWalkAgainFromAfter(t *testing.T) {
	exhaustive.Long(t)
	seed1, seed2 := rand.Uint64(), rand.Uint64()
	t.Logf("seed %d %d", seed1, seed2)
	random := rand.New(rand.NewPCG(seed1, seed2))
	server := s3test.New(t, nil)
	var names []string
	for i := range 6000 {
		names = append(names, fmt.Sprintf("d%d/e%d/f%04d", i/2000, i/500, i))
	}
	seed(server, names...)
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	whole := filesOf(t.Context(), t, fsys)
	for range 20 {
		after := whole[random.IntN(len(whole))]
		left := fmt.Sprintf("d%d", random.IntN(3))
		var got []string
		err := fsys.Walk(t.Context(), ".", &workspace.WalkOptions{After: after}, func(info workspace.FileInfo, _ error) error {
			if info.Path == left {
				return fs.SkipDir
			}
			if info.Type == workspace.TypeFile {
				got = append(got, info.Path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(whole), func(name string) bool {
			return name <= after || strings.HasPrefix(name, left+"/") && left > after
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Walk(After: %q) without %q differs (-want +got):\n%s", after, left, diff)
		}
	}
}

// TestWalkAgainSideBySide makes sure that pages are asked for at the same time:
// a request waits until there is another.
func TestWalkAgainSideBySide(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, numbered("f%05d", 5500)...)
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	filesOf(t.Context(), t, fsys)
	var mu sync.Mutex
	waiting, both := 0, make(chan struct{})
	server.Inject(func(request s3test.Request) s3test.Fault {
		if request.Query.Get("start-after") <= "p/f00999" {
			return s3test.Fault{} // the first page comes alone
		}
		mu.Lock()
		waiting++
		if waiting == 2 {
			close(both)
		}
		mu.Unlock()
		<-both
		return s3test.Fault{}
	})
	if n := len(filesOf(t.Context(), t, fsys)); n != 5500 {
		t.Errorf("Walk found %d files, want 5500", n)
	}
}

// TestLimitedGlobAsksForLittle stops a second listing where the first pages
// have enough.
func TestLimitedGlobAsksForLittle(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, numbered("f%05d", 5500)...)
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	filesOf(t.Context(), t, fsys)
	server.ResetRequests()
	if paths, err := fsys.Glob(t.Context(), "**", &workspace.GlobOptions{Limit: 10}); err != nil || len(paths) != 10 {
		t.Fatalf("Glob = %d paths, %v, want 10", len(paths), err)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("Glob with a limit of 10 sent %d requests, want 1", n)
	}
}

// TestListingThatRepeats lists in a store that answers with the same page each time, and another
// token.
func TestListingThatRepeats(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"p/d/a", "p/d/a/"} {
		server := s3test.New(t, nil)
		fsys := inProcess(server, awsCompat(), impatient(2)).open(t, "p", objectstore.Options{})
		var answers atomic.Int64
		server.Inject(func(r s3test.Request) s3test.Fault {
			if r.Op != "ListObjectsV2" {
				return s3test.Fault{}
			}
			entry := `<Contents><Key>` + key + `</Key><ETag>"0123"</ETag><Size>3</Size></Contents>`
			if strings.HasSuffix(key, "/") && r.Query.Get("delimiter") != "" {
				entry = `<CommonPrefixes><Prefix>` + key + `</Prefix></CommonPrefixes>`
			}
			body := fmt.Appendf(nil, `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>`,
				answers.Add(1), entry)
			return s3test.Fault{Instead: &s3test.Answer{Status: http.StatusOK, Body: body, Length: int64(len(body))}}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for name, list := range map[string]func() error{
			"Ls":    func() error { _, err := fsys.Ls(ctx, "d", nil); return err },
			"Walk":  func() error { return fsys.Walk(ctx, "d", nil, func(workspace.FileInfo, error) error { return nil }) },
			"After": func() error { _, err := fsys.Ls(ctx, "d", &workspace.LsOptions{After: "b"}); return err },
			"Rm":    func() error { return fsys.Rm(ctx, "d", &workspace.RmOptions{Recursive: true}) },
		} {
			if err := list(); !errors.Is(err, workspace.ErrUnavailable) {
				t.Errorf("%s of %q without end = %v, want %v", name, key, err, workspace.ErrUnavailable)
			}
		}
	}
}

// TestListingOutOfOrder lists in a store that has "a/b" before "a-b", as one that keeps files in
// directories may.
func TestListingOutOfOrder(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, nil)
	fsys := inProcess(server, awsCompat(), impatient(2)).open(t, "p", objectstore.Options{})
	server.Inject(func(r s3test.Request) s3test.Fault {
		key, next := "p/d/a/b", "<NextContinuationToken>t</NextContinuationToken>"
		if r.Query.Has("continuation-token") {
			key, next = "p/d/a-b", ""
		}
		body := fmt.Appendf(nil, `<ListBucketResult><IsTruncated>%t</IsTruncated>%s<Contents><Key>%s</Key><ETag>"0123"</ETag></Contents></ListBucketResult>`,
			next != "", next, key)
		return s3test.Fault{Instead: &s3test.Answer{Status: http.StatusOK, Body: body, Length: int64(len(body))}}
	})
	err := walks("d", "", 0, "")(t.Context(), fsys)
	if errors.Is(err, workspace.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), "does not list keys in order") {
		t.Errorf("Walk = %v, want that the store does not list keys in order", err)
	}
	if n := len(server.Requests()); n != 2 {
		t.Errorf("Walk sent %d requests, want 2", n)
	}
}
