package main

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// largestLimit is the most that --max-file-size-mb takes: a tebibyte.
const largestLimit = 1 << 20

// maxConfig is the most bytes of a file that are read from standard input. It is
// more than a file may have.
const maxConfig = 4 << 20

// settings are what the flags of all commands say.
type settings struct {
	flags  *pflag.FlagSet
	locate locator
	stdin  func() ([]byte, error) // reads a file from standard input, once

	config     string
	workspaces []string
	dir        string
	name       string
	maxFileMB  int64
	relaxed    bool
	readOnly   bool
	color      string
	noColor    bool
}

// newSettings adds the flags of all commands to root.
func newSettings(root *cobra.Command, locate locator) *settings {
	s := &settings{flags: root.PersistentFlags(), locate: locate}
	s.stdin = sync.OnceValues(func() ([]byte, error) {
		return readInput(root.Context(), io.LimitReader(root.InOrStdin(), maxConfig))
	})
	s.flags.SortFlags = false
	s.flags.StringVar(&s.config, "config", "", "the `file` that describes the workspaces, instead of a workspace.yaml here or in a folder above; - is standard input")
	s.flags.StringArrayVarP(&s.workspaces, "workspace", "w", nil, "the `name` of a workspace of the file, or a URL such as s3://bucket/prefix; repeat it for several")
	s.flags.StringVarP(&s.dir, "dir", "C", ".", "the `folder` to work in, or a URL, without a file")
	s.flags.StringVar(&s.name, "name", "main", "the name of a workspace that no file describes, a part of the names of its tools")
	s.flags.Int64Var(&s.maxFileMB, "max-file-size-mb", 10, "the largest file to read, write or search, in MiB, where no file says it")
	s.flags.BoolVar(&s.readOnly, "read-only", false, "let nothing be changed, whatever the file says")
	s.flags.BoolVar(&s.relaxed, "relaxed", false, "let symlinks lead out of the folder, where no file says it")
	s.flags.StringVar(&s.color, "color", "auto", "use colors: auto, always or never")
	s.flags.BoolVar(&s.noColor, "no-color", false, "use no colors, as --color never and the variable NO_COLOR do")
	// These fail for a flag that does not exist, which the tests would find.
	_ = root.MarkPersistentFlagFilename("config", "yaml", "yml")
	_ = root.RegisterFlagCompletionFunc("workspace", s.completeWorkspace)
	suggestValues(root, "color", colors())
	return s
}

// suggestValues completes the values of a flag.
func suggestValues(cmd *cobra.Command, flag string, values []string) {
	// It fails for a flag that does not exist, which the tests would find.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeWorkspace completes the names of the workspaces of the file.
func (s *settings) completeWorkspace(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	found, err := s.find()
	if err != nil || found.Path == "" || s.flags.Changed("dir") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := s.load(found)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.Names(), cobra.ShellCompDirectiveNoFileComp
}

func colors() []string { return []string{"auto", "always", "never"} }

// check refuses what the flags' types do not.
func (s *settings) check() error {
	switch {
	case !slices.Contains(colors(), s.color):
		return fmt.Errorf("--color %q is unknown%s", s.color, didYouMean(s.color, colors()))
	case s.maxFileMB < 1 || s.maxFileMB > largestLimit:
		return fmt.Errorf("--max-file-size-mb must be from 1 to %d, and is %d", largestLimit, s.maxFileMB)
	}
	return nil
}

// refuse returns the error of the first of some flags that was given to a
// command that has no use for it.
func (s *settings) refuse(why string, flags ...string) error {
	for _, flag := range flags {
		if s.flags.Changed(flag) {
			return fmt.Errorf("%s has no meaning %s", spelled(s.flags.Lookup(flag)), why)
		}
	}
	return nil
}

// spelled returns a flag as it is mostly written.
func spelled(flag *pflag.Flag) string {
	if flag.Shorthand != "" {
		return "-" + flag.Shorthand
	}
	return "--" + flag.Name
}
