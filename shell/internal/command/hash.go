package command

import (
	"bufio"
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"
)

// checksum prints and checks sums: md5sum and the like of GNU's coreutils, by the name
// that it was called by. A line is "SUM  NAME", and a name with a line end is escaped, with a
// backslash at the beginning of the line.
func checksum(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	f.BoolP("binary", "b", false, "read in binary mode")
	f.BoolP("text", "t", false, "read in text mode (default)")
	s := &summer{ctx: ctx, p: p, sumKind: checksums[strings.TrimSuffix(p.name(), "sum")]}
	check := f.BoolP("check", "c", false, "read checksums from the FILEs and check them")
	f.BoolVar(&s.tagged, "tag", false, "create a BSD-style checksum")
	f.BoolVarP(&s.zero, "zero", "z", false, "end each output line with NUL, and do not escape file names")
	f.BoolVar(&s.ignoreMissing, "ignore-missing", false, "don't fail or report status for missing files")
	f.BoolVar(&s.quiet, "quiet", false, "don't print OK for each successfully verified file")
	f.BoolVar(&s.silent, "status", false, "don't output anything, status code shows success")
	f.BoolVar(&s.strict, "strict", false, "exit non-zero for improperly formatted checksum lines")
	f.BoolVarP(&s.warn, "warn", "w", false, "warn about improperly formatted checksum lines")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	s.binary = f.Changed("binary") && !f.Changed("text")
	if !*check {
		for _, option := range []string{"ignore-missing", "quiet", "status", "strict", "warn"} {
			if f.Changed(option) {
				return f.wrong("the --%s option is meaningful only when verifying checksums", option)
			}
		}
	} else if s.tagged {
		return f.wrong("the --tag option is meaningless when verifying checksums")
	} else if s.zero {
		return f.wrong("the --zero option is not supported when verifying checksums")
	} else if f.Changed("binary") || f.Changed("text") {
		return f.wrong("the --binary and --text options are meaningless when verifying checksums")
	}
	s.out = bufio.NewWriter(p.Stdout)
	status = p.Inputs(ctx, names, func(in *Input) error {
		if *check {
			return s.check(in)
		}
		return s.print(in)
	})
	if s.bad {
		status = 1
	}
	return p.finish(s.out, status)
}

// summer prints and checks sums.
type summer struct {
	ctx context.Context
	p   *Process
	out *bufio.Writer
	sumKind
	tagged, zero, binary         bool // --tag, -z and -b
	ignoreMissing, quiet, silent bool // --ignore-missing, --quiet and --status
	strict, warn                 bool // --strict and -w
	bad                          bool // a sum was wrong, which makes the status 1
}

// sum returns the sum of what r has, in hexadecimal digits.
// The file is streamed, and never held. An ended context is an error even if all was read.
func (s *summer) sum(r io.Reader) (string, error) {
	h := s.algorithm()
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, s.ctx.Err())
}

// The escapes of GNU's coreutils in the name of a file. A line with an escaped name
// begins with a backslash.
var (
	escapeSumName   = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`)
	unescapeSumName = strings.NewReplacer(`\\`, "\\", `\n`, "\n", `\r`, "\r")
)

// print prints the sum of a file. The mark "*" says that it was read in binary mode,
// which changes nothing here.
func (s *summer) print(in *Input) error {
	sum, err := s.sum(in)
	if err != nil {
		return err
	}
	name, escape := in.Name, ""
	if !s.zero {
		if name = escapeSumName.Replace(name); name != in.Name {
			escape = "\\"
		}
	}
	mark := ' '
	if s.binary {
		mark = '*'
	}
	if s.tagged {
		fmt.Fprintf(s.out, "%s%s (%s) = %s", escape, s.tag, name, sum)
	} else {
		fmt.Fprintf(s.out, "%s%s %c%s", escape, sum, mark, name)
	}
	return s.out.WriteByte(lineEnd(s.zero))
}

// check checks the sums that a file lists. The status is 1 if a sum differs, a file
// cannot be read, or no line has a sum; lines of another form count only with --strict.
func (s *summer) check(in *Input) error {
	r := newLineReader(s.ctx, s.p, in, '\n')
	var formatted, malformed, unreadable, mismatched, matched int
	for n := 1; r.next(); n++ {
		line := strings.TrimSuffix(string(r.line), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		want, name, ok := s.parse(line)
		if !ok {
			malformed++
			if s.warn {
				s.p.errorf("%s: %d: improperly formatted %s checksum line", in.Name, n, s.tag)
			}
			continue
		}
		formatted++
		got := ""
		err := s.p.input(s.ctx, name, func(in *Input) (err error) {
			got, err = s.sum(in)
			return err
		})
		shown := escapeSumName.Replace(name)
		if shown != name {
			shown = "\\" + shown
		}
		switch {
		case err != nil && s.ignoreMissing && errors.Is(err, fs.ErrNotExist):
		case err != nil:
			unreadable++
			s.out.Flush()
			s.p.fail(name, err)
			if !s.silent {
				fmt.Fprintf(s.out, "%s: FAILED open or read\n", shown)
			}
		case !strings.EqualFold(got, want):
			mismatched++
			if !s.silent {
				fmt.Fprintf(s.out, "%s: FAILED\n", shown)
			}
		default:
			matched++
			if !s.silent && !s.quiet {
				fmt.Fprintf(s.out, "%s: OK\n", shown)
			}
		}
	}
	if r.err != nil {
		return r.err
	}
	s.out.Flush()
	name := in.Name
	if name == "-" {
		name = "'standard input'"
	}
	if formatted == 0 {
		s.bad = true
		s.p.errorf("%s: no properly formatted checksum lines found", name)
		return nil
	}
	if !s.silent {
		warn := func(n int, one, many string) {
			if n == 1 {
				s.p.errorf("WARNING: 1 %s", one)
			} else if n > 1 {
				s.p.errorf("WARNING: %d %s", n, many)
			}
		}
		warn(malformed, "line is improperly formatted", "lines are improperly formatted")
		warn(unreadable, "listed file could not be read", "listed files could not be read")
		warn(mismatched, "computed checksum did NOT match", "computed checksums did NOT match")
		if s.ignoreMissing && matched == 0 {
			s.p.errorf("%s: no file was verified", name)
		}
	}
	if unreadable+mismatched > 0 || s.strict && malformed > 0 || s.ignoreMissing && matched == 0 {
		s.bad = true
	}
	return nil
}

// parse reads a line of sums: "SUM  NAME", "SUM *NAME" or "TAG (NAME) = SUM".
//
// In an untagged line, the length of the sum says where it ends, so that a name may have any
// characters. ok is false for a sum of another length, which belongs to another algorithm.
func (s *summer) parse(line string) (sum, name string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	line, escaped := strings.CutPrefix(line, "\\")
	if rest, found := strings.CutPrefix(line, s.tag); found {
		rest = strings.TrimPrefix(rest, " ")
		at := strings.LastIndex(rest, ")")
		if !strings.HasPrefix(rest, "(") || at < 0 {
			return "", "", false
		}
		name = rest[1:at]
		sum, ok = strings.CutPrefix(strings.TrimLeft(rest[at+1:], " \t"), "=")
		sum = strings.TrimLeft(sum, " \t")
	} else {
		digits := 2 * s.algorithm().Size()
		if len(line) < digits+2 || line[digits] != ' ' && line[digits] != '\t' {
			return "", "", false
		}
		sum, name, ok = line[:digits], line[digits+1:], true
		if name[0] == ' ' || name[0] == '*' {
			name = name[1:]
		}
	}
	if _, err := hex.DecodeString(sum); err != nil || len(sum) != 2*s.algorithm().Size() || name == "" {
		return "", "", false
	}
	if escaped {
		name = unescapeSumName.Replace(name)
	}
	return sum, name, ok
}

// sumKind is an algorithm, and its name in tagged lines.
type sumKind struct {
	tag       string
	algorithm func() hash.Hash
}

// checksums are the algorithms by the name that cksum -a has for them. The programs are
// called the same, with "sum" after it.
var checksums = map[string]sumKind{
	"md5": {"MD5", md5.New}, "sha1": {"SHA1", sha1.New}, "sha224": {"SHA224", sha256.New224}, "sha256": {"SHA256", sha256.New},
	"sha384": {"SHA384", sha512.New384}, "sha512": {"SHA512", sha512.New},
}

// cksum prints the CRC of POSIX, or another sum with -a: the CRC is of the bytes, and
// then of the length, lowest byte first, and is inverted at the end.
func cksum(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	kind := f.StringP("algorithm", "a", "crc", "the digest type: crc, md5, sha1, sha224, sha256, sha384 or sha512")
	untagged := f.Bool("untagged", false, "create a reversed style checksum, without digest type")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	out := bufio.NewWriter(p.Stdout)
	if sum, ok := checksums[*kind]; ok {
		s := &summer{ctx: ctx, p: p, out: out, sumKind: sum, tagged: !*untagged}
		return p.finish(out, p.Inputs(ctx, names, s.print))
	}
	if *kind != "crc" {
		return f.wrong("invalid argument %s for '--algorithm'", quoteName(*kind))
	}
	status = p.Inputs(ctx, names, func(in *Input) error {
		var crc uint32
		r := bufio.NewReaderSize(in, 64<<10)
		size := uint64(0)
		for {
			c, err := r.ReadByte()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			crc = crc<<8 ^ crcTable[byte(crc>>24)^c]
			if size++; size&0xffff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		for n := size; n > 0; n >>= 8 {
			crc = crc<<8 ^ crcTable[byte(crc>>24)^byte(n)]
		}
		fmt.Fprintf(out, "%d %d", ^crc, size)
		if len(names) > 0 {
			fmt.Fprintf(out, " %s", in.Name)
		}
		return out.WriteByte('\n')
	})
	return p.finish(out, status)
}

// crcTable is the table of the polynomial of POSIX, highest bit first.
var crcTable = func() (table [256]uint32) {
	for i := range table {
		c := uint32(i) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ 0x04c11db7
			} else {
				c <<= 1
			}
		}
		table[i] = c
	}
	return table
}()

// encoding is base64 or base32.
type encoding interface {
	EncodeToString([]byte) string
	Decode(dst, src []byte) (int, error)
	DecodedLen(n int) int
}

// base64Program is the encoding of RFC 4648, section 4.
func base64Program(ctx context.Context, p *Process) int {
	return recode(ctx, p, base64.StdEncoding, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 4)
}

// base32Program is the encoding of RFC 4648, section 6.
func base32Program(ctx context.Context, p *Process) int {
	return recode(ctx, p, base32.StdEncoding, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 8)
}

// recode encodes and decodes: base64 and base32 of RFC 4648, with lines of 76
// characters. group is how many characters make whole bytes: 4,
// or 8.
func recode(ctx context.Context, p *Process, coding encoding, alphabet string, group int) int {
	f := newFlags(p, "[OPTION]... [FILE]")
	decode := f.BoolP("decode", "d", false, "decode data")
	ignore := f.BoolP("ignore-garbage", "i", false, "when decoding, ignore non-alphabet characters")
	wrap := f.countP("wrap", "w", 76, "wrap encoded lines after COLS character; 0: never")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) > 1 {
		return f.wrong("extra operand %s", quoteName(names[1]))
	}
	out := bufio.NewWriterSize(p.Stdout, 32<<10)
	status = p.Inputs(ctx, names, func(in *Input) error {
		if *decode {
			return decodeBase(ctx, out, in, coding, alphabet, group, *ignore)
		}
		return encodeBase(ctx, out, in, coding, *wrap)
	})
	return p.finish(out, status)
}

// encodeBase writes the encoding of in, with a line end after each wrap characters, or
// without any if wrap is zero. Padding can come only at the end, as each block but the
// last is made of whole groups.
func encodeBase(ctx context.Context, out *bufio.Writer, in io.Reader, coding encoding, wrap int) error {
	const block = 15 << 10 // whole groups of both encodings
	buf := make([]byte, block)
	column := 0
	for ctx.Err() == nil {
		n, err := io.ReadFull(in, buf)
		text := coding.EncodeToString(buf[:n])
		for text != "" {
			part := text
			if wrap > 0 {
				part = text[:min(len(text), wrap-column)]
			}
			if _, err := out.WriteString(part); err != nil {
				return err
			}
			text = text[len(part):]
			if column += len(part); column == wrap {
				out.WriteByte('\n')
				column = 0
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			if wrap > 0 && column > 0 {
				out.WriteByte('\n')
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// errInvalidInput says that what is decoded has a character that is not of the
// encoding, or ends within a group.
var errInvalidInput = errors.New("invalid input")

// decodeBase decodes whole groups. What comes before an error is written, as by GNU's
// programs.
//
// Line ends are left out, and any other character that is not of the encoding ends it, unless
// ignore is set. "=" is never ignored, as it ends a group.
func decodeBase(ctx context.Context, out *bufio.Writer, in io.Reader, coding encoding, alphabet string, group int, ignore bool) error {
	r := bufio.NewReaderSize(in, 32<<10)
	pending := make([]byte, 0, group)
	decoded := make([]byte, coding.DecodedLen(group))
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c, err := r.ReadByte()
		if err == io.EOF {
			break
		}
		switch {
		case err != nil:
			return err
		case c == '\n', ignore && c != '=' && strings.IndexByte(alphabet, c) < 0:
			continue
		}
		if pending = append(pending, c); len(pending) < group {
			continue
		}
		written, err := coding.Decode(decoded, pending)
		if err != nil {
			return decodeRest(out, coding, pending, group)
		}
		if _, err := out.Write(decoded[:written]); err != nil {
			return err
		}
		pending = pending[:0]
	}
	switch {
	case len(pending) == 0:
		return nil
	case group != 4: // unlike the real base64, the real base32 drops what is incomplete
		return errInvalidInput
	}
	return decodeRest(out, coding, pending, group)
}

// decodeRest writes what the group before an error has of whole bytes.
// It tries ever shorter beginnings, filled up with "=". It always returns errInvalidInput.
func decodeRest(out *bufio.Writer, coding encoding, pending []byte, group int) error {
	decoded := make([]byte, coding.DecodedLen(group))
	for n := len(pending); n > 0; n-- {
		padded := append(bytes.Clone(pending[:n]), bytes.Repeat([]byte("="), group-n)...)
		if written, err := coding.Decode(decoded, padded); err == nil {
			out.Write(decoded[:written])
			break
		}
	}
	return errInvalidInput
}
