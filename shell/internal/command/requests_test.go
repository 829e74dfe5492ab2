package command

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestRequests counts the requests to a bucket: a search by a program costs as many as
// the search of the workspace.
func TestRequests(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, nil)
	for i := range exhaustive.Some(t, "objects", 10_000, 1_200) {
		server.Put("workspace", fmt.Sprintf("p/dir%03d/file%d.txt", i%100, i), fmt.Appendf(nil, "line\nnumber %d\n", i))
	}
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(server.URL), Region: server.Region, UsePathStyle: true, HTTPClient: server.Client(),
		Credentials: credentials.NewStaticCredentialsProvider(server.AccessKeyID, server.SecretAccessKey, ""),
	})
	requests := func(do func(ws *workspace.Workspace)) map[string]int {
		fsys, err := objectstore.New(client, &objectstore.Options{Bucket: "workspace", Prefix: "p", Compat: &objectstore.Compat{PathStyle: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		server.ResetRequests()
		do(workspace.New("lake", fsys, nil))
		counts := map[string]int{}
		for _, r := range server.Requests() {
			counts[r.Op]++
		}
		return counts
	}
	grep := func(opts *workspace.GrepOptions) func(ws *workspace.Workspace) {
		return func(ws *workspace.Workspace) {
			if _, err := ws.Grep(t.Context(), "number 17", opts); err != nil {
				t.Error(err)
			}
		}
	}
	glob := func(ws *workspace.Workspace) {
		if _, err := ws.Glob(t.Context(), "**/*7.txt", nil); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		line string
		same func(ws *workspace.Workspace)
	}{
		{"grep -rn 'number 17' .", grep(nil)},
		{"grep -rl 'number 17'", grep(&workspace.GrepOptions{FirstOnly: true})},
		{"grep -rnw -A1 --include='*7.txt' number dir007", grep(&workspace.GrepOptions{Path: "dir007", IncludeGlob: "*7.txt", After: 1})},
		{"rg -n 'number 17'", grep(&workspace.GrepOptions{Gitignore: true, ExcludeGlob: "{**/.*,**/.*/**}"})},
		{"find . -name '*7.txt'", glob},
	} {
		want := requests(c.same)
		got := requests(func(ws *workspace.Workspace) {
			if _, stderr, status := run(t, ws, "", c.line); status != 0 {
				t.Errorf("%s ends with %d: %s", c.line, status, stderr)
			}
		})
		t.Logf("%s: %v", c.line, got)
		// To ask what a directory is costs one request, and one more where it is no object.
		if got["GetObject"] != want["GetObject"] || got["ListObjectsV2"] > want["ListObjectsV2"]+2 || got["HeadObject"] > want["HeadObject"]+2 {
			t.Errorf("%s makes the requests %v, the workspace %v", c.line, got, want)
		}
	}
}
