package main

import "github.com/workspacekit/workspacekit/workspace"

// operation is one tool as the command line knows it before its schema has
// been made.
type operation struct {
	op, short, example string
}

// is reports whether word is the name of the operation.
func (o operation) is(word string) bool { return word == o.op || word == kebab(o.op) }

// operations lists the tools in the order of their set.
func operations() []operation {
	return []operation{
		{workspace.OpReadFile, "Print a file", `  workspace call read_file --path README.md
  workspace call read_file --path big.log --tail 20
  workspace call read_file --path big.log --all`},
		{workspace.OpWriteFile, "Create or replace a file", `  workspace call write_file --path notes.txt --content 'remember the milk'
  make report | workspace call write_file --path report.txt --content-file -
  workspace call write_file --path new.txt --content '' --create-only`},
		{workspace.OpEditFile, "Replace text in a file", `  workspace call edit_file --path main.go --old-text 'foo()' --new-text 'bar()'
  workspace call edit_file --path main.go --edits '[{"oldText": "a", "newText": "b"}]' --dry-run`},
		{workspace.OpLs, "List a directory", `  workspace call ls
  workspace call ls --path src --json`},
		{workspace.OpGlob, "Find files by name", `  workspace call glob --pattern '**/*.go'
  workspace call glob --pattern '**/testdata/'`},
		{workspace.OpGrep, "Search the lines of files", `  workspace call grep --pattern 'func Test' --path .
  workspace call grep --pattern 'a.b()' --literal --include-glob '*.{ts,tsx}' --after 2
  workspace call grep --pattern TODO --all --json`},
		{workspace.OpStat, "Describe a file", `  workspace call stat --path go.mod`},
		{workspace.OpMkdir, "Make a directory", `  workspace call mkdir --path a/b/c --recursive`},
		{workspace.OpRm, "Remove a file or a directory", `  workspace call rm --path old.txt
  workspace call rm --path build --recursive`},
		{workspace.OpMove, "Move or rename", `  workspace call move --source a.txt --destination b.txt`},
		{workspace.OpCopy, "Copy a file", `  workspace call copy --source a.txt --destination b.txt`},
	}
}
