package objectstore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// requestCase is an operation and the requests that it may send.
type requestCase struct {
	name string
	keys []string // that exist, below the prefix
	// before prepares the workspace, with requests that do not count.
	before func(ctx context.Context, f *objectstore.FS) error
	do     func(ctx context.Context, f *objectstore.FS) error
	kind   error  // of the error; nil for none
	want   string // the requests in order, as trace spells them
	modest string // those of the modest store; empty if they are the same
}

func (c requestCase) wantOf(p profile) string {
	if p.name == "modest" && c.modest != "" {
		return c.modest
	}
	return c.want
}

// requestGroups returns all cases by the first part of their names.
func requestGroups() map[string][]requestCase {
	return map[string][]requestCase{
		"read": readRequests(), "ls": lsRequests(), "write": writeRequests(), "rm": rmRequests(),
		"mkdir": mkdirRequests(), "copy": copyRequests(), "walk": walkRequests(), "glob": globRequests(),
		"grep": grepRequests(),
	}
}

// TestRequests counts what each operation costs, as its doc comment says.
func TestRequests(t *testing.T) {
	t.Parallel()
	for group, cases := range requestGroups() {
		for _, c := range cases {
			for _, p := range profiles() {
				t.Run(group+"/"+c.name+"/"+p.name, func(t *testing.T) {
					exhaustive.Sample(t, 4)
					c.test(t, p)
				})
			}
		}
	}
}

// TestDocsStateTheRequests compares the table of docs/objectstore.md with the cases of
// TestRequests: {copy/file} is how many requests the case sends, {copy/file modest} at the
// modest store, and {copy/move-file - copy/file} is a difference.
func TestDocsStateTheRequests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/objectstore.md")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for group, cases := range requestGroups() {
		for _, c := range cases {
			for _, p := range []string{"", " modest"} {
				n := 0
				for _, op := range strings.Fields(c.wantOf(profile{name: strings.TrimSpace(p)})) {
					_, times, _ := strings.Cut(op, "*")
					more, _ := strconv.Atoi(cmp.Or(times, "1"))
					n += more
				}
				counts[group+"/"+c.name+p] = n
			}
		}
	}
	for _, row := range []string{
		"| ReadFile, ReadVersioned, a window of a file (Open) | {read/file}; {read/open-behind-end} for a window at or after the end; {read/missing-in-known} or more for a missing name |",
		"| Stat of a file, of a directory, of the root | {read/stat-file}, {read/stat-directory}, {read/stat-root} |",
		"| Ls | {ls/thousand} for 1,000 entries; up to {ls/empty} for an empty directory |",
		"| Walk | {walk/after} for 1,000 keys, at any depth; up to as many as at the last walk |",
		"{glob/literal} for each name looked up, {glob/literal-missing} if no file |",
		"; of one file about {grep/one-file}, or {grep/one-file-again} if the cache has it |",
		"| WriteFile into a directory that a write looked for in the last 5 seconds (at most 1,024), into another, into a new one | {write/known}, {write/unknown}, {write/new} or more; {write/late-in-known} for a name after the first 1,000 of a directory, unless that directory is new |",
		"| {write/if-version-unread} for a version that was read, or written by WriteFile, in the last 5 seconds, or else {write/if-version-long-unread};",
		"| a stream (Create) | as WriteFile up to 8 MiB (`PartSize`); for 3 parts, {write/create-parts - write/create-short} more, or {write/create-parts-new - write/new} into a new directory |",
		"| Rm | up to {rm/empty-among-namesakes}, more for a missing name; recursive, {rm/thousand} for each 1,000 keys, and up to {rm/thousand-among-namesakes - rm/thousand} more |",
		"| Copy | {copy/file} on AWS, {copy/file modest} elsewhere",
		"| Move of a file | as Copy, and up to {copy/move-file - copy/file} more on AWS, {copy/move-file modest - copy/file modest} elsewhere |",
	} {
		want := regexp.MustCompile(`\{([^}]+)\}`).ReplaceAllStringFunc(row, func(name string) string {
			name, without, _ := strings.Cut(strings.Trim(name, "{}"), " - ")
			for _, known := range []string{name, cmp.Or(without, name)} {
				if counts[known] == 0 {
					t.Errorf("there is no case %s", known)
				}
			}
			return strconv.Itoa(counts[name] - counts[without])
		})
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/objectstore.md does not say %q", want)
		}
	}
}

func (c requestCase) test(t *testing.T, p profile) {
	ctx := t.Context()
	server := s3test.New(t, p.options)
	seed(server, c.keys...)
	fsys := inProcess(server, p.compat).open(t, "p", objectstore.Options{})
	if c.before != nil {
		if err := c.before(ctx, fsys); err != nil {
			t.Fatalf("preparing: %v", err)
		}
	}
	server.ResetRequests()
	if err := c.do(ctx, fsys); !errors.Is(err, c.kind) {
		t.Errorf("error = %v, want %v", err, c.kind)
	}
	if got, want := trace(server.Requests()), c.wantOf(p); got != want {
		t.Errorf("requests = %q, want %q", got, want)
	}
}

// trace spells the operations of requests, and how often those that were
// repeated were sent: "ListObjectsV2*10 GetObject". Parts are sent beside what else an upload
// needs, and come after that.
func trace(requests []s3test.Request) string {
	is := func(op string) func(s3test.Request) bool {
		return func(r s3test.Request) bool { return r.Op == op }
	}
	if first := slices.IndexFunc(requests, is("UploadPart")); first >= 0 {
		upload := requests[first:]
		if end := slices.IndexFunc(upload, is("CompleteMultipartUpload")); end >= 0 {
			upload = upload[:end]
		}
		slices.SortStableFunc(upload, func(a, b s3test.Request) int {
			return cmp.Compare(strings.Count(a.Op, "UploadPart"), strings.Count(b.Op, "UploadPart"))
		})
	}
	var spelled []string
	for i := 0; i < len(requests); {
		n := 1
		for i+n < len(requests) && requests[i+n].Op == requests[i].Op {
			n++
		}
		op := requests[i].Op
		if n > 1 {
			op = fmt.Sprintf("%s*%d", op, n)
		}
		spelled = append(spelled, op)
		i += n
	}
	return strings.Join(spelled, " ")
}

// The operations that cases share.

type action = func(ctx context.Context, f *objectstore.FS) error

func readFile(name string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		_, err := f.ReadFile(ctx, name)
		return err
	}
}

func stat(name string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		_, err := f.Stat(ctx, name)
		return err
	}
}

func write(name string, opts *workspace.WriteOptions) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		_, err := f.WriteFile(ctx, name, []byte("new"), opts)
		return err
	}
}

func rm(name string, recursive bool) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		return f.Rm(ctx, name, &workspace.RmOptions{Recursive: recursive})
	}
}

func mkdir(name string, recursive bool) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		return f.Mkdir(ctx, name, &workspace.MkdirOptions{Recursive: recursive})
	}
}

// lists asks for a listing of want entries.
func lists(dir string, opts *workspace.LsOptions, want int) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		infos, err := f.Ls(ctx, dir, opts)
		if err == nil && len(infos) != want {
			return fmt.Errorf("Ls(%q) has %d entries, want %d", dir, len(infos), want)
		}
		return err
	}
}
