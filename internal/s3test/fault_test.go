package s3test_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

// always makes every request to op fail like that.
func always(op string, fault s3test.Fault) func(s3test.Request) s3test.Fault {
	return func(r s3test.Request) s3test.Fault {
		if r.Op == op {
			return fault
		}
		return s3test.Fault{}
	}
}

// read gets the object a, and says how many bytes of it came.
func read(ctx context.Context, client *s3.Client) (int, error) {
	output, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("a")})
	if err != nil {
		return 0, err
	}
	defer output.Body.Close()
	data, err := io.ReadAll(output.Body)
	return len(data), err
}

func TestFaultStatus(t *testing.T) {
	server, client := start(t, s3test.Options{})
	server.Inject(always("PutObject", s3test.Fault{Status: http.StatusServiceUnavailable, Code: "SlowDown", Message: "Please reduce your request rate."}))
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a")})
	if codeOf(err) != "SlowDown" {
		t.Errorf("PutObject = %v, want SlowDown", err)
	}
	if keys := server.Objects(bucket); len(keys) != 0 {
		t.Errorf("PutObject was served: %q", keys)
	}
	server.Inject(nil)
	put(t, client, "a", "hello")
}

func TestFaultReset(t *testing.T) {
	each(t, func(t *testing.T, server *s3test.Server, client *s3.Client) {
		for _, test := range []struct {
			name   string
			fault  s3test.Fault
			served bool
		}{
			{"before", s3test.Fault{Reset: true}, false},
			{"after", s3test.Fault{ResetAfter: true}, true},
		} {
			server.Delete(bucket, "a")
			server.Inject(always("PutObject", test.fault))
			_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a"), Body: strings.NewReader("hello")})
			if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
				t.Errorf("%s: PutObject = %v, want a connection reset", test.name, err)
			}
			if _, served := server.Get(bucket, "a"); served != test.served {
				t.Errorf("%s: PutObject was served: %v, want %v", test.name, served, test.served)
			}
		}
	})
}

func TestFaultTruncate(t *testing.T) {
	each(t, func(t *testing.T, server *s3test.Server, client *s3.Client) {
		server.Put(bucket, "a", make([]byte, 100000))
		server.Inject(always("GetObject", s3test.Fault{Truncate: 60000}))
		if n, err := read(t.Context(), client); n != 60000 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("read %d bytes, %v, want 60000 and an unexpected end", n, err)
		}
		requests := server.Requests()
		if last := requests[len(requests)-1]; last.BytesSent != 60000 || last.Status != http.StatusOK {
			t.Errorf("the log says %d bytes, status %d", last.BytesSent, last.Status)
		}
	})
}

// TestFaultStall reads half of an object, and then waits until its context
// ends.
func TestFaultStall(t *testing.T) {
	each(t, func(t *testing.T, server *s3test.Server, client *s3.Client) {
		server.Put(bucket, "a", make([]byte, 1000))
		server.Inject(always("GetObject", s3test.Fault{Stall: true}))
		ctx, cancel := context.WithCancel(t.Context())
		output, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("a")})
		if err != nil {
			t.Fatal(err)
		}
		defer output.Body.Close()
		if _, err := io.ReadFull(output.Body, make([]byte, 500)); err != nil {
			t.Errorf("the first half: %v", err)
		}
		rest := make(chan error)
		go func() {
			_, err := io.ReadFull(output.Body, make([]byte, 1))
			rest <- err
		}()
		cancel()
		if err := <-rest; !errors.Is(err, context.Canceled) {
			t.Errorf("the other half: %v, want canceled", err)
		}
	})
}

// TestFaultStallEmpty waits for an answer that has no body.
func TestFaultStallEmpty(t *testing.T) {
	server, client := start(t, s3test.Options{})
	server.Inject(always("PutObject", s3test.Fault{Stall: true}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a"), Body: strings.NewReader("hello")})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("PutObject = %v, want that the deadline is exceeded", err)
	}
}

// TestCloseEndsFaults closes a server that holds up two answers.
func TestCloseEndsFaults(t *testing.T) {
	for name, fault := range map[string]s3test.Fault{"delay": {Delay: time.Hour}, "stall": {Stall: true}} {
		t.Run(name, func(t *testing.T) {
			server := s3test.Start(nil)
			server.Put(bucket, "a", make([]byte, 1000))
			asked := make(chan struct{}, 1)
			server.Inject(func(s3test.Request) s3test.Fault {
				asked <- struct{}{}
				return fault
			})
			done := make(chan error)
			go func() {
				_, err := read(t.Context(), newClient(server))
				done <- err
			}()
			<-asked
			server.Close()
			if err := <-done; err == nil {
				t.Error("GetObject succeeded")
			}
		})
	}
}

func TestFaultDelay(t *testing.T) {
	server, client := start(t, s3test.Options{})
	put(t, client, "a", "hello")
	server.Inject(always("GetObject", s3test.Fault{Delay: 20 * time.Millisecond}))
	begun := time.Now()
	if n, err := read(t.Context(), client); n != 5 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if took := time.Since(begun); took < 20*time.Millisecond {
		t.Errorf("GetObject took %v, want a delay of 20 ms", took)
	}
	server.Inject(always("GetObject", s3test.Fault{Delay: time.Hour}))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := read(ctx, client); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("read with a deadline = %v", err)
	}
}

func TestRequests(t *testing.T) {
	server, client := start(t, s3test.Options{})
	server.Deny("secret")
	put(t, client, "a/b", "hello")
	get(t, client, "a/b")
	client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("secret")})
	listAll(t, client, &s3.ListObjectsV2Input{Prefix: aws.String("a/")})
	type line struct {
		Op, Bucket, Key, Prefix string
		Status                  int
		Some                    bool // of the body was sent
	}
	var got []line
	for _, r := range server.Requests() {
		got = append(got, line{r.Op, r.Bucket, r.Key, r.Query.Get("prefix"), r.Status, r.BytesSent > 0})
	}
	want := []line{
		{"PutObject", bucket, "a/b", "", 200, false},
		{"GetObject", bucket, "a/b", "", 200, true},
		{"HeadObject", bucket, "secret", "", 403, false},
		{"ListObjectsV2", bucket, "", "a/", 200, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Requests differ (-want +got):\n%s", diff)
	}
	server.ResetRequests()
	if got := server.Requests(); len(got) != 0 {
		t.Errorf("Requests() after ResetRequests = %v", got)
	}
}

// TestFaultAnswer changes answers, and replaces them.
func TestFaultAnswer(t *testing.T) {
	server, client := start(t, s3test.Options{})
	put(t, client, "a", "hello")
	server.Inject(always("GetObject", s3test.Fault{Edit: func(a *s3test.Answer) {
		a.Header.Del("ETag")
		a.Length = -1
	}}))
	output, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("a")})
	if err != nil {
		t.Fatal(err)
	}
	defer output.Body.Close()
	data, err := io.ReadAll(output.Body)
	if string(data) != "hello" || err != nil || output.ContentLength != nil || output.ETag != nil {
		t.Errorf("GetObject = %q, %v, length %v, ETag %v, want the content alone", data, err, output.ContentLength, output.ETag)
	}
	server.Inject(always("PutObject", s3test.Fault{Instead: &s3test.Answer{Status: http.StatusOK}}))
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("b")}); err != nil {
		t.Errorf("PutObject = %v, want nil", err)
	}
	if keys := server.Objects(bucket); len(keys) != 1 {
		t.Errorf("PutObject was served: %q", keys)
	}
	server.Inject(always("GetObject", s3test.Fault{Edit: func(a *s3test.Answer) { a.Length = 9e18 }}))
	if n, err := read(t.Context(), client); n != 5 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read %d bytes, %v, want 5 and an unexpected end", n, err)
	}
}

// TestFaultHang serves a request and does not answer.
func TestFaultHang(t *testing.T) {
	server, client := start(t, s3test.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	server.Inject(func(s3test.Request) s3test.Fault {
		cancel()
		return s3test.Fault{Hang: true}
	})
	if _, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a")}); !errors.Is(err, context.Canceled) {
		t.Errorf("PutObject = %v, want canceled", err)
	}
}
