package conformance

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// hideCases are the cases for the views that policies search. A policy that
// denies names searches such a view. If it took the names out of a result
// instead, a page of denied files would look empty, and Truncated would show
// that there are some.
var hideCases = []testCase{
	{"finds-the-rest", "HD1", needFiles | needHider, hideFindsRest},
	{"where-it-begins", "HD1 HD2", needFiles | needHider, hideBegins},
	{"ignore-files", "HD3", needFiles | needHider, hideIgnoreFiles},
	{"other-methods", "HD4", needFiles | needWrite | needHider, hideOtherMethods},
	{"twice", "HD1", needFiles | needHider, hideTwice},
}

// hiddenIn is what the cases hide: some names everywhere, and one of them only
// where it is a directory. For the directory "free" it returns no test, which
// says that nothing below it is hidden.
func hiddenIn(dir string) func(name string, isDir bool) bool {
	if dir == "free" {
		return nil
	}
	return func(name string, isDir bool) bool {
		return slices.Contains([]string{".env", "keys", "bin.dat", ".gitignore"}, name) || name == "out" && isDir
	}
}

// hideTree is a tree in which hidden names come first, last and between others.
func hideTree() files {
	return files{
		".env": "needle\n", ".gitignore": "*.tmp\n", "a/.env": "needle\n", "a/b.go": "needle\nneedle\n", "a/bin.dat": "\x00", "a/c.tmp": "needle\n",
		"a/d.dat": "\x00", "a/keys/deep/k.go": "needle\n", "a/keys/k.go": "needle\n", "a/out": "needle\n", "a-/keys": "needle\n", "b/keys/keys": "needle\n",
		"b/out/x": "needle\n", "b/p/out/y": "needle\n", "b/p/q": "needle\n", "free/x/y": "needle\n", "keys-not/x.go": "needle\n", "keys/k.go": "needle\n",
		"z.dat": "\x00", "zz/keys/z": "needle\n",
	}
}

// hides reports whether hiddenIn hides path from a search that begins at top.
//
// It asks about each element in turn:
//
//	hides(".", "a/keys/k.go", false)
//	  hiddenIn(".")("a", true)       false
//	  hiddenIn("a")("keys", true)    true, with everything below it
//
// An element with others after it is a directory, whatever isDir says of the
// last one.
func hides(top, path string, isDir bool) bool {
	dir := top
	rest := strings.TrimPrefix(path, strings.TrimPrefix(top+"/", "./"))
	for {
		name, deeper, more := strings.Cut(rest, "/")
		if test := hiddenIn(dir); test != nil && test(name, more || isDir) {
			return true
		}
		if !more {
			return false
		}
		dir, rest = workspace.Join(dir, name), deeper
	}
}

// hidden returns e on a view of its file system without what hiddenIn hides.
// Files are still prepared in the file system itself.
func (e *env) hidden() *env {
	e.Helper()
	hider, _ := workspace.As[fallback.Hider](e.fsys)
	fsys, err := hider.Hide(hiddenIn)
	if err != nil {
		e.Fatalf("Hide() = %v, want nil", err)
	}
	view := *e
	view.fsys = fsys
	return &view
}

// hideFindsRest compares searches of the view with those of the file system,
// from which what is hidden is left out afterwards. The provider that filters
// each page afterwards returns too few matches for a limit, and a cursor that
// points to a hidden file.
func hideFindsRest(e *env) {
	e.given(hideTree())
	e.findsRest(e.hidden())
}

// findsRest compares Glob, Grep and Walk of view with what e finds and hiddenIn
// does not hide. Limits are applied after that, as if hidden files did not
// exist. Searched is compared on its own: the file system searches more files.
func (e *env) findsRest(view *env) {
	e.Helper()
	for _, pattern := range []string{"**", "**/", "*", "**/*.go", "a/**", "keys/*", "keys/k.go", "keys/", "a/keys/**", "{a,b}/*", "b/p/out/y", "**/out", "**/out/"} {
		for _, o := range []workspace.GlobOptions{{}, {Limit: 1}, {Limit: 3}, {After: "a/keys"}, {After: "a/c", Limit: 2}} {
			want := []string{}
			for _, path := range e.glob(pattern, nil) {
				if path > o.After && !hides(".", path, strings.HasSuffix(pattern, "/")) && (o.Limit == 0 || len(want) < o.Limit) {
					want = append(want, path)
				}
			}
			e.equal(view.glob(pattern, &o), want, "Glob(%q, %+v) in a view of Hide", pattern, o)
		}
	}
	for _, o := range []workspace.GrepOptions{{}, {MaxResults: 1}, {MaxResults: 4}, {StartAfter: workspace.Position{Path: "a/b.go", LineNumber: 1}}, {IncludeGlob: "*.go"}, {ExcludeGlob: "*.dat", MaxResults: 2}} {
		all := o
		all.MaxResults = 0
		want := e.grep("needle", &all)
		want.Matches = slices.DeleteFunc(want.Matches, func(m workspace.Match) bool { return hides(".", m.Path, false) })
		want.Skipped = slices.DeleteFunc(want.Skipped, func(s workspace.Skipped) bool { return hides(".", s.Path, false) })
		if n := o.MaxResults; n > 0 && len(want.Matches) > n {
			last := want.Matches[n-1].Path
			want.Matches, want.Truncated = want.Matches[:n], true
			want.Skipped = slices.DeleteFunc(want.Skipped, func(s workspace.Skipped) bool { return s.Path > last })
		}
		got := view.grep("needle", &o)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(workspace.GrepResult{}, "Searched")); diff != "" {
			e.Errorf("Grep(%q, %+v) in a view of Hide (-without what is hidden +got):\n%s", "needle", o, diff)
		}
		if files := len(view.glob("**", nil)); o == (workspace.GrepOptions{}) && got.Searched != files-len(got.Skipped) {
			e.Errorf("Grep(%q) in a view of Hide searches %d files, want %d", "needle", got.Searched, files-len(got.Skipped))
		}
	}
	for _, after := range []string{"", "a/keys/deep", "b"} {
		var want []string
		err := workspace.Walk(e.ctx, e.fsys, ".", nil, func(info workspace.FileInfo, err error) error {
			if info.Path > after && !hides(".", info.Path, info.IsDir()) {
				want = append(want, info.Path)
			}
			return err
		})
		if err != nil {
			e.Fatalf("Walk(%q) = %v, want nil", ".", err)
		}
		e.equal(view.walked(".", after, nil), want, "Walk(%q, After: %q) in a view of Hide", ".", after)
	}
}

// hideBegins tests that what is hidden can be searched where a search begins
// there, unless it is a file. A policy decides about the beginning of a search
// by itself. A hidden file is missing, as any other error would say that it
// exists.
func hideBegins(e *env) {
	e.given(hideTree())
	view := e.hidden()
	e.equal(view.glob("**", &workspace.GlobOptions{Dir: "a"}), []string{"a/b.go", "a/c.tmp", "a/d.dat", "a/out"}, "Glob(%q, Dir: %q) in a view of Hide", "**", "a")
	e.equal(view.glob("**", &workspace.GlobOptions{Dir: "a/keys"}), []string{"a/keys/deep/k.go", "a/keys/k.go"}, "Glob(%q, Dir: %q) in a view of Hide", "**", "a/keys")
	e.equal(paths(view.grep("needle", &workspace.GrepOptions{Path: "b/keys"}).Matches), nil, "Grep(%q, Path: %q) in a view of Hide", "needle", "b/keys")
	e.equal(paths(view.grep("needle", &workspace.GrepOptions{Path: "a/out"}).Matches), []string{"a/out"}, "Grep(%q, Path: %q) in a view of Hide", "needle", "a/out")
	e.equal(view.walked("a/keys", "", nil), []string{"a/keys/deep", "a/keys/deep/k.go", "a/keys/k.go"}, "Walk(%q) in a view of Hide", "a/keys")
	_, err := view.fsys.Grep(e.ctx, "needle", &workspace.GrepOptions{Path: "a/.env"})
	e.refused(err, fs.ErrNotExist, at(ops.Grep, "a/.env"), "Grep(%q, Path: %q) in a view of Hide", "needle", "a/.env")
}

// hideIgnoreFiles tests that a search honours a hidden ignore file. Otherwise
// hiding the rules would show what they exclude.
func hideIgnoreFiles(e *env) {
	e.given(hideTree())
	view := e.hidden()
	e.equal(view.glob("a/*", &workspace.GlobOptions{Gitignore: true}), []string{"a/b.go", "a/d.dat", "a/out"}, "Glob(%q, Gitignore) in a view of Hide", "a/*")
	e.equal(paths(view.grep("needle", &workspace.GrepOptions{IncludeGlob: "c.tmp", Gitignore: true}).Matches), nil, "Grep(%q, Gitignore) in a view of Hide", "needle")
}

// hideOtherMethods tests that methods that do not search show hidden names. The
// wrapper checks names before it calls them; a view that checked them again
// could not serve it.
func hideOtherMethods(e *env) {
	e.given(hideTree())
	view := e.hidden()
	view.has("keys/k.go", "needle\n")
	if info := view.stat(".env"); info.Size != 7 {
		e.Errorf("Stat(%q) in a view of Hide = %+v, want 7 bytes", ".env", info)
	}
	e.equal(view.names("a/keys", nil), []string{"deep", "k.go"}, "Ls(%q) in a view of Hide", "a/keys")
	view.write("keys/new", "x")
	e.has("keys/new", "x")
	if e.caps.Watch == workspace.WatchNone {
		return
	}
	w := view.watch(".", nil)
	e.write("keys/newer", "x")
	w.await(created("keys/newer"))
}

// hideTwice hides something in a view, too. One policy can wrap another, and
// the names of both stay hidden.
func hideTwice(e *env) {
	e.given(hideTree())
	view := e.hidden()
	hider, ok := workspace.As[fallback.Hider](view.fsys)
	if !ok {
		e.Skipf("needs a view that is a Hider")
	}
	fsys, err := hider.Hide(func(string) func(name string, isDir bool) bool {
		return func(name string, _ bool) bool { return name == "a" || name == "z.dat" }
	})
	if err != nil {
		e.Fatalf("Hide() = %v, want nil", err)
	}
	view.fsys = fsys
	e.equal(view.glob("**/*.{go,dat}", nil), []string{"keys-not/x.go"}, "Glob(%q) in a view of Hide of such a view", "**/*.{go,dat}")
}
