package compare

import (
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// versionLog is what one side has said about its versions, by the clean names of the
// files.
//
// Versions of the two sides are different strings, so each side is tested by
// itself:
//
//	WriteFile("a", "x") = v1
//	Stat("a") = v2             fault: another version, and nobody has written
//	WriteFile("a", "y") = v1   fault: v1 had other bytes
//
// current has what must not change, and is forgotten when a file is written,
// moved or removed. contents is kept for the whole sequence: a version never
// comes back with other bytes. written has all writes in order, for conditions
// that are out of date.
type versionLog struct {
	current  map[string]workspace.Version // since the last write
	contents map[string]map[workspace.Version]string
	written  map[string][]write
}

// write is what one write left.
type write struct {
	version workspace.Version
	content string
}

// newVersionLog returns an empty log.
func newVersionLog() versionLog {
	return versionLog{
		current:  make(map[string]workspace.Version),
		contents: make(map[string]map[workspace.Version]string),
		written:  make(map[string][]write),
	}
}

// saw notes that the file name has version. It is a fault if nothing has
// changed the file since another version was seen, or if it has a version
// against what is declared.
func (s *side) saw(name string, version workspace.Version) {
	if (version != "") != s.caps.Versions {
		s.fault("file %q has the version %q, and Capabilities.Versions is %v", name, version, s.caps.Versions)
	}
	if s.symlink != nil {
		return // a file may change by another name
	}
	name = cleaned(name)
	if before, ok := s.versions.current[name]; ok && before != version {
		s.fault("file %q has another version than before, and was not written", name)
	}
	s.versions.current[name] = version
}

// read notes that the file name has version and content.
func (s *side) read(name string, version workspace.Version, content string) {
	s.saw(name, version)
	if !s.caps.Versions || s.symlink != nil {
		return
	}
	name = cleaned(name)
	if s.versions.contents[name] == nil {
		s.versions.contents[name] = make(map[workspace.Version]string)
	}
	if before, ok := s.versions.contents[name][version]; ok && before != content {
		s.fault("file %q has the version that it had with other bytes", name)
	}
	s.versions.contents[name][version] = content
}

// wrote notes that a write of content gave the file name this version.
func (s *side) wrote(name string, version workspace.Version, content string) {
	delete(s.versions.current, cleaned(name))
	s.read(name, version, content)
	name = cleaned(name)
	s.versions.written[name] = append(s.versions.written[name], write{version, content})
}

// forget notes that the version of name, and those of all below it, may change.
// It is called after Rm, and for both names of a Move. contents stays.
func (s *side) forget(name string) {
	name = cleaned(name)
	for known := range s.versions.current {
		if known == name || name == "." || strings.HasPrefix(known, name+"/") {
			delete(s.versions.current, known)
		}
	}
}

// foreignVersion is no version of any file. With it as the condition, the write
// of a file is a conflict.
const foreignVersion workspace.Version = "no version"
