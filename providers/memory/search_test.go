package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// searched is a workspace whose files were searched so often that they have summaries.
type searched struct{ *memory.FS }

func (s searched) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	for range memory.SearchesForSummaries {
		if _, err := s.FS.Grep(ctx, "a word", nil); err != nil {
			return nil, err
		}
	}
	return s.FS.Grep(ctx, pattern, opts)
}

// TestSummaryConformance runs the cases about searches with summaries.
func TestSummaryConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) workspace.FileSystem { return searched{memory.New(nil)} }, &conformance.Options{
		Short: !exhaustive.On(), Only: []string{"Grep", "Hide", "Exact"},
	})
}

// TestSummaryRounds changes files between searches. A workspace that was searched before must
// find what a new one with the same files finds.
func TestSummaryRounds(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	ctx := t.Context()
	old, files := memory.New(nil), map[string]string{}
	name := func() string { return fmt.Sprintf("d%d/f%d", random.IntN(3), random.IntN(5)) }
	word := func() string { return fmt.Sprintf("word%d", random.IntN(20)) }
	lacking := 0
	for range exhaustive.Some(t, "most rounds", 20_000, 1_000) {
		source, target := name(), name()
		var err error
		switch _, exists := files[source]; {
		case random.IntN(2) == 0:
			content := strings.Repeat(word()+"\n", random.IntN(3)) + strings.Repeat("\x00", random.IntN(8)/7)
			_, err = old.WriteFile(ctx, source, []byte(content), nil)
			files[source] = content
		case exists && files[target] == "" && random.IntN(2) == 0:
			if _, there := files[target]; there {
				break
			}
			_, err = old.Copy(ctx, source, target)
			files[target] = files[source]
		case exists:
			err = old.Rm(ctx, source, nil)
			delete(files, source)
		}
		if err != nil {
			t.Fatal(err)
		}
		fresh := memory.New(nil)
		for name, content := range files {
			if _, err := fresh.WriteFile(ctx, name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		pattern, opts := word(), &workspace.GrepOptions{MaxFileSize: int64(random.IntN(2) * 8)}
		lacking += old.Lacking(pattern)
		got, err := old.Grep(ctx, pattern, opts)
		want, wantErr := fresh.Grep(ctx, pattern, opts)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || wantErr != nil {
			t.Fatalf("Grep(%q, %+v) = %v, %v; it differs (-new +searched):\n%s", pattern, opts, err, wantErr, diff)
		}
	}
	if lacking == 0 {
		t.Error("no summary excluded a file")
	}
}

// TestSummaries wants the summaries to exclude files, but those of other sizes and kinds.
func TestSummaries(t *testing.T) {
	t.Parallel()
	m := searched{memory.New(nil)}
	for name, content := range map[string]string{"a": "some words", "b": "others", "d/c": "and more", "d/binary": "\x00", "d/e/f": ""} {
		if _, err := m.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	result, err := m.Grep(t.Context(), "words", nil)
	if err != nil || len(result.Matches) != 1 || result.Searched != 4 || len(result.Skipped) != 1 {
		t.Errorf("Grep = %+v, %v, want a match, 4 files searched and one skipped", result, err)
	}
	for pattern, want := range map[string]int{"words": 3, "absent": 4, "others|words": 2, "[a-z]+": 0} {
		if got := m.Lacking(pattern); got != want {
			t.Errorf("the summaries exclude %d files for %q, want %d", got, pattern, want)
		}
	}
}
