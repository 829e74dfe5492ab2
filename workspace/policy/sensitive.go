package policy

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// SensitiveNames returns the globs of the names that [Rules].DenySensitive hides,
// with all below them. A pattern matches in every directory, and letters match in
// either case. Two kinds of names are not sensitive although a pattern matches
// them: the templates .env.example, .env.sample, .env.template and .env.dist; and
// names with the extension of a source file, such as password_test.go and
// id_generator.py, unless ".env*" or "*.pem" matches.
//
// A directory whose name matches, such as "secrets", is hidden with the source files in it.
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
	except   func(element string) bool // what is not sensitive, letters folded; nil for nothing
	patterns []string
}{
	{onAll, hasSecret, isTemplate, []string{".env*"}},
	{onAll, hasSecret, nil, []string{"*.pem"}},
	{onAll, hasSecret, isSource, []string{"id_*", "credentials*", "*secret*", "*password*", "*private*key*"}},
	// What is written here can become a program that git runs.
	{onChange, "it can only be read: it matches", nil, []string{".git"}},
}

// hasSecret is the reason of a denial, up to the place of the rule.
const hasSecret = "it has the name of a secret: it matches"

// isTemplate reports whether a file shows which secrets a program needs, and has none.
func isTemplate(element string) bool {
	return slices.Contains([]string{".env.example", ".env.sample", ".env.template", ".env.dist"}, element)
}

// isSource reports whether a file has the extension of a programming language. Those of
// formats for data and of shells are not among them, as secrets are kept in them.
func isSource(element string) bool {
	extension := path.Ext(element)
	return extension != "" && strings.Contains(sourceExtensions, extension+".")
}

const sourceExtensions = ".c.cc.cpp.cxx.h.hh.hpp.m.mm.cs.fs.vb.go.rs.swift.java.kt.kts.scala.clj.groovy.py.pyi.rb.php.pl.pm.lua" +
	".js.jsx.mjs.cjs.ts.tsx.mts.cts.vue.svelte.dart.ex.exs.erl.hs.ml.mli.jl.r.zig.nim.css.scss.less."

// sensitiveClauses are what all rules with DenySensitive share.
var sensitiveClauses = sync.OnceValues(func() (list clauses, err error) {
	list.soft = true
	for _, s := range sensitive {
		for _, text := range s.patterns {
			c := clause{ops: s.ops, effect: Deny, place: "sensitive", because: s.because, text: text, except: s.except}
			if err := list.add(c); err != nil {
				return list, err
			}
		}
	}
	return list, nil
})

// sensitiveRuleset is for rules that say nothing else.
var sensitiveRuleset = sync.OnceValues(func() (*ruleset, error) {
	return compileAll(Rules{DenySensitive: true})
})
