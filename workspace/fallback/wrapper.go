package fallback

import "github.com/workspacekit/workspacekit/workspace"

// Capable is implemented by a [workspace.FileSystem] that has capabilities:
// [workspace.CapabilitiesOf] returns them.
type Capable interface {
	// Capabilities returns the same value for the life of the FileSystem, with
	// one exception: a FileSystem that starts at its first use may improve Watch
	// from polled to native.
	Capabilities() workspace.Capabilities
}

// Unwrapper is implemented by a neutral wrapper of a [workspace.FileSystem]: one that
// observes or repeats calls (logging, metrics, retry) and does not change their
// meaning. [workspace.As] looks for optional interfaces that it lacks in the
// FileSystem that it wraps. A wrapper that enforces or renames something must not be
// an Unwrapper: it forwards each optional interface itself.
type Unwrapper interface {
	// Unwrap returns the wrapped FileSystem.
	Unwrap() workspace.FileSystem
}
