package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/workspacekit/workspacekit/workspace/config"
)

// choice is the workspaces that the command line chooses: those of a file, or a
// place.
type choice struct {
	path  string         // of the file
	file  *config.Config // nil if it is a place
	place *place
}

// choose returns what the flags choose, and opens nothing.
func (s *settings) choose() (*choice, error) {
	if err := s.checkWorkspaces(); err != nil {
		return nil, err
	}
	if flag, text := s.given(); flag != "" {
		return s.choosePlace(flag, text)
	}
	found, err := s.find()
	switch {
	case err != nil:
		return nil, err
	case found.Path == "" && len(s.workspaces) > 0:
		return nil, fmt.Errorf("-w %q names no workspace, as there is no %s here or in a folder above: name a file by --config, or make one by \"workspace init\"",
			s.workspaces[0], config.FileName)
	case found.Path == "":
		return s.choosePlace("-C", s.dir)
	}
	c, err := s.load(found)
	if err != nil {
		return nil, err
	}
	c, err = s.chooseFrom(c, found.Path)
	return &choice{path: found.Path, file: c}, err
}

func (s *settings) choosePlace(flag, text string) (*choice, error) {
	p, err := s.newPlace(flag, text)
	return &choice{place: p}, err
}

// given returns the flag that names a place, and what it names.
func (s *settings) given() (flag, text string) {
	switch {
	case s.flags.Changed("dir"):
		return "-C", s.dir
	case len(s.workspaces) == 1 && config.IsURL(s.workspaces[0]):
		return "-w", s.workspaces[0]
	}
	return "", ""
}

// checkWorkspaces refuses flags that contradict each other about where the
// workspaces are.
func (s *settings) checkWorkspaces() error {
	byURL := slices.ContainsFunc(s.workspaces, config.IsURL)
	dir := s.flags.Changed("dir")
	for i, name := range s.workspaces {
		if slices.Contains(s.workspaces[:i], name) {
			return fmt.Errorf("-w %q is given twice", name)
		}
	}
	switch {
	case byURL && len(s.workspaces) > 1:
		return errors.New("-w with a URL opens one workspace, which has no other beside it: describe several in a file")
	case byURL && dir:
		return errors.New("-C and the URL of -w both say where the files are: leave one of them out")
	case byURL && s.flags.Changed("config"):
		return errors.New("--config names a file, and the URL of -w works without one: leave one of them out")
	case dir && s.flags.Changed("config"):
		return errors.New("--config names a file, and -C works without one: leave one of them out")
	case dir && len(s.workspaces) > 0:
		return fmt.Errorf("-w %q is to be in a file, and -C works without one: leave one of them out", s.workspaces[0])
	}
	return nil
}

// tools returns the settings of the tools, the zero ones without a file.
func (c *choice) tools() config.Tools {
	if c.file == nil {
		return config.Tools{}
	}
	return c.file.Tools
}
