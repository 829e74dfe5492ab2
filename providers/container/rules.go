package container

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// rules are the ignore files of a tree.
type rules struct {
	files []*file

	mu   sync.Mutex       // guards data
	data map[*file][]byte // their bytes; nil before they are asked for
}

// readRules returns the bytes of an ignore file. All of them are read with the
// first. It returns false for one that has to be read alone.
func (fs *files) readRules(ctx context.Context, e *file) ([]byte, bool, error) {
	if fs.c.Exact {
		return nil, false, nil
	}
	fs.rules.mu.Lock()
	defer fs.rules.mu.Unlock()
	if fs.rules.data == nil {
		all := map[*file][]byte{}
		for batch := range slices.Chunk(fs.rules.files, batchFiles) {
			p, err := fs.fetch(ctx, batch, 0)
			if err != nil {
				return nil, false, err
			}
			maps.Copy(all, p.sent)
		}
		fs.rules.data = all
	}
	data := fs.rules.data[e]
	return data, data != nil, nil
}
