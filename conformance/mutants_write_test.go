package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

type writeFunc = func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error)

// mutateWrite is a mutant with another WriteFile, made from the right one.
func mutateWrite(change func(h *hooked, write writeFunc) writeFunc) func(*hooked) {
	return func(h *hooked) { h.writeFile = change(h, h.writeFile) }
}

func writeMutants() []mutant {
	return []mutant{
		{"appends", mutateWrite(appends), []string{"WriteFile/replace", "WriteFile/empty", "WriteFile/zero-options", "Grep/follows-writes"}},
		{"needs-parents", mutateWrite(needsParents), []string{"WriteFile/missing-parents", "Concurrency/same-new-parents"}},
		{"writes-as-text", mutateWrite(writesAsText), []string{"WriteFile/every-byte", "WriteFile/five-mebibytes"}},
		{"empty-at-32-KiB", mutateWrite(emptyAt32KiB), []string{"WriteFile/every-byte"}},
		{"refuses-nothing", mutateWrite(refusesNothing), []string{"WriteFile/empty", "WriteFile/nil-data"}},
		{"replaces-directories", mutateWrite(replacesDirectories), []string{"WriteFile/directory"}},
		{"retains-data", mutateWrite(retainsData), []string{"WriteFile/data-not-retained"}},
		{"retains-data-above-32-KiB", mutateWrite(retainsLargeData), []string{"WriteFile/data-not-retained"}},
		{"replace-removes-extensions", mutateWrite(removesExtensions), []string{"WriteFile/keeps-siblings"}},
		{"leaves-temporary-files", mutateWrite(leavesTemporary), []string{"WriteFile/leaves-nothing-else", "WriteFile/replace"}},
		{"clears-siblings", mutateWrite(clearsSiblings), []string{"WriteFile/keeps-siblings"}},
		{"loses-one-letter", mutateWrite(losesLetter), []string{"WriteFile/new", "Concurrency/own-writes-are-read", "Property/random-contents"}},
		{"needs-options", mutateWrite(needsOptions), []string{"WriteFile/new", "Capabilities/nil-options"}},
		{"zero-options-create-only", mutateWrite(zeroCreatesOnly), []string{"WriteFile/zero-options"}},
		{"writes-in-place", mutateWrite(writesInPlace), []string{"Concurrency/never-torn", "Linearizability/read-and-write"}},
		{"removes-before-it-writes", mutateWrite(removesFirst), []string{"Concurrency/never-missing"}},
		{"reads-stale", readsStale, []string{"Linearizability/read-and-write", "Linearizability/conditional-write"}},
		{"fails-when-busy", mutateWrite(failsWhenBusy), []string{"Concurrency/same-new-parents"}},
		{"stops-after-hundred-calls", stopsAfterHundred, []string{"Concurrency/every-method"}},
	}
}

func appends(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		old, _ := h.reference.ReadFile(ctx, name)
		return write(ctx, name, append(old, data...), opts)
	}
}

func needsParents(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if _, err := h.reference.Stat(ctx, path.Dir(name)); err != nil {
			return "", ops.Error(ops.WriteFile, name, fs.ErrNotExist, nil)
		}
		return write(ctx, name, data, opts)
	}
}

func writesAsText(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		return write(ctx, name, bytes.ToValidUTF8(data, []byte("?")), opts)
	}
}

func emptyAt32KiB(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if len(data) == 32<<10 {
			data = nil
		}
		return write(ctx, name, data, opts)
	}
}

func refusesNothing(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if len(data) == 0 {
			return "", ops.Error(ops.WriteFile, name, fs.ErrInvalid, errors.New("no data"))
		}
		return write(ctx, name, data, opts)
	}
}

func replacesDirectories(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if n := h.reference.nodes[name]; n != nil && n.kind == workspace.TypeDirectory && name != "." {
			h.reference.Rm(ctx, name, &workspace.RmOptions{Recursive: true})
		}
		return write(ctx, name, data, opts)
	}
}

func retainsData(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		version, err := write(ctx, name, data, opts)
		if err == nil {
			h.reference.nodes[name].data = data
		}
		return version, err
	}
}

func retainsLargeData(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		version, err := write(ctx, name, data, opts)
		if err == nil && len(data) > 32<<10 {
			h.reference.nodes[name].data = data
		}
		return version, err
	}
}

// removesExtensions removes, after it has replaced a file, the files that it
// mistakes for temporary ones.
func removesExtensions(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		_, missing := h.reference.Stat(ctx, name)
		version, err := write(ctx, name, data, opts)
		h.reference.mu.Lock()
		defer h.reference.mu.Unlock()
		for other := range h.reference.nodes {
			if missing == nil && err == nil && strings.HasPrefix(other, name+".") {
				delete(h.reference.nodes, other)
			}
		}
		return version, err
	}
}

func leavesTemporary(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		write(ctx, path.Join(path.Dir(name), ".tmp"), data, nil)
		return write(ctx, name, data, opts)
	}
}

func clearsSiblings(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if dir := path.Dir(name); dir != "." && path.Base(name) == "three" {
			h.reference.Rm(ctx, dir, &workspace.RmOptions{Recursive: true})
		}
		return write(ctx, name, data, opts)
	}
}

func losesLetter(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		return write(ctx, name, data[:max(0, len(data)-1)], opts)
	}
}

func needsOptions(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if opts == nil {
			return "", ops.Error(ops.WriteFile, name, fs.ErrInvalid, errors.New("no options"))
		}
		return write(ctx, name, data, opts)
	}
}

func zeroCreatesOnly(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if opts != nil && *opts == (workspace.WriteOptions{}) {
			opts = &workspace.WriteOptions{IfNotExist: true}
		}
		return write(ctx, name, data, opts)
	}
}

// writesInPlace shows the first half of the bytes before the rest.
func writesInPlace(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if _, err := write(ctx, name, data[:len(data)/2], opts); err != nil {
			return "", err
		}
		h.awaitLooks()
		return write(ctx, name, data, nil)
	}
}

func removesFirst(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		h.reference.Rm(ctx, name, nil)
		h.awaitLooks()
		return write(ctx, name, data, opts)
	}
}

// readsStale serves every other read from a cache that a write does not clear.
func readsStale(h *hooked) {
	cache := newCache()
	read := h.readVersion
	h.readVersion = func(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
		if entry, ok := cache.sometimes(name); ok {
			return []byte(entry.data), entry.version, nil
		}
		data, version, err := read(ctx, name, limit)
		cache.put(name, cached{string(data), version})
		return data, version, err
	}
}

func failsWhenBusy(_ *hooked, write writeFunc) writeFunc {
	busy := make(chan struct{}, 1)
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		select {
		case busy <- struct{}{}:
			defer func() { <-busy }()
		default:
			return "", ops.Error(ops.WriteFile, name, workspace.ErrUnavailable, nil)
		}
		yield()
		return write(ctx, name, data, opts)
	}
}

func stopsAfterHundred(h *hooked) {
	calls := newCounter()
	write := h.writeFile
	h.writeFile = func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if calls.next() > 10 {
			return "", ops.Error(ops.WriteFile, name, workspace.ErrUnavailable, fmt.Errorf("out of connections"))
		}
		return write(ctx, name, data, opts)
	}
}
