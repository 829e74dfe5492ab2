package conformance

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// model is a tree, simple enough to be obviously right: from names to contents,
// in the form of files, so directories end in "/". Every directory has an
// entry but the root.
//
// After WriteFile of "a/b" and Mkdir of "c" it has three entries:
//
//	"a/": "", "a/b": the bytes, "c/": ""
//
// A method returns the outcome, and changes the model only if that is no error.
// So the model is right for the next step whatever the last one was.
type model files

// outcome is what an operation must return: one of errs, or found if there is
// none. Several errs are there for a call that is wrong for several reasons,
// which may report any of them.
type outcome struct {
	errs  []error
	found []string
}

// fails returns the outcome of an operation that must fail in one of these
// ways.
func fails(errs ...error) outcome { return outcome{errs: errs} }

// isDir reports whether name is a directory.
func (m model) isDir(name string) bool {
	_, ok := m[name+"/"]
	return ok || name == "."
}

// isFile reports whether name is a file.
func (m model) isFile(name string) bool {
	_, ok := m[name]
	return ok
}

// way returns the error of the directories that lead to name: ErrNotDir if one
// is a file, fs.ErrNotExist if one is missing. A file is looked for first:
// "a/b/c" is ErrNotDir if "a" is a file, although "a/b" does not exist.
func (m model) way(name string) error {
	for i, c := range name {
		if c == '/' && m.isFile(name[:i]) {
			return workspace.ErrNotDir
		}
	}
	if !m.isDir(path.Dir(name)) {
		return fs.ErrNotExist
	}
	return nil
}

// look returns the error of a name that should exist.
func (m model) look(name string) error {
	if err := m.way(name); err != nil {
		return err
	}
	if !m.isFile(name) && !m.isDir(name) {
		return fs.ErrNotExist
	}
	return nil
}

// parents creates the directories on the way to name. Those that exist stay as
// they are.
func (m model) parents(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		m[dir+"/"] = ""
	}
}

// do applies an operation to the model and returns what the file system must
// return.
func (m model) do(o operation, content string) outcome {
	switch o.Verb {
	case ops.WriteFile:
		return m.write(o.Name, content)
	case ops.Mkdir, mkdirAll:
		return m.mkdir(o.Name, o.Verb == mkdirAll)
	case ops.Move:
		return m.move(o.Name, o.Destination)
	case ops.Glob:
		return m.glob(o.Name)
	}
	if err := m.look(o.Name); err != nil {
		return fails(err)
	}
	switch o.Verb {
	case ops.ReadFile:
		return m.read(o.Name)
	case ops.Ls:
		return m.ls(o.Name)
	case ops.Stat:
		return m.stat(o.Name)
	}
	return m.rm(o.Name, o.Verb == rmAll)
}

// write is WriteFile in the model.
func (m model) write(name, content string) outcome {
	switch {
	case m.way(name) == workspace.ErrNotDir:
		return fails(workspace.ErrNotDir)
	case m.isDir(name):
		return fails(workspace.ErrIsDir)
	}
	m.parents(name)
	m[name] = content
	return outcome{}
}

// read is ReadFile in the model.
func (m model) read(name string) outcome {
	if m.isDir(name) {
		return fails(workspace.ErrIsDir)
	}
	return outcome{found: []string{m[name]}}
}

// stat is Stat in the model.
func (m model) stat(name string) outcome {
	if m.isDir(name) {
		return outcome{found: []string{fmt.Sprint(workspace.TypeDirectory, 0)}}
	}
	return outcome{found: []string{fmt.Sprint(workspace.TypeFile, len(m[name]))}}
}

// ls is Ls in the model.
func (m model) ls(name string) outcome {
	if m.isFile(name) {
		return fails(workspace.ErrNotDir)
	}
	var found []string
	for key := range m {
		if child := strings.TrimSuffix(key, "/"); path.Dir(child) == name {
			found = append(found, path.Base(child))
		}
	}
	slices.Sort(found)
	return outcome{found: found}
}

// glob finds the files whose path ends with the elements of name.
func (m model) glob(name string) outcome {
	var found []string
	for key := range m {
		if strings.HasSuffix("/"+key, "/"+name) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return outcome{found: found}
}

// mkdir is Mkdir in the model.
func (m model) mkdir(name string, recursive bool) outcome {
	err := m.way(name)
	switch {
	case err == workspace.ErrNotDir, recursive && m.isFile(name):
		return fails(workspace.ErrNotDir)
	case recursive:
	case err != nil:
		return fails(err)
	case m.isFile(name) || m.isDir(name):
		return fails(fs.ErrExist)
	}
	m.parents(name)
	m[name+"/"] = ""
	return outcome{}
}

// rm is Rm in the model. The directory above stays.
func (m model) rm(name string, recursive bool) outcome {
	if m.isDir(name) && !recursive && len(m.ls(name).found) > 0 {
		return fails(workspace.ErrNotEmpty)
	}
	delete(m, name)
	for key := range m {
		if strings.HasPrefix(key, name+"/") {
			delete(m, key)
		}
	}
	return outcome{}
}

// move may fail for several reasons at once, and any of them is right.
func (m model) move(source, destination string) outcome {
	var errs []error
	if err := m.look(source); err != nil {
		errs = append(errs, err)
	}
	if strings.HasPrefix(destination, source+"/") || destination == source {
		errs = append(errs, fs.ErrInvalid)
	}
	if m.way(destination) == workspace.ErrNotDir {
		errs = append(errs, workspace.ErrNotDir)
	} else if m.look(destination) == nil {
		errs = append(errs, fs.ErrExist)
	}
	if len(errs) > 0 {
		return fails(errs...)
	}
	m.parents(destination)
	for key, content := range m {
		if key == source || strings.HasPrefix(key, source+"/") {
			delete(m, key)
			m[destination+key[len(source):]] = content
		}
	}
	return outcome{}
}
