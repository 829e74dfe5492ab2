package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

const (
	methodListResources = "resources/list"
	// listPage is how many files a page of the list has.
	listPage = 1000
	// maxCompletions is how many values the protocol allows in one answer.
	maxCompletions = 100
	uriScheme      = "workspace://"
	// othersCursor begins the cursor of a page after the first of what is no file.
	othersCursor = "others "
	// pathVariable is the name of the path in the templates.
	pathVariable = "path"
)

// resources are the files of workspaces, as resources of a server: the file src/a b.go
// of the workspace docs is workspace://docs/src/a%20b.go. They are safe for concurrent
// use.
type resources struct {
	all     []*workspace.Workspace
	clients *clients
	log     *slog.Logger
	updates *updates
}

// uriOf returns the URI of a file.
func uriOf(name, path string) string {
	escaped := (&url.URL{Path: "/" + path}).EscapedPath()
	return uriScheme + url.PathEscape(name) + escaped
}

// resolve returns the workspace and the path that uri means. A path is not cleaned: it
// is one as a list has it, or none.
func (r *resources) resolve(uri string) (*workspace.Workspace, string, error) {
	rest, ok := strings.CutPrefix(uri, uriScheme)
	host, escaped, _ := strings.Cut(rest, "/")
	name, err := url.PathUnescape(host)
	path, err2 := url.PathUnescape(escaped)
	at := slices.IndexFunc(r.all, func(ws *workspace.Workspace) bool { return ws.Name() == name })
	if !ok || err != nil || err2 != nil || at < 0 || path == "." || !ops.ValidName(path) {
		return nil, "", sdk.ResourceNotFoundError(uri)
	}
	return r.all[at], path, nil
}

// addTo adds a template for each workspace to server, and the list.
func (r *resources) addTo(server *sdk.Server) {
	for _, ws := range r.all {
		server.AddResourceTemplate(&sdk.ResourceTemplate{
			Name:        ws.Name(),
			Title:       "Files of " + ws.Name(),
			Description: "A file by its path from the root of the workspace " + ws.Name(),
			URITemplate: uriScheme + url.PathEscape(ws.Name()) + "/{+" + pathVariable + "}",
		}, r.read)
	}
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if list, ok := req.(*sdk.ListResourcesRequest); ok && method == methodListResources {
				return r.list(ctx, list, next)
			}
			return next(ctx, method, req)
		}
	})
}

// list returns a page of the files, in the order of the workspaces and of the paths.
// The cursor is the URI of the last file of the page before. What somebody else has
// added to the server comes first, on pages of its own if it is much.
func (r *resources) list(ctx context.Context, req *sdk.ListResourcesRequest, next sdk.MethodHandler) (sdk.Result, error) {
	page, from, after := &sdk.ListResourcesResult{Cacheable: sdk.Cacheable{CacheScope: cacheScope}, Resources: []*sdk.Resource{}}, 0, ""
	var params sdk.ListResourcesParams
	if req.Params != nil {
		params = *req.Params
	}
	if rest, ok := strings.CutPrefix(params.Cursor, othersCursor); ok || params.Cursor == "" {
		params.Cursor = rest
		others, err := next(ctx, methodListResources, &sdk.ListResourcesRequest{Session: req.Session, Params: &params, Extra: req.Extra})
		if err != nil {
			return nil, err
		}
		if others, ok := others.(*sdk.ListResourcesResult); ok {
			page.Resources = append(page.Resources, others.Resources...)
			if others.NextCursor != "" {
				page.NextCursor = othersCursor + others.NextCursor
				return page, nil
			}
		}
	} else {
		ws, path, err := r.resolve(params.Cursor)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is not one of this list"}
		}
		from, after = slices.Index(r.all, ws), path
	}
	most := max(listPage, len(page.Resources)+1) // so that the next cursor is that of a file
	ctx, cancel, _ := r.clients.enter(ctx, req.Session, "")
	defer cancel()
	for _, ws := range r.all[from:] {
		room := most - len(page.Resources)
		paths, err := ws.Glob(ctx, "**", &workspace.GlobOptions{Limit: room + 1, After: after, Gitignore: true})
		if ctx.Err() != nil {
			return nil, protocolError(ctx.Err())
		}
		if err != nil { // the files of the others are listed
			r.log.Warn("list the resources of a workspace", "workspace", ws.Name(), "error", err)
			continue
		}
		after = ""
		for _, path := range paths[:min(room, len(paths))] {
			page.Resources = append(page.Resources, &sdk.Resource{URI: uriOf(ws.Name(), path), Name: path})
		}
		if len(paths) > room {
			page.NextCursor = page.Resources[len(page.Resources)-1].URI
			break
		}
	}
	return page, nil
}

// read returns the content of a file, as text if it is text.
func (r *resources) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	ws, path, err := r.resolve(uri)
	if err != nil {
		return nil, err
	}
	ctx, cancel, call := r.clients.enter(ctx, req.Session, ws.Name())
	defer cancel()
	data, err := ws.ReadFile(ctx, path)
	switch {
	case call.unasked.Load():
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: path + ": a rule asks before it is read: call the tool that reads files"}
	case ctx.Err() != nil:
		return nil, protocolError(ctx.Err())
	case errors.Is(err, fs.ErrNotExist):
		return nil, sdk.ResourceNotFoundError(uri)
	case err != nil:
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			err = fmt.Errorf("%s: %w", pathError.Path, pathError.Err)
		}
		return nil, protocolError(err)
	}
	contents := &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: string(data)}
	switch {
	case len(data) == 0:
		contents.Blob = []byte{} // the SDK leaves out an empty text, and contents need one of both
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		contents = &sdk.ResourceContents{URI: uri, MIMEType: http.DetectContentType(data), Blob: data}
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
}

// complete returns the names that continue the path of a template.
func (r *resources) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	none := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	rest, ok := strings.CutPrefix(req.Params.Ref.URI, uriScheme)
	host, _, _ := strings.Cut(rest, "/")
	at := slices.IndexFunc(r.all, func(ws *workspace.Workspace) bool { return url.PathEscape(ws.Name()) == host })
	if !ok || at < 0 || req.Params.Argument.Name != pathVariable {
		return none, nil
	}
	ctx, cancel, _ := r.clients.enter(ctx, req.Session, r.all[at].Name())
	defer cancel()
	dir, prefix := ".", req.Params.Argument.Value
	if slash := strings.LastIndexByte(prefix, '/'); slash >= 0 {
		dir, prefix = prefix[:slash], prefix[slash+1:]
	}
	entries, err := r.all[at].Ls(ctx, dir, nil)
	if err != nil {
		return none, nil // what is typed names no directory (yet)
	}
	var values []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name, prefix) {
			continue
		}
		value := workspace.Join(dir, entry.Name)
		if entry.IsDir() {
			value += "/"
		}
		values = append(values, value)
	}
	none.Completion.Total = len(values)
	none.Completion.HasMore = len(values) > maxCompletions
	none.Completion.Values = append(none.Completion.Values, values[:min(maxCompletions, len(values))]...)
	return none, nil
}

// enter returns a context for what a client asks for outside of a tool, in a workspace or
// in all (""), for as long as a tool has by default.
func (c *clients) enter(ctx context.Context, session *sdk.ServerSession, workspace string) (context.Context, context.CancelFunc, *asking) {
	ctx, cancel := context.WithTimeout(ctx, tools.DefaultTimeout)
	call := &asking{client: session, workspace: workspace}
	return c.of(session).in(ctx, call), cancel, call
}
