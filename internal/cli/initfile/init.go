// Package initfile has the command that writes a file which describes one workspace.
//
//	init.go    the command: it chooses, writes, and says what is next
//	ask.go     the questions to a person who has given no flags
//	kinds.go   the kinds of provider, and what the file says about each
//	yaml.go    the text around these, and values as YAML
//
// The text is read as a configuration before it is written, so no answer can make a file that
// is wrong.
package initfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

const long = `Init writes a file with one workspace, and with comments that show more settings:
workspace.yaml in the current folder unless FILE names another. It replaces a file only
with --force.

Choose the provider with --kind, or with a flag of one, such as --bucket. Without either,
init asks on a terminal, and uses localbash elsewhere.`

const example = `  workspace init
  workspace init --root src --name code
  workspace init --bucket team-files --endpoint http://localhost:9000
  workspace init --image debian:12 box.yaml
  workspace init --kind memory --force`

// New returns the command.
func New(flags *target.Flags) *cobra.Command {
	i := &initiation{flags: flags, options: map[string]*string{}}
	cmd := &cobra.Command{
		Use:     "init [FILE]",
		Short:   "Create workspace.yaml",
		Long:    long,
		Example: example,
		Args:    term.Positional,
		RunE:    i.run,
	}
	own := cmd.Flags()
	own.SortFlags = false
	names := kindNames()
	own.StringVar(&i.kind, "kind", "", "the kind of provider: "+strings.Join(names, ", "))
	own.StringVar(&i.name, "name", "main", "the name of the workspace")
	for _, k := range kinds {
		for _, o := range k.options {
			i.options[o.flag] = own.String(o.flag, "", o.usage+" ("+k.name+")")
		}
	}
	own.BoolVar(&i.force, "force", false, "replace the file if it exists")
	term.CompleteWith(cmd, "kind", names...)
	return cmd
}

// initiation is one run of init.
type initiation struct {
	flags   *target.Flags
	kind    string
	name    string
	options map[string]*string // by their flags
	force   bool
}

// run chooses a kind, writes the file, and reads it again to say what is next.
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
	chosen, err := i.choose(cmd)
	if err != nil {
		return err
	}
	text, err := i.text(chosen)
	if err != nil {
		return err
	}
	if err := i.write(cmd.Context(), path, text); err != nil {
		return err
	}
	found := path == config.FileName && os.Getenv(config.EnvFile) == ""
	c, err := i.flags.Load(config.Location{Path: path, Found: found})
	if err != nil {
		return err
	}
	var untrusted []config.Grant
	if !c.Trusted() {
		if untrusted, err = c.Grants(cmd.Context(), i.flags.Registry()); err != nil {
			return err
		}
	}
	i.noteRoot(cmd, path)
	return term.Fail(tell(cmd, path, found, len(untrusted) > 0))
}

// check refuses flags that mean nothing here. It also sets the kind that a flag of one kind
// means.
func (i *initiation) check(cmd *cobra.Command) error {
	if err := i.flags.Refuse("with init, which writes a file"); err != nil {
		return err
	}
	if names := kindNames(); i.kind != "" && !slices.Contains(names, i.kind) {
		return fmt.Errorf("--kind %q is unknown%s", i.kind, term.Choose(i.kind, names))
	}
	for _, k := range kinds {
		for _, o := range k.options {
			if !cmd.Flags().Changed(o.flag) {
				continue
			}
			if i.kind == "" {
				i.kind = k.name
			}
			if i.kind != k.name {
				return fmt.Errorf("--%s is for the kind %s, and not for %s", o.flag, k.name, i.kind)
			}
		}
	}
	return nil
}

// choose returns the kind that flags or a person choose, once its required options are known.
// Without either, it is a folder.
func (i *initiation) choose(cmd *cobra.Command) (kind, error) {
	if i.kind == "" && term.IsTerminal(cmd.InOrStdin()) {
		if err := i.ask(newQuestions(cmd)); err != nil {
			return kind{}, err
		}
	}
	chosen := kindNamed(cmp.Or(i.kind, target.KindLocal))
	for _, o := range chosen.options {
		if o.required && *i.options[o.flag] == "" {
			return kind{}, fmt.Errorf("the kind %s needs --%s", chosen.name, o.flag)
		}
	}
	return chosen, nil
}

// text returns the content of the file, after reading it to see that it is right.
func (i *initiation) text(k kind) (string, error) {
	text, err := k.file(i.name, i.options)
	if err != nil {
		return "", err
	}
	_, err = config.Parse([]byte(text), &config.Options{Registry: i.flags.Registry()})
	var wrong *config.Error
	if errors.As(err, &wrong) {
		return "", errors.New(wrong.Problems[0].Text)
	}
	return text, err
}

// file returns a file with one workspace of the kind. given are the options by their flags; an
// empty one has its standard value, or is left out. A comment whose first word ends in a colon
// is an example, which takes effect without its "# ".
func (k kind) file(name string, given map[string]*string) (string, error) {
	key, err := yamlText(name)
	if err != nil {
		return "", flagError("name", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, head, schemaURL, docsURL, key)
	for _, note := range k.notes {
		fmt.Fprintf(&b, "    # %s\n", note)
	}
	fmt.Fprintf(&b, "    provider:\n      kind: %s\n", k.name)
	for _, o := range k.options {
		value := cmp.Or(*given[o.flag], o.standard)
		if value == "" {
			continue
		}
		quoted, err := yamlText(value)
		if err != nil {
			return "", flagError(o.flag, err)
		}
		fmt.Fprintf(&b, "      %s: %s\n", o.flag, quoted)
	}
	for _, setting := range k.settings {
		fmt.Fprintf(&b, "      %s\n", setting)
	}
	for _, example := range k.examples {
		fmt.Fprintf(&b, "      # %s\n", example)
	}
	b.WriteString(tail)
	return b.String(), nil
}

// noteRoot says if the file path names a folder that does not exist, which may be made later.
func (i *initiation) noteRoot(cmd *cobra.Command, path string) {
	root := *i.options["root"]
	if !filepath.IsAbs(root) {
		root = filepath.Join(filepath.Dir(path), root)
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		term.Say(cmd.ErrOrStderr(), "note: there is no folder "+root)
	}
}

// tell prints what has been done and what to do next. A file that commands do not find must
// be named.
func tell(cmd *cobra.Command, path string, found, untrusted bool) error {
	chosen, trust := "", ""
	if !found {
		chosen = " --config " + wording.ShellWord(path)
	}
	if untrusted {
		trust = "\n  workspace trust      let it use more than its own folder, after every change"
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), `wrote %s

Next:
  workspace%[2]s validate   check the file, after every change%[3]s
  workspace%[2]s doctor     open what it describes, and try it
  workspace%[2]s mcp        serve it to an agent
`, term.Visible(path, ""), term.Visible(chosen, ""), trust)
	return err
}

// checkPath refuses standard input, a folder, a file that exists, and one beside a file of the
// other name that commands look for, before anything is asked. The write checks again whether
// it exists.
func (i *initiation) checkPath(path string) error {
	if path == target.Stdin {
		return fmt.Errorf("%q is standard input, which cannot be written: name a file", path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return term.Failf("%s is a folder: name a file, such as %s", path, filepath.Join(path, config.FileName))
	}
	if _, err := os.Lstat(path); err == nil && !i.force {
		return exists(path)
	}
	dir, base := filepath.Split(path)
	other := map[string]string{config.FileName: "workspace.yml", "workspace.yml": config.FileName}[base]
	if _, err := os.Lstat(dir + other); err == nil && other != "" {
		return term.Failf("%s exists, and a folder can have only one of the two names: nothing was written; use that file, or delete it", dir+other)
	}
	return nil
}

// exists returns the error of a file that would be replaced.
func exists(path string) error {
	return term.Failf("%s exists already: nothing was written; --force replaces it", path)
}

// write makes the file whole or not at all, and replaces none unless it is forced to. It is
// the write of localbash: with IfNotExist, a file that somebody has created since checkPath is
// not replaced.
func (i *initiation) write(ctx context.Context, path, text string) error {
	dir, base := filepath.Split(path)
	folder, err := localbash.Open(dir+".", nil)
	if err != nil {
		return term.Failf("folder of %s: %s", path, term.Plain(err))
	}
	defer folder.Close()
	_, err = folder.WriteFile(ctx, base, []byte(text), &workspace.WriteOptions{IfNotExist: !i.force})
	switch {
	case errors.Is(err, fs.ErrExist):
		return exists(path)
	case err != nil:
		return term.Failf("%s: %s", path, term.Plain(err))
	}
	return nil
}
