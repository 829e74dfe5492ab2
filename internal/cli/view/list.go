package view

import (
	"fmt"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// globView prints one path on a line.
type globView struct {
	term.Console
	page struct {
		Page
		Matches []string `json:"matches"`
	}
	none string // what the tool says if nothing matches
}

// Take implements [View].
func (v *globView) Take(result *tools.Result) (Page, error) {
	v.page.Page, v.page.Matches = Page{}, nil
	err := decode(result, &v.page)
	if len(v.page.Matches) == 0 {
		v.none = result.Text
	}
	return v.page.Page, err
}

// Show implements [View].
func (v *globView) Show() {
	for _, path := range v.page.Matches {
		fmt.Fprintln(v, v.Name(path))
	}
}

// End implements [View]. That nothing was found is said on standard error, so the
// output stays empty.
func (v *globView) End() error {
	err := end(v.Console, v.page.Page)
	if err == nil && v.none != "" {
		v.Note("%s", v.none)
	}
	return err
}

// lsView prints names: at a terminal as a table with their sizes, otherwise one
// on a line.
type lsView struct {
	term.Console
	page struct {
		Page
		Entries []workspace.FileInfo `json:"entries"`
	}
}

// Take implements [View].
func (v *lsView) Take(result *tools.Result) (Page, error) {
	v.page.Page, v.page.Entries = Page{}, nil
	err := decode(result, &v.page)
	return v.page.Page, err
}

// Show implements [View]. On a terminal, sizes stand in a column and marks show the
// types; in a pipe there are only names, one a line.
func (v *lsView) Show() {
	width := 0
	for _, e := range v.page.Entries {
		width = max(width, len(sizeOf(e)))
	}
	for _, e := range v.page.Entries {
		look := looks[e.Type]
		if v.Terminal {
			fmt.Fprintf(v, "%*s  %s%s\n", width, sizeOf(e), v.Paint(look.color, v.Name(e.Name)), look.mark)
		} else {
			fmt.Fprintln(v, v.Paint(look.color, e.Name))
		}
	}
}

// End implements [View].
func (v *lsView) End() error { return end(v.Console, v.page.Page) }

// sizeOf returns the size of a file in bytes, and "-" for what has none.
func sizeOf(e workspace.FileInfo) string {
	if e.Type != workspace.TypeFile {
		return "-"
	}
	return fmt.Sprint(e.Size)
}

// looks are the colors of names, and the marks after them, as in ls -F.
var looks = map[workspace.FileType]struct{ color, mark string }{
	workspace.TypeDirectory: {term.Blue, "/"},
	workspace.TypeSymlink:   {term.Cyan, "@"},
}
