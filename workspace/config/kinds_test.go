package config_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// newRegistry returns a registry of the kinds that docs/config.md describes.
// Those whose provider is out of reach of these tests cannot be opened.
func newRegistry(t testing.TB) *config.Registry {
	t.Helper()
	r := &config.Registry{}
	for name, kind := range map[string]config.Kind{
		"memory": memoryKind(), "localbash": localKind(), "objectstore": storeKind(), "container": containerKind(),
	} {
		if err := r.Register(name, kind); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// localOptions are the options of a local folder.
type localOptions struct {
	Root    string `json:"root" jsonschema:"The folder, from the folder of the file."`
	Sync    bool   `json:"sync,omitempty" jsonschema:"Makes every change durable before it is reported as done."`
	Relaxed bool   `json:"relaxed,omitempty" jsonschema:"Lets symlinks lead out of the folder: whoever can make one then reaches every file of this user."`
}

func localKind() config.Kind {
	return config.Kind{
		Summary:  "A folder of this computer.",
		Options:  localOptions{},
		Open:     openLocal,
		Scheme:   "file",
		ParseURL: parseLocal,
		Ref: func(_ context.Context, fsys workspace.FileSystem, in config.Input) (any, error) {
			var o localOptions
			err := in.Decode(&o)
			o.Root = workspace.RootOf(fsys)
			return o, err
		},
	}
}

func openLocal(_ context.Context, in config.Input) (workspace.FileSystem, error) {
	var o localOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	fsys, err := localbash.Open(in.Path(o.Root), &localbash.Options{Sync: o.Sync, Relaxed: o.Relaxed})
	if err != nil {
		return nil, config.KeyError("root", err)
	}
	return fsys, nil
}

func parseLocal(text string) (any, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host != "" || u.Path == "" || u.RawQuery != "" {
		return nil, errors.New("it is to be like file:///path/of/a/folder")
	}
	return localOptions{Root: u.Path}, nil
}

// memoryOptions are the options of a workspace in memory.
type memoryOptions struct {
	Seed string `json:"seed,omitempty" jsonschema:"A folder whose files it begins with, from the folder of the file."`
}

// memorySnapshot is what a reference to a workspace in memory keeps.
type memorySnapshot struct {
	Dirs  []string          `json:"dirs"`
	Files map[string][]byte `json:"files"`
}

func memoryKind() config.Kind {
	return config.Kind{
		Summary: "Files in memory, which are gone when the program ends.",
		Options: memoryOptions{},
		Open:    openMemory,
		Scheme:  "mem",
		ParseURL: func(text string) (any, error) {
			if text != "mem://" {
				return nil, errors.New("it is to be mem://")
			}
			return memoryOptions{}, nil
		},
		Ref:     snapshot,
		Resolve: restore,
	}
}

func openMemory(ctx context.Context, in config.Input) (workspace.FileSystem, error) {
	var o memoryOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	m := memory.New(nil)
	if o.Seed == "" {
		return m, nil
	}
	err := fs.WalkDir(os.DirFS(in.Path(o.Seed)), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(in.Path(o.Seed) + "/" + name)
		if err != nil {
			return err
		}
		_, err = m.WriteFile(ctx, name, data, nil)
		return err
	})
	if err != nil {
		return nil, config.KeyError("seed", err)
	}
	return m, nil
}

func snapshot(ctx context.Context, fsys workspace.FileSystem, _ config.Input) (any, error) {
	taken := memorySnapshot{Files: map[string][]byte{}}
	err := workspace.Walk(ctx, fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case info.IsDir():
			taken.Dirs = append(taken.Dirs, info.Path)
			return nil
		}
		taken.Files[info.Path], err = fsys.ReadFile(ctx, info.Path)
		return err
	})
	return taken, err
}

func restore(ctx context.Context, in config.Input) (workspace.FileSystem, error) {
	var taken memorySnapshot
	if err := in.Decode(&taken); err != nil {
		return nil, err
	}
	m := memory.New(nil)
	for _, dir := range taken.Dirs {
		if err := m.Mkdir(ctx, dir, &workspace.MkdirOptions{Recursive: true}); err != nil {
			return nil, err
		}
	}
	for name, data := range taken.Files {
		if _, err := m.WriteFile(ctx, name, data, nil); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// storeOptions are the options of a bucket.
type storeOptions struct {
	Bucket       string        `json:"bucket" jsonschema:"The bucket, which must exist."`
	Prefix       string        `json:"prefix,omitempty" jsonschema:"What the keys of the workspace begin with. The whole bucket if it is left out."`
	Region       string        `json:"region,omitempty" jsonschema:"The region of the bucket. What the environment or the profile says if it is left out."`
	Endpoint     string        `json:"endpoint,omitempty" jsonschema:"The URL of the store. AWS if it is left out or empty, and neither environment nor profile name one."`
	Profile      string        `json:"profile,omitempty" jsonschema:"A profile of the shared AWS configuration."`
	PathStyle    *bool         `json:"pathStyle,omitempty" jsonschema:"Puts the bucket into the path of the URL and not into the name of the host."`
	Probe        bool          `json:"probe,omitempty" jsonschema:"Finds out by some requests whether the store honours conditions."`
	PollInterval time.Duration `json:"pollInterval,omitempty" jsonschema:"The time between two listings of a watch."`
}

func storeKind() config.Kind {
	return config.Kind{
		Summary: "A bucket of S3, or of a store that speaks its protocol.",
		Options: storeOptions{},
		Open:    outOfReach,
		Check: func(in config.Input) error {
			var o storeOptions
			if err := in.Decode(&o); err != nil {
				return err
			}
			if strings.Contains(o.Bucket, "/") {
				return config.KeyError("bucket", fmt.Errorf("%q has a slash: what follows it belongs into prefix", o.Bucket))
			}
			return nil
		},
		Scheme: "s3",
		ParseURL: func(text string) (any, error) {
			u, err := url.Parse(text)
			if err != nil || u.Host == "" || u.User != nil {
				return nil, errors.New("it is to be like s3://bucket/prefix, without credentials")
			}
			return storeOptions{Bucket: u.Host, Prefix: strings.TrimPrefix(u.Path, "/"), Endpoint: u.Query().Get("endpoint")}, nil
		},
	}
}

// containerOptions are the options of a container.
type containerOptions struct {
	Engine       string `json:"engine,omitempty" jsonschema:"The engine's client, such as docker or podman. docker if it is left out."`
	Container    string `json:"container,omitempty" jsonschema:"A container that is running."`
	Image        string `json:"image,omitempty" jsonschema:"The image of a new container, which is removed in the end."`
	WorkspaceDir string `json:"workspaceDir,omitempty" jsonschema:"The absolute path of the directory that is the workspace. The one in which the container starts programs if it is left out."`
}

func containerKind() config.Kind {
	return config.Kind{
		Summary: "A directory in a container.",
		Options: containerOptions{},
		Open:    outOfReach,
		Scheme:  "docker",
		ParseURL: func(text string) (any, error) {
			u, err := url.Parse(text)
			if err != nil || u.Host == "" {
				return nil, errors.New("it is to be like docker://container/directory")
			}
			return containerOptions{Container: u.Host, WorkspaceDir: u.Path}, nil
		},
	}
}

func outOfReach(context.Context, config.Input) (workspace.FileSystem, error) {
	return nil, fmt.Errorf("it is out of reach of this test: %w", workspace.ErrUnavailable)
}
