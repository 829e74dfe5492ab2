package awk_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/shell/internal/awk"
)

// run runs a program without files.
func run(t *testing.T, source, stdin string) (output string, err error) {
	t.Helper()
	program, err := awk.Parse(source)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	_, err = program.Run(t.Context(), &awk.Config{
		Args: []string{"awk"}, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &out, MaxMemory: 1 << 20,
		ErrorText: func(err error) string { return err.Error() },
	})
	return out.String(), err
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, stdin, want string }{
		{"length > 3", "a\nabcd\n", "abcd\n"},
		{"length > 3", "", ""},
		{"{ a[$1] } END { for (k in a) print k }", "z\ny\nx\ny\n", "z\ny\nx\n"},
		{"BEGIN { a[1]; a[2]; for (k in a) { delete a; n++ }; print n }", "", "1\n"},
		{"function f(a) { a[1] = 2 } BEGIN { f(x); print x[1] }", "", "2\n"},
		{"BEGIN { $0.5 = 7; print }", "", "7\n"},
		{"{ $2.9 = 7; print }", "a b", "a 7\n"},
		{"BEGIN { print gensub(\"a\", \"b\", log(-1), \"aa\") }", "", "ba\n"},
		{"function f(i, v, j, w) { delete x; return 0 } BEGIN { x[1]; x[2]; print asort(x, y, \"f\") }", "", "2\n"},
		{"function f(i, v, j, w) { delete x; return 0 } BEGIN { x[1]; x[2]; PROCINFO[\"sorted_in\"] = \"f\"; for (i in x) print i }", "", ""},
	} {
		if got, err := run(t, c.source, c.stdin); got != c.want || err != nil {
			t.Errorf("%s prints %q, %v, want %q", c.source, got, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, want string }{
		{"\n{ print (", "line 2: syntax error"},
		{"BEGIN { $1e300 = 1 }", "too much memory"},
		{"BEGIN { $log(-1) = 1 }", "attempt to access field NaN"},
		{"BEGIN { $(-1) = 1 }", "attempt to access field -1"},
		{"BEGIN { print $log(-1) }", "attempt to access field NaN"},
		{"BEGIN { NF = log(-1) }", "NF set to negative value"},
		{"BEGIN { x = \"a }", "line 1: unterminated string"},
		{"/a(/", "line 1: regular expression"},
		{"BEGIN { f(1) }", "function \"f\" not defined"},
		{"BEGIN { substr(1) }", "wrong number of arguments"},
		{"BEGIN { print 1 / 0 }", "division by zero"},
		{"BEGIN { \"a\" |& getline }", "coprocesses"},
		{"BEGIN { FIELDWIDTHS = \"1 2\" }", "FIELDWIDTHS is not possible here"},
		{"@include \"x\"", "line 1: @ is not possible here"},
		{"{ print ERRNO }", "line 1: ERRNO is not possible here"},
		{"BEGIN { while (1) x = x \"aaaaaaaaaaaaaaaaaaaaaaaaaa\" x }", "too much memory"},
		{"BEGIN { while (1) a[n++] }", "too much memory"},
		{"function f() { f() } BEGIN { f() }", "too deep"},
		{"BEGIN { x = " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000) + "}", "in each other"},
	} {
		_, err := run(t, c.source, "")
		if e, ok := errors.AsType[*awk.Error](err); !ok || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%.100s fails with %v, want %q", c.source, err, c.want)
		}
	}
}

// FuzzParse reads programs of any kind: they are refused with an [awk.Error], or are right.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"BEGIN { print }", "/a/, /b/ { $1 = x++ ^ -2 }", "function f(a, b) { return a[b] ~ /[^]x]/ }", "{ getline x < \"f\"; \"c\" | getline; print > $1 \".x\" }",
		"BEGIN { switch (x) { case 1: default: y } for (;;) if (a in b) delete b[a]; else exit }", "!a[$0]++", "$1 ? $2 : (1, 2) in a", "\\\n\"\\x41\\101\\", "print \xff", "((((", "[[:alpha:]", "/[[.a.]/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		_, err := awk.Parse(source)
		if _, ok := errors.AsType[*awk.Error](err); err != nil && !ok {
			t.Errorf("Parse(%q) = %v, want an *awk.Error", source, err)
		}
	})
}
