package tools

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// mcpDialect has the tools of @modelcontextprotocol/server-filesystem, over one
// allowed directory that is called "/". TestMCPReference runs both side by side.
var mcpDialect = &dialect{name: DialectMCPFilesystem, naming: "{op}", plain: true, fail: failMCP, specs: []spec{
	{
		op: "read_text_file", like: ops.ReadFile, annotations: readOnly("Read text file"), shape: shapeMCPRead, handler: define(runMCPRead, planMCPRead),
		about: "Reads a whole file as text, or its first or last lines.",
	},
	{
		op: ops.ReadFile, annotations: readOnly("Read file (deprecated)"), shape: shapeMCPRead, handler: define(runMCPRead, planMCPRead),
		about: "Deprecated: use read_text_file, which does the same.",
	},
	{
		op: "read_media_file", like: ops.ReadFiles, annotations: readOnly("Read media file"), handler: define(runMCPMedia, planMCPMedia),
		about: "Reads an image, a sound or any other file, and returns its bytes in base64 with their type.",
	},
	{
		op: "read_multiple_files", like: ops.ReadFiles, annotations: readOnly("Read several files"), handler: define(runMCPReadAll, planMCPReadAll),
		about: "Reads several files as text. Each is returned after its path. One that cannot be read has an error in its place.",
		shape: func(p properties, _ *toolset) {
			p["paths"].MinItems, p["paths"].MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(mcpPaths)
		},
	},
	{
		op: ops.WriteFile, annotations: replaces, needs: writeFileSpec.needs,
		about: "Creates a file, with its missing directories, or replaces all of its content.",
		handler: define(func(ctx context.Context, ts *toolset, in *mcpWriteInput) (*textResult, error) {
			_, err := runWriteFile(ctx, ts, &writeFileInput{Path: in.Path, Content: in.Content})
			return textf("Successfully wrote to %s", onOneLine(in.Path)), err
		}, func(ctx context.Context, ts *toolset, in *mcpWriteInput) ([]policy.Request, error) {
			return planWriteFile(ctx, ts, &writeFileInput{Path: in.Path, Content: in.Content})
		}),
	},
	{
		op: ops.EditFile, annotations: editFileSpec.annotations, needs: editFileSpec.needs, handler: define(runMCPEdit, planMCPEdit),
		about: "Replaces texts in a file, one after another, and returns a diff. " +
			"Of several places with the text, the first is changed. A text that does not occur is looked for in whole lines, without the blanks around them.",
		shape: func(p properties, _ *toolset) {
			p.byDefault("dryRun", false)
			p["edits"].MaxItems = jsonschema.Ptr(editsMax)
		},
	},
	{
		op: "create_directory", like: ops.Mkdir, annotations: mkdirSpec.annotations, needs: mkdirSpec.needs,
		about: "Makes a directory with its missing parents. It is no error if the directory exists.",
		handler: define(func(ctx context.Context, ts *toolset, in *mcpPath) (*textResult, error) {
			_, err := runMkdir(ctx, ts, &mkdirInput{Path: in.Path, Recursive: true})
			return textf("Successfully created directory %s", onOneLine(in.Path)), err
		}, func(ctx context.Context, ts *toolset, in *mcpPath) ([]policy.Request, error) {
			return planMkdir(ctx, ts, &mkdirInput{Path: in.Path, Recursive: true})
		}),
	},
	{
		op: "list_directory", like: ops.Ls, annotations: readOnly("List directory"), handler: define(runMCPList, planMCPList),
		about: "Lists what is in a directory, sorted by name: [DIR] or [FILE], and the name.",
	},
	{
		op: "list_directory_with_sizes", like: ops.Ls, annotations: readOnly("List directory with sizes"), handler: define(runMCPSizes, planMCPSizes),
		about: "Lists what is in a directory as list_directory does, with the sizes of files, and the totals.",
		shape: func(p properties, _ *toolset) {
			p.oneOf("sortBy", "name", "size")
			p.byDefault("sortBy", "name")
		},
	},
	{
		op: "directory_tree", like: ops.Tree, annotations: readOnly("Directory tree"), handler: define(runMCPTree, planMCPTree),
		about: "Returns everything below a directory as JSON: name, type (file or directory), and children for directories.",
	},
	{
		op: "move_file", like: ops.Move, annotations: moveSpec.annotations, needs: moveSpec.needs,
		about: "Moves or renames a file or a directory. It fails if the destination exists.",
		handler: define(func(ctx context.Context, ts *toolset, in *mcpMoveInput) (*textResult, error) {
			_, err := runMove(ctx, ts, &moveInput{in.Source, in.Destination})
			return textf("Successfully moved %s to %s", onOneLine(in.Source), onOneLine(in.Destination)), err
		}, func(ctx context.Context, ts *toolset, in *mcpMoveInput) ([]policy.Request, error) {
			return planMove(ctx, ts, &moveInput{in.Source, in.Destination})
		}),
	},
	{
		op: "search_files", like: ops.Glob, annotations: readOnly("Search files"), handler: define(runMCPSearch, planMCPSearch),
		about: "Finds files and directories by a glob relative to path: *.go in path itself, **/*.go at any depth. Returns their full paths.",
	},
	{
		op: "get_file_info", like: ops.Stat, annotations: readOnly("Get file info"), handler: define(runMCPInfo, planMCPInfo),
		about: "Returns the size, the time of the last change and the type of a file or a directory.",
	},
	{
		op: "list_allowed_directories", annotations: readOnly("List allowed directories"),
		about: "Returns the directory below which all files are.",
		handler: define(func(context.Context, *toolset, *struct{}) (*textResult, error) {
			return textf("Allowed directories:\n/"), nil
		},
			func(context.Context, *toolset, *struct{}) ([]policy.Request, error) { return []policy.Request{}, nil }),
	},
}}

// readOnly returns the annotations of a tool that changes nothing.
func readOnly(title string) Annotations {
	return Annotations{Title: title, ReadOnly: true, Idempotent: true}
}

// replaces are the annotations of a tool that writes a whole file, and cannot append.
var replaces = Annotations{Title: "Write file", Destructive: true, Idempotent: true}

// mcpPaths is how many files one read_multiple_files reads.
const mcpPaths = 1000

// failMCP returns the text of an error, which for an edit begins as in the
// reference server, as clients look for it.
func failMCP(e *Error) string {
	if e.Code == CodeTextNotFound {
		return "Could not find exact match for edit: " + e.plainText()
	}
	return e.plainText()
}

// mcpPath is the parameter of the tools about one file or directory.
type mcpPath struct {
	Path string `json:"path" jsonschema:"the name, which may begin with a slash: / is the root of the workspace"`
}

// mcpReadInput are the parameters of read_text_file. Head and tail exclude each other.
type mcpReadInput struct {
	mcpPath
	Tail integer `json:"tail,omitempty" jsonschema:"return only the last N lines"`
	Head integer `json:"head,omitempty" jsonschema:"return only the first N lines"`
}

func shapeMCPRead(p properties, _ *toolset) {
	p.between("head", 1, math.MaxInt32)
	p.between("tail", 1, math.MaxInt32)
}

// check refuses head together with tail, as the reference server does.
func (in *mcpReadInput) check() error {
	if in.Head > 0 && in.Tail > 0 {
		return &argumentError{message: `parameters "head" and "tail" cannot be given together`, hint: "Give one of them, or none for the whole file."}
	}
	return nil
}

// runMCPRead returns the whole file, or lines without the end of the last one. head and
// tail count lines here. For tail, the reference server also counts what follows the last one.
func runMCPRead(ctx context.Context, ts *toolset, in *mcpReadInput) (*textResult, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Head == 0 && in.Tail == 0 {
		path, file, err := ts.readWhole(ctx, in.Path)
		if err != nil {
			return nil, err
		}
		return &textResult{ts.showWhole(ctx, path, file)}, nil
	}
	path, file, err := ts.readText(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	first, last := 1, int(in.Head)
	if in.Tail > 0 {
		first, last = max(1, file.lines-int(in.Tail)+1), file.lines
	}
	return &textResult{strings.TrimSuffix(ts.showLines(ctx, path, file, first, last), "\n")}, nil
}

func planMCPRead(ctx context.Context, ts *toolset, in *mcpReadInput) ([]policy.Request, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return planReadFile(ctx, ts, &readFileInput{Path: in.Path})
}

// mcpMedia is the result of read_media_file.
type mcpMedia struct {
	Content []mcpPart `json:"content" jsonschema:"one item"`

	part Part
}

// mcpPart is a content block of the protocol: an image or a sound with its data, or a
// resource.
type mcpPart struct {
	Type     string       `json:"type" jsonschema:"image, audio or resource"`
	Data     string       `json:"data,omitempty" jsonschema:"the bytes of an image or a sound in base64"`
	MIMEType string       `json:"mimeType,omitempty" jsonschema:"what they are"`
	Resource *mcpResource `json:"resource,omitempty" jsonschema:"any other file"`
}

// mcpResource is a file that is neither an image nor a sound.
type mcpResource struct {
	URI      string `json:"uri" jsonschema:"the file"`
	MIMEType string `json:"mimeType" jsonschema:"what its bytes are"`
	Blob     string `json:"blob" jsonschema:"the bytes in base64"`
}

// mcpTypes are the types of files by the ends of their names.
var mcpTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp",
	".svg": "image/svg+xml", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".flac": "audio/flac",
}

// runMCPMedia returns the bytes of a file. The type comes from the end of the name alone, and
// a file of no known type is a resource. The file then counts as read.
func runMCPMedia(ctx context.Context, ts *toolset, in *mcpPath) (*mcpMedia, error) {
	name, file, err := ts.readWhole(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	ts.saw(ctx, name, file.version, file.stored, 1, file.lines, file.lines)
	mime, known := mcpTypes[strings.ToLower(path.Ext(name))]
	if !known {
		mime = "application/octet-stream"
	}
	data := base64.StdEncoding.EncodeToString(file.stored)
	item := mcpPart{Type: strings.Split(mime, "/")[0], Data: data, MIMEType: mime}
	if !known {
		// As the MCP server spells it, which has the file as a resource.
		uri := "workspace://" + url.PathEscape(ts.ws.Name()) + (&url.URL{Path: absolute(name)}).EscapedPath()
		item = mcpPart{Type: "resource", Resource: &mcpResource{uri, mime, data}}
	}
	return &mcpMedia{[]mcpPart{item}, Part{Path: name, MIMEType: mime, Data: file.stored}}, nil
}

// planMCPMedia has the request of a read.
func planMCPMedia(ctx context.Context, ts *toolset, in *mcpPath) ([]policy.Request, error) {
	return planReadFile(ctx, ts, &readFileInput{Path: in.Path})
}

func (o *mcpMedia) parts() []Part {
	if unfit(o.part.MIMEType, o.part.Data) != "" {
		return nil
	}
	return []Part{o.part}
}

// text says what the part is: the bytes are in the part and in the structured result only.
func (o *mcpMedia) text() string {
	what := fmt.Sprintf("%s, %s", o.part.MIMEType, wording.Count(len(o.part.Data), "byte", "bytes"))
	return strings.TrimSpace(what + "\n" + unfit(o.part.MIMEType, o.part.Data))
}

// mcpReadAllInput is the parameter of read_multiple_files.
type mcpReadAllInput struct {
	Paths []string `json:"paths" jsonschema:"the files to read"`
}

// runMCPReadAll reads files until their texts together have as many bytes as one file may
// have. A file that does not fit, or cannot be read, has an error in its place, and smaller
// ones after it are still read.
func runMCPReadAll(ctx context.Context, ts *toolset, in *mcpReadAllInput) (*textResult, error) {
	texts := make([]string, len(in.Paths))
	left := ts.whole.MaxFileSize()
	for i, name := range in.Paths {
		path, file, err := ts.readWhole(ctx, name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && int64(len(file.stored)) > left {
			err = errors.New("left out, as the files before it are as much as one call returns; read it by itself")
		}
		if err != nil {
			_, message := describe(err)
			texts[i] = onOneLine(name) + ": Error - " + message
			continue
		}
		texts[i] = onOneLine(name) + ":\n" + ts.showWhole(ctx, path, file) + "\n"
		left -= int64(len(file.stored))
	}
	return &textResult{strings.Join(texts, "\n---\n")}, nil
}

func planMCPReadAll(ctx context.Context, ts *toolset, in *mcpReadAllInput) ([]policy.Request, error) {
	return planReadFiles(ctx, ts, &readFilesInput{Paths: in.Paths})
}

// mcpWriteInput are the parameters of write_file.
type mcpWriteInput struct {
	mcpPath
	Content string `json:"content" jsonschema:"the whole new content"`
}

// mcpMoveInput are the parameters of move_file.
type mcpMoveInput struct {
	Source      string `json:"source" jsonschema:"the file or directory to move"`
	Destination string `json:"destination" jsonschema:"its new name, not the directory to put it in"`
}

// mcpEditInput are the parameters of edit_file.
type mcpEditInput struct {
	mcpPath
	Edits  []mcpReplacement `json:"edits" jsonschema:"the replacements, made one after another: all of them or none"`
	DryRun bool             `json:"dryRun,omitempty" jsonschema:"return the diff and write nothing"`
}

// mcpReplacement is one edit. Edits are made one after the other.
type mcpReplacement struct {
	OldText string `json:"oldText" jsonschema:"the text to replace"`
	NewText string `json:"newText" jsonschema:"the text to put in its place"`
}

// runMCPEdit returns the diff in a fence that is longer than any in the diff, so that a
// Markdown file does not end it.
func runMCPEdit(ctx context.Context, ts *toolset, in *mcpEditInput) (*textResult, error) {
	e, err := ts.mcpEditor(ctx, in)
	if err != nil {
		return nil, err
	}
	if _, err := ts.edit(ctx, e, in.DryRun); err != nil {
		return nil, explainEdit(err, true)
	}
	diff, note := e.diff()
	if note != "" {
		diff += "\\ " + note + "\n"
	}
	fence := "```"
	for strings.Contains(diff, fence) {
		fence += "`"
	}
	return textf("%sdiff\n%s%s\n", fence, diff, fence), nil
}

func planMCPEdit(ctx context.Context, ts *toolset, in *mcpEditInput) ([]policy.Request, error) {
	e, err := ts.mcpEditor(ctx, in)
	if err != nil {
		return nil, err
	}
	return ts.planEdit(ctx, e, in.DryRun, true)
}

// mcpEditor returns the editor of the file, which makes the edits as the reference
// server does.
func (ts *toolset) mcpEditor(ctx context.Context, in *mcpEditInput) (*editor, error) {
	path, err := ts.ws.Clean(ctx, ops.EditFile, in.Path)
	return &editor{path: path, limit: ts.whole.MaxFileSize(), by: in.change}, err
}

// change makes the replacements, each on what those before it made.
func (in *mcpEditInput) change(text []byte) (*edit.Change, error) {
	s := edit.NewSequence(text)
	for i, r := range in.Edits {
		err := s.First(r.OldText, r.NewText)
		var notFound *edit.NotFoundError
		if errors.As(err, &notFound) {
			if notFound.Edit = i; replaceLines(s, r) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return s.Change(), nil
}

// replaceLines replaces the first lines that are those of r without the blanks around
// them, and reports whether there are any. The first new line gets the indentation of
// the first old one, and so do others that are indented in r: of
//
//	if x {          replaced by  if y {    in      if x {   makes      if y {
//	  f()                          g()                 f()                 g()
//
// The end of the last line stays as it is. The other line ends become CRLF if any of the old
// lines has one, or if the line before one without a line end has.
func replaceLines(s *edit.Sequence, r mcpReplacement) bool {
	text := string(s.Text())
	old := strings.Split(strings.ReplaceAll(r.OldText, "\r\n", "\n"), "\n")
	lines := strings.SplitAfter(text, "\n")
	start := 0
	for i := 0; i+len(old) <= len(lines); i++ {
		if slices.EqualFunc(old, lines[i:i+len(old)], func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }) {
			matched := strings.Join(lines[i:i+len(old)], "")
			body := wording.LineBody(matched)
			crlf := strings.Contains(matched, "\r\n") || !strings.Contains(matched, "\n") && strings.HasSuffix(text[:start], "\r\n")
			s.Replace(start, start+len(body), reindent(r.NewText, old, indentation(lines[i]), crlf))
			return true
		}
		start += len(lines[i])
	}
	return false
}

// reindent returns text, which replaces the lines old, in the place of a line with
// indent. A line that was indented in old and is indented in text keeps the difference
// of both, added to indent; another one stays as it is. The line ends become those of
// the file.
func reindent(text string, old []string, indent string, crlf bool) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		var before string
		if i < len(old) {
			before = indentation(old[i])
		}
		bare := strings.TrimLeftFunc(line, unicode.IsSpace)
		switch now := indentation(line); {
		case i == 0:
			lines[i] = indent + bare
		case before != "" && now != "":
			lines[i] = indent + strings.Repeat(" ", max(0, len(now)-len(before))) + bare
		}
	}
	end := "\n"
	if crlf {
		end = "\r\n"
	}
	return strings.Join(lines, end)
}

// indentation returns the blanks that a line begins with.
func indentation(line string) string {
	line = strings.TrimRight(line, "\r\n")
	return line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))]
}

// runMCPList lists a directory: "[DIR] src" and "[FILE] a.go", one a line.
func runMCPList(ctx context.Context, ts *toolset, in *mcpPath) (*textResult, error) {
	children, more, err := ts.list(ctx, in.Path)
	lines := make([]string, len(children))
	for i, c := range children {
		lines[i] = mcpKind(c) + " " + onOneLine(c.Name)
	}
	return &textResult{strings.Join(lines, "\n") + moreNote(more)}, err
}

// mcpKind returns the mark that the reference server puts before a name. Everything that is
// no directory is a file.
func mcpKind(info workspace.FileInfo) string {
	if info.Type == workspace.TypeDirectory {
		return "[DIR]"
	}
	return "[FILE]"
}

func planMCPList(ctx context.Context, ts *toolset, in *mcpPath) ([]policy.Request, error) {
	return planLs(ctx, ts, &lsInput{Path: in.Path})
}

// mcpSizesInput are the parameters of list_directory_with_sizes.
type mcpSizesInput struct {
	mcpPath
	SortBy string `json:"sortBy,omitempty" jsonschema:"what to sort by; by size, the largest come first"`
}

// runMCPSizes lists a directory with sizes and totals. Entries of one size stay in the order
// of names. The totals are of the entries that are listed.
func runMCPSizes(ctx context.Context, ts *toolset, in *mcpSizesInput) (*textResult, error) {
	children, more, err := ts.list(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	if in.SortBy == "size" {
		slices.SortStableFunc(children, func(a, b workspace.FileInfo) int { return cmp.Compare(b.Size, a.Size) })
	}
	var lines []string
	total, files := int64(0), 0
	for _, c := range children {
		size := ""
		if c.Type != workspace.TypeDirectory {
			files++
			total += c.Size
			size = fmt.Sprintf("%10s", mcpSize(c.Size))
		}
		lines = append(lines, fmt.Sprintf("%s %-30s %s", mcpKind(c), onOneLine(c.Name), size))
	}
	lines = append(lines, "", fmt.Sprintf("Total: %d files, %d directories", files, len(children)-files), "Combined size: "+mcpSize(total))
	return &textResult{strings.Join(lines, "\n") + moreNote(more)}, nil
}

func planMCPSizes(ctx context.Context, ts *toolset, in *mcpSizesInput) ([]policy.Request, error) {
	return planLs(ctx, ts, &lsInput{Path: in.Path})
}

// mcpSize writes a size as the reference server does: 512 B, 1.50 KB.
func mcpSize(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, unit := float64(n)/1024, 0
	for ; size >= 1024 && unit < 3; unit++ {
		size /= 1024
	}
	return fmt.Sprintf("%.2f %cB", size, "KMGT"[unit])
}

// mcpTreeInput are the parameters of directory_tree.
type mcpTreeInput struct {
	mcpPath
	ExcludePatterns []string `json:"excludePatterns,omitempty" jsonschema:"globs of what to leave out, relative to path; a name without * is left out at any depth"`
}

// mcpNode is an entry of directory_tree. Children is a pointer, because an empty directory
// has an empty list and a file has no such member.
type mcpNode struct {
	Name     string      `json:"name"`
	Type     string      `json:"type"`
	Children *[]*mcpNode `json:"children,omitempty"` // of a directory
}

// runMCPTree returns all that is below a directory, or fails: a tree that is cut would look
// like the whole to a client that parses it. Names come sorted, so a directory comes before
// what is in it. A file with a name below it, as some stores allow, is shown as a directory.
func runMCPTree(ctx context.Context, ts *toolset, in *mcpTreeInput) (*mcpTree, error) {
	exclude, err := in.exclude()
	if err != nil {
		return nil, err
	}
	root, err := ts.ws.Clean(ctx, ops.Ls, in.Path)
	if err != nil {
		return nil, err
	}
	found, more, err := ts.below(ctx, root, "**", exclude)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, &argumentError{message: fmt.Sprintf("there are more than %d files and directories below %s", wholeEntries, onOneLine(in.Path)),
			hint: "Ask for a directory further down, or leave some out with excludePatterns."}
	}
	top := &mcpNode{Children: &[]*mcpNode{}}
	nodes := map[string]*mcpNode{".": top} // by their names from the root of the tree
	for _, f := range found {
		dir, name := workspace.Split(f.path)
		node := &mcpNode{Name: name, Type: "file"}
		if f.suffix != "" {
			node.makeDir()
		}
		nodes[f.path] = node
		if parent := nodes[dir]; parent != nil {
			parent.makeDir()
			*parent.Children = append(*parent.Children, node)
		}
	}
	text, err := encode(top.Children, "  ")
	return &mcpTree{textResult{string(text)}}, err
}

// makeDir makes a directory of n, unless it is one.
func (n *mcpNode) makeDir() {
	if n.Type = "directory"; n.Children == nil {
		n.Children = &[]*mcpNode{}
	}
}

// mcpTree is the text of directory_tree, which clients parse.
type mcpTree struct{ textResult }

func (*mcpTree) isArray() {}

func planMCPTree(ctx context.Context, ts *toolset, in *mcpTreeInput) ([]policy.Request, error) {
	if _, err := in.exclude(); err != nil {
		return nil, err
	}
	return planLs(ctx, ts, &lsInput{Path: in.Path})
}

// exclude returns the patterns. One without a star stands for names at any depth. So
// node_modules leaves out every directory of that name.
func (in *mcpTreeInput) exclude() (*glob.Pattern, error) {
	var patterns []string
	for _, p := range in.ExcludePatterns {
		if patterns = append(patterns, p); !strings.Contains(p, "*") {
			patterns = append(patterns, "**/"+p)
		}
	}
	return compileExcludes(patterns)
}

// compileExcludes returns a pattern that matches what any of the patterns does, nil for none.
//
// # Errors
//
// An [*argumentError] for a malformed pattern.
func compileExcludes(patterns []string) (*glob.Pattern, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	compiled, err := glob.CompileAny(patterns...)
	if err != nil {
		return nil, &argumentError{message: "a glob to leave out: " + err.Error(), hint: globHint}
	}
	return compiled, nil
}

// foundName is a name from the directory that was searched.
type foundName struct {
	path   string
	suffix string // a slash for a directory
}

// below returns the first names below dir, sorted, that the pattern matches, if
// exclude matches neither them nor a directory above, and whether there are more.
//
// It takes two searches: a pattern with a slash at its end finds directories, and one without
// finds files. A name that both find, as it has changed in between, is a directory. dir is
// clean, and what is found is relative to it.
func (ts *toolset) below(ctx context.Context, dir, pattern string, exclude *glob.Pattern) (found []foundName, more bool, err error) {
	for _, suffix := range []string{"", "/"} {
		paths, err := ts.ws.Glob(ctx, strings.TrimSuffix(pattern, "/")+suffix, &workspace.GlobOptions{Dir: dir, Limit: searchedNames})
		if err != nil {
			return nil, false, err
		}
		more = more || len(paths) == searchedNames
		for _, p := range paths {
			name := foundName{strings.TrimPrefix(strings.TrimSuffix(p, "/"), dir+"/"), suffix}
			if !excluded(exclude, name.path) {
				found = append(found, name)
			}
		}
	}
	slices.SortFunc(found, func(a, b foundName) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(b.suffix, a.suffix)) // a directory first
	})
	found = slices.CompactFunc(found, func(a, b foundName) bool { return a.path == b.path })
	if len(found) > wholeEntries {
		return found[:wholeEntries], true, nil
	}
	return found, more, nil
}

// searchedNames is how many names of a kind [toolset.below] looks at.
const searchedNames = 100_000

// excluded reports whether exclude matches name or a directory above it. name is relative to
// where the patterns begin. A nil exclude matches nothing.
func excluded(exclude *glob.Pattern, name string) bool {
	for exclude != nil && name != "." {
		if exclude.Match(name) {
			return true
		}
		name, _ = workspace.Split(name)
	}
	return false
}

// mcpSearchInput are the parameters of search_files.
type mcpSearchInput struct {
	mcpPath
	Pattern         string   `json:"pattern" jsonschema:"the glob, relative to path"`
	ExcludePatterns []string `json:"excludePatterns,omitempty" jsonschema:"globs of what to leave out, relative to path"`
}

// runMCPSearch returns the absolute names of files and directories, sorted, one a line.
func runMCPSearch(ctx context.Context, ts *toolset, in *mcpSearchInput) (*textResult, error) {
	exclude, err := compileExcludes(in.ExcludePatterns)
	if err != nil {
		return nil, err
	}
	root, err := ts.ws.Clean(ctx, ops.Glob, in.Path)
	if err != nil {
		return nil, err
	}
	found, more, err := ts.below(ctx, root, in.Pattern, exclude)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return &textResult{"No matches found"}, nil
	}
	lines := make([]string, len(found))
	for i := range lines {
		lines[i] = onOneLine(path.Join("/", root, found[i].path))
	}
	return &textResult{strings.Join(lines, "\n") + moreNote(more)}, nil
}

func planMCPSearch(ctx context.Context, ts *toolset, in *mcpSearchInput) ([]policy.Request, error) {
	if _, err := compileExcludes(in.ExcludePatterns); err != nil {
		return nil, err
	}
	return planGlob(ctx, ts, &globInput{Pattern: in.Pattern, Path: in.Path})
}

// runMCPInfo describes a name. A symlink is neither a file nor a directory. The time is in
// UTC, and absent if the store has none.
func runMCPInfo(ctx context.Context, ts *toolset, in *mcpPath) (*textResult, error) {
	info, err := ts.ws.Stat(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("size: %d", info.Size)
	if !info.ModTime.IsZero() {
		text += "\nmodified: " + info.ModTime.UTC().Format("Mon Jan 02 2006 15:04:05 GMT-0700 (UTC)")
	}
	return textf("%s\nisDirectory: %v\nisFile: %v", text, info.Type == workspace.TypeDirectory, info.Type == workspace.TypeFile), nil
}

func planMCPInfo(ctx context.Context, ts *toolset, in *mcpPath) ([]policy.Request, error) {
	return planStat(ctx, ts, &statInput{Path: in.Path})
}
