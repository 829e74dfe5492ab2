package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// stdinPath is the path that stands for standard input.
const stdinPath = "-"

// refuseStdin returns the error of a command that needs standard input for
// something else than the file.
func (s *settings) refuseStdin(use string) error {
	if file, err := s.find(); err == nil && file.Path == stdinPath && !s.flags.Changed("dir") {
		return fmt.Errorf("standard input is the file of workspaces, and cannot be %s: name the file by its path", use)
	}
	return nil
}

// locator finds the file, as [config.Locate] does.
type locator func(explicit, dir string, env func(name string) (value string, set bool)) (config.Location, error)

// find returns the file that describes the workspaces. Its path is empty if
// there is none.
func (s *settings) find() (config.Location, error) {
	if s.flags.Changed("config") && s.config == "" {
		return config.Location{}, errors.New("--config is empty: name a file")
	}
	found, err := s.locate(s.config, "", nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return config.Location{}, nil
	case err != nil:
		return config.Location{}, fmt.Errorf("%s cannot be used: %s", faultyPath(err), plain(err))
	}
	if found.Found {
		found.Path = shortPath(found.Path)
	}
	return found, nil
}

// faultyPath returns the path that err is about.
func faultyPath(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Path
	}
	return config.FileName
}

// shortPath returns path from the current folder, if it is in it.
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

// load reads a file, and all of it is checked that can be without opening
// anything.
func (s *settings) load(file config.Location) (*config.Config, error) {
	if file.Path == stdinPath {
		data, err := s.stdin()
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return config.Parse(data, &config.Options{Name: "standard input", Registry: workspacekit.NewRegistry()})
	}
	c, err := workspacekit.LoadLocation(file)
	var broken *config.Error
	if err == nil || errors.As(err, &broken) {
		return c, err
	}
	return nil, fmt.Errorf("%s: %s", s.namedBy(file.Path), plain(err))
}

// namedBy says what named the file path.
func (s *settings) namedBy(path string) string {
	switch {
	case s.config == path:
		return fmt.Sprintf("--config %q", path)
	case os.Getenv(config.EnvFile) == path:
		return fmt.Sprintf("%s %q", config.EnvFile, path)
	}
	return fmt.Sprintf("%q", path)
}

// chooseFrom returns those of the workspaces of c that -w names, or all.
func (s *settings) chooseFrom(c *config.Config, path string) (*config.Config, error) {
	if err := s.refuseForFile(path); err != nil {
		return nil, err
	}
	c, err := c.Only(s.workspaces...)
	if err != nil {
		return nil, err
	}
	if s.readOnly {
		c = c.ReadOnly()
	}
	return c, nil
}

// refuseForFile refuses the flags that say what the file path says.
func (s *settings) refuseForFile(path string) error {
	for _, f := range []struct{ flag, remedy string }{
		{"name", "the names are in the file, and -w chooses among them"},
		{"max-file-size-mb", "set maxFileSizeMb in the fs of the workspace there"},
		{"relaxed", "set relaxed in the provider of the workspace there"},
	} {
		if s.flags.Changed(f.flag) {
			return fmt.Errorf("--%s has no meaning with a file, which is %s: %s; -C . works here without the file", f.flag, path, f.remedy)
		}
	}
	return nil
}

// listed returns the names, or as many as an error shows.
func listed(names []string) string {
	const most = 20
	if more := len(names) - most; more > 0 {
		names = append(names[:most:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
