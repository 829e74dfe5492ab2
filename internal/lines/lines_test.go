package lines_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/workspace"
)

// found returns the lines of text that a Matcher finds.
func found(t interface{ Fatalf(string, ...any) }, pattern string, opts lines.Options, text string) []string {
	m, err := lines.Compile(pattern, opts)
	if err != nil {
		t.Fatalf("Compile(%q, %+v) = %v", pattern, opts, err)
	}
	var got []string
	scanner := m.Scan(context.Background(), []byte(text))
	for {
		start, end, ok := scanner.Next()
		if !ok {
			break
		}
		got = append(got, text[start:end])
	}
	if len(got) > 0 && !m.CanMatch([]byte(text)) {
		t.Fatalf("Compile(%q, %+v).CanMatch(%q) = false, and these lines match: %q", pattern, opts, text, got)
	}
	return got
}

// expected returns the lines of text that the regular expression matches.
func expected(pattern string, opts lines.Options, text string) []string {
	if opts.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if opts.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re := regexp.MustCompile(pattern)
	var want []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		seen := line
		if !strings.Contains(pattern, "\r") {
			seen = strings.TrimSuffix(line, "\r")
		}
		if re.MatchString(seen) {
			want = append(want, line)
		}
	}
	return want
}

const corpus = "alpha\nbeta alpha\n\nGAMMA_10 A_1 ABC_9\nsk\u017f\u212a kS\n\xff\xfe bad\n" +
	"\u212aelvin\nmi\u017f\n\u212a\n\u017f\n" +
	"1\u00e9b\n2\u4e16b\u754c\n" +
	"func (f *F) ReadContext(x)\r\nfunc lower\nabcabc\naaa\nstra\u00dfe \u00e9t\u00e9 \u00c9T\u00c9\n\u4e16\u754c\nfoo.bar\nfoo|bar\n\n\nlast"

func TestFindsWhatTheRegexpFinds(t *testing.T) {
	for _, pattern := range []string{
		"alpha", "^alpha$", "a", "", "^$", "$", "x*", "[A-Z]{3,}_[0-9]+", `func \w+`, `\bfunc\b`, `\Bpha`, `k`, `s`, `sk`, `kelvin`,
		"alpha|GAMMA", "(alpha|beta|func).*a", "(?i)ALPHA", "(?i)sk", "(?i)\u00e9T", "\u00e9", "[\u00e0-\u00ff]", "[^a-z]", ".", "..", "\\x{FFFD}", "\\.", "foo.bar", "(abc)+", "a{3}", "(?i)[k]", "(?i)stra.e", "[\u4e00-\u9fff]+", "[\u00e0-\u00ff]b", `\d[\x{e0}-\x{ff}]b`, `\d.b`, "[\u4e00-\u9fff]b.", "^.b", "\r", "(a|b)*c", `(a)|(\n)`, `(?i)(G)|((\n)|\r)`, `((x)|(\n))\)`, `((x)|(\r))\)$`, "(?s).", "l.st$", "z", "\\S+\\s+\\S+", "(?:)", "a??", "^[^#]*Context",
		strings.Repeat("(", 60) + "[0-9]" + strings.Repeat("+)", 60),
	} {
		for _, opts := range []lines.Options{{}, {IgnoreCase: true}, {Literal: true}, {Literal: true, IgnoreCase: true}} {
			if diff := cmp.Diff(expected(pattern, opts, corpus), found(t, pattern, opts, corpus)); diff != "" {
				t.Errorf("Compile(%q, %+v) finds other lines than regexp (-want +got):\n%s", pattern, opts, diff)
			}
		}
	}
}

// spanned returns the lines of the matches of a pattern that can span lines. It
// tries one place after the other.
func spanned(pattern, text string) []string {
	seen := text
	if !strings.Contains(pattern, `\r`) {
		seen = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\r")
	}
	whole := strings.SplitAfter(text, "\n")
	var want []string
	line := 0 // where the next match can begin
	for at := 0; at < len(seen) || at == len(seen) && at > 0 && seen[at-1] != '\n'; at++ {
		first := strings.Count(seen[:at], "\n")
		match := regexp.MustCompile(fmt.Sprintf(`\A(?s:.{%d})(?m:(%s))`, at, pattern)).FindStringSubmatchIndex(seen)
		if first < line || match == nil {
			continue
		}
		last := strings.Count(seen[:max(match[3]-1, at)], "\n")
		want = append(want, strings.TrimSuffix(strings.Join(whole[first:last+1], ""), "\n"))
		line = last + 1
	}
	return want
}

// TestSpansWhatTheRegexpSpans compares with a search that knows nothing of lines.
func TestSpansWhatTheRegexpSpans(t *testing.T) {
	patterns := []string{
		"a", "a\n", "a\nb", `a\s+b`, "^a", "a$", "^$", "", "$", "^", `\n`, `\n\n`, `\Aa`, `\A`, `\z`, `a\z`, `b\n\z`, `(?s)a.*b`, `(?s)a.*?b`, "[^b]+", `\bb`, `\Bb`, `\b\n`,
		`a(?:\na)*`, `(?:\Aa|b)\n?`, `\r\n`, `a\r?\n`, `\r`, "(?i)AB\na", `a?(?:\nb)?`, "[\n]a", `\s*$`, `(?-m)^a`, `(?-m)a$`,
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ab ]{0,2}(\r?\n|\r)?){0,6}`).Draw(t, "text")
		pattern := rapid.SampledFrom(patterns).Draw(t, "pattern")
		if diff := cmp.Diff(spanned(pattern, text), found(t, pattern, lines.Options{Multiline: true}, text)); diff != "" {
			t.Fatalf("Compile(%q, Multiline) in %q (-want +got):\n%s", pattern, text, diff)
		}
	})
}

// TestFindsLiteralsAnywhere puts a word at every place of a buffer, as several
// places are looked at at a time.
func TestFindsLiteralsAnywhere(t *testing.T) {
	const length = 70
	for _, word := range []string{"n", "ne", "needle", "add-on", "0_0", "dab", "bad"} {
		for _, opts := range []lines.Options{{Literal: true}, {Literal: true, IgnoreCase: true}} {
			for at := 0; at+len(word) <= length; at++ {
				for _, put := range []string{word, strings.ToUpper(word)} {
					text := strings.Repeat("d", at) + put + strings.Repeat("E", length-at-len(word))
					if diff := cmp.Diff(expected(word, opts, text), found(t, word, opts, text)); diff != "" {
						t.Errorf("Compile(%q, %+v) in %q finds other lines than regexp (-want +got):\n%s", word, opts, text, diff)
					}
				}
			}
		}
	}
}

// TestFindsLiteralsFarAway puts a word after thousands of its own bytes, as common bytes are
// looked for in another way after some of them.
func TestFindsLiteralsFarAway(t *testing.T) {
	const length = 24 << 10
	around := strings.Repeat(strings.Repeat("ed", 20)[1:]+"\n", length/40+1)
	for _, word := range []string{"d", "dn", "needle", "bad", "dab"} {
		for _, opts := range []lines.Options{{Literal: true}, {Literal: true, IgnoreCase: true}} {
			for _, near := range []int{0, 8 << 10, 16 << 10, length - 40} {
				for at := near; at < near+40; at += 3 {
					text := around[:at] + word + around[at:length]
					if diff := cmp.Diff(expected(word, opts, text), found(t, word, opts, text)); diff != "" {
						t.Errorf("Compile(%q, %+v) with it at %d finds other lines than regexp (-want +got):\n%.2000s", word, opts, at, diff)
					}
				}
			}
		}
	}
}

// TestFindsFactorsAnywhere puts a match of fixed length at every place of a buffer between
// bytes that could begin or end one, as only some places are looked at.
func TestFindsFactorsAnywhere(t *testing.T) {
	exhaustive.NotShort(t, "searches 40,000 texts")
	const length = 120
	for pattern, word := range map[string]string{
		`[a-z]\d{4}[a-z]`: "x2048y", `\d{3}`: "123", `[0-9a-f]{8}-[0-9a-f]{4}`: "00c0ffee-4bad", `[A-Z]{2}[0-9]+é`: "AB12é", `\d{40}`: strings.Repeat("7", 40),
		`[A-Z]{3,}_[0-9]+`: "ABC_12", `\d[x-z]\d{33}`: "1x" + strings.Repeat("7", 33), `g\w_\d`: "go_1",
		`[x-z]{2}\d`: "yz1", `\d[x-z]{3}`: "1xyz", `[!-~]{5}`: "a-b+c", `([^a-zA-Z\x00-\x20]){6}é`: "1234_6é",
	} {
		for at := 0; at+len(word) <= length; at++ {
			for _, around := range []string{"1", "A", "\n", "_"} {
				text := strings.Repeat(around+"_", length/2)[:at] + word + strings.Repeat("_"+around, length/2)[:length-at-len(word)]
				if diff := cmp.Diff(expected(pattern, lines.Options{}, text), found(t, pattern, lines.Options{}, text)); diff != "" {
					t.Errorf("Compile(%q) in %q finds other lines than regexp (-want +got):\n%s", pattern, text, diff)
				}
			}
		}
	}
}

func TestFindsFactorsAtRandom(t *testing.T) {
	const part = `(\\d|_|\[0-9a-f\]|\[x-z\]|\\s|\[A-C0\]|\(\?i:k\)|é|\\b|\(\\d\[x-z\]\))(\+|\?|\*|\{2\}|\{1,3\}|)`
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching("("+part+"){1,5}").Draw(t, "pattern")
		if _, err := regexp.Compile(pattern); err != nil {
			t.Skip("malformed pattern")
		}
		text := rapid.StringMatching("([0-9a-fx-zA-C_kK é\n\u212a]){0,80}").Draw(t, "text")
		if diff := cmp.Diff(expected(pattern, lines.Options{}, text), found(t, pattern, lines.Options{}, text)); diff != "" {
			t.Fatalf("Compile(%q) in %q finds other lines than regexp (-want +got):\n%s", pattern, text, diff)
		}
	})
}

func TestFindsWhatTheRegexpFindsAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`([a-cK_.*+?|()\[\]^$s]|\\b|\\w|\(\?i\)|[0-9]|é){1,10}`).Draw(t, "pattern")
		if _, err := regexp.Compile(pattern); err != nil {
			t.Skip("malformed pattern")
		}
		text := rapid.StringMatching("([a-cA-CkKsS_0-9 éÉ\n\u212a\u017f]){0,60}").Draw(t, "text")
		opts := lines.Options{IgnoreCase: rapid.Bool().Draw(t, "fold")}
		if diff := cmp.Diff(expected(pattern, opts, text), found(t, pattern, opts, text)); diff != "" {
			t.Fatalf("Compile(%q, %+v) in %q finds other lines than regexp (-want +got):\n%s", pattern, opts, text, diff)
		}
	})
}

// TestPairIsTheFirst has two bytes at each place of buffers whose other bytes are like one of
// them. The pairs after the end of a buffer do not count.
func TestPairIsTheFirst(t *testing.T) {
	t.Parallel()
	const first, second = 'a', '!'
	others := []byte("a\x01AxA!bxx")
	for size := range 140 {
		for _, distance := range []int{0, 1, 2, 31, 40} {
			for place := range max(1, size) {
				buf := bytes.Repeat([]byte{first, second}, size)[:size]
				for i := range buf {
					buf[i] = others[(i+place)%len(others)]
				}
				if place+distance < size {
					buf[place], buf[place+distance] = first, second
				}
				for _, fold := range []bool{false, true} {
					from := place % 7
					want := pairIndex(buf, from, first, second, distance, fold)
					if fast, plain := lines.PairIndexes(buf, from, first, second, distance, fold); fast != want || plain != want {
						t.Fatalf("%q and %q at a distance of %d, fold %v, in %q from %d: %d with the processor's instructions and %d in Go, want %d", first, second, distance, fold, buf, from, fast, plain, want)
					}
				}
			}
		}
	}
}

// pairIndex looks at one place after the other.
func pairIndex(buf []byte, from int, first, second byte, distance int, fold bool) int {
	equal := func(b, want byte) bool { return b == want || fold && b|0x20 == want|0x20 }
	for i := from; i+distance < len(buf); i++ {
		if equal(buf[i], first) && equal(buf[i+distance], second) {
			return i
		}
	}
	return -1
}

func FuzzFind(f *testing.F) {
	f.Add("func \\w+", corpus, false)
	f.Add("(?i)sk|b+", corpus, true)
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		opts := lines.Options{IgnoreCase: fold}
		if _, err := lines.Compile(pattern, opts); err != nil {
			t.Skip("refused")
		}
		if diff := cmp.Diff(expected(pattern, opts, text), found(t, pattern, opts, text)); diff != "" {
			t.Errorf("Compile(%q, %+v) in %q finds other lines than regexp (-want +got):\n%s", pattern, opts, text, diff)
		}
	})
}

func TestCompileRefuses(t *testing.T) {
	for _, pattern := range []string{"(", "a\nb", `a\nb`, "[z-a]", "a{2000}", `\p{Nope}`, "(?P<x", strings.Repeat("a", 40000), strings.Repeat("[ab]{1000}", 200)} {
		if _, err := lines.Compile(pattern, lines.Options{}); !errors.Is(err, workspace.ErrPattern) {
			t.Errorf("Compile(%.20q) = %v, want ErrPattern", pattern, err)
		}
	}
}

// TestCompileIsQuick has patterns that once took a minute.
func TestCompileIsQuick(t *testing.T) {
	t.Parallel()
	var alternatives []string
	for n := range 130 {
		alternatives = append(alternatives, fmt.Sprintf("[a-q][^u-z]{%d}x", 10*n%900+1))
	}
	for _, pattern := range []string{
		strings.Join(alternatives, "|"), ".{1,900}[0-9]", "(?i)(" + strings.Repeat("ab|", 5000) + "c)[0-9]", strings.Repeat("(a|b)", 6000), strings.Repeat("a?", 10_000) + "b",
	} {
		begun := time.Now()
		if _, err := lines.Compile(pattern, lines.Options{}); err != nil {
			t.Errorf("Compile(%.40q…) = %v", pattern, err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("Compile(%.40q…) took %v", pattern, took)
		}
	}
}

// TestScanEndsWithItsContext scans lines that take minutes.
func TestScanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	text := []byte("1" + strings.Repeat("a", 16<<20))
	for name, c := range map[string]struct {
		pattern string
		opts    lines.Options
	}{
		"line":        {".{2,900}.{1,900}[0-9]", lines.Options{}},
		"multiline":   {"(?s).{2,900}.{1,900}[0-9]", lines.Options{Multiline: true}},
		"either case": {strings.Repeat("a", 20_000) + "b", lines.Options{IgnoreCase: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := lines.Compile(c.pattern, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			begun := time.Now()
			s := m.Scan(ctx, text)
			if _, _, ok := s.Next(); ok {
				t.Error("Next found a line, want none")
			}
			if _, parts := m.Parts(ctx, text, true, -1); parts != nil {
				t.Errorf("Parts = %v, want none", parts)
			}
			if took := time.Since(begun); ctx.Err() == nil || took > 10*time.Second {
				t.Errorf("it took %v, and the error of the context is %v: want it to end soon after the context", took, ctx.Err())
			}
		})
	}
}

func TestIsBinary(t *testing.T) {
	far := append(bytes.Repeat([]byte("a"), 8<<10), 0)
	for name, test := range map[string]struct {
		data []byte
		want bool
	}{
		"empty": {nil, false}, "text": {[]byte("a\n"), false}, "nul": {[]byte("a\x00"), true},
		"nul-in-window": {far[1:], true}, "nul-after-window": {far, false},
	} {
		if got := lines.IsBinary(test.data); got != test.want {
			t.Errorf("%s: IsBinary = %v, want %v", name, got, test.want)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	text := bytes.Repeat([]byte("func (c *conn) serve(ctx context.Context) error {\n\tif err := c.readRequest(ctx); err != nil {\n\t\treturn err\n\t}\n}\n"), 10000)
	for _, pattern := range []string{"readGCStats", `func \w+Context\(`, "(?i)readdeadline", "[A-Z]{3,}_[0-9]+", "[0-9]{3}[a-z]"} {
		b.Run(pattern, func(b *testing.B) {
			m, err := lines.Compile(pattern, lines.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				scanner := m.Scan(context.Background(), text)
				for {
					if _, _, ok := scanner.Next(); !ok {
						break
					}
				}
			}
		})
	}
}

// TestEitherCaseAtEachPlace has a text at each place of the parts that a search looks at.
func TestEitherCaseAtEachPlace(t *testing.T) {
	t.Parallel()
	m, err := lines.Compile("needle", lines.Options{IgnoreCase: true})
	if err != nil {
		t.Fatal(err)
	}
	for before := range 80 {
		for after := range 40 {
			text := strings.Repeat("n", before) + "NeeDle" + strings.Repeat("e", after)
			s := m.Scan(context.Background(), []byte(text))
			if start, end, ok := s.Next(); !ok || start != 0 || end != len(text) {
				t.Errorf("Next in %q = %d, %d, %v, want %d, %d, true", text, start, end, ok, 0, len(text))
			}
		}
	}
}
