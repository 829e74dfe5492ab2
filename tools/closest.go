package tools

import "strings"

// closest returns the candidate that is spelled most like word, and "" if
// none is close enough to be what was meant.
func closest(word string, candidates []string) string {
	best, least := "", min(len(word)/2, max(len(word)/3, 2))+1
	for _, candidate := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate), least); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is how many bytes to insert, remove, replace or swap with their
// neighbor to get from a to b (Damerau and Levenshtein); limit if that is not
// less.
func distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff >= limit || -diff >= limit {
		return limit
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			replace := above[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, row[j]+1, above[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return min(row[len(b)], limit)
}

// didYouMean is the question about the candidate closest to word, or "".
func didYouMean(word string, candidates []string) string {
	if near := closest(word, candidates); near != "" {
		return "did you mean " + quote(near) + "?"
	}
	return ""
}

func quote(name string) string { return `"` + name + `"` }
