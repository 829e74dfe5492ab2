package acp

import (
	"fmt"
	"strings"
)

// hunk is one place of a unified diff, with the lines around it.
type hunk struct {
	before, after string
	line          int  // the first that changes, in the new text
	creates       bool // there was nothing before
}

// parseDiff returns the hunks of a unified diff of one file. For
//
//	--- a/x
//	+++ b/x
//	@@ -4,2 +4,2 @@
//	 four
//	-five
//	+5
//
// that is one with the texts "four\nfive\n" and "four\n5\n", and the line 5.
func parseDiff(diff string) (hunks []hunk) {
	var before, after strings.Builder
	var now *hunk
	next, last := 0, byte(0)
	end := func() {
		if now != nil {
			now.before, now.after = before.String(), after.String()
			hunks = append(hunks, *now)
			before.Reset()
			after.Reset()
		}
	}
	for text := range strings.Lines(diff) {
		sign := text[0]
		if sign == '@' {
			end()
			now = &hunk{creates: strings.HasPrefix(text, "@@ -0,0 ")}
			_, to, _ := strings.Cut(text, " +")
			if _, err := fmt.Sscanf(to, "%d", &next); err != nil {
				next = 1
			}
			continue
		}
		if now == nil {
			continue // the names of the file
		}
		if (sign == '-' || sign == '+') && now.line == 0 {
			now.line = max(next, 1)
		}
		switch sign {
		case ' ', '+':
			next++
			after.WriteString(text[1:])
		}
		switch sign {
		case ' ', '-':
			before.WriteString(text[1:])
		case '\\': // the line before has no end
			for side, b := range map[byte]*strings.Builder{'-': &before, '+': &after} {
				if last == side || last == ' ' {
					cut := strings.TrimSuffix(b.String(), "\n")
					b.Reset()
					b.WriteString(cut)
				}
			}
		}
		last = sign
	}
	end()
	return hunks
}
