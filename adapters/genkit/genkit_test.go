package genkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	gk "github.com/firebase/genkit/go/genkit"

	"github.com/workspacekit/workspacekit/adapters/genkit"
	"github.com/workspacekit/workspacekit/internal/modeltest"
)

// TestRequests tests what a model is asked: the definitions, and the results of calls
// that succeed, that do not fit the schema, that fail, and that return an image.
func TestRequests(t *testing.T) {
	t.Parallel()
	set := modeltest.NewSet(t)
	g, asked := newGenkit(t.Context(), ai.NewModelMessage(
		toolCall("1", "grep", map[string]any{"pattern": "one"}),
		toolCall("2", "grep", map[string]any{"query": "one"}),
		toolCall("3", "ls", nil),
		toolCall("4", "read_file", map[string]any{"path": "b.txt"}),
		toolCall("5", "read_file", map[string]any{"path": "a.png"}),
	), ai.NewModelTextMessage("I see."))
	if answer, err := ask(t.Context(), g, genkit.Define(g, set), "What is there?"); answer != "I see." || err != nil {
		t.Fatalf("ask() = %q, %v", answer, err)
	}
	if len(asked.Tools) != len(set.Tools()) {
		t.Errorf("%d tools, want %d", len(asked.Tools), len(set.Tools()))
	}
	for _, got := range asked.Tools {
		want, ok := set.Lookup(got.Name)
		if !ok {
			t.Errorf("there is no tool %s", got.Name)
			continue
		}
		schema, err := json.Marshal(got.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		if diff := modeltest.Diff(want.InputSchema(), schema); diff != "" || got.Description != want.Description() {
			t.Errorf("%s is described as %q (-want +got):\n%s", got.Name, got.Description, diff)
		}
	}

	results := asked.Messages[len(asked.Messages)-1].Content
	slices.SortFunc(results, func(a, b *ai.Part) int { return strings.Compare(a.ToolResponse.Ref, b.ToolResponse.Ref) })
	for i, want := range []string{
		"1 match in 1 file\na.txt\n1:one\n",
		`INVALID_ARGUMENTS: unknown parameter "query"`,
		"a.pdf",
		"FILE_NOT_FOUND: b.txt: file does not exist\nDid you mean \"a.txt\"?",
		"[a.png: image/png, 33 bytes, version 2]",
	} {
		if got, _ := results[i].ToolResponse.Output.(string); !strings.Contains(got, want) {
			t.Errorf("result %s = %q, want %q", results[i].ToolResponse.Ref, got, want)
		}
	}
	image := results[4].ToolResponse.Content
	if len(image) != 1 || image[0].ContentType != "image/png" || image[0].Text != "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" {
		t.Errorf("the content of read_file(a.png) is %+v, want the image", image)
	}
}

// TestEnded tests that a call whose context has ended is an error, and no result.
func TestEnded(t *testing.T) {
	t.Parallel()
	g, _ := newGenkit(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	name := genkit.Define(g, modeltest.NewSet(t))[0].Name()
	if output, err := gk.LookupTool(g, name).RunRaw(ctx, map[string]any{"path": "a.txt"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%s = %v, %v, want %v", name, output, err, context.Canceled)
	}
}
