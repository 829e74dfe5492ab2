package policy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// RestrictedFS is a [workspace.FileSystem] in which only what [Rules] allow can be
// done. A directory in which something can be allowed may also be listed and
// created. If only AllowedPaths do not match it, it may also be removed or moved,
// unless something in it is denied.
//
// Any other operation on a name is [workspace.ErrPolicy] with a [*DeniedError],
// whether the name exists or not. Where AllowedPaths allow only a directory, listing anything else is
// [fs.ErrNotExist], unless it is a file and ShowDenied is set. A name for which [OpList] is denied is
// absent from Ls, Glob, Grep, Walk and Watch, unless ShowDenied is set. A search with Gitignore
// honours all ".gitignore" files, denied or not.
//
// A symlink can be used if its target is allowed, and if each symlink on the way
// is in a directory that is not denied. RestrictedFS tests the target, and then
// uses the target's name and follows no symlink: if a call or a program changes
// a symlink in between, the operation fails. A symlink that someone changes all
// the time is [workspace.ErrUnavailable].
//
// Before it removes or moves a directory that is not allowed with all below it,
// RestrictedFS lists what is in it. A denied name that a program creates there
// after that can be moved along, and a read-only one removed. RestrictedFS is
// safe for concurrent use.
type RestrictedFS struct {
	fsys     workspace.FileSystem // resolves names, and does what is allowed for every name
	files    workspace.FileSystem // does all else: the exact view of fsys, unless everything is allowed
	rules    *ruleset
	noFollow bool                                               // no symlink is followed
	hidden   scan.Hidden                                        // from searches; nil but in a view of Hide
	question *question                                          // about the operation that runs, nil if nobody is asked
	report   func(ctx context.Context, name string, d Decision) // nil if the rules are enforced
	allowRun bool                                               // commands need no rule
}

var (
	_ workspace.FileSystem      = (*RestrictedFS)(nil)
	_ fallback.Capable          = (*RestrictedFS)(nil)
	_ workspace.VersionedReader = (*RestrictedFS)(nil)
	_ workspace.Opener          = (*RestrictedFS)(nil)
	_ workspace.Creator         = (*RestrictedFS)(nil)
	_ workspace.Mover           = (*RestrictedFS)(nil)
	_ workspace.Copier          = (*RestrictedFS)(nil)
	_ workspace.Walker          = (*RestrictedFS)(nil)
	_ workspace.Resolver        = (*RestrictedFS)(nil)
	_ workspace.Exacter         = (*RestrictedFS)(nil)
	_ workspace.Runner          = (*RestrictedFS)(nil)
	_ fallback.Hider            = (*RestrictedFS)(nil)
	_ fallback.Transactor       = (*RestrictedFS)(nil)
	_ fallback.Rooter           = (*RestrictedFS)(nil)
	_ fallback.RootFinder       = (*RestrictedFS)(nil)
)

// Restrict returns fsys with what rules allow.
//
// # Errors
//
// [io/fs.ErrInvalid] if rules are empty, as a list that was filled from elsewhere
// may be by mistake, or if one of FirstMatch or an extension is not valid;
// [workspace.ErrPattern] or [workspace.ErrEscape] for a pattern that cannot be used; and
// [errors.ErrUnsupported] if fsys follows symlinks and cannot refuse to
// ([workspace.Exact]).
func Restrict(fsys workspace.FileSystem, rules Rules) (*RestrictedFS, error) {
	if rules.Empty() {
		return nil, ops.Error(opRestrict, "", fs.ErrInvalid, errors.New("no path is allowed or denied"))
	}
	set, err := compile(rules)
	if err != nil {
		return nil, err
	}
	r, err := restrict(fsys, set)
	if err == nil {
		r.report, r.allowRun = rules.Report, rules.AllowRun
	}
	return r, err
}

// restrict is [Restrict] with compiled rules.
func restrict(fsys workspace.FileSystem, rules *ruleset) (*RestrictedFS, error) {
	r := &RestrictedFS{fsys: fsys, files: fsys, rules: rules}
	if rules.free == onAll {
		return r, nil
	}
	exact, err := workspace.Exact(fsys)
	if err != nil {
		return nil, ops.Rename(err, opRestrict, ".")
	}
	r.files = exact
	return r, nil
}

// Protect returns a view of fsys in which protected names cannot be created,
// written, moved or removed, nor a directory with a protected name in it be
// moved or removed: that is [workspace.ErrPolicy]. protected returns why a name
// is protected, as a part of a sentence such as "it is generated", and "" if it is
// not. What is below a protected name is protected, too. parent, which may be nil,
// reports whether a name is that of a directory above a protected name: only Mkdir, or what
// is created below it, gives something such a name, and nothing with it can be moved, as else
// a symlink could take its place, and the protected name would have another. Symlinks have been
// followed when protected and parent are called. They must be safe for concurrent use.
//
// # Errors
//
// [errors.ErrUnsupported] if fsys follows symlinks and cannot refuse to
// ([workspace.Exact]).
func Protect(fsys workspace.FileSystem, protected func(name string) (why string), parent func(name string) bool) (*RestrictedFS, error) {
	return restrict(fsys, &ruleset{protect: protected, parent: parent, free: onAll &^ onChange})
}

// everything are the rules of what takes place although other rules would refuse
// it.
var everything = &ruleset{free: onAll}

// watched calls do, which is an operation on name, as if there were no rules.
// First, do is called to plan, as for a question: what the rules refuse then is
// reported.
func (r *RestrictedFS) watched(ctx context.Context, name string, do func(r *RestrictedFS) error) error {
	planning, free, rules := *r, *r, *r.rules
	rules.show = true // so that a denied file is reported, and no missing one
	planning.report, planning.rules, planning.question = nil, &rules, &question{base: r.rules, name: name, planning: true}
	free.report, free.rules, free.files = nil, everything, r.fsys
	if denied, ok := errors.AsType[*DeniedError](do(&planning)); ok {
		r.report(ctx, name, denied.Decision())
	}
	return do(&free)
}

// Exact implements [workspace.Exacter].
func (r *RestrictedFS) Exact() (workspace.FileSystem, error) {
	exact, err := workspace.Exact(r.fsys)
	if err != nil {
		return nil, err
	}
	return &RestrictedFS{fsys: exact, files: exact, rules: r.rules, noFollow: true, hidden: r.hidden, report: r.report, allowRun: r.allowRun}, nil
}

// Hide implements [fallback.Hider].
func (r *RestrictedFS) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	view := *r
	view.hidden = scan.Either(r.hidden, hidden)
	return &view, nil
}

// Transaction implements [fallback.Transactor]. What is undone is not restricted, because
// it happens below: without transactions there, it is [workspace.ErrPolicy], as the rules
// could forbid to undo what they have allowed.
func (r *RestrictedFS) Transaction(ctx context.Context, change func(ctx context.Context) error) error {
	if r.report == nil && !fallback.Transacts(r.fsys) {
		return ops.Error(ops.Transaction, ".", workspace.ErrPolicy,
			errors.New("the rules could forbid to undo a change; add transactions below them, with transaction.New"))
	}
	return fallback.Transaction(ctx, r.fsys, change)
}

// Capabilities implements [fallback.Capable].
func (r *RestrictedFS) Capabilities() workspace.Capabilities {
	c := workspace.CapabilitiesOf(r.fsys)
	c.Run = c.Run && (r.runsFreely() || r.report != nil || r.rules.canRun())
	return c
}

// canRun reports whether there is a directory in which the rules may let a command run.
func (s *ruleset) canRun() bool {
	return slices.ContainsFunc(s.programs, func(c clause) bool { return c.effect != Deny })
}

// Root implements [fallback.Rooter].
func (r *RestrictedFS) Root() string { return fallback.Root(r.fsys) }

// FindRoot implements [fallback.RootFinder].
func (r *RestrictedFS) FindRoot(ctx context.Context) error { return fallback.FindRoot(ctx, r.fsys) }

// Close closes the FileSystem below if it is an [io.Closer].
func (r *RestrictedFS) Close() error {
	if closer, ok := workspace.As[io.Closer](r.fsys); ok {
		return closer.Close()
	}
	return nil
}

// resolved is a name that is not denied, with its target.
type resolved struct {
	alias
	need   opSet                // what is done with it
	access access               // the lesser access of name and target
	files  workspace.FileSystem // does it
}

// at calls do with the target of name, if need is allowed there, until it finds
// no symlink in that. last says whether a symlink that is the last element is
// followed.
func (r *RestrictedFS) at(ctx context.Context, op string, need opSet, name string, last bool, do func(p resolved) error) error {
	p, err := r.asSpelled(ctx, op, need, name)
	if err != nil {
		return err
	}
	return follow(ctx, op, name, func() error { return do(p) }, func() (bool, error) { return r.resolve(ctx, op, &p, last) })
}

// atPair is at for two names. A symlink that is the last element of destination
// is not followed.
func (r *RestrictedFS) atPair(ctx context.Context, op string, need opSet, source, destination string, last bool, do func(from, to resolved) error) error {
	from, err := r.asSpelled(ctx, op, need, source)
	if err != nil {
		return err
	}
	to, err := r.asSpelled(ctx, op, onWrite, destination)
	if err != nil {
		return err
	}
	from.files = r.store(need | onWrite)
	return follow(ctx, op, source, func() error { return do(from, to) }, func() (bool, error) {
		first, err := r.resolve(ctx, op, &from, last)
		if err != nil {
			return false, err
		}
		second, err := r.resolve(ctx, op, &to, false)
		return first || second, err
	})
}

// store returns the FileSystem for operations that need need. What is allowed
// for every name is also allowed for the target of every symlink.
func (r *RestrictedFS) store(need opSet) workspace.FileSystem {
	if need&^r.rules.free == 0 {
		return r.fsys
	}
	return r.files
}

// asSpelled returns name with itself as its target, as if it had no symlink.
func (r *RestrictedFS) asSpelled(ctx context.Context, op string, need opSet, name string) (resolved, error) {
	if err := ops.Check(ctx, op, name); err != nil {
		return resolved{}, err
	}
	v := r.rules.verdict(need, name)
	if v.refuses(need) {
		return resolved{}, r.denial(op, name, need, name, v)
	}
	return resolved{alias{name, name}, need, v.access, r.store(need)}, nil
}

// resolve follows the symlinks in the name of p, and reports whether that is
// worth another attempt. It goes element by element and stops at a symlink to a
// hidden name, so that the answer shows nothing of what is there.
func (r *RestrictedFS) resolve(ctx context.Context, op string, p *resolved, last bool) (again bool, err error) {
	if r.noFollow {
		return false, nil
	}
	own := r.rules.verdict(p.need, p.name)
	// With traverse, a name is a directory or denied: a symlink is not
	// followed.
	dirOnly := own.access <= traverse
	dir, base := p.name, "."
	if !last || dirOnly {
		dir, base = workspace.Split(p.name)
	}
	target := "."
	for element := range strings.SplitSeq(dir, "/") {
		target, err = workspace.Resolve(ctx, r.fsys, rebase(element, ".", target))
		if err != nil {
			return false, ops.Rename(err, op, p.name)
		}
		if v := r.rules.verdict(onList, target); v.access == none {
			return false, r.denial(op, p.name, onList, target, v)
		}
	}
	target = rebase(base, ".", target)
	unchanged := target == p.target
	v := r.rules.verdict(p.need, target)
	p.target, p.access = target, min(own.access, v.access)
	if v.refuses(p.need) || unchanged && dirOnly {
		return false, r.denial(op, p.name, p.need, target, v)
	}
	return true, nil
}

// child returns the target of a name below p, and what may be done with it: it
// may be denied.
func (r *RestrictedFS) child(p resolved, need opSet, name string) resolved {
	v := r.rules.verdict(need, name)
	c := resolved{alias{name, name}, need, v.access, p.files}
	if p.name != p.target {
		c.target = rebase(name, p.name, p.target)
		v = v.and(r.rules.verdict(need, c.target))
		c.access = v.access
	}
	if v.refuses(need) {
		c.access = none
	}
	return c
}

// shows reports whether a listing shows a name of type t.
func (p resolved) shows(t workspace.FileType) bool {
	return p.access > traverse || p.access == traverse && t == workspace.TypeDirectory
}

// denial is the error of a denied operation on name. It depends on target alone,
// not on what has that name.
func (r *RestrictedFS) denial(op, name string, need opSet, target string, v verdict) error {
	d := r.rules.decision(need, target, v)
	if name != target && d.Effect == Deny {
		d.Reason = "it leads to a denied name" // the pattern would say where
	}
	return ops.Error(op, name, workspace.ErrPolicy, &DeniedError{decision: d})
}

// traverseDenial is the denial of a name that may only be traversed.
func (r *RestrictedFS) traverseDenial(op string, p resolved) error {
	v := r.rules.verdict(p.need, p.target)
	if p.name != p.target {
		v = r.rules.verdict(p.need, p.name).and(v)
	}
	return r.denial(op, p.name, p.need, p.target, v)
}

// checkDir returns the denial of a name that may only be traversed and is no
// directory. Where it could be listed if it were one, it does not exist instead, and
// neither does a denied file unless it is shown.
func (r *RestrictedFS) checkDir(ctx context.Context, op string, p resolved) error {
	if p.access > traverse || p.target == "." {
		return nil
	}
	info, err := r.files.Stat(ctx, p.target)
	missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotDir)
	switch {
	case errors.Is(err, workspace.ErrUnavailable), errors.Is(err, workspace.ErrSymlink), ctx.Err() != nil:
		return ops.Rename(err, op, p.name)
	case err == nil && info.IsDir():
		return nil
	case p.need&onList != 0 && r.leads(p) && (missing || err == nil && !r.rules.show):
		return ops.Error(op, p.name, fs.ErrNotExist, nil)
	}
	return r.traverseDenial(op, p)
}

// leads reports whether p may only be traversed because that leads to an allowed path, and
// no rule denies it.
func (r *RestrictedFS) leads(p resolved) bool {
	return r.rules.verdict(p.need, p.name).rule == nil && r.rules.verdict(p.need, p.target).rule == nil
}

// conceal returns the error of an operation on p in a form that shows nothing of
// denied names: where an element in the middle is a denied file, the error is
// [fs.ErrNotExist], as if there were no such file.
func (r *RestrictedFS) conceal(ctx context.Context, op string, p resolved, err error) error {
	if errors.Is(err, workspace.ErrNotDir) && r.deniedFile(ctx, p) {
		return ops.Error(op, p.name, fs.ErrNotExist, nil)
	}
	return ops.Rename(err, op, p.name)
}

// concealChange is conceal for an operation that creates missing parents: in the
// place of a denied file, it is refused.
func (r *RestrictedFS) concealChange(ctx context.Context, op string, p resolved, err error) error {
	if errors.Is(err, workspace.ErrNotDir) && r.deniedFile(ctx, p) {
		return r.traverseDenial(op, p)
	}
	return ops.Rename(err, op, p.name)
}

// deniedFile reports whether an element in the middle of p is a denied file.
func (r *RestrictedFS) deniedFile(ctx context.Context, p resolved) bool {
	for dir, _ := workspace.Split(p.target); dir != "."; dir, _ = workspace.Split(dir) {
		if r.rules.verdict(onList, dir).access > traverse {
			continue
		}
		info, err := r.files.Stat(ctx, dir)
		if err == nil && info.Type != workspace.TypeDirectory && info.Type != workspace.TypeSymlink {
			return true
		}
	}
	return false
}
