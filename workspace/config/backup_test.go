package config_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// TestBackupsBelowPolicies tests that backups change nothing about what the rules of a
// workspace allow: they read what is replaced, and write on a condition, which rules for
// writes and edits are about.
func TestBackupsBelowPolicies(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for _, name := range []string{"no-write", "no-edit", "no-read", "free", "tree/a", "tree/b"} {
		writeFile(t, filepath.Join(dir, "files", name), "old")
	}
	opened := open(t, parse(t, dir, `
workspaces:
  repo:
    provider: { kind: localbash, root: files }
    fs:
      rules:
        - { deny: [write], paths: [no-write] }
        - { deny: [edit], paths: [no-edit] }
        - { deny: [read, list], paths: [no-read] }
        - { allow: [read], paths: [".workspacekit/**"] }
      quota: { files: 3 }
    backup: { keep: 10 }
`))
	repo := lookup(t, opened, "repo")
	overwrite := func(name string) error { return second(repo.WriteFile(ctx, name, []byte("new"), nil)) }
	if err := overwrite("no-write"); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("WriteFile(no-write) = %v, want ErrPolicy", err)
	}
	for _, name := range []string{"no-edit", "no-read", "free"} {
		if err := overwrite(name); err != nil {
			t.Errorf("WriteFile(%s) = %v, want nil", name, err)
		}
	}
	if err := overwrite("a fourth"); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("WriteFile beyond the quota = %v, want ErrPolicy", err)
	}
	if err := repo.Rm(ctx, "tree", &workspace.RmOptions{Recursive: true}); err != nil {
		t.Errorf("Rm(tree) = %v", err)
	}
	for _, name := range []string{backup.DefaultDir, backup.DefaultDir + "/journal", backup.DefaultDir + "/journal/000000000001.json"} {
		if _, err := repo.Stat(ctx, name); !errors.Is(err, workspace.ErrPolicy) {
			t.Errorf("Stat(%s) = %v, want ErrPolicy", name, err)
		}
	}
	if _, err := repo.Backups().Undo(ctx, &backup.UndoOptions{All: true}); err != nil {
		t.Errorf("Undo of all = %v", err)
	}
	for _, name := range []string{"no-write", "no-edit", "no-read", "free", "tree/a", "tree/b"} {
		if data, err := repo.Backups().ReadFile(ctx, name); string(data) != "old" {
			t.Errorf("%s is %q, %v after Undo, want old", name, data, err)
		}
	}
}

// TestUndoInGit tests that an undo changes no .git which the rules protect, whichever rules
// those are.
func TestUndoInGit(t *testing.T) {
	for fs, protected := range map[string]bool{
		"{}":                   true,
		"{ sensitive: allow }": false,
		"{ sensitive: allow, readOnlyPaths: [.git] }":                      true,
		"{ sensitive: allow, deniedPaths: [.git/hooks] }":                  true,
		"{ sensitive: allow, allowedPaths: [src] }":                        true,
		"{ sensitive: allow, rules: [{ deny: [write], paths: [.git] }] }":  true,
		"{ sensitive: allow, rules: [{ deny: [delete], paths: [.git] }] }": true,
		"{ sensitive: allow, rules: [{ ask: [edit], paths: [.git] }] }":    true,
		"{ sensitive: allow, rules: [{ deny: [move], paths: [.git] }] }":   true,
		"{ sensitive: allow, readOnlyPaths: [.git/info, b/.git] }":         false,
	} {
		t.Run(fs, func(t *testing.T) {
			dir := t.TempDir()
			repo := func(fs string) *config.Workspace {
				return lookup(t, open(t, parse(t, dir, "workspaces: { repo: { provider: { kind: localbash, root: . }, backup: {}, fs: "+fs+" } }")), "repo")
			}
			const hook = ".git/hooks/pre-commit"
			if _, err := repo("{ sensitive: allow }").WriteFile(t.Context(), hook, nil, nil); err != nil {
				t.Fatal(err)
			}
			_, err := repo(fs).Backups().Undo(t.Context(), nil)
			if protected && !errors.Is(err, workspace.ErrPolicy) || !protected && err != nil {
				t.Errorf("Undo of a write in .git = %v, want that it is refused: %t", err, protected)
			}
		})
	}
}

// TestUndoBelowGit tests that the rules are asked about the name that an undo changes.
func TestUndoBelowGit(t *testing.T) {
	const name = "a/.git/info/exclude"
	for _, fs := range []string{
		"readOnlyPaths: [a/.git]", "readOnlyPaths: ['a/.git/**']", "readOnlyPaths: [A/.GIT/info]", "deniedPaths: [a]", "allowedPaths: [src]",
		"rules: [{ deny: [edit, delete], paths: [.git] }]", "rules: [{ ask: [write], paths: [a/.git] }]", "rules: [{ deny: [write], paths: [exclude] }]",
	} {
		t.Run(fs, func(t *testing.T) {
			dir := t.TempDir()
			repo := func(fs string) *config.Workspace {
				return lookup(t, open(t, parse(t, dir, "workspaces: { repo: { provider: { kind: localbash, root: . }, backup: {}, fs: { sensitive: allow, "+fs+" } } }")), "repo")
			}
			writeFile(t, filepath.Join(dir, name), "old")
			before := repo("")
			_, err := before.WriteFile(t.Context(), name, []byte("new"), nil)
			if err := errors.Join(err, second(workspace.Copy(t.Context(), before, name, "b")), before.Mkdir(t.Context(), "c", nil), workspace.Move(t.Context(), before, "c", "d")); err != nil {
				t.Fatal(err)
			}
			after := repo(fs)
			if _, err := after.Backups().Undo(t.Context(), &backup.UndoOptions{Last: 3}); err != nil {
				t.Errorf("Undo of what is outside of .git = %v", err)
			}
			if _, err := after.Backups().Undo(t.Context(), nil); !errors.Is(err, workspace.ErrPolicy) {
				t.Errorf("Undo of a write in .git = %v, want %v", err, workspace.ErrPolicy)
			}
			if data, err := after.Backups().ReadFile(t.Context(), name); string(data) != "new" {
				t.Errorf("%s is %q, %v after Undo, want new", name, data, err)
			}
		})
	}
}

// TestUndoPassesFailedTransaction tests that a transaction that failed, and so changed nothing,
// is none of the calls that an undo reverts.
func TestUndoPassesFailedTransaction(t *testing.T) {
	for _, provider := range []string{"{ kind: localbash, root: . }", "{ kind: memory }"} {
		t.Run(provider, func(t *testing.T) {
			repo := lookup(t, open(t, parse(t, t.TempDir(), "workspaces: { repo: { provider: "+provider+", backup: {} } }")), "repo")
			change := func(version string, failure error) error {
				return repo.Transaction(t.Context(), func(ctx context.Context) error {
					return errors.Join(
						second(repo.WriteFile(ctx, "a", []byte(version), nil)),
						second(repo.WriteFile(ctx, "new-"+version+"/b", []byte(version), nil)),
						repo.Move(ctx, "a", "c"), repo.Move(ctx, "c", "a"), failure)
				})
			}
			failed := errors.New("failed")
			if err := change("1", nil); err != nil {
				t.Fatal(err)
			}
			for _, version := range []string{"2", "3"} {
				if err := change(version, failed); !errors.Is(err, failed) {
					t.Fatalf("Transaction() = %v, want %v", err, failed)
				}
			}
			undone, err := repo.Backups().Undo(t.Context(), nil)
			if err != nil || len(undone) == 0 {
				t.Fatalf("Undo() = %+v, %v, want the changes of the first transaction", undone, err)
			}
			for _, c := range undone {
				if c.Call != undone[0].Call {
					t.Errorf("Undo() reverted the calls %q and %q, want one", undone[0].Call, c.Call)
				}
			}
			if left, err := repo.Backups().Ls(t.Context(), ".", nil); err != nil || slices.ContainsFunc(left, func(i workspace.FileInfo) bool { return i.Name[0] != '.' }) {
				t.Errorf("Ls() = %+v, %v after Undo(), want nothing", left, err)
			}
			if undone, err := repo.Backups().Undo(t.Context(), nil); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Undo() of what changed nothing = %+v, %v, want %v", undone, err, fs.ErrNotExist)
			}
			if _, err := repo.Backups().Undo(t.Context(), &backup.UndoOptions{Redo: true}); err != nil {
				t.Errorf("Undo() of the undo = %v", err)
			}
			if data, err := repo.ReadFile(t.Context(), "a"); string(data) != "1" {
				t.Errorf("a is %q, %v after the redo, want 1", data, err)
			}
		})
	}
}

// TestJournalReason reads in the directories of backups and transactions, also where no
// change is possible. The reason names no pattern of the file.
func TestJournalReason(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{backup.DefaultDir + "/a", transaction.DefaultDir + "/a"} {
		writeFile(t, filepath.Join(dir, name), "a")
	}
	file := parse(t, dir, `
workspaces:
  repo: { provider: { kind: localbash, root: . }, fs: { deniedPaths: [keys] }, backup: {} }
  readonly: { provider: { kind: localbash, root: . }, fs: { readOnly: true, sensitive: allow }, backup: {} }
`)
	for _, c := range []*config.Config{file, file.ReadOnly(), file.AllowSensitive()} {
		for _, ws := range open(t, c).All() {
			for _, name := range []string{backup.DefaultDir + "/a", transaction.DefaultDir + "/a"} {
				_, err := ws.ReadFile(t.Context(), name)
				denied, ok := errors.AsType[*policy.DeniedError](err)
				if !ok || denied.Rule() != "" || !strings.Contains(err.Error(), "backups or transactions") {
					t.Errorf("ReadFile(%q) in %s = %v, want a denial that names no rule", name, ws.Name(), err)
				}
			}
		}
	}
}

// TestBackupsOfOthers tests that a workspace refuses and hides the backups of others that are in
// its folder.
func TestBackupsOfOthers(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for _, name := range []string{"repo/sub/a", "elsewhere/kept/a", "elsewhere/a", "repo/kept/a"} {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), "old")
	}
	opened := open(t, parse(t, dir, `
workspaces:
  agent: { provider: { kind: localbash, root: repo } }
  reader: { provider: { kind: localbash, root: repo }, fs: { readOnly: true } }
  keeper: { provider: { kind: localbash, root: repo }, backup: { dir: mine } }
  admin: { provider: { kind: localbash, root: repo }, backup: {} }
  inner: { provider: { kind: localbash, root: repo/sub }, backup: {} }
  named: { provider: { kind: localbash, root: repo/sub }, backup: { dir: deep/undo } }
  stored: { provider: { kind: memory }, backup: { workspace: agent, dir: other } }
  elsewhere: { provider: { kind: localbash, root: elsewhere } }
  distant: { provider: { kind: localbash, root: elsewhere }, backup: { workspace: keeper, dir: kept2 } }
  missing: { provider: { kind: localbash, root: none }, backup: { dir: x } }
`), "agent", "reader", "keeper", "admin", "inner", "named", "stored", "elsewhere", "distant")
	for _, name := range []string{"admin", "keeper", "inner", "named", "stored", "distant"} {
		if _, err := lookup(t, opened, name).WriteFile(ctx, "new", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"agent", "reader", "keeper", "admin"} {
		ws := lookup(t, opened, name)
		for _, journal := range []string{backup.DefaultDir, "mine", "sub/" + backup.DefaultDir, "sub/deep/undo", "other", "kept2"} {
			if _, err := ws.ReadFile(ctx, journal+"/journal/000000000001.json"); !errors.Is(err, workspace.ErrPolicy) {
				t.Errorf("ReadFile() below %s in %s = %v, want %v", journal, name, err, workspace.ErrPolicy)
			}
			if err := ws.Rm(ctx, journal, &workspace.RmOptions{Recursive: true}); err == nil {
				t.Errorf("Rm(%s) in %s = nil, want an error", journal, name)
			}
		}
		if found, err := ws.Glob(ctx, "**/*.json", nil); err != nil || len(found) != 0 {
			t.Errorf("Glob() in %s = %q, %v, want no journal", name, found, err)
		}
		if _, err := ws.WriteFile(ctx, "sub/"+transaction.DefaultDir+"/x", nil, nil); err == nil {
			t.Errorf("WriteFile() in the transactions of sub in %s = nil, want an error", name)
		}
		if _, err := ws.ReadFile(ctx, "kept/a"); err != nil {
			t.Errorf("ReadFile(kept/a) in %s = %v", name, err)
		}
	}
	if _, err := lookup(t, opened, "elsewhere").ReadFile(ctx, "kept/a"); err != nil {
		t.Errorf("ReadFile(kept/a) in elsewhere = %v", err)
	}
	if _, err := lookup(t, opened, "admin").Backups().Undo(ctx, nil); err != nil {
		t.Errorf("Undo() in admin = %v", err)
	}
}

// TestTooMuchToKeep makes a change whose bytes cannot be kept: the error names the key that lets
// more be kept.
func TestTooMuchToKeep(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "files", "large"), strings.Repeat("x", 1<<18+1))
	opened := open(t, parse(t, dir, "workspaces: {repo: {provider: {kind: localbash, root: files}, backup: {maxMb: 1}}}"))
	_, err := lookup(t, opened, "repo").WriteFile(t.Context(), "large", nil, nil)
	if !errors.Is(err, workspace.ErrTooLarge) || !strings.Contains(err.Error(), "256 KiB") || !strings.Contains(ops.RemedyOf(err), "backup.maxMb") {
		t.Errorf("WriteFile over a file that is too large to keep = %v, want ErrTooLarge, and a remedy with the key backup.maxMb", err)
	}
}

// TestRefWithBackups tests that what a reference opens keeps its backups where they were,
// and that there is no reference if they are in another workspace.
func TestRefWithBackups(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for _, folder := range []string{"files", "files2", "store"} {
		writeFile(t, filepath.Join(dir, folder, ".keep"), "")
	}
	opened := open(t, parse(t, dir, `
workspaces:
  repo: { provider: { kind: localbash, root: files }, backup: { dir: kept, maxMb: 1 } }
  outside: { provider: { kind: localbash, root: files2 }, backup: { workspace: store } }
  store: { provider: { kind: localbash, root: store } }
`))
	repo := lookup(t, opened, "repo")
	if _, err := repo.WriteFile(ctx, "a", []byte("text"), nil); err != nil {
		t.Fatal(err)
	}
	again, err := workspacekit.NewRegistry().Resolve(ctx, refTo(t, repo))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.ReadFile(ctx, "kept/journal/000000000001.json"); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("ReadFile of the journal = %v, want ErrPolicy", err)
	}
	if changes, err := again.Backups().Undo(ctx, nil); err != nil || len(changes) != 1 {
		t.Errorf("Undo = %+v, %v, want the change", changes, err)
	}
	if _, err := lookup(t, opened, "outside").Ref(ctx); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Ref with backups in another workspace = %v, want ErrUnsupported", err)
	}
}

// TestStoreThatIsDiscarded tests that backups cannot be in a workspace that is discarded when the
// program ends.
func TestStoreThatIsDiscarded(t *testing.T) {
	for store, discarded := range map[string]bool{
		"{ kind: memory }":              true,
		`"mem://"`:                      true,
		"{ kind: container, image: x }": true,
		"{ kind: container, image: x, name: y, keep: true }":                                                     false,
		"{ kind: container, container: x }":                                                                      false,
		"{ kind: container, image: x, workspaceDir: /w/a, mounts: [{ source: ., target: /w, writable: true }] }": false,
		"{ kind: container, image: x, workspaceDir: /w/a, mounts: [{ source: ., target: /w }] }":                 true,
		"{ kind: localbash, root: . }":                                                                           false,
	} {
		c := parse(t, t.TempDir(), "workspaces:\n  main: { provider: { kind: localbash, root: . }, backup: { workspace: store } }\n  store: { provider: "+store+" }\n")
		err := c.Check(workspacekit.NewRegistry())
		if said := err != nil && strings.Contains(err.Error(), "deleted when it is closed"); said != discarded || err != nil && !said {
			t.Errorf("Check with the store %s = %v, want an error: %t", store, err, discarded)
		}
	}
}
