package call

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/kind"
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
	set, err := tools.New(workspace.New("main", machine{memory.New(nil)}, nil), &tools.Options{Bash: bashtool.New(nil), Run: true, Disable: []string{"processes"}})
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

// unversioned is memory without versions.
type unversioned struct{ *memory.FS }

// Capabilities implements [fallback.Capable].
func (u unversioned) Capabilities() workspace.Capabilities {
	c := u.FS.Capabilities()
	c.Versions = false
	return c
}

// TestWhyThereIsNoPatch tests that transactions are not blamed for a lack of versions.
func TestWhyThereIsNoPatch(t *testing.T) {
	t.Parallel()
	m := memory.New(nil)
	for want, fsys := range map[string]workspace.FileSystem{"no transactions": m, "provider cannot do this": unversioned{m}} {
		r := &config.Registry{}
		err := r.Register("other", kind.Kind{
			Options: struct{}{}, Scheme: "other",
			ParseURL: func(string) (any, error) { return struct{}{}, nil },
			Open:     func(context.Context, kind.Input) (workspace.FileSystem, error) { return fsys, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		ws, err := r.OpenURL(t.Context(), "main", "other://", config.FS{})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		i := &invocation{Operation: Operation{Op: ops.ApplyPatch}, flags: &target.Flags{}}
		if err := i.unavailable(&target.Selection{}, ws); !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %q, want %q", err, want)
		}
	}
}

// TestEveryParameterIsAFlag finds a parameter that has no flag, or whose flag
// is one that the command has for itself. Short flags of other programs are none.
func TestEveryParameterIsAFlag(t *testing.T) {
	for _, d := range tools.Dialects() {
		args := append(allOps(), "--dialect", string(d))
		for _, o := range operations(args) {
			args = append(args, o.Op)
		}
		root := &cobra.Command{Use: "workspace"}
		root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			return pflag.NormalizedName(term.Kebab(name))
		})
		root.AddCommand(New(target.NewFlags(root, config.Locate), args, false))
		for _, o := range operations(args) {
			cmd, _, err := root.Find([]string{"call", o.Op})
			if err != nil {
				t.Fatal(err)
			}
			tool, err := o.definition(0)
			if err != nil {
				t.Fatal(err)
			}
			var s struct{ Properties map[string]any }
			if err := json.Unmarshal(tool.InputSchema(), &s); err != nil {
				t.Fatal(err)
			}
			cmd.InheritedFlags() // merges them, and panics if one is there already
			for name := range s.Properties {
				flag := cmd.Flags().Lookup(name)
				if strings.HasPrefix(name, "-") {
					continue
				}
				if flag == nil {
					t.Errorf("%s: %s has no flag for %s", d, o.Op, name)
					continue
				}
				if p, ok := flag.Value.(*parameter); !ok || p.name != name {
					t.Errorf("%s: flag --%s of %s is not for the parameter %s", d, flag.Name, o.Op, name)
				}
			}
		}
	}
}
