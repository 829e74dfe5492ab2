package workspace

// Capabilities are the facts about a [FileSystem] that its methods alone do
// not show. The zero value means none of them. What is declared works; what is
// not declared is refused with [errors.ErrUnsupported].
type Capabilities struct {
	// Write says that WriteFile, Mkdir, Rm and [Create] can succeed at all.
	// Without it they fail with [io/fs.ErrPermission].
	Write bool `json:"write"`
	// Versions says that FileInfo.Version of a file is never empty.
	Versions bool `json:"versions"`
	// ConditionalWrite says that the conditions of [WriteOptions] are
	// supported, atomically, against every writer of the store that uses them.
	ConditionalWrite bool `json:"conditionalWrite"`
	// Watch says whether Watch is supported, and how.
	Watch WatchMode `json:"watch"`
	// Move says that [Move] is supported.
	Move bool `json:"move"`
	// Copy says that the FileSystem copies by itself. Without it [Copy] still
	// works, through the caller, if ConditionalWrite is set.
	Copy bool `json:"copy"`
}

// Capable is implemented by a [FileSystem] that has capabilities.
type Capable interface {
	// Capabilities returns the same value for the life of the FileSystem, with
	// one exception: a FileSystem that starts at its first use may improve Watch
	// from polled to native.
	Capabilities() Capabilities
}

// CapabilitiesOf returns what fsys declares, the zero Capabilities if it
// declares nothing.
func CapabilitiesOf(fsys FileSystem) Capabilities {
	if capable, ok := As[Capable](fsys); ok {
		return capable.Capabilities()
	}
	return Capabilities{}
}
