package policy

import (
	"path"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// FuzzPathList compares the matching of a pattern with one that tries it on each
// directory above a name.
func FuzzPathList(f *testing.F) {
	for _, seed := range [][3]string{
		{".env*", "a/.ENV", "x"}, {"a/b", "a", "b"}, {"**/K", "x/\u212a", "y"}, {"{a,b/c}", "b", "c"}, {"[A-C]x", "bX", "z"}, {"a/**", "A", "b"}, {"straſſe", "STRASSE", "a"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, pattern, name, child string) {
		compiled, err := compilePath(pattern)
		below := workspace.Join(name, child)
		if err != nil || !ops.ValidName(name) || !ops.ValidName(below) || name == "." || child == "." {
			t.Skip()
		}
		match := func(name string) (matches, below bool) { return matchPrefix(compiled.Start(), foldCase(name), nil) }
		matches, deeper := match(name)
		if want := slowMatch(t, pattern, name); matches != want {
			t.Errorf("match(%q) of %q = %v, want %v", name, pattern, matches, want)
		}
		inside, _ := match(below)
		if want := slowMatch(t, pattern, below); inside != want {
			t.Errorf("match(%q) of %q = %v, want %v", below, pattern, inside, want)
		}
		if matches && !inside || inside && !deeper {
			t.Errorf("%q matches %q: %v, below it %v, and %q: %v", pattern, name, matches, deeper, below, inside)
		}
		if upper := strings.ToUpper(name); strings.EqualFold(upper, name) {
			if same, _ := match(upper); same != matches {
				t.Errorf("match(%q) of %q = %v, and of %q %v", name, pattern, matches, upper, same)
			}
		}
	})
}

// slowMatch reports whether pattern matches name or a directory above it.
func slowMatch(t *testing.T, pattern, name string) bool {
	pattern = strings.TrimSuffix(pattern, "/")
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	compiled, err := glob.Compile(foldCase(pattern))
	if err != nil {
		t.Skip()
	}
	for ; name != "."; name = path.Dir(name) {
		if compiled.Match(foldCase(name)) {
			return true
		}
	}
	return false
}

// FuzzRules compares the decisions of compiled rules with those of a reference
// that tries every pattern on every directory above a name. text has a rule in
// each line: its effect, its operations by their first letters, and its
// patterns.
func FuzzRules(f *testing.F) {
	for _, seed := range [][3]string{
		{"a r a/b\nd rw a\nk w **/c", "a/b", "x"},
		{"d l *.pem .env*\na lrw src/**\nd lrwedcm **", "src/x", "key.pem"},
		{"a l **/x/*\nd l **", "a/x", "y"},
		{"k d a/*/c\na d {a,b}/**\nd d [a-c]", "A/b", "c"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, text, name, child string) {
		rules := parseRules(text)
		set, err := compile(Rules{FirstMatch: rules})
		below := workspace.Join(name, child)
		if err != nil || !ops.ValidName(name) || !ops.ValidName(below) || child == "." {
			t.Skip()
		}
		if denied, err := compile(Rules{DeniedPaths: []string{child}}); err == nil {
			both, err := compile(Rules{FirstMatch: rules, DeniedPaths: []string{child}})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{".", name, below} {
				for _, need := range []opSet{onRead, onDelete, onList | onRead, onWrite | onMkdir} {
					want := denied.verdict(need, name).and(set.verdict(need, name))
					if got := both.verdict(need, name); got.access != want.access || got.op != want.op || (got.rule == nil) != (want.rule == nil) || got.rule != nil && got.rule.place != want.rule.place {
						t.Errorf("verdict(%b, %q) of both = %+v, want %+v, with %q and\n%s", need, name, got, want, child, text)
					}
				}
			}
		}
		for _, op := range allOps {
			need, _ := setOf([]Op{op})
			at, in := set.verdict(need, name), set.verdict(need, below)
			for _, tt := range []struct {
				name string
				got  verdict
			}{{name, at}, {below, in}} {
				effect := Allow
				if tt.got.rule != nil {
					effect = tt.got.rule.effect
				}
				if want := slowEffect(t, rules, op, tt.name); effect != want {
					t.Errorf("%s of %q is %s, want %s, with\n%s", op, tt.name, effect, want, text)
				}
				if allows := tt.got.access >= allowed; allows != (effect == Allow) {
					t.Errorf("%s of %q: access %d for %s", op, tt.name, tt.got.access, effect)
				}
			}
			if at.access == all && in.access != all || at.access == none && in.access != none {
				t.Errorf("%s: access to %q is %d, and to %q below it %d, with\n%s", op, name, at.access, below, in.access, text)
			}
			if text := set.decision(need, name, at).Reason; at.rule != nil && !strings.Contains(text, at.rule.place) {
				t.Errorf("the reason %q does not name %s", text, at.rule.place)
			}
		}
	})
}

// parseRules returns the rules of a [FuzzRules].
func parseRules(text string) (rules []Rule) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		var ops []Op
		for i, letter := range "rwedmclk" {
			if strings.ContainsRune(fields[1], letter) {
				ops = append(ops, allOps[i])
			}
		}
		rule := Rule{Paths: fields[2:]}
		switch fields[0] {
		case "a":
			rule.Allow = ops
		case "d":
			rule.Deny = ops
		case "k":
			rule.Ask = ops
		}
		rules = append(rules, rule)
	}
	return rules
}

// slowEffect returns what the first rule with op and a pattern that matches name
// does.
func slowEffect(t *testing.T, rules []Rule, op Op, name string) Effect {
	for _, rule := range rules {
		effect, set, _ := rule.effect()
		need, _ := setOf([]Op{op})
		for _, pattern := range rule.Paths {
			if set&need != 0 && (pattern == "**" || slowMatch(t, pattern, name)) {
				return effect
			}
		}
	}
	return Allow
}
