package initfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/wording"
)

// errNoAnswer is the error of a person who does not answer.
var errNoAnswer = term.Failf("no answer: nothing was written")

// questions asks a person, on standard error.
type questions struct {
	ctx   context.Context
	out   io.Writer
	lines <-chan string // closed at the end of the input
}

// newQuestions begins to read standard input. It is read in the background, as a person may
// press Ctrl-C instead of giving any. The goroutine ends with the input or the context.
func newQuestions(cmd *cobra.Command) *questions {
	lines := make(chan string)
	ctx := cmd.Context()
	go func() {
		defer close(lines)
		// An error is the end of the input.
		for scanner := bufio.NewScanner(cmd.InOrStdin()); scanner.Scan(); {
			select {
			case lines <- strings.TrimSpace(scanner.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	return &questions{ctx: ctx, out: cmd.ErrOrStderr(), lines: lines}
}

// print shows text. If it cannot be shown, no answer comes.
func (q *questions) print(format string, args ...any) {
	_, _ = fmt.Fprintf(q.out, format, args...)
}

// ask asks until accept takes the answer, and returns what that makes of it. An empty line is
// the answer standard, if there is one. It returns errNoAnswer at the end of the input, and
// the error of the context if that ends first.
func (q *questions) ask(question, standard string, accept func(string) (string, error)) (string, error) {
	if standard != "" {
		question += " [" + standard + "]"
	}
	for {
		q.print("%s ", question)
		select {
		case <-q.ctx.Done():
			return "", q.ctx.Err()
		case line, more := <-q.lines:
			if !more {
				q.print("\n")
				return "", errNoAnswer
			}
			if line == "" {
				line = standard
			}
			answer, err := accept(line)
			if err == nil {
				return answer, nil
			}
			term.Say(q.out, wording.Sentence(err.Error()))
		}
	}
}

// ask asks for the kind and what it needs.
func (i *initiation) ask(q *questions) error {
	q.print("Where are the files?\n")
	for n, k := range kinds {
		q.print("  %d  %-12s %s\n", n+1, k.name, k.summary)
	}
	answer, err := q.ask("Choose one.", "1", acceptKind)
	if err != nil {
		return err
	}
	i.kind = answer
	chosen := kindNamed(answer)
	for _, o := range chosen.options {
		if _, err := q.ask(o.question, o.standard, func(answer string) (string, error) { return i.accept(chosen, o, answer) }); err != nil {
			return err
		}
	}
	return nil
}

// accept takes an answer with which the file can be written. The whole file is made with it,
// and the error says what is wrong with that.
func (i *initiation) accept(k kind, o option, answer string) (string, error) {
	if answer == "" && o.required {
		return "", errors.New("this is required")
	}
	*i.options[o.flag] = answer
	_, err := i.text(k)
	return answer, err
}

// acceptKind takes a number or a name.
func acceptKind(answer string) (string, error) {
	names := kindNames()
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(names) {
		return names[n-1], nil
	}
	if slices.Contains(names, answer) {
		return answer, nil
	}
	return "", fmt.Errorf("%q is none of them: give a number from 1 to %d, or a name", answer, len(names))
}
