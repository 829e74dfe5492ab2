package container

import (
	"errors"
	"strconv"
	"strings"
)

// image is what a shell tells of itself and of where it is.
type image struct {
	process string // the number of the shell
	group   string // the number of its process group, if it is the first in it
	started string // when the shell was, as the system counts
	first   string // when the first process of the container was; empty if that is not known
	user    uint64
	groups  []uint64
	watches string // the program that tells of changes; empty if there is none
	bytes   bool   // there is a grep that takes any byte in expressions
	texts   bool   // it can leave out what has a NUL
	finds   bool   // find is that of GNU
	removes bool   // rm is that of GNU
	root    string
}

// greetingLines is how many lines a greeting has. The last may have line
// breaks in it.
const greetingLines = 11

func parseGreeting(text string) (image, error) {
	lines := strings.SplitN(strings.TrimSuffix(text, "\n"), "\n", greetingLines)
	if len(lines) != greetingLines {
		return image{}, errors.New("the shell did not say what was asked")
	}
	user, err := strconv.ParseUint(lines[3], 10, 32)
	if err != nil {
		return image{}, errors.New("the shell did not say who it is")
	}
	started, first, _ := strings.Cut(lines[2], " ")
	i := image{process: lines[0], started: started, first: first, user: user, watches: lines[5], bytes: lines[6] == "-a", texts: lines[7] != "",
		finds: lines[8] != "", removes: lines[9] != "", root: lines[10]}
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

// group0 returns the group of new files.
func (i image) group0() int {
	if len(i.groups) == 0 {
		return 0
	}
	return int(i.groups[0])
}
