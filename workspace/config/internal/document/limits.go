package document

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// The limits of a file.
const (
	MaxBytes   = 2 << 20 // of the file
	maxDepth   = 32      // of mappings and lists in one another
	maxEntries = 15_000  // of one mapping or list
	maxAliased = 10_000  // nodes that aliases repeat, all together
)

// limits follows the tokens of a file. The parser is recursive, and takes time in
// the square of the entries of a mapping, and has no limits of its own.
//
// A block has no token for its beginning, so it is known by the column of its
// entries. The work is what the parser spends on an entry: looking at those
// before it.
//
//	a:        column 1, first entry       blocks: 1        work 0
//	  - x     column 3, first entry       blocks: 1, 3     work 0
//	  - y     column 3, second entry      blocks: 1, 3     work 1
//	b: {c,    column 1 ends the block 3   blocks: 1        work 2
//	    d}    one comma between braces    flows: 1 entry   work 2
type limits struct {
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
func (l *limits) enter(t *token.Token) string {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		l.flows = append(l.flows, 0)
	case token.SequenceEndType, token.MappingEndType:
		l.flows = l.flows[:max(len(l.flows)-1, 0)]
	case token.CollectEntryType:
		l.flowEntry()
	case token.SequenceEntryType, token.MappingKeyType:
		l.entry(t.Position.Column)
	case token.MappingValueType:
		if t.Prev != nil && len(l.flows) == 0 {
			l.entry(t.Prev.Position.Column)
		}
	}
	switch {
	case len(l.flows)+len(l.blocks) > maxDepth:
		return fmt.Sprintf("mappings and lists are more than %d deep in one another", maxDepth)
	case l.work > maxEntries*maxEntries/2:
		return fmt.Sprintf("a mapping or list has more than %d entries, or there are several with nearly as many: split the file", maxEntries)
	}
	return ""
}

// entry takes note of an entry of the list or mapping at a column.
func (l *limits) entry(column int) {
	for len(l.blocks) > 0 && l.blocks[len(l.blocks)-1].column > column {
		l.blocks = l.blocks[:len(l.blocks)-1]
	}
	if len(l.blocks) == 0 || l.blocks[len(l.blocks)-1].column < column {
		l.blocks = append(l.blocks, block{column: column})
	}
	last := &l.blocks[len(l.blocks)-1]
	l.work += last.entries
	last.entries++
}

// flowEntry takes note of an entry of the innermost brackets or braces.
func (l *limits) flowEntry() {
	if last := len(l.flows) - 1; last >= 0 {
		l.work += l.flows[last]
		l.flows[last]++
	}
}
