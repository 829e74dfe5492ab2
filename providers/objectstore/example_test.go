package objectstore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// Everything below the prefix is the workspace. The server in memory needs no credentials.
// Otherwise they come from the environment or a profile.
func ExampleOpen() {
	ctx := context.Background()
	server := s3test.Start(&s3test.Options{Public: true})
	defer server.Close()
	fsys, err := objectstore.Open(ctx, &objectstore.Options{
		Bucket: "workspace", Prefix: "team-a",
		Endpoint: server.URL, Region: server.Region, Anonymous: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	if _, err := fsys.WriteFile(ctx, "reports/2026.md", []byte("All is well.\n"), &workspace.WriteOptions{IfNotExist: true}); err != nil {
		log.Fatal(err)
	}
	names, err := fsys.Glob(ctx, "**/*.md", nil)
	fmt.Println(names, err)
	// Output: [reports/2026.md] <nil>
}
