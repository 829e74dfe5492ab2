// Package complete completes words at the prompt of a shell: in go a line and the position of
// the cursor, out comes the line with a longer word, spelled so that the shell reads it as one
// name. What it cannot complete rightly, such as a word with an expansion, it leaves alone.
package complete

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/shell"
)

// Completer completes names of programs and paths. It is safe for concurrent use.
type Completer struct {
	shell *shell.Shell
	mu    sync.Mutex
}

// New returns a Completer of what s knows.
func New(s *shell.Shell) *Completer { return &Completer{shell: s} }

// Complete completes the word before pos with what all that it can become begins with: the
// first word of a command becomes a program, and any other a path. begun is what has been
// read of the script before line. It returns the new line, the new position in bytes, and
// false if there is nothing to complete, as the callback of the terminal must.
func (c *Completer) Complete(ctx context.Context, begun, line string, pos int) (string, int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := lastWord(begun + line[:pos])
	start := w.start - len(begun)
	if !ok || start < 0 || w.quote != 0 && pos < len(line) {
		return "", 0, false
	}
	var found []string
	if w.first && !strings.Contains(w.text, "/") {
		found = programs(w.text)
	} else {
		found = c.paths(ctx, w.text)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	common := commonPrefix(found)
	if len(found) != 1 && len(common) <= len(w.text) {
		return "", 0, false
	}
	spelled := spell(common, w.quote)
	if len(found) == 1 && !strings.HasSuffix(common, "/") {
		if w.quote != 0 {
			spelled += string(w.quote)
		}
		spelled += " "
	}
	return line[:start] + spelled + line[pos:], start + len(spelled), true
}

// programs returns the programs that begin with word.
func programs(word string) []string {
	names := append(shell.ProgramNames(), "cd", "echo", "export", "printf", "pwd", "read", "set", "source", "test", "unset")
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, word) })
}

// paths returns the names that begin with word: those of directories end in a slash. Hidden
// files are offered only after a dot, and names that a terminal cannot show never. A name that
// looks like an option gets the directory ".". A directory that cannot be listed has no names.
func (c *Completer) paths(ctx context.Context, word string) []string {
	dir, base := path.Split(word)
	entries, err := c.shell.List(ctx, dir)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		hidden := base == "" && strings.HasPrefix(e.Name, ".")
		if !strings.HasPrefix(e.Name, base) || hidden || term.Visible(e.Name, "") != e.Name {
			continue
		}
		name := dir + e.Name
		if strings.HasPrefix(name, "-") {
			name = "./" + name
		}
		if e.IsDir() {
			name += "/"
		}
		found = append(found, name)
	}
	return found
}

// commonPrefix returns the whole characters that all names begin with.
func commonPrefix(names []string) string {
	if len(names) == 0 {
		return ""
	}
	for i, r := range names[0] {
		prefix := names[0][:i+utf8.RuneLen(r)]
		for _, name := range names[1:] {
			if !strings.HasPrefix(name, prefix) {
				return names[0][:i]
			}
		}
	}
	return names[0]
}
