package dirwatch

// Event is one entry of a [Queue].
type Event struct {
	Watch  ID
	Change Change
	Name   string // in the directory; empty for the directory itself
	Dir    bool   // what has the name is a directory
	Cookie uint32 // the same for both ends of a rename; zero for all else
}

// Change says what happened to the name of an [Event].
type Change int

const (
	Gained     Change = iota // something got the name
	MovedAway                // something was renamed, to somewhere else
	Removed                  // something lost the name
	Modified                 // the bytes of what has the name changed
	Attributes               // the rights to what has the name changed, or other attributes
	Unwatched                // the watch ended: the directory was removed, or its file system unmounted
	Overflowed               // events were lost, of any watch
)
