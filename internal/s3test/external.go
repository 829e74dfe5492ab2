package s3test

import (
	"os"
	"strings"
	"testing"
)

// Settings say how to reach a real S3 server.
type Settings struct {
	Endpoint, Region             string
	AccessKeyID, SecretAccessKey string
	// Bucket exists. A test leaves it as it was.
	Bucket string
}

// External returns the real server that the environment names; see the
// documentation of the package. It reports false if there is none, and has
// then logged what to set. Where everything is meant to be installed, with
// WORKSPACEKIT_REQUIRE_PROGRAMS set, that fails the test.
//
// The caller then skips what it would have tested. An empty variable counts as
// missing.
func External(tb testing.TB) (Settings, bool) {
	tb.Helper()
	settings := Settings{
		Endpoint:        os.Getenv("WORKSPACEKIT_S3_ENDPOINT"),
		Region:          os.Getenv("WORKSPACEKIT_S3_REGION"),
		AccessKeyID:     os.Getenv("WORKSPACEKIT_S3_ACCESS_KEY_ID"),
		SecretAccessKey: os.Getenv("WORKSPACEKIT_S3_SECRET_ACCESS_KEY"),
		Bucket:          os.Getenv("WORKSPACEKIT_S3_BUCKET"),
	}
	if settings.Region == "" {
		settings.Region = defaultRegion
	}
	missing := settings.missing()
	if len(missing) == 0 {
		return settings, true
	}
	if os.Getenv("WORKSPACEKIT_REQUIRE_PROGRAMS") != "" {
		tb.Fatalf("there is no S3 server to test with, and WORKSPACEKIT_REQUIRE_PROGRAMS is set: set %s", strings.Join(missing, ", "))
	}
	tb.Logf(`to test with a real S3 server run eval "$(.ci/s3 start)", or set %s`, strings.Join(missing, ", "))
	return Settings{}, false
}

// missing returns the variables that are not set.
func (s Settings) missing() []string {
	var names []string
	for _, variable := range [][2]string{
		{"WORKSPACEKIT_S3_ENDPOINT", s.Endpoint},
		{"WORKSPACEKIT_S3_ACCESS_KEY_ID", s.AccessKeyID},
		{"WORKSPACEKIT_S3_SECRET_ACCESS_KEY", s.SecretAccessKey},
		{"WORKSPACEKIT_S3_BUCKET", s.Bucket},
	} {
		if variable[1] == "" {
			names = append(names, variable[0])
		}
	}
	return names
}
