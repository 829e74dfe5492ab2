//go:build !linux && !darwin

package localbash

import (
	"errors"

	"github.com/workspacekit/workspacekit/workspace"
)

// renameBetween renames old in one folder to new in another.
func (f *FS) renameBetween(from *folder, old string, to *folder, new string) error {
	return f.host.Rename(workspace.Join(from.dir, old), workspace.Join(to.dir, new))
}

// linkBetween makes new in one folder a hard link of old in another.
func (f *FS) linkBetween(from *folder, old string, to *folder, new string) error {
	return f.host.Link(workspace.Join(from.dir, old), workspace.Join(to.dir, new))
}

// renameExclusive does not exist here.
func renameExclusive(*folder, string, *folder, string) error { return errors.ErrUnsupported }
