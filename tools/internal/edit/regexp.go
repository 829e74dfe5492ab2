package edit

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a regular expression, and of a file that it is applied to. A search takes at
// most 20 ns for each byte of the file and each instruction that the pattern is compiled
// to. The regular expressions of one [New] share maxEffort.
const (
	maxPattern      = 4 << 10
	MaxRegexpSource = 8 << 20
	maxEffort       = 1 << 29
)

// locateRegexp finds what a regular expression matches, and expands the template for
// each match.
func locateRegexp(data []byte, e Edit, room int) (located, error) {
	re, size, err := e.compile()
	if err != nil {
		return located{}, err
	}
	template, err := e.template(re)
	switch {
	case err != nil:
		return located{}, err
	case len(data)*size > maxEffort/max(e.sharing, 1):
		return located{}, &PatternError{Reason: "the regular expression is too costly for a file of this size: repeat less in it, or use fewer"}
	case len(data) > MaxRegexpSource:
		return located{}, &InvalidError{Reason: fmt.Sprintf("a regular expression is applied to files of at most %d MiB", MaxRegexpSource>>20)}
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
	for i, m := range found {
		for k, at := range m {
			if at >= 0 {
				m[k] = v.start(at)
			}
		}
		t := template
		if how == withoutCR && strings.Contains(t, "\n") && endsCRLF(data, m[0]) {
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
		return nil, 0, &PatternError{Reason: fmt.Sprintf("the regular expression is longer than %d bytes", maxPattern)}
	}
	tree, err := syntax.Parse(e.Old, syntax.Perl)
	if err == nil {
		re, err = regexp.Compile("(?m)" + e.Old)
	}
	if err != nil {
		return nil, 0, &PatternError{Reason: "oldText is no regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, &PatternError{Reason: "the regular expression cannot be compiled"}
	}
	return re, len(program.Inst), nil
}

// reference is a dollar sign in a template, and the group that it refers to.
var reference = regexp.MustCompile(`\$(?:\$|(\d+)|\{(\w+)\})?`)

// template returns New as [regexp.Regexp.Expand] wants it: there, $1x is the group
// 1x, and a group that does not exist is empty.
func (e Edit) template(re *regexp.Regexp) (string, error) {
	var err error
	template := reference.ReplaceAllStringFunc(e.New, func(ref string) string {
		group := strings.Trim(ref, "${}")
		if group == "" {
			return "$$"
		}
		number, notNumber := strconv.Atoi(group)
		known := slices.Contains(re.SubexpNames()[1:], group)
		if notNumber == nil {
			known = number <= re.NumSubexp()
		}
		if !known {
			err = &InvalidError{Reason: fmt.Sprintf("newText refers to the group %s, which oldText does not have: "+
				"$$ is a dollar sign, and in ${1}0 a digit comes after a group", ref)}
		}
		return "${" + group + "}"
	})
	return template, err
}
