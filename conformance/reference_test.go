package conformance_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// reference is a file system that is simple enough to be obviously right: one
// map from names to nodes and one lock. It has symlinks.
type reference struct {
	*state
	exact bool // no symlink is followed
}

// state is what a reference and its exact view share.
type state struct {
	mu     sync.Mutex // guards the fields below
	nodes  map[string]*node
	writes int
	disk   string // the directory where commands run, once there is one
	// versionOf replaces the versions, which count writes, if it is not nil.
	versionOf func(old *node, data []byte) workspace.Version
}

type node struct {
	kind    workspace.FileType
	data    []byte
	version workspace.Version
	time    time.Time
	target  string // of a symlink
}

var (
	_ workspace.FileSystem      = (*reference)(nil)
	_ workspace.VersionedReader = (*reference)(nil)
	_ workspace.Opener          = (*reference)(nil)
	_ workspace.Mover           = (*reference)(nil)
	_ workspace.Resolver        = (*reference)(nil)
	_ workspace.Exacter         = (*reference)(nil)
	_ fallback.Capable          = (*reference)(nil)
)

func newReference() *reference {
	return &reference{state: &state{nodes: map[string]*node{".": {kind: workspace.TypeDirectory}}}}
}

func (r *reference) Exact() (workspace.FileSystem, error) {
	return &reference{state: r.state, exact: true}, nil
}

func TestReference(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(*testing.T) workspace.FileSystem { return newReference() }, &conformance.Options{Symlink: symlink, Short: true})
}

// symlink is the hook of the options for a reference, however wrapped.
func symlink(t *testing.T, fsys workspace.FileSystem, target, name string) {
	t.Helper()
	r, ok := workspace.As[interface{ symlink(target, name string) }](fsys)
	if !ok {
		t.Fatalf("%T has no symlinks", fsys)
	}
	r.symlink(target, name)
}

func (r *reference) symlink(target, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nodes[name] = &node{kind: workspace.TypeSymlink, target: target}
}

func (r *reference) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{
		Write: true, Versions: true, ConditionalWrite: true, Watch: workspace.WatchPolled, Move: true, Copy: true,
		Run: runtime.GOOS == "linux",
	}
}

// follow returns name with its symlinks followed. It follows one in the last
// element only if last is set. What does not exist is kept as it is.
func (r *reference) follow(name string, last bool) (string, error) {
	done, rest := ".", strings.Split(name, "/")
	for hops := 0; len(rest) > 0; {
		element := rest[0]
		rest = rest[1:]
		next := workspace.Join(done, element)
		at := r.nodes[next]
		switch {
		case element == "..":
			if done == "." {
				return "", workspace.ErrEscape
			}
			done = path.Dir(done)
		case element == ".":
		case at != nil && at.kind == workspace.TypeSymlink && (last || len(rest) > 0):
			if r.exact {
				return "", workspace.ErrSymlink
			}
			if hops++; hops > 40 {
				return "", fs.ErrInvalid
			}
			if path.IsAbs(at.target) {
				return "", workspace.ErrEscape
			}
			rest = append(strings.Split(at.target, "/"), rest...)
		case at != nil && at.kind == workspace.TypeFile && len(rest) > 0:
			return "", workspace.ErrNotDir
		default:
			done = next
		}
	}
	return done, nil
}

// find returns the node of name, which must exist, and its followed name.
func (r *reference) find(ctx context.Context, op, name string, last bool) (*node, string, error) {
	if err := ops.Check(ctx, op, name); err != nil {
		return nil, "", err
	}
	real, err := r.follow(name, last)
	if err == nil && r.nodes[real] == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, "", ops.Error(op, name, err, nil)
	}
	return r.nodes[real], real, nil
}

func (r *reference) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, _, err := r.ReadVersioned(ctx, name, 0)
	return data, err
}

func (r *reference) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, _, err := r.find(ctx, ops.ReadFile, name, true)
	if err != nil {
		return nil, "", err
	}
	if n.kind == workspace.TypeDirectory {
		return nil, "", ops.Error(ops.ReadFile, name, workspace.ErrIsDir, nil)
	}
	if err := ops.CheckSize(ops.ReadFile, name, int64(len(n.data)), limit); err != nil {
		return nil, "", err
	}
	return bytes.Clone(n.data), n.version, nil
}

func (n *node) info(name string) workspace.FileInfo {
	info := workspace.FileInfo{Name: path.Base(name), Path: name, Type: n.kind, Size: int64(len(n.data)), Version: n.version, ModTime: n.time}
	return info
}

func (r *reference) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, _, err := r.find(ctx, ops.Stat, name, false)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	return n.info(name), nil
}

// directory returns the followed name of the directory dir.
func (r *reference) directory(ctx context.Context, op, dir string) (string, error) {
	n, real, err := r.find(ctx, op, dir, true)
	if err == nil && n.kind != workspace.TypeDirectory {
		err = ops.Error(op, dir, workspace.ErrNotDir, nil)
	}
	return real, err
}

func (r *reference) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	real, err := r.directory(ctx, ops.Ls, dir)
	if err != nil {
		return nil, err
	}
	var o workspace.LsOptions
	if opts != nil {
		o = *opts
	}
	if o.Limit < 0 {
		return nil, ops.Error(ops.Ls, dir, fs.ErrInvalid, nil)
	}
	names := slices.DeleteFunc(r.children(real), func(name string) bool { return name <= o.After })
	if o.Limit > 0 {
		names = names[:min(o.Limit, len(names))]
	}
	infos := []workspace.FileInfo{}
	for _, name := range names {
		infos = append(infos, r.nodes[workspace.Join(real, name)].info(workspace.Join(dir, name)))
	}
	return infos, nil
}

func (r *reference) children(dir string) []string {
	var names []string
	for name := range r.nodes {
		if name != "." && path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names
}

func (r *reference) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return fallback.Glob(ctx, r, pattern, opts)
}

func (r *reference) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return fallback.Grep(ctx, r, pattern, opts)
}

func (r *reference) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	return fallback.Poll(ctx, r, dir, opts)
}

func (r *reference) Resolve(ctx context.Context, name string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ops.Check(ctx, ops.Resolve, name); err != nil {
		return "", err
	}
	real, err := r.follow(name, true)
	for dir := name; err == workspace.ErrNotDir; real = path.Join(real, name[len(dir):]) { // below a file
		dir = path.Dir(dir)
		real, err = r.follow(dir, true)
	}
	if err != nil {
		return "", ops.Error(ops.Resolve, name, err, nil)
	}
	return real, nil
}

func (r *reference) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	var window workspace.OpenOptions
	if opts != nil {
		window = *opts
	}
	if err := ops.Check(ctx, ops.Open, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if err := ops.CheckWindow(name, window.Offset, window.Length); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	data, version, err := r.ReadVersioned(ctx, name, 0)
	if err != nil {
		return nil, workspace.FileInfo{}, ops.Rename(err, ops.Open, name)
	}
	info := workspace.FileInfo{Name: path.Base(name), Path: name, Type: workspace.TypeFile, Size: int64(len(data)), Version: version}
	return &stream{ctx: ctx, name: name, rest: bytes.NewReader(ops.Window(data, window.Offset, window.Length))}, info, nil
}

// stream is an open file that ends with its context.
type stream struct {
	ctx  context.Context
	name string
	rest *bytes.Reader
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, ops.Error(ops.Open, s.name, err, nil)
	}
	return s.rest.Read(p)
}

func (s *stream) Close() error { return nil }
