// Package enginetest leads tests to the container engines that .ci/engines
// starts:
//
//	WORKSPACEKIT_DOCKER_HOST      the socket of a Docker
//	WORKSPACEKIT_DOCKERD_STATE    the folder of its dockerd, if that was started for the tests
//	WORKSPACEKIT_PODMAN           a command that runs Podman
//	WORKSPACEKIT_BUSYBOX_IMAGE    an image with busybox, in both
//	WORKSPACEKIT_DEBIAN_IMAGE     an image with Debian, in Docker
//	WORKSPACEKIT_REQUIRE_ENGINES  makes a test fail that would skip because one is missing
package enginetest

import (
	"os"
	"os/exec"
	"testing"
)

// Lacking skips the test because something that it needs is missing, or fails it
// if WORKSPACEKIT_REQUIRE_ENGINES says that nothing may be missing.
func Lacking(tb testing.TB, format string, args ...any) {
	tb.Helper()
	if os.Getenv("WORKSPACEKIT_REQUIRE_ENGINES") != "" {
		tb.Fatalf(format+" (WORKSPACEKIT_REQUIRE_ENGINES is set)", args...)
	}
	tb.Skipf(format, args...)
}

// Lookup returns the values of the variables, or calls Lacking if one of them is
// empty.
func Lookup(tb testing.TB, variables ...string) []string {
	tb.Helper()
	values := make([]string, len(variables))
	for i, variable := range variables {
		if values[i] = os.Getenv(variable); values[i] == "" {
			Lacking(tb, `there is no engine: eval "$(.ci/engines start)" starts one and sets %s`, variable)
		}
	}
	return values
}

// Docker returns the socket of a Docker that has the image, which nobody kills
// during the test.
func Docker(tb testing.TB, image string) (host string) {
	tb.Helper()
	return docker(tb, image, share)
}

// DockerAlone is Docker for a test that looks at all containers of the image:
// no other test that uses Docker or DockerAlone makes any meanwhile.
func DockerAlone(tb testing.TB, image string) (host string) {
	tb.Helper()
	return docker(tb, image, own)
}

// docker returns the socket of a Docker that has the image, once reserve has
// kept other tests away.
func docker(tb testing.TB, image string, reserve func(testing.TB)) (host string) {
	tb.Helper()
	host = Lookup(tb, "WORKSPACEKIT_DOCKER_HOST")[0]
	reserve(tb)
	if out, err := exec.Command("docker", "--host", host, "image", "inspect", image).CombinedOutput(); err != nil {
		Lacking(tb, "Docker has no image %s: %v: %s", image, err, out)
	}
	return host
}

// Dockerd returns the folder of a dockerd that the test may kill, which no other
// test uses meanwhile.
func Dockerd(tb testing.TB) (state string) {
	tb.Helper()
	Lookup(tb, "WORKSPACEKIT_DOCKER_HOST")
	if state = os.Getenv("WORKSPACEKIT_DOCKERD_STATE"); state == "" {
		tb.Skip("the dockerd that runs was not started for the tests, and must not be killed")
	}
	own(tb)
	return state
}
