// Package engine runs the clients of container engines and of Kubernetes: it
// starts programs by them, creates, finds and removes containers, follows pods,
// and says in words of its own why they fail.
//
// # The life of a container
//
// [Client.Create] creates a container that holds files, with a shell that waits:
//
//	docker create --name=N --label=... --interactive --rm ... IMAGE -c 'trap ...'
//	docker start --attach --interactive N     stays; its input is the lease
//	   (requests, by docker exec -i N sh)
//	the lease's input ends                    the container ends; --rm removes it
//
// The lease ends with this process, however that ends, so no container is left
// unless the process ends in the middle of a creation, or the engine ends. Those
// are found by their labels ([Client.Leftovers]): who created them, since when
// that process runs, on which boot of the computer. A container that is kept has
// no lease, and a label with a digest of its options, by which it is found again.
//
// # Errors
//
// The clients' words hold paths and addresses of the host, and are read by models.
// So a table translates them into words of ours, with a remedy ([Error]). Words that nothing in the table knows are shown without anything that
// may be a place.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// Client runs the client of a container engine.
type Client struct {
	Command []string      // its command line
	Timeout time.Duration // how long it may take; zero means no limit
}

// run runs the engine's client. It returns what that printed also if the
// engine did what it was asked to but for an option that it ignored. When
// ctx ends the client has a moment left: what it has asked the engine for would
// be done all the same, and nobody would know of it. Then it is ended with what it
// has started.
func (c *Client) run(ctx context.Context, args ...string) (string, error) {
	return c.feed(ctx, nil, args...)
}

// feed is run for a client that reads input.
func (c *Client) feed(ctx context.Context, input io.Reader, args ...string) (string, error) {
	limited, cancel := c.limit(ctx)
	defer cancel()
	cmd := exec.CommandContext(limited, c.Command[0], append(slices.Clone(c.Command[1:]), args...)...)
	var late *time.Timer
	cmd.Cancel = func() error {
		late = time.AfterFunc(closeGrace, func() { kill(cmd) })
		return nil
	}
	cmd.WaitDelay = closeGrace + closeGrace/10 // so that kill comes first
	cmd.Stdin = input
	detach(cmd)
	var complaint tail
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if late != nil {
		late.Stop()
	}
	switch {
	case err == nil, cmd.ProcessState != nil && cmd.ProcessState.Success():
		return strings.TrimSpace(string(out)), ignoredFault(complaint.String())
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", c.lateFault(args[0])
	case cmd.ProcessState == nil:
		return "", startFault(c.Command[0], err)
	}
	return "", Fault(complaint.String())
}

// ignoredFault returns the error of an engine that warned of that, and nil if it
// did not.
func ignoredFault(said string) error {
	for line := range strings.Lines(strings.ToLower(said)) {
		if ignored().MatchString(line) {
			return Fault(ignored().FindString(line))
		}
	}
	return nil
}

// limit returns ctx with the time that the client may take.
func (c *Client) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.Timeout)
}

// lateFault returns the error of a command of the engine's client that took too
// long.
func (c *Client) lateFault(command string) error {
	text := fmt.Sprintf("%s %s did not answer within %v", filepath.Base(c.Command[0]), command, c.Timeout)
	return &Error{kind: workspace.ErrUnavailable, text: text, remedy: "allow it more with timeout, as for an image that is pulled"}
}

// inspected is what an engine says about a container.
type inspected struct {
	ID, Name, Image string
	Created         time.Time
	Running         bool
	Labels          map[string]string
}

// name returns the container's name as it was given: Docker shows a slash before it.
func (c *inspected) name() string { return strings.TrimPrefix(c.Name, "/") }

// inspection is what the engine's client is asked for, which all clients have.
const inspection = `{"ID":{{json .ID}},"Name":{{json .Name}},"Image":{{json .Config.Image}},"Created":{{json .Created}},` +
	`"Running":{{json .State.Running}},"Labels":{{json .Config.Labels}}}`

// inspect asks the engine about a container.
func (c *Client) inspect(ctx context.Context, name string) (inspected, error) {
	var found inspected
	said, err := c.run(ctx, "container", "inspect", "--format", inspection, name)
	if err == nil && json.Unmarshal([]byte(said), &found) != nil {
		err = errors.New("the engine's client says of a container what cannot be read")
	}
	return found, err
}

// About says which engine the client leads to, and its version; see
// container.About.
func (c *Client) About(ctx context.Context) (string, error) {
	// Not the format "json", which Docker has known since version 23 only.
	said, err := output(ctx, append(slices.Clone(c.Command), "version", "--format", "{{json .}}"))
	if err != nil {
		return "", err
	}
	var v engineVersion
	if err := json.Unmarshal(said, &v); err != nil {
		return "", nil // it is an engine that says it otherwise
	}
	return v.text(filepath.Base(c.Command[0])), nil
}

// AboutKubernetes says which version of Kubernetes a cluster has; see
// container.AboutKubernetes.
func AboutKubernetes(ctx context.Context, flags ...string) (string, error) {
	said, err := output(ctx, append(append([]string{"kubectl"}, flags...), "version", "--output=json"))
	if err != nil {
		return "", err
	}
	var v struct {
		ServerVersion struct{ GitVersion, Platform string } `json:"serverVersion"`
	}
	if err := json.Unmarshal(said, &v); err != nil || v.ServerVersion.GitVersion == "" {
		return "", nil
	}
	return versionText("Kubernetes", v.ServerVersion.GitVersion, v.ServerVersion.Platform), nil
}

// engineVersion is what the clients of engines say about themselves. Docker and
// nerdctl name what the server is made of, the engine first; Podman has no
// server unless it is a remote one.
type engineVersion struct {
	Client struct{ Version, OsArch string }
	Server *struct {
		Version, Os, Arch, OsArch string
		Components                []struct{ Name, Version string }
	}
}

// text returns v in words. The client's name is for one that gives no name.
func (v engineVersion) text(client string) string {
	if v.Server == nil {
		return versionText(engineName(client), v.Client.Version, v.Client.OsArch)
	}
	platform := v.Server.OsArch
	if platform == "" && v.Server.Os != "" {
		platform = v.Server.Os + "/" + v.Server.Arch
	}
	if len(v.Server.Components) == 0 {
		return versionText(engineName(client), v.Server.Version, platform)
	}
	engine := v.Server.Components[0]
	return versionText(engineName(engine.Name), engine.Version, platform)
}

// engineName returns a name of an engine as people write it.
func engineName(name string) string {
	switch name {
	case "docker", "Engine":
		return "Docker Engine"
	case "podman", "Podman Engine":
		return "Podman"
	}
	return name
}

func versionText(name, version, platform string) string {
	if version == "" {
		return ""
	}
	text := name + " " + version
	if platform != "" {
		text += " (" + platform + ")"
	}
	return text
}
