package workspace

// GlobOptions narrow a [FileSystem].Glob.
//
// # Dialect
//
// Every provider has the dialect of github.com/bmatcuk/doublestar: "*" is any
// characters but "/", "**" as a whole element any number of elements, "?" one
// character, "[a-z]" and "[^a-z]" or "[!a-z]" are classes, "{a,b}" are
// alternatives, "\" escapes. Where doublestar's own functions differ
// from one another, a class does not match "/", and a pattern with braces
// matches what any of its expansions matches. A pattern that cannot match,
// because an element of it, or of an expansion, is empty or ".", is malformed.
type GlobOptions struct {
	// Dir is the directory that pattern is relative to. Empty means the root.
	// If it is a symlink to a directory it is followed.
	Dir string
	// Limit is the most paths to return: the first ones in order. Zero means
	// all of them.
	Limit int
	// After leaves out every path that is not bytewise greater than it: the
	// last path of the page before. Empty means from the start.
	After string
	// Gitignore leaves out ".git" and what the ".gitignore" files in Dir and
	// below it, and in the directories above it up to the root, exclude;
	// see https://git-scm.com/docs/gitignore. A Dir that is itself excluded is
	// searched all the same.
	Gitignore bool
}
