package config

import (
	"errors"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// is is [errors.Is], for a method that is called Is.
func is(err, target error) bool { return errors.Is(err, target) }

// redact returns text with the values of variables replaced by their names, in
// whatever way a message spells them.
func redact(text string, used []variable) string {
	// A value may be part of another one.
	used = slices.SortedFunc(slices.Values(used), func(a, b variable) int { return len(b.value) - len(a.value) })
	for _, v := range used {
		for _, spelled := range spellings(v.value) {
			text = strings.ReplaceAll(text, spelled, "${"+v.name+"}")
		}
	}
	return text
}

// spellings returns the ways in which messages show a value.
func spellings(value string) []string {
	quoted := strconv.Quote(value)
	all := []string{value, quoted[1 : len(quoted)-1], url.QueryEscape(value), url.PathEscape(value),
		filepath.Clean(value), filepath.ToSlash(filepath.Clean(value))}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" || s == "." || s == "/" })
}

// maskSecrets returns a line of a file with stars for what looks like a secret
// that somebody wrote into it: credentials in a URL, and the values of keys
// that sound like one.
func maskSecrets(line string) string {
	for _, pattern := range []string{
		`://([^/@\s"']+)@`,
		`(?i)(?:secret|token|passw|credential|access[_-]?key|api[_-]?key)[\w-]*["']?\s*[:=]\s*("[^"]*"?|'[^']*'?|[^\s,{}]+)`,
	} {
		line = maskGroup(line, regexp.MustCompile(pattern))
	}
	return line
}

// maskGroup returns line with a star for each character of the group of each
// match, but for references to the environment.
func maskGroup(line string, pattern *regexp.Regexp) string {
	var b strings.Builder
	end := 0
	for _, match := range pattern.FindAllStringSubmatchIndex(line, -1) {
		b.WriteString(line[end:match[2]])
		end = match[3]
		secret := line[match[2]:end]
		if strings.HasPrefix(strings.Trim(secret, `"'`), "${") && !strings.Contains(secret, ":-") {
			b.WriteString(secret)
			continue
		}
		b.WriteString(strings.Repeat("*", utf8.RuneCountInString(secret)))
	}
	return b.String() + line[end:]
}
