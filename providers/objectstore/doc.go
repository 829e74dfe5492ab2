// Package objectstore holds a workspace in a bucket of an S3 store: AWS,
// Cloudflare R2, MinIO, Ceph, and others with the same interface. Any number of
// processes can share it.
//
// # How files are kept
//
// The file "a/b" is the object with the key Prefix + "a/b", and its content is
// the object's. A directory exists if an object lies below it, or if it has a
// marker: an empty object whose key ends in a slash, as other tools make them.
// A marker is made by Mkdir, and before the last file of a directory is
// removed; it is not an entry of any listing.
//
// A control character (U+0001 to U+001F) in a name is "%" and two upper-case
// hexadecimal digits in the key, because stores refuse it or cannot list it. A
// "%" in a name stays as it is unless it would read as such an escape; then it
// is "%25". U+FFFE and U+FFFF, which XML cannot spell, are U+FFFD, U+10FFFF and
// an "E" or "F"; a name with the first two of these has a "0" after them in its
// key.
//
// # Keys that other programs made
//
// A key that is not that of a valid name (an empty, "." or ".." element, an
// element of more than 255 bytes, a control character that is not escaped) is
// not seen and cannot be named. The directory that it lies in exists, has no
// such entry, and is not empty for Rm; a recursive Rm of the directory removes
// it. A marker may have content, which is ignored.
//
// A key "a" beside keys that begin with "a/" is a file and the directory of the
// others at once: Stat and Ls of its parent show the file, everything below is
// found by Walk, by Grep and by a Glob that begins with "**" and can be used by
// its name, and Rm removes the file alone.
//
// # Guarantees between processes
//
// Conditions of a write are conditions of the request (If-Match and
// If-None-Match), so they hold against everyone. Names are not: a store knows
// no directories, so two processes that make, within the time that FolderTTL
// names, a file and a directory of the same name get both.
//
// Rm of a file and a write to it at the same moment may happen in either order.
package objectstore
