// Package call has the command that runs a tool by hand.
//
// The flags of each operation come from the schema of its tool. The command line becomes one
// map of parameters or one JSON object, which goes to the tool; the result goes to a
// [view.View], page by page.
//
//	call.go      the commands, and one call from its arguments to its last page
//	flags.go     parameters as flags, arguments and JSON
//	session.go   what lasts from one call to the next
package call

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/approve"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/cli/view"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// Operation is one tool as the command line knows it before its schema has
// been made.
type Operation struct {
	Op, short, example string        // the name of the operation, and what the help says of it
	positional         []string      // the parameters that arguments give, in order
	list               bool          // the only one is a list of all arguments
	dialect            tools.Dialect // of the tool; empty for the default one
}

// Operations are the tools in the order of their set.
var Operations = []Operation{
	{ops.ReadFile, "Print a file", `  workspace call read_file README.md
  workspace call read_file big.log --tail 20
  workspace call read_file big.log --all`, []string{"path"}, false, ""},
	{ops.ReadFiles, "Print several files", `  workspace call read_files go.mod main.go`, []string{"paths"}, true, ""},
	{ops.WriteFile, "Create or replace a file", `  workspace call write_file notes.txt --content 'remember the milk'
  make report | workspace call write_file report.txt --content-file -
  workspace call write_file new.txt --content '' --create-only`, []string{"path"}, false, ""},
	{ops.EditFile, "Replace text in a file", `  workspace call edit_file main.go --old-text 'foo()' --new-text 'bar()'
  workspace call edit_file main.go --edits '[{"oldText": "a", "newText": "b"}]' --dry-run`, []string{"path"}, false, ""},
	{ops.ApplyPatch, "Change several files with a patch", `  workspace call apply_patch --dry-run -- "$(cat a.patch)"`, []string{"patch"}, false, ""},
	{ops.Ls, "List a directory", `  workspace call ls
  workspace call ls src --json`, []string{"path"}, false, ""},
	{ops.Tree, "Show a directory as a tree", `  workspace call tree
  workspace call tree src --depth 2`, []string{"path"}, false, ""},
	{ops.Glob, "Find files by name", `  workspace call glob '**/*.go'
  workspace call glob '**/testdata/'`, []string{"pattern", "path"}, false, ""},
	{ops.Grep, "Search the lines of files", `  workspace call grep 'func Test'
  workspace call grep 'a.b()' --literal --include-glob '*.{ts,tsx}' --after 2
  workspace call grep TODO --all --json`, []string{"pattern", "path"}, false, ""},
	{ops.Stat, "Describe a file", `  workspace call stat go.mod`, []string{"path"}, false, ""},
	{ops.Mkdir, "Make a directory", `  workspace call mkdir a/b/c --recursive`, []string{"path"}, false, ""},
	{ops.Rm, "Remove a file or a directory", `  workspace call rm old.txt
  workspace call rm build --recursive`, []string{"path"}, false, ""},
	{ops.Move, "Move or rename", `  workspace call move a.txt b.txt`, []string{"source", "destination"}, false, ""},
	{ops.Copy, "Copy a file", `  workspace call copy a.txt b.txt`, []string{"source", "destination"}, false, ""},
	{ops.Run, "Run a command where the files are", `  workspace call run 'go test ./...' --dir server --timeout 60`, []string{"command"}, false, ""},
	{ops.Bash, "Run a script of bash", `  workspace call bash 'grep -rl TODO src | wc -l'`, []string{"script"}, false, ""},
}

// Is reports whether word is the name of the operation.
func (o Operation) Is(word string) bool { return word == o.Op || word == term.Kebab(o.Op) }

// paged are the operations that return their result in pages.
var paged = []string{ops.ReadFile, ops.Ls, ops.Glob, ops.Grep}

const long = `Call runs one tool. The arguments say what to work on: a path, a pattern and a path,
or a source and a destination. The other parameters are flags; --includeGlob is the same
as --include-glob. One JSON object can give all parameters instead; "-" reads it from
standard input. An argument that begins with "-", such as a patch, comes last, after "--";
a path, pattern or script that begins with "{" may need its flag.

Call prints the result for a person, and what was left out in brackets or on standard
error. With --json, it prints the JSON object that a program gets (of bash and run, with
more of the output), or the error of a tool. Errors of the command line are text. Their
exit code is 2, as for INVALID_ARGUMENTS.

With another --dialect, call runs its tools, and prints results for a model, but
errors as of any tool. Otherwise it runs the default tools, whatever dialect the file has.
Either way, it fails if tools.disable of the file names a tool that the dialect does not
have.

Calls with the same --session file are one session: they change a file only if one of them
has read or written it and nobody has changed it since; a copy was read if its source was,
before. The commands of run, and rm and move of a symlink or a directory, need no read.
With the setting readBeforeWrite, all other calls need --session to change a file that
exists; without it, a script of bash has to read the file itself. Make one call of a session
at a time: of several, the file keeps what one has read, and counts for a quota what one has
written.

If a rule requires approval, call shows what the operation would do, and asks on the
terminal. Without a terminal, only --approve allows it.`

const example = `  workspace call ls
  workspace call ls src
  workspace call grep TODO --include-glob '*.go'
  workspace call grep '{"pattern": "TODO", "includeGlob": "*.go"}' --json
  workspace call write_file - < arguments.json
  workspace -w lake call read_file notes.txt
  workspace call --dialect claude-code Read main.go --limit 20
  workspace -w s3://bucket/prefix call ls`

// New returns the command, with a command for each tool that is named among args, the
// arguments of the program. Without one, or if all is set, it has them all.
func New(flags *target.Flags, args []string, all bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "call OP", Short: "Run a tool", Long: long, Example: example,
		Args: checkOperation,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("call needs an operation, such as \"workspace call ls\"")
		},
	}
	session, approved, asJSON := sessionFile(""), approve.Flag{}, false
	var dialect target.Dialect
	dialect.Add(cmd)
	// Cobra finds the operation after flags only if it knows them here.
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print the result or the error of the tool as one JSON object")
	cmd.PersistentFlags().StringVar((*string)(&session), "session", "",
		"keep in this `file` what calls have read or written, and change no other file that exists")
	approved.Add(cmd)
	known := operations(args)
	named := func(o Operation) bool { return slices.ContainsFunc(args, o.Is) }
	all = all || !slices.ContainsFunc(known, named)
	for _, o := range known {
		// A schema takes a while to make, so only the tool that is named on the
		// command line has its flags.
		if named := named(o); named || all {
			cmd.AddCommand(newOperation(flags, o, named, &session, &approved, &asJSON))
		}
	}
	return cmd
}

// operations returns the tools that the command line can name: with --dialect among args,
// those of the dialect, and the default ones otherwise. The flag is looked for by hand, as
// cobra parses flags only once it has the commands.
func operations(args []string) []Operation {
	var dialect target.Dialect
	for n, arg := range args {
		value, given := strings.CutPrefix(arg, "--dialect=")
		if arg == "--dialect" && n+1 < len(args) {
			value, given = args[n+1], true
		}
		if given {
			_ = dialect.Set(value) // an error is found again when the flags are parsed
		}
	}
	return operationsOf(tools.Dialect(dialect))
}

// operationsOf returns the tools of a dialect, the default ones if it is empty.
func operationsOf(dialect tools.Dialect) []Operation {
	if dialect == "" || dialect == tools.DialectWorkspace {
		return Operations
	}
	set, err := tools.New(everything(0), &tools.Options{Dialect: dialect, Naming: "{op}", Disable: []string{ops.Processes}, Bash: bashtool.New(nil), Run: true})
	if err != nil {
		return Operations
	}
	var all []Operation
	for _, tool := range set.Tools() {
		o := Operation{Op: tool.Op, dialect: dialect}
		line, _, _ := strings.Cut(tool.Description(), "\n")
		o.short, _, _ = strings.Cut(strings.TrimRight(line, ".:"), ". ")
		var optional []string
		for _, p := range tool.Parameters() {
			switch {
			case p.Type != "string":
			case p.Required:
				o.positional = append(o.positional, p.Name)
			default:
				optional = append(optional, p.Name)
			}
		}
		if len(o.positional) == 0 && len(optional) == 1 {
			o.positional = optional
		}
		all = append(all, o)
	}
	return all
}

// checkOperation refuses a word that is no operation, and says which other dialects have it.
func checkOperation(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var dialects []string
	for _, d := range tools.Dialects() {
		if slices.ContainsFunc(operationsOf(d), func(o Operation) bool { return o.Is(args[0]) }) {
			dialects = append(dialects, "--dialect "+string(d))
		}
	}
	if dialects == nil {
		return term.UnknownCommand("operation", args[0], cmd)
	}
	return fmt.Errorf("unknown operation %q: give %s", args[0], strings.Join(dialects, " or "))
}

// invocation is one run of a tool.
type invocation struct {
	Operation
	flags      *target.Flags
	parameters []*parameter
	content    string // the name of a file outside the workspace that holds the content to write
	session    *sessionFile
	approved   *approve.Flag
	asJSON     *bool // --json
	all        bool  // --all: every page of the result

	save    func() error // keeps the session, nil without one
	unsaved error        // of the last save
}

// newOperation returns the command that runs the tool o, with flags for its
// parameters if it is named.
func newOperation(flags *target.Flags, o Operation, named bool, session *sessionFile, approved *approve.Flag, asJSON *bool) *cobra.Command {
	i := &invocation{flags: flags, Operation: o, session: session, approved: approved, asJSON: asJSON}
	usage := o.Op
	for _, name := range o.positional {
		usage += " [" + strings.ToUpper(name) + "]"
	}
	cmd := &cobra.Command{
		Use:               usage,
		Short:             o.short,
		Example:           o.example,
		Args:              i.checkPositional,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              i.run,
	}
	if strings.Contains(o.Op, "_") {
		cmd.Aliases = []string{term.Kebab(o.Op)}
	}
	if !named {
		return cmd
	}
	i.addFlags(cmd)
	// The help is the description of the tool. It states the limits of the
	// workspace that the flags choose, which are known when they have been parsed.
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		limit := int64(0)
		if chosen, err := flags.Select(); err == nil {
			limit = chosen.MaxFileSize()
		}
		if tool, err := o.definition(limit); err == nil {
			cmd.Long = strings.ReplaceAll(tool.Description(), "`dir`", "--dir")
			if o.Op == ops.Bash { // the file that has the rest is not there for the next call
				cmd.Long, _, _ = strings.Cut(cmd.Long, " A long output is cut")
			}
			if note := notes[o.Op]; note != "" && o.dialect == "" {
				cmd.Long += "\n\n" + note
			}
			heading := "\n\nIn the JSON object of all parameters alone:"
			for _, p := range tool.Parameters() {
				if strings.HasPrefix(p.Name, "-") {
					cmd.Long += fmt.Sprintf("%s\n  %s  %s", heading, p.Name, p.Description)
					heading = ""
				}
			}
		}
		help(cmd, args)
	})
	return cmd
}

// notes say what differs from the descriptions of the tools.
var notes = map[string]string{
	ops.Bash: `It needs "tools: {bash: true}" in workspace.yaml if there is one. With --session, the
next call keeps the working directory, variables and functions, but not /tmp. Call prints
all of a long output, up to 16 MiB.`,
	ops.Ls:  `Into a pipe or a file, call prints only the names; --json prints all.`,
	ops.Run: `It needs "tools: {run: true}" in workspace.yaml.`,
	ops.ReadFile: `Call shows no images and PDFs, but names their type.
--encoding base64 prints a small file in base64.`,
}

// checkPositional refuses more arguments than there are parameters for, and any
// besides a JSON object.
func (i *invocation) checkPositional(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1 && slices.ContainsFunc(args, i.isObject):
		return fmt.Errorf("there are arguments beside the JSON object of all parameters: give one or the other; %s", i.textHint())
	case len(args) == 1 && len(i.positional) == 0 && !i.isObject(args[0]):
		return fmt.Errorf("unexpected argument %q: the parameters of %s are flags, or one JSON object", args[0], i.Op)
	case len(args) > max(len(i.positional), 1) && !i.list:
		return fmt.Errorf("unexpected argument %q: %s takes %s%s",
			args[len(i.positional)], i.Op, strings.Join(i.positional, " and "), i.instead())
	}
	return nil
}

// instead says how to give what more arguments than parameters were meant for.
func (i *invocation) instead() string {
	switch i.Op {
	case ops.Run, ops.Bash:
		return ": put all of it in quotes"
	case ops.WriteFile:
		return "; other parameters are flags, such as --content"
	}
	return "; other parameters are flags"
}

// definition returns the tool of o with all its parameters, for a workspace with a limit.
// Where it is one of the default tools, its texts do not name the others. It is made for a
// workspace in memory: the schema that the flags need must be there before a workspace is
// opened, or without one.
func (o Operation) definition(maxFileSize int64) (*tools.Tool, error) {
	opts := &tools.Options{Dialect: o.dialect, Naming: "{op}", Disable: []string{ops.Processes}, Run: o.Op == ops.Run}
	if o.Op == ops.Bash {
		opts.Bash = bashtool.New(nil)
	}
	for _, other := range Operations {
		if other.Op != o.Op && o.dialect == "" {
			opts.Disable = append(opts.Disable, other.Op)
		}
	}
	set, err := tools.New(everything(maxFileSize), opts)
	if err != nil {
		return nil, err
	}
	tool, _ := set.Lookup(o.Op)
	return tool, nil
}

// everything is a workspace that can do everything.
func everything(maxFileSize int64) *workspace.Workspace {
	return workspace.New("main", machine{memory.New(nil)}, &workspace.Options{MaxFileSize: maxFileSize})
}

// machine is memory that says that it can run commands.
type machine struct{ *memory.FS }

// Capabilities implements [fallback.Capable].
func (m machine) Capabilities() workspace.Capabilities {
	c := m.FS.Capabilities()
	c.Run = true
	return c
}

// run opens the workspace, calls the tool and prints what it returns. The tool is made again
// for this workspace, as it depends on what the workspace can do, with the settings of the
// file that limit it.
func (i *invocation) run(cmd *cobra.Command, positional []string) error {
	if cmd.Flags().Changed("session") {
		if err := term.NotEmpty(cmd, "session", "name a file"); err != nil {
			return err
		}
	}
	args, err := i.arguments(cmd, positional)
	if err != nil {
		return err
	}
	ws, chosen, err := i.flags.OpenOne(cmd.Context(), "call")
	if err != nil {
		return err
	}
	defer ws.Close()
	if len(*i.approved) > 0 {
		if err := i.approved.Check(ws); err != nil {
			return err
		}
	}
	settings := chosen.Tools()
	opts := &tools.Options{Dialect: i.dialect, Naming: "{op}", Strict: true, Timeout: settings.Timeout}
	if i.Op == ops.Bash && (settings.Bash || chosen.File == nil) && !slices.Contains(settings.Disable, ops.Bash) {
		opts.Bash = bashtool.New(&shell.Options{Output: maxOutput})
	}
	opts.Run, opts.RunOutput = i.Op == ops.Run && settings.Run, maxOutput
	opts.Disable = append(slices.Clip(settings.Disable), ops.Processes) // a command ends with this one
	if *i.session != "" || ws.Settings().ReadBeforeWrite {
		opts.ReadBeforeWrite = []string{ws.Name()}
	}
	if opts.ReadBeforeWrite != nil {
		file, err := i.session.resolve()
		if err != nil {
			return err
		}
		session, more, err := file.load(cmd.Context(), ws)
		if err != nil {
			return err
		}
		cmd.SetContext(tools.WithSession(cmd.Context(), session))
		i.save = func() error { return file.save(session, ws, more) }
	}
	cmd.SetContext(i.approved.Context(cmd, i.flags.Style))
	set, err := tools.New(ws.Workspace, opts)
	if err != nil && chosen.File != nil {
		err = chosen.File.CheckTools(func(string) error { return kind.KeyError("disable", disableError(ws, *opts, settings, err)) })
	}
	if err != nil {
		return err
	}
	tool, ok := set.Lookup(i.Op)
	if !ok {
		err = i.unavailable(chosen, ws)
		tool = nil
	}
	if err = i.print(cmd, tool, args, err); err != nil && i.unsaved != nil { // one alone is reported
		term.Say(cmd.ErrOrStderr(), "workspace: "+i.unsaved.Error())
		return err
	}
	return cmp.Or(err, i.unsaved)
}

// disableError returns err, with which no tools could be made, with a remedy if the dialect of
// the file has what it disables: nobody knows which tools of another do that.
func disableError(ws *config.Workspace, opts tools.Options, settings config.Tools, err error) error {
	given, wanted := cmp.Or(opts.Dialect, tools.DialectWorkspace), cmp.Or(tools.Dialect(settings.Dialect), tools.DialectWorkspace)
	opts.Dialect = wanted
	if _, err := tools.New(ws.Workspace, &opts); err != nil {
		return err
	}
	return fmt.Errorf("these are tools of the dialect %s: give --dialect %s; with %s, %w", wanted, wanted, given, err)
}

// maxOutput is how many bytes of an output are printed. It is more than run and bash keep: no
// call could read what this one leaves out.
const maxOutput = 32 << 20

// unavailable is the error of a tool that the workspace does not have. Its hint says which
// setting or flag is the reason, if one is.
func (i *invocation) unavailable(chosen *target.Selection, ws *config.Workspace) error {
	err := &tools.Error{Code: tools.CodePolicy, Message: i.Op + ": the workspace is read-only"}
	switch {
	case slices.Contains(chosen.Tools().Disable, i.Op):
		err.Message = i.Op + ": this tool is disabled"
		err.Hint = fmt.Sprintf("It is listed in tools.disable of %s.", target.Name(chosen.Path))
	case i.Op == ops.Bash, i.Op == ops.Run && !chosen.Tools().Run:
		err.Message, err.Hint = i.Op+": this tool is off", fmt.Sprintf("Write \"tools: {%s: true}\" in %s.", i.Op, cmp.Or(target.Name(chosen.Path), "a file of workspaces"))
	case i.Op == ops.Run:
		err.Code, err.Message = tools.CodeUnsupported, i.Op+": commands cannot run in this workspace"
		err.Hint = i.noRun(chosen, ws)
	case i.flags.ReadOnly:
		err.Hint = "Leave --read-only out."
	case chosen.File != nil && !ws.Capabilities().Write:
		err.Hint = fmt.Sprintf("It has the setting readOnly in %s.", target.Name(chosen.Path))
	case i.Op == ops.ApplyPatch && ws.Capabilities().ConditionalWrite && ws.Capabilities().Versions:
		err.Code, err.Message = tools.CodeUnsupported, i.Op+": the workspace has no transactions"
		err.Hint = "Most relaxed folders have none."
		if ws.Settings().Mode == config.ModeAudit {
			err.Hint = fmt.Sprintf("It has mode: audit in %s.", target.Name(chosen.Path))
		}
	default:
		err.Code, err.Message = tools.CodeUnsupported, i.Op+": the provider cannot do this"
	}
	return &term.ToolError{Tool: err}
}

// noRun says why commands cannot run in a workspace of a file.
func (i *invocation) noRun(chosen *target.Selection, ws *config.Workspace) string {
	switch {
	case i.flags.ReadOnly:
		return "Commands could change files: leave --read-only out."
	case ws.Settings().ReadOnly:
		return "Commands could change files, and the workspace is read-only."
	case ws.Quota() != nil:
		return fmt.Sprintf("It has a quota in %s, and nobody counts what a command writes.", target.Name(chosen.Path))
	}
	if why := chosen.File.WhyNoRun(ws); why != "" {
		return strings.ToUpper(why[:1]) + why[1:] + "."
	}
	return "The provider must run commands, as a container and a folder with run: {enabled: true} do."
}

// print calls the tool and prints its result. If there is an error already, it prints that.
// With --json, the error of a tool is printed as JSON on standard output, and not again.
func (i *invocation) print(cmd *cobra.Command, tool *tools.Tool, args arguments, err error) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	var object json.RawMessage
	if err == nil {
		object, err = args.encode()
	}
	if err == nil {
		var v view.View = &view.JSON{Out: out}
		if !*i.asJSON {
			op := i.Op
			if i.dialect != "" {
				op = "" // what another dialect says is the text for the model
			}
			v = view.New(op, object, term.Console{Writer: out, Style: i.flags.Style(cmd.OutOrStdout()), Notes: cmd.ErrOrStderr()})
		}
		if err = i.follow(cmd.Context(), tool, args, object, v); err == nil {
			err = v.End()
		}
	}
	var refused *term.ToolError
	if errors.As(err, &refused) && refused.Tool.Code == tools.CodeReadRequired && *i.session == "" {
		// Without a session, no call knows what another has read.
		refused.Tool.Hint = "Read it first, and give both calls the same --session FILE."
	}
	// A pattern or script such as {"name" is taken for a mistyped object.
	if refused != nil && bytes.HasPrefix(args.object, []byte("{")) && !json.Valid(args.object) {
		refused.Tool.Hint += " " + wording.Sentence(i.textHint())
	}
	if *i.asJSON && refused != nil {
		refused.Reported = true
		err = errors.Join(term.PrintJSON(out, refused.Tool), err)
	}
	if flushed := out.Flush(); flushed != nil {
		err = errors.Join(err, term.Fail(flushed))
	}
	return err
}

// follow calls the tool, again and again if all pages are wanted, and gives each result to v.
// object is args as JSON. Pages of a file must have one version, or their text would be one
// that the file never had; a conflict is reported then, after what has been printed. So is a
// page that leads to itself, which would never end. The session is saved after the first page,
// before that is printed, as nobody may read it, and at the end; and even if the call has failed:
// what it has read and written until then counts.
func (i *invocation) follow(ctx context.Context, tool *tools.Tool, args arguments, object json.RawMessage, v view.View) error {
	version, last, n := "", view.Page{}, 0
	defer func() {
		if i.save != nil && n > 0 { // to save each page would cost more than to read it
			i.unsaved = i.save()
		}
	}()
	for ; ; n++ {
		result, err := tool.Call(ctx, object)
		if i.save != nil && n == 0 {
			i.unsaved = i.save()
		}
		if err != nil {
			return term.Fail(err)
		}
		if result.IsError {
			return &term.ToolError{Tool: result.Error}
		}
		page, err := v.Take(result)
		if err != nil {
			return err
		}
		if n == 0 {
			version = page.Version
		}
		if page.Version != version {
			return &term.ToolError{Tool: &tools.Error{
				Code: tools.CodeConflict, Message: page.Path + ": file has changed while it was read", Path: page.Path,
				Hint: "Try again.",
			}}
		}
		v.Show()
		if !i.all || page.Last() {
			return nil
		}
		if page == last {
			return term.Failf("--all: a page leads to itself")
		}
		last = page
		if object, err = args.next(page); err != nil {
			return term.Fail(err)
		}
	}
}

// next returns the arguments for the page after p as JSON. A page says by what it can be
// continued: a line of a file, a column of a long line, or a cursor.
func (a arguments) next(p view.Page) (json.RawMessage, error) {
	if a.values == nil {
		if err := json.Unmarshal(a.object, &a.values); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
	}
	switch {
	case p.NextLine > 0:
		a.values["line"] = p.NextLine
	case p.NextColumn > 0:
		a.values["column"] = p.NextColumn
	default:
		a.values["cursor"] = p.NextCursor
	}
	return json.Marshal(a.values)
}
