package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/ops"
)

// ruleset is a compiled [Rules]. Each of its parts says what may be done with a
// name, and the strictest of them is what counts.
type ruleset struct {
	lists   []clauses
	protect func(name string) (why string) // of Protect, nil if there is none
	parent  func(name string) bool         // of Protect, nil if there is none
	allowed *allowlist                     // nil if all names are allowed
	free    opSet                          // what is allowed for every name
	leads   opSet                          // what can be allowed below a name for which it is not
	asks    bool                           // there is a rule that asks
	show    bool                           // everything that lists names shows hidden ones

	programs []clause // of the rules for single operations, those for OpRun

	// What index compiles of all lists: see clauses.
	hides     *glob.Pattern
	forbidden [len(allOps)]*glob.Pattern // nil if there are no lists
}

// compile compiles rules.
func compile(rules Rules) (*ruleset, error) {
	switch {
	case rules.onlySensitive():
		return sensitiveRuleset()
	case rules.onlyDenied():
		return compiledDenied.get(rules)
	}
	return compileAll(rules)
}

// onlyDenied reports whether DeniedPaths and JournalPaths are all that r says, but for
// DenySensitive.
func (r Rules) onlyDenied() bool {
	denied := len(r.DeniedPaths)+len(r.JournalPaths) > 0 && !r.ShowDenied
	r.DeniedPaths, r.JournalPaths, r.DenySensitive = nil, nil, false
	return denied && r.Empty()
}

// onlySensitive reports whether DenySensitive is all that r says.
func (r Rules) onlySensitive() bool {
	sensitive := r.DenySensitive && !r.ShowDenied
	r.DenySensitive = false
	return sensitive && r.Empty()
}

// compiledDenied are rulesets of denied paths, with the sensitive names or without. The
// many workspaces of a file hide the same ones.
var compiledDenied rulesetCache

// rulesetCache keeps the rulesets of some lists of denied paths.
type rulesetCache struct {
	mu   sync.Mutex
	sets map[string]*ruleset // guarded by mu
}

// maxCompiled is how many rulesets a rulesetCache has before it begins again.
const maxCompiled = 16

// get returns the ruleset of rules for which onlyDenied holds.
func (c *rulesetCache) get(rules Rules) (*ruleset, error) {
	key := fmt.Sprintf("%t %q %q", rules.DenySensitive, rules.DeniedPaths, rules.JournalPaths)
	c.mu.Lock()
	set := c.sets[key]
	c.mu.Unlock()
	if set != nil {
		return set, nil
	}
	set, err := compileAll(rules)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sets == nil || len(c.sets) >= maxCompiled {
		c.sets = map[string]*ruleset{}
	}
	c.sets[key] = set
	return set, nil
}

// compileAll is compile for rules of any kind.
func compileAll(rules Rules) (*ruleset, error) {
	s := &ruleset{show: rules.ShowDenied}
	for _, part := range []struct {
		key, because string
		ops          opSet
		patterns     []string
		soft         bool
	}{
		{"deniedPaths", "it matches", onAll, rules.DeniedPaths, false},
		{"", "it is a directory of backups or transactions, or in one", onAll, rules.JournalPaths, false},
		{"readOnlyPaths", "it can only be read: it matches", onChange, rules.ReadOnlyPaths, true},
	} {
		list := clauses{soft: part.soft}
		for i, text := range part.patterns {
			c := clause{ops: part.ops, effect: Deny, because: part.because, text: text}
			if part.key != "" {
				c.place = fmt.Sprintf("%s[%d]", part.key, i)
			}
			if err := list.add(c); err != nil {
				return nil, err
			}
		}
		s.add(list)
	}
	if rules.DenySensitive {
		list, err := sensitiveClauses()
		if err != nil {
			return nil, err
		}
		s.add(list)
	}
	list, err := extensionList(rules.AllowedExtensions, rules.DeniedExtensions)
	if err != nil {
		return nil, err
	}
	s.add(list)
	if list, err = compileFirstMatch(rules.FirstMatch); err != nil {
		return nil, err
	}
	s.add(list)
	for _, c := range list.all {
		if c.ops&onRun != 0 {
			s.programs = append(s.programs, c)
		}
	}
	if s.allowed, err = compileAllowlist(rules.AllowedPaths); err != nil {
		return nil, err
	}
	if err := s.index(); err != nil {
		return nil, err
	}
	s.setFree()
	return s, nil
}

// index completes a ruleset that has all its lists.
func (s *ruleset) index() (err error) {
	var every []clause
	for _, list := range s.lists {
		every = append(every, list.all...)
	}
	if s.forbidden, err = forbiddenByOp(every); err == nil {
		s.hides, err = forbidden(every, onList|onRead)
	}
	return err
}

// compileFirstMatch compiles the rules for single operations.
func compileFirstMatch(rules []Rule) (list clauses, err error) {
	for i, rule := range rules {
		effect, set, err := rule.effect()
		place := cmp.Or(rule.Place, fmt.Sprintf("rules[%d]", i))
		if err != nil {
			return list, ops.Error(opRestrict, place, fs.ErrInvalid, err)
		}
		for _, text := range rule.Paths {
			c := clause{ops: set, effect: effect, place: place, text: text, first: true, root: text == "**"}
			if err := list.add(c); err != nil {
				return list, err
			}
		}
	}
	return list, nil
}

// extensionList compiles the extensions of names. What they allow is a file, and a
// directory is tested when it is used.
func extensionList(allowed, denied []string) (list clauses, err error) {
	for i, extension := range slices.Concat(denied, allowed) {
		c := clause{ops: onAll, effect: Deny, place: fmt.Sprintf("deniedExtensions[%d]", i), text: "*" + extension}
		if i >= len(denied) {
			c.effect, c.place, c.element = Allow, fmt.Sprintf("allowedExtensions[%d]", i-len(denied)), true
		}
		err := CheckExtension(extension)
		if err == nil {
			err = list.add(c)
		}
		if err != nil {
			return list, err
		}
	}
	if len(allowed) > 0 {
		list.append(clause{
			ops: onAll, effect: Deny, place: "allowedExtensions", root: true, files: true,
			because: "it has none of the allowed extensions (" + listed(allowed) + ")",
		})
	}
	return list, nil
}

// CheckExtension returns the error of an extension that cannot be one of
// [Rules].AllowedExtensions or [Rules].DeniedExtensions.
//
// # Errors
//
// [io/fs.ErrInvalid].
func CheckExtension(extension string) error {
	if len(extension) < 2 || extension[0] != '.' || strings.ContainsAny(extension, `/*?[]{},\`) {
		return ops.Error(opRestrict, extension, fs.ErrInvalid, errors.New("an extension is a dot and what follows it, such as .go"))
	}
	return nil
}

// add adds a list unless it forbids nothing.
func (s *ruleset) add(list clauses) {
	if list.forbids == 0 {
		return
	}
	list.forbidden = sync.OnceValue(func() [len(allOps)]*glob.Pattern {
		patterns, _ := forbiddenByOp(list.all) // each pattern has been compiled already
		return patterns
	})
	s.lists = append(s.lists, list)
	for _, c := range list.all {
		if c.effect == Allow {
			s.leads |= c.ops
		}
		s.asks = s.asks || c.effect == Ask
	}
}

// dirRules tells quickly, for most names in a directory, whether searches show
// them. It tests all patterns at once, and only the last element of each name. With
// the clauses deny ".env" and deny "keys":
//
//	in     name    shows
//	src    a.go    yes: neither clause matches
//	src    .env    not sure: a clause before it may allow it
//	keys   a       not sure, as for all in keys
type dirRules struct {
	slow    bool // it is never sure
	denied  glob.State
	allowed []glob.State // nil if everything in the directory is allowed
}

// in returns the rules in the directory dir.
func (s *ruleset) in(dir string) dirRules {
	var d dirRules
	if s.hides != nil {
		folded := foldCase(dir)
		if d.slow, _ = matchPrefix(s.hides.Start(), folded, nil); d.slow {
			return d
		}
		d.denied = enter(s.hides, folded)
	}
	if s.allowed != nil {
		d.allowed = s.allowed.in(dir)
	}
	return d
}

// shows reports whether searches show a name. If it is not sure, they may.
func (d dirRules) shows(name string, isDir bool) (shows, sure bool) {
	if d.slow || d.denied.Match(foldCase(name)) {
		return false, false
	}
	shows = d.allowed == nil || slices.ContainsFunc(d.allowed, func(in glob.State) bool {
		return in.Match(name) || isDir && !in.Enter(name).Empty()
	})
	return shows, true
}

// setFree finds out which operations are allowed for every name.
func (s *ruleset) setFree() {
	if s.allowed != nil {
		s.leads = onAll
	}
	for i := range allOps {
		if op := opSet(1 << i); s.verdict(op, ".").access == all {
			s.free |= op
		}
	}
}

// verdict is what a ruleset, or a part of one, says of a name.
type verdict struct {
	access access
	op     opSet   // what rule forbids
	rule   *clause // that forbids the name itself, nil if there is none
}

// and returns the stricter of two verdicts. A clause that forbids no directory gives way to
// one that forbids any name.
func (v verdict) and(other verdict) verdict {
	if v.rule == nil || v.rule.files && other.rule != nil {
		v.op, v.rule = other.op, other.rule
	}
	v.access = min(v.access, other.access)
	return v
}

// refuses reports whether an operation that needs need is refused, whatever has
// the name. If a clause forbids a directory and allows something in it, the
// directory can be listed, searched and created all the same.
func (v verdict) refuses(need opSet) bool {
	return v.access == none || v.rule != nil && !v.rule.files && need&(onList|onMkdir) == 0
}

// verdict returns what may be done with name, symlinks aside, if all of need is
// needed.
func (s *ruleset) verdict(need opSet, name string) verdict { return s.judge(need, name, true) }

// judge is verdict, without the soft lists if soft is false.
func (s *ruleset) judge(need opSet, name string, soft bool) verdict {
	v := verdict{access: all}
	if need &^= s.free; need == 0 {
		return v
	}
	folded := name
	if len(s.lists) > 0 && name != "." {
		folded = foldCase(name)
	}
	free, below := s.unlisted(need, folded)
	switch {
	case free && soft && below:
		v.access = allowed
	case !free || !soft:
		for i := range s.lists {
			if list := &s.lists[i]; soft || !list.soft {
				v = v.and(list.verdict(need, folded))
			}
		}
	}
	if s.protect != nil && soft && need&onChange != 0 {
		v = v.and(s.protects(need, name))
	}
	if s.allowed != nil {
		v.access = min(v.access, s.allowed.access(name))
	}
	return v
}

// unlisted reports whether no list forbids any of need for name, whose letters are
// folded, and whether one can forbid it for a name below. One look at all patterns at
// once tells that of most names. If it is not sure, the lists may forbid something.
func (s *ruleset) unlisted(need opSet, name string) (free, below bool) {
	if name == "." {
		return len(s.lists) == 0, false
	}
	for ; need != 0; need &= need - 1 {
		pattern := s.forbidden[bits.TrailingZeros(uint(need))]
		if pattern == nil {
			continue
		}
		matches, deeper := matchPrefix(pattern.Start(), name, nil)
		if matches {
			return false, true
		}
		below = below || deeper
	}
	return true, below
}

// protects returns the verdict of the functions of [Protect] about changes of a
// name. Any name below could be protected.
func (s *ruleset) protects(need opSet, name string) verdict {
	for end := len(name); name != "." && end >= 0; end = strings.LastIndexByte(name[:end], '/') {
		if why := s.protect(name[:end]); why != "" {
			return verdict{none, onChange, &clause{effect: Deny, because: why}}
		}
	}
	switch {
	case s.parent == nil || !s.parent(name):
		return verdict{access: allowed}
	case need&onMove != 0 || need&(onWrite|onMkdir) == onWrite|onMkdir: // a directory moves
		return verdict{none, onMove | onWrite, &clause{effect: Deny, because: "a protected name is below it"}}
	}
	return verdict{access: traverse}
}

// allows returns the clause that allows name, nil if that needs none.
func (s *ruleset) allows(need opSet, name string) *clause {
	for i := range s.lists {
		for j := range s.lists[i].all {
			c := &s.lists[i].all[j]
			if matches, _ := c.match(foldCase(name)); c.ops&need != 0 && matches {
				return c
			}
		}
	}
	return nil
}

// decision returns the decision of a refused name. It goes by the name alone, so
// that it is the same whether there is such a file or not.
func (s *ruleset) decision(need opSet, name string, v verdict) Decision {
	c := v.rule
	switch {
	case c == nil && s.allowed == nil:
		return Decision{Op: need.first(), Effect: Deny, Reason: "only a directory may have this name"}
	case c == nil:
		return Decision{Op: need.first(), Effect: Deny, Rule: "allowedPaths", Reason: s.allowed.why()}
	}
	d := Decision{Op: (v.op & need).first(), Effect: c.effect, Rule: c.place, Reason: c.because}
	if c.place != "" && c.text != "" {
		d.Reason = fmt.Sprintf("%s %s, %q", cmp.Or(c.because, "it matches"), c.place, c.text)
	}
	if !c.first {
		return d
	}
	if c.effect == Ask {
		d.Reason += fmt.Sprintf(", which asks before %s", d.Op)
	} else {
		d.Reason += fmt.Sprintf(", which denies %s", d.Op)
	}
	if free := s.allowedOps(name); len(free) > 0 {
		d.Reason += "; allowed: " + joinOps(free)
	}
	return d
}

// allowedOps returns what may be done with name.
func (s *ruleset) allowedOps(name string) (free []Op) {
	for i, op := range allOps {
		if op == OpRun {
			continue // which needs a rule, and says nothing of the file
		}
		if v := s.verdict(1<<i, name); v.access > traverse && v.rule == nil {
			free = append(free, op)
		}
	}
	return free
}

// first returns the first operation of the set.
func (s opSet) first() Op {
	for i, op := range allOps {
		if s&(1<<i) != 0 {
			return op
		}
	}
	return ""
}

// clauses are tried in order: the first one that concerns an operation and
// matches a name decides. What none matches is allowed. Letters are compared
// regardless of their case, because file systems that do would open ".ENV" as
// ".env". A pattern without a slash matches in every directory. With clauses
// that deny ".env*" and "conf/keys":
//
//	.env.local      matches the first
//	a/.ENV/b        matches the first, as its parent does
//	conf/keys/a     matches the second
//	conf            matches none, and something below it can
//	sub/conf/keys   matches none
type clauses struct {
	all     []clause
	forbids opSet // what one of them forbids
	soft    bool  // a tree that has been listed, and found allowed, may be deleted as a whole

	// What one of them forbids, by the operation. Most names match nothing, and one
	// pattern for all clauses tells that sooner than each of them. It is compiled for
	// the first name that needs more than the pattern of all lists.
	forbidden func() [len(allOps)]*glob.Pattern
}

// clause is one pattern, and what happens to what it matches.
type clause struct {
	pattern *glob.Pattern
	except  func(element string) bool // elements that pattern matches, and the clause does not; nil for none
	ops     opSet
	effect  Effect
	root    bool   // it matches everything, the root included
	files   bool   // it forbids no directory
	element bool   // it matches the last element of a name alone, not what is below
	first   bool   // it is of Rules.FirstMatch
	place   string // where it is, for errors; empty if because says all
	because string // the beginning of the reason, for errors
	text    string // the pattern as it is spelled
}

// add compiles the pattern of c and adds c.
func (l *clauses) add(c clause) (err error) {
	if c.pattern, err = compilePath(c.text); err != nil {
		return err
	}
	l.append(c)
	return nil
}

// append adds c, whose pattern is compiled.
func (l *clauses) append(c clause) {
	l.all = append(l.all, c)
	if c.effect != Allow {
		l.forbids |= c.ops
	}
}

// forbidden returns the pattern of all that clauses can forbid of some operations.
func forbidden(all []clause, ops opSet) (*glob.Pattern, error) {
	var texts []string
	for _, c := range all {
		if c.effect != Allow && c.ops&ops != 0 {
			texts = append(texts, foldedPath(cmp.Or(c.text, "**")))
		}
	}
	return glob.CompileAny(texts...)
}

// forbiddenByOp returns the patterns of all that clauses can forbid, by the operation.
func forbiddenByOp(all []clause) (patterns [len(allOps)]*glob.Pattern, err error) {
	for i := range allOps {
		same := slices.IndexFunc(allOps[:i], func(op Op) bool { return alike(all, i, slices.Index(allOps[:], op)) })
		if same >= 0 { // as for most lists
			patterns[i] = patterns[same]
		} else if patterns[i], err = forbidden(all, 1<<i); err != nil {
			return patterns, err
		}
	}
	return patterns, nil
}

// alike reports whether the clauses that have the operation i are those that have j.
func alike(all []clause, i, j int) bool {
	return !slices.ContainsFunc(all, func(c clause) bool { return c.ops>>i&1 != c.ops>>j&1 })
}

// verdict returns what the clauses say of name, whose letters are folded.
func (l *clauses) verdict(need opSet, name string) verdict {
	v := verdict{access: all}
	for need &= l.forbids; need != 0; need &= need - 1 {
		v = v.and(l.decide(need&-need, name))
	}
	return v
}

// decide is verdict for one operation. The clauses before the one that matches
// name can match something below it. With the clauses allow "a/b" and deny "a":
//
//	a      denied, and something below it can be allowed: traverse
//	a/b    allowed, with all below it
//	a/c    denied, with all below it
//	d      allowed, and nothing below it can be denied
func (l *clauses) decide(op opSet, name string) verdict {
	if name != "." {
		matches, below := matchPrefix(l.forbidden()[bits.TrailingZeros(uint(op))].Start(), name, nil)
		switch {
		case !matches && below: // unless a clause before allows all of it, which is not worth a look
			return verdict{access: allowed}
		case !matches:
			return verdict{access: all}
		}
	}
	var some [2]bool // whether something below name can be forbidden, or allowed
	for i := range l.all {
		c := &l.all[i]
		if c.ops&op == 0 {
			continue
		}
		matches, below := c.match(name)
		allows := 0
		if c.effect == Allow {
			allows = 1
		}
		some[allows] = some[allows] || below
		switch {
		case matches && allows == 0 && some[1]:
			return verdict{traverse, op, c}
		case matches && allows == 0:
			return verdict{none, op, c}
		case matches && (some[0] || c.element):
			return verdict{access: allowed}
		case matches:
			return verdict{access: all}
		}
	}
	if some[0] {
		return verdict{access: allowed}
	}
	return verdict{access: all}
}

// match reports whether the clause matches name or a directory above it, and
// whether it matches or can match something below.
func (c *clause) match(name string) (matches, below bool) {
	switch {
	case c.root:
		return true, true
	case c.element:
		return c.pattern.Match(name), true
	}
	return matchPrefix(c.pattern.Start(), name, c.except)
}

// compilePath compiles the pattern of a [clause].
func compilePath(text string) (*glob.Pattern, error) {
	compiled, err := glob.Compile(text)
	switch {
	case err != nil:
	case strings.HasPrefix(text, "!"):
		err = errNegated
	default:
		compiled, err = glob.CompileAny(foldedPath(text))
	}
	if err != nil {
		return nil, ops.Error(opRestrict, text, nil, err)
	}
	return compiled, nil
}

// foldedPath returns the glob that text means, for names whose letters are folded.
func foldedPath(text string) string {
	text = strings.TrimSuffix(text, "/")
	if !strings.Contains(text, "/") {
		return "**/" + foldCase(text)
	}
	return foldCase(text)
}

// CheckDeniedPath returns the error of a pattern that cannot be one of
// [Rules].DeniedPaths, [Rules].ReadOnlyPaths or [Rule].Paths.
//
// # Errors
//
// [workspace.ErrPattern] or [workspace.ErrEscape].
func CheckDeniedPath(pattern string) error {
	_, err := compilePath(pattern)
	return err
}

// foldCase returns s with each letter replaced by the first of those that differ
// from it in case alone, as [strings.EqualFold] sees it.
func foldCase(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= unicode.MaxASCII || 'A' <= c && c <= 'Z' {
			return strings.Map(foldRune, s)
		}
	}
	return s // as most names are
}

// foldRune returns the least rune that differs from r only in case.
func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		return unicode.ToLower(r)
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least <= unicode.MaxASCII {
		return unicode.ToLower(least)
	}
	return least
}

// matchPrefix reports whether what leads to state matches name or a directory
// above it, and whether it can match something below. It does not match an element
// for which except is true.
func matchPrefix(state glob.State, name string, except func(element string) bool) (matches, below bool) {
	if name == "." {
		return false, !state.Empty()
	}
	for rest := name; ; {
		element, deeper, more := strings.Cut(rest, "/")
		if state.Match(element) && (except == nil || !except(element)) {
			return true, true
		}
		state = state.Enter(element)
		if !more || state.Empty() {
			return false, !more && !state.Empty()
		}
		rest = deeper
	}
}
