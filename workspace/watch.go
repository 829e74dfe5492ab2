package workspace

import (
	"time"
)

// WatchOptions tune a [FileSystem].Watch.
type WatchOptions struct {
	// Buffer is how many events wait for a slow reader before they are
	// replaced by one [EventOverflow]. Zero means 1,024.
	Buffer int
	// Interval is the time between two polls, where the provider has to poll.
	// Zero means the provider's default. Changes that the store reports arrive
	// at once.
	Interval time.Duration
}

// Event is one change that a [FileSystem].Watch reports.
//
// Every file and directory whose name appears, disappears, or (files only)
// whose bytes change has at least one event. Several changes of one file may
// be reported as one, and one change more than once. A move is a remove and a
// create. Removing or moving a directory reports it and everything below it. A
// change that is undone before the provider polls may go unreported.
type Event struct {
	Op   EventOp `json:"op"`   // what happened
	Path string  `json:"path"` // from the root; the watched directory for EventOverflow
}

// EventOp says what happened.
type EventOp string

// What an [Event] can report.
const (
	EventCreate   EventOp = "create"   // the name exists now and did not before
	EventWrite    EventOp = "write"    // the file has new bytes
	EventRemove   EventOp = "remove"   // the name no longer exists
	EventOverflow EventOp = "overflow" // events were lost: list the whole directory again
)

// WatchMode says how a provider detects changes.
type WatchMode string

// The ways to watch.
const (
	WatchNone   WatchMode = ""       // Watch is not supported
	WatchNative WatchMode = "native" // the store reports changes
	WatchPolled WatchMode = "polled" // the provider polls at every interval
)
