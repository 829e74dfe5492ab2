package conformance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/workspace"
)

// tree returns everything there is, in the form of files. Symlinks are shown as
// such, so a tree can hold a loop. It is read through the file system under
// test, so a provider that forgets a name in its listing fails many cases.
func (e *env) tree() files {
	e.Helper()
	found := make(files)
	e.collect(".", found)
	return found
}

// collect adds what is below dir to found.
func (e *env) collect(dir string, found files) {
	e.Helper()
	for _, info := range e.ls(dir, nil) {
		switch info.Type {
		case workspace.TypeDirectory:
			found[info.Path+"/"] = ""
			e.collect(info.Path, found)
		case workspace.TypeFile:
			found[info.Path] = e.read(info.Path)
		default:
			found[info.Path] = "a " + string(info.Type)
		}
	}
}

// unchanged fails the case unless the tree is what it was before call. A call
// that has been refused may have failed after its first step: the error alone
// proves nothing.
func (e *env) unchanged(before files, format string, args ...any) {
	e.Helper()
	if diff := before.diff(e.tree()); diff != "" {
		e.Errorf("%s changed the tree:%s", fmt.Sprintf(format, args...), diff)
	}
}

// leaves fails the case unless the tree after call is want. Nothing else may be
// there: that finds temporary files, markers and parents that nobody asked for.
func (e *env) leaves(want files, format string, args ...any) {
	e.Helper()
	if diff := want.diff(e.tree()); diff != "" {
		e.Errorf("%s left another tree than it should:%s", fmt.Sprintf(format, args...), diff)
	}
}

// diff describes in lines how after differs from f, "" if it does not. It names
// each name once, those of f first.
func (f files) diff(after files) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(f)) {
		content, ok := after[name]
		switch {
		case !ok:
			text += fmt.Sprintf("\n\t%q is missing", name)
		case content != f[name]:
			text += fmt.Sprintf("\n\t%q is %s, want %s", name, compare.Brief(content), compare.Brief(f[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, ok := f[name]; !ok {
			text += fmt.Sprintf("\n\t%q is too many", name)
		}
	}
	return text
}

// equal fails the case unless got, which call returned, is want. The order
// counts. A nil list equals an empty one; glob and ls refuse nil by themselves.
func (e *env) equal(got, want []string, format string, args ...any) {
	e.Helper()
	if !slices.Equal(got, want) {
		e.Errorf("%s = %q, want %q", fmt.Sprintf(format, args...), got, want)
	}
}
