package objectstore_test

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestDownload reads a file whose answers have no length, or are cut again and
// again. Every read gets all of it.
func TestDownload(t *testing.T) {
	line := strings.Repeat("a line ", 15) + "of it\n"
	content := strings.Repeat(line, 1<<15) // 3.5 MiB
	cut := func(n int) func(int64) s3test.Fault {
		return func(read int64) s3test.Fault {
			if read%3 == 0 { // two cuts in a row
				return s3test.Fault{}
			}
			return s3test.Fault{Truncate: n}
		}
	}
	streamed := func(opts *workspace.OpenOptions) func(context.Context, *objectstore.FS) (string, error) {
		return func(ctx context.Context, f *objectstore.FS) (string, error) {
			stream, _, err := f.Open(ctx, "f", opts)
			if err != nil {
				return "", err
			}
			defer stream.Close()
			data, err := io.ReadAll(stream)
			return string(data), err
		}
	}
	for faultName, fault := range map[string]func(read int64) s3test.Fault{
		"chunked": func(int64) s3test.Fault { return s3test.Fault{Edit: chunked} },
		"cut":     cut(1000),
		"cut-far": cut(3 << 20),
		"chunked-cut": func(read int64) s3test.Fault {
			f := cut(1000)(read)
			f.Edit = chunked
			return f
		},
	} {
		for readName, c := range map[string]struct {
			read func(context.Context, *objectstore.FS) (string, error)
			want string
		}{
			"read": {func(ctx context.Context, f *objectstore.FS) (string, error) {
				data, err := f.ReadFile(ctx, "f")
				return string(data), err
			}, content},
			"stream": {streamed(nil), content},
			"window": {streamed(&workspace.OpenOptions{Offset: 7, Length: 3 << 20}), content[7 : 7+3<<20]},
			"grep": {func(ctx context.Context, f *objectstore.FS) (string, error) {
				result, err := f.Grep(ctx, "line", nil)
				if err != nil {
					return "", err
				}
				return strings.Repeat(line, len(result.Matches)), nil
			}, content},
		} {
			for _, p := range profiles() {
				t.Run(faultName+"/"+readName+"/"+p.name, func(t *testing.T) {
					exhaustive.Sample(t, 4)
					t.Parallel()
					server := s3test.New(t, p.options)
					server.Put(bucket, "p/f", []byte(content))
					f := inProcess(server, p.compat, impatient(1)).open(t, "p", objectstore.Options{})
					var reads atomic.Int64
					server.Inject(func(r s3test.Request) s3test.Fault {
						if r.Op != "GetObject" {
							return s3test.Fault{}
						}
						return fault(reads.Add(1))
					})
					got, err := c.read(t.Context(), f)
					if err != nil || got != c.want {
						t.Errorf("%d bytes, %v, want %d, nil", len(got), err, len(c.want))
					}
				})
			}
		}
	}
}
