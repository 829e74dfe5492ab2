package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
)

// TestDocsStateTheLimits checks the table of limits in docs/tools.md.
func TestDocsStateTheLimits(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		fmt.Sprintf("| file of one read_file, edit_file | %s, or a lower limit of the workspace |", byteSize(wholeBytes)),
		fmt.Sprintf("| text of one read_file | %s lines, %d KiB, %s characters of a line; %s of one line with `column` |", commas(readLines), readBytes>>10, commas(lineChars), commas(columnChars)),
		fmt.Sprintf("| base64; image, PDF; side of an image | %d KiB; %d MiB; %s pixels |", base64Bytes>>10, partBytes>>20, commas(pictureSide)),
		fmt.Sprintf("| entries below a directory for copy | %s |", commas(copyMax)),
		fmt.Sprintf("| files of one read_files | %d, with %s together |", filesMax, byteSize(wholeBytes)),
		fmt.Sprintf("| entries of tree | %d by default, at most %s, %d KiB; %d levels, at most %d |", treeDefault, commas(treeMax), listBytes>>10, treeDepth, treeDepthMax),
		fmt.Sprintf("| entries of ls, paths of glob | %d by default, at most %s, %d KiB |", lsDefault, commas(lsMax), listBytes>>10),
		fmt.Sprintf("| pattern of grep | %d KiB |", lines.MaxPattern>>10),
		fmt.Sprintf("| matches of grep | %d by default, at most %s, %d KiB or one match; %d characters of a line, %d lines on each side, %d lines or parts of one match |",
			grepDefault, commas(grepMax), listBytes>>10, grepChars, grepContext, grepParts),
		fmt.Sprintf("| file for grep with `multiline` | %d MiB |", multilineBytes>>20),
		fmt.Sprintf("| edits of one edit_file, replacements in one file | %d, %s |", editsMax, commas(edit.MaxReplacements)),
		fmt.Sprintf("| files that a glob of edit_file matches | %s; %d MiB of changed files, before and after together |", commas(editFilesMax), editFilesBytes>>20),
		fmt.Sprintf("| file and pattern of edit_file with `regexp` | %d MiB, 4 KiB, less if both are large |", edit.MaxRegexpSource>>20),
		fmt.Sprintf("| diff | %d KiB, %d characters of a line |", unified.MaxBytes>>10, unified.LineChars),
		fmt.Sprintf("| time of one call, then `TIMEOUT`, but bash and run stop before | %.0f minutes, or `Options.Timeout` |", DefaultTimeout.Minutes()),
		fmt.Sprintf("| tool name | %d characters |", MaxNameLength),
	} {
		if !strings.Contains(string(doc), row+"\n") {
			t.Errorf("docs/tools.md has no row %q", row)
		}
	}
	if globDefault != lsDefault || globMax != lsMax {
		t.Error("the limits of ls and glob share a row")
	}
}

// commas writes a number below a million with its thousands apart.
func commas(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
