package command

import (
	"bytes"
	"context"
	"math"
)

// diffSide is one of the two texts that are compared. Lines are compared by numbers:
// each different key has one.
type diffSide struct {
	lines   []string // with their line ends
	keys    []int    // equal for lines that are equal
	changed []bool   // with one more at each end, which is false
}

// isChanged reports whether line i is changed; i may be -1 or one too large.
func (s *diffSide) isChanged(i int) bool { return s.changed[i+1] }

// set marks line i. The slice has one more at each end, so that loops need not look for
// them.
func (s *diffSide) set(i int, changed bool) { s.changed[i+1] = changed }

// diffChange says that the lines from a to aEnd are replaced by those from b to bEnd.
//
// Lines count from 0, and the ends are not included: a == aEnd says that lines are only
// added, before line a.
type diffChange struct{ a, aEnd, b, bEnd int }

// compareLines returns what changes from one text to another, as GNU's diff finds it:
// by Myers' algorithm in linear space (E. W. Myers, "An O(ND) Difference Algorithm and
// Its Variations", 1986), without the lines that only one side has. Those are changed
// in any case, and leaving them out makes the rest short. Of all shortest differences
// it finds the one that GNU's does, as patches and tests compare texts of diffs.
//
// The texts are the sides of a grid. A step right deletes a line of x, a step down adds
// one of y, and a diagonal step keeps a line that both have. A shortest difference is a
// way from one corner to the other with the fewest steps that are not diagonal:
//
//	x = a b c a, y = b c d a
//
//	      a b c a        right (delete a), diagonal b, diagonal c,
//	    · → · · ·        down (add d), diagonal a: 2 steps
//	  b · · ↘ · ·
//	  c · · · ↘ ·        1d0
//	  d · · · ↓ ·        < a
//	  a · · · · ↘        3a3
//	                     > d
//
// compare finds a place in the middle of such a way, and then compares the parts before
// and after it, so that only two arrays of the length of both texts are needed.
// shiftBoundaries then moves changes to where people expect them.
//
// key returns what lines are compared by: lines with one key are equal, which serves -i, -w
// and -b. Changes are in the order of the texts and do not touch each other. The error is
// that of ctx.
func compareLines(ctx context.Context, old, now []string, key func(line string) string) ([]diffChange, error) {
	numbers := map[string]int{}
	side := func(lines []string) *diffSide {
		s := &diffSide{lines: lines, keys: make([]int, len(lines)), changed: make([]bool, len(lines)+2)}
		for i, line := range lines {
			k := key(line)
			number, ok := numbers[k]
			if !ok {
				number = len(numbers)
				numbers[k] = number
			}
			s.keys[i] = number
		}
		return s
	}
	a, b := side(old), side(now)
	c := &lineComparison{ctx: ctx}
	c.x, c.xAt = a.common(b, len(numbers))
	c.y, c.yAt = b.common(a, len(numbers))
	c.a, c.b = a, b
	size := len(c.x) + len(c.y) + 3
	c.forward, c.backward, c.zero = make([]int, size), make([]int, size), len(c.y)+1
	c.compare(0, len(c.x), 0, len(c.y))
	// The lines that are not marked are only as many on both sides if compare was not cut short.
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	shiftBoundaries(a, b)
	shiftBoundaries(b, a)
	var changes []diffChange
	for i, j := 0, 0; i < len(old) || j < len(now); {
		// Lines that are not changed are in both texts, one for one, so that i and j go on
		// together.
		start := diffChange{a: i, b: j}
		for a.isChanged(i) {
			i++
		}
		for b.isChanged(j) {
			j++
		}
		if start.a < i || start.b < j {
			start.aEnd, start.bEnd = i, j
			changes = append(changes, start)
		}
		i++
		j++
	}
	return changes, nil
}

// common returns the lines that the other side has, too, and their places. All others
// are changed.
//
// numbers is how many different keys there are.
func (s *diffSide) common(other *diffSide, numbers int) (keys, places []int) {
	there := make([]bool, numbers)
	for _, key := range other.keys {
		there[key] = true
	}
	for i, key := range s.keys {
		if s.set(i, !there[key]); there[key] {
			keys, places = append(keys, key), append(places, i)
		}
	}
	return keys, places
}

// lineComparison compares the lines x with the lines y. What is not common is marked as
// changed. The diagonal d has the places with x - y = d. forward[d+zero] is how far
// right the ways from the beginning have come on it, and backward[d+zero] those from
// the end.
type lineComparison struct {
	ctx               context.Context
	a, b              *diffSide
	x, y              []int // the lines that are compared, as numbers: equal lines have the same
	xAt, yAt          []int // the places of those lines
	forward, backward []int // how far each diagonal has come, from zero
	zero              int
}

// expensive is after how many steps the comparison takes the best place so far, which
// bounds the time: two long texts without much in common would otherwise take the
// square of their lengths. The bound of GNU's diff grows with the texts, and is at
// least this.
const expensive = 4096

// compare compares a part of both: equal lines at both ends are kept, and if lines are
// left on both sides, a place in the middle divides them.
//
// x to xEnd is a part of c.x, and y to yEnd of c.y; xAt and yAt lead from there to the
// lines of the texts.
func (c *lineComparison) compare(x, xEnd, y, yEnd int) {
	for x < xEnd && y < yEnd && c.x[x] == c.y[y] {
		x++
		y++
	}
	for x < xEnd && y < yEnd && c.x[xEnd-1] == c.y[yEnd-1] {
		xEnd--
		yEnd--
	}
	switch {
	case x == xEnd:
		for ; y < yEnd; y++ {
			c.b.set(c.yAt[y], true)
		}
	case y == yEnd:
		for ; x < xEnd; x++ {
			c.a.set(c.xAt[x], true)
		}
	default:
		// What is left then stays unmarked, although it need not be common.
		if c.ctx.Err() != nil {
			return
		}
		middleX, middleY := c.middle(x, xEnd, y, yEnd)
		c.compare(x, middleX, y, middleY)
		c.compare(middleX, xEnd, middleY, yEnd)
	}
}

// middle returns a place through which a shortest way goes. Ways from both ends grow in
// turn, by one step each, on all diagonals that they can reach; where two meet, they
// are halves of a shortest way. They can only meet in the forward turn if the number of
// steps is odd, and in the backward turn if it is even.
//
// After each step, forward has the farthest place of all ways with so many steps, for every
// other diagonal from fMin to fMax: a step to the right or down leads to a diagonal next to
// it. The diagonals end at the borders of the grid; -1 and MaxInt beyond them say that no
// way comes from there.
//
//	x = a b, y = b a
//	forward     delete a, keep b: x = 2 on diagonal 1
//	            add b, keep a: x = 1 on diagonal -1
//	backward    add a, keep b: x = 1 on diagonal 1, and 1 <= 2: they meet
//	result      (1, 0): a is deleted before it, and added after it
func (c *lineComparison) middle(x, xEnd, y, yEnd int) (middleX, middleY int) {
	f, b := func(d int) *int { return &c.forward[d+c.zero] }, func(d int) *int { return &c.backward[d+c.zero] }
	lowest, highest := x-yEnd, xEnd-y
	fMin, fMax, bMin, bMax := x-y, x-y, xEnd-yEnd, xEnd-yEnd
	odd := (fMin-bMin)&1 != 0
	*f(fMin), *b(bMin) = x, xEnd
	for cost := 1; ; cost++ {
		// There is a diagonal more on each side, or at the border one less.
		if fMin > lowest {
			fMin--
			*f(fMin - 1) = -1
		} else {
			fMin++
		}
		if fMax < highest {
			fMax++
			*f(fMax + 1) = -1
		} else {
			fMax--
		}
		for d := fMax; d >= fMin; d -= 2 {
			// The way comes from the diagonal below by a step to the right, or from the one
			// above by a step down, whichever leads farther. Then it follows equal lines.
			i := *f(d - 1) + 1
			if *f(d - 1) < *f(d + 1) {
				i = *f(d + 1)
			}
			for i < xEnd && i-d < yEnd && c.x[i] == c.y[i-d] {
				i++
			}
			*f(d) = i
			if odd && bMin <= d && d <= bMax && *b(d) <= i {
				return i, i - d
			}
		}
		if bMin > lowest {
			bMin--
			*b(bMin - 1) = math.MaxInt
		} else {
			bMin++
		}
		if bMax < highest {
			bMax++
			*b(bMax + 1) = math.MaxInt
		} else {
			bMax--
		}
		for d := bMax; d >= bMin; d -= 2 {
			i := *b(d + 1) - 1
			if *b(d - 1) < *b(d + 1) {
				i = *b(d - 1)
			}
			for x < i && y < i-d && c.x[i-1] == c.y[i-d-1] {
				i--
			}
			*b(d) = i
			if !odd && fMin <= d && d <= fMax && i <= *f(d) {
				return i, i - d
			}
		}
		if cost >= expensive || cost&63 == 0 && c.ctx.Err() != nil {
			return c.best(x, xEnd, y, yEnd, fMin, fMax, bMin, bMax)
		}
	}
}

// best returns the place that is farthest from its end: the best guess when middle
// gives up.
//
// How far a place is counts the lines of both texts before it, or after it. The difference
// is then longer than the shortest one, and correct.
func (c *lineComparison) best(x, xEnd, y, yEnd, fMin, fMax, bMin, bMax int) (bestX, bestY int) {
	front, frontX := -1, 0
	for d := fMax; d >= fMin; d -= 2 {
		i := min(c.forward[d+c.zero], xEnd)
		j := i - d
		if j > yEnd {
			i, j = yEnd+d, yEnd
		}
		if front < i+j {
			front, frontX = i+j, i
		}
	}
	back, backX := math.MaxInt, 0
	for d := bMax; d >= bMin; d -= 2 {
		i := max(c.backward[d+c.zero], x)
		j := i - d
		if j < y {
			i, j = y+d, y
		}
		if i+j < back {
			back, backX = i+j, i
		}
	}
	if xEnd+yEnd-back < front-(x+y) {
		return frontX, front - frontX
	}
	return backX, back - backX
}

// shiftBoundaries moves runs of changed lines up or down where that changes nothing, so
// that they meet, and stand as far down as possible. A run can move down if the line
// after it equals its first line:
//
//	before            after
//	+ }                 }
//	+                 +
//	+ func b() {      + func b() {
//	  }               + }
//
// It is GNU's rule for runs in one file; where a run of the other file is next to it,
// both are kept together, as one change.
func shiftBoundaries(s, other *diffSide) {
	n := len(s.keys)
	for i, j := 0, 0; ; {
		for i < n && !s.isChanged(i) {
			for other.isChanged(j) {
				j++
			}
			j++
			i++
		}
		if i == n {
			return
		}
		start := i
		for i++; s.isChanged(i); i++ {
		}
		for other.isChanged(j) {
			j++
		}
		corresponding := n
		for length := -1; length != i-start; {
			length = i - start
			for start > 0 && s.keys[start-1] == s.keys[i-1] {
				start--
				s.set(start, true)
				i--
				s.set(i, false)
				for s.isChanged(start - 1) {
					start--
				}
				for j--; other.isChanged(j); j-- {
				}
			}
			corresponding = n
			if other.isChanged(j - 1) {
				corresponding = i
			}
			for i != n && s.keys[start] == s.keys[i] {
				s.set(start, false)
				start++
				s.set(i, true)
				for i++; s.isChanged(i); i++ {
				}
				for j++; other.isChanged(j); j++ {
					corresponding = i
				}
			}
		}
		for corresponding < i {
			start--
			s.set(start, true)
			i--
			s.set(i, false)
			for j--; other.isChanged(j); j-- {
			}
		}
	}
}

// splitLines returns the lines of a text, with their line ends.
//
// The last line has no end if the text has none, which makes it differ from the same line
// with one.
func splitLines(data []byte) []string {
	var lines []string
	for line := range bytes.Lines(data) {
		lines = append(lines, string(line))
	}
	return lines
}
