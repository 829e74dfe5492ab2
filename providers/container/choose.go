package container

import (
	"context"
	"slices"
	"strings"
)

const (
	// maxWindow is how many bytes of files a search looks into at a time. What
	// has a match comes out with the answer, so this bounds what is kept here.
	maxWindow = 64 << 20
	// shortWindow is how many that are at first if few matches are wanted, so
	// that little is done in vain; then they are four times as many each time.
	shortWindow = 4 << 20
)

// reach looks into the wanted files as far as name. fs.asking is held.
func (fs *files) reach(ctx context.Context, name string) error {
	for len(fs.wanted) > 0 && fs.wanted[0].Name <= name {
		if err := fs.choose(ctx, fs.next()); err != nil {
			return err
		}
	}
	return nil
}

// next takes the files that are looked into next, one at least.
func (fs *files) next() []*file {
	count, size := 1, fs.wanted[0].Size
	for _, e := range fs.wanted[1:] {
		if size += e.Size; size > fs.window {
			break
		}
		count++
	}
	some := fs.wanted[:count:count]
	fs.wanted, fs.window = fs.wanted[count:], min(4*fs.window, maxWindow)
	return some
}

// choose finds out which of some files have to be read: text in which there may
// be a match. Those that are binary are to be told of, even if there is none in
// them. The programs that tell open files by their paths: in the exact view
// nothing of what they read is used, and what may match is read one by one.
func (fs *files) choose(ctx context.Context, some []*file) error {
	quotable, others := fs.parts(some)
	if err := fs.look(ctx, quotable, true); err != nil {
		return err
	}
	if err := fs.look(ctx, others, false); err != nil {
		return err
	}
	if !fs.c.Exact {
		if err := fs.heads(ctx, some); err != nil {
			return err
		}
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, e := range some {
		e.seen = true
		e.needed = e.content != binary && (e.content != plainText || e.matches)
		if e.content != plainText { // a grep may stop at a NUL
			e.data, e.numbers = nil, nil
		}
		if fs.c.Exact {
			e.alone = true
			continue
		}
		if e.needed {
			fs.needed = append(fs.needed, e)
			fs.ahead += int64(len(e.data))
		}
	}
	return nil
}

// parts returns those of some files that are not known to be binary: those of
// which a grep can tell lines, and others. A name on several lines cannot be told
// from several names, so such files are always read.
func (fs *files) parts(some []*file) (quotable, others []*file) {
	for _, e := range some {
		e.content = fs.contents.get(e.Entry)
		switch {
		case e.content == binary:
		case strings.Contains(e.Name, "\n"):
			e.matches = true
		case fs.c.Exact, fs.narrow.around, strings.Contains(e.Name, ":"), e.content == unknown && !fs.c.Texts:
			others = append(others, e)
		default:
			quotable = append(quotable, e)
		}
	}
	return quotable, others
}

// look has a grep look into files, for the lines in which there may be a match or
// for the files alone. If nothing is known of them it looks for NULs at the same
// time.
func (fs *files) look(ctx context.Context, among []*file, lines bool) error {
	if len(among) == 0 {
		return nil
	}
	open := slices.DeleteFunc(slices.Clone(among), func(e *file) bool { return e.content != unknown })
	s := sift{among: among, lines: lines, nuls: len(open) == len(among)}
	s.options, s.pattern = search(fs.c.Image, fs.narrow.pattern, fs.narrow.how)
	var found sifted
	var sure bool
	var err error
	if s.options != "" {
		found, sure, err = fs.sift(ctx, s)
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
		if n := len(lines.numbers); sure && 0 < n && n < maxLines {
			e.data, e.numbers = lines.text, lines.numbers
		}
	}
	return nil
}

// note notes what a file has in it, and remembers it unless a symlink may have
// led the program there.
func (fs *files) note(e *file, kind content) {
	e.content = kind
	if !fs.c.Exact {
		fs.contents.put(e.Entry, kind)
	}
}
