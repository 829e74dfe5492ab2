package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/kind"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// newConfig returns the command about the format of the file.
func newConfig(flags *target.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Print the JSON Schema of workspace.yaml",
		Long:    `Config prints the JSON Schema of workspace.yaml.`,
		Example: `  workspace config schema`,
		Args:    term.Subcommands("command"),
		RunE:    needsCommand("config needs a command, such as \"workspace config schema\""),
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of workspace.yaml",
		Long: `Schema prints the JSON Schema of workspace.yaml. Editors with the YAML language
server use it to complete and check a file that begins with the line

  # yaml-language-server: $schema=workspace.schema.json`,
		Example: `  workspace config schema > workspace.schema.json`,
		Args:    term.Positional,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printSchema(cmd, flags) },
	})
	return cmd
}

// printSchema prints the schema of the file, with the kinds of provider that this program has.
func printSchema(cmd *cobra.Command, flags *target.Flags) error {
	if err := flags.Refuse("for the schema, which is the same for every file"); err != nil {
		return err
	}
	schema, err := flags.Registry().Schema()
	if err != nil {
		return term.Fail(err)
	}
	_, err = cmd.OutOrStdout().Write(schema)
	return term.Fail(err)
}

const validateLong = `Validate checks workspace.yaml, and opens no workspace. It prints the problems with
their lines and columns, some only when others are solved, and exits with 2 if there is
one. For a file that nobody named, it also lists what it needs your trust for; see
'workspace trust --help'. With --json, it prints

  {"file", "workspaces": [{"name", "kind"}],
   "problems": [{"line", "column", "text", "source", "mark"}],
   "untrusted": [{"workspace", "text"}]}`

// newValidate returns the command that checks a file.
func newValidate(flags *target.Flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check workspace.yaml",
		Long:  validateLong,
		Example: `  workspace validate
  workspace validate team.yaml
  workspace validate --json`,
		Args: term.Positional,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.Refuse("for validate, which checks a file and opens nothing", "config", "workspace"); err != nil {
				return err
			}
			if err := flags.CheckWorkspaces(); err != nil {
				return err
			}
			if flags.WithoutFile() {
				return errors.New("-w with a URL has no meaning for validate, which checks a file: name a workspace of it")
			}
			file, err := flags.Argument(args)
			if err != nil && asJSON {
				return printVerdict(cmd, newVerdict(flags, "", nil, nil, err))
			}
			if err != nil {
				return err
			}
			return validate(cmd, flags, file, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

// validate checks a file and prints the result: what is wrong, or what it has, and what it
// needs trust for. Everything that is wrong with the file is in one [config.Error], which is
// printed by term.Report or, as JSON, here. The path may be [target.Stdin].
func validate(cmd *cobra.Command, flags *target.Flags, file config.Location, asJSON bool) error {
	c, err := flags.Load(file)
	if err == nil {
		c, err = c.Only(flags.Workspaces...)
	}
	if err == nil {
		err = together(c.Check(flags.Registry()), checkToolNames(c))
	}
	var untrusted []config.Grant
	if err == nil && !c.Trusted() {
		untrusted, err = c.Grants(cmd.Context(), flags.Registry())
	}
	if asJSON {
		return printVerdict(cmd, newVerdict(flags, file.Path, c, untrusted, err))
	}
	if err != nil {
		return err
	}
	head := fmt.Sprintf("%s: %s, ", target.Name(file.Path), wording.Count(len(c.Names()), "workspace", "workspaces"))
	if len(untrusted) == 0 {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), head+"all is well")
		return term.Fail(err)
	}
	return term.Fail(printGrants(cmd.OutOrStdout(), untrusted, head+fmt.Sprintf("not trusted yet; read the file, then run \"workspace trust %s\":", wording.ShellWord(file.Path))))
}

// together returns one error of the file with the problems of both, in the order of their
// places.
func together(a, b error) error {
	var first, second *config.Error
	if !errors.As(a, &first) || !errors.As(b, &second) {
		return cmp.Or(a, b)
	}
	problems := slices.Concat(first.Problems, second.Problems)
	slices.SortStableFunc(problems, func(a, b config.Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return &config.Error{File: first.File, Problems: problems}
}

// checkToolNames returns the errors of operations to disable that the dialect does not have,
// or of a naming that gives a workspace a tool whose name is too long, or two workspaces that
// share nothing a tool of one name.
func checkToolNames(c *config.Config) error {
	opts := &tools.Options{Dialect: tools.Dialect(c.Tools.Dialect), Naming: c.Tools.Naming, Disable: c.Tools.Disable, Shared: tools.Sharing(c.Tools.Shared)}
	// The number of tools is known when the workspaces are open. There are the
	// most if the store of each of them can do everything.
	total := 0
	for _, name := range c.Names() {
		set, err := tools.New(standIn(c, name), &tools.Options{Dialect: opts.Dialect, Naming: "{op}", Disable: opts.Disable})
		if err != nil {
			break // which is said below
		}
		total += len(set.Tools())
	}
	if c.Tools.Shared != config.SharedFalse && len(c.Names()) > 1 && total > cmp.Or(c.Tools.MaxTools, tools.DefaultMaxTools) {
		opts.Shared = tools.SharedTrue // whose names have no {name}
	}
	return c.CheckTools(func(longest string) error {
		all := []*workspace.Workspace{standIn(c, longest)}
		var unknown []error
		for i, op := range c.Tools.Disable {
			if _, err := tools.New(all[0], &tools.Options{Dialect: opts.Dialect, Naming: "{op}", Disable: []string{op}}); err != nil {
				unknown = append(unknown, kind.KeyError(fmt.Sprintf("disable[%d]", i), err))
			}
		}
		if unknown != nil {
			return errors.Join(unknown...)
		}
		_, err := tools.NewAll(all, opts)
		other := slices.IndexFunc(c.Names(), func(name string) bool { return name != longest })
		if err != nil || other < 0 || c.Tools.Shared != config.SharedFalse {
			return err
		}
		// Names without {name} collide in any two.
		_, err = tools.NewAll(append(all, standIn(c, c.Names()[other])), opts)
		if err != nil && opts.Naming == "" {
			return kind.KeyError("shared", err)
		}
		return err
	})
}

// standIn returns the workspace of c as its settings have it, with files in memory for the
// provider, as nothing may be opened here.
func standIn(c *config.Config, name string) *workspace.Workspace {
	var fsys workspace.FileSystem = memory.New(nil)
	if c.Settings(name).ReadOnly {
		fsys = policy.ReadOnly(fsys)
	}
	return workspace.New(name, fsys, nil)
}

// verdict is what validate says about a file to programs.
type verdict struct {
	File       string           `json:"file"`       // as it was named or found; "-" is standard input, and "" none that can be used
	Workspaces []described      `json:"workspaces"` // in order; none if there are problems
	Problems   []config.Problem `json:"problems"`
	Untrusted  []config.Grant   `json:"untrusted"` // none if the file is trusted, or needs no trust
}

// described is a workspace that a file describes.
type described struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// newVerdict returns the verdict on the file path. The file is c, unless there is an error.
// The lists are never nil, so that JSON has [] and not null.
func newVerdict(flags *target.Flags, path string, c *config.Config, untrusted []config.Grant, err error) verdict {
	v := verdict{File: path, Workspaces: []described{}, Problems: []config.Problem{}, Untrusted: append([]config.Grant{}, untrusted...)}
	var broken *config.Error
	switch {
	case errors.As(err, &broken):
		v.Problems = broken.Problems
	case err != nil:
		v.Problems = append(v.Problems, config.Problem{Text: err.Error()})
	default:
		for _, name := range c.Names() {
			v.Workspaces = append(v.Workspaces, described{Name: name, Kind: flags.KindOf(c, name)})
		}
	}
	return v
}

// printVerdict prints v as JSON. Its problems have been reported then.
func printVerdict(cmd *cobra.Command, v verdict) error {
	if err := term.PrintJSON(cmd.OutOrStdout(), v); err != nil {
		return err
	}
	if len(v.Problems) > 0 {
		return term.Reported(term.ExitUsage)
	}
	return nil
}
