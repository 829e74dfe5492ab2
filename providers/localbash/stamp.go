package localbash

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"io/fs"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// stamp is what the operating system knows of a name, as far as we use it.
type stamp struct {
	kind    workspace.FileType
	perm    fs.FileMode
	size    int64
	device  uint64
	inode   uint64 // 0 if unknown
	mtime   int64  // nanoseconds since 1970
	changed int64  // when the bytes or the attributes changed, in the same unit; 0 if unknown
	orphan  bool   // it has no name any more
}

// stampOf returns what info says.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{
		kind: kindOfMode(info.Mode()), perm: info.Mode().Perm(), size: info.Size(),
		mtime: info.ModTime().UnixNano(),
	}
	s.addSystem(info)
	return s
}

func kindOfMode(mode fs.FileMode) workspace.FileType {
	switch {
	case mode.IsRegular():
		return workspace.TypeFile
	case mode.IsDir():
		return workspace.TypeDirectory
	case mode&fs.ModeSymlink != 0:
		return workspace.TypeSymlink
	}
	return workspace.TypeOther
}

// id returns what the operating system knows the file by.
func (s stamp) id() fileID { return fileID{s.device, s.inode} }

// info describes the name that s belongs to.
func (s stamp) info(name string) workspace.FileInfo {
	_, base := workspace.Split(name)
	info := workspace.FileInfo{Name: base, Path: name, Type: s.kind, ModTime: time.Unix(0, s.mtime)}
	if s.kind == workspace.TypeFile {
		info.Size, info.Version = s.size, s.version()
	}
	return info
}

// version returns the version of the bytes that s belongs to.
func (s stamp) version() workspace.Version {
	var raw [32]byte
	binary.LittleEndian.PutUint64(raw[0:], s.inode)
	binary.LittleEndian.PutUint64(raw[8:], uint64(s.size))
	binary.LittleEndian.PutUint64(raw[16:], uint64(s.mtime))
	binary.LittleEndian.PutUint64(raw[24:], uint64(s.changed))
	sum := sha256.Sum256(raw[:])
	return workspace.Version(strings.ToLower(base32.HexEncoding.EncodeToString(sum[:10])))
}
