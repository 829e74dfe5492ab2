package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// settings are the options of a workspace in memory, as a file has them.
type settings struct {
	Seed string `json:"seed,omitempty" jsonschema:"A folder whose files, at most 256 MiB and 100,000, are copied at the start. A relative path starts at the folder of this file."`
}

// Kind describes workspaces in memory to package config. A reference to one carries its files,
// as another process has no other way to reach them.
func Kind() kind.Kind {
	return kind.Kind{
		Summary:  "Files in memory, until the program ends.",
		Options:  settings{},
		Open:     openKind,
		Check:    checkKind,
		Grants:   grantsOfKind,
		CanRun:   func(kind.Input) bool { return false },
		Discards: func(kind.Input) bool { return true },
		Scheme:   "mem",
		ParseURL: parseURL,
		About:    about,
		Ref: func(ctx context.Context, fsys workspace.FileSystem, _ kind.Input) (any, error) {
			return takeSnapshot(ctx, fsys)
		},
		Resolve: restoreKind,
	}
}

// openKind opens a workspace in memory for package config, with the files of
// the seed if there is one.
func openKind(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	m := New(nil)
	if o.Seed == "" {
		return m, nil
	}
	if err := seed(ctx, m, in.Path(o.Seed)); err != nil {
		return nil, kind.KeyError("seed", err)
	}
	return m, nil
}

// checkKind returns what is wrong with the options of a file.
func checkKind(in kind.Input) error {
	var o settings
	if err := in.Decode(&o); err != nil {
		return err
	}
	if err := ops.CheckHostPath(o.Seed); err != nil {
		return kind.KeyError("seed", err)
	}
	return nil
}

// grantsOfKind says what a configuration file needs trust for: a seed outside
// its own folder.
func grantsOfKind(in kind.Input) ([]string, error) {
	var o settings
	if err := in.Decode(&o); err != nil || o.Seed == "" || in.Inside(o.Seed) {
		return nil, err
	}
	return []string{"the files of the folder " + in.Path(o.Seed)}, nil
}

// parseURL returns the options of a URL, which has none.
func parseURL(text string) (any, error) {
	if text != "mem://" {
		return nil, errors.New("expected mem:// and nothing after it")
	}
	return settings{}, nil
}

// restoreKind opens the files that a reference carries.
func restoreKind(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
	var taken snapshot
	if err := in.Decode(&taken); err != nil {
		return nil, err
	}
	m := New(nil)
	return m, taken.restore(ctx, m)
}

// about says what the workspace runs on.
func about(context.Context, workspace.FileSystem, kind.Input) (string, error) {
	return "the memory of this process", nil
}

// The most that a workspace in memory begins with, and that a reference to one
// keeps.
const (
	maxSeedBytes = 256 << 20
	maxSeedFiles = 100_000
)

// seed copies all files of the folder into fsys. A symlink is followed, unless
// it leads out of the folder or to a directory, which is an error.
//
// Folders are read through an [os.Root], so that a symlink that somebody swaps in meanwhile
// does not let in files from elsewhere. FIFOs, devices and the like are [fs.ErrInvalid]. What
// has been copied before an error stays in fsys.
func seed(ctx context.Context, fsys workspace.FileSystem, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return folderError(folder, err)
	}
	defer root.Close()
	var b bound
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return seedError(root, name, err)
		case ops.CheckName(name) != nil:
			return ops.Error(ops.Open, name, ops.CheckName(name), ops.Remedy("rename it in the folder"))
		case entry.IsDir():
			return fsys.Mkdir(ctx, name, &workspace.MkdirOptions{Recursive: true})
		}
		info, err := root.Stat(name)
		switch {
		case err != nil:
			return seedError(root, name, err)
		case info.IsDir():
			return seedError(root, name, workspace.ErrIsDir)
		case !info.Mode().IsRegular():
			return seedError(root, name, fs.ErrInvalid)
		}
		if err := b.add(info.Size()); err != nil {
			return ops.Error(ops.Open, name, err, nil)
		}
		data, err := root.ReadFile(name)
		if err != nil {
			return seedError(root, name, err)
		}
		_, err = fsys.WriteFile(ctx, name, data, nil)
		return err
	})
}

// folderError returns the error of [os.OpenRoot] for the folder. It has no kind for a file.
func folderError(folder string, err error) error {
	kind, remedy := kindOf(withoutPath(err)), ops.Remedy("create the folder first, or correct its path")
	if info, statErr := os.Stat(folder); statErr == nil && !info.IsDir() {
		kind, remedy = workspace.ErrNotDir, "name the folder that holds the file"
	}
	return ops.Error(ops.Open, folder, kind, remedy)
}

// seedError returns err, about name in root, without the path of the folder. Package os has no
// exported error for a symlink that leads out, so it is provoked and compared.
func seedError(root *os.Root, name string, err error) error {
	cause := withoutPath(err)
	if _, leadsOut := root.Lstat(".."); cause == withoutPath(leadsOut) {
		cause = workspace.ErrEscape
	}
	var remedy error
	if info, err := root.Lstat(name); err == nil {
		switch info.Mode().Type() {
		case 0, fs.ModeDir:
		case fs.ModeSymlink:
			remedy = ops.Remedy("let the symlink lead to a file in the folder")
		default:
			remedy = ops.Remedy("it is not a regular file: remove it from the folder")
		}
	}
	return ops.Error(ops.Open, name, kindOf(cause), remedy)
}

// kindOf returns the kind of an error of the operating system, or err itself.
func kindOf(err error) error {
	for _, kind := range []error{fs.ErrNotExist, fs.ErrPermission} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

// withoutPath returns the cause of a [*fs.PathError], so that the text does
// not name a path of this computer.
func withoutPath(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// bound counts what is held in memory.
type bound struct {
	files int
	bytes int64
}

// add counts a file.
//
// # Errors
//
// [workspace.ErrTooLarge] if that is more than may be held.
func (b *bound) add(size int64) error {
	b.files++
	b.bytes += size
	if b.files > maxSeedFiles || b.bytes > maxSeedBytes {
		return fmt.Errorf("%w: it has more than %d files or %d MiB, which are not held in memory",
			workspace.ErrTooLarge, maxSeedFiles, maxSeedBytes>>20)
	}
	return nil
}

// snapshot is the content of a workspace.
type snapshot struct {
	Dirs  []string          `json:"dirs"`  // all, so that empty ones are kept
	Files map[string][]byte `json:"files"` // in JSON as base64
}

// takeSnapshot returns everything in fsys. What changes during the call may be in it or not, a
// file as a whole. What is larger than a seed may be is [workspace.ErrTooLarge].
func takeSnapshot(ctx context.Context, fsys workspace.FileSystem) (snapshot, error) {
	taken := snapshot{Dirs: []string{}, Files: map[string][]byte{}}
	var b bound
	err := workspace.Walk(ctx, fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case info.IsDir():
			taken.Dirs = append(taken.Dirs, info.Path)
			return nil
		}
		data, err := fsys.ReadFile(ctx, info.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile
		case err != nil:
			return err
		}
		taken.Files[info.Path] = data
		return b.add(int64(len(data)))
	})
	return taken, err
}

// restore copies all that is in s into fsys. A snapshot is input: fsys checks the names in it.
func (s snapshot) restore(ctx context.Context, fsys workspace.FileSystem) error {
	for _, dir := range s.Dirs {
		if err := fsys.Mkdir(ctx, dir, &workspace.MkdirOptions{Recursive: true}); err != nil {
			return err
		}
	}
	for name, data := range s.Files {
		if _, err := fsys.WriteFile(ctx, name, data, nil); err != nil {
			return err
		}
	}
	return nil
}
