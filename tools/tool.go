package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/workspace"
)

// Tool is one operation that a model can call. It is safe for concurrent use.
type Tool struct {
	// Op is the operation, as in workspace.OpReadFile.
	Op string `json:"op"`
	// Name is what the model calls.
	Name string `json:"name"`
	// Description tells the model what the tool does and when to use it.
	Description string `json:"description"`
	// InputSchema is the JSON Schema of the arguments, an object.
	InputSchema json.RawMessage `json:"inputSchema"`
	// OutputSchema is the JSON Schema of [Result].Structured where IsError is
	// not set.
	OutputSchema json.RawMessage `json:"outputSchema"`
	// Annotations tell a client what kind of tool it is.
	Annotations Annotations `json:"annotations"`

	kit   *kit
	input *jsonschema.Schema
	run   func(ctx context.Context, k *kit, args json.RawMessage) (answer, error)
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
	// OpenWorld says that the tool reaches beyond the workspace. None does.
	OpenWorld bool `json:"openWorld"`
}

// Call runs the tool with args, one JSON object; empty args are an object
// without members. What goes wrong is told in the result.
//
// # Errors
// The error of ctx once it has ended. Any other error is a bug.
func (t *Tool) Call(ctx context.Context, args json.RawMessage) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	out, err := t.answer(ctx, args)
	if err == nil {
		return newResult(out)
	}
	if ended := ctx.Err(); ended != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, ended)
	}
	return newErrorResult(t.kit.explain(ctx, t.Op, err))
}

func (t *Tool) answer(ctx context.Context, args json.RawMessage) (answer, error) {
	if err := checkArguments(t.input, args); err != nil {
		return nil, err
	}
	return t.run(ctx, t.kit, args)
}

// kit is what the tools of one set share.
type kit struct {
	ws    *workspace.Workspace
	whole *workspace.Workspace // ws with a limit on files that are read whole
	names map[string]string    // the name of each op in the set
}

func newKit(ws *workspace.Workspace) *kit {
	k := &kit{ws: ws, whole: ws, names: map[string]string{}}
	if limit := ws.MaxFileSize(); limit == 0 || limit > wholeBytes {
		k.whole = workspace.New(ws.Name(), ws, &workspace.Options{MaxFileSize: wholeBytes})
	}
	return k
}

// answer is the structured result of a tool.
type answer interface {
	// text is what a model reads.
	text() string
}

// pictured is an answer that may have an image.
type pictured interface {
	image() *Image
}
