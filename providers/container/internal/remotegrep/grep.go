package remotegrep

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// maxLines is how many lines of one file a grep is asked for. A file that has as
// many may have more, and is read.
const maxLines = 128

// remoteGrep is one request that has a grep look into files.
type remoteGrep struct {
	among            []*file // with no line break in their names
	options, pattern string  // for grep, which finds them all
	lines            int     // how many lines of a file are wanted, whose names then have no colon; 0 for the file alone
	nuls             bool    // which files have a NUL is wanted, too
}

// findings are what a remoteGrep has found.
type findings struct {
	among index             // those that were looked into
	files map[*file]excerpt // those that may have a match
	nul   map[*file]bool    // those with a NUL; nil if that is not known
}

func newFindings(among []*file) findings {
	return findings{among: newIndex(among), files: map[*file]excerpt{}, nul: map[*file]bool{}}
}

// index has files by their names.
type index map[string]*file

func newIndex(some []*file) index {
	i := make(index, len(some))
	for _, e := range some {
		i[e.Name] = e
	}
	return i
}

// file returns the file with the name that a program writes, nil if there is none.
func (i index) file(name string) *file { return i[strings.TrimPrefix(name, "./")] }

// excerpt is some lines of a file.
type excerpt struct {
	text    []byte // each with its line break
	numbers []int
}

// remoteGrep returns what grep finds. It returns false if that cannot be known: then
// reading the files tells what is wrong.
func (fs *files) remoteGrep(ctx context.Context, g remoteGrep) (found findings, sure bool, err error) {
	found = newFindings(g.among)
	nuls, take := "", found.addFile
	if g.lines > 0 {
		take = found.addLine
	}
	if g.nuls {
		nuls = "1"
	}
	read := func(reply io.Reader) { sure = sections(reply, len(g.among), take, found.addNUL) }
	status, err := fs.ask(ctx, read, "remotegrep", g.among, g.flags(fs.c.Image), g.pattern, nuls)
	sure = sure && status == 0
	if !g.nuls || !sure {
		found.nul = nil
	}
	return found, sure, err
}

// flags returns the options of grep. Where lines are wanted it leaves out files
// with a NUL, if it can: those are read whole, or not at all.
func (g remoteGrep) flags(i *program.Image) string {
	options := g.options
	switch {
	case g.lines > 0 && i.Texts:
		options += " -I"
	case i.Bytes:
		options += " -a"
	}
	if g.lines > 0 {
		return options + " -n -m " + strconv.Itoa(g.lines)
	}
	return options + " -l"
}

// sections has the lines of a reply taken by one function up to a line with the
// status of a grep, then by the next, and after the last by the first one again.
// It returns false if a grep has failed, if the greps have not looked into as many
// files as they should, or if a function does not understand a line.
func sections(reply io.Reader, files int, take ...func(line []byte) bool) bool {
	from := bufio.NewReaderSize(reply, program.StreamBuffer)
	for turn := 0; files > 0 || turn > 0; turn = (turn + 1) % len(take) {
		searched, ok := section(from, take[turn])
		if !ok {
			return false
		}
		if turn == 0 {
			files -= searched
		}
	}
	_, err := from.ReadByte()
	return files == 0 && errors.Is(err, io.EOF)
}

// section has lines taken up to the status of a grep, and returns how many files
// that grep has looked into.
func section(from *bufio.Reader, take func(line []byte) bool) (files int, ok bool) {
	for {
		line, err := from.ReadBytes('\n')
		if err != nil {
			return 0, false
		}
		if !bytes.HasPrefix(line, []byte("//")) { // as no name does
			if !take(line) {
				return 0, false
			}
			continue
		}
		var status int
		_, err = fmt.Sscanf(string(line), "//%d %d\n", &status, &files)
		return files, err == nil && files > 0 && (status == 0 || status == 1) // something, or nothing
	}
}

// addNUL adds the name of a file.
func (f *findings) addNUL(line []byte) bool {
	e := f.among.file(strings.TrimSuffix(string(line), "\n"))
	if e != nil {
		f.nul[e] = true
	}
	return e != nil
}

// addFile adds the name of a file.
func (f *findings) addFile(line []byte) bool {
	e := f.among.file(strings.TrimSuffix(string(line), "\n"))
	if e != nil {
		f.files[e] = excerpt{}
	}
	return e != nil
}

// addLine adds a line of a file, with its name and number in front of it.
func (f *findings) addLine(line []byte) bool {
	name, line, _ := bytes.Cut(line, []byte{':'})
	digits, text, ok := bytes.Cut(line, []byte{':'})
	number, err := strconv.Atoi(string(digits))
	if !ok || err != nil {
		return false
	}
	e := f.among.file(string(name))
	if e == nil {
		return false
	}
	lines := f.files[e]
	lines.text = append(lines.text, text...)
	lines.numbers = append(lines.numbers, number)
	f.files[e] = lines
	return true
}
