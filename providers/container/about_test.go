//go:build unix

package container_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// client makes a program of that name that does what script says, and returns
// its path.
func client(t *testing.T, name, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAbout(t *testing.T) {
	const asked = `[ "$*" = "--context far version --format {{json .}}" ] || { echo "asked $*" >&2; exit 2; }
echo '`
	tests := []struct{ name, client, said, want string }{
		{
			"docker", "docker",
			`{"Client":{"Version":"20.10.23","Os":"linux"},"Server":{"Platform":{"Name":""},"Components":[{"Name":"Engine","Version":"20.10.24"},{"Name":"runc","Version":"1.1"}],"Version":"20.10.24","Os":"linux","Arch":"amd64"}}`,
			"Docker Engine 20.10.24 (linux/amd64)",
		},
		{
			"podman", "podman", `{"Client":{"APIVersion":"4.3.1","Version":"4.3.1","OsArch":"linux/amd64"}}`,
			"Podman 4.3.1 (linux/amd64)",
		},
		{
			"podman-remote", "podman",
			`{"Client":{"Version":"5.0.0","OsArch":"darwin/arm64"},"Server":{"Version":"4.9.0","OsArch":"linux/arm64"}}`,
			"Podman 4.9.0 (linux/arm64)",
		},
		{
			"nerdctl", "nerdctl",
			`{"Client":{"Version":"v1.7.0"},"Server":{"Components":[{"Name":"containerd","Version":"v1.7.11"}]}}`,
			"containerd v1.7.11",
		},
		{"says-nothing", "other", `{}`, ""},
		{"says-something-else", "other", `version 3`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := client(t, test.client, asked+test.said+`'`)
			got, err := container.About(t.Context(), &container.Options{Image: "i", Engine: []string{path, "--context", "far"}})
			if err != nil || got != test.want {
				t.Errorf("About() = %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestAboutErrors(t *testing.T) {
	down := client(t, "docker", `echo first >&2; echo "Cannot connect to the Docker daemon at unix:///home/me/docker.sock. Is the docker daemon running?" >&2; exit 1`)
	_, err := container.About(t.Context(), &container.Options{Image: "i", Engine: []string{down}})
	if !errors.Is(err, workspace.ErrUnavailable) || err.Error() != "open .: temporarily unavailable: the engine does not answer" {
		t.Errorf("About() = %v, want what the client complains of, without a path", err)
	}
	_, err = container.About(t.Context(), &container.Options{Image: "i", Engine: []string{"no-such-engine"}})
	if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("About() = %v, want %v and %v", err, errors.ErrUnsupported, exec.ErrNotFound)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	slow := client(t, "docker", `sleep 600 & wait`)
	begun := time.Now()
	_, err = container.About(ctx, &container.Options{Image: "i", Engine: []string{slow}})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > time.Minute {
		t.Errorf("About() = %v after %v, want %v", err, time.Since(begun), context.DeadlineExceeded)
	}
}

func TestAboutExecutor(t *testing.T) {
	got, err := container.About(t.Context(), &container.Options{Executor: container.Command{}})
	if got != "" || err != nil {
		t.Errorf("About() = %q, %v, want nothing", got, err)
	}
}

func TestAboutKubernetes(t *testing.T) {
	path := client(t, "kubectl", `[ "$*" = "--context=far version --output=json" ] || exit 2
echo '{"clientVersion":{"gitVersion":"v1.31.0"},"serverVersion":{"gitVersion":"v1.30.2","platform":"linux/amd64"}}'`)
	t.Setenv("PATH", filepath.Dir(path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	got, err := container.AboutKubernetes(t.Context(), "--context=far")
	if want := "Kubernetes v1.30.2 (linux/amd64)"; err != nil || got != want {
		t.Errorf("AboutKubernetes() = %q, %v, want %q", got, err, want)
	}
}

// TestOpenWithoutClient tests that a client that is not installed can be told
// from an image that lacks something.
func TestOpenWithoutClient(t *testing.T) {
	_, err := container.Open(t.Context(), &container.Options{Container: "c", Engine: []string{"no-such-engine"}})
	if !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("Open() = %v, want %v", err, exec.ErrNotFound)
	}
}
