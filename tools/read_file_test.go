package tools_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestReadFile(t *testing.T) {
	set, _ := newSet(t, map[string]string{
		"five": "1\n2\n3\n4\n5\n", "open": "1\r\n2", "empty": "", "newline": "\n", "bom": "\ufeffa\n",
	}, nil)
	type want struct {
		text                    string
		start, end, total, next float64
		truncated               bool
	}
	tests := []struct {
		name string
		args object
		want want
	}{
		{"whole", object{"path": "five"}, want{"1\n2\n3\n4\n5\n", 1, 5, 5, 0, false}},
		{"from-line", object{"path": "five", "line": 4}, want{"4\n5\n", 4, 5, 5, 0, false}},
		{"limit", object{"path": "five", "limit": 2}, want{"1\n2\n", 1, 2, 5, 3, true}},
		{"window", object{"path": "five", "line": 2, "limit": 3}, want{"2\n3\n4\n", 2, 4, 5, 5, true}},
		{"window-to-the-end", object{"path": "five", "line": 4, "limit": 2}, want{"4\n5\n", 4, 5, 5, 0, false}},
		{"tail", object{"path": "five", "tail": 2}, want{"4\n5\n", 4, 5, 5, 0, false}},
		{"tail-of-more", object{"path": "five", "tail": 9}, want{"1\n2\n3\n4\n5\n", 1, 5, 5, 0, false}},
		{"no-final-newline", object{"path": "open"}, want{"1\r\n2", 1, 2, 2, 0, false}},
		{"tail-without-final-newline", object{"path": "open", "tail": 1}, want{"2", 2, 2, 2, 0, false}},
		{"carriage-returns", object{"path": "open", "limit": 1}, want{"1\r\n", 1, 1, 2, 2, true}},
		{"empty", object{"path": "empty"}, want{"", 0, 0, 0, 0, false}},
		{"empty-line-one", object{"path": "empty", "line": 1}, want{"", 0, 0, 0, 0, false}},
		{"empty-tail", object{"path": "empty", "tail": 5}, want{"", 0, 0, 0, 0, false}},
		{"one-newline", object{"path": "newline"}, want{"\n", 1, 1, 1, 0, false}},
		{"byte-order-mark", object{"path": "bom"}, want{"\ufeffa\n", 1, 1, 1, 0, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := good(t, set, "read_file", tt.args)
			next, _ := out["nextLine"].(float64)
			got := want{out["text"].(string), out["startLine"].(float64), out["endLine"].(float64), out["totalLines"].(float64), next, out["truncated"].(bool)}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("read_file(%v) (-want +got):\n%s", tt.args, diff)
			}
		})
	}
}

func TestReadFileText(t *testing.T) {
	set, ws := newSet(t, map[string]string{"a": "1\n2\n3\n", "open": "x", "empty": ""}, nil)
	tests := []struct {
		args object
		want string
	}{
		{object{"path": "./a"}, "[a: lines 1-3 of 3, version V]\n1\n2\n3\n"},
		{object{"path": "a", "limit": 1}, "[a: lines 1-1 of 3, version V]\n1\n[more: go on with line=2]"},
		{object{"path": "open"}, "[open: lines 1-1 of 1, version V]\nx\n[no line end at the end of the file]"},
		{object{"path": "empty"}, "[empty: empty file, version V]"},
	}
	for _, tt := range tests {
		name := strings.TrimPrefix(tt.args["path"].(string), "./")
		info, err := ws.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Replace(call(t, set, "read_file", tt.args).Text, "version "+string(info.Version), "version V", 1)
		if got != tt.want {
			t.Errorf("text of read_file(%v) = %q, want %q", tt.args, got, tt.want)
		}
	}
}

// TestReadFileVersionIsOfTheWholeFile changes a line that is not read.
func TestReadFileVersionIsOfTheWholeFile(t *testing.T) {
	set, ws := newSet(t, map[string]string{"a": "1\n2\n3\n"}, nil)
	before := good(t, set, "read_file", object{"path": "a", "limit": 1})
	if _, err := ws.WriteFile(t.Context(), "a", []byte("1\n2\nx\n"), nil); err != nil {
		t.Fatal(err)
	}
	after := good(t, set, "read_file", object{"path": "a", "limit": 1})
	info, err := ws.Stat(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if before["version"] == after["version"] || after["version"] != string(info.Version) {
		t.Errorf("versions %v and %v, want different ones and the last %q", before["version"], after["version"], info.Version)
	}
}

func TestReadFileIsBounded(t *testing.T) {
	var many, wide strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&many, "%d\n", i)
		fmt.Fprintf(&wide, "%d %s\n", i, strings.Repeat("é", 100))
	}
	set, _ := newSet(t, map[string]string{"many": many.String(), "wide": wide.String(), "long": strings.Repeat("é", 5000) + "\r\nb\n"}, nil)
	t.Run("lines", func(t *testing.T) {
		out := good(t, set, "read_file", object{"path": "many"})
		if out["endLine"] != 2000.0 || out["nextLine"] != 2001.0 || out["truncated"] != true {
			t.Errorf("endLine %v, nextLine %v, truncated %v", out["endLine"], out["nextLine"], out["truncated"])
		}
	})
	t.Run("bytes", func(t *testing.T) {
		out := good(t, set, "read_file", object{"path": "wide"})
		if n := len(out["text"].(string)); n > 32<<10 || n < 31<<10 || out["truncated"] != true {
			t.Errorf("%d bytes, truncated %v", n, out["truncated"])
		}
	})
	t.Run("bytes-of-tail", func(t *testing.T) {
		out := good(t, set, "read_file", object{"path": "wide", "tail": 2000})
		text := out["text"].(string)
		if len(text) > 64<<10 || !strings.HasSuffix(wide.String(), text) || out["truncated"] != true || out["nextLine"] != nil {
			t.Errorf("%d bytes, truncated %v, nextLine %v", len(text), out["truncated"], out["nextLine"])
		}
	})
	t.Run("long-line", func(t *testing.T) {
		out := good(t, set, "read_file", object{"path": "long"})
		want := strings.Repeat("é", 2000) + "… [cut: 3000 more characters]\r\nb\n"
		if diff := cmp.Diff(want, out["text"]); diff != "" {
			t.Errorf("text (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]any{1.0}, out["cutLines"]); diff != "" || out["truncated"] != true {
			t.Errorf("cutLines (-want +got), truncated %v:\n%s", out["truncated"], diff)
		}
	})
}

// TestReadFilePages reads a file in pages of many sizes.
func TestReadFilePages(t *testing.T) {
	var content strings.Builder
	for i := range 3000 {
		content.WriteString(strings.Repeat("x", i%97) + "\n")
	}
	set, _ := newSet(t, map[string]string{"a": content.String()}, nil)
	for _, limit := range []int{7, 500, 2000} {
		var got strings.Builder
		for line := 1.0; line > 0; {
			out := good(t, set, "read_file", object{"path": "a", "line": line, "limit": limit})
			got.WriteString(out["text"].(string))
			line, _ = out["nextLine"].(float64)
		}
		if got.String() != content.String() {
			t.Errorf("pages of %d lines do not make the file", limit)
		}
	}
}

func TestReadBinary(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00rest"
	set, _ := newSet(t, map[string]string{
		"nul": "a\x00b", "8-bit": "caf\xe9\x81\n", "image.txt": png, "webp": "RIFF\x00\x00\x00\x00WEBPVP8 ", "pdf": "%PDF-1.7\x00",
		"big": strings.Repeat("\x00", 50<<10), "bigimage": png + strings.Repeat("\x00", 3<<20), "late-nul": strings.Repeat("a", 9000) + "\x00",
	}, nil)
	tests := []struct{ path, mime, hint string }{
		{"nul", "application/octet-stream", `encoding "base64"`},
		{"8-bit", "text/plain; charset=unknown-8bit", `encoding "base64"`},
		{"pdf", "application/pdf", `encoding "base64"`},
		{"big", "application/octet-stream", "too large to be returned"},
		{"bigimage", "image/png", "too large to be returned"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			out := good(t, set, "read_file", object{"path": tt.path})
			hint, _ := out["hint"].(string)
			if out["binary"] != true || out["mimeType"] != tt.mime || out["text"] != "" || !strings.Contains(hint, tt.hint) {
				t.Errorf("read_file(%q) = %v", tt.path, out)
			}
		})
	}
	t.Run("nul-after-8-kib-is-text", func(t *testing.T) {
		if out := good(t, set, "read_file", object{"path": "late-nul"}); out["binary"] != nil {
			t.Error("the file is binary")
		}
	})
	for path, mime := range map[string]string{"image.txt": "image/png", "webp": "image/webp"} {
		t.Run("image-"+path, func(t *testing.T) {
			result := call(t, set, "read_file", object{"path": path})
			if result.Image == nil || result.Image.MIMEType != mime || len(result.Image.Data) == 0 {
				t.Errorf("image = %+v", result.Image)
			}
		})
	}
}

func TestReadBase64(t *testing.T) {
	files := map[string]string{"nul": "a\x00b", "text": "abc\n", "empty": ""}
	set, _ := newSet(t, files, nil)
	for path, content := range files {
		result := call(t, set, "read_file", object{"path": path, "encoding": "base64"})
		encoded, _ := members(t, result.Structured)["base64"].(string)
		got, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || !bytes.Equal(got, []byte(content)) || result.Image != nil {
			t.Errorf("base64 of %q = %q, %v", content, got, err)
		}
	}
}

func TestReadTooLarge(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": strings.Repeat("a", 60<<10)}, &workspace.Options{MaxFileSize: 50 << 10})
	err := bad(t, set, "read_file", object{"path": "a"}, tools.CodeTooLarge)
	contains(t, "message", err.Message, "61440 bytes", "limit is 51200")
	contains(t, "hint", err.Hint, "ask the user to raise the limit")
	set, _ = newSet(t, map[string]string{"a": "ab"}, &workspace.Options{MaxFileSize: 1})
	err = bad(t, set, "read_file", object{"path": "a", "encoding": "base64"}, tools.CodeTooLarge)
	contains(t, "hint", err.Hint, "ask the user to raise the limit")

	set, _ = newSet(t, map[string]string{"a": strings.Repeat("a", 60<<10)}, nil)
	err = bad(t, set, "read_file", object{"path": "a", "encoding": "base64"}, tools.CodeTooLarge)
	contains(t, "message", err.Message, "61440 bytes", "limit is 49152")
	contains(t, "hint", err.Hint, "Leave encoding out")
}

// TestTextIsNotEscaped checks that source code stays readable in JSON.
func TestTextIsNotEscaped(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "if a < b && c > d {}"}, nil)
	contains(t, "structured", string(call(t, set, "read_file", object{"path": "a"}).Structured), "a < b && c > d")
}

// TestReadFileTextJSON has names and contents that look like members of the
// structured result, from which the JSON of the text is taken.
func TestReadFileTextJSON(t *testing.T) {
	member := `{"text":"x","text":"","startLine":1,"startLine":`
	files := map[string]string{
		"a,\"text\":\"b": member, `a","startLine":`: "<one> & \x01\u2028\\" + `"`, "b\nc": "two\n" + member + "\n", `back\slash\`: `\`,
	}
	set, _ := newSet(t, files, nil)
	for path, content := range files {
		if result := call(t, set, "read_file", object{"path": path}); !strings.Contains(result.Text, content) {
			t.Errorf("read_file(%q) has the text %q, want %q in it", path, result.Text, content)
		}
	}
}
