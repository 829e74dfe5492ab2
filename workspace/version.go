package workspace

// Version stands for the bytes of a file at one moment. It is opaque: compare
// it for equality, with versions of the same file in the same workspace only.
// It changes when the bytes change, with the exceptions in docs/rough-edges.md, and
// may change when they do not. The empty Version stands for nothing.
type Version string
