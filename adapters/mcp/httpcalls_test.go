package mcp

import "testing"

// TestCallBeginsWhileSessionEnds begins calls that arrived before the request that ends their
// session, and are handled after it.
func TestCallBeginsWhileSessionEnds(t *testing.T) {
	t.Parallel()
	calls, session := &httpCalls{server: t.Context(), open: map[*httpCall]bool{}, ending: map[owner]int{}}, owner{"session", "user"}
	ended := calls.cancel(session)
	for _, test := range []struct {
		owner owner
		want  bool
	}{{session, true}, {owner{"session", "another user"}, false}, {owner{"another", "user"}, false}} {
		inCall, end := calls.begin(t.Context(), test.owner)
		if got := inCall.Err() != nil; got != test.want {
			t.Errorf("a call of %v is cancelled: %t, want %t", test.owner, got, test.want)
		}
		end()
	}
	ended()
	if len(calls.open) > 0 || len(calls.ending) > 0 {
		t.Errorf("%d calls and %d sessions are kept, want none", len(calls.open), len(calls.ending))
	}
}
