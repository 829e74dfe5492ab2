package unified_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/unified"
)

// pair is what a file holds before and after.
type pair struct{ before, after string }

// randomPairs returns contents that differ in a few places, the empty ones among them.
// If distinct, no line occurs twice, so there is only one shortest diff, and there are
// fewer changes than the library needs to find it.
func randomPairs(rnd *rand.Rand, n int, distinct bool) []pair {
	pairs := make([]pair, n)
	for i := range pairs {
		var before, after strings.Builder
		line := func(b *strings.Builder, k int) {
			if !distinct {
				k %= 3
			}
			fmt.Fprintf(b, "line %d\n", k)
		}
		changes := 0
		for k := range rnd.IntN(80) {
			change := rnd.IntN(12)
			if distinct && changes > 80 {
				change = 11
			}
			switch {
			case change == 0:
				changes += 2
				line(&after, 1000+k)
				line(&before, k)
			case change == 1:
				changes++
				line(&before, k)
			case change == 2:
				for extra := range 1 + rnd.IntN(10) {
					changes++
					line(&after, 2000+100*k+extra)
				}
				fallthrough
			default:
				line(&before, k)
				line(&after, k)
			}
		}
		pairs[i] = pair{before.String(), after.String()}
		if rnd.IntN(4) == 0 {
			pairs[i].before = strings.TrimSuffix(pairs[i].before, "\n")
		}
		if rnd.IntN(4) == 0 {
			pairs[i].after = strings.TrimSuffix(pairs[i].after, "\n")
		}
	}
	return pairs
}

// diffOf returns the hunks of a diff.
func diffOf(t *testing.T, name string, p pair) string {
	t.Helper()
	diff, note := unified.Diff(name, []byte(p.before), []byte(p.after))
	if p.before == p.after {
		return ""
	}
	if note != "" {
		t.Fatalf("Diff(%q, %q) has the note %q", p.before, p.after, note)
	}
	return diff
}

// TestAgreesWithDiff compares with GNU diff, byte for byte.
func TestAgreesWithDiff(t *testing.T) {
	dir, pairs := pairsOnDisk(t, 400, true)
	out, err := exec.Command(exhaustive.Program(t, "diff"), "-ruN", filepath.Join(dir, "a"), filepath.Join(dir, "b")).Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		t.Fatalf("diff = %v", err)
	}
	want := map[string]string{}
	for _, file := range strings.Split(string(out), "diff -ruN ")[1:] {
		head, hunks, _ := strings.Cut(file, "\n@@")
		want[filepath.Base(strings.Fields(head)[1])] = "@@" + hunks
	}
	for i, p := range pairs {
		name := fmt.Sprint(i)
		_, hunks, _ := strings.Cut(strings.TrimPrefix(diffOf(t, name, p), "--- "), "\n@@")
		if hunks != "" {
			hunks = "@@" + hunks
		}
		if diff := cmp.Diff(want[name], hunks); diff != "" {
			t.Fatalf("Diff(%q, %q) is not what diff -u says (-want +got):\n%s", p.before, p.after, diff)
		}
	}
}

// TestApplies tests that other programs find each hunk exactly where it says.
func TestApplies(t *testing.T) {
	dir, pairs := pairsOnDisk(t, 400, false)
	var diffs strings.Builder
	for i, p := range pairs {
		diffs.WriteString(diffOf(t, fmt.Sprint(i), p))
	}
	moved := regexp.MustCompile(`(?m)^.*(offset|fuzz|FAILED).*$`)
	for _, args := range [][]string{
		{"patch", "-p1", "--fuzz=0", "--binary", "--verbose"},
		{"git", "apply", "--verbose", "--whitespace=nowarn"},
	} {
		work := t.TempDir()
		if err := os.CopyFS(work, os.DirFS(filepath.Join(dir, "a"))); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exhaustive.Program(t, args[0]), args[1:]...)
		cmd.Dir, cmd.Stdin = work, strings.NewReader(diffs.String())
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(work), "LC_ALL=C")
		out, err := cmd.CombinedOutput()
		if err != nil || moved.Match(out) {
			t.Errorf("%v = %v, %s", args, err, moved.FindAll(out, 3))
		}
		for i, p := range pairs {
			if got, err := os.ReadFile(filepath.Join(work, fmt.Sprint(i))); string(got) != p.after && (err == nil || p.after != "") {
				t.Fatalf("%v of Diff(%q, %q) makes %q, %v", args, p.before, p.after, got, err)
			}
		}
	}
}

// pairsOnDisk writes random pairs to files in the directories a and b of dir, named 0, 1, 2.
func pairsOnDisk(t *testing.T, n int, distinct bool) (dir string, pairs []pair) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dir, pairs = t.TempDir(), randomPairs(rand.New(rand.NewPCG(seed, 0)), n, distinct)
	for i, p := range pairs {
		for side, content := range map[string]string{"a": p.before, "b": p.after} {
			name := filepath.Join(dir, side, fmt.Sprint(i))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, pairs
}
