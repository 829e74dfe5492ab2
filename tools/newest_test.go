package tools_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// newestSet returns the tools of a folder with files of four times, and the files,
// the newest first, and then by path. Each has the text "needle" as often as its
// name says.
func newestSet(t *testing.T) (set *tools.Set, dir string, files []string) {
	t.Helper()
	dir = t.TempDir()
	modified := map[string]time.Time{}
	for i := range 24 {
		name := fmt.Sprintf("%s/f%02d-%d", []string{"a", "a-b", "a/sub", "z"}[i%4], i, i%3+1)
		file := filepath.Join(dir, name)
		modified[name] = time.Unix(1_700_000_000, int64(i*7%4))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("hay\n"+strings.Repeat("needle\nhay\n", i%3+1)), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, modified[name]); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	slices.SortFunc(files, func(a, b string) int {
		return cmp.Or(modified[b].Compare(modified[a]), strings.Compare(a, b))
	})
	return newSetOfFolder(t, dir), dir, files
}

// TestNewestFirst reads searches in pages of every size, and compares with the order
// of the times.
func TestNewestFirst(t *testing.T) {
	t.Parallel()
	set, _, files := newestSet(t)
	var lines, counts []string
	for _, name := range files {
		n := int(name[len(name)-1] - '0')
		counts = append(counts, fmt.Sprintf("%s:%d", name, n))
		for i := range n {
			lines = append(lines, fmt.Sprintf("%s:%d", name, 2+2*i))
		}
	}
	// Tools return paths, or objects with a path and a number.
	text := func(items []any) []string {
		found := []string{}
		for _, item := range items {
			o, ok := item.(object)
			switch {
			case !ok:
				found = append(found, item.(string))
			case o["lineNumber"] != nil:
				found = append(found, fmt.Sprintf("%v:%v", o["path"], o["lineNumber"]))
			case o["count"] != nil:
				found = append(found, fmt.Sprintf("%v:%v", o["path"], o["count"]))
			default:
				found = append(found, o["path"].(string))
			}
		}
		return found
	}
	for _, c := range []struct {
		op, key, limit string
		args           object
		want           []string
	}{
		{"glob", "matches", "limit", object{"pattern": "**"}, files},
		{"grep", "matches", "maxResults", object{"pattern": "needle"}, lines},
		{"grep", "files", "maxResults", object{"pattern": "needle", "output": "files"}, files},
		{"grep", "files", "maxResults", object{"pattern": "needle", "output": "count"}, counts},
	} {
		for _, limit := range []int{1, 2, 3, 7, 23, 24, 47, 48, 100} {
			c.args[c.limit], c.args["sort"] = limit, "mtime"
			delete(c.args, "cursor")
			found, _ := pages(t, set, c.op, c.key, c.args)
			if diff := gocmp.Diff(c.want, text(found)); diff != "" {
				t.Errorf("%s(%v) in pages (-want +got):\n%s", c.op, c.args, diff)
			}
		}
	}
	result := call(t, set, "grep", object{"pattern": "needle", "sort": "mtime", "maxResults": 5})
	contains(t, "text", result.Text, "first 5 of 48 matches\n"+files[0]+"\n")
	result = call(t, set, "glob", object{"pattern": "**", "sort": "mtime", "limit": 5})
	contains(t, "text", result.Text, "first 5 of 24 files\n"+files[0]+"\n")
	result = call(t, set, "glob", object{"pattern": "**/", "sort": "mtime"})
	contains(t, "text", result.Text, "4 directories\n")
}

// TestCursorsShowNoHiddenName reads pages of a workspace that hides names, and gives
// searches the cursors of another that does not.
func TestCursorsShowNoHiddenName(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "needle\n", "secret/b": "needle\n", "t": "needle\n", "z": "needle\n"}
	all, ws := newSet(t, files, nil)
	fsys, err := policy.Restrict(ws, policy.Rules{DeniedPaths: []string{"secret/**"}})
	if err != nil {
		t.Fatal(err)
	}
	set := newSetOf(t, workspace.New("test", fsys, nil), nil)
	for _, c := range []struct {
		op   string
		args object
	}{
		{"glob", object{"pattern": "**", "limit": 1}}, {"grep", object{"pattern": "needle", "maxResults": 1}},
		{"glob", object{"pattern": "**", "limit": 1, "sort": "mtime"}}, {"grep", object{"pattern": "needle", "maxResults": 1, "sort": "mtime"}},
		{"grep", object{"pattern": "needle", "maxResults": 1, "output": "count"}},
	} {
		for range 4 { // pages of the one that hides nothing
			result := call(t, all, c.op, c.args)
			hiding := call(t, set, c.op, c.args)
			if strings.Contains(hiding.Text+string(hiding.Structured), "secret/") {
				t.Errorf("%s(%v) = %s, which names what is hidden", c.op, c.args, hiding.Text)
			}
			cursor, more := members(t, result.Structured)["nextCursor"]
			if !more {
				break
			}
			c.args["cursor"] = cursor
		}
	}
}

// TestNewestFirstWhileFilesChange touches files between two pages: all
// other files are still found once.
func TestNewestFirstWhileFilesChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op   string
		args object
	}{
		{"glob", object{"pattern": "**", "limit": 10, "sort": "mtime"}},
		{"grep", object{"pattern": "needle", "output": "files", "maxResults": 10, "sort": "mtime"}},
	} {
		set, dir, files := newestSet(t)
		first := call(t, set, c.op, c.args)
		for _, touched := range []string{files[3], files[9], files[15]} {
			if err := os.Chtimes(filepath.Join(dir, touched), time.Time{}, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		c.args["cursor"], c.args["limit"], c.args["maxResults"] = members(t, first.Structured)["nextCursor"], 1000, 1000
		delete(c.args, map[string]string{"glob": "maxResults", "grep": "limit"}[c.op])
		rest := call(t, set, c.op, c.args)
		var want []string
		for _, name := range files[10:] {
			if name != files[15] {
				want = append(want, name)
			}
		}
		if got := strings.Split(rest.Text, "\n")[1:]; !slices.Equal(got, want) {
			t.Errorf("%s after a change: the rest is %q, want %q", c.op, got, want)
		}
	}
}
