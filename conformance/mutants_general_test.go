package conformance_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// generalMutants are wrong in every method in the same way.
func generalMutants() []mutant {
	return []mutant{
		{"repairs-names", func(h *hooked) { h.interpose(repairName, nil) }, casesLike("Names/", "-malformed", "-escape")},
		{"accepts-reserved-names", func(h *hooked) { h.interpose(unreserve, nil) }, casesLike("Names/", "-malformed")},
		{"refuses-what-has-the-reserved-word", func(h *hooked) { h.interpose(reserve, nil) }, []string{"Names/unusual-dots"}},
		{"ignores-context", func(h *hooked) { h.interpose(ignoreContext, nil) }, casesLike("Context/", "")},
		{"not-dir-is-not-exist", replaceKind(workspace.ErrNotDir, fs.ErrNotExist), casesLike("Errors/", "-file-in-the-middle")},
		{"not-exist-is-invalid", replaceKind(fs.ErrNotExist, fs.ErrInvalid), casesLike("Errors/", "-missing")},
		{"escape-is-invalid", replaceKind(workspace.ErrEscape, fs.ErrInvalid), casesLike("Names/", "-escape")},
		{"canceled-is-unavailable", replaceKind(context.Canceled, workspace.ErrUnavailable), casesLike("Context/", "-canceled")},
		{"wrong-op", replaceError(func(e *fs.PathError) error { return &fs.PathError{Op: "call", Path: e.Path, Err: e.Err} }), casesLike("Errors/", "")},
		{"wrong-path", replaceError(func(e *fs.PathError) error { return &fs.PathError{Op: e.Op, Path: "/srv/" + e.Path, Err: e.Err} }), casesLike("Errors/", "")},
		{"pattern-error-names-the-directory", replaceError(namesDirectory), []string{
			"Glob/malformed", "Glob/odd-element", "Glob/absolute", "Glob/brace-bomb", "Glob/escape",
			"Grep/malformed-pattern", "Grep/malformed-glob", "Grep/brace-bomb", "Grep/line-break-in-pattern",
		}},
		{"bare-kind", replaceError(func(e *fs.PathError) error { return e.Err }), casesLike("Errors/", "")},
		{"host-path-in-text", replaceError(hostPath), casesLike("Errors/", "")},
	}
}

// casesLike returns the cases whose name begins with prefix and ends with one
// of suffixes.
func casesLike(prefix string, suffixes ...string) []string {
	var found []string
	for _, name := range conformance.CaseNames() {
		for _, suffix := range suffixes {
			if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) {
				found = append(found, name)
				break
			}
		}
	}
	return found
}

func repairName(ctx context.Context, name string) (context.Context, string) {
	if clean, err := workspace.CleanName("", name); err == nil {
		return ctx, clean
	}
	return ctx, name
}

// unreserve takes a reserved name for another one.
func unreserve(ctx context.Context, name string) (context.Context, string) {
	return ctx, strings.ReplaceAll(name, ops.ReservedPrefix, "tmp-")
}

// reserve takes a name with the reserved word anywhere for a reserved one.
func reserve(ctx context.Context, name string) (context.Context, string) {
	if word := strings.TrimSuffix(ops.ReservedPrefix, "-"); strings.Contains(name, word) {
		return ctx, ops.ReservedPrefix
	}
	return ctx, name
}

func ignoreContext(ctx context.Context, name string) (context.Context, string) {
	return context.WithoutCancel(ctx), name
}

// namesDirectory makes an error in a pattern one of the root.
func namesDirectory(e *fs.PathError) error {
	if errors.Is(e.Err, workspace.ErrPattern) || errors.Is(e.Err, workspace.ErrEscape) {
		return &fs.PathError{Op: e.Op, Path: ".", Err: e.Err}
	}
	return e
}

func hostPath(e *fs.PathError) error {
	return ops.Error(e.Op, e.Path, e.Err, errors.New("open "+os.TempDir()+"/store/"+e.Path))
}

// replaceError changes every *fs.PathError.
func replaceError(change func(*fs.PathError) error) func(*hooked) {
	return func(h *hooked) {
		h.interpose(nil, func(err error) error {
			var pathError *fs.PathError
			if !errors.As(err, &pathError) {
				return err
			}
			return change(pathError)
		})
	}
}

// replaceKind makes errors of kind old those of kind new.
func replaceKind(old, new error) func(*hooked) {
	return replaceError(func(e *fs.PathError) error {
		if !errors.Is(e.Err, old) {
			return e
		}
		return &fs.PathError{Op: e.Op, Path: e.Path, Err: new}
	})
}

// interpose changes what goes into every method and the errors that come out.
func (h *hooked) interpose(in func(context.Context, string) (context.Context, string), out func(error) error) {
	if in == nil {
		in = func(ctx context.Context, name string) (context.Context, string) { return ctx, name }
	}
	if out == nil {
		out = func(err error) error { return err }
	}
	h.interposeReads(in, out)
	h.interposeSearches(in, out)
	h.interposeWrites(in, out)
	h.interposePairs(in, out)
}

func (h *hooked) interposeReads(in func(context.Context, string) (context.Context, string), out func(error) error) {
	readFile, stat, readVersion, open, resolve := h.readFile, h.stat, h.readVersion, h.open, h.resolve
	h.readFile = func(ctx context.Context, name string) ([]byte, error) {
		data, err := readFile(in(ctx, name))
		return data, out(err)
	}
	h.stat = func(ctx context.Context, name string) (workspace.FileInfo, error) {
		info, err := stat(in(ctx, name))
		return info, out(err)
	}
	h.readVersion = func(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
		ctx, name = in(ctx, name)
		data, version, err := readVersion(ctx, name, limit)
		return data, version, out(err)
	}
	h.open = func(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
		ctx, name = in(ctx, name)
		stream, info, err := open(ctx, name, opts)
		return stream, info, out(err)
	}
	h.resolve = func(ctx context.Context, name string) (string, error) {
		real, err := resolve(in(ctx, name))
		return real, out(err)
	}
}

func (h *hooked) interposeSearches(in func(context.Context, string) (context.Context, string), out func(error) error) {
	ls, glob, grep, watch, walk := h.ls, h.glob, h.grep, h.watch, h.walk
	h.ls = func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		ctx, dir = in(ctx, dir)
		infos, err := ls(ctx, dir, opts)
		return infos, out(err)
	}
	h.glob = func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
		var o workspace.GlobOptions
		if opts != nil {
			o = *opts
		}
		ctx, o.Dir = in(ctx, o.Dir)
		matches, err := glob(ctx, pattern, &o)
		return matches, out(err)
	}
	h.grep = func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		var o workspace.GrepOptions
		if opts != nil {
			o = *opts
		}
		ctx, o.Path = in(ctx, o.Path)
		result, err := grep(ctx, pattern, &o)
		return result, out(err)
	}
	h.watch = func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		ctx, dir = in(ctx, dir)
		events, err := watch(ctx, dir, opts)
		return events, out(err)
	}
	h.walk = func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		ctx, dir = in(ctx, dir)
		return out(walk(ctx, dir, opts, fn))
	}
}

func (h *hooked) interposeWrites(in func(context.Context, string) (context.Context, string), out func(error) error) {
	writeFile, create, rm, mkdir := h.writeFile, h.create, h.rm, h.mkdir
	h.writeFile = func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		ctx, name = in(ctx, name)
		version, err := writeFile(ctx, name, data, opts)
		return version, out(err)
	}
	h.create = func(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
		ctx, name = in(ctx, name)
		w, err := create(ctx, name, opts)
		return commitHook{w, func() (workspace.Version, error) {
			version, err := w.Commit()
			return version, out(err)
		}}, out(err)
	}
	h.rm = func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		ctx, name = in(ctx, name)
		return out(rm(ctx, name, opts))
	}
	h.mkdir = func(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
		ctx, name = in(ctx, name)
		return out(mkdir(ctx, name, opts))
	}
}

// commitHook is a writer with another Commit.
type commitHook struct {
	workspace.Writer
	commit func() (workspace.Version, error)
}

func (w commitHook) Commit() (workspace.Version, error) { return w.commit() }

func (h *hooked) interposePairs(in func(context.Context, string) (context.Context, string), out func(error) error) {
	move, copyFile := h.move, h.copyFile
	h.move = func(ctx context.Context, source, destination string) error {
		ctx, source = in(ctx, source)
		ctx, destination = in(ctx, destination)
		return out(move(ctx, source, destination))
	}
	h.copyFile = func(ctx context.Context, source, destination string) (workspace.Version, error) {
		ctx, source = in(ctx, source)
		ctx, destination = in(ctx, destination)
		version, err := copyFile(ctx, source, destination)
		return version, out(err)
	}
}
