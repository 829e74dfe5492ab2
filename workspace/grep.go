package workspace

// GrepOptions narrow a [FileSystem].Grep.
type GrepOptions struct {
	// Path is the file or directory to search. Empty means the root. If it is
	// a symlink it is followed. A file that is named here is searched whatever
	// the globs and Gitignore say.
	Path string
	// Literal says that the pattern is plain text.
	Literal bool
	// IgnoreCase matches letters in either case, by Unicode simple folding.
	// A flag in the pattern, such as "(?i)", does the same.
	IgnoreCase bool
	// IncludeGlob searches only the files that it matches: their name if it
	// has no "/", else their path from the root; a "/" in front only anchors
	// it there. Empty means all files. [GlobOptions] describes the dialect.
	IncludeGlob string
	// ExcludeGlob leaves out the files that it matches, in the same way.
	ExcludeGlob string
	// Before and After are how many lines around each match to return. They
	// stop at the ends of the file, and may overlap other matches.
	Before, After int
	// MaxResults is the most matches to return: the first ones in order. Zero
	// means all of them.
	MaxResults int
	// MaxFileSize skips larger files, in bytes, without reading them. Zero
	// means no limit.
	MaxFileSize int64
	// StartAfter continues a search: only matches greater than it, by path and
	// then by line, are returned, and only files greater than its path can be
	// listed as skipped. The zero Position means from the start.
	StartAfter Position
	// Gitignore leaves out ".git" and what the ".gitignore" files exclude, as
	// in [GlobOptions].
	Gitignore bool
}

// Position is a line of a file.
type Position struct {
	Path       string `json:"path"`
	LineNumber int    `json:"lineNumber"` // 1 is the first line
}

// Match is one line that a [FileSystem].Grep found.
type Match struct {
	// Path is the file, from the root.
	Path string `json:"path"`
	// LineNumber counts from 1.
	LineNumber int `json:"lineNumber"`
	// Line is the line without its "\n"; a "\r" before it is part of the line.
	Line string `json:"line"`
	// Before and After are the lines around it, nearest last and nearest
	// first, as many as the options asked for and the file has.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// GrepResult is the result of a [FileSystem].Grep: what it found, and what it did
// not search.
type GrepResult struct {
	// Matches are sorted bytewise by path, then by line.
	Matches []Match `json:"matches"`
	// Truncated says that there is at least one more match than MaxResults.
	Truncated bool `json:"truncated"`
	// Skipped lists the files and directories that were not searched, sorted by
	// path. With Truncated it ends where the search ended.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is a file or a directory that a search left out although the options
// asked for it. A directory stands for everything below it; with
// [SkipInvalidNames], for a part of what is in it.
type Skipped struct {
	Path   string     `json:"path"`
	Reason SkipReason `json:"reason"`
}

// SkipReason says why something was not searched.
type SkipReason string

// The reasons for a [Skipped].
const (
	SkipBinary     SkipReason = "binary"     // a NUL byte in the first 8 KiB
	SkipTooLarge   SkipReason = "too large"  // larger than MaxFileSize
	SkipUnreadable SkipReason = "unreadable" // the store refused to open, read or list it
	// SkipInvalidNames is the reason for a directory with files or directories in
	// it whose paths are not valid names, so that no call can reach them.
	SkipInvalidNames SkipReason = "invalid names"
)
