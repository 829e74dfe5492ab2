package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

func optionalMutants() []mutant {
	return slices.Concat(openMutants(), createMutants(), copyMutants(), walkMutants())
}

// mutateWindow is a mutant whose windows go through change before they are
// opened.
func mutateWindow(change func(o *workspace.OpenOptions)) func(*hooked) {
	return func(h *hooked) {
		open := h.open
		h.open = func(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
			var o workspace.OpenOptions
			if opts != nil {
				o = *opts
			}
			change(&o)
			return open(ctx, name, &o)
		}
	}
}

// mutateStream is a mutant whose streams and descriptions go through change.
func mutateStream(change func(ctx context.Context, stream io.ReadCloser, info *workspace.FileInfo) (io.ReadCloser, error)) func(*hooked) {
	return func(h *hooked) {
		open := h.open
		h.open = func(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
			stream, info, err := open(ctx, name, opts)
			if err != nil {
				return nil, info, err
			}
			stream, err = change(ctx, stream, &info)
			return stream, info, err
		}
	}
}

func openMutants() []mutant {
	return []mutant{
		{"open-ignores-offset", mutateWindow(func(o *workspace.OpenOptions) { o.Offset = 0 }), []string{"Open/window", "Open/past-the-end", "Open/window-of-a-large-file", "Open/several-streams", "Wrappers/reading", "Property/random-contents"}},
		{"open-ignores-length", mutateWindow(func(o *workspace.OpenOptions) { o.Length = 0 }), []string{"Open/window", "Open/window-of-a-large-file"}},
		{"open-adds-offset-and-length", mutateWindow(func(o *workspace.OpenOptions) {
			if o.Length > 0 {
				o.Length = max(o.Offset+o.Length, o.Offset+1) - o.Offset
			}
		}), []string{"Open/window"}},
		{"open-negative-is-zero", mutateWindow(func(o *workspace.OpenOptions) { o.Offset, o.Length = max(0, o.Offset), max(0, o.Length) }), []string{"Open/negative"}},
		{"open-tests-the-window-first", func(h *hooked) {
			open := h.open
			h.open = func(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
				if opts != nil && (opts.Offset < 0 || opts.Length < 0) {
					return nil, workspace.FileInfo{}, ops.CheckWindow(name, opts.Offset, opts.Length)
				}
				return open(ctx, name, opts)
			}
		}, []string{"Open/negative"}},
		{"open-needs-length", mutateWindow(func(o *workspace.OpenOptions) { o.Length = max(o.Length, 1) }), []string{"Open/whole"}},
		{"open-64-KiB-are-one-short", mutateStream(oneShort), []string{"Open/window-of-a-large-file"}},
		{"open-size-of-window", mutateStream(sizeOfWindow), []string{"Open/describes"}},
		{"open-version-after-the-stream", openVersionAfter, []string{"Open/version-of-the-bytes"}},
		{"open-past-end-fails", mutateStream(emptyFails), []string{"Open/past-the-end", "Open/whole"}},
		{"open-outlives-context", mutateStream(outlivesContext), []string{"Open/canceled-stream"}},
		{"open-directory-streams-nothing", openDirectoryEmpty, []string{"Open/directory"}},
		{"read-versioned-no-limit", readNoLimit, []string{"ReadVersioned/limit"}},
	}
}

func sizeOfWindow(_ context.Context, stream io.ReadCloser, info *workspace.FileInfo) (io.ReadCloser, error) {
	data, err := io.ReadAll(stream)
	info.Size = int64(len(data))
	return io.NopCloser(bytes.NewReader(data)), err
}

func oneShort(_ context.Context, stream io.ReadCloser, _ *workspace.FileInfo) (io.ReadCloser, error) {
	data, err := io.ReadAll(stream)
	if len(data) == 64<<10 {
		data = data[:len(data)-1]
	}
	return io.NopCloser(bytes.NewReader(data)), err
}

func emptyFails(_ context.Context, stream io.ReadCloser, info *workspace.FileInfo) (io.ReadCloser, error) {
	data, err := io.ReadAll(stream)
	if err == nil && len(data) == 0 {
		err = ops.Error(ops.Open, info.Path, fs.ErrInvalid, errors.New("range not satisfiable"))
	}
	return io.NopCloser(bytes.NewReader(data)), err
}

func outlivesContext(_ context.Context, stream io.ReadCloser, _ *workspace.FileInfo) (io.ReadCloser, error) {
	data, err := io.ReadAll(stream)
	return io.NopCloser(bytes.NewReader(data)), err
}

func openVersionAfter(h *hooked) {
	open := h.open
	h.open = func(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
		stream, _, err := open(ctx, name, opts)
		if err != nil {
			return nil, workspace.FileInfo{}, err
		}
		yield()
		info, err := h.reference.Stat(ctx, name)
		return stream, info, err
	}
}

func openDirectoryEmpty(h *hooked) {
	open := h.open
	h.open = func(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
		stream, info, err := open(ctx, name, opts)
		if errors.Is(err, workspace.ErrIsDir) {
			return io.NopCloser(bytes.NewReader(nil)), info, nil
		}
		return stream, info, err
	}
}

func readNoLimit(h *hooked) {
	read := h.readVersion
	h.readVersion = func(ctx context.Context, name string, _ int64) ([]byte, workspace.Version, error) {
		return read(ctx, name, 0)
	}
}

// mutateWriter is a mutant whose writers go through change.
func mutateWriter(change func(h *hooked, w *writer) workspace.Writer) func(*hooked) {
	return func(h *hooked) {
		create := h.create
		h.create = func(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
			w, err := create(ctx, name, opts)
			if err != nil {
				return nil, err
			}
			return change(h, w.(*writer)), nil
		}
	}
}

func createMutants() []mutant {
	return []mutant{
		{"create-shows-what-is-written", mutateWriter(func(_ *hooked, w *writer) workspace.Writer { return eager{w} }), []string{"Create/invisible-before-commit", "Create/close-discards"}},
		{"create-truncates-at-once", mutateWriter(truncates), []string{"Create/invisible-before-commit", "Create/close-discards", "Create/canceled"}},
		{"create-close-commits", mutateWriter(func(_ *hooked, w *writer) workspace.Writer { return closing{w, true} }), []string{"Create/close-discards"}},
		{"create-close-after-commit-removes", mutateWriter(removesOnClose), []string{"Create/close-after-commit"}},
		{"create-close-twice-fails", mutateWriter(func(_ *hooked, w *writer) workspace.Writer { return closing{w, false} }), []string{"Create/close-after-commit"}},
		{"create-ignores-conditions", mutateWriter(func(_ *hooked, w *writer) workspace.Writer { w.opts = nil; return w }), []string{"Create/if-not-exist", "Create/if-version", "Create/condition-at-commit"}},
		{"create-ignores-conditions-above-5-MiB", mutateWriter(ignoresConditionAbove5MiB), []string{"Create/large-conditions"}},
		{"create-tests-at-the-start", mutateWriter(testsAtStart), []string{"Create/condition-at-commit"}},
		{"create-ignores-context", mutateWriter(func(_ *hooked, w *writer) workspace.Writer { w.ctx = context.Background(); return w }), []string{"Create/canceled", "Create/canceled-write"}},
		{"create-does-nothing", mutateWriter(func(_ *hooked, w *writer) workspace.Writer {
			return commitHook{w, func() (workspace.Version, error) { return "", nil }}
		}), []string{"Create/new", "Create/replace", "Create/large-in-parts", "Create/two-writers", "Create/directory", "Create/version", "Wrappers/creating"}},
		{"create-is-never-overtaken", mutateWriter(func(_ *hooked, w *writer) workspace.Writer {
			return commitHook{w, func() (workspace.Version, error) {
				version, err := w.Commit()
				if errors.Is(err, workspace.ErrIsDir) || errors.Is(err, workspace.ErrNotDir) {
					err = nil
				}
				return version, err
			}}
		}), []string{"Create/overtaken-by-a-directory"}},
		{"create-refused-leaves-parents", mutateWriter(refusedLeavesParents), []string{"Create/if-version"}},
		{"create-moves-with-the-directory", movesWithDirectory, []string{"Create/moved-directory"}},
		{"create-writes-in-place", mutateWriter(func(h *hooked, w *writer) workspace.Writer {
			w.write = writesInPlace(h, w.write)
			return w
		}), []string{"Concurrency/never-torn-streams"}},
		{"create-drops-all-but-200-writes", mutateWriter(func(_ *hooked, w *writer) workspace.Writer { return &lossy{writer: w} }), []string{"Create/many-small-writes"}},
		{"create-retains-data", mutateWriter(func(_ *hooked, w *writer) workspace.Writer { return &retaining{writer: w} }), []string{"Create/data-not-retained"}},
		{"create-retains-data-above-32-KiB", mutateWriter(func(_ *hooked, w *writer) workspace.Writer { return &retaining{writer: w, above: 32 << 10} }), []string{"Create/data-not-retained"}},
	}
}

// movesWithDirectory commits a file where the directory is that it was begun in.
func movesWithDirectory(h *hooked) {
	var mu sync.Mutex
	var begun []*writer // guarded by mu
	mutateWriter(func(_ *hooked, w *writer) workspace.Writer {
		mu.Lock()
		defer mu.Unlock()
		begun = append(begun, w)
		return w
	})(h)
	move := h.move
	h.move = func(ctx context.Context, source, destination string) error {
		err := move(ctx, source, destination)
		mu.Lock()
		defer mu.Unlock()
		for _, w := range begun {
			if rest, ok := strings.CutPrefix(w.name, source+"/"); ok && err == nil {
				w.name = destination + "/" + rest
			}
		}
		return err
	}
}

// eager writes the file with every Write.
type eager struct{ *writer }

func (w eager) Write(p []byte) (int, error) {
	n, err := w.writer.Write(p)
	if err == nil {
		_, err = w.writer.Commit()
	}
	return n, err
}

func truncates(h *hooked, w *writer) workspace.Writer {
	h.reference.WriteFile(w.ctx, w.name, nil, nil)
	return w
}

// closing is wrong in Close: it commits, or fails.
type closing struct {
	*writer
	commits bool
}

func (w closing) Close() error {
	if w.commits {
		_, err := w.writer.Commit()
		return err
	}
	return fs.ErrClosed
}

// removing removes the file when it is closed.
type removing struct {
	*writer
	h *hooked
}

func removesOnClose(h *hooked, w *writer) workspace.Writer { return removing{w, h} }

func (w removing) Close() error {
	w.h.reference.Rm(w.ctx, w.name, nil)
	return nil
}

// testsAtStart tests the condition of a write before it is written.
func testsAtStart(h *hooked, w *writer) workspace.Writer {
	if w.opts != nil && h.reference.mayWrite(w.name, w.opts) == nil {
		w.opts = nil
	}
	return w
}

func ignoresConditionAbove5MiB(_ *hooked, w *writer) workspace.Writer {
	return commitHook{w, func() (workspace.Version, error) {
		if w.buf.Len() > 5<<20 {
			w.opts = nil
		}
		return w.Commit()
	}}
}

func refusedLeavesParents(h *hooked, w *writer) workspace.Writer {
	return commitHook{w, func() (workspace.Version, error) {
		version, err := w.Commit()
		if errors.Is(err, workspace.ErrConflict) {
			h.reference.makeParents(w.name)
		}
		return version, err
	}}
}

// retaining keeps the slices of more than above bytes that it is given until
// the commit.
type retaining struct {
	*writer
	parts [][]byte
	above int
}

func (w *retaining) Write(p []byte) (int, error) {
	if len(p) <= w.above {
		p = bytes.Clone(p)
	}
	w.parts = append(w.parts, p)
	return len(p), nil
}

func (w *retaining) Commit() (workspace.Version, error) {
	return w.write(w.ctx, w.name, bytes.Join(w.parts, nil), w.opts)
}

// lossy drops what comes after 200 writes.
type lossy struct {
	*writer
	writes int
}

func (w *lossy) Write(p []byte) (int, error) {
	if w.writes++; w.writes > 200 {
		return len(p), nil
	}
	return w.writer.Write(p)
}

type copyFunc = func(ctx context.Context, source, destination string) (workspace.Version, error)

func mutateCopy(change func(h *hooked, copyFile copyFunc) copyFunc) func(*hooked) {
	return func(h *hooked) { h.copyFile = change(h, h.copyFile) }
}

func copyMutants() []mutant {
	return []mutant{
		{"copy-moves", mutateCopy(copyMoves), []string{"Copy/file", "Copy/missing-parents", "Wrappers/copying"}},
		{"copy-does-nothing", mutateCopy(func(*hooked, copyFunc) copyFunc {
			return func(context.Context, string, string) (workspace.Version, error) { return "", nil }
		}), []string{"Copy/file", "Copy/independent", "Copy/large", "Copy/version", "Copy/race-for-destination", "Symlink/copy"}},
		{"copy-replaces", mutateCopy(copyReplaces), []string{"Copy/existing-destination", "Copy/onto-itself", "Copy/race-for-destination"}},
		{"copy-of-directory-is-empty", mutateCopy(copyDirectoryEmpty), []string{"Copy/directory"}},
		{"copy-refused-makes-parents", mutateCopy(copyRefusedMakesParents), []string{"Copy/directory", "Errors/copy-source-missing"}},
		{"copy-changes-the-source", mutateCopy(copyChangesSource), []string{"Copy/version"}},
		{"copy-keeps-the-time", mutateCopy(copyKeepsTime), []string{"Stat/mod-time-moves"}},
		{"copy-links", mutateCopy(copyLinks), []string{"Copy/independent"}},
		{"copy-needs-parents", mutateCopy(copyNeedsParents), []string{"Copy/missing-parents"}},
	}
}

func copyMoves(h *hooked, _ copyFunc) copyFunc {
	return func(ctx context.Context, source, destination string) (workspace.Version, error) {
		return "", h.reference.Move(ctx, source, destination)
	}
}

func copyReplaces(h *hooked, _ copyFunc) copyFunc {
	return func(ctx context.Context, source, destination string) (workspace.Version, error) {
		data, err := h.reference.ReadFile(ctx, source)
		if err != nil {
			return "", err
		}
		return h.reference.WriteFile(ctx, destination, data, nil)
	}
}

func copyDirectoryEmpty(h *hooked, copyFile copyFunc) copyFunc {
	return func(ctx context.Context, source, destination string) (workspace.Version, error) {
		if info, err := h.reference.Stat(ctx, source); err == nil && info.IsDir() {
			return "", h.reference.Mkdir(ctx, destination, nil)
		}
		return copyFile(ctx, source, destination)
	}
}

func copyRefusedMakesParents(h *hooked, copyFile copyFunc) copyFunc {
	return func(ctx context.Context, source, destination string) (workspace.Version, error) {
		version, err := copyFile(ctx, source, destination)
		if errors.Is(err, workspace.ErrIsDir) || errors.Is(err, fs.ErrNotExist) {
			h.reference.makeParents(destination)
		}
		return version, err
	}
}

// copyChangesSource gives the source a new version, as a write of the same bytes
// would.
func copyChangesSource(h *hooked, copyFile copyFunc) copyFunc {
	return func(ctx context.Context, source, destination string) (workspace.Version, error) {
		version, err := copyFile(ctx, source, destination)
		if err == nil {
			h.reference.put(source, h.reference.nodes[source].data)
		}
		return version, err
	}
}

// copyLinks gives the file a second name: what is written to one is in both.
func copyLinks(h *hooked, copyFile copyFunc) copyFunc {
	links := make(map[string]string)
	write := h.writeFile
	h.writeFile = func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if other := links[name]; other != "" {
			write(ctx, other, data, opts)
		}
		return write(ctx, name, data, opts)
	}
	return func(ctx context.Context, source, destination string) (workspace.Version, error) {
		links[source], links[destination] = destination, source
		return copyFile(ctx, source, destination)
	}
}

func copyKeepsTime(h *hooked, copyFile copyFunc) copyFunc {
	return func(ctx context.Context, source, destination string) (workspace.Version, error) {
		version, err := copyFile(ctx, source, destination)
		if err == nil {
			h.reference.nodes[destination].time = h.reference.nodes[source].time
		}
		return version, err
	}
}

func copyNeedsParents(h *hooked, copyFile copyFunc) copyFunc {
	return func(ctx context.Context, source, destination string) (workspace.Version, error) {
		if _, err := h.reference.Stat(ctx, path.Dir(destination)); err != nil {
			return "", ops.Error(ops.Copy, destination, fs.ErrNotExist, nil)
		}
		return copyFile(ctx, source, destination)
	}
}

type walkFunc = func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error

func mutateWalk(change func(h *hooked, walk walkFunc) walkFunc) func(*hooked) {
	return func(h *hooked) { h.walk = change(h, h.walk) }
}

// mutateVisit is a mutant whose walk calls another function.
func mutateVisit(change func(h *hooked, fn workspace.WalkFunc) workspace.WalkFunc) func(*hooked) {
	return mutateWalk(func(h *hooked, walk walkFunc) walkFunc {
		return func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
			return walk(ctx, dir, opts, change(h, fn))
		}
	})
}

func walkMutants() []mutant {
	return []mutant{
		{"walk-in-order-of-a-tree", mutateWalk(treeOrder), []string{"Walk/order"}},
		{"walk-reports-dir-itself", mutateWalk(reportsItself), []string{"Walk/below-dir", "Walk/empty-directory", "Walk/order"}},
		{"walk-ignores-after", mutateWalk(func(_ *hooked, walk walkFunc) walkFunc {
			return func(ctx context.Context, dir string, _ *workspace.WalkOptions, fn workspace.WalkFunc) error {
				return walk(ctx, dir, nil, fn)
			}
		}), []string{"Walk/after", "Walk/eleven-hundred", "Wrappers/reading"}},
		{"walk-after-the-root-is-all", mutateWalk(func(_ *hooked, walk walkFunc) walkFunc {
			return func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
				if opts != nil && opts.After == "." {
					opts = nil
				}
				return walk(ctx, dir, opts, fn)
			}
		}), []string{"Walk/after"}},
		{"walk-describes-names-only", mutateVisit(namesOnly), []string{"Walk/describes"}},
		{"walk-ignores-skip-dir", mutateVisit(withoutResult(fs.SkipDir)), []string{"Walk/skip-dir", "Walk/skip-dir-of-file"}},
		{"walk-ignores-skip-all", mutateVisit(withoutResult(fs.SkipAll)), []string{"Walk/skip-all"}},
		{"walk-swallows-errors", mutateWalk(swallowsErrors), []string{"Walk/error-of-function", "Walk/file", "Errors/walk-missing"}},
		{"walk-finds-errors-by-comparison", mutateWalk(findsErrors), []string{"Walk/uncomparable-error"}},
		{"walk-goes-on-to-the-end-of-a-page", mutateWalk(goesOn), []string{"Context/walk-canceled-on-the-way"}},
		{"walk-calls-at-once", mutateWalk(callsAtOnce), []string{"Walk/one-call-at-a-time"}},
		{"walk-has-no-types", mutateWalk(func(_ *hooked, walk walkFunc) walkFunc {
			return func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
				return walk(ctx, dir, opts, func(info workspace.FileInfo, err error) error {
					if opts != nil && opts.TypesOnly {
						info.Type = ""
					}
					return fn(info, err)
				})
			}
		}), []string{"Walk/types-only"}},
		{"walk-holds-the-lock", mutateVisit(refusesWithin), []string{"Walk/call-in-function"}},
	}
}

// treeOrder reports the children of a directory right after it.
func treeOrder(h *hooked, _ walkFunc) walkFunc {
	var walk walkFunc
	walk = func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		infos, err := h.reference.Ls(ctx, dir, nil)
		for _, info := range infos {
			if err := fn(info, nil); err != nil {
				return err
			}
			if info.IsDir() {
				if err := walk(ctx, info.Path, opts, fn); err != nil {
					return err
				}
			}
		}
		return err
	}
	return walk
}

func reportsItself(h *hooked, walk walkFunc) walkFunc {
	return func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		if info, err := h.reference.Stat(ctx, dir); err == nil {
			fn(info, nil)
		}
		return walk(ctx, dir, opts, fn)
	}
}

// callsAtOnce has two calls of the function under way at the same time.
func callsAtOnce(_ *hooked, walk walkFunc) walkFunc {
	return func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		var infos []workspace.FileInfo
		err := walk(ctx, dir, opts, func(info workspace.FileInfo, err error) error {
			infos = append(infos, info)
			return err
		})
		var done sync.WaitGroup
		for _, info := range infos {
			done.Go(func() { fn(info, nil) })
		}
		done.Wait()
		return err
	}
}

func namesOnly(_ *hooked, fn workspace.WalkFunc) workspace.WalkFunc {
	return func(info workspace.FileInfo, err error) error {
		return fn(workspace.FileInfo{Name: info.Name, Path: info.Path, Type: info.Type}, err)
	}
}

func withoutResult(ignored error) func(*hooked, workspace.WalkFunc) workspace.WalkFunc {
	return func(_ *hooked, fn workspace.WalkFunc) workspace.WalkFunc {
		return func(info workspace.FileInfo, err error) error {
			if err := fn(info, err); err != ignored {
				return err
			}
			return nil
		}
	}
}

func swallowsErrors(_ *hooked, walk walkFunc) walkFunc {
	return func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		walk(ctx, dir, opts, fn)
		return nil
	}
}

// findsErrors returns the error of the function only if it finds it again.
func findsErrors(_ *hooked, walk walkFunc) walkFunc {
	return func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		var ended error
		err := walk(ctx, dir, opts, func(info workspace.FileInfo, err error) error {
			ended = fn(info, err)
			return ended
		})
		if ended != nil && !errors.Is(err, ended) {
			return ops.Error(ops.Walk, dir, workspace.ErrUnavailable, nil)
		}
		return err
	}
}

// goesOn looks at the context before its first call and after its last.
func goesOn(_ *hooked, walk walkFunc) walkFunc {
	return func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		if ctx.Err() != nil {
			return walk(ctx, dir, opts, fn)
		}
		err := walk(context.WithoutCancel(ctx), dir, opts, fn)
		if err == nil && ctx.Err() != nil {
			err = ops.Error(ops.Walk, dir, ctx.Err(), nil)
		}
		return err
	}
}

// refusesWithin refuses other calls while the function runs, where a lock
// would wait for ever.
func refusesWithin(h *hooked, fn workspace.WalkFunc) workspace.WalkFunc {
	return func(info workspace.FileInfo, err error) error {
		stat := h.stat
		defer func() { h.stat = stat }()
		h.stat = func(_ context.Context, name string) (workspace.FileInfo, error) {
			return workspace.FileInfo{}, ops.Error(ops.Stat, name, workspace.ErrUnavailable, nil)
		}
		return fn(info, err)
	}
}
