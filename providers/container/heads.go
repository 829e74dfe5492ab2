package container

import (
	"context"
	"slices"

	"github.com/workspacekit/workspacekit/internal/lines"
)

// shortHead is how many bytes of a file tell in most cases that it is binary.
const shortHead = 512

// heads reads the beginnings of those of some files of which it is not known, to
// find out which are binary: more of those only of which a little does not tell.
func (fs *files) heads(ctx context.Context, some []*file) error {
	suspect := slices.DeleteFunc(slices.Clone(some), func(e *file) bool { return e.content != unknown })
	for batch := range slices.Chunk(suspect, batchFiles) {
		unsure, err := fs.headsOf(ctx, batch, shortHead)
		if err == nil && len(unsure) > 0 {
			_, err = fs.headsOf(ctx, unsure, lines.BinaryWindow)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// headsOf reads so many bytes of files, and returns those of which it cannot be
// told from these. What is gone, or has changed, is left for reading it to tell.
func (fs *files) headsOf(ctx context.Context, batch []*file, size int64) (unsure []*file, err error) {
	p, err := fs.fetch(ctx, batch, size)
	if err != nil {
		return nil, err
	}
	for _, e := range batch {
		head := p.sent[e]
		switch {
		case head == nil:
			e.alone = e.alone || p.isLost(e)
		case lines.IsBinary(head):
			fs.note(e, binary)
		case size < lines.BinaryWindow && int64(len(head)) == size:
			unsure = append(unsure, e)
		default:
			fs.note(e, lateNUL)
		}
	}
	return unsure, nil
}
