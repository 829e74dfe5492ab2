package call

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// allOps are command line arguments that name every operation, so that the
// tree has all flags.
func allOps() []string {
	var ops []string
	for _, o := range Operations {
		ops = append(ops, o.Op)
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
		t.Errorf("Operations differs from the tools (-want +got):\n%s", diff)
	}
}

// TestEveryParameterIsAFlag finds a parameter that has no flag, or whose flag
// is one that the command has for itself.
func TestEveryParameterIsAFlag(t *testing.T) {
	root := &cobra.Command{Use: "workspace"}
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(term.Kebab(name))
	})
	root.AddCommand(New(target.NewFlags(root, config.Locate), allOps()))
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
