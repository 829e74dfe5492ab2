// Package view prints the results of tools. It prints a tool's own text where
// that is what a person wants to see, and has a view of its own where a terminal
// gains by it, or a program that reads the output.
package view

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools"
)

// View prints the results of a tool, page by page.
//
// For each page, Take and then Show are called, and End once after the last one, unless a call
// or Take fails. So nothing is noted about a result that is not whole because of an error.
type View interface {
	// Take takes the next page, and returns what the one after it depends on.
	Take(result *tools.Result) (Page, error)
	// Show prints the page that was taken last. What cannot be written is
	// reported when the console is flushed.
	Show()
	// End prints what there is to say after the last page.
	End() error
}

// Page is what the page after a result depends on.
type Page struct {
	Path       string `json:"path"`
	NextCursor string `json:"nextCursor"`
	NextLine   int    `json:"nextLine"`
	NextColumn int    `json:"nextColumn"`
	Version    string `json:"version"`
}

// Last reports whether no page follows.
func (p Page) Last() bool { return p.NextCursor == "" && p.NextLine == 0 && p.NextColumn == 0 }

// New returns the view of the results that op returns for args. args are the arguments as
// JSON, which only the view of a search looks at.
func New(op string, args json.RawMessage, c term.Console) View {
	switch op {
	case ops.ReadFile:
		return &readView{Console: c}
	case ops.Ls:
		return &lsView{Console: c}
	case ops.Glob:
		return &globView{Console: c}
	case ops.Grep:
		return newGrepView(c, args)
	}
	return &textView{Console: c, diff: op == ops.WriteFile || op == ops.EditFile}
}

// decode decodes a result.
func decode(result *tools.Result, into any) error {
	return term.Fail(json.Unmarshal(result.Structured, into))
}

// end flushes c and says that there is more after the page, if there is.
func end(c term.Console, page Page) error {
	if err := c.Flush(); err != nil {
		return term.Fail(err)
	}
	if page.NextCursor != "" {
		c.Note("there are more: --all prints them all; the cursor of the next page is in the result with --json")
	}
	return nil
}

// textView prints the text of the tool, and colors the lines of a diff. Anything that has no
// view of its own has this one.
type textView struct {
	term.Console
	diff bool
	text string
}

// Take implements [View]. The text of such a tool is whole in one page.
func (v *textView) Take(result *tools.Result) (Page, error) {
	v.text = result.Text
	return Page{}, nil
}

// Show implements [View]. The text of a tool has lines.
func (v *textView) Show() {
	if !v.diff {
		text := v.text
		if v.Terminal {
			text = term.Visible(text, "\n\t")
		}
		fmt.Fprintln(v, text)
		return
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(v.text, "\n"), "\n") {
		fmt.Fprintln(v, v.Paint(DiffColor(line), v.Line(line)))
	}
}

// End implements [View].
func (v *textView) End() error { return term.Fail(v.Flush()) }

// DiffColor returns the color of a line of a diff.
func DiffColor(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return term.Bold
	case strings.HasPrefix(line, "@@"):
		return term.Cyan
	case strings.HasPrefix(line, "+"):
		return term.Green
	case strings.HasPrefix(line, "-"):
		return term.Red
	}
	return term.NoColor
}

// readView prints the text of a file and nothing else.
type readView struct {
	term.Console
	page readPage
	cut  []int // the lines that are cut, of all pages
}

// readPage is a page of the result of read_file.
type readPage struct {
	Page
	Text       string `json:"text"`
	EndLine    int    `json:"endLine"`
	TotalLines int    `json:"totalLines"`
	Columns    int    `json:"columns"`
	Truncated  bool   `json:"truncated"`
	CutLines   []int  `json:"cutLines"`
	Size       int    `json:"size"`
	Binary     bool   `json:"binary"`
	MIMEType   string `json:"mimeType"`
	Base64     string `json:"base64"`
}

// Take implements [View].
func (v *readView) Take(result *tools.Result) (Page, error) {
	v.page = readPage{}
	err := decode(result, &v.page)
	return v.page.Page, err
}

// Show implements [View]. A pipe gets the text byte for byte.
func (v *readView) Show() {
	v.cut = append(v.cut, v.page.CutLines...)
	switch {
	case v.page.Base64 != "":
		fmt.Fprintln(v, v.page.Base64)
	case v.Terminal: // which would obey what a file says
		v.WriteString(term.Visible(v.page.Text, "\n\t\r"))
	default:
		v.WriteString(v.page.Text)
	}
}

// End implements [View]. It says what the result leaves out, and how to get it.
func (v *readView) End() error {
	if err := v.Flush(); err != nil {
		return term.Fail(err)
	}
	switch p := v.page; {
	case p.Binary && p.Base64 == "":
		v.Note("%s is not text: %s, %d bytes; --encoding base64 prints a small file in base64", p.Path, p.MIMEType, p.Size)
	case p.NextLine > 0:
		v.Note("%d of %d lines; go on with --line %d, or print them all with --all", p.EndLine, p.TotalLines, p.NextLine)
	case p.NextColumn > 0:
		v.Note("the line has %d characters; go on with --column %d, or print them all with --all", p.Columns, p.NextColumn)
	case p.Truncated && len(v.cut) == 0:
		v.Note("the result is too long, and begins later than --tail asks for")
	}
	if len(v.cut) > 0 {
		v.Note("%s, the first of them line %d", wording.Count(len(v.cut), "line is too long and cut", "lines are too long and cut"), v.cut[0])
	}
	return nil
}
