package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unknown is the error of a word that is no subcommand of parent.
func unknown(kind, word string, parent *cobra.Command) error {
	return fmt.Errorf("unknown %s %q%s", kind, word, question(parent, word, ""))
}

// question asks whether one of the subcommands of parent was meant.
func question(parent *cobra.Command, word, prefix string) string {
	if parent.SuggestionsMinimumDistance == 0 {
		parent.SuggestionsMinimumDistance = 2
	}
	near := parent.SuggestionsFor(word)
	if len(near) == 0 {
		return ""
	}
	for i := range near {
		near[i] = prefix + near[i]
	}
	return ": did you mean " + strings.Join(near, " or ") + "?"
}

// flagError adds to the error of an unknown flag which one may be meant.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) || missing.GetSpecifiedShortnames() != "" {
		return err
	}
	return fmt.Errorf("%w%s", err, question(flagNames(cmd), kebab(missing.GetSpecifiedName()), "--"))
}

// flagNames returns the flags of cmd as commands, so that they are guessed as
// cobra guesses commands.
func flagNames(cmd *cobra.Command) *cobra.Command {
	names := &cobra.Command{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return names
}

// didYouMean asks whether one of some words was meant.
func didYouMean(word string, words []string) string {
	names := &cobra.Command{}
	for _, w := range words {
		names.AddCommand(&cobra.Command{Use: w, Run: func(*cobra.Command, []string) {}})
	}
	if asked := question(names, word, ""); asked != "" {
		return asked
	}
	return ": choose " + strings.Join(words, ", ")
}

// normalize lets flags be spelled as the schemas spell parameters.
func normalize(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(kebab(name))
}

// kebab writes a name in camel case or with underscores as a flag: includeGlob
// is include-glob.
func kebab(name string) string {
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
