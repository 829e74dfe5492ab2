package localbash_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// roles are what this test binary can do as a child process.
func roles() map[string]func(dir string) error {
	all := map[string]func(string) error{
		"write": func(dir string) error { return withFS(dir, writeForever) },
		"edit":  func(dir string) error { return withFS(dir, countUp) },
	}
	maps.Copy(all, unixRoles())
	maps.Copy(all, linuxRoles())
	return all
}

// crashFiles is how many files a writer that will be killed writes in turn.
const crashFiles = 20

// crashSize is how large the file of a number is: small ones are written in another way.
func crashSize(file int) int {
	if file%3 == 0 {
		return 32 << 10
	}
	return 256 << 10
}

// crashContent is the content of a file in one round: each byte says which.
func crashContent(round, file int) []byte {
	return bytes.Repeat([]byte{byte('a' + round%26)}, crashSize(file))
}

// writeForever writes files until the process is killed.
func writeForever(fsys *localbash.FS) error {
	for round := 0; ; round++ {
		for i := range crashFiles {
			name := fmt.Sprintf("dir%d/file%d", i%4, i)
			if _, err := fsys.WriteFile(context.Background(), name, crashContent(round, i), nil); err != nil {
				return err
			}
		}
	}
}

// counts is how often each editor adds one to a number.
const counts = 200

// countUp is one editor.
func countUp(fsys *localbash.FS) error {
	w := workspace.New("x", fsys, nil)
	for range counts {
		if _, _, err := w.Edit(context.Background(), "count", addOne); err != nil {
			return err
		}
	}
	return nil
}

func addOne(old []byte) ([]byte, error) {
	n, err := strconv.Atoi(string(old))
	if err != nil {
		return nil, errors.New("the file does not have a number")
	}
	return []byte(strconv.Itoa(n + 1)), nil
}
