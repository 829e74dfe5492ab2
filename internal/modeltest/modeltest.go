// Package modeltest has a server that answers as the API of a model does, from a
// script, for tests of what speaks to such an API.
package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// Server answers each request with the next answer of its script. Which path a request has
// does not matter. A request whose body is no JSON, or that comes after the script has ended,
// gets the status 400, and does not count.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	answers  []string          // still to come
	requests []json.RawMessage // the bodies
}

// New starts a server whose script are answers, each a JSON object. The caller
// closes it.
func New(answers ...string) *Server {
	s := &Server{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	return s
}

// answer gives the next answer of the script, and keeps the body of the request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || !json.Valid(body) || len(s.answers) == 0 {
		http.Error(w, `{"error": {"message": "no JSON, or the script has ended"}}`, http.StatusBadRequest)
		return
	}
	s.requests = append(s.requests, body)
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, s.answers[0]) //nolint:errcheck // a client that has gone is no fault of the server
	s.answers = s.answers[1:]
}

// Requests returns the bodies of the requests so far. They are in the order in which they
// came.
func (s *Server) Requests() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Diff returns how two texts of JSON differ, apart from white space and the order of members,
// and "" if they do not. A text that is not JSON is a difference.
func Diff(want, got []byte) string {
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		return "want: " + err.Error()
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return "got: " + err.Error()
	}
	return cmp.Diff(w, g)
}

// pixel is the beginning of a PNG image of one pixel.
const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"

// NewSet returns the tools of a workspace in memory that holds the text a.txt, the image a.png
// and the document a.pdf. The tools have the names of their operations.
func NewSet(tb testing.TB) *tools.Set {
	tb.Helper()
	ws := workspace.New("test", memory.New(nil), nil)
	for _, file := range []struct{ name, content string }{{"a.txt", "one\n"}, {"a.png", pixel}, {"a.pdf", "%PDF-1.7\x00%%EOF"}} {
		if _, err := ws.WriteFile(tb.Context(), file.name, []byte(file.content), nil); err != nil {
			tb.Fatal(err)
		}
	}
	set, err := tools.New(ws, &tools.Options{Naming: "{op}"})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}
