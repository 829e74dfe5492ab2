// Container measures the container provider side by side, in one run, with what
// a program does that runs the engine's client for each operation. It prints
// ratios of medians, and the bar that we set ourselves for each.
//
//	eval "$(.ci/engines start)"     # or set the three variables it sets
//	go -C bench run ./container     # on both images, some minutes
//	go -C bench run ./container -n 15 -only grep -image debian
//
// The search is in the Go toolchain's own source, and must find exactly what
// the local provider finds there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// bench is some rows of the table.
type bench struct {
	name string
	run  func(ctx context.Context, b *box, t *table) error
}

// benches are what -only chooses from.
func benches(dir string) []bench {
	return []bench{
		{"small", benchSmall},
		{"large", benchLarge},
		{"glob", benchGlob},
		{"grep", func(ctx context.Context, b *box, t *table) error { return benchGrep(ctx, b, t, dir) }},
	}
}

// images are those of .ci/engines, with the variable that has the name of each.
func images() [][2]string {
	return [][2]string{{"debian", "WORKSPACEKIT_DEBIAN_IMAGE"}, {"busybox", "WORKSPACEKIT_BUSYBOX_IMAGE"}}
}

func main() {
	rounds := flag.Int("n", 9, "how many times to measure each")
	only := flag.String("only", "", "the one benchmark to run: small, large, glob or grep (default all)")
	image := flag.String("image", "", "the one image to run on: debian or busybox (default both)")
	dir := flag.String("dir", "", "the tree to search (default the Go toolchain's own source)")
	flag.Parse()
	if err := run(*rounds, *only, *image, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the benchmarks that were chosen on the images that were chosen.
func run(rounds int, only, image, dir string) error {
	if rounds < 1 {
		return fmt.Errorf("-n must be at least 1, not %d", rounds)
	}
	if dir == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return fmt.Errorf("where is the Go source? give -dir: %w", err)
		}
		dir = filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	chosen := slices.DeleteFunc(benches(dir), func(b bench) bool { return only != "" && b.name != only })
	on := slices.DeleteFunc(images(), func(i [2]string) bool { return image != "" && i[0] != image })
	if len(chosen) == 0 || len(on) == 0 {
		return fmt.Errorf("there is no benchmark %q on an image %q", only, image)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, i := range on {
		if err := measure(ctx, i, chosen, rounds); err != nil {
			return fmt.Errorf("%s: %w", i[0], err)
		}
	}
	return nil
}

// measure prints the table of one image.
func measure(ctx context.Context, image [2]string, chosen []bench, rounds int) (err error) {
	b, err := newBox(ctx, os.Getenv("WORKSPACEKIT_DOCKER_HOST"), os.Getenv(image[1]))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.files.Close()) }()
	t := newTable("Docker, "+image[0], rounds)
	for _, bench := range chosen {
		if err := bench.run(ctx, b, t); err != nil {
			return fmt.Errorf("%s: %w", bench.name, err)
		}
	}
	t.end()
	return nil
}
