package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/workspacekit/workspacekit/bench/measure"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// pattern is one of a class.
type pattern struct{ what, pattern string }

// patterns are of six classes, and a word that is nowhere. The classes differ
// in how much literal text a match has, by which a search can skip the rest.
var patterns = []pattern{
	{"rare word", "readGCStats"},
	{"common word", "interface"},
	{"either case", "(?i)readdeadline"},
	{"with a literal", `func \w+Context\(`},
	{"with a rare byte", "[A-Z]{3,}_[0-9]+"},
	{"without a literal", `[a-z]\d{4}[a-z]`},
	{"no match", "no line of it has " + "this text"},
}

// The trees besides the one of -dir.
const (
	smallDirs, smallPerDir = 1000, 100
	smallBytesEach         = 430
	copies                 = 5 // of the tree of -dir, for a large one
)

//go:embed peers/walkread.c
var walkread []byte

// benchGrep compares a Grep in this process, from opening the folder to the
// sorted result, with runs of other programs. GNU grep and ripgrep sort nothing
// unless they are asked to. All search every file that is not binary.
//
// The C program that only reads shows what the disk and the system take: nobody
// without an index can be faster.
func benchGrep(b *bench) error {
	reader, err := b.buildReader()
	if err != nil {
		return err
	}
	for _, p := range patterns {
		if err := b.grep(fmt.Sprintf("%s: `%s`", p.what, p.pattern), b.dir, p.pattern, reader); err != nil {
			return err
		}
	}
	if err := b.firstMatches(b.dir); err != nil {
		return err
	}
	small := filepath.Join(b.temp, "small")
	if err := b.make(small, makeSmallFiles); err != nil {
		return err
	}
	if err := b.grep("100,000 files of 430 bytes: a rare word", small, "needle", reader); err != nil {
		return err
	}
	large := filepath.Join(b.temp, "large")
	if err := b.make(large, b.copies); err != nil {
		return err
	}
	if err := b.grep(fmt.Sprintf("%d copies of the tree: a rare word", copies), large, "readGCStats", reader); err != nil {
		return err
	}
	return b.ignoring(filepath.Join(b.temp, "worktree"))
}

// grep compares one search. reader is empty if that program could not be built.
// GNU grep knows \d in its option -P only.
func (b *bench) grep(job, dir, pattern string, reader []measure.Contender) error {
	const remedy = "apt-get install ripgrep"
	rg := ripgrep(pattern, dir)
	// GNU grep has (?i) as an option.
	gnu := []string{"grep", "-rnIE", "-e", pattern, dir}
	if folded, ok := bytes.CutPrefix([]byte(pattern), []byte("(?i)")); ok {
		gnu = []string{"grep", "-rnIiE", "-e", string(folded), dir}
	}
	if bytes.Contains([]byte(pattern), []byte(`\d`)) {
		gnu[1] = "-rnIP"
	}
	others := b.installed([]peer{
		{"rg", remedy, rg},
		{"rg --sort path", remedy, append(rg[:len(rg):len(rg)], "--sort", "path")},
		{"GNU grep", "apt-get install grep", gnu},
	})
	for _, r := range reader {
		path := r.Name
		others = append(others, by("a C program that only reads", func() (int, error) {
			return measure.Uncounted, exec.Command(path, dir, strconv.Itoa(runtime.NumCPU())).Run()
		}))
	}
	return b.Run(job, by("localbash", func() (int, error) { return search(dir, pattern, nil) }), others...)
}

// copies makes copies of the tree of -dir.
func (b *bench) copies(dir string) error {
	for i := range copies {
		if err := os.CopyFS(filepath.Join(dir, fmt.Sprint("copy", i)), os.DirFS(b.dir)); err != nil {
			return err
		}
	}
	return nil
}

// ripgrep returns the command that searches every file.
func ripgrep(pattern, dir string) []string {
	return []string{"rg", "--no-config", "--no-ignore", "--hidden", "--line-number", "--no-heading", "--color", "never", "-e", pattern, dir}
}

// firstMatches compares a search that ends early with one of everything, which is
// there to show what a limit saves.
func (b *bench) firstMatches(dir string) error {
	return b.Run("the first 100 of `return`",
		by("localbash", func() (int, error) { return search(dir, "return", &workspace.GrepOptions{MaxResults: 100}) }),
		by("localbash, all", func() (int, error) {
			_, err := search(dir, "return", nil)
			return measure.Uncounted, err
		}))
}

// ignoring compares searches that honour the .gitignore files of a work tree, a copy of the tree
// of -dir that no other workload uses.
//
// Without a repository, ripgrep would not apply the .gitignore files.
func (b *bench) ignoring(dir string) error {
	if err := os.CopyFS(dir, os.DirFS(b.dir)); err != nil {
		return err
	}
	if err := quietly("git", "init", "-q", dir); err != nil {
		return fmt.Errorf("%w: git: %w", errMissing, err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("testdata/\n*.golden\n*.o\n/vendor/\n"), 0o666); err != nil {
		return err
	}
	others := b.installed([]peer{{"rg", "apt-get install ripgrep",
		[]string{"rg", "--no-config", "--hidden", "--glob", "!.git", "--line-number", "--no-heading", "--color", "never", "-e", "readGCStats", dir}}})
	return b.Run("a work tree, honouring .gitignore: a rare word",
		by("localbash", func() (int, error) {
			return search(dir, "readGCStats", &workspace.GrepOptions{Gitignore: true})
		}), others...)
}

// search opens a folder and searches it, as a program that does only that. It
// opens and closes the folder each time, as a command does, so nothing is known
// before.
func search(dir, pattern string, opts *workspace.GrepOptions) (int, error) {
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		return 0, err
	}
	defer fsys.Close()
	result, err := fsys.Grep(context.Background(), pattern, opts)
	if err != nil {
		return 0, err
	}
	return len(result.Matches), nil
}

// countLines runs a program and returns how many lines it prints.
func countLines(command []string) (int, error) {
	out, err := exec.Command(command[0], command[1:]...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // no matches
		err = nil
	}
	return bytes.Count(out, []byte{'\n'}), err
}

// buildReader compiles the program that only walks and reads. It returns none without a
// C compiler, and says so.
func (b *bench) buildReader() ([]measure.Contender, error) {
	source, built := filepath.Join(b.temp, "walkread.c"), filepath.Join(b.temp, "walkread")
	if err := os.WriteFile(source, walkread, 0o666); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		fmt.Fprintln(b.Out, "\nthere is no gcc for the program that only reads: apt-get install gcc libc6-dev")
		return nil, nil
	}
	return []measure.Contender{{Name: built}}, quietly("gcc", "-O2", "-pthread", "-o", built, source)
}

// makeSmallFiles makes many files. One in a thousand has the word needle.
func makeSmallFiles(dir string) error {
	plain := bytes.Repeat([]byte("the words of a small file, a line\n"), smallBytesEach/34+1)[:smallBytesEach]
	rare := append([]byte("needle\n"), plain[7:]...)
	for i := range smallDirs {
		in := filepath.Join(dir, fmt.Sprintf("d%02d", i/50), fmt.Sprintf("p%03d", i))
		if err := os.MkdirAll(in, 0o777); err != nil {
			return err
		}
		for j := range smallPerDir {
			content := plain
			if j == 50 && i%10 == 0 {
				content = rare
			}
			if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("file%02d.txt", j)), content, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}
