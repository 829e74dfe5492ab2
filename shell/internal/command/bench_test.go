package command

import (
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// BenchmarkSearch compares searches with those of the workspace itself, in the source of
// Go.
func BenchmarkSearch(b *testing.B) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	fsys, err := localbash.Open(strings.TrimSpace(string(root))+"/src", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer fsys.Close()
	ws := workspace.New("src", fsys, nil)
	program := func(line ...string) func() error {
		return func() error {
			p := &Process{
				Args: line, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Dir: "/", Env: lookup(nil),
				Files: NewFiles([]*workspace.Workspace{ws}, workspace.New("scratch", memory.New(nil), nil), Hooks{}), Now: time.Now, MaxMemory: 64 << 20,
			}
			if status := Programs[line[0]](b.Context(), p); status > 1 {
				b.Errorf("%q ends with %d", line, status)
			}
			return nil
		}
	}
	grep := func(pattern string) func() error {
		return func() error {
			_, err := ws.Grep(b.Context(), pattern, nil)
			return err
		}
	}
	glob := func(pattern string) func() error {
		return func() error {
			_, err := ws.Glob(b.Context(), pattern, nil)
			return err
		}
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"rare/grep-rn", program("grep", "-rn", "readGCStats", ".")}, {"rare/Grep", grep("readGCStats")},
		{"common/grep-rn", program("grep", "-rn", "func.*Context(", ".")}, {"common/Grep", grep(`func.*Context\(`)},
		{"word/grep-rnw", program("grep", "-rnw", "err", ".")}, {"word/Grep", grep(`\berr\b`)},
		{"files/find-name", program("find", ".", "-name", "*_test.go")}, {"files/Glob", glob("**/*_test.go")},
		{"type/find-type-f-name", program("find", ".", "-type", "f", "-name", "*.s")}, {"type/Glob", glob("**/*.s")},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
