package tools_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/tools"
)

func TestLs(t *testing.T) {
	set, _ := newSet(t, map[string]string{"src/a.go": "abc", "src/dir/b": "", "z": ""}, nil)
	for _, args := range []object{{"path": "src"}, {"path": "/src/"}, {"path": "./src"}} {
		want := []any{
			object{"name": "a.go", "path": "src/a.go", "type": "file", "size": 3.0},
			object{"name": "dir", "path": "src/dir", "type": "directory", "size": 0.0},
		}
		if diff := cmp.Diff(want, good(t, set, "ls", args)["entries"]); diff != "" {
			t.Errorf("ls(%v) (-want +got):\n%s", args, diff)
		}
	}
	if got, want := call(t, set, "ls", object{"path": "src"}).Text, "[src: 2 entries]\na.go  3\ndir/"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if got, want := call(t, set, "ls", "").Text, "[.: 2 entries]\nsrc/\nz  0"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
}

func TestLsOfEmptyDirectoryIsAList(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	good(t, set, "mkdir", object{"path": "dir"})
	if entries, ok := good(t, set, "ls", object{"path": "dir"})["entries"].([]any); !ok || len(entries) != 0 {
		t.Errorf("entries = %v", entries)
	}
}

// tree has files of many names, some ignored, some binary.
func tree() map[string]string {
	files := map[string]string{".gitignore": "*.log\n", "x.log": "needle\n", "bin": "needle\x00"}
	for i := range 40 {
		files[fmt.Sprintf("dir%d/file%d.txt", i%3, i)] = strings.Repeat("a needle\nhay\n", i%4)
		files[fmt.Sprintf("dir%d-a/é%d", i%3, i)] = "NEEDLE"
	}
	return files
}

// pages calls op with each nextCursor and returns all items of the list key.
func pages(t *testing.T, set *tools.Set, op, key string, args object) (items []any, calls int) {
	t.Helper()
	args = maps.Clone(args)
	for {
		out := good(t, set, op, args)
		items = append(items, out[key].([]any)...)
		calls++
		cursor, more := out["nextCursor"].(string)
		if truncated := out["truncated"]; truncated != more {
			t.Errorf("%s(%v): truncated is %v, and nextCursor %q", op, args, truncated, cursor)
		}
		if !more || calls > 1000 {
			return items, calls
		}
		args["cursor"] = cursor
	}
}

// TestPagesMakeTheWhole compares pages of several sizes with one call.
func TestPagesMakeTheWhole(t *testing.T) {
	exhaustive.Long(t)
	set, _ := newSet(t, tree(), nil)
	tests := []struct {
		name, op, key, limit string
		args                 object
	}{
		{"ls", "ls", "entries", "limit", object{"path": "dir1"}},
		{"ls-root", "ls", "entries", "limit", object{}},
		{"glob", "glob", "matches", "limit", object{"pattern": "**"}},
		{"glob-directories", "glob", "matches", "limit", object{"pattern": "**/"}},
		{"glob-ignored", "glob", "matches", "limit", object{"pattern": "**/*.{txt,log}", "includeIgnored": true}},
		{"glob-in-directory", "glob", "matches", "limit", object{"pattern": "*", "path": "dir2"}},
		{"grep", "grep", "matches", "maxResults", object{"pattern": "n[e]+dle"}},
		{"grep-context", "grep", "matches", "maxResults", object{"pattern": "needle", "before": 1, "after": 2, "ignoreCase": true}},
		{"grep-file", "grep", "matches", "maxResults", object{"pattern": "needle", "path": "dir0/file3.txt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.args[tt.limit] = 1000
			want, calls := pages(t, set, tt.op, tt.key, tt.args)
			if calls != 1 || len(want) < 3 {
				t.Fatalf("%d items in %d calls", len(want), calls)
			}
			for _, size := range []int{1, 2, 3, len(want) - 1, len(want), len(want) + 1} {
				tt.args[tt.limit] = size
				got, calls := pages(t, set, tt.op, tt.key, tt.args)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("pages of %d (-want +got):\n%s", size, diff)
				}
				if expected := (len(want) + size - 1) / size; calls != expected {
					t.Errorf("pages of %d: %d calls, want %d", size, calls, expected)
				}
			}
		})
	}
}

// TestPagesBoundedByBytes checks that pages that end early lose nothing.
func TestPagesBoundedByBytes(t *testing.T) {
	files := map[string]string{}
	long := strings.Repeat("d", 200)
	for i := range 600 {
		files[fmt.Sprintf("%s/%s/%03d%s", long, long, i, long)] = strings.Repeat("needle "+long+"\n", 2)
	}
	set, _ := newSet(t, files, nil)
	tests := []struct {
		op, key string
		args    object
		want    int
	}{
		{"ls", "entries", object{"path": long + "/" + long, "limit": 1000}, 600},
		{"glob", "matches", object{"pattern": "**", "limit": 1000}, 600},
		{"grep", "matches", object{"pattern": "needle", "maxResults": 1000, "before": 1, "after": 1}, 1200},
	}
	for _, tt := range tests {
		t.Run(tt.op, func(t *testing.T) {
			if n := len(call(t, set, tt.op, tt.args).Structured); n > 80<<10 {
				t.Errorf("the first page has %d bytes", n)
			}
			items, calls := pages(t, set, tt.op, tt.key, tt.args)
			seen := map[string]bool{}
			for _, item := range items {
				seen[fmt.Sprint(item)] = true
			}
			if len(items) != tt.want || len(seen) != tt.want || calls < 3 {
				t.Errorf("%d items, %d different ones, in %d calls, want %d", len(items), len(seen), calls, tt.want)
			}
		})
	}
}

func TestCursorBelongsToItsCall(t *testing.T) {
	set, _ := newSet(t, tree(), nil)
	lsCursor := good(t, set, "ls", object{"limit": 1})["nextCursor"]
	grepCursor := good(t, set, "grep", object{"pattern": "needle", "maxResults": 1})["nextCursor"]
	const wrong = "not the nextCursor of a call of this tool with these parameters"
	tests := []struct {
		name, op string
		args     object
		want     string
	}{
		{"other-tool", "glob", object{"pattern": "*", "cursor": lsCursor}, wrong},
		{"other-path", "ls", object{"path": "dir1", "cursor": lsCursor}, wrong},
		{"other-pattern", "grep", object{"pattern": "needl", "cursor": grepCursor}, wrong},
		{"other-flag", "grep", object{"pattern": "needle", "literal": true, "cursor": grepCursor}, wrong},
		{"garbage", "grep", object{"pattern": "needle", "cursor": "%%%"}, wrong},
		{"base64-garbage", "grep", object{"pattern": "needle", "cursor": "~bnVsbA:1#0"}, wrong},
		{"made-up", "grep", object{"pattern": "needle", "cursor": strings.Replace(grepCursor.(string), ":", ":1", 1)}, wrong},
		{"huge", "ls", object{"cursor": strings.Repeat("a", 1<<20)}, wrong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := bad(t, set, tt.op, tt.args, tools.CodeInvalidArguments)
			contains(t, "message", err.Message, tt.want)
		})
	}
	good(t, set, "ls", object{"limit": 5, "cursor": lsCursor})
	good(t, set, "grep", object{"pattern": "needle", "maxResults": 3, "after": 1, "cursor": grepCursor})
}

// TestPagesOfOddNames reads pages of one result whose cursors name files that look
// like cursors, or could not be written plainly.
func TestPagesOfOddNames(t *testing.T) {
	names := []any{"#1", "~b", "a b", "a", "a#0", "a:1", "a:1#0", "a@0", "a\nb", "d/~", "d/a-ä.go", "é", "日本"}
	files := map[string]string{}
	for _, name := range names {
		files[name.(string)] = "needle\nneedle\n"
	}
	set, _ := newSet(t, files, nil)
	slices.SortFunc(names, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	found, _ := pages(t, set, "glob", "matches", object{"pattern": "**", "limit": 1})
	if diff := cmp.Diff(names, found); diff != "" {
		t.Errorf("glob in pages (-want +got):\n%s", diff)
	}
	found, _ = pages(t, set, "grep", "matches", object{"pattern": "needle", "maxResults": 1})
	for i, m := range found {
		if m.(object)["path"] != names[i/2] || m.(object)["lineNumber"] != float64(1+i%2) {
			t.Errorf("match %d of grep in pages is %v, want %q line %d", i, m, names[i/2], 1+i%2)
		}
	}
	if cursor := good(t, set, "grep", object{"pattern": "needle", "path": "d", "maxResults": 1})["nextCursor"]; len(found) != 2*len(names) || !strings.HasPrefix(cursor.(string), "d/a-ä.go:1#") {
		t.Errorf("%d matches, cursor %v, want %d and one that begins with the place", len(found), cursor, 2*len(names))
	}
}

func TestIgnoredFiles(t *testing.T) {
	set, _ := newSet(t, map[string]string{".gitignore": "*.log\n", "a.log": "needle", "b.txt": "needle", ".git/c": "needle"}, nil)
	for _, tt := range []struct {
		include bool
		want    []any
	}{{false, []any{"b.txt"}}, {true, []any{".git/c", "a.log", "b.txt"}}} {
		found := good(t, set, "glob", object{"pattern": "**/*[ctg]", "includeIgnored": tt.include})["matches"]
		if diff := cmp.Diff(tt.want, found); diff != "" {
			t.Errorf("glob with includeIgnored %v (-want +got):\n%s", tt.include, diff)
		}
		var paths []any
		for _, m := range good(t, set, "grep", object{"pattern": "needle", "includeIgnored": tt.include})["matches"].([]any) {
			paths = append(paths, m.(object)["path"])
		}
		if diff := cmp.Diff(tt.want, paths); diff != "" {
			t.Errorf("grep with includeIgnored %v (-want +got):\n%s", tt.include, diff)
		}
	}
}

// TestGlobText checks what comes before the paths, and what is said without any.
func TestGlobText(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a.go": "", "src/b.go": "", "src/sub/c.go": "", "doc/x.md": "",
		".gitignore": "*.log\nout/\n", "x.log": "", "out/y.log": ""}, nil)
	for _, c := range []struct {
		args object
		want string
	}{
		{object{"pattern": "**/*.go"}, "3 files\na.go\nsrc/b.go\nsrc/sub/c.go"},
		{object{"pattern": "*.go"}, "1 file\na.go"},
		{object{"pattern": "*/"}, "2 directories\ndoc\nsrc"},
		{object{"pattern": "x.md"}, "no files match; for any depth use **/x.md"},
		{object{"pattern": "s*"}, "no files match; directories do: end the pattern with /; for any depth use **/s*"},
		{object{"pattern": "src/s*"}, "no files match; directories do: end the pattern with /"},
		{object{"pattern": "sub", "path": "src"}, "no files match; directories do: end the pattern with /; for any depth use **/sub"},
		{object{"pattern": "src/**/*.md"}, "no files match"},
		{object{"pattern": "sub/"}, "no directories match; for any depth use **/sub/"},
		{object{"pattern": "x.log"}, "no files match; includeIgnored finds .git and what .gitignore excludes"},
		{object{"pattern": "x.log", "includeIgnored": true}, "1 file\nx.log"},
		{object{"pattern": "**/*.log"}, "no files match; includeIgnored finds .git and what .gitignore excludes"},
		{object{"pattern": "out/"}, "no directories match; includeIgnored finds .git and what .gitignore excludes"},
		{object{"pattern": "out"}, "no files match; directories do, in .git or excluded by .gitignore: end the pattern with / and set includeIgnored"},
		{object{"pattern": "out", "includeIgnored": true}, "no files match; directories do: end the pattern with /; for any depth use **/out"},
	} {
		if got := call(t, set, "glob", c.args).Text; got != c.want {
			t.Errorf("glob(%v) = %q, want %q", c.args, got, c.want)
		}
	}
	first := call(t, set, "glob", object{"pattern": "**", "limit": 3})
	cursor := members(t, first.Structured)["nextCursor"]
	contains(t, "the first page", first.Text, "first 3 files\n", "\n[more: repeat with cursor="+fmt.Sprint(cursor)+"]")
	contains(t, "the last page", call(t, set, "glob", object{"pattern": "**", "limit": 3, "cursor": cursor}).Text, "last 2 files\n")
}

func TestGlobWithoutMatches(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	result := call(t, set, "glob", object{"pattern": "*.nothing"})
	if got := string(result.Structured); got != `{"matches":[],"truncated":false}` || result.Text != "no files match; for any depth use **/*.nothing" {
		t.Errorf("glob = %s, %q", got, result.Text)
	}
}
