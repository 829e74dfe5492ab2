package config

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/kind"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// configFiles are the files of the configuration, which are protected in local
// folders: whoever can write them chooses what is opened and which limits hold, or
// changes what is recorded.
type configFiles struct {
	path        string   // of the file in use, empty if there is none
	unprotected bool     // workspaces may change the configuration, but never the logs
	logs        []string // the absolute paths of the audit logs
	keys        []string // those of their keys
}

// add adds the log a, which may be nil, and its key. a has absolute paths.
func (c *configFiles) add(a *Audit) {
	if a == nil {
		return
	}
	if !slices.Contains(c.logs, a.File) {
		c.logs = append(c.logs, a.File)
	}
	if a.KeyFile != "" && !slices.Contains(c.keys, a.KeyFile) {
		c.keys = append(c.keys, a.KeyFile)
	}
}

// protect returns fsys in which the configuration cannot be changed, if its
// files are those of this computer: neither the file in use, nor the record of
// trusted files, nor a name that [Find] would find the next time.
func (p provider) protect(fsys workspace.FileSystem) (workspace.FileSystem, error) {
	if !p.kind.Local || p.files.unprotected && len(p.files.logs) == 0 && len(p.files.keys) == 0 {
		return fsys, nil
	}
	in := &filesIn{files: p.files, fsys: fsys}
	return policy.Protect(fsys, in.protects, in.above)
}

// createRecord creates the record of trusted files in w, in which commands can run, if it is
// below the folder and does not exist: the sandbox keeps files from being changed, not from being
// created. Where this fails, a symlink leads out of the folder, or nobody can create it.
func (w *Workspace) createRecord() {
	if !w.opener.kind.Local || w.opener.files.unprotected {
		return
	}
	folder := filepath.FromSlash(fallback.Root(w.fsys))
	names := namesIn(folder, record())
	if len(names) == 0 {
		return
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return
	}
	defer root.Close()
	for _, name := range names {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			continue
		}
		if f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_, _ = f.WriteString("{\"trusted\": []}\n")
			_ = f.Close()
		}
	}
}

// filesIn are the files of the configuration that are in a FileSystem. Their
// names are found out before the first change, as opening a workspace is cheap.
type filesIn struct {
	files *configFiles
	fsys  workspace.FileSystem
	once  sync.Once
	names []string // of the configuration
	logs  []string // of audit logs
	keys  []string // of their keys
}

// protects returns why the file name is protected, "" if it is not.
func (f *filesIn) protects(name string) (why string) {
	f.find()
	if !f.files.unprotected && (isConfigName(path.Base(name)) ||
		slices.ContainsFunc(f.names, func(used string) bool { return strings.EqualFold(used, name) })) {
		return "it is the configuration of workspaces, or would be taken for one"
	}
	if runtime.GOOS == "windows" {
		name = plainName(name)
	}
	if slices.ContainsFunc(f.logs, func(log string) bool { return belongsTo(name, log) }) ||
		slices.ContainsFunc(f.keys, func(key string) bool { return strings.EqualFold(name, key) }) {
		return "it is an audit log, or belongs to one"
	}
	return ""
}

// find finds out the names, once.
func (f *filesIn) find() {
	f.once.Do(func() {
		root := fallback.Root(f.fsys)
		f.logs, f.keys = namesIn(root, f.files.logs), namesIn(root, f.files.keys)
		if !f.files.unprotected {
			f.names = namesIn(root, f.files.paths())
		}
	})
}

// above reports whether name is that of a directory on the way to one of the files. Another
// file could be chosen there as long as the directory is missing, or empty and replaced.
func (f *filesIn) above(name string) bool {
	f.find()
	if runtime.GOOS == "windows" {
		name = plainName(name)
	}
	for _, files := range [][]string{f.names, f.logs, f.keys} {
		if slices.ContainsFunc(files, func(file string) bool { return isAbove(name, file) }) {
			return true
		}
	}
	return false
}

// isAbove reports whether the file is below the directory name.
func isAbove(name, file string) bool {
	end := -1
	for range strings.Count(name, "/") + 1 {
		next := strings.IndexByte(file[end+1:], '/')
		if next < 0 {
			return false
		}
		end += 1 + next
	}
	return strings.EqualFold(name, file[:end])
}

// belongsTo reports whether name is the audit log, or a file that package audit keeps beside
// it: its key, a file that it was rotated to, or the next file in the making.
func belongsTo(name, log string) bool {
	if len(name) < len(log) || !strings.EqualFold(name[:len(log)], log) {
		return false
	}
	switch suffix := strings.ToLower(name[len(log):]); suffix {
	case "", ".key", ".new":
		return true
	default:
		number, dotted := strings.CutPrefix(suffix, ".")
		n, err := strconv.Atoi(number)
		return dotted && err == nil && n > 0 && strconv.Itoa(n) == number
	}
}

// namesIn returns the names that files have below root, and those of the symlinks that lead to
// them: who replaces one of these chooses another file.
func namesIn(root string, files []string) []string {
	var paths []string
	for _, file := range files {
		paths = append(paths, waysTo(file)...)
	}
	return namesOf(root, paths)
}

// waysTo returns the paths of a file, and of the symlinks that lead to it.
func waysTo(file string) []string { return append(linksTo(file), file, kind.RealPath(file)) }

// namesOf returns the names of those paths that are below root, or are root.
func namesOf(root string, paths []string) []string {
	root = kind.RealPath(filepath.FromSlash(root))
	var names []string
	for _, path := range paths {
		if name, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(name) {
			names = append(names, filepath.ToSlash(name))
		}
	}
	return names
}

// maxLinks is how many symlinks an operating system follows for a path, or more.
const maxLinks = 255

// linksTo returns the symlinks on the way to a file, each without others in its own path. For
// /a/link/file, where /a/link leads to b/c and /a/b to d, these are /a/link and /a/b.
func linksTo(file string) (links []string) {
	for at := filepath.VolumeName(file); len(links) < maxLinks; {
		rest := strings.TrimLeft(file[len(at):], string(filepath.Separator))
		if rest == "" {
			break
		}
		element, rest, _ := strings.Cut(rest, string(filepath.Separator))
		parent := at + string(filepath.Separator)
		at = filepath.Join(parent, element)
		target, err := os.Readlink(at)
		if err != nil {
			continue
		}
		links = append(links, at)
		if !filepath.IsAbs(target) {
			target = filepath.Join(parent, target)
		}
		file = filepath.Join(target, rest)
		at = filepath.VolumeName(file)
	}
	return links
}

// paths returns the absolute paths of the file in use and of the record of
// trusted files.
func (c *configFiles) paths() []string {
	var files []string
	if c.path != "" {
		if file, err := filepath.Abs(c.path); err == nil {
			files = append(files, file)
		}
	}
	return append(files, record()...)
}

// record returns the absolute path of the record of trusted files, if there is a folder for it.
func record() []string {
	store, err := UserTrustStore()
	if err != nil {
		return nil
	}
	file, err := filepath.Abs(store.Path())
	if err != nil {
		return nil
	}
	return []string{file}
}

// isConfigName reports whether Find takes base for the file. Some file systems
// do not tell letters of either case apart, and Windows has short names.
func isConfigName(base string) bool {
	if runtime.GOOS == "windows" {
		base = plainName(base)
		if strings.HasPrefix(strings.ToLower(base), "worksp~") {
			return true
		}
	}
	return slices.ContainsFunc(fileNames, func(name string) bool { return strings.EqualFold(name, base) })
}

// plainName returns name without what Windows does not see in it: spaces and dots at the end,
// and what follows a colon.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}
