package container

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
)

// Executor starts processes where the files are. [Command] is the one that
// most programs need; your own implementation can speak to an engine in
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
	// ExitCode() int has its exit status.
	Close() error
	// Kill ends it at once, and with it every Read and Write.
	Kill()
	// Complaint returns the last that it wrote to its standard error. It is
	// called after Close or Kill.
	Complaint() string
}

// Command is an [Executor] by a command line, to which it appends the program and
// its arguments: Command{"docker", "exec", "-i", "name"} starts
// "sh" as "docker exec -i name sh". Anything that leads to a POSIX shell will
// do, such as Command{"ssh", "host"}. The empty Command is this computer.
type Command []string

var _ Executor = Command(nil)

// Start implements [Executor].
func (c Command) Start(args ...string) (Process, error) {
	return engine.Start(append(slices.Clone(c), args...)...)
}

// Docker returns the Executor of a running container in Docker. To set more
// than that, use [Options].
func Docker(container string) Command { return execIn([]string{"docker"}, container, "") }

// Podman returns the Executor of a running container in Podman.
func Podman(container string) Command { return execIn([]string{"podman"}, container, "") }

// Nerdctl returns the Executor of a running container in containerd.
func Nerdctl(container string) Command { return execIn([]string{"nerdctl"}, container, "") }

// execIn returns the Executor of a container by the command line of an engine
// that is used as Docker is.
func execIn(engine []string, container, user string) Command {
	command := append(append(Command{}, engine...), "exec", "-i")
	if user != "" {
		command = append(command, "--user", user)
	}
	return append(command, container)
}

// ErrPodLost says that the pod of an [FS] has ended, or has been deleted or
// replaced, also by a pod of the same name. Its files outside of volumes are lost.
// Every later call fails in the same way; [Open] finds another pod.
var ErrPodLost = engine.ErrPodLost

// Kubectl returns the Executor of a container in a pod. Instead of a pod it takes
// what kubectl exec takes, such as "deploy/web", "statefulset/db" or "svc/api",
// which stands for the oldest of its pods that are ready. flags come first, such
// as "--context=staging", "--namespace=agents". An empty container is the pod's
// default one.
//
// Pods of one deployment have different files, so an [FS] chooses one with its
// first shell and opens all other shells in that pod. It asks the cluster after
// each whether it is still the same, and fails with [ErrPodLost] if it is not.
// An Executor that wraps this one does not have that.
func Kubectl(pod, container string, flags ...string) Executor {
	return &kubectl{engine.Pod{Command: append([]string{"kubectl"}, flags...), Name: pod, Container: container}}
}

// kubectl is the [Executor] of a container in a pod.
type kubectl struct{ pod engine.Pod }

// Start implements [Executor].
func (k *kubectl) Start(args ...string) (Process, error) { return k.pod.Start(args...) }

// About says which engine opts lead to, and its version: "Docker Engine 20.10.24
// (linux/amd64)". It asks the engine's client, and needs no container. It is
// empty for an Executor, and if the client says nothing of itself.
//
// # Errors
//
// [errors.ErrUnsupported] if the client is not installed,
// [workspace.ErrUnavailable] if it cannot reach its engine, [io/fs.ErrPermission]
// if this user may not, and the error of ctx.
func About(ctx context.Context, opts *Options) (string, error) {
	o := valueOf(opts)
	if o.Executor != nil {
		return "", nil
	}
	said, err := o.client().About(ctx)
	return said, aboutError(err)
}

// AboutKubernetes says which version of Kubernetes a cluster has, "Kubernetes
// v1.30.2 (linux/amd64)", by asking kubectl with flags such as
// "--context=staging".
//
// # Errors
//
// Those of [About].
func AboutKubernetes(ctx context.Context, flags ...string) (string, error) {
	said, err := engine.AboutKubernetes(ctx, flags...)
	return said, aboutError(err)
}

// aboutError returns the error of a question to an engine, which is about no name.
func aboutError(err error) error {
	if err == nil {
		return nil
	}
	return ops.Error(ops.Open, ".", engine.Visible(err), nil)
}

// Leftover is a container that was created here and that nobody uses any more.
type Leftover struct {
	// ID is the number of the container.
	ID string
	// Name is its name.
	Name string
	// Image is what it was created of.
	Image string
	// Created is when that was.
	Created time.Time

	client *engine.Client
}

// Leftovers returns the containers that [Open] has created, as this user on this
// computer, and whose process has ended without closing them. Usually these end
// by themselves: one is left if a process ends while it creates it, or if the
// engine ends. Containers that are kept are not among them. Of opts, only
// Engine and Timeout count.
//
// # Errors
//
// Those of [About].
func Leftovers(ctx context.Context, opts *Options) ([]Leftover, error) {
	o := valueOf(opts)
	found, err := o.client().Leftovers(ctx)
	if err != nil {
		return nil, aboutError(err)
	}
	var left []Leftover
	for _, c := range found {
		left = append(left, Leftover{ID: c.ID, Name: c.Name, Image: c.Image, Created: c.Created, client: o.client()})
	}
	return left, nil
}

// Remove removes the container. It is no error if that does not exist any more.
//
// # Errors
//
// Those of [About].
func (l Leftover) Remove(ctx context.Context) error { return aboutError(l.client.Remove(ctx, l.ID)) }
