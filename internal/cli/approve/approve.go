// Package approve asks the person at the terminal where a rule asks before an
// operation. In goes the request of a [policy.Approver], out comes the answer: what
// the flag --approve names is allowed, else a person is shown the request on standard
// error and answers on standard input. Where one of them is no terminal, the answer
// is a refusal that names the flag.
package approve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/cli/view"
	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// Flag is the rules that --approve names.
type Flag []string

// everything is the value of --approve that allows what any rule asks about.
const everything = "all"

// rulePlace matches the place of a rule, as errors have it: tools.run is the one that asks before
// commands where the file has none.
var rulePlace = lazyregexp.New(`^(?:fs\.)?(rules\[\d+\]|tools\.run)$`)

// Add adds the flag to cmd and its subcommands.
func (f *Flag) Add(cmd *cobra.Command) {
	cmd.PersistentFlags().Var(f, "approve", "approve what this `rule` asks about, such as rules[0], or all; may be repeated")
	term.CompleteWith(cmd, "approve", everything)
}

// Set implements [pflag.Value]. Whether there is such a rule is for [Flag.Check] to say.
func (f *Flag) Set(text string) error {
	place := rulePlace().FindStringSubmatch(text)
	switch {
	case text == everything:
		*f = append(*f, everything)
	case place == nil:
		return fmt.Errorf("give the place of a rule, such as rules[0], or %s", everything)
	default:
		*f = append(*f, place[1])
	}
	return nil
}

// String implements [pflag.Value].
func (f *Flag) String() string { return strings.Join(*f, " ") }

// Type implements [pflag.Value].
func (f *Flag) Type() string { return "rule" }

// Check returns an error if f names a rule that does not ask in any of the workspaces.
func (f Flag) Check(all ...*config.Workspace) error {
	asking := Flag{everything, "tools.run"}
	for _, ws := range all {
		for i, rule := range ws.Settings().Rules {
			if len(rule.Ask) > 0 {
				asking = append(asking, fmt.Sprintf("rules[%d]", i))
			}
		}
	}
	for _, place := range f {
		if !slices.Contains(asking, place) {
			return fmt.Errorf("--approve %s: there is no such rule with ask", wording.ShellWord(place))
		}
	}
	return nil
}

// Context returns a context for the operations of cmd. style says how text on a stream looks.
// Both streams must be terminals: an answer that comes from a pipe may be of the agent itself.
func (f Flag) Context(cmd *cobra.Command, style func(io.Writer) term.Style) context.Context {
	in, out := cmd.InOrStdin(), cmd.ErrOrStderr()
	p := &person{flag: f, out: out, style: style(out), width: width(out), during: "call"}
	if term.IsTerminal(in) && term.IsTerminal(out) {
		lines := bufio.NewReader(in)
		// The read cannot be stopped. If nobody answers in time, the command ends before
		// it returns.
		p.line = func(context.Context) (string, error) { return lines.ReadString('\n') }
	}
	return policy.WithApprover(cmd.Context(), policy.NewApprover(p.answer, nil))
}

// Ask returns the function that asks for an [policy.Approver], for a command that reads the
// lines of the person itself. One question must be asked at a time. line returns the next
// line, and obeys its context. Nil means that there is no terminal.
func (f Flag) Ask(out io.Writer, style func(io.Writer) term.Style, line func(context.Context) (string, error)) func(context.Context, policy.Request) (policy.Answer, error) {
	return (&person{flag: f, out: out, style: style(out), width: width(out), during: "session", line: line}).answer
}

// width returns how many characters a line of a terminal has. It is 80 if that is not known,
// or too small to show anything.
func width(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if columns, _, err := xterm.GetSize(int(file.Fd())); err == nil && columns >= minWidth {
			return columns
		}
	}
	return 80
}

const minWidth = 20

// person is who sits at the terminal. Its questions are asked one at a time.
type person struct {
	flag  Flag
	line  func(context.Context) (string, error) // returns what is typed; nil if there is no terminal
	out   io.Writer
	style term.Style
	width int // columns of the terminal

	during string // what an answer for the session is good for
}

// answer answers one request:
//
//	--approve names all rules that ask   allowed, and nobody is asked
//	no terminal                          refused, with the flags that would allow it
//	y, yes                               allowed
//	s, session                           allowed, as is all else that these rules ask about
//	anything else, an empty line too     refused
//	an error of reading                  that error, which the Approver regards as a refusal
//
// So nothing is allowed by pressing a wrong key, or by input that ends.
func (p *person) answer(ctx context.Context, r policy.Request) (policy.Answer, error) {
	missing := p.missing(r)
	if len(missing) == 0 {
		return policy.Answer{Allow: true}, nil
	}
	if p.line == nil {
		return policy.Answer{Reason: "there is no terminal to ask at; " + strings.Join(missing, " ") + " allows it"}, nil
	}
	if err := p.show(r); err != nil {
		return policy.Answer{}, err
	}
	line, err := p.line(ctx)
	if err != nil {
		fmt.Fprintln(p.out)
		return policy.Answer{}, err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return policy.Answer{Allow: true}, nil
	case "s", "session":
		return policy.Answer{Allow: true, Session: true}, nil
	}
	return policy.Answer{}, nil
}

// missing returns the flags that would allow r beside those that are given.
func (p *person) missing(r policy.Request) (flags []string) {
	if slices.Contains(p.flag, everything) {
		return nil
	}
	for _, rule := range r.Rules {
		if !slices.Contains(p.flag, rule) {
			flags = append(flags, "--approve "+wording.ShellWord(rule))
		}
	}
	return flags
}

// show prints the question. What comes from files and names cannot look like the question: see
// [policy.Request.Text].
func (p *person) show(r policy.Request) error {
	var b strings.Builder
	for line := range strings.SplitSeq(r.Text(), "\n") {
		for _, part := range wrap(line, p.width) {
			b.WriteString(p.style.Paint(view.DiffColor(line), part) + "\n")
		}
	}
	fmt.Fprintf(&b, "Allow this? y for yes, s for all that %s in this %s, or n [n] ", asks(r.Rules), p.during)
	_, err := io.WriteString(p.out, b.String())
	return err
}

// asks says which rules ask.
func asks(rules []string) string {
	if len(rules) == 1 {
		return rules[0] + " asks about"
	}
	return strings.Join(rules, " and ") + " ask about"
}

// continued begins what does not fit on a line of the terminal: otherwise, a long
// line of a file could continue where a question seems to begin.
const continued = "  … "

// wrap cuts a line into parts that fit on a line of the terminal. For a width of 20:
//
//	+one two three four
//	  … five six seven
//
// Characters that are not ASCII may take two columns, and are counted so.
func wrap(line string, width int) (parts []string) {
	start, columns := 0, 0
	prefix := ""
	for i, r := range line {
		size := 1
		switch {
		case r == '\t':
			size = 8
		case r >= utf8.RuneSelf:
			size = 2
		}
		if columns+size > width-1 {
			parts = append(parts, prefix+line[start:i])
			start, columns, prefix = i, utf8.RuneCountInString(continued), continued
		}
		columns += size
	}
	return append(parts, prefix+line[start:])
}
