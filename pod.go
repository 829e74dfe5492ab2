package workspacekit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// podOptions are the options of a pod in Kubernetes.
type podOptions struct {
	Pod          string        `json:"pod" jsonschema:"The pod, which is running, or what stands for one, such as deploy/web."`
	Container    string        `json:"container,omitempty" jsonschema:"The container of the pod. Its default one if it is left out."`
	Namespace    string        `json:"namespace,omitempty" jsonschema:"The namespace of the pod. That of the context if it is left out."`
	Context      string        `json:"context,omitempty" jsonschema:"The context of kubectl's configuration. The current one if it is left out."`
	WorkspaceDir string        `json:"workspaceDir,omitempty" jsonschema:"The absolute path of the directory that is the workspace. The one in which the container starts programs if it is left out."`
	Shells       int           `json:"shells,omitempty" jsonschema:"How many requests are made at a time. 4 if it is left out."`
	Timeout      time.Duration `json:"timeout,omitempty" jsonschema:"How long kubectl, or a program in the container, may be silent while a call waits for it. 10m if it is left out."`
}

func podKind() config.Kind {
	return config.Kind{
		Summary:  "A directory in a pod of Kubernetes, by kubectl.",
		Options:  podOptions{},
		Open:     openPod,
		Check:    checkPod,
		Grants:   grantsOfPod,
		Scheme:   "kubectl",
		ParseURL: parsePod,
		About:    aboutPod,
		Ref: func(_ context.Context, _ workspace.FileSystem, in config.Input) (any, error) {
			var o podOptions
			err := in.Decode(&o)
			return o, err
		},
	}
}

func openPod(ctx context.Context, in config.Input) (workspace.FileSystem, error) {
	var o podOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	return container.Open(ctx, &container.Options{
		Executor: container.Kubectl(o.Pod, o.Container, o.flags()...), Root: o.WorkspaceDir, Shells: o.Shells, Timeout: o.Timeout, Lazy: true,
	})
}

// flags returns what kubectl needs to find the pod.
func (o podOptions) flags() []string {
	var flags []string
	if o.Context != "" {
		flags = append(flags, "--context="+o.Context)
	}
	if o.Namespace != "" {
		flags = append(flags, "--namespace="+o.Namespace)
	}
	return flags
}

func checkPod(in config.Input) error {
	var o podOptions
	if err := in.Decode(&o); err != nil {
		return err
	}
	var errs []error
	if o.Pod == "" || strings.HasPrefix(o.Pod, "-") {
		errs = append(errs, config.KeyError("pod", fmt.Errorf("%q is not the name of a pod", o.Pod)))
	}
	return errors.Join(append(errs, checkWorkspaceDir(o.WorkspaceDir), checkNotNegative("shells", o.Shells), checkNotNegative("timeout", o.Timeout))...)
}

func grantsOfPod(in config.Input) ([]string, error) {
	var o podOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("the pod %q, by kubectl with your configuration", o.Pod)}, nil
}

// parsePod reads kubectl://POD/DIR?container=NAME&namespace=NAME&context=NAME.
func parsePod(text string) (any, error) {
	u, err := parseNamed(text, "container", "namespace", "context")
	if err != nil {
		return nil, fmt.Errorf("%w: it is to be like kubectl://pod/directory?container=name&namespace=name&context=name", err)
	}
	query := u.Query()
	return podOptions{
		Pod: u.Host, WorkspaceDir: u.Path,
		Container: query.Get("container"), Namespace: query.Get("namespace"), Context: query.Get("context"),
	}, nil
}
