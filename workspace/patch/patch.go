// Package patch applies a patch to the files of a workspace: a unified diff, as git
// writes it, or the apply_patch format that models know. In go the text of a patch and
// a [workspace.Workspace]; out come the changes of its files, which are made in one
// transaction, or everything that is wrong with the patch.
//
//	changes, err := patch.Apply(ctx, ws, text)
//
// [Parse] reads the text. [Patch.Plan] reads the files, finds the place of each hunk and
// checks everything, and changes nothing. [Plan.Apply] makes the changes. [Apply] is all
// three.
//
// # Unified diffs
//
// A diff applies as "git apply" would apply it: the lines without "+" are in the file byte
// for byte. A hunk can be at another line than it says, and then the nearest place counts.
// What git refuses is refused, and so is more: binary changes, names with a leading or
// double slash, symlinks, submodules, a file in place of a directory, and a patch that
// creates or renames a file twice. Modes are not changed, because a workspace has none; a
// note of the change says so. Directories that become empty stay. Text in UTF-8 is not added
// to a file in another encoding, unless the hunk has old lines that are not UTF-8.
//
// # The apply_patch format
//
//	*** Begin Patch
//	*** Update File: src/a.go
//	*** Move to: src/b.go
//	@@ func main() {
//	 	a := 1
//	-	b := 2
//	+	b := 3
//	*** Add File: notes.md
//	+text
//	*** Delete File: old.txt
//	*** End Patch
//
// The lines of a hunk are looked for after the hunk before it, and after the lines that
// "@@" names. There are four passes: the lines as they are, without white space at their
// ends, without white space around them, and with plain characters in place of
// typographic quotes, dashes and spaces. A note says if one of the later passes found the
// place, or if a blank line at the end of the hunk is missing. The file keeps its own bytes
// in the lines of context, its line ends, its byte order mark, its encoding if that is
// UTF-16, Latin-1 or Windows-1252, and the way its last line ends. To a file in an encoding
// that is not known, only ASCII is added.
package patch

import (
	"context"
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// Patch is a patch that has been read. It is safe for concurrent use. It has
// the text of the patch alone: it can be planned on several workspaces.
type Patch struct {
	files []section
}

// section is what a patch says of one file. Both formats become sections, so
// that what plans and applies a patch need know no more of them than exact.
type section struct {
	kind     Kind
	old, new string   // names; old is empty for Added, new for Deleted
	hunks    []hunk   // for Added, one that adds all lines
	notes    []string // of what is left out
	maybeNew bool     // a Modified file that is created if there is none
	exact    bool     // a unified diff
}

// hunk is a part of a file that changes. A hunk of a diff has at, atStart and
// atEnd; one of the apply_patch format has anchors, and atEnd.
type hunk struct {
	label   string // the line that begins it, for errors
	lines   []patchLine
	at      int      // of a unified diff: the line from 0 where it is expected
	atStart bool     // it must be at the beginning of the file
	atEnd   bool     // it must be at the end of the file
	anchors []string // of the apply_patch format: lines to go to first
}

// patchLine is a line of a hunk.
type patchLine struct {
	op   byte   // ' ', '-' or '+'
	text string // with its line end in a unified diff, without one otherwise
}

// old returns the lines that the hunk expects in the file.
func (h *hunk) old() []string {
	var lines []string
	for _, l := range h.lines {
		if l.op != '+' {
			lines = append(lines, l.text)
		}
	}
	return lines
}

// beginMark is how a patch in the apply_patch format begins.
const beginMark = "*** Begin Patch"

// Parse reads a patch. A first line "*** Begin Patch" tells the apply_patch format, and
// anything else is a unified diff; lines before the first file of a diff are ignored, as
// git ignores the message of a commit. A final line end that is missing is added.
//
// # Errors
//
// A [*SyntaxError].
func Parse(text string) (*Patch, error) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	parse := parseDiff
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), beginMark) {
		parse = parseEnvelope
	}
	files, err := parse(text)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, &SyntaxError{Reason: withoutFiles(strings.TrimSpace(text))}
	}
	return &Patch{files}, nil
}

// withoutFiles is what is wrong with a text that changes no file. Models put patches into a
// fence, or into the here-document of a shell.
func withoutFiles(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case strings.HasPrefix(text, beginMark):
		return "it changes no file"
	case strings.Contains(text, beginMark):
		return "it begins with " + shown(first) + `; begin with "` + beginMark + `", and leave out what is before it and after "` + endMark + `"`
	}
	return `it changes no file; begin with "` + beginMark + `", or with "--- a/NAME" and "+++ b/NAME"`
}

// SyntaxError is the error of a text that is no patch.
type SyntaxError struct {
	// Line is where, from 1. Zero means the text as a whole.
	Line int
	// Reason is what is wrong.
	Reason string
}

// Error implements the error interface.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return "the patch cannot be read: " + e.Reason
	}
	return fmt.Sprintf("line %d of the patch: %s", e.Line, e.Reason)
}

// Apply applies the patch text to the files of ws, in one transaction. It
// returns the changes in the order of the patch, with the versions of the new
// files.
//
// # Errors
//
// Those of [Parse], [Patch.Plan] and [Plan.Apply].
//
// No file has changed after an error of the first two.
func Apply(ctx context.Context, ws *workspace.Workspace, text string) ([]Change, error) {
	p, err := Parse(text)
	if err != nil {
		return nil, err
	}
	plan, err := p.Plan(ctx, ws)
	if err != nil {
		return nil, err
	}
	return plan.Apply(ctx)
}
