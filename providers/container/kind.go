package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// settings are the options of a container.
type settings struct {
	Container    string        `json:"container,omitempty" jsonschema:"A container that is running. Exactly one of this and image is required."`
	Image        string        `json:"image,omitempty" jsonschema:"The image of a new container, created on first use and deleted on close."`
	Engine       string        `json:"engine,omitempty" jsonschema:"The engine's client: docker, podman or nerdctl. Default: the variable WORKSPACE_ENGINE, or docker."`
	EngineArgs   []string      `json:"engineArgs,omitempty" jsonschema:"Flags that choose an engine, such as [--context, remote]: --context, --connection, --host and --namespace."`
	WorkspaceDir string        `json:"workspaceDir,omitempty" jsonschema:"The absolute path of the workspace, created in a new container if missing. Default: the working directory of the container."`
	User         string        `json:"user,omitempty" jsonschema:"The user who reads and writes. Default: the user of the container."`
	Shells       int           `json:"shells,omitempty" jsonschema:"How many requests are sent at the same time. Default: 4."`
	Timeout      time.Duration `json:"timeout,omitempty" jsonschema:"How long a call waits for a silent engine or program in the container; for a new shell 1m at most. Default: 10m."`

	Name     string  `json:"name,omitempty" jsonschema:"The name of the new container. Default: a random name."`
	Keep     bool    `json:"keep,omitempty" jsonschema:"Leaves the new container running on close, and reuses one with this name and options."`
	Pull     string  `json:"pull,omitempty" jsonschema:"When to pull the image: missing (if the engine lacks it), always or never. Default: missing."`
	Platform string  `json:"platform,omitempty" jsonschema:"The platform of the image, such as linux/arm64. Default: the engine's."`
	Network  string  `json:"network,omitempty" jsonschema:"The network of the new container. Default: none."`
	Memory   string  `json:"memory,omitempty" jsonschema:"The most memory of the new container, such as 512m, or unlimited; the engine adds as much swap, if there is any. Default: 2g."`
	CPUs     float64 `json:"cpus,omitempty" jsonschema:"How many processors the new container may use, such as 1.5. Default: all."`
	PIDs     int     `json:"pids,omitempty" jsonschema:"The most processes and threads of the new container, at least 16, or -1 for no limit. Default: 1024."`

	Mounts           []mountSettings   `json:"mounts,omitempty" jsonschema:"Folders and files to mount in the new container."`
	ReadOnlyRoot     bool              `json:"readOnlyRoot,omitempty" jsonschema:"Makes the new container read-only, except writable mounts, tmpfs, volumes of the image and /dev, and in Podman /tmp, /var/tmp and /run."`
	Tmpfs            []string          `json:"tmpfs,omitempty" jsonschema:"Directories of the new container that are in memory. Default with readOnlyRoot: /tmp, /var/tmp, /run, and workspaceDir unless a mount holds it."`
	Env              map[string]string `json:"env,omitempty" jsonschema:"Environment variables of the new container."`
	DropCapabilities []string          `json:"dropCapabilities,omitempty" jsonschema:"The capabilities that programs lack, such as [NET_RAW]; [] is the engine's default. Default: all."`
	NoNewPrivileges  *bool             `json:"noNewPrivileges,omitempty" jsonschema:"Keeps programs from gaining privileges, as by a setuid bit. Default: true."`
}

// mountSettings is a folder or file that a new container sees.
type mountSettings struct {
	Source   string `json:"source" jsonschema:"The folder or file, on the computer that runs the engine. A relative path starts at the folder of this file."`
	Target   string `json:"target" jsonschema:"Its absolute path in the container."`
	Writable bool   `json:"writable,omitempty" jsonschema:"Lets the container change it, a file only by commands."`
}

// Kind describes containers to package config.
func Kind() kind.Kind {
	return kind.Kind{
		Summary:  "A directory in a container, by the client of an engine such as Docker.",
		Options:  settings{},
		AnyOf:    []string{"container", "image"},
		Open:     openKind,
		Check:    checkKind,
		Grants:   grantsOfKind,
		Discards: discards,
		Scheme:   "docker",
		ParseURL: parseURL,
		Ref:      refKind,
		About:    about,
	}
}

func openKind(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	return Open(ctx, o.options(in))
}

// discards reports whether the files are deleted with a new container on close: they are not in
// a folder that it mounts, nor can be, as the image says where they are.
func discards(in kind.Input) bool {
	var o settings
	if in.Decode(&o) != nil || o.Image == "" || o.Keep {
		return false
	}
	return !slices.ContainsFunc(o.Mounts, func(m mountSettings) bool {
		return m.Writable && (o.WorkspaceDir == "" || strings.HasPrefix(path.Clean(o.WorkspaceDir)+"/", strings.TrimSuffix(path.Clean(m.Target), "/")+"/"))
	})
}

func (o settings) options(in kind.Input) *Options {
	opts := &Options{
		Container: o.Container, Image: o.Image, Root: o.WorkspaceDir, User: o.User, Shells: o.Shells, Timeout: o.Timeout, Lazy: true,
		Create: CreateOptions{
			Name: o.Name, Keep: o.Keep, Pull: o.Pull, Platform: o.Platform, Network: o.Network, Memory: o.Memory, CPUs: o.CPUs, PIDs: o.PIDs,
			ReadOnlyRoot: o.ReadOnlyRoot, Tmpfs: o.Tmpfs, Env: o.Env, DropCapabilities: o.DropCapabilities,
			AllowNewPrivileges: o.NoNewPrivileges != nil && !*o.NoNewPrivileges,
		},
	}
	for _, m := range o.Mounts {
		opts.Create.Mounts = append(opts.Create.Mounts, Mount{Source: m.path(in), Target: m.Target, Writable: m.Writable})
	}
	if o.Image != "" {
		opts.Create.Workdir = o.WorkspaceDir
	}
	opts.Engine = append([]string{o.engine()}, o.EngineArgs...)
	return opts
}

// path returns the absolute path of the folder or file, empty if it has none.
func (m mountSettings) path(in kind.Input) string {
	if m.Source == "" || path.IsAbs(m.Source) {
		return m.Source
	}
	source, err := filepath.Abs(in.Path(m.Source))
	if err != nil {
		return ""
	}
	return source
}

// EnvEngine is the variable of the environment that names the engine's client
// for a [Kind] whose options name none. [Open] does not read it.
const EnvEngine = "WORKSPACE_ENGINE"

func (o settings) engine() string { return cmp.Or(o.Engine, os.Getenv(EnvEngine), "docker") }

// engines are the clients that a file may name.
var engines = []string{"docker", "podman", "nerdctl"}

// engineFlags are the flags of engines' clients that a file may set: they
// choose among the engines that the user has configured.
var engineFlags = []string{"--context", "--connection", "--host", "--namespace"}

// checkEngine returns why a file may not name the engine's client: the file may
// come from somebody else, so it cannot choose which program runs.
func (o settings) checkEngine() error {
	if o.Engine != "" && !slices.Contains(engines, o.Engine) {
		return kind.KeyError("engine", fmt.Errorf("%q is none of %s; set the variable %s to run another program",
			o.Engine, strings.Join(engines, ", "), EnvEngine))
	}
	return nil
}

// checkEngineArgs returns what a file may not pass to the engine's client.
func (o settings) checkEngineArgs() error {
	for i := 0; i < len(o.EngineArgs); i++ {
		flag, _, complete := strings.Cut(o.EngineArgs[i], "=")
		if !slices.Contains(engineFlags, flag) {
			return kind.KeyError("engineArgs", fmt.Errorf("%q is none of the flags that a file may set: %s",
				o.EngineArgs[i], strings.Join(engineFlags, ", ")))
		}
		if complete {
			continue
		}
		if i++; i == len(o.EngineArgs) || strings.HasPrefix(o.EngineArgs[i], "-") {
			return kind.KeyError("engineArgs", fmt.Errorf("%s needs a value after it", flag))
		}
	}
	return nil
}

func grantsOfKind(in kind.Input) ([]string, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	command := strings.Join(append([]string{o.engine()}, o.EngineArgs...), " ")
	if o.Image != "" {
		return append([]string{fmt.Sprintf("a new container of the image %q, created by %s", o.Image, command)}, o.grantsOfNew(in)...), nil
	}
	return []string{fmt.Sprintf("the container %q, by %s", o.Container, command)}, nil
}

// grantsOfNew returns what a new container has beyond what it has by default.
func (o settings) grantsOfNew(in kind.Input) []string {
	var grants []string
	for _, m := range o.Mounts {
		use := "read"
		if m.Writable {
			use = "change"
		}
		grants = append(grants, fmt.Sprintf("the folder or file %s, which that container can %s at %s", m.path(in), use, m.Target))
	}
	if o.Network != "" && o.Network != "none" {
		grants = append(grants, fmt.Sprintf("the network %q, for that container", o.Network))
	}
	if o.DropCapabilities != nil && !slices.ContainsFunc(o.DropCapabilities, func(name string) bool { return strings.EqualFold(name, "all") }) {
		grants = append(grants, fmt.Sprintf("capabilities for that container: all that the engine gives but %q", o.DropCapabilities))
	}
	if o.NoNewPrivileges != nil && !*o.NoNewPrivileges {
		grants = append(grants, "new privileges for the programs of that container")
	}
	return grants
}

func checkKind(in kind.Input) error {
	var o settings
	if err := in.Decode(&o); err != nil {
		return err
	}
	var errs []error
	opts := o.options(in)
	if (o.Container == "") == (o.Image == "") {
		errs = append(errs, errors.New("a container needs either the key container, with the name of one that runs, or the key image, from which a new one is created"))
	} else if o.Container != "" {
		for _, key := range o.keysOfNew() {
			errs = append(errs, kind.KeyError(key, errors.New("it is for a new container, which needs the key image: leave it out")))
		}
		opts.Create = CreateOptions{}
	} else if o.Keep && o.Name == "" { // in Go, FS.Container tells the name
		errs = append(errs, kind.KeyError("keep", errors.New("a container that is kept needs the key name, by which the next start finds it")))
	}
	for _, problem := range opts.Problems() {
		switch problem.Option {
		case "", "Create", "Create.Workdir": // it is said, or is about Root
		default:
			errs = append(errs, kind.KeyError(keyOf(problem.Option), errors.New(problem.Text)))
		}
	}
	if o.PIDs < -1 {
		errs = append(errs, kind.KeyError("pids", errors.New("it cannot be negative, but for -1, which is no limit")))
	}
	for i, m := range o.Mounts {
		if err := ops.CheckHostPath(m.Source); err != nil && in.File != "" {
			errs = append(errs, kind.KeyError(fmt.Sprintf("mounts[%d].source", i), err))
		}
		if m.Writable && in.Protected(m.path(in)) {
			errs = append(errs, kind.KeyError(fmt.Sprintf("mounts[%d].source", i), errors.New(
				"it holds this file, the record of trusted files or an audit log, which no workspace may change: mount another folder, leave out writable, or, unless it is a log, say \"protectConfig: false\"")))
		}
	}
	if in.File != "" {
		errs = append(errs, o.checkEngine(), o.checkEngineArgs())
	}
	return errors.Join(append(errs, checkNotNegative("timeout", o.Timeout))...)
}

// keyOf returns the key in a file for an option of package container.
func keyOf(option string) string {
	switch option {
	case "Root":
		return "workspaceDir"
	case "Create.CPUs":
		return "cpus"
	case "Create.PIDs":
		return "pids"
	}
	parts := strings.Split(strings.TrimPrefix(option, "Create."), ".")
	for i, part := range parts {
		parts[i] = strings.ToLower(part[:1]) + part[1:]
	}
	return strings.Join(parts, ".")
}

func checkNotNegative[T int | float64 | time.Duration](key string, value T) error {
	if value < 0 {
		return kind.KeyError(key, errors.New("it cannot be negative"))
	}
	return nil
}

// keysOfNew returns the keys that are set and are for a new container.
func (o settings) keysOfNew() []string {
	var keys []string
	options := reflect.ValueOf(o)
	first, _ := options.Type().FieldByName("Name")
	for i := first.Index[0]; i < options.NumField(); i++ {
		if !options.Field(i).IsZero() {
			key, _, _ := strings.Cut(options.Type().Field(i).Tag.Get("json"), ",")
			keys = append(keys, key)
		}
	}
	return keys
}

// parseURL reads docker://CONTAINER/DIR?engine=podman&user=NAME.
func parseURL(text string) (any, error) {
	u, err := parseNamed(text, "docker://container/directory?engine=podman&user=name", "engine", "user")
	if err != nil {
		return nil, err
	}
	o := settings{
		Container: u.Host, WorkspaceDir: u.Path, Engine: u.Query().Get("engine"), User: u.Query().Get("user"),
	}
	if err := o.checkEngine(); err != nil {
		return nil, err
	}
	return o, nil
}

// parseNamed reads a URL of something that has a name and a directory, and
// parameters, each of them known and there once. example is one with them all.
func parseNamed(text, example string, parameters ...string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: expected %s", example)
	}
	query, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil || u.Host == "" || u.Fragment != "":
		return nil, fmt.Errorf("it cannot be read: expected %s", example)
	case u.User != nil:
		return nil, fmt.Errorf("it has a user before the name: expected %s", example)
	}
	for _, known := range parameters {
		if len(query[known]) > 1 {
			return nil, fmt.Errorf("it has the parameter %s twice", known)
		}
		delete(query, known)
	}
	if unknown := slices.Sorted(maps.Keys(query)); len(unknown) > 0 {
		return nil, fmt.Errorf("the parameter %q is unknown: %s", unknown[0], wording.Suggest(unknown[0], parameters))
	}
	return u, nil
}

// refKind returns the options of the container in which fsys is, which is
// started for that.
func refKind(ctx context.Context, fsys workspace.FileSystem, in kind.Input) (any, error) {
	var o settings
	err := in.Decode(&o)
	o.Engine = o.engine() // here, which another process need not have in its environment
	if err != nil || o.Image == "" {
		return o, err
	}
	if _, err := fsys.Stat(ctx, "."); err != nil {
		return nil, err
	}
	made, ok := workspace.As[*FS](fsys)
	if !ok {
		return nil, errors.New("it is no container")
	}
	return settings{
		Container: made.Container(), Engine: o.engine(), EngineArgs: o.EngineArgs,
		WorkspaceDir: o.WorkspaceDir, User: o.User, Shells: o.Shells, Timeout: o.Timeout,
	}, nil
}

func about(ctx context.Context, _ workspace.FileSystem, in kind.Input) (string, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return "", err
	}
	return About(ctx, o.options(in))
}
