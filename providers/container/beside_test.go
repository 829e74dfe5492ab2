package container_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestBesideRecursiveRm changes a directory that others remove. A call that
// fails says that something does not exist, or that it can be tried again.
func TestBesideRecursiveRm(t *testing.T) {
	inPlaces(t, func(t *testing.T, r *running) {
		f := r.open(t)
		changes := map[string]func(name string) error{
			"WriteFile": func(name string) error { return second(f.WriteFile(t.Context(), name, nil, nil)) },
			"Mkdir":     func(name string) error { return f.Mkdir(t.Context(), name, &workspace.MkdirOptions{Recursive: true}) },
		}
		for change, do := range changes {
			for round := range 10 {
				dir := fmt.Sprint(change, round)
				together(12, func(i int) {
					call, err := "Rm", error(nil)
					if i%3 == 0 {
						err = f.Rm(t.Context(), dir, &workspace.RmOptions{Recursive: true})
					} else {
						call, err = change, do(fmt.Sprintf("%s/a/%d", dir, i))
					}
					if !vanished(err) {
						t.Errorf("%s beside Rm(%q, Recursive) = %v, want nil, %q or %q", call, dir, err, fs.ErrNotExist, workspace.ErrUnavailable)
					}
				})
			}
		}
	})
}

// together calls do with 0 to n-1 at the same time.
func together(n int, do func(i int)) {
	var working sync.WaitGroup
	for i := range n {
		working.Go(func() { do(i) })
	}
	working.Wait()
}

// vanished reports whether err is what a change of a directory that others
// remove may return.
func vanished(err error) bool {
	return err == nil || (errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrUnavailable)) &&
		!strings.Contains(err.Error(), ops.ReservedPrefix)
}
