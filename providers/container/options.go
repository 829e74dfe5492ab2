package container

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
)

// Options say which container the files are in. Exactly one of Container,
// Image and Executor is set.
type Options struct {
	// Container is the name or the number of a running container.
	Container string
	// Image creates a new container from this image, which Close removes unless
	// Create says Keep.
	Image string
	// Executor reaches the files in another way: a pod in Kubernetes, a
	// machine behind ssh, an engine of your own.
	Executor Executor

	// Engine is the command line of the engine's client, such as "podman", or
	// "docker", "--context", "remote". Empty means "docker". The client's own
	// environment and configuration apply: hosts, contexts, credentials.
	Engine []string
	// User is the user that the shells run as, as the engine takes it. Empty
	// means the user of the container. It cannot be set with Executor.
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
	// first call makes the container and opens a shell.
	Lazy bool

	// Create has the settings of a container that is created from Image.
	Create CreateOptions
}

// CreateOptions are the settings of a new container.
type CreateOptions struct {
	// Name is its name. Empty means a random one that begins with
	// "workspacekit-".
	Name string
	// Workdir is the directory in which it starts programs. If it is missing it
	// is created, and if it is empty and not mounted it is given to the user that
	// the shells run as. Empty means the one of the image.
	Workdir string
	// Keep lets Close leave it running. If there is a container with this Name
	// that was created with the same options to be kept, it is used again. One
	// with a Name also stays if Open fails once it runs.
	// Without Keep the container ends when this process does, however that
	// happens.
	Keep bool
	// Network is the network that it is part of. Empty means "none": it has
	// no network at all.
	Network string
	// Memory is the most memory that it may use, as the engine takes it, such
	// as "512m". Empty means [DefaultMemory], and [Unlimited] no limit.
	Memory string
	// CPUs is how many processors it may use, such as 1.5. Zero means no
	// limit.
	CPUs float64
	// PIDs is the most processes and threads that it may have, at least 16. Zero means
	// [DefaultPIDs], and a negative number no limit.
	PIDs int

	// Mounts are folders and files of the computer that the engine runs on,
	// which the container sees.
	Mounts []Mount
	// ReadOnlyRoot lets nothing be changed but what is in a writable mount, in
	// Tmpfs, in a volume of the image and in /dev, and with Podman in /tmp, /var/tmp
	// and /run.
	ReadOnlyRoot bool
	// Tmpfs are the absolute paths of directories whose files are kept in
	// memory, within its limit, and deleted with the container. A Workdir below
	// one becomes another. Nil means
	// none, and with ReadOnlyRoot /tmp, /var/tmp, /run, and Workdir if no mount
	// holds it.
	Tmpfs []string
	// Env are variables of the environment of its programs. Who may use the
	// engine can read them, and other users of this computer while it is created.
	Env map[string]string
	// DropCapabilities are the capabilities that its programs do not have, such
	// as "NET_RAW"; "ALL" means each. Nil means all. An empty list means those
	// alone that the engine never gives.
	DropCapabilities []string
	// AllowNewPrivileges lets its programs gain privileges, as those do that are
	// set to run as root.
	AllowNewPrivileges bool

	// Pull says when the image is pulled: "missing", if it is not there, which
	// is what empty means; "always"; or "never".
	Pull string
	// Platform is the platform of the image, such as "linux/arm64". Empty means
	// the platform of the engine.
	Platform string
}

// Mount is a folder or file that a container sees.
type Mount struct {
	// Source is its absolute path on the computer that the engine runs on. File
	// systems that are mounted below it are not seen, unless Writable is set.
	Source string
	// Target is its absolute path in the container.
	Target string
	// Writable lets the container change it.
	Writable bool
}

const (
	// DefaultMemory is the most memory of a new container if the options do not
	// say.
	DefaultMemory = "2g"
	// Unlimited stands for no limit.
	Unlimited = "unlimited"
	// DefaultPIDs is the most processes and threads of a new container if the
	// options do not say.
	DefaultPIDs = 1024
)

// minPIDs is the least that a search of one shell and its programs begins with: 12, and some room.
const minPIDs = 16

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

// check returns everything that is wrong with the options.
func (o *Options) check() error {
	problems := o.Problems()
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Error()
	}
	return ops.Error(ops.Open, o.name(), fs.ErrInvalid, errors.New(strings.Join(texts, "; ")))
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

// client returns the engine's client.
func (o *Options) client() *engine.Client {
	return &engine.Client{Command: o.engine(), Timeout: o.timeout()}
}

// valueOf returns the options that opts point to. Nil means the zero ones.
func valueOf(opts *Options) Options {
	if opts == nil {
		return Options{}
	}
	return *opts
}
