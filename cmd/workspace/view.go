package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// view prints the results of a tool, one page after the other.
type view interface {
	show(result json.RawMessage) error
	end() error
}

// console is where views print. What cannot be written is reported when the
// buffer is flushed.
type console struct {
	*bufio.Writer
	look  look
	notes io.Writer
}

// view returns how i prints.
func (i *invocation) view(cmd *cobra.Command, args json.RawMessage, out *bufio.Writer) view {
	if i.asJSON {
		return &jsonView{out: out}
	}
	c := console{Writer: out, look: i.settings.look(cmd.OutOrStdout()), notes: cmd.ErrOrStderr()}
	switch i.op {
	case ops.ReadFile:
		return &readView{console: c}
	case ops.Ls:
		return &lsView{console: c}
	case ops.Glob:
		return &globView{console: c}
	case ops.Grep:
		return newGrepView(c, args)
	case ops.WriteFile, ops.EditFile:
		return &diffView{console: c}
	case ops.Stat:
		return &statView{console: c}
	}
	return &doneView{console: c, op: i.op}
}

// note says on standard error what the result does not.
func (c console) note(format string, args ...any) {
	say(c.notes, "note: "+fmt.Sprintf(format, args...))
}

// noteMore says how to go on, if there is more.
func (c console) noteMore(cursor string) {
	if cursor != "" {
		c.note("there are more: --all prints them all; the cursor of the next page is in the result with --json")
	}
}

// fault makes of an error of printing or decoding one that is not the user's.
func fault(err error) error {
	if err == nil {
		return nil
	}
	return &runError{err}
}
