package webdav

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/webdav"

	"github.com/workspacekit/workspacekit/internal/osfile"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// maxXML is how many bytes of a body are read that is no file.
const maxXML = 32 << 10

// Options are the settings of a handler.
type Options struct {
	// Prefix is the path of URLs under which the handler is reached, such as "/files".
	// Empty means the root of the server.
	Prefix string
}

// NewHandler returns a handler that serves ws. It lets everybody in. Nil opts mean the
// zero Options.
func NewHandler(ws *workspace.Workspace, opts *Options) http.Handler {
	h := &handler{ws: ws, dav: webdav.Handler{LockSystem: newLocks()}, properties: newProperties()}
	if opts != nil {
		h.dav.Prefix = strings.TrimSuffix(opts.Prefix, "/")
	}
	h.dav.FileSystem = fileSystem{h.properties}
	return h
}

// handler prepares requests for the handler of golang.org/x/net, and improves its answers.
type handler struct {
	ws  *workspace.Workspace
	dav webdav.Handler

	properties *properties
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := &request{method: r.Method, fs: osfile.New(r.Context(), h.ws, nil)}
	if err := h.prepare(w, r, req); err != nil {
		err.write(w)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost: // all are answered with the content
		describeContent(w.Header(), r.URL.Path)
	}
	if req.replaces != "" {
		h.replace(w, r, req)
		return
	}
	h.serve(&answer{ResponseWriter: w, req: req}, r, req)
}

// serve has the handler of golang.org/x/net serve a request that has been prepared.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, req *request) {
	dav := h.dav
	dav.LockSystem = requestLocks{dav.LockSystem, req}
	dav.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, req)))
}

// replace serves a COPY or MOVE that removes its destination first, as one change: if it then
// fails, what was removed is back before the client has an answer.
func (h *handler) replace(w http.ResponseWriter, r *http.Request, req *request) {
	result := &result{ResponseWriter: w}
	err := transaction.Run(r.Context(), h.ws, func(ctx context.Context, tx *workspace.Workspace) error {
		req.fs = osfile.New(ctx, tx, nil)
		h.serve(result, r.WithContext(ctx), req)
		if result.status >= 400 {
			return errReplace
		}
		return nil
	})
	if err != nil && req.removed != nil {
		h.properties.remove(req.replaces)
		for name, props := range req.removed {
			h.properties.set(name, props)
		}
	}
	if err != nil && (!errors.Is(err, errReplace) || errors.Is(err, workspace.ErrConflict)) { // it may not be back
		refuse(err, req.method, http.StatusForbidden).write(w)
		return
	}
	a := &answer{ResponseWriter: w, req: req}
	a.WriteHeader(result.status)
	if result.status != http.StatusNoContent {
		_, _ = io.WriteString(a, http.StatusText(result.status)) // the client may hang up
	}
}

// errReplace undoes a transaction, as the request has failed.
var errReplace = errors.New("the destination was not replaced")

// result keeps the status of an answer that is not sent yet.
type result struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements [http.ResponseWriter].
func (r *result) WriteHeader(status int) { r.status = status }

// Write implements [http.ResponseWriter].
func (r *result) Write(p []byte) (int, error) { return len(p), nil }

// describeContent says what a file is, by its name alone, and keeps a browser from
// running it: a page from the workspace could change all other files.
func describeContent(header http.Header, name string) {
	header.Set("Content-Type", contentType(name))
	header.Set("Content-Security-Policy", "sandbox")
	header.Set("X-Content-Type-Options", "nosniff")
}

// request is what the parts of this package know about the request that they serve.
type request struct {
	method    string
	fs        *osfile.FS
	name      string                 // of the file or directory
	condition workspace.WriteOptions // of what a PUT or COPY writes
	err       error                  // what went wrong, if there is a status for it
	listed    map[string]fs.FileInfo // what a PROPFIND describes, by name
	children  []fs.FileInfo          // of the directory that a PROPFIND describes
	keeps     bool                   // a COPY or MOVE must not replace anything
	replaces  string                 // what a COPY or MOVE removes first; empty for nothing
	removed   propertiesByName       // of what was removed
	unlock    func()                 // gives back the lock that was created last; nil for none
}

// requestKey is the key of the request in its context, for the parts that package
// webdav calls without it.
type requestKey struct{}

// requestOf returns the request of a context that the handler has made.
func requestOf(ctx context.Context) *request { return ctx.Value(requestKey{}).(*request) }

// note keeps an error for the answer, and returns it.
func (req *request) note(err error) error {
	if req.err == nil && statusOf(err, req.method) != 0 {
		req.err = err
	}
	return err
}

// refusal is an answer to a request that goes no further.
type refusal struct {
	status int
	text   string
}

// write answers with the refusal, which may be a document of XML.
func (e *refusal) write(w http.ResponseWriter) {
	if strings.HasPrefix(e.text, "<") {
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		w.WriteHeader(e.status)
		_, _ = fmt.Fprint(w, e.text) // the client may hang up
		return
	}
	http.Error(w, e.text, e.status)
}

// refuse returns the refusal for an error of the workspace, with a status for errors that
// have none of their own.
func refuse(err error, method string, otherwise int) *refusal {
	if status := statusOf(err, method); status != 0 {
		otherwise = status
	}
	return &refusal{otherwise, err.Error()}
}

// prepare bounds the body, tests conditions, and does what the handler of golang.org/x/net
// leaves open.
func (h *handler) prepare(w http.ResponseWriter, r *http.Request, req *request) *refusal {
	limit := int64(maxXML)
	if r.Method == http.MethodPut {
		limit = req.fs.Limit()
	}
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close") // and do not wait for the body
		return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", limit)}
	}
	if r.Header.Get("Content-Range") != "" {
		return &refusal{http.StatusNotImplemented, "a file can be replaced as a whole only"}
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	req.name = strings.TrimPrefix(r.URL.Path, h.dav.Prefix)
	if err := req.testConditions(r.Header); err != nil {
		return err
	}
	switch r.Method {
	case "LOCK":
		boundTimeout(r.Header)
	case "PROPFIND":
		return req.list(r.Header.Get("Depth"))
	case "COPY", "MOVE":
		return h.checkDestination(r, req)
	}
	return nil
}

// boundTimeout lowers what a client asks for as the life of a lock. What is no time is
// left for the handler to refuse.
func boundTimeout(header http.Header) {
	first, _, _ := strings.Cut(header.Get("Timeout"), ",")
	first = strings.TrimSpace(first)
	seconds, ok := strings.CutPrefix(first, "Second-")
	if n, err := strconv.ParseUint(seconds, 10, 64); ok && (err != nil || n <= uint64(maxLockTime/time.Second)) {
		return
	}
	if ok || first == "" || first == "Infinite" {
		header.Set("Timeout", fmt.Sprintf("Second-%d", maxLockTime/time.Second))
	}
}

// list looks at what a PROPFIND is about before the answer begins, so that an error is no
// shorter list.
func (req *request) list(depth string) *refusal {
	if depth == "" || strings.EqualFold(depth, "infinity") {
		return &refusal{http.StatusForbidden, `<?xml version="1.0" encoding="utf-8"?><D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>`}
	}
	info, err := req.fs.Stat(req.name)
	if err != nil {
		return refuse(err, req.method, http.StatusNotFound)
	}
	req.listed = map[string]fs.FileInfo{path.Clean("/" + req.name): described{FileInfo: info}}
	if depth != "1" || !info.IsDir() {
		return nil
	}
	if req.children, err = req.readDir(req.name); err != nil {
		return refuse(err, req.method, http.StatusNotFound)
	}
	for _, child := range req.children {
		req.listed[path.Join("/", req.name, child.Name())] = child
	}
	return nil
}

// readDir describes the children of a directory, with symlinks followed. It leaves out
// what cannot be followed, or is neither a file nor a directory.
func (req *request) readDir(name string) ([]fs.FileInfo, error) {
	all, err := req.fs.ReadDir(name)
	if err != nil {
		return nil, err
	}
	children := make([]fs.FileInfo, 0, len(all))
	for _, child := range all {
		if child.Mode()&fs.ModeSymlink != 0 {
			if child, err = req.fs.Stat(path.Join(name, child.Name())); err != nil {
				continue
			}
			if child.IsDir() && req.method == "COPY" {
				return nil, &fs.PathError{Op: "copy", Path: path.Join(name, child.Name()), Err: workspace.ErrSymlink}
			}
		}
		if child.IsDir() || child.Mode().IsRegular() {
			children = append(children, described{FileInfo: child})
		}
	}
	return children, nil
}

// testConditions tests the conditions of a request that may change something, and keeps
// those of a write for the write itself. Those of a GET are tested by net/http.
func (req *request) testConditions(header http.Header) *refusal {
	match, noMatch := header.Get("If-Match"), header.Get("If-None-Match")
	if match == "" && noMatch == "" || req.method == http.MethodGet || req.method == http.MethodHead {
		return nil
	}
	info, err := req.fs.Stat(req.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return refuse(err, req.method, http.StatusPreconditionFailed)
	}
	exists := err == nil
	if match != "" && !(exists && matches(match, info)) || noMatch != "" && exists && matches(noMatch, info) {
		return &refusal{http.StatusPreconditionFailed, "the file has changed, or is missing, or exists"}
	}
	switch {
	case match != "":
		req.condition.IfVersion = versionOf(info)
	case !exists:
		req.condition.IfNotExist = true
	}
	return nil
}

// matches reports whether one of the ETags of a condition is that of info.
func matches(condition string, info fs.FileInfo) bool {
	tag := etag(info)
	return strings.TrimSpace(condition) == "*" || slices.ContainsFunc(strings.Split(condition, ","), func(one string) bool {
		return strings.TrimSpace(one) == tag && !strings.HasPrefix(tag, "W/")
	})
}

// checkDestination refuses what would remove the source before it is copied or moved, would
// not end, or would be copied in part.
func (h *handler) checkDestination(r *http.Request, req *request) *refusal {
	source, err := req.fs.Stat(req.name)
	if err != nil {
		return refuse(err, req.method, http.StatusNotFound)
	}
	destination, err := url.Parse(r.Header.Get("Destination"))
	if err != nil {
		return nil // the handler says what is wrong
	}
	from := h.resolve(r.Context(), req.name)
	name := strings.TrimPrefix(destination.Path, h.dav.Prefix)
	to := h.resolve(r.Context(), name)
	if from == to || isBelow(from, to) || isBelow(to, from) {
		return &refusal{http.StatusForbidden, "one of the source and the destination is, or has in it, the other"}
	}
	if req.method == "COPY" && source.IsDir() && r.Header.Get("Depth") != "0" {
		if err := req.readTree(req.name); err != nil {
			return refuse(err, req.method, http.StatusForbidden)
		}
	}
	if r.Header.Get("Overwrite") == "" {
		r.Header.Set("Overwrite", "T") // as RFC 4918 has it for MOVE, too
	}
	req.keeps = r.Header.Get("Overwrite") != "T"
	req.condition = workspace.WriteOptions{IfNotExist: req.keeps} // those of the header were of the source
	target, err := req.fs.Stat(name)
	if err == nil && (source.IsDir() || target.IsDir()) && !req.keeps {
		req.replaces = name
	}
	return nil
}

// readTree lists the directory name, and all below it, so that one that cannot be copied is
// refused before a part of it is.
func (req *request) readTree(name string) error {
	children, err := req.readDir(name)
	for _, child := range children {
		below := path.Join(name, child.Name())
		switch {
		case err != nil:
			return err
		case child.IsDir():
			err = req.readTree(below)
		case child.Size() > req.fs.Limit():
			err = &fs.PathError{Op: "copy", Path: below, Err: workspace.ErrTooLarge}
		}
	}
	return err
}

// resolve returns name without symlinks, or as it is if it cannot be resolved.
func (h *handler) resolve(ctx context.Context, name string) string {
	clean := strings.TrimPrefix(path.Clean("/"+name), "/")
	if resolved, err := h.ws.Resolve(ctx, clean); err == nil {
		return resolved
	}
	return clean
}

// isBelow reports whether name is below dir.
func isBelow(name, dir string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }

// answer gives errors of the workspace the status that they have in WebDAV, and their
// text, which is safe to show.
type answer struct {
	http.ResponseWriter
	req      *request
	replaced bool
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if better := statusOf(a.req.err, a.req.method); better != 0 && (status >= 400 || a.req.method == "LOCK") {
		a.replaced = true
		a.dropLock()
		http.Error(a.ResponseWriter, a.req.err.Error(), better)
		return
	}
	a.ResponseWriter.WriteHeader(status)
}

// dropLock takes back the lock of a LOCK that fails. The handler of golang.org/x/net keeps it if
// the file cannot be stored.
func (a *answer) dropLock() {
	if a.req.method == "LOCK" && a.req.unlock != nil {
		a.req.unlock()
		a.Header().Del("Lock-Token")
	}
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	if a.replaced {
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// statusOf returns the status for an error, and 0 if the handler of golang.org/x/net
// knows better, as for what does not exist.
func statusOf(err error, method string) int {
	tooLong := (*http.MaxBytesError)(nil)
	creates := slices.Contains([]string{http.MethodPut, "MKCOL", "COPY", "MOVE", "LOCK"}, method)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, workspace.ErrTooLarge), errors.As(err, &tooLong):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errLate):
		return http.StatusRequestTimeout
	case errors.Is(err, workspace.ErrNoSpace), errors.Is(err, errTooManyLocks):
		return http.StatusInsufficientStorage
	case errors.Is(err, workspace.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	case errors.Is(err, errors.ErrUnsupported):
		return http.StatusNotImplemented
	case errors.Is(err, workspace.ErrIsDir):
		return http.StatusMethodNotAllowed
	case errors.Is(err, workspace.ErrNotDir) && creates, errors.Is(err, fs.ErrNotExist) && creates && !isStat(err):
		return http.StatusConflict // the parent is missing
	case errors.Is(err, workspace.ErrNotDir):
		return http.StatusNotFound
	case errors.Is(err, workspace.ErrConflict), errors.Is(err, fs.ErrExist) && slices.Contains([]string{http.MethodPut, "COPY", "MOVE"}, method):
		return http.StatusPreconditionFailed
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrInvalid):
		return http.StatusForbidden
	}
	return 0
}

// isStat reports whether err is of a mere look.
func isStat(err error) bool {
	var pathError *fs.PathError
	return errors.As(err, &pathError) && pathError.Op == "stat"
}
