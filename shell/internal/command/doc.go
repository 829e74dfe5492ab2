// Package command has the programs of the shell: a table of functions, each of which
// reads its arguments and streams, and returns an exit status, as the program of the
// same name of GNU does. Files are those of workspaces, through [Files]. Nothing in this
// package reads the host.
package command
