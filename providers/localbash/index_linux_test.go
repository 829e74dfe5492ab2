package localbash_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/index"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
)

// settled is a folder whose index knows all before each search.
type settled struct{ *localbash.FS }

func (s settled) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	s.Settle()
	return s.FS.Glob(ctx, pattern, opts)
}

func (s settled) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	s.Settle()
	return s.FS.Grep(ctx, pattern, opts)
}

// TestIndexConformance runs the cases about searches with all that is searched in the index.
func TestIndexConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		return settled{open(t, t.TempDir(), nil).WithIndex(index.Options{})}
	}, &conformance.Options{
		Symlink: symlink, Short: !exhaustive.On(),
		Only: exhaustive.Some(t, "what no search is part of", nil, []string{"Glob", "Grep", "Hide", "Symlink", "Exact"}),
	})
}

// compareSearches wants the searches of warm and of cold to find the same.
func compareSearches(t *testing.T, warm, cold workspace.FileSystem, pattern string, opts workspace.GrepOptions) bool {
	t.Helper()
	got, err := warm.Grep(t.Context(), pattern, &opts)
	want, wantErr := cold.Grep(t.Context(), pattern, &opts)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("Grep(%q, %+v) = %v with an index, want %v", pattern, opts, err, wantErr)
		return false
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("Grep(%q, %+v) differs (-without +with an index):\n%s", pattern, opts, diff)
		return false
	}
	return true
}

// TestIndexRounds lets another process change a folder, and then compares a search with one
// that reads the folder. The index is sometimes given time to read what changed, and sometimes
// not.
func TestIndexRounds(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	rounds := exhaustive.Some(t, "most of 100,000 rounds", 100_000, 500)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	ask := startChanger(t, dir, seed)
	root := filepath.Join(dir, "root")
	warm := open(t, root, nil).WithIndex(index.Options{MaxMemory: 1 << 20})
	cold := open(t, root, nil)
	var log []string
	known := 0
	for round := range rounds {
		release := func() {}
		command := fmt.Sprintf("%d", 1+random.IntN(4))
		if random.IntN(exhaustive.Some(t, "most overflows", 4_000, 250)) == 0 { // nothing takes the events from the queue
			release = warm.Index().Hold()
			command = "overflow"
		}
		log = append(log, ask(command))
		release()
		if round%3 == 0 {
			warm.Settle()
		}
		known += warm.IndexState().Files
		opts := workspace.GrepOptions{Gitignore: random.IntN(2) == 0}
		if random.IntN(4) == 0 {
			opts.MaxFileSize = 60
		}
		if random.IntN(4) == 0 {
			opts.Path = changerDirs[random.IntN(len(changerDirs))]
		}
		pattern := "."
		if random.IntN(2) == 0 {
			pattern = changerWord(random)
		}
		ok := compareSearches(t, warm, cold, pattern, opts)
		for range 4 {
			ok = ok && compareSearches(t, warm, cold, changerWord(random), workspace.GrepOptions{})
		}
		got, err := warm.Glob(t.Context(), "**", nil)
		want, wantErr := cold.Glob(t.Context(), "**", nil)
		if !slices.Equal(got, want) || err != nil || wantErr != nil {
			t.Errorf("Glob = %v, %v, want %v, %v", got, err, want, wantErr)
			ok = false
		}
		if !ok {
			t.Fatalf("round %d; the last changes:\n%s", round, strings.Join(log[max(0, len(log)-20):], "\n"))
		}
	}
	if known < rounds {
		t.Errorf("%d files were known in %d rounds: the index did nothing", known, rounds)
	}
}

// startChanger starts a process that changes the folder root in dir. ask makes it do some
// changes, and returns what it did.
func startChanger(t *testing.T, dir string, seed uint64) (ask func(command string) string) {
	t.Helper()
	for _, sub := range []string{"root", "outside"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := child(t, "change", dir)
	cmd.Env = append(cmd.Env, fmt.Sprintf("SEED=%d", seed))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the process that changes files: %v", err)
		}
	})
	answers := bufio.NewReader(out)
	return func(command string) string {
		if _, err := io.WriteString(in, command+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(line, "\n")
	}
}

// The names that the changer uses. All are directories, files or symlinks at times.
var (
	changerDirs  = []string{".", "a", "b", "a/b", "a/c", "b/a", "a/b/c"}
	changerNames = []string{"a", "b", "c", "f", "g", "h", ".gitignore"}
)

// changerWord returns one of few words, or one that few files have, so that whole directories
// are left out.
func changerWord(random *rand.Rand) string {
	if random.IntN(2) == 0 {
		return fmt.Sprintf("word%c", 'a'+random.IntN(26))
	}
	return []string{"apple", "BANANA", "Cherry_7", "grape\n", "f", "kiwi", "ſize", "\x00", "no"}[random.IntN(7)]
}

// changeOnDemand makes some changes for each line that it reads.
func changeOnDemand(dir string) error {
	var seed uint64
	fmt.Sscan(os.Getenv("SEED"), &seed)
	c := changer{random: rand.New(rand.NewPCG(seed, 2)), root: filepath.Join(dir, "root"), outside: filepath.Join(dir, "outside")}
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		var done []string
		if commands.Text() == "overflow" {
			done = append(done, c.overflow())
		}
		count := 1
		fmt.Sscan(commands.Text(), &count)
		for range count {
			done = append(done, c.change())
		}
		fmt.Println(strings.Join(done, "; "))
	}
	return commands.Err()
}

// changer makes random changes. What cannot be done is not.
type changer struct {
	random        *rand.Rand
	root, outside string
}

// path returns a path in the root.
func (c changer) path() string {
	return filepath.Join(c.root, changerDirs[c.random.IntN(len(changerDirs))], changerNames[c.random.IntN(len(changerNames))])
}

// text returns some words, half of the time with a long line of few trigrams, so that summaries
// have room for more than the words.
func (c changer) text() []byte {
	text := strings.Repeat("-", c.random.IntN(2)*2000)
	for range c.random.IntN(8) {
		text += changerWord(c.random) + " "
	}
	return []byte(text)
}

// change makes a change and says which.
func (c changer) change() string {
	name, other := c.path(), c.path()
	away := filepath.Join(c.outside, filepath.Base(other))
	var did string
	var err error
	switch c.random.IntN(20) {
	case 0, 1, 2:
		did, err = "write "+name, os.WriteFile(name, c.text(), 0o666)
	case 3, 4:
		did, err = "append "+name, c.inPlace(name, func(f *os.File) error {
			_, err := f.Seek(0, io.SeekEnd)
			return errors.Join(err, c.write(f))
		})
	case 5:
		did, err = "overwrite "+name, c.inPlace(name, c.write)
	case 6:
		did, err = "truncate "+name, os.Truncate(name, int64(c.random.IntN(30)))
	case 7:
		temp := name + ".temp"
		did, err = "write and rename to "+name, errors.Join(os.WriteFile(temp, c.text(), 0o666), os.Rename(temp, name), ignoring(os.Remove(temp)))
	case 8:
		did, err = "remove "+name, os.RemoveAll(name)
	case 9, 10:
		did, err = "mkdir "+name, os.Mkdir(name, 0o777)
	case 11, 12:
		did, err = "rename "+name+" to "+other, os.Rename(name, other)
	case 13:
		did, err = "link "+name+" as "+other, os.Link(name, other)
	case 14: // the bytes of name change by a name that nobody sees
		temp := other + ".temp"
		did, err = "link "+name+" as "+temp+", write, and remove that", errors.Join(os.Link(name, temp), c.inPlace(temp, c.write), ignoring(os.Remove(temp)))
	case 15:
		temp := other + ".temp"
		did, err = "link "+name+" as "+temp+", write, and move that out", errors.Join(os.Link(name, temp), c.inPlace(temp, c.write), ignoring(os.Rename(temp, away)))
	case 16:
		did, err = "move "+name+" out to "+away, os.Rename(name, away)
	case 17:
		did, err = "move "+away+" in to "+name, os.Rename(away, name)
	case 18: // to nothing outside, where changes have no events
		did, err = "symlink "+name, os.Symlink([]string{"a", "b", "../a", "f"}[c.random.IntN(4)], name)
	case 19:
		did, err = "chmod "+name, os.Chmod(name, 0o700)
	}
	if err != nil {
		did = "failed to " + did
	}
	return strings.ReplaceAll(did, c.root+"/", "")
}

// ignoring returns nil: the error is that of a step before.
func ignoring(error) error { return nil }

// inPlace opens a file that exists for change, without following a symlink.
func (c changer) inPlace(name string, change func(*os.File) error) error {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return fs.ErrInvalid
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return change(f)
}

// write writes some text.
func (c changer) write(f *os.File) error {
	_, err := f.Write(c.text())
	return err
}

// overflow makes more changes than the kernel's queue has room for, and others after that.
func (c changer) overflow() string {
	for n := range 12_000 {
		name := filepath.Join(c.root, fmt.Sprintf("many-%d", n%3))
		if os.WriteFile(name, nil, 0o666) != nil || os.Remove(name) != nil {
			break
		}
	}
	return "overflow, " + c.change()
}

// TestIndexSweeps changes a file by a name outside the folder, for which there is no event.
// So the search shows that it asks the index, and the sweep what it is for. It comes in time
// although what was read before took its Share.
func TestIndexSweeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "root/sub/file"), "old words\n")
	fsys := open(t, filepath.Join(dir, "root"), nil).WithIndex(index.Options{})
	fsys.Settle()
	link, err := filepath.Join(dir, "link"), error(nil)
	if err = os.Link(filepath.Join(dir, "root/sub/file"), link); err != nil {
		t.Fatal(err)
	}
	put(t, link, "new words\n")
	found := func(word string) int {
		result, err := fsys.Grep(t.Context(), word, nil)
		if err != nil {
			t.Fatal(err)
		}
		return len(result.Matches)
	}
	if found("old") != 1 || found("new") != 0 {
		t.Fatal("the index was not asked: the search found what no event told")
	}
	fsys.WithIndex(index.Options{})
	fsys.Settle()
	if found("new") != 1 {
		t.Fatal("a new index does not have the new words")
	}
	fsys.WithIndex(index.Options{Sweep: 10 * time.Millisecond, Share: 1 << 30})
	if err := os.Remove(link); err != nil { // so that the file is in the index
		t.Fatal(err)
	}
	fsys.Settle()
	if err := os.Link(filepath.Join(dir, "root/sub/file"), link); err != nil {
		t.Fatal(err)
	}
	put(t, link, "last words\n")
	for deadline := time.Now().Add(10 * time.Second); found("last") == 0; {
		if time.Now().After(deadline) {
			t.Fatal("no sweep has found the change within 10 s")
		}
		runtime.Gosched()
	}
}

// TestIndexMemory bounds the memory, and wants the same results as without an index.
func TestIndexMemory(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	dir := t.TempDir()
	var size int64
	for n := range 300 {
		text := strings.Repeat(fmt.Sprintf("line %d of the text\n", n*n), 100)
		size += int64(len(text))
		put(t, filepath.Join(dir, fmt.Sprint(n%10), fmt.Sprint(n)), text)
	}
	cold := open(t, dir, nil)
	for _, limit := range []int64{1, 30_000, 100_000, 1 << 20, 1 << 30} {
		warm := open(t, dir, nil).WithIndex(index.Options{MaxMemory: limit})
		warm.Settle()
		state := warm.IndexState()
		if used := state.Summaries + state.Contents; used > limit {
			t.Errorf("with %d bytes allowed the index takes %d", limit, used)
		}
		contents := size + 300*24 // each has a slice header
		if limit == 1<<30 && (state.Files != 300 || state.Contents != contents || state.Summaries > size/4) {
			t.Errorf("with enough memory the index has %+v, want 300 files, %d bytes of contents, and summaries of a quarter of %d", state, contents, size)
		}
		for _, pattern := range []string{"line 4 of", "no such", `\d{5}`} {
			compareSearches(t, warm, cold, pattern, workspace.GrepOptions{})
		}
	}
}

// TestIndexOfSmallFiles wants what is known of files of 430 bytes, besides their contents, to take
// at most a quarter of these.
func TestIndexOfSmallFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Repeat("the words of a small file, a line\n", 13)[:430]
	for n := range 1000 {
		put(t, filepath.Join(dir, fmt.Sprint(n/100), fmt.Sprintf("file%02d.txt", n%100)), text)
	}
	warm := open(t, dir, nil).WithIndex(index.Options{MaxMemory: 1 << 30})
	warm.Settle()
	if state := warm.IndexState(); state.Files != 1000 || state.Summaries > 430_000/4 {
		t.Errorf("the index has %+v, want 1000 files and summaries of at most %d bytes", state, 430_000/4)
	}
}

// TestIndexOfChanges changes single files of a directory, by their name and by another one that
// they get, and searches right after each change.
func TestIndexOfChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := func(n int) string { return filepath.Join(dir, "d", fmt.Sprintf("%03d", n)) }
	for n := range 130 {
		put(t, name(n), "old\n")
	}
	put(t, filepath.Join(dir, "e", "file"), "old\n")
	cold := open(t, dir, nil)
	for _, other := range []bool{false, true} {
		for _, n := range []int{0, 31, 32, 33, 63, 64, 65, 127, 128, 129} {
			warm := open(t, dir, nil).WithIndex(index.Options{MaxMemory: 1 << 30})
			warm.Settle()
			file := name(n)
			if other {
				file = filepath.Join(dir, "e", "other")
				if err := os.Link(name(n), file); err != nil {
					t.Fatal(err)
				}
			}
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(f, "new %d %t\n", n, other); err != nil {
				t.Fatal(err)
			}
			compareSearches(t, warm, cold, fmt.Sprintf("new %d %t", n, other), workspace.GrepOptions{})
			if err := errors.Join(f.Close(), warm.Close()); err != nil {
				t.Fatal(err)
			}
			if other {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestIndexLimits searches more directories than are a task, with names around the slash in
// order, names that no path can have, and limits.
func TestIndexLimits(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	dir := t.TempDir()
	for _, first := range []string{"a", "a-b", "a0", "b", "b.c"} {
		for n := range 20 {
			for _, last := range []string{"", "x", "x-y"} {
				put(t, filepath.Join(dir, first, fmt.Sprintf("d%d", n), last, "file"), fmt.Sprintf("word %s\n", last))
			}
		}
	}
	put(t, filepath.Join(dir, "a/d7/x/bad\xff"), "word\n")
	put(t, filepath.Join(dir, "b/d7/x/bad\xff/file"), "word\n")
	put(t, filepath.Join(dir, "b/binary"), "word\x00")
	warm, cold := open(t, dir, nil).WithIndex(index.Options{}), open(t, dir, nil)
	warm.Settle()
	if state := warm.IndexState(); state.Directories < 300 {
		t.Errorf("the index has %+v, want 300 directories", state)
	}
	for _, sub := range []string{".", "a", "b/d7", "b/d7/x"} {
		for limit := 0; limit < 400; limit += 21 {
			opts := workspace.GrepOptions{Path: sub, MaxResults: limit}
			compareSearches(t, warm, cold, "word", opts)
			compareSearches(t, warm, cold, "word x-y", opts)
			for _, pattern := range []string{"**", "**/x/*", "*/*/file", "a*/**/f*", "**/"} {
				opts := &workspace.GlobOptions{Dir: sub, Limit: limit}
				got, err := warm.Glob(t.Context(), pattern, opts)
				want, wantErr := cold.Glob(t.Context(), pattern, opts)
				if !slices.Equal(got, want) || err != nil || wantErr != nil {
					t.Fatalf("Glob(%q, %+v) = %v, %v with an index, want %v, %v", pattern, opts, got, err, want, wantErr)
				}
			}
		}
	}
}

// TestIndexUnread changes one file of a directory whose other files have been unchanged for
// long enough not to be read again, and whose contents are not kept.
func TestIndexUnread(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	dir := t.TempDir()
	for n := range 20 {
		put(t, filepath.Join(dir, fmt.Sprint(n)), strings.Repeat(fmt.Sprintf("line %d of the text\n", 7919*n), 2000))
	}
	for began := sys.ChangeClock(); sys.ChangeClock() <= began+int64(2*time.Second); {
		time.Sleep(time.Millisecond)
	}
	cold := open(t, dir, nil)
	warm := open(t, dir, nil).WithIndex(index.Options{MaxMemory: 480_000})
	warm.Settle()
	put(t, filepath.Join(dir, "3"), "another line\n")
	compareSearches(t, warm, cold, "another", workspace.GrepOptions{}) // before it has been read again
	warm.Settle()
	if state := warm.IndexState(); state.Files != 20 || state.Contents > 400_000 {
		t.Errorf("the index has %+v, want 20 files, and the contents of few", state)
	}
	for n := range 20 {
		compareSearches(t, warm, cold, fmt.Sprintf("line %d of", 7919*n), workspace.GrepOptions{})
	}
	compareSearches(t, warm, cold, "another", workspace.GrepOptions{})
}

// TestIndexWanted has an index that reads again only after a very long time, unless there is a
// search.
func TestIndexWanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a/file"), "words\n")
	fsys := open(t, dir, nil).WithIndex(index.Options{Share: 1 << 30})
	fsys.Settle()
	put(t, filepath.Join(dir, "b/file"), "words\n")
	for deadline := time.Now().Add(10 * time.Second); fsys.IndexState().Files != 2; {
		if result, err := fsys.Grep(t.Context(), "words", nil); err != nil || len(result.Matches) != 2 {
			t.Fatalf("Grep = %v, %v, want two matches", result, err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 10 s of searches the index has %+v, want 2 files", fsys.IndexState())
		}
	}
}

// searchLacking searches a folder with an index after lack, and wants the index to know so many
// directories at most, and the search to see what changes in any.
func searchLacking(dir string, lack func() error, known int) error {
	const dirs = 5
	put := func(name, text string) error {
		return errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	for n := range dirs {
		if err := put(fmt.Sprintf("%d/file", n), "old words\n"); err != nil {
			return err
		}
	}
	if err := lack(); err != nil {
		return err
	}
	fsys, err := localbash.Open(dir, &localbash.Options{Index: &localbash.IndexOptions{}})
	if err != nil {
		return err
	}
	defer fsys.Close()
	for round := range 3 {
		if _, err := fsys.Grep(context.Background(), "words", nil); err != nil {
			return err
		}
		fsys.Settle()
		if state := fsys.IndexState(); state.Directories > known {
			return fmt.Errorf("round %d: the index has %+v, want %d directories at most", round, state, known)
		}
		for n := range dirs {
			if err := put(fmt.Sprintf("%d/file", n), fmt.Sprintf("new words %d\n", round)); err != nil {
				return err
			}
			result, err := fsys.Grep(context.Background(), fmt.Sprintf("new words %d", round), nil)
			if err != nil || len(result.Matches) != n+1 {
				return fmt.Errorf("round %d: Grep = %v, %v, want %d matches", round, result, err, n+1)
			}
		}
	}
	return nil
}

// searchMounted searches after another process has mounted a file system in the folder, and wants
// to see what it has.
func searchMounted(dir string) error {
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o777), os.WriteFile(filepath.Join(dir, "sub", "covered"), []byte("words\n"), 0o666)); err != nil {
		return err
	}
	fsys, err := localbash.Open(dir, &localbash.Options{Index: &localbash.IndexOptions{}})
	if err != nil {
		return err
	}
	defer fsys.Close()
	fsys.Settle()
	// Go waits for the output together with all else that it waits for.
	mount := exec.Command("sh", "-c", `mount -t tmpfs none "$1" && echo words >"$1/new" && echo mounted`, "sh", filepath.Join(dir, "sub"))
	if out, err := mount.CombinedOutput(); err != nil || string(out) != "mounted\n" {
		return fmt.Errorf("mount: %w, %s", err, out)
	}
	result, err := fsys.Grep(context.Background(), "words", nil)
	if err != nil || len(result.Matches) != 1 || result.Matches[0].Path != "sub/new" {
		return fmt.Errorf("Grep = %+v, %v, want sub/new", result, err)
	}
	return nil
}

// TestIndexIdle wants nothing to be left of an index that nobody asks.
func TestIndexIdle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "words\n")
	fsys := open(t, dir, nil).WithIndex(index.Options{Sweep: time.Millisecond, Idle: 50 * time.Millisecond})
	fsys.Settle()
	for deadline := time.Now().Add(10 * time.Second); fsys.IndexState() != (localbash.IndexState{}); {
		if time.Now().After(deadline) {
			t.Fatalf("after 10 s there is still %+v", fsys.IndexState())
		}
		time.Sleep(time.Millisecond)
	}
	result, err := fsys.Grep(t.Context(), "words", nil)
	if err != nil || len(result.Matches) != 1 {
		t.Errorf("Grep = %v, %v, want one match", result, err)
	}
}

// TestIndexLeavesNothing opens and closes folders with indexes, in a process of its own.
func TestIndexLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a/b/file"), "words\n")
	if err := child(t, "leak", dir).Run(); err != nil {
		t.Error(err)
	}
}

func openAndCloseIndexed(dir string) error {
	count := func() (goroutines, descriptors int) {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0, 0
		}
		return runtime.NumGoroutine(), len(open)
	}
	use := func(settle bool) error {
		fsys, err := localbash.Open(dir, &localbash.Options{Index: &localbash.IndexOptions{}})
		if err != nil {
			return err
		}
		defer fsys.Close()
		for range 2 {
			if result, err := fsys.Grep(context.Background(), "words", nil); err != nil || len(result.Matches) != 1 {
				return fmt.Errorf("Grep = %v, %v", result, err)
			}
			if settle {
				fsys.Settle()
			}
		}
		return nil
	}
	if err := use(true); err != nil { // what the runtime opens once
		return err
	}
	goroutines, descriptors := count()
	for n := range 50 {
		if err := use(n%2 == 0); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() { // a goroutine that has ended counts a little longer
		g, d := count()
		if g <= goroutines && d <= descriptors {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d goroutines and %d descriptors are left, before there were %d and %d", g, d, goroutines, descriptors)
		}
	}
}
