package remotegrep

import (
	"bytes"
	"context"
	"io"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// files are the files of a tree that a search may look into. It looks into a
// window of them at a time, in the order of their names. It is safe for concurrent
// use: a worker that asks for a file which is known already does not wait for the
// request of another.
//
// A file goes through these states, each guarded as its fields are:
//
//	wanted    the filter lets it through; nobody has looked into it
//	seen      grep and the sniff have looked into it: it may need no reading
//	needed    it has to be read, with others (batch) or alone
//	ahead     it has been read, and waits for the worker that asks for it
type files struct {
	c        *program.Client
	contents *Contents
	top      string
	filter   *prefilter       // nil without a search
	known    map[string]*file // by path, all that have been listed
	rules    rules

	asking sync.Mutex // held during a request; guards the next three, and the files in wanted
	wanted []*file    // sorted
	window int64      // how many bytes of wanted are looked into next
	first  int        // in needed, before which all have been read

	mu     sync.Mutex // guards the next two, and the files that have been seen; held for moments
	needed []*file    // sorted
	ahead  int64      // how many bytes have been read ahead
}

// file is what is known about one file.
type file struct {
	*program.Entry
	content content
	seen    bool   // grep has looked into it
	matches bool   // there may be a match in it
	needed  bool   // it has to be read
	alone   bool   // it is not read together with others
	data    []byte // what has been read ahead; nil if nothing has
	numbers []int  // of the lines that data has; nil if it has all
}

// newFiles returns the files among entries that s is for.
func (s *source) newFiles(ctx context.Context) (*files, error) {
	fs := &files{c: s.c, contents: s.Contents, top: s.top, filter: s.filter, window: maxWindow, known: make(map[string]*file, len(s.entries))}
	if s.filter != nil && s.filter.few {
		fs.window = shortWindow
	}
	all := make([]file, len(s.entries))
	for i := range s.entries {
		e := &all[i]
		e.Entry = &s.entries[i]
		e.alone = e.Size > largeFile
		path := workspace.Join(s.top, e.Name)
		fs.known[path] = e
		if e.isRules() && !e.alone { // a larger one excludes nothing
			fs.rules.files = append(fs.rules.files, e)
		}
		if s.filter != nil && s.filter.wants(path, e.Entry) && s.c.MayRead(e.StatInfo) {
			fs.wanted = append(fs.wanted, e)
		}
	}
	fs.rules.files = fitting(fs.rules.files, maxAhead)
	if s.filter == nil || !s.filter.noGit {
		return fs, nil
	}
	return fs, fs.dropIgnored(ctx)
}

// isRules reports whether e is an ignore file.
func (e *file) isRules() bool {
	_, base := workspace.Split(e.Name)
	return base == ignoreFile && e.Kind == workspace.TypeFile
}

// ask makes a call about files, whose reply is read by read. A program that fails
// is no error: reading the files tells what it does not.
func (fs *files) ask(ctx context.Context, read func(reply io.Reader), function string, about []*file, args ...string) (status int, err error) {
	var input bytes.Buffer
	for _, e := range about {
		input.WriteString("./" + e.Name + "\x00")
	}
	args = append([]string{fs.top, shell.Number(int64(input.Len()))}, args...)
	call := program.Idempotent(function, args...)
	call.Input, call.Size = &input, int64(input.Len())
	status, err = fs.c.Read(ctx, call, read)
	if err != nil {
		return 0, err
	}
	switch status {
	case 0, program.StatusPartial, program.StatusLacking, program.StatusFailed:
		return status, nil
	}
	return 0, program.StatusError(status, nil)
}

const (
	// maxWindow is how many bytes of files a search looks into at a time. Lines
	// that match come out with the answer, so this bounds what is kept here.
	maxWindow = 64 << 20
	// shortWindow is the first window if few matches are wanted, so that little
	// is done for nothing. Each further one is four times as large.
	shortWindow = 4 << 20
)

// parts returns the files that are not known to be binary: those whose lines grep
// can report, and the others. A name on several lines looks like several names,
// so such files are always read.
func (fs *files) parts(some []*file) (byLine, byFile []*file) {
	for _, e := range some {
		e.content = fs.contents.get(e.Entry)
		switch {
		case e.content == binary:
		case strings.Contains(e.Name, "\n"):
			e.matches = true
		case fs.c.Exact, fs.filter.whole, strings.Contains(e.Name, ":"), e.content == unknown && !fs.c.Texts:
			byFile = append(byFile, e)
		default:
			byLine = append(byLine, e)
		}
	}
	return byLine, byFile
}

// look has a grep look into files, for the lines that may match or for the files
// alone. If nothing is known about them it looks for NULs at the same time.
func (fs *files) look(ctx context.Context, among []*file, lines bool) error {
	if len(among) == 0 {
		return nil
	}
	open := slices.DeleteFunc(slices.Clone(among), func(e *file) bool { return e.content != unknown })
	g := remoteGrep{among: among, nuls: len(open) == len(among)}
	exact := false
	g.options, g.pattern, exact = expressionFor(fs.c.Image, fs.filter)
	first := fs.filter.first && exact // and then one line is enough
	switch {
	case lines && first:
		g.lines = 1
	case lines:
		g.lines = maxLines
	}
	var found findings
	var sure bool
	var err error
	if g.options != "" {
		found, sure, err = fs.remoteGrep(ctx, g)
	}
	if err == nil && found.nul == nil && len(open) > 0 {
		found.nul, err = fs.withNUL(ctx, open)
	}
	if err != nil {
		return err
	}
	for _, e := range open {
		if found.nul != nil && !found.nul[e] {
			fs.note(e, plainText)
		}
	}
	for _, e := range among {
		lines, matches := found.files[e]
		e.matches = matches || !sure
		if n := len(lines.numbers); sure && 0 < n && (n < maxLines || first) {
			e.data, e.numbers = lines.text, lines.numbers
		}
	}
	return nil
}

// expressionFor returns how grep finds every line that can match, or every file with
// a match that can span lines, as options and a pattern; nothing if all files have
// to be read. grep may find more, unless it is exact.
//
//	pattern            options   pattern for grep
//	needle             -F        needle, and that is exact
//	(?i)needle|thread  -F -i     needle and thread, a line each
//	need.e             -E        need.{1,4}e
//	needle\n +thread   -F        needle: only one of the lines is looked for
//	^                  none: no byte has to be there
func expressionFor(i *program.Image, f *prefilter) (options, pattern string, exact bool) {
	tree, err := lines.Parse(f.pattern, f.how)
	if err != nil {
		return "", "", false
	}
	required := lines.RequiredBy(tree)
	for i, text := range required.Texts {
		required.Texts[i] = longestLine(text)
	}
	useless := func(text string) bool { return text == "" || strings.Contains(text, "\x00") }
	known := len(required.Texts) > 0 && !slices.ContainsFunc(required.Texts, useless)
	switch {
	case known && (required.Exact || f.how.Multiline || !i.Bytes):
		options = "-F"
		if required.Fold {
			options += " -i"
		}
		return options, strings.Join(required.Texts, "\n"), required.Exact && !required.Fold
	case !i.Bytes, f.how.Multiline:
		return "", "", false
	}
	if pattern = extended(tree); pattern == "" {
		return "", "", false
	}
	return "-E", pattern, false
}

// longestLine returns the line of text that says most about where text can be.
func longestLine(text string) string {
	return slices.MaxFunc(strings.Split(text, "\n"), func(a, b string) int { return len(a) - len(b) })
}

// extended returns a POSIX extended regular expression for bytes that matches
// in every line in which the tree of a pattern does. It may match in more: it
// knows no anchors, and one character of several bytes from another. It is empty
// if there is none that is worth a search.
func extended(tree *syntax.Regexp) string {
	const maxLength = 8 << 10
	text := extend(tree)
	if len(text) > maxLength {
		return ""
	}
	return text
}

// withNUL returns the files with a NUL in them, nil if that cannot be known.
func (fs *files) withNUL(ctx context.Context, among []*file) (map[*file]bool, error) {
	found, sure := newFindings(among), false
	read := func(reply io.Reader) { sure = sections(reply, len(among), found.addNUL) }
	status, err := fs.ask(ctx, read, "nuls", among)
	if err != nil || !sure || status != 0 {
		return nil, err
	}
	return found.nul, nil
}

// note notes what a file has in it, and remembers it unless a symlink may have
// led the program there.
func (fs *files) note(e *file, kind content) {
	e.content = kind
	if !fs.c.Exact {
		fs.contents.put(e.Entry, kind)
	}
}
