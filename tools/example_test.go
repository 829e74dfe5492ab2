package tools_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func Example() {
	ctx := context.Background()
	ws := workspace.New("docs", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "hello.txt", []byte("Hello, World!\n"), nil); err != nil {
		fmt.Println(err)
		return
	}
	set, err := tools.New(ws, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// A model answers with the name of a tool and its arguments.
	tool, _ := set.Lookup("workspace__docs__grep")
	result, err := tool.Call(ctx, json.RawMessage(`{"pattern": "hello", "ignoreCase": true}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text)
	// Output:
	// 1 match in 1 file
	// hello.txt
	// 1:Hello, World!
}

func ExampleTool_Call_error() {
	ctx := context.Background()
	set, err := tools.New(workspace.New("docs", memory.New(nil), nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	tool, _ := set.Lookup("read_file")
	result, err := tool.Call(ctx, json.RawMessage(`{"path": "a.txt", "lines": "1-10"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.IsError, result.Error.Code)
	fmt.Println(result.Error.Message)
	fmt.Println(result.Error.Hint)
	// Output:
	// true INVALID_ARGUMENTS
	// unknown parameter "lines"
	// Did you mean "line"? The parameters are path, line, limit, tail, column, lineNumbers, unlessVersion, encoding.
}

func ExampleTool_Preflight() {
	ctx := context.Background()
	set, err := tools.New(workspace.New("docs", memory.New(nil), nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	tool, _ := set.Lookup("write_file")
	requests, err := tool.Preflight(ctx, json.RawMessage(`{"path": "/notes.txt", "content": "remember the milk\n"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range requests {
		fmt.Printf("%s %s\n%s", r.Op, r.Path, r.Diff)
	}
	// Output:
	// write notes.txt
	// --- a/notes.txt
	// +++ b/notes.txt
	// @@ -0,0 +1 @@
	// +remember the milk
}

// Several workspaces can share one set, whose tools have a parameter for the workspace.
func ExampleNewAll() {
	ctx := context.Background()
	set, err := tools.NewAll([]*workspace.Workspace{
		workspace.New("docs", memory.New(nil), nil),
		workspace.New("code", memory.New(nil), nil),
	}, &tools.Options{Shared: tools.SharedTrue, Disable: []string{"rm"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(set.Tools()), "tools")
	result, err := set.Call(ctx, "write_file", json.RawMessage(`{"workspace": "code", "path": "go.mod", "content": "module m\n"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text)
	// Output:
	// 13 tools
	// Created go.mod (9 bytes, version 1).
}

// With a dialect, the tools are those that a model already knows.
func ExampleDialect() {
	set, err := tools.New(workspace.New("docs", memory.New(nil), nil), &tools.Options{Dialect: tools.DialectClaudeCode})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range set.Tools() {
		fmt.Println(tool.Name)
	}
	// Output:
	// Read
	// Write
	// Edit
	// MultiEdit
	// Glob
	// Grep
	// LS
}

// A session has read some files. Where the options say so, only these can be changed.
func ExampleSession() {
	ws := workspace.New("docs", memory.New(nil), nil)
	if _, err := ws.WriteFile(context.Background(), "a.txt", []byte("one\n"), nil); err != nil {
		fmt.Println(err)
		return
	}
	set, err := tools.New(ws, &tools.Options{ReadBeforeWrite: []string{"docs"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := tools.WithSession(context.Background(), tools.NewSession()) // one for each run of an agent
	for _, c := range [][2]string{
		{"edit_file", `{"path": "a.txt", "oldText": "one", "newText": "two"}`},
		{"read_file", `{"path": "a.txt"}`},
		{"edit_file", `{"path": "a.txt", "oldText": "one", "newText": "two"}`},
	} {
		result, err := set.Call(ctx, c[0], json.RawMessage(c[1]))
		if err != nil {
			fmt.Println(err)
			return
		}
		if result.IsError {
			fmt.Println(c[0], result.Error.Code)
		} else {
			fmt.Println(c[0], "succeeded")
		}
	}
	// Output:
	// edit_file READ_REQUIRED
	// read_file succeeded
	// edit_file succeeded
}

// model stands for the SDK of a vendor. This one follows a script.
type model struct{ script []message }

// message is what a user, the model or a tool says.
type message struct {
	id, text string
	isError  bool
	images   []tools.Part
	calls    []modelCall
}

type modelCall struct {
	id, tool string
	args     json.RawMessage
}

func (m model) ask(_ context.Context, _ json.RawMessage, messages []message) (message, error) {
	last := messages[len(messages)-1]
	fmt.Println(last.text, last.isError, len(last.images))
	return m.script[len(messages)/2], nil
}

func (m model) shows(part tools.Part) bool { return part.MIMEType == "image/png" }

func run(ctx context.Context, m model, set *tools.Set, saved []byte, question string) (answer string, state []byte, err error) {
	definitions, err := set.Definitions(tools.FormatAnthropic)
	if err != nil {
		return "", nil, err
	}
	session := tools.NewSession() // a pointer; one for each run
	defer session.Close()         // ends its commands in the background
	if saved != nil {             // the run goes on, perhaps in another process
		if err := json.Unmarshal(saved, session); err != nil {
			return "", nil, err
		}
	}
	ctx = tools.WithSession(ctx, session)
	messages := []message{{text: question}}
	for {
		reply, err := m.ask(ctx, definitions, messages)
		if err != nil {
			return "", nil, err
		}
		messages = append(messages, reply)
		if len(reply.calls) == 0 {
			state, err = json.Marshal(session)
			return reply.text, state, err
		}
		for _, c := range reply.calls {
			result, err := set.Call(ctx, c.tool, c.args)
			if err != nil {
				return "", nil, err // ctx has ended; what a model gets wrong is a result
			}
			told := message{id: c.id, isError: result.IsError, text: result.TextFor(m.shows)}
			for _, part := range result.Parts { // a model may refuse images of some types
				if m.shows(part) {
					told.images = append(told.images, part)
				}
			}
			messages = append(messages, told)
		}
	}
}

// A loop for a framework or an SDK without an adapter.
func Example_loop() {
	ctx := context.Background()
	ws := workspace.New("docs", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "a.txt", []byte("one\n"), nil); err != nil {
		fmt.Println(err)
		return
	}
	set, err := tools.New(ws, &tools.Options{Naming: "{op}", ReadBeforeWrite: []string{"docs"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	read := modelCall{"1", "read_file", json.RawMessage(`{"path": "a.txt"}`)}
	edit := modelCall{"2", "edit_file", json.RawMessage(`{"path": "a.txt", "oldText": "one", "newText": "two"}`)}
	_, state, err := run(ctx, model{[]message{{calls: []modelCall{read}}, {text: "It says one."}}}, set, nil, "What is in a.txt?")
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, _, err := run(ctx, model{[]message{{calls: []modelCall{edit}}, {text: "It says two now."}}}, set, state, "Make it two.")
	fmt.Println(answer, err)
	// Output:
	// What is in a.txt? false 0
	// [a.txt: lines 1-1 of 1, version 1]
	// one
	//  false 0
	// Make it two. false 0
	// Edited a.txt (1 replacement, version 2).
	// --- a/a.txt
	// +++ b/a.txt
	// @@ -1 +1 @@
	// -one
	// +two
	//  false 0
	// It says two now. <nil>
}
