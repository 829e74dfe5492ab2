package shell

import "io"

// Process is a running shell that reads commands, as package container has it.
type Process interface {
	io.Reader
	io.Writer
	Close() error
	Kill()
	Complaint() string
}

// Starter starts a shell.
type Starter func() (Process, error)
