package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit/internal/cli/call"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// allOps are command line arguments that name every operation, so that the tree
// has all flags.
func allOps() []string {
	var ops []string
	for _, o := range call.Operations {
		ops = append(ops, o.Op)
	}
	return ops
}

func TestEveryCommandIsDescribed(t *testing.T) {
	visit(newRoot(allOps(), nil, config.Locate), func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" || cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return
		}
		if cmd.Short == "" || cmd.Long == "" && cmd.Parent().Name() != "call" || cmd.Example == "" {
			t.Errorf("%s has Short %q, Long %q and Example %q, want all of them", cmd.CommandPath(), cmd.Short, cmd.Long, cmd.Example)
		}
		kebabName := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || !kebabName.MatchString(f.Name) {
				t.Errorf("flag --%s of %s has usage %q, want one and a name in kebab case", f.Name, cmd.CommandPath(), f.Usage)
			}
		})
	})
}

// TestCommandIsAlone tests that a command line that runs a command makes no others, and
// that one that does not makes them all.
func TestCommandIsAlone(t *testing.T) {
	whole := newTree(nil, nil, config.Locate, true)
	visit(whole, func(cmd *cobra.Command) {
		if cmd.HasSubCommands() || cmd.Name() == "help" || cmd.Parent().Name() == "completion" { // these need all commands
			return
		}
		args := strings.Fields(cmd.CommandPath())[1:]
		for _, args := range [][]string{args, append([]string{"-w", "x"}, args...), append(args, "--json", "x")} {
			root := newRoot(args, nil, config.Locate)
			found, _, err := root.Find(args)
			if err != nil || found.CommandPath() != cmd.CommandPath() || len(root.Commands()) != 1 || args[0] == "call" && len(found.Parent().Commands()) != 1 {
				t.Errorf("%q: found %v, %v among %d commands", args, found.CommandPath(), err, len(root.Commands()))
			}
		}
	})
	for _, line := range []string{
		"", "help", "help call", "help call grep", "call", "call --help", "call grip grep", "calll grep", "grep call", "--json call grep",
		"-w call grep", "__complete call grep", "completion bash", "policy", "policy x", "mcp call help -x", "--version call",
	} {
		args := strings.Fields(line)
		root := newRoot(args, nil, config.Locate)
		found, _, err := root.Find(args)
		wanted, _, wantErr := whole.Find(args)
		if found.CommandPath() != wanted.CommandPath() || (err == nil) != (wantErr == nil) ||
			found.CommandPath() != "workspace mcp" && len(root.Commands()) != len(whole.Commands()) {
			t.Errorf("%q: found %s, %v among %d commands, want %s, %v among all %d",
				line, found.CommandPath(), err, len(root.Commands()), wanted.CommandPath(), wantErr, len(whole.Commands()))
		}
	}
}

func visit(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, child := range cmd.Commands() {
		visit(child, do)
	}
}
