package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/internal/progress"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// runningKey is the key of a [sync.WaitGroup] in the context of a connection, of the
// calls that run.
type runningKey struct{}

// toolCall is a call of a tool. In the versions from versionRetries on, it runs while its
// client answers a question, and several requests wait for it, one after another.
type toolCall struct {
	asking
	tool      string
	arguments json.RawMessage
	began     time.Time
	searched  *progress.Counter
	cancel    context.CancelFunc

	done   chan struct{} // closed when what follows is set
	result *tools.Result
	err    error
}

// maxLate is how long the client of a parked call may come too late, and still learn what
// the call has done.
const maxLate = time.Minute

// question is a question that a call waits at.
type question struct {
	policy.Request
	answer chan policy.Answer // has room for one
}

// parked is a call whose question the client has.
type parked struct {
	call     *toolCall
	question *question
	abandon  *time.Timer
}

// retries reports whether the client calls again with answers.
func retries(session *sdk.ServerSession) bool {
	about := session.InitializeParams()
	return about != nil && about.ProtocolVersion >= versionRetries
}

// callFor returns the call that req begins, or continues with an answer.
func (c *client) callFor(ctx context.Context, tool *tools.Tool, req *sdk.CallToolRequest) (*toolCall, error) {
	if req.Params.RequestState != "" && retries(req.Session) {
		return c.resume(req.Params)
	}
	return c.begin(ctx, tool, req), nil
}

// begin begins a call. One that may be parked does not end with ctx, but with the session
// of the client, or with the request that waits for it.
func (c *client) begin(ctx context.Context, tool *tools.Tool, req *sdk.CallToolRequest) *toolCall {
	call := &toolCall{
		asking:    asking{client: req.Session, questions: make(chan *question)},
		tool:      req.Params.Name,
		arguments: req.Params.Arguments,
		began:     time.Now(),
		cancel:    func() {},
		done:      make(chan struct{}),
	}
	ended := func() bool { return true }
	if retries(req.Session) {
		ctx, call.cancel = context.WithCancel(context.WithoutCancel(ctx))
		ended = context.AfterFunc(c.ended, call.cancel)
	}
	ctx, call.searched = progress.With(c.in(ctx, &call.asking))
	running, ok := ctx.Value(runningKey{}).(*sync.WaitGroup)
	if !ok {
		running = new(sync.WaitGroup)
	}
	running.Go(func() {
		defer close(call.done)
		defer call.cancel()
		defer ended()
		call.result, call.err = tool.Call(ctx, call.arguments)
	})
	return call
}

// wait returns the result that puts the next question of the call, nil once the call has
// ended. When ctx ends, so does the call.
func (c *client) wait(ctx context.Context, call *toolCall) *sdk.CallToolResult {
	for {
		q := call.next(ctx)
		if q == nil {
			return nil
		}
		if result := c.put(call, q); result != nil {
			return result
		}
	}
}

// next returns the next question of the call, nil if it has ended.
func (call *toolCall) next(ctx context.Context) *question {
	stop := context.AfterFunc(ctx, call.cancel)
	defer stop()
	select {
	case q := <-call.questions:
		return q
	case <-call.done:
		return nil
	}
}

// put returns the result that puts the question of a call that runs, nil if it refuses
// the question because too many calls are parked. An answer that comes after the timeout
// is too late for the question, but still gets the result. If none comes, the call ends.
func (c *client) put(call *toolCall, q *question) *sdk.CallToolResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.parked) >= maxOpen {
		q.answer <- policy.Answer{Reason: fmt.Sprintf("%d calls wait for their answers: answer some of them first", maxOpen)}
		return nil
	}
	token := rand.Text()
	c.parked[token] = parked{call, q, time.AfterFunc(c.timeout+maxLate, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, ok := c.parked[token]; ok {
			delete(c.parked, token)
			call.cancel()
		}
	})}
	return &sdk.CallToolResult{
		InputRequests: sdk.InputRequestMap{answerKey: form(q.Request)},
		RequestState:  token,
	}
}

// resume gives a parked call its answer. A token is good once, in one session, for the
// same call: to begin another one could repeat what the first has done.
func (c *client) resume(params *sdk.CallToolParamsRaw) (*toolCall, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.parked[params.RequestState]
	switch {
	case !ok:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: no question is open under it: look what the call has done, and call without it"}
	case p.call.tool != params.Name || !sameJSON(p.call.arguments, params.Arguments):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: it belongs to a call with other arguments"}
	}
	delete(c.parked, params.RequestState)
	p.abandon.Stop()
	result, _ := params.InputResponses[answerKey].(*sdk.ElicitResult)
	p.question.answer <- answerOf(result)
	return p.call, nil
}

// sameJSON reports whether two texts have the same value: a client may order the names of
// an object as it likes.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var one, other any
	return json.Unmarshal(a, &one) == nil && json.Unmarshal(b, &other) == nil && reflect.DeepEqual(one, other)
}
