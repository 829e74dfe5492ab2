package tools_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

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

// TestCarriageReturnsAreContent reads lines of very many carriage returns. Only the last one
// belongs to the line end.
func TestCarriageReturnsAreContent(t *testing.T) {
	many := strings.Repeat("\r", 100_000)
	set, _ := newSet(t, map[string]string{"a": "x" + many + "\nend\n", "one": many}, nil)
	out := good(t, set, "read_file", object{"path": "a"})
	if want := "x" + many[:1999] + "… [cut: 98000 more characters]\r\nend\n"; out["text"] != want || out["endLine"] != 2.0 {
		t.Errorf("text has %d bytes, want %d; endLine %v", len(out["text"].(string)), len(want), out["endLine"])
	}
	out = good(t, set, "read_file", object{"path": "a", "column": 1})
	if text := out["text"].(string); len(text) > 32<<10 || out["columns"] != 100_000.0 || out["nextColumn"] != float64(len(text)+1) {
		t.Errorf("part of %d bytes, columns %v, nextColumn %v", len(text), out["columns"], out["nextColumn"])
	}
	if out = good(t, set, "read_file", object{"path": "one", "tail": 1}); out["endLine"] != 1.0 {
		t.Errorf("tail: endLine %v, want 1", out["endLine"])
	}
	out = good(t, set, "grep", object{"pattern": "end", "before": 1})
	contains(t, "before", out["matches"].([]any)[0].(object)["before"].([]any)[0].(string), "… [cut: 99500 more characters]")
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

// pixel is the beginning of a PNG image of one pixel.
const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"

// headerOf returns the beginning of a PNG image with that size.
func headerOf(width, height uint32) string {
	const start, end = 12, 29 // of what the checksum is about
	b := binary.BigEndian.AppendUint32([]byte(pixel[:start+4]), width)
	b = append(binary.BigEndian.AppendUint32(b, height), pixel[24:end]...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:])))
}

// pictures are two WebP images of 8001 x 1 pixels and one of 1 x 8001, by their first chunk.
var pictures = map[string]string{
	"VP8L": "RIFF\x12\x00\x00\x00WEBPVP8L\x05\x00\x00\x00\x2f\x40\x1f\x00\x00\x00",
	"VP8 ": "RIFF\x16\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x10\x00\x00\x9d\x01\x2a\x41\x1f\x01\x00",
	"VP8X": "RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x40\x1f\x00",
}

// encoded returns an image of that size as encode writes it.
func encoded(t *testing.T, width, height int, encode func(io.Writer, image.Image) error) string {
	t.Helper()
	var b strings.Builder
	if err := encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestUnfitPictures tests that no part is made of what a vendor would refuse for the rest of the
// conversation.
func TestUnfitPictures(t *testing.T) {
	t.Parallel()
	asJPEG := func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }
	asGIF := func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) }
	const damaged, side = "The image cannot be decoded", "the limit is 8000 on each side"
	for _, c := range []struct{ name, content, hint, text string }{
		{"huge.png", headerOf(20000, 9000), "The image has 20000 x 9000 pixels, and cannot be shown: " + side, ""},
		{"edge.png", headerOf(8000, 8000), "", ""},
		{"wide.jpg", encoded(t, 8001, 1, asJPEG), side, ""},
		{"edge.jpg", encoded(t, 8000, 1, asJPEG), "", ""},
		{"high.gif", encoded(t, 1, 8001, asGIF), side, ""},
		{"edge.gif", encoded(t, 1, 8000, asGIF), "", ""},
		{"lossless.webp", pictures["VP8L"], "The image has 8001 x 1 pixels", ""},
		{"lossy.webp", pictures["VP8 "], "The image has 8001 x 1 pixels", ""},
		{"extended.webp", pictures["VP8X"], "The image has 1 x 8001 pixels", ""},
		{"edge.webp", strings.Replace(pictures["VP8X"], "\x40\x1f", "\x3f\x1f", 1), "", ""},
		{"cut.webp", pictures["VP8X"][:28], damaged, ""},
		{"none.webp", strings.Replace(pictures["VP8X"], "VP8X", "ALPH", 1), damaged, ""},
		{"short.webp", "RIFF\x04\x00\x00\x00WEBP\x00", damaged, ""},
		{"empty.png", pixel[:8], damaged, ""},
		{"zero.png", headerOf(0, 0), damaged, ""},
		{"short.jpg", "\xff\xd8\xff\xe0\x00", damaged, ""},
		{"short.gif", "GIF89a\x00", damaged, ""},
		{"cut.pdf", "%PDF-1.7\n\x00\x01", "The document is damaged: it has no end.", ""},
		{"about.txt", "%PDF-1.7 is the header of a document.\n", "", "%PDF-1.7 is the header of a document.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			set, ws := newSet(t, map[string]string{c.name: c.content}, nil)
			if isImage := strings.HasPrefix(c.hint, "The image") || c.hint == side; isImage {
				media := call(t, newSetOf(t, ws, &tools.Options{Dialect: tools.DialectMCPFilesystem}), "read_media_file", object{"path": "/" + c.name})
				if len(media.Parts) != 0 || !strings.Contains(media.Text, c.hint) {
					t.Errorf("read_media_file of %s = %s, with %d parts, want none and %q", c.name, media.Text, len(media.Parts), c.hint)
				}
			}
			result := call(t, set, "read_file", object{"path": c.name})
			hint, _ := members(t, result.Structured)["hint"].(string)
			if fits := c.hint == "" && c.text == ""; fits != (len(result.Parts) == 1) || !strings.Contains(hint, c.hint) || c.hint == "" && hint != "" || !strings.Contains(result.Text, c.hint) {
				t.Errorf("read_file of %s = %s, with %d parts and the hint %q, want %q", c.name, result.Text, len(result.Parts), hint, c.hint)
			}
			if text := members(t, result.Structured)["text"]; text != c.text {
				t.Errorf("read_file of %s has the text %q, want %q", c.name, text, c.text)
			}
		})
	}
}

func TestReadBinary(t *testing.T) {
	png := pixel
	set, _ := newSet(t, map[string]string{
		"nul": "a\x00b", "8-bit": "caf\xe9\x81\n", "image.txt": png, "big.pdf": "%PDF-1.7" + strings.Repeat("\x00", 3<<20) + "%%EOF", "webp": strings.Replace(pictures["VP8L"], "\x40", "\x3f", 1), "pdf": "%PDF-1.7\x00%%EOF", "padded.pdf": "%PDF-1.7\x00%%EOF\n" + strings.Repeat("\x00", 2000),
		"big": strings.Repeat("\x00", 50<<10), "bigimage": png + strings.Repeat("\x00", 3<<20), "late-nul": strings.Repeat("a", 9000) + "\x00",
		"late.pdf": "%PDF-1.4\n" + strings.Repeat("<< /Type /Page >>\n", 1000) + "stream\nx\x9c\x4b\x8f\x01\x02\xf3\nendstream\nstartxref\n9\n", "text.pdf": "%PDF-1.4\n<< /Type /Catalog >>\n%%EOF\n",
	}, nil)
	tests := []struct{ path, mime, hint string }{
		{"nul", "application/octet-stream", `encoding "base64"`},
		{"8-bit", "text/plain; charset=unknown-8bit", `encoding "base64"`},
		{"big.pdf", "application/pdf", "up to 3 MiB"},
		{"big", "application/octet-stream", "too large to be returned"},
		{"bigimage", "image/png", "up to 3 MiB"},
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
	for path, mime := range map[string]string{"image.txt": "image/png", "webp": "image/webp", "pdf": "application/pdf", "late.pdf": "application/pdf", "padded.pdf": "application/pdf", "text.pdf": "application/pdf"} {
		t.Run("image-"+path, func(t *testing.T) {
			result := call(t, set, "read_file", object{"path": path})
			if len(result.Parts) != 1 || result.Parts[0].MIMEType != mime || len(result.Parts[0].Data) == 0 {
				t.Errorf("parts = %+v", result.Parts)
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
		if err != nil || !bytes.Equal(got, []byte(content)) || result.Parts != nil {
			t.Errorf("base64 of %q = %q, %v", content, got, err)
		}
	}
	set, _ = newSet(t, map[string]string{"text.pdf": "%PDF-1.4\n%%EOF\n"}, nil)
	if out := good(t, set, "read_file", object{"path": "text.pdf", "encoding": "base64"}); out["mimeType"] != "application/pdf" {
		t.Errorf("mimeType = %v", out["mimeType"])
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
	contains(t, "hint", err.Hint, "Leave encoding out to read a larger text, or an image or a PDF up to 3 MiB.")
	set, _ = newSet(t, map[string]string{"a": strings.Repeat("a", 60<<10)}, &workspace.Options{MaxFileSize: 50 << 10})
	err = bad(t, set, "read_file", object{"path": "a", "encoding": "base64"}, tools.CodeTooLarge)
	contains(t, "message", err.Message, "61440 bytes", "limit is 51200")
	contains(t, "hint", err.Hint, "ask the user to raise the limit")

	set, _ = newSet(t, map[string]string{"a": "a\nb\n"}, &workspace.Options{MaxFileSize: 3})
	err = bad(t, set, "apply_patch", object{"patch": "*** Begin Patch\n*** Update File: a\n@@\n-a\n+c\n*** End Patch"}, tools.CodeTooLarge)
	contains(t, "hint", err.Hint, "leave the large file out of it")
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

// TestReadColumn reads a long line by parts, which together are the line.
func TestReadColumn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var line strings.Builder
	for range 20_000 {
		line.WriteRune([]rune("abcß日😀\t\"")[random.IntN(8)])
	}
	for _, end := range []string{"\r\n", "\n", ""} {
		set, _ := newSet(t, map[string]string{"a": "first\n" + line.String() + end}, nil)
		for _, limit := range []int{0, 1999} {
			var got strings.Builder
			column, parts := 1.0, 0
			for column > 0 {
				args := object{"path": "a", "line": 2, "column": column}
				if limit > 0 {
					args["limit"] = limit
				}
				result := call(t, set, "read_file", args)
				out := members(t, result.Structured)
				part := out["text"].(string)
				next, _ := out["nextColumn"].(float64)
				if last := column + float64(utf8.RuneCountInString(strings.TrimRight(part, "\r\n"))); next > 0 && next != last || out["columns"] != 20_000.0 || len(part) > 64<<10 {
					t.Fatalf("column %v: nextColumn %v after %d bytes, columns %v", column, next, len(part), out["columns"])
				}
				if more := fmt.Sprintf("[more: go on with line=2 column=%.0f]", next); strings.Contains(result.Text, more) != (next > 0) || out["truncated"] != (next > 0) {
					t.Fatalf("column %v: truncated %v, text %.100q", column, out["truncated"], result.Text)
				}
				got.WriteString(part)
				column, parts = next, parts+1
			}
			if got.String() != line.String()+end || limit == 0 && parts != 3 {
				t.Errorf("limit %d: %d parts of a line that ends in %q are not the line", limit, parts, end)
			}
		}
	}
	set, _ := newSet(t, map[string]string{"a": "one\n\nthree", "empty": ""}, nil)
	contains(t, "text", call(t, set, "read_file", object{"path": "a", "line": 3, "column": 2, "limit": 2}).Text, "[a: line 3 of 3, columns 2-3 of 5, ", "\nhr\n[more: go on with line=3 column=4]")
	contains(t, "text", call(t, set, "read_file", object{"path": "a", "line": 3, "column": 2}).Text, "columns 2-5 of 5", "\nhree\n[no line end")
	good(t, set, "read_file", object{"path": "a", "line": 2, "column": 1})
	good(t, set, "read_file", object{"path": "empty", "column": 1})
	for message, args := range map[string]object{
		`"column" is 4, and line 1 has 3 characters`:    {"path": "a", "column": 4},
		`"column" is 2, and line 2 has 0 characters`:    {"path": "a", "line": 2, "column": 2},
		`"line" is 4, and a has 3 lines`:                {"path": "a", "line": 4, "column": 1},
		`"column" cannot be given together with "tail"`: {"path": "a", "column": 1, "tail": 1},
		`are for text, and "encoding" is "base64"`:      {"path": "a", "column": 1, "encoding": "base64"},
	} {
		contains(t, "message", bad(t, set, "read_file", args, tools.CodeInvalidArguments).Message, message)
	}
	contains(t, "message", bad(t, set, "read_file", object{"path": "a", "column": -1}, tools.CodeInvalidArguments).Message, "at least 1")
}

func TestReadLineNumbers(t *testing.T) {
	long := strings.Repeat("x", 3000)
	set, _ := newSet(t, map[string]string{"a": "one\ntwo\r\n\n" + long + "\nfive", "big": strings.Repeat("line\n", 20_000)}, nil)
	for _, c := range []struct {
		args object
		want string
	}{
		{object{}, "1\tone\n2\ttwo\r\n3\t\n4\t" + long[:2000] + "… [cut: 1000 more characters]\n5\tfive"},
		{object{"line": 2, "limit": 2}, "2\ttwo\r\n3\t\n"},
		{object{"tail": 1}, "5\tfive"},
	} {
		c.args["path"], c.args["lineNumbers"] = "a", true
		result := call(t, set, "read_file", c.args)
		if text := members(t, result.Structured)["text"]; text != c.want || !strings.Contains(result.Text, c.want) {
			t.Errorf("read_file(%v) = %q, want %q", c.args, text, c.want)
		}
	}
	for _, args := range []object{{"limit": 2000}, {"tail": 2000}, {"line": 9000, "limit": 2000}} {
		args["path"], args["lineNumbers"] = "big", true
		out := good(t, set, "read_file", args)
		if last := fmt.Sprintf("%v\tline\n", out["endLine"]); !strings.HasSuffix(out["text"].(string), last) {
			t.Errorf("read_file(%v) does not end in %q", args, last)
		}
	}
}

// TestReadUnlessVersion also asks after the file has changed, and for a file that is
// not there.
func TestReadUnlessVersion(t *testing.T) {
	set, ws := newSet(t, map[string]string{"a": "one\n"}, nil)
	version := good(t, set, "read_file", object{"path": "a"})["version"]
	result := call(t, set, "read_file", object{"path": "a", "unlessVersion": version})
	out := members(t, result.Structured)
	if out["unchanged"] != true || out["text"] != "" || out["size"] != 4.0 || result.Text != fmt.Sprintf("[a: unchanged, version %s]", version) {
		t.Errorf("read_file = %s\n%s", result.Structured, result.Text)
	}
	if out := good(t, set, "read_file", object{"path": "a", "unlessVersion": version, "encoding": "base64"}); out["unchanged"] != true || out["base64"] != nil {
		t.Errorf("read_file as base64 = %v", out)
	}
	if _, err := ws.WriteFile(t.Context(), "a", []byte("two\n"), nil); err != nil {
		t.Fatal(err)
	}
	if out := good(t, set, "read_file", object{"path": "a", "unlessVersion": version}); out["unchanged"] != nil || out["text"] != "two\n" {
		t.Errorf("read_file of a changed file = %v", out)
	}
	bad(t, set, "read_file", object{"path": "b", "unlessVersion": version}, tools.CodeNotExist)
}
