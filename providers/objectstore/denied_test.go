package objectstore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestDeniedRequests counts the requests of searches in 3,000 keys in 300
// directories. With denied names they list as often as without, and read no
// denied file.
func TestDeniedRequests(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, nil)
	for i := range 2999 {
		seed(server, fmt.Sprintf("dir%03d/file%d.txt", i%300, i))
	}
	seed(server, "dir150/secret.env")
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	sub, err := policy.Sub(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	restricted, err := policy.Restrict(workspace.New("w", policy.ReadOnly(sub), nil), policy.Rules{DeniedPaths: []string{"*.env", "dir0*", "dir299/file299.txt"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, fsys workspace.FileSystem) error
		all  int // how many files are read without denied names; the bucket is listed in three pages
	}{
		{"Grep", func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.Grep(ctx, "nothing", &workspace.GrepOptions{IncludeGlob: "*.env"})
			return err
		}, 1},
		{"Glob", func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.Glob(ctx, "**/*.txt", nil)
			return err
		}, 0},
		{"Walk", func(ctx context.Context, fsys workspace.FileSystem) error {
			return workspace.Walk(ctx, fsys, ".", nil, func(_ workspace.FileInfo, err error) error { return err })
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, test := range []struct {
				fsys  workspace.FileSystem
				reads int
			}{{fsys, c.all}, {restricted, 0}} {
				server.ResetRequests()
				if err := c.do(t.Context(), test.fsys); err != nil {
					t.Fatal(err)
				}
				counts := map[string]int{}
				for _, request := range server.Requests() {
					counts[request.Op]++
				}
				if counts["ListObjectsV2"] != 3 || counts["GetObject"] != test.reads || len(server.Requests()) != 3+test.reads {
					t.Errorf("requests of a %T = %v, want 3 listings and %d reads", test.fsys, counts, test.reads)
				}
			}
		})
	}
}
