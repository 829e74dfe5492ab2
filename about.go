package workspacekit

import (
	"context"
	"errors"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// aboutStore says what the store calls itself.
func aboutStore(ctx context.Context, fsys workspace.FileSystem, _ config.Input) (string, error) {
	store, ok := workspace.As[*objectstore.FS](fsys)
	if !ok {
		return "", errors.New("it is no bucket")
	}
	return store.Server(ctx)
}

func aboutContainer(ctx context.Context, _ workspace.FileSystem, in config.Input) (string, error) {
	var o containerOptions
	if err := in.Decode(&o); err != nil {
		return "", err
	}
	return container.About(ctx, o.options(in))
}

// aboutPod says which Kubernetes the pod is in, and nothing if that cannot be
// asked: a user of a pod need not be one of its cluster's version.
func aboutPod(ctx context.Context, _ workspace.FileSystem, in config.Input) (string, error) {
	var o podOptions
	if err := in.Decode(&o); err != nil {
		return "", err
	}
	said, err := container.AboutKubernetes(ctx, o.flags()...)
	if err != nil {
		return "", ctx.Err()
	}
	return said, nil
}
