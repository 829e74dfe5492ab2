package lines

import "bytes"

// Scanner walks over the lines of one buffer that match. It is for one
// goroutine.
type Scanner struct {
	m      *Matcher
	buf    []byte
	at     int           // where the next line to look at begins
	places [maxNeeds]int // where each literal is next; before at if not yet known
}

// Scan returns a scanner at the beginning of buf.
func (m *Matcher) Scan(buf []byte) Scanner {
	s := Scanner{m: m, buf: buf}
	for i := range m.needs {
		s.places[i] = -1
	}
	return s
}

// Next returns the bounds of the next line that matches, without its line
// break.
func (s *Scanner) Next() (start, end int, ok bool) {
	for s.at < len(s.buf) {
		candidate := s.candidate()
		if candidate >= len(s.buf) {
			s.at = len(s.buf)
			break
		}
		start = s.at + bytes.LastIndexByte(s.buf[s.at:candidate], '\n') + 1
		end = lineEnd(s.buf, candidate)
		s.at = end + 1
		if s.m.exact || s.m.re.Match(s.buf[start:end]) {
			return start, end, true
		}
	}
	return 0, 0, false
}

// candidate returns a place in the next line that may match, len(buf) if there
// is none.
func (s *Scanner) candidate() int {
	switch {
	case s.m.dfa != nil && s.m.guarded:
		return s.guardedCandidate()
	case s.m.dfa != nil:
		return s.m.dfa.candidate(s.buf, s.at)
	case len(s.m.needs) > 0:
		return s.literal()
	}
	return s.at
}

// guardedCandidate runs the automaton only on lines that have a literal.
func (s *Scanner) guardedCandidate() int {
	for s.at < len(s.buf) {
		literal := s.literal()
		if literal == len(s.buf) {
			break
		}
		start := s.at + bytes.LastIndexByte(s.buf[s.at:literal], '\n') + 1
		end := lineEnd(s.buf, literal)
		if candidate := s.m.dfa.candidate(s.buf[:end], start); candidate < end {
			return candidate
		}
		s.at = end + 1
	}
	return len(s.buf)
}

// literal returns where the first of the literals is next, len(buf) if nowhere.
func (s *Scanner) literal() int {
	first := len(s.buf)
	for i := range s.m.needs {
		first = min(first, s.place(i))
	}
	return first
}

// place returns where the literal i is next, len(buf) if nowhere.
func (s *Scanner) place(i int) int {
	if s.places[i] < s.at {
		s.places[i] = s.m.needs[i].index(s.buf, s.at)
		if s.places[i] < 0 {
			s.places[i] = len(s.buf)
		}
	}
	return s.places[i]
}

// lineEnd returns the place of the line break at or after at, or len(buf).
func lineEnd(buf []byte, at int) int {
	if next := bytes.IndexByte(buf[at:], '\n'); next >= 0 {
		return at + next
	}
	return len(buf)
}
