package main

import (
	"context"

	"github.com/workspacekit/workspacekit/providers/localbash"
)

// benchGlob compares a Glob in this process, and by the command, with other
// programs. Every file is looked at, also what a .gitignore names, so that all
// count the same ones.
func benchGlob(b *bench) error {
	command, err := b.command()
	if err != nil {
		return err
	}
	const pattern = "*_test.go"
	others := b.installed([]peer{
		{"fd", "apt-get install fd-find", []string{"fdfind", "--unrestricted", "--type", "f", "--glob", pattern, b.dir}},
		{"find", "apt-get install findutils", []string{"find", b.dir, "-type", "f", "-name", pattern}},
		{"rg --files", "apt-get install ripgrep", []string{"rg", "--no-config", "--no-ignore", "--hidden", "--files", "-g", pattern, b.dir}},
	})
	err = b.Run("`**/"+pattern+"`, in the process", by("ours", func() (int, error) {
		fsys, err := localbash.Open(b.dir, nil)
		if err != nil {
			return 0, err
		}
		defer fsys.Close()
		paths, err := fsys.Glob(context.Background(), "**/"+pattern, nil)
		return len(paths), err
	}), others...)
	if err != nil {
		return err
	}
	return b.Run("the same as a whole command, in two pages", by("ours", func() (int, error) {
		return countLines([]string{command, "-C", b.dir, "call", "glob", "--include-ignored", "--all", "--limit", "1000", "--pattern", "**/" + pattern})
	}), others...)
}
