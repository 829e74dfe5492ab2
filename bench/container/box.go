package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/providers/container"
)

// root is the directory that is measured.
const root = "/workspace"

// box is a container, which can be reached by the provider and by the engine's
// client.
type box struct {
	engine []string // the command line of the client
	name   string
	files  *container.FS // in root; removes the container when it is closed
	sent   atomic.Int64  // how many messages have been sent to the shells of attach
}

// newBox creates a container from the image and opens it. Its random name lets
// several runs work side by side. The caller closes files, which removes the
// container.
func newBox(ctx context.Context, host, image string) (*box, error) {
	if host == "" || image == "" {
		return nil, errors.New(`there is no engine to measure: eval "$(.ci/engines start)" starts Docker, makes the images and sets WORKSPACEKIT_DOCKER_HOST, WORKSPACEKIT_DEBIAN_IMAGE and WORKSPACEKIT_BUSYBOX_IMAGE; it needs root and apt-get install docker.io busybox-static debootstrap`)
	}
	b := &box{engine: []string{"docker", "--host", host}, name: "workspacekit-bench-" + strings.ToLower(rand.Text())}
	var err error
	b.files, err = container.Open(ctx, &container.Options{
		Engine: b.engine, Image: image, Root: root, Create: container.CreateOptions{Name: b.name, Workdir: root},
	})
	return b, err
}

// client runs the engine's client and returns what it writes. Its error has
// what the client wrote to standard error.
func (b *box) client(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, b.engine[0], slices.Concat(b.engine[1:], args)...)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out.Bytes(), nil
}

// exec runs a program in root by the engine's client.
func (b *box) exec(ctx context.Context, args ...string) ([]byte, error) {
	return b.client(ctx, nil, append([]string{"exec", "-w", root, b.name}, args...)...)
}

// attach opens root once more, as a program does that has just started. It
// counts what is sent to the shells. The caller closes it; the container stays.
func (b *box) attach(ctx context.Context) (*container.FS, error) {
	command := container.Command(slices.Concat(b.engine, []string{"exec", "-i", b.name}))
	return container.Open(ctx, &container.Options{Executor: counting{command, &b.sent}, Root: root})
}

// counting is an Executor that counts the messages to what it starts: a request
// without input is one. The provider is not changed for it: an Executor is
// where its messages leave.
type counting struct {
	container.Executor
	sent *atomic.Int64
}

// Start implements [container.Executor].
func (c counting) Start(args ...string) (container.Process, error) {
	p, err := c.Executor.Start(args...)
	if err != nil {
		return nil, err
	}
	return counted{p, c.sent}, nil
}

// counted counts the writes to a process.
type counted struct {
	container.Process
	sent *atomic.Int64
}

// Write implements [io.Writer].
func (c counted) Write(p []byte) (int, error) {
	c.sent.Add(1)
	return c.Process.Write(p)
}
