package cli

import (
	"regexp"
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
	visit(newRoot(allOps(), config.Locate), func(cmd *cobra.Command) {
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

func visit(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, child := range cmd.Commands() {
		visit(child, do)
	}
}
