package edit

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ctxregexp"
	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/workspace"
)

// Bounds of a regular expression, and of a file that it is applied to. A search for one match
// takes at most 20 ns for each byte of the file and each instruction that the pattern is
// compiled to. With (a.*b|a), each of many matches can take as long. The regular expressions of
// one [New] share maxEffort and maxTime.
const (
	maxPattern      = 4 << 10
	maxGroups       = 100
	MaxRegexpSource = 8 << 20
	maxEffort       = 1 << 29
	maxTime         = 10 * time.Second
)

// locateRegexp finds what a regular expression matches, and expands the template for
// each match.
func locateRegexp(data []byte, e Edit, room int) (located, error) {
	re, err := e.compile()
	if err != nil {
		return located{}, err
	}
	template, err := e.template(re.Plain())
	switch {
	case err != nil:
		return located{}, err
	case len(data)*re.Size() > maxEffort/max(e.sharing, 1):
		return located{}, tooCostly()
	}
	how := withoutCR
	if writesCR(e.Old) {
		how = 0
	}
	v := newView(data, how)
	ctx, cancel := context.WithTimeout(context.Background(), maxTime/time.Duration(max(e.sharing, 1)))
	defer cancel()
	found := lineMatches(v.text, re.All(ctx, v.text, MaxReplacements+2))
	if ctx.Err() != nil {
		return located{}, tooCostly()
	}
	starts := make([]int, len(found))
	for i, m := range found {
		starts[i] = m[0]
	}
	if err := e.accept(v.text, starts, room); err != nil {
		return located{}, err
	}
	spans := make([]Span, len(found))
	crlf, last, size := endsCRLF(data, 0), 0, 0 // last is where the match before begins
	for i, m := range found {
		for k, at := range m {
			if at >= 0 {
				m[k] = v.start(at)
			}
		}
		if bytes.IndexByte(data[last:m[0]], '\n') >= 0 {
			crlf = endsCRLF(data, m[0])
		}
		last = m[0]
		if size += template.size(m); size > maxNew {
			return located{}, workspace.ErrTooLarge
		}
		t := template.text
		switch {
		case how != withoutCR:
		case crlf:
			t = toCRLF(t)
		default:
			t = toLF(t)
		}
		// What the groups hold are bytes of the file, and stay as they are.
		spans[i] = Span{Start: m[0], End: m[1], New: string(re.Plain().Expand(nil, []byte(t), data, m))}
	}
	return located{spans: spans}, nil
}

// escape is a part of a regular expression that may be written for a "\r": quoted text, an
// escape, or the character itself.
var escape = lazyregexp.New(`(?s)\\Q.*?(?:\\E|\z)|\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[0-7]{1,3}|\\.|\r`)

// writesCR reports whether a regular expression has a "\r" itself, also as one of a class. The
// tree of the whole does not say that: there, \s is a class with a "\r", too.
func writesCR(pattern string) bool {
	return slices.ContainsFunc(escape().FindAllString(pattern, -1), func(part string) bool {
		tree, err := syntax.Parse(part, syntax.Perl)
		return err == nil && tree.Op == syntax.OpLiteral && slices.Contains(tree.Rune, '\r')
	})
}

// tooCostly returns the error of a search that takes too long.
func tooCostly() error {
	return &PatternError{Reason: "the regular expression is too costly for a file of this size: repeat less in it, or use fewer", Costly: true}
}

// lineMatches drops an empty match after the last line end, where no line begins,
// unless it is the only one.
func lineMatches(text []byte, found [][]int) [][]int {
	last := len(found) - 1
	if last > 0 && found[last][0] == len(text) && text[len(text)-1] == '\n' {
		return found[:last]
	}
	return found
}

// compile returns the regular expression of an edit, where ^ and $ are the ends of a
// line.
func (e Edit) compile() (*ctxregexp.Regexp, error) {
	if len(e.Old) > maxPattern {
		return nil, &PatternError{Reason: fmt.Sprintf("the regular expression is longer than %d bytes", maxPattern), Costly: true}
	}
	if _, err := syntax.Parse(e.Old, syntax.Perl); err != nil { // in the words of the caller
		return nil, &PatternError{Reason: "oldText is no regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
	}
	re, err := ctxregexp.Compile("(?m)"+e.Old, false)
	switch {
	case err != nil:
		return nil, &PatternError{Reason: "the regular expression cannot be compiled", Costly: true}
	case re.Plain().NumSubexp() > maxGroups:
		return nil, &PatternError{Reason: fmt.Sprintf("the regular expression has more than %d groups", maxGroups), Costly: true}
	}
	return re, nil
}

// reference is a dollar sign in a template, and the group that it refers to.
var reference = lazyregexp.New(`\$(?:\$|(\d+)|\{(\w+)\})?`)

// template is New as [regexp.Regexp.Expand] wants it: there, $1x is the group 1x, and a
// group that does not exist is empty.
type template struct {
	text  string
	plain int         // how many bytes of it are not references
	uses  map[int]int // how often it refers to each group
}

// size returns how many bytes the template has at most, expanded for a match.
func (t template) size(match []int) int {
	size := t.plain
	for group, n := range t.uses {
		size += n * (match[2*group+1] - match[2*group])
	}
	return size
}

// template reads the references to groups in the replacement of a regular expression. A
// reference to a group that the expression does not have would be replaced by nothing,
// so it is an error.
func (e Edit) template(re *regexp.Regexp) (template, error) {
	var err error
	t := template{plain: len(e.New), uses: map[int]int{}}
	t.text = reference().ReplaceAllStringFunc(e.New, func(ref string) string {
		name := strings.Trim(ref, "${}")
		if name == "" {
			return "$$"
		}
		group, notNumber := strconv.Atoi(name)
		if notNumber != nil {
			group = re.SubexpIndex(name)
		}
		if group < 0 || group > re.NumSubexp() {
			err = &InvalidError{Reason: fmt.Sprintf("newText refers to the group %s, which oldText does not have: "+
				"$$ is a dollar sign, and in ${1}0 a digit comes after a group", ref), Hint: "Refer to groups that oldText has."}
		}
		t.plain -= len(ref)
		t.uses[group]++
		return "${" + name + "}"
	})
	return t, err
}
