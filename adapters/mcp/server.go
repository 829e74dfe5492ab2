package mcp

import (
	"log/slog"
	"runtime"
	"sync"
	"weak"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/tools"
)

// DefaultName is how a server introduces itself whose options have no name.
const DefaultName = "workspacekit"

// Options say how a server introduces itself.
type Options struct {
	// Name is the name of the program. Empty means [DefaultName].
	Name string
	// Version is the version of the program. Empty means "(devel)".
	Version string
	// Instructions is what a client may tell its model about the server as a
	// whole. Empty means nothing.
	Instructions string
	// Logger receives what goes wrong in the protocol. Nil means nobody does.
	Logger *slog.Logger
}

// NewServer returns a server of the tools of set, which do not change while it
// runs. Nil opts mean the zero Options.
func NewServer(set *tools.Set, opts *Options) *sdk.Server {
	var o Options
	if opts != nil {
		o = *opts
	}
	server := sdk.NewServer(o.implementation(), &sdk.ServerOptions{
		Instructions: o.Instructions,
		Logger:       o.Logger,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	clients := &sessions{byClient: map[weak.Pointer[sdk.ServerSession]]*tools.Session{}}
	for _, tool := range set.Tools() {
		server.AddTool(declaration(tool), handler(tool, clients))
	}
	return server
}

// sessions are the sessions of the clients of a server. A client that the SDK has
// forgotten is forgotten here, too.
type sessions struct {
	mu       sync.Mutex
	byClient map[weak.Pointer[sdk.ServerSession]]*tools.Session // guarded by mu
}

// of returns the session of client.
func (s *sessions) of(client *sdk.ServerSession) *tools.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := weak.Make(client)
	session := s.byClient[key]
	if session == nil {
		session = tools.NewSession()
		s.byClient[key] = session
		runtime.AddCleanup(client, s.forget, key)
	}
	return session
}

func (s *sessions) forget(key weak.Pointer[sdk.ServerSession]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byClient, key)
}

func (o Options) implementation() *sdk.Implementation {
	name, version := o.Name, o.Version
	if name == "" {
		name = DefaultName
	}
	if version == "" {
		version = "(devel)"
	}
	return &sdk.Implementation{Name: name, Version: version}
}

// declaration says to a client what tool is. All hints are spelled out,
// because clients differ on what an absent one means.
func declaration(tool *tools.Tool) *sdk.Tool {
	notes := tool.Annotations
	return &sdk.Tool{
		Name:         tool.Name,
		Title:        notes.Title,
		Description:  tool.Description(),
		InputSchema:  tool.InputSchema(),
		OutputSchema: tool.OutputSchema(),
		Annotations: &sdk.ToolAnnotations{
			Title:           notes.Title,
			ReadOnlyHint:    notes.ReadOnly,
			DestructiveHint: &notes.Destructive,
			IdempotentHint:  notes.Idempotent,
			OpenWorldHint:   &notes.OpenWorld,
		},
	}
}
