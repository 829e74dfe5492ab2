package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// A client is asked in one of two ways. Before the protocol version of
// versionRetries, a server sends a request while the call runs. From then on, a
// server sends requests no more: a request ends with the question as its result, and
// the client calls again with the answer and a token. The call waits meanwhile, so
// that nothing is done twice.
//
//	client  tools/call rm a
//	server  begins the call, which asks; result: the question, with a token
//	client  tools/call rm a, the token, the answer of its user
//	server  passes the answer to the call; its result, or its next question

const (
	// versionRetries is the first version in which a client calls again with answers.
	versionRetries = "2026-07-28"
	// lastInitialized is the last version before it, and the last that an initialize
	// can agree on.
	lastInitialized = "2025-11-25"
)

// The decisions that a client is asked for.
const (
	decisionDeny    = "deny"
	decisionAllow   = "allow"
	decisionSession = "allow for this session"
)

// maxOpen is how many questions a client that calls again with answers can have at a
// time, and how many of its calls wait to be called for.
const maxOpen = 100

// answerKey is the key of the question among the requests of a result.
const answerKey = "approval"

// asking is a call during which a client may be asked.
type asking struct {
	client    *sdk.ServerSession
	workspace string         // the one that is read outside of a tool, which names its own
	questions chan *question // to whoever waits for the call; nil outside of a tool
	unasked   atomic.Bool    // a question could not be put outside of a tool
}

// askingKey is the key of an asking in the context of a call.
type askingKey struct{}

// hangUpKey is the key of a channel in the context of a connection: it is closed
// when the client can answer no more.
type hangUpKey struct{}

// ask asks the client of the call in ctx.
func ask(ctx context.Context, r policy.Request) (policy.Answer, error) {
	call, _ := ctx.Value(askingKey{}).(*asking)
	if call == nil {
		return policy.Answer{}, errors.New("mcp: no call to ask for")
	}
	about := call.client.InitializeParams()
	if about == nil || about.Capabilities == nil || !canElicit(about.Capabilities.Elicitation) {
		return policy.Answer{Reason: "the client cannot ask its user, as it does not support elicitation"}, nil
	}
	if hangUp, ok := ctx.Value(hangUpKey{}).(<-chan struct{}); ok {
		limited, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			select {
			case <-hangUp:
				cancel()
			case <-limited.Done():
			}
		}()
		ctx = limited
	}
	r.Workspace = cmp.Or(r.Workspace, call.workspace)
	if retries(call.client) {
		return call.answer(ctx, r)
	}
	result, err := call.client.Elicit(ctx, form(r))
	if err != nil {
		return policy.Answer{}, err
	}
	return answerOf(result), nil
}

// answer hands over r to the request that waits for the call, and waits for the answer.
func (c *asking) answer(ctx context.Context, r policy.Request) (policy.Answer, error) {
	if c.questions == nil {
		c.unasked.Store(true)
		return policy.Answer{}, nil
	}
	q := &question{r, make(chan policy.Answer, 1)}
	select {
	case c.questions <- q:
	case <-ctx.Done():
		return policy.Answer{}, ctx.Err()
	}
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-ctx.Done():
		return policy.Answer{}, ctx.Err()
	}
}

// canElicit reports whether a client shows forms. One that names no kind does.
func canElicit(caps *sdk.ElicitationCapabilities) bool {
	return caps != nil && (caps.Form != nil || caps.URL == nil)
}

// form returns the form that asks for r.
func form(r policy.Request) *sdk.ElicitParams {
	return &sdk.ElicitParams{
		Message: "Allow this?\n\n" + r.Text(),
		RequestedSchema: &jsonschema.Schema{
			Type: "object",
			Properties: map[string]*jsonschema.Schema{"decision": {
				Type:        "string",
				Title:       "Decision",
				Description: fmt.Sprintf("%q also allows everything else that the same rules ask about, without a question", decisionSession),
				Enum:        []any{decisionDeny, decisionAllow, decisionSession},
			}},
			Required: []string{"decision"},
		},
	}
}

// answerOf returns what a client answered. Whatever is not an approval is a refusal.
func answerOf(result *sdk.ElicitResult) policy.Answer {
	switch {
	case result == nil || result.Action == "cancel":
		return policy.Answer{Reason: "the user did not decide"}
	case result.Action != "accept":
		return policy.Answer{}
	}
	switch result.Content["decision"] {
	case decisionAllow:
		return policy.Answer{Allow: true}
	case decisionSession:
		return policy.Answer{Allow: true, Session: true}
	case decisionDeny:
		return policy.Answer{}
	}
	return policy.Answer{Reason: "the client accepted without a decision"}
}

// client is what a server keeps for one client.
type client struct {
	session  *tools.Session
	approver *policy.Approver
	timeout  time.Duration   // of a question
	ended    context.Context // ends with the session
	end      context.CancelFunc

	mu     sync.Mutex
	parked map[string]parked // guarded by mu; by token
}

// newClient returns a client with a session of its own, so what one client has read
// does not let another write. A timeout of zero or less means the default. A client that
// calls again with answers may leave a question open, which others do not wait for.
func newClient(timeout time.Duration, retries bool) *client {
	if timeout <= 0 {
		timeout = policy.DefaultApprovalTimeout
	}
	parallel := 1
	if retries {
		parallel = maxOpen
	}
	ended, end := context.WithCancel(context.Background())
	return &client{
		session:  tools.NewSession(),
		approver: policy.NewApprover(ask, &policy.ApproverOptions{Timeout: timeout, Parallel: parallel}),
		timeout:  timeout,
		ended:    ended,
		end:      end,
		parked:   map[string]parked{},
	}
}

// in returns a context for what the client asks for.
func (c *client) in(ctx context.Context, call *asking) context.Context {
	return policy.WithApprover(context.WithValue(tools.WithSession(ctx, c.session), askingKey{}, call), c.approver)
}
