package tools

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// sniffed is how much of a file is looked at for a NUL byte, as in a search.
const sniffed = 8 << 10

// hasNUL reports whether data is binary by the rule of the whole contract: a
// NUL byte in the first 8 KiB.
func hasNUL(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0
}

// isText reports whether data can be shown to a model byte for byte.
func isText(data []byte) bool { return !hasNUL(data) && utf8.Valid(data) }

// mimeType returns the type of data that is not text, by its first bytes.
func mimeType(data []byte) string {
	for _, m := range []struct{ prefix, kind string }{
		{"\x89PNG\r\n\x1a\n", "image/png"},
		{"\xff\xd8\xff", "image/jpeg"},
		{"GIF87a", "image/gif"},
		{"GIF89a", "image/gif"},
		{"%PDF-", "application/pdf"},
		{"PK\x03\x04", "application/zip"},
		{"\x1f\x8b", "application/gzip"},
		{"\x7fELF", "application/x-elf"},
		{"SQLite format 3\x00", "application/vnd.sqlite3"},
		{"\xff\xfe", "text/plain; charset=utf-16"},
		{"\xfe\xff", "text/plain; charset=utf-16"},
	} {
		if bytes.HasPrefix(data, []byte(m.prefix)) {
			return m.kind
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return "image/webp"
	}
	if hasNUL(data) {
		return "application/octet-stream"
	}
	return "text/plain; charset=unknown-8bit"
}

func isImage(mime string) bool { return strings.HasPrefix(mime, "image/") }
