package repotest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
)

// forbidden are phrases that no text of the repository uses, with what to write
// instead. Each has a plain equivalent in every sentence.
var forbidden = []struct{ phrase, instead string }{
	{`(is|are|was|were) (not )?to be`, "must, will, should; or say who does it"},
	{`anew`, "again"},
	{`in the end`, "on close, at last, finally"},
	{`(take|takes|taken|taking|took) [a-z]+ for (a|an|one)`, "regard as, mistake for"},
	{`takes? for`, "regards as"},
	{`as far as`, "if, where, what"},
	{`(is|are|was|were) gone`, "is deleted, is missing, has ended"},
	{`belongs? into`, "belongs in"},
	{`(tell|tells|told|telling) of`, "report, say that"},
	{`to be had`, "available"},
	{`for want of`, "without, for lack of"},
	{`what not`, "what is not, and what does not"},
	{`it is no matter`, "it does not matter"},
	{`that of the`, "name the thing again"},
	{`of which`, "whose, and of these; or two sentences"},
}

// TestForbiddenWords reads documents, comments, error messages, help and the
// descriptions of tools. The changelog keeps its words.
func TestForbiddenWords(t *testing.T) {
	exhaustive.NotShort(t, "reads every file")
	var phrases []string
	for _, f := range forbidden {
		phrases = append(phrases, f.phrase)
	}
	any := regexp.MustCompile(`(?i)\b(` + strings.Join(phrases, "|") + `)\b`)
	for _, name := range slices.Concat(files(t, ".md"), files(t, ".go"), files(t, ".sh")) {
		if name == "CHANGELOG.md" || name == "internal/repotest/words_test.go" {
			continue
		}
		text, starts := unwrap(read(t, name))
		for _, at := range any.FindAllStringIndex(text, -1) {
			line, _ := slices.BinarySearch(starts, at[0]+1)
			found := text[at[0]:at[1]]
			t.Errorf("%s:%d: %q: write %s", name, line, found, instead(found))
		}
	}
}

// unwrap joins the lines of a text, and of comments, so that a phrase is found
// that goes over the end of a line. starts are where the lines start.
func unwrap(source string) (text string, starts []int) {
	var b strings.Builder
	for line := range strings.Lines(source) {
		starts = append(starts, b.Len())
		line = strings.TrimSpace(line)
		b.WriteString(strings.TrimLeft(line, "/#> \t"))
		b.WriteByte(' ')
	}
	return b.String(), starts
}

// instead returns what to write for a phrase that was found.
func instead(found string) string {
	for _, f := range forbidden {
		if regexp.MustCompile(`(?i)^(` + f.phrase + `)$`).MatchString(found) {
			return f.instead
		}
	}
	return "something else"
}
