package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/session"
)

func Example() {
	ctx := session.WithID(context.Background(), "run-7")
	fmt.Println(session.ID(ctx))
	// Output: run-7
}

func TestValid(t *testing.T) {
	for id, want := range map[string]bool{
		session.NewID():         true,
		"a-B_9":                 true,
		strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false,
		"":                      false,
		"a/b":                   false,
		"..":                    false,
		"a b":                   false,
		"a\nb":                  false,
		"é":                     false,
		"a\x00":                 false,
	} {
		if got := session.Valid(id); got != want {
			t.Errorf("Valid(%q) = %v, want %v", id, got, want)
		}
		ctx := session.WithID(session.WithID(t.Context(), "before"), id)
		if wantID := map[bool]string{true: id, false: "before"}[want]; session.ID(ctx) != wantID {
			t.Errorf("ID after WithID(%q) = %q, want %q", id, session.ID(ctx), wantID)
		}
	}
	if id := session.ID(t.Context()); id != "" {
		t.Errorf("ID of a context without one = %q", id)
	}
	if first, second := session.NewID(), session.NewID(); first == second {
		t.Errorf("NewID returns %q twice", first)
	}
}
