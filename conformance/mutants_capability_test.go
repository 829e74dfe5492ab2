package conformance_test

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// declares is a mutant with other capabilities and the same behaviour.
func declares(change func(c *workspace.Capabilities)) func(*hooked) {
	return func(h *hooked) {
		h.capabilities = func() workspace.Capabilities {
			c := h.reference.Capabilities()
			change(&c)
			return c
		}
	}
}

func capabilityMutants() []mutant {
	return []mutant{
		{"writes-undeclared", declares(func(c *workspace.Capabilities) { c.Write = false }), []string{"Capabilities/write"}},
		{"versions-undeclared", declares(func(c *workspace.Capabilities) { c.Versions = false }), []string{"Capabilities/versions"}},
		{"conditions-undeclared", declares(func(c *workspace.Capabilities) { c.ConditionalWrite = false }), []string{"Capabilities/conditional-write", "Capabilities/conditional-create"}},
		{"watch-undeclared", declares(func(c *workspace.Capabilities) { c.Watch = workspace.WatchNone }), []string{"Capabilities/watch"}},
		{"move-undeclared", declares(func(c *workspace.Capabilities) { c.Move = false }), []string{"Capabilities/move"}},
		{"copy-undeclared-and-refused", refusesCopy, []string{"Capabilities/copy"}},
		{"copy-undeclared", declares(func(c *workspace.Capabilities) { c.Copy, c.ConditionalWrite = false, false }), []string{"Capabilities/copy", "Capabilities/conditional-write", "Capabilities/conditional-create"}},
		{"unknown-watch-mode", declares(func(c *workspace.Capabilities) { c.Watch = "sometimes" }), []string{"Capabilities/stable"}},
		{"capabilities-follow-writes", followsWrites, []string{"Capabilities/stable"}},
		{"capabilities-follow-removals", followsRemovals, []string{"Capabilities/stable"}},
		{"write-returns-undeclared-version", withoutVersions(func(h *hooked) { h.writeFile = h.reference.WriteFile }), []string{"Capabilities/versions"}},
		{"copy-returns-undeclared-version", withoutVersions(func(h *hooked) {
			h.copyFile = func(ctx context.Context, source, destination string) (workspace.Version, error) {
				return workspace.Copy(ctx, h.reference, source, destination)
			}
		}), []string{"Capabilities/versions"}},
		{"commit-returns-undeclared-version", withoutVersions(func(h *hooked) { h.create = h.reference.Create }), []string{"Capabilities/versions"}},
		{"create-undeclared-if-not-exist", createsIfNotExist, []string{"Capabilities/conditional-create"}},
		{"watch-declared-and-refused", func(h *hooked) {
			h.watch = func(_ context.Context, dir string, _ *workspace.WatchOptions) (<-chan workspace.Event, error) {
				return nil, ops.Error(ops.Watch, dir, fs.ErrPermission, nil)
			}
		}, []string{"Capabilities/watch", "Capabilities/nil-options"}},
		{"root-is-not-absolute", func(h *hooked) { h.root = "srv" }, []string{"Wrappers/workspace"}},
		{"stat-of-view-fails", viewFails, []string{"IOFS/fstest", "IOFS/fstest-empty"}},
		{"missing-is-permission", replaceKind(fs.ErrNotExist, fs.ErrPermission), []string{"IOFS/errors"}},
		{"random-capabilities", alternating, []string{"Wrappers/capabilities"}},
		{"streams-are-shared", sharesStream, []string{"Open/several-streams"}},
	}
}

// refusesCopy has conditional writes, and a Copier that is in the way of the copy through the
// caller.
func refusesCopy(h *hooked) {
	declares(func(c *workspace.Capabilities) { c.Copy = false })(h)
	h.copyFile = func(_ context.Context, source, _ string) (workspace.Version, error) {
		return "", ops.Error(ops.Copy, source, errors.ErrUnsupported, nil)
	}
}

func followsWrites(h *hooked) {
	h.capabilities = func() workspace.Capabilities {
		c := h.reference.Capabilities()
		c.Move = h.reference.writes == 0
		return c
	}
}

func followsRemovals(h *hooked) {
	removed := false
	rm := h.rm
	h.rm = func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		removed = true
		return rm(ctx, name, opts)
	}
	declares(func(c *workspace.Capabilities) { c.Move = !removed })(h)
}

// withoutVersions neither declares nor gives versions, but for what leak does.
func withoutVersions(leak func(h *hooked)) func(*hooked) {
	return func(h *hooked) {
		declares(func(c *workspace.Capabilities) { c.Versions = false })(h)
		mutateStat(func(i *workspace.FileInfo) { i.Version = "" })(h)
		mutateInfos(eachInfo(func(i *workspace.FileInfo) { i.Version = "" }))(h)
		mutateWrite(noVersion)(h)
		mutateWriter(func(_ *hooked, w *writer) workspace.Writer {
			w.write = noVersion(h, w.write)
			return w
		})(h)
		mutateCopy(func(_ *hooked, copyFile copyFunc) copyFunc {
			return func(ctx context.Context, source, destination string) (workspace.Version, error) {
				_, err := copyFile(ctx, source, destination)
				return "", err
			}
		})(h)
		leak(h)
	}
}

// createsIfNotExist has no conditional writes, and streams that forget to refuse one
// of the conditions.
func createsIfNotExist(h *hooked) {
	declares(func(c *workspace.Capabilities) { c.ConditionalWrite = false })(h)
	h.create = func(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
		if opts != nil && opts.IfVersion != "" {
			return nil, ops.Error(ops.Create, name, errors.ErrUnsupported, nil)
		}
		return h.reference.Create(ctx, name, nil)
	}
}

// alternating declares something else with every call.
func alternating(h *hooked) {
	calls := newCounter()
	h.capabilities = func() workspace.Capabilities {
		c := h.reference.Capabilities()
		c.Copy = calls.next()%2 == 0
		return c
	}
}

func viewFails(h *hooked) {
	h.stat = func(ctx context.Context, name string) (workspace.FileInfo, error) {
		info, err := h.reference.Stat(ctx, name)
		info.Type = workspace.TypeFile
		return info, err
	}
}

func sharesStream(h *hooked) {
	var shared io.ReadCloser
	open := h.open
	h.open = func(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
		stream, info, err := open(ctx, name, opts)
		if shared == nil {
			shared = stream
		}
		return shared, info, err
	}
}
