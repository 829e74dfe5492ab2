package workspacekit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// containerOptions are the options of a container.
type containerOptions struct {
	Container    string   `json:"container,omitempty" jsonschema:"A container that is running."`
	Image        string   `json:"image,omitempty" jsonschema:"The image of a new container, which is made at the first use and removed in the end."`
	Engine       string   `json:"engine,omitempty" jsonschema:"The engine's client: docker, podman, nerdctl, or the path of one. docker if it is left out."`
	EngineArgs   []string `json:"engineArgs,omitempty" jsonschema:"Arguments that come first for the engine's client, such as [--context, remote]."`
	WorkspaceDir string   `json:"workspaceDir,omitempty" jsonschema:"The absolute path of the directory that is the workspace. The one in which the container starts programs if it is left out. In a new container it is made if it is missing."`
	User         string   `json:"user,omitempty" jsonschema:"The user who reads and writes. That of the container if it is left out."`
	Shells       int      `json:"shells,omitempty" jsonschema:"How many requests are made at a time. 4 if it is left out."`

	Name    string  `json:"name,omitempty" jsonschema:"The name of the new container. One made at random if it is left out."`
	Keep    bool    `json:"keep,omitempty" jsonschema:"Leaves the new container running in the end."`
	Network string  `json:"network,omitempty" jsonschema:"The network of the new container. None if it is left out."`
	Memory  string  `json:"memory,omitempty" jsonschema:"The most memory that the new container may use, such as 512m."`
	CPUs    float64 `json:"cpus,omitempty" jsonschema:"How many processors the new container may use, such as 1.5."`
	PIDs    int     `json:"pids,omitempty" jsonschema:"The most processes that the new container may have."`
}

func containerKind() config.Kind {
	return config.Kind{
		Summary:  "A directory in a container, by the client of an engine such as Docker.",
		Options:  containerOptions{},
		Open:     openContainer,
		Check:    checkContainer,
		Scheme:   "docker",
		ParseURL: parseContainer,
		Ref:      refContainer,
		About:    aboutContainer,
	}
}

func openContainer(ctx context.Context, in config.Input) (workspace.FileSystem, error) {
	var o containerOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	return container.Open(ctx, o.options())
}

func (o containerOptions) options() *container.Options {
	opts := &container.Options{
		Container: o.Container, Image: o.Image, Root: o.WorkspaceDir, User: o.User, Shells: o.Shells, Lazy: true,
		Create: container.CreateOptions{
			Name: o.Name, Keep: o.Keep, Network: o.Network, Memory: o.Memory, CPUs: o.CPUs, PIDs: o.PIDs,
		},
	}
	if o.Image != "" {
		opts.Create.Workdir = o.WorkspaceDir
	}
	if o.Engine != "" || len(o.EngineArgs) > 0 {
		opts.Engine = append([]string{o.engine()}, o.EngineArgs...)
	}
	return opts
}

func (o containerOptions) engine() string {
	if o.Engine == "" {
		return "docker"
	}
	return o.Engine
}

func checkContainer(in config.Input) error {
	var o containerOptions
	if err := in.Decode(&o); err != nil {
		return err
	}
	if (o.Container == "") == (o.Image == "") {
		return errors.New("a container needs either the key container, with the name of one that runs, or the key image, of which a new one is made")
	}
	if o.Container != "" {
		if key := o.firstOfNew(); key != "" {
			return config.KeyError(key, errors.New("it is for a new container, which needs the key image: leave it out"))
		}
	}
	switch {
	case o.WorkspaceDir != "" && !path.IsAbs(o.WorkspaceDir):
		return config.KeyError("workspaceDir", fmt.Errorf("%q is a path in the container, and is to be absolute, such as /workspace", o.WorkspaceDir))
	case o.Shells < 0:
		return config.KeyError("shells", errors.New("it cannot be negative"))
	case o.CPUs < 0:
		return config.KeyError("cpus", errors.New("it cannot be negative"))
	case o.PIDs < 0:
		return config.KeyError("pids", errors.New("it cannot be negative"))
	}
	return nil
}

// firstOfNew returns the first key that is set and is for a new container.
func (o containerOptions) firstOfNew() string {
	switch {
	case o.Name != "":
		return "name"
	case o.Keep:
		return "keep"
	case o.Network != "":
		return "network"
	case o.Memory != "":
		return "memory"
	case o.CPUs != 0:
		return "cpus"
	case o.PIDs != 0:
		return "pids"
	}
	return ""
}

// parseContainer reads docker://CONTAINER/DIR?engine=podman&user=NAME.
func parseContainer(text string) (any, error) {
	u, err := parseNamed(text, "engine", "user")
	if err != nil {
		return nil, fmt.Errorf("%w: it is to be like docker://container/directory?engine=podman&user=name", err)
	}
	return containerOptions{
		Container: u.Host, WorkspaceDir: u.Path, Engine: u.Query().Get("engine"), User: u.Query().Get("user"),
	}, nil
}

// parseNamed reads a URL of something that has a name and a directory, and
// parameters of which each is known and there once.
func parseNamed(text string, parameters ...string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	query, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil || u.Host == "" || u.Fragment != "":
		return nil, errors.New("it cannot be read")
	case u.User != nil:
		return nil, errors.New("it has a user before the name")
	}
	for _, known := range parameters {
		if len(query[known]) > 1 {
			return nil, fmt.Errorf("it has the parameter %s twice", known)
		}
		delete(query, known)
	}
	if len(query) > 0 {
		return nil, errors.New("it has a parameter that is not known")
	}
	return u, nil
}

// refContainer returns the options of the container in which fsys is, which is
// started for that.
func refContainer(ctx context.Context, fsys workspace.FileSystem, in config.Input) (any, error) {
	var o containerOptions
	if err := in.Decode(&o); err != nil || o.Image == "" {
		return o, err
	}
	if _, err := fsys.Stat(ctx, "."); err != nil {
		return nil, err
	}
	made, ok := workspace.As[*container.FS](fsys)
	if !ok {
		return nil, errors.New("it is no container")
	}
	return containerOptions{
		Container: made.Container(), Engine: o.Engine, EngineArgs: o.EngineArgs,
		WorkspaceDir: o.WorkspaceDir, User: o.User, Shells: o.Shells,
	}, nil
}
