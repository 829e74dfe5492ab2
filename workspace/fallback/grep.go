package fallback

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// grepWorkers is how many files a Grep reads at a time: enough to hide the
// latency of a store over a network.
const grepWorkers = 16

// Grep is a [workspace.FileSystem].Grep by Ls and by one read for each file
// that the globs of opts leave over, several at a time. The reads are made by
// [workspace.ReadVersioned] if opts limits the size of files, so that larger
// ones are not read.
//
// # Errors
//
// Those of [workspace.FileSystem].Grep.
func Grep(ctx context.Context, fsys workspace.FileSystem, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return scan.Grep(ctx, source{fsys}, pattern, opts, grepWorkers)
}
