// Package lazyregexp has regular expressions that are compiled when they are first used, so
// that a program that starts does not wait for those that it does not need.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled pattern. It panics if the pattern cannot
// be compiled. It is safe for concurrent use.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
