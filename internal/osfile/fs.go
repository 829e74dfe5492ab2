// Package osfile opens the files of a workspace as package os opens those of a
// computer: with flags, for parts, at a position. The adapters for billy, afero and
// WebDAV are thin layers over it.
//
// A file that is open for writing is kept in memory, and stored as a whole when it is
// closed. So nobody else ever sees a part of what is written. Within one [FS] it is
// as in an operating system: who opens, describes, renames or removes a file that is
// still open for writing meets what has been written so far.
//
// An error is a [*fs.PathError], or the two names' [*os.LinkError] of Rename, with the
// kinds of package workspace. For what is missing and what exists it satisfies
// [os.IsNotExist] and [os.IsExist], too, which callers of these interfaces use.
package osfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// largestFile is how many bytes a file that is open for writing can have in a
// workspace without a limit.
const largestFile = 1 << 30

// FS is a workspace with methods that have the names and meanings of the functions of package
// os. It is safe for concurrent use.
//
// The methods take names as callers of package os write them, and a slash at the beginning is
// the root of the workspace. All use the context of New. Who locks mu may then lock that of a
// content, and never the other way round.
type FS struct {
	ctx     context.Context // of New
	ws      *workspace.Workspace
	parents bool // directories above a new file are made

	mu          sync.Mutex
	claims      []*claim            // of calls that are under way
	released    *sync.Cond          // of claims
	written     map[string]*content // files that are open for writing, by name
	executables map[string]bool     // names whose mode has the bits for execution
}

// Options are the settings of an [FS].
type Options struct {
	// Parents says that a new file creates its missing parents. False means that they
	// must exist.
	Parents bool
}

// New returns ws as an FS, for as long as ctx lasts. Nil opts mean the zero Options.
func New(ctx context.Context, ws *workspace.Workspace, opts *Options) *FS {
	f := &FS{ctx: ctx, ws: ws, written: map[string]*content{}, executables: map[string]bool{}}
	f.released = sync.NewCond(&f.mu)
	if opts != nil {
		f.parents = opts.Parents
	}
	return f
}

// clean returns the name in the workspace. A name that begins with a slash begins at the root
// of the workspace, wherever on the computer that is. The error is one for the caller of the
// FS.
func (f *FS) clean(op, name string) (string, error) {
	clean, err := f.ws.Clean(f.ctx, op, strings.TrimLeft(filepath.ToSlash(name), "/"))
	return clean, fail(op, name, err)
}

// fail returns err with the operation and the name of the caller; nil stays nil. The kinds
// "not exist" and "exist" become the bare errors of package fs, because [os.IsNotExist] looks
// into a [*fs.PathError] and no further; what the workspace says beyond them is lost.
func fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var inner *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fs.ErrNotExist
	case errors.Is(err, fs.ErrExist):
		err = fs.ErrExist
	case errors.As(err, &inner):
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Limit returns how many bytes a file that is open for writing can have. It is never zero:
// without a limit, memory would be the limit.
func (f *FS) Limit() int64 {
	if limit := f.ws.MaxFileSize(); limit > 0 {
		return limit
	}
	return largestFile
}

// open returns the content of a file that is open for writing, or nil.
func (f *FS) open(name string) *content {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.written[name]
}

// Stat describes what name leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	return f.describe("stat", name, f.follow)
}

// Lstat describes name itself, without following a symlink.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	return f.describe("lstat", name, func(clean string) (workspace.FileInfo, error) { return f.ws.Stat(f.ctx, clean) })
}

// describe returns what has been written to a file that is open for writing, and what stat
// returns of any other.
func (f *FS) describe(op, name string, stat func(string) (workspace.FileInfo, error)) (fs.FileInfo, error) {
	clean, err := f.clean(op, name)
	if err != nil {
		return nil, err
	}
	if c := f.open(clean); c != nil {
		return f.info(c.describe()), nil
	}
	info, err := stat(clean)
	if err != nil {
		return nil, fail(op, name, err)
	}
	return f.info(info), nil
}

// follow is the Stat of the workspace with symlinks followed. It has the name of the symlink,
// as in package os.
func (f *FS) follow(clean string) (workspace.FileInfo, error) {
	info, err := f.ws.Stat(f.ctx, clean)
	if err != nil || info.Type != workspace.TypeSymlink {
		return info, err
	}
	target, err := f.ws.Resolve(f.ctx, clean)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	followed, err := f.ws.Stat(f.ctx, target)
	followed.Name, followed.Path = info.Name, info.Path
	return followed, err
}

// ReadDir describes the children of a directory, sorted by name, without following
// symlinks, and files that are open for writing as Lstat does.
func (f *FS) ReadDir(name string) ([]fs.FileInfo, error) {
	clean, err := f.clean("readdir", name)
	if err != nil {
		return nil, err
	}
	children, err := f.ws.Ls(f.ctx, clean, nil)
	if err != nil {
		return nil, fail("readdir", name, err)
	}
	for base, c := range f.writtenIn(clean) {
		at, stored := slices.BinarySearchFunc(children, base, func(info workspace.FileInfo, base string) int {
			return strings.Compare(info.Name, base)
		})
		if !stored {
			children = slices.Insert(children, at, workspace.FileInfo{})
		}
		children[at] = c.describe()
	}
	infos := make([]fs.FileInfo, len(children))
	for i, child := range children {
		infos[i] = f.info(child)
	}
	return infos, nil
}

// writtenIn returns the contents that are open for writing in dir, by their last elements.
func (f *FS) writtenIn(dir string) map[string]*content {
	f.mu.Lock()
	defer f.mu.Unlock()
	in := map[string]*content{}
	for name, c := range f.written {
		if parent, base := workspace.Split(name); parent == dir {
			in[base] = c
		}
	}
	return in
}

// Mkdir creates a directory in one that exists.
func (f *FS) Mkdir(name string) error { return f.mkdir(name, nil) }

// MkdirAll creates a directory with its missing parents. One that exists is no error.
func (f *FS) MkdirAll(name string) error {
	return f.mkdir(name, &workspace.MkdirOptions{Recursive: true})
}

func (f *FS) mkdir(name string, opts *workspace.MkdirOptions) error {
	clean, err := f.clean("mkdir", name)
	if err != nil {
		return err
	}
	return fail("mkdir", name, f.ws.Mkdir(f.ctx, clean, opts))
}

// Remove removes a file or an empty directory.
func (f *FS) Remove(name string) error { return f.remove("remove", name, nil) }

// RemoveAll removes name with everything below it. One that does not exist is no error.
func (f *FS) RemoveAll(name string) error {
	err := f.remove("removeall", name, &workspace.RmOptions{Recursive: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// A file that was being written for the first time exists only here: to forget it is to remove
// it. Nil opts mean that a directory must be empty, for the user of this FS, too.
func (f *FS) remove(op, name string, opts *workspace.RmOptions) error {
	clean, err := f.clean(op, name)
	if err != nil {
		return err
	}
	defer f.change(clean)()
	linked := f.linked(clean)
	if opts == nil && f.writtenBelow(clean, linked) {
		return fail(op, name, workspace.ErrNotEmpty)
	}
	err = f.ws.Rm(f.ctx, clean, opts)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(op, name, err)
	}
	if f.forget(clean, linked) {
		return nil // it existed here
	}
	return fail(op, name, err)
}

// linked returns the files that are open for writing by names at or below dir, and are elsewhere: a
// symlink leads to each. It has the content and where it is stored.
func (f *FS) linked(dir string) map[*content]string {
	elsewhere := map[*content]string{}
	for name, c := range f.writtenAt(dir) {
		target, err := f.ws.Resolve(f.ctx, name)
		if _, within := under(target, dir); err == nil && !within {
			elsewhere[c] = target
		}
	}
	return elsewhere
}

// writtenAt returns the contents that are open for writing at or below dir, by name.
func (f *FS) writtenAt(dir string) map[string]*content {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := maps.Clone(f.written)
	maps.DeleteFunc(found, func(name string, _ *content) bool {
		_, ok := under(name, dir)
		return !ok
	})
	return found
}

// writtenBelow reports whether a file below dir is open for writing, and not linked.
func (f *FS) writtenBelow(dir string, linked map[*content]string) bool {
	for name, c := range f.writtenAt(dir) {
		if linked[c] == "" && name != dir {
			return true
		}
	}
	return false
}

// forget drops what is known about name and everything below it, and reports whether
// name was open for writing. A file that is removed while it is open is not stored, unless it is
// linked: then its Close stores it where it is.
func (f *FS) forget(name string, linked map[*content]string) bool {
	below := f.writtenAt(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	for open, c := range below {
		delete(f.written, open)
		if target := linked[c]; target != "" {
			c.rename(target, false)
		} else {
			c.discard()
		}
	}
	maps.DeleteFunc(f.executables, func(below string, _ bool) bool {
		_, ok := under(below, name)
		return ok
	})
	return below[name] != nil
}

// under returns what follows dir in name, and whether name is dir or below it: "/b" for a/b
// under a, "" for a under a, and false for ab.
func under(name, dir string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, dir)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// Rename gives from the name to, and creates the missing parents of to if new files do. A file
// replaces a file: a reader of to sees the old content or the new one. It is copied for this,
// and then removed, as it is if the workspace cannot move; if somebody changes it meanwhile, the
// rename is refused with [workspace.ErrConflict]. A symlink, or a file larger than the limit, is
// moved aside meanwhile. If the rename is refused, to is as it was. A directory
// is never replaced. If from leads to the file to, that stays as it is; a symlink that cannot be
// followed replaces no file, as it could.
//
// A file that is still open for writing by the name from is then stored by the name to; a new one
// that replaces a symlink is also stored at once. What was written to a file that had the name to
// before, and is not stored yet, is dropped. What was written through a symlink that is replaced is
// stored in the file that it led to.
func (f *FS) Rename(from, to string) error { return f.renameNames(from, to, true) }

// RenameNew is [FS.Rename] to a name that must be new: it is [fs.ErrExist] if anything has it.
func (f *FS) RenameNew(from, to string) error { return f.renameNames(from, to, false) }

func (f *FS) renameNames(from, to string, mayReplace bool) error {
	source, err := f.clean("rename", from)
	if err != nil {
		return linkError(from, to, err)
	}
	target, err := f.clean("rename", to)
	if err == nil {
		err = f.rename(source, target, mayReplace)
	}
	return linkError(from, to, err)
}

// linkError returns err with both names.
func linkError(from, to string, err error) error {
	if err == nil {
		return nil
	}
	var inner *fs.PathError
	if errors.As(fail("rename", from, err), &inner) {
		err = inner.Err
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}

// rename is Rename for clean names, if it may replace, and else RenameNew:
//
//	target            source                what happens
//	does not exist    anything              move
//	a directory       anything              fs.ErrExist
//	a file            a file, both small    its content is replaced, source is removed
//	a file, symlink   a directory           workspace.ErrNotDir
//	any other                               target is moved aside, source moved, and target removed
func (f *FS) rename(source, target string, mayReplace bool) error {
	defer f.change(source, target)()
	if err := f.checkParent(target); err != nil {
		return err
	}
	to, err := f.ws.Stat(f.ctx, target)
	replaces := err == nil
	if replaces && mayReplace && to.Type == workspace.TypeFile {
		if same, err := f.same(source, target); err != nil || same {
			return err
		}
	}
	if replaces && mayReplace && to.Type == workspace.TypeSymlink {
		if err := f.storeNew(source); err != nil {
			return err
		}
	}
	linked, unchanged := f.linked(target), f.unchanged(source)
	switch {
	case err == nil && to.IsDir(), !mayReplace && (err == nil || f.open(target) != nil):
		return fs.ErrExist
	case err == nil:
		err = f.replace(source, target, to.Type)
	case errors.Is(err, fs.ErrNotExist):
		err = f.move(source, target)
	}
	if c := f.open(source); errors.Is(err, fs.ErrNotExist) && c != nil && c.isDirty() {
		err = nil // it is stored under its new name
	}
	if err != nil || source == target {
		return err
	}
	f.renamed(source, target, replaces, linked)
	for c, before := range unchanged {
		data, version, err := f.ws.ReadVersioned(f.ctx, c.describe().Path, f.Limit())
		if err == nil && bytes.Equal(data, before) { // or somebody has changed it since
			c.moved(version)
		}
	}
	return nil
}

// storeNew stores a file that exists only here, so that it can replace a symlink: what is stored by
// the name of the symlink later would be stored in the file that it leads to.
func (f *FS) storeNew(name string) error {
	c := f.open(name)
	if c == nil {
		return nil
	}
	if _, err := f.ws.Stat(f.ctx, name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.store()
}

// unchanged returns the contents that are open at or below a name and are stored only if nobody
// else has changed them, and that nobody has changed so far, with the bytes that are stored.
func (f *FS) unchanged(dir string) map[*content][]byte {
	unchanged := map[*content][]byte{}
	for _, c := range f.writtenAt(dir) {
		required := c.required()
		if required == "" {
			continue
		}
		data, version, err := f.ws.ReadVersioned(f.ctx, c.describe().Path, f.Limit())
		if err == nil && version == required {
			unchanged[c] = data
		}
	}
	return unchanged
}

// move is a move to a name that does not exist. Where the workspace cannot move, only a file
// can be copied.
func (f *FS) move(source, target string) error {
	err := f.ws.Move(f.ctx, source, target)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	from, statErr := f.ws.Stat(f.ctx, source)
	if statErr != nil || from.Type != workspace.TypeFile {
		return cmp.Or(statErr, err)
	}
	isNew := workspace.WriteOptions{IfNotExist: f.ws.Capabilities().ConditionalWrite}
	return f.copyAndRemove(source, target, from, isNew)
}

// replace is a move to a file or symlink.
func (f *FS) replace(source, target string, to workspace.FileType) error {
	from, err := f.ws.Stat(f.ctx, source)
	switch {
	case err != nil || source == target:
		return err
	case from.IsDir():
		return workspace.ErrNotDir
	case from.Type == workspace.TypeFile && to == workspace.TypeFile:
		if err := f.copyAndRemove(source, target, from, workspace.WriteOptions{}); !errors.Is(err, workspace.ErrTooLarge) {
			return err
		}
	}
	aside := ops.Aside(target)
	if err := f.ws.Move(f.ctx, target, aside); err != nil {
		return err
	}
	moved := f.move(source, target)
	if err = moved; err == nil {
		err = f.ws.Rm(f.ctx, aside, nil)
	}
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), undoTimeout)
	defer cancel()
	if _, statErr := f.ws.Stat(ctx, aside); statErr != nil {
		return err // it may have been removed
	}
	if moved == nil {
		if undoErr := f.ws.Move(ctx, target, source); undoErr != nil {
			return errors.Join(err, undoErr)
		}
	}
	return errors.Join(err, f.ws.Move(ctx, aside, target))
}

// undoTimeout is how long it may take to bring back what a rename that was refused has changed,
// also after the end of the context.
const undoTimeout = 10 * time.Second

// same reports whether two names lead to the same place, as they do if one of them has
// a symlink in it.
func (f *FS) same(a, b string) (bool, error) {
	resolvedA, err := f.ws.Resolve(f.ctx, a)
	if err != nil {
		return false, err
	}
	resolvedB, err := f.ws.Resolve(f.ctx, b)
	return resolvedA == resolvedB, err
}

// copyAndRemove gives the file target, on a condition, the content of the file source, and then
// removes source unless somebody has changed it since from. What others write to source in the last
// moment may be lost. If target exists and source is not removed, target gets its content back.
func (f *FS) copyAndRemove(source, target string, from workspace.FileInfo, condition workspace.WriteOptions) error {
	data, err := f.ws.ReadFile(f.ctx, source)
	if err != nil {
		return err
	}
	old, err := f.ws.ReadFile(f.ctx, target)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	written, err := f.ws.WriteFile(f.ctx, target, data, &condition)
	if err != nil {
		return err
	}
	err = f.removeUnchanged(source, from)
	if err == nil || !exists {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), undoTimeout)
	defer cancel()
	if _, statErr := f.ws.Stat(ctx, source); statErr != nil {
		return err // source may have been removed
	}
	var undo workspace.WriteOptions
	if f.ws.Capabilities().ConditionalWrite {
		undo.IfVersion = written // or an edit of target would be lost
	}
	_, undoErr := f.ws.WriteFile(ctx, target, old, &undo)
	return errors.Join(err, undoErr)
}

// removeUnchanged removes a file that is still as info describes it, or else returns
// [workspace.ErrConflict].
func (f *FS) removeUnchanged(name string, info workspace.FileInfo) error {
	now, err := f.ws.Stat(f.ctx, name)
	switch {
	case err != nil:
		return err
	case !fallback.SameBytes(info, now):
		return workspace.ErrConflict
	}
	return f.ws.Rm(f.ctx, name, nil)
}

// renamed gives what is known about source, and everything below it, new names. So the File
// that is open under source writes to target from now on, and may replace what is there if
// Rename did.
func (f *FS) renamed(source, target string, replaces bool, linked map[*content]string) {
	f.forget(target, linked)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Collect(maps.Keys(f.written)) {
		if rest, ok := under(name, source); ok {
			c := f.written[name]
			delete(f.written, name)
			f.written[target+rest] = c
			c.rename(target+rest, replaces)
		}
	}
	for _, name := range slices.Collect(maps.Keys(f.executables)) {
		if rest, ok := under(name, source); ok {
			delete(f.executables, name)
			f.executables[target+rest] = true
		}
	}
}

// checkParent returns an error unless a file can be created as name: with its parents,
// or because they exist.
func (f *FS) checkParent(name string) error {
	if f.parents {
		return nil
	}
	dir, _ := workspace.Split(name)
	if dir == "." {
		return nil
	}
	info, err := f.follow(dir)
	if err == nil && !info.IsDir() {
		return workspace.ErrNotDir
	}
	return err
}

// Chmod keeps whether name can be executed, for as long as f is used. A workspace has
// no modes, so nothing else of mode is kept, and nobody else sees it.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	clean, err := f.clean("chmod", name)
	if err != nil {
		return err
	}
	if f.open(clean) == nil {
		if _, err := f.follow(clean); err != nil {
			return fail("chmod", name, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setMode(clean, mode)
	return nil
}

// setMode keeps whether name can be executed. f.mu is held.
func (f *FS) setMode(name string, mode fs.FileMode) {
	if mode&0o100 != 0 {
		f.executables[name] = true
	} else {
		delete(f.executables, name)
	}
}
