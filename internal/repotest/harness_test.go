package repotest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/workspace/config"
)

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// writeConfig writes a file that describes workspaces, and returns its path.
func writeConfig(t testing.TB, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, config.FileName)
	writeFile(t, path, text)
	return path
}

// open opens what a file describes for the length of the test.
func open(t testing.TB, path string) *config.Workspaces {
	t.Helper()
	workspaces, err := workspacekit.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := workspaces.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return workspaces
}

func lookup(t testing.TB, workspaces *config.Workspaces, name string) *config.Workspace {
	t.Helper()
	ws, ok := workspaces.Lookup(name)
	if !ok {
		t.Fatalf("there is no workspace %q", name)
	}
	return ws
}

// useStore sets the environment to that of an S3 server, a real one if there is
// one.
func useStore(t *testing.T) {
	t.Helper()
	s, ok := s3test.External(t)
	if !ok {
		server := s3test.New(t, nil)
		s = s3test.Settings{
			Endpoint: server.URL, Region: server.Region, Bucket: "workspace",
			AccessKeyID: server.AccessKeyID, SecretAccessKey: server.SecretAccessKey,
		}
	}
	for name, value := range map[string]string{
		"BUCKET": s.Bucket, "S3_ENDPOINT": s.Endpoint, "AWS_REGION": s.Region, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": s.AccessKeyID, "AWS_SECRET_ACCESS_KEY": s.SecretAccessKey,
	} {
		t.Setenv(name, value)
	}
}

// exampleImage is the image that the example makes a container of.
const exampleImage = "debian:12"

// useEngine lets docker be that of .ci/engines.
func useEngine(t *testing.T) {
	t.Helper()
	t.Setenv("DOCKER_HOST", enginetest.Docker(t, exampleImage))
}
