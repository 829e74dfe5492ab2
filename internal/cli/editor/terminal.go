package editor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/cli/view"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// terminal shows a person what the agent does, and asks. Whatever the agent sends is shown
// without what a terminal would obey.
//
// The agent can call several methods at a time. Locks are taken in the order asking, block,
// mu: one question waits for its answer while others may print, and what belongs together is
// not torn apart.
type terminal struct {
	root    string // the path of the workspace for the agent
	out     io.Writer
	err     io.Writer
	style   term.Style
	lines   *lines
	prompts bool // there is a person at a terminal

	asking sync.Mutex // held while the person is asked
	block  sync.Mutex // held while several texts are printed that belong together

	mu   sync.Mutex
	open bool // guarded by mu; the last line that was printed has not ended
}

// line returns the next line of the person. The error is [io.EOF] at the end of the input, and
// the error of ctx if that ends first.
func (t *terminal) line(ctx context.Context) (string, error) {
	select {
	case line, ok := <-t.lines.next:
		if !ok {
			return "", t.lines.err
		}
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// prompt returns the next prompt of the person, which is no blank line.
func (t *terminal) prompt(ctx context.Context) (string, error) {
	for {
		if t.prompts {
			fmt.Fprint(t.err, "> ")
		}
		line, err := t.line(ctx)
		if err != nil || strings.TrimSpace(line) != "" {
			return line, err
		}
	}
}

// say prints text of the agent, which may continue in the next one.
func (t *terminal) say(color, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text == "" {
		return
	}
	fmt.Fprint(t.out, t.style.Paint(color, term.Visible(text, "\n\t")))
	t.open = !strings.HasSuffix(text, "\n")
}

// endLine ends the line that is open.
func (t *terminal) endLine() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLineLocked()
}

// endLineLocked ends a line that the agent has begun. The caller holds mu.
func (t *terminal) endLineLocked() {
	if t.open {
		fmt.Fprintln(t.out)
		t.open = false
	}
}

// show prints whole lines. A line that the agent has begun is ended first.
func (t *terminal) show(color, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLineLocked()
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintln(t.out, t.style.Paint(color, term.Visible(line, "\t")))
	}
}

// showDiff prints what changes in a file.
func (t *terminal) showDiff(name string, before, after []byte) {
	t.showChange(unified.Change(term.Visible(name, ""), before, after))
}

// showChange prints a diff and a note.
func (t *terminal) showChange(diff, note string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLineLocked()
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Fprintln(t.out, t.style.Paint(view.DiffColor(line), term.Visible(line, "\t")))
	}
	if note != "" {
		fmt.Fprintln(t.out, "["+note+"]")
	}
}

// note says something that the agent did not.
func (t *terminal) note(text string) {
	t.endLine()
	term.Say(t.err, "note: "+text)
}

// write shows what the agent is about to write. It asks nobody for an approval. A file that
// may not be read, or needs an approval for it, has no diff.
func (t *terminal) write(ctx context.Context, ws *workspace.Workspace, name, text string) {
	before, err := ws.ReadFile(policy.WithApprover(ctx, nil), name)
	t.block.Lock()
	defer t.block.Unlock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.show(term.Yellow, "the agent creates "+name)
		t.showChange(unified.Created(term.Visible(name, ""), []byte(text)))
		return
	case err != nil:
		t.show(term.Yellow, "the agent writes "+name)
		return
	default:
		t.show(term.Yellow, "the agent writes "+name)
	}
	t.showDiff(name, before, []byte(text))
}

// SessionUpdate implements [sdk.Client].
func (t *terminal) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	t.block.Lock()
	defer t.block.Unlock()
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		t.say(term.NoColor, blockText(u.AgentMessageChunk.Content))
	case u.AgentThoughtChunk != nil:
		t.say(term.Cyan, blockText(u.AgentThoughtChunk.Content))
	case u.ToolCall != nil:
		t.show(term.Bold, fmt.Sprintf("%s: %s", orOther(u.ToolCall.Kind), u.ToolCall.Title))
		t.showContent(u.ToolCall.Content)
	case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
		t.show(statusColors[*u.ToolCallUpdate.Status], string(*u.ToolCallUpdate.Status))
		t.showContent(u.ToolCallUpdate.Content)
	case u.Plan != nil:
		for _, entry := range u.Plan.Entries {
			t.show(term.NoColor, fmt.Sprintf("plan: %s (%s)", entry.Content, entry.Status))
		}
	}
	return nil
}

// statusColors are the colors of the states of a call that have one.
var statusColors = map[sdk.ToolCallStatus]string{sdk.ToolCallStatusFailed: term.Red, sdk.ToolCallStatusCompleted: term.Green}

// orOther returns the kind of a call, "other" for agents that name none.
func orOther(kind sdk.ToolKind) string {
	if kind == "" {
		return string(sdk.ToolKindOther)
	}
	return string(kind)
}

// blockText returns the text of a block, or what it is.
func blockText(block sdk.ContentBlock) string {
	switch {
	case block.Text != nil:
		return block.Text.Text
	case block.ResourceLink != nil:
		return "[" + block.ResourceLink.Uri + "]"
	case block.Image != nil:
		return "[image]"
	case block.Audio != nil:
		return "[audio]"
	}
	return "[resource]"
}

// showContent prints what a call has made or changes.
func (t *terminal) showContent(content []sdk.ToolCallContent) {
	for _, c := range content {
		switch {
		case c.Diff != nil:
			before := ""
			if c.Diff.OldText != nil {
				before = *c.Diff.OldText
			}
			t.showDiff(inside(t.root, c.Diff.Path), []byte(before), []byte(c.Diff.NewText))
		case c.Content != nil:
			t.show(term.NoColor, blockText(c.Content.Content))
		}
	}
}

// inside returns the name of a path that the agent sent, as it is shown.
func inside(root, sent string) string {
	if name, ok := strings.CutPrefix(path.Clean(sent), root+"/"); ok {
		return name
	}
	return sent
}

// RequestPermission implements [sdk.Client]. It shows what the agent asks for, and the options
// by numbers: whatever else is typed rejects it. An agent that offers nothing to reject with
// is told that the question was cancelled.
func (t *terminal) RequestPermission(ctx context.Context, req sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	t.asking.Lock()
	defer t.asking.Unlock()
	title := "something without a title"
	if req.ToolCall.Title != nil {
		title = *req.ToolCall.Title
	}
	t.block.Lock()
	t.show(term.Bold, "the agent asks: "+title)
	t.showContent(req.ToolCall.Content)
	t.block.Unlock()
	var b strings.Builder
	for i, option := range req.Options {
		fmt.Fprintf(&b, "%d %s (%s), ", i+1, term.Visible(option.Name, ""), term.Visible(string(option.Kind), ""))
	}
	fmt.Fprintf(t.err, "%sor nothing to reject: ", b.String())
	line, err := t.line(ctx)
	if !t.prompts {
		fmt.Fprintln(t.err)
	}
	if err != nil {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
	}
	if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && n >= 1 && n <= len(req.Options) {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(req.Options[n-1].OptionId)}, nil
	}
	return sdk.RequestPermissionResponse{Outcome: rejection(req.Options)}, nil
}

// rejection rejects a question once if the agent offers that, or else for ever.
func rejection(options []sdk.PermissionOption) sdk.RequestPermissionOutcome {
	for _, kind := range []sdk.PermissionOptionKind{sdk.PermissionOptionKindRejectOnce, sdk.PermissionOptionKindRejectAlways} {
		for _, option := range options {
			if option.Kind == kind {
				return sdk.NewRequestPermissionOutcomeSelected(option.OptionId)
			}
		}
	}
	return sdk.NewRequestPermissionOutcomeCancelled()
}
