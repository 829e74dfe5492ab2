package backup_test

import (
	"bytes"
	"testing"

	"github.com/workspacekit/workspacekit/workspace"
)

// BenchmarkWrite writes a file of 4 KiB again and again, without and with backups.
func BenchmarkWrite(b *testing.B) {
	for _, provider := range []string{"memory", "local", "bucket"} {
		for _, kept := range []bool{false, true} {
			b.Run(provider+map[bool]string{false: "/plain", true: "/backup"}[kept], func(b *testing.B) {
				fsys := providers[provider](b)
				if kept {
					fsys = newFS(b, fsys, nil)
				}
				contents := [][]byte{bytes.Repeat([]byte("a"), 4096), bytes.Repeat([]byte("b"), 4096)}
				for i := 0; b.Loop(); i++ {
					if _, err := fsys.WriteFile(b.Context(), "dir/file", contents[i%2], nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRead reads a file of 4 KiB, without and with backups.
func BenchmarkRead(b *testing.B) {
	for _, kept := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "backup"}[kept], func(b *testing.B) {
			raw := providers["memory"](b)
			fill(b, raw, map[string]string{"dir/file": string(make([]byte, 4096))})
			var fsys workspace.FileSystem = raw
			if kept {
				fsys = newFS(b, raw, nil)
			}
			for b.Loop() {
				if _, err := fsys.ReadFile(b.Context(), "dir/file"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
