package billy_test

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/workspacekit/workspacekit/adapters/billy"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

func initialize(ctx context.Context, ws *workspace.Workspace) (*git.Repository, error) {
	files := billy.New(ctx, ws)
	dot, err := files.Chroot(".git")
	if err != nil {
		return nil, err
	}
	storage := filesystem.NewStorage(dot, cache.NewObjectLRUDefault())
	return git.Init(storage, files) // or git.Clone
}

// A repository in memory: a program writes a file into the workspace, and go-git commits it.
func Example() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	repository, err := initialize(ctx, ws)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := ws.WriteFile(ctx, "hello.txt", []byte("Hello, git!\n"), nil); err != nil {
		fmt.Println(err)
		return
	}
	work, err := repository.Worktree()
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := work.Add("hello.txt"); err != nil {
		fmt.Println(err)
		return
	}
	hash, err := work.Commit("Say hello\n", &git.CommitOptions{Author: &object.Signature{Name: "A", Email: "a@example.com"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	commit, err := repository.CommitObject(hash)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(commit.Message)
	// Output: Say hello
}
