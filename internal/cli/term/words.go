package term

import (
	"errors"
	"fmt"
	"strconv"
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

// Positional is the Args of a command whose Use names its arguments, such as "verify FILE" and
// "trust [FILE]".
func Positional(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	usage := strings.Join(append([]string{cmd.CommandPath()}, names...), " ")
	for n, name := range names {
		switch {
		case n >= len(args) && !strings.HasPrefix(name, "["):
			return fmt.Errorf("%s is missing: expected %q", name, usage)
		case n < len(args) && args[n] == "" && strings.Trim(name, "[]") == "FILE":
			return errors.New("the argument is empty: name a file")
		}
	}
	switch {
	case len(args) <= len(names):
		return nil
	case cmd.HasAvailableSubCommands():
		return UnknownCommand("command", args[len(names)], cmd)
	}
	return fmt.Errorf("unexpected argument %q: expected %q", args[len(names)], usage)
}

// NotEmpty returns an error if the flag was given with an empty value, as by a script whose
// variable is not set: without the flag, the command would do something else. wanted says what
// to give.
func NotEmpty(cmd *cobra.Command, flag, wanted string) error {
	if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "" {
		return fmt.Errorf("--%s is empty: %s", flag, wanted)
	}
	return nil
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

// FlagError adds to the error of an unknown flag which one may be meant, and says what a value
// that the flag cannot have must be, and how to give an argument that looks like a flag. Any
// other error is returned as it is.
func FlagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), wrongValue(invalid))
	}
	const noFlag = `an argument that begins with "-" comes last, after "--"`
	if errors.As(err, new(*pflag.InvalidSyntaxError)) {
		return errors.New(noFlag) // without the argument, which may be long
	}
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return err
	}
	if missing.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("%w: %s", err, noFlag)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return fmt.Errorf("%w%s", err, question("--"+Kebab(missing.GetSpecifiedName()), names))
}

// wrongValue says what is wrong with the value of a flag. The errors of the flags of pflag are
// those of the functions that parse them.
func wrongValue(err *pflag.InvalidValueError) string {
	var number *strconv.NumError
	switch {
	case err.GetFlag().Value.Type() == "duration":
		return "it must be a time, such as 10s or 1m30s"
	case !errors.As(err, &number):
		return err.Unwrap().Error()
	case number.Func == "ParseBool":
		return "it must be true or false, or 1 or 0"
	}
	return "it must be a whole number, such as 5"
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
