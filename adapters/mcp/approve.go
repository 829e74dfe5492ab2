package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// A client is asked in one of two ways. Before the protocol version of
// versionRetries, a server sends a request while the call runs. From then on, a
// server sends requests no more: a call ends with the question as its result, and
// the client calls again with the answer and a token. The second call does what the
// first one would have done, if the question is still the same: that is, if its
// [policy.Request] has the same Fingerprint.
//
//	client  tools/call rm a
//	server  result: a question, with a token
//	client  tools/call rm a, the token, the answer of its user
//	server  asks itself the same question, finds the answer, and removes a

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

// answerKey is the key of the question among the requests of a result.
const answerKey = "approval"

// maxOpen is how many questions wait for calls with their answers.
const maxOpen = 1000

// asking is a call during which a client may be asked.
type asking struct {
	client    *sdk.ServerSession
	answers   map[string]policy.Answer // by the Fingerprint of the request; not changed
	workspace string                   // the one that is read outside of a tool, which names its own

	mu   sync.Mutex
	open *policy.Request // guarded by mu; the question that the call has to end with
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
	if about.ProtocolVersion >= versionRetries {
		return call.answer(r), nil
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
	result, err := call.client.Elicit(ctx, form(r))
	if err != nil {
		return policy.Answer{}, err
	}
	return answerOf(result), nil
}

// answer returns the answer to r that the client has sent. Without one, the call ends
// with r as its question.
func (c *asking) answer(r policy.Request) policy.Answer {
	answer, known := c.answers[r.Fingerprint]
	if !known {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open = &r
	}
	return answer
}

// question returns the question that the call has to end with, nil for none.
func (c *asking) question() *policy.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
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

// questions are those that wait for a call with the answer. They are safe for
// concurrent use.
type questions struct {
	timeout time.Duration

	mu   sync.Mutex
	open map[string]waiting // guarded by mu; by token
}

// waiting is a question, and the answers to those of the call before it.
type waiting struct {
	fingerprint string
	answers     map[string]policy.Answer
	until       time.Time
}

// newQuestions returns the questions of a server. A timeout of zero or less means the
// default.
func newQuestions(timeout time.Duration) *questions {
	if timeout <= 0 {
		timeout = policy.DefaultApprovalTimeout
	}
	return &questions{timeout: timeout, open: map[string]waiting{}}
}

// ask returns the result that asks r. answers are those to the questions before it.
func (q *questions) ask(r policy.Request, answers map[string]policy.Answer) (*sdk.CallToolResult, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(q.open, func(_ string, w waiting) bool { return now.After(w.until) })
	if len(q.open) >= maxOpen {
		return nil, fmt.Errorf("%d questions wait for their answers: answer some of them first", maxOpen)
	}
	token := rand.Text()
	q.open[token] = waiting{r.Fingerprint, answers, now.Add(q.timeout)}
	return &sdk.CallToolResult{
		InputRequests: sdk.InputRequestMap{answerKey: form(r)},
		RequestState:  token,
	}, nil
}

// answers returns the answers that a call brings along. A token is good for one call,
// and not after the time for the answer.
func (q *questions) answers(params *sdk.CallToolParamsRaw) map[string]policy.Answer {
	answers := map[string]policy.Answer{}
	if params.RequestState == "" {
		return answers
	}
	q.mu.Lock()
	w, ok := q.open[params.RequestState]
	delete(q.open, params.RequestState)
	q.mu.Unlock()
	if !ok {
		return answers
	}
	maps.Copy(answers, w.answers)
	result, _ := params.InputResponses[answerKey].(*sdk.ElicitResult)
	answers[w.fingerprint] = answerOf(result)
	if time.Now().After(w.until) {
		answers[w.fingerprint] = policy.Answer{Reason: "nobody answered in time"}
	}
	return answers
}

// client is what a server keeps for one client.
type client struct {
	session  *tools.Session
	approver *policy.Approver
}

// newClient returns a client with a session of its own, so what one client has read
// does not let another write.
func (q *questions) newClient() *client {
	return &client{tools.NewSession(), policy.NewApprover(ask, &policy.ApproverOptions{Timeout: q.timeout})}
}

// in returns a context for what the client asks for.
func (c *client) in(ctx context.Context, call *asking) context.Context {
	return policy.WithApprover(context.WithValue(tools.WithSession(ctx, c.session), askingKey{}, call), c.approver)
}
