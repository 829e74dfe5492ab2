package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Rm implements [workspace.FileSystem].
func (r *recorder) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	recursive := opts != nil && opts.Recursive
	lock := r.locks.one
	if recursive {
		lock = r.locks.all
	}
	unlock, err := lock(ctx, ops.Rm, name)
	if err != nil {
		return err
	}
	defer unlock()
	for range maxConflicts {
		info, err := r.files.Stat(ctx, name)
		if err != nil || name == "." || !r.writable {
			return r.files.Rm(ctx, name, opts) // which refuses
		}
		c := r.begin(ctx, ops.Rm, name, "")
		if c.Steps, err = r.removal(ctx, info, recursive); err != nil {
			return err
		}
		err = r.record(ctx, c, func() error {
			if err := r.unchanged(ctx, c.Steps[len(c.Steps)-1]); err != nil {
				return err
			}
			return r.files.Rm(ctx, name, opts)
		})
		if !errors.Is(err, workspace.ErrConflict) {
			return err
		}
	}
	return ops.Error(ops.Rm, name, workspace.ErrUnavailable, errors.New("other programs change it all the time"))
}

// removal returns the steps that remove what info describes: what is in a directory
// before the directory. It keeps the files.
func (r *recorder) removal(ctx context.Context, info workspace.FileInfo, recursive bool) ([]Step, error) {
	infos := []workspace.FileInfo{info}
	if info.IsDir() && recursive {
		below, err := r.below(ctx, ops.Rm, info.Path)
		if err != nil {
			return nil, err
		}
		infos = append(infos, below...)
	}
	var steps []Step
	left := r.maxChange
	for _, info := range slices.Backward(infos) {
		before := stateOf(info)
		if info.Type == workspace.TypeFile {
			var err error
			if before, err = r.keep(ctx, ops.Rm, info.Path, left, ""); err != nil {
				return nil, ops.Rename(err, "", infos[0].Path)
			}
			if before.Kept != 0 {
				left -= before.Size
			}
		}
		steps = append(steps, Step{info.Path, before, absent})
	}
	return steps, nil
}

// maxNames is how many names one change can be about.
const maxNames = 100_000

// below returns what is below the directory dir, parents first.
func (r *recorder) below(ctx context.Context, op, dir string) (infos []workspace.FileInfo, err error) {
	err = workspace.Walk(ctx, r.files, dir, nil, func(info workspace.FileInfo, err error) error {
		if len(infos) == maxNames {
			return ops.Error(op, dir, workspace.ErrPolicy, fmt.Errorf("it holds more than the %d names that can be recorded to undo a change", maxNames))
		}
		infos = append(infos, info)
		return err
	})
	return infos, ops.Rename(err, op, dir)
}

// unchanged returns [workspace.ErrConflict] if a file that was kept has another
// version now. What is missing has not changed.
func (r *recorder) unchanged(ctx context.Context, step Step) error {
	if step.Before.Type != workspace.TypeFile || step.Before.Version == "" {
		return nil
	}
	info, err := r.files.Stat(ctx, step.Path)
	if err == nil && info.Version != step.Before.Version {
		return ops.Error(ops.Rm, step.Path, workspace.ErrConflict, nil)
	}
	return nil
}

// Move implements [workspace.Mover]. What moves keeps its bytes, so they are neither
// read nor kept.
func (r *recorder) Move(ctx context.Context, source, destination string) error {
	unlock, err := r.locks.all(ctx, ops.Move, source)
	if err != nil {
		return err
	}
	defer unlock()
	c := r.begin(ctx, ops.Move, source, destination)
	info, err := r.files.Stat(ctx, source)
	free := r.missing(ctx, destination)
	if err != nil || len(free) == 0 || source == "." || !r.writable || within(destination, source) { // then this fails
		return workspace.Move(ctx, r.files, source, destination)
	}
	if c.Steps, err = r.movement(ctx, info, destination); err != nil {
		return err
	}
	c.Steps = append(free[:len(free)-1], c.Steps...)
	return r.record(ctx, c, func() error { return r.move(ctx, c) })
}

// within reports whether name is dir or below it.
func within(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// movement returns the steps that move what info describes.
func (r *recorder) movement(ctx context.Context, info workspace.FileInfo, destination string) ([]Step, error) {
	infos := []workspace.FileInfo{info}
	if info.IsDir() {
		below, err := r.below(ctx, ops.Move, info.Path)
		if err != nil {
			return nil, err
		}
		infos = append(infos, below...)
	}
	var steps []Step
	for _, moved := range infos {
		s := stateOf(moved)
		to := destination + strings.TrimPrefix(moved.Path, info.Path)
		s.Version = ""
		steps = append(steps, Step{to, absent, s}, Step{moved.Path, stateOf(moved), absent})
	}
	return steps, nil
}

// move makes the move c, and completes its steps with the versions at the
// destination.
func (r *recorder) move(ctx context.Context, c *Change) error {
	if err := workspace.Move(ctx, r.files, c.Path, c.To); err != nil {
		return err
	}
	info, err := r.files.Stat(ctx, c.To)
	if err != nil {
		return nil // somebody else has moved it on
	}
	infos := []workspace.FileInfo{info}
	if info.IsDir() {
		// Without the versions, an undo compares less.
		below, _ := r.below(ctx, ops.Move, c.To)
		infos = append(infos, below...)
	}
	versions := map[string]workspace.Version{}
	for _, info := range infos {
		versions[info.Path] = info.Version
	}
	for i := range c.Steps {
		if step := &c.Steps[i]; step.After.Type == workspace.TypeFile {
			step.After.Version = versions[step.Path]
		}
	}
	return nil
}
