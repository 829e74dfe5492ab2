package fallback_test

import (
	"context"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// simple is a file system whose store cannot search.
type simple struct{ workspace.FileSystem }

func (s simple) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return fallback.Grep(ctx, s, pattern, opts)
}

func Example() {
	ctx := context.Background()
	fsys := simple{memory.New(nil)}
	if _, err := fsys.WriteFile(ctx, "todo.md", []byte("buy milk\n"), nil); err != nil {
		log.Fatal(err)
	}
	result, err := fsys.Grep(ctx, "milk", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Matches[0].Path, result.Matches[0].Line)
	// Output: todo.md buy milk
}
