// Package measure compares ways to do a job, side by side in one run, and prints tables
// and a plot of the ratios.
//
// In each round each contender has a turn, and who begins changes from round to round,
// so that what disturbs the machine disturbs them all. A round that does not count comes
// first. A result is the median of the rounds.
package measure

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// Contender is one way to do a job.
type Contender struct {
	Name string
	// Do does the job and returns how many results it has, or [Uncounted].
	Do func() (results int, err error)
}

// Uncounted is the number of results of a contender whose results cannot be counted or
// are no measure.
const Uncounted = -1

// Report runs jobs and collects what they took. Its fields are set before the
// first call. It is for one goroutine. The tables are Markdown. Errors of
// writing to Out are ignored.
type Report struct {
	Rounds int       // at least 1
	Out    io.Writer // for the tables
	CPU    bool      // the tables have ratios of processor time, too, and the plot has these: of this process and of those that it waited for

	columns []string // of the table that is being printed
	groups  []group
}

// group is a title and the rows below it.
type group struct {
	title string
	rows  []row
}

// row is one job.
type row struct {
	job     string
	results []result // of the others
}

// result is how much longer we take than another contender.
type result struct {
	peer               string
	ratio, least, most float64 // of the medians, and in the rounds
}

// Title begins a group of jobs.
func (r *Report) Title(title string) {
	fmt.Fprintf(r.Out, "\n## %s\n", title)
	r.groups, r.columns = append(r.groups, group{title: title}), nil
}

// Run compares ours with the others, and prints a row of a table. The first
// error ends it, and then no row is printed. If the contenders do not find
// equally much, the row says so, as the ratio then compares different jobs. In
// a round of three:
//
//	round 0   a b c   does not count
//	round 1   b c a
//	round 2   c a b
func (r *Report) Run(job string, ours Contender, others ...Contender) error {
	all := append([]Contender{ours}, others...)
	took, worked := make([][]time.Duration, len(all)), make([][]time.Duration, len(all))
	found := make([]int, len(all))
	for round := range r.Rounds + 1 {
		for turn := range all {
			i := (round + turn) % len(all)
			start, begun := time.Now(), processorTime()
			n, err := all[i].Do()
			elapsed, used := time.Since(start), processorTime()-begun
			if err != nil {
				return fmt.Errorf("%s: %s: %w", job, all[i].Name, err)
			}
			if found[i] = n; round > 0 {
				took[i], worked[i] = append(took[i], elapsed), append(worked[i], used)
			}
		}
	}
	r.print(job, differences(all, found), all, took, worked)
	return nil
}

// print prints a row, after the head of the table unless the one before has the same
// columns.
//
// A ratio below 1 means that ours is faster.
func (r *Report) print(job, note string, all []Contender, took, worked [][]time.Duration) {
	var columns []string
	for _, c := range all {
		columns = append(columns, c.Name)
	}
	if !slices.Equal(columns, r.columns) {
		r.columns = columns
		fmt.Fprintf(r.Out, "\n| | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(all)))
	}
	now := row{job: job}
	fmt.Fprintf(r.Out, "| %s%s | %s |", job, note, spread(took[0]))
	for i, c := range all[1:] {
		compared := compare(c.Name, took[0], took[i+1])
		fmt.Fprintf(r.Out, " **%.2g** (%.2g to %.2g) of %s", compared.ratio, compared.least, compared.most, short(median(took[i+1])))
		if r.CPU {
			compared = compare(c.Name, worked[0], worked[i+1])
			fmt.Fprintf(r.Out, "; CPU %.2g", compared.ratio)
		}
		fmt.Fprint(r.Out, " |")
		now.results = append(now.results, compared)
	}
	fmt.Fprintln(r.Out)
	if len(r.groups) == 0 {
		r.groups = []group{{}}
	}
	last := &r.groups[len(r.groups)-1]
	last.rows = append(last.rows, now)
}

// compare returns the ratio of ours to theirs. The least and the greatest are
// of pairs in one round, so what changes from round to round, such as the clock
// of the processor, is in neither.
func compare(peer string, ours, theirs []time.Duration) result {
	c := result{peer: peer, ratio: float64(median(ours)) / float64(median(theirs)), least: math.Inf(1)}
	for i := range ours {
		within := float64(ours[i]) / float64(theirs[i])
		c.least, c.most = min(c.least, within), max(c.most, within)
	}
	return c
}

// differences says who found how much, unless all found the same.
//
// Contenders that are [Uncounted] are left out.
func differences(all []Contender, found []int) string {
	var counted []string
	var numbers []int
	for i, n := range found {
		if n != Uncounted {
			counted = append(counted, fmt.Sprintf("%s: %d", all[i].Name, n))
			numbers = append(numbers, n)
		}
	}
	if len(slices.Compact(numbers)) <= 1 {
		return ""
	}
	return " (" + strings.Join(counted, ", ") + ")"
}

// median returns the median, or the larger of the two in the middle.
func median(took []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(took))[len(took)/2]
}

// spread returns the median, the fastest and the slowest.
func spread(took []time.Duration) string {
	return fmt.Sprintf("%s (%s to %s)", short(median(took)), short(slices.Min(took)), short(slices.Max(took)))
}

// short returns d with three digits.
func short(d time.Duration) string {
	unit, name := time.Second, "s"
	switch {
	case d < time.Millisecond:
		unit, name = time.Microsecond, "µs"
	case d < time.Second:
		unit, name = time.Millisecond, "ms"
	}
	v := float64(d) / float64(unit)
	return fmt.Sprintf("%.*f %s", max(0, 2-int(math.Log10(max(v, 1)))), v, name)
}
