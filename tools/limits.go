package tools

import "time"

// MaxNameLength is the longest name of a tool. Vendors allow 64 characters,
// and clients put a prefix of their own in front.
const MaxNameLength = 50

// DefaultMaxTools is what a MaxTools of zero in [Options] means: vendors allow 128
// tools, and models choose worse among many.
const DefaultMaxTools = 100

// DefaultTimeout is how long one call may take where [Options] name no time.
const DefaultTimeout = 2 * time.Minute

// DefaultReadCache is how many bytes of files read_file keeps for the next pages
// of them where [Options] name no number: 32 MiB.
const DefaultReadCache = 32 << 20

// settleTime is how long a call waits for a file system to return after its context has
// ended. It is also the time for undoing half of a move by copy, and for a hint of glob.
const settleTime = 5 * time.Second

// The bounds of results and arguments. Descriptions and docs/tools.md take
// them from here.
const (
	wholeBytes = 256 << 20 // bytes of a file that is read whole, where the workspace allows more

	readLines   = 2000     // lines of one read_file
	readBytes   = 32 << 10 // bytes of text of one read_file
	lineChars   = 2000     // characters of a line that read_file shows
	base64Bytes = 48 << 10 // bytes of a file that read_file returns as base64
	copyMax     = 10_000   // entries of a directory that one copy can copy
	copyListed  = 5        // failures, and entries left out, that one copy lists
	filesMax    = 50       // files of one read_files
	columnChars = 8000     // characters of the part of a line that read_file shows
	partBytes   = 3 << 20  // bytes of an image or a document that read_file returns as it is

	lsDefault    = 500    // entries of one ls
	lsMax        = 1000   // entries that one ls can be asked for
	treeDefault  = 200    // entries of one tree
	treeMax      = 1000   // entries that one tree can be asked for
	treeDepth    = 3      // levels of one tree
	treeDepthMax = 10     // levels that one tree can be asked for
	treeScan     = 20_000 // files, and directories, that one tree looks at
	globDefault  = 500    // paths of one glob
	globMax      = 1000   // paths that one glob can be asked for
	grepDefault  = 100    // matches of one grep
	grepMax      = 1000   // matches that one grep can be asked for
	grepContext  = 20     // lines before or after a match
	grepChars    = 500    // characters of a line that grep shows
	grepSkipped  = 20     // skipped files that one grep lists
	grepParts    = 50     // lines, or parts of one, that one match of grep shows
	listBytes    = 32 << 10

	multilineBytes = 16 << 20 // bytes of a file that is searched for matches that span lines

	wholeEntries = 10_000 // entries, paths or matches of a dialect's tool that has no pages

	editsMax = 100 // edits of one edit_file

	editFilesMax   = 1000     // files that the glob of an edit_file matches
	editFilesBytes = 64 << 20 // bytes of the files that it edits, before and after
	editSkipped    = 10       // files that it lists as not edited

	errorChars = 2000 // characters of an error's message or hint
	pathChars  = 500  // characters of a path in an error

	cursorLength = 8 << 10 // bytes of a cursor
)

// facts are what descriptions say about bounds and the workspace. A template names its
// fields: {{.ReadLines}}. Numbers are in the unit that their name ends in; those without one
// are counts.
type facts struct {
	ReadLines, ReadKiB, LineChars, Base64KiB                      int
	LsDefault, LsMax, GlobDefault, GlobMax, GrepDefault, GrepMax  int
	GrepContext, GrepChars, GrepSkipped, ListKiB, Edits, Replaced int
	DiffKiB                                                       int
	MaxFileSize                                                   string // "" for none
	WholeSize, PartSize                                           string // of a file that is read or edited, and of an image
	Appends, CanEdit, CanMove                                     bool   // write_file can append, files can be edited and moved
	Programs, ShellRoot, Scratch                                  string // of the tool bash
	OneRoot, Changes                                              bool   // ShellRoot is one workspace, scripts can change files
}
