package tools_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/workspacekit/workspacekit/internal/charset"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// stored returns text as an encoding stores it.
func stored(t *testing.T, enc charset.Encoding, text string) string {
	t.Helper()
	data, err := enc.Encode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadEncodings(t *testing.T) {
	const text = "größer\r\nthan two\r\n"
	for _, c := range []struct {
		name   string
		enc    charset.Encoding
		text   string
		header string
		bom    any
		ends   any
	}{
		{"utf-8", charset.UTF8, "größer\nthan two\n", "[a: lines 1-2 of 2, version ", nil, nil},
		{"utf-8 with a mark", charset.UTF8, charset.Mark + text, "[a: lines 1-2 of 2, BOM, CRLF, version ", true, "CRLF"},
		{"mixed line ends", charset.UTF8, text + "three\n", "[a: lines 1-3 of 3, CRLF and LF, version ", nil, "CRLF and LF"},
		{"utf-16le", charset.UTF16LE, charset.Mark + text, "[a: lines 1-2 of 2, UTF-16LE, BOM, CRLF, version ", true, "CRLF"},
		{"utf-16be", charset.UTF16BE, charset.Mark + text, "[a: lines 1-2 of 2, UTF-16BE, BOM, CRLF, version ", true, "CRLF"},
		{"utf-16 without a mark", charset.UTF16LE, text, "[a: lines 1-2 of 2, UTF-16LE, CRLF, version ", nil, "CRLF"},
		{"latin-1", charset.Latin1, text, "[a: lines 1-2 of 2, Latin-1, CRLF, version ", nil, "CRLF"},
		{"windows-1252", charset.Windows1252, "5 €\n", "[a: lines 1-1 of 1, Windows-1252, version ", nil, nil},
	} {
		data := stored(t, c.enc, c.text)
		set, _ := newSet(t, map[string]string{"a": data}, nil)
		result := call(t, set, "read_file", object{"path": "a"})
		out := members(t, result.Structured)
		if out["text"] != c.text || out["size"] != float64(len(data)) || out["bom"] != c.bom || out["lineEnds"] != c.ends || !strings.HasPrefix(result.Text, c.header) {
			t.Errorf("%s: read_file = %v\n%s\nwant %q and %q", c.name, out, result.Text, c.header, c.text)
		}
		if enc, _ := out["encoding"].(string); enc != string(c.enc) && c.enc != charset.UTF8 {
			t.Errorf("%s: encoding = %v", c.name, enc)
		}
	}
}

// TestEditEncodings edits random files, and compares the bytes before and after what
// is replaced.
func TestEditEncodings(t *testing.T) {
	exhaustive.Long(t)
	alphabets := map[charset.Encoding]string{
		charset.UTF8:        "abc\r\nß日😀",
		charset.UTF16LE:     "abc\r\nß日😀ऊ",
		charset.UTF16BE:     "abc\r\nß日😀ऊ",
		charset.Latin1:      "abcdef gh\r\néþ",
		charset.Windows1252: "abcdef gh\r\né€",
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for enc, alphabet := range alphabets {
		set, ws := newSet(t, nil, nil)
		for range 200 {
			word := func(n int) string {
				var b strings.Builder
				for range random.IntN(n) {
					b.WriteRune([]rune(alphabet)[random.IntN(len([]rune(alphabet)))])
				}
				return b.String()
			}
			head := "plain words é: "
			if enc != charset.Latin1 && enc != charset.Windows1252 {
				head = charset.Mark
			}
			before, after, now := stored(t, enc, head+word(40)), stored(t, enc, word(40)), word(9)
			data := before + stored(t, enc, "<old>") + after
			if _, got, ok := charset.Decode([]byte(data)); !ok || got != enc {
				continue // the random letters are like another encoding
			}
			if _, err := ws.WriteFile(t.Context(), "a", []byte(data), nil); err != nil {
				t.Fatal(err)
			}
			good(t, set, "edit_file", object{"path": "a", "oldText": "<old>", "newText": now})
			got, err := ws.ReadFile(t.Context(), "a")
			rest, begins := bytes.CutPrefix(got, []byte(before))
			rest, ends := bytes.CutSuffix(rest, []byte(after))
			// Line ends may have become those of the file, also those of "\r\r\n".
			alike := func(text string) string {
				for crlf := stored(t, enc, "\r\n"); strings.Contains(text, crlf); {
					text = strings.ReplaceAll(text, crlf, stored(t, enc, "\n"))
				}
				return text
			}
			if err != nil || !begins || !ends || alike(string(rest)) != alike(stored(t, enc, now)) {
				t.Fatalf("seed %d: %s: edit of %q to %q made %q, %v", seed, enc, data, now, got, err)
			}
		}
	}
}

func TestEditMissingCharacter(t *testing.T) {
	const content = "gr\xf6\xdfer\n"
	set, ws := newSet(t, map[string]string{"a": content}, nil)
	for _, dry := range []bool{true, false} {
		err := bad(t, set, "edit_file", object{"path": "a", "oldText": "größer", "newText": "5 €", "dryRun": dry}, tools.CodeInvalidArguments)
		contains(t, "message", err.Message, "Latin-1 has no character '€' (line 1)")
	}
	if data, err := ws.ReadFile(t.Context(), "a"); err != nil || string(data) != content {
		t.Errorf("ReadFile = %q, %v, want it unchanged", data, err)
	}
	const remedy = `or encoding "utf-8"`
	contains(t, "hint", bad(t, set, "write_file", object{"path": "a", "content": "5 €\n"}, tools.CodeInvalidArguments).Hint, remedy)
	if err := bad(t, set, "write_file", object{"path": "a", "content": "5 €\n", "append": true}, tools.CodeInvalidArguments); strings.Contains(err.Hint, remedy) {
		t.Errorf("the hint of append is %q, which ignores the encoding", err.Hint)
	}
	good(t, set, "write_file", object{"path": "a", "content": "5 €\n", "encoding": "utf-8"})
}

// TestEditUnknownEncoding edits bytes that no encoding explains.
func TestEditUnknownEncoding(t *testing.T) {
	const content = "one \xff\xfe\x81 two\n"
	set, ws := newSet(t, map[string]string{"a": content, "koi8": "\xd7\xd3\xa3 old\n", "mixed": "caf\u00e9 \xff\x81\n"}, nil)
	good(t, set, "edit_file", object{"path": "a", "oldText": "two", "newText": "drei"})
	holds(t, ws, "a", "one \xff\xfe\x81 drei\n")
	for _, args := range []object{
		{"path": "a", "oldText": "drei", "newText": "f\u00fcnf"},
		{"path": "a", "oldText": "drei", "newText": "\ufffd", "dryRun": true},
		{"path": "a", "insertLine": 1, "newText": "f\u00fcnf"},
		{"path": "a", "oldText": `o(.*)d`, "newText": "\u00fc${1}\ufffd", "regexp": true},
		{"path": "*", "oldText": "drei", "newText": "f\u00fcnf", "replaceAll": true},
	} {
		err := bad(t, set, "edit_file", args, tools.CodeInvalidArguments)
		contains(t, "message", err.Message, "only ASCII can be added to a file of unknown encoding, and ")
	}
	holds(t, ws, "a", "one \xff\xfe\x81 drei\n")
	// What is kept may look like UTF-8.
	good(t, set, "edit_file", object{"path": "koi8", "oldText": `(.*) old`, "newText": "$1 new", "regexp": true})
	holds(t, ws, "koi8", "\xd7\xd3\xa3 new\n")
	good(t, set, "edit_file", object{"path": "mixed", "oldText": "caf\u00e9", "newText": "Caf\u00e9"})
	holds(t, ws, "mixed", "Caf\u00e9 \xff\x81\n")
}

// TestSessionEncodings tests that a session counts the lines of the text, not of the
// bytes: the character U+0A0A has the byte of a line feed twice.
func TestSessionEncodings(t *testing.T) {
	var text strings.Builder
	text.WriteString(charset.Mark)
	for i := range 9 {
		fmt.Fprintf(&text, "line %d \u0a0a\n", i+1)
	}
	_, ws := newSet(t, map[string]string{"a": stored(t, charset.UTF16LE, text.String())}, nil)
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
	good(t, set, "read_file", object{"path": "a", "line": 4, "limit": 2})
	bad(t, set, "edit_file", object{"path": "a", "oldText": "line 7", "newText": "x"}, tools.CodeReadRequired)
	good(t, set, "edit_file", object{"path": "a", "oldText": "line 4", "newText": "one\ntwo"})
	good(t, set, "edit_file", object{"path": "a", "oldText": "line 5", "newText": "three"})
	bad(t, set, "edit_file", object{"path": "a", "oldText": "line 6", "newText": "x"}, tools.CodeReadRequired)
}

// TestEditEncodingLimit tests that the limit is on what is stored.
func TestEditEncodingLimit(t *testing.T) {
	content := stored(t, charset.UTF16LE, charset.Mark+"old")
	set, _ := newSet(t, map[string]string{"a": content}, &workspace.Options{MaxFileSize: 20})
	good(t, set, "edit_file", object{"path": "a", "oldText": "old", "newText": "日日日日日日日日日", "dryRun": true}) // 27 bytes of UTF-8
	bad(t, set, "edit_file", object{"path": "a", "oldText": "old", "newText": "0123456789"}, tools.CodeTooLarge)
}

func TestWriteKeeps(t *testing.T) {
	const crlf = "größer\r\ntwo\r\n"
	for _, c := range []struct {
		name      string
		old       string
		args      object
		want      string
		text      string // of the result
		forbidden string // in the text
	}{
		{"utf-8", "one\n", object{"content": "größer\n"}, "größer\n", "Wrote a (9 bytes, version ", "Note"},
		{"mark", charset.Mark + "one\n", object{"content": "größer\n"}, charset.Mark + "größer\n", "(12 bytes, BOM, version ", "Note"},
		{"mark given", charset.Mark + "one\n", object{"content": charset.Mark + "x\n"}, charset.Mark + "x\n", "+\ufeffx", "\ufeff\ufeff"},
		{"empty", charset.Mark + "one\n", object{"content": ""}, "", "(0 bytes, version", "BOM"},
		{"utf-16", stored(t, charset.UTF16BE, charset.Mark+"one\n"), object{"content": "größer 日\n"}, stored(t, charset.UTF16BE, charset.Mark+"größer 日\n"), "(20 bytes, UTF-16BE, BOM, version ", "Note"},
		{"latin-1", "gr\xf6\xdfer\n", object{"content": "gr\u00f6\u00dfte\n"}, "gr\xf6\xdfte\n", "-größer\n+größte\n", "Note"},
		{"utf-8 instead", stored(t, charset.UTF16LE, charset.Mark+"one\n"), object{"content": "5 €\n", "encoding": "utf-8"}, "5 €\n", "(6 bytes, version ", "UTF"},
		{"bytes instead", "gr\xf6\xdfer\n", object{"content": "AP8=", "encoding": "base64"}, "\x00\xff", "(2 bytes, version ", "Latin"},
		{"too short to guess", stored(t, charset.UTF16LE, "one and two\n"), object{"content": "é\n"}, stored(t, charset.UTF16LE, "é\n"), "Note: the file keeps UTF-16LE, which a reader cannot guess from so few characters; encoding utf-8 stores it as UTF-8.", "keepLineEnds"},
		{"guessed as another", stored(t, charset.UTF16LE, "abcd"), object{"content": "日本語日本語"}, stored(t, charset.UTF16LE, "日本語日本語"), "(12 bytes, UTF-16LE, version ", "Windows"},
		{"guessed as another, in the diff", stored(t, charset.UTF16LE, "abcd"), object{"content": "日本語日本語"}, stored(t, charset.UTF16LE, "日本語日本語"), "+日本語日本語", "Windows"},
		{"guessed as UTF-8", "gr\xf6\xdfer\n", object{"content": "Ã©\n"}, "\xc3\xa9\n", "Note: the file keeps Latin-1, which a reader cannot guess", "keepLineEnds"},
		{"ASCII only", "gr\xf6\xdfer\n", object{"content": "small\n"}, "small\n", "Wrote a (6 bytes, version", "Note"},
		{"line ends change", crlf, object{"content": "größer\nthree\n"}, "größer\nthree\n", "Note: the line ends of the file were CRLF and those of content are LF: keepLineEnds keeps them.", "-größer"},
		{"line ends kept", crlf, object{"content": "größer\nthree\n", "keepLineEnds": true}, "größer\r\nthree\r\n", "CRLF, version ", "Note"},
		{"line ends kept LF", "one\ntwo\n", object{"content": "one\r\nthree\r\n", "keepLineEnds": true}, "one\nthree\n", "Wrote a (10 bytes, version", "Note"},
		{"line ends of a mixed file", "one\ntwo\r\n", object{"content": "one\n"}, "one\n", "were CRLF and LF and those of content are LF.", "keepLineEnds"},
		{"line ends mixed", "one\ntwo\r\n", object{"content": "one\n", "keepLineEnds": true}, "one\n", "were CRLF and LF and those of content are LF.", "keepLineEnds"},
		{"line ends change in bytes", crlf, object{"content": base64.StdEncoding.EncodeToString([]byte("größer\nthree\n")), "encoding": "base64"}, "größer\nthree\n", "Note: the line ends of the file were CRLF and those of content are LF.\n", "-größer"},
		{"no line end", "one\r\n", object{"content": "two"}, "two", "Wrote a (3 bytes, version", "Note"},
		{"append", "one\n", object{"content": "two\n", "append": true}, "one\ntwo\n", "Appended 4 bytes to a (8 bytes, version ", "\n+"},
		{"append to an open line", "one", object{"content": "two", "append": true}, "onetwo", "Note: the last line of the file had no line end", "\n+"},
		{"append to utf-16", stored(t, charset.UTF16LE, charset.Mark+"one\n"), object{"content": "日\n", "append": true}, stored(t, charset.UTF16LE, charset.Mark+"one\n日\n"), "Appended 4 bytes to a (14 bytes, UTF-16LE, BOM, version ", "Note"},
		{"append with CRLF", crlf, object{"content": "3\n", "append": true, "keepLineEnds": true}, crlf + "3\r\n", "Appended 3 bytes to a", "Note"},
		{"append bytes", "\x00\xff", object{"content": "/w==", "append": true, "encoding": "base64"}, "\x00\xff\xff", "Appended 1 byte to a (3 bytes, version", "Note"},
		{"append to bytes", "\x00\xff", object{"content": "é", "append": true}, "\x00\xffé", "Appended 2 bytes", "Note"},
		{"append bytes to an open line", "one", object{"content": "dHdv", "append": true, "encoding": "base64"}, "onetwo", "Note: the last line of the file had no line end", "\n+"},
		{"append nothing", "one", object{"content": "", "append": true}, "one", "Wrote a (3 bytes", "+"},
	} {
		set, ws := newSet(t, map[string]string{"a": c.old}, nil)
		c.args["path"] = "a"
		plan := preflightOf(t, set, "write_file", c.args)
		result := call(t, set, "write_file", c.args)
		if data, err := ws.ReadFile(t.Context(), "a"); err != nil || string(data) != c.want {
			t.Errorf("%s: ReadFile = %q, %v, want %q", c.name, data, err, c.want)
		}
		if !strings.Contains(result.Text, c.text) || strings.Contains(result.Text, c.forbidden) {
			t.Errorf("%s: text = %s\nwant %q and no %q", c.name, result.Text, c.text, c.forbidden)
		}
		if last := plan[len(plan)-1]; (last.Op == "edit") != (c.args["append"] == true) || last.Path != "a" {
			t.Errorf("%s: Preflight = %v", c.name, plan)
		}
		if diff := plan[len(plan)-1].Diff; c.args["append"] == nil && strings.Contains(c.text, "+") && !strings.Contains(diff, c.text) {
			t.Errorf("%s: the diff of Preflight is %q, want %q in it", c.name, diff, c.text)
		}
	}
}

func preflightOf(t *testing.T, set *tools.Set, op string, args object) []policy.Request {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := set.Lookup(op)
	requests, err := tool.Preflight(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return requests
}

func TestWriteEncodingErrors(t *testing.T) {
	const content = "gr\xf6\xdfer\n"
	set, ws := newSet(t, map[string]string{"a": content}, nil)
	for _, c := range []struct {
		args    object
		message string
	}{
		{object{"content": "5 €\n"}, "Latin-1 has no character '€' (line 1)"},
		{object{"content": "\n5 €\n", "append": true}, "Latin-1 has no character '€' (line 2)"},
		{object{"content": "5 €\n", "append": true, "encoding": "utf-8"}, "Latin-1 has no character '€'"},
		{object{"content": "no base64", "encoding": "base64"}, `"content" is not base64: illegal base64 data at input byte 2`},
		{object{"content": "", "encoding": "base64", "keepLineEnds": true}, `"keepLineEnds" is for text`},
		{object{"content": "", "append": true, "createOnly": true}, `"append" cannot be given together`},
		{object{"content": "", "append": true, "ifVersion": "1"}, `"append" cannot be given together`},
	} {
		c.args["path"] = "a"
		err := bad(t, set, "write_file", c.args, tools.CodeInvalidArguments)
		contains(t, "message", err.Message, c.message)
	}
	if data, err := ws.ReadFile(t.Context(), "a"); err != nil || string(data) != content {
		t.Errorf("ReadFile = %q, %v, want it unchanged", data, err)
	}
}

// TestAppendLosesNothing appends from several goroutines to a file that none of them
// has created.
func TestAppendLosesNothing(t *testing.T) {
	set, ws := newSet(t, nil, nil)
	var group sync.WaitGroup
	for writer := range 8 {
		group.Go(func() {
			for n := range 10 {
				good(t, set, "write_file", object{"path": "dir/log", "content": fmt.Sprintf("%d %d\n", writer, n), "append": true})
			}
		})
	}
	group.Wait()
	data, err := ws.ReadFile(t.Context(), "dir/log")
	lines := slices.Sorted(strings.Lines(string(data)))
	if lines = slices.Compact(lines); err != nil || len(lines) != 80 || len(data) != 80*len("0 0\n") {
		t.Errorf("the file has %d different lines and %d bytes, %v, want 80 lines", len(lines), len(data), err)
	}
}

func TestAppendSession(t *testing.T) {
	_, ws := newSet(t, map[string]string{"a": "1\n2\n3\n"}, nil)
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
	add := object{"path": "a", "content": "4\n", "append": true}
	bad(t, set, "write_file", add, tools.CodeReadRequired)
	good(t, set, "read_file", object{"path": "a", "line": 1, "limit": 1})
	good(t, set, "write_file", add)
	good(t, set, "edit_file", object{"path": "a", "oldText": "4", "newText": "four"})
	bad(t, set, "edit_file", object{"path": "a", "oldText": "2", "newText": "two"}, tools.CodeReadRequired)
	if _, err := ws.WriteFile(t.Context(), "a", []byte("other"), nil); err != nil {
		t.Fatal(err)
	}
	bad(t, set, "write_file", add, tools.CodeConflict)
	good(t, set, "write_file", object{"path": "new", "content": "1\n", "append": true})
	good(t, set, "write_file", object{"path": "new", "content": "2\n", "append": true})
	good(t, set, "write_file", object{"path": "new", "content": "all\n"})
}

func TestAppendTooLarge(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "12345678"}, &workspace.Options{MaxFileSize: 10})
	bad(t, set, "write_file", object{"path": "a", "content": "abc", "append": true}, tools.CodeTooLarge)
	bad(t, set, "write_file", object{"path": "", "content": "abc", "append": true}, tools.CodeIsDir)
}
