package objectstore

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// timeouts are how long a request may wait for the store. Zero means for ever.
type timeouts struct {
	response time.Duration // from the last byte of the request to the header of the answer
	idle     time.Duration // between two reads of the answer
}

// apply makes a client give up a request that waits longer.
func (t *timeouts) apply(o *s3.Options) { o.HTTPClient = &timedClient{o.HTTPClient, t} }

// errTimeout ends a request that has waited for too long. The SDK sends it
// again.
var errTimeout error = timeoutError{}

type timeoutError struct{}

func (timeoutError) Error() string   { return "the store did not answer in time" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// timedClient is an HTTP client whose requests have timeouts.
type timedClient struct {
	s3.HTTPClient
	timeouts *timeouts
}

// Do implements [s3.HTTPClient].
func (c *timedClient) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &wait{ctx: ctx, cancel: cancel}
	w.begin(c.timeouts.response)
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &sentBody{r.Body, w, c.timeouts.response}
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
	body := response.Body
	if response.StatusCode >= http.StatusMultipleChoices { // of which the SDK reads all
		body = limitedBody{io.LimitReader(body, maxErrorBody), body}
	}
	response.Body = &receivedBody{body, w, c.timeouts.idle}
	return response, nil
}

// maxErrorBody is more bytes than the answer about an error has.
const maxErrorBody = 1 << 20

type limitedBody struct {
	io.Reader
	io.Closer
}

// wait cancels a request that waits for too long.
type wait struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil before the first wait that has an end

	answered atomic.Bool
}

// begin begins to wait, for as long as limit if that is positive.
func (w *wait) begin(limit time.Duration) {
	switch {
	case limit <= 0:
	case w.timer == nil:
		w.timer = time.AfterFunc(limit, func() { w.cancel(errTimeout) })
	default:
		w.timer.Reset(limit)
	}
}

func (w *wait) end() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// explain returns errTimeout in the place of an error that the timeout caused.
func (w *wait) explain(err error) error {
	if errors.Is(context.Cause(w.ctx), errTimeout) {
		return errTimeout
	}
	return err
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
	wait  *wait
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
