package term

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// Subcommands returns the Args of a command that does nothing without one of its
// subcommands, which are of a kind such as "operation".
func Subcommands(kind string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return UnknownCommand(kind, args[0], cmd)
	}
}

// UnknownCommand is the error of a word that is no subcommand of parent.
func UnknownCommand(kind, word string, parent *cobra.Command) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown %s %q%s", kind, word, question(word, names))
}

// FlagError adds to the error of an unknown flag which one may be meant. Any other error is
// returned as it is.
func FlagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) || missing.GetSpecifiedShortnames() != "" {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return fmt.Errorf("%w%s", err, question("--"+Kebab(missing.GetSpecifiedName()), names))
}

// Choose returns what to say after a word that is none of words.
func Choose(word string, words []string) string {
	if asked := question(word, words); asked != "" {
		return asked
	}
	return ": choose " + strings.Join(words, ", ")
}

// question asks whether one of words was meant.
func question(word string, words []string) string {
	if asked := wording.DidYouMean(word, words); asked != "" {
		return ": " + asked
	}
	return ""
}

// Listed returns names as an error lists them: the first ones, and how many more
// there are.
func Listed(names []string) string {
	const most = 20
	if more := len(names) - most; more > 0 {
		names = append(names[:most:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// CompleteWith completes the values of a flag.
func CompleteWith(cmd *cobra.Command, flag string, values ...string) {
	// It fails for a flag that does not exist, which the tests would find.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// Kebab writes a name in camel case or with underscores as a flag: includeGlob is
// include-glob. A flag that is spelled like this already stays as it is.
func Kebab(name string) string {
	var out strings.Builder
	for i, r := range name {
		switch {
		case r == '_':
			r = '-'
		case r >= 'A' && r <= 'Z':
			if i > 0 {
				out.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}
