package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	sessionid "github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// Tool is one operation that a model can call. It is safe for concurrent use.
type Tool struct {
	// Op is the operation, such as "read_file", as the dialect of the set spells it.
	Op string
	// Name is what the model calls.
	Name string
	// Annotations tell a client what kind of tool it is.
	Annotations Annotations

	toolset *toolset
	handler
	does    string            // the operation that hints take it for
	members []*Tool           // of a shared tool: the tool of each workspace
	without map[string]string // of a shared tool: why other workspaces do not have it, by name

	// Each is made once, when it is needed first.
	description           func() string
	input                 func() *jsonschema.Schema // what checks arguments
	declared              func() *jsonschema.Schema // input, as models see it
	inputJSON, outputJSON func() json.RawMessage
}

// Description tells the model what the tool does and when to use it.
func (t *Tool) Description() string { return t.description() }

// InputSchema returns the JSON Schema of the arguments, an object. The caller
// must not change it.
func (t *Tool) InputSchema() json.RawMessage { return t.inputJSON() }

// Parameter is a parameter of a [Tool], for a caller that has no use for JSON Schema, such
// as a command line.
type Parameter struct {
	// Name is its name.
	Name string
	// Type is its type in JSON: "string", "integer", "boolean", "array" or "object".
	Type string
	// Description says to a model what it is for.
	Description string
	// Default is what stands for it where it is left out, nil for nothing.
	Default json.RawMessage
	// Values are what a string can be, nil for anything.
	Values []string
	// Required says that it cannot be left out.
	Required bool
}

// Parameters returns what InputSchema says of each parameter, in the order of the schema.
//
// A Default of false or 0 is nil, because the schema leaves these out; with
// [DescriptionsCompact], every Default in [DialectWorkspace] is. The caller owns the slice,
// but must not change the bytes of a Default.
func (t *Tool) Parameters() []Parameter {
	schema := t.declared()
	all := make([]Parameter, len(schema.PropertyOrder))
	for i, name := range schema.PropertyOrder {
		s := schema.Properties[name]
		p := Parameter{Name: name, Type: s.Type, Description: s.Description, Default: s.Default, Required: slices.Contains(schema.Required, name)}
		for _, value := range s.Enum {
			p.Values = append(p.Values, fmt.Sprint(value))
		}
		all[i] = p
	}
	return all
}

// OutputSchema returns the JSON Schema of [Result].Structured where IsError is
// not set. The caller must not change it.
func (t *Tool) OutputSchema() json.RawMessage { return t.outputJSON() }

// MarshalJSON returns what [FormatJSON] has of the tool.
func (t *Tool) MarshalJSON() ([]byte, error) {
	return encode(jsonTool{t.Op, t.Name, t.Description(), t.InputSchema(), t.OutputSchema(), t.Annotations}, "")
}

// Annotations are facts about a tool for the client that asks for approval.
type Annotations struct {
	// Title is the name for people.
	Title string `json:"title"`
	// ReadOnly says that the tool changes nothing.
	ReadOnly bool `json:"readOnly"`
	// Destructive says that the tool can replace or remove what is there.
	Destructive bool `json:"destructive"`
	// Idempotent says that a second call with the same arguments changes
	// nothing more.
	Idempotent bool `json:"idempotent"`
	// OpenWorld says that the tool reaches beyond the workspace, as run does.
	OpenWorld bool `json:"openWorld"`
}

// Call runs the tool with args, one JSON object; empty args are an object
// without members. What goes wrong is told in the result, a call that takes
// longer than [Options].Timeout included. Call returns a few seconds after that
// or after the end of ctx even if the [workspace.FileSystem] ignores its
// context; what it does then continues until it returns.
//
// # Errors
//
// The error of ctx once it has ended. Any other error is a bug. A panic, as of the
// [workspace.FileSystem], is the caller's to recover, unless the call has been given up.
func (t *Tool) Call(ctx context.Context, args json.RawMessage) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	if t.members != nil {
		return t.callMember(ctx, args)
	}
	limited := ctx
	if t.toolset.timeout >= 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, t.toolset.timeout)
		defer cancel()
	}
	return t.callBounded(ctx, limited, args)
}

// callMember runs the tool of the workspace that args name. The time of the call begins in
// the member. What is wrong with the name of the workspace is told in the words of the shared
// tool, as no member is known yet.
func (t *Tool) callMember(ctx context.Context, args json.RawMessage) (*Result, error) {
	member, rest, err := t.takeWorkspace(args)
	if err != nil {
		return t.toolset.failed(t.toolset.explain(ctx, t.does, err))
	}
	return member.Call(ctx, rest)
}

// outcome is what a call ended with. Either bug is set, or the rest is what [Tool.Call]
// returns.
type outcome struct {
	result *Result
	err    error
	bug    string // what the call panicked with
}

// callBounded is call, and returns soon after limited has ended.
//
// The goroutine of a late call may still read args, and change files, after callBounded has
// returned. It never blocks on its outcome: done has room for it.
func (t *Tool) callBounded(ctx, limited context.Context, args json.RawMessage) (*Result, error) {
	done := make(chan outcome, 1)
	go func() {
		// This error remains if the call ends by runtime.Goexit, which runs the deferred
		// function without a panic.
		o := outcome{err: errors.New(t.Name + ": the goroutine of the call has ended")}
		defer func() {
			if r := recover(); r != nil {
				o.bug = fmt.Sprintf("%v\n\n%s", r, debug.Stack())
			}
			done <- o
		}()
		o.result, o.err = t.call(ctx, limited, args)
	}()
	// A file system that honors its context gets settleTime to clean up and to say what it
	// has done. stop runs before the cancel of Call, so a call in time starts no timer.
	late := make(chan struct{})
	stop := context.AfterFunc(limited, func() { time.AfterFunc(settleTime, func() { close(late) }) })
	defer stop()
	select {
	case o := <-done:
		if o.bug != "" {
			// The caller's recover sees it, as without the goroutine. The text has the stack
			// of the goroutine, which would be lost otherwise.
			panic(o.bug)
		}
		return o.result, o.err
	case <-late:
		return t.ended(ctx, givenUp)
	}
}

// ended returns what a call ends with whose time is up: the error of ctx, or a
// result if it was the time of the tool, which says what has become of the call.
func (t *Tool) ended(ctx context.Context, end string) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return t.toolset.failed(t.toolset.timedOut(t.does, end))
}

// identified returns ctx with the session and the workspace, for the layers below.
func (ts *toolset) identified(ctx context.Context) context.Context {
	if sessionid.ID(ctx) == "" {
		ctx = sessionid.WithID(ctx, ts.own.ID())
	}
	return sessionid.WithWorkspace(ctx, ts.ws.Name())
}

// call runs the tool within limited, which ends with ctx or before it.
//
// The steps are the same for every tool: the arguments are checked, and repaired unless the
// set is strict; the context gets the session, the call and the workspace, for the layers
// below that record who did what; the handler works; and its answer becomes the result. An
// error on the way becomes a result, too, by [toolset.explain]. Notes about the arguments are
// in both.
func (t *Tool) call(ctx, limited context.Context, args json.RawMessage) (*Result, error) {
	args, notes, err := t.arguments(args)
	if err != nil {
		return t.toolset.failed(t.toolset.explain(limited, t.does, err))
	}
	limited = sessionid.WithCall(t.toolset.identified(limited))
	if !t.Annotations.ReadOnly {
		t.toolset.recover(limited)
	}
	out, err := t.run(limited, t.toolset, args)
	switch {
	case err == nil:
		result, err := newResult(out)
		if err == nil {
			for i := range result.Parts {
				result.Parts[i].Workspace = t.toolset.ws.Name()
			}
		}
		return result.withNotes(notes), err
	// Once the time is up, it does not matter what err says.
	case limited.Err() != nil:
		return t.ended(ctx, stopped)
	}
	result, err := t.toolset.failed(t.toolset.explain(limited, t.does, err))
	return result.withNotes(notes), err
}

// toolset is what the tools of one set share.
//
// It is complete when the set is returned, and is not changed afterwards, so that calls read
// it without a lock. What changes is behind a pointer and synchronizes itself: a toolset is
// copied for shared tools and for the view of a transaction, and all copies must share the
// cache, the session, the commands and the flag of the recovery.
type toolset struct {
	dialect   *dialect
	ws        *workspace.Workspace
	whole     *workspace.Workspace // ws with a limit on files that are read whole
	cache     *readCache           // of files that read_file reads
	own       *Session             // of calls without one
	guarded   bool                 // a file has to be read before it is changed
	timeout   time.Duration        // of a call; negative for none
	recovered *atomic.Bool         // what programs have left that were killed has been looked for
	strict    bool                 // arguments have the types of the schema
	compact   bool                 // descriptions are short
	names     map[string]string    // the name of the tool for each op of the default set
	caps      workspace.Capabilities
	bash      *bash // nil if the set has no tool of that name
	commands  *sessionCommands
	runOutput int // how many bytes of an output run returns

	// Of workspaces that share their tools:
	scope       string // what tells the cursors of one from those of another
	note        string // what a model must know about it
	unlikeSizes bool   // the toolset describes workspaces that differ in MaxFileSize
}

// newToolset returns what the tools of ws share, without the names of the tools, which
// [newSet] fills in, and without the tool bash, which [Set.addBash] does.
//
// whole is ws with a limit of at most wholeBytes, for every tool that holds a file in memory.
// It is ws itself if the limit of ws is not higher. What streams, such as a search or a copy,
// goes to ws and has the limit of ws only.
func newToolset(ws *workspace.Workspace, d *dialect, cache *readCache, o Options, own *Session) *toolset {
	timeout := o.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ts := &toolset{dialect: d, ws: ws, whole: ws, cache: cache, own: own, guarded: slices.Contains(o.ReadBeforeWrite, ws.Name()), timeout: timeout, strict: o.Strict, compact: o.Descriptions == DescriptionsCompact, names: map[string]string{}, caps: ws.Capabilities(), recovered: new(atomic.Bool), commands: new(sessionCommands), runOutput: cmp.Or(o.RunOutput, outputBytes)}
	if limit := ws.MaxFileSize(); limit == 0 || limit > wholeBytes {
		ts.whole = workspace.New(ws.Name(), ws, &workspace.Options{MaxFileSize: wholeBytes})
	}
	return ts
}

// recover undoes the patches of programs that were killed, before the first change. What
// cannot be undone yet is tried again by the next patch. It is tried once for each workspace
// of a set. Nobody is asked for an approval, and a failure does not keep the call from its
// work.
func (ts *toolset) recover(ctx context.Context) {
	if !ts.recovered.Swap(true) {
		_ = transaction.Recover(policy.WithApprover(ctx, nil), ts.ws)
	}
}

// answer is the structured result of a tool. It is marshaled as JSON for the [Result], so its
// exported fields are the schema of the result, and its unexported ones are for the text
// only.
type answer interface {
	// text is what a model reads.
	// Its tool bounds it: nobody cuts it afterwards.
	text() string
}

// parted is an answer that may have parts other than text.
type parted interface {
	parts() []Part
}

// quoting is an answer whose text has a part that its structured result has, too. It saves a
// second encoding of a long text: see [Result.AppendTextJSON].
type quoting interface {
	// excerpt returns that part, given the structured result.
	excerpt(structured []byte) excerpt
}
