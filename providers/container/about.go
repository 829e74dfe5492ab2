package container

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/workspacekit/workspacekit/internal/ops"
)

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
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Executor != nil {
		return "", nil
	}
	// Not the format "json", which Docker has known since version 23 only.
	said, err := output(ctx, append(slices.Clone(o.engine()), "version", "--format", "{{json .}}"))
	if err != nil {
		return "", err
	}
	var v engineVersion
	if err := json.Unmarshal(said, &v); err != nil {
		return "", nil // it is an engine that says it otherwise
	}
	return v.text(filepath.Base(o.engine()[0])), nil
}

// AboutKubernetes says which version of Kubernetes a cluster has, "Kubernetes
// v1.30.2 (linux/amd64)", by asking kubectl with flags such as
// "--context=staging".
//
// # Errors
//
// Those of [About].
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

// engineVersion is what the clients of engines say of themselves. Docker and
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

// output runs a program to its end and returns what it wrote.
func output(ctx context.Context, words []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var complaint tail
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaint
	cmd.WaitDelay = closeGrace
	detach(cmd)
	cmd.Cancel = func() error { kill(cmd); return nil }
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ops.Error(ops.Open, ".", ctx.Err(), nil)
	case err != nil && cmd.ProcessState == nil:
		return nil, ops.Error(ops.Open, ".", visible(startFault(words[0], err)), nil)
	case err != nil:
		return nil, ops.Error(ops.Open, ".", visible(engineFault(complaint.String())), nil)
	}
	return said.Bytes(), nil
}
