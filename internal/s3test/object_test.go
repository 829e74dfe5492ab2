package s3test_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

// TestKeys stores and lists keys that a file system would not take.
func TestKeys(t *testing.T) {
	for name, opts := range map[string]s3test.Options{"http": {}, "tls": {TLS: true}} {
		t.Run(name, func(t *testing.T) {
			server, client := start(t, opts)
			keys := []string{
				"/", "//", "/leading", "a", "a/", "a//b", "a/../b", "a/./b", "..", ".", "a b", "a+b", "a%2Fb", "a%b",
				"a?b", "a&b=c", "a#b", "<&>\"'", "ünï/日本", "\x01\x1f", "line\nfeed\rreturn\ttab", "\x7f", "~*'()!",
				strings.Repeat("k", 1024),
			}
			for _, key := range keys {
				put(t, client, key, "content of "+key)
			}
			for _, key := range keys {
				if got := get(t, client, key); got != "content of "+key {
					t.Errorf("GetObject(%q) = %q", key, got)
				}
			}
			if got := len(server.Objects(bucket)); got != len(keys) {
				t.Errorf("the bucket holds %d objects, want %d", got, len(keys))
			}
			if diff := cmp.Diff(server.Objects(bucket), listAll(t, client, &s3.ListObjectsV2Input{MaxKeys: aws.Int32(3)})); diff != "" {
				t.Errorf("ListObjectsV2 differs (-stored +listed):\n%s", diff)
			}
		})
	}
}
