package config

import (
	"fmt"
	"slices"
	"strings"
)

// suggest returns what to say after a word that is none of words: the one that
// is meant, or all that there are.
func suggest(word string, words []string) string {
	if near := nearest(word, words); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
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

// nearest returns the word that is most like word, "" if none is like it.
func nearest(word string, words []string) string {
	best, least := "", 1+max(1, len(word)/3)
	for _, candidate := range slices.Sorted(slices.Values(words)) {
		if d := distance(plainWord(word), plainWord(candidate), least); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// plainWord returns word without what is often spelled differently.
func plainWord(word string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(word))
}

// distance returns how many characters must be added, removed, replaced or
// swapped with their neighbour to make b of a, or limit if that is less.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	var before []int
	last, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return min(last[len(b)], limit)
}
