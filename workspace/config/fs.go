package config

import (
	"errors"
	"io/fs"
	"math"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// FS is the settings of a workspace that hold for every provider and every
// consumer, whatever it uses the workspace for.
type FS struct {
	// MaxFileSizeMb is the largest file that is read or written whole, edited or
	// searched, in MiB. Zero means that of [workspace.DefaultMaxFileSize].
	MaxFileSizeMb int64 `json:"maxFileSizeMb,omitempty" jsonschema:"The largest file that is read or written whole, edited or searched, in MiB. 10 if it is left out."`
	// ReadOnly lets nothing be changed.
	ReadOnly bool `json:"readOnly,omitempty" jsonschema:"Lets nothing be changed. There are then no tools that change something."`
	// AllowedPaths are the names that may be used, as in [policy.Rules]. Empty
	// means all.
	AllowedPaths []string `json:"allowedPaths,omitempty" jsonschema:"Globs of the names that may be used, from the root of the workspace: all others are refused, and absent from listings and searches. All names may be used if it is left out."`
	// DeniedPaths are names that may not be used although AllowedPaths allow
	// them, as in [policy.Rules].
	DeniedPaths []string `json:"deniedPaths,omitempty" jsonschema:"Globs of names that are refused, and absent from listings and searches, with all below them. A pattern without a slash matches in every directory, and letters match in either case."`
	// ReadOnlyPaths are names that can be read and not changed, as in
	// [policy.ReadOnlyPaths].
	ReadOnlyPaths []string `json:"readOnlyPaths,omitempty" jsonschema:"Globs of names that can be read but not changed, moved or deleted, with all below them. A pattern without a slash matches in every directory, and letters match in either case."`
}

// clone returns a copy that shares nothing with s.
func (s FS) clone() FS {
	s.AllowedPaths, s.DeniedPaths = slices.Clone(s.AllowedPaths), slices.Clone(s.DeniedPaths)
	s.ReadOnlyPaths = slices.Clone(s.ReadOnlyPaths)
	return s
}

// maxFileSizeMb is the greatest limit that is a number of bytes.
const maxFileSizeMb = math.MaxInt64 >> 20

// check adds what is wrong with the settings that n has, beside their types.
func (s FS) check(p *problems, n *node) {
	if size := n.lookup("maxFileSizeMb"); size != nil && size.integer() && (s.MaxFileSizeMb < 1 || s.MaxFileSizeMb > maxFileSizeMb) {
		p.add(size.at, "maxFileSizeMb is to be between 1 and %d, in MiB: leave it out for the default of %d",
			int64(maxFileSizeMb), workspace.DefaultMaxFileSize>>20)
	}
	checkPaths(p, n.lookup("allowedPaths"), "allowedPaths is empty, which would allow nothing: name what may be used, or leave it out", policy.CheckAllowedPath)
	checkPaths(p, n.lookup("deniedPaths"), "deniedPaths is empty: leave it out", policy.CheckDeniedPath)
	checkPaths(p, n.lookup("readOnlyPaths"), "readOnlyPaths is empty: leave it out", policy.CheckDeniedPath)
}

// checkPaths adds what is wrong with a list of patterns, which may be nil.
func checkPaths(p *problems, paths *node, empty string, check func(pattern string) error) {
	if paths == nil || paths.kind != listNode {
		return
	}
	if len(paths.items) == 0 {
		p.add(paths.at, "%s", empty)
	}
	for _, item := range paths.items {
		if item.kind != textNode {
			continue
		}
		if err := check(item.text); err != nil {
			p.add(item.at, "the path %q cannot be used: %s", short(item.raw), redact(cause(err), item.used))
		}
	}
}

// cause returns what an error says beside the operation and the name.
func cause(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// checkAlone returns what is wrong with settings that came from no file.
func (s FS) checkAlone() error {
	if s.MaxFileSizeMb < 0 || s.MaxFileSizeMb > maxFileSizeMb {
		return errors.New("maxFileSizeMb is out of bounds")
	}
	return nil
}

// over returns fsys as the settings show it.
func (s FS) over(fsys workspace.FileSystem) (workspace.FileSystem, error) {
	if len(s.ReadOnlyPaths) > 0 {
		protected, err := policy.ReadOnlyPaths(fsys, s.ReadOnlyPaths)
		if err != nil {
			return nil, err
		}
		fsys = protected
	}
	if len(s.AllowedPaths)+len(s.DeniedPaths) > 0 {
		restricted, err := policy.Restrict(fsys, policy.Rules{AllowedPaths: s.AllowedPaths, DeniedPaths: s.DeniedPaths})
		if err != nil {
			return nil, err
		}
		fsys = restricted
	}
	if s.ReadOnly {
		fsys = policy.ReadOnly(fsys)
	}
	return fsys, nil
}
