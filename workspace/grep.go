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
	// Multiline applies the pattern to the whole text of a file at a time, so
	// that a match can span lines. "^" and "$" match at the beginning and at the
	// end of each line, "\A" and "\z" only at those of the text, and "." matches
	// no line break without the flag "(?s)". Each match begins on a line after
	// the last line of the match before it.
	Multiline bool
	// FirstOnly returns only the first match of each file.
	FirstOnly bool
	// Count returns only the first match of each file, and in its Count how many
	// matches the file has.
	Count bool
	// IncludeGlob searches only the files that it matches: their name if it
	// has no "/", else their path from Path; a "/" at either end only anchors it
	// there. Empty means all files. [GlobOptions] describes the dialect.
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
	Path       string `json:"path"`       // from the root
	LineNumber int    `json:"lineNumber"` // 1 is the first line
}

// Match is one line that a [FileSystem].Grep found, or with Multiline the lines of
// one match.
type Match struct {
	// Path is the file, from the root.
	Path string `json:"path"`
	// LineNumber counts from 1. It is the first line of a match that spans lines.
	LineNumber int `json:"lineNumber"`
	// LastLine is the last line of a match that spans lines, and otherwise 0.
	LastLine int `json:"lastLine,omitempty"`
	// Line is the line without its "\n"; a "\r" before it is part of the line.
	// Of a match that spans lines it is all of them, with each "\n" between them.
	Line string `json:"line"`
	// Count is how many matches the file has, if the options ask for it, and
	// otherwise 0.
	Count int `json:"count,omitempty"`
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
	// Searched is how many files were searched, those in Skipped not included.
	// With Truncated it is 0.
	Searched int `json:"searched"`
	// Skipped lists the files and directories that were not searched, sorted by
	// path. With Truncated it ends where the search ended.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is a file or a directory that a search left out although the options
// asked for it. A directory stands for everything below it; with
// [SkipInvalidNames], for a part of what is in it.
type Skipped struct {
	Path   string     `json:"path"`   // from the root
	Reason SkipReason `json:"reason"` // why it was left out
}

// SkipReason says why something was not searched.
type SkipReason string

// The reasons for a [Skipped]. Package policy has another.
const (
	SkipBinary     SkipReason = "binary"     // a NUL byte in the first 8 KiB
	SkipTooLarge   SkipReason = "too large"  // larger than MaxFileSize
	SkipUnreadable SkipReason = "unreadable" // the store refused to open, read or list it
	// SkipInvalidNames is the reason for a directory with files or directories in
	// it whose paths are not valid names, so that no call can reach them.
	SkipInvalidNames SkipReason = "invalid names"
)
