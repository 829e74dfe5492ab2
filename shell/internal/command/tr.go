package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// tr translates, squeezes or deletes bytes, as POSIX and GNU's tr do, in the C locale:
// a character of UTF-8 is several bytes. The operation depends on the options and on
// the number of sets:
//
//	tr a-c x-z         translate; a shorter second set is filled with its last byte
//	tr -d 0-9          delete
//	tr -s ' '          squeeze runs of one byte into one
//	tr -s a-z A-Z      translate, then squeeze what is in the second set
//	tr -ds 0-9 x       delete the first set, then squeeze the second
//	tr -c a-z '\n'     translate all bytes but those of the first set
//
// Sets have ranges, escapes, [:classes:], [=c=] and [x*n], which repeats x; [x*]
// repeats it up to the length of the first set. [:lower:] [:upper:] change case, as
// both have their letters in the same order, and must stand at the same place in both
// sets.
func tr(ctx context.Context, p *Process) int {
	flags := newFlags(p, "[OPTION]... STRING1 [STRING2]")
	flags.first = true
	complement := flags.BoolP("complement", "c", false, "use the complement of STRING1")
	flags.BoolVarP(complement, "C", "C", false, "the same as -c")
	remove := flags.BoolP("delete", "d", false, "delete bytes in STRING1, do not translate")
	squeeze := flags.BoolP("squeeze-repeats", "s", false, "replace each run of a repeated byte that is in the last STRING by one")
	truncate := flags.BoolP("truncate-set1", "t", false, "first truncate STRING1 to the length of STRING2")
	sets, status, ok := flags.parse()
	if !ok {
		return status
	}
	translate := !*remove && (len(sets) == 2 || !*squeeze)
	switch {
	case len(sets) == 0:
		return flags.wrong("missing operand")
	case len(sets) == 1 && (translate || *remove && *squeeze):
		return flags.wrong("missing operand after %s", quoteName(sets[0]))
	case len(sets) > 2:
		return flags.wrong("extra operand %s", quoteName(sets[2]))
	case len(sets) == 2 && *remove && !*squeeze:
		return flags.wrong("extra operand %s", quoteName(sets[1]))
	}
	t, err := newTranslation(sets, *complement, translate, *truncate)
	if err != nil {
		fmt.Fprintf(p.Stderr, "tr: %v\n", err)
		return 1
	}
	t.delete = *remove
	t.squeeze = *squeeze
	if err := t.copy(ctx, p.Stdout, p.Stdin); err != nil {
		return p.failWrite(err)
	}
	return 0
}

// translation is what happens to each byte.
//
// to is applied unless delete is set. squeezed is about bytes that are written, so after a
// translation it has those of the second set.
type translation struct {
	to              [256]byte
	deleted         [256]bool // if delete
	squeezed        [256]bool // if squeeze
	delete, squeeze bool
}

// newTranslation makes a table for all 256 bytes, so that copy looks at each byte once.
// The errors are GNU's.
func newTranslation(sets []string, complement, translate, truncate bool) (*translation, error) {
	t := &translation{}
	for i := range t.to {
		t.to[i] = byte(i)
	}
	first, err := parseByteSet(sets[0])
	if err != nil {
		return nil, err
	}
	if first.repeated {
		return nil, errors.New("the [c*] repeat construct may not appear in string1")
	}
	from := first.bytes(0)
	if complement {
		var in [256]bool
		for _, c := range from {
			in[c] = true
		}
		from = from[:0:0]
		for c := range 256 {
			if !in[c] {
				from = append(from, byte(c))
			}
		}
	}
	for _, c := range from {
		t.deleted[c] = true
	}
	if len(sets) == 1 {
		t.squeezed = t.deleted
		return t, nil
	}
	second, err := parseByteSet(sets[1])
	if err != nil {
		return nil, err
	}
	to := second.bytes(len(from))
	for _, c := range to {
		t.squeezed[c] = true
	}
	if !translate {
		if second.repeated {
			return nil, errors.New("the [c*] construct may appear in string2 only when translating")
		}
		return t, nil
	}
	if err := first.checkClasses(second, complement); err != nil {
		return nil, err
	}
	switch {
	case truncate:
		from = from[:min(len(from), len(to))]
	case len(to) == 0:
		return nil, errors.New("when not truncating set1, string2 must be non-empty")
	case len(to) < len(from) && second.endsWithClass():
		return nil, errors.New("when translating with string1 longer than string2,\nthe latter string must not end with a character class")
	}
	if complement && first.hasClass() && slices.ContainsFunc(to, func(c byte) bool { return c != to[0] }) {
		return nil, errors.New("when translating with complemented character classes,\nstring2 must map all characters in the domain to one")
	}
	for i, c := range from {
		t.to[c] = to[min(i, len(to)-1)]
	}
	return t, nil
}

// copy translates a stream. Squeezing looks at what is written, after translating or
// deleting: tr -ds 0-9 x makes one x of x1x.
func (t *translation) copy(ctx context.Context, w io.Writer, r io.Reader) error {
	out := bufio.NewWriter(w)
	buf := make([]byte, 32<<10)
	last := -1 // the byte that was written last, if it is one that is squeezed
	for {
		n, err := r.Read(buf)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, c := range buf[:n] {
			if t.delete {
				if t.deleted[c] {
					continue
				}
			} else {
				c = t.to[c]
			}
			if t.squeeze && t.squeezed[c] {
				if int(c) == last {
					continue
				}
				last = int(c)
			} else {
				last = -1
			}
			if err := out.WriteByte(c); err != nil {
				return err
			}
		}
		if err != nil {
			return errors.Join(out.Flush(), notEOF(err))
		}
	}
}

// byteSet is a parsed STRING of tr.
// The order of the items counts: the nth byte of the first set becomes the nth of the second.
type byteSet struct {
	items []byteItem
	// repeated is whether there is [c*], which is as long as needed.
	repeated bool
}

// byteItem is an element of a set of tr, as it was written: a byte, a range, a class or
// a repetition. What it stands for may depend on the other set.
type byteItem struct {
	members []byte
	class   string // the name of a character class
	equal   bool   // an equivalence class
	fill    bool   // [c*]
}

// endsWithClass reports whether the set ends with a class, which has no last byte to
// fill a longer first set with.
func (s *byteSet) endsWithClass() bool {
	return len(s.items) > 0 && s.items[len(s.items)-1].class != ""
}

// hasClass reports whether a class is in the set. Its complement has no order that a
// second set could follow.
func (s *byteSet) hasClass() bool {
	return slices.ContainsFunc(s.items, func(item byteItem) bool { return item.class != "" })
}

// bytes is the set with [c*] as long as the set needs to have length bytes.
// Without [c*] the length changes nothing, and a byte may be in it more than once; of two
// translations of a byte, the later one counts.
func (s *byteSet) bytes(length int) []byte {
	var fixed int
	for _, item := range s.items {
		if !item.fill {
			fixed += len(item.members)
		}
	}
	var b []byte
	for _, item := range s.items {
		if item.fill {
			b = append(b, slices.Repeat(item.members, max(0, length-fixed))...)
		} else {
			b = append(b, item.members...)
		}
	}
	return b
}

// checkClasses checks the classes of a second set: only upper and lower may
// occur, each opposite to one in the first set.
//
// The receiver is the first set.
func (s *byteSet) checkClasses(second *byteSet, complement bool) error {
	at := func(set *byteSet) map[int]string {
		classes := map[int]string{}
		n := 0
		for _, item := range set.items {
			if item.class == "upper" || item.class == "lower" {
				classes[n] = item.class
			}
			n += len(item.members)
		}
		return classes
	}
	firsts := at(s)
	for _, item := range second.items {
		if item.equal {
			return errors.New("[=c=] expressions may not appear in string2 when translating")
		}
		if item.class != "" && item.class != "upper" && item.class != "lower" {
			return errors.New("when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'")
		}
	}
	for n := range at(second) {
		if firsts[n] == "" || complement {
			return errors.New("misaligned [:upper:] and/or [:lower:] construct")
		}
	}
	return nil
}

// parseByteSet reads a STRING of tr: bytes, escapes, ranges, classes, [=c=] and
// [c*n].
func parseByteSet(s string) (*byteSet, error) {
	set := &byteSet{}
	// An escaped byte is only itself: \- makes no range, and \[ no class.
	bytes, escaped := unescapeBytes(s)
	// plain reports whether the byte at i is c, and not escaped.
	plain := func(i int, c byte) bool { return i < len(bytes) && bytes[i] == c && !escaped[i] }
	for i := 0; i < len(bytes); {
		if plain(i, '[') {
			item, n, err := parseBracket(bytes[i:], escaped[i:])
			if err != nil {
				return nil, err
			}
			if n > 0 {
				if item.fill {
					if set.repeated {
						return nil, errors.New("only one [c*] repeat construct may appear in string2")
					}
					set.repeated = true
				}
				set.items = append(set.items, item)
				i += n
				continue
			}
		}
		if i+2 < len(bytes) && plain(i+1, '-') {
			from, to := bytes[i], bytes[i+2]
			if from > to {
				return nil, fmt.Errorf("range-endpoints of '%s-%s' are in reverse collating sequence order", printableByte(from), printableByte(to))
			}
			var members []byte
			for c := int(from); c <= int(to); c++ {
				members = append(members, byte(c))
			}
			set.items = append(set.items, byteItem{members: members})
			i += 3
			continue
		}
		set.items = append(set.items, byteItem{members: []byte{bytes[i]}})
		i++
	}
	return set, nil
}

// parseBracket reads [:class:], [=c=] or [c*n]. It returns 0 for anything else.
func parseBracket(s []byte, escaped []bool) (item byteItem, n int, err error) {
	if len(s) < 3 {
		return item, 0, nil
	}
	if kind := s[1]; (kind == ':' || kind == '=') && !escaped[1] {
		for end := 3; end < len(s); end++ {
			if s[end-1] != kind || escaped[end-1] || s[end] != ']' || escaped[end] || kind == '=' && end == 3 {
				continue
			}
			name := string(s[2 : end-1])
			if kind == '=' {
				if len(name) != 1 {
					break
				}
				return byteItem{members: []byte(name), equal: true}, end + 1, nil
			}
			if name == "" {
				return item, 0, errors.New("missing character class name '[::]'")
			}
			if match := byteClasses[name]; match != nil {
				item.class = name
				for c := range 256 {
					if match(byte(c)) {
						item.members = append(item.members, byte(c))
					}
				}
				return item, end + 1, nil
			}
			if len(s) > 3 && s[2] == '*' {
				break // [:*:] may be a repeat
			}
			return item, 0, fmt.Errorf("invalid character class %s", quoteName(name))
		}
		if kind == '=' && len(s) > 4 {
			for end := 4; end < len(s); end++ {
				if s[end-1] == '=' && s[end] == ']' && !escaped[end] && !escaped[end-1] && !(len(s) > 2 && s[2] == '*') {
					return item, 0, fmt.Errorf("%s: equivalence class operand must be a single character", s[2:end-1])
				}
			}
		}
	}
	if s[2] != '*' || escaped[2] {
		return item, 0, nil
	}
	end := slices.Index(s[3:], ']')
	if end < 0 {
		return item, 0, nil
	}
	count := string(s[3 : 3+end])
	if count != "" && strings.Trim(count, "0123456789") != "" {
		if count[0] < '0' || count[0] > '9' {
			return item, 0, fmt.Errorf("invalid repeat count %s in [c*n] construct", quoteName(count))
		}
		return item, 0, fmt.Errorf("invalid repeat count %s in [c*n] construct", quoteName(count))
	}
	base := 10
	if strings.HasPrefix(count, "0") {
		base = 8
	}
	repeat, err := strconv.ParseUint("0"+count, base, 31)
	if err != nil {
		return item, 0, fmt.Errorf("invalid repeat count %s in [c*n] construct", quoteName(count))
	}
	item.members = []byte{s[1]}
	item.fill = repeat == 0
	if !item.fill {
		// More than one for each byte there can be makes no difference.
		item.members = slices.Repeat(item.members, int(min(repeat, 512)))
	}
	return item, 3 + end + 1, nil
}

// unescapeBytes resolves the backslashes in s, and says which bytes had one. A
// backslash before another character stands for that character.
func unescapeBytes(s string) (bytes []byte, escaped []bool) {
	for i := 0; i < len(s); {
		c, n := s[i], 1
		if c == '\\' && i+1 < len(s) {
			n = 2
			c = s[i+1]
			if at := strings.IndexByte(`abfnrtv`, c); at >= 0 {
				c = "\a\b\f\n\r\t\v"[at]
			} else if c >= '0' && c <= '7' {
				end := digitsEnd(s, i+1, 3, 8)
				v, err := strconv.ParseUint(s[i+1:end], 8, 8)
				if err != nil { // \400 and above: two digits only
					end--
					v, _ = strconv.ParseUint(s[i+1:end], 8, 8)
				}
				c, n = byte(v), end-i
			}
		}
		bytes = append(bytes, c)
		escaped = append(escaped, n > 1)
		i += n
	}
	return bytes, escaped
}

// printableByte returns a byte for a message, as an octal escape if it cannot be
// printed.
func printableByte(c byte) string {
	if c >= ' ' && c < 0x7f {
		return string(rune(c))
	}
	return fmt.Sprintf("\\%03o", c)
}

// byteClasses are the character classes of the C locale.
var byteClasses = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isAlpha(c) || isDigit(c) },
	"alpha":  isAlpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7f },
	"lower":  func(c byte) bool { return c >= 'a' && c <= 'z' },
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7f },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7f && !isAlpha(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' },
	"upper":  func(c byte) bool { return c >= 'A' && c <= 'Z' },
	"xdigit": func(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' },
}

// isAlpha reports whether c is an ASCII letter: c|0x20 turns upper case into lower
// case.
func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isDigit reports whether c is an ASCII digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
