package mcp

import (
	"context"
	"errors"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// updates tells clients that files have changed which they have subscribed to. While
// somebody has subscribed to a file of a workspace, the workspace is watched.
type updates struct {
	resources *resources
	server    *sdk.Server // set once, before the first client

	mu       sync.Mutex
	watches  map[*workspace.Workspace]*watch // guarded by mu
	sessions map[*sdk.ServerSession]bool     // guarded by mu; those that have ever subscribed
}

func newUpdates(r *resources) *updates {
	return &updates{resources: r, watches: map[*workspace.Workspace]*watch{}, sessions: map[*sdk.ServerSession]bool{}}
}

// watch is what clients have subscribed to in a workspace.
type watch struct {
	stop   context.CancelFunc
	opened chan struct{} // closed when err is known
	err    error
	paths  map[string]map[subscription]bool // guarded by the mu of updates
}

// subscription is by the URI that the client has sent: the SDK knows it by no other, and one
// path has several, which differ in what they escape.
type subscription struct {
	session *sdk.ServerSession
	uri     string
}

// watches reports whether a workspace can be watched.
func watches(ws *workspace.Workspace) bool { return ws.Capabilities().Watch != workspace.WatchNone }

// subscribe is called before the SDK adds the session to those that get updates.
func (u *updates) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	ws, path, err := u.resources.resolve(req.Params.URI)
	if err != nil {
		return err
	}
	if !watches(ws) {
		return protocolError(errors.New("the workspace " + ws.Name() + " does not support watching"))
	}
	inCall, cancel, _ := u.resources.clients.enter(ctx, req.Session, ws.Name())
	defer cancel()
	info, err := ws.Stat(inCall, path)
	if err != nil {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	// Changes are reported by the name of the file, so nothing would be reported for a symlink.
	target, err := ws.Resolve(inCall, path)
	switch {
	case err != nil:
		return protocolError(err)
	case target != path:
		return protocolError(errors.New(path + " leads through a symlink: subscribe to " + uriOf(ws.Name(), target)))
	case info.IsDir(): // nothing would be reported for what is in it
		return protocolError(errors.New(path + " is a directory: subscribe to a file"))
	}
	s := subscription{req.Session, req.Params.URI}
	w, isNew := u.add(ws, path, s)
	if isNew {
		// The server forgets a client that has gone, and so does the watch.
		go func() {
			_ = req.Session.Wait() // says how it ended, which does not matter here
			u.removeAll(req.Session)
		}()
	}
	select {
	case <-w.opened:
	case <-inCall.Done():
		err = protocolError(inCall.Err())
	}
	if err == nil && w.err != nil {
		err = protocolError(w.err)
	}
	if err != nil {
		u.remove(ws, path, s)
	}
	return err
}

// add notes that a session has subscribed to a file, and starts the watch. isNew says
// that the session has never subscribed before.
func (u *updates) add(ws *workspace.Workspace, path string, s subscription) (w *watch, isNew bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	isNew = !u.sessions[s.session]
	u.sessions[s.session] = true
	w = u.watches[ws]
	if w == nil {
		ctx, cancel := context.WithCancel(tools.WithSession(context.Background(), tools.NewSession()))
		w = &watch{stop: cancel, opened: make(chan struct{}), paths: map[string]map[subscription]bool{}}
		u.watches[ws] = w
		go u.run(ctx, ws, w)
	}
	if w.paths[path] == nil {
		w.paths[path] = map[subscription]bool{}
	}
	w.paths[path][s] = true
	return w, isNew
}

// run reports the changes of a workspace until the watch is stopped.
func (u *updates) run(ctx context.Context, ws *workspace.Workspace, w *watch) {
	events, err := ws.Watch(ctx, ".", nil)
	w.err = err
	close(w.opened)
	if err != nil {
		return
	}
	for event := range events {
		for uri := range u.changed(w, event) {
			// It fails for clients that have gone, one by one.
			_ = u.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
	}
}

// changed returns the URIs that somebody has subscribed to and that event may be about.
func (u *updates) changed(w *watch, event workspace.Event) map[string]bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	paths := w.paths
	if event.Op != workspace.EventOverflow {
		paths = map[string]map[subscription]bool{event.Path: w.paths[event.Path]}
	}
	uris := map[string]bool{}
	for _, subscriptions := range paths {
		for s := range subscriptions {
			uris[s.uri] = true
		}
	}
	return uris
}

// unsubscribe is called before the SDK removes the session.
func (u *updates) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	ws, path, err := u.resources.resolve(req.Params.URI)
	if err != nil {
		return err
	}
	u.remove(ws, path, subscription{req.Session, req.Params.URI})
	return nil
}

func (u *updates) remove(ws *workspace.Workspace, path string, s subscription) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if w := u.watches[ws]; w != nil {
		u.removeLocked(ws, w, path, s)
	}
}

func (u *updates) removeAll(session *sdk.ServerSession) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.sessions, session)
	for ws, w := range u.watches {
		for path, subscriptions := range w.paths {
			for s := range subscriptions {
				if s.session == session {
					u.removeLocked(ws, w, path, s)
				}
			}
		}
	}
}

// removeLocked is called with mu held. It stops a watch that nobody needs.
func (u *updates) removeLocked(ws *workspace.Workspace, w *watch, path string, s subscription) {
	delete(w.paths[path], s)
	if len(w.paths[path]) == 0 {
		delete(w.paths, path)
	}
	if len(w.paths) == 0 {
		w.stop()
		delete(u.watches, ws)
	}
}
