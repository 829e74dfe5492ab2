package s3test_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

var update = flag.Bool("update", false, "rewrite testdata/answers.golden")

// TestAnswers holds the server to the answers that TestCompare compares with
// those of a real server, where there is none.
func TestAnswers(t *testing.T) {
	server := s3test.New(t, nil)
	ours := endpoint{server.URL, server.Region, server.AccessKeyID, server.SecretAccessKey}
	var b strings.Builder
	for i, s := range scenarios() {
		p := ours.newPeer(t, fmt.Sprintf("scenario-%d", i))
		for _, r := range s.requests {
			fmt.Fprintf(&b, "== %s: %s\n", s.name, r.does)
			for _, line := range p.do(t, r) {
				fmt.Fprintf(&b, "%.200q\n", line)
			}
		}
	}
	const name = "testdata/answers.golden"
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the answers differ; compare with a real server before go test -update (-want +got):\n%s", diff)
	}
}
