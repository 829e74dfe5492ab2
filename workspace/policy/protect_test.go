package policy_test

import (
	"errors"
	"io/fs"
	"path"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func protect(t *testing.T, fsys workspace.FileSystem) *policy.RestrictedFS {
	t.Helper()
	p, err := policy.Protect(fsys, func(name string) string {
		if path.Base(name) == "locked.yaml" || name == "conf/own" {
			return "it is locked"
		}
		return ""
	}, func(name string) bool { return name == "conf" })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProtectConformance(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return protect(t, memory.New(nil)) },
			&conformance.Options{Short: !exhaustive.On()})
	})
	t.Run("local", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			return protect(t, openLocal(t, t.TempDir()))
		}, ofFolders())
	})
}

// TestProtect tries every way to change a protected name, or to give something
// such a name.
func TestProtect(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	local := openLocal(t, dir)
	for _, name := range []string{"locked.yaml", "a/b/locked.yaml", "conf/own", "free", "other/own", "dir/file"} {
		if _, err := local.WriteFile(ctx, name, []byte("as it was"), nil); err != nil {
			t.Fatal(err)
		}
	}
	makeSymlink(t, dir, "locked.yaml", "link")
	makeSymlink(t, dir, "a/b", "way")
	makeSymlink(t, dir, "new/locked.yaml", "dangling")
	p := protect(t, local)
	write := func(name string) error { return second(p.WriteFile(ctx, name, []byte("changed"), nil)) }
	recursive := &workspace.RmOptions{Recursive: true}
	for name, err := range map[string]error{
		"write":                         write("locked.yaml"),
		"write deep":                    write("a/b/locked.yaml"),
		"write new":                     write("x/y/locked.yaml"),
		"write below":                   write("x/locked.yaml/y"),
		"write through link":            write("link"),
		"write through directory":       write("way/locked.yaml"),
		"write through dangling link":   write("dangling"),
		"write by path":                 write("conf/own"),
		"edit":                          second2(workspace.New("w", p, nil).Edit(ctx, "locked.yaml", func([]byte) ([]byte, error) { return nil, nil })),
		"create":                        second(p.Create(ctx, "locked.yaml", nil)),
		"create through directory":      second(p.Create(ctx, "way/locked.yaml", nil)),
		"mkdir":                         p.Mkdir(ctx, "dir/locked.yaml", nil),
		"mkdir recursive":               p.Mkdir(ctx, "dir/locked.yaml/x", &workspace.MkdirOptions{Recursive: true}),
		"rm":                            p.Rm(ctx, "locked.yaml", nil),
		"rm through directory":          p.Rm(ctx, "way/locked.yaml", nil),
		"rm recursive":                  p.Rm(ctx, "a", recursive),
		"rm recursive, by path":         p.Rm(ctx, "conf", recursive),
		"move":                          p.Move(ctx, "locked.yaml", "gone"),
		"move to":                       p.Move(ctx, "free", "dir/locked.yaml"),
		"move to, through directory":    p.Move(ctx, "free", "way/c/locked.yaml"),
		"move directory that holds one": p.Move(ctx, "a", "c"),
		"copy to":                       second(p.Copy(ctx, "free", "dir/locked.yaml")),
	} {
		if !errors.Is(err, workspace.ErrPolicy) {
			t.Errorf("%s = %v, want %v", name, err, workspace.ErrPolicy)
		}
	}
	for _, name := range []string{"locked.yaml", "a/b/locked.yaml", "conf/own", "link", "way/locked.yaml"} {
		if data, err := p.ReadFile(ctx, name); err != nil || string(data) != "as it was" {
			t.Errorf("ReadFile(%q) = %q, %v, want it as it was", name, data, err)
		}
	}
	for name, err := range map[string]error{
		"write other":    write("free2"),
		"write like":     write("locked.yaml.bak"),
		"copy from":      second(p.Copy(ctx, "locked.yaml", "copied")),
		"rm link":        p.Rm(ctx, "link", nil),
		"rm directory":   p.Rm(ctx, "dir", recursive),
		"move directory": p.Move(ctx, "other", "moved"),
		"rm parent":      local.Rm(ctx, "conf/own", nil),
		"rm empty":       p.Rm(ctx, "conf", nil),
		"mkdir parent":   p.Mkdir(ctx, "conf", nil),
		"write beside":   write("conf/other"),
	} {
		if err != nil {
			t.Errorf("%s = %v, want nil", name, err)
		}
	}
}

// TestProtectParentExists creates a file where a directory above a protected name is.
func TestProtectParentExists(t *testing.T) {
	ctx := t.Context()
	p := protect(t, memory.New(nil))
	if err := p.Mkdir(ctx, "conf", nil); err != nil {
		t.Fatal(err)
	}
	isNew := &workspace.WriteOptions{IfNotExist: true}
	for call, test := range map[string]struct{ err, want error }{
		"WriteFile":            {second(p.WriteFile(ctx, "conf", nil, nil)), workspace.ErrIsDir},
		"WriteFile IfNotExist": {second(p.WriteFile(ctx, "conf", nil, isNew)), fs.ErrExist},
		"Create IfNotExist":    {second(p.Create(ctx, "conf", isNew)), fs.ErrExist},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%s = %v, want %v", call, test.err, test.want)
		}
	}
}

// TestProtectParentLink removes what is no directory where one above a protected name would be: a
// symlink may be how the protected file is reached.
func TestProtectParentLink(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	local := openLocal(t, dir)
	if _, err := local.WriteFile(ctx, "real/own", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	makeSymlink(t, dir, "real", "conf")
	p := protect(t, local)
	for _, opts := range []*workspace.RmOptions{nil, {Recursive: true}} {
		if err := p.Rm(ctx, "conf", opts); !errors.Is(err, workspace.ErrPolicy) {
			t.Errorf("Rm(%q, %+v) = %v, want %v", "conf", opts, err, workspace.ErrPolicy)
		}
	}
	if data, err := p.ReadFile(ctx, "conf/own"); err != nil || string(data) != "x" {
		t.Errorf("ReadFile(%q) = %q, %v, want it as it was", "conf/own", data, err)
	}
}

// TestProtectMovedIntoPlace moves a directory so that a file in it would get a
// protected path.
func TestProtectMovedIntoPlace(t *testing.T) {
	ctx := t.Context()
	m := memory.New(nil)
	if _, err := m.WriteFile(ctx, "other/own", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	p := protect(t, m)
	if err := p.Move(ctx, "other", "conf"); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Move(%q, %q) = %v, want %v", "other", "conf", err, workspace.ErrPolicy)
	}
}

func second(_ any, err error) error { return err }

func second2[A, B any](_ A, _ B, err error) error { return err }
