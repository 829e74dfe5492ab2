//go:build unix

package command

import (
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// BenchmarkSearch compares searches by programs with those of the workspace itself, in the
// source of Go: both by turns, so that what else the machine does counts for both.
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
		name       string
		run, bound func() error
	}{
		{"grep-rn-rare", program("grep", "-rn", "readGCStats", "."), grep("readGCStats")},
		{"grep-rn-common", program("grep", "-rn", "func.*Context(", "."), grep(`func.*Context\(`)},
		{"grep-rnw", program("grep", "-rnw", "err", "."), grep(`\berr\b`)},
		{"find-name", program("find", ".", "-name", "*_test.go"), glob("**/*_test.go")},
		{"find-type-f-name", program("find", ".", "-type", "f", "-name", "*.s"), glob("**/*.s")},
	} {
		b.Run(c.name, func(b *testing.B) {
			var of [2]sample
			for b.Loop() {
				for i, run := range []func() error{c.run, c.bound} {
					if err := of[i].add(run); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(median(of[0].wall)/median(of[1].wall), "times-the-workspace")
			b.ReportMetric(median(of[0].cpu)/median(of[1].cpu), "times-its-CPU")
		})
	}
}

// sample is how long the runs of something took, in seconds.
type sample struct{ wall, cpu []float64 }

// add runs do.
func (s *sample) add(do func() error) error {
	cpu, began := cpuTime(), time.Now()
	err := do()
	s.wall = append(s.wall, time.Since(began).Seconds())
	s.cpu = append(s.cpu, cpuTime()-cpu)
	return err
}

// cpuTime returns how many seconds processors have worked for this process.
func cpuTime() float64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
