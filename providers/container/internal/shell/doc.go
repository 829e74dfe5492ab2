// Package shell speaks with POSIX shells that are kept open: one request after
// the other, each a line of shell, each answered by bytes of any kind.
//
// # Protocol
//
// A request is a call of a function that the shell was taught when it was
// opened. Names and other arguments are quoted, so nothing in them is syntax.
// A reply is what the function writes, followed by a frame: a line break, a
// marker, a space, the exit status and a line break. The marker is made at
// random for each request, after whatever the reply can contain was stored, so
// a reply cannot have it in it.
//
// Bytes that a request carries beside its arguments are sent only after the
// function has asked for them, by a frame with "+" in place of the status. By
// then the shell has read the whole line and reads no further, so these bytes
// go to the program that is to have them and to no other.
package shell
