package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// Selection is the workspaces that the flags choose: those of a file, or one that no file
// describes. A file has been read and checked; a folder or a URL has been checked and may not
// exist.
type Selection struct {
	Path string         // of the file
	File *config.Config // nil without a file

	flags    *Flags
	location *location // nil with a file
}

// Select returns what the flags choose, and opens nothing:
//
//	-C DIR, -C URL, -w URL   that, whatever files there are
//	--config FILE            the workspaces of the file, or those of them that -w names
//	WORKSPACE_CONFIG         the same
//	a file that is found     the same
//	no file                  the current folder; -w NAME is an error
func (f *Flags) Select() (*Selection, error) {
	if err := f.CheckWorkspaces(); err != nil {
		return nil, err
	}
	flag, text := f.given()
	if flag == "" {
		found, err := f.Find()
		switch {
		case err != nil:
			return nil, err
		case found.Path != "":
			return f.selectFile(found)
		case len(f.Workspaces) > 0:
			if info, err := os.Stat(f.Workspaces[0]); err == nil && info.IsDir() {
				return nil, fmt.Errorf("-w %q names a folder, and takes the name of a workspace in a file, or a URL: -C works in a folder", f.Workspaces[0])
			}
			return nil, fmt.Errorf("-w %q names no workspace, as there is no %s here or in a folder above: name a file with --config, or create one with \"workspace init\"",
				f.Workspaces[0], config.FileName)
		}
		flag, text = "-C", "."
	}
	l, err := f.newLocation(flag, text)
	return &Selection{flags: f, location: l}, err
}

// selectFile returns the selection from the file that was found.
func (f *Flags) selectFile(found config.Location) (*Selection, error) {
	c, err := f.Load(found)
	if err != nil {
		return nil, err
	}
	c, err = f.selectFrom(c, found.Path)
	return &Selection{Path: found.Path, File: c, flags: f}, err
}

// selectFrom returns those of the workspaces of c that -w names, or all. Flags for which the
// file has settings are refused, as they would change nothing.
func (f *Flags) selectFrom(c *config.Config, path string) (*config.Config, error) {
	for _, flag := range []struct{ name, remedy string }{
		{"name", "the names are in the file, and -w chooses among them"},
		{"max-file-size-mb", "set maxFileSizeMb in the fs of the workspace there"},
		{"relaxed", "set relaxed in the provider of the workspace there"},
	} {
		if f.set.Changed(flag.name) {
			return nil, fmt.Errorf("--%s has no meaning with a file, which is %s: %s; -C . works here without the file", flag.name, Name(path), flag.remedy)
		}
	}
	c, err := c.Only(f.Workspaces...)
	if err != nil {
		return nil, err
	}
	if f.ReadOnly {
		c = c.ReadOnly()
	}
	if f.sensitive {
		c = c.AllowSensitive()
	}
	return c, nil
}

// given returns the flag that names a location, and its value.
func (f *Flags) given() (flag, text string) {
	switch {
	case len(f.folders) > 0:
		return "-C", f.folders[0]
	case f.ByURL():
		return "-w", f.Workspaces[0]
	}
	return "", ""
}

// ByURL reports whether -w is a URL.
func (f *Flags) ByURL() bool { return len(f.Workspaces) == 1 && config.IsURL(f.Workspaces[0]) }

// WithoutFile reports whether a flag names a location, so that no file is used.
func (f *Flags) WithoutFile() bool {
	flag, _ := f.given()
	return flag != ""
}

// CheckWorkspaces refuses flags that contradict each other about where the
// workspaces are.
func (f *Flags) CheckWorkspaces() error {
	byURL := slices.ContainsFunc(f.Workspaces, config.IsURL)
	dir := len(f.folders) > 0
	for i, name := range f.Workspaces {
		if slices.Contains(f.Workspaces[:i], name) {
			return fmt.Errorf("-w %q is given twice", name)
		}
	}
	switch {
	case len(f.folders) > 1:
		return errors.New("-C is given twice: leave one of them out")
	case byURL && len(f.Workspaces) > 1:
		return errors.New("-w with a URL opens one workspace only: describe several in a file")
	case byURL && dir:
		return errors.New("-C and the URL of -w both say where the files are: leave one of them out")
	case byURL && f.ConfigChanged():
		return errors.New("--config names a file, and the URL of -w works without one: leave one of them out")
	case dir && f.ConfigChanged():
		return errors.New("--config names a file, and -C works without one: leave one of them out")
	case dir && len(f.Workspaces) > 0:
		return fmt.Errorf("-w %q names a workspace of a file, and -C works without one: leave one of them out", f.Workspaces[0])
	}
	return nil
}

// Text returns the text of the file as it is now, empty without a file.
func (s *Selection) Text() string {
	var data []byte
	switch {
	case s.Path == Stdin:
		data, _ = s.flags.stdin() // which has been read
	case s.File != nil:
		data, _ = os.ReadFile(s.Path)
	}
	return string(data)
}

// Tools returns the settings of the tools, the zero ones without a file.
func (s *Selection) Tools() config.Tools {
	if s.File == nil {
		return config.Tools{}
	}
	return s.File.Tools
}

// Settings returns the settings of the workspace that no file describes. Those of a relaxed
// folder allow the names of secrets.
func (s *Selection) Settings() config.FS {
	settings := s.location.settings
	if settings.Sensitive == "" && s.location.isRelaxed() {
		settings.Sensitive = config.AccessAllow
	}
	return settings
}

// MaxFileSize returns the limit of the workspace that is chosen, in bytes, and 0
// if several are.
func (s *Selection) MaxFileSize() int64 {
	if s.File == nil {
		return s.location.settings.MaxFileSizeMb << 20
	}
	names := s.File.Names()
	if len(names) > 1 {
		return 0
	}
	return s.File.Settings(names[0]).MaxFileSizeMb << 20
}

// MaxInput returns how many bytes of parameters or content are read for a tool: enough for the
// largest file of any of the workspaces as JSON, where a byte can be \u0000.
func (s *Selection) MaxInput() int64 {
	largest := int64(0)
	if s.File == nil {
		largest = s.location.settings.MaxFileSizeMb
	} else {
		for _, name := range s.File.Names() {
			largest = max(largest, s.File.Settings(name).MaxFileSizeMb)
		}
	}
	return max(MaxInput, (6*largest+1)<<20)
}

// Target is a workspace that a command works on.
type Target struct {
	Name, Kind string
	// Open opens it. The caller closes it.
	Open func(context.Context) (*config.Workspace, error)
}

// Targets returns the workspaces. It opens none.
func (s *Selection) Targets() []Target {
	if s.File == nil {
		return []Target{{s.location.name, s.location.kind, s.openLocation}}
	}
	var all []Target
	for _, name := range s.File.Names() {
		all = append(all, Target{name, s.flags.KindOf(s.File, name), func(ctx context.Context) (*config.Workspace, error) {
			opened, err := s.File.Open(ctx, s.flags.Registry(), name)
			if err != nil {
				return nil, term.Fail(err)
			}
			ws, _ := opened.Lookup(name)
			return ws, nil
		}})
	}
	return all
}

// One returns the workspace for a command that works on one. command is its name, for the
// error.
func (s *Selection) One(command string) (Target, error) {
	all := s.Targets()
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(s.flags.Workspaces) > 0:
		return Target{}, fmt.Errorf("%s works on one workspace, and -w names %d: give it once", command, len(all))
	}
	return Target{}, fmt.Errorf("%s works on one workspace, and %s has %d: choose one with -w: %s",
		command, Name(s.Path), len(all), term.Listed(s.File.Names()))
}

// OpenOne opens the one workspace that command works on. The caller closes it.
func (f *Flags) OpenOne(ctx context.Context, command string) (*config.Workspace, *Selection, error) {
	s, err := f.Select()
	if err != nil {
		return nil, nil, err
	}
	only, err := s.One(command)
	if err != nil {
		return nil, nil, err
	}
	ws, err := only.Open(ctx)
	return ws, s, err
}

// Opened is the tools of workspaces that are open.
type Opened struct {
	Set         *tools.Set          // of all workspaces together
	Dialect     tools.Dialect       // empty for the default one
	MaxFileSize int64               // the greatest of all, in bytes
	All         []*config.Workspace // in the order of the file
	Close       func() error        // closes all of them
}

// ToolFlags are the flags of the commands that make all tools. They come before what
// the file says.
type ToolFlags struct {
	dialect      Dialect
	descriptions string
	bash         *bool // nil without the flag
}

// Add adds the flags to cmd.
func (t *ToolFlags) Add(cmd *cobra.Command) {
	t.dialect.Add(cmd)
	styles := []string{string(tools.DescriptionsFull), string(tools.DescriptionsCompact)}
	cmd.PersistentFlags().StringVar(&t.descriptions, "descriptions", "", "the `length` of the descriptions: "+strings.Join(styles, ", "))
	term.CompleteWith(cmd, "descriptions", styles...)
	cmd.PersistentFlags().BoolFunc("bash", "add the tool bash, which runs scripts over the files; without a file that is the default, unless there is another dialect", func(text string) error {
		on, err := strconv.ParseBool(text)
		t.bash = &on
		return err
	})
}

// Dialect is the value of --dialect, empty without the flag.
type Dialect tools.Dialect

// Add adds the flag to cmd and its subcommands.
func (d *Dialect) Add(cmd *cobra.Command) {
	cmd.PersistentFlags().Var(d, "dialect", "use the tool names, parameters and results of this `dialect`: "+strings.Join(dialects(), ", "))
	term.CompleteWith(cmd, "dialect", dialects()...)
}

// Set implements [pflag.Value].
func (d *Dialect) Set(text string) error {
	if !slices.Contains(dialects(), text) {
		return fmt.Errorf("it is unknown%s", term.Choose(text, dialects()))
	}
	*d = Dialect(text)
	return nil
}

// String implements [pflag.Value].
func (d *Dialect) String() string { return string(*d) }

// Type implements [pflag.Value].
func (d *Dialect) Type() string { return "dialect" }

func dialects() []string {
	var names []string
	for _, d := range tools.Dialects() {
		names = append(names, string(d))
	}
	return names
}

// OpenTools opens the workspaces that the flags choose, all of them or none. The caller calls
// Close.
func (f *Flags) OpenTools(ctx context.Context, t ToolFlags) (*Opened, error) {
	s, err := f.Select()
	if err != nil {
		return nil, err
	}
	o := &Opened{}
	if s.File == nil {
		ws, err := s.openLocation(ctx)
		if err != nil {
			return nil, err
		}
		o.All, o.Close = []*config.Workspace{ws}, ws.Close
		o.Dialect = tools.Dialect(t.dialect)
		opts := &tools.Options{Dialect: o.Dialect, Descriptions: tools.Descriptions(t.descriptions)}
		if t.bash == nil && cmp.Or(o.Dialect, tools.DialectWorkspace) == tools.DialectWorkspace || t.bash != nil && *t.bash {
			opts.Bash = bashtool.New(nil)
		}
		o.Set, err = tools.New(ws.Workspace, opts)
		return o.checked(err)
	}
	if t.dialect != "" {
		s.File.Tools.Dialect = config.Dialect(t.dialect)
	}
	if t.descriptions != "" {
		s.File.Tools.Descriptions = config.Descriptions(t.descriptions)
	}
	if t.bash != nil {
		s.File.Tools.Bash = *t.bash
	}
	o.Dialect = tools.Dialect(s.File.Tools.Dialect)
	all, err := s.File.Open(ctx, f.Registry())
	if err != nil {
		return nil, term.Fail(err)
	}
	o.All, o.Close = all.All(), all.Close
	o.Set, err = workspacekit.Tools(all)
	return o.checked(err)
}

// checked returns o, or closes it if there is an error.
func (o *Opened) checked(err error) (*Opened, error) {
	if err != nil {
		_ = o.Close() // the first error is the one that matters
		return nil, err
	}
	for _, ws := range o.All {
		o.MaxFileSize = max(o.MaxFileSize, ws.MaxFileSize())
	}
	return o, nil
}
