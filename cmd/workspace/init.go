package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

const initLong = `Init writes a file that describes one workspace, with comments that show what else
it can say. The file is called workspace.yaml in the current folder if no other
name is given, and one that is there is not replaced, unless --force says so.

The kind of provider is that of --kind, or the one that another flag is for. On a
terminal it is asked for, and what it needs; elsewhere it is localbash.`

const initExample = `  workspace init
  workspace init --root src --name code
  workspace init --bucket team-files --endpoint http://localhost:9000
  workspace init --image debian:12 conf/box.yaml
  workspace init --kind memory --force`

// newInit returns the command that begins a file.
func newInit(s *settings) *cobra.Command {
	i := &initiation{settings: s, options: map[string]*string{}}
	cmd := &cobra.Command{
		Use:     "init [FILE]",
		Short:   "Begin a file that describes workspaces",
		Long:    initLong,
		Example: initExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    i.run,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&i.kind, "kind", "", "where the files are: "+strings.Join(initKindNames(), ", "))
	flags.StringVar(&i.name, "name", "main", "the name of the workspace")
	for _, kind := range initKinds() {
		for _, o := range kind.options {
			i.options[o.flag] = flags.String(o.flag, "", o.usage+" ("+kind.name+")")
		}
	}
	flags.BoolVar(&i.force, "force", false, "replace the file if it is there")
	suggestValues(cmd, "kind", initKindNames())
	return cmd
}

// initiation is one run of init.
type initiation struct {
	settings *settings
	kind     string
	name     string
	options  map[string]*string // by their flags
	force    bool
}

func (i *initiation) run(cmd *cobra.Command, args []string) error {
	path := config.FileName
	if len(args) == 1 {
		path = args[0]
	}
	if err := i.check(cmd); err != nil {
		return err
	}
	if err := i.checkPath(path); err != nil {
		return err
	}
	kind, err := i.choose(cmd)
	if err != nil {
		return err
	}
	text, err := i.text(kind)
	if err != nil {
		return err
	}
	if err := i.write(cmd.Context(), path, text); err != nil {
		return err
	}
	c, err := i.settings.load(config.Location{Path: path, Found: path == config.FileName})
	if err != nil {
		return err
	}
	untrusted, err := missingGrants(cmd.Context(), c, nil)
	if err != nil {
		return err
	}
	return fault(tell(cmd, path, len(untrusted) > 0))
}

// check refuses flags that mean nothing here.
func (i *initiation) check(cmd *cobra.Command) error {
	var refused error
	i.settings.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "color" && f.Name != "no-color" {
			refused = fmt.Errorf("--%s has no meaning with init, which writes a file: see 'workspace init --help'", f.Name)
		}
	})
	if refused != nil {
		return refused
	}
	if i.kind != "" && !slices.Contains(initKindNames(), i.kind) {
		return fmt.Errorf("--kind %q is unknown%s", i.kind, didYouMean(i.kind, initKindNames()))
	}
	for _, kind := range initKinds() {
		for _, o := range kind.options {
			if !cmd.Flags().Changed(o.flag) {
				continue
			}
			if i.kind == "" {
				i.kind = kind.name
			}
			if i.kind != kind.name {
				return fmt.Errorf("--%s is for the kind %s, and not for %s", o.flag, kind.name, i.kind)
			}
		}
	}
	return nil
}

// choose returns the kind with what it needs, from flags or by asking.
func (i *initiation) choose(cmd *cobra.Command) (initKind, error) {
	asks := isTerminal(cmd.InOrStdin()) && i.kind == ""
	if asks {
		if err := i.ask(newQuestions(cmd)); err != nil {
			return initKind{}, err
		}
	}
	if i.kind == "" {
		i.kind = nameLocal
	}
	kind := initKinds()[slices.Index(initKindNames(), i.kind)]
	if missing := kind.missing(i.options); missing != "" {
		return initKind{}, fmt.Errorf("the kind %s needs --%s", kind.name, missing)
	}
	return kind, nil
}

// text returns the file, which has been read to see that it is right.
func (i *initiation) text(kind initKind) (string, error) {
	text, err := kind.file(i.name, i.options)
	if err != nil {
		return "", err
	}
	_, err = config.Parse([]byte(text), &config.Options{Registry: workspacekit.NewRegistry()})
	var wrong *config.Error
	if errors.As(err, &wrong) {
		return "", errors.New(wrong.Problems[0].Text)
	}
	return text, err
}

// tell prints what has been done and what to do next.
func tell(cmd *cobra.Command, path string, untrusted bool) error {
	chosen, trust := "", ""
	if path != config.FileName {
		chosen = " --config " + shellWord(path)
	}
	if untrusted {
		trust = "\n  workspace trust      let it use more than its own folder, after every change"
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), `wrote %s

Next:
  workspace%[2]s validate   check the file, after every change%[3]s
  workspace%[2]s doctor     open what it describes, and try it
  workspace%[2]s mcp        serve it to an agent
`, visible(path, ""), visible(chosen, ""), trust)
	return err
}

// shellWord returns text as a shell takes it for one word.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return !strings.ContainsRune("/._-+,:@%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if text != "" && strings.IndexFunc(text, plain) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
