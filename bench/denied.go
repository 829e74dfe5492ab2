package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// benchDenied compares a Grep of 10,000 files of 1 KiB in 200 directories with
// one through rules that deny 50 patterns. None of the files matches one. It
// shows what the rules cost a search that they do not change.
func benchDenied(b *bench) error {
	dir, err := os.MkdirTemp("", "bench-denied")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	local, err := localbash.Open(dir, nil)
	if err != nil {
		return err
	}
	defer local.Close()
	for _, store := range []struct {
		name string
		fsys workspace.FileSystem
	}{{"memory", memory.New(nil)}, {"localbash", local}} {
		if err := fillSources(store.fsys); err != nil {
			return err
		}
		denied, err := policy.Restrict(store.fsys, policy.Rules{DeniedPaths: fiftyPatterns()})
		if err != nil {
			return err
		}
		err = b.Run("grep of 10,000 files, 50 denied patterns, "+store.name,
			by("denied", func() (int, error) { return grepNothing(denied) }),
			by("all", func() (int, error) { return grepNothing(store.fsys) }),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// fillSources creates the files, which have no match.
func fillSources(fsys workspace.FileSystem) error {
	content := bytes.Repeat([]byte("some words, and not the one that is searched for.\n"), 20)
	for i := range 10_000 {
		name := fmt.Sprintf("pkg%d/module%02d/source_file_%d.go", i%20, i/20%10, i)
		if _, err := fsys.WriteFile(context.Background(), name, content, nil); err != nil {
			return err
		}
	}
	return nil
}

// fiftyPatterns are patterns as they are denied in practice: 35 that match in every
// directory, and 15 from the root.
func fiftyPatterns() []string {
	patterns := []string{
		".env*", "*.pem", "*.key", "id_*", "credentials*", "*secret*", "*password*", "*private*key*", "*.p12", "*.pfx",
		".netrc", ".npmrc", ".pypirc", ".aws/", ".ssh/", ".gnupg/", "*.kdbx", "*.jks", "*.keystore", "token*",
	}
	for i := range 15 {
		patterns = append(patterns, fmt.Sprintf("conf%d/**/*.local", i), fmt.Sprintf("*.backup%d", i))
	}
	return patterns
}

// grepNothing searches some times, as one search is short.
func grepNothing(fsys workspace.FileSystem) (int, error) {
	for range 5 {
		if _, err := fsys.Grep(context.Background(), "needle", nil); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
