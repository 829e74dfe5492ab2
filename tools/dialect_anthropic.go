package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// anthropicDialect has the text editor and the memory tool that Anthropic's models
// are trained on. Each is one tool, whose parameter command says what it does.
var anthropicDialect = &dialect{name: DialectAnthropic, naming: "{op}", plain: true, fail: (*Error).plainText, specs: []spec{
	editorTool("str_replace_based_edit_tool", "Text editor", editorAbout, runEditorTool, planEditorTool),
	readingOnly(editorTool("str_replace_based_edit_tool", "Text editor", viewerAbout, runEditorTool, planEditorTool)),
	memorySpec(editorTool(memoryTool, "Memory", memoryAbout, runMemoryTool, planMemoryTool)),
	readingOnly(memorySpec(editorTool(memoryTool, "Memory", viewerAbout+" All are below /memories.", runMemoryTool, planMemoryTool))),
}}

// memoryTool is the tool that sees only what is below /memories.
const memoryTool = "memory"

const (
	viewerAbout = "Shows files, with line numbers, and directories, two levels deep."
	editorAbout = `{{if .CanEdit}}Views, creates and edits text files.
{{end}}view shows a file with line numbers, or of it the lines of view_range, or what is in a directory, two levels deep.` + editsAbout
	memoryAbout = `Keeps notes in files below /memories, from one conversation to the next.
view shows a file with line numbers, or what is in a directory, two levels deep.` + editsAbout + `
delete removes path, a directory with everything in it.{{if .CanMove}}
rename moves old_path to new_path.{{end}}`
	editsAbout = `{{if .CanEdit}}
create makes a new file of file_text.
str_replace replaces old_str, which must occur exactly once, by new_str.
insert puts insert_text after the line insert_line; 0 is the beginning of the file.{{end}}`
)

// commands are what the tools can do, with what each needs. The schema lists those that the
// workspace can do, in this order.
var commands = []struct {
	name   string
	memory bool // the memory tool alone has it
	needs  func(workspace.Capabilities) bool
}{
	{"view", false, func(workspace.Capabilities) bool { return true }},
	{"create", false, editFileSpec.needs},
	{"str_replace", false, editFileSpec.needs},
	{"insert", false, editFileSpec.needs},
	{"delete", true, canWrite},
	{"rename", true, moveSpec.needs},
}

// editorTool makes the spec of a tool with the commands of a text editor. Hints that name the
// tool that reads files name the first of them.
func editorTool[In any](op, title, about string, run func(context.Context, *toolset, *In) (*textResult, error),
	plan func(context.Context, *toolset, *In) ([]policy.Request, error)) spec {
	return spec{
		op: op, like: ops.ReadFile, about: about, annotations: Annotations{Title: title, Destructive: true}, needs: canWrite,
		handler: define(run, plan), shape: shapeEditor,
	}
}

// memorySpec makes a memory tool of a text editor. It adds the commands that delete and
// rename.
func memorySpec(s spec) spec {
	shape := s.shape
	s.shape = func(p properties, ts *toolset) {
		shape(p, ts)
		p["command"].Enum = possibleCommands(ts.caps, true)
	}
	input := s.newInput
	s.newInput = func() *jsonschema.Schema {
		in := input()
		in.Required = slices.DeleteFunc(in.Required, func(name string) bool { return name == "path" }) // rename has none
		return in
	}
	return s
}

// readingOnly returns s for workspaces that cannot be written to. A set has this spec or the
// other one of the same op, never both.
func readingOnly(s spec) spec {
	s.annotations.ReadOnly, s.annotations.Destructive, s.annotations.Idempotent = true, false, true
	s.needs = func(caps workspace.Capabilities) bool { return !caps.Write }
	shape := s.shape
	s.shape = func(p properties, ts *toolset) {
		shape(p, ts)
		for name := range p {
			if name != "command" && name != "path" && name != "view_range" {
				delete(p, name)
			}
		}
	}
	return s
}

// shapeEditor says what values the parameters have, whatever the command: which of them a
// command needs is for check.
func shapeEditor(p properties, ts *toolset) {
	p["command"].Enum = possibleCommands(ts.caps, false)
	p["view_range"].MinItems, p["view_range"].MaxItems = jsonschema.Ptr(2), jsonschema.Ptr(2)
	p.between("insert_line", 0, 1<<31-1)
}

// possibleCommands returns the values of the parameter command.
func possibleCommands(caps workspace.Capabilities, memory bool) []any {
	var names []any
	for _, c := range commands {
		if c.needs(caps) && (memory || !c.memory) {
			names = append(names, c.name)
		}
	}
	return names
}

// editorInput are the parameters of all commands in one. Pointers tell what was left out from
// what is empty or 0, which is valid for some: an empty file, and the beginning of one.
type editorInput struct {
	Command    string    `json:"command" jsonschema:"what to do"`
	Path       string    `json:"path" jsonschema:"the file or directory, such as /src/main.go"`
	ViewRange  []integer `json:"view_range,omitempty" jsonschema:"of view: the first and the last line to show, from 1; -1 is the last line of the file"`
	FileText   *string   `json:"file_text,omitempty" jsonschema:"of create: the content of the file"`
	OldStr     *string   `json:"old_str,omitempty" jsonschema:"of str_replace: the text to replace, exactly as in the file"`
	NewStr     string    `json:"new_str,omitempty" jsonschema:"of str_replace: the text to put in its place; left out to remove it"`
	InsertLine *integer  `json:"insert_line,omitempty" jsonschema:"of insert: the line after which to insert"`
	InsertText *string   `json:"insert_text,omitempty" jsonschema:"of insert: the text to insert"`
}

// memoryInput are the parameters of the memory tool.
type memoryInput struct {
	editorInput
	OldPath string `json:"old_path,omitempty" jsonschema:"of rename: the file or directory"`
	NewPath string `json:"new_path,omitempty" jsonschema:"of rename: its new name, which must not exist"`
}

// check returns the error of a command without one of its parameters. The schema cannot say
// which command needs which. A parameter of another command is ignored.
func (in *editorInput) check() error {
	missing := map[string]map[string]bool{
		"view":        {"path": in.Path == ""},
		"create":      {"path": in.Path == "", "file_text": in.FileText == nil},
		"str_replace": {"path": in.Path == "", "old_str": in.OldStr == nil || *in.OldStr == ""},
		"insert":      {"path": in.Path == "", "insert_line": in.InsertLine == nil, "insert_text": in.InsertText == nil},
		"delete":      {"path": in.Path == ""},
	}[in.Command]
	const filled, text = "Give it, with a value that is not empty.", `Give it; "" is a value, too.`
	for _, p := range []struct{ name, hint string }{{"path", filled}, {"file_text", text}, {"old_str", filled}, {"insert_line", "Give it."}, {"insert_text", text}} {
		if missing[p.name] {
			return &argumentError{message: fmt.Sprintf("command %q needs the parameter %q", in.Command, p.name), hint: p.hint}
		}
	}
	return nil
}

// runEditorTool does one command. The schema has refused commands that the workspace cannot
// do.
func runEditorTool(ctx context.Context, ts *toolset, in *editorInput) (*textResult, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	switch in.Command {
	case "create":
		return ts.editorCreate(ctx, in)
	case "str_replace", "insert":
		return ts.editorChange(ctx, in)
	}
	return ts.editorView(ctx, in)
}

// planEditorTool has the requests of the tools that the command stands for.
func planEditorTool(ctx context.Context, ts *toolset, in *editorInput) ([]policy.Request, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	switch in.Command {
	case "create":
		return planWriteFile(ctx, ts, &writeFileInput{Path: in.Path, Content: *in.FileText, CreateOnly: true})
	case "str_replace", "insert":
		e, err := ts.editorOf(ctx, in)
		if err != nil {
			return nil, err
		}
		return ts.planEdit(ctx, e, false, false)
	}
	requests, err := ts.touches(ctx, ops.ReadFile, policy.OpRead, in.Path)
	if err != nil {
		return nil, err
	}
	return append(requests, policy.Request{Op: policy.OpList, Path: requests[0].Path}), nil // for it may be a directory
}

// editorView shows a file or a directory, at most readLines lines at a time; the text says
// how to see the rest. Only lines that are shown count as read.
func (ts *toolset) editorView(ctx context.Context, in *editorInput) (*textResult, error) {
	name, err := ts.ws.Clean(ctx, ops.ReadFile, in.Path)
	if err != nil {
		return nil, err
	}
	if info, err := ts.ws.Stat(ctx, name); err == nil && info.Type == workspace.TypeDirectory {
		return ts.editorDirectory(ctx, name, in.Path)
	}
	name, file, err := ts.readText(ctx, in.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, noPath(err, in.Path)
	case errors.Is(err, workspace.ErrIsDir): // through a symlink
		return ts.editorDirectory(ctx, name, in.Path)
	case err != nil:
		return nil, err
	case file.lines > editorLines && in.ViewRange == nil:
		return nil, &wordedError{ops.Error(ops.ReadFile, name, workspace.ErrTooLarge, nil), fmt.Sprintf("File %s exceeds maximum line limit of 999,999 lines.", onOneLine(in.Path))}
	}
	first, last := 1, file.lines
	if in.ViewRange != nil {
		if first, last, err = in.lines(file.lines); err != nil {
			return nil, err
		}
	}
	w := file.head(first, min(last-first+1, readLines), false)
	ts.saw(ctx, name, file.version, file.stored, w.start, w.end, file.lines)
	text := fmt.Sprintf("Here's the content of %s with line numbers:\n%s", onOneLine(in.Path), excerptTo(w, last, file.lines))
	return &textResult{text}, nil
}

// excerptTo returns the numbered lines of w, and if they end before last how to see the rest.
func excerptTo(w window, last, total int) string {
	text := numbered(w.text, w.start)
	if w.end < last {
		text += fmt.Sprintf("\n[lines %d-%d of %d; go on with view_range [%d, %d]]", w.start, w.end, total, w.end+1, last)
	}
	return text
}

// editorLines is how many lines a file may have that is viewed without a range: their numbers
// have six digits.
const editorLines = 999_999

// noPath is the error of a name that does not exist. It keeps the kind of err, and has the
// words that the models are trained on.
func noPath(err error, name string) error {
	return &wordedError{err, fmt.Sprintf("The path %s does not exist. Please provide a valid path.", onOneLine(name))}
}

// lines returns the lines of view_range in a file that has total lines.
//
// In a file of 10 lines,
//
//	[3, 5]     3 to 5
//	[8, -1]    8 to 10
//	[8, 99]    8 to 10
//	[11, 12]   an error
func (in *editorInput) lines(total int) (first, last int, err error) {
	first, last = int(in.ViewRange[0]), int(in.ViewRange[1])
	if last == -1 {
		last = total
	}
	if first < 1 || first > max(total, 1) || last < first && total > 0 {
		return 0, 0, &argumentError{message: fmt.Sprintf("Invalid `view_range` parameter: [%d, %d]. The file has %s.", first, in.ViewRange[1], wording.Count(total, "line", "lines")),
			hint: "Give the first and the last line, counted from 1; -1 is the last line of the file."}
	}
	return first, min(last, total), nil
}

// numbered returns lines as cat -n shows them, from the number first on. It drops the line
// ends, and there is none after the last line.
func numbered(text string, first int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&out, "%6d\t%s\n", first, wording.LineBody(line))
		first++
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// editorDirectory lists a directory, which the model calls shown, two levels deep. Names
// begin with shown, as the model has written it, so that it can use them in its next call. A
// symlink is listed and not followed.
func (ts *toolset) editorDirectory(ctx context.Context, dir, shown string) (*textResult, error) {
	lines := []string{fmt.Sprintf("Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:", onOneLine(shown)), "-\t" + onOneLine(shown)}
	children, more, err := ts.list(ctx, dir)
	if err != nil {
		return nil, err
	}
	var unread []string
	for _, c := range notHidden(children) {
		lines = append(lines, editorLine(shown, c.Name, c))
		if c.Type != workspace.TypeDirectory || len(lines) > wholeEntries {
			continue
		}
		below, moreBelow, isUnread, err := ts.listBelow(ctx, c.Path)
		if err != nil {
			return nil, err
		}
		if isUnread {
			unread = append(unread, path.Join(shown, c.Name))
		}
		more = more || moreBelow
		for _, b := range notHidden(below) {
			lines = append(lines, editorLine(shown, path.Join(c.Name, b.Name), b))
		}
	}
	if len(lines) > wholeEntries {
		lines, more = lines[:wholeEntries], true
	}
	return &textResult{strings.Join(lines, "\n") + unreadNote(unread) + moreNote(more)}, nil
}

// notHidden returns children without those that the listing leaves out. It uses the memory of
// children.
func notHidden(children []workspace.FileInfo) []workspace.FileInfo {
	return slices.DeleteFunc(children, func(c workspace.FileInfo) bool {
		return strings.HasPrefix(c.Name, ".") || c.Name == "node_modules"
	})
}

// editorLine is one line of a listing: "1.5K", a tab and "/src/main.go", with "-" for what
// has no size.
func editorLine(root, name string, info workspace.FileInfo) string {
	size := "-"
	if info.Type == workspace.TypeFile {
		size = shortSize(info.Size)
	}
	return size + "\t" + onOneLine(path.Join(root, name))
}

// shortSize writes a size as 512, 1.5K, 2.0M.
func shortSize(n int64) string {
	if n < 1024 {
		return fmt.Sprint(n)
	}
	size, unit := float64(n)/1024, 0
	for ; size >= 1024 && unit < 3; unit++ {
		size /= 1024
	}
	return fmt.Sprintf("%.1f%c", size, "KMGT"[unit])
}

// editorCreate makes a new file, with its missing directories. It replaces nothing, which
// needs no reading before.
func (ts *toolset) editorCreate(ctx context.Context, in *editorInput) (*textResult, error) {
	_, err := runWriteFile(ctx, ts, &writeFileInput{Path: in.Path, Content: *in.FileText, CreateOnly: true})
	if errors.Is(err, fs.ErrExist) || errors.Is(err, workspace.ErrIsDir) {
		err = &wordedError{err, fmt.Sprintf("Error: File %s already exists", onOneLine(in.Path))}
	}
	return textf("File created successfully at: %s", onOneLine(in.Path)), err
}

// editorChange makes the change of str_replace and insert.
func (ts *toolset) editorChange(ctx context.Context, in *editorInput) (*textResult, error) {
	e, err := ts.editorOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if _, err := ts.edit(ctx, e, false); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrIsDir) {
			return nil, noPath(err, in.Path)
		}
		return nil, in.explain(err)
	}
	return textf("The file %s has been edited. Here is the changed part with line numbers:\n%s", onOneLine(in.Path), snippet(e.change)), nil
}

// editorOf returns the editor for str_replace or insert.
func (ts *toolset) editorOf(ctx context.Context, in *editorInput) (*editor, error) {
	name, err := ts.ws.Clean(ctx, ops.EditFile, in.Path)
	return &editor{path: name, limit: ts.whole.MaxFileSize(), by: in.change}, err
}

// change plans str_replace or insert. An insertion after line n is one before line n+1, and 0
// is the beginning.
func (in *editorInput) change(text []byte) (*edit.Change, error) {
	if in.Command == "insert" {
		change, err := edit.New(text, []edit.Edit{{New: *in.InsertText, Line: int(*in.InsertLine) + 1}})
		var outside *edit.LineError
		if errors.As(err, &outside) {
			err = &argumentError{message: fmt.Sprintf("Error: Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", *in.InsertLine, outside.Lines)}
		}
		return change, err
	}
	if *in.OldStr == in.NewStr {
		return nil, &argumentError{message: "old_str and new_str are the same", hint: "Give another text to put in the place of old_str."}
	}
	return edit.New(text, []edit.Edit{{Old: *in.OldStr, New: in.NewStr}})
}

// explain gives an error of str_replace the words that the models know. Any other error gets
// the hints of edit_file.
func (in *editorInput) explain(err error) error {
	var notUnique *edit.NotUniqueError
	switch {
	case errors.Is(err, edit.ErrTextNotFound):
		return &wordedError{err, fmt.Sprintf("No replacement was performed, old_str `%s` did not appear verbatim in %s.", *in.OldStr, onOneLine(in.Path))}
	case errors.As(err, &notUnique):
		return &wordedError{err, fmt.Sprintf("No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. Please ensure it is unique",
			*in.OldStr, notUnique.Where())}
	}
	return explainEdit(err, false)
}

// snippetLines is how many lines before and after a change are shown.
const snippetLines = 4

// snippet returns the lines around a change, as they are after it, with their numbers. The
// commands of the editor change one place.
func snippet(change *edit.Change) string {
	now := newContent(change.Bytes(), "")
	first := change.FirstLine()
	last := first
	for _, s := range change.Spans() {
		last = max(last, first+strings.Count(s.New, "\n"))
	}
	from := max(1, first-snippetLines)
	last = min(last+snippetLines, now.lines)
	return excerptTo(now.head(from, min(last-from+1, readLines), false), last, now.lines)
}

// memoryRoot is the directory of the memory tool.
const memoryRoot = "memories"

// check is the check of the editor, and refuses every name that is not below /memories. Only
// view may name the directory itself.
func (in *memoryInput) check(ctx context.Context, ts *toolset) error {
	if in.Command == "rename" {
		if in.OldPath == "" || in.NewPath == "" {
			return &argumentError{message: `command "rename" needs the parameters "old_path" and "new_path"`, hint: "Give both."}
		}
		if err := ts.inMemory(ctx, in.Command, in.OldPath); err != nil {
			return err
		}
		return ts.inMemory(ctx, in.Command, in.NewPath)
	}
	if err := in.editorInput.check(); err != nil {
		return err
	}
	return ts.inMemory(ctx, in.Command, in.Path)
}

// inMemory returns the error of a name that is not below the directory of the tool. Names are
// clean and symlinks in them resolved when they are compared, so neither ".." nor a symlink
// leads out of it. A symlink that is deleted or renamed may itself lead anywhere. If the
// directory is a symlink, every name is refused: it could be the whole workspace.
func (ts *toolset) inMemory(ctx context.Context, command, name string) error {
	clean, err := ts.ws.Clean(ctx, ops.ReadFile, name)
	if err != nil {
		return err
	}
	if strings.HasPrefix(clean, memoryRoot+"/") || clean == memoryRoot && command == "view" {
		followed := clean
		if command == "delete" || command == "rename" {
			followed, _ = workspace.Split(clean)
		}
		target, err := ts.ws.Resolve(ctx, followed)
		if err != nil {
			return ops.Rename(err, ops.ReadFile, clean)
		}
		if target == memoryRoot || strings.HasPrefix(target, memoryRoot+"/") {
			return nil
		}
	}
	err = ops.Error(ops.ReadFile, clean, fs.ErrInvalid, nil)
	if clean == memoryRoot && command != "view" {
		return &wordedError{err, fmt.Sprintf("Error: the path %s is the directory of all notes, which %s cannot change", onOneLine(name), command)}
	}
	return &wordedError{err, fmt.Sprintf("Error: the path %s is not below /%s", onOneLine(name), memoryRoot)}
}

// runMemoryTool does one command. The directory /memories is shown as an empty one as long as
// it does not exist.
func runMemoryTool(ctx context.Context, ts *toolset, in *memoryInput) (*textResult, error) {
	if err := in.check(ctx, ts); err != nil {
		return nil, err
	}
	switch in.Command {
	case "delete":
		_, err := runRm(ctx, ts, &rmInput{in.Path, true})
		return textf("Successfully deleted %s", onOneLine(in.Path)), memoryError(err, in.Path, "")
	case "rename":
		_, err := runMove(ctx, ts, &moveInput{in.OldPath, in.NewPath})
		return textf("Successfully renamed %s to %s", onOneLine(in.OldPath), onOneLine(in.NewPath)), memoryError(err, in.OldPath, in.NewPath)
	case "view":
		out, err := ts.editorView(ctx, &in.editorInput)
		if name, cleanErr := ts.ws.Clean(ctx, ops.ReadFile, in.Path); errors.Is(err, fs.ErrNotExist) && cleanErr == nil && name == memoryRoot {
			return textf("Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:\n-\t%[1]s", onOneLine(in.Path)), nil
		}
		return out, err
	}
	out, err := runEditorTool(ctx, ts, &in.editorInput)
	if err == nil && in.Command != "create" {
		_, snippet, _ := strings.Cut(out.Content, "\n")
		out.Content = "The memory file has been edited.\n" + snippet
	}
	return out, err
}

// memoryError gives an error of delete and rename the words that the models know. nil stays
// nil.
func memoryError(err error, from, to string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &wordedError{err, fmt.Sprintf("Error: The path %s does not exist", onOneLine(from))}
	case errors.Is(err, fs.ErrExist):
		return &wordedError{err, fmt.Sprintf("Error: The destination %s already exists", onOneLine(to))}
	}
	return err
}

// planMemoryTool has the requests of the tools that the command stands for.
func planMemoryTool(ctx context.Context, ts *toolset, in *memoryInput) ([]policy.Request, error) {
	if err := in.check(ctx, ts); err != nil {
		return nil, err
	}
	switch in.Command {
	case "delete":
		return planRm(ctx, ts, &rmInput{in.Path, true})
	case "rename":
		return planMove(ctx, ts, &moveInput{in.OldPath, in.NewPath})
	}
	return planEditorTool(ctx, ts, &in.editorInput)
}
