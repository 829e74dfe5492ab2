package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// suggest returns what to say after a word that is none of words: the one that
// is meant, or all that there are.
func suggest(word string, words []string) string {
	if asked := wording.DidYouMean(word, slices.Sorted(slices.Values(words))); asked != "" {
		return asked
	}
	switch len(words) {
	case 0:
		return "there are none"
	case 1:
		return "there is only " + words[0]
	}
	return "there are " + enumerate(words)
}

// maxEnumerated is how many words an error lists.
const maxEnumerated = 20

func enumerate(words []string) string {
	words = slices.Sorted(slices.Values(words))
	if more := len(words) - maxEnumerated; more > 0 {
		words = append(words[:maxEnumerated:maxEnumerated], fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}
