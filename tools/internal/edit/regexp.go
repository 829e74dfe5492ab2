package edit

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/workspace"
)

// Bounds of a regular expression, and of a file that it is applied to. A search takes at
// most 20 ns for each byte of the file and each instruction that the pattern is compiled
// to. The regular expressions of one [New] share maxEffort.
const (
	maxPattern      = 4 << 10
	maxGroups       = 100
	MaxRegexpSource = 8 << 20
	maxEffort       = 1 << 29
)

// locateRegexp finds what a regular expression matches, and expands the template for
// each match.
func locateRegexp(data []byte, e Edit, room int) (located, error) {
	re, instructions, err := e.compile()
	if err != nil {
		return located{}, err
	}
	template, err := e.template(re)
	switch {
	case err != nil:
		return located{}, err
	case len(data)*instructions > maxEffort/max(e.sharing, 1):
		return located{}, &PatternError{Reason: "the regular expression is too costly for a file of this size: repeat less in it, or use fewer", Costly: true}
	case len(data) > MaxRegexpSource:
		return located{}, &InvalidError{Reason: fmt.Sprintf("a regular expression is applied to files of at most %d MiB", MaxRegexpSource>>20), Hint: "Leave regexp out, and give the text as it is in the file."}
	}
	how := withoutCR
	if strings.Contains(e.Old, `\r`) || strings.Contains(e.Old, "\r") {
		how = 0
	}
	v := newView(data, how)
	found := lineMatches(v.text, re.FindAllSubmatchIndex(v.text, MaxReplacements+2))
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
		if how == withoutCR && crlf {
			t = toCRLF(t)
		}
		// What the groups hold are bytes of the file, and stay as they are.
		spans[i] = Span{Start: m[0], End: m[1], New: string(re.Expand(nil, []byte(t), data, m))}
	}
	return located{spans: spans}, nil
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
// line, and how many instructions it has.
func (e Edit) compile() (re *regexp.Regexp, size int, err error) {
	if len(e.Old) > maxPattern {
		return nil, 0, &PatternError{Reason: fmt.Sprintf("the regular expression is longer than %d bytes", maxPattern), Costly: true}
	}
	tree, err := syntax.Parse(e.Old, syntax.Perl)
	if err == nil {
		re, err = regexp.Compile("(?m)" + e.Old)
	}
	if err != nil {
		return nil, 0, &PatternError{Reason: "oldText is no regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
	}
	program, err := syntax.Compile(tree.Simplify())
	switch {
	case err != nil:
		return nil, 0, &PatternError{Reason: "the regular expression cannot be compiled", Costly: true}
	case re.NumSubexp() > maxGroups:
		return nil, 0, &PatternError{Reason: fmt.Sprintf("the regular expression has more than %d groups", maxGroups), Costly: true}
	}
	return re, len(program.Inst), nil
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
