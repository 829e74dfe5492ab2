package mcp

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/tools"
)

// DefaultName is how a server introduces itself whose options have no name.
const DefaultName = "workspacekit"

// DefaultProgressInterval is how often clients are told how a call continues, where the
// options do not say.
const DefaultProgressInterval = time.Second

// Options are the settings of a server.
type Options struct {
	// Name is the name of the program. Empty means [DefaultName].
	Name string
	// Version is the version of the program. Empty means "(devel)".
	Version string
	// Instructions is what a client may tell its model about the server as a
	// whole. Empty means nothing.
	Instructions string
	// ApprovalTimeout is how long a client has to answer a question of a rule that
	// asks, within a call at most half of the time that is left. Zero or less means
	// [policy.DefaultApprovalTimeout].
	ApprovalTimeout time.Duration
	// TextOnly leaves out output schemas and structured results, so that each text is
	// sent once. It suits clients that read content, and those that would give a model
	// the structured result in its place, which takes more tokens.
	TextOnly bool
	// ProgressInterval is how often a client that wants to know is told how a call
	// continues. Zero or less means [DefaultProgressInterval].
	ProgressInterval time.Duration
	// Logger receives what goes wrong in the protocol. Nil means nobody does.
	Logger *slog.Logger
}

// cacheScope says who may keep a result: what one client may see, another may not.
const cacheScope = "private"

// NewServer returns a server of the tools of set, which do not change while it
// runs, and of the files that they can read, as resources. More can be added to it.
// Nil opts mean the zero Options.
func NewServer(set *tools.Set, opts *Options) *sdk.Server {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	clients := newClients(o)
	files := &resources{all: set.Readable(), clients: clients, log: o.Logger}
	files.updates = newUpdates(files)
	options := &sdk.ServerOptions{
		Instructions: o.Instructions,
		Logger:       o.Logger,
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = cacheScope },
		//lint:ignore SA1019 the versions of the protocol before 2026-07-28 have logs
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Logging: &sdk.LoggingCapabilities{}},
	}
	if len(files.all) > 0 {
		options.Capabilities.Resources = &sdk.ResourceCapabilities{}
		options.CompletionHandler = files.complete
	}
	if slices.ContainsFunc(files.all, watches) {
		options.SubscribeHandler, options.UnsubscribeHandler = files.updates.subscribe, files.updates.unsubscribe
	}
	server := sdk.NewServer(o.implementation(), options)
	files.updates.server = server
	files.addTo(server)
	addTools(server, set, clients)
	return server
}

// AddTools adds the tools of set to a server of one's own, with results, approvals and
// sessions as [NewServer] has them.
func AddTools(server *sdk.Server, set *tools.Set) { addTools(server, set, newClients(Options{})) }

// addTools adds the tools of a set to the server.
func addTools(server *sdk.Server, set *tools.Set, clients *clients) {
	for _, tool := range set.Tools() {
		server.AddTool(clients.declaration(tool), handler(tool, clients))
	}
	server.AddReceivingMiddleware(agree)
}

// agree replaces the protocol version of an initialize, if the answer to it names an
// earlier one: the SDK keeps what the client sent, and goes by that afterwards.
func agree(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if params, ok := req.GetParams().(*sdk.InitializeParams); ok && method == methodInitialize && params != nil {
			params.ProtocolVersion = min(params.ProtocolVersion, lastInitialized)
		}
		return next(ctx, method, req)
	}
}

// clients are the clients of a server, each until its session ends.
type clients struct {
	approvalTimeout  time.Duration
	progressInterval time.Duration
	textOnly         bool

	mu  sync.Mutex
	all map[*sdk.ServerSession]*client // guarded by mu
}

// newClients returns the clients of a server, none at first.
func newClients(o Options) *clients {
	if o.ProgressInterval <= 0 {
		o.ProgressInterval = DefaultProgressInterval
	}
	return &clients{approvalTimeout: o.ApprovalTimeout, progressInterval: o.ProgressInterval, textOnly: o.TextOnly, all: map[*sdk.ServerSession]*client{}}
}

// of returns what is kept for a client. When its session ends, so does what runs for it.
func (c *clients) of(session *sdk.ServerSession) *client {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.all[session]
	if known == nil {
		known = newClient(c.approvalTimeout, retries(session))
		c.all[session] = known
		go func() {
			_ = session.Wait() // says how it ended, which does not matter here
			c.mu.Lock()
			delete(c.all, session)
			c.mu.Unlock()
			known.end()
			known.session.Close()
		}()
	}
	return known
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
func (c *clients) declaration(tool *tools.Tool) *sdk.Tool {
	notes := tool.Annotations
	declared := &sdk.Tool{
		Name:        tool.Name,
		Title:       notes.Title,
		Description: tool.Description(),
		InputSchema: tool.InputSchema(),
		Annotations: &sdk.ToolAnnotations{
			Title:           notes.Title,
			ReadOnlyHint:    notes.ReadOnly,
			DestructiveHint: &notes.Destructive,
			IdempotentHint:  notes.Idempotent,
			OpenWorldHint:   &notes.OpenWorld,
		},
	}
	if !c.textOnly {
		declared.OutputSchema = tool.OutputSchema()
	}
	return declared
}
