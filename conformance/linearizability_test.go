package conformance_test

import (
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/conformance"
)

// TestUndecidedHistory wants a history that takes too long to check to be no pass.
func TestUndecidedHistory(t *testing.T) {
	t.Parallel()
	if got := conformance.CheckWrites(t, 3, time.Minute); !got.Failed || got.Skipped {
		t.Errorf("3 writes and a wrong read: failed %t, skipped %t, log %q, want a failure", got.Failed, got.Skipped, got.Log)
	}
	if got := conformance.CheckWrites(t, 60, time.Millisecond); got.Failed || !got.Skipped {
		t.Errorf("60 writes and a wrong read: failed %t, skipped %t, log %q, want a skip", got.Failed, got.Skipped, got.Log)
	}
}
