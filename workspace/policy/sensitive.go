package policy

import (
	"slices"
	"sync"

	"github.com/workspacekit/workspacekit/internal/glob"
)

// SensitiveNames returns the globs of the names that [Rules].DenySensitive hides,
// with all below them. A pattern matches in every directory, and letters match in
// either case. Two kinds of names are not sensitive although a pattern matches
// them: the templates .env.example, .env.sample, .env.template and .env.dist; and
// names with the extension of a source file, such as password_test.go and
// id_generator.py, unless ".env*" or "*.pem" matches.
//
// A directory called "secrets" is hidden with the source files in it.
func SensitiveNames() []string {
	var names []string
	for _, s := range sensitive {
		if s.ops == onAll {
			names = append(names, s.patterns...)
		}
	}
	return slices.Clip(names)
}

// sensitive are the rules of [Rules].DenySensitive.
var sensitive = []struct {
	ops      opSet
	because  string
	except   string // a glob of names that are not sensitive
	patterns []string
}{
	{onAll, hasSecret, ".env.{example,sample,template,dist}", []string{".env*"}},
	{onAll, hasSecret, "", []string{"*.pem"}},
	{onAll, hasSecret, sourceFiles, []string{"id_*", "credentials*", "*secret*", "*password*", "*private*key*"}},
	// What is written here can become a program that git runs.
	{onChange, "it can only be read: it matches", "", []string{".git"}},
}

// hasSecret is the reason of a denial, up to the place of the rule.
const hasSecret = "it has the name of a secret: it matches"

// sourceFiles is for files of programming languages. Those of formats for data and
// of shells are not in it, as secrets are kept in them.
const sourceFiles = "*.{c,cc,cpp,cxx,h,hh,hpp,m,mm,cs,fs,vb,go,rs,swift,java,kt,kts,scala,clj,groovy,py,pyi,rb,php,pl,pm,lua," +
	"js,jsx,mjs,cjs,ts,tsx,mts,cts,vue,svelte,dart,ex,exs,erl,hs,ml,mli,jl,r,zig,nim,css,scss,less}"

// sensitiveRuleset returns what all rules with DenySensitive share: it is made once.
var sensitiveRuleset = sync.OnceValues(func() (*ruleset, error) {
	list := clauses{soft: true}
	for _, s := range sensitive {
		var except *glob.Pattern
		if s.except != "" {
			var err error
			if except, err = compilePath(s.except); err != nil {
				return nil, err
			}
		}
		for _, text := range s.patterns {
			c := clause{ops: s.ops, effect: Deny, place: "sensitive", because: s.because, text: text, except: except}
			if err := list.add(c); err != nil {
				return nil, err
			}
		}
	}
	s := &ruleset{}
	if err := s.add(list); err != nil {
		return nil, err
	}
	err := s.index()
	s.setFree()
	return s, err
})
