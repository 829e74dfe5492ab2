package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// largestLimit is the most that --max-file-size-mb takes: a tebibyte.
const largestLimit = 1 << 20

// settings are what the flags of all commands say.
type settings struct {
	flags *pflag.FlagSet

	dir       string
	provider  string
	name      string
	maxFileMB int64
	relaxed   bool
	readOnly  bool
	color     string
	noColor   bool
}

// newSettings adds the flags of all commands to root.
func newSettings(root *cobra.Command) *settings {
	s := &settings{flags: root.PersistentFlags()}
	s.flags.SortFlags = false
	s.flags.StringVarP(&s.dir, "dir", "C", ".", "the folder to work in, or a bucket as s3://bucket/prefix")
	s.flags.StringVar(&s.provider, "provider", kindLocal, "where the files are: "+kindLocal+", "+kindStore+" (a -C of s3://... means it), or "+kindMemory+" for an empty one that is lost at the end")
	s.flags.StringVar(&s.name, "name", "main", "the name of the workspace, a part of the names of its tools")
	s.flags.Int64Var(&s.maxFileMB, "max-file-size-mb", 10, "the largest file to read, write or search, in MiB")
	s.flags.BoolVar(&s.readOnly, "read-only", false, "let nothing be changed")
	s.flags.BoolVar(&s.relaxed, "relaxed", false, "let symlinks lead out of the folder")
	s.flags.StringVar(&s.color, "color", "auto", "use colors: auto, always or never")
	s.flags.BoolVar(&s.noColor, "no-color", false, "use no colors, as --color never and the variable NO_COLOR do")
	suggestValues(root, "provider", kinds())
	suggestValues(root, "color", colors())
	return s
}

// suggestValues completes the values of a flag.
func suggestValues(cmd *cobra.Command, flag string, values []string) {
	// It fails for a flag that does not exist, which the tests would find.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func colors() []string { return []string{"auto", "always", "never"} }

// check refuses what the flags' types do not.
func (s *settings) check() error {
	switch {
	case !slices.Contains(colors(), s.color):
		return fmt.Errorf("--color %q is unknown%s", s.color, didYouMean(s.color, colors()))
	case !slices.Contains(kinds(), s.provider):
		return fmt.Errorf("--provider %q is unknown%s", s.provider, didYouMean(s.provider, kinds()))
	case s.maxFileMB < 1 || s.maxFileMB > largestLimit:
		return fmt.Errorf("--max-file-size-mb must be from 1 to %d, and is %d", largestLimit, s.maxFileMB)
	}
	return nil
}
