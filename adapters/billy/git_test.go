package billy_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/adapters/billy"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestGit clones a bare repository into a workspace with go-git, edits it with the tools,
// commits and pushes. Then git itself finds no fault with the bare repository, and none
// with what is in the workspace, and both have the files of the workspace.
func TestGit(t *testing.T) {
	for name, open := range map[string]func(*testing.T) workspace.FileSystem{
		"memory":      func(*testing.T) workspace.FileSystem { return memory.New(nil) },
		"objectstore": openStore,
	} {
		t.Run(name, func(t *testing.T) {
			bare := newRepository(t)
			ws := workspace.New("test", open(t), nil)
			repository := clone(t, ws, bare)
			work, err := repository.Worktree()
			if err != nil {
				t.Fatal(err)
			}
			if status, err := work.Status(); err != nil || !status.IsClean() {
				t.Fatalf("after Clone, the status is %q, %v, want none", status, err)
			}
			edit(t, ws)
			if err := work.AddWithOptions(&git.AddOptions{All: true}); err != nil {
				t.Fatal(err)
			}
			author := &object.Signature{Name: "A", Email: "a@example.com", When: time.Unix(1e9, 0)}
			commit, err := work.Commit("An edit\n", &git.CommitOptions{Author: author})
			if err != nil {
				t.Fatal(err)
			}
			if err := repository.PushContext(t.Context(), &git.PushOptions{}); err != nil {
				t.Fatal(err)
			}
			if status, err := work.Status(); err != nil || !status.IsClean() {
				t.Errorf("after Commit, the status is %q, %v, want none", status, err)
			}

			want, store := contents(t, ws)
			run(t, bare, "git", "fsck", "--strict", "--full")
			checkout := filepath.Join(t.TempDir(), "checkout")
			run(t, bare, "git", "clone", "-q", bare, checkout)
			if got := strings.TrimSpace(run(t, checkout, "git", "rev-parse", "HEAD")); got != commit.String() {
				t.Errorf("the pushed commit is %s, want %s", got, commit)
			}
			if diff := cmp.Diff(want, folder(t, checkout)); diff != "" {
				t.Errorf("the pushed files (-workspace +pushed):\n%s", diff)
			}
			if info, err := os.Stat(filepath.Join(checkout, "run.sh")); err != nil || info.Mode()&0o100 == 0 {
				t.Errorf("run.sh has the mode %v, %v, want that it can still be executed", info.Mode(), err)
			}

			// The same repository as the store has it.
			copied := t.TempDir()
			for name, content := range store {
				write(t, filepath.Join(copied, name), content)
			}
			for name, content := range want {
				write(t, filepath.Join(copied, name), content)
			}
			run(t, copied, "git", "fsck", "--strict", "--full")
			if status := run(t, copied, "git", "-c", "core.fileMode=false", "status", "--porcelain"); status != "" {
				t.Errorf("git status of the workspace = %q, want nothing", status)
			}
			for name := range store {
				if strings.Contains(name, "tmp_") {
					t.Errorf("the temporary file %s is left", name)
				}
			}
		})
	}
}

// clone clones the repository bare into ws.
func clone(t *testing.T, ws *workspace.Workspace, bare string) *git.Repository {
	t.Helper()
	files := billy.New(t.Context(), ws)
	dot, err := files.Chroot(".git")
	if err != nil {
		t.Fatal(err)
	}
	storage := filesystem.NewStorage(dot, cache.NewObjectLRUDefault())
	repository, err := git.CloneContext(t.Context(), storage, files, &git.CloneOptions{URL: bare})
	if err != nil {
		t.Fatal(err)
	}
	return repository
}

// edit changes, creates, moves and removes files with the tools.
func edit(t *testing.T, ws *workspace.Workspace) {
	t.Helper()
	set, err := tools.New(ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range [][2]string{
		{"edit_file", `{"path": "README.md", "oldText": "one", "newText": "two"}`},
		{"edit_file", `{"path": "run.sh", "oldText": "true", "newText": "false"}`},
		{"write_file", `{"path": "new/deep/file.txt", "content": "new\n"}`},
		{"move", `{"source": "src/a.txt", "destination": "src/moved.txt"}`},
		{"rm", `{"path": "src/b.txt"}`},
	} {
		result, err := set.Call(t.Context(), "workspace__test__"+call[0], json.RawMessage(call[1]))
		if err != nil || result.IsError {
			t.Fatalf("%s(%s) = %+v, %v", call[0], call[1], result, err)
		}
	}
}

// newRepository returns a bare repository with two commits.
func newRepository(t *testing.T) string {
	t.Helper()
	exhaustive.Program(t, "git")
	work := t.TempDir()
	run(t, work, "git", "init", "-q", "-b", "main")
	for name, content := range map[string]string{
		"README.md": "one\n", "run.sh": "#!/bin/sh\ntrue\n", "src/a.txt": "a\n", "src/b.txt": "b\n", "ü ñ/c.txt": "c\n", "empty": "",
		"image": "\x89PNG\r\n\x1a\n\x00", "large.txt": strings.Repeat("a line of text\n", 20_000),
	} {
		write(t, filepath.Join(work, name), content)
	}
	if err := os.Chmod(filepath.Join(work, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, work, "git", "add", ".")
	run(t, work, "git", "commit", "-q", "-m", "first")
	write(t, filepath.Join(work, "src", "a.txt"), "a second time\n")
	run(t, work, "git", "commit", "-q", "-a", "-m", "second")
	run(t, work, "git", "tag", "v1")
	bare := filepath.Join(t.TempDir(), "bare.git")
	run(t, work, "git", "clone", "-q", "--bare", work, bare)
	return bare
}

// run runs a program in a folder, without the settings of this computer, and returns what
// it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, &stderr)
	}
	return string(out)
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// contents returns the files of a workspace: those of the work tree, and those in .git.
func contents(t *testing.T, ws *workspace.Workspace) (tree, store map[string]string) {
	t.Helper()
	tree, store = map[string]string{}, map[string]string{}
	paths, err := ws.Glob(t.Context(), "**", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := ws.ReadFile(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(path, ".git/") {
			store[path] = string(data)
		} else {
			tree[path] = string(data)
		}
	}
	if len(store) == 0 {
		t.Fatalf("the workspace has no .git: %q", slices.Collect(maps.Keys(tree)))
	}
	return tree, store
}

// folder returns the files of a folder without .git.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		found[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// openStore returns a workspace in a real S3 server, or in one of this process.
func openStore(t *testing.T) workspace.FileSystem {
	t.Helper()
	s, ok := s3test.External(t)
	if !ok {
		server := s3test.New(t, nil)
		s = s3test.Settings{
			Endpoint: server.URL, Region: server.Region, AccessKeyID: server.AccessKeyID, SecretAccessKey: server.SecretAccessKey, Bucket: "workspace",
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", s.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.SecretAccessKey)
	fsys, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: s.Bucket, Prefix: "billy-" + rand.Text(), Endpoint: s.Endpoint, Region: s.Region})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		children, err := fsys.Ls(ctx, ".", nil)
		for _, c := range children {
			err = errors.Join(err, fsys.Rm(ctx, c.Path, &workspace.RmOptions{Recursive: true}))
		}
		if err := errors.Join(err, fsys.Close()); err != nil {
			t.Errorf("the bucket is not as it was: %v", err)
		}
	})
	return fsys
}
