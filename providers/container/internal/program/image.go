package program

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// Hello returns the call that opens a session in the directory root, or if that
// is empty where the shell is. [ParseGreeting] reads its reply.
func Hello(root string) shell.Call { return Idempotent("hello", root) }

// Image is what a shell reports about itself and about where it is.
type Image struct {
	process string // the number of the shell
	group   string // the number of its process group, if it is the first in it
	started string // when the shell was, as the system counts
	first   string // when the first process of the container was; empty if that is not known

	User    uint64   // the number of the user that the shell runs as
	reads   bool     // the user may read whatever there is
	groups  []uint64 // those of the user
	Watches string   // the program that reports changes; empty if there is none
	Bytes   bool     // there is a grep that takes any byte in expressions
	Texts   bool     // it can leave out what has a NUL
	finds   bool     // find is GNU's
	removes bool     // rm is GNU's
	Root    string   // the root of the workspace, without symlinks
}

// greetingLines is how many lines a greeting has. The last may have line
// breaks in it.
const greetingLines = 12

// ParseGreeting reads the reply to [Hello].
func ParseGreeting(text string) (Image, error) {
	lines := strings.SplitN(strings.TrimSuffix(text, "\n"), "\n", greetingLines)
	if len(lines) != greetingLines {
		return Image{}, errors.New("the shell did not say what was asked")
	}
	user, err := strconv.ParseUint(lines[3], 10, 32)
	if err != nil {
		return Image{}, errors.New("the shell did not say who it is")
	}
	started, first, _ := strings.Cut(lines[2], " ")
	i := Image{
		process: lines[0], started: started, first: first, User: user,
		Watches: lines[5], Bytes: lines[6] == "-a", Texts: lines[7] != "",
		finds: lines[8] != "", removes: lines[9] != "", Root: lines[11],
		reads: user == 0 && mayReadAll(lines[10]),
	}
	if lines[1] == i.process {
		i.group = i.process
	}
	for _, text := range strings.Fields(lines[4]) {
		if group, err := strconv.ParseUint(text, 10, 32); err == nil {
			i.groups = append(i.groups, group)
		}
	}
	return i, nil
}

// mayReadAll reports whether root may read whatever there is with capabilities as
// Linux writes them. Where they are not known it may.
func mayReadAll(capabilities string) bool {
	const override, readSearch = 1 << 1, 1 << 2 // CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
	set, err := strconv.ParseUint(capabilities, 16, 64)
	return err != nil || set&(override|readSearch) != 0
}

// KillOrphan returns the call that ends what a shell still does that was given
// up.
func KillOrphan(dead *shell.Session) shell.Call {
	i, err := ParseGreeting(dead.Greeting)
	if err != nil || i.group == "" {
		return Idempotent(":")
	}
	return Idempotent("killorphan", i.group, i.started, i.first)
}

// Group returns the group of new files.
func (i *Image) Group() int {
	if len(i.groups) == 0 {
		return 0
	}
	return int(i.groups[0])
}

// Hides reports whether e is a directory that the user cannot list.
func (i *Image) Hides(e Entry) bool {
	const mayEnter, mayRead = 1, 4
	return (e.Kind == workspace.TypeDirectory || e.Kind == scan.UnnamedDirectory) && !i.allows(e.StatInfo, mayRead|mayEnter)
}

// MayRead reports whether the user may read what e describes.
func (i *Image) MayRead(e StatInfo) bool {
	const mayRead = 4
	return i.allows(e, mayRead)
}

// allows reports whether the user has permissions to read or enter.
func (i *Image) allows(e StatInfo, bits uint64) bool {
	perm := e.perm
	switch {
	case i.reads:
		return true
	case e.uid == i.User:
		perm >>= 6
	case slices.Contains(i.groups, e.gid):
		perm >>= 3
	}
	return perm&bits == bits
}
