// Package workspace is the contract of Workspacekit: the file system that an
// AI agent is given, wherever its files live. It is written to be read from
// end to end, and imports the standard library only.
//
// [FileSystem] is the interface that a provider implements: memory, a local
// folder, a bucket, a container. Package conformance proves that one does.
//
// [Workspace] is the concrete type that programs hold. It gives a FileSystem a
// name, cleans the names that people and models write, applies limits, and has
// the optional operations as methods.
//
// [VersionedReader], [Opener], [Creator], [Mover], [Copier], [Walker],
// [Resolver], [Exacter] and [Rooter] are optional interfaces of one method each. Each has
// a package function that uses it, or falls back, or says
// [errors.ErrUnsupported]; call that function, not the method. A provider
// declares facts in [Capabilities]. A neutral wrapper has an Unwrap method
// ([Unwrapper]); one that enforces something has none, and forwards each
// optional interface itself.
//
// Every error is a [*io/fs.PathError] made by [NewPathError], carries the
// caller's name for the file and never a host path, a key or a credential, and
// has a kind for [errors.Is] and a stable [Code] for the wire.
package workspace
