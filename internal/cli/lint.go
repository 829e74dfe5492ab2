package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/tools/lint"
)

const lintLong = `Lint exits with 1 if a vendor of models would refuse the definitions of the tools: their
number, the names, the length of descriptions, or the keywords of schemas.

It prints the number of characters of each definition, as JSON without spaces, and in
brackets an estimate of its tokens, at four characters each.`

// newLint returns the command that checks the definitions of the tools. tool are the
// flags of its parent.
func newLint(flags *target.Flags, tool *target.ToolFlags) *cobra.Command {
	const all = "all"
	vendor, vendors := all, []string{all}
	for _, v := range lint.Vendors() {
		vendors = append(vendors, string(v))
	}
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Check the definitions of the tools, and count their tokens",
		Long:  lintLong,
		Example: `  workspace tools lint
  workspace tools lint --vendor gemini --descriptions compact`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case vendor == all:
				return lintTools(cmd, flags, *tool, lint.Vendors())
			case slices.Contains(vendors, vendor):
				return lintTools(cmd, flags, *tool, []tools.Format{tools.Format(vendor)})
			}
			return fmt.Errorf("--vendor %q is unknown%s", vendor, term.Choose(vendor, vendors))
		},
	}
	cmd.Flags().StringVar(&vendor, "vendor", vendor, "check for this vendor: "+strings.Join(vendors, ", "))
	term.CompleteWith(cmd, "vendor", vendors...)
	return cmd
}

// lintTools prints a table of costs, with a column for each vendor, and what the vendors
// refuse. Everything is printed before an error says that there are problems.
func lintTools(cmd *cobra.Command, flags *target.Flags, tool target.ToolFlags, vendors []tools.Format) error {
	opened, err := flags.OpenTools(cmd.Context(), tool)
	if err != nil {
		return err
	}
	defer opened.Close()
	reports := make([]*lint.Report, len(vendors))
	refused := 0
	for i, vendor := range vendors {
		definitions, err := opened.Set.Definitions(vendor)
		if err == nil {
			reports[i], err = lint.Check(vendor, definitions)
		}
		if err != nil {
			return term.Fail(err)
		}
		refused += len(reports[i].Problems)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	printCosts(out, opened.Set, vendors, reports)
	for i, r := range reports {
		for _, p := range r.Problems {
			name := string(vendors[i])
			if p.Tool != "" { // of one tool, not of all together
				name += ": " + p.Tool
			}
			fmt.Fprintf(out, "%s: %s\n", name, p.Text)
		}
	}
	if err := out.Flush(); err != nil {
		return term.Fail(err)
	}
	if refused > 0 {
		return term.Failf("%s found", wording.Count(refused, "problem", "problems"))
	}
	return nil
}

// printCosts prints a table with a row for each tool and a column for each vendor.
func printCosts(out *bufio.Writer, set *tools.Set, vendors []tools.Format, reports []*lint.Report) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "characters (tokens)")
	for _, v := range vendors {
		fmt.Fprintf(table, "\t%s", v)
	}
	row := func(name string, characters func(*lint.Report) int) {
		fmt.Fprintf(table, "\t\n%s", name)
		for _, r := range reports {
			fmt.Fprintf(table, "\t%d (%d)", characters(r), lint.Tokens(characters(r)))
		}
	}
	for n, tool := range set.Tools() {
		row(tool.Name, func(r *lint.Report) int { return r.Tools[n].Characters })
	}
	row("all", func(r *lint.Report) int { return r.Characters })
	fmt.Fprintln(table, "\t")
	table.Flush()
	fmt.Fprintln(out, "Tokens are an estimate: one for four characters.")
}
