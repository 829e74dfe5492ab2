package complete_test

import (
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/cli/complete"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestComplete completes lines in which "|" is the cursor. What comes before a line feed is
// the begun script.
func TestComplete(t *testing.T) {
	fsys := memory.New(nil)
	for _, name := range []string{
		"report", "old report", "old rest", "zz;rm -r src", "qq\necho", "ee\x1b", "ff\u202e", "café", "cafè", "it's", `a"b$c`, "-rf",
		"my dir/in side", "k=v", "~x", "tab", "table cloth", "lone", "; rm old",
	} {
		if _, err := fsys.WriteFile(t.Context(), name, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	c := complete.New(shell.New([]*workspace.Workspace{workspace.New("main", fsys, nil)}, nil))
	for _, tt := range []struct{ text, want string }{ // want is empty if nothing is completed
		{"rm rep|", "rm report |"},
		{"rm o|", `rm old\ re|`},
		{`rm old\ rep|`, `rm old\ report |`},
		{`rm "old rep|`, `rm "old report" |`},
		{`rm 'old rep|`, `rm 'old report' |`},
		{`rm "old r|`, `rm "old re|`},
		{`rm old' rep|`, `rm 'old report' |`},
		{`rm 'old 'rep|`, `rm old\ report |`},
		{`rm "old rep|"`, ""},
		{"rm rep| x", "rm report | x"},
		{"rm old rep|", "rm old report |"},
		{"cat zz|", `cat zz\;rm\ -r\ src |`},
		{"cat qq|", ""},
		{"cat ee|", ""},
		{"cat ff|", ""},
		{"cat c|", "cat caf|"},
		{"cat caf|", ""},
		{"cat it|", `cat it\'s |`},
		{"cat 'it|", `cat 'it'\''s' |`},
		{`cat "it|`, `cat "it's" |`},
		{`cat a|`, `cat a\"b\$c |`},
		{`cat "a|`, `cat "a\"b\$c" |`},
		{"rm -|", "rm ./-rf |"},
		{"rm ./-|", "rm ./-rf |"},
		{"ls m|", `ls my\ dir/|`},
		{`ls my\ dir/|`, `ls my\ dir/in\ side |`},
		{`ls "m|`, `ls "my dir/|`},
		{"cat k|", `cat k\=v |`},
		{`cat \~|`, `cat \~x |`},
		{"cat ~|", ""},
		{"cat $x/re|", ""},
		{"cat *re|", ""},
		{"cat {re|", ""},
		{"cat `cat re|", ""},
		{`cat "$(cat re|`, ""},
		{"cat $'re|", ""},
		{"cat $(cat rep|", "cat $(cat report |"},
		{"cat # rep|", ""},
		{`cat rep\|`, ""},
		{"cat ta|", "cat tab|"},
		{"cat <rep|", "cat <report |"},
		{"gre|", "grep |"},
		{"ls; gre|", "ls; grep |"},
		{"ls | gre|", "ls | grep |"},
		{"ls |& gre|", "ls |& grep |"},
		{"(gre|", "(grep |"},
		{"echo >|rep|", "echo >|report |"},
		{"echo >| rep|", "echo >| report |"},
		{"echo >&rep|", "echo >&report |"},
		{"echo <&gre|", ""},
		{"a=(rep|", "a=(report |"},
		{"a+=(x rep|", "a+=(x report |"},
		{"((rep|", ""},
		{"((1 + rep|", ""},
		{"echo $((rep|", ""},
		{"echo $((1 << 2))rep|", ""},
		{"echo $(((1 + 2) * 3)); gre|", "echo $(((1 + 2) * 3)); grep |"},
		{"echo ';' rep|", "echo ';' report |"},
		{"./lo|", "./lone |"},
		{"for f in x # it's\ndo cat rep|", "do cat report |"},
		{"echo \"\n\" rep|", "\" report |"},
		{"echo \"\n\"; rm|", ""},
		{"echo '\nrep|", ""},
		{"cat <<E\nrep|", ""},
		{"cat \\\nrep|", ""},
		{"cat re\\\np|", ""},
	} {
		begun, line := "", tt.text
		if at := strings.LastIndex(line, "\n"); at >= 0 {
			begun, line = line[:at+1], line[at+1:]
		}
		pos := strings.LastIndex(line, "|")
		got, at, ok := c.Complete(t.Context(), begun, line[:pos]+line[pos+1:], pos)
		if ok {
			got = got[:at] + "|" + got[at:]
		}
		if got != tt.want {
			t.Errorf("Complete(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestCompleteLong completes after a long word, whose bytes are not copied again for each of them.
func TestCompleteLong(t *testing.T) {
	c := complete.New(shell.New([]*workspace.Workspace{workspace.New("main", memory.New(nil), nil)}, nil))
	for _, quote := range []string{"", "'", `"`} {
		line := "cat " + quote + strings.Repeat("x", 10_000)
		allocs := testing.AllocsPerRun(1, func() { c.Complete(t.Context(), "", line, len(line)) })
		if allocs > 1000 {
			t.Errorf("after %q, a word of 10,000 bytes needs %.0f allocations, want at most 1,000", quote, allocs)
		}
	}
}
