package gitstage

import (
	"context"
	"os"
)

// ReadIndex copies the index in the git directory dir to own.
func ReadIndex(ctx context.Context, dir, own string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return (&storage{own: own, dir: root}).readIndex(ctx)
}
