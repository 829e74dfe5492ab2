package glob_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/workspacekit/workspacekit/internal/glob"
)

// bench is a tree of 100,000 files: 1,000 directories of 100 files.
type bench struct {
	dirs  []string
	files []string
}

func newBench() bench {
	var b bench
	for i := range 1000 {
		b.dirs = append(b.dirs, fmt.Sprintf("src/pkg%d/sub%d/dir%d", i%10, i%100, i))
	}
	for i := range 100 {
		suffix := []string{".go", "_test.go", ".md", ".json"}[i%4]
		b.files = append(b.files, fmt.Sprintf("some_file_%d%s", i, suffix))
	}
	return b
}

// walk counts the matches of p as a walk of the tree does.
func (b bench) walk(p *glob.Pattern) int {
	count := 0
	for _, dir := range b.dirs {
		state := p.Start()
		for name := range strings.SplitSeq(dir, "/") {
			state = state.Enter(name)
		}
		for _, file := range b.files {
			if state.Match(file) {
				count++
			}
		}
	}
	return count
}

func BenchmarkState(b *testing.B) {
	tree := newBench()
	for _, pattern := range []string{
		"**/*_test.go", "**/*.{go,md,json}", "src/**/*file_1*", "src/*/*/*/*.go", "**/sub1/**/*.go", "**/*_[0-9].go",
	} {
		b.Run(strings.ReplaceAll(pattern, "/", ":"), func(b *testing.B) {
			p := compile(b, pattern)
			b.ReportAllocs()
			for b.Loop() {
				if tree.walk(p) == 0 {
					b.Fatal("no match")
				}
			}
		})
	}
}

// BenchmarkDoublestar is the same tree with doublestar.Match on whole paths.
func BenchmarkDoublestar(b *testing.B) {
	tree := newBench()
	var paths []string
	for _, dir := range tree.dirs {
		for _, file := range tree.files {
			paths = append(paths, dir+"/"+file)
		}
	}
	for b.Loop() {
		for _, path := range paths {
			doublestar.MatchUnvalidated("**/*_test.go", path)
		}
	}
}
