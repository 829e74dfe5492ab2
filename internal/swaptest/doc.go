// Package swaptest tests that policies hold while files and directories are
// swapped for symlinks to what the policies deny: by moves through the policy
// itself, and by another process that exchanges names as fast as it can.
package swaptest
