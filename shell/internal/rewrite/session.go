package rewrite

import (
	"crypto/rand"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Commands of the shell itself, which rewritten scripts call. Package shell has more of them, which
// no script has in it. Their names begin with Session.Prefix, which no script can guess: "wk run" is
// short for such a name in comments. What is put into a tree has the name in single quotes. What
// package shell calls in place of a builtin is a list of arguments, which nothing parses again.
//
// A script can learn the prefix from a trace (set -x). That is of no use: text with the prefix in
// single quotes is refused (Rewriter.Parse), so that whatever rewrite and Restore regard as a
// command of the shell is one. A call of "$x" can name such a command; its arguments are rewritten and
// guarded as those of all calls are, and the commands are safe with any arguments.
const (
	internalPrefix = "wk "
	RunCommand     = "run"    // runs a piece of the script as a part of a pipeline or in the background
	KeepCommand    = "keep"   // keeps its input as /dev/fd/N, and prints that name
	StatusCommand  = "status" // returns its argument, or 1 if a file could not be stored
	ShowCommand    = "show"   // declare -f: prints functions as they were written
	NamesCommand   = "names"  // declare -F
	CountCommand   = "count"  // prints how many elements an associative array has
	TimeCommand    = "time"   // the keyword time
	NumberCommand  = "number" // prints the number that a value in an expression stands for
	QuoteCommand   = "quote"  // prints quoted text as a part of a pattern
	TrimCommand    = "trim"   // prints what ${x##p} leaves out, and where ${x/#p/text} replaces
	GlobCommand    = "glob"   // fails for a pattern of extglob that the interpreter does not know
	CatCommand     = "cat"    // prints its input: $(<file)
	IgnoreCommand  = "ignore" // ends set -e in a command substitution, and returns its argument
	TailCommand    = "tail"   // returns the status of a command whose failure set -e ignores
)

// Session is what the rewritten scripts of one session refer to. It is safe for concurrent use, as
// parts of a script run at the same time.
type Session struct {
	Prefix string // of the names of commands of the shell itself; fixed

	mu     sync.Mutex
	pieces map[int]string // guarded by mu; parts of scripts by number
	size   int            // guarded by mu; bytes of pieces
	next   int            // guarded by mu; the number of the last piece
}

// NewSession returns a session in which nothing has run.
func NewSession() *Session {
	return &Session{Prefix: internalPrefix + rand.Text() + " ", pieces: map[int]string{}}
}

// internal returns which command of the shell itself a call is of, "" if of none. Such a call
// comes from rewrite; see the commands.
func (s *Session) internal(call *syntax.CallExpr) string {
	if len(call.Args) == 0 {
		return ""
	}
	if quoted := onlyQuoted(call.Args[0]); quoted != nil && !quoted.Dollar {
		if name, ok := strings.CutPrefix(quoted.Value, s.Prefix); ok {
			return name
		}
	}
	return ""
}

// internalCall returns a call of a command of the shell itself.
func (s *Session) internalCall(name string, args ...*syntax.Word) *syntax.CallExpr {
	return quotedCall(s.Prefix+name, args...)
}

// StatusCall returns a call that does nothing and has the exit status n.
func (s *Session) StatusCall(n int) *syntax.CallExpr {
	return s.internalCall(StatusCommand, literal(strconv.Itoa(n)))
}

// quotedCall returns a call of a command by its name in quotes, which keep it from being a
// keyword.
func quotedCall(name string, args ...*syntax.Word) *syntax.CallExpr {
	return &syntax.CallExpr{Args: append([]*syntax.Word{singleQuoted(name)}, args...)}
}

// singleQuoted returns the word 's'.
func singleQuoted(s string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: s}}}
}

// literal returns the word s, which must need no quotes: nothing in it is expanded.
func literal(s string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}}
}

// KeepPiece keeps the text of a part of a script, and returns its number, from 1. The number
// stands in the text of the script, so it is valid as long as that: until the run has ended,
// or while a function holds it (DropPieces). size is how many bytes all pieces have.
func (s *Session) KeepPiece(text string) (n, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.pieces[s.next] = text
	s.size += len(text)
	return s.next, s.size
}

// Piece returns the text of a piece, "" for a number that nothing has given out.
func (s *Session) Piece(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pieces[n]
}

// TakePiece is Piece for one that is used once: it forgets the piece.
func (s *Session) TakePiece(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.pieces[n]
	s.size -= len(text)
	delete(s.pieces, n)
	return text
}

// DropPieces forgets the pieces that none of the functions uses.
// A function may hold the number of a piece in its body, and a piece may hold others, so the
// search follows both.
func (s *Session) DropPieces(functions map[string]*syntax.Stmt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pieces) == 0 {
		return
	}
	used := map[int]string{}
	for _, body := range functions {
		text, err := source(body)
		if err != nil {
			return // it may use any of them
		}
		s.usedPieces(text, used)
	}
	s.pieces, s.size = used, 0
	for _, text := range used {
		s.size += len(text)
	}
}

// usedPieces adds the pieces that text calls to used. It looks for 'wk run' and digits in
// the printed text, so that a string which looks the same keeps a piece, too. That costs a
// little memory and does no harm.
func (s *Session) usedPieces(text string, used map[int]string) {
	_, text, found := strings.Cut(text, "'"+s.Prefix+RunCommand+"' ")
	for found {
		digits := strings.IndexFunc(text, func(c rune) bool { return c < '0' || c > '9' })
		if digits < 0 {
			digits = len(text)
		}
		n, err := strconv.Atoi(text[:digits])
		if piece, ok := s.pieces[n]; err == nil && ok && used[n] == "" {
			used[n] = piece
			s.usedPieces(piece, used)
		}
		_, text, found = strings.Cut(text, "'"+s.Prefix+RunCommand+"' ")
	}
}
