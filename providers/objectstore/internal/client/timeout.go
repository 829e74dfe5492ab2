package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Timeouts are how long a request may wait for the store. Zero means for ever.
// They must not be copied once a client has them.
type Timeouts struct {
	Response time.Duration // from the last byte of the request to the header of the answer
	Idle     time.Duration // between two reads of the answer

	waits watchdog
}

// Apply makes a client give up a request that waits longer. The client that o
// has is used for the requests, and its own timeouts still count. One Timeouts
// may serve several clients.
func (t *Timeouts) Apply(o *s3.Options) { o.HTTPClient = &timedClient{o.HTTPClient, t} }

// errTimeout ends a request that has waited for too long. The SDK sends it
// again. It is a [net.Error], by which the SDK and callers know it.
var errTimeout error = timeoutError{}

type timeoutError struct{}

func (timeoutError) Error() string   { return "the store did not answer in time" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// timedClient is an HTTP client whose requests have timeouts.
type timedClient struct {
	s3.HTTPClient
	timeouts *Timeouts
}

// Do implements [s3.HTTPClient].
//
// A request waits in two ways: until its answer begins, counted again whenever
// the transport takes more of its body, and in each Read of the answer. The
// context of the request must live as long as the answer is read: Close of the
// body ends it. The transport must not take a body again by itself, because the
// wait would not see that.
func (c *timedClient) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	body := &receivedBody{limit: c.timeouts.Idle, wait: wait{ctx: ctx, cancel: cancel, dog: &c.timeouts.waits}}
	w := &body.wait
	w.begin(c.timeouts.Response)
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &sentBody{r.Body, w, c.timeouts.Response}
		r.GetBody = nil // its bytes would move unseen
	}
	response, err := c.HTTPClient.Do(r)
	w.answered.Store(true)
	w.end()
	if err != nil {
		err = w.explain(err)
		cancel(nil)
		return response, err
	}
	body.ReadCloser = response.Body
	if response.StatusCode >= http.StatusMultipleChoices { // the SDK reads all of it
		body.ReadCloser = limitedBody{io.LimitReader(response.Body, maxErrorBody), response.Body}
	}
	response.Body = body
	return response, nil
}

// maxErrorBody is more bytes than the answer about an error has.
const maxErrorBody = 1 << 20

// limitedBody reads less of a body, and closes all of it.
type limitedBody struct {
	io.Reader
	io.Closer
}

// wait cancels a request that waits for too long. A request has one, which
// begins and ends several times. Do, the transport's goroutine that sends the
// body, and the reader of the answer use it, so its deadline is guarded.
type wait struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	dog    *watchdog

	deadline   time.Time // guarded by dog.mu, as what follows; zero if the wait is not in the list
	next, prev *wait

	answered atomic.Bool
}

// begin begins to wait, for as long as limit if that is positive.
func (w *wait) begin(limit time.Duration) {
	if limit > 0 {
		w.dog.add(w, time.Now().Add(limit))
	}
}

// end ends the wait. It does nothing if there is none.
func (w *wait) end() { w.dog.remove(w) }

// explain returns errTimeout in the place of an error that the timeout caused.
func (w *wait) explain(err error) error {
	if errors.Is(context.Cause(w.ctx), errTimeout) {
		return errTimeout
	}
	return err
}

// watchdog cancels the waits that last too long, with one timer for all. A timer
// for each wait would be set again for the answer and for every read of it, and
// to set one wakes a thread, which takes more of a small request than all else
// that this module adds to it. So the timer stays set when a wait ends:
//
//	0 s     a request waits until 60 s; the timer is set to that
//	0.001 s its answer comes: the wait is removed, the timer stays
//	0.002 s the next one waits until 60.002 s: the timer is early enough
//	60 s    the timer looks at the waits there are, and is set to the next
//	        deadline, or to none
//
// It is safe for concurrent use.
type watchdog struct {
	mu    sync.Mutex  // guards what follows
	first *wait       // of a list, as a map costs more than all else here
	timer *time.Timer // nil before the first wait
	due   time.Time   // when the timer fires; zero if it is not set
}

// add makes the deadline of w, which may have another one already.
func (d *watchdog) add(w *wait, deadline time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.deadline.IsZero() {
		if w.next = d.first; w.next != nil {
			w.next.prev = w
		}
		d.first = w
	}
	w.deadline = deadline
	if d.due.IsZero() || deadline.Before(d.due) {
		d.set(deadline)
	}
}

// set sets the timer. d.mu is held.
func (d *watchdog) set(due time.Time) {
	d.due = due
	if d.timer == nil {
		d.timer = time.AfterFunc(time.Until(due), d.look)
		return
	}
	d.timer.Reset(time.Until(due))
}

// remove ends a wait before its deadline. The timer stays, see watchdog.
func (d *watchdog) remove(w *wait) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(w)
}

// drop takes w out of the list, if it is there. d.mu is held.
func (d *watchdog) drop(w *wait) {
	if w.deadline.IsZero() {
		return
	}
	if w.next != nil {
		w.next.prev = w.prev
	}
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		d.first = w.next
	}
	w.deadline, w.next, w.prev = time.Time{}, nil, nil
}

// look cancels the waits whose deadline has come, and sets the timer to the next
// one.
func (d *watchdog) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, due := time.Now(), time.Time{}
	for w := d.first; w != nil; {
		next := w.next
		switch {
		case !w.deadline.After(now):
			d.drop(w)
			w.cancel(errTimeout)
		case due.IsZero() || w.deadline.Before(due):
			due = w.deadline
		}
		w = next
	}
	d.due = time.Time{}
	if !due.IsZero() {
		d.set(due)
	}
}

// sentBody is the body of a request. Whenever the transport takes more of it,
// the wait for the answer begins again.
type sentBody struct {
	io.ReadCloser
	wait  *wait
	limit time.Duration
}

func (b *sentBody) Read(p []byte) (int, error) {
	if !b.wait.answered.Load() {
		b.wait.begin(b.limit)
	}
	return b.ReadCloser.Read(p)
}

// receivedBody is the body of an answer. There is a wait only during a read,
// as the reader may take its time.
type receivedBody struct {
	io.ReadCloser
	wait  wait
	limit time.Duration
}

func (b *receivedBody) Read(p []byte) (int, error) {
	b.wait.begin(b.limit)
	n, err := b.ReadCloser.Read(p)
	b.wait.end()
	if err != nil && err != io.EOF {
		err = b.wait.explain(err)
	}
	return n, err
}

func (b *receivedBody) Close() error {
	err := b.ReadCloser.Close()
	b.wait.cancel(nil)
	return err
}
