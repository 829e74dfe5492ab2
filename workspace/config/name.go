package config

import (
	"fmt"
	"strings"
)

// maxName is the longest name of a workspace: names of tools have at most 64
// characters, and it is a part of them.
const maxName = 32

// nameFault returns what is wrong with the name of a workspace, "" for nothing.
func nameFault(name string) string {
	switch {
	case name == "":
		return "is empty: give the workspace one"
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d characters: shorten it", maxName)
	case strings.IndexFunc(name, func(r rune) bool { return !nameRune(r) }) >= 0:
		return `has other characters than letters, digits, "_" and "-", and is to be part of the names of tools: rename it`
	}
	return ""
}

func nameRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
