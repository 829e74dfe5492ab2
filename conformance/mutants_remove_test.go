package conformance_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

type (
	rmFunc    = func(ctx context.Context, name string, opts *workspace.RmOptions) error
	mkdirFunc = func(ctx context.Context, name string, opts *workspace.MkdirOptions) error
	moveFunc  = func(ctx context.Context, source, destination string) error
)

func mutateRm(change func(h *hooked, rm rmFunc) rmFunc) func(*hooked) {
	return func(h *hooked) { h.rm = change(h, h.rm) }
}

func mutateMkdir(change func(h *hooked, mkdir mkdirFunc) mkdirFunc) func(*hooked) {
	return func(h *hooked) { h.mkdir = change(h, h.mkdir) }
}

func mutateMove(change func(h *hooked, move moveFunc) moveFunc) func(*hooked) {
	return func(h *hooked) { h.move = change(h, h.move) }
}

func removeMutants() []mutant {
	return []mutant{
		{"rm-does-nothing", mutateRm(func(*hooked, rmFunc) rmFunc {
			return func(context.Context, string, *workspace.RmOptions) error { return nil }
		}), []string{"Rm/file", "Rm/empty-directory", "Rm/recursive-empty-directory", "Rm/recursive", "Rm/recursive-file", "Rm/twice", "Rm/recursive-missing", "Mkdir/after-rm", "Rm/and-write-again", "Rm/recursive-eleven-hundred", "Property/random-operations"}},
		{"rm-always-recursive", mutateRm(alwaysRecursive), []string{"Rm/not-empty"}},
		{"rm-never-recursive", mutateRm(neverRecursive), []string{"Rm/recursive"}},
		{"rm-files-only", mutateRm(filesOnly), []string{"Rm/empty-directory", "Rm/recursive-empty-directory"}},
		{"rm-by-prefix", mutateRm(byPrefix), []string{"Rm/prefix-of-siblings"}},
		{"rm-by-prefix-below-the-root", mutateRm(byPrefixBelow), []string{"Rm/prefix-of-siblings"}},
		{"rm-sees-no-dot-files", mutateRm(seesNoDotFiles), []string{"Rm/not-empty"}},
		{"rm-prunes-empty-parents", mutateRm(prunesParents), []string{"Rm/last-file-leaves-directory", "Mkdir/file-in-new-directory"}},
		{"rm-missing-is-fine", mutateRm(missingIsFine), []string{"Rm/twice", "Rm/recursive-missing", "Errors/rm-missing", "Errors/rm-recursive-missing"}},
		{"rm-clears-the-root", mutateRm(clearsRoot), []string{"Rm/root", "Rm/empty-root"}},
		{"rm-thousand-at-most", mutateRm(thousandAtMost), []string{"Rm/recursive-eleven-hundred"}},
		{"rm-leaves-orphans", mutateRm(rmLeavesOrphans), []string{"Rm/recursive-eleven-hundred"}},
		{"rm-not-empty-removes-files", mutateRm(removesThenRefuses), []string{"Rm/not-empty"}},
		{"rm-not-empty-removes-one-of-several", mutateRm(removesOneOfSeveral), []string{"Rm/not-empty"}},
		{"mkdir-does-nothing", mutateMkdir(func(*hooked, mkdirFunc) mkdirFunc {
			return func(context.Context, string, *workspace.MkdirOptions) error { return nil }
		}), []string{"Mkdir/new", "Mkdir/in-directory", "Mkdir/recursive", "Mkdir/existing", "Names/unusual-spaces"}},
		{"mkdir-always-recursive", mutateMkdir(mkdirRecursive(true)), []string{"Mkdir/existing", "Mkdir/missing-parent"}},
		{"mkdir-never-recursive", mutateMkdir(mkdirRecursive(false)), []string{"Mkdir/recursive", "Mkdir/recursive-existing", "Mkdir/recursive-file"}},
		{"mkdir-recursive-makes-four-levels", mutateMkdir(makesFourLevels), []string{"Mkdir/recursive"}},
		{"mkdir-replaces-files", mutateMkdir(replacesFiles), []string{"Mkdir/recursive-file", "Mkdir/existing"}},
		{"mkdir-refused-makes-parents", mutateMkdir(refusedMakesParents), []string{"Mkdir/missing-parent"}},
		{"mkdir-leaves-a-marker", mutateMkdir(leavesMarker), []string{"Mkdir/new", "Ls/empty-directory"}},
		{"move-copies", mutateMove(moveCopies), []string{"Move/file", "Wrappers/moving"}},
		{"move-leaves-a-link", mutateMove(moveLinks), []string{"Move/and-write-again"}},
		{"move-files-only", mutateMove(moveFilesOnly), []string{"Move/directory", "Move/empty-directory", "Move/prefix-of-siblings"}},
		{"move-thousand-at-most", mutateMove(moveThousand), []string{"Ls/eleven-hundred"}},
		{"move-leaves-orphans", mutateMove(moveLeavesOrphans), []string{"Ls/eleven-hundred"}},
		{"move-fails-at-once", mutateMove(func(*hooked, moveFunc) moveFunc {
			return func(_ context.Context, source, _ string) error {
				return ops.Error(ops.Move, source, workspace.ErrUnavailable, nil)
			}
		}), []string{"Move/at-every-moment-one-name"}},
		{"move-replaces", mutateMove(moveReplaces), []string{"Move/existing-destination", "Move/onto-itself", "Move/race-for-destination"}},
		{"move-needs-parents", mutateMove(moveNeedsParents), []string{"Move/missing-parents"}},
		{"move-prunes-parents", mutateMove(movePrunes), []string{"Move/leaves-parent"}},
		{"move-by-prefix", mutateMove(moveByPrefix), []string{"Move/prefix-of-siblings"}},
		{"move-below-itself-loses", mutateMove(moveBelowLoses), []string{"Move/below-itself"}},
		{"move-below-itself-is-taken", mutateMove(moveBelowTaken), []string{"Move/below-itself"}},
		{"move-below-file-is-invalid", mutateMove(moveBelowFileInvalid), []string{"Move/below-file"}},
		{"move-of-root-works", mutateMove(moveOfRoot), []string{"Move/root"}},
		{"move-removes-first", mutateMove(moveRemovesFirst), []string{"Move/at-every-moment-one-name", "Move/race-for-source"}},
		{"move-checks-then-moves", mutateMove(moveChecksFirst), []string{"Move/race-for-destination"}},
		{"move-refused-makes-parents", mutateMove(moveRefusedMakesParents), []string{"Errors/move-source-missing"}},
		{"move-leaves-the-empty-directories", mutateMove(moveLosesEmpty), []string{"Move/directory", "Move/empty-directory"}},
	}
}

func alwaysRecursive(_ *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, _ *workspace.RmOptions) error {
		return rm(ctx, name, &workspace.RmOptions{Recursive: true})
	}
}

func neverRecursive(_ *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, _ *workspace.RmOptions) error { return rm(ctx, name, nil) }
}

func filesOnly(h *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		if info, err := h.reference.Stat(ctx, name); err == nil && info.IsDir() {
			return ops.Error(ops.Rm, name, workspace.ErrIsDir, nil)
		}
		return rm(ctx, name, opts)
	}
}

func byPrefix(h *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		err := rm(ctx, name, opts)
		for other := range h.reference.nodes {
			if err == nil && strings.HasPrefix(other, name) {
				delete(h.reference.nodes, other)
			}
		}
		return err
	}
}

// byPrefixBelow is byPrefix for the directories in directories.
func byPrefixBelow(h *hooked, rm rmFunc) rmFunc {
	wrong := byPrefix(h, rm)
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		if info, err := h.reference.Stat(ctx, name); err == nil && info.IsDir() && strings.Contains(name, "/") {
			return wrong(ctx, name, opts)
		}
		return rm(ctx, name, opts)
	}
}

func seesNoDotFiles(h *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		isShown := func(child string) bool { return child[0] != '.' }
		if children := h.reference.children(name); len(children) > 0 && !slices.ContainsFunc(children, isShown) && name != "." {
			opts = &workspace.RmOptions{Recursive: true}
		}
		return rm(ctx, name, opts)
	}
}

func prunesParents(h *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		err := rm(ctx, name, opts)
		for dir := path.Dir(name); err == nil && dir != "." && len(h.reference.children(dir)) == 0; dir = path.Dir(dir) {
			delete(h.reference.nodes, dir)
		}
		return err
	}
}

func missingIsFine(_ *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		err := rm(ctx, name, opts)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
}

func clearsRoot(h *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		if name == "." {
			h.reference.nodes = newReference().nodes
			return nil
		}
		return rm(ctx, name, opts)
	}
}

// orphans calls remove, and then puts back what a directory had after the first thousand
// children, without the directory.
func orphans(h *hooked, dir string, remove func() error) error {
	h.reference.mu.Lock()
	before, children := maps.Clone(h.reference.nodes), h.reference.children(dir)
	h.reference.mu.Unlock()
	err := remove()
	if err == nil && len(children) > 1000 {
		for _, child := range children[1000:] {
			h.reference.nodes[dir+"/"+child] = before[dir+"/"+child]
		}
	}
	return err
}

func rmLeavesOrphans(h *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		return orphans(h, name, func() error { return rm(ctx, name, opts) })
	}
}

func moveLeavesOrphans(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		return orphans(h, source, func() error { return move(ctx, source, destination) })
	}
}

func thousandAtMost(h *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		children := h.reference.children(name)
		if len(children) <= 1000 {
			return rm(ctx, name, opts)
		}
		for _, child := range children[:1000] {
			delete(h.reference.nodes, name+"/"+child)
		}
		return nil
	}
}

func removesThenRefuses(h *hooked, rm rmFunc) rmFunc {
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		err := rm(ctx, name, opts)
		if errors.Is(err, workspace.ErrNotEmpty) {
			delete(h.reference.nodes, name+"/"+h.reference.children(name)[0])
		}
		return err
	}
}

func removesOneOfSeveral(h *hooked, rm rmFunc) rmFunc {
	wrong := removesThenRefuses(h, rm)
	return func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		if len(h.reference.children(name)) > 1 && name != "." {
			return wrong(ctx, name, opts)
		}
		return rm(ctx, name, opts)
	}
}

func mkdirRecursive(recursive bool) func(*hooked, mkdirFunc) mkdirFunc {
	return func(_ *hooked, mkdir mkdirFunc) mkdirFunc {
		return func(ctx context.Context, name string, _ *workspace.MkdirOptions) error {
			return mkdir(ctx, name, &workspace.MkdirOptions{Recursive: recursive})
		}
	}
}

// makesFourLevels does nothing for a directory further down.
func makesFourLevels(_ *hooked, mkdir mkdirFunc) mkdirFunc {
	return func(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
		if opts != nil && opts.Recursive && strings.Count(name, "/") >= 4 {
			return nil
		}
		return mkdir(ctx, name, opts)
	}
}

func replacesFiles(h *hooked, mkdir mkdirFunc) mkdirFunc {
	return func(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
		if n := h.reference.nodes[name]; n != nil && n.kind == workspace.TypeFile {
			delete(h.reference.nodes, name)
		}
		return mkdir(ctx, name, opts)
	}
}

func refusedMakesParents(h *hooked, mkdir mkdirFunc) mkdirFunc {
	return func(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
		err := mkdir(ctx, name, opts)
		if errors.Is(err, fs.ErrNotExist) {
			h.reference.makeParents(name)
		}
		return err
	}
}

func leavesMarker(h *hooked, mkdir mkdirFunc) mkdirFunc {
	return func(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
		if err := mkdir(ctx, name, opts); err != nil {
			return err
		}
		_, err := h.reference.WriteFile(ctx, workspace.Join(name, ".keep"), nil, nil)
		return err
	}
}

func moveCopies(h *hooked, _ moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		_, err := workspace.Copy(ctx, h.reference, source, destination)
		return err
	}
}

// moveLinks sends later writes of the old name to the new one.
func moveLinks(h *hooked, move moveFunc) moveFunc {
	links := make(map[string]string)
	write := h.writeFile
	h.writeFile = func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if other := links[name]; other != "" {
			name = other
		}
		return write(ctx, name, data, opts)
	}
	return func(ctx context.Context, source, destination string) error {
		links[source] = destination
		return move(ctx, source, destination)
	}
}

func moveFilesOnly(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		if info, err := h.reference.Stat(ctx, source); err == nil && info.IsDir() {
			return ops.Error(ops.Move, source, workspace.ErrIsDir, nil)
		}
		return move(ctx, source, destination)
	}
}

// moveThousand loses the children of a directory after the first thousand.
func moveThousand(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		err := move(ctx, source, destination)
		if names := h.reference.children(destination); err == nil && len(names) > 1000 {
			for _, name := range names[1000:] {
				delete(h.reference.nodes, workspace.Join(destination, name))
			}
		}
		return err
	}
}

func moveReplaces(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		h.reference.mu.Lock()
		if h.reference.nodes[source] != nil && destination != "." {
			delete(h.reference.nodes, destination)
		}
		h.reference.mu.Unlock()
		return move(ctx, source, destination)
	}
}

func moveNeedsParents(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		if _, err := h.reference.Stat(ctx, path.Dir(destination)); err != nil {
			return ops.Error(ops.Move, destination, fs.ErrNotExist, nil)
		}
		return move(ctx, source, destination)
	}
}

func moveRefusedMakesParents(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		err := move(ctx, source, destination)
		if errors.Is(err, fs.ErrNotExist) {
			h.reference.makeParents(destination)
		}
		return err
	}
}

func movePrunes(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		err := move(ctx, source, destination)
		if dir := path.Dir(source); err == nil && dir != "." && len(h.reference.children(dir)) == 0 {
			delete(h.reference.nodes, dir)
		}
		return err
	}
}

func moveByPrefix(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		err := move(ctx, source, destination)
		for name, n := range h.reference.nodes {
			if err == nil && strings.HasPrefix(name, source) && !strings.HasPrefix(name, destination) {
				delete(h.reference.nodes, name)
				h.reference.nodes[destination+name[len(source):]] = n
			}
		}
		return err
	}
}

func moveBelowLoses(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		if strings.HasPrefix(destination, source+"/") {
			return h.reference.Rm(ctx, source, &workspace.RmOptions{Recursive: true})
		}
		return move(ctx, source, destination)
	}
}

// moveBelowTaken looks first whether the destination exists.
func moveBelowTaken(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		if _, err := h.reference.Stat(ctx, destination); err == nil {
			return ops.Error(ops.Move, destination, fs.ErrExist, nil)
		}
		return move(ctx, source, destination)
	}
}

// moveBelowFileInvalid takes a file for a directory.
func moveBelowFileInvalid(_ *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		err := move(ctx, source, destination)
		if strings.HasPrefix(destination, source+"/") && errors.Is(err, workspace.ErrNotDir) {
			return ops.Error(ops.Move, source, fs.ErrInvalid, nil)
		}
		return err
	}
}

func moveOfRoot(_ *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		if source == "." {
			return nil
		}
		return move(ctx, source, destination)
	}
}

// moveRemovesFirst gives others the time to look for both names in between.
func moveRemovesFirst(h *hooked, _ moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		data, err := h.reference.ReadFile(ctx, source)
		if err != nil {
			return ops.Rename(err, ops.Move, source)
		}
		yield()
		h.reference.Rm(ctx, source, nil)
		h.awaitLooks()
		_, err = h.reference.WriteFile(ctx, destination, data, nil)
		return err
	}
}

func moveChecksFirst(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		if _, err := h.reference.Stat(ctx, destination); err == nil {
			return ops.Error(ops.Move, destination, fs.ErrExist, nil)
		}
		yield()
		h.reference.Rm(ctx, destination, &workspace.RmOptions{Recursive: true})
		return move(ctx, source, destination)
	}
}

// moveLosesEmpty moves files only, as a store without directories does.
func moveLosesEmpty(h *hooked, move moveFunc) moveFunc {
	return func(ctx context.Context, source, destination string) error {
		err := move(ctx, source, destination)
		for name, n := range h.reference.nodes {
			if err == nil && n.kind == workspace.TypeDirectory && strings.HasPrefix(name, destination) && len(h.reference.children(name)) == 0 {
				delete(h.reference.nodes, name)
			}
		}
		return err
	}
}
