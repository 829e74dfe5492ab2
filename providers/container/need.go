package container

import (
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lines"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// search returns how grep finds what matches of pattern have in it, as options
// and a pattern; nothing if all files are to be read. grep may find more.
func search(i *program.Image, pattern string, o lines.Options) (options, found string) {
	tree, err := lines.Parse(pattern, o)
	if err != nil {
		return "", ""
	}
	required := lines.RequiredBy(tree)
	noArgument := func(text string) bool { return strings.Contains(text, "\x00") }
	known := len(required.Texts) > 0 && !slices.ContainsFunc(required.Texts, noArgument)
	switch {
	case known && (required.Exact || !i.Bytes):
		options = "-F"
		if required.Fold {
			options += " -i"
		}
		return options, strings.Join(required.Texts, "\n")
	case !i.Bytes:
		return "", ""
	}
	if found = extended(tree); found == "" {
		return "", ""
	}
	return "-E", found
}
