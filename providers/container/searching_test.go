package container_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// fillWithNeedles makes files with a match in each.
func fillWithNeedles(t *testing.T, dir string, count int) (names []string) {
	t.Helper()
	for i := range count {
		name := fmt.Sprintf("file%03d", i)
		names = append(names, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("before\nneedle in "+name+"\nafter\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// TestGrepBesideChanges changes a file in the middle of a search. All other files
// are found with what they have in them, and not one by one.
func TestGrepBesideChanges(t *testing.T) {
	exhaustive.NotShort(t, "searches while files change")
	const files, most = 300, 12
	changes := map[string]func(path string) error{
		"grown":     func(path string) error { return add(path, strings.Repeat("needle in file150\n", 10)) },
		"shrunk":    func(path string) error { return os.WriteFile(path, []byte("needle in file150"), 0o666) },
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"rewritten": func(path string) error { return os.WriteFile(path, []byte("needle in file150\n1234567890123"), 0o666) },
		"removed":   os.Remove,
		"directory": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) },
		"symlink":   func(path string) error { return errors.Join(os.Remove(path), os.Symlink("file149", path)) },
	}
	for name, change := range changes {
		for _, function := range []string{"remotegrep", "fetch"} {
			for _, around := range []int{0, 1} {
				t.Run(fmt.Sprintf("%s/before-%s/around-%d", name, function, around), func(t *testing.T) {
					exhaustive.Sample(t, 6)
					t.Parallel()
					dir := t.TempDir()
					names := fillWithNeedles(t, dir, files)
					var once sync.Once
					m := &observer{before: func(asked string) {
						if asked != function {
							return
						}
						once.Do(func() {
							if err := change(filepath.Join(dir, "file150")); err != nil {
								t.Error(err)
							}
						})
					}}
					f := open(t, &container.Options{Executor: m, Root: dir})
					result, err := f.Grep(t.Context(), "needle", &workspace.GrepOptions{Before: around})
					if err != nil {
						t.Fatalf("Grep beside a change = %v, want nil", err)
					}
					got := map[string]string{}
					for _, match := range result.Matches {
						got[match.Path] = match.Line
					}
					delete(got, "file150")
					want := map[string]string{}
					for _, name := range names {
						want[name] = "needle in " + name
					}
					delete(want, "file150")
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("Grep beside a change (-want +got):\n%s", diff)
					}
					if made := m.requests.Load(); made > most {
						t.Errorf("%d requests were made, want at most %d", made, most)
					}
				})
			}
		}
	}
}

func add(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// TestGrepReadsLines counts the bytes that a search of large files takes out of
// the container: not more than the lines that match need.
func TestGrepReadsLines(t *testing.T) {
	exhaustive.NotShort(t, "searches large files")
	dir := t.TempDir()
	hay := strings.Repeat("hay and more hay\n", 200_000)
	for i := range 4 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("log%d", i)), []byte(hay+"needle\n"+hay), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m := &observer{}
	f := open(t, &container.Options{Executor: m, Root: dir})
	if !f.Texts() {
		enginetest.Lacking(t, "grep here cannot leave out binary files, as that of GNU can")
	}
	if err := os.Symlink("log3", filepath.Join(dir, "latest")); err != nil {
		t.Fatal(err)
	}
	for path, count := range map[string]int{".": 4, "log2": 1, "latest": 1} {
		before := m.received.Load()
		result, err := f.Grep(t.Context(), "needle", &workspace.GrepOptions{Path: path})
		if err != nil || len(result.Matches) != count || result.Matches[count-1].LineNumber != 200_001 {
			t.Fatalf("Grep(%q, Path: %q) = %+v, %v, want a match in line 200,001 of %d files", "needle", path, result, err, count)
		}
		if path != "." && result.Matches[0].Path != path {
			t.Errorf("Grep(%q, Path: %q) finds it in %q", "needle", path, result.Matches[0].Path)
		}
		if n := m.received.Load() - before; n > 4096 {
			t.Errorf("Grep(%q, Path: %q) took %d bytes out of the container, want at most 4,096", "needle", path, n)
		}
	}
}

// TestGrepOfFewMatches counts the bytes that come out of a container for the first
// of many matches.
func TestGrepOfFewMatches(t *testing.T) {
	const files, line = 12, 1000
	dir := t.TempDir()
	content := "needle" + strings.Repeat("x", line) + "\n" + strings.Repeat("hay and more hay\n", 3<<20/17)
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%02d", i)), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m := &observer{}
	f := open(t, &container.Options{Executor: m, Root: dir})
	if !f.Texts() {
		enginetest.Lacking(t, "grep here cannot leave out binary files, as that of GNU can")
	}
	before := m.received.Load()
	result, err := f.Grep(t.Context(), "needle", &workspace.GrepOptions{MaxResults: 1})
	if err != nil || len(result.Matches) != 1 || result.Matches[0].Path != "file00" || !result.Truncated {
		t.Fatalf("Grep(%q, MaxResults: 1) = %+v, %v, want one match, in %q", "needle", result, err, "file00")
	}
	if n := m.received.Load() - before; n > 9*line {
		t.Errorf("%d bytes came out of the container for one match of %d, want at most %d", n, line, 9*line)
	}
}

// TestGrepFirstOnlyReadsLess counts the bytes that come out of a container for the
// first match of large files.
func TestGrepFirstOnlyReadsLess(t *testing.T) {
	exhaustive.NotShort(t, "searches large files")
	const size = 8 << 20
	dir := t.TempDir()
	for i := range 3 {
		content := strings.Repeat("the needle\n", size/11)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d", i)), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m := &observer{}
	f := open(t, &container.Options{Executor: m, Root: dir})
	if !f.Texts() {
		enginetest.Lacking(t, "grep here cannot leave out binary files, as that of GNU can")
	}
	for pattern, most := range map[string]int64{"needle": 4096, "the n[e]+dle$": size} { // the second is not exact, so the files are read
		before := m.received.Load()
		result, err := f.Grep(t.Context(), pattern, &workspace.GrepOptions{FirstOnly: true})
		if err != nil || len(result.Matches) != 3 || result.Matches[2].Path != "file2" || result.Matches[2].LineNumber != 1 {
			t.Fatalf("Grep(%q, FirstOnly) = %+v, %v, want the first line of 3 files", pattern, result, err)
		}
		if n := m.received.Load() - before; n > most {
			t.Errorf("Grep(%q, FirstOnly) took %d bytes out of the container, want at most %d", pattern, n, most)
		}
	}
}

// TestGrepOfLargeFiles has large files about which a grep in the container does not
// say all.
func TestGrepOfLargeFiles(t *testing.T) {
	exhaustive.Long(t)
	dir := t.TempDir()
	hay := strings.Repeat("hay and more hay\n", 100_000)
	for name, content := range map[string]string{
		"late":   hay + "\x00\nneedle\n",
		"both":   "needle\n" + hay + "\x00\nneedle\n",
		"binary": "\x00" + hay + "needle\n",
		"many":   hay + strings.Repeat("needle\n", 1000),
		"no end": hay + "needle",
		"none":   hay,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	local := open(t, &container.Options{Executor: container.Command{}, Root: dir})
	for name, want := range map[string][]int{"late": {100_002}, "both": {1, 100_003}, "binary": nil, "many": {100_001, 101_000}, "no end": {100_001}, "none": nil} {
		for _, o := range []workspace.GrepOptions{{Path: name}, {Path: name, Before: 1}, {IncludeGlob: name}, {IncludeGlob: name, After: 1}} {
			result, err := local.Grep(t.Context(), "needle", &o)
			if err != nil {
				t.Fatalf("Grep(%q, %+v) = %v, want nil", "needle", o, err)
			}
			var got []int
			for _, match := range result.Matches {
				got = append(got, match.LineNumber)
			}
			if len(got) > 2 {
				got = []int{got[0], got[len(got)-1]}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Grep(%q, %+v) lines, the first and the last (-want +got):\n%s", "needle", o, diff)
			}
			if binary := name == "binary"; binary != (len(result.Skipped) == 1) {
				t.Errorf("Grep(%q, %+v) skips %v, want that only of a binary file", "needle", o, result.Skipped)
			}
		}
	}
}

// TestGrepOfFailingPrograms searches where a program of the image fails that only
// makes searches faster. All is found nevertheless.
func TestGrepOfFailingPrograms(t *testing.T) {
	t.Parallel()
	for name, stub := range map[string]string{
		"grep finds some and fails":      `case "$*" in *needle*) echo "./file000:2:needle"; exit 2 ;; esac`,
		"grep fails":                     `case "$*" in *needle*) exit 2 ;; esac`,
		"grep is killed":                 `case "$*" in *needle*) kill -9 $$ ;; esac`,
		"grep writes nonsense":           `case "$*" in *needle*) echo nonsense; exit 0 ;; esac`,
		"grep writes half a line":        `case "$*" in *needle*) printf "./file000:2"; exit 0 ;; esac`,
		"grep finds no NUL and fails":    `case "$*" in *-l*) exit 2 ;; esac`,
		"xargs does nothing":             `exit 0`,
		"xargs takes some":               `head -c 20 | PATH="$path" xargs "$@"; exit`,
		"xargs is killed in the middle":  `head -c 20 | PATH="$path" xargs "$@"; kill -9 $$`,
		"xargs fails":                    `exit 1`,
		"cat fails for many":             `[ $# -lt 2 ] || exit 1`,
		"cat writes less of many":        `[ $# -lt 2 ] || exit 0`,
		"cat writes more of many":        `[ $# -lt 2 ] || echo more`,
		"stat says nothing of files":     `case "$*" in *//*) exit 1 ;; esac`,
		"stat says something else of it": `case "$*" in *//*) echo 1 2 3 4 5 6//; exit 0 ;; esac`,
	} {
		t.Run(name, func(t *testing.T) {
			exhaustive.Sample(t, 4)
			t.Parallel()
			dir := t.TempDir()
			names := fillWithNeedles(t, dir, 20)
			f := open(t, &container.Options{Executor: stubbed(t, strings.Fields(name)[0], stub), Root: dir})
			for _, around := range []int{0, 1} {
				result, err := f.Grep(t.Context(), "needle", &workspace.GrepOptions{Before: around})
				if err != nil || len(result.Skipped) > 0 {
					t.Errorf("Grep(%q, Before: %d) skips %v, %v, want nothing skipped", "needle", around, result, err)
					continue
				}
				if diff := cmp.Diff(names, matched(result)); diff != "" {
					t.Errorf("Grep(%q, Before: %d) (-want +got):\n%s", "needle", around, diff)
				}
			}
		})
	}
}

// TestSearchBesideRemovals has a find that says about something that it has
// vanished, always, or that it cannot be read.
func TestSearchBesideRemovals(t *testing.T) {
	exhaustive.Long(t)
	for name, test := range map[string]struct {
		says string
		want error
	}{
		"vanished":           {"find: './x': No such file or directory", nil},
		"replaced":           {"find: './x': Not a directory", nil},
		"failed":             {"find: './x': Input/output error", workspace.ErrUnavailable},
		"both":               {"find: './x': No such file or directory\nfind: './x': Input/output error", workspace.ErrUnavailable},
		"name-that-vanishes": {"find: './x\ny: No such file or directory': Input/output error", workspace.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			names := fillWithNeedles(t, dir, 3)
			script := fmt.Sprintf("PATH=$path find \"$@\"\nprintf '%%s\\n' %q >&2\nexit 1", test.says)
			f := open(t, &container.Options{Executor: stubbed(t, "find", script), Root: dir})
			got, err := f.Glob(t.Context(), "**", nil)
			if !errors.Is(err, test.want) || err == nil && !slices.Equal(got, names) {
				t.Errorf("Glob beside %q = %q, %v, want %q, %v", test.says, got, err, names, test.want)
			}
			result, err := f.Grep(t.Context(), "needle", nil)
			if !errors.Is(err, test.want) || err == nil && !slices.Equal(matched(result), names) {
				t.Errorf("Grep beside %q = %+v, %v, want matches in %q, %v", test.says, result, err, names, test.want)
			}
		})
	}
}

// stubbed returns an executor in whose place a program is one of our own: a script
// that runs the real one if it gets to its end.
func stubbed(t *testing.T, program, script string) container.Executor {
	t.Helper()
	stubs := t.TempDir()
	text := fmt.Sprintf("#!/bin/sh\npath=%q\n%s\nPATH=$path exec %s \"$@\"\n", os.Getenv("PATH"), script, program)
	if err := os.WriteFile(filepath.Join(stubs, program), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return within{path: stubs + ":" + os.Getenv("PATH")}
}

// TestGrepListsUnnameable wants the directories that hold files without a valid
// name listed as skipped.
func TestGrepListsUnnameable(t *testing.T) {
	in(t, places()[:3], func(t *testing.T, r *running) {
		opts := r.options(t)
		r.run(t, "sh", "-c", `cd "$1" && mkdir -p dir/sub other && cd dir && printf needle | tee file sub/file "$(printf 'a\377')" >../other/file &&
			d=$(printf 'b\377') && mkdir -p "$d/c" && echo needle >"$d/c/file" && ln -s file "../other/$d"`, "sh", opts.Root)
		f := open(t, opts)
		result, err := f.Grep(t.Context(), "needle", nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []workspace.Skipped{{Path: "dir", Reason: workspace.SkipInvalidNames}}
		if diff := cmp.Diff(want, result.Skipped); diff != "" {
			t.Errorf("Grep skips (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"dir/file", "dir/sub/file", "other/file"}, matched(result)); diff != "" {
			t.Errorf("Grep finds (-want +got):\n%s", diff)
		}
		infos, err := f.Ls(t.Context(), "dir", nil)
		if err != nil || len(infos) != 2 {
			t.Errorf("Ls = %v, %v, want a file and a directory", infos, err)
		}
	})
}

// TestDeep wants what is too deep for a name left out, and its directory listed as skipped:
// some programs go by paths, and fail there.
func TestDeep(t *testing.T) {
	in(t, places()[:3], func(t *testing.T, r *running) {
		opts := r.options(t)
		element := strings.Repeat("/"+strings.Repeat("d", 250), 9)
		r.run(t, "sh", "-c", `cd "$1" && mkdir -p "a$2" "b$2" && echo needle | tee a/file >"b$2/file" && mv b "a$2"`, "sh", opts.Root, element)
		defer r.run(t, "sh", "-c", `cd "$1" && mv "a$2/b" .`, "sh", opts.Root, element) // for an rm that goes by paths
		f := open(t, opts)
		result, err := f.Grep(t.Context(), "needle", nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a/file"}, matched(result)); diff != "" {
			t.Errorf("Grep finds (-want +got):\n%s", diff)
		}
		want := []workspace.Skipped{{Path: "a" + element + "/b" + element[:7*251], Reason: workspace.SkipInvalidNames}}
		if diff := cmp.Diff(want, result.Skipped); diff != "" {
			t.Errorf("Grep skips (-want +got):\n%s", diff)
		}
		names, err := f.Glob(t.Context(), "**/file", nil)
		if err != nil || len(names) != 1 {
			t.Errorf("Glob = %+v, %v, want a/file", names, err)
		}
		count := 0
		err = f.Walk(t.Context(), ".", nil, func(_ workspace.FileInfo, err error) error { count++; return err })
		if want := 1 + 1 + 9 + 1 + 7; err != nil || count != want {
			t.Errorf("Walk = %v after %d entries, want %d", err, count, want)
		}
	})
}
