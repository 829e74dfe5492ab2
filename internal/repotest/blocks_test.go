package repotest_test

import (
	"regexp"
	"strings"
)

// block is what a document has between two lines of three backquotes.
type block struct {
	lang string // such as go or sh
	text string
	line int    // where it begins
	part string // the heading that it is below
	file string // the name under which the sentence before the block says to save it, or ""
}

var (
	fence  = regexp.MustCompile("^( *)```([a-z]*)$")
	saveAs = regexp.MustCompile("(?i)save .*`([^`]+)`.*:$")
)

// blocks returns those of a document.
func blocks(document string) (all []block) {
	var current *block
	indent, before, part := "", "", ""
	for i, line := range strings.Split(document, "\n") {
		match := fence.FindStringSubmatch(line)
		switch {
		case match != nil && current == nil:
			current, indent = &block{lang: match[2], line: i + 1, part: part}, match[1]
			if name := saveAs.FindStringSubmatch(before); name != nil {
				current.file = name[1]
			}
		case match != nil:
			all = append(all, *current)
			current, before = nil, ""
		case current != nil:
			current.text += strings.TrimPrefix(line, indent) + "\n"
		case strings.HasPrefix(line, "#"):
			part = line
		case strings.TrimSpace(line) != "":
			before = strings.TrimSpace(line)
		}
	}
	return all
}

// step is what a reader does: save a file, or type a command.
type step struct {
	file, text string
	line       string // the command, and what the document shows of its output, if it does
	shown      string
}

// steps returns those of the blocks that name a file, and of the blocks sh and console. A
// block of the language text, directly after a block sh, is what its last command prints.
func steps(all []block) (list []step) {
	for i, b := range all {
		switch {
		case b.file != "":
			list = append(list, step{file: b.file, text: b.text})
		case b.lang == "sh":
			for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", "")) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					list = append(list, step{line: line})
				}
			}
		case b.lang == "console":
			for line := range strings.Lines(b.text) {
				if line, ok := strings.CutPrefix(line, "$ "); ok {
					list = append(list, step{line: strings.TrimSpace(line)})
				} else if len(list) > 0 {
					list[len(list)-1].shown += line
				}
			}
		case b.lang == "text" && i > 0 && all[i-1].lang == "sh" && len(list) > 0:
			list[len(list)-1].shown = b.text
		}
	}
	return list
}

// varying is what differs from one run of a command to the next: identifiers, and numbers.
var varying = regexp.MustCompile(`\b[0-9A-Z]{26}\b|[0-9]+`)

// missing returns the first line of shown that the output has not, or not in this order.
// Numbers and the width of spaces may differ. A line or a part of it after "…" is left out.
func missing(output, shown string) string {
	lines := strings.Split(output, "\n")
	for want := range strings.Lines(shown) {
		begin, _, cut := strings.Cut(want, "…")
		begin = steady(begin)
		found := strings.TrimSpace(begin) == ""
		for !found && len(lines) > 0 {
			line := steady(lines[0])
			lines = lines[1:]
			found = line == begin || cut && strings.HasPrefix(line, begin)
		}
		if !found {
			return strings.TrimSuffix(want, "\n")
		}
	}
	return ""
}

// steady returns a line without what varies.
func steady(line string) string {
	return strings.Join(strings.Fields(varying.ReplaceAllString(line, "0")), " ")
}
