package glob

const (
	// maxAlternatives bounds what braces multiply to.
	maxAlternatives = 1000
	// maxExpanded bounds the bytes of all alternatives together.
	maxExpanded = 1 << 18
)

type expander struct {
	pattern string
	pos     int
	depth   int // of braces around pos
}

// sequence expands up to the end of the alternative that pos is in.
func (e *expander) sequence() ([]string, error) {
	heads := []string{""}
	var text []byte // follows each of heads
	for !e.atEnd() {
		if e.pattern[e.pos] != '{' {
			text = e.copyTerm(text)
			continue
		}
		options, err := e.options()
		if err != nil {
			return nil, err
		}
		if len(options) == 1 {
			text = append(text, options[0]...)
			continue
		}
		if heads, err = product(heads, string(text), options); err != nil {
			return nil, err
		}
		text = text[:0]
	}
	return product(heads, string(text), []string{""})
}

// atEnd reports whether the pattern has been read.
func (e *expander) atEnd() bool {
	if e.pos == len(e.pattern) {
		return true
	}
	c := e.pattern[e.pos]
	return e.depth > 0 && (c == ',' || c == '}')
}

// options expands a pair of braces.
func (e *expander) options() ([]string, error) {
	var all []string
	e.depth++
	for e.pattern[e.pos] != '}' {
		e.pos++ // the opening brace, or a comma
		texts, err := e.sequence()
		if err != nil {
			return nil, err
		}
		if all = append(all, texts...); len(all) > maxAlternatives {
			return nil, errTooMany()
		}
	}
	e.pos++
	e.depth--
	return all, nil
}

// copyTerm appends one character, escape or class, and an escaped slash as a
// slash.
func (e *expander) copyTerm(text []byte) []byte {
	start := e.pos
	e.pos += termLen(e.pattern[start:])
	term := e.pattern[start:e.pos]
	if term == `\/` {
		term = "/"
	}
	return append(text, term...)
}

// termLen returns the length of the byte, escape or class that pattern begins
// with.
func termLen(pattern string) int {
	switch pattern[0] {
	case '\\':
		return 2
	case '[':
		end := 1
		for pattern[end] != ']' {
			if pattern[end] == '\\' {
				end++
			}
			end++
		}
		return end + 1
	}
	return 1
}

// product returns every head with text and every option after it.
func product(heads []string, text string, options []string) ([]string, error) {
	if len(heads)*len(options) > maxAlternatives {
		return nil, errTooMany()
	}
	size := (total(heads)+len(heads)*len(text))*len(options) + total(options)*len(heads)
	if size > maxExpanded {
		return nil, invalid("its braces expand to more than %d bytes", maxExpanded)
	}
	all := make([]string, 0, len(heads)*len(options))
	for _, head := range heads {
		for _, option := range options {
			all = append(all, head+text+option)
		}
	}
	return all, nil
}

// total returns the length of all texts together.
func total(texts []string) int {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	return size
}

// errTooMany is the error of a pattern with too many alternatives.
func errTooMany() error {
	return invalid("its braces expand to more than %d alternatives", maxAlternatives)
}
