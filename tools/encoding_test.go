package tools_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/tools/internal/charset"
	"github.com/workspacekit/workspacekit/workspace"
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
			// Line feeds may have become CRLF, as in every file.
			if made := strings.ReplaceAll(string(rest), stored(t, enc, "\r\n"), stored(t, enc, "\n")); err != nil || !begins || !ends ||
				made != strings.ReplaceAll(stored(t, enc, now), stored(t, enc, "\r\n"), stored(t, enc, "\n")) {
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
}

// TestEditUnknownEncoding edits bytes that no encoding explains.
func TestEditUnknownEncoding(t *testing.T) {
	const content = "one \xff\xfe\x81 two\n"
	set, ws := newSet(t, map[string]string{"a": content}, nil)
	good(t, set, "edit_file", object{"path": "a", "oldText": "two", "newText": "drei"})
	if data, err := ws.ReadFile(t.Context(), "a"); err != nil || string(data) != "one \xff\xfe\x81 drei\n" {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
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
