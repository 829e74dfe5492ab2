// Bench measures this module side by side, in one run, with what a user would
// pick instead, and prints ratios of medians.
//
//	go run ./bench          # everything
//	go run ./bench grep     # the local folder against ripgrep
//	go run ./bench memory   # the memory provider against afero
//	go run ./bench denied   # a search with denied names against one without
//	go run ./bench open     # what it takes to open many workspaces of one file
//	go run ./bench stack    # rules, an observer and a session against a workspace without them
//	go run ./bench mcp      # a file through our server against the reference one (needs npm)
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	dir := flag.String("dir", "", "the tree to search (default the Go toolchain's own source)")
	rounds := flag.Int("n", 7, "how many times to measure each")
	flag.Parse()
	if err := run(flag.Arg(0), *dir, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(which, dir string, rounds int) error {
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
	switch which {
	case "":
		if err := benchGrep(dir, rounds); err != nil {
			return err
		}
		if err := benchMemory(rounds); err != nil {
			return err
		}
		if err := benchDenied(rounds); err != nil {
			return err
		}
		if err := benchOpen(rounds); err != nil {
			return err
		}
		if err := benchStack(rounds); err != nil {
			return err
		}
		return benchMCP(rounds)
	case "grep":
		return benchGrep(dir, rounds)
	case "memory":
		return benchMemory(rounds)
	case "denied":
		return benchDenied(rounds)
	case "open":
		return benchOpen(rounds)
	case "stack":
		return benchStack(rounds)
	case "mcp":
		return benchMCP(rounds)
	case constantCommand:
		return serveConstants()
	}
	return fmt.Errorf("unknown benchmark %q: grep, memory, denied, open, stack or mcp", which)
}
