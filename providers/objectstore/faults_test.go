package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// faultPrefix is where the files are whose requests fail. No error may show it.
const faultPrefix = "hidden-prefix"

// partSize is that of long files and copies.
const partSize = 1000

// faultCase is an operation whose requests may each fail.
type faultCase struct {
	name          string
	before, after map[string]string // the objects below the prefix, without markers that only keep directories
	keep          []string          // contents that are never lost
	many          bool              // it works on several objects at a time
	passesBy      bool              // it leaves out without an error what may not be read
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

// faultKind is a way in which a request fails.
type faultKind struct {
	name   string
	fault  s3test.Fault
	lost   bool  // the request may be served though the answer does not say so
	cancel bool  // the context ends when the request comes
	want   error // of a failure that may be found beside ErrUnavailable; nil for none
}

// waits reports whether only a timeout ends the request.
func (k faultKind) waits() bool { return !k.cancel && (k.fault.Hang || k.fault.Stall) }

// faultKinds are the ways in which stores, and what is in front of them, fail.
func faultKinds() []faultKind {
	return []faultKind{
		{name: "reset", fault: s3test.Fault{Reset: true}},
		{name: "reset-after", fault: s3test.Fault{ResetAfter: true}, lost: true},
		{name: "truncate", fault: s3test.Fault{Truncate: 1}, lost: true},
		{name: "stall", fault: s3test.Fault{Stall: true}, lost: true},
		{name: "stall-cancel", fault: s3test.Fault{Stall: true}, lost: true, cancel: true, want: context.Canceled},
		{name: "hang", fault: s3test.Fault{Hang: true}, lost: true},
		{name: "hang-cancel", fault: s3test.Fault{Hang: true}, lost: true, cancel: true, want: context.Canceled},
		{name: "internal", fault: s3test.Fault{Status: http.StatusInternalServerError, Code: "InternalError", Message: "We encountered an internal error."}},
		{name: "slow-down", fault: s3test.Fault{Status: http.StatusServiceUnavailable, Code: "SlowDown", Message: "Please reduce your request rate."}},
		{name: "forbidden", fault: s3test.Fault{Status: http.StatusForbidden, Code: "AccessDenied", Message: "Access Denied"}, want: fs.ErrPermission},
		{name: "bad-gateway", fault: s3test.Fault{Instead: portal(http.StatusBadGateway)}},
		{name: "portal", fault: s3test.Fault{Instead: portal(http.StatusOK)}},
		{name: "empty", fault: s3test.Fault{Edit: empty}, lost: true},
		{name: "bodyless", fault: s3test.Fault{Edit: func(a *s3test.Answer) {
			if len(a.Body) > 0 {
				a.Body, a.Length = nil, 0
			}
		}}, lost: true},
		{name: "no-content", fault: s3test.Fault{Edit: func(a *s3test.Answer) {
			empty(a)
			a.Status = http.StatusNoContent
		}}, lost: true},
		{name: "no-etag", fault: s3test.Fault{Edit: withoutETag}, lost: true},
		{name: "chunked", fault: s3test.Fault{Edit: chunked}},
		{name: "chunked-truncate", fault: s3test.Fault{Edit: chunked, Truncate: 3}, lost: true},
		{name: "huge", fault: s3test.Fault{Edit: func(a *s3test.Answer) { a.Length = 9e18 }}, lost: true},
	}
}

// portal is what a proxy answers in the store's place.
func portal(status int) *s3test.Answer {
	page := []byte("<!DOCTYPE html><html><head><meta charset=utf-8><title>Welcome</title></head><body>Log in<br></body></html>")
	return &s3test.Answer{Status: status, Header: http.Header{"Content-Type": {"text/html"}}, Body: page, Length: int64(len(page))}
}

// empty takes away all that an answer says, but for its status.
func empty(a *s3test.Answer) {
	a.Header, a.Body, a.Length = http.Header{}, nil, 0
}

var etagElement = regexp.MustCompile("<ETag>[^<]*</ETag>")

func withoutETag(a *s3test.Answer) {
	a.Header.Del("ETag")
	if document := etagElement.ReplaceAll(a.Body, nil); len(document) < len(a.Body) {
		a.Body, a.Length = document, int64(len(document))
	}
}

// chunked takes away the length of an answer, as proxies do that compress or
// filter what they pass on.
func chunked(a *s3test.Answer) { a.Length = -1 }

// briefly is how long requests wait for an answer that does not come.
const briefly = 40 * time.Millisecond

// obeyed is how long a call may continue after its context has ended: a second, and
// more on a slow machine. What does not end with the context takes a minute.
const obeyed = 5 * time.Second

// TestFaults fails every request of every operation in turn, in every way,
// once and again. The operation must fail with an error of the right kind, or
// do what it is to do; whatever happens the store has the old or the new bytes.
func TestFaults(t *testing.T) {
	exhaustive.NotShort(t, "injects every fault")
	var cells atomic.Int64
	seen := new(sync.Map)
	before := runtime.NumGoroutine()
	begun := time.Now()
	const third = 3 // every third request of an operation, and one of three faults
	step := exhaustive.Some(t, "faults of most requests, and those that hit one request again", 1, third)
	t.Run("cells", func(t *testing.T) {
		for _, p := range profiles() {
			for _, c := range slices.Concat(writeFaults(), treeFaults(), readFaults()) {
				requests := c.requests(t, p, seen)
				for _, k := range faultKinds() {
					for _, m := range modes() {
						if k.cancel && m.name != "once" || step > 1 && m.name == "same-request" {
							continue // nothing follows; it is between the other two
						}
						t.Run(strings.Join([]string{p.name, c.name, k.name, m.name}, "/"), func(t *testing.T) {
							exhaustive.Draw(t, third)
							t.Parallel()
							var group sync.WaitGroup
							for n := 1; n <= requests; n += step {
								cells.Add(1)
								group.Go(func() { c.try(t, p, k, m, n) })
							}
							group.Wait()
						})
					}
				}
			}
		}
	})
	t.Logf("%d faults in %v", cells.Load(), time.Since(begun))
	for _, op := range []string{
		"GetObject", "HeadObject", "PutObject", "CopyObject", "CreateMultipartUpload", "UploadPart", "UploadPartCopy", "CompleteMultipartUpload",
		"AbortMultipartUpload", "DeleteObject", "DeleteObjects", "ListObjectsV2", "HeadBucket",
	} {
		if _, ok := seen.Load(op); !ok {
			t.Errorf("no operation sends %s", op)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	pollUntil(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

// requests returns how many requests the operation takes without a fault, and
// stores their kinds.
func (c faultCase) requests(t *testing.T, p profile, seen *sync.Map) int {
	t.Helper()
	server, fsys := c.start(t, p, 1)
	defer server.Close()
	result, err := c.do(t.Context(), fsys)
	if c.checkResult(t, result, err); t.Failed() {
		t.Fatalf("%s fails without a fault", c.name)
	}
	for _, r := range server.Requests() {
		seen.Store(r.Op, true)
	}
	return len(server.Requests())
}

// start returns a server with the objects of the case, and its workspace.
func (c faultCase) start(t *testing.T, p profile, attempts int) (*s3test.Server, *objectstore.FS) {
	t.Helper()
	server := newFaultServer(p, c.before)
	fsys := inProcess(server, p.compat, impatient(attempts)).open(t, faultPrefix, objectstore.Options{})
	fsys.SetPartSizes(partSize)
	return server, fsys
}

// try fails the request n of the operation.
func (c faultCase) try(t *testing.T, p profile, k faultKind, m mode, n int) {
	server, fsys := c.start(t, p, m.attempts)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	injector := &injector{n: n, fault: k.fault, mode: m}
	var cancelled time.Time
	if k.cancel {
		injector.then = func() {
			cancelled = time.Now()
			cancel()
		}
	} else if k.waits() {
		fsys.SetTimeouts(briefly, briefly)
	}
	server.Inject(injector.inject)
	result, err := c.do(ctx, fsys)
	if took := time.Since(cancelled); k.cancel && !cancelled.IsZero() && took > obeyed {
		t.Errorf("request %d: it took %v to end with the context", n, took)
	}
	fsys.SetTimeouts(patience, patience)
	server.Inject(nil)
	first, reached := injector.hit()
	what := fmt.Sprintf("request %d (%s)", n, first.Op)
	switch {
	case err == nil && c.passesBy && k.want == fs.ErrPermission:
	case err == nil:
		c.checkResult(t, result, nil)
	case !reached && !errors.Is(err, workspace.ErrUnavailable): // which a slow machine makes of other requests
		t.Errorf("%s: it did not come: %v", what, err)
	default:
		checkFaultError(t, what, server, err, k.want)
	}
	c.checkWhole(t, what, objectsOf(server))
	if uploads := server.Uploads(); len(uploads) > 0 && !c.mayLeaveUpload(k, m, first) {
		t.Errorf("%s: uploads are left open: %v", what, uploads)
	}
	c.repeat(t, what, server, fsys, err, k.cancel || k.waits())
}

// mayLeaveUpload reports whether the upload could not be aborted: the abort
// failed, too, or the upload began but the client was not told its id. So it is
// in a move of many files if one begins while the context ends,
// and where a slow machine takes longer to answer than requests wait.
func (c faultCase) mayLeaveUpload(k faultKind, m mode, first s3test.Request) bool {
	return m.name == "all-that-follow" || c.many || k.waits() || k.lost && first.Op == "CreateMultipartUpload" ||
		first.Op == "AbortMultipartUpload" && (m.name != "once" || k.cancel || k.want != nil)
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
		if data, ok := server.Get(bucket, key); ok && !strings.Contains(key, "/.workspacekit-probe-") {
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
func checkFaultError(t *testing.T, what string, server *s3test.Server, err, want error) {
	t.Helper()
	if _, ok := errors.AsType[*fs.PathError](err); !ok {
		t.Errorf("%s: error is a %T, want a *fs.PathError", what, err)
	}
	if !errors.Is(err, workspace.ErrUnavailable) && (want == nil || !errors.Is(err, want)) {
		t.Errorf("%s: error = %v, want %v or %v", what, err, workspace.ErrUnavailable, want)
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
			t.Errorf("%s: %q is missing", what, key)
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
// first one returned. If it abandoned a request, the store may still be at it: a
// conflict with that is unavailable, and the operation is repeated once more.
func (c faultCase) repeat(t *testing.T, what string, server *s3test.Server, fsys *objectstore.FS, err error, abandoned bool) {
	t.Helper()
	if err != nil {
		result, again := c.do(t.Context(), fsys)
		for deadline := time.Now().Add(patience); abandoned && errors.Is(again, workspace.ErrUnavailable) && time.Now().Before(deadline); {
			result, again = c.do(t.Context(), fsys)
		}
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
		t.Errorf("%s: objects at the end (-want +got):\n%s", what, diff)
	}
}

// checkDone checks that the operation took place.
func (c faultCase) checkDone(t *testing.T, what string, objects map[string]string) {
	t.Helper()
	for key, content := range c.after {
		if objects[key] != content {
			t.Errorf("%s: done, but %q holds %.50q, want %.50q", what, key, objects[key], content)
		}
	}
}
