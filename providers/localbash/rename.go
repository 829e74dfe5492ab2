package localbash

import (
	"errors"
	"io/fs"
)

// renameFile gives the file old of from the name new in to, and replaces the
// file that has it.
func (f *FS) renameFile(from *folder, old string, to *folder, new string) error {
	if from == to {
		return from.root.Rename(old, new)
	}
	return f.renameBetween(from, old, to, new)
}

// renameNewFile gives the file old of from the name new in to, unless that is
// taken. Where no call does both at once, a hard link does: it cannot take a
// name that exists.
func (f *FS) renameNewFile(from *folder, old string, to *folder, new string) error {
	err := renameExclusive(from, old, to, new)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := f.linkBetween(from, old, to, new); err != nil {
		return err
	}
	return from.root.Remove(old)
}

// renameNew does the same for whatever old is. Where no call does both at
// once, it relies on the locks that the caller holds.
func (f *FS) renameNew(from *folder, old string, to *folder, new string) error {
	err := renameExclusive(from, old, to, new)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	taken, err := to.lstat(new)
	if err != nil {
		return err
	}
	if taken != nil {
		return fs.ErrExist
	}
	return f.renameBetween(from, old, to, new)
}
