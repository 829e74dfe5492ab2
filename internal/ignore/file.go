// Package ignore decides which files of a tree the ".gitignore" files in it
// exclude, as git does (https://git-scm.com/docs/gitignore).
//
// [Parse] compiles the content of one file. A walk begins with the [Rules] of
// the root and calls [Rules.Enter] for each directory on its way down, with the
// file in that directory; [Rules.Ignored] then tells whether a child is
// excluded. Rules for plain names and for "*.ext" are looked up in maps, so that
// most names cost two lookups whatever the number of rules. A rule for paths is
// dropped on the way down as soon as it can match nothing below.
package ignore

import (
	"bytes"
	"slices"
	"strings"
)

// FileName is the name of the files with rules.
const FileName = ".gitignore"

// maxLine is the longest line of a file, in bytes, that has a meaning.
const maxLine = 4096

// File is a parsed ".gitignore". It is immutable, and safe for concurrent use.
//
// Rules are numbered from 1 in the order of their lines; 0 is no rule.
type File struct {
	keep  []bool           // whether rule i re-includes; keep[0] is not used
	names map[string]index // rules for one literal name
	exts  map[string]index // rules for "*.ext", by ".ext"
	globs []rule           // the other rules for names, the last line first
	paths []rule           // rules with a slash, the last line first
}

// rule is one line.
type rule struct {
	pattern
	number  int
	dirOnly bool
}

// index holds the last rule of those that apply to something.
type index struct{ file, dir int }

// Parse returns the rules in data, the content of a ".gitignore". It never
// fails: what git does not understand, and a line longer than 4,096 bytes,
// excludes nothing.
func Parse(data []byte) *File {
	f := &File{keep: make([]bool, 1), names: make(map[string]index), exts: make(map[string]index)}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) > 0 && len(line) <= maxLine && line[0] != '#' {
			f.add(trimSpaces(string(line)))
		}
	}
	slices.Reverse(f.globs)
	slices.Reverse(f.paths)
	return f
}

// trimSpaces takes off the spaces at the end that no backslash escapes, and,
// as git's strings are C's, all from a NUL on.
func trimSpaces(line string) string {
	line, _, _ = strings.Cut(line, "\x00")
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return line[:min(end, len(line))]
}

// add adds the rule of a line.
func (f *File) add(line string) {
	line, keep := strings.CutPrefix(line, "!")
	line, dirOnly := strings.CutSuffix(line, "/")
	inPath := strings.Contains(line, "/")
	if line, inPath = simplify(line, inPath); line == "" {
		return
	}
	p, ok := compile(line)
	if !ok {
		return
	}
	r := rule{pattern: p, number: len(f.keep), dirOnly: dirOnly}
	f.keep = append(f.keep, keep)
	ext, isExt := p.extension()
	switch {
	case inPath:
		f.paths = append(f.paths, r)
	case p.literal():
		r.record(f.names, p.prefix)
	case isExt:
		r.record(f.exts, ext)
	default:
		f.globs = append(f.globs, r)
	}
}

// extension returns the ".ext" of a pattern "*.ext" whose only dot is that.
func (p *pattern) extension() (ext string, ok bool) {
	if p.prefix != "" || len(p.middle) != 1 || p.middle[0].kind != star {
		return "", false
	}
	for _, t := range p.tail {
		if t.kind != one {
			return "", false
		}
	}
	ext = literalText(p.tail)
	return ext, strings.LastIndexByte(ext, '.') == 0
}

// literal reports whether the pattern is plain text, all of it in its prefix.
func (p *pattern) literal() bool { return len(p.middle)+len(p.tail) == 0 }

// simplify takes off the slash that anchors a pattern, and turns a pattern
// that is a name at any depth, as in "**/name", into that name.
func simplify(line string, inPath bool) (string, bool) {
	if !inPath {
		return line, false
	}
	line = strings.TrimPrefix(line, "/")
	name := line
	for strings.HasPrefix(name, "**/") {
		name = name[len("**/"):]
	}
	if name != line && !strings.Contains(name, "/") {
		return name, false
	}
	return line, true
}

// record makes r the last rule for key.
func (r rule) record(indexes map[string]index, key string) {
	last := indexes[key]
	last.dir = r.number
	if !r.dirOnly {
		last.file = r.number
	}
	indexes[key] = last
}

// of returns the last rule for a directory or a file.
func (x index) of(dir bool) int {
	if dir {
		return x.dir
	}
	return x.file
}
