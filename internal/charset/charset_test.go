package charset_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/charset"
)

// units returns text as UTF-16 in the byte order of little-endian machines.
func units(text string) string {
	data, err := charset.UTF16LE.Encode([]byte(text))
	if err != nil {
		panic(err)
	}
	return string(data)
}

// swapped returns data with the two bytes of each unit swapped.
func swapped(data string) string {
	out := []byte(data)
	for i := 0; i+1 < len(out); i += 2 {
		out[i], out[i+1] = out[i+1], out[i]
	}
	return string(out)
}

func TestDecode(t *testing.T) {
	const binary = ""
	const ascii = "one, two and three\n"
	for _, c := range []struct {
		name, data string
		want       charset.Encoding
		text       string
	}{
		{"empty", "", charset.UTF8, ""},
		{"ASCII", ascii, charset.UTF8, ascii},
		{"UTF-8", "größer 日本語\n", charset.UTF8, "größer 日本語\n"},
		{"UTF-8 with a mark", charset.Mark + ascii, charset.UTF8, charset.Mark + ascii},
		{"UTF-8 with a late NUL", strings.Repeat("x", 8<<10) + "\x00", charset.UTF8, strings.Repeat("x", 8<<10) + "\x00"},
		{"NUL", "a\x00b\n", binary, ""},
		{"UTF-16LE", "\xff\xfe" + units("größer 日本語 😀\r\n"), charset.UTF16LE, charset.Mark + "größer 日本語 😀\r\n"},
		{"UTF-16BE", "\xfe\xff" + swapped(units("größer 日本語 😀\r\n")), charset.UTF16BE, charset.Mark + "größer 日本語 😀\r\n"},
		{"a mark alone", "\xff\xfe", charset.UTF16LE, charset.Mark},
		{"UTF-16 in Chinese", "\xff\xfe" + units("日本語"), charset.UTF16LE, charset.Mark + "日本語"},
		{"UTF-16 with an odd byte", "\xff\xfe" + units(ascii) + "a", binary, ""},
		{"UTF-16 with half a pair", "\xff\xfe" + units(ascii) + "\x3d\xd8", binary, ""},
		{"UTF-16 with NUL", "\xff\xfe" + units("a\x00b"), binary, ""},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00b\x00\x00\x00", binary, ""},
		{"UTF-16LE without a mark", units("größer\r\n"), charset.UTF16LE, "größer\r\n"},
		{"UTF-16BE without a mark", swapped(units("größer\r\n")), charset.UTF16BE, "größer\r\n"},
		{"UTF-16 without a mark, short", units("abc"), binary, ""},
		{"UTF-16 without a mark, mostly Chinese", units("日本語日本語日本語\n"), binary, ""},
		{"UTF-16 without a mark, with a control character", units("one\x01two"), binary, ""},
		{"UTF-32 without a mark", "a\x00\x00\x00b\x00\x00\x00c\x00\x00\x00", binary, ""},
		{"small numbers", "\x01\x00\x02\x00\x03\x00\x04\x00", binary, ""},
		{"Latin-1", "gr\xf6\xdfer\n", charset.Latin1, "größer\n"},
		{"Windows-1252", "\x93gr\xf6\xdfer\x94 5 \x80\n", charset.Windows1252, "“größer” 5 €\n"},
		{"undefined in Windows-1252", "gr\xf6\xdfer \x81\n", binary, ""},
		{"Latin-1 with a control character", "gr\xf6\xdfer\x01\n", binary, ""},
		{"Latin-1 with a late NUL", "gr\xf6\xdfer" + strings.Repeat(" ", 9<<10) + "\x00", binary, ""},
		{"Cyrillic in Windows-1251", "\xef\xf0\xe8\xe2\xe5\xf2 world, \xef\xf0\xe8\xe2\xe5\xf2\n", binary, ""},
		{"Chinese in GBK", "// \xc4\xe3\xba\xc3\xca\xc0\xbd\xe7 and more\n", binary, ""},
		{"more accents than letters", "\xe4\xf6\xfca\n", binary, ""},
		{"UTF-8 with a damaged character", "gr\xc3\xb6\xc3\x9fer \xe4\n", binary, ""},
		{"UTF-8 cut in a character", "one two three \xc3", charset.Latin1, "one two three Ã"},
	} {
		text, enc, ok := charset.Decode([]byte(c.data))
		if enc != c.want || ok != (c.want != binary) || string(text) != c.text {
			t.Errorf("%s: Decode(%q) = %q, %q, %v, want %q, %q", c.name, c.data, text, enc, ok, c.text, c.want)
		}
	}
}

// TestComesBack tests with random text that each encoding returns the bytes it was
// decoded from, and is recognised.
func TestComesBack(t *testing.T) {
	alphabets := map[charset.Encoding]string{
		charset.UTF8:        "abc \n\r\tß日😀" + charset.Mark,
		charset.UTF16LE:     "abc \n\r\tß日😀ऊ" + charset.Mark,
		charset.UTF16BE:     "abc \n\r\tß日😀ऊ" + charset.Mark,
		charset.Latin1:      "ßéþ\u00a0",
		charset.Windows1252: "“€”Ÿé",
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for enc, letters := range alphabets {
		for range 500 {
			var b strings.Builder
			if enc == charset.UTF16LE || enc == charset.UTF16BE {
				b.WriteString(charset.Mark)
			}
			all := []rune(letters)
			for range random.IntN(50) {
				b.WriteRune(all[random.IntN(len(all))])
				if enc == charset.Latin1 || enc == charset.Windows1252 {
					fmt.Fprintf(&b, "plain %d\r\n", random.IntN(10))
				}
			}
			text := b.String()
			data, err := enc.Encode([]byte(text))
			if err != nil {
				t.Fatalf("seed %d: %s.Encode(%q): %v", seed, enc, text, err)
			}
			got, gotEnc, ok := charset.Decode(data)
			if !ok || string(got) != text || gotEnc != enc && enc[:3] == "UTF" {
				t.Fatalf("seed %d: Decode of %q in %s = %q, %q, %v", seed, text, enc, got, gotEnc, ok)
			}
		}
	}
}

func TestEncodeMissingCharacter(t *testing.T) {
	for _, enc := range []charset.Encoding{charset.Latin1, charset.Windows1252} {
		_, err := enc.Encode([]byte("größer\nals 日本\n"))
		var missing *charset.CharacterError
		if !errors.As(err, &missing) || *missing != (charset.CharacterError{Encoding: enc, Character: '日', Line: 2}) {
			t.Errorf("%s.Encode() = %v, want a CharacterError for 日 on line 2", enc, err)
		}
	}
	if _, err := charset.Latin1.Encode([]byte("5 €")); err == nil {
		t.Error("Latin-1 has a euro sign")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("gr\xf6\xdfer\n"))
	f.Add([]byte("\xff\xfe" + units("a\r\n😀")))
	f.Add([]byte(swapped(units("without a mark"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, enc, ok := charset.Decode(data)
		if !ok {
			return
		}
		again, err := enc.Encode(text)
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("Decode(%q) = %q, %s, which is encoded as %q, %v", data, text, enc, again, err)
		}
	})
}
