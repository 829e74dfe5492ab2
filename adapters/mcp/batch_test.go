package mcp_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/adapters/mcp"
)

// TestServeBatches tests the version of the protocol whose servers must take
// batches: the answers to a batch are one array.
func TestServeBatches(t *testing.T) {
	hello := strings.Replace(hello, "2025-06-18", "2025-03-26", 1)
	call := strings.TrimSuffix(callStat, "\n")
	for _, test := range []struct {
		name, line string
		want       []string // the ids of the answers, and the codes of errors
	}{
		{"two", `[{"jsonrpc":"2.0","id":5,"method":"ping"},` + call + `]`, []string{`"s"`, "5"}},
		{"with-notification", `[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}},` + call + `]`, []string{`"s"`}},
		{"with-refused", `[{"jsonrpc":"2.0","id":5,"method":"nope"},7,{"jsonrpc":"2.0","id":6,"method":"ping"}]`, []string{"5 -32601", "6", "null -32600"}},
		{"refused-only", `[7]`, []string{"null -32600"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, feed := io.Pipe()
			fromServer, out := io.Pipe()
			ended := make(chan error, 1)
			server := mcp.NewServer(newSet(t, newMemory(t, map[string]string{"a.txt": "x"})), nil)
			go func() {
				ended <- mcp.Serve(t.Context(), server, in, out, nil)
				out.Close()
			}()
			answers := json.NewDecoder(fromServer)
			var initialized answer
			send(t, feed, hello)
			if err := answers.Decode(&initialized); err != nil || !strings.Contains(string(initialized.Result), "2025-03-26") {
				t.Fatalf("answer to initialize = %s, %v", initialized.Result, err)
			}
			send(t, feed, test.line+"\n")
			var raw []json.RawMessage
			if err := answers.Decode(&raw); err != nil {
				t.Fatalf("answer to %s: %v", test.line, err)
			}
			if got := idsOf(t, raw); !slices.Equal(got, test.want) {
				t.Errorf("answers to %s = %s, want those to %q", test.line, raw, test.want)
			}
			send(t, feed, "[]\n")
			var empty answer
			if err := answers.Decode(&empty); err != nil || empty.Error == nil || empty.Error.Code != -32600 {
				t.Errorf("answer to an empty batch = %+v, %v, want one error", empty, err)
			}
			feed.Close()
			if err := <-ended; err != nil {
				t.Errorf("Serve() = %v, want nil", err)
			}
		})
	}
}

func send(t *testing.T, feed io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(feed, text); err != nil {
		t.Fatal(err)
	}
}

// idsOf returns the ids of answers, with the codes of those that are errors.
func idsOf(t *testing.T, answers []json.RawMessage) []string {
	t.Helper()
	var ids []string
	for _, raw := range answers {
		var a struct {
			ID    json.RawMessage
			Error *struct{ Code json.Number }
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Fatal(err)
		}
		id := string(a.ID)
		if a.Error != nil {
			id += " " + a.Error.Code.String()
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
