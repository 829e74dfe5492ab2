package command

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
)

// TestJQBounds runs filters that need more memory or time than there is.
func TestJQBounds(t *testing.T) {
	type bound struct{ line, want string }
	slow := exhaustive.Some(t, "filters that fill the memory", []bound{
		{"jq -n '[range(1000000000)]|length'", "the filter needs too much memory"},
		{"jq -n 'def f: 1+f; f'", "the filter needs too much memory"},
	}, nil)
	cases := append(slow, []bound{
		{"jq -s length", "too large for the memory of a program, 1 MiB"},
		{"jq -R length", "too large for the memory of a program, 1 MiB"},
		{"jq .", "too large for the memory of a program, 1 MiB"},
	}...)
	for _, c := range cases {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		p, _, stderr := newTestProcess(t, nil, shellWords(t, c.line)...)
		p.Stdin, p.MaxMemory = endless(" "), 1<<20
		if strings.Contains(c.line, "-s") {
			p.Stdin = endless("1 ")
		}
		started := time.Now()
		status := jq(ctx, p)
		if status == 0 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s returns %d and prints %.300q after %v, want %q", c.line, status, stderr, time.Since(started), c.want)
		}
	}
}
