package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// Options choose the tools of a [Set].
type Options struct {
	// Dialect chooses the tools by the names, parameters and results that a model
	// or a client knows. Empty means [DialectWorkspace].
	Dialect Dialect
	// Naming is the template of tool names, in which {name} stands for the
	// workspace's name and {op} for the operation: "workspace_{op}", "{op}".
	// Empty means the one of the dialect, which is [DefaultNaming] or "{op}".
	Naming string
	// Descriptions says how much a model is told about each tool. Empty means
	// [DescriptionsFull].
	Descriptions Descriptions
	// Disable lists operations that get no tool; "bash", "run" and
	// "processes" are some whatever the set has. Without "run", there is no "processes".
	Disable []string
	// Strict refuses arguments that do not have the types and bounds of the
	// schema. Without it, what has a plain meaning is understood, and the
	// result's notes say how: "5" for 5, "true" for true, a list written as a
	// string of JSON, an empty list for one that is left out, a limit above its maximum.
	Strict bool
	// Timeout is how long one call may take. Zero means [DefaultTimeout], a
	// negative value no limit except the caller's context.
	Timeout time.Duration
	// ReadCache is how many bytes of the files that read_file read last are kept
	// in memory, for the next pages of them. Zero means [DefaultReadCache], a
	// negative value none.
	ReadCache int64
	// ReadBeforeWrite are the names of the workspaces in which a tool changes a
	// file only if the same [Session] has read it, and nobody has changed it
	// since. write_file over an existing file needs all its lines, edit_file those
	// that it replaces; move and rm need any. New files, directories and symlinks
	// need nothing. What grep shows does not count, and what run changes is not
	// checked. The refusals are [CodeReadRequired] and [CodeConflict].
	ReadBeforeWrite []string
	// Shared says whether the workspaces of [NewAll] share one set of tools.
	// Empty means [SharedAuto].
	Shared Sharing
	// MaxTools is the most tools, bash aside, that SharedAuto gives workspaces that
	// share none. Zero means [DefaultMaxTools]; a negative number is refused.
	MaxTools int
	// Bash makes the shells of the tool "bash", which runs a script over all
	// workspaces of the set. Nil means that there is no such tool. Package
	// shell/bashtool has the one of this module.
	Bash Bash
	// Run adds the tools "run" and "processes" for the workspaces that can run commands
	// ([workspace.Capabilities].Run). A command is asked about only if a rule for
	// [policy.OpRun] says so. Commands in the background end with their session
	// ([Session.Close]), and when the workspace is closed.
	Run bool
	// RunOutput is how many bytes of the output of a command "run" returns. Of more, the
	// middle is cut, and a file that read_file reads has the first 16 MiB. Zero means
	// 24 KiB; a negative number is refused.
	RunOutput int
	// About says to a model what is in the workspaces that share their tools,
	// by their names.
	About map[string]string
}

// check returns the error of an option that means nothing.
func (o Options) check() error {
	switch {
	case o.Descriptions != "" && o.Descriptions != DescriptionsFull && o.Descriptions != DescriptionsCompact:
		return fmt.Errorf("unknown descriptions %q: they are %s or %s", o.Descriptions, DescriptionsFull, DescriptionsCompact)
	case o.MaxTools < 0:
		return fmt.Errorf("%w: MaxTools is %d: give the most tools that a set may have, or 0 for %d", fs.ErrInvalid, o.MaxTools, DefaultMaxTools)
	case o.RunOutput < 0:
		return fmt.Errorf("%w: RunOutput is %d: give a number of bytes, or 0 for %d", fs.ErrInvalid, o.RunOutput, outputBytes)
	}
	return nil
}

// Descriptions is how much a model is told about the tools.
type Descriptions string

// The values of Descriptions.
const (
	// DescriptionsFull explains each tool and each parameter.
	DescriptionsFull Descriptions = "full"
	// DescriptionsCompact says in a sentence or two what a tool does, and
	// explains only parameters whose names do not. In [FormatAnthropic] it takes about
	// 60 % of the characters of DescriptionsFull; the share in other formats differs.
	// Dialects other than [DialectWorkspace] have short descriptions only.
	DescriptionsCompact Descriptions = "compact"
)

// Set is the tools of a workspace, or of several. It is safe for concurrent
// use.
type Set struct {
	tools  []*Tool
	shared bool
}

// New returns the tools of ws: those that its capabilities allow and opts does
// not disable. Nil opts mean the zero Options.
//
// # Errors
//
// A nil ws, a naming that does not make a valid name of at most [MaxNameLength]
// characters for every tool, an unknown dialect, unknown descriptions, an
// operation in opts.Disable that the dialect does not have, and [io/fs.ErrInvalid] for a
// negative MaxTools or RunOutput.
func New(ws *workspace.Workspace, opts *Options) (*Set, error) {
	if ws == nil {
		return nil, errors.New("tools: no workspace")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	d, err := dialectOf(o.Dialect)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	if o.Run {
		d = d.withCommands()
	}
	ts := newToolset(ws, d, newReadCache(o.ReadCache), o, NewSession())
	set, err := newSet(ts, o.Naming, o.Disable)
	if err == nil {
		err = set.addBash([]*toolset{ts}, cmp.Or(o.Naming, d.naming), o)
	}
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	return set, nil
}

// newSet returns the tools of one workspace, without bash. An empty naming means the one of
// the dialect.
//
// All names are known before the first tool is made, because the descriptions and hints of
// one tool name others. Where several tools of a dialect do the same, such as read_text_file
// and read_file, they name the first.
func newSet(ts *toolset, naming string, disable []string) (*Set, error) {
	if naming == "" {
		naming = ts.dialect.naming
	}
	chosen, err := ts.dialect.choose(ts.ws, disable)
	if err != nil {
		return nil, err
	}
	if err := checkNaming(naming); err != nil {
		return nil, err
	}
	names := make([]string, len(chosen))
	for i, s := range chosen {
		if names[i], err = toolName(naming, ts.ws.Name(), s.op); err != nil {
			return nil, err
		}
		if !ts.has(s.does()) {
			ts.names[s.does()] = names[i]
		}
	}
	set := &Set{}
	for i, s := range chosen {
		set.tools = append(set.tools, ts.tool(s, names[i]))
	}
	return set, set.collision()
}

// choose returns the specs, in order, that are possible in ws and nobody disabled.
//
// It is no error to disable what ws cannot do anyway: one list can be for several workspaces.
func (d *dialect) choose(ws *workspace.Workspace, disable []string) ([]spec, error) {
	for _, op := range disable {
		if !slices.Contains(optional, op) && !slices.ContainsFunc(d.specs, func(s spec) bool { return s.op == op }) {
			return nil, d.unknownOp(op)
		}
	}
	return slices.DeleteFunc(slices.Clone(d.specs), func(s spec) bool {
		return slices.Contains(disable, s.op) || s.op == ops.Processes && slices.Contains(disable, ops.Run) || !s.possible(ws)
	}), nil
}

// optional are the operations of tools that a set has only if its options say so.
var optional = []string{ops.Bash, ops.Run, ops.Processes}

// unknownOp returns the error of an operation that the dialect does not have. It lists an
// operation once that has two specs side by side, for workspaces that can be written to and
// for others.
func (d *dialect) unknownOp(op string) error {
	known := make([]string, len(d.specs))
	for i, s := range d.specs {
		known[i] = s.op
	}
	known = append(slices.Compact(known), slices.DeleteFunc(slices.Clone(optional), func(op string) bool { return slices.Contains(known, op) })...)
	hint := wording.DidYouMean(op, known)
	if hint == "" {
		hint = "the operations are " + strings.Join(known, ", ")
	}
	return fmt.Errorf("cannot disable %q: no such operation; %s", op, hint)
}

// Merge returns one set of the tools of sets, in their order, for a model that
// is given several workspaces.
//
// # Errors
//
// Two tools with one name.
func Merge(sets ...*Set) (*Set, error) {
	merged := merge(sets)
	if err := merged.collision(); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	return merged, nil
}

// merge is [Merge] without the test for names that collide.
func merge(sets []*Set) *Set {
	merged := &Set{}
	for _, s := range sets {
		merged.tools = append(merged.tools, s.tools...)
		merged.shared = merged.shared || s.shared
	}
	return merged
}

// collision returns the error of two tools with one name. Clients differ on
// letter case, so it does not tell names apart.
func (s *Set) collision() error {
	owner := map[string]*Tool{}
	for _, t := range s.tools {
		key := strings.ToLower(t.Name)
		if first, taken := owner[key]; taken {
			return fmt.Errorf("tool name %q collides: it is %s of %s and %s of %s; use a naming with {name}, and names that differ",
				t.Name, first.Op, first.owner(), t.Op, t.owner())
		}
		owner[key] = t
	}
	return nil
}

// owner says whose tool t is, for the error of a collision.
func (t *Tool) owner() string {
	if t.members != nil {
		return "several workspaces"
	}
	return fmt.Sprintf("workspace %q", t.toolset.ws.Name())
}

// Shared reports whether the set has tools with a parameter that names the
// workspace.
func (s *Set) Shared() bool { return s.shared }

// Readable returns the workspaces, in order, that the set has a tool for which reads
// files, as read_file and read_files do; grep, bash and memory do not count.
func (s *Set) Readable() []*workspace.Workspace {
	var all []*workspace.Workspace
	for _, t := range s.tools {
		if t.does != ops.ReadFile && t.does != ops.ReadFiles || t.Op == memoryTool {
			continue
		}
		for _, member := range slices.Concat(t.members, []*Tool{t}) {
			if ws := member.toolset.ws; !slices.Contains(all, ws) {
				all = append(all, ws)
			}
		}
	}
	return all
}

// Tools returns the tools in the order of their dialect, which is read_file, read_files,
// write_file, edit_file, apply_patch, ls, tree, glob, grep, stat, mkdir, rm, move, copy for
// the default one, then run, processes and bash if there are any. The caller owns the slice.
func (s *Set) Tools() []*Tool { return slices.Clone(s.tools) }

// Lookup returns the tool with the given name. The name may be an operation, unless the set
// has several tools for it. A tool that is called so is preferred to one with the operation.
// Letters in another case are another name.
func (s *Set) Lookup(name string) (*Tool, bool) {
	var byOp []*Tool
	for _, t := range s.tools {
		if t.Name == name {
			return t, true
		}
		if t.Op == name {
			byOp = append(byOp, t)
		}
	}
	if len(byOp) != 1 {
		return nil, false
	}
	return byOp[0], true
}

// Call runs the tool with the given name, as [Tool.Call] does. A name that no tool
// has is told in the result.
//
// # Errors
//
// Those of [Tool.Call], which also says what becomes of a panic.
func (s *Set) Call(ctx context.Context, name string, args json.RawMessage) (*Result, error) {
	if tool, ok := s.Lookup(name); ok {
		return tool.Call(ctx, args)
	}
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.Name
	}
	hint := "The tools are " + strings.Join(names, ", ") + "."
	last := name[strings.LastIndexByte(name, '.')+1:] // without a prefix such as "functions."
	near := wording.Closest(last, names)
	if tool, ok := s.Lookup(last); ok {
		near = tool.Name
	}
	if near != "" {
		hint = fmt.Sprintf("Did you mean %q? %s", near, hint)
	}
	var text func(*Error) string
	if len(s.tools) > 0 {
		text = s.tools[0].toolset.dialect.fail
	}
	return failed(&Error{Code: CodeInvalidArguments, Message: fmt.Sprintf("there is no tool %q", clip(name, pathChars)), Hint: clip(hint, errorChars)}, text)
}

// spec declares one tool; the file of each tool has one.
//
// It is data, so that a tool exists only where it is possible, and costs little until
// somebody asks for its description. needs decides by capabilities whether a workspace has
// the tool; several specs of one op are for workspaces that differ in that. shape adds what
// is not in the Go type of the parameters: bounds, defaults, enumerations, and which
// parameters a workspace cannot honor, which are deleted.
type spec struct {
	op          string
	like        string // the default set's operation that does the same; empty for op itself
	about       string // what a model is told; empty for what the file op.md says
	annotations Annotations
	needs       func(workspace.Capabilities) bool // nil: nothing
	shape       func(p properties, ts *toolset)   // says what Go types cannot
	handler
}

// does returns the operation of the default set that s stands for in hints.
func (s spec) does() string { return cmp.Or(s.like, s.op) }

// possible reports whether ws can do what the tool does. A patch is a transaction, which a
// workspace with policies may be unable to undo: see [transaction.Check].
func (s spec) possible(ws *workspace.Workspace) bool {
	if s.does() == ops.ApplyPatch && transaction.Check(ws) != nil {
		return false
	}
	return s.needs == nil || s.needs(ws.Capabilities())
}

// specs lists the tools of the default dialect, in the order of every set.
var specs = []spec{
	readFileSpec, readFilesSpec, writeFileSpec, editFileSpec, applyPatchSpec, lsSpec, treeSpec, globSpec, grepSpec,
	statSpec, mkdirSpec, rmSpec, moveSpec, copyFileSpec,
}

// handler does what a tool does. run and plan decode the same arguments, which the schema of
// newInput has accepted.
type handler struct {
	newInput, newOutput func() *jsonschema.Schema                                                              // make the schemas of the arguments and the result
	run                 func(ctx context.Context, ts *toolset, args json.RawMessage) (answer, error)           // decodes arguments and calls the tool
	plan                func(ctx context.Context, ts *toolset, args json.RawMessage) ([]policy.Request, error) // decodes arguments and says what the call would do
}

// define makes a handler of a function from parameters to an answer, and one from
// parameters to what the first would touch.
//
// handle and preflight get parameters of their own, which they may change. handle may return
// any Out beside an error: it is dropped.
func define[In any, Out answer](handle func(context.Context, *toolset, *In) (Out, error),
	preflight func(context.Context, *toolset, *In) ([]policy.Request, error)) handler {
	run := func(ctx context.Context, ts *toolset, args json.RawMessage) (answer, error) {
		in := new(In)
		if err := decode(args, in); err != nil {
			return nil, err
		}
		out, err := handle(ctx, ts, in)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	plan := func(ctx context.Context, ts *toolset, args json.RawMessage) ([]policy.Request, error) {
		in := new(In)
		if err := decode(args, in); err != nil {
			return nil, err
		}
		return preflight(ctx, ts, in)
	}
	return handler{newInput: inputOf[In], newOutput: outputOf[Out], run: run, plan: plan}
}

// outputOf infers the schema of a result from its Go type. It allows members that it does not
// describe, so that a client with an old schema accepts a result of a newer version, and the
// notes that [Result] adds.
func outputOf[Out any]() *jsonschema.Schema {
	s := must(jsonschema.For[Out](nil))
	notNull(s)
	open(s)
	return s
}

// inputOf infers the schema of arguments from their Go type. Every call makes a new schema,
// which the caller may change. A field is required unless it has omitempty, and its
// description is the tag jsonschema.
func inputOf[In any]() *jsonschema.Schema {
	s := must(jsonschema.For[In](nil))
	if s.Properties == nil { // of a tool without parameters
		s.Properties = map[string]*jsonschema.Schema{}
	}
	notNull(s)
	return s
}

// DefaultNaming is the template of tool names in [DialectWorkspace] where Options has none.
const DefaultNaming = "workspace__{name}__{op}"

// toolName fills in a naming template, which has been checked, for one operation. The length
// is in bytes, which are characters here.
func toolName(naming, workspaceName, op string) (string, error) {
	if strings.Contains(naming, "{name}") && !acceptedName().MatchString(workspaceName) {
		return "", fmt.Errorf("workspace name %q cannot be part of a tool name: it needs letters, digits, \"_\" and \"-\" only; "+
			"rename the workspace or use a naming without {name}", workspaceName)
	}
	name := strings.ReplaceAll(strings.ReplaceAll(naming, "{op}", op), "{name}", workspaceName)
	if len(name) > MaxNameLength {
		return "", fmt.Errorf("tool name %q has %d characters, and the limit is %d: shorten the workspace name or the naming",
			name, len(name), MaxNameLength)
	}
	return name, nil
}

// checkNaming returns the error of a template that cannot make a valid name for every
// operation. {name} is optional; {op} is not.
func checkNaming(naming string) error {
	rest := strings.NewReplacer("{name}", "", "{op}", "").Replace(naming)
	switch {
	case !strings.Contains(naming, "{op}"):
		return fmt.Errorf("naming %q needs {op}, or all tools have one name", naming)
	case rest != "" && !acceptedName().MatchString(rest):
		return fmt.Errorf("naming %q may have letters, digits, \"_\", \"-\", {name} and {op} only", naming)
	}
	return nil
}

// acceptedName matches names whose characters all vendors accept in the name of
// a tool.
var acceptedName = lazyregexp.New(`^[a-zA-Z0-9_-]+$`)
