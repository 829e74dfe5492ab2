package mcp

import (
	"log/slog"
	"runtime"
	"sync"
	"time"
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
	// ApprovalTimeout is how long a client has to answer a question of a rule that
	// asks. Zero means [policy.DefaultApprovalTimeout].
	ApprovalTimeout time.Duration
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
	clients := &clients{questions: newQuestions(o.ApprovalTimeout), all: map[weak.Pointer[sdk.ServerSession]]*client{}}
	for _, tool := range set.Tools() {
		server.AddTool(declaration(tool), handler(tool, clients))
	}
	return server
}

// clients are the clients of a server. One that the SDK has forgotten is forgotten
// here, too.
type clients struct {
	questions *questions

	mu  sync.Mutex
	all map[weak.Pointer[sdk.ServerSession]]*client // guarded by mu
}

// of returns what is kept for a client.
func (c *clients) of(session *sdk.ServerSession) *client {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := weak.Make(session)
	known := c.all[key]
	if known == nil {
		known = c.questions.newClient()
		c.all[key] = known
		runtime.AddCleanup(session, c.forget, key)
	}
	return known
}

func (c *clients) forget(key weak.Pointer[sdk.ServerSession]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, key)
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
