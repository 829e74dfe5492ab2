package policy_test

import (
	"context"
	"io"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// approvingFS is a RestrictedFS whose operations all have an approver. It has no Create,
// as a stream cannot be approved: workspace.Create writes the whole file instead.
type approvingFS struct {
	fsys     *policy.RestrictedFS
	approver *policy.Approver
}

func (a *approvingFS) ctx(ctx context.Context) context.Context {
	return policy.WithApprover(ctx, a.approver)
}

func (a *approvingFS) Capabilities() workspace.Capabilities { return a.fsys.Capabilities() }

func (a *approvingFS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	return a.fsys.ReadFile(a.ctx(ctx), name)
}

func (a *approvingFS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	return a.fsys.WriteFile(a.ctx(ctx), name, data, opts)
}

func (a *approvingFS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return a.fsys.Ls(a.ctx(ctx), dir, opts)
}

func (a *approvingFS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return a.fsys.Glob(a.ctx(ctx), pattern, opts)
}

func (a *approvingFS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return a.fsys.Grep(a.ctx(ctx), pattern, opts)
}

func (a *approvingFS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	return a.fsys.Stat(a.ctx(ctx), name)
}

func (a *approvingFS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return a.fsys.Rm(a.ctx(ctx), name, opts)
}

func (a *approvingFS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	return a.fsys.Mkdir(a.ctx(ctx), name, opts)
}

func (a *approvingFS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	return a.fsys.Watch(a.ctx(ctx), dir, opts)
}

func (a *approvingFS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	return a.fsys.ReadVersioned(a.ctx(ctx), name, limit)
}

func (a *approvingFS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	return a.fsys.Open(a.ctx(ctx), name, opts)
}

func (a *approvingFS) Move(ctx context.Context, source, destination string) error {
	return a.fsys.Move(a.ctx(ctx), source, destination)
}

func (a *approvingFS) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	return a.fsys.Copy(a.ctx(ctx), source, destination)
}

func (a *approvingFS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return a.fsys.Walk(a.ctx(ctx), dir, opts, fn)
}

func (a *approvingFS) Resolve(ctx context.Context, name string) (string, error) {
	return a.fsys.Resolve(a.ctx(ctx), name)
}

// approving returns a memory under rules that ask about ops, and an approver that allows
// everything, one question at a time.
func approving(t *testing.T, ops ...policy.Op) workspace.FileSystem {
	t.Helper()
	r, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{{Ask: ops, Paths: []string{"**"}}}})
	if err != nil {
		t.Fatal(err)
	}
	p := &person{}
	return &approvingFS{r, policy.NewApprover(p.ask, nil)}
}

// TestApprovedConformance runs the suite where every change is approved, and then where
// reading is. Nothing is different, but that an approval is for what was shown: of
// writers without a condition that replace what the others were shown, some have a
// conflict.
func TestApprovedConformance(t *testing.T) {
	exhaustive.NotShort(t, "runs the suite again")
	changes := []policy.Op{policy.OpWrite, policy.OpEdit, policy.OpDelete, policy.OpMove, policy.OpCopy, policy.OpMkdir}
	const conflict = "a write of a file that others write all the time is a conflict, as nobody can approve it"
	t.Run("changes", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return approving(t, changes...) }, &conformance.Options{
			Short: !exhaustive.IsLong(),
			Skip: map[string]string{
				"Concurrency/never-torn":            conflict,
				"Concurrency/never-torn-streams":    conflict,
				"Linearizability/conditional-write": conflict,
				"Linearizability/read-and-write":    conflict,
				"WriteFile/version-never-missing":   conflict,
			},
		})
	})
	t.Run("reads", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return approving(t, policy.OpRead, policy.OpCopy) },
			&conformance.Options{Short: !exhaustive.On()})
	})
}
