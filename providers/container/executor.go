package container

import "io"

// Executor starts processes where the files are. [Command] is the one that
// most programs need; an implementation of one's own can speak to an engine in
// another way.
type Executor interface {
	// Start starts the program args[0] with the other arguments.
	Start(args ...string) (Process, error)
}

// Process is a program that runs where the files are. Read, Write and the
// other methods may be called at the same time.
type Process interface {
	io.Reader // its standard output; [io.EOF] when it has ended
	io.Writer // its standard input
	// Close closes its standard input, gives it a moment to end, and ends it
	// if it does not. It returns how it ended; an error with a method
	// ExitCode() int tells its exit status.
	Close() error
	// Kill ends it at once, and with it every Read and Write.
	Kill()
	// Complaint returns the last that it wrote to its standard error. It is
	// called after Close or Kill.
	Complaint() string
}

// Command is an [Executor] by a command line, of which what is to be started
// becomes the last arguments: Command{"docker", "exec", "-i", "name"} starts
// "sh" as "docker exec -i name sh". Anything that leads to a POSIX shell will
// do, such as Command{"ssh", "host"}. The empty Command is this computer.
type Command []string

var _ Executor = Command(nil)
