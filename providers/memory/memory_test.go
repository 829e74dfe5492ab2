package memory_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/spf13/afero"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

func tree(tb testing.TB, folders, files int) *memory.FS {
	m := memory.New(nil)
	for i := range folders {
		for j := range files {
			name := fmt.Sprintf("d%02d/p%03d/file%03d.go", i%10, i, j)
			if j%10 == 0 {
				name = fmt.Sprintf("d%02d/p%03d/file%03d_test.go", i%10, i, j)
			}
			if _, err := m.WriteFile(context.Background(), name, []byte("package p\n"), nil); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return m
}

func BenchmarkGlob(b *testing.B) {
	m := tree(b, 1000, 100)
	for b.Loop() {
		paths, err := m.Glob(context.Background(), "**/*_test.go", nil)
		if err != nil || len(paths) != 10000 {
			b.Fatalf("Glob = %d paths, %v", len(paths), err)
		}
	}
}

func BenchmarkLs(b *testing.B) {
	m := tree(b, 1000, 100)
	for b.Loop() {
		if infos, err := m.Ls(context.Background(), "d00/p010", nil); err != nil || len(infos) != 100 {
			b.Fatalf("Ls = %d entries, %v", len(infos), err)
		}
	}
}

func BenchmarkAferoLs(b *testing.B) {
	a := afero.NewMemMapFs()
	for i := range 1000 {
		for j := range 100 {
			name := fmt.Sprintf("d%02d/p%03d/file%03d.go", i%10, i, j)
			if err := afero.WriteFile(a, name, []byte("package p\n"), 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		if infos, err := afero.ReadDir(a, "d00/p010"); err != nil || len(infos) != 100 {
			b.Fatalf("ReadDir = %d entries, %v", len(infos), err)
		}
	}
}

var _ workspace.FileSystem = (*memory.FS)(nil)
