package backup

import (
	"context"
	"time"
)

// SetNow sets the clock of f's journal.
func SetNow(f *FS, now func() time.Time) { f.r.journal.now = now }

// Prune prunes the journal at once.
func Prune(ctx context.Context, f *FS) error { return f.r.journal.prune(ctx) }
