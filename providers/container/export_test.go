package container

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// Extended is extended, for a pattern.
func Extended(pattern string, literal, ignoreCase bool) string {
	tree, err := lines.Parse(pattern, lines.Options{Literal: literal, IgnoreCase: ignoreCase})
	if err != nil {
		return ""
	}
	return extended(tree)
}

// SearchPath is the variable with which shells are started.
const SearchPath = searchPath

// Parcels returns what is read of a reply about files of some sizes, numbered as
// their names are sorted.
func Parcels(sizes map[string]int64, marker, reply string, length int64) map[string][]byte {
	var about []*file
	for i, name := range slices.Sorted(maps.Keys(sizes)) {
		r := program.StatInfo{Inode: uint64(i + 1), Size: sizes[name], Modified: time.Unix(0, 0)}
		about = append(about, &file{Entry: &program.Entry{StatInfo: r, Name: name}})
	}
	p := newParcels(about, length)
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

// Texts reports whether grep in the container can leave out what has a NUL.
func (f *FS) Texts() bool { return f.store.start.found.Load().Texts }

// Lines returns what is read of what grep has found in files, by name, and whether
// that is all.
func Lines(names []string, reply string) (text map[string]string, numbers map[string][]int, sure bool) {
	var among []*file
	for _, name := range names {
		among = append(among, &file{Entry: &program.Entry{Name: name}})
	}
	found := newSifted(among)
	sure = sections(strings.NewReader(reply), len(among), found.addLine, found.addNUL)
	text, numbers = map[string]string{}, map[string][]int{}
	for e, lines := range found.files {
		text[e.Name], numbers[e.Name] = string(lines.text), lines.numbers
	}
	return text, numbers, sure
}

// EngineError returns the error of an engine's client that said something when it
// failed.
func EngineError(said string) error { return ops.Error("open", "box", visible(engineFault(said)), nil) }

// Owner returns the label of this process.
func Owner() string { return ownerLabel + "=" + thisProcess().String() }

// IsLeft reports whether the process self takes a container for one that nobody
// uses.
func IsLeft(labels map[string]string, running bool, age time.Duration, self string) bool {
	c := inspected{Created: time.Now().Add(-age), Running: running, Labels: labels}
	p, _ := parseProcess(self)
	return c.isLeft(p, time.Now())
}
