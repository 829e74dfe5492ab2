package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// The tree that the policies are measured on, and how many rules they have.
const (
	stackFolders   = 100
	stackPerFolder = 100
	stackRules     = 50
	stackReads     = 20_000
)

// benchStack compares a workspace with 50 rules, an observer that does nothing and
// a session with the same workspace without them.
func benchStack(b *bench) error {
	fsys := memory.New(nil)
	content := []byte(strings.Repeat(strings.Repeat("x", 63)+"\n", 64)) // 4 KiB
	content = append(content[:len(content)-64], []byte("needle"+strings.Repeat("y", 57)+"\n")...)
	for i := range stackFolders * stackPerFolder {
		if _, err := fsys.WriteFile(context.Background(), stackName(i), content, nil); err != nil {
			return err
		}
	}
	whole, err := stack(fsys)
	if err != nil {
		return err
	}
	bare := workspace.New("main", fsys, nil)
	err = b.Run(fmt.Sprintf("%d reads of 4 KiB of memory, as a file system", stackReads),
		by("50 rules, an observer", func() (int, error) { return readAll(whole) }),
		by("without them", func() (int, error) { return readAll(bare) }),
	)
	if err != nil {
		return err
	}
	err = b.Run(fmt.Sprintf("grep of %d files of 4 KiB in memory, as a file system", stackFolders*stackPerFolder),
		by("50 rules, an observer", func() (int, error) { return grepAll(whole) }),
		by("without them", func() (int, error) { return grepAll(bare) }),
	)
	if err != nil {
		return err
	}
	guarded, err := tools.New(whole, &tools.Options{ReadBeforeWrite: []string{whole.Name()}})
	if err != nil {
		return err
	}
	plain, err := tools.New(bare, nil)
	if err != nil {
		return err
	}
	guardedContext := tools.WithSession(context.Background(), tools.NewSession())
	err = b.Run(fmt.Sprintf("%d reads of 4 KiB of memory, by the tool", stackReads),
		by("50 rules, observer, session", func() (int, error) { return callReads(guardedContext, guarded) }),
		by("without them", func() (int, error) { return callReads(context.Background(), plain) }),
	)
	if err != nil {
		return err
	}
	const pattern = "no line has this" // a limit would end the search early
	return b.Run(fmt.Sprintf("grep of %d files of 4 KiB in memory, by the tool", stackFolders*stackPerFolder),
		by("50 rules, observer, session", func() (int, error) { return callGrep(guardedContext, guarded, pattern) }),
		by("without them", func() (int, error) { return callGrep(context.Background(), plain, pattern) }),
	)
}

// stackName returns the name of file number i.
func stackName(i int) string {
	return fmt.Sprintf("src/package%02d/internal/file%02d.go", i/stackPerFolder, i%stackPerFolder)
}

// stack returns fsys with everything around it that a configuration can ask
// for. The rules are of each kind that takes a way of its own: denied,
// read-only, and in order, with and without a question. None of them matches
// the files that are read.
func stack(fsys workspace.FileSystem) (*workspace.Workspace, error) {
	rules := policy.Rules{DeniedPaths: []string{".env*", "*.pem", "id_*", "vault/**"}, ReadOnlyPaths: []string{"vendor/**", "*.lock"}}
	for i := len(rules.DeniedPaths) + len(rules.ReadOnlyPaths); i < stackRules; i++ {
		rule := policy.Rule{Deny: policy.Ops(), Paths: []string{path.Join("src", fmt.Sprintf("package%02d", i), "private", "**")}}
		if i%2 == 0 {
			rule = policy.Rule{Ask: []policy.Op{policy.OpDelete, policy.OpMove}, Paths: []string{fmt.Sprintf("*.kind%d", i)}}
		}
		rules.FirstMatch = append(rules.FirstMatch, rule)
	}
	restricted, err := policy.Restrict(fsys, rules)
	if err != nil {
		return nil, err
	}
	silent := observe.Func(func(context.Context, observe.Event) {})
	return workspace.New("main", observe.New(restricted, "main", silent), nil), nil
}

// readAll reads stackReads files, some of them more than once.
func readAll(ws *workspace.Workspace) (int, error) {
	for i := range stackReads {
		if _, err := ws.ReadFile(context.Background(), stackName(i%(stackFolders*stackPerFolder))); err != nil {
			return 0, err
		}
	}
	return stackReads, nil
}

// grepAll searches all files.
func grepAll(ws *workspace.Workspace) (int, error) {
	result, err := ws.Grep(context.Background(), "needle", nil)
	if err != nil {
		return 0, err
	}
	return len(result.Matches), nil
}

// callReads is readAll by the tool.
func callReads(ctx context.Context, set *tools.Set) (int, error) {
	tool, ok := set.Lookup("workspace__main__read_file")
	if !ok {
		return 0, errors.New("no tool read_file")
	}
	for i := range stackReads {
		if err := call(ctx, tool, map[string]any{"path": stackName(i % (stackFolders * stackPerFolder))}); err != nil {
			return 0, err
		}
	}
	return stackReads, nil
}

// callGrep is grepAll by the tool.
func callGrep(ctx context.Context, set *tools.Set, pattern string) (int, error) {
	tool, ok := set.Lookup("workspace__main__grep")
	if !ok {
		return 0, errors.New("no tool grep")
	}
	return 1, call(ctx, tool, map[string]any{"pattern": pattern})
}

// call calls a tool as a model does, with JSON.
func call(ctx context.Context, tool *tools.Tool, arguments map[string]any) error {
	data, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	result, err := tool.Call(ctx, data)
	if err == nil && result.IsError {
		err = errors.New(result.Text)
	}
	return err
}
