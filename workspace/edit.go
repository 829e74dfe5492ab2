package workspace

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// maxAttempts bounds how often an edit or a read is tried while others change the file.
const maxAttempts = 1000

// Edit replaces the content of name by the result of change, in a
// compare-and-swap loop: if the file has changed between read and write, it is
// read again and change is called again, with the new content. So no concurrent
// edit is lost, and change must have no side effects. Edit returns the content
// and the version that it wrote; with an error, neither means anything.
//
// For example, two editors each append a line to a file with the content "0" and
// the version v1:
//
//	A reads 0, v1
//	B reads 0, v1
//	A writes "0 A" if the version is v1: it is, and becomes v2
//	B writes "0 B" if the version is v1: ErrConflict
//	B waits for a moment, reads "0 A", v2, and calls change again
//	B writes "0 A B" if the version is v2: it is, and becomes v3
//
// # Errors
//
// Those of [Workspace].ReadFile and WriteFile, the error of change as it is,
// [errors.ErrUnsupported] if [Capabilities].ConditionalWrite or Versions is
// false, [ErrUnavailable] if the read returns no version, and [ErrConflict] if
// the file has changed in each of a thousand attempts.
func (w *Workspace) Edit(ctx context.Context, name string, change func(old []byte) ([]byte, error)) ([]byte, Version, error) {
	clean, err := w.Clean(ctx, ops.EditFile, name)
	if err != nil {
		return nil, "", err
	}
	if caps := w.Capabilities(); !caps.ConditionalWrite || !caps.Versions {
		return nil, "", ops.Error(ops.EditFile, clean, errors.ErrUnsupported, nil)
	}
	for attempt := 1; ; attempt++ {
		data, version, changed, err := w.editOnce(ctx, clean, change)
		if !changed || attempt == maxAttempts {
			return data, version, err
		}
		if err := pause(ctx, attempt); err != nil {
			return nil, "", ops.Error(ops.EditFile, clean, err, nil)
		}
	}
}

// editOnce is one attempt. changed says that the file has changed between read and
// write, which an error of change never means.
func (w *Workspace) editOnce(ctx context.Context, name string, change func([]byte) ([]byte, error)) (data []byte, version Version, changed bool, err error) {
	old, version, err := w.ReadVersioned(ctx, name, 0)
	if err != nil {
		return nil, "", false, ops.Rename(err, ops.EditFile, name)
	}
	if version == "" {
		return nil, "", false, noVersionError(ops.EditFile, name)
	}
	if data, err = change(old); err != nil {
		return nil, "", false, err
	}
	version, err = w.WriteFile(ctx, name, data, &WriteOptions{IfVersion: version})
	return data, version, errors.Is(err, ErrConflict), ops.Rename(err, ops.EditFile, name)
}

// pause waits a random time that grows with the attempts, up to 50 ms, so that
// two editors that collide once are unlikely to collide again.
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
