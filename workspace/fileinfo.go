package workspace

import (
	"path"
	"time"
)

// FileInfo describes one name.
type FileInfo struct {
	// Name is the last element of Path, "." for the root.
	Name string `json:"name"`
	// Path is the name from the root.
	Path string `json:"path"`
	// Type says what the name is.
	Type FileType `json:"type"`
	// Size is in bytes, and zero unless Type is [TypeFile].
	Size int64 `json:"size"`
	// ModTime is when the bytes were last written or copied, in a bucket also when
	// they were moved. Zero means that the store does not know.
	ModTime time.Time `json:"mtime,omitzero"`
	// Version is the version of a file's bytes. It is empty unless Type is
	// [TypeFile], and if [Capabilities].Versions is false.
	Version Version `json:"version,omitempty"`
}

// FileType is what a name stands for.
type FileType string

// The types of names.
const (
	TypeFile      FileType = "file"
	TypeDirectory FileType = "directory"
	TypeSymlink   FileType = "symlink"
	// TypeOther is a name that has no bytes to read, such as a socket or a
	// device. It is listed and can be removed; reading it is
	// [io/fs.ErrInvalid], and searches leave it out.
	TypeOther FileType = "other"
)

// IsDir reports whether the name is a directory. A symlink to one is not.
func (i FileInfo) IsDir() bool { return i.Type == TypeDirectory }

// Join returns the path of the child name of dir, which may be ".".
func Join(dir, name string) string {
	if dir == "." || dir == "" {
		return name
	}
	return dir + "/" + name
}

// Split returns the parent directory of name, "." at the top, and its last
// element.
func Split(name string) (dir, base string) {
	return path.Dir(name), path.Base(name)
}
