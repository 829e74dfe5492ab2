package container

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// idle is what a container does that was created to hold files. It cleans up
// after processes whose parents have died, and ends when it is asked to.
const idle = `trap 'exit 0' TERM; while :; do sleep 86400 & wait $!; done`

// leased is the same for a container that also ends when its input does. It says
// when it has begun.
const leased = `trap 'exit 0' TERM; exec 3<&0; echo; { while read -r line; do :; done <&3; } & wait $!`

// ownedContainer is a container that Open has created, or has found again.
type ownedContainer struct {
	opts  *Options
	name  string
	shell []string // the command line that starts a shell; nil if that is not known
	lease Process  // holds its input; nil if it is to be kept
}

// create creates a container and starts it. If that fails nothing is left. One
// that was kept is used again.
func (o *Options) create(ctx context.Context) (*ownedContainer, error) {
	if o.Create.Keep && o.Create.Name != "" {
		if m, err := o.adopt(ctx); m != nil || err != nil {
			return m, err
		}
	}
	var m *ownedContainer
	var err error
	for _, words := range shellCommands {
		m, err = o.createBy(ctx, words, false)
		if fault := new(engineError); errors.As(err, &fault) && fault.text == noWorkdir && o.Create.Workdir != "" {
			// Podman, other than Docker, does not create it.
			m, err = o.createBy(ctx, words, true)
		}
		if !isNoShell(err) {
			break
		}
	}
	return m, err
}

// adopt starts the container of the options' name and returns it, if it exists, and
// was created here with the same options to be kept.
func (o *Options) adopt(ctx context.Context) (*ownedContainer, error) {
	c, err := o.inspect(ctx, o.Create.Name)
	if isNoContainer(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kept, ours := c.Labels[keepLabel]
	if !ours {
		return nil, nil // the engine says that the name is in use
	}
	if kept != o.keepDigest() {
		return nil, &engineError{
			kind: fs.ErrExist, text: "the container of this name was created with other options",
			remedy: "set the options that it has, remove it, or choose another name",
		}
	}
	if !c.Running {
		if _, err := o.runEngine(ctx, "start", c.ID); err != nil {
			return nil, err
		}
	}
	return &ownedContainer{opts: o, name: c.ID}, nil
}

// createBy creates a container whose program is started by a shell, and its
// working directory if workdir is set.
func (o *Options) createBy(ctx context.Context, words []string, workdir bool) (*ownedContainer, error) {
	m := &ownedContainer{opts: o, name: o.Create.Name, shell: words}
	if m.name == "" {
		m.name = "workspacekit-" + strings.ToLower(rand.Text())
	}
	creation := rand.Text()
	number, err := o.runEngine(ctx, o.createArgs(m.name, creation, words)...)
	if number != "" {
		m.name = number
	}
	if err != nil && number != "" { // it was created, but for an option that the engine ignored
		_ = m.remove() // the first error is the one that matters
		return nil, err
	}
	if err != nil {
		if o.Create.Keep && o.Create.Name != "" { // another process may have been faster
			if m, _ := o.adopt(ctx); m != nil {
				return m, nil
			}
		}
		m.removeLate(ctx, creation)
		return nil, err
	}
	if workdir {
		err = m.give(ctx, o.Create.Workdir, 0, 0)
	}
	if err == nil {
		err = m.start(ctx)
	}
	if err != nil {
		_ = m.remove()
		return nil, err
	}
	return m, nil
}

// start starts the container. Unless it is to be kept, a client stays attached to
// it, whose input ends with this process, however that ends; and then that of the
// container does, which ends and is removed by the engine.
func (m *ownedContainer) start(ctx context.Context) error {
	if m.opts.Create.Keep {
		_, err := m.opts.runEngine(ctx, "start", m.name)
		return err
	}
	engine := m.opts.engine()
	lease, err := Command(engine).Start("start", "--attach", "--interactive", m.name)
	if err != nil {
		return err
	}
	begun := make(chan error, 1)
	go func() {
		_, err := lease.Read(make([]byte, 1))
		begun <- err
	}()
	limited, cancel := ctx, context.CancelFunc(func() {})
	if timeout := m.opts.timeout(); timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	select {
	case err = <-begun:
	case <-limited.Done():
		lease.Kill()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return m.opts.lateFault("start")
	}
	if err != nil {
		_ = lease.Close() // what it said matters
		return engineFault(lease.Complaint())
	}
	m.lease = lease
	return nil
}

// give creates the directory dir with its parents if it is missing, and gives it
// to a user. The engine does that, which may do so where the user may not, and
// runs no program of the image for it.
func (m *ownedContainer) give(ctx context.Context, dir string, user, group int) error {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	header := tar.Header{
		Typeflag: tar.TypeDir, Name: strings.TrimPrefix(path.Clean(dir), "/") + "/", Mode: 0o755,
		Uid: user, Gid: group, ModTime: time.Now(),
	}
	if err := errors.Join(w.WriteHeader(&header), w.Close()); err != nil {
		return err
	}
	_, err := m.opts.feedEngine(ctx, &archive, "cp", "-", m.name+":/")
	return err
}

// handOver gives the directory in which the container starts programs to the user
// that the shells run as, if it is empty and that user cannot write there: engines
// and images create it for root. What is mounted belongs to somebody else.
func (m *ownedContainer) handOver(ctx context.Context, session *shell.Session, i program.Image) error {
	if m.opts.Create.Workdir == "" || m.opts.Create.ReadOnlyRoot || i.User == 0 {
		return nil
	}
	reply, err := session.Start(ctx, program.Idempotent("barred", m.opts.Create.Workdir))
	if err != nil {
		return err
	}
	dir, err := io.ReadAll(reply)
	if err != nil || reply.Status != 0 || len(dir) == 0 {
		return err
	}
	return m.give(ctx, string(dir), int(i.User), i.Group())
}

// createArgs returns the arguments of the engine's client that make a
// container.
func (o *Options) createArgs(name, creation string, words []string) []string {
	args := append([]string{"create", "--name=" + name, "--entrypoint=" + words[0]}, o.labels(creation)...)
	program := idle
	if !o.Create.Keep {
		args = append(args, "--interactive", "--rm")
		program = leased
	}
	args = append(append(append(args, o.createFlags()...), o.Image), words[1:]...)
	return append(args, "-c", program)
}

// createFlags returns the flags for the options.
func (o *Options) createFlags() []string {
	var args []string
	network := o.Create.Network
	if network == "" {
		network = "none"
	}
	args = append(args, "--network="+network)
	if o.User != "" {
		args = append(args, "--user="+o.User)
	}
	// Docker makes a missing one before it mounts one in memory there, which then
	// belongs to root alone. The shells go to Root in any case.
	if dir := o.Create.Workdir; dir != "" && (o.Root == "" || !slices.Contains(o.Create.tmpfs(), path.Clean(dir))) {
		args = append(args, "--workdir="+dir)
	}
	return append(args, o.Create.flags()...)
}

// flags returns the flags of the engine's client for the settings.
func (c *CreateOptions) flags() []string {
	flags := []string{"--pids-limit=" + strconv.Itoa(max(cmp.Or(c.PIDs, DefaultPIDs), -1))}
	for _, option := range [][2]string{
		{"--pull=", c.Pull}, {"--platform=", c.Platform},
		{"--memory=", strings.TrimPrefix(cmp.Or(c.Memory, DefaultMemory), Unlimited)},
	} {
		if option[1] != "" {
			flags = append(flags, option[0]+option[1])
		}
	}
	if c.CPUs > 0 {
		flags = append(flags, "--cpus="+strconv.FormatFloat(c.CPUs, 'f', -1, 64))
	}
	dropped := c.DropCapabilities
	if dropped == nil {
		dropped = []string{"ALL"}
	}
	for _, name := range dropped {
		flags = append(flags, "--cap-drop="+name)
	}
	if !c.AllowNewPrivileges {
		flags = append(flags, "--security-opt=no-new-privileges")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		flags = append(flags, "--env="+name+"="+c.Env[name])
	}
	return append(flags, c.mountFlags()...)
}

// mountFlags returns those for what is mounted. In a mount that cannot be changed
// the file systems below it could be, so they are left out.
func (c *CreateOptions) mountFlags() []string {
	var flags []string
	for _, m := range c.Mounts {
		flag := "--mount=type=bind,source=" + m.Source + ",target=" + m.Target
		if !m.Writable {
			flag += ",readonly,bind-nonrecursive"
		}
		flags = append(flags, flag)
	}
	if c.ReadOnlyRoot {
		flags = append(flags, "--read-only")
	}
	for _, dir := range c.tmpfs() {
		flags = append(flags, "--tmpfs="+dir+":rw,nosuid,nodev,exec,mode=1777")
	}
	return flags
}

// tmpfs returns the directories whose files are kept in memory.
func (c *CreateOptions) tmpfs() []string {
	if c.Tmpfs != nil || !c.ReadOnlyRoot {
		return c.Tmpfs
	}
	var dirs []string
	for _, dir := range []string{"/run", "/tmp", "/var/tmp", path.Clean("/" + c.Workdir)} {
		held := dir == "/" || slices.ContainsFunc(c.Mounts, func(m Mount) bool { return holds(m.Target, dir) }) ||
			slices.ContainsFunc(dirs, func(other string) bool { return holds(other, dir) })
		if !held {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// holds reports whether name is dir or below it.
func holds(dir, name string) bool {
	dir = path.Clean(dir)
	return dir == name || strings.HasPrefix(name, dir+"/")
}

// removeTimeout bounds the removal of a container.
const removeTimeout = 30 * time.Second

// remove removes the container with everything in it. One that ends with its
// input is removed by the engine before the client ends.
func (m *ownedContainer) remove() error {
	if m.lease != nil && m.lease.Close() == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	if _, err := m.opts.runEngine(ctx, "rm", "--force", "--volumes", m.name); !isNoContainer(err) {
		return err
	}
	return nil
}

// removeLate removes the container after the client that was to create it has
// failed, unless it is that of another creation, of this process or of another. If the client was killed, as ctx has ended,
// the engine may not have come to it yet.
func (m *ownedContainer) removeLate(ctx context.Context, creation string) {
	limited, cancel := context.WithTimeout(context.Background(), 2*closeGrace)
	defer cancel()
	for {
		c, err := m.opts.inspect(limited, m.name)
		if err == nil && c.Labels[creationLabel] == creation {
			m.name = c.ID
			_ = m.remove() // the first error is the one that matters
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

// runEngine runs the engine's client. It returns what that printed also if the
// engine did what it was asked to but for an option that it ignored. When
// ctx ends the client has a moment left: what it has asked the engine for would
// be done all the same, and nobody would know of it.
func (o *Options) runEngine(ctx context.Context, args ...string) (string, error) {
	return o.feedEngine(ctx, nil, args...)
}

// feedEngine is runEngine for a client that reads input.
func (o *Options) feedEngine(ctx context.Context, input io.Reader, args ...string) (string, error) {
	engine, limited := o.engine(), ctx
	if timeout := o.timeout(); timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	cmd := exec.CommandContext(limited, engine[0], append(engine[1:len(engine):len(engine)], args...)...)
	cmd.Cancel = func() error { return nil }
	cmd.WaitDelay = closeGrace
	cmd.Stdin = input
	detach(cmd)
	var complaint tail
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	switch {
	case err == nil, cmd.ProcessState != nil && cmd.ProcessState.Success():
		return strings.TrimSpace(string(out)), ignoredFault(complaint.String())
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", o.lateFault(args[0])
	case cmd.ProcessState == nil:
		return "", startFault(engine[0], err)
	}
	return "", engineFault(complaint.String())
}

// lateFault returns the error of a command of the engine's client that took too
// long.
func (o *Options) lateFault(command string) error {
	text := fmt.Sprintf("%s %s did not answer within %v", filepath.Base(o.engine()[0]), command, o.timeout())
	return &engineError{kind: workspace.ErrUnavailable, text: text, remedy: "allow it more with timeout, as for an image that is pulled"}
}
