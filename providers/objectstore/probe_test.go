package objectstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// openServer opens the bucket of a server as a program does, with credentials
// from the environment.
func openServer(t *testing.T, server *s3test.Server, opts objectstore.Options) (*objectstore.FS, error) {
	t.Helper()
	bareEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", server.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.SecretAccessKey)
	opts.Endpoint = server.URL
	if opts.Bucket == "" {
		opts.Bucket = bucket
	}
	return objectstore.Open(t.Context(), &opts)
}

// capable returns capabilities with or without those that need conditions.
func capable(conditions bool) workspace.Capabilities {
	return workspace.Capabilities{
		Write: true, Versions: true, Watch: workspace.WatchPolled,
		ConditionalWrite: conditions, Move: conditions, Copy: conditions,
	}
}

// TestProbe opens stores that honour conditions, and stores that do not.
func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name    string
		options *s3test.Options
		compat  *objectstore.Compat
		want    workspace.Capabilities
	}{
		{"conditions", nil, nil, capable(true)},
		{"modest", modest(), nil, capable(true)},
		{"ignores-conditions", &s3test.Options{IgnoreConditions: true}, nil, capable(false)},
		{"refuses-conditions", &s3test.Options{RefuseConditions: true}, nil, capable(false)},
		{"said-of-uploads", nil, &objectstore.Compat{PathStyle: true, UnconditionalUpload: true, ConditionalCopy: true}, capable(true)},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := s3test.New(t, c.options)
			f, err := openServer(t, server, objectstore.Options{Prefix: "p", Probe: true, Compat: c.compat})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, f.Capabilities()); diff != "" {
				t.Errorf("Capabilities (-want +got):\n%s", diff)
			}
			if keys, uploads := server.Objects(bucket), server.Uploads(); len(keys)+len(uploads) > 0 {
				t.Errorf("the probe leaves keys %q and uploads %v", keys, uploads)
			}
			testConditions(t, f, c.want.ConditionalWrite)
		})
	}
}

// testConditions writes, copies and moves with and without conditions.
func testConditions(t *testing.T, f *objectstore.FS, supported bool) {
	if err := write("f", nil)(t.Context(), f); err != nil {
		t.Errorf("WriteFile without a condition = %v, want nil", err)
	}
	for name, op := range map[string]struct {
		do      action
		honours error
	}{
		"if-not-exist": {write("f", &workspace.WriteOptions{IfNotExist: true}), fs.ErrExist},
		"if-version":   {write("f", &workspace.WriteOptions{IfVersion: "stale"}), workspace.ErrConflict},
		"create":       {createText("f", "x", &workspace.WriteOptions{IfNotExist: true}), fs.ErrExist},
		"copy":         {copyFile("f", "f"), fs.ErrExist},
		"move":         {moveTo("f", "f"), fs.ErrExist},
	} {
		want := op.honours
		if !supported {
			want = errors.ErrUnsupported
		}
		if err := op.do(t.Context(), f); !errors.Is(err, want) {
			t.Errorf("%s = %v, want %v", name, err, want)
		}
	}
}

// TestProbeFails opens what cannot be written to.
func TestProbeFails(t *testing.T) {
	server := s3test.New(t, nil)
	if _, err := openServer(t, server, objectstore.Options{Bucket: "missing", Probe: true}); tools.CodeOf(err) != tools.CodeInternal {
		t.Errorf("Open of a missing bucket = %v, want an error", err)
	}
	server.Deny("p/")
	if _, err := openServer(t, server, objectstore.Options{Prefix: "p", Probe: true}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Open of what is denied = %v, want %v", err, fs.ErrPermission)
	}
}

// TestOpenSendsNothing opens without a probe.
func TestOpenSendsNothing(t *testing.T) {
	server := s3test.New(t, nil)
	f, err := openServer(t, server, objectstore.Options{Prefix: "p/"})
	if err != nil {
		t.Fatal(err)
	}
	if got := trace(server.Requests()); got != "" {
		t.Errorf("Open sends %q, want nothing", got)
	}
	testConditions(t, f, true)
	if keys := server.Objects(bucket); len(keys) != 1 || keys[0] != "p/f" {
		t.Errorf("keys = %q, want p/f", keys)
	}
}

// TestUnconditionalUpload writes short and long files to a store that honours
// the conditions of the short ones alone.
func TestUnconditionalUpload(t *testing.T) {
	server := newFaultServer(profiles()[1], nil)
	t.Cleanup(server.Close)
	s := inProcess(server, objectstore.Compat{PathStyle: true, UnconditionalUpload: true})
	f := s.open(t, "p", objectstore.Options{})
	f.SetPartSizes(partSize)
	if caps := f.Capabilities(); !caps.ConditionalWrite || caps.Copy || caps.Move {
		t.Errorf("Capabilities = %+v, want conditional writes and neither copy nor move", caps)
	}
	create, long := &workspace.WriteOptions{IfNotExist: true}, string(make([]byte, 2*partSize))
	for _, c := range []struct {
		name string
		do   action
		want error
	}{
		{"short-if-not-exist", createText("short", "x", create), nil},
		{"short-again", createText("short", "x", create), fs.ErrExist},
		{"long", createText("long", long, nil), nil},
		{"long-if-not-exist", createText("longer", long, create), errors.ErrUnsupported},
		{"copy", copyFile("short", "copy"), nil},
		{"copy-of-long", copyFile("long", "long copy"), errors.ErrUnsupported},
		{"move", moveTo("short", "moved"), errors.ErrUnsupported},
	} {
		if err := c.do(t.Context(), f); !errors.Is(err, c.want) {
			t.Errorf("%s = %v, want %v", c.name, err, c.want)
		}
	}
	if uploads := server.Uploads(); len(uploads) > 0 {
		t.Errorf("uploads left open: %v", uploads)
	}
}

// TestProbeReadOnly opens workspaces that nothing may be written to, as a configuration does.
func TestProbeReadOnly(t *testing.T) {
	server := s3test.New(t, nil)
	bareEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", server.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.SecretAccessKey)
	openKind := func(bucket string) error {
		options := fmt.Sprintf(`{"bucket": %q, "endpoint": %q, "probe": true}`, bucket, server.URL)
		_, err := objectstore.Kind().Open(t.Context(), kind.Input{
			ReadOnly: true,
			Values:   func(into any) error { return json.Unmarshal([]byte(options), into) },
		})
		return err
	}
	if err := openKind(bucket); err != nil {
		t.Errorf("Open = %v, want nil", err)
	}
	if err := openKind("missing"); tools.CodeOf(err) != tools.CodeInternal {
		t.Errorf("Open of a missing bucket = %v, want an error", err)
	}
	if got, want := trace(server.Requests()), "ListObjectsV2*2"; got != want {
		t.Errorf("Open sends %q, want %q", got, want)
	}
}
