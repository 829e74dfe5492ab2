//go:build !linux && !darwin && !freebsd

package localbash

import (
	"errors"
	"io/fs"
	"os"
)

// checkWritable returns an error if the file base is one that this process
// may not write to. Replacing it would still work, and is what a read-only
// file is protected from.
func (d *folder) checkWritable(base string) error {
	file, err := d.root.OpenFile(base, os.O_WRONLY, 0)
	if err == nil {
		return file.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
