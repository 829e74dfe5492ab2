package policy_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// BenchmarkGrep searches 10,000 files of 1 KiB in 200 directories, without and with
// 50 denied patterns. Compare the times of the same store.
func BenchmarkGrep(b *testing.B) {
	local, err := localbash.Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer local.Close()
	for _, store := range []struct {
		name string
		fsys workspace.FileSystem
	}{{"memory", memory.New(nil)}, {"local", local}} {
		fill(b, store.fsys)
		denied, err := policy.Restrict(store.fsys, policy.Rules{DeniedPaths: fiftyPatterns()})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(store.name+"/all", func(b *testing.B) { benchGrep(b, store.fsys) })
		b.Run(store.name+"/denied", func(b *testing.B) { benchGrep(b, denied) })
	}
}

// fill creates the files of a benchmark.
func fill(b *testing.B, fsys workspace.FileSystem) {
	b.Helper()
	line := "some words that no pattern of the benchmark has in it\n"
	content := []byte{}
	for len(content) < 1024 {
		content = append(content, line...)
	}
	for i := range 10_000 {
		name := fmt.Sprintf("pkg%d/module%02d/source_file_%d.go", i%20, i/20%10, i)
		if _, err := fsys.WriteFile(context.Background(), name, content, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// fiftyPatterns are patterns as they are denied in practice, in some directories
// and in all.
func fiftyPatterns() []string {
	patterns := []string{
		".env*", "*.pem", "*.key", "id_*", "credentials*", "*secret*", "*password*", "*private*key*", "*.p12", "*.pfx",
		".netrc", ".npmrc", ".pypirc", ".aws/", ".ssh/", ".gnupg/", "*.kdbx", "*.jks", "*.keystore", "token*",
	}
	for i := range 15 {
		patterns = append(patterns, fmt.Sprintf("conf%d/**/*.local", i), fmt.Sprintf("*.backup%d", i))
	}
	return patterns
}

func benchGrep(b *testing.B, fsys workspace.FileSystem) {
	b.ReportAllocs()
	for b.Loop() {
		result, err := fsys.Grep(context.Background(), "needle", nil)
		if err != nil || len(result.Matches) > 0 {
			b.Fatalf("Grep has %v, %v, want no matches", result, err)
		}
	}
}
