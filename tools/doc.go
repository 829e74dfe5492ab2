// Package tools makes the tools that a model is given from a
// [workspace.Workspace]: fourteen operations on files, each with a name, a
// description, JSON Schemas of its parameters and result, and a function to
// call.
//
//	set, err := tools.New(ws, nil)
//	definitions, err := set.Definitions(tools.FormatAnthropic) // for the request
//	// and for each call of the model
//	result, err := set.Call(ctx, call.Name, call.Arguments)
//
// A tool that the workspace cannot do is not in the set: a read-only workspace
// has no write_file. What a model gets wrong (a parameter that does not exist,
// a file that does not exist, a text that occurs twice) is a [Result] with
// IsError set, whose [Error] says what to do instead. A Go error from
// [Tool.Call] is a context that has ended, or a bug.
//
// Results in [DialectWorkspace] are bounded, in entries and in bytes; what was left
// out is said, with the parameter that continues. docs/tools.md leads to the
// parameters, results and limits of every tool.
package tools
