package command

// MarkName is the variable of the mark.
const MarkName = markName

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
