package container

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// files are the files of a tree that a search may look into.
type files struct {
	f       *FS
	top     string
	known   map[string]*entry // by path, all that have been listed
	wanted  []*entry          // sorted, those that are to be searched
	binary  map[*entry]bool   // of the wanted ones, whether they are binary; without those of which that is not known
	needed  []*entry          // sorted, those that have to be read
	asked   map[*entry]bool   // those of them that have been read ahead
	first   int               // in needed, where the first may be that has not
	rules   []*entry          // the ignore files
	ruled   map[string][]byte // the bytes of those, by name; nil before they are asked for
	fetched map[string][]byte // by name, what has been read ahead
	ahead   int64             // how many bytes that is
}

// newFiles returns the files among entries that s is for.
func (s *source) newFiles(ctx context.Context) (*files, error) {
	fs := &files{f: s.f, top: s.top, known: map[string]*entry{}, fetched: map[string][]byte{}, asked: map[*entry]bool{}}
	for i := range s.entries {
		e := &s.entries[i]
		path := workspace.Join(s.top, e.name)
		fs.known[path] = e
		if isIgnoreFile(e) {
			fs.rules = append(fs.rules, e)
		}
		if s.narrow != nil && s.narrow.wants(path, e) && s.f.inside().allows(*e, mayRead) {
			fs.wanted = append(fs.wanted, e)
		}
	}
	if s.narrow == nil {
		return fs, nil
	}
	if s.narrow.noGit {
		if err := fs.dropIgnored(ctx); err != nil {
			return nil, err
		}
	}
	return fs, fs.choose(ctx, s.narrow)
}

func isIgnoreFile(e *entry) bool {
	_, base := workspace.Split(e.name)
	return base == ignoreFile && e.kind == workspace.TypeFile
}

// choose finds out which of the wanted files have to be read: text in which
// there may be a match. Those that are binary are to be told of, even if there
// is none in them.
func (fs *files) choose(ctx context.Context, n *narrowing) error {
	v, open := fs.remembered()
	matching, nul, err := fs.look(ctx, open, n)
	if err != nil {
		return err
	}
	if err := fs.judge(ctx, open, nul, v); err != nil {
		return err
	}
	fs.binary = v.binary
	for _, e := range fs.wanted {
		binary, sure := fs.binary[e]
		if !binary && (!sure || matching == nil || matching[e.name] || v.late[e]) {
			fs.needed = append(fs.needed, e)
		}
	}
	return nil
}

// look returns which of the wanted files a grep in the container finds something
// in, and which of the open ones have a NUL, as grep does. A first search looks
// for both at a time.
func (fs *files) look(ctx context.Context, open []*entry, n *narrowing) (matching, nul map[string]bool, err error) {
	options, pattern := fs.f.inside().search(n.pattern, n.how)
	if options != "" && len(open) == len(fs.wanted) {
		return fs.sift(ctx, options, pattern)
	}
	nul, err = fs.grep(ctx, open, "", "")
	if err == nil && options != "" {
		matching, err = fs.grep(ctx, fs.wanted, options, pattern)
	}
	return matching, nul, err
}

// sift does the two greps of look on all wanted files in one request.
func (fs *files) sift(ctx context.Context, options, pattern string) (matching, nul map[string]bool, err error) {
	body, status, err := fs.ask(ctx, "sift", fs.wanted, options, pattern)
	if err != nil || status != 0 {
		return nil, nil, err
	}
	var found [2]bytes.Buffer // those of the pattern, and those of the NUL
	at := 0
	for line := range bytes.Lines(body) {
		switch {
		case !bytes.HasPrefix(line, []byte("//")): // which no name has in it
			found[at].Write(line)
		case string(line) != "//0\n" && string(line) != "//1\n": // it has failed
			return nil, nil, nil
		default:
			at = 1 - at
		}
	}
	return foundIn(found[0].Bytes(), fs.wanted), foundIn(found[1].Bytes(), fs.wanted), nil
}

// grep returns which of the files a grep in the container finds something in.
// It returns nil if that cannot be found out: then reading them tells what is
// wrong.
func (fs *files) grep(ctx context.Context, among []*entry, options, pattern string) (map[string]bool, error) {
	if len(among) == 0 {
		return map[string]bool{}, nil
	}
	body, status, err := fs.ask(ctx, "candidates", among, options, pattern)
	if err != nil || status != 0 {
		return nil, err
	}
	return foundIn(body, among), nil
}

// foundIn returns which files a list has in it that grep has written.
func foundIn(list []byte, among []*entry) map[string]bool {
	found := map[string]bool{}
	for line := range bytes.Lines(list) {
		name, _ := strings.CutPrefix(string(bytes.TrimSuffix(line, []byte{'\n'})), "./")
		found[name] = true
	}
	for _, e := range among { // what is on several lines cannot be told
		if strings.Contains(e.name, "\n") {
			found[e.name] = true
		}
	}
	return found
}

// ask makes a call about files.
func (fs *files) ask(ctx context.Context, function string, about []*entry, args ...string) ([]byte, int, error) {
	var input bytes.Buffer
	for _, e := range about {
		input.WriteString("./" + e.name + "\x00")
	}
	args = append([]string{fs.top, shell.Number(int64(input.Len()))}, args...)
	call := ask(function, args...)
	call.Input, call.Size = &input, int64(input.Len())
	body, status, err := fs.f.pool.Do(ctx, call)
	if err != nil {
		return nil, 0, fs.f.broken(workspace.OpGrep, fs.top, err)
	}
	if status != 0 && status != statusPartial && status != statusLacking {
		return nil, 0, statusError(workspace.OpGrep, fs.top, status, nil)
	}
	return body, status, nil
}

// verdict says which files are binary, and which have a NUL where they are
// text all the same.
type verdict struct{ binary, late map[*entry]bool }

// remembered returns what was found out before of the bytes of wanted files,
// and the files of which nothing was.
func (fs *files) remembered() (v *verdict, open []*entry) {
	v = &verdict{binary: map[*entry]bool{}, late: map[*entry]bool{}}
	for _, e := range fs.wanted {
		kind, ok := fs.f.contents.get(e)
		if !ok {
			open = append(open, e)
			continue
		}
		v.note(e, kind)
	}
	return v, open
}

// judge finds out which of the open files are binary, if nul has those with a
// NUL, or is nil if that is not known.
func (fs *files) judge(ctx context.Context, open []*entry, nul map[string]bool, v *verdict) error {
	var suspect []*entry
	for _, e := range open {
		if nul == nil || nul[e.name] {
			suspect = append(suspect, e)
			continue
		}
		fs.note(e, plainText, v)
	}
	return fs.heads(ctx, suspect, v)
}

// note notes what a file has in it, and remembers it.
func (fs *files) note(e *entry, kind content, v *verdict) {
	v.note(e, kind)
	fs.f.contents.put(e, kind)
}

func (v *verdict) note(e *entry, kind content) {
	v.binary[e] = kind == binary
	v.late[e] = kind == lateNUL
}

// shortHead is how many bytes of a file tell in most cases that it is binary.
const shortHead = 512

// heads reads the beginnings of files to find out which are binary: more of
// those only of which a little does not tell.
func (fs *files) heads(ctx context.Context, suspect []*entry, v *verdict) error {
	for batch := range slices.Chunk(suspect, batchFiles) {
		unsure, err := fs.headsOf(ctx, batch, shortHead, v)
		if err == nil && len(unsure) > 0 {
			_, err = fs.headsOf(ctx, unsure, lines.BinaryWindow, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// headsOf reads so many bytes of files, and returns those of which it cannot be
// told from these. What is gone, or has changed, is left for reading it to tell.
func (fs *files) headsOf(ctx context.Context, batch []*entry, size int64, v *verdict) (unsure []*entry, err error) {
	body, _, err := fs.ask(ctx, "fetch", batch, shell.Number(size))
	if err != nil {
		return nil, err
	}
	heads := parcels(body, size)
	for _, e := range batch {
		head, ok := heads[e.name]
		switch {
		case !ok:
		case lines.IsBinary(head):
			fs.note(e, binary, v)
		case size < lines.BinaryWindow && int64(len(head)) == size:
			unsure = append(unsure, e)
		default:
			fs.note(e, lateNUL, v)
		}
	}
	return unsure, nil
}

// Read implements [scan.Source].
func (s *source) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	if data, ok, err := s.readAhead(ctx, name, opts); ok || err != nil {
		return data, err
	}
	if opts.Text {
		return s.f.readText(ctx, name, opts.Limit)
	}
	data, _, err := s.f.ReadVersioned(ctx, name, opts.Limit)
	return data, err
}

// readAhead returns the bytes of a file that is read together with others, or
// need not be read at all. It returns false for what has to be read alone.
func (s *source) readAhead(ctx context.Context, name string, opts scan.ReadOptions) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed == nil {
		return nil, false, nil
	}
	if s.files == nil {
		files, err := s.newFiles(ctx)
		if err != nil {
			return nil, false, err
		}
		s.files = files
	}
	e := s.files.known[name]
	if e == nil {
		return nil, false, nil
	}
	if err := workspace.CheckSize(workspace.OpReadFile, name, e.size, opts.Limit); err != nil {
		return nil, false, err
	}
	if !opts.Text {
		return s.files.readRules(ctx, e)
	}
	return s.files.read(ctx, e)
}
