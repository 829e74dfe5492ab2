package objectstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// slowStore is a store with one file, in a bubble of synctest: it takes its
// time before it answers, and between two bytes of an answer.
type slowStore struct{ before, between time.Duration }

const slowContent = "0123456789"

// Do implements [s3.HTTPClient].
func (s slowStore) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil { // it takes each byte of the request as slowly
		for b := make([]byte, 1); ; {
			if _, err := r.Body.Read(b); err != nil {
				break
			}
			if err := pause(r.Context(), s.between); err != nil {
				return nil, err
			}
		}
	}
	if err := pause(r.Context(), s.before); err != nil {
		return nil, err
	}
	header := http.Header{"Etag": {`"abc"`}, "Content-Length": {"10"}}
	content := slowContent
	status := http.StatusOK
	if rest, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		header = http.Header{"Etag": {`"abc"`}, "Content-Range": {"bytes " + rest + "/10"}}
		content, status = content[rest[0]-'0':], http.StatusPartialContent
	}
	if r.Method != http.MethodGet {
		content = ""
	}
	body := slowBody{r.Context(), bytes.NewReader([]byte(content)), s.between}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body), ContentLength: int64(len(content))}, nil
}

type slowBody struct {
	ctx     context.Context
	rest    *bytes.Reader
	between time.Duration
}

func (b slowBody) Read(p []byte) (int, error) {
	if err := pause(b.ctx, b.between); err != nil {
		return 0, err
	}
	return b.rest.Read(p[:1])
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestTimeouts waits for stores that are slow in the beginning or in the
// middle, with the default timeouts, others, and none.
func TestTimeouts(t *testing.T) {
	const never = 24 * time.Hour
	read := func(ctx context.Context, f *objectstore.FS) error {
		data, err := f.ReadFile(ctx, "f")
		if err == nil && string(data) != slowContent {
			t.Errorf("ReadFile = %q, want %q", data, slowContent)
		}
		return err
	}
	put := func(ctx context.Context, f *objectstore.FS) error {
		_, err := f.WriteFile(ctx, "f", []byte(slowContent), &workspace.WriteOptions{IfVersion: "abc"})
		return err
	}
	for name, c := range map[string]struct {
		store   slowStore
		options objectstore.Options
		do      action
		want    error
		within  time.Duration
	}{
		"slow":               {slowStore{59 * time.Second, 29 * time.Second}, objectstore.Options{}, read, nil, 10 * time.Minute},
		"slow-write":         {slowStore{59 * time.Second, 29 * time.Second}, objectstore.Options{}, put, nil, 15 * time.Minute},
		"no-answer":          {slowStore{never, 0}, objectstore.Options{}, read, workspace.ErrUnavailable, 4 * time.Minute},
		"no-answer-to-write": {slowStore{never, 0}, objectstore.Options{}, put, workspace.ErrUnavailable, 8 * time.Minute},
		"no-progress":        {slowStore{0, never}, objectstore.Options{}, read, workspace.ErrUnavailable, 4 * time.Minute},
		"takes-nothing":      {slowStore{0, never}, objectstore.Options{}, put, workspace.ErrUnavailable, 8 * time.Minute},
		"shorter":            {slowStore{never, 0}, objectstore.Options{ResponseTimeout: time.Second}, read, workspace.ErrUnavailable, time.Minute},
		"shorter-idle":       {slowStore{0, never}, objectstore.Options{IdleTimeout: time.Second}, read, workspace.ErrUnavailable, time.Minute},
		"none":               {slowStore{never / 2, 0}, objectstore.Options{ResponseTimeout: -1}, read, nil, never},
		"none-idle":          {slowStore{0, time.Hour}, objectstore.Options{IdleTimeout: -1}, read, nil, never},
		"none-context":       {slowStore{2 * never, 0}, objectstore.Options{ResponseTimeout: -1}, read, context.DeadlineExceeded, never},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), never)
				defer cancel()
				s := store{
					client: newClient("http://store", "us-east-1", "key", "secret", nil, otherCompat(), func(o *s3.Options) { o.HTTPClient = c.store }),
					bucket: bucket, compat: otherCompat(),
				}
				begun := time.Now()
				if err := c.do(ctx, s.open(t, "p", c.options)); !errors.Is(err, c.want) {
					t.Errorf("error = %v, want %v", err, c.want)
				}
				if took := time.Since(begun); took > c.within {
					t.Errorf("it took %v, want %v at most", took, c.within)
				}
			})
		})
	}
}
