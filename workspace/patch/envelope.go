package patch

import (
	"strings"
)

// The lines of the apply_patch format, beside beginMark.
const (
	endMark    = "*** End Patch"
	addMark    = "*** Add File: "
	deleteMark = "*** Delete File: "
	updateMark = "*** Update File: "
	moveMark   = "*** Move to: "
	eofMark    = "*** End of File"
)

// envelope reads the apply_patch format, a line at a time. Its methods take the
// lines that they understand and leave next at the first that they do not.
type envelope struct {
	lines []string // without line ends
	next  int      // of the line to read
}

// parseEnvelope reads a patch in the apply_patch format. Blank lines around the
// patch are ignored, and so is a "\r" at the end of a line.
func parseEnvelope(text string) ([]section, error) {
	text = strings.TrimRight(text, " \t\r\n")
	e := &envelope{lines: strings.Split(text, "\n")}
	for i, line := range e.lines {
		e.lines[i] = strings.TrimSuffix(line, "\r")
	}
	for strings.TrimSpace(e.lines[e.next]) == "" {
		e.next++
	}
	if strings.TrimSpace(e.take()) != beginMark {
		return nil, e.fault(`the first line is not "` + beginMark + `"`)
	}
	var files []section
	for e.next < len(e.lines) {
		line := e.take()
		var s section
		var err error
		switch {
		case strings.TrimSpace(line) == endMark:
			if e.next < len(e.lines) {
				e.next++
				return nil, e.fault(`there is text after "` + endMark + `"`)
			}
			return files, nil
		case strings.HasPrefix(line, addMark):
			s, err = e.add(nameAfter(line, addMark))
		case strings.HasPrefix(line, deleteMark):
			s = section{kind: Deleted, old: nameAfter(line, deleteMark)}
		case strings.HasPrefix(line, updateMark):
			s, err = e.update(nameAfter(line, updateMark))
		case strings.TrimSpace(line) == "":
			continue
		default:
			err = e.fault(`it is none of "` + addMark + `NAME", "` + deleteMark + `NAME", "` + updateMark + `NAME" and "` + endMark + `"`)
		}
		if err != nil {
			return nil, err
		}
		if s.name() == "" {
			return nil, e.fault("the name of the file is missing")
		}
		files = append(files, s)
	}
	return nil, e.fault(`the patch does not end with "` + endMark + `"`)
}

// nameAfter returns the name on a line that begins with mark.
func nameAfter(line, mark string) string { return strings.TrimSpace(strings.TrimPrefix(line, mark)) }

// take returns the next line.
func (e *envelope) take() string {
	e.next++
	return e.lines[e.next-1]
}

// fault is the error of the line that was taken last.
func (e *envelope) fault(reason string) error { return &SyntaxError{Line: e.next, Reason: reason} }

// atMark reports whether the next line begins something else than a line of a hunk, as
// the end of the patch does.
func (e *envelope) atMark() bool {
	return e.next == len(e.lines) || strings.HasPrefix(e.lines[e.next], "*** ")
}

// add reads the lines of a new file. A file without lines is a new empty file.
func (e *envelope) add(name string) (section, error) {
	s := section{kind: Added, new: name}
	h := hunk{label: addMark + name}
	for !e.atMark() {
		line := e.take()
		if !strings.HasPrefix(line, "+") {
			return s, e.fault(`each line of a new file begins with "+"`)
		}
		h.lines = append(h.lines, patchLine{'+', line[1:]})
	}
	s.hunks = []hunk{h}
	return s, nil
}

// update reads the hunks of a file. A file that is moved needs no hunk.
func (e *envelope) update(name string) (section, error) {
	s := section{kind: Modified, old: name, new: name}
	if e.next < len(e.lines) && strings.HasPrefix(e.lines[e.next], moveMark) {
		if s.new = nameAfter(e.take(), moveMark); s.new == "" {
			return s, e.fault("the new name of the file is missing")
		}
		s.kind = Renamed
	}
	for !e.atMark() {
		h, err := e.hunk(len(s.hunks) == 0)
		if err != nil {
			return s, err
		}
		s.hunks = append(s.hunks, h)
	}
	if len(s.hunks) == 0 && s.kind == Modified {
		return s, e.fault("no line of " + name + ` changes: write a hunk, which begins with "@@"`)
	}
	return s, nil
}

// hunk reads one hunk. The first of a file may lack its "@@". Several "@@"
// lines before it are anchors that are looked for one after the other:
//
//	@@ class Tree:
//	@@     def walk(self):
//	-        pass
//	+        yield self
func (e *envelope) hunk(first bool) (h hunk, err error) {
	h.label = "@@"
	for e.next < len(e.lines) && isAnchor(e.lines[e.next]) {
		h.label = e.take()
		first = true
		if anchor := strings.TrimPrefix(h.label[len("@@"):], " "); anchor != "" {
			h.anchors = append(h.anchors, anchor)
		}
	}
	if !first {
		e.next++
		return h, e.fault(`a hunk begins with "@@"`)
	}
	changed := false
	for !e.atMark() && !isAnchor(e.lines[e.next]) {
		line := e.take()
		if line == "" {
			line = " " // an empty line of context, whose blank was cut off
		}
		if !strings.ContainsRune(" +-", rune(line[0])) {
			return h, e.fault(`each line of a hunk begins with " ", "-" or "+"`)
		}
		changed = changed || line[0] != ' '
		h.lines = append(h.lines, patchLine{line[0], line[1:]})
	}
	if e.next < len(e.lines) && strings.TrimSpace(e.lines[e.next]) == eofMark {
		e.next++
		h.atEnd = true
	}
	if !changed {
		return h, e.fault("the hunk changes no line")
	}
	return h, nil
}

// isAnchor reports whether a line says where a hunk is.
func isAnchor(line string) bool { return line == "@@" || strings.HasPrefix(line, "@@ ") }
