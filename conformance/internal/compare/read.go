package compare

import (
	"context"
	"fmt"
	"io"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/workspace"
)

// readFile draws a ReadFile. The bytes are changed afterwards: a side that
// shares them with its store shows that in a later step.
func (g *generators) readFile() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name := g.name.Draw(t, "name")
		return step{text: fmt.Sprintf("ReadFile(%q)", name), names: []string{name}, do: func(ctx context.Context, s *side) (any, error) {
			data, err := s.fsys.ReadFile(ctx, name)
			return scribbled(data), err
		}}
	})
}

// readVersioned draws a ReadVersioned with a limit near the sizes of files.
// Content and version are noted, so that the same version with other bytes is a
// fault.
func (g *generators) readVersioned() *rapid.Generator[step] {
	limits := sampled([]int64{0, 0, 1, 2, 5, 10, 100, 9000, -1})
	return rapid.Custom(func(t *rapid.T) step {
		name, limit := g.name.Draw(t, "name"), limits.Draw(t, "limit")
		return step{text: fmt.Sprintf("ReadVersioned(%q, %d)", name, limit), names: []string{name}, nonsense: limit < 0, do: func(ctx context.Context, s *side) (any, error) {
			data, version, err := workspace.ReadVersioned(ctx, s.fsys, name, limit)
			content := scribbled(data)
			if err == nil {
				s.read(name, version, content)
			}
			return content, err
		}}
	})
}

// open draws an Open with a window. The bounds are near the sizes of most
// contents, far after their ends, and sometimes negative.
func (g *generators) open() *rapid.Generator[step] {
	bounds := sampled([]int64{0, 0, 1, 2, 3, 5, 10, 5000, 1 << 40, -1})
	return rapid.Custom(func(t *rapid.T) step {
		name := g.name.Draw(t, "name")
		opts := &workspace.OpenOptions{Offset: bounds.Draw(t, "offset"), Length: bounds.Draw(t, "length")}
		nonsense := opts.Offset < 0 || opts.Length < 0
		return step{text: fmt.Sprintf("Open(%q, %+v)", name, *opts), names: []string{name}, nonsense: nonsense, do: func(ctx context.Context, s *side) (any, error) {
			stream, info, err := workspace.Open(ctx, s.fsys, name, opts)
			if err != nil {
				return nil, err
			}
			defer stream.Close()
			data, err := io.ReadAll(stream)
			return []any{s.entry(info), string(data)}, err
		}}
	})
}

// stat draws a Stat. No difference of errors is excused, as there is nothing
// but the name.
func (g *generators) stat() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name := g.name.Draw(t, "name")
		return step{text: fmt.Sprintf("Stat(%q)", name), do: func(ctx context.Context, s *side) (any, error) {
			info, err := s.fsys.Stat(ctx, name)
			if err != nil {
				return nil, err
			}
			return s.entry(info), nil
		}}
	})
}

// resolve draws a Resolve.
func (g *generators) resolve() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name := g.name.Draw(t, "name")
		return step{text: fmt.Sprintf("Resolve(%q)", name), do: func(ctx context.Context, s *side) (any, error) {
			return workspace.Resolve(ctx, s.fsys, name)
		}}
	})
}
