package objectstore_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

func readRequests() []requestCase {
	knowing := func(dir string) action { return write(dir+"/known", nil) }
	return []requestCase{
		{name: "file", keys: []string{"a/f"}, do: readFile("a/f"), want: "GetObject"},
		{name: "missing-in-known", keys: []string{"a/b/f"}, before: knowing("a/b"), do: readFile("a/b/missing"),
			kind: fs.ErrNotExist, want: "GetObject ListObjectsV2"},
		{name: "missing-in-unknown", keys: []string{"a/b/f"}, do: readFile("a/b/missing"),
			kind: fs.ErrNotExist, want: "GetObject ListObjectsV2*2"},
		{name: "missing-deep", do: readFile("a/b/c/d/e"), kind: fs.ErrNotExist, want: "GetObject ListObjectsV2*3"},
		{name: "missing-deep-in-existing", keys: []string{"a/b/c/d/f"}, do: readFile("a/b/c/d/e"), kind: fs.ErrNotExist, want: "GetObject ListObjectsV2*2"},
		{name: "missing-below-file", keys: []string{"a/b"}, do: readFile("a/b/c/d/e"), kind: workspace.ErrNotDir, want: "GetObject ListObjectsV2*3"},
		{name: "missing-among-many", keys: numbered("a/a%04d", 1001), do: readFile("a/b/c/d/e"), kind: fs.ErrNotExist,
			want: "GetObject ListObjectsV2*3 HeadObject*3"},
		{name: "directory", keys: []string{"a/f"}, do: readFile("a"), kind: workspace.ErrIsDir, want: "GetObject ListObjectsV2"},
		{name: "root", do: readFile("."), kind: workspace.ErrIsDir, want: ""},
		{name: "below-file", keys: []string{"f"}, do: readFile("f/x"), kind: workspace.ErrNotDir, want: "GetObject ListObjectsV2 HeadObject"},
		{name: "stat-file", keys: []string{"a/f"}, do: stat("a/f"), want: "HeadObject"},
		{name: "stat-directory", keys: []string{"a/f"}, do: stat("a"), want: "HeadObject ListObjectsV2"},
		{name: "stat-root", do: stat("."), want: "ListObjectsV2"},
		{name: "stat-missing-at-top", do: stat("missing"), kind: fs.ErrNotExist, want: "HeadObject ListObjectsV2"},
		{name: "open-behind-end", keys: []string{"f"}, do: openBehindEnd, want: "GetObject HeadObject"},
		{name: "versioned-too-large", keys: []string{"f"}, do: readLimited, kind: workspace.ErrTooLarge, want: "GetObject"},
	}
}

func openBehindEnd(ctx context.Context, f *objectstore.FS) error {
	stream, info, err := f.Open(ctx, "f", &workspace.OpenOptions{Offset: 100})
	if err != nil {
		return err
	}
	defer stream.Close()
	if data, err := io.ReadAll(stream); err != nil || len(data) > 0 || info.Size != 2 {
		return fmt.Errorf("window behind the end = %q, %v of %d bytes", data, err, info.Size)
	}
	return nil
}

func readLimited(ctx context.Context, f *objectstore.FS) error {
	_, _, err := f.ReadVersioned(ctx, "f", 1)
	return err
}

func lsRequests() []requestCase {
	thousand := numbered("d/f%04d", 1000)
	return []requestCase{
		{name: "thousand", keys: thousand, do: lists("d", nil, 1000), want: "ListObjectsV2"},
		{name: "thousand-and-marker", keys: append([]string{"d/"}, thousand...), do: lists("d", nil, 1000), want: "ListObjectsV2"},
		{name: "thousand-and-one", keys: numbered("d/f%04d", 1001), do: lists("d", nil, 1001), want: "ListObjectsV2*2"},
		{name: "limit", keys: thousand, do: lists("d", &workspace.LsOptions{Limit: 10}, 10), want: "ListObjectsV2"},
		{name: "limit-after", keys: thousand, do: lists("d", &workspace.LsOptions{Limit: 10, After: "f0500"}, 10), want: "ListObjectsV2"},
		{name: "directories", keys: numbered("d/s%04d/f", 1000), do: lists("d", nil, 1000), want: "ListObjectsV2"},
		{name: "empty", keys: []string{"d/"}, do: lists("d", nil, 0), want: "ListObjectsV2*2"},
		{name: "empty-root", do: lists(".", nil, 0), want: "ListObjectsV2"},
		{name: "file", keys: []string{"f"}, do: lists("f", nil, 0), kind: workspace.ErrNotDir, want: "ListObjectsV2*2 HeadObject"},
		{name: "missing", do: lists("d", nil, 0), kind: fs.ErrNotExist, want: "ListObjectsV2*2 HeadObject"},
	}
}

func writeRequests() []requestCase {
	known := write("a/known", nil)
	return []requestCase{
		{name: "at-top-unknown", do: write("f", nil), want: "ListObjectsV2 PutObject"},
		{name: "known", before: known, do: write("a/f", nil), want: "PutObject"},
		{name: "known-of-existing", keys: []string{"a/f"}, before: known, do: write("a/f", nil), want: "PutObject"},
		{name: "unknown", keys: []string{"a/b/f"}, do: write("a/b/g", nil), want: "ListObjectsV2 PutObject"},
		{name: "listed", keys: []string{"a/f"}, before: lists("a", nil, 1), do: write("a/g", nil), want: "ListObjectsV2 PutObject"},
		{name: "late-in-known", keys: numbered("a/f%04d", 1001), before: write("a/y", nil), do: write("a/z", nil), want: "ListObjectsV2*2 PutObject"},
		{name: "new", do: write("a/f", nil), want: "ListObjectsV2*2 PutObject"},
		{name: "new-and-deep", do: write("a/b/c/d", nil), want: "ListObjectsV2*2 PutObject"},
		{name: "new-among-many", keys: numbered("a/a%04d", 1001), do: write("a/b/f", nil), want: "ListObjectsV2*2 HeadObject PutObject"},
		{name: "new-in-known", before: known, do: write("a/b/f", nil), want: "ListObjectsV2*2 PutObject"},
		{name: "if-version", keys: []string{"a/b/f"}, do: swap("a/b/f"), want: "GetObject PutObject"},
		{name: "if-not-exist", before: known, do: write("a/f", &workspace.WriteOptions{IfNotExist: true}), want: "PutObject"},
		{name: "if-not-exist-of-existing", keys: []string{"a/f"}, before: known, do: write("a/f", &workspace.WriteOptions{IfNotExist: true}),
			kind: fs.ErrExist, want: "PutObject HeadObject"},
		{name: "if-version-stale", keys: []string{"a/f"}, before: known, do: write("a/f", &workspace.WriteOptions{IfVersion: "0"}),
			kind: workspace.ErrConflict, want: "HeadObject"},
		{name: "if-version-unread", before: known, do: write("a/known", &workspace.WriteOptions{IfVersion: "22af645d1859cb5ca6da0c484f1f37ea"}), want: "PutObject"},
		{name: "if-version-of-stream", before: create("a/f", 0), do: write("a/f", &workspace.WriteOptions{IfVersion: "d41d8cd98f00b204e9800998ecf8427e"}),
			want: "HeadObject PutObject"},
		{name: "if-version-long-unread", keys: []string{"a/f"}, do: write("a/f", &workspace.WriteOptions{IfVersion: "ba47dde60dc2f348bdcd344e97a81a26"}),
			want: "HeadObject PutObject"},
		{name: "create-short", before: known, do: create("a/f", 1), want: "PutObject"},
		{name: "create-one-part", before: known, do: create("a/f", objectstore.DefaultPartSize), want: "PutObject"},
		{name: "create-parts", before: known, do: create("a/f", 2*objectstore.DefaultPartSize+1), want: "CreateMultipartUpload UploadPart*3 CompleteMultipartUpload"},
		{name: "create-parts-new", do: create("a/f", 2*objectstore.DefaultPartSize+1),
			want: "ListObjectsV2*2 CreateMultipartUpload ListObjectsV2*2 UploadPart*3 CompleteMultipartUpload"},
		{name: "directory", keys: []string{"a/b/f"}, do: write("a/b", nil), kind: workspace.ErrIsDir, want: "ListObjectsV2*2"},
		{name: "root", do: write(".", nil), kind: workspace.ErrIsDir, want: ""},
		{name: "below-file", keys: []string{"f"}, do: write("f/a/b", nil), kind: workspace.ErrNotDir, want: "ListObjectsV2*2"},
	}
}

// swap replaces name on the condition of its version: a read and a write.
func swap(name string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		_, version, err := f.ReadVersioned(ctx, name, 0)
		if err != nil {
			return err
		}
		return write(name, &workspace.WriteOptions{IfVersion: version})(ctx, f)
	}
}

// create writes name as a stream of size bytes.
func create(name string, size int) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		w, err := f.Create(ctx, name, nil)
		if err != nil {
			return err
		}
		defer w.Close()
		if _, err := w.Write(make([]byte, size)); err != nil {
			return err
		}
		_, err = w.Commit()
		return err
	}
}

func rmRequests() []requestCase {
	return []requestCase{
		{name: "file", keys: []string{"a/f"}, do: rm("a/f", false), want: "ListObjectsV2 PutObject DeleteObject"},
		{name: "second-file", keys: []string{"a/f", "a/g"}, before: rm("a/g", false), do: rm("a/f", false), want: "ListObjectsV2 DeleteObject"},
		{name: "file-at-top", keys: []string{"f"}, do: rm("f", false), want: "ListObjectsV2 DeleteObject"},
		{name: "empty-directory", keys: []string{"a/b/"}, do: rm("a/b", false), want: "ListObjectsV2 PutObject DeleteObject"},
		{name: "empty-among-namesakes", keys: append(numbered("a/b-%02d", 16), "a/b/"), do: rm("a/b", false),
			want: "ListObjectsV2*2 PutObject DeleteObject"},
		{name: "not-empty", keys: numbered("a/f%04d", 1000), do: rm("a", false), kind: workspace.ErrNotEmpty, want: "ListObjectsV2"},
		{name: "thousand", keys: numbered("a/f%04d", 1000), do: rm("a", true), want: "ListObjectsV2 DeleteObjects"},
		{name: "three-thousand", keys: numbered("a/f%04d", 3000), do: rm("a", true),
			want: "ListObjectsV2 DeleteObjects ListObjectsV2 DeleteObjects ListObjectsV2 DeleteObjects"},
		{name: "thousand-below", keys: numbered("a/b/f%04d", 1000), do: rm("a/b", true), want: "ListObjectsV2 PutObject DeleteObjects"},
		{name: "one-below", keys: []string{"a/f"}, do: rm("a", true), want: "ListObjectsV2 DeleteObject"},
		{name: "thousand-among-namesakes", keys: append(numbered("a/b-%03d", 500), numbered("a/b/f%04d", 1000)...), do: rm("a/b", true),
			want: "ListObjectsV2 PutObject DeleteObjects ListObjectsV2 DeleteObjects"},
		{name: "among-namesakes", keys: append(numbered("a-%04d", 1200), "a/f"), do: rm("a", true), want: "ListObjectsV2*2 DeleteObject"},
		{name: "missing-at-top", do: rm("missing", false), kind: fs.ErrNotExist, want: "ListObjectsV2"},
		{name: "missing", do: rm("a/missing", true), kind: fs.ErrNotExist, want: "ListObjectsV2 HeadObject"},
		{name: "root", do: rm(".", true), kind: fs.ErrInvalid, want: ""},
	}
}

func mkdirRequests() []requestCase {
	return []requestCase{
		{name: "at-top", do: mkdir("a", false), want: "ListObjectsV2 PutObject"},
		{name: "in-unknown", keys: []string{"a/f"}, do: mkdir("a/b", false), want: "ListObjectsV2*2 PutObject"},
		{name: "in-known", before: mkdir("a", false), do: mkdir("a/b", false), want: "ListObjectsV2 PutObject"},
		{name: "recursive", do: mkdir("a/b/c/d", true), want: "ListObjectsV2*2 PutObject"},
		{name: "recursive-existing", keys: []string{"a/b/f"}, do: mkdir("a/b", true), want: "ListObjectsV2"},
		{name: "existing", keys: []string{"a/b/f"}, do: mkdir("a/b", false), kind: fs.ErrExist, want: "ListObjectsV2"},
		{name: "root", do: mkdir(".", true), want: "ListObjectsV2"},
		{name: "without-parent", do: mkdir("a/b", false), kind: fs.ErrNotExist, want: "ListObjectsV2*2 HeadObject"},
		{name: "on-file", keys: []string{"f"}, do: mkdir("f", true), kind: workspace.ErrNotDir, want: "ListObjectsV2"},
		{name: "below-file", keys: []string{"f"}, do: mkdir("f/a/b", true), kind: workspace.ErrNotDir, want: "ListObjectsV2*2"},
	}
}

func copyRequests() []requestCase {
	copyTo := func(ctx context.Context, f *objectstore.FS) error {
		_, err := f.Copy(ctx, "a/f", "a/g")
		return err
	}
	move := func(source, destination string) action {
		return func(ctx context.Context, f *objectstore.FS) error { return f.Move(ctx, source, destination) }
	}
	known, file := write("a/known", nil), []string{"a/f"}
	const copyParts = "CreateMultipartUpload UploadPartCopy CompleteMultipartUpload"
	return []requestCase{
		{name: "file", keys: file, before: known, do: copyTo, want: "HeadObject CopyObject", modest: "HeadObject " + copyParts},
		{name: "file-in-unknown", keys: file, do: copyTo, want: "HeadObject ListObjectsV2 CopyObject", modest: "HeadObject ListObjectsV2 " + copyParts},
		{name: "missing", before: known, do: copyTo, kind: fs.ErrNotExist, want: "HeadObject ListObjectsV2"},
		{name: "move-file", keys: file, before: known, do: move("a/f", "a/g"),
			want:   "ListObjectsV2 HeadObject PutObject CopyObject DeleteObject",
			modest: "ListObjectsV2 HeadObject PutObject " + copyParts + " PutObject DeleteObject"},
		{name: "move-at-top", keys: []string{"f", "d/"}, before: write("known", nil), do: move("f", "g"),
			want:   "ListObjectsV2 HeadObject CopyObject DeleteObject",
			modest: "ListObjectsV2 HeadObject " + copyParts + " PutObject DeleteObject"},
		{name: "move-missing", before: known, do: move("a/f", "a/g"), kind: fs.ErrNotExist, want: "ListObjectsV2 HeadObject"},
		{name: "move-directory", keys: []string{"d/", "d/f"}, before: write("known", nil), do: move("d", "e"),
			want:   "ListObjectsV2*2 PutObject ListObjectsV2 HeadObject CopyObject DeleteObject*2 PutObject",
			modest: "ListObjectsV2*2 PutObject ListObjectsV2 HeadObject " + copyParts + " PutObject DeleteObject*2 PutObject"},
		{name: "move-directory-to-existing", keys: []string{"d/f", "e/"}, before: write("known", nil), do: move("d", "e"), kind: fs.ErrExist,
			want: "ListObjectsV2*2 HeadObject"},
		{name: "move-to-existing", keys: []string{"f", "g"}, before: write("known", nil), do: move("f", "g"), kind: fs.ErrExist,
			want: "ListObjectsV2 HeadObject CopyObject HeadObject", modest: "ListObjectsV2 HeadObject " + copyParts + " HeadObject AbortMultipartUpload"},
	}
}

func walkRequests() []requestCase {
	tree := numbered("d%04d/f", 10_000)
	skipped := append(append([]string{"a"}, numbered("big/f%04d", 5000)...), "z")
	return []requestCase{
		{name: "ten-thousand-directories", keys: tree, do: walks(".", "", 20_000, ""), want: "ListObjectsV2*10"},
		{name: "after", keys: tree, do: walks(".", "d8999/f", 2000, ""), want: "ListObjectsV2"},
		{name: "skipped-directory", keys: skipped, do: walks(".", "", 3, "big"), want: "ListObjectsV2*2"},
		{name: "empty", keys: []string{"d/"}, do: walks("d", "", 0, ""), want: "ListObjectsV2"},
	}
}

// walks asks for a walk of want entries that leaves out the directory skip.
func walks(dir, after string, want int, skip string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		n := 0
		err := f.Walk(ctx, dir, &workspace.WalkOptions{After: after}, func(info workspace.FileInfo, _ error) error {
			n++
			if info.Path == skip {
				return fs.SkipDir
			}
			return nil
		})
		if err == nil && n != want {
			return fmt.Errorf("Walk(%q) has %d entries, want %d", dir, n, want)
		}
		return err
	}
}

func globRequests() []requestCase {
	sources := numbered("src/d%02d/f.go", 100)
	big := append(append(numbered("doc/f%04d", 4500), numbered("src/pkg/f%03d.go", 1000)...), numbered("web/f%04d", 4500)...)
	deep := append(numbered("a/b/c/f%04d", 3000), "g", "z/y/x")
	return []requestCase{
		{name: "below-literal", keys: big, do: globs("src/**/*.go", nil, 1000), want: "ListObjectsV2"},
		{name: "wildcard-before-deep", keys: sources, do: globs("src/*/**/f.go", nil, 100), want: "ListObjectsV2*101"},
		{name: "literal", keys: sources, do: globs("src/d07/f.go", nil, 1), want: "HeadObject"},
		{name: "literal-missing", keys: sources, do: globs("src/d07/missing", nil, 0), want: "HeadObject ListObjectsV2"},
		{name: "literal-missing-in-directory", keys: sources, do: globs("d07/missing", &workspace.GlobOptions{Dir: "src"}, 0),
			want: "HeadObject ListObjectsV2 HeadObject ListObjectsV2"},
		{name: "literal-below-file", keys: deep, do: globs("g/missing", nil, 0), want: "HeadObject ListObjectsV2"},
		{name: "literals-missing", keys: sources, do: globs("{src,src/missing}", nil, 0), want: "HeadObject ListObjectsV2 HeadObject ListObjectsV2"},
		{name: "literals-file", keys: deep, do: globs("{g,g/missing}", nil, 1), want: "HeadObject ListObjectsV2 HeadObject"},
		{name: "one-level", keys: deep, do: globs("*", nil, 1), want: "ListObjectsV2"},
		{name: "one-level-below-literal", keys: deep, do: globs("a/b/*", nil, 0), want: "ListObjectsV2"},
		{name: "two-levels", keys: deep, do: globs("z/*/x", nil, 1), want: "ListObjectsV2 HeadObject"},
		{name: "two-levels-missing", keys: numbered("x%02d/b", 3), do: globs("*/a", nil, 0), want: "ListObjectsV2" + strings.Repeat(" HeadObject ListObjectsV2", 3)},
		{name: "three-levels-missing", keys: numbered("x%02d/b", 3), do: globs("*/a/c", nil, 0), want: "ListObjectsV2" + strings.Repeat(" HeadObject ListObjectsV2", 3)},
		{name: "directories", keys: sources, do: globs("src/*/", nil, 100), want: "ListObjectsV2"},
		{name: "limit", keys: big, do: globs("**", &workspace.GlobOptions{Limit: 10}, 10), want: "ListObjectsV2"},
		{name: "after", keys: big, do: globs("**", &workspace.GlobOptions{After: "web/f3999"}, 500), want: "ListObjectsV2"},
		{name: "everything", keys: big, do: globs("**", nil, 10_000), want: "ListObjectsV2*10"},
		{name: "ignore-files-above", keys: deep, do: globs("a/b/c/*", &workspace.GlobOptions{Gitignore: true}, 3000), want: "GetObject*3 ListObjectsV2*3"},
	}
}

// globs asks for want matches.
func globs(pattern string, opts *workspace.GlobOptions, want int) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		names, err := f.Glob(ctx, pattern, opts)
		if err == nil && len(names) != want {
			return fmt.Errorf("Glob(%q) has %d matches, want %d", pattern, len(names), want)
		}
		return err
	}
}

func grepRequests() []requestCase {
	files := append(numbered("src/f%02d.go", 20), numbered("web/f%02d.js", 20)...)
	all, twenty := greps(nil, 40), greps(&workspace.GrepOptions{IncludeGlob: "*.go"}, 20)
	one := greps(&workspace.GrepOptions{Path: "src/f00.go"}, 1)
	return []requestCase{
		{name: "everything", keys: files, do: all, want: "ListObjectsV2 GetObject*40"},
		{name: "include", keys: files, do: twenty, want: "ListObjectsV2 GetObject*20"},
		{name: "include-anchored", keys: files, do: greps(&workspace.GrepOptions{IncludeGlob: "/src/**"}, 20), want: "ListObjectsV2 GetObject*20"},
		{name: "exclude", keys: files, do: greps(&workspace.GrepOptions{ExcludeGlob: "src/**"}, 20), want: "ListObjectsV2 GetObject*20"},
		{name: "path", keys: files, do: greps(&workspace.GrepOptions{Path: "src"}, 20), want: "ListObjectsV2 GetObject*20"},
		{name: "one-file", keys: files, do: one, want: "ListObjectsV2 HeadObject GetObject"},
		{name: "one-file-again", keys: files, before: one, do: one, want: "HeadObject"},
		{name: "one-file-after-everything", keys: files, before: all, do: one, want: "HeadObject"},
		{name: "one-file-after-a-change", keys: files, before: changed(all, "src/f00.go"), do: one, want: "HeadObject GetObject"},
		{name: "one-file-now-directory", keys: files, before: replaced(one, "src/f00.go"), do: one,
			want: "HeadObject GetObject ListObjectsV2*2 GetObject"},
		{name: "too-large", keys: files, do: greps(&workspace.GrepOptions{MaxFileSize: 1}, 0), want: "ListObjectsV2"},
		{name: "empty-file", keys: []string{"d/", "d/sub/"}, before: createText("d/empty", "", nil), do: greps(nil, 0), want: "ListObjectsV2"},
		{name: "ignore-files-above", keys: files, do: greps(&workspace.GrepOptions{Path: "src", Gitignore: true}, 20), want: "GetObject ListObjectsV2 GetObject*20"},
		{name: "again", keys: files, before: all, do: all, want: "ListObjectsV2"},
		{name: "again-narrower", keys: files, before: all, do: twenty, want: "ListObjectsV2"},
		{name: "again-after-a-change", keys: files, before: changed(all, "src/f07.go"), do: all, want: "ListObjectsV2 GetObject"},
		{name: "missing", do: greps(&workspace.GrepOptions{Path: "missing"}, 0), kind: fs.ErrNotExist, want: "ListObjectsV2 HeadObject"},
	}
}

// greps asks for a search with so many matches of a line that every file has.
func greps(opts *workspace.GrepOptions, want int) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		result, err := f.Grep(ctx, ".", opts)
		if err == nil && len(result.Matches) != want {
			return fmt.Errorf("Grep has %d matches, want %d", len(result.Matches), want)
		}
		return err
	}
}

// changed does first and then writes name.
func changed(first action, name string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		if err := first(ctx, f); err != nil {
			return err
		}
		return write(name, nil)(ctx, f)
	}
}

// replaced does first and then makes a directory of the file name.
func replaced(first action, name string) action {
	return func(ctx context.Context, f *objectstore.FS) error {
		if err := first(ctx, f); err != nil {
			return err
		}
		if err := f.Rm(ctx, name, nil); err != nil {
			return err
		}
		return write(name+"/file", nil)(ctx, f)
	}
}
