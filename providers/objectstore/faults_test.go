package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// faultPrefix is where the files are whose requests fail. No error may show it.
const faultPrefix = "hidden-prefix"

// partSize is that of long files and copies.
const partSize = 1000

// faultCase is an operation of which any request may fail.
type faultCase struct {
	name          string
	before, after map[string]string // the objects below the prefix, without markers that only keep directories
	keep          []string          // contents that are never lost
	partial       bool              // a failure may leave a part done that a repetition does not go on with
	do            func(ctx context.Context, f *objectstore.FS) (result any, err error)
	want          any     // the result
	done          []error // what a repetition may say if the operation took place though it failed
}

// mode is which requests a fault hits: calls says it of a request, given that
// the first one hit was first.
type mode struct {
	name     string
	attempts int
	hits     func(r, first s3test.Request) bool
}

func modes() []mode {
	return []mode{
		{"once", 3, func(_, _ s3test.Request) bool { return false }},
		{"same-request", 2, sameRequest},
		{"all-that-follow", 2, func(_, _ s3test.Request) bool { return true }},
	}
}

// sameRequest reports whether r is first, sent again.
func sameRequest(r, first s3test.Request) bool {
	same := func(parameter string) bool { return r.Query.Get(parameter) == first.Query.Get(parameter) }
	return r.Op == first.Op && r.Key == first.Key && same("prefix") && same("partNumber") && same("continuation-token")
}

// TestFaults fails every request of every operation in turn, in every way.
func TestFaults(t *testing.T) {
	for _, p := range profiles() {
		for _, c := range slices.Concat(writeFaults(), treeFaults(), readFaults()) {
			for name, fault := range map[string]s3test.Fault{
				"reset": {Reset: true}, "reset-after": {ResetAfter: true}, "truncate": {Truncate: 1}, "stall": {Stall: true},
				"internal":  {Status: http.StatusInternalServerError, Code: "InternalError", Message: "We encountered an internal error."},
				"slow-down": {Status: http.StatusServiceUnavailable, Code: "SlowDown", Message: "Please reduce your request rate."},
			} {
				for _, m := range modes() {
					if fault.Stall && m.name != "once" {
						continue // nothing follows
					}
					t.Run(strings.Join([]string{p.name, c.name, name, m.name}, "/"), func(t *testing.T) {
						t.Parallel()
						for n := 1; c.try(t, p, fault, m, n); n++ {
						}
					})
				}
			}
		}
	}
}

// try fails the request n of the operation. It returns false if there was none.
func (c faultCase) try(t *testing.T, p profile, fault s3test.Fault, m mode, n int) (reached bool) {
	t.Helper()
	server := newFaultServer(p, c.before)
	defer server.Close()
	fsys := inProcess(server, p.compat, impatient(m.attempts)).open(t, faultPrefix, objectstore.Options{})
	fsys.SetPartSizes(partSize)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	injector := &injector{n: n, fault: fault, mode: m}
	if fault.Stall {
		injector.then = func() { time.AfterFunc(5*time.Millisecond, cancel) }
	}
	server.Inject(injector.inject)
	result, err := c.do(ctx, fsys)
	server.Inject(nil)
	first, reached := injector.hit()
	if !reached {
		c.checkResult(t, result, err)
		return false
	}
	what := fmt.Sprintf("request %d (%s)", n, first.Op)
	if err == nil {
		c.checkResult(t, result, nil)
	} else {
		checkFaultError(t, what, server, err)
	}
	c.checkWhole(t, what, objectsOf(server))
	if uploads := server.Uploads(); len(uploads) > 0 && !c.mayLeaveUpload(fault, m, first) {
		t.Errorf("%s: uploads are left open: %v", what, uploads)
	}
	c.repeat(t, what, server, fsys, err)
	return true
}

// mayLeaveUpload reports whether the upload could not be aborted: the abort
// failed, too, or the upload began but the client was not told its id. So it is
// in a move of many files if one begins while the failure of another ends all.
func (c faultCase) mayLeaveUpload(fault s3test.Fault, m mode, first s3test.Request) bool {
	answerLost := fault.ResetAfter || fault.Truncate > 0 || fault.Stall
	return m.name == "all-that-follow" || c.partial || answerLost && first.Op == "CreateMultipartUpload"
}

// impatient makes a client that sends a request so many times, without delay.
func impatient(attempts int) func(*s3.Options) {
	return func(o *s3.Options) {
		o.Retryer = retry.NewStandard(func(so *retry.StandardOptions) {
			so.MaxAttempts = attempts
			so.RateLimiter = ratelimit.None
			so.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
}

func newFaultServer(p profile, objects map[string]string) *s3test.Server {
	options := s3test.Options{}
	if p.options != nil {
		options = *p.options
	}
	options.MinPartSize = 1
	server := s3test.Start(&options)
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		server.Put(bucket, faultPrefix+"/"+key, []byte(objects[key]))
	}
	return server
}

// objectsOf returns the objects below the prefix.
func objectsOf(server *s3test.Server) map[string]string {
	objects := make(map[string]string)
	for _, key := range server.Objects(bucket) {
		// A request that the client has given up may still be served.
		if data, ok := server.Get(bucket, key); ok {
			objects[strings.TrimPrefix(key, faultPrefix+"/")] = string(data)
		}
	}
	return objects
}

// injector fails the request n, and those of the mode that follow it.
type injector struct {
	n     int
	fault s3test.Fault
	mode  mode
	then  func() // called when the request n comes; may be nil

	mu    sync.Mutex // guards what follows
	count int
	first s3test.Request
}

func (i *injector) inject(r s3test.Request) s3test.Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	if i.count == i.n {
		i.first = r
		if i.then != nil {
			i.then()
		}
		return i.fault
	}
	if i.count > i.n && i.mode.hits(r, i.first) {
		return i.fault
	}
	return s3test.Fault{}
}

func (i *injector) hit() (first s3test.Request, reached bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.first, i.count >= i.n
}

func (c faultCase) checkResult(t *testing.T, result any, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("without a fault: %v", err)
	}
	if diff := cmp.Diff(c.want, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// checkFaultError checks the kind of the error of a failed operation, and that
// it shows nothing.
func checkFaultError(t *testing.T, what string, server *s3test.Server, err error) {
	t.Helper()
	if _, ok := errors.AsType[*fs.PathError](err); !ok {
		t.Errorf("%s: error is a %T, want a *fs.PathError", what, err)
	}
	if !errors.Is(err, workspace.ErrUnavailable) && !errors.Is(err, context.Canceled) {
		t.Errorf("%s: error = %v, want %v or %v", what, err, workspace.ErrUnavailable, context.Canceled)
	}
	checkDiscreet(t, err, server.URL, faultPrefix, server.AccessKeyID, server.SecretAccessKey)
}

// checkDiscreet checks that the text of err has none of secrets, nor what
// belongs to any request.
func checkDiscreet(t *testing.T, err error, secrets ...string) {
	t.Helper()
	for _, secret := range append(secrets, "127.0.0.1", "http", bucket, "X-Amz", "Signature=", "StatusCode", "RequestID") {
		if secret != "" && strings.Contains(err.Error(), secret) {
			t.Errorf("error %q shows %q", err, secret)
		}
	}
}

// checkWhole checks that each object is what it was or what it is to become.
func (c faultCase) checkWhole(t *testing.T, what string, objects map[string]string) {
	t.Helper()
	for key, content := range objects {
		old, existed := c.before[key]
		next, stays := c.after[key]
		isMarker := strings.HasSuffix(key, "/") && content == ""
		isGone := content == objectstore.GoneText && !stays
		if !isMarker && !isGone && !(existed && content == old) && !(stays && content == next) {
			t.Errorf("%s: %q holds %.50q, want %.50q or %.50q", what, key, content, old, next)
		}
	}
	for key := range c.before {
		_, stays := c.after[key]
		if _, ok := objects[key]; stays && !ok {
			t.Errorf("%s: %q is gone", what, key)
		}
	}
	contents := slices.Collect(maps.Values(objects))
	for _, keep := range c.keep {
		if !slices.Contains(contents, keep) {
			t.Errorf("%s: %.50q is lost", what, keep)
		}
	}
}

// repeat does the operation again, now that nothing fails. err is what the
// first one returned.
func (c faultCase) repeat(t *testing.T, what string, server *s3test.Server, fsys *objectstore.FS, err error) {
	t.Helper()
	if err != nil {
		result, again := c.do(t.Context(), fsys)
		if again != nil && !slices.ContainsFunc(c.done, func(kind error) bool { return errors.Is(again, kind) }) {
			t.Errorf("%s: repeated after %v: %v", what, err, again)
		}
		if again != nil {
			c.checkWhole(t, what+", repeated", objectsOf(server))
			c.checkDone(t, what, objectsOf(server))
			return
		}
		c.checkResult(t, result, nil)
	}
	want, got := maps.Clone(c.after), objectsOf(server)
	maps.DeleteFunc(got, func(key, _ string) bool {
		_, wanted := want[key]
		return strings.HasSuffix(key, "/") && !wanted
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: objects in the end (-want +got):\n%s", what, diff)
	}
}

// checkDone checks that the operation took place.
func (c faultCase) checkDone(t *testing.T, what string, objects map[string]string) {
	t.Helper()
	if c.partial {
		return
	}
	for key, content := range c.after {
		if objects[key] != content {
			t.Errorf("%s: done, but %q holds %.50q, want %.50q", what, key, objects[key], content)
		}
	}
}
