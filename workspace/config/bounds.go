package config

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// The bounds of a file.
const (
	maxBytes   = 2 << 20 // of the file
	maxDepth   = 32      // of mappings and lists in one another
	maxEntries = 15_000  // of one mapping or list
	maxAliased = 10_000  // nodes that aliases repeat, all together
)

// checkBytes adds what is wrong with a file before it is read as YAML.
func (p *problems) checkBytes(data []byte) {
	switch {
	case len(data) > maxBytes:
		p.add(position{}, "the file has %d bytes, and the limit is %d: split it", len(data), maxBytes)
	case !utf8.Valid(data):
		p.add(position{}, "the file is not UTF-8 text: save it as such")
	case bytes.IndexByte(data, 0) >= 0:
		p.add(position{}, "the file has a NUL byte, and so is no text")
	}
}

// shape follows the tokens of a file. The parser is recursive, and takes time in
// the square of the entries of a mapping, and has no bounds of its own.
type shape struct {
	flows  []int   // entries of the brackets and braces that are open, from the outermost ones
	blocks []block // lists and mappings that are open, from the outermost one
	work   int     // what the entries of all of them cost
}

// block is a list or mapping that is not in brackets or braces.
type block struct {
	column  int
	entries int
}

// enter takes note of a token and returns what is wrong with it, "" for nothing.
func (s *shape) enter(t *token.Token) string {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		s.flows = append(s.flows, 0)
	case token.SequenceEndType, token.MappingEndType:
		s.flows = s.flows[:max(len(s.flows)-1, 0)]
	case token.CollectEntryType:
		s.flowEntry()
	case token.SequenceEntryType, token.MappingKeyType:
		s.entry(t.Position.Column)
	case token.MappingValueType:
		if t.Prev != nil && len(s.flows) == 0 {
			s.entry(t.Prev.Position.Column)
		}
	}
	switch {
	case len(s.flows)+len(s.blocks) > maxDepth:
		return fmt.Sprintf("mappings and lists are more than %d deep in one another", maxDepth)
	case s.work > maxEntries*maxEntries/2:
		return fmt.Sprintf("a mapping or list has more than %d entries, or there are several with nearly as many: split the file", maxEntries)
	}
	return ""
}

// entry takes note of an entry of the list or mapping at a column.
func (s *shape) entry(column int) {
	for len(s.blocks) > 0 && s.blocks[len(s.blocks)-1].column > column {
		s.blocks = s.blocks[:len(s.blocks)-1]
	}
	if len(s.blocks) == 0 || s.blocks[len(s.blocks)-1].column < column {
		s.blocks = append(s.blocks, block{column: column})
	}
	last := &s.blocks[len(s.blocks)-1]
	s.work += last.entries
	last.entries++
}

// flowEntry takes note of an entry of the innermost brackets or braces.
func (s *shape) flowEntry() {
	if last := len(s.flows) - 1; last >= 0 {
		s.work += s.flows[last]
		s.flows[last]++
	}
}

// checkShape adds the first token that is out of bounds, and reports whether
// there is none.
func (p *problems) checkShape(tokens token.Tokens) bool {
	var s shape
	for _, t := range tokens {
		if wrong := s.enter(t); wrong != "" {
			p.add(tokenPlace(t), "%s", wrong)
			return false
		}
	}
	return true
}
