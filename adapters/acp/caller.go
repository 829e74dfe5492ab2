package acp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// Client shows tool calls to a user, and asks. A [*sdk.AgentSideConnection] is one.
type Client interface {
	// SessionUpdate shows what the agent does.
	SessionUpdate(context.Context, sdk.SessionNotification) error
	// RequestPermission asks the user about a tool call, and returns the answer.
	RequestPermission(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error)
}

var _ Client = (*sdk.AgentSideConnection)(nil)

// CallerOptions tune a [Caller].
type CallerOptions struct {
	// Session is what the calls belong to. Nil means a new one.
	Session *tools.Session
	// ApprovalTimeout is how long the user has to answer a question of a rule that asks:
	// at most half of the time that is left to the call then. Zero or less means
	// [policy.DefaultApprovalTimeout].
	ApprovalTimeout time.Duration
}

// Caller calls tools in a session of an agent. The client sees each call: what kind it
// is, which files it is about, what it changes, and what has come of it. Where a rule
// asks before an operation, the client asks its user. A session should have one Caller:
// what the user allows for the session is allowed for the calls of this Caller. A Caller
// is safe for concurrent use.
type Caller struct {
	client   Client
	session  sdk.SessionId
	root     string
	set      *tools.Set
	own      *tools.Session
	approver *policy.Approver
}

// NewCaller returns a Caller of the tools of set. root is the absolute path of the
// workspace's root as the client knows it: [FS.Root], or the working directory of the
// session. Nil opts mean the zero CallerOptions.
func NewCaller(client Client, session sdk.SessionId, root string, set *tools.Set, opts *CallerOptions) *Caller {
	var o CallerOptions
	if opts != nil {
		o = *opts
	}
	if o.Session == nil {
		o.Session = tools.NewSession()
	}
	c := &Caller{client: client, session: session, root: root, set: set, own: o.Session}
	c.approver = policy.NewApprover(c.ask, &policy.ApproverOptions{Timeout: o.ApprovalTimeout})
	return c
}

// call is one call of a tool.
type call struct {
	id    sdk.ToolCallId
	title string
	kind  sdk.ToolKind
}

// callKey is the key of a *call in the context of its operations.
type callKey struct{}

// The bounds of what is reported.
const (
	maxReported  = 64 << 10 // bytes of JSON of arguments
	maxShown     = 32 << 10 // characters of the text of a result
	maxLocations = 100
)

// Call calls the tool name, or the one tool of the operation name, with args, as
// [tools.Tool.Call] does, and reports it to the client. id is what the model calls the
// call; it must be the only one of this id in the session. Empty means a new one.
//
// # Errors
//
// A tool that does not exist, a client to which the call cannot be reported, and the
// errors of [tools.Tool.Call].
func (c *Caller) Call(ctx context.Context, id, name string, args json.RawMessage) (*tools.Result, error) {
	tool, ok := c.set.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("acp: there is no tool %q", name)
	}
	if id == "" {
		id = "call_" + rand.Text()
	}
	ctx = policy.WithApprover(tools.WithSession(ctx, c.own), c.approver)
	requests, err := tool.Preflight(ctx, args)
	if ctx.Err() != nil {
		return nil, err
	}
	requests = about(tool, requests, err)
	now := &call{sdk.ToolCallId(id), titleOf(tool, requests), kindOf(tool, requests)}
	started := sdk.SessionUpdateToolCall{
		ToolCallId: now.id, Title: now.title, Kind: now.kind, Status: sdk.ToolCallStatusInProgress,
		Locations: c.locations(requests), Content: c.diffs(requests),
	}
	if len(args) <= maxReported && json.Valid(args) {
		started.RawInput = args
	}
	if err := c.update(ctx, sdk.SessionUpdate{ToolCall: &started}); err != nil {
		return nil, fmt.Errorf("acp: the call cannot be reported: %w", err)
	}
	result, err := tool.Call(context.WithValue(ctx, callKey{}, now), args)
	// If it cannot be reported how the call has ended, it has ended all the same.
	_ = c.update(context.WithoutCancel(ctx), sdk.SessionUpdate{ToolCallUpdate: ended(now, len(started.Content) > 0, result, err)})
	return result, err
}

// update sends an update about the call.
func (c *Caller) update(ctx context.Context, update sdk.SessionUpdate) error {
	return c.client.SessionUpdate(ctx, sdk.SessionNotification{SessionId: c.session, Update: update})
}

// ended returns the report of a call that has ended. One that has been reported with
// diffs keeps them, if it was successful.
func ended(now *call, diffs bool, result *tools.Result, err error) *sdk.SessionToolCallUpdate {
	status, text := sdk.ToolCallStatusCompleted, ""
	switch {
	case err != nil:
		status, text = sdk.ToolCallStatusFailed, "the call has not ended by itself"
		if errors.Is(err, context.Canceled) {
			text = "the call was cancelled"
		}
	case result.IsError:
		status, text = sdk.ToolCallStatusFailed, result.Text
	case !diffs:
		text = result.Text
	}
	update := &sdk.SessionToolCallUpdate{ToolCallId: now.id, Status: &status}
	if text != "" {
		update.Content = []sdk.ToolCallContent{shownContent(text)}
	}
	return update
}

// shownContent returns the beginning of a text, as editors show it beside a call.
func shownContent(text string) sdk.ToolCallContent {
	return sdk.ToolContent(sdk.TextBlock(wording.ClipAround(text, 0, maxShown)))
}

// about returns what a person is shown of requests: the changes, or else all. Of a change that
// cannot be made, err is the error, and has the name.
func about(tool *tools.Tool, requests []policy.Request, err error) []policy.Request {
	var failed *tools.Error
	if errors.As(err, &failed) && fs.ValidPath(failed.Path) && !tool.Annotations.ReadOnly {
		return []policy.Request{{Op: policy.OpRead, Path: failed.Path}}
	}
	if changes := slices.DeleteFunc(slices.Clone(requests), looks); len(changes) > 0 {
		return changes
	}
	return requests
}

// looks reports whether r changes nothing.
func looks(r policy.Request) bool { return r.Op == policy.OpRead || r.Op == policy.OpList }

// titleOf returns what a call is, for a person.
func titleOf(tool *tools.Tool, requests []policy.Request) string {
	title := tool.Annotations.Title
	if title == "" {
		title = tool.Op
	}
	if len(requests) == 0 {
		return title
	}
	title += " " + wording.Visible(requests[0].Path, "")
	if to := requests[0].To; to != "" {
		title += " to " + wording.Visible(to, "")
	}
	if more := len(paths(requests)) - 1; more > 0 && requests[0].To == "" {
		title += " and " + wording.Count(more, "other", "others")
	}
	return title
}

// kindOf returns the category of a call: what it changes first, or else what it looks
// at.
func kindOf(tool *tools.Tool, requests []policy.Request) sdk.ToolKind {
	if len(requests) > 0 && !looks(requests[0]) {
		return kindOfOp(requests[0].Op)
	}
	op := strings.ToLower(tool.Op)
	switch {
	case tool.Op == ops.Run, tool.Op == ops.Processes: // they change no file by themselves
		return sdk.ToolKindOther
	case !tool.Annotations.ReadOnly:
		return sdk.ToolKindEdit
	case len(requests) == 0:
		return sdk.ToolKindOther
	case requests[0].Op == policy.OpList, strings.Contains(op, "grep"), strings.Contains(op, "search"):
		return sdk.ToolKindSearch
	}
	return sdk.ToolKindRead
}

// kindOfOp returns what an editor calls an operation, for its icon.
func kindOfOp(op policy.Op) sdk.ToolKind {
	switch op {
	case policy.OpRead:
		return sdk.ToolKindRead
	case policy.OpDelete:
		return sdk.ToolKindDelete
	case policy.OpMove:
		return sdk.ToolKindMove
	case policy.OpWrite, policy.OpEdit, policy.OpCopy, policy.OpMkdir:
		return sdk.ToolKindEdit
	}
	return sdk.ToolKindOther
}

// paths returns the names that requests are about, each once.
func paths(requests []policy.Request) (all []string) {
	seen := map[string]bool{}
	for _, r := range requests {
		for _, name := range []string{r.Path, r.To} {
			if name != "" && !seen[name] {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}

// locations returns the files that requests are about, with the first line that
// changes.
func (c *Caller) locations(requests []policy.Request) []sdk.ToolCallLocation {
	lines := map[string]int{}
	for _, r := range requests {
		if hunks := parseDiff(r.Diff); len(hunks) > 0 && lines[r.Path] == 0 {
			lines[r.Path] = hunks[0].line
		}
	}
	var all []sdk.ToolCallLocation
	for _, name := range paths(requests) {
		location := sdk.ToolCallLocation{Path: path.Join(c.root, name)}
		if line := lines[name]; line > 0 {
			location.Line = &line
		}
		if all = append(all, location); len(all) == maxLocations {
			break
		}
	}
	return all
}

// diffs returns what requests change: a diff for each hunk, and in words what has none.
func (c *Caller) diffs(requests []policy.Request) (all []sdk.ToolCallContent) {
	for _, r := range requests {
		for _, h := range parseDiff(r.Diff) {
			diff := sdk.ToolDiffContent(path.Join(c.root, r.Path), h.after)
			if !h.creates {
				diff.Diff.OldText = &h.before
			}
			all = append(all, diff)
		}
		if r.Note != "" && (r.Op == policy.OpWrite || r.Op == policy.OpEdit) {
			all = append(all, shownContent(r.Path+": "+r.Note))
		}
	}
	return all
}

// The options of a question.
const (
	optionAllow   = "allow-once"
	optionSession = "allow-session"
	optionReject  = "reject-once"
)

// ask asks the client about an operation of a call.
func (c *Caller) ask(ctx context.Context, r policy.Request) (policy.Answer, error) {
	now, _ := ctx.Value(callKey{}).(*call)
	if now == nil {
		return policy.Answer{}, errors.New("acp: no call to ask for")
	}
	about := r
	about.Diff = ""
	requests := []policy.Request{r}
	diffs := c.diffs(requests)
	kind, status := kindOfOp(r.Op), sdk.ToolCallStatusPending
	answer, err := c.client.RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: c.session,
		ToolCall: sdk.ToolCallUpdate{
			ToolCallId: now.id, Title: &now.title, Kind: &kind, Status: &status, Locations: c.locations(requests),
			Content: append([]sdk.ToolCallContent{shownContent(about.Text())}, diffs...),
		},
		Options: []sdk.PermissionOption{
			{OptionId: optionAllow, Name: "Allow once", Kind: sdk.PermissionOptionKindAllowOnce},
			{OptionId: optionSession, Name: "Allow all that the same rules ask about, in this session", Kind: sdk.PermissionOptionKindAllowAlways},
			{OptionId: optionReject, Name: "Reject", Kind: sdk.PermissionOptionKindRejectOnce},
		},
	})
	if err != nil {
		return policy.Answer{}, err
	}
	switch chosen := answer.Outcome.Selected; {
	case chosen == nil:
		return policy.Answer{Reason: "the user did not decide"}, nil
	case chosen.OptionId == optionAllow:
		return policy.Answer{Allow: true}, nil
	case chosen.OptionId == optionSession:
		return policy.Answer{Allow: true, Session: true}, nil
	}
	return policy.Answer{}, nil
}
