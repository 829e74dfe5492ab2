package conformance_test

import (
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
)

func openReference(*testing.T) workspace.FileSystem { return newReference() }

func openHooked(*testing.T) workspace.FileSystem { return newHooked() }

func TestCompare(t *testing.T) {
	conformance.Compare(t, openReference, openHooked, nil)
}

func TestCompareSymlinks(t *testing.T) {
	conformance.Compare(t, openReference, openHooked, &conformance.CompareOptions{Symlink: symlink})
}

// TestCompareUnsupported compares with a file system that can do little.
func TestCompareUnsupported(t *testing.T) {
	conformance.Compare(t, openReference, func(*testing.T) workspace.FileSystem { return plain{newReference()} }, nil)
}

// TestCompareCleanNames compares what refuses names with what cleans them.
func TestCompareCleanNames(t *testing.T) {
	conformance.Compare(t, openReference, func(*testing.T) workspace.FileSystem {
		return workspace.New("test", newReference(), &workspace.Options{MaxFileSize: -1})
	}, &conformance.CompareOptions{CleanNames: true})
}

// TestCompareMutants proves that Compare finds a difference in each kind of
// result, and shows no more than the few operations that lead to it.
func TestCompareMutants(t *testing.T) {
	exhaustive.NotShort(t, "shrinks sequences")
	for name, value := range map[string]string{"rapid.shrinktime": "10s", "rapid.checks": "1000", "rapid.seed": "1"} {
		setFlag(t, name, value)
	}
	wanted := map[string]bool{
		"wrong-path": true, "not-dir-is-not-exist": true, "shares-its-bytes": true, "version-is-the-size": true, "create-close-commits": true,
		"ls-limit-one-short": true, "glob-no-after": true, "grep-no-context": true, "rm-by-prefix": true, "copy-moves": true,
		"write-replaces-symlink": true, "rm-follows": true,
	}
	wanted = exhaustive.Some(t, "most mutants, which take seconds to shrink", wanted,
		map[string]bool{"wrong-path": true, "shares-its-bytes": true})
	t.Run("all", func(t *testing.T) {
		for _, m := range mutants() {
			if !wanted[m.name] {
				continue
			}
			delete(wanted, m.name)
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				var opts conformance.CompareOptions
				if strings.HasPrefix(m.cases[0], "Symlink/") {
					opts.Symlink = symlink
				}
				got := conformance.RunCompare(t, openReference, func(*testing.T) workspace.FileSystem {
					h := newHooked()
					m.breaks(h)
					return h
				}, opts)
				if steps := stepsOf(t, got); steps == 0 || steps > 4 {
					t.Errorf("Compare shows %d operations, want 1 to 4; its log: %s", steps, got.Log)
				}
			})
		}
	})
	for name := range wanted {
		t.Errorf("there is no mutant %s", name)
	}
}

// stepsOf returns how many operations the sequence has that Compare shows, 0 if
// it found none.
func stepsOf(t *testing.T, got conformance.Outcome) int {
	t.Helper()
	matches := regexp.MustCompile(`step \d+ of (\d+), `).FindAllStringSubmatch(got.Log, -1)
	if !got.Failed || len(matches) == 0 {
		return 0
	}
	steps, err := strconv.Atoi(matches[len(matches)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func setFlag(t *testing.T, name, value string) {
	t.Helper()
	before := fmt.Sprint(flag.Lookup(name).Value)
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { flag.Set(name, before) })
}
