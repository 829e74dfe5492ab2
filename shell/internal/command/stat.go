package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/workspace"
)

// statFiles is GNU's stat: it prints what is known about files, in the usual form or in
// that of -c and --printf, with the same letters. What a workspace does not have is
// fixed: owners are root, inodes and devices 0, modes 644 and 755, links 1; all three
// times are of the last change.
//
// A file that does not exist is reported, the others are printed, and the status is 1. Of
// --printf and -c, --printf counts. A symlink is described itself, without -L.
func statFiles(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... FILE...")
	format := f.StringP("format", "c", "", "what to print, with a line end")
	printf := f.String("printf", "", "what to print, with escapes and without a line end")
	follow := f.BoolP("dereference", "L", false, "what symlinks lead to")
	f.BoolP("file-system", "f", false, "not possible here")
	f.BoolP("terse", "t", false, "not possible here")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	switch {
	case f.Changed("file-system") || f.Changed("terse"):
		return p.errorf("-f and -t are not possible here; use -c FORMAT")
	case len(names) == 0:
		return f.wrong("missing operand")
	}
	for _, name := range names {
		describe := p.Lstat
		if *follow {
			describe = p.Stat
		}
		info, err := describe(ctx, name)
		if err != nil {
			status = p.errorf("cannot statx '%s': %s", name, ErrorText(err))
			continue
		}
		s := statEntry{p: p, name: name, info: info}
		first := "  File: " + name
		if info.Type == workspace.TypeSymlink {
			if s.target, err = p.readLink(ctx, name); err == nil {
				first += " -> " + s.target
			}
		}
		text := first + s.format(statDefault) + "\n"
		switch {
		case f.Changed("printf"):
			text = s.format(unescapeFormat(*printf))
		case f.Changed("format"):
			text = s.format(*format) + "\n"
		}
		if _, err := io.WriteString(p.Stdout, text); err != nil {
			return p.failWrite(err)
		}
	}
	return status
}

// statDefault is the format of a file where none is given, as GNU's stat prints it, after the
// name.
const statDefault = "\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-11i Links: %h\n" +
	"Access: (%04a/%A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: -"

// unescapeFormat returns a format of --printf with its escapes replaced.
//
// A backslash at the end stays, and so does one before a character that is no escape.
func unescapeFormat(text string) string {
	var b strings.Builder
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' || at+1 == len(text) {
			b.WriteByte(text[at])
			continue
		}
		part, n := findEscape(text[at+1:])
		b.WriteString(part)
		at += n
	}
	return b.String()
}

// statEntry is a file that is described.
type statEntry struct {
	p      *Process
	name   string
	info   workspace.FileInfo
	target string // what a symlink leads to
}

// statDirective is one directive of a format: flags, a width, a precision, which has no
// meaning, and a letter. H and L before d or r mean the major and the minor number of a
// device.
var statDirective = lazyregexp.New(`%([-#+ 0]*)([0-9]*)(?:\.[0-9]+)?([HL]?[A-Za-z%])`)

// format returns a format with the values of a file.
//
// A letter that is not known is "?", as in GNU's stat. The width counts bytes, and is at most
// maxField. The flag 0 pads numbers with zeros, and "-" wins over it:
//
//	%s 5       %4s "   5"       %04s 0005       %-4s| "5   |"
func (s statEntry) format(text string) string {
	return statDirective().ReplaceAllStringFunc(text, func(part string) string {
		m := statDirective().FindStringSubmatch(part)
		value, ok := s.value(m[3])
		switch {
		case m[3] == "%":
			return "%"
		case !ok:
			return "?"
		}
		d := directive{flags: m[1], width: min(atoi(m[2]), maxField)}
		return d.pad(value, d.has('0') && !strings.Contains("nNFAUGmwxyz", m[3]))
	})
}

// value returns the value of one letter, and false for one that GNU's stat does not
// know.
//
// The letters are those of GNU's stat, and values that a workspace does not have are those
// that ls and find -printf show. A store without times has 1970.
func (s statEntry) value(letter string) (string, bool) {
	modified := s.info.ModTime
	if modified.IsZero() {
		modified = time.Unix(0, 0)
	}
	switch letter {
	case "n":
		return s.name, true
	case "N":
		if s.target != "" {
			return "'" + s.name + "' -> '" + s.target + "'", true
		}
		return "'" + s.name + "'", true
	case "s":
		return strconv.FormatInt(sizeOf(s.info), 10), true
	case "b":
		return strconv.FormatInt(diskUsage(s.info)/512, 10), true
	case "B":
		return "512", true
	case "o":
		return "4096", true
	case "F":
		return typeName(s.info), true
	case "f":
		kinds := map[workspace.FileType]uint64{workspace.TypeDirectory: 0o040000, workspace.TypeSymlink: 0o120000, workspace.TypeOther: 0o020000, workspace.TypeFile: 0o100000}
		mode, _ := strconv.ParseUint(modeOf(s.info), 8, 16)
		return strconv.FormatUint(kinds[s.info.Type]|mode, 16), true
	case "a":
		return modeOf(s.info), true
	case "A":
		return modeText(s.info), true
	case "U", "G":
		return ownerName, true
	case "u", "g", "d", "Hd", "Ld", "i", "t", "T", "D":
		return "0", true
	case "h":
		return "1", true
	case "m":
		return "/", true
	case "w":
		return "-", true
	case "W":
		return "0", true
	case "x", "y", "z":
		return formatTime(modified.In(s.p.location()), "%Y-%m-%d %H:%M:%S.%N %z"), true
	case "X", "Y", "Z":
		return strconv.FormatInt(modified.Unix(), 10), true
	}
	return "", false
}

// fileKinds is the program file: it prints what files contain. It knows the beginnings
// of some common formats, the interpreters of scripts, JSON, and the encodings and line
// ends of text, in the words of libmagic. It knows far fewer formats: others are
// "data".
//
// The status is 0 even for a file that cannot be read: file prints the error in place of
// the kind, and only its option -E, which is not here, changes the status. Names are padded
// to the longest, in characters.
func fileKinds(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... FILE...")
	brief := f.BoolP("brief", "b", false, "without the names")
	mimeAll := f.BoolP("mime", "i", false, "the type and the encoding, as text/plain; charset=utf-8")
	mimeType := f.Bool("mime-type", false, "the type, as text/plain")
	encoding := f.Bool("mime-encoding", false, "the encoding, as utf-8")
	follow := false
	f.BoolVarP(&follow, "dereference", "L", false, "what symlinks lead to")
	f.BoolFuncP("no-dereference", "h", "symlinks themselves (default)", func(string) error {
		follow = false
		return nil
	})
	f.BoolP("no-pad", "N", false, "(ignored)")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		return f.wrong("missing file operand")
	}
	width := 0
	for _, name := range names {
		width = max(width, utf8.RuneCountInString(name))
	}
	for _, name := range names {
		kind, err := p.kindOf(ctx, name, follow)
		text := kind.text
		switch {
		case err != nil:
			text = "cannot open `" + name + "' (" + ErrorText(err) + ")"
		case *mimeAll:
			text = kind.mime + "; charset=" + kind.charset
		case *mimeType:
			text = kind.mime
		case *encoding:
			text = kind.charset
		}
		if !*brief {
			text = name + ": " + strings.Repeat(" ", width-utf8.RuneCountInString(name)) + text
		}
		if _, err := fmt.Fprintln(p.Stdout, text); err != nil {
			return p.failWrite(err)
		}
	}
	return 0
}

// fileKind is what a file contains.
type fileKind struct{ text, mime, charset string }

// kindWindow is how much of a file decides.
//
// A file of this size or more counts as cut: its end is unknown, so nothing is said about
// JSON or a missing line end.
const kindWindow = 1 << 20

// kindOf looks at the beginning of a file.
//
// "-" is the standard input. Directories are not opened, and symlinks only with follow.
func (p *Process) kindOf(ctx context.Context, name string, follow bool) (fileKind, error) {
	describe := p.Lstat
	if follow {
		describe = p.Stat
	}
	info, err := describe(ctx, name)
	switch {
	// No file has to have that name, so the error of Lstat does not count.
	case name == "-":
	case err != nil:
		return fileKind{}, err
	case info.IsDir():
		return fileKind{"directory", "inode/directory", "binary"}, nil
	case info.Type == workspace.TypeSymlink:
		text := "symbolic link"
		if target, err := p.readLink(ctx, name); err == nil {
			text += " to " + target
		}
		if _, err := p.Stat(ctx, name); err != nil {
			text = "broken " + text
		}
		return fileKind{text, "inode/symlink", "binary"}, nil
	case info.Type == workspace.TypeOther:
		return fileKind{"character special", "inode/chardevice", "binary"}, nil
	}
	var head []byte
	whole := false
	err = p.input(ctx, name, func(in *Input) (err error) {
		head, err = io.ReadAll(io.LimitReader(in, kindWindow))
		whole = len(head) < kindWindow
		return err
	})
	if err != nil {
		return fileKind{}, err
	}
	return kindOf(head, whole), nil
}

// magics are the beginnings of files that are no text.
//
// The first entry that fits counts. All are binary, whatever bytes follow.
var magics = []struct{ start, text, mime string }{
	{"\x89PNG\r\n\x1a\n", "PNG image data", "image/png"}, {"\xff\xd8\xff", "JPEG image data", "image/jpeg"}, {"GIF8", "GIF image data", "image/gif"},
	{"\x1f\x8b", "gzip compressed data", "application/gzip"}, {"BZh", "bzip2 compressed data", "application/x-bzip2"}, {"\xfd7zXZ\x00", "XZ compressed data", "application/x-xz"},
	{"\x28\xb5\x2f\xfd", "Zstandard compressed data", "application/zstd"}, {"PK\x03\x04", "Zip archive data", "application/zip"}, {"%PDF-", "PDF document", "application/pdf"},
	{"\x7fELF", "ELF executable", "application/x-executable"}, {"SQLite format 3\x00", "SQLite 3.x database", "application/vnd.sqlite3"}, {"\x00asm", "WebAssembly (wasm) binary module", "application/wasm"},
	{"wOFF", "Web Open Font Format", "font/woff"}, {"wOF2", "Web Open Font Format (Version 2)", "font/woff2"}, {"RIFF", "RIFF (little-endian) data", "application/octet-stream"},
}

// interpreters are what a first line with "#!" names.
//
// The key is the last element of the path, or the argument of env. The values are what the
// text begins with, and the type.
var interpreters = map[string][2]string{
	"sh": {"POSIX shell script", "text/x-shellscript"}, "bash": {"Bourne-Again shell script", "text/x-shellscript"}, "python": {"Python script", "text/x-script.python"},
	"python3": {"Python script", "text/x-script.python"}, "node": {"Node.js script", "application/javascript"}, "perl": {"Perl script", "text/x-perl"}, "ruby": {"Ruby script", "text/x-ruby"},
}

// kindOf says what a file contains that begins with head. whole says that this is all.
//
// The order matters: a script may be valid UTF-8, and JSON is a text as well. Two contents
// and what is printed:
//
//	#!/usr/bin/env python3    Python script, ASCII text executable
//	a, CR, LF                 ASCII text, with CRLF line terminators
func kindOf(head []byte, whole bool) fileKind {
	if len(head) == 0 {
		return fileKind{"empty", "inode/x-empty", "binary"}
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.start)) {
			return fileKind{m.text, m.mime, "binary"}
		}
	}
	charset, text := encodingOf(head, whole)
	if charset == "binary" {
		return fileKind{"data", "application/octet-stream", charset}
	}
	kind := fileKind{text, "text/plain", charset}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	fields := strings.Fields(strings.TrimPrefix(string(first), "#!"))
	switch {
	case bytes.HasPrefix(head, []byte("#!")) && len(fields) > 0:
		program := path.Base(fields[0])
		if program == "env" && len(fields) > 1 {
			program = fields[1]
		}
		if known, ok := interpreters[program]; ok {
			kind.mime = known[1]
			kind.text = known[0] + ", " + text + " executable"
		} else {
			kind.text = "a " + strings.Join(fields, " ") + " script, " + text + " executable"
		}
	case whole && isJSON(head):
		return fileKind{"JSON text data", "application/json", charset}
	}
	return fileKind{kind.text + lineKinds(head, whole), kind.mime, charset}
}

// jsonStart is how a text begins that may be JSON.
var jsonStart = lazyregexp.New(`^\s*[\[{]`)

// isJSON reports whether a text is one JSON object or array.
func isJSON(data []byte) bool { return jsonStart().Match(data) && json.Valid(data) }

// encodingOf returns the encoding of a text, and its name in words; "binary" if it is
// no text. Control characters other than those of text make it binary. What is no UTF-8
// is ISO 8859 if it has no byte of the second block of control characters, 0x80 to
// 0x9f.
//
// UTF-16 is known by its byte order mark only. If whole is false, up to three bytes at the
// end may be the beginning of a character, and do not count.
func encodingOf(data []byte, whole bool) (charset, text string) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) && utf8.Valid(data):
		return "utf-8", "Unicode text, UTF-8 (with BOM) text"
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return "utf-16le", "Unicode text, UTF-16, little-endian text"
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "utf-16be", "Unicode text, UTF-16, big-endian text"
	}
	ascii := true
	for _, b := range data {
		if b < ' ' && !bytes.ContainsRune([]byte("\a\b\t\n\v\f\r\x1b"), rune(b)) || b == 0x7f {
			return "binary", ""
		}
		ascii = ascii && b < utf8.RuneSelf
	}
	if !whole { // the last character may be cut
		for range utf8.UTFMax - 1 {
			if r, n := utf8.DecodeLastRune(data); r == utf8.RuneError && n == 1 {
				data = data[:len(data)-1]
			}
		}
	}
	switch {
	case ascii:
		return "us-ascii", "ASCII text"
	case utf8.Valid(data):
		return "utf-8", "Unicode text, UTF-8 text"
	}
	for _, b := range data {
		if b >= 0x80 && b < 0xa0 {
			return "unknown-8bit", "Non-ISO extended-ASCII text"
		}
	}
	return "iso-8859-1", "ISO-8859 text"
}

// lineKinds says what is special about the lines of a text: length, line ends, control
// characters.
//
// It says nothing about lines that all end with LF. A line is very long from 301 bytes on,
// as libmagic has it.
func lineKinds(data []byte, whole bool) string {
	crlf := bytes.Count(data, []byte("\r\n"))
	lf, cr := bytes.Count(data, []byte("\n"))-crlf, bytes.Count(data, []byte("\r"))-crlf
	note, longest := "", 0
	for line := range bytes.Lines(data) {
		longest = max(longest, len(bytes.TrimSuffix(line, []byte("\n"))))
	}
	if longest > 300 {
		note += fmt.Sprintf(", with very long lines (%d)", longest)
	}
	var ends []string
	for _, end := range []struct {
		n    int
		name string
	}{{crlf, "CRLF"}, {cr, "CR"}, {lf, "LF"}} {
		if end.n > 0 {
			ends = append(ends, end.name)
		}
	}
	switch {
	case len(ends) == 0 && whole:
		note += ", with no line terminators"
	case len(ends) > 0 && !(len(ends) == 1 && lf > 0):
		note += ", with " + strings.Join(ends, ", ") + " line terminators"
	}
	if bytes.ContainsRune(data, 0x1b) {
		note += ", with escape sequences"
	}
	if bytes.ContainsRune(data, '\b') {
		note += ", with overstriking"
	}
	return note
}
