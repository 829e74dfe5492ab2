package config_test

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// The most that a file may cost to be read, whatever is in it.
const (
	fuzzTime   = 5 * time.Second
	fuzzMemory = 512 << 20
)

// FuzzParse tests that no file makes Parse panic, hang or use much memory, and
// that what it refuses it explains.
func FuzzParse(f *testing.F) {
	for _, file := range brokenSeeds(f) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(manyOf(3, "{ kind: memory }"))
	registry := workspacekit.NewRegistry()
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		c, err := config.Parse(data, &config.Options{Env: testEnv, Registry: registry})
		if took := time.Since(start); took > fuzzTime {
			t.Errorf("Parse took %v", took)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > fuzzMemory {
			t.Errorf("Parse allocated %d bytes", used)
		}
		var broken *config.Error
		switch {
		case err == nil && len(c.Names()) == 0:
			t.Error("Parse accepts a file without workspaces")
		case err != nil && (!errors.As(err, &broken) || len(broken.Problems) == 0):
			t.Errorf("Parse = %v, want a *config.Error", err)
		}
	})
}

func brokenSeeds(f *testing.F) []string {
	f.Helper()
	entries, err := os.ReadDir("testdata/broken")
	if err != nil {
		f.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		files = append(files, "testdata/broken/"+entry.Name())
	}
	return files
}
