package main

import (
	"fmt"
	"slices"
	"time"
)

// contender is one way to do a job. In each round it has so many turns in a
// row, because what the engine still does after a call of its client would
// otherwise delay the other contender. The median turn counts for the round.
type contender struct {
	name   string
	turns  int // how often it runs in a round
	do     func() error
	before func() error // what comes before a turn and does not count; nil for nothing
}

// bar is how many times as fast as theirs ours must be; 0 is none. It is a goal
// of this project, and missing one is no error.
type bar float64

// times are how long the rounds, or turns, of one contender took.
type times []time.Duration

// median returns the median, or the larger of the two in the middle.
func (t times) median() time.Duration { return slices.Sorted(slices.Values(t))[len(t)/2] }

// table is what is printed for one image, as Markdown. Rows are printed as soon
// as they are known, because a run takes minutes.
type table struct {
	rounds       int
	bars, notMet int // how many ratios have a bar, and how many are above theirs
	begun        time.Time
}

// newTable prints the head of a table.
func newTable(title string, rounds int) *table {
	fmt.Printf("## %s, %d rounds\n\n| | ours | by the client | ratio | bar | |\n|---|---|---|---|---|---|\n", title, rounds)
	return &table{rounds: rounds, begun: time.Now()}
}

// end prints the line below a table.
func (t *table) end() {
	fmt.Printf("\n%d of %d bars are met; it took %v.\n\n", t.bars-t.notMet, t.bars, time.Since(t.begun).Round(time.Second))
}

// compare lets ours and theirs take turns, so that what disturbs the machine
// disturbs both, after one round that is not counted, and prints a row.
func (t *table) compare(job string, least bar, ours, theirs contender) error {
	return t.compareIn(t.rounds, job, least, ours, theirs)
}

// compareIn does the same in a number of rounds of its own.
func (t *table) compareIn(rounds int, job string, least bar, ours, theirs contender) error {
	var a, b times
	for round := range rounds + 1 {
		x, err := ours.round()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", job, ours.name, err)
		}
		y, err := theirs.round()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", job, theirs.name, err)
		}
		if round > 0 {
			a, b = append(a, x), append(b, y)
		}
	}
	t.row(fmt.Sprintf("%s, against `%s`", job, theirs.name), least, a, b)
	return nil
}

// round returns the median of the turns of one round. What comes before a turn does not
// count.
func (c contender) round() (time.Duration, error) {
	var took times
	for range c.turns {
		if c.before != nil {
			if err := c.before(); err != nil {
				return 0, err
			}
		}
		start := time.Now()
		if err := c.do(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	return took.median(), nil
}

// row prints the medians, and the ratio of theirs to ours, with the least and
// the greatest of a round.
func (t *table) row(job string, least bar, ours, theirs times) {
	ratio := float64(theirs.median()) / float64(ours.median())
	within := make([]float64, len(ours))
	for i := range ours {
		within[i] = float64(theirs[i]) / float64(ours[i])
	}
	want, met := "", ""
	if least > 0 {
		t.bars++
		want, met = fmt.Sprintf("%.3g", float64(least)), "met"
		if ratio < float64(least) {
			t.notMet++
			met = "missed"
		}
	}
	fmt.Printf("| %s | %s | %s | %.3g (%.3g to %.3g) | %s | %s |\n", job, spread(ours), spread(theirs),
		ratio, slices.Min(within), slices.Max(within), want, met)
}

// spread returns the median of some times, and the least and the greatest.
func spread(t times) string {
	return fmt.Sprintf("%s ms (%s to %s)", milliseconds(t.median()), milliseconds(slices.Min(t)), milliseconds(slices.Max(t)))
}

// milliseconds returns a time with two decimals, or none from 100 ms on.
func milliseconds(d time.Duration) string {
	if d < 100*time.Millisecond {
		return fmt.Sprintf("%.2f", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.0f", d.Seconds()*1e3)
}
