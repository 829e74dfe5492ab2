package edit

import "bytes"

// shownLines is how many occurrences a [NotUniqueError] lists.
const shownLines = 20

// locate finds what edit number i replaces, at most room texts.
func locate(data []byte, i int, e Edit, room int) ([]Span, error) {
	switch {
	case e.Old == "":
		return nil, &InvalidError{Edit: i, Reason: "oldText is empty"}
	case e.Old == e.New:
		return nil, &InvalidError{Edit: i, Reason: "oldText and newText are the same"}
	}
	e = adaptLineEnds(data, e)
	if e.Old == e.New {
		return nil, &InvalidError{Edit: i, Reason: "oldText and newText differ in line ends only, and the file has CRLF"}
	}
	if e.All {
		return locateAll(data, i, e, room)
	}
	return locateOne(data, i, e, room)
}

func locateAll(data []byte, i int, e Edit, room int) ([]Span, error) {
	old := []byte(e.Old)
	count := bytes.Count(data, old)
	switch {
	case count == 0:
		return nil, &NotFoundError{Edit: i, Nearest: nearest(data, e.Old)}
	case count > room:
		return nil, &TooManyError{Edit: i, Count: count}
	}
	spans := make([]Span, 0, count)
	for at := 0; len(spans) < count; {
		start := at + bytes.Index(data[at:], old)
		at = start + len(old)
		spans = append(spans, Span{Start: start, End: at, New: e.New, edit: i})
	}
	return spans, nil
}

func locateOne(data []byte, i int, e Edit, room int) ([]Span, error) {
	starts := occurrences(data, []byte(e.Old), 2)
	switch {
	case len(starts) == 0:
		return nil, &NotFoundError{Edit: i, Nearest: nearest(data, e.Old)}
	case len(starts) > 1:
		return nil, notUnique(data, i, []byte(e.Old), starts)
	case room < 1:
		return nil, &TooManyError{Edit: i, Count: 1}
	}
	return []Span{{Start: starts[0], End: starts[0] + len(e.Old), New: e.New, edit: i}}, nil
}

// occurrences returns where old begins, at most limit times. Occurrences may
// overlap: of "aba" in "ababa" there are two to choose from.
func occurrences(data, old []byte, limit int) []int {
	var starts []int
	for at := 0; len(starts) < limit; {
		next := bytes.Index(data[at:], old)
		if next < 0 {
			break
		}
		starts = append(starts, at+next)
		at += next + 1
	}
	return starts
}

// notUnique counts as replacing all of them would, without overlaps, unless
// there is only one then.
func notUnique(data []byte, i int, old []byte, starts []int) error {
	count := bytes.Count(data, old)
	if count > 1 {
		starts = starts[:0]
		for at := 0; len(starts) < min(count, shownLines); at = starts[len(starts)-1] + len(old) {
			starts = append(starts, at+bytes.Index(data[at:], old))
		}
	}
	lines := make([]int, len(starts))
	for k, start := range starts {
		lines[k] = lineAt(data, start)
	}
	return &NotUniqueError{Edit: i, Count: max(count, len(starts)), Lines: lines}
}
