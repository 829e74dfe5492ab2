package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestReadFiles(t *testing.T) {
	png := pixel + strings.Repeat("x", 2<<20)
	set, _ := newSet(t, map[string]string{"a": "one\ntwo\n", "b": "three", "dir/c": "", "1.png": png, "2.png": png}, nil)
	result := call(t, set, "read_files", object{"paths": []string{"a", "nope", "/b", "dir", "../x", "dir/c", "1.png", "2.png"}})
	contains(t, "text", result.Text, "[8 files, 3 could not be read]\n[a: lines 1-2 of 2, version ", "]\none\ntwo\n[nope: not read]\nFILE_NOT_FOUND: ",
		"[b: lines 1-1 of 1, version ", "]\nthree\n[no line end at the end of the file]\n[dir: not read]\nIS_A_DIRECTORY", "[../x: not read]\nINVALID_PATH", "[dir/c: empty file", "read by itself")
	out := members(t, result.Structured)
	files := out["files"].([]any)
	if out["failed"] != 3.0 || len(files) != 8 || len(result.Parts) != 1 || result.Parts[0].Path != "1.png" {
		t.Errorf("failed = %v, %d files, %d parts", out["failed"], len(files), len(result.Parts))
	}
	for i, want := range []string{"one\ntwo\n", "", "three"} {
		if got := files[i].(object)["text"]; got != want {
			t.Errorf("files[%d].text = %q, want %q", i, got, want)
		}
	}
	if first, second := files[6].(object)["hint"], files[7].(object)["hint"]; first != nil || second != "It can be read by itself." {
		t.Errorf("the hints of the images are %v and %v", first, second)
	}
	contains(t, "files[1].error", files[1].(object)["error"].(string), "FILE_NOT_FOUND: nope: ")
	bad(t, set, "read_files", object{"paths": []string{}}, tools.CodeInvalidArguments)
	bad(t, set, "read_files", object{"paths": make([]string, 51)}, tools.CodeInvalidArguments)
}

// TestReadFilesBudget tests that the files share the budget, and that read_file goes
// on where a file was cut.
// TestReadFilesLongName checks that a name that cannot be read is not repeated as a whole.
func TestReadFilesLongName(t *testing.T) {
	t.Parallel()
	set, _ := newSet(t, nil, nil)
	result := call(t, set, "read_files", object{"paths": []string{strings.Repeat("x", 1<<20)}})
	if n := len(result.Structured); n > 4<<10 {
		t.Errorf("the result has %d bytes", n)
	}
}

func TestReadFilesBudget(t *testing.T) {
	var big strings.Builder
	for n := range 20_000 {
		fmt.Fprintf(&big, "line %d of a large file\n", n+1)
	}
	set, _ := newSet(t, map[string]string{"small": "one\n", "big1": big.String(), "big2": big.String(), "wide": strings.Repeat("x", 1500) + "\n"}, nil)
	for _, budget := range []int{0, 1000, 10_000} {
		args := object{"paths": []string{"big1", "small", "big2", "wide"}}
		most := 32 << 10
		if budget > 0 {
			args["maxBytes"], most = budget, budget
		}
		out := good(t, set, "read_files", args)
		total, lengths := 0, map[string]int{}
		for _, f := range out["files"].([]any) {
			file := f.(object)
			text, path := file["text"].(string), file["path"].(string)
			total, lengths[path] = total+len(text), len(text)
			next, more := file["nextLine"].(float64)
			if more == (path == "small") && path != "wide" {
				t.Errorf("budget %d: nextLine of %s = %v", budget, path, next)
			}
			if more && next > 1 {
				if rest := good(t, set, "read_file", object{"path": path, "line": next, "limit": 1})["text"]; !strings.HasPrefix(big.String()[len(text):], rest.(string)) {
					t.Errorf("budget %d: line %v of %s does not follow", budget, next, path)
				}
			}
		}
		if total > most || total < most*7/10 && budget != 1000 || max(lengths["big1"], lengths["big2"])-min(lengths["big1"], lengths["big2"]) > len("line 20000 of a large file\n") || lengths["small"] != 4 {
			t.Errorf("budget %d: %d bytes in all, %v", budget, total, lengths)
		}
	}
	result := call(t, set, "read_files", object{"paths": []string{"wide", "big1"}, "maxBytes": 100})
	contains(t, "text", result.Text, "[wide: no room for lines 1-1, version ", "]\n[more: go on with line=1]\n[big1: lines 1-4 of 20000")
	files := members(t, result.Structured)["files"].([]any)
	if hint, _ := files[0].(object)["hint"].(string); hint != "There is no room for its first line. Read it by itself, without maxBytes." || files[1].(object)["hint"] != nil {
		t.Errorf("the hints of a file without room and of one with room are %q and %v", hint, files[1].(object)["hint"])
	}
}

// TestReadFilesPassesOn tests that a share that is too small for a line goes to other files.
func TestReadFilesPassesOn(t *testing.T) {
	files, paths := map[string]string{}, []string{"a", "b", "c", "d", "e"}
	for _, path := range paths {
		files[path] = strings.Repeat("a line of thirty characters..\n", 3)
	}
	set, _ := newSet(t, files, nil)
	total := 0
	for _, f := range good(t, set, "read_files", object{"paths": paths, "maxBytes": 100})["files"].([]any) {
		total += len(f.(object)["text"].(string))
	}
	if total != 90 {
		t.Errorf("read_files returns %d bytes, want 3 lines of 30 bytes", total)
	}
}

// TestReadFilesCutsLongLines tests that a file with a line that is cut is whole otherwise: the
// mark of the cut can be longer than what it stands for.
func TestReadFilesCutsLongLines(t *testing.T) {
	files := map[string]string{"line": strings.Repeat("x", 2010), "middle": "first\n" + strings.Repeat("x", 2010) + "\nlast\n", "huge": strings.Repeat("x", 1<<20), "feeds": strings.Repeat("\n", 30_000)}
	paths := []string{"line", "middle", "huge", "feeds", "rest"}
	files["rest"] = strings.Repeat("0123456789abcde\n", 1500) // has what the others do not need
	set, _ := newSet(t, files, nil)
	for i, item := range good(t, set, "read_files", object{"paths": paths})["files"].([]any) {
		got, alone := item.(object), good(t, set, "read_file", object{"path": paths[i]})
		if got["text"] != alone["text"] || got["nextLine"] != alone["nextLine"] {
			t.Errorf("%s has %d bytes and next line %v, by itself %d and %v", paths[i], len(got["text"].(string)), got["nextLine"], len(alone["text"].(string)), alone["nextLine"])
		}
	}
}

// TestReadFilesCountsAsReading tests a session: what was shown can be changed.
func TestReadFilesCountsAsReading(t *testing.T) {
	_, ws := newSet(t, map[string]string{"a": "one\n", "b": strings.Repeat("two\n", 20_000)}, nil)
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
	good(t, set, "read_files", object{"paths": []string{"a", "b"}})
	good(t, set, "write_file", object{"path": "a", "content": "new\n"})
	bad(t, set, "write_file", object{"path": "b", "content": "new\n"}, tools.CodeReadRequired)
}

// sameContent says that the files "large" to "large9" all have one content.
type sameContent struct {
	*memory.FS
	content []byte
}

func (f *sameContent) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if strings.HasPrefix(name, "large") {
		return f.content, "1", nil
	}
	return f.FS.ReadVersioned(ctx, name, limit)
}

// TestReadFilesMemory tests that the files that are kept at a time are bounded.
func TestReadFilesMemory(t *testing.T) {
	fsys := &sameContent{memory.New(nil), bytes.Repeat([]byte("line\n"), 20<<20)}
	if _, err := fsys.WriteFile(t.Context(), "small", []byte("one\n"), nil); err != nil {
		t.Fatal(err)
	}
	set := newSetOf(t, workspace.New("test", fsys, &workspace.Options{MaxFileSize: -1}), &tools.Options{ReadCache: 1})
	out := good(t, set, "read_files", object{"paths": []string{"large1", "large2", "large3", "small"}})
	files := out["files"].([]any)
	if text := files[3].(object)["text"]; out["failed"] != 1.0 || text != "one\n" {
		t.Errorf("failed = %v, the last text is %q", out["failed"], text)
	}
	contains(t, "files[2].error", files[2].(object)["error"].(string), "FILE_TOO_LARGE: large3: ", "more than 256 MiB together\nRead it by itself.")
}

// lastRead cancels the context of a call while it reads a file, which succeeds.
type lastRead struct {
	*memory.FS
	cancel context.CancelFunc
}

func (f *lastRead) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	defer f.cancel()
	return f.FS.ReadVersioned(ctx, name, limit)
}

// TestReadsEndWithContext tests that a call ends whose context ends right after a read.
func TestReadsEndWithContext(t *testing.T) {
	for dialect, op := range map[tools.Dialect]string{"": "read_files", tools.DialectMCPFilesystem: "read_multiple_files"} {
		ctx, cancel := context.WithCancel(t.Context())
		fsys := &lastRead{memory.New(nil), cancel}
		put(t, fsys.FS, "a", "one\n")
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: dialect})
		tool, _ := set.Lookup(op)
		if result, err := tool.Call(ctx, json.RawMessage(`{"paths": ["a"]}`)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s = %+v, %v, want %v", op, result, err, context.Canceled)
		}
	}
}
