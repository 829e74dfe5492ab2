package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
)

// idle is what a container does that was created to hold files. It cleans up
// after processes whose parents have died, and ends when it is asked to.
const idle = `trap 'exit 0' TERM; while :; do sleep 86400 & wait $!; done`

// leased is the same for a container that also ends when its input does. It says
// when it has begun.
const leased = `trap 'exit 0' TERM; exec 3<&0; echo; { while read -r line; do :; done <&3; } & wait $!`

// searchPath is where a shell finds programs. What a shell is taught leaves out
// what is below the root, where whoever uses the workspace can write.
const searchPath = "PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin:/busybox:/run/current-system/sw/bin"

// ShellCommands are the command lines that start a shell, best first. They keep
// the environment of the image from it: functions and options that a shell takes
// from there, and the directories in which it looks for programs, would change
// what it does. Each program has its path, as the engine would look for it where
// the image says.
var ShellCommands = [][]string{
	{"/usr/bin/env", "-i", searchPath, "/bin/sh"},
	{"/bin/env", "-i", searchPath, "/bin/sh"},
	{"/busybox/env", "-i", searchPath, "/busybox/sh"},
}

// Spec describes a new container.
type Spec struct {
	Image   string
	Name    string   // empty for a random one
	Keep    bool     // it stays, and is used again if it has a Name
	Workdir string   // the directory in which it starts programs; empty for the image's
	Flags   []string // for the client's create
}

// isShared reports whether another process can find the container, once it exists.
func (s *Spec) isShared() bool { return s.Keep && s.Name != "" }

// OwnedContainer is a container that was created here, or found again.
type OwnedContainer struct {
	Name  string        // or number
	Shell []string      // the command line that starts a shell; nil if that is not known
	lease shell.Process // holds the container's input; nil if that is kept
	stays bool          // it has been started to be kept, and others may use it

	client *Client
	spec   *Spec
}

// Create creates a container and starts it. If it fails it leaves nothing, unless
// another process has started the container. It uses a container again that was kept.
func (c *Client) Create(ctx context.Context, spec *Spec) (*OwnedContainer, error) {
	if spec.isShared() {
		if found, err := c.adopt(ctx, spec); found != nil || err != nil {
			return found, err
		}
	}
	var created *OwnedContainer
	var err error
	for _, words := range ShellCommands {
		created, err = c.createBy(ctx, spec, words, false)
		if fault := new(Error); errors.As(err, &fault) && fault.text == noWorkdir && spec.Workdir != "" {
			// Podman, other than Docker, does not create it.
			created, err = c.createBy(ctx, spec, words, true)
		}
		if !IsNoShell(err) {
			break
		}
	}
	return created, err
}

// adopt starts the container of the name in spec and returns it, if it exists and
// was created here by the same spec to be kept.
func (c *Client) adopt(ctx context.Context, spec *Spec) (*OwnedContainer, error) {
	found, err := c.inspect(ctx, spec.Name)
	if isNoContainer(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kept := found.Labels[keepLabel]
	if found.name() != spec.Name { // engines also go by the beginning of a number
		return nil, nil
	}
	if kept == "" {
		return nil, nil // the engine says that the name is in use
	}
	if !found.isLabeled() {
		return nil, &Error{
			kind: fs.ErrExist, text: fmt.Sprintf("the container %q was created with another name, or from an image of one that is kept", spec.Name),
			remedy: "give it the name that it had, or choose another name here",
		}
	}
	if kept != spec.digest() {
		return nil, &Error{
			kind: fs.ErrExist, text: fmt.Sprintf("the container %q was created with other options", spec.Name),
			remedy: "set the options that it has, remove it, or choose another name",
		}
	}
	if !found.Running {
		if _, err := c.run(ctx, "start", found.ID); err != nil {
			return nil, err
		}
	}
	return &OwnedContainer{client: c, spec: spec, Name: found.ID, stays: true}, nil
}

// createBy creates a container whose program is started by a shell, and its
// working directory if workdir is set.
func (c *Client) createBy(ctx context.Context, spec *Spec, words []string, workdir bool) (*OwnedContainer, error) {
	o := &OwnedContainer{client: c, spec: spec, Name: spec.Name, Shell: words}
	if o.Name == "" {
		o.Name = "workspacekit-" + strings.ToLower(rand.Text())
	}
	creation := rand.Text()
	number, err := c.run(ctx, spec.args(o.Name, creation, words)...)
	if number != "" {
		o.Name = number
	}
	switch {
	case err != nil && number != "": // it was created, but for an option that the engine ignored
		_ = o.Remove() // the first error is the one that matters
		return nil, err
	case err != nil:
		if spec.isShared() { // another process may have been faster
			if found, _ := c.adopt(ctx, spec); found != nil {
				return found, nil
			}
		}
		o.removeLate(ctx, creation)
		return nil, naming(err, spec.Name)
	}
	if workdir {
		err = o.Give(ctx, spec.Workdir, 0, 0)
	}
	if err == nil {
		err = o.start(ctx)
	}
	if err != nil {
		_ = o.Remove()
		return nil, err
	}
	o.stays = spec.isShared()
	return o, nil
}

// naming returns err, which if the name of the container is taken says which it is.
func naming(err error, name string) error {
	if fault := new(Error); errors.As(err, &fault) && fault.text == nameTaken {
		fault.text = fmt.Sprintf("another container has the name %q", name)
	}
	return err
}

// args returns the arguments of the client that create a container.
func (s *Spec) args(name, creation string, words []string) []string {
	args := append([]string{"create", "--name=" + name, "--entrypoint=" + words[0]}, s.labels(name, creation)...)
	program := idle
	if !s.Keep {
		args = append(args, "--interactive", "--rm")
		program = leased
	}
	return slices.Concat(args, s.Flags, []string{s.Image}, words[1:], []string{"-c", program})
}

// start starts the container. Unless it is kept, a client stays attached to
// it. Its input ends with this process, however that ends; then the input of the
// container ends, and with it the container, which the engine removes.
func (o *OwnedContainer) start(ctx context.Context) error {
	if o.spec.Keep {
		_, err := o.client.run(ctx, "start", o.Name)
		return err
	}
	lease, err := Start(append(slices.Clone(o.client.Command), "start", "--attach", "--interactive", o.Name)...)
	if err != nil {
		return err
	}
	o.lease = lease
	begun := make(chan error, 1)
	go func() {
		_, err := lease.Read(make([]byte, 1))
		begun <- err
	}()
	limited, cancel := o.client.limit(ctx)
	defer cancel()
	select {
	case err = <-begun:
	case <-limited.Done():
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return o.client.lateFault("start")
	}
	if err != nil {
		_ = lease.Close() // what it said matters
		return Fault(lease.Complaint())
	}
	return nil
}

// Give creates the directory dir with its parents if it is missing, and gives it
// to a user. The engine does that, which may do so where the user may not, and
// runs no program of the image for it.
func (o *OwnedContainer) Give(ctx context.Context, dir string, user, group int) error {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	header := tar.Header{
		Typeflag: tar.TypeDir, Name: strings.TrimPrefix(path.Clean(dir), "/") + "/", Mode: 0o755,
		Uid: user, Gid: group, ModTime: time.Now(),
	}
	if err := errors.Join(w.WriteHeader(&header), w.Close()); err != nil {
		return err
	}
	_, err := o.client.feed(ctx, &archive, "cp", "-", o.Name+":/")
	return err
}

// removeTimeout bounds the removal of a container.
const removeTimeout = 30 * time.Second

// Remove removes the container with everything in it, unless others may use it. The
// engine removes one that ends with its input, before the client ends.
func (o *OwnedContainer) Remove() error {
	if o.stays {
		return nil
	}
	if o.lease != nil && o.lease.Close() == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	if o.spec.isShared() { // and another process may have started it
		_, err := o.client.run(ctx, "rm", "--volumes", o.Name)
		return err
	}
	return o.client.Remove(ctx, o.Name)
}

// removeLate removes the container after the client that was to create it has
// failed, unless the container is another creation's, of this process or of
// another one. If the client was killed, as ctx has ended, the engine may not have
// come to it yet.
func (o *OwnedContainer) removeLate(ctx context.Context, creation string) {
	limited, cancel := context.WithTimeout(context.Background(), 2*closeGrace)
	defer cancel()
	for {
		found, err := o.client.inspect(limited, o.Name)
		if err == nil && found.Labels[creationLabel] == creation {
			o.Name = found.ID
			_ = o.Remove() // the first error is the one that matters
		}
		if err == nil || ctx.Err() == nil {
			return
		}
		select {
		case <-limited.Done():
			return
		case <-time.After(closeGrace / 10):
		}
	}
}
