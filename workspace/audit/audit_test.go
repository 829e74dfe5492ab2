package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// open returns the log in the file path.
func open(t *testing.T, path string, opts *audit.Options) *audit.Log {
	t.Helper()
	log, err := audit.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// write writes each of names through log.
func write(t *testing.T, log *audit.Log, names ...string) {
	t.Helper()
	fsys := observe.New(memory.New(nil), "test", log)
	for _, name := range names {
		if _, err := fsys.WriteFile(t.Context(), name, []byte("the contents"), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll returns the content of path.
func readAll(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// intact verifies the file path.
func intact(t *testing.T, path string) audit.Report {
	t.Helper()
	report, err := audit.Verify(bytes.NewReader(readAll(t, path)), "")
	if err != nil {
		t.Fatalf("Verify: %v\n%s", err, readAll(t, path))
	}
	return report
}

// paths returns the paths of the operations in the file path.
func paths(t *testing.T, path string) (names []string) {
	t.Helper()
	for e, err := range audit.Read(bytes.NewReader(readAll(t, path))) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Path)
	}
	return names
}

func TestConformance(t *testing.T) {
	log := open(t, filepath.Join(t.TempDir(), "log"), nil)
	conformance.Run(t, func(*testing.T) workspace.FileSystem {
		return observe.New(memory.New(nil), "test", log)
	}, &conformance.Options{Short: true})
}

// TestEntries tests what the log has of operations, and what it does not have.
func TestEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	fsys := observe.New(memory.New(nil), "repo", open(t, path, nil))
	ctx := t.Context()
	_, err := fsys.WriteFile(ctx, "a", []byte("the contents"), nil)
	_, again := fsys.WriteFile(ctx, "a", []byte("the new contents"), nil)
	_, found := fsys.Grep(ctx, "the contents", nil)
	if err := errors.Join(err, again, found); err != nil {
		t.Fatal(err)
	}
	_, _ = fsys.ReadFile(ctx, "none")
	_ = observe.New(policy.ReadOnly(fsys), "frozen", open(t, path, nil)).Rm(ctx, "a", nil)
	var versions []string
	var got strings.Builder
	for e, err := range audit.Read(bytes.NewReader(readAll(t, path))) {
		if err != nil {
			t.Fatal(err)
		}
		if time.Since(e.Time) > time.Minute || e.DurationNs <= 0 || len(e.Prev) != 64 {
			t.Errorf("the entry %+v lacks its time, its duration or the hash before", e)
		}
		versions = append(versions, string(e.VersionBefore), string(e.VersionAfter))
		fmt.Fprintln(&got, e.Workspace, e.Op, e.Path, e.Bytes, e.Decision, e.Code)
	}
	want := `repo write_file a 12 allowed 
repo write_file a 16 allowed 
repo grep . 0 allowed 
repo read_file none 0 allowed FILE_NOT_FOUND
frozen stat a 0 allowed 
frozen rm a 0 denied POLICY_DENIED
`
	want = strings.ReplaceAll(want, "frozen stat a 0 allowed \n", "repo stat a 0 allowed \n")
	if got.String() != want {
		t.Errorf("the log has\n%swant\n%s", &got, want)
	}
	if versions[0] != "" || versions[1] == "" || versions[2] != versions[1] || versions[3] == versions[2] {
		t.Errorf("the versions before and after two writes are %q", versions[:4])
	}
	if bytes.Contains(readAll(t, path), []byte("contents")) {
		t.Error("the log has contents")
	}
	if report := intact(t, path); report.Lines != 7 || report.Operations != 6 || report.Torn != 0 || report.Unfinished || report.Continues != "" {
		t.Errorf("Verify = %+v", report)
	}
}

// TestSymlink tests that a symlink is no log: a rotation would rename the symlink and leave the
// file that it leads to.
func TestSymlink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "log")
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err) // as by Windows
	}
	if _, err := audit.Open(link, nil); err == nil || !strings.Contains(err.Error(), "name the file that it leads to") {
		t.Errorf("Open of a dangling symlink: %v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open created the target of a symlink: %v", err)
	}
	write(t, open(t, target, nil), "a")
	if _, err := audit.Open(link, nil); err == nil || !strings.Contains(err.Error(), "name the file that it leads to") {
		t.Errorf("Open of a symlink to a log: %v", err)
	}
}

// TestHashedPaths tests that a log with a key has no names, and that the key finds
// them.
func TestHashedPaths(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	key, err := audit.LoadKey(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	if same, err := audit.LoadKey(filepath.Join(dir, "key")); err != nil || !bytes.Equal(key, same) {
		t.Errorf("the second LoadKey = %x, %v, want %x", same, err, key)
	}
	if info, err := os.Stat(filepath.Join(dir, "key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key has the mode %v, %v", info.Mode(), err)
	}
	fsys := observe.New(memory.New(nil), "test", open(t, path, &audit.Options{Key: key}))
	_, err = fsys.WriteFile(t.Context(), "salaries.csv", nil, nil)
	if err := errors.Join(err, workspace.Move(t.Context(), fsys, "salaries.csv", "hidden/salaries.csv")); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(readAll(t, path), []byte("salaries")) {
		t.Errorf("the log has a name:\n%s", readAll(t, path))
	}
	names := paths(t, path)
	if want := audit.HashPath(key, "salaries.csv"); len(names) != 2 || names[0] != want || names[1] != want || !strings.HasPrefix(want, "hmac:") {
		t.Errorf("the names in the log are %q, want %q", names, want)
	}
	if other := audit.HashPath([]byte("another key"), "salaries.csv"); other == names[0] {
		t.Error("another key has the same hash")
	}
	if err := os.WriteFile(filepath.Join(dir, "broken"), []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.LoadKey(filepath.Join(dir, "broken")); err == nil {
		t.Error("LoadKey takes any file for a key")
	}
}

// TestTampering changes a log in every line, and compares where the chain breaks.
func TestTampering(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, open(t, path, nil), "a", "b", "c", "d")
	whole := readAll(t, path)
	last := intact(t, path).Last
	split := bytes.SplitAfter(whole, []byte("\n"))[:5]
	joined := func(order ...int) []byte {
		var data []byte
		for _, i := range order {
			data = append(data, split[i]...)
		}
		return data
	}
	const noLine = -1
	for name, c := range map[string]struct {
		data   []byte
		expect string
		line   int // 0 for an intact log, noLine if none is at fault
	}{
		"as written":              {whole, "", 0},
		"as expected":             {whole, last, 0},
		"first line removed":      {joined(1, 2, 3, 4), "", 1},
		"second line removed":     {joined(0, 2, 3, 4), "", 2},
		"line in middle removed":  {joined(0, 1, 3, 4), "", 3},
		"lines swapped":           {joined(0, 2, 1, 3, 4), "", 2},
		"line repeated":           {joined(0, 1, 1, 2, 3, 4), "", 3},
		"two logs":                {append(bytes.Clone(whole), whole...), "", 6},
		"path changed":            {bytes.Replace(whole, []byte(`"path":"b"`), []byte(`"path":"x"`), 1), "", 4},
		"line that is no JSON":    {append(joined(0, 1), "xyz\n"...), "", 3},
		"line without a hash":     {append(joined(0, 1), `{"op":"rm","path":"a"}`+"\n"...), "", 3},
		"line that is too long":   {append(joined(0, 1), strings.Repeat("x", 1<<20)...), "", 3},
		"another version":         {bytes.Replace(whole, []byte(`"version":1`), []byte(`"version":2`), 1), "", 1},
		"empty":                   {nil, "", 1},
		"last line removed":       {joined(0, 1, 2, 3), "", 0}, // which only the hash shows
		"last line missed":        {joined(0, 1, 2, 3), last, noLine},
		"all written again":       {bytes.Clone(split[0]), last, noLine},
		"a part of the last line": {whole[:len(whole)-3], "", 0},
	} {
		_, err := audit.Verify(bytes.NewReader(c.data), c.expect)
		var broken *audit.BrokenError
		switch errors.As(err, &broken); {
		case c.line == 0 && err != nil:
			t.Errorf("%s: Verify = %v, want none", name, err)
		case c.line != 0 && (broken == nil || broken.Line != max(c.line, 0)):
			t.Errorf("%s: Verify = %v, want line %d", name, err, c.line)
		}
	}
	if _, err := audit.Verify(io.MultiReader(bytes.NewReader(whole[:100]), failing{}), ""); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Verify of what cannot be read = %v", err)
	}
}

// failing is a reader that fails.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fs.ErrPermission }

// TestTorn cuts the log at every byte of its first and of its last line, and continues.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	write(t, open(t, path, nil), "a", "b")
	whole := readAll(t, path)
	header := bytes.IndexByte(whole, '\n')
	lastStart := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for cut := 1; cut < len(whole); cut++ {
		if cut > header && cut < lastStart {
			continue
		}
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, open(t, path, nil), "c")
		want := 1
		if cut == lastStart {
			want = 0 // there is no part of a line
		}
		report := intact(t, path)
		if names := paths(t, path); report.Torn != want || names[len(names)-1] != "c" {
			t.Fatalf("cut after %d bytes: %+v, and the names %q, want %d torn line and c", cut, report, names, want)
		}
		if cut > 0 && !bytes.HasPrefix(readAll(t, path), whole[:cut]) {
			t.Fatalf("cut after %d bytes: what was there is hidden", cut)
		}
	}
}

// TestUnfinished notes the hash of a log while a line is being written: it is of the line before.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	write(t, open(t, path, nil), "a", "b")
	whole := readAll(t, path)
	lastStart := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for _, cut := range []int{lastStart + 1, len(whole) - 1} {
		part, err := audit.Verify(bytes.NewReader(whole[:cut]), "")
		if err != nil || !part.Unfinished {
			t.Fatalf("Verify of %d bytes = %+v, %v, want an unfinished line", cut, part, err)
		}
		if _, err := audit.Verify(bytes.NewReader(whole), part.Last); err != nil {
			t.Errorf("Verify of the whole log with the hash from %d bytes = %v", cut, err)
		}
		if whole, err := audit.Verify(bytes.NewReader(whole[:lastStart]), ""); err != nil || whole.Last != part.Last {
			t.Errorf("Verify of %d bytes has the last hash %s, want %s", cut, part.Last, whole.Last)
		}
	}
}

// TestShorter cuts lines off while the log is in use: nothing more is done then.
func TestShorter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	store := memory.New(nil)
	fsys := observe.New(store, "test", open(t, path, nil))
	if err := errors.Join(fsys.Mkdir(t.Context(), "a", nil), fsys.Mkdir(t.Context(), "b", nil)); err != nil {
		t.Fatal(err)
	}
	whole := readAll(t, path)
	if err := os.Truncate(path, int64(bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1)); err != nil {
		t.Fatal(err)
	}
	_ = fsys.Mkdir(t.Context(), "c", nil) // is carried out, and cannot be recorded
	err := fsys.Mkdir(t.Context(), "d", nil)
	if !errors.Is(err, workspace.ErrUnavailable) || !strings.Contains(err.Error(), "shorter than it was") || strings.Contains(err.Error(), path) {
		t.Errorf("Mkdir without a log = %v, want unavailable, without the path", err)
	}
	if _, err := store.Stat(t.Context(), "d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused Mkdir: Stat = %v", err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil { // it is there again
		t.Fatal(err)
	}
	if err := fsys.Mkdir(t.Context(), "d", nil); err != nil {
		t.Errorf("Mkdir with a log = %v", err)
	}
	if got := strings.Join(paths(t, path), " "); got != "a b c d" {
		t.Errorf("the log has %q, want a b c d", got)
	}
	intact(t, path)
}

// TestDeleted deletes a log that is in use. The new file has the inode of the old one: on
// ext4 by chance, and in the second case because another process puts a new log there.
func TestDeleted(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"deleted": os.Remove,
		"new log": func(path string) error {
			if err := os.Truncate(path, 0); err != nil {
				return err
			}
			_, err := audit.Open(path, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("/var/tmp", "audit") // more often a disk than t.TempDir is
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			path := filepath.Join(dir, "log")
			first, second := open(t, path, nil), open(t, path, nil)
			write(t, first, "a", "b")
			write(t, second, "c")
			if err := replace(path); err != nil {
				t.Fatal(err)
			}
			write(t, first, "d")
			write(t, second, "e")
			write(t, first, "f")
			if got := strings.Join(paths(t, path), " "); got != "d e f" {
				t.Errorf("the new log has %q, want d e f", got)
			}
			intact(t, path)
		})
	}
}

// TestUnwritable takes the folder of the log away.
func TestUnwritable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "log")
	fsys := observe.New(memory.New(nil), "test", open(t, path, nil))
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	_ = fsys.Mkdir(t.Context(), "a", nil)
	if _, err := fsys.Ls(t.Context(), "a", nil); !errors.Is(err, workspace.ErrUnavailable) || strings.Contains(err.Error(), dir) {
		t.Errorf("Ls without a log = %v, want unavailable, without the path", err)
	}
	if err := os.Rename(dir+"-moved", dir); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Ls(t.Context(), ".", nil); err != nil {
		t.Errorf("Ls with a log = %v", err)
	}
	if got := strings.Join(paths(t, path), " "); got != "a ." {
		t.Errorf("the log has %q, want a and the root", got)
	}
}

// TestUnsynced has lines that are written and do not reach the disk: operations are refused
// until they do, and no line is written twice.
func TestUnsynced(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "log")
	log := open(t, path, &audit.Options{Sync: true})
	broken, synced := true, 0
	audit.SetSync(log, func(*os.File) error {
		if broken {
			return errors.New("the disk is broken")
		}
		synced++
		return nil
	})
	log.After(ctx, observe.Event{Op: "stat", Path: "a"})
	for range 2 {
		if _, err := log.Before(ctx, observe.Event{}); !errors.Is(err, workspace.ErrUnavailable) {
			t.Errorf("Before = %v, want unavailable", err)
		}
	}
	broken = false
	for range 2 {
		if _, err := log.Before(ctx, observe.Event{}); err != nil {
			t.Errorf("Before = %v, want nil", err)
		}
	}
	if synced != 2 {
		t.Errorf("%d files are flushed to the disk, want the log and its folder, once", synced)
	}
	if report := intact(t, path); report.Operations != 1 {
		t.Errorf("the log has %d operations, want 1", report.Operations)
	}
}

// TestRotation renames the file in use. The chain continues in the next one.
func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, other := open(t, path, nil), open(t, path, nil)
	write(t, log, "a")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write(t, log, "b")
	write(t, other, "c")
	first, second := intact(t, path+".1"), intact(t, path)
	if second.Continues != first.Last || second.Operations != 2 {
		t.Errorf("the second file is %+v, want one that continues %s", second, first.Last)
	}
	both := io.MultiReader(bytes.NewReader(readAll(t, path+".1")), bytes.NewReader(readAll(t, path)))
	if report, err := audit.Verify(both, first.Last); err != nil || report.Operations != 3 {
		t.Errorf("Verify of both files = %+v, %v", report, err)
	}
}

// TestRotationOfOthers renames the file after another log has written to it, once, and a second
// time before this one writes again.
func TestRotationOfOthers(t *testing.T) {
	for times := 1; times <= 2; times++ {
		path := filepath.Join(t.TempDir(), "log")
		log, other := open(t, path, nil), open(t, path, nil)
		write(t, log, "a")
		for i := 1; i <= times; i++ {
			write(t, other, "b")
			if err := os.Rename(path, fmt.Sprint(path, ".", i)); err != nil {
				t.Fatal(err)
			}
		}
		write(t, log, "c")
		if report, err := audit.VerifyFile(path, ""); err != nil || report.Operations != times+2 {
			t.Errorf("VerifyFile of %d renamed files = %+v, %v", times, report, err)
		}
	}
}

// TestOpenRefuses gives Open what is no log.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	for _, content := range []string{"#!/bin/sh\n", "{}\n", "\n", "text", `{"log":{"version":1,` + "\nand more\n", `{"log":{"version":9},"prev":""}` + "\n"} {
		if err := os.WriteFile(other, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := audit.Open(other, nil); err == nil {
			t.Errorf("Open of a file with %q succeeds", content)
		}
		if got := string(readAll(t, other)); got != content {
			t.Errorf("Open has changed %q to %q", content, got)
		}
	}
	if _, err := audit.Open(dir, nil); err == nil {
		t.Error("Open of a folder succeeds")
	}
	if _, err := audit.Open(filepath.Join(dir, "none", "log"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open in a folder that does not exist = %v", err)
	}
}

// TestTogether writes to one file from several logs at a time, as several processes
// do.
func TestTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	const logs, each = 4, 50
	var wg sync.WaitGroup
	for i := range logs {
		log := open(t, path, nil)
		wg.Go(func() {
			for j := range each {
				log.After(context.Background(), observe.Event{Time: time.Now(), Op: "stat", Path: fmt.Sprint(i, "-", j)})
			}
		})
	}
	wg.Wait()
	if report := intact(t, path); report.Operations != logs*each {
		t.Errorf("the log has %d operations, want %d", report.Operations, logs*each)
	}
}

// TestHostileNames writes names that would break lines or be too long for them.
func TestHostileNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	fsys := observe.New(memory.New(nil), "test", open(t, path, nil))
	names := []string{"a\n{\"op\":\"rm\"}", "\x00\x01", "\xff", "\u202e", strings.Repeat("\x01", 1<<20), strings.Repeat("é", 5000)}
	for _, name := range names {
		_, _ = fsys.WriteFile(t.Context(), name, nil, nil)
		_ = workspace.Move(t.Context(), fsys, name, name)
	}
	if report := intact(t, path); report.Operations != 2*len(names) {
		t.Errorf("the log has %d operations, want %d", report.Operations, 2*len(names))
	}
}

// FuzzVerify changes a log at one place, or gives Verify something else. It never
// panics, and finds each change of a line but the last.
func FuzzVerify(f *testing.F) {
	path := filepath.Join(f.TempDir(), "log")
	log, err := audit.Open(path, nil)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 4 {
		log.After(f.Context(), observe.Event{Time: time.Unix(int64(i), 0), Op: "stat", Path: fmt.Sprint(i)})
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(""), uint(0), uint(0))
	f.Add([]byte("x"), uint(200), uint(1))
	f.Add([]byte(`{"log":{"version":1},"prev":""}`+"\n"+`{"torn":3,"prev":""}`), uint(1<<30), uint(0))
	f.Add([]byte("\n"), uint(300), uint(0))
	lastStart := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	f.Fuzz(func(t *testing.T, put []byte, at, cut uint) {
		if at >= uint(len(whole)) {
			if report, err := audit.Verify(bytes.NewReader(put), ""); err == nil && report.Lines == 0 {
				t.Errorf("Verify(%q) = %+v", put, report)
			}
			return
		}
		end := at + min(cut, uint(len(whole))-at)
		changed := bytes.Join([][]byte{whole[:at], put, whole[end:]}, nil)
		if bytes.Equal(changed, whole) || int(end) > lastStart || int(at) >= lastStart {
			return
		}
		if !bytes.HasSuffix(changed, whole[lastStart:]) {
			return
		}
		if report, err := audit.Verify(bytes.NewReader(changed), ""); err == nil {
			t.Errorf("Verify = %+v for a log in which %q was replaced by %q", report, whole[at:end], put)
		}
	})
}

func BenchmarkLog(b *testing.B) {
	for name, opts := range map[string]*audit.Options{"plain": nil, "sync": {Sync: true}} {
		b.Run(name, func(b *testing.B) {
			log, err := audit.Open(filepath.Join(b.TempDir(), "log"), opts)
			if err != nil {
				b.Fatal(err)
			}
			e := observe.Event{Time: time.Now(), Op: "read_file", Path: "src/main.go", Bytes: 4096, Decision: observe.Allowed}
			for b.Loop() {
				log.After(b.Context(), e)
			}
		})
	}
}

// Example logs an operation, verifies the log, and shows what is in it.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "audit.jsonl")
	log, err := audit.Open(path, nil)
	if err != nil {
		panic(err)
	}
	fsys := observe.New(memory.New(nil), "notes", log)
	_, _ = fsys.WriteFile(context.Background(), "todo.md", []byte("- buy milk\n"), nil)

	data, _ := os.ReadFile(path)
	report, err := audit.Verify(bytes.NewReader(data), "")
	fmt.Println(report.Operations, "operation, error", err)
	removed := regexp.MustCompile(`(?m)^.*"log".*\n`).ReplaceAll(data, nil)
	_, err = audit.Verify(bytes.NewReader(removed), "")
	fmt.Println(err)
	// Output:
	// 1 operation, error <nil>
	// line 1: the log does not begin with a header
}

// Read returns the entries of a log, and tests the chain meanwhile.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "audit.jsonl")
	log, err := audit.Open(path, nil)
	if err != nil {
		panic(err)
	}
	fsys := observe.New(memory.New(nil), "notes", log)
	_, _ = fsys.WriteFile(context.Background(), "todo.md", []byte("- buy milk\n"), nil)
	_ = fsys.Rm(context.Background(), "missing", nil)

	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	for entry, err := range audit.Read(bytes.NewReader(data)) {
		fmt.Println(entry.Op, entry.Path, entry.Code, err)
	}
	// Output:
	// write_file todo.md  <nil>
	// rm missing FILE_NOT_FOUND <nil>
}
