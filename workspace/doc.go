// Package workspace is the contract of Workspacekit: the file system that an
// AI agent uses, wherever its files are. It is short enough to be read from end
// to end, and needs the standard library only.
//
//	ws := workspace.New("notes", memory.New(nil), nil)
//	version, err := ws.WriteFile(ctx, "todo.md", []byte("buy milk\n"), nil)
//	result, err := ws.Grep(ctx, "milk|bread", nil)
//
// [FileSystem] is the interface that a provider implements: memory, a local
// folder, a bucket, a container. Package conformance proves that one does.
//
// [Workspace] is the concrete type that programs hold. It gives a FileSystem a
// name, cleans the names that people and models write, applies limits, and has
// the optional operations as methods.
//
// [VersionedReader], [Opener], [Creator], [Mover], [Copier], [Walker],
// [Resolver] and [Exacter] are optional interfaces of one method each. For each
// there is a package function that uses it, or does the same in another way, or
// returns [errors.ErrUnsupported]; call that function, not the method. [Runner]
// is one, too, without a function. A provider declares facts in
// [Capabilities]. A neutral wrapper has an Unwrap method (the Unwrapper of package
// fallback); a wrapper that enforces something has none, and forwards each optional
// interface itself.
//
// Every error of a [FileSystem] is a [*io/fs.PathError]. Its Op is the name of the
// operation as tools spell it ("read_file", "ls"), its Path is the name of the file in
// the workspace, or the pattern at fault. It never shows a host path, a key or a
// credential. What a caller can act on has a kind for [errors.Is].
package workspace
