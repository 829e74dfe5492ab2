//go:build unix

package localbash

import "golang.org/x/sys/unix"

// readFlags open a file to read it, without waiting for the other end of a
// FIFO.
const readFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY
