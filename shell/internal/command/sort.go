package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// sortLines is the program sort of POSIX, with the options of GNU's that say how to
// compare. It compares bytes, as GNU's does in the C locale, and sorts stably.
//
// It holds all lines in memory, at most MaxMemory bytes with 64 for each line, and
// never writes temporary files. So -S, -T and --parallel have nothing to change. -o is
// written when all is read: `sort -o f f` is safe. -R is refused, as its results would
// differ from run to run.
//
// The status is 1 where -c finds lines in disorder, and after a wrong word of --sort and
// --check, as with GNU's; after other errors it is 2.
//
// Keys: `sort -t: -k2,2n -k1` on the lines
//
//	b:10
//	a:9
//	c:9
//
// compares field 2 to field 2 as numbers first, and what is equal from field 1 to the
// end of the line:
//
//	a:9     9 < 10; "a:9" < "c:9"
//	c:9
//	b:10
//
// -k2 without an end goes on to the end of the line, and -k2 without -t begins with the
// blanks before the field, which is why scripts add b: -k2b,2. Lines whose keys are all
// equal are compared whole, unless -s or -u is given. That last comparison knows no
// option but -r.
func sortLines(ctx context.Context, p *Process) int {
	flags := newFlags(p, "[OPTION]... [FILE]...")
	flags.failure = 2
	var global sortKey
	global.define(flags)
	reverse := flags.BoolP("reverse", "r", false, "reverse the result of comparisons")
	flags.BoolP("random-sort", "R", false, "not supported: results must not differ from run to run")
	keys := flags.StringArrayP("key", "k", nil, "sort via a key; KEYDEF gives location and type")
	separator := flags.StringP("field-separator", "t", "", "use SEP instead of the change from non-blank to blank")
	unique := flags.BoolP("unique", "u", false, "write only the first of equal lines")
	stable := flags.BoolP("stable", "s", false, "do not compare whole lines where keys are equal")
	check := flags.BoolP("c", "c", false, "check whether the input is sorted; do not sort")
	quiet := flags.BoolP("C", "C", false, "like -c, but do not report the first bad line")
	checkHow := flags.String("check", "", "-c, or -C for quiet and silent")
	flags.Lookup("check").NoOptDefVal = "diagnose-first"
	words := flags.StringArray("sort", nil, "sort according to WORD: general-numeric, human-numeric, month, numeric, version")
	merge := flags.BoolP("merge", "m", false, "merge files that are sorted already")
	output := flags.StringP("output", "o", "", "write the result to FILE instead of standard output")
	zero := flags.BoolP("zero-terminated", "z", false, "lines end with NUL, not newline")
	flags.StringP("buffer-size", "S", "", "accepted, and without effect")
	flags.StringArrayP("temporary-directory", "T", nil, "accepted, and without effect")
	flags.String("parallel", "", "accepted, and without effect")
	names, status, ok := flags.parse()
	if !ok {
		return status
	}
	kinds := map[string]byte{"general-numeric": 'g', "human-numeric": 'h', "month": 'M', "numeric": 'n', "version": 'V'}
	for _, word := range *words {
		if kinds[word] == 0 {
			return p.errorf("invalid argument %s for '--sort'", quoteName(word))
		}
		if err := global.setKind(kinds[word])(""); err != nil {
			p.errorf("%v", err)
			return 2
		}
	}
	switch *checkHow {
	case "quiet", "silent":
		*quiet = true
	case "diagnose-first":
		*check = true
	case "":
	default:
		return p.errorf("invalid argument %s for '--check'", quoteName(*checkHow))
	}
	s := &sorter{reverse: *reverse, unique: *unique, end: '\n', separator: -1}
	if *zero {
		s.end = 0
	}
	if flags.Changed("random-sort") {
		p.errorf("-R is not supported: results must not differ from run to run")
		return 2
	}
	if err := s.configure(&global, *keys, *separator, flags.Changed("field-separator")); err != nil {
		p.errorf("%v", err)
		return 2
	}
	s.stable = *stable || *unique
	if *check || *quiet {
		if *output != "" {
			p.errorf("options '-%s' are incompatible", map[bool]string{true: "Co", false: "co"}[*quiet])
			return 2
		}
		if len(names) > 1 {
			p.errorf("extra operand %s not allowed with -c", quoteName(names[1]))
			return 2
		}
		return s.check(ctx, p, names, *quiet)
	}
	// A file that cannot be read ends it before anything is written, as with GNU's sort.
	if status := s.read(ctx, p, names); status != 0 {
		return 2
	}
	if *merge {
		s.merge()
	} else if !s.sort(ctx) {
		return 2
	}
	out := io.WriteCloser(nopCloser{p.Stdout})
	if *output != "" {
		var err error
		if out, err = p.Create(ctx, *output, 0); err != nil {
			p.fail(*output, err)
			return 2
		}
	}
	if err := errors.Join(s.write(out), out.Close()); err != nil {
		return max(2, p.failWrite(err))
	}
	return 0
}

// sortKey says which part of a line is compared, and how.
type sortKey struct {
	from, to keyPosition
	// The letter b counts for the end of the key where it stands: in -k1b,2 it is for
	// the beginning, in -k1,2b for the end. The option -b is for both.
	ignoreBlanks, ignoreBlanksEnd bool // -b
	dictionary, fold, printable   bool // -d, -f, -i
	reverse                       bool
	kind                          byte // n, g, h, M, V, or 0
}

// keyPosition is F.C of a KEYDEF, both counted from 1. Zero means not given: a key
// without C begins with its field and ends with it, and one without an end ends with
// the line.
type keyPosition struct{ field, char int }

// define defines the ordering options, which are letters of a KEYDEF too.
func (k *sortKey) define(flags *flags) {
	flags.BoolVarP(&k.ignoreBlanks, "ignore-leading-blanks", "b", false, "ignore leading blanks")
	flags.BoolVarP(&k.dictionary, "dictionary-order", "d", false, "consider only blanks and alphanumeric characters")
	flags.BoolVarP(&k.fold, "ignore-case", "f", false, "fold lower case to upper case")
	flags.BoolVarP(&k.printable, "ignore-nonprinting", "i", false, "consider only printable characters")
	flags.BoolFuncP("general-numeric-sort", "g", "compare according to general numerical value", k.setKind('g'))
	flags.BoolFuncP("human-numeric-sort", "h", "compare human readable numbers (2K 1G)", k.setKind('h'))
	flags.BoolFuncP("month-sort", "M", "compare (unknown) < 'JAN' < ... < 'DEC'", k.setKind('M'))
	flags.BoolFuncP("numeric-sort", "n", "compare according to string numerical value", k.setKind('n'))
	flags.BoolFuncP("version-sort", "V", "natural sort of (version) numbers within text", k.setKind('V'))
}

// setKind returns what sets one of the options that exclude each other: a key is
// compared in one way only. "incompatible" names the letters sorted, as GNU's sort
// does.
func (k *sortKey) setKind(kind byte) func(string) error {
	return func(string) error {
		if k.kind != 0 && k.kind != kind {
			return fmt.Errorf("options '-%s' are incompatible", string(sortedBytes(k.kind, kind)))
		}
		k.kind = kind
		return nil
	}
}

// sortedBytes returns the bytes in order. The slice of its arguments is sorted in place.
func sortedBytes(b ...byte) []byte {
	slices.Sort(b)
	return b
}

// option sets what a letter of a KEYDEF means. end says whether it follows the end.
func (k *sortKey) option(letter byte, end bool) error {
	switch letter {
	case 'b':
		if end {
			k.ignoreBlanksEnd = true
		} else {
			k.ignoreBlanks = true
		}
	case 'd':
		k.dictionary = true
	case 'f':
		k.fold = true
	case 'i':
		k.printable = true
	case 'r':
		k.reverse = true
	case 'n', 'g', 'h', 'M', 'V':
		return k.setKind(letter)("")
	case 'R':
		return errors.New("-k: R is not supported: results must not differ from run to run")
	default:
		return errBadKey
	}
	return nil
}

// errBadKey is what option returns for a letter that means nothing; the caller adds the
// KEYDEF.
var errBadKey = errors.New("stray character in field spec")

// parseKey reads a KEYDEF: F[.C][OPTS][,F[.C][OPTS]]. The letters of both halves are
// for the whole key, b aside:
//
//	2        field 2 to the end of the line
//	2,2      field 2
//	2.3,2.4  the bytes 3 and 4 of field 2
//	2,3.0    the same as 2,3: the byte 0 of an end is the end of the field
//	2nr,2    field 2 as a number, the greatest first
func parseKey(s string) (k sortKey, err error) {
	invalid := func(what string) error {
		return fmt.Errorf("%s: invalid field specification %s", what, quoteName(s))
	}
	rest := s
	position := func(p *keyPosition, end bool) error {
		n := digitsEnd(rest, 0, len(rest), 10)
		if n == 0 {
			return fmt.Errorf("invalid number at field start: invalid count at start of %s", quoteName(rest))
		}
		p.field = atoi(rest[:n])
		if rest = rest[n:]; p.field == 0 {
			return invalid("field number is zero")
		}
		if strings.HasPrefix(rest, ".") {
			n := 1 + digitsEnd(rest[1:], 0, len(rest), 10)
			if n == 1 {
				return fmt.Errorf("invalid number after '.': invalid count at start of %s", quoteName(rest[1:]))
			}
			p.char = atoi(rest[1:n])
			if rest = rest[n:]; p.char == 0 && !end {
				return invalid("character offset is zero")
			}
		}
		for rest != "" && rest[0] != ',' {
			if err := k.option(rest[0], end); err == errBadKey {
				return invalid(err.Error())
			} else if err != nil {
				return err
			}
			rest = rest[1:]
		}
		return nil
	}
	if err := position(&k.from, false); err != nil {
		return k, err
	}
	if rest != "" {
		rest = rest[1:]
		if err := position(&k.to, true); err != nil {
			return k, err
		}
		if rest != "" {
			return k, invalid("stray character in field spec")
		}
	}
	return k, nil
}

// atoi reads digits. A number that is too large is the largest.
func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil && digits != "" {
		return int(^uint(0) >> 1)
	}
	return n
}

// sorter sorts lines. Where lines end, and what separates fields, are single bytes, as
// in GNU's sort: -t '::' is an error.
//
// Only keys[0] is cached in the lines (sortLine.first). held bounds lines against MaxMemory.
type sorter struct {
	keys           []sortKey // of -k, in order; none for the whole line
	global         sortKey   // the options outside of -k, for keys without their own
	separator      int       // a byte; -1: the change from non-blank to blank
	reverse        bool      // -r for the last comparison, of whole lines
	unique, stable bool      // -u and -s
	end            byte      // of a line: "\n", or NUL with -z
	lines          []sortLine
	starts         []int // where the lines of each file start
	held           int64 // bytes of the lines, which are all in memory
}

// sortLine is a line, and its first key. Most comparisons are decided by that key,
// which would otherwise be looked for in the line log n times.
// first is a part of text, so it needs no memory of its own; nil where there are no keys.
type sortLine struct {
	text  []byte
	first []byte
}

// configure sets the keys. A key without letters of its own has the global options, -r
// included, and one with a letter has none of them: -n -k1,1 -k2,2r compares field 2 as
// text. Without -k, an option such as -n makes the whole line a key; -r alone does not,
// as the comparison of whole lines knows it.
func (s *sorter) configure(global *sortKey, defs []string, separator string, separated bool) error {
	s.global = *global
	s.global.ignoreBlanksEnd = global.ignoreBlanks
	s.global.reverse = s.reverse
	if separated {
		switch {
		case separator == "":
			return errors.New("empty tab")
		case separator == `\0`:
			s.separator = 0
		case len(separator) > 1:
			return fmt.Errorf("multi-character tab %s", quoteName(separator))
		default:
			s.separator = int(separator[0])
		}
	}
	for _, def := range defs {
		k, err := parseKey(def)
		if err != nil {
			return err
		}
		plain := k
		plain.from, plain.to = keyPosition{}, keyPosition{}
		if plain == (sortKey{}) {
			from, to := k.from, k.to
			k = s.global
			k.from, k.to = from, to
		}
		s.keys = append(s.keys, k)
	}
	if len(s.keys) == 0 {
		plain := s.global
		plain.reverse = false
		if plain != (sortKey{}) {
			s.keys = []sortKey{s.global}
		}
	}
	for _, k := range s.keys {
		// -d and -i change text, so they mean nothing for a number. Months and versions
		// are compared as text.
		if k.kind != 0 && k.kind != 'V' && (k.dictionary || k.printable) && !(k.kind == 'M') {
			return fmt.Errorf("options '-%s' are incompatible", string(sortedBytes(k.kind, map[bool]byte{true: 'd', false: 'i'}[k.dictionary])))
		}
	}
	return nil
}

// read reads all lines, and notes in starts where each file begins, for merge. The status is
// not 0 after an error, whose message has been printed.
func (s *sorter) read(ctx context.Context, p *Process, names []string) int {
	return p.Inputs(ctx, names, func(in *Input) error {
		s.starts = append(s.starts, len(s.lines))
		r := newLineReader(ctx, p, in, s.end)
		for r.next() {
			if err := s.add(p, r.line); err != nil {
				return err
			}
		}
		return r.err
	})
}

// add keeps a line. overhead is about what slices and the allocator need besides its
// bytes.
func (s *sorter) add(p *Process, line []byte) error {
	const overhead = 64
	s.held += int64(len(line)) + overhead
	if s.held > p.MaxMemory {
		return errTooMuch(p.MaxMemory)
	}
	l := sortLine{text: bytes.Clone(line)}
	if len(s.keys) > 0 {
		l.first = s.keys[0].part(l.text, s.separator)
	}
	s.lines = append(s.lines, l)
	return nil
}

// sort sorts the lines. It reports whether ctx let it: package slices has no way to
// stop, so a comparison panics when ctx has ended, which is looked at each 4096
// comparisons.
func (s *sorter) sort(ctx context.Context) bool {
	n := 0
	defer func() {
		if r := recover(); r != nil && r != errStopOutput { //nolint:errorlint // a sentinel of our own
			panic(r)
		}
	}()
	slices.SortStableFunc(s.lines, func(a, b sortLine) int {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			panic(errStopOutput)
		}
		return s.compare(a, b)
	})
	return ctx.Err() == nil
}

// merge puts the least of the next lines of all files first, in turn. Files that are
// not sorted remain so: from "b a" and "c" it makes "b a c". With equal lines the file
// that was named first comes first.
func (s *sorter) merge() {
	var merged []sortLine
	next := slices.Clone(s.starts)
	ends := append(s.starts[min(1, len(s.starts)):len(s.starts):len(s.starts)], len(s.lines))
	for len(merged) < len(s.lines) {
		least := -1
		for i, n := range next {
			if n < ends[i] && (least < 0 || s.compare(s.lines[n], s.lines[next[least]]) < 0) {
				least = i
			}
		}
		merged = append(merged, s.lines[next[least]])
		next[least]++
	}
	s.lines = merged
}

// write writes the result. With -u, a line is left out whose keys equal those of the
// line before it; as the sort is stable, the one that was read first remains.
// A failed write is reported by the last Flush at the latest.
func (s *sorter) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for i, l := range s.lines {
		if s.unique && i > 0 && s.compare(s.lines[i-1], l) == 0 {
			continue
		}
		out.Write(l.text)
		if err := out.WriteByte(s.end); err != nil {
			return err
		}
	}
	return out.Flush()
}

// check checks that the lines are sorted, and with -u that no two are equal. It holds
// two lines at a time, so that files of any size can be checked.
// It stops at the first line in disorder. The limit of memory is that of a single line.
func (s *sorter) check(ctx context.Context, p *Process, names []string, quiet bool) int {
	disorder := false
	status := p.Inputs(ctx, names, func(in *Input) error {
		r := newLineReader(ctx, p, in, s.end)
		var last sortLine
		for n := 1; r.next(); n++ {
			l := sortLine{text: bytes.Clone(r.line)}
			if len(s.keys) > 0 {
				l.first = s.keys[0].part(l.text, s.separator)
			}
			if c := 0; n > 1 {
				if c = s.compare(last, l); c > 0 || s.unique && c == 0 {
					disorder = true
					if !quiet {
						p.errorf("%s:%d: disorder: %s", in.Name, n, l.text)
					}
					return ErrStop
				}
			}
			last = l
		}
		return r.err
	})
	switch {
	case status != 0:
		return 2
	case disorder:
		return 1
	}
	return 0
}

// compare compares two lines: key by key, and then whole. A key has its own r; the r of
// the command line is for keys without letters, and for whole lines.
//
// With -s and -u, lines with equal keys are equal. Without keys the whole line counts always.
func (s *sorter) compare(a, b sortLine) int {
	for i := range s.keys {
		k := &s.keys[i]
		x, y := a.first, b.first
		if i > 0 {
			x, y = k.part(a.text, s.separator), k.part(b.text, s.separator)
		}
		if c := k.compare(x, y); c != 0 {
			if k.reverse {
				return -c
			}
			return c
		}
	}
	if len(s.keys) > 0 && s.stable {
		return 0
	}
	c := bytes.Compare(a.text, b.text)
	if s.reverse {
		return -c
	}
	return c
}

// isBlank reports whether c separates fields where -t names nothing.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// part is the part of a line that a key compares. It is no copy. A key that ends before it
// begins, as -k2,1, is empty.
func (k *sortKey) part(line []byte, separator int) []byte {
	start, end := k.begin(line, separator), k.limit(line, separator)
	return line[min(start, end):end]
}

// skipField returns where the field that begins at at ends. Without a separator, the
// blanks before a field belong to it: " a b" has the fields " a" and " b". With one,
// each separator ends a field, and two in a row have an empty field between them.
func skipField(line []byte, at, separator int) int {
	if separator >= 0 {
		for at < len(line) && line[at] != byte(separator) {
			at++
		}
		return at
	}
	for at < len(line) && isBlank(line[at]) {
		at++
	}
	for at < len(line) && !isBlank(line[at]) {
		at++
	}
	return at
}

// begin returns where the key begins. A field that is not there begins at the end of
// the line: such a key is empty, and comes first. Blanks are skipped before bytes are
// counted: -k2.2b begins with the second byte of the word.
func (k *sortKey) begin(line []byte, separator int) int {
	at := 0
	for n := 1; n < k.from.field && at < len(line); n++ {
		if at = skipField(line, at, separator); separator >= 0 && at < len(line) {
			at++
		}
	}
	if k.ignoreBlanks {
		for at < len(line) && isBlank(line[at]) {
			at++
		}
	}
	return min(len(line), at+min(len(line), max(0, k.from.char-1)))
}

// limit returns where the key ends. F.C with C > 0 counts from the beginning of field
// F, as begin does, and the byte C is part of the key. Without C the key ends with the
// field, and the separator after it is not part of it.
func (k *sortKey) limit(line []byte, separator int) int {
	if k.to.field == 0 {
		return len(line)
	}
	fields := k.to.field
	if k.to.char != 0 {
		fields-- // the end is in the last field, not behind it
	}
	at := 0
	for n := 0; n < fields && at < len(line); n++ {
		at = skipField(line, at, separator)
		if separator >= 0 && at < len(line) && (n+1 < fields || k.to.char != 0) {
			at++
		}
	}
	if k.to.char == 0 {
		return at
	}
	if k.ignoreBlanksEnd {
		for at < len(line) && isBlank(line[at]) {
			at++
		}
	}
	return min(len(line), at+min(len(line), k.to.char))
}

// compare compares the parts of two lines.
// -n, -h and -g read numbers and ignore -d, -i and -f.
func (k *sortKey) compare(a, b []byte) int {
	switch k.kind {
	case 'n':
		return compareDecimal(a, b)
	case 'h':
		return compareHuman(a, b)
	case 'g':
		return compareGeneral(a, b)
	}
	if k.dictionary || k.printable || k.fold {
		a, b = k.filter(a), k.filter(b)
	}
	switch k.kind {
	case 'M':
		return cmp.Compare(monthOf(a), monthOf(b))
	case 'V':
		return compareVersions(a, b)
	}
	return bytes.Compare(a, b)
}

// filter leaves out what -d and -i ignore, and folds case for -f. It returns a copy. Letters
// and blanks are those of ASCII, as in the C locale.
func (k *sortKey) filter(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for _, c := range s {
		switch {
		case k.dictionary && !isBlank(c) && !isAlpha(c) && !isDigit(c):
		case k.printable && (c < ' ' || c >= 0x7f):
		case k.fold && c >= 'a' && c <= 'z':
			out = append(out, c-'a'+'A')
		default:
			out = append(out, c)
		}
	}
	return out
}

// decimal is a number as text, of any length: -n compares numbers that no machine type
// holds, and knows neither exponents nor a plus sign, so that 1e3 is 1 and +5 is 0.
type decimal struct {
	negative          bool
	integer, fraction []byte // without leading, and without trailing zeros
	rest              []byte // what follows the number, such as a suffix for -h
}

// parseDecimal reads the number at the beginning of s, after blanks. Where there is
// none, it is 0; -0 is 0, too.
func parseDecimal(s []byte) (d decimal) {
	s = bytes.TrimLeft(s, " \t\n")
	if len(s) > 0 && s[0] == '-' {
		d.negative = true
		s = s[1:]
	}
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	d.integer, s = bytes.TrimLeft(s[:n], "0"), s[n:]
	if len(s) > 0 && s[0] == '.' {
		n := 1
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		d.fraction, s = bytes.TrimRight(s[1:n], "0"), s[n:]
	}
	d.rest = s
	if len(d.integer)+len(d.fraction) == 0 {
		d.negative = false
	}
	return d
}

// compare compares without arithmetic: of two integers without leading zeros, the
// longer is the greater, and those of one length, like fractions, compare as text.
func (d decimal) compare(e decimal) int {
	if d.negative != e.negative {
		if d.negative {
			return -1
		}
		return 1
	}
	c := cmp.Or(cmp.Compare(len(d.integer), len(e.integer)), bytes.Compare(d.integer, e.integer), bytes.Compare(d.fraction, e.fraction))
	if d.negative {
		return -c
	}
	return c
}

// compareDecimal compares two texts as -n does, by digits, so numbers may be of any
// length.
func compareDecimal(a, b []byte) int { return parseDecimal(a).compare(parseDecimal(b)) }

// compareHuman compares by sign, then by suffix, then by number, as GNU's sort -h does:
// 2000K comes before 1M, though it is more. Of negative numbers the larger suffix comes
// first: -1M, -1K, 0, 1K, 1M.
func compareHuman(a, b []byte) int {
	x, y := parseDecimal(a), parseDecimal(b)
	order := func(d decimal) int {
		if len(d.integer)+len(d.fraction) == 0 {
			return 0
		}
		n := 0
		if len(d.rest) > 0 {
			if n = strings.IndexByte("KMGTPEZY", d.rest[0]) + 1; d.rest[0] == 'k' {
				n = 1
			}
		}
		if d.negative {
			return -n
		}
		return n
	}
	sign := func(d decimal) int {
		switch {
		case len(d.integer)+len(d.fraction) == 0:
			return 0
		case d.negative:
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(sign(x), sign(y)), cmp.Compare(order(x), order(y)), x.compare(y))
}

// compareGeneral compares floating-point numbers, with exponents, hexadecimal digits
// and infinities. Texts that are no number come first, then NaN, then numbers.
func compareGeneral(a, b []byte) int {
	rank := func(s []byte) (int, extended) {
		n, _, ok := parseExtended(string(s))
		switch {
		case !ok:
			return 0, n
		case n.nan:
			return 1, n
		}
		return 2, n
	}
	i, x := rank(a)
	j, y := rank(b)
	if i != j || i < 2 {
		return cmp.Compare(i, j)
	}
	return x.Cmp(y.Float)
}

// months has the names of -M, three letters each, so the place of a name tells the
// month.
const months = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"

// monthOf returns 1 for text that begins with JAN in any case, up to 12 for DEC, and 0
// for other text. The rest of the text does not count: "january" and "Jan 5" are equal.
func monthOf(s []byte) int {
	s = bytes.TrimLeft(s, " \t\n")
	if len(s) < 3 {
		return 0
	}
	at := strings.Index(months, strings.ToUpper(string(s[:3])))
	if at < 0 || at%3 != 0 {
		return 0
	}
	return at/3 + 1
}

// compareVersions compares file names with numbers in them, as GNU's filevercmp does.
// It compares the stems first, without suffixes such as .tar.gz, and the whole names if
// these are equal. Within them, runs of digits compare by value, and other runs byte by
// byte in the order: "~", the end of the text, digits, letters, other characters.
//
//	1.0~rc1  <  1.0       "~" comes before the end
//	a9       <  a10       9 < 10
//	a-1.gz   <  a-1.1     the stems are a-1 and a-1.1
//	.x       <  a         hidden files come first
//
// The empty name, "." and ".." come before all others, in this order.
func compareVersions(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
	}
	if a[0] == '.' || b[0] == '.' {
		if a[0] != '.' || b[0] != '.' {
			return map[bool]int{true: -1, false: 1}[a[0] == '.']
		}
		for _, special := range []string{".", ".."} {
			x, y := string(a) == special, string(b) == special
			if x || y {
				return map[bool]int{true: 1}[y] - map[bool]int{true: 1}[x]
			}
		}
	}
	x, y := versionStem(a), versionStem(b)
	if len(x) == len(a) && len(y) == len(b) || !bytes.Equal(x, y) {
		if c := compareVersionText(x, y); c != 0 || len(x) == len(a) && len(y) == len(b) {
			return c
		}
	}
	return compareVersionText(a, b)
}

// versionStem is s without a suffix of the form (\.[A-Za-z~][A-Za-z0-9~]*)*$. It reads
// from the end, and remembers the last dot that begins such a suffix. The first byte is
// never part of one, so that ".bashrc" is a stem.
func versionStem(s []byte) []byte {
	end := len(s)
	for i := len(s) - 1; i > 0; i-- {
		c := s[i]
		if c == '.' {
			if i+1 == end || !isAlpha(s[i+1]) && s[i+1] != '~' {
				break
			}
			end = i
		} else if !isAlpha(c) && !isDigit(c) && c != '~' {
			break
		}
	}
	return s[:end]
}

// versionOrder returns the place of the byte at i in the order of compareVersions. The
// end of the text is less than everything but "~", and digits, which begin a number,
// equal 0.
func versionOrder(s []byte, i int) int {
	switch {
	case i >= len(s):
		return -1
	case isDigit(s[i]):
		return 0
	case isAlpha(s[i]):
		return int(s[i])
	case s[i] == '~':
		return -2
	}
	return int(s[i]) + 256
}

// compareVersionText compares runs of other bytes and runs of digits in turn. Leading
// zeros do not count: of a01 and a1, neither comes first.
func compareVersionText(a, b []byte) int {
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		for i < len(a) && !isDigit(a[i]) || j < len(b) && !isDigit(b[j]) {
			if c := cmp.Compare(versionOrder(a, i), versionOrder(b, j)); c != 0 {
				return c
			}
			i++
			j++
		}
		x, y := digitsAt(a, i), digitsAt(b, j)
		i, j = i+len(x), j+len(y)
		x, y = bytes.TrimLeft(x, "0"), bytes.TrimLeft(y, "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), bytes.Compare(x, y)); c != 0 {
			return c
		}
	}
	return 0
}

// digitsAt returns the digits that begin at i, which may be past the end. The result is empty
// if there is none, and no copy.
func digitsAt(s []byte, i int) []byte {
	if i > len(s) {
		return nil
	}
	end := i
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return s[i:end]
}

// uniq writes or counts lines that are equal to the one before, as POSIX defines it,
// with GNU's -D, --all-repeated, --group, -i, -w and -z. It does not sort: equal lines
// that are apart are different groups. -f skips fields with the blanks before them, and
// then -s skips bytes. OUTPUT is stored when the program has ended.
//
//	printf 'a\na\nb\n' | uniq -c
//	      2 a
//	      1 b
//	printf 'a\na\nb\n' | uniq -d      prints a, and -u prints b
func uniq(ctx context.Context, p *Process) int {
	flags := newFlags(p, "[OPTION]... [INPUT [OUTPUT]]")
	count := flags.BoolP("count", "c", false, "prefix lines by the number of occurrences")
	repeated := flags.BoolP("repeated", "d", false, "only print duplicate lines, one for each group")
	all := flags.BoolP("D", "D", false, "print all duplicate lines")
	allMethod := flags.String("all-repeated", "", "like -D, but separate groups with an empty line: none, prepend, separate")
	flags.Lookup("all-repeated").NoOptDefVal = "none"
	group := flags.String("group", "", "show all items, groups separated with an empty line: separate, prepend, append, both")
	flags.Lookup("group").NoOptDefVal = "separate"
	skipFields := flags.countP("skip-fields", "f", 0, "avoid comparing the first N fields")
	skipChars := flags.countP("skip-chars", "s", 0, "avoid comparing the first N characters")
	checkChars := flags.countP("check-chars", "w", 0, "compare no more than N characters in lines")
	ignoreCase := flags.BoolP("ignore-case", "i", false, "ignore differences in case when comparing")
	onlyUnique := flags.BoolP("unique", "u", false, "only print unique lines")
	zero := flags.BoolP("zero-terminated", "z", false, "lines end with NUL, not newline")
	names, status, ok := flags.parse()
	if !ok {
		return status
	}
	if len(names) > 2 {
		return flags.wrong("extra operand %s", quoteName(names[2]))
	}
	u := &uniqWriter{count: *count, repeated: *repeated, unique: *onlyUnique, all: *all || *allMethod != "", method: *allMethod, group: *group != "", end: '\n',
		fields: *skipFields, chars: *skipChars, check: -1, fold: *ignoreCase}
	if u.group {
		if *count || *repeated || u.all || *onlyUnique {
			return flags.wrong("--group is mutually exclusive with -c/-d/-D/-u")
		}
		u.method = *group
	}
	if u.all && *count {
		return flags.wrong("printing all duplicated lines and repeat counts is meaningless")
	}
	methods := []string{"", "none", "prepend", "separate"}
	if u.group {
		methods = []string{"separate", "prepend", "append", "both"}
	}
	if !slices.Contains(methods, u.method) {
		option := map[bool]string{true: "--group", false: "--all-repeated"}[u.group]
		return flags.wrong("invalid argument %s for '%s'", quoteName(u.method), option)
	}
	if flags.Changed("check-chars") {
		u.check = *checkChars
	}
	if *zero {
		u.end = 0
	}
	out := io.WriteCloser(nopCloser{p.Stdout})
	u.out = bufio.NewWriter(out)
	failed := 0
	status = p.Inputs(ctx, names[:min(1, len(names))], func(in *Input) error {
		if len(names) == 2 && names[1] != "-" { // not before there is an input
			file, err := p.Create(ctx, names[1], 0)
			if err != nil {
				failed = p.fail(names[1], err)
				return ErrStop
			}
			out = file
			u.out.Reset(out)
		}
		r := newLineReader(ctx, p, in, u.end)
		for r.next() {
			if err := u.add(r.line); err != nil {
				return err
			}
		}
		u.finish()
		return r.err
	})
	if err := errors.Join(u.out.Flush(), out.Close()); err != nil {
		return p.failWrite(err)
	}
	return max(status, failed)
}

// uniqWriter writes the groups of equal lines. It holds the first line of a group only, so
// that inputs may be of any size.
type uniqWriter struct {
	out                     *bufio.Writer
	count, repeated, unique bool   // -c, -d and -u
	all, group              bool   // -D and --group
	method                  string // of -D or --group: where empty lines stand
	fields, chars, check    int    // -f, -s and -w: what is compared
	fold                    bool   // -i
	end                     byte

	line   []byte // the first of a group
	n      int    // lines in the group
	groups int    // groups that were written, of all and group
}

// key is the part of a line that is compared: without the fields of -f, then without the bytes
// of -s, and of what is left the first bytes of -w. It is no copy.
func (u *uniqWriter) key(line []byte) []byte {
	for n := 0; n < u.fields && len(line) > 0; n++ {
		line = line[skipField(line, 0, -1):]
	}
	line = line[min(len(line), u.chars):]
	if u.check >= 0 {
		line = line[:min(len(line), u.check)]
	}
	return line
}

// same compares two lines. -i folds the letters of ASCII, as in the C locale.
func (u *uniqWriter) same(a, b []byte) bool {
	a, b = u.key(a), u.key(b)
	if !u.fold {
		return bytes.Equal(a, b)
	}
	return len(a) == len(b) && slices.EqualFunc(a, b, func(x, y byte) bool { return lowerByte(x) == lowerByte(y) })
}

// lowerByte returns the lower case of an ASCII letter, and other bytes as they are.
func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// add takes the next line. -D and --group print lines as they come, as a group can be
// larger than memory; for -D that begins with the second line, when it is known that
// the group has one. The other options wait until the group ends.
func (u *uniqWriter) add(line []byte) error {
	if u.n > 0 && u.same(u.line, line) {
		u.n++
		switch {
		case u.group:
			return u.print(line)
		case u.all:
			if u.n == 2 {
				if u.method == "prepend" || u.method == "separate" && u.groups > 0 {
					u.print(nil)
				}
				u.groups++
				u.print(u.line)
			}
			return u.print(line)
		}
		return nil
	}
	if err := u.finishGroup(); err != nil {
		return err
	}
	u.line, u.n = append(u.line[:0], line...), 1
	if u.group {
		if u.groups > 0 || u.method == "prepend" || u.method == "both" {
			u.print(nil)
		}
		u.groups++
		return u.print(line)
	}
	return nil
}

// print writes a line, with the end that lines have.
func (u *uniqWriter) print(line []byte) error {
	u.out.Write(line)
	return u.out.WriteByte(u.end)
}

// finishGroup writes what is known about a group only at its end.
func (u *uniqWriter) finishGroup() error {
	switch {
	case u.n == 0, u.group, u.all: // add has printed what they print
		return nil
	case u.repeated && u.n == 1, u.unique && u.n > 1:
		return nil
	}
	if u.count {
		fmt.Fprintf(u.out, "%7d ", u.n)
	}
	return u.print(u.line)
}

// finish ends the last group, and prints the empty line that --group=append and both
// have after it.
func (u *uniqWriter) finish() {
	u.finishGroup()
	if u.group && u.groups > 0 && (u.method == "append" || u.method == "both") {
		u.print(nil)
	}
}
