package conformance

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// lsCases are the cases for Ls. A listing is how an agent learns what there is.
// What it leaves out does not exist for the model, which then creates it again.
var lsCases = []testCase{
	{"children-only", "L1", needFiles, lsChildrenOnly},
	{"sorted-bytewise", "L2", needFiles, lsSorted},
	{"describes", "L3 T1 T2", needFiles, lsDescribes},
	{"as-stat", "L3", needFiles, lsAsStat},
	{"empty-directory", "L1 M1", needFiles, lsEmptyDirectory},
	{"missing", "L4 E1 E2", needFiles, lsMissing},
	{"file", "L5 E1 E2", needFiles, lsFile},
	{"limit", "L6", needFiles, lsLimit},
	{"after", "L7", needFiles, lsAfter},
	{"pages", "L6 L7", needFiles, lsPages},
	{"negative-limit", "O2 E1 E2", needFiles, lsNegativeLimit},
	{"eleven-hundred", "L1 L2 L6 L7 W8 G6 MV1", needFiles | needTime, lsEleven},
	{"result-is-the-callers", "B1", needFiles, lsResultIsTheCallers},
}

// sorted returns the names in bytewise order.
func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return names
}

// lsChildrenOnly tests that Ls returns direct children, and no other name with
// the same beginning. A store that lists keys by their beginning also finds
// what is deeper, and what begins in the same way.
func lsChildrenOnly(e *env) {
	e.given(files{"a/b/c": "deep", "a/file": "x", "ab/file": "y", "top": "z"})
	for dir, want := range map[string][]string{".": {"a", "ab", "top"}, "a": {"b", "file"}, "a/b": {"c"}, "ab": {"file"}} {
		e.equal(e.names(dir, nil), want, "Ls(%q)", dir)
	}
}

// orderedNames are in order as bytes, and in no other usual order. Those that
// end in "/" are directories.
func orderedNames() []string {
	return []string{"!", "A", "B.txt", "Z", "_", "a", "a b", "a!", "a-b", "a.b", "a0", "a10", "a2", "aB", "ab", "b", "z", "~", "é", "日", "🙂"}
}

// lsSorted tests the order of names that a language would sort in another way.
// Half of them are directories, which some programs list first, and whose keys
// in a bucket end in a slash that changes their place.
func lsSorted(e *env) {
	tree := make(files)
	for i, name := range orderedNames() {
		if i%2 == 0 {
			tree["dir/"+name] = "file"
		} else {
			tree["dir/"+name+"/child"] = "in a directory"
		}
	}
	e.given(tree)
	e.equal(e.names("dir", nil), sorted(orderedNames()), "Ls(%q)", "dir")
}

// lsDescribes tests name, path, type and size of every child. The Path goes
// into the next call, so a name alone does not do. A directory's blocks on a
// disk are no size.
func lsDescribes(e *env) {
	e.given(files{"dir/file": "12345", "dir/empty": "", "dir/sub/x": "x"})
	type facts struct {
		Name, Path string
		Type       workspace.FileType
		Size       int64
	}
	var got []facts
	for _, i := range e.ls("dir", nil) {
		got = append(got, facts{i.Name, i.Path, i.Type, i.Size})
	}
	want := []facts{
		{"empty", "dir/empty", workspace.TypeFile, 0},
		{"file", "dir/file", workspace.TypeFile, 5},
		{"sub", "dir/sub", workspace.TypeDirectory, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("Ls(%q) (-want +got):\n%s", "dir", diff)
	}
}

// lsAsStat tests that Ls and Stat describe a name in the same way. Tools take
// the version of a file from either.
func lsAsStat(e *env) {
	e.given(files{"file": "12345", "dir/x": "x", "empty/": ""})
	for _, info := range e.ls(".", nil) {
		if info.IsDir() {
			info.ModTime = e.stat(info.Path).ModTime // of a directory it means nothing
		}
		if diff := cmp.Diff(e.stat(info.Path), info); diff != "" {
			e.Errorf("Ls(%q) describes %q otherwise than Stat (-Stat +Ls):\n%s", ".", info.Path, diff)
		}
	}
}

// lsEmptyDirectory tests that an empty directory is an empty list. A marker
// object, or a file that keeps the directory in a store that has none, must not
// show.
func lsEmptyDirectory(e *env) {
	e.given(files{"dir/empty/": ""})
	e.equal(e.names("dir/empty", nil), []string{}, "Ls(%q)", "dir/empty")
	e.equal(e.names("dir", nil), []string{"empty"}, "Ls(%q)", "dir")
}

// lsMissing tests that a missing directory is an error and never an empty list.
// In a bucket no key begins with the name, which a provider can mistake for an
// empty directory. A model that misspells a directory is then told that its
// project is empty.
func lsMissing(e *env) {
	e.given(files{"dir/file": "x"})
	for _, dir := range []string{"none", "di", "dir2", "dir/none", "dir/fil", "none/none"} {
		_, err := e.fsys.Ls(e.ctx, dir, nil)
		e.refused(err, fs.ErrNotExist, at(ops.Ls, dir), "Ls(%q)", dir)
	}
}

// lsFile tests that a file cannot be listed. The program ls lists the file
// itself, and a bucket finds no key below it.
func lsFile(e *env) {
	e.given(files{"file": "x", "dir/file": "x", "dir/empty": ""})
	for _, dir := range []string{"file", "dir/file", "dir/empty"} {
		_, err := e.fsys.Ls(e.ctx, dir, nil)
		e.refused(err, workspace.ErrNotDir, at(ops.Ls, dir), "Ls(%q)", dir)
	}
}

// lsTree is a directory with enough names for pages.
func lsTree() files {
	return files{"d/a/x": "", "d/a-b": "", "d/a.c": "", "d/b/": "", "d/c": "", "e": ""}
}

// lsLimit tests that a limit keeps the first names. Zero means all, so a limit
// that is counted down must not reach all by accident. The greatest limit is one, too.
func lsLimit(e *env) {
	e.given(lsTree())
	all := []string{"a", "a-b", "a.c", "b", "c"}
	for _, limit := range []int{0, 1, 2, 3, 4, 5, 6, 7, math.MaxInt} {
		want := all
		if limit > 0 {
			want = all[:min(limit, len(all))]
		}
		e.equal(e.names("d", &workspace.LsOptions{Limit: limit}), want, "Ls(%q, Limit: %d)", "d", limit)
	}
}

// lsAfter tests that a listing continues after a name, whether or not that name
// exists. The file whose name ended a page may be removed before the next one.
// A name that is no child, or longer than any name, still has its place in the
// order.
func lsAfter(e *env) {
	e.given(lsTree())
	for after, want := range map[string][]string{
		"":                                 {"a", "a-b", "a.c", "b", "c"},
		"a":                                {"a-b", "a.c", "b", "c"},
		"a-b":                              {"a.c", "b", "c"},
		"a.":                               {"a.c", "b", "c"},
		"a/":                               {"b", "c"},
		"b":                                {"c"},
		"aa":                               {"b", "c"},
		"A":                                {"a", "a-b", "a.c", "b", "c"},
		"c":                                {},
		"zzz":                              {},
		"a-b" + strings.Repeat("/z", 4000): {"a.c", "b", "c"},
	} {
		e.equal(e.names("d", &workspace.LsOptions{After: after}), want, "Ls(%q, After: %q)", "d", after)
	}
}

// lsPages tests that pages of any size add up to the whole.
func lsPages(e *env) {
	tree := make(files)
	for i, name := range orderedNames() {
		tree["dir/"+name+[]string{"", "/"}[i%2]] = ""
	}
	e.given(tree)
	for limit := 1; limit <= 4; limit++ {
		e.equal(e.paged("dir", limit), sorted(orderedNames()), "Ls(%q) in pages of %d", "dir", limit)
	}
}

// paged lists dir page by page. It ends at the first page that is not full, or
// brings nothing new, so a file system that ignores After cannot make it run for
// ever.
func (e *env) paged(dir string, limit int) []string {
	e.Helper()
	all := []string{}
	opts := &workspace.LsOptions{Limit: limit}
	for {
		page := e.names(dir, opts)
		if len(page) > limit {
			e.Fatalf("Ls(%q, %+v) = %d names, want at most %d", dir, *opts, len(page), limit)
		}
		if len(page) < limit || page[0] <= opts.After {
			return append(all, page...)
		}
		all = append(all, page...)
		opts.After = page[len(page)-1]
	}
}

// lsNegativeLimit tests that a negative limit is refused.
func lsNegativeLimit(e *env) {
	e.given(files{"dir/file": "x"})
	_, err := e.fsys.Ls(e.ctx, "dir", &workspace.LsOptions{Limit: -1})
	e.refused(err, fs.ErrInvalid, at(ops.Ls, "dir"), "Ls(%q, Limit: -1)", "dir")
}

// many prepares n files in dir, eight at a time, and returns their names in
// order. The writers are few, as a store may refuse more at a time.
func (e *env) many(dir string, n int) []string {
	e.Helper()
	names := make([]string, n)
	var done sync.WaitGroup
	for worker := range 8 {
		done.Go(func() {
			for i := worker; i < n; i += 8 {
				names[i] = fmt.Sprintf("file%05d", i)
				if _, err := e.store.WriteFile(e.ctx, dir+"/"+names[i], nil, nil); err != nil {
					e.Errorf("WriteFile(%q) = %v, want nil", dir+"/"+names[i], err)
				}
			}
		})
	}
	done.Wait()
	return names
}

// lsEleven lists more than the thousand entries that stores list at a time, and
// uses the tree for what else may stop there. The answer of a store then has a
// token for the rest, which is forgotten in a provider that was only tried with
// small directories: an agent that moves a directory would lose the files after
// the first thousand.
func lsEleven(e *env) {
	want := e.many("dir", 1100)
	e.equal(e.names("dir", nil), want, "Ls(%q)", "dir")
	e.equal(e.names("dir", &workspace.LsOptions{Limit: 1050}), want[:1050], "Ls(%q, Limit: 1050)", "dir")
	e.equal(e.paged("dir", 300), want, "Ls(%q) in pages of 300", "dir")
	e.given(files{"dir/peer": ""})
	want = append(want, "peer")
	e.equal(e.names("dir", nil), want, "Ls(%q) after a write", "dir")
	if e.caps.Write {
		e.write("dir/self", "")
		want = append(want, "self")
		e.equal(e.names("dir", nil), want, "Ls(%q) after a write of its own", "dir")
	}
	var paths []string
	for _, name := range want {
		paths = append(paths, "dir/"+name)
	}
	e.equal(e.glob("dir/*", nil), paths, "Glob(%q)", "dir/*")
	if e.caps.Move {
		e.move("dir", "moved")
		e.equal(e.names("moved", nil), want, "Ls(%q) after Move(%q, %q)", "moved", "dir", "moved")
		e.equal(e.names(".", nil), []string{"moved"}, "Ls(%q) after Move(%q, %q)", ".", "dir", "moved")
		e.nothingBelow("dir", "dir/self")
	}
}

// lsResultIsTheCallers tests that the caller may change the list.
func lsResultIsTheCallers(e *env) {
	e.given(files{"a": "", "b": ""})
	before := e.names(".", nil)
	for _, infos := range [][]workspace.FileInfo{e.ls(".", nil), e.ls(".", &workspace.LsOptions{Limit: 2})} {
		clear(infos)
	}
	e.equal(e.names(".", nil), before, "Ls(%q) after an earlier result was changed", ".")
}
