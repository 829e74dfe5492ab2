package container

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed program/*.sh
var programFiles embed.FS

// program returns what a shell is taught, in the order of the files' names.
func program() (string, error) {
	var b strings.Builder
	names, err := fs.Glob(programFiles, "program/*.sh")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := programFiles.ReadFile(name)
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	return b.String(), nil
}
