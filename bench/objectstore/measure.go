package main

import (
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"time"
)

// contender is one way to do a job.
type contender struct {
	name string
	do   func(ctx context.Context) (results int, err error)
}

// job is what the contenders do. The first contender is this module. In each
// round each has so many turns, one after the other, and its median turn counts.
type job struct {
	name       string
	turns      int
	contenders []contender
	notes      map[string]int64 // how many requests the last turn of a contender sent; nil if nobody counts
}

// times are how long the rounds, or turns, of one contender took.
type times []time.Duration

func (t times) median() time.Duration { return slices.Sorted(slices.Values(t))[len(t)/2] }

// run lets the contenders take turns, so that what disturbs the machine
// disturbs them all, after one round that is not counted.
func (j job) run(ctx context.Context, rounds int) error {
	measured := make([]times, len(j.contenders))
	for round := range rounds + 1 {
		took, results, err := j.round(ctx, round)
		if err != nil {
			return err
		}
		if round == 0 {
			fmt.Printf("%s: %d results\n", j.name, results)
			continue
		}
		for i := range took {
			measured[i] = append(measured[i], took[i])
		}
	}
	j.print(measured)
	return nil
}

// print prints the median of each contender with its spread, and the ratio of
// the first one's median to it. A ratio below 1 means that ours is faster.
func (j job) print(measured []times) {
	for i, c := range j.contenders {
		fmt.Printf("  %-36s %9v  (%v to %v)", c.name, short(measured[i].median()), short(slices.Min(measured[i])), short(slices.Max(measured[i])))
		if i > 0 {
			fmt.Printf("  ratio %s", ratio(measured[0], measured[i]))
		}
		if sent, ok := j.notes[c.name]; ok {
			fmt.Printf("  %d requests", sent)
		}
		fmt.Println()
	}
}

// round lets everyone have its turns. Who begins changes with the round and
// the turn. All must come to the same number of results.
func (j job) round(ctx context.Context, round int) (medians times, results int, err error) {
	took := make([]times, len(j.contenders))
	for turn := range j.turns {
		for next := range j.contenders {
			i := (round + turn + next) % len(j.contenders)
			d, n, err := j.turn(ctx, j.contenders[i])
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %s: %w", j.name, j.contenders[i].name, err)
			}
			if turn+next > 0 && n != results {
				return nil, 0, fmt.Errorf("%s: %s has %d results, and the one before it %d", j.name, j.contenders[i].name, n, results)
			}
			results = n
			took[i] = append(took[i], d)
		}
	}
	for _, t := range took {
		medians = append(medians, t.median())
	}
	return medians, results, nil
}

// turn runs a contender once. The labels let a profile be divided by job and
// contender.
func (j job) turn(ctx context.Context, c contender) (took time.Duration, results int, err error) {
	pprof.Do(ctx, pprof.Labels("job", j.name, "contender", c.name), func(ctx context.Context) {
		start := time.Now()
		results, err = c.do(ctx)
		took = time.Since(start)
	})
	return took, results, err
}

// ratio returns the ratio of the medians, and the least and the greatest ratio
// within a round.
func ratio(ours, theirs times) string {
	within := make([]float64, len(ours))
	for i := range ours {
		within[i] = float64(ours[i]) / float64(theirs[i])
	}
	return fmt.Sprintf("%.3g (%.3g to %.3g)", float64(ours.median())/float64(theirs.median()), slices.Min(within), slices.Max(within))
}

func short(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Microsecond)
	}
	return d.Round(time.Millisecond)
}
