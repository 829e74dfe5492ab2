package shell_test

import (
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
)

func TestOneLine(t *testing.T) {
	noise := strings.Repeat("E1121 memcache.go:265] \"Unhandled Error\"\n", 20)
	for said, want := range map[string]string{
		"":                               "",
		" no  such\n\tcontainer \n":      "no such container",
		noise + "refused the\nrequest\n": strings.TrimSpace(strings.Repeat("E1121 memcache.go:265] \"Unhandled Error\" ", 9)) + " refused the request",
		strings.Repeat("é", 300):         strings.Repeat("é", 200),
		strings.Repeat("é", 300) + "x":   "?" + strings.Repeat("é", 199) + "x",
	} {
		if got := shell.OneLine(said); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", said, got, want)
		}
	}
}
