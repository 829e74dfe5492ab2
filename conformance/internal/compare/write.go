package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/workspace"
)

// condition is the options of a write. IfVersion is chosen when the write
// begins. Its text is what a sequence shows, as the versions of the two sides
// differ.
type condition string

// The conditions that are drawn. ifBoth is refused whatever the file is, and
// "*" is a version like any other, although HTTP has another meaning for it.
const (
	noOptions   condition = "nil"
	zeroOptions condition = "{}"
	ifNotExist  condition = "{IfNotExist}"
	ifCurrent   condition = "{IfVersion: the current one}"
	ifStale     condition = "{IfVersion: an earlier one}"
	ifForeign   condition = "{IfVersion: of no file}"
	ifOdd       condition = `{IfVersion: "*"}`
	ifBoth      condition = "{IfNotExist, IfVersion: the current one}"
)

// needs returns the capability that the condition takes. Nil means that every
// file system can do it. One that cannot must refuse, and the reference then
// leaves the write out.
func (c condition) needs() func(workspace.Capabilities) bool {
	if c == noOptions || c == zeroOptions {
		return nil
	}
	return func(caps workspace.Capabilities) bool { return caps.ConditionalWrite }
}

// options returns the options for one side: a version is a string of its own on
// each. If the file has no version now, the condition is one that no file has:
// the write must not create it.
func (c condition) options(ctx context.Context, s *side, name string) *workspace.WriteOptions {
	switch c {
	case noOptions:
		return nil
	case zeroOptions:
		return &workspace.WriteOptions{}
	case ifNotExist:
		return &workspace.WriteOptions{IfNotExist: true}
	case ifStale:
		return &workspace.WriteOptions{IfVersion: s.stale(name)}
	case ifForeign:
		return &workspace.WriteOptions{IfVersion: foreignVersion}
	case ifOdd:
		return &workspace.WriteOptions{IfVersion: "*"}
	}
	opts := &workspace.WriteOptions{IfVersion: foreignVersion, IfNotExist: c == ifBoth}
	if info, err := s.fsys.Stat(ctx, name); err == nil && info.Version != "" {
		opts.IfVersion = info.Version
	}
	return opts
}

// stale returns a version that the file name had with other bytes than now, the
// latest of them. If there is none, it returns a version of no file.
func (s *side) stale(name string) workspace.Version {
	writes := s.versions.written[cleaned(name)]
	for i := len(writes) - 1; i >= 0; i-- {
		if writes[i].version != "" && writes[i].content != writes[len(writes)-1].content {
			return writes[i].version
		}
	}
	return foreignVersion
}

// writeFile draws a WriteFile.
func (g *generators) writeFile() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		return g.write(t, g.name.Draw(t, "name"), g.condition.Draw(t, "condition"))
	})
}

// write draws a write with a condition. The data is changed after the write, so
// a side that keeps the slice shows other bytes later.
func (g *generators) write(t *rapid.T, name string, cond condition) step {
	content := g.contentOf(t, name)
	text := fmt.Sprintf("WriteFile(%q, %s, %s)", name, Brief(content), cond)
	return step{text: text, names: []string{name}, nonsense: cond == ifBoth, needs: cond.needs(), do: func(ctx context.Context, s *side) (any, error) {
		data := []byte(content)
		version, err := s.fsys.WriteFile(ctx, name, data, cond.options(ctx, s, name))
		scribbled(data)
		if err == nil {
			s.wrote(name, version, content)
		}
		return nil, err
	}}
}

// create writes in up to three parts, and looks before it commits or discards
// them.
func (g *generators) create() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name, cond := g.name.Draw(t, "name"), g.condition.Draw(t, "condition")
		parts := rapid.SliceOfN(rapid.Just(g.contentOf(t, name)), 0, 3).Draw(t, "parts")
		text := fmt.Sprintf("Create(%q, %s), Write %s in %d parts", name, cond, Brief(strings.Join(parts, "")), len(parts))
		if rapid.IntRange(0, 3).Draw(t, "discard") == 3 {
			return step{text: text + ", Close", do: func(ctx context.Context, s *side) (any, error) {
				s.discard(ctx, name, parts, cond.options(ctx, s, name))
				return nil, nil
			}}
		}
		return step{text: text + ", Commit", names: []string{name}, nonsense: cond == ifBoth, needs: cond.needs(), do: func(ctx context.Context, s *side) (any, error) {
			return s.create(ctx, name, parts, cond.options(ctx, s, name))
		}}
	})
}

// create writes a stream and returns how that ended.
func (s *side) create(ctx context.Context, name string, parts []string, opts *workspace.WriteOptions) (any, error) {
	w, err := workspace.Create(ctx, s.fsys, name, opts)
	if err != nil {
		return nil, err
	}
	defer s.close(w)
	for _, part := range parts {
		data := []byte(part)
		if n, err := w.Write(data); err != nil {
			return nil, err
		} else if n != len(part) {
			s.fault("Write of %d bytes = %d", len(part), n)
		}
		scribbled(data)
	}
	var before any
	if info, err := s.fsys.Stat(ctx, name); err == nil {
		before = s.entry(info)
	}
	version, err := w.Commit()
	if err == nil {
		s.wrote(name, version, strings.Join(parts, ""))
	}
	return before, err
}

// discard may fail on one side alone, as what Commit would refuse can be
// refused before. So its answer is empty, and only what is left of it is
// compared.
func (s *side) discard(ctx context.Context, name string, parts []string, opts *workspace.WriteOptions) {
	w, err := workspace.Create(ctx, s.fsys, name, opts)
	if err != nil {
		return
	}
	defer s.close(w)
	for _, part := range parts {
		if _, err := w.Write([]byte(part)); err != nil {
			return
		}
	}
}

// close closes a writer.
func (s *side) close(w workspace.Writer) {
	if err := w.Close(); err != nil {
		s.fault("Close of a file that was created = %v", err)
	}
}

// mkdir draws a Mkdir.
func (g *generators) mkdir() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name, opts := g.name.Draw(t, "name"), &workspace.MkdirOptions{Recursive: rapid.Bool().Draw(t, "recursive")}
		return step{text: fmt.Sprintf("Mkdir(%q, %+v)", name, *opts), names: []string{name}, do: func(ctx context.Context, s *side) (any, error) {
			return nil, s.fsys.Mkdir(ctx, name, opts)
		}}
	})
}

// rm draws an Rm.
func (g *generators) rm() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name, opts := g.name.Draw(t, "name"), &workspace.RmOptions{Recursive: rapid.Bool().Draw(t, "recursive")}
		return step{text: fmt.Sprintf("Rm(%q, %+v)", name, *opts), names: []string{name}, do: func(ctx context.Context, s *side) (any, error) {
			err := s.fsys.Rm(ctx, name, opts)
			if err == nil {
				s.forget(name)
			}
			return nil, err
		}}
	})
}

// move draws a Move. A move of the root, onto itself or below itself is
// nonsense: what else is wrong with it is up to the file system.
func (g *generators) move() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		source, destination := g.name.Draw(t, "source"), g.free.Draw(t, "destination")
		needs := func(caps workspace.Capabilities) bool { return caps.Move }
		from, to := cleaned(source), cleaned(destination)
		nonsense := from == "." || to == from || strings.HasPrefix(to, from+"/")
		return step{text: fmt.Sprintf("Move(%q, %q)", source, destination), names: []string{source, destination}, nonsense: nonsense, needs: needs, do: func(ctx context.Context, s *side) (any, error) {
			err := workspace.Move(ctx, s.fsys, source, destination)
			if err == nil {
				s.forget(source)
				s.forget(destination)
			}
			return nil, err
		}}
	})
}

// copy draws a Copy. A file system without Copy still copies if it has
// conditional writes, by the fallback.
func (g *generators) copy() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		source, destination := g.name.Draw(t, "source"), g.free.Draw(t, "destination")
		needs := func(caps workspace.Capabilities) bool { return caps.Copy || caps.ConditionalWrite }
		return step{text: fmt.Sprintf("Copy(%q, %q)", source, destination), names: []string{source, destination}, needs: needs, do: func(ctx context.Context, s *side) (any, error) {
			version, err := workspace.Copy(ctx, s.fsys, source, destination)
			if err == nil {
				s.forget(destination)
				s.saw(destination, version)
			}
			return nil, err
		}}
	})
}

// symlink draws a symlink to one of the names, to nothing or out of the tree. Where it cannot
// be, it is not created on either side.
func (g *generators) symlink() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name := g.free.Draw(t, "name")
		target := strings.Repeat("../", strings.Count(name, "/")) + sampled(append(g.names, ".", "none")).Draw(t, "target")
		if rapid.IntRange(0, 19).Draw(t, "out") == 19 {
			target = "../" + target
		}
		return step{text: fmt.Sprintf("symlink %q to %q", name, target), do: func(ctx context.Context, s *side) (any, error) {
			dir, _ := workspace.Split(name)
			if info, err := s.fsys.Stat(ctx, dir); err != nil || !info.IsDir() {
				return false, nil
			}
			if _, err := s.fsys.Stat(ctx, name); !errors.Is(err, fs.ErrNotExist) {
				return false, nil
			}
			s.symlink(target, name)
			return true, nil
		}}
	})
}
