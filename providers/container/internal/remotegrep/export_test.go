package remotegrep

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/workspace"
)

// Extended is extended, for a pattern.
func Extended(pattern string, literal, ignoreCase bool) string {
	tree, err := lines.Parse(pattern, lines.Options{Literal: literal, IgnoreCase: ignoreCase})
	if err != nil {
		return ""
	}
	return extended(tree)
}

// ExpressionFor is expressionFor, for a grep that takes any byte.
func ExpressionFor(pattern string, opts workspace.GrepOptions) (options, expression string, exact bool) {
	return expressionFor(&program.Image{Bytes: true}, prefilterOf(pattern, opts, nil))
}

// Frames returns what a batchReader reads of a reply about files of some sizes,
// whose inodes are numbered from 1 in order of their names.
func Frames(sizes map[string]int64, marker, reply string, length int64) map[string][]byte {
	var about []*file
	for i, name := range slices.Sorted(maps.Keys(sizes)) {
		r := program.StatInfo{Inode: uint64(i + 1), Size: sizes[name], Modified: time.Unix(0, 0)}
		about = append(about, &file{Entry: &program.Entry{StatInfo: r, Name: name}})
	}
	p := newBatchReader(about, length)
	p.marker = marker
	p.read(strings.NewReader(reply))
	got := map[string][]byte{}
	for e, data := range p.sent {
		if data != nil {
			got[e.Name] = data
		}
	}
	return got
}

// Lines returns what is read of what grep has found in files, by name, and whether
// that is all.
func Lines(names []string, reply string) (text map[string]string, numbers map[string][]int, sure bool) {
	var among []*file
	for _, name := range names {
		among = append(among, &file{Entry: &program.Entry{Name: name}})
	}
	found := newFindings(among)
	sure = sections(strings.NewReader(reply), len(among), found.addLine, found.addNUL)
	text, numbers = map[string]string{}, map[string][]int{}
	for e, lines := range found.files {
		text[e.Name], numbers[e.Name] = string(lines.text), lines.numbers
	}
	return text, numbers, sure
}
