package main

import (
	"github.com/workspacekit/workspacekit/internal/ops"
)

// operation is one tool as the command line knows it before its schema has
// been made.
type operation struct {
	op, short, example string
	positional         []string // the parameters that arguments give, in order
}

// is reports whether word is the name of the operation.
func (o operation) is(word string) bool { return word == o.op || word == kebab(o.op) }

// operations lists the tools in the order of their set.
func operations() []operation {
	return []operation{
		{ops.ReadFile, "Print a file", `  workspace call read_file README.md
  workspace call read_file big.log --tail 20
  workspace call read_file big.log --all`, []string{"path"}},
		{ops.WriteFile, "Create or replace a file", `  workspace call write_file notes.txt --content 'remember the milk'
  make report | workspace call write_file report.txt --content-file -
  workspace call write_file new.txt --content '' --create-only`, []string{"path"}},
		{ops.EditFile, "Replace text in a file", `  workspace call edit_file main.go --old-text 'foo()' --new-text 'bar()'
  workspace call edit_file main.go --edits '[{"oldText": "a", "newText": "b"}]' --dry-run`, []string{"path"}},
		{ops.Ls, "List a directory", `  workspace call ls
  workspace call ls src --json`, []string{"path"}},
		{ops.Glob, "Find files by name", `  workspace call glob '**/*.go'
  workspace call glob '**/testdata/'`, []string{"pattern", "path"}},
		{ops.Grep, "Search the lines of files", `  workspace call grep 'func Test'
  workspace call grep 'a.b()' --literal --include-glob '*.{ts,tsx}' --after 2
  workspace call grep TODO --all --json`, []string{"pattern", "path"}},
		{ops.Stat, "Describe a file", `  workspace call stat go.mod`, []string{"path"}},
		{ops.Mkdir, "Make a directory", `  workspace call mkdir a/b/c --recursive`, []string{"path"}},
		{ops.Rm, "Remove a file or a directory", `  workspace call rm old.txt
  workspace call rm build --recursive`, []string{"path"}},
		{ops.Move, "Move or rename", `  workspace call move a.txt b.txt`, []string{"source", "destination"}},
		{ops.Copy, "Copy a file", `  workspace call copy a.txt b.txt`, []string{"source", "destination"}},
	}
}
