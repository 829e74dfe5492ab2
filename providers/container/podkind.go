package container

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// podSettings are the options of a pod in Kubernetes.
type podSettings struct {
	Pod          string        `json:"pod" jsonschema:"The running pod, or a selection such as deploy/web: then the oldest pod that is ready, or running if none is, until the workspace is closed."`
	Container    string        `json:"container,omitempty" jsonschema:"The container of the pod. Default: the pod's default container."`
	Namespace    string        `json:"namespace,omitempty" jsonschema:"The namespace of the pod. Default: the namespace of the context."`
	Context      string        `json:"context,omitempty" jsonschema:"The context of kubectl's configuration. Default: the current one."`
	WorkspaceDir string        `json:"workspaceDir,omitempty" jsonschema:"The absolute path of the workspace. Default: the working directory of the container."`
	Shells       int           `json:"shells,omitempty" jsonschema:"How many requests are sent at the same time. Default: 4."`
	Timeout      time.Duration `json:"timeout,omitempty" jsonschema:"How long a call waits for a silent kubectl or program in the container; for a new shell and kubectl get 1m at most. Default: 10m."`
	UID          string        `json:"uid,omitempty" jsonschema:"The UID that the pod must have, as references have it. Default: any."`
}

// PodKind describes pods in Kubernetes to package config.
func PodKind() kind.Kind {
	return kind.Kind{
		Summary:  "A directory in a pod of Kubernetes, by kubectl.",
		Options:  podSettings{},
		Open:     openPod,
		Check:    checkPod,
		Grants:   grantsOfPod,
		Scheme:   "kubectl",
		ParseURL: parsePod,
		About:    aboutPod,
		Ref:      refPod,
	}
}

func openPod(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
	var o podSettings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	pod := engine.Pod{Command: append([]string{"kubectl"}, o.flags()...), Name: o.Pod, Container: o.Container, UID: o.UID}
	return Open(ctx, &Options{
		Executor: &kubectl{pod}, Root: o.WorkspaceDir, Shells: o.Shells, Timeout: o.Timeout, Lazy: true,
	})
}

// flags returns what kubectl needs to find the pod.
func (o podSettings) flags() []string {
	var flags []string
	if o.Context != "" {
		flags = append(flags, "--context="+o.Context)
	}
	if o.Namespace != "" {
		flags = append(flags, "--namespace="+o.Namespace)
	}
	return flags
}

func checkPod(in kind.Input) error {
	var o podSettings
	if err := in.Decode(&o); err != nil {
		return err
	}
	var errs []error
	if !podName().MatchString(o.Pod) {
		errs = append(errs, kind.KeyError("pod", fmt.Errorf("%q is not the name of a pod", o.Pod)))
	}
	return errors.Join(append(errs, checkLabel("namespace", o.Namespace), checkLabel("container", o.Container), checkWorkspaceDir(o.WorkspaceDir), checkNotNegative("shells", o.Shells), checkNotNegative("timeout", o.Timeout))...)
}

// checkLabel returns what is wrong with a name that may be missing.
func checkLabel(key, name string) error {
	if name == "" || labelName().MatchString(name) {
		return nil
	}
	return kind.KeyError(key, fmt.Errorf("%q is not a name: use lower-case letters, digits, and in between dashes", name))
}

// checkWorkspaceDir returns what is wrong with a directory in a container.
func checkWorkspaceDir(dir string) error {
	if dir == "" || path.IsAbs(dir) {
		return nil
	}
	return kind.KeyError("workspaceDir", fmt.Errorf("%q is not absolute: name a path in the container, such as /workspace", dir))
}

func grantsOfPod(in kind.Input) ([]string, error) {
	var o podSettings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("the pod %q, by kubectl with your configuration", o.Pod)}, nil
}

// parsePod reads kubectl://POD/DIR?container=NAME&namespace=NAME&context=NAME.
func parsePod(text string) (any, error) {
	u, err := parseNamed(text, "kubectl://pod/directory?container=name&namespace=name&context=name", "container", "namespace", "context")
	if err != nil {
		return nil, err
	}
	query := u.Query()
	return podSettings{
		Pod: u.Host, WorkspaceDir: u.Path,
		Container: query.Get("container"), Namespace: query.Get("namespace"), Context: query.Get("context"),
	}, nil
}

// refPod returns the options of the pod in which fsys is, which is found out for
// that if the options name what selects pods. The pod of a name that fsys has not
// used yet is whatever has it then.
func refPod(ctx context.Context, fsys workspace.FileSystem, in kind.Input) (any, error) {
	var o podSettings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	if strings.Contains(o.Pod, "/") {
		if _, err := fsys.Stat(ctx, "."); err != nil {
			return nil, err
		}
	}
	f, ok := workspace.As[*FS](fsys)
	if !ok {
		return nil, errors.New("it is no pod")
	}
	if found := f.store.start.found.Load(); found != nil {
		if k, ok := found.executor.(*kubectl); ok {
			o.Pod, o.UID = k.pod.Name, k.pod.UID
		}
	}
	return o, nil
}

// aboutPod says which Kubernetes the pod is in, and nothing if that cannot be
// asked: a user of a pod need not be one of its cluster's version.
func aboutPod(ctx context.Context, _ workspace.FileSystem, in kind.Input) (string, error) {
	var o podSettings
	if err := in.Decode(&o); err != nil {
		return "", err
	}
	said, err := AboutKubernetes(ctx, o.flags()...)
	if err != nil {
		return "", ctx.Err()
	}
	return said, nil
}
