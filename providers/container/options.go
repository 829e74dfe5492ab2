package container

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// Options say which container the files are in. Exactly one of Container,
// Image and Executor is set.
type Options struct {
	// Container is the name or the number of a running container.
	Container string
	// Image makes a new container of this image, which Close removes.
	Image string
	// Executor reaches the files in another way: a pod in Kubernetes, a
	// machine behind ssh, an engine of one's own.
	Executor Executor

	// Engine is the command line of the engine's client, such as "podman", or
	// "docker", "--context", "remote". Empty means "docker". The client's own
	// environment and configuration apply: hosts, contexts, credentials.
	Engine []string
	// User is the user that the shells run as, as the engine takes it. Empty
	// means that of the container. It cannot be set with Executor.
	User string
	// Root is the absolute path of the directory that is the workspace. Empty
	// means the directory in which the container starts programs.
	Root string
	// Shells is how many requests are made at a time, each by a shell that is
	// kept open. Zero means [DefaultShells].
	Shells int

	// Timeout is how long the engine's client, or a program in the container,
	// may take without a sign of life while a call waits for it. A longer search
	// that finds nothing and a longer copy of a file fail with
	// [workspace.ErrUnavailable], too. Zero means [DefaultTimeout], a negative
	// value no limit but the caller's context.
	Timeout time.Duration

	// Lazy says that Open starts nothing: it checks the options alone, and the
	// first call makes the container and opens a shell. Set Root, too, if a
	// [workspace.Workspace] is to know the files by their absolute paths.
	Lazy bool

	// Create has the settings of a container that is made of Image.
	Create CreateOptions
}

// CreateOptions are the settings of a new container.
type CreateOptions struct {
	// Name is its name. Empty means one made at random that begins with
	// "workspacekit-".
	Name string
	// Workdir is the directory in which it starts programs, made if it is
	// missing. Empty means that of the image.
	Workdir string
	// Keep lets Close leave it running, to be opened again by its name.
	Keep bool
	// Network is the network that it is part of. Empty means "none": it has
	// no network at all.
	Network string
	// Memory is the most memory that it may use, as the engine takes it, such
	// as "512m". Empty means no limit.
	Memory string
	// CPUs is how many processors it may use, such as 1.5. Zero means no
	// limit.
	CPUs float64
	// PIDs is the most processes that it may have. Zero means no limit of its
	// own.
	PIDs int
}

// DefaultShells is how many requests are made at a time if the options do not
// say.
const DefaultShells = 4

// DefaultTimeout is how long the engine and the container may be silent if the
// options do not say.
const DefaultTimeout = 10 * time.Minute

// timeout returns the time of the options, zero for no limit.
func (o *Options) timeout() time.Duration {
	if o.Timeout == 0 {
		return DefaultTimeout
	}
	return max(o.Timeout, 0)
}

// check returns what is wrong with the options.
func (o *Options) check() error {
	ways := 0
	for _, set := range []bool{o.Container != "", o.Image != "", o.Executor != nil} {
		if set {
			ways++
		}
	}
	switch {
	case ways != 1:
		return o.invalid("exactly one of Container, Image and Executor must be set")
	case strings.HasPrefix(o.Container, "-"), strings.HasPrefix(o.Image, "-"):
		return o.invalid(`a name that begins with "-" would be taken for an option`)
	case o.Root != "" && !strings.HasPrefix(o.Root, "/"):
		return o.invalid("Root is not an absolute path")
	case strings.ContainsRune(o.Root, 0):
		return o.invalid("Root has a NUL byte")
	case o.Shells < 0, o.Create.CPUs < 0, o.Create.PIDs < 0:
		return o.invalid("Shells, CPUs and PIDs cannot be negative")
	case o.Executor != nil && (o.User != "" || len(o.Engine) > 0):
		return o.invalid("User and Engine mean nothing to an Executor")
	case o.Image == "" && o.Create != CreateOptions{}:
		return o.invalid("Create means nothing without Image")
	}
	return nil
}

func (o *Options) invalid(why string) error {
	return workspace.NewPathError(workspace.OpOpen, o.name(), fs.ErrInvalid, errors.New(why))
}

// name is what errors call the container.
func (o *Options) name() string {
	for _, name := range []string{o.Container, o.Image, o.Root} {
		if name != "" {
			return name
		}
	}
	return "."
}

// engine returns the command line of the engine's client.
func (o *Options) engine() []string {
	if len(o.Engine) == 0 {
		return []string{"docker"}
	}
	return o.Engine
}
