package command

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
)

// ending is a context that ends when it has been asked so many times.
type ending struct {
	context.Context
	times int
}

// Err implements [context.Context].
func (e *ending) Err() error {
	if e.times--; e.times < 0 {
		return context.Canceled
	}
	return nil
}

// TestDiffEnds compares two texts with contexts that end at each moment of the comparison.
func TestDiffEnds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func(lines int) []string {
		list := make([]string, lines)
		for i := range list {
			list[i] = strconv.Itoa(random.IntN(20)) + "\n"
		}
		return list
	}
	key := func(line string) string { return line }
	old, now := text(400), text(300)
	for times := 0; ; times++ {
		ctx := &ending{t.Context(), times}
		_, err := compareLines(ctx, old, now, key)
		if (err != nil) != (ctx.times < 0) {
			t.Fatalf("compareLines with a context that ends after %d questions = %v", times, err)
		}
		if err == nil {
			break
		}
	}
}
