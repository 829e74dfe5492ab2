// Package localbash makes a folder of this computer a workspace.
//
// # Confinement
//
// Nothing outside the folder is read or written, whatever names and symlinks a
// model comes up with. Names are resolved by the kernel below the folder
// (openat2 with RESOLVE_BENEATH on Linux) or by [os.Root]; a folder that is
// swapped for a symlink in the middle of a call cannot lead it astray. A
// relative symlink that stays inside the folder is followed, up to 40 of them in
// one name, as on Linux. Every absolute symlink is refused with
// [workspace.ErrEscape], even one that points back into the folder, and so is a
// relative one that climbs out of it. Device files and mounts inside the folder
// are part of it. [Options].Relaxed gives this up.
//
// # Writes
//
// A write goes to a temporary file in the folder of its target (or the nearest
// one above it that exists), and takes the target's name when it is complete. So
// the caller needs the right to write to that folder; a file that the caller
// could not write to is not replaced either.
// Permission bits are kept; hard links, access lists and extended attributes of
// the replaced file are not.
//
// Names that begin with ".workspacekit-tmp-" are reserved for these files: they
// are hidden, and naming one is [io/fs.ErrInvalid]. A process that is killed can
// leave one behind. It stays locked while its writer lives. After that, an [FS]
// that has listed the folder (in any way) removes it with its next change there;
// listing alone deletes nothing, so a workspace that is only read stays as it is.
//
// # Versions and conditions
//
// A version is made of a file's inode, size and times. Every write sets a
// modification time of its own, so that no two contents share one even if the
// clock of the file system is coarse. A program that rewrites a file in place
// with as many bytes is noticed by the file's times: on Linux before 6.13 only
// if a tick of the kernel's clock (up to 10 ms) lies between that and the look
// before.
//
// Changes lock the folder that they happen in, for a moment and with a hidden
// file of their own, so that the conditions of [workspace.WriteOptions] hold
// against every writer of this package, in this process or another. Locks of
// other programs make no difference. A change that cannot lock the folder
// within ten seconds is [workspace.ErrUnavailable]. On a file system or an
// operating system without flock (Windows) conditions hold against the users of
// the same [FS] only.
//
// # Names
//
// A file whose name is no valid name of the contract (bytes that are not
// UTF-8) cannot be named, and is not listed.
package localbash
