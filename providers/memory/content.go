package memory

import (
	"sync/atomic"

	"github.com/workspacekit/workspacekit/internal/trigram"
)

// content is the bytes of a file, and a summary of them for searches. A write replaces it
// as a whole, so a summary always describes the bytes.
type content struct {
	data     []byte                      // never changed
	searches atomic.Int32                // how many searches had to read data
	summary  atomic.Pointer[trigram.Set] // nil if there is none
}

// A content gets its summary when it has been searched some times. To make a summary takes as
// long as some searches of the content do, so no number of searches takes much more than
// twice as long as without summaries, and many take a fraction. Files of different sizes get
// theirs in different searches, as one search that makes all would take twenty times as long as
// the others.
//
// With the numbers below, a content gets its summary in one of its searches from the 16th to
// the 23rd, by its length.
const (
	summaryAfter = 16 // searches
	summarySteps = 8  // searches that share the work
)
