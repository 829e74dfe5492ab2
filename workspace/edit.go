package workspace

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// maxEditAttempts bounds how often an edit that others overtake is tried.
const maxEditAttempts = 1000

// Edit replaces the content of name by what change makes of it, in a
// compare-and-swap loop: if the file has changed between read and write, it is
// read again and change is called again, with the new content. So no
// concurrent edit is lost, and change must have no effect of its own. Edit
// returns the content and the version that it wrote.
//
// # Errors
//
// Those of [Workspace].ReadFile and WriteFile, what change returns,
// [errors.ErrUnsupported] if [Capabilities].ConditionalWrite or Versions is
// false, [ErrUnavailable] if the read brings no version, and [ErrConflict] if
// others overtake it a thousand times.
func (w *Workspace) Edit(ctx context.Context, name string, change func(old []byte) ([]byte, error)) ([]byte, Version, error) {
	clean, err := w.Clean(OpEditFile, name)
	if err != nil {
		return nil, "", err
	}
	if caps := w.Capabilities(); !caps.ConditionalWrite || !caps.Versions {
		return nil, "", NewPathError(OpEditFile, clean, errors.ErrUnsupported, nil)
	}
	for attempt := 1; ; attempt++ {
		data, version, err := w.editOnce(ctx, clean, change)
		if !errors.Is(err, ErrConflict) || attempt == maxEditAttempts {
			return data, version, err
		}
		if err := pause(ctx, attempt); err != nil {
			return nil, "", NewPathError(OpEditFile, clean, err, nil)
		}
	}
}

func (w *Workspace) editOnce(ctx context.Context, name string, change func([]byte) ([]byte, error)) ([]byte, Version, error) {
	old, version, err := w.ReadVersioned(ctx, name, 0)
	if err != nil {
		return nil, "", RenameError(err, OpEditFile, name)
	}
	if version == "" {
		return nil, "", noVersionError(OpEditFile, name)
	}
	data, err := change(old)
	if err != nil {
		return nil, "", err
	}
	version, err = w.WriteFile(ctx, name, data, &WriteOptions{IfVersion: version})
	return data, version, RenameError(err, OpEditFile, name)
}

// pause waits a random time that grows with the attempts, up to 50 ms, so that
// editors who collide do not collide again.
func pause(ctx context.Context, attempt int) error {
	limit := min(time.Duration(attempt)*time.Millisecond, 50*time.Millisecond)
	timer := time.NewTimer(rand.N(limit))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
