package swaptest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/workspacekit/workspacekit/workspace"
)

// childEnv names the folder that a test binary swaps names in, as the child of
// another.
const childEnv = "WORKSPACEKIT_SWAPTEST_CHILD"

// Main must be the first call of TestMain in a package that calls [Run]: in a
// child process it swaps names and does not return.
func Main() {
	dir := os.Getenv(childEnv)
	if dir == "" {
		return
	}
	// The end of the input is the end of the parent.
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}()
	if err := swapForever(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The tree: src is allowed, vault is denied, and spare has symlinks to the vault
// that take turns with what is in src.
//
//	src/file   "mine"    spare/file  -> ../vault/hidden
//	src/dir/             spare/dir   -> ../vault
//	src/deep/dir/        spare/deep  -> ../../vault
func makeTree(dir string) error {
	for _, name := range []string{"src/dir/sub", "src/deep/dir/sub", "vault/sub", "spare"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"src/file": mine, "src/dir/file": mine, "src/dir/sub/file": mine, "src/deep/dir/file": mine,
		"vault/file": theirs, "vault/hidden": theirs, "vault/sub/file": theirs, "vault/sub/hidden": theirs,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"spare/file": "../vault/hidden", "spare/dir": "../vault", "spare/deep": "../../vault"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

const (
	mine   = "mine\n"
	theirs = "theirs\n"
)

// swaps are the names that are exchanged, each as its path from the folder.
var swaps = [][2]string{{"src/file", "spare/file"}, {"src/dir", "spare/dir"}, {"src/deep/dir", "spare/deep"}}

// swapForever exchanges the names as fast as it can, until an exchange fails.
// It runs in a process of its own.
func swapForever(dir string) error {
	for {
		for _, names := range swaps {
			err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, names[0]), unix.AT_FDCWD, filepath.Join(dir, names[1]), unix.RENAME_EXCHANGE)
			if err != nil && err != unix.ENOENT { // someone removed it
				return err
			}
		}
	}
}

// swapByProgram swaps names in another process until stop is called.
func swapByProgram(t *testing.T, dir string) (stop func()) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		input.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the program that swaps: %v", err)
		}
	}
}

// swapByTools swaps names by moves through fsys, whose names begin with prefix,
// until stop is called.
func swapByTools(t *testing.T, fsys workspace.FileSystem, dir, prefix string) (stop func()) {
	t.Helper()
	// What a tool moves must be allowed: the symlinks are in src.
	for _, names := range swaps {
		if err := os.Rename(filepath.Join(dir, names[1]), filepath.Join(dir, names[0]+"-link")); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			for _, names := range swaps {
				name := prefix + names[0][len("src/"):]
				for _, move := range [][2]string{{name, name + "-aside"}, {name + "-link", name}, {name, name + "-link"}, {name + "-aside", name}} {
					_ = workspace.Move(ctx, fsys, move[0], move[1]) // someone may have made or removed it
				}
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
