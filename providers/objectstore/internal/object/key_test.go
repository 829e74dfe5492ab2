package object_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
)

// TestEscape compares names and keys.
func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, key string }{
		{"", ""}, {"a/b.txt", "a/b.txt"}, {"é\u2028\U0010ffff", "é\u2028\U0010ffff"},
		{"\x01", "%01"}, {"\n", "%0A"}, {"\x1f\x7f", "%1F\x7f"}, {"%7F", "%7F"}, {"a\tb/c\rd", "a%09b/c%0Dd"},
		{"%", "%"}, {"100%", "100%"}, {"%41", "%41"}, {"%20", "%20"}, {"%0a", "%0a"}, {"%00", "%00"}, {"%80", "%80"},
		{"%01", "%2501"}, {"%2501", "%252501"}, {"%252501", "%25252501"}, {"%25", "%25"}, {"%2541", "%2541"},
		{"a\ufffe/\uffff", "a\ufffd\U0010ffffE/\ufffd\U0010ffffF"}, {"\ufffd", "\ufffd"}, {"\ufffdE", "\ufffdE"},
		{"\ufffd\U0010ffff", "\ufffd\U0010ffff0"}, {"\ufffd\U0010ffffE", "\ufffd\U0010ffff0E"}, {"%\uffff01\x01", "%\ufffd\U0010ffffF01%01"},
		{"%%01", "%%2501"}, {"%25%01", "%25%2501"}, {"%\x01", "%%01"}, {"%25\x01", "%25%01"}, {"%0\x01", "%0%01"},
	} {
		if got := object.Escape(c.name); got != c.key {
			t.Errorf("Escape(%q) = %q, want %q", c.name, got, c.key)
		}
		if got, ok := object.Unescape(c.key); got != c.name || !ok {
			t.Errorf("Unescape(%q) = %q, %v, want %q", c.key, got, ok, c.name)
		}
	}
}

// TestUnescapeRefuses gives keys that are those of no name.
func TestUnescapeRefuses(t *testing.T) {
	for _, key := range []string{
		"\x01", "a\nb", "%01\x02", "%\x02", "\x02%", "\ufffe", "a\uffff", "\ufffd\U0010ffff", "\ufffd\U0010ffffG", "\ufffd\U0010ffffE\uffff",
	} {
		if got, ok := object.Unescape(key); ok {
			t.Errorf("Unescape(%q) = %q, want none", key, got)
		}
	}
}

// tricky is text over what escapes are made of.
func tricky() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("%%%25201AF0E\x01\x0a\x7fa/é\ufffd\U0010ffff\ufffe\uffff\U00010000")), 0, 16, -1)
}

// TestEscapeProperty checks that no two names share a key, and no two keys a
// name.
func TestEscapeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := tricky().Draw(t, "name")
		checkRoundTrip(t, name)
	})
}

// TestEscapeOrder checks that keys sort as names do that have no character
// with an escape of "%".
func TestEscapeOrder(t *testing.T) {
	texts := rapid.StringOfN(rapid.SampledFrom([]rune("/0EFG\x7f\ud7ff\ue000\ufffd\U0010ffff\ufffe\uffff\U00010000")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		if names, keys := strings.Compare(a, b), strings.Compare(object.Escape(a), object.Escape(b)); names != keys {
			t.Errorf("Compare(%q, %q) = %d, and of their keys %d", a, b, names, keys)
		}
	})
}

// checkRoundTrip checks text both as a name and as a key.
func checkRoundTrip(t interface{ Errorf(string, ...any) }, text string) {
	key := object.Escape(text)
	if name, ok := object.Unescape(key); !ok || name != text {
		t.Errorf("Unescape(%q) = %q, %v, want %q, which was escaped", key, name, ok, text)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r > 0 && r < ' ' || r == '\ufffe' || r == '\uffff' }) {
		t.Errorf("Escape(%q) = %q, which has a character that XML cannot spell", text, key)
	}
	name, ok := object.Unescape(text)
	if key := object.Escape(name); ok && key != text {
		t.Errorf("Unescape(%q) = %q, which is also that of %q", text, name, key)
	}
}

func FuzzEscape(f *testing.F) {
	for _, text := range []string{"", "a/b", "%", "%01", "%2501", "%25%01", "%25\x01", "\x01", "%\xff", "%252", "%25250", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkRoundTrip(t, text) })
}
