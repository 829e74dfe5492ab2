package tools

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
		if got := closest(word, candidates); got != want {
			t.Errorf("closest(%q) = %q, want %q", word, got, want)
		}
	}
}
