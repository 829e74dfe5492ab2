package objectstore_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

func watching(t *testing.T, f *objectstore.FS, dir string, interval time.Duration) <-chan workspace.Event {
	t.Helper()
	events, err := f.Watch(t.Context(), dir, &workspace.WatchOptions{Interval: interval})
	if err != nil {
		t.Fatalf("Watch(%q) = %v, want nil", dir, err)
	}
	return events
}

// expectEvents reads as many events as are wanted, "op path" each, and compares
// them in any order.
func expectEvents(t *testing.T, events <-chan workspace.Event, want ...string) {
	t.Helper()
	got := []string{}
	for range want {
		select {
		case event := <-events:
			got = append(got, string(event.Op)+" "+event.Path)
		case <-time.After(patience):
			t.Fatalf("events = %q, want %q", got, want)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestWatchOthers lets another instance change files. Each step begins when the
// events of the one before have come, and has no others.
func TestWatchOthers(t *testing.T) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			ctx := t.Context()
			pair := inProcess(s3test.New(t, p.options), p.compat).pair(t)
			mine, other := pair[0], pair[1]
			events := watching(t, mine, ".", time.Millisecond)
			for _, step := range []struct {
				do   action
				want []string
			}{
				{write("d/f", nil), []string{"create d", "create d/f"}},
				{createText("d/f", "longer", nil), []string{"write d/f"}},
				{mkdir("e/g", true), []string{"create e", "create e/g"}},
				{moveTo("d/f", "e/h"), []string{"remove d/f", "create e/h"}},
				{rm("e", true), []string{"remove e", "remove e/g", "remove e/h"}},
				{rm("d", false), []string{"remove d"}},
			} {
				if err := step.do(ctx, other); err != nil {
					t.Fatal(err)
				}
				expectEvents(t, events, step.want...)
			}
		})
	}
}

// TestWatchOwn has an interval of an hour, so that nothing is listed.
func TestWatchOwn(t *testing.T) {
	for _, p := range profiles() {
		for _, c := range []struct {
			name string
			do   action
			want []string
		}{
			{"write", write("d/new", nil), []string{"create d/new"}},
			{"replace", write("d/f", nil), []string{"write d/f"}},
			{"write-with-parents", write("x/y/f", nil), []string{"create x", "create x/y", "create x/y/f"}},
			{"stream", createText("d/f", "streamed", nil), []string{"write d/f"}},
			{"rm", rm("d/f", false), []string{"remove d/f"}},
			{"rm-recursive", rm("d", true), []string{"remove d", "remove d/f", "remove d/sub", "remove d/sub/g"}},
			{"mkdir", mkdir("d/m", false), []string{"create d/m"}},
			{"mkdir-recursive", mkdir("m/n", true), []string{"create m", "create m/n"}},
			{"copy", copyFile("d/f", "c/f"), []string{"create c", "create c/f"}},
			{"move", moveTo("d/f", "d/h"), []string{"create d/h", "remove d/f"}},
			{"move-directory", moveTo("d", "m"), []string{
				"create m", "create m/f", "create m/sub", "create m/sub/g", "remove d", "remove d/f", "remove d/sub", "remove d/sub/g"}},
		} {
			t.Run(c.name+"/"+p.name, func(t *testing.T) {
				server := s3test.New(t, p.options)
				seed(server, "d/f", "d/sub/g")
				f := inProcess(server, p.compat).open(t, "p", objectstore.Options{})
				events := watching(t, f, ".", time.Hour)
				if err := c.do(t.Context(), f); err != nil {
					t.Fatal(err)
				}
				if err := f.Mkdir(t.Context(), "last", nil); err != nil {
					t.Fatal(err)
				}
				expectEvents(t, events, append(c.want, "create last")...)
			})
		}
	}
}

// TestWatchMoveDirectory lists while a directory moves, or only afterwards. Where a copy has
// another ETag than its source, a listing must not find that the file was written.
func TestWatchMoveDirectory(t *testing.T) {
	for _, p := range profiles() {
		for _, interval := range []time.Duration{time.Millisecond, 100 * time.Millisecond} {
			t.Run(p.name+"/"+interval.String(), func(t *testing.T) {
				t.Parallel()
				server := s3test.New(t, p.options)
				seed(server, "d/f", "d/sub/g", "d/empty/")
				f := inProcess(server, p.compat).open(t, "p", objectstore.Options{})
				events := watching(t, f, ".", interval)
				if err := f.Move(t.Context(), "d", "m"); err != nil {
					t.Fatal(err)
				}
				server.Put(bucket, "p/z", nil) // which a later listing has, after what it says of m
				expectEvents(t, events, "create m", "create m/f", "create m/sub", "create m/sub/g", "create m/empty",
					"remove d", "remove d/f", "remove d/sub", "remove d/sub/g", "remove d/empty", "create z")
			})
		}
	}
}

// TestWatchBelow reports only what is below its directory.
func TestWatchBelow(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, "d/f", "d-/f")
	f := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	events := watching(t, f, "d", time.Hour)
	for _, name := range []string{"f", "d-/f", "d/g", "dd"} {
		if err := write(name, nil)(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Rm(t.Context(), "d", &workspace.RmOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
	expectEvents(t, events, "create d/g", "remove d/f", "remove d/g")
}

// held is a transport that holds back the answers to the listings of a watch.
type held struct {
	on       atomic.Bool
	answered chan struct{} // an answer has come
	release  chan struct{}
}

func (h *held) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	query := r.URL.Query()
	isWatch := query.Has("list-type") && !query.Has("delimiter") && !query.Has("max-keys")
	if isWatch && h.on.CompareAndSwap(true, false) {
		h.answered <- struct{}{}
		<-h.release
	}
	return response, err
}

// TestWatchStaleListing changes files after the store has answered a listing
// and before the watch has the answer, which knows nothing of the changes.
func TestWatchStaleListing(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, "changed", "removed", "d/removed")
	h := &held{answered: make(chan struct{}), release: make(chan struct{})}
	s := inProcess(server, awsCompat())
	s.client = newClient(server.URL, server.Region, server.AccessKeyID, server.SecretAccessKey, &http.Client{Transport: h}, s.compat)
	f := s.open(t, "p", objectstore.Options{})
	events := watching(t, f, ".", time.Millisecond)
	h.on.Store(true)
	<-h.answered
	for _, do := range []action{write("new", nil), write("changed", nil), rm("removed", false), rm("d", true), mkdir("made", false)} {
		if err := do(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	close(h.release)
	expectEvents(t, events, "create new", "write changed", "remove removed", "remove d", "remove d/removed", "create made")
	// Nothing else may come before what happens now, which a later listing has.
	server.Put(bucket, "p/last", nil)
	expectEvents(t, events, "create last")
}

// TestWatchFailures lets listings fail for a while.
func TestWatchFailures(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, "f")
	f := inProcess(server, awsCompat(), impatient(2)).open(t, "p", objectstore.Options{})
	events := watching(t, f, ".", time.Millisecond)
	var failures atomic.Int32
	server.Inject(func(s3test.Request) s3test.Fault {
		failures.Add(1)
		return s3test.Fault{Status: http.StatusServiceUnavailable, Code: "SlowDown"}
	})
	server.Put(bucket, "p/g", nil)
	pollUntil(t, "ten failures", func() bool { return failures.Load() >= 10 })
	server.Inject(nil)
	expectEvents(t, events, "create g")
}

// TestWatchDirectoryGone removes and makes the directory that is watched.
func TestWatchDirectoryGone(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, "d/f")
	f := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	events := watching(t, f, "d", time.Millisecond)
	server.Delete(bucket, "p/d/f")
	expectEvents(t, events, "remove d/f")
	server.Put(bucket, "p/d", nil)
	server.ResetRequests()
	pollUntil(t, "a look at the file", func() bool { return strings.Contains(trace(server.Requests()), "HeadObject") })
	server.Delete(bucket, "p/d")
	server.Put(bucket, "p/d/g", nil)
	expectEvents(t, events, "create d/g")
}

// TestWatchEnds closes the channel with the context, and forgets the watch.
func TestWatchEnds(t *testing.T) {
	server := s3test.New(t, nil)
	f := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	events, err := f.Watch(ctx, ".", &workspace.WatchOptions{Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	pollUntil(t, "the end of the channel", func() bool {
		select {
		case _, open := <-events:
			return !open
		default:
			return false
		}
	})
	pollUntil(t, "the end of the watch", func() bool { return f.Watching() == 0 })
}
