package cli

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit/workspace/config"
)

var update = flag.Bool("update", false, "rewrite docs/command.md and docs/command")

const (
	docs           = "../../docs"
	operationsPage = "command/call-operations.md"
)

// TestReference keeps docs/command.md, and the pages in docs/command, which say what
// the help says.
func TestReference(t *testing.T) {
	nowhere := func(string, string, func(string) (string, bool)) (config.Location, error) {
		return config.Location{}, nil
	}
	root := newRoot(allOps(), nil, nowhere)
	root.SetOut(io.Discard)
	root.InitDefaultCompletionCmd()
	pages := map[string]string{}
	var list strings.Builder
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			continue
		}
		const end = "\n[Flags of all commands](../command.md)\n"
		var b, operations strings.Builder
		describe(t, &b, cmd, "")
		rest := &b
		if cmd.Name() == "call" { // which would be too long for a page
			rest = &operations
			operations.WriteString("# The operations of workspace call\n")
		}
		for _, child := range cmd.Commands() {
			describe(t, rest, child, "#")
		}
		pages["command/"+cmd.Name()+".md"] = b.String() + end
		if operations.Len() > 0 {
			pages[operationsPage] = operations.String() + end
		}
		fmt.Fprintf(&list, "| [`%s`](command/%s.md) | %s |\n", cmd.Name(), cmd.Name(), cmd.Short)
	}
	var b strings.Builder
	describe(t, &b, root, "")
	b.WriteString("\nThe [environment variables](urls.md#environment-variables) have a page.\n" +
		"\n## Commands\n\n| command | what it does |\n|---|---|\n" + list.String())
	pages["command.md"] = b.String()

	for name, text := range pages {
		file := filepath.Join(docs, filepath.FromSlash(name))
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(file)
		if diff := gocmp.Diff(string(data), text); err != nil || diff != "" {
			t.Errorf("docs/%s is out of date: %v; -update rewrites it (-is +should be):\n%s", name, err, diff)
		}
	}
	entries, err := os.ReadDir(filepath.Join(docs, "command"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := "command/" + entry.Name(); pages[name] == "" {
			t.Errorf("docs/%s is the page of no command: delete it", name)
		}
	}
}

// describe writes what the help of cmd says, below a heading of the level of
// "#"+level.
func describe(t *testing.T, b *strings.Builder, cmd *cobra.Command, level string) {
	t.Helper()
	if err := cmd.Help(); err != nil { // which makes the descriptions of tools
		t.Fatal(err)
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "#%s %s\n\n", level, cmd.CommandPath())
	if cmd.Runnable() {
		fmt.Fprintf(b, "```\n%s\n```\n\n", cmd.UseLine())
	}
	b.WriteString(markdown(cmp.Or(cmd.Long, cmd.Short)))
	if cmd.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
	if cmd.HasSubCommands() && cmd.HasParent() {
		b.WriteString("\nCommands:")
		for i, child := range cmd.Commands() {
			comma := ","
			if i == 0 {
				comma = ""
			}
			page := ""
			if cmd.Name() == "call" {
				page = path.Base(operationsPage)
			}
			fmt.Fprintf(b, "%s [%s](%s#%s)", comma, child.Name(), page, strings.ReplaceAll(child.CommandPath(), " ", "-"))
		}
		b.WriteString(".\n")
	}
	rows := ""
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			rows += row(f)
		}
	})
	if rows != "" {
		b.WriteString("\n| flag | meaning |\n|---|---|\n" + rows)
	}
}

// row describes a flag as the help does.
func row(f *pflag.Flag) string {
	kind, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if kind != "" {
		name += " " + kind
	}
	if value := f.DefValue; value != "" && value != "false" && value != "[]" && value != "0" {
		usage += fmt.Sprintf(" (default `%s`)", value)
	}
	return fmt.Sprintf("| `%s` | %s |\n", name, escape.Replace(usage))
}

var escape = strings.NewReplacer("*", `\*`, "|", `\|`, "<", `\<`, "[", `\[`)

// markdown returns the text of a help. What is indented there is code, and so are
// lines of a patch.
func markdown(text string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(text, "\n\n") {
		paragraph = strings.TrimRight(paragraph, "\n")
		if i > 0 {
			b.WriteByte('\n')
		}
		if strings.HasPrefix(paragraph, "  ") || strings.HasPrefix(paragraph, "***") || strings.HasPrefix(paragraph, "\t") {
			fmt.Fprintf(&b, "```\n%s\n```\n", paragraph)
			continue
		}
		b.WriteString(escape.Replace(strings.TrimPrefix(paragraph, "#### ")) + "\n") // of cobra
	}
	return b.String()
}

// TestNoFlagHidesAnother tests that no command has a flag with the name or the letter of
// one that all commands have.
func TestNoFlagHidesAnother(t *testing.T) {
	nowhere := func(string, string, func(string) (string, bool)) (config.Location, error) {
		return config.Location{}, nil
	}
	root := newRoot(allOps(), nil, nowhere)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if cmd.Name() == "init" && f.Name == "name" {
				return // the same, for the file
			}
			global := root.PersistentFlags()
			if global.Lookup(f.Name) != nil || f.Shorthand != "" && global.ShorthandLookup(f.Shorthand) != nil {
				t.Errorf("the flag --%s of %q hides one of all commands", f.Name, cmd.CommandPath())
			}
		})
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(root)
}
