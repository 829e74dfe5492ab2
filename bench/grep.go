package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/workspacekit/workspacekit/providers/localbash"
)

// patterns are a rare word, a regular expression with literal text, one in
// either case, and one without a rare word.
var patterns = []string{"readGCStats", `func \w+Context\(`, "(?i)readdeadline", "[A-Z]{3,}_[0-9]+", `[a-z]\d{4}[a-z]`}

// benchGrep compares a Grep in this process, from opening the folder to the
// sorted result, with runs of ripgrep, which sorts nothing unless it is asked
// to. Both search every file that is not binary.
func benchGrep(dir string, rounds int) error {
	if _, err := exec.LookPath("rg"); err != nil {
		return errors.New("ripgrep is not installed: get it with your package manager (Debian: ripgrep)")
	}
	for _, pattern := range patterns {
		err := compare(fmt.Sprintf("grep %s", pattern), rounds,
			contender{"localbash", func() (int, error) { return grep(dir, pattern) }},
			contender{"rg", func() (int, error) { return ripgrep(dir, pattern) }},
			contender{"rg --sort path", func() (int, error) { return ripgrep(dir, pattern, "--sort", "path") }},
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func grep(dir, pattern string) (int, error) {
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		return 0, err
	}
	defer fsys.Close()
	result, err := fsys.Grep(context.Background(), pattern, nil)
	if err != nil {
		return 0, err
	}
	return len(result.Matches), nil
}

func ripgrep(dir, pattern string, flags ...string) (int, error) {
	arguments := append([]string{"--no-config", "--no-ignore", "--hidden", "--line-number", "--no-heading", "--color", "never", "-e", pattern, dir}, flags...)
	out, err := exec.Command("rg", arguments...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // no matches
		err = nil
	}
	return bytes.Count(out, []byte{'\n'}), err
}
