package workspacekit

import (
	"fmt"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// NewRegistry returns a registry of the kinds of provider that come with this
// module: localbash, memory, objectstore, container and kubernetes. More can be
// registered with it.
func NewRegistry() *config.Registry {
	r := &config.Registry{}
	for _, builtin := range []struct {
		name string
		kind kind.Kind
	}{
		{"localbash", localbash.Kind()},
		{"memory", memory.Kind()},
		{"objectstore", objectstore.Kind()},
		{"container", container.Kind()},
		{"kubernetes", container.PodKind()},
	} {
		if err := r.Register(builtin.name, builtin.kind); err != nil {
			panic(fmt.Sprintf("workspacekit: %v", err)) // a mistake in this package, which any test finds
		}
	}
	return r
}
