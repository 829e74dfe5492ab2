package localbash

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Move implements [provider.Mover]. A move to another mount inside the folder
// is [errors.ErrUnsupported].
//
// The names are tested before anything is created for the move, and again under the locks of
// both directories. Only the second test counts (MV6); the first keeps a move that is refused
// from leaving new directories (E5).
func (f *folder) Move(ctx context.Context, source, destination string) error {
	_, err := retry(func(bool) (none struct{}, err error) { return none, f.move(ctx, source, destination) })
	return err
}

// move moves once. It fails with errOvertaken if another writer changed a
// directory on the way, and is then tried again.
func (f *folder) move(ctx context.Context, source, destination string) error {
	from, old, err := f.openParent(source)
	if err != nil {
		return err
	}
	defer from.close()
	s, err := from.child(old)
	if err != nil {
		return err
	}
	if s.kind == workspace.TypeDirectory {
		if err := f.checkBelow(ctx, source, destination); err != nil {
			return err
		}
	}
	if _, err := f.lstat(destination); err == nil { // before anything is created for it
		return provider.At(destination, fs.ErrExist)
	}
	dir, base := workspace.Split(destination)
	to, undo, err := f.makeDir(ctx, dir)
	if err != nil {
		return provider.At(destination, err)
	}
	defer to.close()
	err = f.moveLocked(ctx, from, old, to, base, destination)
	if err != nil {
		undo()
	}
	return err
}

// openParent opens the directory that name is in. The caller closes it.
func (f *folder) openParent(name string) (*dirHandle, string, error) {
	dir, base := workspace.Split(name)
	d, err := f.openDir(dir)
	return d, base, err
}

// checkBelow refuses to move the directory source to a name below itself (MV4). The kernel
// does so, too, but only once the directories of the destination have been created, and these
// would then be in source. Symlinks may hide that one is below the other, so the names are
// compared a second time without them.
func (f *folder) checkBelow(ctx context.Context, source, destination string) error {
	if strings.HasPrefix(destination, source+"/") {
		return errBelowSource
	}
	from, err := f.resolveParent(ctx, source)
	if err != nil {
		return f.ifConfined(err)
	}
	to, err := f.resolveParent(ctx, destination)
	if err != nil {
		return f.ifConfined(provider.At(destination, err))
	}
	if strings.HasPrefix(to, from+"/") {
		return errBelowSource
	}
	return nil
}

// ifConfined returns err unless it says no more than that a symlink of a
// relaxed FS leads out.
func (f *folder) ifConfined(err error) error {
	if f.relaxed && errors.Is(err, workspace.ErrEscape) {
		return nil
	}
	return err
}

var errBelowSource = provider.Errorf(fs.ErrInvalid, "the destination lies below the source")

// resolveParent resolves the symlinks on the way to name, and not that which
// it may be.
func (f *folder) resolveParent(ctx context.Context, name string) (string, error) {
	dir, base := workspace.Split(name)
	parent, err := f.Resolve(ctx, dir)
	return workspace.Join(parent, base), err
}

// moveLocked tests the names again and renames, while it holds the locks of both directories.
// An error that is about the destination carries its name; any other is reported for source.
func (f *folder) moveLocked(ctx context.Context, from *dirHandle, old string, to *dirHandle, new, destination string) error {
	unlock, err := f.lock(ctx, from, to)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := from.child(old); err != nil {
		return err
	}
	if err := f.renameNew(from, old, to, new); err != nil {
		if errors.Is(err, fs.ErrNotExist) { // not the source: the directory of the destination
			return errOvertaken
		}
		if errors.Is(err, syscall.EBUSY) { // something is mounted on the source: the destination is new
			return err
		}
		return provider.At(destination, err)
	}
	if err := f.syncDir(to); err != nil {
		return provider.At(destination, err)
	}
	return f.syncDir(from)
}

// renameFile gives the file old of from the name new in to, and replaces the
// file that has it.
//
// The functions that rename differ in what they do with a name that is taken:
//
//	renameFile      replaces the file: a write
//	renameNewFile   fails, for files: a write with IfNotExist, and a lock file
//	renameNew       fails, for directories, too: a move
func (f *folder) renameFile(from *dirHandle, old string, to *dirHandle, new string) error {
	if from == to {
		return from.rename(old, new)
	}
	return f.renameBetween(from, old, to, new)
}

// renameBetween renames old in one directory to new in another. Where the system has no call
// with open directories, the host looks their names up again.
func (f *folder) renameBetween(from *dirHandle, old string, to *dirHandle, new string) error {
	err := sys.Rename(from.file, old, to.file, new)
	if err == errors.ErrUnsupported {
		return f.host.Rename(workspace.Join(from.dir, old), workspace.Join(to.dir, new))
	}
	return err
}

// linkBetween creates new in one directory as a hard link of old in another. It fails with
// [fs.ErrExist] if new exists.
func (f *folder) linkBetween(from *dirHandle, old string, to *dirHandle, new string) error {
	err := sys.Link(from.file, old, to.file, new)
	if err == errors.ErrUnsupported {
		return f.host.Link(workspace.Join(from.dir, old), workspace.Join(to.dir, new))
	}
	return err
}

// renameNewFile gives the file old of from the name new in to, unless that is taken. Where no
// call does both at once, a hard link does: it cannot take a name that exists. For a moment
// the file then has both names.
func (f *folder) renameNewFile(from *dirHandle, old string, to *dirHandle, new string) error {
	err := sys.RenameExclusive(from.file, old, to.file, new)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := f.linkBetween(from, old, to, new); err != nil {
		return err
	}
	return from.remove(old)
}

// renameNew does the same for whatever old is. Where no call does both at
// once, it relies on the locks that the caller holds.
func (f *folder) renameNew(from *dirHandle, old string, to *dirHandle, new string) error {
	err := sys.RenameExclusive(from.file, old, to.file, new)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	taken, err := to.find(new)
	if err != nil {
		return err
	}
	if taken != nil {
		return fs.ErrExist
	}
	return f.renameBetween(from, old, to, new)
}

// Copy implements [provider.Copier]. The copy has the permission bits of the source. Where the
// file system can share the bytes of two files, they are not copied. On Linux the copy has the
// holes of the source. A file that another program never stops changing in place is copied as
// it was read. The copy is a temporary file that takes its name as in a write with IfNotExist.
func (f *folder) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	return retry(func(last bool) (workspace.Version, error) { return f.copy(ctx, source, destination, last) })
}

// copy copies once. It is errOvertaken if source changes meanwhile, unless torn
// says that this does not matter.
func (f *folder) copy(ctx context.Context, source, destination string, torn bool) (workspace.Version, error) {
	h, s, err := f.openRegular(source, false)
	if err != nil {
		return "", err
	}
	from := h.file()
	defer from.Close()
	t, err := f.newTempFile(ctx, destination, workspace.WriteOptions{IfNotExist: true}, s.perm)
	if err != nil {
		return "", provider.At(destination, err)
	}
	defer t.discard()
	if err := t.fill(ctx, from); err != nil {
		if failed := new(fs.PathError); errors.As(err, &failed) && (failed.Op == "write" || failed.Op == "truncate") {
			err = provider.At(destination, err)
		}
		return "", err
	}
	now, err := statOfFile(from)
	if err != nil {
		return "", err
	}
	if !torn && !now.sameBytes(s) {
		return "", errOvertaken
	}
	version, err := t.commit(ctx)
	return version, provider.At(destination, err)
}

// fill copies the bytes of a file to t, which gets the same holes.
//
// io.CopyN lets the kernel copy between two files, which shares their blocks on some file
// systems, but may fill a hole with zeros. So each run of data is copied by itself, and the
// file is lengthened over the holes.
func (t *tempFile) fill(ctx context.Context, from *os.File) error {
	t.exact = true
	for at := int64(0); at < math.MaxInt64; {
		start, end, err := nextData(from, at)
		if err == nil {
			err = t.fillPart(ctx, from, start, end)
		}
		if err != nil {
			return err
		}
		at = end
	}
	return nil
}

// fillPart copies the bytes between two offsets, or as many as there are: copy finds out
// afterwards whether the source has changed. What t does not have before start is a hole.
func (t *tempFile) fillPart(ctx context.Context, from *os.File, start, end int64) error {
	if start > 0 {
		if err := t.file.Truncate(start); err != nil {
			return err
		}
	}
	for _, file := range []*os.File{from, t.file} {
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return err
		}
	}
	for at := start; at < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.CopyN(t.file, from, min(copyChunk, end-at))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// copyChunk is how much is copied between two looks at the context.
const copyChunk = 8 << 20

// nextData returns where the next bytes of file at or after the offset at begin
// and end that are not in a hole: after the last hole, from the size of the file
// to wherever it ends, as a file in /proc has bytes after its size. A file
// system that does not tell where holes are has one run of bytes.
//
// A file of 10 MiB with 1 MiB at 4 MiB has the data from 4 to 5 MiB, and then
// that from 10 MiB on, which is none.
func nextData(file *os.File, at int64) (start, end int64, err error) {
	if runtime.GOOS != "linux" {
		return at, math.MaxInt64, nil
	}
	start, err = file.Seek(at, seekData)
	if errors.Is(err, syscall.ENXIO) {
		start, err = file.Seek(0, io.SeekEnd)
		return start, math.MaxInt64, err
	}
	if err == nil {
		end, err = file.Seek(start, seekHole)
	}
	if err != nil || start < at || end <= start {
		return at, math.MaxInt64, nil
	}
	return start, end, nil
}

// The whence of a Seek to the next data or hole on Linux.
const (
	seekData = 3
	seekHole = 4
)
