package main

import (
	"fmt"
	"slices"
	"time"
)

// contender is one way to do a job.
type contender struct {
	name string
	do   func() (results int, err error)
}

// times are how long the rounds of one contender took, sorted.
type times []time.Duration

func (t times) median() time.Duration { return t[len(t)/2] }

// compare lets the contenders take turns, so that what disturbs the machine
// disturbs them all, after one round that is not counted. It prints the median
// of each with its spread, and the ratio of the first one's median to it.
func compare(job string, rounds int, contenders ...contender) error {
	measured := make([]times, len(contenders))
	results := make([]int, len(contenders))
	for round := range rounds + 1 {
		for i, c := range contenders {
			start := time.Now()
			n, err := c.do()
			took := time.Since(start)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", job, c.name, err)
			}
			if results[i] = n; round > 0 {
				measured[i] = append(measured[i], took)
			}
		}
	}
	fmt.Println(job)
	for i, c := range contenders {
		slices.Sort(measured[i])
		fmt.Printf("  %-28s %10v  (%v to %v)  %6d results", c.name,
			short(measured[i].median()), short(measured[i][0]), short(measured[i][rounds-1]), results[i])
		if i > 0 {
			fmt.Printf("  ratio %.3f", float64(measured[0].median())/float64(measured[i].median()))
		}
		fmt.Println()
	}
	return nil
}

func short(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(10 * time.Nanosecond)
	}
	return d.Round(10 * time.Microsecond)
}
