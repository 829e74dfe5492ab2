package backup

import (
	"slices"
	"strconv"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Change is a change in the journal.
type Change struct {
	// Number is its place in the journal: later changes have greater numbers.
	Number int64 `json:"-"`
	// Time is when it began.
	Time time.Time `json:"time"`
	// Session is the id of the session that made it.
	Session string `json:"session"`
	// Call is the id of the call of a tool, or of the transaction, that made it, with other
	// changes perhaps. An undo reverts them together. Empty means neither.
	Call string `json:"call,omitempty"`
	// Op is the operation: write_file, create, mkdir, rm, move or copy.
	Op string `json:"op"`
	// Path is the name that it is about, and To the destination of a move or copy.
	// No symlink is in either.
	Path string `json:"path"`
	To   string `json:"to,omitempty"`
	// Undoes is the number of the change that it reverted. Zero means that it
	// reverted none. Redo says that the change that it reverted was an undo.
	Undoes int64 `json:"undoes,omitempty"`
	Redo   bool  `json:"redo,omitempty"`
	// Unkept says of a change that Undo returns that what it reverted cannot be redone: the
	// bytes of the files that it removed or replaced are more than [Options].MaxChange.
	Unkept bool `json:"unkept,omitempty"`
	// Stays says of a change that Undo returns that a directory was not removed, because
	// somebody else has put something into it.
	Stays bool `json:"stays,omitempty"`
	// Partial says of an undo that it left out what somebody else had changed. A later undo
	// reverts that, if it can.
	Partial bool `json:"partial,omitempty"`
	// Cut says that changes of the same call before it are no longer kept, so an undo of the
	// call reverts a part.
	Cut bool `json:"cut,omitempty"`
	// SessionCut says that changes of the same session before it are no longer kept. Of each
	// session, the first change that is left and done has it.
	SessionCut bool `json:"sessionCut,omitempty"`
	// Done says that the operation succeeded. Without it, the operation may have taken
	// place, or a part of it.
	Done bool `json:"done,omitempty"`
	// Steps are what it does to single names, in order.
	Steps []Step `json:"steps"`
}

// InGit reports whether c is about something in a ".git" directory, however a file system
// that git knows may spell that.
func (c *Change) InGit() bool {
	return ops.InGit(c.Path) || ops.InGit(c.To) || slices.ContainsFunc(c.Steps, func(s Step) bool { return ops.InGit(s.Path) })
}

// Step is what a [Change] does to one name.
type Step struct {
	// Path is the name, and Before and After what it stands for before and after the
	// change.
	Path   string `json:"path"`
	Before State  `json:"before"`
	After  State  `json:"after"`
}

// State is what a name stands for before or after a change.
type State struct {
	// Type is empty if nothing has the name.
	Type workspace.FileType `json:"type,omitempty"`
	// Size is the size of a file in bytes.
	Size int64 `json:"size,omitempty"`
	// Version is the version of a file, and SHA256 the hash of its bytes in
	// hexadecimal digits. What is empty is not known.
	Version workspace.Version `json:"version,omitempty"`
	SHA256  string            `json:"sha256,omitempty"`
	// Kept is the hour, from 1970, in which the bytes were stored. Zero means that
	// they were not.
	Kept int64 `json:"kept,omitempty"`
}

// contentName returns the name of the contents of a file that was kept.
func (s State) contentName() string { return strconv.FormatInt(s.Kept, 10) + "/" + s.SHA256 }

// absent is the state of a name that does not exist, and directory the state of a
// directory.
var (
	absent    = State{}
	directory = State{Type: workspace.TypeDirectory}
)

// stateOf returns the state of a name that was looked at.
func stateOf(info workspace.FileInfo) State {
	return State{Type: info.Type, Size: info.Size, Version: info.Version}
}

// same reports whether the states are certainly the same: two files are if they
// have one version or one hash.
func (s State) same(other State) bool {
	switch {
	case s.Type != other.Type:
		return false
	case s.Type != workspace.TypeFile:
		return true
	case s.Version != "" && s.Version == other.Version:
		return true
	}
	return s.SHA256 != "" && s.SHA256 == other.SHA256
}

// hashLength is the length of a hash in hexadecimal digits.
const hashLength = 64
