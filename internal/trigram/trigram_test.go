package trigram_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/trigram"
)

// plan returns the query of a pattern, and the pattern for package regexp.
func plan(t *testing.T, pattern string) (trigram.Query, *regexp.Regexp) {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatalf("syntax.Parse(%q) = %v", pattern, err)
	}
	return trigram.Plan(tree), regexp.MustCompile(pattern)
}

// TestMeets says which texts have to be read for a pattern.
func TestMeets(t *testing.T) {
	for _, test := range []struct{ pattern, meets, lacks string }{
		{"readGCStats", "x readgcSTATS y", "read GCStats"},
		{`func \w+Context\(`, "Context( func ", "func Context"},
		{"(get|set)Stats?", "setstat", "getSta"},
		{"(get.x|set.y)Stats", "set Stats", "get Stat"},
		{"(abcd.x|efgh.y)z", "zzz efgh", "abc efg"},
		{"ab[cde]fg", "abdfg", "abxfg"},
		{"ab[a-z]cdef", "cdef", "ab"},
		{"x_[0-9]+", "x_7", "x_a"},
		{"(?i)kiss", "KISS", "KIS"},
		{"(?i)kiss", "\u212aiſſ", "kis"},
		{"needle", "ſ needle", "ſ \u212a"},
		{"ſ\u212aabc", "ſ\u212aabc", "ſ\u212aab"},
		{"(?i)größen", "", ""},
		{"(?i)grünes", "GRÜNES", "grü es"},
		{"abc+def", "abcccdef", "abdef"},
		{"(abc)+def", "abcabcdef", "abcxdef"},
		{"abc{2}", "abcc", "abc"},
		{"abc?def", "abdef", "abc def"},
		{`\bfoo\b|^bar$`, "xx bar", "fo ba"},
		{"日本", "日本", "日米"},
		{`a\x{fffd}bcd`, "a\xffbcd", "a\xffbc"},
		{"one\ntwo", "one\r\ntwo", "on\ntwo"},
		{"a|", "", ""}, {".*", "", ""}, {"ab", "", ""}, {`[^a]bc`, "", ""}, {"(?i)ß", "", ""}, {`[a-z]\d{3}`, "", ""},
		{`[a-z]\d{4}`, "a1234", "A1234 a123"},
		{`(?i)v(\d)\d\.\d+x`, "V12.3x", "V1.23x"},
		{`(?i)[a-z]\d{4}`, "Z1234", "_1234"},
		{`(?i)k\d{4}`, "\u212a1234", "K123"},
		{`^\b[A-Z]{3,}_[0-9]+$`, "ABC_7", "AB_7"},
		{`\d+-\d{2}-\d{2}:`, "1-12-31:", "1-1-31:"},
		{`\d\d\s\d\d`, "", ""}, {`\w{5}`, "", ""}, {`\d{4}é`, "", ""}, {`(\d\d\d\d\d)*`, "", ""}, {`[0-9]{4}[^a]`, "", ""}, {`(((\d+)x)+y)+`, "", ""},
	} {
		query, _ := plan(t, test.pattern)
		if everything := test.meets == "" && test.lacks == ""; query.Everything() != everything {
			t.Errorf("Plan(%q).Everything() = %v, want %v", test.pattern, !everything, everything)
		}
		for _, size := range []int{0, 64 << 10} {
			if !query.Meets(trigram.Append(nil, []byte(test.meets+strings.Repeat("\n", size)))) {
				t.Errorf("Plan(%q) is not met by %q and %d line breaks", test.pattern, test.meets, size)
			}
		}
		if test.lacks != "" && query.Meets(trigram.Append(nil, []byte(test.lacks+strings.Repeat("\n", 1000)))) {
			t.Errorf("Plan(%q) is met by %q", test.pattern, test.lacks)
		}
	}
}

// TestMatchMeets makes random patterns and texts. A text that a pattern matches must meet
// its query.
func TestMatchMeets(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	var pattern func(depth int) string
	pattern = func(depth int) string {
		if depth == 0 {
			return pick("a", "bcd", "Kits", "s", "ſ", "\u212a", "Ö", "_", "[ab]", "[a-z]", "[K-S]", "[^a]", ".", `\d`, `\w`, `\b`, "^", "$", "日", "\u00e9", "(?i:ksö)", `\x{fffd}`, "[ſt]", `\s`, `\d\d`, `\d{3}`, "7", `[A-Z]`, `[0-9_]`)
		}
		switch random.IntN(4) {
		case 0:
			return "(" + pattern(depth-1) + "|" + pattern(depth-1) + ")"
		case 1:
			return "(?:" + pattern(depth-1) + ")" + pick("*", "+", "?", "{2}", "{1,3}", "{0}")
		}
		return pattern(depth-1) + pattern(depth-1)
	}
	matches, large := 0, strings.Repeat("\n", 64<<10) // a Set of such a text has more
	for range 20_000 {
		flags := pick("", "(?i)", "(?m)", "(?im)", "(?s)")
		query, re := plan(t, flags+pattern(1+random.IntN(4)))
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteString(pick("a", "bcd", "BCD", "kit", "Kits", "s", "S", "ſ", "\u212a", "ö", "_", "7", "12", "345", "q", " ", "\n", "\r\n", "日", "é", "\xff", "\xe2\x84", "KSÖ"))
		}
		if !re.MatchString(text.String()) {
			continue
		}
		matches++
		// As in a search, what matches may have been "\r\n" in the file.
		files := []string{text.String(), strings.ReplaceAll(text.String(), "\n", "\r\n")}
		if matches%16 == 0 {
			files = append(files, text.String()+large, large+text.String())
		}
		for _, file := range files {
			if !query.Meets(trigram.Append(nil, []byte(file))) {
				t.Fatalf("%q matches %q, but its query is not met by a file of %d bytes with it", re, text.String(), len(file))
			}
		}
	}
	if matches < 1000 {
		t.Errorf("only %d patterns matched", matches)
	}
}

// TestUnion adds texts to a Union, some of them by the Set of another. Each must meet its own
// query.
func TestUnion(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	word := func() string { return fmt.Sprintf("%c%05dx", 'a'+random.IntN(26), random.IntN(100_000)) }
	var union trigram.Union
	for range 300 {
		var all, again []string
		for range random.IntN(1 << random.IntN(12)) {
			all = append(all, word())
			union.Add([]byte(all[len(all)-1]))
		}
		set := union.Set()
		for range random.IntN(1 << random.IntN(12)) {
			again = append(again, word())
			union.Add([]byte(again[len(again)-1]))
		}
		if len(all) > 0 {
			union.AddSet(set, 7*len(all))
		}
		both := union.Set()
		for _, text := range all {
			if query, _ := plan(t, text); !query.MeetsUnion(set) || !query.MeetsUnion(both) {
				t.Fatalf("%q does not meet the Set of %d texts with it, or that of %d", text, len(all), len(all)+len(again))
			}
		}
		for _, text := range again {
			if query, _ := plan(t, text); !query.MeetsUnion(both) {
				t.Fatalf("%q does not meet the Set of %d texts with it", text, len(all)+len(again))
			}
		}
		if size := 8 * len(set); size > 8 && size > 7*len(all)/24 {
			t.Errorf("the Set of %d texts of 7 bytes takes %d, want less than 1/24", len(all), size)
		}
	}
}

// TestSize wants summaries of about an eighth of the text, and useful ones.
func TestSize(t *testing.T) {
	var text strings.Builder
	for n := range 5000 {
		fmt.Fprintf(&text, "if err := fsys.Write%d(ctx, name%d); err != nil { return err }\n", n, n*n)
	}
	for _, length := range []int{0, 1, 2, 3, 63, 64, 430, 8000, text.Len()} {
		set := trigram.Append(nil, []byte(text.String()[:length]))
		if size := 8 * len(set); size > length/8+8 {
			t.Errorf("the set of %d bytes takes %d, want at most an eighth", length, size)
		}
	}
	var union trigram.Union
	for part := range slices.Chunk([]byte(text.String()), 10_000) {
		union.Add(part)
	}
	for _, set := range []trigram.Set{trigram.Append(nil, []byte(text.String())), union.Set()} {
		met := 0
		for n := range 1000 {
			query, _ := plan(t, fmt.Sprintf("absent%dWord", n*7919))
			if query.Meets(set) {
				met++
			}
		}
		if met > 10 {
			t.Errorf("%d of 1,000 words that are not in the text meet its set of %d bytes", met, 8*len(set))
		}
	}
}

// TestLargeText wants a useful summary of a text of 1 MiB, whose words have nearly all grams.
func TestLargeText(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	random := rand.New(rand.NewPCG(1, 0))
	word := func() string {
		word := make([]byte, 8)
		for i := range word {
			word[i] = letters[random.IntN(len(letters))]
		}
		return string(word)
	}
	var text strings.Builder
	for text.Len() < 1<<20 {
		text.WriteString(word() + " ... ... ")
	}
	set, met := trigram.Set(trigram.Append(nil, []byte(text.String()))), 0
	for range 1000 {
		if query, _ := plan(t, word()); query.Meets(set) {
			met++
		}
	}
	if met > 20 {
		t.Errorf("%d of 1,000 random words meet the set of %d bytes", met, 8*len(set))
	}
	parts := "have avec vect ecto ctor tory" + strings.Repeat("\n", 64<<10)
	if query, _ := plan(t, "havectory"); query.Meets(trigram.Append(nil, []byte(parts))) {
		t.Errorf("a text that has only each four bytes of a word meets its query")
	}
}

// TestLargePattern plans patterns of the largest size that a search takes.
func TestLargePattern(t *testing.T) {
	for _, part := range []string{"ab", "(a)", "[ab]", "a?", "(a|b)", "(ab|cd.)", "(?i:k)", "a+"} {
		plan(t, strings.Repeat(part, 6000/len(part)))
	}
}

func BenchmarkAppend(b *testing.B) {
	text := []byte(strings.Repeat("func (f *FS) Read(ctx context.Context, name string) error { return nil }\n", 1000))
	b.SetBytes(int64(len(text)))
	var sets []uint64
	for b.Loop() {
		sets = trigram.Append(sets[:0], text)
	}
}
