package lines

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode"
)

// automaton is a deterministic automaton that reads a buffer byte by byte and
// stops in each line that may match. It assumes that every anchor and word
// boundary holds, and that each byte of a multi-byte character can be any such
// character. So it never misses a line, and the regular expression decides.
//
// It is built when the pattern is compiled and never changes, so that it needs
// no lock.
type automaton struct {
	table [][256]uint16 // the next state for each state and byte
}

// The first two states. A line break always leads to stateStart.
const (
	stateStart  = 0
	stateAccept = 1
)

// maxStates bounds an automaton: 512 bytes each.
const maxStates = 1024

// newAutomaton returns the automaton of a simplified tree. It returns nil if
// there is none of at most maxStates, if it takes long to build, or if it would stop in every line.
func newAutomaton(tree *syntax.Regexp) *automaton {
	program, err := syntax.Compile(tree)
	if err != nil {
		return nil
	}
	b := &builder{program: program, ids: map[string]uint16{}}
	if !b.build() {
		return nil
	}
	return &automaton{table: b.table}
}

// candidate returns the first place at or after from, which is the beginning of
// a line, where the automaton accepts; len(buf) if there is none.
func (a *automaton) candidate(buf []byte, from int) int {
	start := &a.table[stateStart]
	state := uint16(stateStart)
	for i := from; i < len(buf); i++ {
		if state == stateStart { // these steps do not wait for one another
			for i < len(buf) && start[buf[i]] == stateStart {
				i++
			}
			if i == len(buf) {
				return i
			}
		}
		state = a.table[state][buf[i]]
		if state == stateAccept {
			return i
		}
	}
	return len(buf)
}

// builder builds an automaton by the subset construction: a state is the set of
// the program's instructions that a backtracking matcher could be at.
type builder struct {
	program *syntax.Prog
	ids     map[string]uint16 // by the set of the state
	sets    [][]uint32
	table   [][256]uint16
	steps   int // how many instructions have been looked at
}

// maxSteps bounds the time to build an automaton: a tenth of a second.
const maxSteps = 1 << 20

// build follows every byte from every state that it finds, and gives up if
// there are too many states.
func (b *builder) build() bool {
	start, accepts := b.closure(nil, uint32(b.program.Start))
	if accepts {
		return false
	}
	b.add(start)
	b.add(nil) // stateAccept has no set, as nothing leads on from it
	for state := 0; state < len(b.sets); state++ {
		if state != stateAccept && !b.fill(state) {
			return false
		}
	}
	return true
}

// fill computes where each byte leads from state.
func (b *builder) fill(state int) bool {
	for c := range 256 {
		if c > unicode.MaxASCII+1 { // all bytes of multi-byte characters are alike
			b.table[state][c] = b.table[state][unicode.MaxASCII+1]
			continue
		}
		if c == '\n' {
			continue // stateStart
		}
		next, ok := b.step(b.sets[state], c)
		if !ok {
			return false
		}
		b.table[state][c] = next
	}
	return true
}

// step returns the state that the byte c leads to from set.
func (b *builder) step(set []uint32, c int) (uint16, bool) {
	next := slices.Clone(b.sets[stateStart]) // a match may begin anywhere
	for _, pc := range set {
		if b.steps++; b.steps > maxSteps {
			return 0, false
		}
		inst := &b.program.Inst[pc]
		if c > unicode.MaxASCII {
			if !matchesWide(inst) {
				continue
			}
			next = append(next, pc) // it may be the first byte of several
		} else if !inst.MatchRune(rune(c)) {
			continue
		}
		var accepts bool
		if next, accepts = b.closure(next, inst.Out); accepts {
			return stateAccept, true
		}
	}
	slices.Sort(next)
	return b.add(slices.Compact(next))
}

// add returns the state of set, a new one if there is none.
func (b *builder) add(set []uint32) (uint16, bool) {
	key := keyOf(set)
	if id, ok := b.ids[key]; ok {
		return id, true
	}
	if len(b.sets) == maxStates {
		return 0, false
	}
	id := uint16(len(b.sets))
	if set != nil {
		b.ids[key] = id
	}
	b.sets = append(b.sets, set)
	b.table = append(b.table, [256]uint16{})
	return id, true
}

// keyOf returns the set of instructions as a key of a map. The set is sorted,
// so equal sets have equal keys.
func keyOf(set []uint32) string {
	var key bytes.Buffer
	for _, pc := range set {
		key.Write([]byte{byte(pc), byte(pc >> 8), byte(pc >> 16)})
	}
	return key.String()
}

// closure adds to set the instructions that read a character and can be
// reached from pc without reading one, and reports whether the end can be.
func (b *builder) closure(set []uint32, pc uint32) (_ []uint32, accepts bool) {
	seen := map[uint32]bool{}
	stack := []uint32{pc}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		b.steps++
		switch inst := &b.program.Inst[pc]; inst.Op {
		case syntax.InstMatch:
			return nil, true
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			stack = append(stack, inst.Out)
		case syntax.InstFail:
		default:
			set = append(set, pc)
		}
	}
	return set, false
}

// matchesWide reports whether inst can match a character of several bytes.
func matchesWide(inst *syntax.Inst) bool {
	switch inst.Op {
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	if len(inst.Rune) == 1 {
		return foldsWide(inst.Rune[0], syntax.Flags(inst.Arg)&syntax.FoldCase != 0)
	}
	return len(inst.Rune) > 0 && inst.Rune[len(inst.Rune)-1] > unicode.MaxASCII
}

// foldsWide reports whether r, or with fold a rune that equals it except for
// case, has several bytes.
func foldsWide(r rune, fold bool) bool {
	if r > unicode.MaxASCII {
		return true
	}
	if !fold {
		return false
	}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if other > unicode.MaxASCII {
			return true
		}
	}
	return false
}
