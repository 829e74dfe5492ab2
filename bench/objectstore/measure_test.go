package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestRatio(t *testing.T) {
	ours := times{3 * time.Second, 1 * time.Second, 2 * time.Second}
	theirs := times{1 * time.Second, 4 * time.Second, 8 * time.Second}
	if got, want := ratio(ours, theirs), "0.5 (0.25 to 3)"; got != want {
		t.Errorf("ratio(%v, %v) = %q, want %q", ours, theirs, got, want)
	}
}

// TestRoundDifferentResults makes sure that contenders that do not do the same
// work are not compared.
func TestRoundDifferentResults(t *testing.T) {
	finds := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return n, nil }
	}
	for _, test := range []struct {
		name string
		last int
		want string
	}{
		{"the-same", 7, ""},
		{"others", 8, "the last"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := job{name: "search", turns: 2, contenders: []contender{{"ours", finds(7)}, {"theirs", finds(7)}, {"the last", finds(test.last)}}}
			_, results, err := j.round(t.Context(), 0)
			switch {
			case test.want == "" && (err != nil || results != 7):
				t.Errorf("round() = %d, %v, want 7, nil", results, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("round() = %v, want an error that names %q", err, test.want)
			}
		})
	}
}
