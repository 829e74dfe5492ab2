// Package command runs programs below a folder of this computer, and leaves none of
// them behind.
//
// A [Runner] starts a program by a short script of /bin/sh, the gate, which sets the
// limits and the environment, looks the program up, closes every descriptor but the
// standard ones, and becomes the program. What the script says is in memory, so that no
// list of processes shows it.
//
// In the sandbox, bubblewrap starts the gate in namespaces of its own: it sees the
// directories of the system read-only, the folder, and a home directory that lasts as long
// as the Runner; it has no network, no capabilities, and processes that end with their
// first one. The folder is bound by its descriptor and not by its path. The gate closes
// that descriptor before anything of the caller's runs, and does not begin until this
// process has compared what is mounted with what was asked for. There the program is a child
// of the gate, which reports how it ended: bubblewrap makes one number of exit codes and signals.
//
// Without a sandbox the gate is a session of its own. The processes that it leaves are found
// by that session, and in others by a variable of their environment, the mark.
//
// Three things end the processes of a Runner whose own process is killed: the kernel kills
// the first process of each command (PR_SET_PDEATHSIG), with it those of its namespace,
// and the keeper, a shell that waits for the end of a pipe, kills those with the mark. The
// keeper removes the home directory, too.
package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Settings are the settings of a [Runner]. The zero value is useful.
type Settings struct {
	Sandbox   string            // Try, Require or Off; empty means Try
	Network   bool              // programs in the sandbox have the network
	Env       map[string]string // added to the environment of every program
	Readable  []string          // absolute paths that programs in the sandbox can read, too
	Processes int               // of the user at a time; 0 means 4096, as of the other limits a negative number means none
	OpenFiles int               // of each process; 0 means 4096
	Memory    int64             // bytes that each process may allocate, but for shared memory; 0 means 4 GiB
	FileSize  int64             // bytes of a file that is written; 0 means 4 GiB
	CPU       time.Duration     // of each process; 0 means an hour
}

// The values of [Settings].Sandbox.
const (
	Try     = "try"     // a sandbox where there is one
	Require = "require" // no command without a sandbox
	Off     = "off"     // no sandbox
)

// Command is a program that is run once. The caller closes the files.
type Command struct {
	Args   []string
	Env    map[string]string
	Root   *os.File // the folder
	Dir    *os.File // where the command begins
	Name   string   // of Dir below the folder
	Frozen []Frozen // what the sandbox keeps from being changed, parents before children

	Stdin          io.Reader // nil means nothing
	Stdout, Stderr io.Writer // nil means that it is discarded
}

// Frozen is a file or directory below the folder that programs in the sandbox cannot
// change. No element of its name is a symlink.
type Frozen struct {
	Name   string
	Info   fs.FileInfo // what has the name; if that has changed, nothing is started
	Parent bool        // it is a directory that can be changed, but not be renamed
}

// Result says how a program ended.
type Result struct {
	ExitCode int    // -1 if a signal ended it
	Signal   string // its name, such as "KILL"
}

// The errors of a program that was not started.
var (
	ErrMissing   = errors.New("no such program")
	ErrDenied    = errors.New("the program cannot be executed")
	ErrTooLong   = errors.New("the arguments and variables are longer than the system takes")
	ErrBarred    = errors.New("the directory cannot be entered in the sandbox")
	ErrTooDeep   = errors.New("the path of the directory is longer than the sandbox takes")
	ErrNoSandbox = errors.New("there is no sandbox")
	ErrNoBwrap   = errors.New("bubblewrap (bwrap) is not installed") // why there is no sandbox
	ErrReadable  = errors.New("the sandbox cannot have the readable paths")
	ErrFailed    = errors.New("the program could not be started")
	ErrScratch   = errors.New("the directory of temporary files is in the folder: name another one in TMPDIR")
	ErrTemp      = errors.New("the directory of temporary files cannot be used: name another one in TMPDIR")
	ErrSwapped   = errors.New("files were replaced while the sandbox was made")
	ErrRemain    = errors.New("processes of the command could not be ended in time")
)

// basePath is the PATH where that of this process has nothing to offer.
const basePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// isBelow reports whether path is root or below it.
func isBelow(root, path string) bool {
	rest, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rest)
}
