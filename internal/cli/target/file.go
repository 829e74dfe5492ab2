package target

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Name returns how messages call the file path.
func Name(path string) string {
	if path == Stdin {
		return "standard input"
	}
	return path
}

// RefuseStdin returns an error if the file comes from standard input, which a
// command needs for something else.
func (f *Flags) RefuseStdin(use string) error {
	if file, err := f.Find(); err == nil && file.Path == Stdin && len(f.folders) == 0 {
		return fmt.Errorf("standard input is the configuration file, and cannot be %s: name the file by its path", use)
	}
	return nil
}

// Argument returns the file that the only argument of a command names, or else
// the one that the flags choose.
func (f *Flags) Argument(args []string) (config.Location, error) {
	switch {
	case len(args) == 1 && f.set.Changed("config"):
		return config.Location{}, errors.New("the file is given twice, by --config and as an argument: leave one of them out")
	case len(args) == 1 && args[0] == "":
		return config.Location{}, errors.New("the argument is empty: name a file")
	case len(args) == 1:
		return config.Location{Path: args[0]}, nil
	}
	found, err := f.Find()
	if err == nil && found.Path == "" {
		err = fmt.Errorf("there is no %s here or in a folder above: name a file, or create one with \"workspace init\"", config.FileName)
	}
	return found, err
}

// ConfigChanged reports whether --config was given.
func (f *Flags) ConfigChanged() bool { return f.set.Changed("config") }

// Find returns the file that describes the workspaces. Its path is empty if there is none. A
// file that nobody named has a path from the current folder if it is in it, as messages show
// it.
func (f *Flags) Find() (config.Location, error) {
	if f.ConfigChanged() && f.config == "" {
		return config.Location{}, errors.New("--config is empty: name a file")
	}
	found, err := f.locate(f.config, "", nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return config.Location{}, nil
	case err != nil:
		return config.Location{}, fmt.Errorf("%s cannot be used: %s", pathOf(err), term.Plain(err))
	}
	if found.Found {
		found.Path = shortPath(found.Path)
	}
	return found, nil
}

// pathOf returns the path that err is about.
func pathOf(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Path
	}
	return config.FileName
}

// shortPath returns path relative to the current folder, if it is in it.
func shortPath(path string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	short, err := filepath.Rel(here, path)
	if err != nil || !filepath.IsLocal(short) {
		return path
	}
	return short
}

// Load reads a file and checks all of it that can be checked without opening
// anything.
//
// # Errors
//
// A [*config.Error] for what is wrong in the file, and an error with the flag or the variable
// that named it for one that cannot be read.
func (f *Flags) Load(file config.Location) (*config.Config, error) {
	if file.Path == Stdin {
		data, err := f.stdin()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Name(Stdin), err)
		}
		return config.Parse(data, &config.Options{Name: Name(Stdin), Registry: f.Registry()})
	}
	c, err := workspacekit.LoadLocation(file)
	var broken *config.Error
	if err == nil || errors.As(err, &broken) {
		return c, err
	}
	return nil, fmt.Errorf("%s: %s", f.namedBy(file.Path), term.Plain(err))
}

// namedBy says what named the file path.
func (f *Flags) namedBy(path string) string {
	switch {
	case f.config == path:
		return fmt.Sprintf("--config %q", path)
	case os.Getenv(config.EnvFile) == path:
		return fmt.Sprintf("%s %q", config.EnvFile, path)
	}
	return fmt.Sprintf("%q", path)
}

// KindOf returns the kind of provider of a workspace of a file. A provider that the file gives
// as a URL has the kind of that.
func (f *Flags) KindOf(c *config.Config, name string) string {
	kind := c.Kind(name)
	if byURL := f.Registry().KindOf(kind); byURL != "" {
		return byURL
	}
	return kind
}

// The names of the kinds of provider that come with this module.
const (
	KindLocal      = "localbash"
	KindMemory     = "memory"
	KindStore      = "objectstore"
	KindContainer  = "container"
	KindKubernetes = "kubernetes"
)
