package mcp

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestAnswerOf tests that only an accepted form with a decision to allow approves, and that a
// refusal says what an accepted form without one lacks. The client of the SDK sends none.
func TestAnswerOf(t *testing.T) {
	const undecided = "the client accepted without a decision"
	for name, test := range map[string]struct {
		result *sdk.ElicitResult
		want   policy.Answer
	}{
		"none":     {nil, policy.Answer{Reason: "the user did not decide"}},
		"no form":  {&sdk.ElicitResult{Action: "accept"}, policy.Answer{Reason: undecided}},
		"no field": {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"other": "allow"}}, policy.Answer{Reason: undecided}},
		"no text":  {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": true}}, policy.Answer{Reason: undecided}},
		"unknown":  {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "Allow"}}, policy.Answer{Reason: undecided}},
		"deny":     {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "deny"}}, policy.Answer{}},
		"decline":  {&sdk.ElicitResult{Action: "decline", Content: map[string]any{"decision": "allow"}}, policy.Answer{}},
		"allow":    {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow"}}, policy.Answer{Allow: true}},
		"session":  {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow for this session"}}, policy.Answer{Allow: true, Session: true}},
	} {
		if got := answerOf(test.result); got != test.want {
			t.Errorf("%s: answerOf = %+v, want %+v", name, got, test.want)
		}
	}
}
