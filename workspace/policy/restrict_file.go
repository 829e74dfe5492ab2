package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy/internal/shown"
)

// checkFile returns the error of a name that cannot be a file.
func (r *RestrictedFS) checkFile(ctx context.Context, op string, p resolved) error {
	if p.access > traverse {
		return nil
	}
	if err := r.checkDir(ctx, op, p); err != nil {
		return err
	}
	return ops.Error(op, p.name, workspace.ErrIsDir, nil)
}

// atFile is at for a name that is used as a file. last is false for one that must be new.
func (r *RestrictedFS) atFile(ctx context.Context, op string, need opSet, name string, last bool, do func(p resolved) error) error {
	return r.at(ctx, op, need, name, last, func(p resolved) error {
		if !last && p.access <= traverse {
			return r.occupied(ctx, op, p)
		}
		if err := r.checkFile(ctx, op, p); err != nil {
			return err
		}
		return do(p)
	})
}

// ReadFile implements [workspace.FileSystem].
func (r *RestrictedFS) ReadFile(ctx context.Context, name string) (data []byte, err error) {
	err = r.toRead(ctx, ops.ReadFile, name, func(r *RestrictedFS, p resolved) error {
		data, err = p.files.ReadFile(ctx, p.target)
		return r.conceal(ctx, ops.ReadFile, p, err)
	})
	return data, err
}

// toRead calls do with a file that may be read.
func (r *RestrictedFS) toRead(ctx context.Context, op, name string, do func(r *RestrictedFS, p resolved) error) error {
	return r.approved(ctx, op, name, func(r *RestrictedFS) error {
		return r.atFile(ctx, op, onRead, name, true, func(p resolved) error {
			if err := r.question.confirmName(ctx, OpRead, p, true); err != nil {
				return err
			}
			return do(r, p)
		})
	})
}

// ReadVersioned implements [workspace.VersionedReader].
func (r *RestrictedFS) ReadVersioned(ctx context.Context, name string, limit int64) (data []byte, version workspace.Version, err error) {
	err = r.toRead(ctx, ops.ReadFile, name, func(r *RestrictedFS, p resolved) error {
		data, version, err = workspace.ReadVersioned(ctx, p.files, p.target, limit)
		return r.conceal(ctx, ops.ReadFile, p, err)
	})
	return data, version, err
}

// Open implements [workspace.Opener].
func (r *RestrictedFS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (stream io.ReadCloser, info workspace.FileInfo, err error) {
	err = r.toRead(ctx, ops.Open, name, func(r *RestrictedFS, p resolved) error {
		stream, info, err = workspace.Open(ctx, p.files, p.target, opts)
		if err != nil {
			return r.conceal(ctx, ops.Open, p, err)
		}
		stream, info = &reader{stream, p.outerError}, p.outerInfo(info)
		return nil
	})
	return stream, info, err
}

// writes returns what a write with opts needs. With IfVersion, it changes what the
// caller has seen.
func writes(opts *workspace.WriteOptions) opSet {
	if opts != nil && opts.IfVersion != "" {
		return onEdit
	}
	return onWrite
}

// WriteFile implements [workspace.FileSystem].
func (r *RestrictedFS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (version workspace.Version, err error) {
	err = r.approved(ctx, ops.WriteFile, name, func(r *RestrictedFS) error {
		return r.atFile(ctx, ops.WriteFile, writes(opts), name, follows(opts), func(p resolved) error {
			version, err = r.writeTarget(ctx, p, data, opts)
			return r.concealChange(ctx, ops.WriteFile, p, err)
		})
	})
	return version, err
}

// writeTarget writes p. With an approval, it writes only what was shown over what
// was shown: the store tests that where it has conditional writes.
func (r *RestrictedFS) writeTarget(ctx context.Context, p resolved, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if r.question == nil {
		return p.files.WriteFile(ctx, p.target, data, opts)
	}
	req, o := Request{Op: OpWrite}, workspace.WriteOptions{}
	if opts != nil {
		o = *opts
	}
	if o.IfVersion != "" {
		req.Op = OpEdit
	}
	condition := fmt.Sprintf("%s %v", o.IfVersion, o.IfNotExist)
	now, err := r.question.confirm(req, p, condition+shown.Digest(string(data)), func() (shown.State, error) {
		return shown.Write(ctx, p.files, p.target, data, follows(opts))
	})
	if o.IfVersion != "" && now.Version != "" && o.IfVersion != now.Version && (err == nil || errors.Is(err, errChanged) || r.question.known(p)) {
		r.question.doomed = ops.Error(ops.WriteFile, p.name, workspace.ErrConflict, nil)
		return "", r.question.doomed
	}
	if err != nil {
		return "", err
	}
	own := o.IfVersion == "" && !o.IfNotExist && r.Capabilities().ConditionalWrite
	switch {
	case own && now.Absent:
		o.IfNotExist = true
	case own:
		o.IfVersion = now.Version
	}
	version, err := p.files.WriteFile(ctx, p.target, data, &o)
	if own && (errors.Is(err, workspace.ErrConflict) || errors.Is(err, fs.ErrExist)) {
		return "", errChanged
	}
	return version, err
}

// known reports whether the version of p may be known without an approval, as anybody
// may list it.
func (q *question) known(p resolved) bool {
	v := q.base.verdict(onList, p.target)
	return v.access > traverse && v.rule == nil
}

// Create implements [workspace.Creator]. Where a rule asks that was not allowed for the
// session, it is refused: nobody can be shown what a stream will write.
func (r *RestrictedFS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (w workspace.Writer, err error) {
	if r.report != nil {
		err = r.watched(ctx, name, func(r *RestrictedFS) error {
			if w != nil {
				_ = w.Close() // it was for the plan
			}
			w, err = r.Create(ctx, name, opts)
			return err
		})
		return w, err
	}
	r = r.inSession(ctx)
	err = r.atFile(ctx, ops.Create, writes(opts), name, follows(opts), func(p resolved) error {
		below, err := p.create(ctx, p.files, opts)
		if err != nil {
			return r.concealChange(ctx, ops.Create, p, err)
		}
		w = &writer{below, p.name, func(err error) error {
			if errors.Is(err, workspace.ErrNotDir) {
				return r.concealChange(ctx, ops.Create, p, err)
			}
			return p.outerError(err)
		}}
		return nil
	})
	if d := asked(err); d != nil {
		err = d.refused(ops.Create, name, ops.Refinement{Text: "nobody can be shown a stream: write the file whole", Of: ErrNoApprover})
	}
	return w, err
}

// Stat implements [workspace.FileSystem].
func (r *RestrictedFS) Stat(ctx context.Context, name string) (info workspace.FileInfo, err error) {
	err = r.approved(ctx, ops.Stat, name, func(r *RestrictedFS) error {
		return r.at(ctx, ops.Stat, onList, name, false, func(p resolved) error {
			if err := r.checkDir(ctx, ops.Stat, p); err != nil {
				return err
			}
			if err := r.question.confirmName(ctx, OpList, p, false); err != nil {
				return err
			}
			info, err = p.files.Stat(ctx, p.target)
			info = p.outerInfo(info)
			return r.conceal(ctx, ops.Stat, p, err)
		})
	})
	return info, err
}

// Resolve implements [workspace.Resolver].
func (r *RestrictedFS) Resolve(ctx context.Context, name string) (target string, err error) {
	err = r.approved(ctx, ops.Resolve, name, func(r *RestrictedFS) error {
		return r.at(ctx, ops.Resolve, onList, name, true, func(p resolved) error {
			if err := r.question.confirmName(ctx, OpList, p, true); err != nil {
				return err
			}
			target, err = workspace.Resolve(ctx, p.files, p.target)
			return ops.Rename(err, ops.Resolve, name)
		})
	})
	return target, err
}

// Copy implements [workspace.Copier].
func (r *RestrictedFS) Copy(ctx context.Context, source, destination string) (version workspace.Version, err error) {
	err = r.approved(ctx, ops.Copy, source, func(r *RestrictedFS) error {
		return r.atPair(ctx, ops.Copy, onCopy|onRead, source, destination, true, func(from, to resolved) error {
			version, err = r.copyTarget(ctx, from, to)
			return err
		})
	})
	return version, err
}

// copyTarget copies from to to.
func (r *RestrictedFS) copyTarget(ctx context.Context, from, to resolved) (workspace.Version, error) {
	if err := r.checkFile(ctx, ops.Copy, from); err != nil {
		return "", err
	}
	if to.access == traverse {
		return "", r.occupied(ctx, ops.Copy, to)
	}
	if err := r.question.confirmPair(ctx, OpCopy, from, to, true); err != nil {
		return "", err
	}
	if limit := session.CopyLimit(ctx); limit > 0 {
		// Of a symlink it is zero, and the copy begins again with the target.
		info, err := from.files.Stat(ctx, from.target)
		if err == nil {
			err = ops.CheckSize(ops.Copy, from.name, info.Size, limit)
		}
		if errors.Is(err, workspace.ErrTooLarge) { // the copy itself finds all other errors
			return "", err
		}
	}
	version, err := workspace.Copy(ctx, from.files, from.target, to.target)
	return version, r.concealPair(ctx, ops.Copy, from, to, err)
}

// occupied is the error of a file that cannot be created because only a
// directory may have its name.
func (r *RestrictedFS) occupied(ctx context.Context, op string, p resolved) error {
	if err := r.checkDir(ctx, op, p); err != nil {
		return err
	}
	return ops.Error(op, p.name, fs.ErrExist, nil)
}

// concealPair is conceal for the error of an operation on two names.
func (r *RestrictedFS) concealPair(ctx context.Context, op string, from, to resolved, err error) error {
	if blames(to.alias, from.alias, err) {
		return r.concealChange(ctx, op, to, err)
	}
	return r.conceal(ctx, op, from, err)
}
