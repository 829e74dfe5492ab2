package eino

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// Backend is a [filesystem.Backend] over a workspace. It is safe for concurrent use.
type Backend struct {
	ws    *workspace.Workspace
	read  *tools.Set // has read_file
	edits *tools.Set // has Edit, which changes one file, while edit_file takes globs
}

var _ filesystem.Backend = (*Backend)(nil)

// NewBackend returns a backend over ws. For a [workspace.FileSystem], call
// [workspace.New] first.
//
// # Errors
//
// ws is nil.
func NewBackend(ws *workspace.Workspace) (*Backend, error) {
	read, err := tools.New(ws, &tools.Options{Naming: "{op}"})
	if err != nil {
		return nil, err
	}
	edits, err := tools.New(ws, &tools.Options{Dialect: tools.DialectClaudeCode})
	return &Backend{ws, read, edits}, err
}

// maxEntries is how much a listing or a search returns; more is an error.
const maxEntries = 10_000

// LsInfo returns the direct children of a directory, sorted by name.
func (b *Backend) LsInfo(ctx context.Context, req *filesystem.LsInfoRequest) ([]filesystem.FileInfo, error) {
	children, err := b.ws.Ls(ctx, req.Path, &workspace.LsOptions{Limit: maxEntries + 1})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(children))
	for i, c := range children {
		names[i] = c.Path
	}
	return b.infos(ctx, "ls", req.Path, names)
}

func (b *Backend) infos(ctx context.Context, op, path string, names []string) ([]filesystem.FileInfo, error) {
	if len(names) > maxEntries {
		return nil, b.tooMany(ctx, op, path)
	}
	all := make([]filesystem.FileInfo, len(names))
	for i, name := range names {
		all[i].Path = "/" + name
	}
	return all, nil
}

// tooMany returns the error of a call that has more than maxEntries results.
func (b *Backend) tooMany(ctx context.Context, op, path string) error {
	return b.pathError(ctx, op, path, fmt.Errorf("%w: it has more than %d entries; ask for less", workspace.ErrTooLarge, maxEntries))
}

// pathError returns err with the clean name for path, as the errors of the workspace have it.
func (b *Backend) pathError(ctx context.Context, op, path string, err error) error {
	name, invalid := b.ws.Clean(ctx, op, path)
	if invalid != nil {
		return invalid
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Read returns lines with their numbers. The text is decoded, and long lines are cut,
// as the tool read_file does. After the last line there is nothing.
func (b *Backend) Read(ctx context.Context, req *filesystem.ReadRequest) (string, error) {
	const pageLines, defaultLines = 2000, 200
	line, left := max(req.Offset, 0)+1, req.Limit
	if left <= 0 {
		left = defaultLines
	}
	var out []string
	for line > 0 && left > 0 {
		var page struct {
			Text     string
			Binary   bool
			NextLine int
		}
		args := map[string]any{"path": req.FilePath, "line": line, "limit": min(left, pageLines)}
		if err := call(ctx, b.read, "read_file", args, &page); err != nil {
			if e := (*tools.Error)(nil); errors.As(err, &e) && e.Code == tools.CodeInvalidArguments {
				break // the file has fewer lines
			}
			return "", err
		}
		if page.Binary {
			return "", b.pathError(ctx, "read_file", req.FilePath, workspace.ErrBinary)
		}
		for text := range strings.Lines(page.Text) {
			out = append(out, fmt.Sprintf("%6d\t%s", line, strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")))
			line, left = line+1, left-1
		}
		line = page.NextLine
	}
	return strings.Join(out, "\n"), nil
}

// GrepRaw returns the lines that have a text, sorted by path and line. It leaves
// out .git, what .gitignore files exclude, and what is no text.
func (b *Backend) GrepRaw(ctx context.Context, req *filesystem.GrepRequest) ([]filesystem.GrepMatch, error) {
	result, err := b.ws.Grep(ctx, req.Pattern, &workspace.GrepOptions{
		Path: req.Path, Literal: true, IncludeGlob: req.Glob, Gitignore: true, MaxResults: maxEntries + 1,
	})
	if err != nil {
		return nil, err
	}
	if len(result.Matches) > maxEntries {
		return nil, b.tooMany(ctx, "grep", req.Path)
	}
	matches := make([]filesystem.GrepMatch, len(result.Matches))
	for i, m := range result.Matches {
		matches[i] = filesystem.GrepMatch{Path: "/" + m.Path, Line: m.LineNumber, Content: strings.TrimSuffix(m.Line, "\r")}
	}
	return matches, nil
}

// GlobInfo returns the files that a pattern matches, sorted by path. It leaves out
// .git and what .gitignore files exclude. An absolute pattern begins at the root.
func (b *Backend) GlobInfo(ctx context.Context, req *filesystem.GlobInfoRequest) ([]filesystem.FileInfo, error) {
	dir := req.Path
	if strings.HasPrefix(req.Pattern, "/") {
		dir = ""
	}
	names, err := b.ws.Glob(ctx, req.Pattern, &workspace.GlobOptions{Dir: dir, Gitignore: true, Limit: maxEntries + 1})
	if err != nil {
		return nil, err
	}
	return b.infos(ctx, "glob", dir, names)
}

// Write creates a file with its missing directories. A file that exists is an error.
func (b *Backend) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	_, err := b.ws.WriteFile(ctx, req.FilePath, []byte(req.Content), &workspace.WriteOptions{IfNotExist: true})
	return err
}

// Edit replaces text of a file in one step: nothing that somebody else writes
// meanwhile is lost.
func (b *Backend) Edit(ctx context.Context, req *filesystem.EditRequest) error {
	if _, ok := b.edits.Lookup("Edit"); !ok {
		return b.pathError(ctx, "edit_file", req.FilePath, errors.ErrUnsupported)
	}
	if req.OldString == "" { // which Edit creates a file for
		return &tools.Error{Code: tools.CodeInvalidArguments, Message: "the text to replace is empty"}
	}
	return call(ctx, b.edits, "Edit", map[string]any{
		"file_path": req.FilePath, "old_string": req.OldString, "new_string": req.NewString, "replace_all": req.ReplaceAll,
	}, new(struct{}))
}

// call calls a tool and decodes its result. What the tool fails with is a [tools.Error].
func call(ctx context.Context, set *tools.Set, name string, args, out any) error {
	encoded, err := json.Marshal(args)
	if err != nil {
		return err
	}
	result, err := set.Call(ctx, name, encoded)
	switch {
	case err != nil:
		return err
	case result.IsError:
		return result.Error
	}
	return json.Unmarshal(result.Structured, out)
}
