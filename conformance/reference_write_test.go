package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

func (r *reference) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ops.Check(ctx, ops.WriteFile, name); err != nil {
		return "", err
	}
	real, err := r.follow(name, opts == nil || !opts.IfNotExist)
	if err == nil {
		err = r.mayWrite(real, opts)
	}
	if err != nil {
		return "", ops.Error(ops.WriteFile, name, err, nil)
	}
	return r.put(real, data), nil
}

func (r *reference) mayWrite(name string, opts *workspace.WriteOptions) error {
	n := r.nodes[name]
	var o workspace.WriteOptions
	if opts != nil {
		o = *opts
	}
	switch {
	case o.IfNotExist && o.IfVersion != "":
		return fs.ErrInvalid
	case o.IfNotExist && n != nil:
		return fs.ErrExist
	case n != nil && n.kind == workspace.TypeDirectory:
		return workspace.ErrIsDir
	case o.IfVersion != "" && (n == nil || n.version != o.IfVersion):
		return workspace.ErrConflict
	}
	return nil
}

func (r *reference) put(name string, data []byte) workspace.Version {
	r.makeParents(name)
	r.writes++
	version := workspace.Version(strconv.Itoa(r.writes))
	if r.versionOf != nil {
		version = r.versionOf(r.nodes[name], data)
	}
	r.nodes[name] = &node{kind: workspace.TypeFile, data: bytes.Clone(data), version: version, time: time.Now()}
	return version
}

func (r *reference) makeParents(name string) {
	for dir := path.Dir(name); r.nodes[dir] == nil; dir = path.Dir(dir) {
		r.nodes[dir] = &node{kind: workspace.TypeDirectory}
	}
}

func (r *reference) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, real, err := r.find(ctx, ops.Rm, name, false)
	if err != nil {
		return err
	}
	recursive := opts != nil && opts.Recursive
	switch {
	case real == ".":
		return ops.Error(ops.Rm, name, fs.ErrInvalid, errors.New("is the root"))
	case !recursive && len(r.children(real)) > 0:
		return ops.Error(ops.Rm, name, workspace.ErrNotEmpty, nil)
	}
	for other := range r.nodes {
		if other == real || strings.HasPrefix(other, real+"/") {
			delete(r.nodes, other)
		}
	}
	return nil
}

func (r *reference) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ops.Check(ctx, ops.Mkdir, name); err != nil {
		return err
	}
	recursive := opts != nil && opts.Recursive
	real, err := r.follow(name, recursive)
	if err == nil {
		err = r.mayMkdir(real, recursive)
	}
	if err != nil {
		return ops.Error(ops.Mkdir, name, err, nil)
	}
	if r.nodes[real] == nil {
		r.makeParents(real)
		r.nodes[real] = &node{kind: workspace.TypeDirectory}
	}
	return nil
}

func (r *reference) mayMkdir(name string, recursive bool) error {
	n := r.nodes[name]
	switch {
	case n != nil && !recursive:
		return fs.ErrExist
	case n != nil && n.kind != workspace.TypeDirectory:
		return workspace.ErrNotDir
	case !recursive && r.nodes[path.Dir(name)] == nil:
		return fs.ErrNotExist
	}
	return nil
}

func (r *reference) Move(ctx context.Context, source, destination string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, from, err := r.find(ctx, ops.Move, source, false)
	if err != nil {
		return err
	}
	if err := ops.Check(ctx, ops.Move, destination); err != nil {
		return err
	}
	to, err := r.follow(destination, false)
	isBelow := strings.HasPrefix(destination, source+"/") || err == nil && strings.HasPrefix(to, from+"/")
	if from == "." || isBelow && r.nodes[from].kind == workspace.TypeDirectory {
		return ops.Error(ops.Move, source, fs.ErrInvalid, nil)
	}
	if err == nil && r.nodes[to] != nil {
		err = fs.ErrExist
	}
	if err != nil {
		return ops.Error(ops.Move, destination, err, nil)
	}
	r.rename(from, to)
	return nil
}

func (r *reference) rename(from, to string) {
	r.makeParents(to)
	moved := make(map[string]*node)
	for name, n := range r.nodes {
		if name == from || strings.HasPrefix(name, from+"/") {
			moved[to+name[len(from):]] = n
			delete(r.nodes, name)
		}
	}
	for name, n := range moved {
		r.nodes[name] = n
	}
}

// Create collects the bytes for a WriteFile.
func (r *reference) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	if err := ops.Check(ctx, ops.Create, name); err != nil {
		return nil, err
	}
	return &writer{ctx: ctx, name: name, write: r.WriteFile, opts: opts}, nil
}

// writer is a file that is being written.
type writer struct {
	ctx   context.Context
	name  string
	opts  *workspace.WriteOptions
	write func(context.Context, string, []byte, *workspace.WriteOptions) (workspace.Version, error)
	buf   bytes.Buffer
}

func (w *writer) Write(p []byte) (int, error) {
	if err := ops.Check(w.ctx, ops.Create, w.name); err != nil {
		return 0, err
	}
	return w.buf.Write(p)
}

func (w *writer) Commit() (workspace.Version, error) {
	return w.write(w.ctx, w.name, w.buf.Bytes(), w.opts)
}

func (w *writer) Close() error { return nil }
