package command

import "time"

// KillMarked kills the processes with the mark, which may take until a time and minLooks looks.
func KillMarked(mark string, until time.Time) error { return killMarked(mark, -1, 0, until) }

// Mark returns what the marks of the commands of r begin with, empty before the first.
func (r *Runner) Mark() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keeper == nil {
		return ""
	}
	return r.keeper.mark
}

// Scratch returns the directory that holds the home directory.
func (r *Runner) Scratch() string { return r.keeper.scratch }
