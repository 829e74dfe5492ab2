package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// readFilesInput are the parameters of read_files.
type readFilesInput struct {
	Paths    []string `json:"paths" jsonschema:"from the root"`
	MaxBytes integer  `json:"maxBytes,omitempty" jsonschema:"of text in total"`
}

// readFilesOutput is the result of read_files, in the order of the paths.
type readFilesOutput struct {
	Files  []readFilesItem `json:"files" jsonschema:"the files, in the order of paths"`
	Failed int             `json:"failed" jsonschema:"how many of them have an error"`
}

// readFilesItem is a file, or why it could not be read.
type readFilesItem struct {
	Path       string            `json:"path" jsonschema:"the file"`
	Text       string            `json:"text" jsonschema:"its first lines"`
	TotalLines int               `json:"totalLines" jsonschema:"how many lines it has"`
	NextLine   int               `json:"nextLine,omitempty" jsonschema:"the line to continue at; absent at the end"`
	Version    workspace.Version `json:"version,omitempty" jsonschema:"the version of the whole file"`
	Hint       string            `json:"hint,omitempty" jsonschema:"what to do with a file that is not text, or without room for a line"`
	Error      string            `json:"error,omitempty" jsonschema:"why it could not be read: code, message and hint"`

	file  *content
	shown *readFileOutput
}

var readFilesSpec = spec{
	op: ops.ReadFiles, annotations: Annotations{Title: "Read files", ReadOnly: true, Idempotent: true}, handler: define(runReadFiles, planReadFiles),
	shape: func(p properties, _ *toolset) {
		p["paths"].MinItems, p["paths"].MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(filesMax)
		p.between("maxBytes", 1, readBytes)
		p.byDefault("maxBytes", readBytes)
	},
}

// runReadFiles reads all files before it shows the first, as what one does not need
// of the budget goes to the others.
//
// A file that cannot be read is an entry with an error, and no reason to fail: the others are
// as useful without it. Only the end of ctx fails the call. Images and documents share
// partBytes, in the order of the paths.
func runReadFiles(ctx context.Context, ts *toolset, in *readFilesInput) (*readFilesOutput, error) {
	out := &readFilesOutput{Files: make([]readFilesItem, len(in.Paths))}
	sizes, left := make([]int, len(in.Paths)), wholeBytes
	for i, path := range in.Paths {
		item := &out.Files[i]
		var err error
		item.Path, item.file, err = ts.readWhole(ctx, path)
		if err == nil && len(item.file.stored) > left {
			err = ops.Error(ops.ReadFile, item.Path, workspace.ErrTooLarge, fmt.Errorf("these files have more than %s together", byteSize(wholeBytes)))
			item.file, err = nil, &hintedError{err, "Read it by itself."} // the usual hint is about a file above a limit
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			item.Path, item.Error = clip(path, pathChars), ts.explain(ctx, ops.ReadFile, err).text()
			out.Failed++
		default:
			sizes[i] = len(item.file.head(1, readLines, false).text) // what it shows by itself
			left -= len(item.file.stored)
		}
	}
	room := partBytes
	used := func(i, most int) int {
		if out.Files[i].file == nil {
			return 0
		}
		return len(out.Files[i].file.headWithin(1, readLines, most, false).text)
	}
	for i, most := range shares(sizes, int(cmp.Or(in.MaxBytes, readBytes)), used) {
		item := &out.Files[i]
		if item.file == nil {
			continue
		}
		shown, err := ts.show(ctx, item.Path, item.file, &readFileInput{}, most, room)
		if err != nil {
			return nil, err
		}
		if shown.picture != nil {
			room -= len(shown.picture.Data)
		}
		if shown.none() { // a next line that is the first looks like no progress
			shown.Hint = "There is no room for its first line. Read it by itself, without maxBytes."
		}
		*item = readFilesItem{shown.Path, shown.Text, shown.TotalLines, shown.NextLine, shown.Version, shown.Hint, "", nil, shown}
	}
	return out, nil
}

// shares divides a budget among files. Those that need less than an equal share get
// what they need, and the others share the rest: of 100, files of 10, 50 and 200 get
// 10, 45 and 45. used returns what a file uses of its share: whole lines, or nothing.
//
// The smallest come first, so each step knows what the files before have left over.
func shares(sizes []int, budget int, used func(i, most int) int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[a] - sizes[b] })
	out := make([]int, len(sizes))
	for n, i := range order {
		out[i] = min(sizes[i], budget/(len(order)-n))
		budget -= used(i, out[i])
	}
	return out
}

// planReadFiles has a request for each path, and none for a name that is not valid.
func planReadFiles(ctx context.Context, ts *toolset, in *readFilesInput) (requests []policy.Request, _ error) {
	for _, path := range in.Paths {
		read, err := ts.touches(ctx, ops.ReadFile, policy.OpRead, path)
		if err != nil && !errors.Is(err, fs.ErrInvalid) { // the call reports an invalid name in its place
			return nil, err
		}
		requests = append(requests, read...)
	}
	return requests, nil
}

// parts returns the pictures of all files.
func (o *readFilesOutput) parts() (parts []Part) {
	for _, item := range o.Files {
		if item.shown != nil {
			parts = append(parts, item.shown.parts()...)
		}
	}
	return parts
}

// text is the texts of the files, one after the other.
func (o *readFilesOutput) text() string {
	var out strings.Builder
	out.WriteString("[" + wording.Count(len(o.Files), "file", "files"))
	if o.Failed > 0 {
		fmt.Fprintf(&out, ", %d could not be read", o.Failed)
	}
	out.WriteString("]")
	for _, item := range o.Files {
		out.WriteString("\n")
		if item.shown == nil {
			out.WriteString("[" + onOneLine(item.Path) + ": not read]\n" + item.Error)
			continue
		}
		out.WriteString(strings.TrimSuffix(item.shown.text(), "\n"))
	}
	return out.String()
}
