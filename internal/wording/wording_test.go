package wording

import "testing"

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "a", 0}, {"a", "", 1}, {"", "abc", 3}, {"abc", "abd", 1}, {"abc", "bc", 1},
		{"abc", "acb", 1}, {"mian.go", "main.go", 1}, {"kitten", "sitting", 3}, {"abcdefghij", "zzzzzzzzzz", 9},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b, 9); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := distance(tt.b, tt.a, 9); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestClosest(t *testing.T) {
	candidates := []string{"read_file", "rm", "README.md", "src"}
	for word, want := range map[string]string{
		"reed_file": "read_file", "RM": "rm", "rn": "rm", "x": "", "scr": "src", "readme.md": "README.md", "something": "", "": "",
	} {
		if got := Closest(word, candidates); got != want {
			t.Errorf("Closest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	candidates := []string{"maxResults", "path"}
	for word, want := range map[string]string{"max-result": `did you mean "maxResults"?`, "pattern": ""} {
		if got := DidYouMean(word, candidates); got != want {
			t.Errorf("DidYouMean(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Count(0, "file", "files"), "0 files"}, {Count(1, "file", "files"), "1 file"}, {Count(1234567, "file", "files"), "1,234,567 files"},
		{Thousands(999), "999"}, {Thousands(1000), "1,000"},
		{Bytes(0), "0 bytes"}, {Bytes(1), "1 byte"}, {Bytes(1023), "1,023 bytes"}, {Bytes(1024), "1 KiB"}, {Bytes(1536), "1.5 KiB"},
		{Bytes(10 << 20), "10 MiB"}, {Bytes(1<<20 - 1), "1023.9 KiB"}, {Bytes(1 << 62), "4 EiB"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"conf/a.yaml": "conf/a.yaml", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'", "~a": "'~a'",
	} {
		if got := ShellWord(text); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", text, got, want)
		}
	}
}
