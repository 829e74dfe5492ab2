// Objectstore measures the objectstore provider side by side, in one run, with
// what a user would pick instead: the AWS SDK by itself, gocloud.dev/blob/s3blob
// and rclone's library. It prints ratios of medians.
//
//	eval "$(.ci/s3 start)"     # or set WORKSPACEKIT_S3_..., see internal/s3test
//	go -C bench run ./objectstore     # everything
//	go -C bench run ./objectstore -n 15 -only ls,walk
//
// It writes some 13,000 objects below a random prefix of the bucket and removes
// them at the end.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strings"
)

func main() {
	rounds := flag.Int("n", 7, "how many times to measure each")
	only := flag.String("only", "", "the benchmarks to run, separated by commas: "+benchNames()+" (default all)")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this `file`; its samples have the labels job and contender")
	flag.Parse()
	if err := run(*rounds, *only, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, only, profile string) (err error) {
	if rounds < 1 {
		return fmt.Errorf("-n must be at least 1, not %d", rounds)
	}
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	s, err := newStore("bench-" + rand.Text() + "/")
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	defer func() { err = errors.Join(err, s.clear(context.WithoutCancel(ctx))) }()
	if err := prepare(ctx, s, chosen); err != nil {
		return err
	}
	return profiled(profile, func() error { return measure(ctx, s, chosen, rounds) })
}

// choose returns the benchmarks of the list only, all if it is empty.
func choose(only string) ([]bench, error) {
	if only == "" {
		return benches(), nil
	}
	var chosen []bench
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(benches(), func(b bench) bool { return b.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no benchmark %q, but %s", name, benchNames())
		}
		chosen = append(chosen, benches()[i])
	}
	return chosen, nil
}

// prepare writes what the benchmarks need.
func prepare(ctx context.Context, s *store, chosen []bench) error {
	filled := map[objects]bool{}
	for _, b := range chosen {
		if filled[b.needs] {
			continue
		}
		if err := s.fill(ctx, b.needs); err != nil {
			return err
		}
		filled[b.needs] = true
	}
	return nil
}

func measure(ctx context.Context, s *store, chosen []bench, rounds int) error {
	for _, b := range chosen {
		if err := b.run(ctx, s, rounds); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return nil
}

// profiled calls f, and writes a CPU profile of it unless file is empty.
func profiled(file string, f func() error) error {
	if file == "" {
		return f()
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return errors.Join(err, out.Close())
	}
	err = f()
	pprof.StopCPUProfile()
	return errors.Join(err, out.Close())
}

func benchNames() string {
	var names []string
	for _, b := range benches() {
		names = append(names, b.name)
	}
	return strings.Join(names, ", ")
}
