package container

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

// sift has a grep look into files, in one request.
type sift struct {
	among            []*file // with no line break in their names
	options, pattern string  // for grep, which finds them all
	lines            bool    // the lines are wanted, and no name has a colon in it
	nuls             bool    // which files have a NUL is wanted, too
}

// sifted is what it has found.
type sifted struct {
	among index             // those that were looked into
	files map[*file]excerpt // those in which there is something
	nul   map[*file]bool    // those with a NUL; nil if that is not known
}

func newSifted(among []*file) sifted {
	return sifted{among: newIndex(among), files: map[*file]excerpt{}, nul: map[*file]bool{}}
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

// sift returns what grep finds. It returns false if that cannot be known: then
// reading the files tells what is wrong.
func (fs *files) sift(ctx context.Context, s sift) (found sifted, sure bool, err error) {
	found = newSifted(s.among)
	nuls, take := "", found.addFile
	if s.lines {
		take = found.addLine
	}
	if s.nuls {
		nuls = "1"
	}
	read := func(reply io.Reader) { sure = sections(reply, len(s.among), take, found.addNUL) }
	status, err := fs.ask(ctx, read, "sift", s.among, s.grep(fs.c.Image), s.pattern, nuls)
	sure = sure && status == 0
	if !s.nuls || !sure {
		found.nul = nil
	}
	return found, sure, err
}

// grep returns the options of grep. Where lines are wanted it leaves out what has
// a NUL, if it can: of that all is read, or nothing.
func (s sift) grep(i *program.Image) string {
	options := s.options
	switch {
	case s.lines && i.Texts:
		options += " -I"
	case i.Bytes:
		options += " -a"
	}
	if s.lines {
		return options + " -n -m " + strconv.Itoa(maxLines)
	}
	return options + " -l"
}

// withNUL returns the files with a NUL in them, nil if that cannot be known.
func (fs *files) withNUL(ctx context.Context, among []*file) (map[*file]bool, error) {
	found, sure := newSifted(among), false
	read := func(reply io.Reader) { sure = sections(reply, len(among), found.addNUL) }
	status, err := fs.ask(ctx, read, "nuls", among)
	if err != nil || !sure || status != 0 {
		return nil, err
	}
	return found.nul, nil
}

// sections has the lines of a reply read, by one function up to a line with the
// status of a grep, then by the next and in the end by the first one again. It
// returns false if a grep has failed, if they have not looked into as many files
// as they should, or if a function does not know what it reads.
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

// section has lines read up to the status of a grep, and returns how many files
// that has looked into.
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
func (s *sifted) addNUL(line []byte) bool {
	e := s.among.file(strings.TrimSuffix(string(line), "\n"))
	if e != nil {
		s.nul[e] = true
	}
	return e != nil
}

// addFile adds the name of a file.
func (s *sifted) addFile(line []byte) bool {
	e := s.among.file(strings.TrimSuffix(string(line), "\n"))
	if e != nil {
		s.files[e] = excerpt{}
	}
	return e != nil
}

// addLine adds a line of a file, with its name and number in front of it.
func (s *sifted) addLine(line []byte) bool {
	name, line, _ := bytes.Cut(line, []byte{':'})
	digits, text, ok := bytes.Cut(line, []byte{':'})
	number, err := strconv.Atoi(string(digits))
	if !ok || err != nil {
		return false
	}
	e := s.among.file(string(name))
	if e == nil {
		return false
	}
	lines := s.files[e]
	lines.text = append(lines.text, text...)
	lines.numbers = append(lines.numbers, number)
	s.files[e] = lines
	return true
}
