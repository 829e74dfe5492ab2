// Package command has the programs of the shell: a table of functions. Each reads its
// arguments and streams, and returns an exit status, as GNU's program of the same name
// does. Files are those of workspaces, through [Files]. Nothing in this package reads the
// host.
package command
