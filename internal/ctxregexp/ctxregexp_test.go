package ctxregexp_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/ctxregexp"
)

// compile returns expr as a Regexp and as package regexp has it.
func compile(t interface{ Fatalf(string, ...any) }, expr string, longest bool) (*ctxregexp.Regexp, *regexp.Regexp) {
	re, err := ctxregexp.Compile(expr, longest)
	if err != nil {
		t.Fatalf("Compile(%q) = %v", expr, err)
	}
	want := regexp.MustCompile(expr)
	if longest {
		want.Longest()
	}
	return re, want
}

// TestFindsWhatTheRegexpFinds compares small and large searches with package regexp.
func TestFindsWhatTheRegexpFinds(t *testing.T) {
	const part = `(a|b|\\Q|\\E|\\w|\[\^a\]|\.|\\b|\\B|\^|\$|é|\\A|\\z|\(a\|ab\)|\(b\|bb\|\)|\(\?i:K\)|\n)(\+|\?|\*|\+\?|\*\?|\{2\}|)`
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom([]string{"", "(?m)", "(?s)"}).Draw(t, "flags") + rapid.StringMatching("("+part+`\|?){1,4}`).Draw(t, "expr")
		if _, err := regexp.Compile(expr); err != nil {
			t.Skip("malformed expression")
		}
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", "k", "\u212a", " ", "\n", "\xff", "\xc3"}), 0, 12).Draw(t, "text")
		text := []byte(strings.Join(parts, ""))
		n := rapid.IntRange(-1, 3).Draw(t, "n")
		checkFinds(t, expr, text, n, rapid.Bool().Draw(t, "longest"))
	})
}

// checkFinds compares small and large searches in text for at most n matches with package regexp.
func checkFinds(t interface {
	Context() context.Context
	Fatalf(string, ...any)
}, expr string, text []byte, n int, longest bool) {
	re, want := compile(t, expr, longest)
	for _, small := range []int{1 << 27, 0} {
		re := re.WithSmall(small)
		if got := re.Match(t.Context(), text); got != want.Match(text) {
			t.Fatalf("Compile(%q).Match(%q) = %v, want %v", expr, text, got, !got)
		}
		if got := re.MatchString(t.Context(), string(text)); got != want.Match(text) {
			t.Fatalf("Compile(%q).MatchString(%q) = %v, want %v", expr, text, got, !got)
		}
		if diff := cmp.Diff(want.FindAllSubmatchIndex(text, n), re.All(t.Context(), text, n)); diff != "" {
			t.Fatalf("Compile(%q).All(%q, %d) (-want +got):\n%s", expr, text, n, diff)
		}
		if diff := cmp.Diff(want.FindAllSubmatchIndex(text, n), re.AllString(t.Context(), string(text), n)); diff != "" {
			t.Fatalf("Compile(%q).AllString(%q, %d) (-want +got):\n%s", expr, text, n, diff)
		}
	}
}

// FuzzFind compares searches with package regexp, for any expression that can be compiled.
func FuzzFind(f *testing.F) {
	f.Add("(?i)a|b$", "aB\nb", -1, false)
	f.Add(`x*\Qa(`, "xa( a(", -1, false)
	f.Add(`(\bé+)\Q\`, "é\\ éé\\", 2, true)
	f.Fuzz(func(t *testing.T, expr, text string, n int, longest bool) {
		if _, err := ctxregexp.Compile(expr, longest); err != nil {
			t.Skip("refused")
		}
		checkFinds(t, expr, []byte(text), n, longest)
	})
}

// TestEndsWithItsContext searches for what takes minutes.
func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	large, _ := compile(t, strings.Repeat("(a|aa){500}", 8)+"[0-9]", false)
	again, _ := compile(t, "a[^b]*b|a", false)
	text := strings.Repeat("a", 16<<20)
	for name, search := range map[string]func(ctx context.Context) bool{
		"Match":       func(ctx context.Context) bool { return large.Match(ctx, []byte(text)) },
		"MatchString": func(ctx context.Context) bool { return large.MatchString(ctx, text) },
		"All":         func(ctx context.Context) bool { return large.All(ctx, []byte(text), 1) != nil },
		"AllString":   func(ctx context.Context) bool { return again.AllString(ctx, text[:1<<20], -1) != nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			begun := time.Now()
			if search(ctx) {
				t.Error("it found something, want nothing")
			}
			if took := time.Since(begun); ctx.Err() == nil || took > 10*time.Second {
				t.Errorf("it took %v, and the context's error is %v: want it to end soon after the context", took, ctx.Err())
			}
		})
	}
}

// TestNothingAfterTheEnd searches with a context that has ended, so that a program that searches
// again and again ends, too.
func TestNothingAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := strings.Repeat("a", 2<<10)
	for _, small := range []int{1 << 27, 0} {
		re, _ := compile(t, "a|$", false)
		re = re.WithSmall(small)
		if re.Match(ctx, []byte(text)) || re.MatchString(ctx, text) || re.All(ctx, []byte(text), -1) != nil || re.AllString(ctx, text, -1) != nil {
			t.Errorf("a search with a context that has ended found something, want nothing (maxSmall %d)", small)
		}
	}
}

// countingContext counts how often it is asked for its error.
type countingContext struct {
	context.Context
	asked int
}

func (c *countingContext) Err() error {
	c.asked++
	return c.Context.Err()
}

// TestNothingAfterTheLastMatch has as many matches as are wanted at the beginning of a text. A
// search of the rest would ask the context some dozen times.
func TestNothingAfterTheLastMatch(t *testing.T) {
	t.Parallel()
	re, _ := compile(t, "a", false)
	ctx := &countingContext{Context: t.Context()}
	text := append([]byte("aa"), make([]byte, 1<<20)...)
	if got := re.WithSmall(0).All(ctx, text, 2); len(got) != 2 || ctx.asked > 10 {
		t.Errorf("All found %d matches, and asked the context %d times, want 2 matches and at most 10", len(got), ctx.asked)
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	if _, err := ctxregexp.Compile(strings.Repeat("(ab|cd){1000}", 30), false); !errors.Is(err, ctxregexp.ErrTooLarge) {
		t.Errorf("Compile of a large expression = %v, want ErrTooLarge", err)
	}
	nested := strings.Repeat("(", 999) + "a" + strings.Repeat(")", 999) // package regexp takes it
	if _, err := ctxregexp.Compile(nested, false); !errors.Is(err, ctxregexp.ErrTooLarge) {
		t.Errorf("Compile of 999 groups in each other = %v, want ErrTooLarge", err)
	}
	if _, err := ctxregexp.Compile("(", false); err == nil || errors.Is(err, ctxregexp.ErrTooLarge) {
		t.Errorf("Compile of half an expression = %v, want a syntax error", err)
	}
}
