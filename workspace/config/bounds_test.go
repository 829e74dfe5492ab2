package config_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestBounds tests files that would cost a plain reader the time of the square
// of their size, its stack, or its memory.
func TestBounds(t *testing.T) {
	exhaustive.Long(t)
	const size = 1 << 20
	for _, tt := range []struct{ name, before, repeated, want string }{
		{"block-keys", "", "a: b\n", "more than 15000 entries"},
		{"block-keys-of-texts", "", "a: |\n  x\n", "more than 15000 entries"},
		{"flow-keys", "workspaces: {", "a,", "more than 15000 entries"},
		{"flow-items", "workspaces: [", "a,", "more than 15000 entries"},
		{"flow-depth", "workspaces: ", "[", "more than 32 deep"},
		{"block-depth", "", "- ", "more than 32 deep"},
		{"key-depth", "", "? ", "more than 32 deep"},
		{"many-mappings", "", strings.Repeat("  a: b\n", 5000) + "-\n", "more than 15000 entries"},
		{"aliases", "workspaces:\n  a: &a [b, c]\n  x:\n", "  - *a\n", "aliases repeat more than 10000"},
		{"problems", "workspaces:\n  a:\n    requires:\n", "    - ${X}\n", "and "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.before + strings.Repeat(tt.repeated, size/len(tt.repeated))
			if tt.name == "aliases" || tt.name == "problems" {
				text = tt.before + strings.Repeat(tt.repeated, 12_000)
			}
			before, start := allocated(), time.Now()
			_, err := config.Parse([]byte(text), &config.Options{Env: testEnv})
			var broken *config.Error
			if !errors.As(err, &broken) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Parse = %.200v, want an error with %q", err, tt.want)
			}
			t.Logf("%v, %d MiB", time.Since(start), (allocated()-before)>>20)
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("Parse took %v", took)
			}
			if lines := strings.Count(err.Error(), "\n"); lines > 400 {
				t.Errorf("the error has %d lines", lines)
			}
		})
	}
}

// allocated returns how many bytes have been allocated so far.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}
