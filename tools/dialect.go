package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// Dialect is a set of tools by the names, parameters and results that models and
// clients know from elsewhere. Whatever the dialect, the tools have the limits, the
// policy, the sessions and the atomic writes of the workspace.
type Dialect string

// The dialects; docs/dialects.md describes each.
const (
	// DialectWorkspace is the one of this module.
	DialectWorkspace Dialect = "workspace"
	// DialectMCPFilesystem has the tools of the Model Context Protocol's reference
	// server for files.
	DialectMCPFilesystem Dialect = "mcp-filesystem"
	// DialectAgentkit has the tools of the Rust crate agentkit-tool-fs.
	DialectAgentkit Dialect = "agentkit"
	// DialectClaudeCode has the file tools of Claude Code 1.0.60.
	DialectClaudeCode Dialect = "claude-code"
	// DialectGemini has the file tools of Gemini CLI 0.61.
	DialectGemini Dialect = "gemini"
	// DialectAnthropic has the text editor and the memory tool of Anthropic's models.
	DialectAnthropic Dialect = "anthropic"
	// DialectOpenAI has apply_patch and the tools that Codex had to read, list and search.
	DialectOpenAI Dialect = "openai"
	// DialectFS has tools with results in one shape and few codes of errors.
	DialectFS Dialect = "fs"
	// DialectHelix has nine tools with results of one or two members.
	DialectHelix Dialect = "helix"
)

// Dialects returns the dialects, the default one first.
func Dialects() []Dialect {
	names := make([]Dialect, len(dialects))
	for i, d := range dialects {
		names[i] = d.name
	}
	return names
}

// dialect is the tools of a Dialect, as data over the operations that all dialects
// share.
//
// To add one, write a file dialect_NAME.go with its specs and list it in dialects
// and, for files, in the dialects of package config. The parameters and the result
// of a tool are Go structs, from which [define] makes the schemas. The function of
// a tool calls those of the default tools (runReadFile, runEditFile) with their
// input structs, or the methods of the toolset, so that all that holds for the
// default tools holds for it. Its plan calls the plans of the same tools. [adapt]
// does both for a tool that differs from a default one in its words only. A spec
// says in like which default tool it stands for, so that hints can name it. Then
// add a script to testdata/dialects, and rows to docs/dialects.md.
type dialect struct {
	name   Dialect
	naming string                // where Options have none
	specs  []spec                // in the order of every set
	plain  bool                  // hints name no parameters, as other tools have others
	code   func(Code) Code       // the code of an error; nil for the code as it is
	fail   func(e *Error) string // the text of an error; nil for the code, the message and the hint
}

var dialects = []*dialect{
	{name: DialectWorkspace, naming: DefaultNaming, specs: specs},
	anthropicDialect, openaiDialect, mcpDialect, agentkitDialect, claudeDialect, fsDialect, geminiDialect, helixDialect,
}

// dialectOf returns the dialect with a name. Empty means the default one. The dialect is
// shared by all sets, and must not be changed: see [dialect.withCommands].
func dialectOf(name Dialect) (*dialect, error) {
	if name == "" {
		return dialects[0], nil
	}
	names := make([]string, len(dialects))
	for i, d := range dialects {
		if names[i] = string(d.name); d.name == name {
			return d, nil
		}
	}
	hint := wording.DidYouMean(string(name), names)
	if hint == "" {
		hint = "the dialects are " + strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("unknown dialect %q; %s", name, hint)
}

// adapt makes a handler of the functions of a default tool: in makes its input of the
// parameters, and out the result of its output. in is called once for the call and once for
// its plan, and must not fail. An error of the default tool goes through, and out sees
// successes only.
func adapt[In, ToolIn, ToolOut any, Out answer](in func(*In) *ToolIn,
	run func(context.Context, *toolset, *ToolIn) (ToolOut, error),
	plan func(context.Context, *toolset, *ToolIn) ([]policy.Request, error),
	out func(ToolOut) Out) handler {
	return define(func(ctx context.Context, ts *toolset, args *In) (Out, error) {
		result, err := run(ctx, ts, in(args))
		if err != nil {
			return *new(Out), err
		}
		return out(result), nil
	}, func(ctx context.Context, ts *toolset, args *In) ([]policy.Request, error) {
		return plan(ctx, ts, in(args))
	})
}

// list returns the entries of a directory for a tool whose results have no pages, and whether
// there are more than it can return. The caller owns the slice, and may sort it or delete
// from it.
func (ts *toolset) list(ctx context.Context, dir string) (children []workspace.FileInfo, more bool, err error) {
	children, err = ts.ws.Ls(ctx, dir, &workspace.LsOptions{Limit: wholeEntries + 1})
	return children[:min(len(children), wholeEntries)], len(children) > wholeEntries, err
}

// listBelow is list for a directory that was found in another one. It has no entries if
// it has been deleted since, or may not be listed, which unread says.
func (ts *toolset) listBelow(ctx context.Context, dir string) (children []workspace.FileInfo, more, unread bool, err error) {
	children, more, err = ts.list(ctx, dir)
	unread = errors.Is(err, fs.ErrPermission)
	if errors.Is(err, fs.ErrNotExist) || unread {
		err = nil
	}
	return children, more, unread, err
}

// unreadNote is the end of a text with directories that could not be read, as a model knows
// them. They would seem to be empty.
func unreadNote(dirs []string) string {
	if len(dirs) == 0 {
		return ""
	}
	text := "\n[cannot be read: " + strings.Join(eachOnOneLine("", dirs[:min(len(dirs), editSkipped)]), ", ")
	if more := len(dirs) - editSkipped; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "]"
}

// readWhole returns the clean name of a file and what it holds, for a tool whose results have
// no pages. Nothing is recorded: the caller shows it, or a part, and says so with showWhole
// or showLines. Files of the scratch space come before those of the workspace, and keep their
// names.
func (ts *toolset) readWhole(ctx context.Context, name string) (path string, file *content, err error) {
	if file = ts.scratchFile(ctx, name); file != nil {
		return name, file, nil
	}
	if path, err = ts.ws.Clean(ctx, ops.ReadFile, name); err != nil {
		return "", nil, err
	}
	file, err = ts.read(ctx, path)
	return path, file, err
}

// showWhole records that a session has been shown all of a file, and returns its text.
// U+FFFD stands for bytes of a file that is not text.
func (ts *toolset) showWhole(ctx context.Context, path string, file *content) string {
	ts.saw(ctx, path, file.version, file.stored, 1, file.lines, file.lines)
	if file.text {
		return string(file.data)
	}
	return strings.ToValidUTF8(string(file.stored), "\uFFFD")
}

// readText is readWhole for a tool that returns text.
//
// # Errors
//
// [workspace.ErrBinary] for a file that is not text. The session has then been shown it, as
// it can be shown nothing more: it could not delete the file otherwise.
func (ts *toolset) readText(ctx context.Context, name string) (path string, file *content, err error) {
	path, file, err = ts.readWhole(ctx, name)
	if err == nil && !file.text {
		ts.saw(ctx, path, file.version, file.stored, 0, 0, 0)
		err = ops.Error(ops.ReadFile, path, workspace.ErrBinary, nil)
	}
	return path, file, err
}

// showLines records that a session has been shown the lines first to last of a text,
// where the file has them, and returns them. A file without lines has then been shown.
func (ts *toolset) showLines(ctx context.Context, path string, file *content, first, last int) string {
	last = min(last, file.lines)
	if first > last && file.lines > 0 {
		return ""
	}
	ts.saw(ctx, path, file.version, file.stored, first, last, file.lines)
	return string(file.data[file.offset(first):file.offset(last+1)])
}

// textResult is the result of a tool that returns a text. An empty text is one, too: the
// content of an empty file.
type textResult struct {
	Content string `json:"content" jsonschema:"the result"`
}

// textf makes a result as fmt.Sprintf makes a text. Where a tool returns it beside an error,
// the error counts.
func textf(format string, args ...any) *textResult {
	return &textResult{fmt.Sprintf(format, args...)}
}

func (o *textResult) text() string { return o.Content }

// excerpt is the whole text, which is the only member.
func (o *textResult) excerpt(structured []byte) excerpt {
	const before, after = `{"content":"`, `"}`
	return excerpt{end: len(o.Content), encoded: structured[len(before) : len(structured)-len(after)]}
}

// wordedError is an error for which the dialect or the tool has a text. Its kind, its path
// and its hint are those of err.
type wordedError struct {
	err  error
	text string
}

func (e *wordedError) Error() string { return e.text }
func (e *wordedError) Unwrap() error { return e.err }

// plainText is the text of an error without its code.
func (e *Error) plainText() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Hint
}

// jsonText is a result as a text.
func jsonText(v any) string { return string(must(encode(v, ""))) }

// moreNote is the end of a text that does not have all that was found.
func moreNote(more bool) string {
	if more {
		return "\n[there are more]"
	}
	return ""
}
