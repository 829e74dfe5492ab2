package localbash_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// goSource is a tree that everyone who runs a benchmark has.
func goSource(b *testing.B) *localbash.FS {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skipf("there is no go command to ask for its source: %v", err)
	}
	return open(b, filepath.Join(strings.TrimSpace(string(out)), "src"), nil)
}

func BenchmarkReadFile(b *testing.B) {
	ctx := context.Background()
	dir := b.TempDir()
	fsys := open(b, dir, nil)
	for _, name := range []string{"file", "a/b/c/d/e/file"} {
		put(b, filepath.Join(dir, name), string(make([]byte, 4096)))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fsys.ReadFile(ctx, name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStat(b *testing.B) {
	ctx := context.Background()
	dir := b.TempDir()
	fsys := open(b, dir, nil)
	for _, name := range []string{"file", "a/b/c/d/e/file"} {
		put(b, filepath.Join(dir, name), "")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fsys.Stat(ctx, name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWriteFile(b *testing.B) {
	ctx := context.Background()
	for _, opts := range []localbash.Options{{}, {Sync: true}} {
		fsys := open(b, b.TempDir(), &opts)
		b.Run(map[bool]string{false: "plain", true: "sync"}[opts.Sync], func(b *testing.B) {
			data := make([]byte, 4096)
			for b.Loop() {
				if _, err := fsys.WriteFile(ctx, "a/b/file", data, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLs(b *testing.B) {
	fsys := goSource(b)
	for b.Loop() {
		if _, err := fsys.Ls(context.Background(), "net/http", nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLsPages lists a large folder page by page.
func BenchmarkLsPages(b *testing.B) {
	dir := b.TempDir()
	for i := range 100_000 {
		put(b, filepath.Join(dir, fmt.Sprintf("file-%06d", i)), "")
	}
	fsys := open(b, dir, nil)
	for b.Loop() {
		after, count := "", 0
		for {
			infos, err := fsys.Ls(context.Background(), ".", &workspace.LsOptions{After: after, Limit: 1000})
			if err != nil {
				b.Fatal(err)
			}
			if count += len(infos); len(infos) == 0 {
				break
			}
			after = infos[len(infos)-1].Name
		}
		if count != 100_000 {
			b.Fatalf("the pages have %d entries, want 100,000", count)
		}
	}
}

func BenchmarkGlob(b *testing.B) {
	fsys := goSource(b)
	for b.Loop() {
		if _, err := fsys.Glob(context.Background(), "**/*_test.go", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGrep(b *testing.B) {
	fsys := goSource(b)
	for b.Loop() {
		if _, err := fsys.Grep(context.Background(), "ErrUnexpectedEOF", &workspace.GrepOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
