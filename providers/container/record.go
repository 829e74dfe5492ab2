package container

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// record is what stat or find says of one name.
type record struct {
	kind     workspace.FileType
	perm     uint64
	size     int64
	inode    uint64
	uid, gid uint64
	modified time.Time
}

// version returns the version of the bytes that r belongs to. The time at which
// attributes changed is no part of it, as that of a file also changes when it
// loses its name to another.
func (r record) version() workspace.Version {
	return workspace.Version(fmt.Sprintf("%x-%x-%x", r.inode, r.size, r.modified.UnixNano()))
}

// statTime is how stat writes a time.
const statTime = "2006-01-02 15:04:05.000000000"

// parseVersion returns of a record what its version tells. It returns false for
// what cannot be a version of ours.
func parseVersion(version workspace.Version) (record, bool) {
	var r record
	var modified int64
	n, err := fmt.Sscanf(string(version), "%x-%x-%x", &r.inode, &r.size, &modified)
	r.modified = time.Unix(0, modified).UTC()
	return r, err == nil && n == 3
}

// expected returns a version as the program compares it, and a text that no
// file has for what cannot be a version of ours.
func expected(version workspace.Version) string {
	if r, ok := parseVersion(version); ok {
		return r.told()
	}
	return "no version"
}

// told returns what tells r from another, as stat writes it.
func (r record) told() string {
	return fmt.Sprintf("%d %d %s", r.inode, r.size, r.modified.UTC().Format(statTime))
}

// info describes the name that r belongs to.
func (r record) info(name string) workspace.FileInfo {
	_, base := workspace.Split(name)
	info := workspace.FileInfo{Name: base, Path: name, Type: r.kind, ModTime: r.modified}
	if r.kind == workspace.TypeFile {
		info.Size, info.Version = r.size, r.version()
	}
	return info
}

// errRecord says that a program of the image writes something else than was
// asked for.
var errRecord = errors.New("a program in the container described a file in a way that is not understood")

// parseRecord reads the description at the beginning of text and returns what
// is behind it.
func parseRecord(text []byte) (r record, rest []byte, err error) {
	p := recordParser{rest: text}
	r.kind = p.kind()
	r.size = int64(p.number(10))
	r.inode = p.number(10)
	r.uid = p.number(10)
	r.gid = p.number(10)
	r.perm = p.number(8)
	r.modified = p.time()
	if p.bad {
		return record{}, nil, errRecord
	}
	return r, p.rest, nil
}

// recordParser reads words that are separated by single spaces.
type recordParser struct {
	rest []byte
	bad  bool
}

func (p *recordParser) word() string {
	word, rest, _ := bytes.Cut(p.rest, []byte{' '})
	p.rest = rest
	return string(word)
}

func (p *recordParser) number(base int) uint64 {
	n, err := strconv.ParseUint(p.word(), base, 64)
	p.bad = p.bad || err != nil
	return n
}

// kind reads a type: the letter of find, or the mode in hexadecimal of stat.
func (p *recordParser) kind() workspace.FileType {
	word := p.word()
	if len(word) == 1 {
		return kindOfLetter(word)
	}
	mode, err := strconv.ParseUint(word, 16, 32)
	p.bad = p.bad || err != nil
	return kindOfMode(mode)
}

func kindOfLetter(letter string) workspace.FileType {
	switch letter {
	case "f":
		return workspace.TypeFile
	case "d":
		return workspace.TypeDirectory
	case "l":
		return workspace.TypeSymlink
	}
	return workspace.TypeOther
}

// kindOfMode knows the types of stat(2), which are the same on all systems.
func kindOfMode(mode uint64) workspace.FileType {
	switch mode & 0xf000 {
	case 0x8000:
		return workspace.TypeFile
	case 0x4000:
		return workspace.TypeDirectory
	case 0xa000:
		return workspace.TypeSymlink
	}
	return workspace.TypeOther
}

// time reads a time: the seconds and their fraction of find, or the date, the
// time and the zone, which is UTC, of stat.
func (p *recordParser) time() time.Time {
	word := p.word()
	if len(word) > 4 && word[4] == '-' {
		t, err := time.Parse(statTime, word+" "+p.word())
		p.word() // the zone
		p.bad = p.bad || err != nil
		return t
	}
	seconds, fraction, _ := strings.Cut(word, ".")
	sec, err := strconv.ParseInt(seconds, 10, 64)
	p.bad = p.bad || err != nil
	nano, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	p.bad = p.bad || err != nil
	return time.Unix(sec, int64(nano)).UTC()
}
