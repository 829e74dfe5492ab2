// Bench measures this module side by side, in one run, with what a user would
// pick instead, and prints tables of ratios of medians.
//
//	go -C bench run .                     # everything that this machine has the programs for
//	go -C bench run . -run grep,glob      # some of it; -help has the names
//	go -C bench run . -run grep -n 15 -svg grep.svg
//
// It is a module of its own, so that what it compares with is not among the
// requirements of our users.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/bench/measure"
)

// workload is a group of jobs that are of one kind. about is for the list of
// -help. An error of run that wraps errMissing leaves the workload out, unless
// it was asked for by name.
type workload struct {
	name, about string
	run         func(*bench) error
}

// workloads are in an order that lets those in this process, which the heap of others
// would slow down, come first.
func workloads() []workload {
	return []workload{
		{"grep", "search a local folder, against ripgrep, GNU grep and a program that only reads", benchGrep},
		{"warm", "search a local folder with an index, against ripgrep and fd", benchWarm},
		{"glob", "find files in a local folder, against fd, find and ripgrep", benchGlob},
		{"files", "read and write local files, against package os", benchFiles},
		{"start", "start the command, against ripgrep and a Go program that prints a line", benchStart},
		{"memory", "files in memory, against afero and eino", benchMemory},
		{"denied", "a search with denied names, against one without", benchDenied},
		{"stack", "rules, an observer and a session, against a workspace without them", benchStack},
		{"open", "open many workspaces of one file", benchOpen},
		{"mcp", "a file through our server, against the reference server (needs npm)", benchMCP},
		{"container", "the program in ./container (needs a Docker)", program("container")},
		{"objectstore", "the program in ./objectstore (needs an S3 server)", program("objectstore")},
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == constantCommand {
		exit(serveConstants())
		return
	}
	var names strings.Builder
	for _, w := range workloads() {
		fmt.Fprintf(&names, "\n%s: %s", w.name, w.about)
	}
	only := flag.String("run", "", "the `names` of what to run, separated by commas (default everything); one of"+names.String())
	dir := flag.String("dir", "", "the tree to search (default the Go toolchain's own source)")
	rounds := flag.Int("n", 7, "how many times to measure each")
	cpu := flag.Bool("cpu", false, "print ratios of processor time, too, and draw those, which a busy machine changes less; not for -run mcp, whose servers go on")
	svg := flag.String("svg", "", "draw the ratios into this `file`")
	flag.Parse()
	exit(run(*only, *dir, *rounds, *cpu, *svg, flag.NArg()))
}

// exit ends the program if there was an error.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures what -run chooses. Without -run, a workload whose programs are missing
// is left out and named.
//
// Any other error of a workload ends the run. What has been printed by then is
// valid.
func run(only, dir string, rounds int, cpu bool, svg string, extra int) (err error) {
	if rounds < 1 || extra > 0 {
		return errors.New("-n must be at least 1, and there are no arguments: -run grep runs one workload")
	}
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	b, err := newBench(dir, rounds)
	if err != nil {
		return err
	}
	b.CPU = cpu
	defer func() { err = errors.Join(err, os.RemoveAll(b.temp)) }()
	for _, w := range chosen {
		b.Title(w.name)
		if err := w.run(b); err != nil {
			if only == "" && errors.Is(err, errMissing) {
				fmt.Fprintf(b.Out, "\nleft out: %v\n", err)
				continue
			}
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	if svg == "" {
		return nil
	}
	file, err := os.Create(svg)
	if err != nil {
		return err
	}
	return errors.Join(b.Plot(file), file.Close())
}

// choose returns the workloads with the names. They are in the order of names,
// and all of them for "".
func choose(names string) ([]workload, error) {
	all := workloads()
	if names == "" {
		return all, nil
	}
	var chosen []workload
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(w workload) bool { return w.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-run: there is no %q; -help has the names", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// bench is one run. Workloads use the same trees in temp, which the first one
// that needs them makes.
type bench struct {
	measure.Report
	dir     string // the tree to search
	temp    string // is removed at the end
	program string // the command, once it is built without cgo
}

// newBench prepares a tree to search and a folder for temporary files.
func newBench(dir string, rounds int) (*bench, error) {
	if dir == "" {
		root, err := output("go", "env", "GOROOT")
		if err != nil {
			return nil, fmt.Errorf("where is the Go source? give -dir: %w", err)
		}
		dir = filepath.Join(root, "src")
	}
	temp, err := os.MkdirTemp("", "workspacekit-bench-")
	if err != nil {
		return nil, err
	}
	return &bench{Report: measure.Report{Rounds: rounds, Out: os.Stdout}, dir: dir, temp: temp}, nil
}

// errMissing is wrapped by the error of a workload that needs what this machine does not
// have.
var errMissing = errors.New("not on this machine")

// program returns a workload that is a program of its own.
func program(name string) func(*bench) error {
	return func(b *bench) error {
		if variable := map[string]string{"container": "WORKSPACEKIT_DOCKER_HOST", "objectstore": "WORKSPACEKIT_S3_ENDPOINT"}[name]; os.Getenv(variable) == "" {
			return fmt.Errorf("%w: what sets %s; see %s/main.go", errMissing, variable, name)
		}
		cmd := exec.Command("go", "run", "./"+name, "-n", fmt.Sprint(b.Rounds))
		cmd.Stdout, cmd.Stderr = b.Out, os.Stderr
		return cmd.Run()
	}
}

// command returns the path of the command workspace, which it builds the first time,
// without cgo as it then starts faster.
func (b *bench) command() (string, error) {
	if b.program != "" {
		return b.program, nil
	}
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", "github.com/workspacekit/workspacekit")
	if err != nil {
		return "", err
	}
	built := filepath.Join(b.temp, "workspace")
	if err := quietly("env", "CGO_ENABLED=0", "go", "-C", root, "build", "-o", built, "./cmd/workspace"); err != nil {
		return "", err
	}
	b.program = built
	return built, nil
}

// by returns a contender.
func by(name string, do func() (int, error)) measure.Contender {
	return measure.Contender{Name: name, Do: do}
}

// installed returns those contenders whose programs this machine has, and says which it
// lacks.
//
// A missing program is no failure, since the ratios to the others are of use
// without it.
func (b *bench) installed(all []peer) []measure.Contender {
	var found []measure.Contender
	for _, p := range all {
		if _, err := exec.LookPath(p.command[0]); err != nil {
			fmt.Fprintf(b.Out, "\n%s is not installed: %s\n", p.name, p.remedy)
			continue
		}
		found = append(found, by(p.name, func() (int, error) { return countLines(p.command) }))
	}
	return found
}

// peer is a program that prints a line for each result.
//
// remedy is the command that installs it.
type peer struct {
	name, remedy string
	command      []string
}

// output returns what a program prints, without the line break at the end.
func output(program string, args ...string) (string, error) {
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// quietly runs a program whose output matters only if it fails.
func quietly(program string, args ...string) error {
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, args[0], err, out)
	}
	return nil
}
