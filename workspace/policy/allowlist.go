package policy

import (
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// access says what may be done with a name. A greater one includes the lesser.
type access int

const (
	// none: the name is denied. It is absent from listings, and an operation
	// on it is refused.
	none access = iota
	// traverse: a directory may be listed and entered, because something in it
	// may be allowed. A file or symlink of that name is denied.
	traverse
	// allowed: the name may be used.
	allowed
	// all: the name may be used, and so may every name below it.
	all
)

// allowlist is a compiled [Rules].AllowedPaths.
type allowlist struct {
	rules []allowRule
	text  string // the patterns, for errors
}

// allowRule is one pattern.
type allowRule struct {
	pattern *glob.Pattern
	root    bool // it matches everything
	deep    bool // it matches everything below what it matches
}

// compileAllowlist compiles the globs of names that are allowed. Without any, it
// returns nil.
func compileAllowlist(patterns []string) (*allowlist, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	list := &allowlist{text: listed(patterns)}
	for _, text := range patterns {
		pattern, err := compileAllowedPath(text)
		if err != nil {
			return nil, err
		}
		root := text == "**"
		list.rules = append(list.rules, allowRule{pattern, root, root || strings.HasSuffix(text, "/**")})
	}
	return list, nil
}

// opRestrict is the operation in the errors of rules.
const opRestrict = "restrict"

// CheckAllowedPath returns the error of a pattern that cannot be one of
// [Rules].AllowedPaths.
//
// # Errors
//
// [workspace.ErrPattern] or [workspace.ErrEscape].
func CheckAllowedPath(pattern string) error {
	_, err := compileAllowedPath(pattern)
	return err
}

// errNegated refuses a pattern that means all other names elsewhere, as in gitignore files:
// here it would match nothing that its author meant.
var errNegated = fmt.Errorf(`%w: it begins with "!", and no pattern negates; \! is for a name that begins with it`, workspace.ErrPattern)

// compileAllowedPath compiles one glob. It refuses one that ends in a slash,
// which would match directories alone and nothing in them.
func compileAllowedPath(pattern string) (*glob.Pattern, error) {
	compiled, err := glob.Compile(pattern)
	switch {
	case err != nil:
	case strings.HasPrefix(pattern, "!"):
		err = errNegated
	case compiled.Dirs():
		err = fmt.Errorf("%w: it ends in a slash and so means a directory alone; %q is for all that is in it",
			workspace.ErrPattern, pattern+"**")
	}
	if err != nil {
		return nil, ops.Error(opRestrict, pattern, nil, err)
	}
	return compiled, nil
}

// maxListed is about how many bytes of patterns an error shows.
const maxListed = 200

// listed returns the patterns as an error shows them.
func listed(patterns []string) string {
	var b strings.Builder
	for i, pattern := range patterns {
		if i > 0 && b.Len()+len(pattern) > maxListed {
			fmt.Fprintf(&b, " and %d more", len(patterns)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(pattern)
	}
	return b.String()
}

// access returns what may be done with name, symlinks aside.
func (l *allowlist) access(name string) access {
	best := none
	for _, rule := range l.rules {
		best = max(best, rule.access(name))
	}
	return best
}

// in returns what remains of the rules in the directory dir: what none of it matches
// is denied there. It returns nil if everything in dir is allowed.
func (l *allowlist) in(dir string) []glob.State {
	states := []glob.State{}
	for _, rule := range l.rules {
		if rule.access(dir) == all {
			return nil
		}
		if state := enter(rule.pattern, dir); !state.Empty() {
			states = append(states, state)
		}
	}
	return states
}

// enter returns what remains of pattern in the directory dir.
func enter(pattern *glob.Pattern, dir string) glob.State {
	state := pattern.Start()
	if dir == "." {
		return state
	}
	for element := range strings.SplitSeq(dir, "/") {
		state = state.Enter(element)
	}
	return state
}

// why returns why a name is not allowed.
func (l *allowlist) why() string {
	return fmt.Sprintf("neither one of the allowed paths (%s) nor a directory that leads to one", l.text)
}

// access returns what the rule alone allows for name.
func (r allowRule) access(name string) access {
	switch {
	case r.root:
		return all
	case name == ".":
		return traverse
	}
	state := r.pattern.Start()
	for {
		element, rest, deeper := strings.Cut(name, "/")
		if !deeper {
			return r.last(state, element)
		}
		if state = state.Enter(element); state.Empty() {
			return none
		}
		name = rest
	}
}

// last returns the access of the child name of a directory.
func (r allowRule) last(in glob.State, name string) access {
	switch {
	case in.Match(name) && r.deep:
		return all
	case in.Match(name):
		return allowed
	case !in.Enter(name).Empty():
		return traverse
	}
	return none
}
