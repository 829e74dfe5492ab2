// Package shown describes what a change would replace, for a person who decides
// whether it takes place. In go a FileSystem that follows no symlinks, a name, and
// for a write the new bytes; out come a diff or a note that a person can read, and a
// fingerprint, which differs whenever what was described differs. An approval holds
// for one fingerprint: who acts on it describes the name again, and compares.
//
// Descriptions are bounded, and so is what they cost: of a directory they have the
// first names, of a large file its version, or its hash where the store has none.
package shown

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
)

// State is what there is at a name.
type State struct {
	// Fingerprint differs whenever what is at the name differs.
	Fingerprint string
	// Exists says that there is something, Absent that there is nothing. Where
	// neither is true, it cannot be found out.
	Exists, Absent bool
	// Version is the version of the file, "" if there is no file, or if the store has
	// none.
	Version workspace.Version
	// Diff is what a write changes.
	Diff string
	// Note is what else there is to know.
	Note string
}

const (
	maxNames  = 10_000 // names below a directory that a fingerprint covers
	maxListed = 20     // names below a directory that a note has
	maxChars  = 1000   // characters of these
)

// Write describes a write of data to name. follow says whether the write follows a
// symlink that is the last element of name.
//
// # Errors
//
// [workspace.ErrSymlink] for a symlink that the operation follows, and the error of
// ctx. Whatever else goes wrong is a part of the description.
func Write(ctx context.Context, fsys workspace.FileSystem, name string, data []byte, follow bool) (State, error) {
	s, info, err := at(ctx, fsys, name, follow)
	if err != nil {
		return s, err
	}
	if s.Exists && info.Type != workspace.TypeFile {
		return s, nil
	}
	var old []byte
	if s.Exists {
		if old, s.Version, err = workspace.ReadVersioned(ctx, fsys, name, unified.MaxRead); err != nil {
			return s.unread(ctx, fsys, name, info, data, err)
		}
		s.Fingerprint = Digest("file", string(old))
	}
	if s.Absent {
		s.Diff, s.Note = unified.Created(name, data)
		s.Note = join("it is a new file", s.Note)
		return s, nil
	}
	s.Diff, s.Note = unified.Change(name, old, data)
	return s, nil
}

// unread completes the description of a file that cannot be read, or is too large
// for a diff, because of err.
func (s State) unread(ctx context.Context, fsys workspace.FileSystem, name string, info workspace.FileInfo, data []byte, err error) (State, error) {
	if fatal(ctx, err) {
		return s, err
	}
	s.Version = info.Version
	s.Note = "no diff: the old content cannot be read"
	if errors.Is(err, workspace.ErrTooLarge) {
		s.Note = fmt.Sprintf("no diff: the old content has %s, and the new one %s", wording.Bytes(info.Size), wording.Bytes(int64(len(data))))
	}
	return s, s.content(ctx, fsys, name)
}

// Tree describes name, which is deleted, moved or copied: with all below it if it is
// a directory and recursive is set.
//
// # Errors
//
// Those of [Write].
func Tree(ctx context.Context, fsys workspace.FileSystem, name string, follow, recursive bool) (State, error) {
	s, info, err := at(ctx, fsys, name, follow)
	switch {
	case err != nil:
		return s, err
	case s.Exists && info.Type == workspace.TypeFile:
		s.Version = info.Version
		s.Note = "a file of " + wording.Bytes(info.Size)
		if s.Version != "" {
			s.Note += ", version " + string(s.Version)
		}
		return s, s.content(ctx, fsys, name)
	case s.Exists && info.IsDir() && recursive:
		return s, s.below(ctx, fsys, name)
	}
	return s, nil
}

// Name describes nothing but what has the name: for an operation that changes
// nothing there.
//
// # Errors
//
// Those of [Write].
func Name(ctx context.Context, fsys workspace.FileSystem, name string, follow bool) (State, error) {
	_, _, err := at(ctx, fsys, name, follow)
	return State{}, err
}

// at returns the description of what has the name, without its content.
func at(ctx context.Context, fsys workspace.FileSystem, name string, follow bool) (State, workspace.FileInfo, error) {
	info, err := fsys.Stat(ctx, name)
	switch {
	case err == nil && follow && info.Type == workspace.TypeSymlink:
		return State{}, info, ops.Error(ops.Stat, name, workspace.ErrSymlink, nil)
	case err == nil:
		return State{Exists: true, Fingerprint: Digest(describe(info)), Note: "there is a " + string(info.Type)}, info, nil
	case fatal(ctx, err):
		return State{}, info, err
	case errors.Is(err, fs.ErrNotExist):
		return State{Absent: true, Fingerprint: "absent", Note: "there is nothing of this name"}, info, nil
	}
	return State{Fingerprint: "unknown", Note: "what there is cannot be found out"}, info, nil
}

// fatal reports whether err is one of those that a description does not have.
func fatal(ctx context.Context, err error) bool {
	return errors.Is(err, workspace.ErrSymlink) || ctx.Err() != nil
}

// content makes the fingerprint that of a file: its version, or the hash of its
// content where the store has none.
func (s *State) content(ctx context.Context, fsys workspace.FileSystem, name string) error {
	if s.Version != "" {
		s.Fingerprint = Digest("version", string(s.Version))
		return nil
	}
	h := sha256.New()
	stream, _, err := workspace.Open(ctx, fsys, name, nil)
	if err == nil {
		_, err = io.Copy(h, stream)
		err = errors.Join(err, stream.Close())
	}
	switch {
	case err == nil:
		s.Fingerprint = Digest("content", string(h.Sum(nil)))
	case fatal(ctx, err):
		return err
	default: // it stays what the size and the time say
		s.Note = join(s.Note, "its content cannot be read")
	}
	return nil
}

// below adds the names below a directory.
func (s *State) below(ctx context.Context, fsys workspace.FileSystem, dir string) error {
	h, n, listed := sha256.New(), 0, []string{}
	err := workspace.Walk(ctx, fsys, dir, nil, func(info workspace.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if n++; n > maxNames {
			return fs.SkipAll
		}
		write(h, describe(info))
		if n <= maxListed {
			listed = append(listed, strings.TrimPrefix(info.Path, dir+"/"))
		}
		return nil
	})
	if err != nil {
		if fatal(ctx, err) {
			return err
		}
		s.Note = "a directory that cannot be listed"
		return nil
	}
	s.Fingerprint = Digest("directory", string(h.Sum(nil)))
	s.Note = "a directory with " + wording.Count(min(n, maxNames), "name", "names") + " below it"
	if n > maxNames {
		s.Note = "a directory with more than " + wording.Thousands(maxNames) + " names below it, and only these are compared"
	}
	if len(listed) > 0 {
		s.Note += ": " + wording.ClipAround(strings.Join(listed, ", "), 0, maxChars)
	}
	if n > maxListed {
		s.Note += ", …"
	}
	return nil
}

// describe returns what a listing says about a name, as one string.
func describe(info workspace.FileInfo) string {
	version := string(info.Version)
	if version == "" {
		version = info.ModTime.UTC().String()
	}
	if info.IsDir() {
		version = "" // which changes with what is in it
	}
	return fmt.Sprintf("%q %s %d %q", info.Path, info.Type, info.Size, version)
}

// Digest returns a hash of parts. No two lists of parts have the same one.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		write(h, part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// write adds a part to a hash, with its length, so that a part cannot look like two.
func write(h hash.Hash, part string) {
	fmt.Fprintf(h, "%d:%s", len(part), part)
}

// join joins two notes.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
