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
		{"jq -n '[range(1000000000)]|length'", "the program needs too much memory"},
		{"jq -n 'def f: 1+f; f'", "the program needs too much memory"},
	}, nil)
	cases := append(slow, []bound{
		{`jq -n '"x"*2e9'`, "needs too much memory"}, {`jq -n '2e9 as $n | "xy" | . *= $n'`, "needs too much memory"}, {`jq -n '_multiply("x"; 2e9)'`, "needs too much memory"},
		{`jq -n 'def f($n): $n * "abc"; [f(1e9)]'`, "needs too much memory"}, {`jq -n '"\("x" * 2e9)"'`, "needs too much memory"},
		{"jq -n '.[500000000] = 1'", "needs too much memory"}, {"jq -n '.[500000000] |= 1'", "needs too much memory"}, {"jq -n '.a.b[500000000] += 1'", "needs too much memory"},
		{"jq -n 'setpath([500000000]; 1)'", "needs too much memory"}, {"jq -n 'pick(.[500000000])'", "needs too much memory"}, {"jq -n '[fromstream([[500000000],1],[[500000000]])]'", "needs too much memory"},
		{"jq -n '[500000000] as $p | getpath($p) = 1'", "needs too much memory"}, {"jq -n '_ownMultiply(1; 2)'", "function not defined"},
		{"jq -n '[range(300000)]|tojson|length'", "needs too much memory"}, {"jq -n '[range(50000)/7]|tojson|length'", "needs too much memory"}, {"jq -n '[range(3000)|(\"\\(1e17)\"*20|tonumber)]|tojson|length'", "needs too much memory"},
		{`jq -n '["\u0001"*200000]|tojson|length'`, "needs too much memory"}, {`jq -n '["\\"*262000, "\""*262000, "\\"*9000]|tojson|length'`, "needs too much memory"}, {`jq -n '[range(300000)|true]|tojson|length'`, "needs too much memory"},
		{"jq -s length", "too large for the memory of a program, 1 MiB"},
		{"jq -R -s length", "too large for the memory of a program, 1 MiB"},
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
		if strings.Contains(c.line, "-R -s") {
			p.Stdin = strings.NewReader(strings.Repeat("\n", 2<<20)) // line ends count
		}
		started := time.Now()
		status := jq(ctx, p)
		if status == 0 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s returns %d and prints %.300q after %v, want %q", c.line, status, stderr, time.Since(started), c.want)
		}
	}
}

// TestJQPrelude has what operators and functions do that the prelude defines.
func TestJQPrelude(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]string{
		`[(1,2) * (10,20)]`: "[10,20,20,40]", `"ab" * 3`: `"ababab"`, `"ab" * -1`: "null", `{a:1} * {b:{c:2}}`: `{"a":1,"b":{"c":2}}`, `2 * 3 + 4 * 5`: "26",
		`[1,2,3] | .[] *= 2`: "[2,4,6]", `{} | .a.b = 1 | .c[2] = 2`: `{"a":{"b":1},"c":[null,null,2]}`, `[1,[2]] | .[1][0] |= .+1`: "[1,[3]]", `[1,2,3] | (.[] | select(. > 1)) |= empty`: "[1]",
		`[1,2] | .[0] = (5,6)`: "[5,2]\n[6,2]", `{"a":[1,2,3]} | .a[1:] = [9]`: `{"a":[1,9]}`, `setpath(["a",1]; 2) | setpath([]; 3)`: "3", `{"a":1,"b":2} | pick(.a)`: `{"a":1}`,
		`[{"a":[1,{"b":2}]}|tostream] | fromstream(.[])`: `{"a":[1,{"b":2}]}`, `{} | .a += 1 | .b //= 2`: `{"a":1,"b":2}`, `[3] | .[-1] = 4`: "[4]", `try (null | .["a","b"] = 1) catch .`: `{"a":1,"b":1}`,
		`{b:1,a:2} | keys_unsorted`: `["a","b"]`, `["x","y"] | keys_unsorted`: "[0,1]", `{"a":1} | keys_unsorted[] as $k | $k`: `"a"`, `try (1 | keys_unsorted) catch "none"`: `"none"`,
	} {
		p, stdout, stderr := newTestProcess(t, nil, "jq", "-nc", filter)
		if status := jq(t.Context(), p); status != 0 || strings.TrimSpace(stdout.String()) != want {
			t.Errorf("jq %s = %s, %s, status %d; want %s", filter, stdout, stderr, status, want)
		}
	}
}

// TestJQArguments has what the real jq does since 1.7, and messages.
func TestJQArguments(t *testing.T) {
	t.Parallel()
	long := "[" + strings.Repeat("1,", 40_000) + "1]"
	ws := memoryTree(t, map[string]string{"filter": ".[0]", "words": "$ARGS.positional", "list": "[1,2]", "-bad": "[1", "long": long})
	for _, c := range []struct {
		line, stdout, stderr string
		status               int
	}{
		{"jq -nc --args -- '$ARGS.positional' -a", "[\"-a\"]\n", "", 0},
		{"jq --from-file=filter list", "1\n", "", 0},
		{"jq -nc --from-file=words --args a", "[\"a\"]\n", "", 0},
		{"jq -nc --args --from-file=words a -- b", "[\"a\",\"b\"]\n", "", 0},
		{"jq . -- -bad", "", "jq: error (at -bad): unexpected EOF\n", 2},
		{"jq . -", "", "jq: error (at <stdin>): unexpected EOF\n", 2},
		{"jq -s --stream length long", "40002\n", "", 0},
	} {
		stdout, stderr, status := run(t, ws, "[1", c.line)
		if stdout != c.stdout || stderr != c.stderr || status != c.status {
			t.Errorf("%s = %q, %q, status %d; want %q, %q, status %d", c.line, stdout, stderr, status, c.stdout, c.stderr, c.status)
		}
	}
}
