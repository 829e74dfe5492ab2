package term

import (
	"fmt"
	"testing"
)

func TestVisible(t *testing.T) {
	tests := []struct{ text, keep, want string }{
		{"plain é 日本 \U0001F600", "", "plain é 日本 \U0001F600"},
		{"a\x1b[2Jb", "", `a\x1b[2Jb`},
		{"tab\tline\n", "\t", `tab` + "\t" + `line\x0a`},
		{"\u0085\u202e\x7f", "", `\u0085\u202e\x7f`},
		{"bad \xff", "", `bad \xff`},
		{"replaced \ufffd", "", "replaced \ufffd"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%q", test.text), func(t *testing.T) {
			if got := Visible(test.text, test.keep); got != test.want {
				t.Errorf("Visible(%q, %q) = %q, want %q", test.text, test.keep, got, test.want)
			}
		})
	}
}

func TestKebab(t *testing.T) {
	for name, want := range map[string]string{
		"includeGlob": "include-glob", "include-glob": "include-glob", "read_file": "read-file", "path": "path", "URL": "u-r-l",
	} {
		if got := Kebab(name); got != want {
			t.Errorf("Kebab(%q) = %q, want %q", name, got, want)
		}
	}
}
