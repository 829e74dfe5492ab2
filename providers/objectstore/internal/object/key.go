package object

import (
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/ops"
)

const upperHex = "0123456789ABCDEF"

// Escape returns name with its control characters as "%XX", with "%25" for a
// "%" that would otherwise read as the beginning of an escape, and with what
// escapeNoncharacters replaces. [Unescape] is its inverse, and no two names have
// the same escape.
//
//	name     key      why
//	a%20b    a%20b    nothing that Escape writes: foreign keys keep their names
//	a\tb     a%09b    stores refuse a tab, or cannot list it
//	a%09b    a%2509b  would read as the key of the name above
//	a%2509b  a%252509b
func Escape(name string) string {
	first := strings.IndexFunc(name, mayEscape)
	if first < 0 {
		return name
	}
	name = escapeNoncharacters.Replace(name)
	var b strings.Builder
	b.WriteString(name[:first])
	for i := first; i < len(name); i++ {
		switch c := name[i]; {
		case isControl(c):
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		case c == '%' && EscapeLen(name[i:]) > 0:
			b.WriteString("%25")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func mayEscape(r rune) bool {
	return r == '%' || r < 0x80 && isControl(byte(r)) || r >= utf8.RuneError && r <= 0xffff
}

// noncharacter begins the escapes of U+FFFE and U+FFFF, which XML cannot spell.
// They sort as the characters do, after all else that begins with U+FFFD and
// before U+10000, which "%XX" would not. A name that has the same text gets a
// "0" after it.
const noncharacter = "\ufffd\U0010ffff"

var (
	escapeNoncharacters   = strings.NewReplacer(noncharacter, noncharacter+"0", "\ufffe", noncharacter+"E", "\uffff", noncharacter+"F")
	unescapeNoncharacters = strings.NewReplacer(noncharacter+"0", noncharacter, noncharacter+"E", "\ufffe", noncharacter+"F", "\uffff")
)

// Unescape returns what [Escape] made text from, and false if it made it from
// nothing.
func Unescape(text string) (name string, ok bool) {
	first := strings.IndexFunc(text, mayEscape)
	if first < 0 {
		return text, true
	}
	plain := unescapeNoncharacters.Replace(text)
	if escapeNoncharacters.Replace(plain) != text {
		return "", false
	}
	text = plain
	var b strings.Builder
	b.WriteString(text[:first])
	for i := first; i < len(text); i++ {
		switch n := EscapeLen(text[i:]); {
		case isControl(text[i]):
			return "", false
		case n == 3:
			b.WriteByte(unhex(text[i+1])<<4 | unhex(text[i+2]))
			i += 2
		case n > 3:
			b.WriteByte('%')
			i += 2
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), true
}

// EscapeLen returns the length of the escape that text begins with: "%", any
// number of "25", and the digits of a control character; zero if it begins
// with none. The "25"s are what Escape has put before digits that stood in the
// name.
func EscapeLen(text string) int {
	if text[0] != '%' {
		return 0
	}
	i := 1
	for strings.HasPrefix(text[i:], "25") {
		i += 2
	}
	if len(text) < i+2 || !isUpperHex(text[i]) || !isUpperHex(text[i+1]) {
		return 0
	}
	if !isControl(unhex(text[i])<<4 | unhex(text[i+1])) {
		return 0
	}
	return i + 2
}

// isControl leaves out NUL, which no name has, and DEL, which XML can spell and
// stores take: the order of listings rests on an escaped character being less
// than all that are not.
func isControl(c byte) bool { return c > 0 && c < ' ' }

func isUpperHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c - 'A' + 10
}

// Prefix is what the keys of a workspace begin with: empty, or with a slash at
// the end.
type Prefix string

// PrefixOf returns the prefix that stands for the name of a directory, which may
// end in a slash. The empty name is the whole bucket.
func PrefixOf(name string) Prefix {
	if name = strings.TrimSuffix(name, "/"); name == "" {
		return ""
	}
	return Prefix(Escape(name) + "/")
}

// Key returns the key of the file name.
func (p Prefix) Key(name string) string { return string(p) + Escape(name) }

// DirKey returns the key of the marker of the directory name, with which the
// keys of everything in it begin. The one of the root is the prefix itself.
func (p Prefix) DirKey(name string) string {
	if name == "." {
		return string(p)
	}
	return p.Key(name) + "/"
}

// NameOf returns the name that key stands for, a key without the prefix of the
// workspace and without a slash at its end, and false if it stands for no valid
// name.
func NameOf(key string) (name string, ok bool) {
	if key == "." {
		return "", false
	}
	name, ok = Unescape(key)
	return name, ok && ops.ValidName(name)
}

// MaxKey is how many bytes a key has at most in S3.
const MaxKey = 1024

// maxStart is how many bytes of a name a listing begins after. A name may be
// longer than any key, and than a request may be.
const maxStart = 1024

// BeforeEscapes cuts name, which need not be valid, before the first character
// that has an escape or is in no key: names that follow it may have keys that
// do not.
func BeforeEscapes(name string) string {
	for i, r := range name {
		if r == 0 || mayEscape(r) || i+utf8.RuneLen(r) > maxStart {
			return name[:i]
		}
	}
	return name
}
