// Package remotegrep searches the files of a container with the programs of its
// image, and finds exactly what the engine that all providers share would find
// by reading every file.
//
// # Idea
//
// The way out of a container costs most. So the container's grep narrows inside,
// and internal/scan judges outside: grep gets an expression that matches in every
// line in which the pattern matches, and perhaps in more. What grep says is used
// only to leave files out. Where it fails, or its answer does not add up, the
// files are read.
//
// # Steps
//
// A search of a tree takes four requests or so, whatever its size:
//
//  1. tree: lists all names, and so shows which files are wanted ([source]).
//  2. remotegrep: looks into a window of the wanted files, in order of their
//     paths, for lines that can match, and for NULs ([remoteGrep]). The window
//     is 4 MiB at first if few matches are wanted, then four times as large each
//     time, to 64 MiB ([files]).
//  3. fetch of 512 bytes: reads the beginnings of the files that have a NUL, as
//     those are binary or have their first NUL late ([files.binarySniff]).
//  4. fetch: reads the files whose lines are not enough, some 16 MiB at a
//     time ([batchReader]).
//
// What a file has in it is remembered by inode, size and time ([Contents]), so
// that a second search need not look for NULs again.
//
// # Protocol
//
// The names go to the request as its input, each with a NUL after it. The replies
// have sections that count what they are about, so that a program which fails in
// the middle is noticed. A search for `need.e` in three files; c is binary:
//
//	remotegrep 'dir' 12 '-E -I -n -m 128' 'need.{1,4}e' '1'
//	  input     ./a NUL ./b NUL ./c NUL
//	  reply     ./a:2:needle        a line that can match
//	            //0 3               grep's status, and how many files it got
//	            ./c                 a file that has a NUL
//	            //0 3               the same of the second grep
//
// So the line is all that is needed of a, and nothing of b. No name begins with
// "//". If the names are too many for one command line, xargs runs more greps,
// and the sections repeat until all three files are accounted for. Then:
//
//	fetch 'dir' 4 512 MARK
//	  input     ./c NUL
//	  reply     1                   a frame of one file
//	            ./c//               its name
//	            \x7fELF\x00...      512 bytes, or all if there are fewer
//	            MARK                after a line break
//	            77 9000 2026-01-02 03:04:05.000000000 +0000 ./c//
//	            MARK
//
// The bytes of several files follow each other without anything in between: the
// listing said how long each is. The line after the first MARK is what stat says
// once the bytes have been sent. If it is what the listing said, the file has been
// the same all the time, so the lengths are right. MARK is made at random for
// each request. A file that has changed spoils its frame and nothing else: it is
// read alone, and the others of the frame again.
package remotegrep

import (
	"context"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/workspace"
)

// Search searches the files of a container. It is for one search.
type Search struct {
	// Begin reaches the container. A malformed pattern is refused before.
	Begin func(ctx context.Context) (*program.Client, error)
	// Contents remembers what earlier searches have learned.
	Contents *Contents
}

// GlobSource returns the tree for a search of names. It takes one request, and one
// more for all ignore files if those are wanted.
func (s Search) GlobSource(pattern string, opts workspace.GlobOptions) scan.Source {
	return &source{Search: s, top: opts.Dir, within: scopeOf(pattern)}
}

// scopeOf returns the part of a tree in which pattern can match.
func scopeOf(pattern string) scope {
	elements := strings.Split(strings.TrimSuffix(pattern, "/"), "/")
	fixed := 0
	for fixed < len(elements)-1 && isLiteral(elements[fixed]) {
		fixed++
	}
	s := scope{below: "."}
	if fixed > 0 {
		s.below = strings.Join(elements[:fixed], "/")
	}
	if !anyDepth().MatchString(pattern) {
		s.depth = strconv.Itoa(len(elements) - fixed)
	}
	return s
}

// anyDepth matches every pattern that stands for one with "**", and perhaps more: braces
// can bring two stars together, as in {*,q}* or *{,q}*.
var anyDepth = lazyregexp.New(`(?s)\*([{,}](.*[{,}])?)?\*`)

// isLiteral reports whether an element of a pattern means just itself, and is a
// name that can be sent: the shell would drop a NUL and look elsewhere.
func isLiteral(element string) bool {
	return element != "." && ops.ValidName(element) && !strings.ContainsAny(element, `*?[]{}\`)
}

// GrepSource returns the tree for a search of contents. No program in the container
// gets the name of a hidden file.
func (s Search) GrepSource(pattern string, opts workspace.GrepOptions, hidden scan.Hidden) scan.Source {
	return &source{Search: s, top: opts.Path, within: scope{below: "."}, filter: prefilterOf(pattern, opts, hidden)}
}
