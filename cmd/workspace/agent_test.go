package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/workspacekit/workspacekit/adapters/acp"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// runAgent is the program test-agent: an agent that does what its prompts say.
//
//	TOOL JSON     calls a tool on the files of the session, as the editor shows them
//	read PATH     reads a file in the editor, by any path
//	ask           asks for a permission with a title that a terminal would obey
//	ask always    offers to reject for ever, and not once
//	cwd, fs       says where it runs, and what the editor advertises
//	wait          waits until it is cancelled, and writes the file cancelled
//	vanish        ends with the exit code 3
func runAgent() {
	a := &scriptAgent{}
	acp.ConnectAgent(a, os.Stdout, os.Stdin, nil)
	<-a.conn.Done()
	a.running.Wait()
}

type scriptAgent struct {
	acp.PlainAgent
	conn   *sdk.AgentSideConnection
	can    sdk.FileSystemCapabilities
	cwd    string
	caller *acp.Caller

	running sync.WaitGroup // prompts
}

var _ sdk.Agent = (*scriptAgent)(nil)

func (a *scriptAgent) SetAgentConnection(c *sdk.AgentSideConnection) { a.conn = c }

func (a *scriptAgent) Initialize(_ context.Context, req sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	a.can = req.ClientCapabilities.Fs
	version := sdk.ProtocolVersion(sdk.ProtocolVersionNumber)
	if len(os.Args) > 1 && os.Args[1] == "--future" {
		version = 99
	}
	return sdk.InitializeResponse{ProtocolVersion: version, AuthMethods: []sdk.AuthMethod{}}, nil
}

func (a *scriptAgent) NewSession(_ context.Context, req sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if len(os.Args) > 1 && os.Args[1] == "--login" {
		return sdk.NewSessionResponse{}, sdk.NewAuthRequired(nil)
	}
	a.cwd = req.Cwd
	var below workspace.FileSystem = memory.New(nil)
	if local, err := localbash.Open(req.Cwd, nil); err == nil {
		below = local
	}
	fsys, err := acp.NewFS(below, a.conn, "s", a.can, &acp.FSOptions{Root: req.Cwd})
	if err != nil {
		return sdk.NewSessionResponse{}, err
	}
	set, err := tools.New(workspace.New("main", fsys, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		return sdk.NewSessionResponse{}, err
	}
	a.caller = acp.NewCaller(a.conn, "s", req.Cwd, set, nil)
	return sdk.NewSessionResponse{SessionId: "s"}, nil
}

func (a *scriptAgent) Prompt(ctx context.Context, req sdk.PromptRequest) (sdk.PromptResponse, error) {
	a.running.Add(1)
	defer a.running.Done()
	text := req.Prompt[0].Text.Text
	command, rest, _ := strings.Cut(text, " ")
	answer := ""
	switch command {
	case "vanish":
		fmt.Fprint(os.Stderr, "\x1b[2Jlast words")
		os.Exit(3)
	case "wait":
		signal.Ignore(os.Interrupt) // as the editor cancels it first
		wait := sdk.SessionNotification{SessionId: req.SessionId, Update: sdk.UpdateAgentMessageText("waiting\n")}
		if err := a.conn.SessionUpdate(ctx, wait); err != nil {
			return sdk.PromptResponse{}, err
		}
		<-ctx.Done()
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, os.WriteFile("cancelled", []byte("cancelled\n"), 0o666)
	case "cwd":
		dir, err := os.Getwd()
		answer = fmt.Sprintf("in the folder of the session: %v", err == nil && dir == a.cwd)
	case "fs":
		answer = fmt.Sprintf("read %v, write %v", a.can.ReadTextFile, a.can.WriteTextFile)
	case "read":
		got, err := a.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: req.SessionId, Path: rest})
		answer = fmt.Sprintf("%q %v", got.Content, err)
	case "ask":
		title := "\x1b[2Jerase the screen"
		reject := sdk.PermissionOptionKindRejectOnce
		if rest == "always" {
			reject = sdk.PermissionOptionKindRejectAlways
		}
		got, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
			SessionId: req.SessionId,
			ToolCall:  sdk.ToolCallUpdate{ToolCallId: "t", Title: &title, Content: []sdk.ToolCallContent{sdk.ToolDiffContent(a.cwd+"/a.txt", "new\n", "old\n")}},
			Options: []sdk.PermissionOption{
				{OptionId: "yes", Name: "Go on", Kind: sdk.PermissionOptionKindAllowOnce},
				{OptionId: "no", Name: "Stop", Kind: reject},
			},
		})
		answer = "cancelled"
		if err != nil {
			answer = err.Error()
		} else if got.Outcome.Selected != nil {
			answer = "selected " + string(got.Outcome.Selected.OptionId)
		}
	default:
		result, err := a.caller.Call(ctx, "", command, json.RawMessage(rest))
		if err != nil {
			return sdk.PromptResponse{}, err
		}
		answer = fmt.Sprintf("failed: %v", result.IsError)
	}
	err := a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: req.SessionId, Update: sdk.UpdateAgentMessageText(answer)})
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, err
}
