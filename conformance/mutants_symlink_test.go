package conformance_test

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

func symlinkMutants() []mutant {
	return []mutant{
		{"stat-follows", statFollows, []string{"Symlink/stat-describes-itself"}},
		{"nothing-is-followed", nothingFollowed, []string{"Symlink/read-follows", "Symlink/middle-followed"}},
		{"write-replaces-symlink", writeReplacesLink, []string{"Symlink/write-follows"}},
		{"nothing-is-created-where-links-lead", createsNothingThroughLinks, []string{"Symlink/write-dangling"}},
		{"write-new-follows", writeNewFollows, []string{"Symlink/write-new"}},
		{"ls-follows-entries", lsFollowsEntries, []string{"Symlink/ls-of-symlink"}},
		{"ls-shows-target-paths", func(h *hooked) { h.ls = resolvedLs(h) }, []string{"Symlink/ls-of-symlink"}},
		{"glob-follows", globFollows, []string{"Symlink/glob"}},
		{"glob-follows-gitignore", globFollowsGitignore, []string{"Symlink/gitignore"}},
		{"grep-follows", grepFollows, []string{"Symlink/grep"}},
		{"walk-follows", walkFollows, []string{"Symlink/walk", "Symlink/loop"}},
		{"rm-follows", rmFollows, []string{"Symlink/rm", "Symlink/rm-recursive"}},
		{"move-follows", moveFollows, []string{"Symlink/move"}},
		{"copy-keeps-symlink", copyKeepsLink, []string{"Symlink/copy"}},
		{"escapes-are-missing", replaceKind(workspace.ErrEscape, fs.ErrNotExist), []string{"Symlink/escape", "Symlink/escape-by-writing", "Symlink/detour"}},
		{"loops-are-missing", replaceKind(fs.ErrInvalid, fs.ErrNotExist), []string{"Symlink/loop"}},
		{"loops-are-no-directories", mkdirHidesLoops, []string{"Symlink/loop"}},
		{"resolve-keeps-names", func(h *hooked) {
			h.resolve = func(_ context.Context, name string) (string, error) { return name, nil }
		}, []string{"Symlink/resolve"}},
		{"resolve-needs-directories", func(h *hooked) {
			h.resolve = func(ctx context.Context, name string) (string, error) {
				if _, err := h.reference.Stat(ctx, name); errors.Is(err, workspace.ErrNotDir) {
					return "", ops.Rename(err, ops.Resolve, name)
				}
				return h.reference.Resolve(ctx, name)
			}
		}, []string{"Resolve/below-a-file"}},
	}
}

func statFollows(h *hooked) {
	h.stat = func(ctx context.Context, name string) (workspace.FileInfo, error) {
		real, err := h.reference.Resolve(ctx, name)
		if err != nil {
			return workspace.FileInfo{}, err
		}
		return h.reference.Stat(ctx, real)
	}
}

// refuseLinks refuses names that resolve to others.
func (h *hooked) refuseLinks(ctx context.Context, name string) error {
	if real, err := h.reference.Resolve(ctx, name); err != nil || real != name {
		return ops.Error(ops.ReadFile, name, fs.ErrNotExist, nil)
	}
	return nil
}

func nothingFollowed(h *hooked) {
	h.readFile = func(ctx context.Context, name string) ([]byte, error) {
		if err := h.refuseLinks(ctx, name); err != nil {
			return nil, err
		}
		return h.reference.ReadFile(ctx, name)
	}
}

func writeReplacesLink(h *hooked) {
	h.writeFile = func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if info, err := h.reference.Stat(ctx, name); err == nil && info.Type == workspace.TypeSymlink {
			h.reference.Rm(ctx, name, nil)
		}
		return h.reference.WriteFile(ctx, name, data, opts)
	}
}

// createsNothingThroughLinks is the operating system, for which a symlink to nothing is
// something with the name.
func createsNothingThroughLinks(h *hooked) {
	h.mkdir = func(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
		if real, err := h.reference.Resolve(ctx, name); err == nil && real != name {
			return ops.Error(ops.Mkdir, name, workspace.ErrNotDir, nil)
		}
		return h.reference.Mkdir(ctx, name, opts)
	}
}

// mkdirHidesLoops is a folder that only learns from the operating system that something has
// the name.
func mkdirHidesLoops(h *hooked) {
	h.mkdir = func(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
		if _, err := h.reference.Resolve(ctx, name); errors.Is(err, fs.ErrInvalid) {
			return ops.Error(ops.Mkdir, name, workspace.ErrNotDir, nil)
		}
		return h.reference.Mkdir(ctx, name, opts)
	}
}

func writeNewFollows(h *hooked) {
	h.writeFile = func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if real, err := h.reference.Resolve(ctx, name); err == nil {
			name = real
		}
		return h.reference.WriteFile(ctx, name, data, opts)
	}
}

func lsFollowsEntries(h *hooked) {
	h.ls = func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		infos, err := h.reference.Ls(ctx, dir, opts)
		for i := range infos {
			if real, err := h.reference.Resolve(ctx, infos[i].Path); err == nil {
				if info, err := h.reference.Stat(ctx, real); err == nil {
					infos[i].Type = info.Type
				}
			}
		}
		return infos, err
	}
}

// resolvedLs lists what dir stands for under that name.
func resolvedLs(h *hooked) lsFunc {
	return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		if real, err := h.reference.Resolve(ctx, dir); err == nil {
			dir = real
		}
		return h.reference.Ls(ctx, dir, opts)
	}
}

func globFollows(h *hooked) {
	h.glob = func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
		paths, err := h.reference.Glob(ctx, pattern, opts)
		if pattern == "links/dir/*" {
			return []string{"links/dir/child"}, err
		}
		return paths, err
	}
}

func grepFollows(h *hooked) {
	h.grep = func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		result, err := h.reference.Grep(ctx, pattern, opts)
		if err == nil && (opts == nil || opts.Path == "links") {
			more, _ := h.reference.Grep(ctx, pattern, &workspace.GrepOptions{Path: "links/file"})
			result.Matches = append(result.Matches, more.Matches...)
		}
		return result, err
	}
}

func walkFollows(h *hooked) {
	h.walk = func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		return workspace.Walk(ctx, h.reference, dir, opts, func(info workspace.FileInfo, err error) error {
			if real, err := h.reference.Resolve(ctx, info.Path); errors.Is(err, fs.ErrInvalid) {
				return err
			} else if real != info.Path && info.Type == workspace.TypeSymlink {
				return fn(workspace.FileInfo{Path: info.Path + "/", Type: workspace.TypeDirectory}, nil)
			}
			return fn(info, err)
		})
	}
}

func rmFollows(h *hooked) {
	h.rm = func(ctx context.Context, name string, opts *workspace.RmOptions) error {
		if real, err := h.reference.Resolve(ctx, name); err == nil && real != name {
			return h.reference.Rm(ctx, real, &workspace.RmOptions{Recursive: true})
		}
		return h.reference.Rm(ctx, name, opts)
	}
}

func moveFollows(h *hooked) {
	h.move = func(ctx context.Context, source, destination string) error {
		if real, err := h.reference.Resolve(ctx, source); err == nil {
			source = real
		}
		return h.reference.Move(ctx, source, destination)
	}
}

func copyKeepsLink(h *hooked) {
	h.copyFile = func(_ context.Context, source, destination string) (workspace.Version, error) {
		h.reference.symlink(source, destination)
		return "", nil
	}
}

// globFollowsGitignore reads the rules of a symlink above Dir.
func globFollowsGitignore(h *hooked) {
	glob := h.glob
	h.glob = func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
		target, err := h.reference.Resolve(ctx, ".gitignore")
		if err == nil && target != ".gitignore" && opts != nil && opts.Gitignore && opts.Dir == "sub" {
			data, _ := h.reference.ReadFile(ctx, target)
			h.reference.Rm(ctx, ".gitignore", nil)
			h.reference.WriteFile(ctx, ".gitignore", data, nil)
		}
		return glob(ctx, pattern, opts)
	}
}
