package s3test_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

// fakeTB keeps what a test is told.
type fakeTB struct {
	testing.TB
	logged, failed string
}

func (f *fakeTB) Helper() {}

func (f *fakeTB) Logf(format string, args ...any) { f.logged = fmt.Sprintf(format, args...) }

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func external(t *testing.T) (settings s3test.Settings, ok bool, tb *fakeTB) {
	tb = &fakeTB{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		settings, ok = s3test.External(tb)
	}()
	<-done
	return settings, ok, tb
}

func TestExternal(t *testing.T) {
	t.Setenv("WORKSPACEKIT_REQUIRE_PROGRAMS", "")
	t.Setenv("WORKSPACEKIT_S3_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("WORKSPACEKIT_S3_REGION", "")
	t.Setenv("WORKSPACEKIT_S3_ACCESS_KEY_ID", "id")
	t.Setenv("WORKSPACEKIT_S3_SECRET_ACCESS_KEY", "secret")
	t.Setenv("WORKSPACEKIT_S3_BUCKET", "bucket")
	want := s3test.Settings{Endpoint: "http://127.0.0.1:1", Region: "us-east-1", AccessKeyID: "id", SecretAccessKey: "secret", Bucket: "bucket"}
	settings, ok, _ := external(t)
	if diff := cmp.Diff(want, settings); diff != "" || !ok {
		t.Errorf("External = %v (-want +got):\n%s", ok, diff)
	}
	t.Setenv("WORKSPACEKIT_S3_BUCKET", "")
	if _, ok, tb := external(t); ok || tb.failed != "" || !strings.Contains(tb.logged, "WORKSPACEKIT_S3_BUCKET") {
		t.Errorf("External without a bucket = %v, failed %q, logged %q", ok, tb.failed, tb.logged)
	}
	t.Setenv("WORKSPACEKIT_REQUIRE_PROGRAMS", "1")
	if _, ok, tb := external(t); ok || !strings.Contains(tb.failed, "WORKSPACEKIT_S3_BUCKET") {
		t.Errorf("External where it is required = %v, failed %q", ok, tb.failed)
	}
}
