package workspace

// Capabilities are the facts about a [FileSystem] that its methods alone do
// not show. The zero value means none of them. What is declared is supported,
// though a policy may refuse a call; CA2 to CA8 of docs/contract.md say how what is
// not declared is refused.
type Capabilities struct {
	// Write says that WriteFile, Mkdir, Rm and [Create] can succeed at all.
	// Without it they fail with [io/fs.ErrPermission].
	Write bool `json:"write"`
	// Versions says that FileInfo.Version of a file is never empty.
	Versions bool `json:"versions"`
	// ConditionalWrite says that the conditions of [WriteOptions] are
	// supported, atomically, against every writer of the store that uses them; for a
	// folder on Windows, see docs/platforms.md.
	ConditionalWrite bool `json:"conditionalWrite"`
	// Watch says whether Watch is supported, and how.
	Watch WatchMode `json:"watch"`
	// Move says that [Move] is supported.
	Move bool `json:"move"`
	// Copy says that the FileSystem has a [Copier] that works, perhaps through the
	// caller. Without it [Copy] still works, through the caller, if Write and
	// ConditionalWrite are set.
	Copy bool `json:"copy"`
	// Run says that [Runner] is supported: the files are on a machine, and commands
	// can be run there.
	Run bool `json:"run"`
}

// CapabilitiesOf returns what fsys declares (see the Capable of package fallback), the
// zero Capabilities if it declares nothing.
func CapabilitiesOf(fsys FileSystem) Capabilities {
	if capable, ok := As[interface{ Capabilities() Capabilities }](fsys); ok {
		return capable.Capabilities()
	}
	return Capabilities{}
}
