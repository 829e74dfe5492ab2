package program

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// StatInfo is what stat or find says about one name.
type StatInfo struct {
	Kind     workspace.FileType
	perm     uint64
	Size     int64
	Inode    uint64
	uid, gid uint64
	Modified time.Time
}

// Version returns the version of the bytes that r belongs to. The time at which
// attributes changed is no part of it, as that of a file also changes when it
// loses its name to another.
func (r StatInfo) Version() workspace.Version {
	return workspace.Version(fmt.Sprintf("%x-%x-%x", r.Inode, r.Size, r.Modified.UnixNano()))
}

// statTime is how stat writes a time.
const statTime = "2006-01-02 15:04:05.000000000"

// Expected returns a version as the program compares it, and a text that no
// file has for what is no version of ours. The scan also takes what only begins
// with one.
func Expected(version workspace.Version) string {
	var r StatInfo
	var modified int64
	_, err := fmt.Sscanf(string(version), "%x-%x-%x", &r.Inode, &r.Size, &modified)
	r.Modified = time.Unix(0, modified)
	if err != nil || r.Version() != version {
		return "no version"
	}
	return r.StatKey()
}

// StatKey returns the part of what stat writes that changes with the bytes.
func (r StatInfo) StatKey() string {
	return fmt.Sprintf("%d %d %s", r.Inode, r.Size, r.Modified.UTC().Format(statTime))
}

// Describe returns the description of the name that r belongs to.
func (r StatInfo) Describe(name string) workspace.FileInfo {
	_, base := workspace.Split(name)
	info := workspace.FileInfo{Name: base, Path: name, Type: r.Kind, ModTime: r.Modified}
	if r.Kind == workspace.TypeFile {
		info.Size, info.Version = r.Size, r.Version()
	}
	return info
}

// errStat says that a program of the image writes something else than was
// asked for.
var errStat = provider.Errorf(nil, "a program in the container described a file in a way that is not understood")

// parseStat reads the description at the beginning of text and returns what
// is behind it.
func parseStat(text []byte) (r StatInfo, rest []byte, err error) {
	p := statParser{rest: text}
	r.Kind = p.kind()
	r.Size = p.size()
	r.Inode = p.number(10)
	r.uid = p.number(10)
	r.gid = p.number(10)
	r.perm = p.number(8)
	r.Modified = p.time()
	if p.bad {
		return StatInfo{}, nil, errStat
	}
	return r, p.rest, nil
}

// statParser reads words that are separated by single spaces.
type statParser struct {
	rest []byte
	bad  bool
}

func (p *statParser) word() string {
	word, rest, _ := bytes.Cut(p.rest, []byte{' '})
	p.rest = rest
	return string(word)
}

func (p *statParser) number(base int) uint64 {
	n, err := strconv.ParseUint(p.word(), base, 64)
	p.bad = p.bad || err != nil
	return n
}

func (p *statParser) size() int64 {
	n, err := strconv.ParseUint(p.word(), 10, 63)
	p.bad = p.bad || err != nil
	return int64(n)
}

// kind reads a type: the letter of find, or the mode in hexadecimal of stat.
func (p *statParser) kind() workspace.FileType {
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
func (p *statParser) time() time.Time {
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

// ParseStat returns the description in a reply of one line.
func ParseStat(reply []byte) (StatInfo, error) {
	info, _, err := cutStat(reply)
	return info, err
}

// cutStat returns the description in the first line of a reply, and what
// follows that line.
func cutStat(body []byte) (StatInfo, []byte, error) {
	line, rest, found := bytes.Cut(body, []byte{'\n'})
	if !found {
		return StatInfo{}, nil, errStat
	}
	r, extra, err := parseStat(line)
	if err == nil && len(extra) > 0 {
		err = errStat
	}
	return r, rest, err
}

// Entry is one name of a listing.
type Entry struct {
	StatInfo
	Name string // from the directory that was listed
}

func byName(a, b Entry) int { return strings.Compare(a.Name, b.Name) }

// isTemporary reports whether name is a temporary file, or below what has such a
// name.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ops.ReservedPrefix) || strings.Contains(name, "/"+ops.ReservedPrefix)
}
