package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// invocation is one run of a tool.
type invocation struct {
	settings   *settings
	op         string
	positional []string // see operation
	parameters []*parameter
	file       contentFile
	asJSON     bool
	all        bool

	chosen *choice
	ws     *workspace.Workspace
}

// newOperation returns the command that runs the tool o, with flags for its
// parameters if they are wanted.
func newOperation(s *settings, o operation, wanted bool) *cobra.Command {
	i := &invocation{settings: s, op: o.op, positional: o.positional}
	cmd := &cobra.Command{
		Use:               o.op + " [" + strings.ToUpper(strings.Join(o.positional, "] [")) + "]",
		Short:             o.short,
		Example:           o.example,
		Args:              i.checkPositional,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              i.run,
	}
	if kebab(o.op) != o.op {
		cmd.Aliases = []string{kebab(o.op)}
	}
	cmd.Flags().BoolVar(&i.asJSON, "json", false, "print the result, or the error, as one JSON object")
	if wanted {
		i.describe(cmd)
	}
	return cmd
}

// describe adds to cmd what the tool's definition says. The help states the
// limits of the workspace that the flags choose, which are known only then.
func (i *invocation) describe(cmd *cobra.Command) {
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if tool, err := definition(i.op, i.settings.chosenMaxFileSize()); err == nil {
			cmd.Long = tool.Description()
		}
		help(cmd, args)
	})
	tool, err := definition(i.op, 0)
	if err != nil {
		cmd.RunE = func(*cobra.Command, []string) error { return &runError{err} }
		return
	}
	cmd.Long = tool.Description()
	i.parameters = addParameters(cmd, tool.InputSchema())
	if pages(i.op) {
		cmd.Flags().BoolVar(&i.all, "all", false, "go on to the end, instead of one page")
	}
	if i.op == ops.WriteFile {
		i.file.addFlag(cmd)
	}
}

// chosenMaxFileSize returns the limit of the workspace that the flags choose, in
// bytes, and the default one if they choose none or several.
func (s *settings) chosenMaxFileSize() int64 {
	chosen, err := s.choose()
	switch {
	case err != nil:
		return 0
	case chosen.file == nil:
		return chosen.place.settings.MaxFileSizeMb << 20
	case len(chosen.file.Names()) > 1:
		return 0
	}
	return chosen.file.Settings(chosen.file.Names()[0]).MaxFileSizeMb << 20
}

// definition returns the tool for op with all its parameters, for a workspace
// with a limit.
func definition(op string, maxFileSize int64) (*tools.Tool, error) {
	var others []string
	for _, o := range operations() {
		if o.op != op {
			others = append(others, o.op)
		}
	}
	set, err := tools.New(workspace.New("main", memory.New(nil), &workspace.Options{MaxFileSize: maxFileSize}), &tools.Options{Naming: "{op}", Disable: others})
	if err != nil {
		return nil, err
	}
	tool, ok := set.Lookup(op)
	if !ok {
		return nil, fmt.Errorf("no tool for %s", op)
	}
	return tool, nil
}

// checkPositional refuses more arguments than there are parameters for, and any
// beside a JSON object.
func (i *invocation) checkPositional(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1 && slices.ContainsFunc(args, i.isObject):
		return errors.New("there are arguments beside the JSON object of all parameters: give one or the other")
	case len(args) > len(i.positional):
		return fmt.Errorf("unexpected argument %q: %s takes %s; other parameters are flags",
			args[len(i.positional)], i.op, strings.Join(i.positional, " and "))
	}
	return nil
}

func (i *invocation) run(cmd *cobra.Command, positional []string) error {
	args, err := i.arguments(cmd, positional)
	if err != nil {
		return err
	}
	if args, err = i.takeWorkspace(args); err != nil {
		return err
	}
	set, release, err := i.open(cmd.Context())
	if err != nil {
		return err
	}
	defer release()
	out := bufio.NewWriter(cmd.OutOrStdout())
	err = i.print(cmd, set, args, out)
	if flushed := out.Flush(); flushed != nil {
		err = errors.Join(err, &runError{flushed})
	}
	return err
}

// takeWorkspace lets the JSON object of all parameters name a workspace of the
// file, as the calls of tools do that workspaces share. It returns the other
// parameters.
func (i *invocation) takeWorkspace(args json.RawMessage) (json.RawMessage, error) {
	var given map[string]json.RawMessage
	var name string
	if json.Unmarshal(args, &given) != nil || json.Unmarshal(given["workspace"], &name) != nil {
		return args, nil
	}
	if flag, _ := i.settings.given(); flag != "" || config.IsURL(name) {
		return args, nil // the tool refuses it
	}
	if chosen := i.settings.workspaces; len(chosen) > 0 && !slices.Equal(chosen, []string{name}) {
		return nil, fmt.Errorf("-w %q and the parameter workspace %q name different workspaces: give one of them", chosen[0], name)
	}
	i.settings.workspaces = []string{name}
	delete(given, "workspace")
	return json.Marshal(given)
}

// open opens the workspace that the flags choose and returns its tools, and what
// closes it.
func (i *invocation) open(ctx context.Context) (set *tools.Set, release func(), err error) {
	target, chosen, err := i.settings.oneTarget("call")
	if err != nil {
		return nil, nil, err
	}
	i.chosen = chosen
	if i.ws, _, release, err = target.open(ctx); err != nil {
		return nil, nil, err
	}
	settings := chosen.tools()
	if set, err = tools.New(i.ws, &tools.Options{Naming: "{op}", Disable: settings.Disable, Timeout: settings.Timeout}); err != nil {
		release()
		return nil, nil, err
	}
	return set, release, nil
}

// print runs the tool and prints what it returns.
func (i *invocation) print(cmd *cobra.Command, set *tools.Set, args json.RawMessage, out *bufio.Writer) error {
	view := i.view(cmd, args, out)
	err := i.follow(cmd.Context(), set, args, view.show)
	if err == nil {
		return view.end()
	}
	var failed *toolError
	if i.asJSON && errors.As(err, &failed) {
		failed.reported = true
		return errors.Join(printJSON(out, failed.tool), err)
	}
	return err
}

// call runs the tool once.
func (i *invocation) call(ctx context.Context, set *tools.Set, args json.RawMessage) (json.RawMessage, error) {
	tool, ok := set.Lookup(i.op)
	if !ok {
		return nil, i.unavailable()
	}
	result, err := tool.Call(ctx, args)
	switch {
	case err != nil:
		return nil, &runError{err}
	case result.IsError:
		return nil, &toolError{tool: result.Error}
	}
	return result.Structured, nil
}

// unavailable is the error of a tool that the workspace does not have.
func (i *invocation) unavailable() error {
	err := &tools.Error{Code: tools.CodePolicy, Message: i.op + ": the workspace is read-only"}
	switch {
	case slices.Contains(i.chosen.tools().Disable, i.op):
		err.Message = i.op + ": this tool is disabled"
		err.Hint = fmt.Sprintf("It is listed in tools.disable of %s.", i.chosen.path)
	case i.settings.readOnly:
		err.Hint = "Leave --read-only out."
	case i.chosen.file != nil && !i.ws.Capabilities().Write:
		err.Hint = fmt.Sprintf("It has the setting readOnly in %s.", i.chosen.path)
	default:
		err.Code, err.Message = tools.CodeUnsupported, i.op+": the provider cannot do this"
	}
	return &toolError{tool: err}
}
