package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

func conditionalMutants() []mutant {
	return []mutant{
		{"ignores-conditions", mutateWrite(ignoresConditions), []string{
			"WriteFile/if-not-exist-existing", "WriteFile/if-version-mismatch", "WriteFile/if-version-missing", "WriteFile/if-version-removed",
			"WriteFile/both-conditions", "WriteFile/if-version-other-writer", "Linearizability/conditional-write",
		}},
		{"ignores-conditions-above-1-MiB", mutateWrite(ignoresLargeConditions), []string{"WriteFile/large-conditions"}},
		{"exists-then-put", mutateWrite(existsThenPut), []string{"WriteFile/if-not-exist-race"}},
		{"compares-then-puts", mutateWrite(comparesThenPuts), []string{"WriteFile/if-version-race", "WriteFile/edits-are-not-lost", "Linearizability/conditional-write"}},
		{"directory-may-be-created", mutateWrite(directoryIsNoFile), []string{"WriteFile/if-not-exist-directory"}},
		{"never-created-again", mutateWrite(neverAgain), []string{"WriteFile/if-not-exist-again"}},
		{"refuses-every-creation", mutateWrite(refusesCreation), []string{"WriteFile/if-not-exist-new"}},
		{"refuses-every-version", mutateWrite(refusesVersions), []string{"WriteFile/if-version-match", "ReadVersioned/version-for-a-write"}},
		{"missing-version-creates", mutateWrite(missingCreates), []string{"WriteFile/if-version-missing", "WriteFile/if-version-removed"}},
		{"conflict-makes-parents", mutateWrite(conflictMakesParents), []string{"WriteFile/if-version-missing"}},
		{"conflict-for-directory", mutateWrite(conflictForDirectory), []string{"WriteFile/if-version-directory"}},
		{"writes-on-conflict", mutateWrite(writesOnConflict), []string{"WriteFile/if-version-mismatch", "WriteFile/if-version-other-writer"}},
		{"version-is-a-prefix", mutateWrite(prefixMatches), []string{"WriteFile/if-version-mismatch"}},
		{"first-condition-counts", mutateWrite(firstCondition), []string{"WriteFile/both-conditions"}},
		{"version-is-the-size", mutateVersion(versionIsSize), []string{"WriteFile/version-changes-at-once", "Watch/same-size-rewrite"}},
		{"version-of-the-head", mutateVersion(versionOfHead), []string{"WriteFile/version-of-every-byte"}},
		{"version-counts-writes-of-the-file", mutateVersion(versionCountsWrites), []string{"WriteFile/version-after-rm"}},
		{"version-of-write-is-empty", mutateWrite(noVersion), []string{"WriteFile/version-everywhere-the-same"}},
		{"stat-has-another-version", mutateStat(func(i *workspace.FileInfo) {
			if i.Version != "" {
				i.Version += "'"
			}
		}), []string{"WriteFile/version-everywhere-the-same", "WriteFile/version-stays", "ReadVersioned/content", "Copy/version", "Create/version", "Ls/as-stat"}},
		{"version-of-the-last-write-anywhere", globalVersion, []string{"WriteFile/version-stays"}},
		{"write-sometimes-without-version", mutateWrite(forgetsOnWrite), []string{"WriteFile/version-never-missing"}},
		{"stat-sometimes-without-version", forgetsOnStat, []string{"WriteFile/version-never-missing"}},
		{"ls-sometimes-without-version", forgetsOnLs, []string{"WriteFile/version-never-missing"}},
		{"read-sometimes-without-version", forgetsOnRead, []string{"WriteFile/version-never-missing", "WriteFile/edits-are-not-lost"}},
		{"open-sometimes-without-version", forgetsOnOpen, []string{"WriteFile/version-never-missing"}},
		{"commit-sometimes-without-version", forgetsOnCommit, []string{"WriteFile/version-never-missing"}},
		{"copy-sometimes-without-version", mutateCopy(forgetsOnCopy), []string{"WriteFile/version-never-missing"}},
		{"version-after-the-read", versionAfterRead, []string{"ReadVersioned/version-of-the-bytes"}},
	}
}

func ignoresConditions(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
		return write(ctx, name, data, nil)
	}
}

func ignoresLargeConditions(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if len(data) > 1<<20 {
			opts = nil
		}
		return write(ctx, name, data, opts)
	}
}

func existsThenPut(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if opts != nil && opts.IfNotExist {
			if _, err := h.reference.Stat(ctx, name); err == nil {
				return write(ctx, name, data, opts)
			}
			yield()
			opts = nil
		}
		return write(ctx, name, data, opts)
	}
}

func comparesThenPuts(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if opts != nil && opts.IfVersion != "" {
			if info, err := h.reference.Stat(ctx, name); err == nil && info.Version == opts.IfVersion {
				yield()
				opts = nil
			}
		}
		return write(ctx, name, data, opts)
	}
}

// directoryIsNoFile looks for a file only before it creates one.
func directoryIsNoFile(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if info, err := h.reference.Stat(ctx, name); err == nil && info.IsDir() {
			opts = nil
		}
		return write(ctx, name, data, opts)
	}
}

func neverAgain(_ *hooked, write writeFunc) writeFunc {
	seen := make(map[string]bool)
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if opts != nil && opts.IfNotExist && seen[name] {
			return "", ops.Error(ops.WriteFile, name, fs.ErrExist, nil)
		}
		seen[name] = true
		return write(ctx, name, data, opts)
	}
}

func refusesCreation(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if opts != nil && opts.IfNotExist {
			return "", ops.Error(ops.WriteFile, name, fs.ErrExist, nil)
		}
		return write(ctx, name, data, opts)
	}
}

func refusesVersions(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if opts != nil && opts.IfVersion != "" {
			return "", ops.Error(ops.WriteFile, name, workspace.ErrConflict, nil)
		}
		return write(ctx, name, data, opts)
	}
}

func missingCreates(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if _, err := h.reference.Stat(ctx, name); err != nil {
			opts = nil
		}
		return write(ctx, name, data, opts)
	}
}

func conflictMakesParents(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if ops.Check(ctx, ops.WriteFile, name) == nil {
			if dir, _ := workspace.Split(name); dir != "." {
				h.reference.Mkdir(ctx, dir, &workspace.MkdirOptions{Recursive: true})
			}
		}
		return write(ctx, name, data, opts)
	}
}

func conflictForDirectory(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		version, err := write(ctx, name, data, opts)
		if errors.Is(err, workspace.ErrIsDir) {
			err = ops.Error(ops.WriteFile, name, workspace.ErrConflict, nil)
		}
		return version, err
	}
}

func writesOnConflict(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		version, err := write(ctx, name, data, opts)
		if errors.Is(err, workspace.ErrConflict) {
			write(ctx, name, data, nil)
		}
		return version, err
	}
}

func prefixMatches(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if opts != nil && opts.IfVersion != "" {
			if info, err := h.reference.Stat(ctx, name); err == nil && strings.HasPrefix(string(opts.IfVersion), string(info.Version)) {
				opts = &workspace.WriteOptions{IfVersion: info.Version}
			}
		}
		return write(ctx, name, data, opts)
	}
}

func firstCondition(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if opts != nil && opts.IfVersion != "" {
			opts = &workspace.WriteOptions{IfVersion: opts.IfVersion}
		}
		return write(ctx, name, data, opts)
	}
}

// mutateVersion is a mutant whose versions are of, given the file before, if
// there was one, and the new bytes.
func mutateVersion(of func(old *node, data []byte) workspace.Version) func(*hooked) {
	return func(h *hooked) { h.reference.versionOf = of }
}

func versionIsSize(_ *node, data []byte) workspace.Version {
	return workspace.Version("v" + strconv.Itoa(len(data)))
}

func versionOfHead(_ *node, data []byte) workspace.Version {
	return workspace.Version(fmt.Sprintf("%d-%x", len(data), data[:min(len(data), 64)]))
}

// versionCountsWrites begins again with a file that does not exist.
func versionCountsWrites(old *node, _ []byte) workspace.Version {
	if old == nil {
		return "1"
	}
	return old.version + "1"
}

func noVersion(_ *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		_, err := write(ctx, name, data, opts)
		return "", err
	}
}

func globalVersion(h *hooked) {
	stat := h.stat
	h.stat = func(ctx context.Context, name string) (workspace.FileInfo, error) {
		info, err := stat(ctx, name)
		if info.Version != "" {
			info.Version = workspace.Version(strconv.Itoa(h.reference.writes))
		}
		return info, err
	}
}

// versionAfterRead takes the version by a Stat that follows the read.
func versionAfterRead(h *hooked) {
	read := h.readVersion
	h.readVersion = func(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
		data, _, err := read(ctx, name, limit)
		if err != nil {
			return nil, "", err
		}
		yield()
		info, err := h.reference.Stat(ctx, name)
		return data, info.Version, err
	}
}

// forgetful makes every tenth version empty.
type forgetful struct{ answers counter }

func (f *forgetful) forget(version workspace.Version) workspace.Version {
	if f.answers.next()%10 == 0 {
		return ""
	}
	return version
}

func forgetsOnWrite(_ *hooked, write writeFunc) writeFunc {
	var f forgetful
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		version, err := write(ctx, name, data, opts)
		return f.forget(version), err
	}
}

func forgetsOnCopy(_ *hooked, copyFile copyFunc) copyFunc {
	var f forgetful
	return func(ctx context.Context, source, destination string) (workspace.Version, error) {
		version, err := copyFile(ctx, source, destination)
		return f.forget(version), err
	}
}

func forgetsOnStat(h *hooked) {
	var f forgetful
	mutateStat(func(info *workspace.FileInfo) { info.Version = f.forget(info.Version) })(h)
}

func forgetsOnLs(h *hooked) {
	var f forgetful
	mutateInfos(func(_ string, infos []workspace.FileInfo) []workspace.FileInfo {
		for i := range infos {
			infos[i].Version = f.forget(infos[i].Version)
		}
		return infos
	})(h)
}

func forgetsOnRead(h *hooked) {
	var f forgetful
	read := h.readVersion
	h.readVersion = func(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
		data, version, err := read(ctx, name, limit)
		return data, f.forget(version), err
	}
}

func forgetsOnOpen(h *hooked) {
	var f forgetful
	mutateStream(func(_ context.Context, stream io.ReadCloser, info *workspace.FileInfo) (io.ReadCloser, error) {
		info.Version = f.forget(info.Version)
		return stream, nil
	})(h)
}

func forgetsOnCommit(h *hooked) {
	var f forgetful
	create := h.create
	h.create = func(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
		w, err := create(ctx, name, opts)
		return commitHook{w, func() (workspace.Version, error) {
			version, err := w.Commit()
			return f.forget(version), err
		}}, err
	}
}
