package document_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
)

// TestRedact tests that a text names variables instead of their values, and can still be read.
func TestRedact(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		used       []document.Variable
		want       string
	}{
		{"a-value", "the folder /srv/pa55", []document.Variable{{"P", "pa55"}}, "the folder /srv/${P}"},
		{"escaped", "s3://b/a%20b", []document.Variable{{"P", "a b"}}, "s3://b/${P}"},
		{"unescaped", "/srv/a b", []document.Variable{{"P", "/srv/a%20b/"}}, "${P}"},
		{"longest-first", "/srv/data/x", []document.Variable{{"D", "data"}, {"ALL", "/srv/data"}}, "${ALL}/x"},
		{"one-character", "the folder /srv/e", []document.Variable{{"P", "e"}}, "the folder /srv/${P}"},
		{"one-character-when-cleaned", "the folder /srv/e", []document.Variable{{"P", "e/"}}, "the folder /srv/${P}"},
		{"three-characters", "the folder /srv/a-the-the-b", []document.Variable{{"P", "old"}, {"Q", "the"}}, "${Q} folder /srv/a-${Q}-${Q}-b"},
		{"one-sign", `https://a "b-c" -`, []document.Variable{{"P", "-"}, {"Q", `"`}, {"R", ":"}}, `https://a "b-c" ${P}`},
		{"digits", "77", []document.Variable{{"P", "7"}}, "${P}${P}"},
		{"value-in-a-name", "/srv/secret/KEY", []document.Variable{{"MY_KEY", "secret"}, {"OTHER", "KEY"}}, "/srv/${MY_KEY}/${OTHER}"},
		{"used-twice", "ab/ab", []document.Variable{{"P", "ab"}, {"P", "ab"}}, "${P}/${P}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := document.Redact(tt.text, tt.used); got != tt.want {
				t.Errorf("Redact(%q, %q) = %q, want %q", tt.text, tt.used, got, tt.want)
			}
		})
	}
}
