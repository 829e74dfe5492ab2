package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/shell/internal/pattern"
	"github.com/workspacekit/workspacekit/workspace"
)

// tree searches a directory. implicit says that its name is not printed. If it is a file,
// which the search finds out, asFile is called, and reports whether to search it.
//
// The workspace finds the lines, on its own side where it can: a container searches with its
// own grep. What the workspace skips is searched here: binary files, which may match all the
// same, and those over its limit.
//
// Errors are printed, and make the status 2. The output is sorted by path.
func (g *grepRun) tree(ctx context.Context, name string, implicit bool, asFile func() bool) {
	at, err := g.p.Files.Locate(ctx, g.p.Dir, name)
	if err != nil {
		g.fail(name, err)
		return
	}
	if at.Workspace == nil { // the directory of the workspaces
		list, err := g.p.ReadDir(ctx, name)
		if err != nil {
			g.fail(name, err)
		}
		for _, info := range list {
			if !g.done(ctx) {
				g.tree(ctx, joinShown(name, info.Name, implicit), false, asFile)
			}
		}
		return
	}
	for _, pattern := range g.excludeDirs { // an argument is left out, too
		if matchesEnd(wildcard(strings.TrimRight(pattern, "/"), false), name) && !implicit {
			return
		}
	}
	t := &grepTree{grepRun: g, at: at, asFile: asFile, shown: func(file string) string {
		if file == at.Name {
			return name
		}
		return joinShown(name, relativeTo(at.Name, file), implicit)
	}}
	if len(g.trail) > 0 || g.invert || g.listNot || g.fast == nil || g.count && g.zeroCount || g.nothing || g.offset {
		if err = t.walk(ctx, false); errors.Is(err, workspace.ErrNotDir) && !strings.HasSuffix(name, "/") {
			if err = nil; asFile() {
				g.operand(ctx, name)
			}
		}
	} else if err = t.search(ctx); err == nil && g.follow && !g.done(ctx) {
		if err = t.walk(ctx, true); errors.Is(err, workspace.ErrNotDir) {
			err = nil
		}
	}
	if err != nil {
		g.fail(name, err)
	}
}

// matchesEnd reports whether a name matches, or what stands after one of its slashes: "b*"
// matches a/b/c, as its end b/c matches.
func matchesEnd(re *regexp.Regexp, name string) bool {
	for {
		if re.MatchString(name) {
			return true
		}
		var found bool
		if _, name, found = strings.Cut(name, "/"); !found || name == "" {
			return false
		}
	}
}

// relativeTo returns the path of a file in a directory, from there. dir "." is the root of
// the workspace. file must be in dir.
func relativeTo(dir, file string) string {
	if dir == "." {
		return file
	}
	return strings.TrimPrefix(file, dir+"/")
}

// joinShown returns the path of a file in the directory name, as it is printed. name keeps its
// form, as "./" in ./a; with implicit it is left out.
func joinShown(name, file string, implicit bool) string {
	if implicit {
		return file
	}
	return strings.TrimRight(name, "/") + "/" + file
}

// grepTree is the search of a directory of a workspace.
type grepTree struct {
	*grepRun
	at     Location // the directory that is searched
	asFile func() bool
	shown  func(file string) string // the name that is printed for a file of the workspace
	file   *grepFile                // whose lines are being printed
	path   string                   // of that file
}

// walk reads each file: for options that need files without a match, or bytes that a
// search of a workspace does not return, such as -v, -L, -z and -b. With -R, it goes on to what
// symlinks lead to; linksOnly says that the other files have been searched.
func (t *grepTree) walk(ctx context.Context, linksOnly bool) error {
	if t.gitignore {
		// Walk applies no .gitignore files.
		files, err := globFiles(ctx, t.at, true)
		for _, file := range files {
			if dir, base := workspace.Split(relativeTo(t.at.Name, file)); !t.filter(dir, base) && !t.done(ctx) {
				t.read(ctx, file)
			}
		}
		return err
	}
	var root Location
	if t.follow {
		root = t.p.resolve(ctx, t.shown(t.at.Name), false)
		t.trail = append(t.trail, trail{{from: root}}...)
		defer func() { t.trail = t.trail[:len(t.trail)-1] }()
	}
	return t.at.Workspace.Walk(ctx, t.at.Name, &workspace.WalkOptions{TypesOnly: true}, func(info workspace.FileInfo, err error) error {
		rel := relativeTo(t.at.Name, info.Path)
		dir, base := workspace.Split(rel)
		switch {
		case err != nil:
			t.fail(t.shown(info.Path), err)
		case t.done(ctx):
			return fs.SkipAll
		case info.IsDir():
			if t.leavesDir(rel) || t.follow && t.loops(info.Path, Location{root.Workspace, path.Join(root.Name, rel)}) {
				return fs.SkipDir
			}
		case info.Type == workspace.TypeSymlink && t.follow:
			t.link(ctx, info.Path, Location{root.Workspace, path.Join(root.Name, rel)}, !t.filter(dir, base))
		case info.Type == workspace.TypeFile && !linksOnly && !t.filter(dir, base):
			t.read(ctx, info.Path)
		}
		return nil
	})
}

// link searches what a symlink leads to. at is where the symlink is itself, and asFile whether
// it is searched if that is a file or nothing.
func (t *grepTree) link(ctx context.Context, file string, at Location, asFile bool) {
	last, shown := len(t.trail)-1, t.shown(file)
	if _, err := t.p.Stat(ctx, shown); err != nil && !asFile {
		return
	}
	t.trail[last].to = path.Dir(path.Join("/", at.Name))
	if !t.loops(file, t.p.resolve(ctx, shown, false)) {
		t.tree(ctx, shown, false, func() bool { return asFile })
	}
	t.trail[last].to = ""
}

// loops reports whether a directory is above the place where the walk is, and warns of it.
func (t *grepTree) loops(file string, dir Location) bool {
	if !t.trail.has(dir) {
		return false
	}
	if !t.silent {
		t.out.Flush()
		t.p.errorf("%s: warning: recursive directory loop", t.shown(file))
	}
	return true
}

// globFiles returns the files in a directory, sorted, without symlinks, and with gitignore
// without those that .gitignore files exclude. A Glob finds the names, and a Walk of the
// directories that have some tells files from symlinks.
func globFiles(ctx context.Context, at Location, gitignore bool) ([]string, error) {
	names, err := at.Workspace.Glob(ctx, "**", &workspace.GlobOptions{Dir: at.Name, Gitignore: gitignore})
	if err != nil || len(names) == 0 {
		return nil, err
	}
	links := map[string]bool{}
	err = at.Workspace.Walk(ctx, at.Name, &workspace.WalkOptions{TypesOnly: true}, func(info workspace.FileInfo, err error) error {
		below := sort.SearchStrings(names, info.Path+"/")
		switch {
		case err != nil: // the Glob has found nothing there either
		case info.Type == workspace.TypeSymlink:
			links[info.Path] = true
		case info.IsDir() && (below == len(names) || !strings.HasPrefix(names[below], info.Path+"/")):
			return fs.SkipDir
		}
		return nil
	})
	return slices.DeleteFunc(names, func(name string) bool { return links[name] }), err
}

// leavesDir reports whether a directory is left out with all that is in it, so that walk does
// not enter it. rel is its path from the directory that is searched.
func (t *grepTree) leavesDir(rel string) bool {
	for _, pattern := range t.excludeDirs {
		if matched, err := path.Match(strings.TrimRight(pattern, "/"), path.Base(rel)); err == nil && matched {
			return true
		}
	}
	return false
}

// read searches a file of the directory here.
func (t *grepTree) read(ctx context.Context, file string) {
	t.failRead(file, t.open(ctx, t.at.Workspace, file, t.shown(file)))
}

// failRead prints the error of a file, unless it was removed in between.
func (t *grepTree) failRead(file string, err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.fail(t.shown(file), err)
	}
}

// grepPage is how many matches are asked for at a time.
const grepPage = 100_000

// search asks the workspace for the matches, and prints them, page by page. The
// workspace knows another dialect of patterns, so that it gets an expression that finds
// at least the lines of this one, and is tells which of them match (see
// [pattern.Regexp.Candidates]). Where it is not needed, the workspace may count lines,
// or stop at the first match of each file.
func (t *grepTree) search(ctx context.Context) error {
	expression, is := t.re.Candidates()
	// What the workspace finds needs no second look, so it may count, or stop early.
	if remote, exact := t.re.Remote(); exact && (t.quietLines() || t.max == 1) {
		expression, is = remote, nil
	}
	opts := &workspace.GrepOptions{Path: t.at.Name, Before: t.before, After: t.after, MaxResults: grepPage, Gitignore: t.gitignore}
	opts.IncludeGlob, opts.ExcludeGlob = t.globs()
	if is == nil {
		opts.Count = t.count && t.max < 0
		opts.FirstOnly = t.list || t.quiet || t.max == 1 && !t.count
		if t.quiet {
			opts.MaxResults = 1
		}
	}
	if t.quietLines() {
		opts.Before, opts.After = 0, 0
	}
	for {
		result, err := t.at.Workspace.Grep(ctx, expression, opts)
		if err != nil {
			return err
		}
		if t.isFile(result) && opts.StartAfter == (workspace.Position{}) {
			if strings.HasSuffix(t.shown(t.at.Name), "/") {
				return workspace.ErrNotDir
			}
			if !t.asFile() {
				return nil
			}
		}
		t.page(ctx, result, is)
		if !result.Truncated || t.done(ctx) {
			t.endFile()
			return t.checkSlash(ctx, result)
		}
		// A truncated result has matches (clause S12 of the contract); the next page begins
		// after the last one.
		last := result.Matches[len(result.Matches)-1]
		opts.StartAfter = workspace.Position{Path: last.Path, LineNumber: last.LineNumber}
	}
}

// checkSlash returns an error if the name of a file, in which the search has found
// nothing, has a slash at its end.
func (t *grepTree) checkSlash(ctx context.Context, result *workspace.GrepResult) error {
	name := t.shown(t.at.Name)
	if len(result.Matches) > 0 || len(result.Skipped) > 0 || !strings.HasSuffix(name, "/") {
		return nil
	}
	_, err := t.p.Stat(ctx, name)
	return err
}

// isFile reports whether the search has found out that its path is a file, by a match
// or a skipped file that has the path itself.
func (t *grepTree) isFile(result *workspace.GrepResult) bool {
	for _, s := range result.Skipped { // a directory can be among them for other reasons
		if s.Path == t.at.Name && (s.Reason == workspace.SkipBinary || s.Reason == workspace.SkipTooLarge) {
			return true
		}
	}
	return len(result.Matches) > 0 && result.Matches[0].Path == t.at.Name
}

// quietLines reports whether no lines are printed.
func (g *grepRun) quietLines() bool { return g.quiet || g.count || g.list }

// page prints the matches whose lines match, and between them what the skipped files
// have: both lists are sorted by path, and so is the output.
//
// The matches of a file may go over the end of a page, so t.file stays open; search ends it
// after the last page.
func (t *grepTree) page(ctx context.Context, result *workspace.GrepResult, is pattern.Decide) {
	skipped := result.Skipped
	binary := t.searchBinary(ctx, skipped)
	skip := func(before string, all bool) {
		for len(skipped) > 0 && (all || skipped[0].Path < before) {
			if !t.done(ctx) {
				t.skipped(ctx, skipped[0], binary[skipped[0].Path])
			}
			skipped = skipped[1:]
		}
	}
	for i := range result.Matches {
		m := &result.Matches[i]
		if m.Path != t.path {
			t.endFile()
			skip(m.Path, false)
		}
		if t.done(ctx) {
			return
		}
		if is == nil || is(ctx, []byte(m.Line)) {
			t.match(m)
		}
	}
	if len(skipped) > 0 {
		t.endFile()
		skip("", true)
	}
}

// skippedFile is the search of a binary file. It is a copy of the run with streams of its own,
// as several are searched at the same time.
type skippedFile struct {
	grepRun
	stdout, stderr bytes.Buffer
	err            error
}

// searchBinary searches the binary files among skipped, several at a time, unless they
// are text. Their output is kept: at most a line for each.
//
// The result is by path. All of them have been searched when it returns.
func (t *grepTree) searchBinary(ctx context.Context, skipped []workspace.Skipped) map[string]*skippedFile {
	files := map[string]*skippedFile{}
	if t.noBinary || t.text {
		return files
	}
	limit := make(chan struct{}, 4)
	var group sync.WaitGroup
	for _, s := range skipped {
		if s.Reason != workspace.SkipBinary {
			continue
		}
		f := &skippedFile{grepRun: *t.grepRun}
		files[s.Path] = f
		p := *t.p
		p.Stderr = &f.stderr
		f.p, f.out, f.found = &p, bufio.NewWriter(&f.stdout), false
		limit <- struct{}{}
		group.Go(func() {
			defer func() { <-limit }()
			f.err = f.open(ctx, t.at.Workspace, s.Path, t.shown(s.Path))
			f.out.Flush()
		})
	}
	group.Wait()
	return files
}

// open searches a file of a workspace. file is its name there, and shown the one that is
// printed.
func (g *grepRun) open(ctx context.Context, ws *workspace.Workspace, file, shown string) error {
	stream, _, err := ws.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer stream.Close()
	return g.stream(ctx, shown, stream)
}

// skipped prints what was found in a file that the workspace has not searched, or
// searches it.
func (t *grepTree) skipped(ctx context.Context, s workspace.Skipped, searched *skippedFile) {
	switch {
	case searched != nil:
		t.out.Write(searched.stdout.Bytes())
		if searched.stderr.Len() > 0 {
			t.out.Flush()
			t.p.Stderr.Write(searched.stderr.Bytes())
		}
		t.found, t.groups = t.found || searched.found, t.groups || searched.groups
		t.failRead(s.Path, searched.err)
	case s.Reason == workspace.SkipTooLarge, s.Reason == workspace.SkipBinary && t.text:
		t.read(ctx, s.Path)
	case s.Reason == workspace.SkipUnreadable:
		t.fail(t.shown(s.Path), fs.ErrPermission)
	}
}

// match prints a match that the workspace has found, with the lines around it. Of the
// lines after it, those that match themselves are left for their own match.
func (t *grepTree) match(m *workspace.Match) {
	if t.file == nil {
		t.file, t.path = t.newFile(t.shown(m.Path)), m.Path
	}
	f := t.file
	if f.over {
		return
	}
	f.found = true
	for i, line := range m.Before {
		f.context([]byte(line), m.LineNumber-len(m.Before)+i, 0)
	}
	f.line = m.LineNumber
	if f.selected++; m.Count > 0 {
		f.selected = m.Count
	}
	if strings.IndexByte(m.Line, 0) >= 0 && !f.text {
		f.hidden = true // a binary file whose first NUL byte comes late
	} else {
		f.match([]byte(m.Line), 0)
	}
	last := f.max >= 0 && f.selected >= f.max
	for i, line := range m.After {
		if !last && t.re.Match(t.ctx, []byte(line)) { // which is the next match
			break
		}
		f.context([]byte(line), m.LineNumber+1+i, 0)
	}
	f.over = f.over || last
}

// endFile ends the file whose lines were printed, if there is one.
func (t *grepTree) endFile() {
	if t.file != nil {
		t.file.end()
		t.file, t.path = nil, ""
	}
}
