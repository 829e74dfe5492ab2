// Package webdav serves the files of a workspace over WebDAV (RFC 4918), so that a person
// can open any workspace in a file manager or an editor. The protocol is that of
// golang.org/x/net/webdav.
//
//	listener, err := net.Listen("tcp", "127.0.0.1:8080")
//	err = webdav.Serve(ctx, ws, listener, nil)
//
// [Serve] checks who is let in. [NewHandler] is the handler alone, for a program with a
// server and checks of its own.
//
// # Files
//
// A file is stored when all of it has arrived, and never in part: if the client hangs up,
// or the body is longer than the limit of the workspace, the file is as it was before.
// COPY and MOVE replace a file in the same way. A directory is removed before it is replaced,
// in a transaction (package transaction), so that it is back if the request fails. Where rules
// leave no room for a transaction, or the directory has symlinks or more than 64 MiB, it is
// not replaced. A request that changes a name waits for another one that does, for at most
// five seconds; then it is refused as locked. PUT honours If-Match and If-None-Match against
// other writers in one step if the workspace has conditional writes, and an ETag stands for
// the version of the file.
//
// Symlinks are followed. Those that lead nowhere, or out of the workspace, are not listed,
// nor are sockets and devices. A directory with a symlink to another directory cannot be
// copied.
//
// # Limits
//
// PROPFIND lists a directory and its children, and never a tree (Depth: infinity). Locks
// are kept in memory: at most 1,000, for at most an hour unless refreshed. So are properties
// that clients invent, of at most 1 MiB in all. Both end with the handler, and other
// programs do not see them.
package webdav
