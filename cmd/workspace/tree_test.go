package main

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// allOps are command line arguments that name every operation, so that the
// tree has all flags.
func allOps() []string {
	var ops []string
	for _, o := range operations() {
		ops = append(ops, o.op)
	}
	return ops
}

func TestOperationsAreThoseOfTheTools(t *testing.T) {
	set, err := tools.New(workspace.New("main", memory.New(nil), nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, tool := range set.Tools() {
		want = append(want, tool.Op)
	}
	if diff := cmp.Diff(want, allOps()); diff != "" {
		t.Errorf("operations() differs from the tools (-want +got):\n%s", diff)
	}
}

// TestEveryParameterIsAFlag finds a parameter that has no flag, or whose flag
// is one that the command has for itself.
func TestEveryParameterIsAFlag(t *testing.T) {
	root := newRoot(allOps(), config.Locate)
	for _, op := range allOps() {
		cmd, _, err := root.Find([]string{"call", op})
		if err != nil {
			t.Fatal(err)
		}
		tool, err := definition(op, 0)
		if err != nil {
			t.Fatal(err)
		}
		var s schema
		if err := json.Unmarshal(tool.InputSchema(), &s); err != nil {
			t.Fatal(err)
		}
		cmd.InheritedFlags() // merges them, and panics if one is there already
		for name := range s.Properties {
			flag := cmd.Flags().Lookup(name)
			if flag == nil {
				t.Errorf("%s has no flag for %s", op, name)
				continue
			}
			if p, ok := flag.Value.(*parameter); !ok || p.name != name {
				t.Errorf("flag --%s of %s is not for the parameter %s", flag.Name, op, name)
			}
		}
	}
}

func TestEveryCommandIsDescribed(t *testing.T) {
	visit(newRoot(allOps(), config.Locate), func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" || cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return
		}
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" {
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
