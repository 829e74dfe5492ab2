package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

const validateLong = `Validate checks the file that describes the workspaces, as a whole, and opens
nothing: the keys and values, the variables that it uses, the kinds of provider
and their options. Every problem is printed with its place. With -w the file must
have those workspaces, too. What the file needs your trust for is listed; see
'workspace trust --help'.

The exit code is 0 if all is well, and 2 if something is wrong.`

// newValidate returns the command that checks a file.
func newValidate(s *settings) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check the file that describes the workspaces",
		Long:  validateLong,
		Example: `  workspace validate
  workspace validate team.yaml
  workspace validate --json`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := s.fileToValidate(args)
			if err != nil {
				return err
			}
			return s.validate(cmd, file, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

// fileToValidate returns the file that the command line means.
func (s *settings) fileToValidate(args []string) (config.Location, error) {
	if err := s.refuse("for validate, which checks a file and opens nothing", "dir", "name", "max-file-size-mb", "read-only", "relaxed"); err != nil {
		return config.Location{}, err
	}
	if err := s.checkWorkspaces(); err != nil {
		return config.Location{}, err
	}
	if _, url := s.given(); url != "" {
		return config.Location{}, errors.New("-w with a URL has no meaning for validate, which checks a file: name a workspace of it")
	}
	return s.fileArgument(args)
}

// fileArgument returns the file that the only argument names, or else the one
// that the flags choose.
func (s *settings) fileArgument(args []string) (config.Location, error) {
	switch {
	case len(args) == 1 && s.flags.Changed("config"):
		return config.Location{}, errors.New("the file is given twice, by --config and as an argument: leave one of them out")
	case len(args) == 1 && args[0] == "":
		return config.Location{}, errors.New("the argument is empty: name a file")
	case len(args) == 1:
		return config.Location{Path: args[0]}, nil
	}
	found, err := s.find()
	if err == nil && found.Path == "" {
		err = fmt.Errorf("there is no %s here or in a folder above: name a file, or make one by \"workspace init\"", config.FileName)
	}
	return found, err
}

func (s *settings) validate(cmd *cobra.Command, file config.Location, asJSON bool) error {
	c, err := s.load(file)
	if err == nil {
		c, err = c.Only(s.workspaces...)
	}
	if err == nil {
		err = checkToolNames(c)
	}
	untrusted, err := missingGrants(cmd.Context(), c, err)
	if asJSON {
		return printVerdict(cmd, newVerdict(file.Path, c, untrusted, err))
	}
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, all is well\n", file.Path, countWorkspaces(len(c.Names()))); err != nil {
		return fault(err)
	}
	return fault(printGrants(cmd.OutOrStdout(), untrusted, fmt.Sprintf("not trusted yet; read the file, then run \"workspace trust %s\":", file.Path)))
}

// missingGrants returns what the file c needs the user's trust for, unless it
// has that or err says that there is no such file.
func missingGrants(ctx context.Context, c *config.Config, err error) ([]config.Grant, error) {
	if err != nil || c.Trusted() {
		return nil, err
	}
	return c.Grants(ctx, workspacekit.NewRegistry())
}

// checkToolNames returns the error of a naming that makes too long a name of a
// tool of the workspace with the longest name.
func checkToolNames(c *config.Config) error {
	opts := &tools.Options{Naming: c.Tools.Naming, Disable: c.Tools.Disable, Shared: tools.Sharing(c.Tools.Shared)}
	most := c.Tools.MaxTools
	if most == 0 {
		most = tools.DefaultMaxTools
	}
	// How many tools there will be is known once the workspaces are open: that
	// they can write is the most that they can do.
	if each := len(operations()) - len(c.Tools.Disable); c.Tools.Shared != config.SharedFalse && len(c.Names())*each > most {
		opts.Shared = tools.SharedTrue // and the name of the workspace is in no tool's
	}
	return c.CheckTools(func(name string) error {
		_, err := tools.NewAll([]*workspace.Workspace{workspace.New(name, memory.New(nil), nil)}, opts)
		return err
	})
}

func countWorkspaces(n int) string {
	if n == 1 {
		return "1 workspace"
	}
	return fmt.Sprintf("%d workspaces", n)
}

// verdict is what is to be said of a file, for programs.
type verdict struct {
	File       string           `json:"file"`
	Workspaces []described      `json:"workspaces"`
	Problems   []config.Problem `json:"problems"`
	Untrusted  []config.Grant   `json:"untrusted"`
}

// described is a workspace that a file describes.
type described struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// newVerdict returns what is to be said of the file path, which is c unless there
// is an error.
func newVerdict(path string, c *config.Config, untrusted []config.Grant, err error) verdict {
	v := verdict{File: path, Workspaces: []described{}, Problems: []config.Problem{}, Untrusted: append([]config.Grant{}, untrusted...)}
	var broken *config.Error
	switch {
	case errors.As(err, &broken):
		v.Problems = broken.Problems
	case err != nil:
		v.Problems = append(v.Problems, config.Problem{Text: err.Error()})
	default:
		for _, name := range c.Names() {
			v.Workspaces = append(v.Workspaces, described{Name: name, Kind: kindIn(c, name)})
		}
	}
	return v
}

func printVerdict(cmd *cobra.Command, v verdict) error {
	if err := printJSON(cmd.OutOrStdout(), v); err != nil {
		return err
	}
	if len(v.Problems) > 0 {
		return &reportedError{exitUsage}
	}
	return nil
}
