package container

import (
	"context"
	"crypto/rand"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// idle is what a container does that was made to hold files. It cleans up after
// processes whose parents have died, and ends when it is asked to.
const idle = `trap 'exit 0' TERM; while :; do sleep 86400 & wait $!; done`

// label marks the containers that were made here.
const label = "io.github.workspacekit=workspace"

// made is a container that Open has made.
type made struct {
	opts *Options
	name string
}

// create makes a container and starts it. If that fails nothing is left.
func (o *Options) create(ctx context.Context) (*made, error) {
	m := &made{opts: o, name: o.Create.Name}
	own := m.name == ""
	if own {
		m.name = "workspacekit-" + strings.ToLower(rand.Text())
	}
	number, err := o.runEngine(ctx, o.createArgs(m.name)...)
	if err != nil {
		if own { // else it may be another's
			_ = m.remove()
		}
		return nil, err
	}
	m.name = number
	if _, err := o.runEngine(ctx, "start", m.name); err != nil {
		_ = m.remove()
		return nil, err
	}
	return m, nil
}

// createArgs returns the arguments of the engine's client that make a
// container.
func (o *Options) createArgs(name string) []string {
	args := []string{"create", "--name=" + name, "--label=" + label, "--entrypoint=sh"}
	network := o.Create.Network
	if network == "" {
		network = "none"
	}
	args = append(args, "--network="+network)
	for _, option := range [][2]string{
		{"--workdir=", o.Create.Workdir}, {"--user=", o.User}, {"--memory=", o.Create.Memory},
	} {
		if option[1] != "" {
			args = append(args, option[0]+option[1])
		}
	}
	if o.Create.CPUs > 0 {
		args = append(args, "--cpus="+strconv.FormatFloat(o.Create.CPUs, 'f', -1, 64))
	}
	if o.Create.PIDs > 0 {
		args = append(args, "--pids-limit="+strconv.Itoa(o.Create.PIDs))
	}
	return append(args, o.Image, "-c", idle)
}

// removeTimeout bounds the removal of a container.
const removeTimeout = 30 * time.Second

// remove removes the container with everything in it.
func (m *made) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	_, err := m.opts.runEngine(ctx, "rm", "--force", "--volumes", m.name)
	return err
}

// runEngine runs the engine's client. When
// ctx ends the client has a moment left: what it has asked the engine for would
// be done all the same, and nobody would know of it.
func (o *Options) runEngine(ctx context.Context, args ...string) (string, error) {
	engine, limited := o.engine(), ctx
	if timeout := o.timeout(); timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	cmd := exec.CommandContext(limited, engine[0], append(engine[1:len(engine):len(engine)], args...)...)
	cmd.Cancel = func() error { return nil }
	cmd.WaitDelay = closeGrace
	var complaint tail
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	switch {
	case err == nil, cmd.ProcessState != nil && cmd.ProcessState.Success():
		return strings.TrimSpace(string(out)), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		text := fmt.Sprintf("%s %s did not answer within %v", filepath.Base(engine[0]), args[0], o.timeout())
		return "", &engineError{kind: workspace.ErrUnavailable, text: text, remedy: "allow it more with timeout, as for an image that is pulled"}
	case cmd.ProcessState == nil:
		return "", startFault(engine[0], err)
	}
	return "", engineFault(complaint.String())
}
