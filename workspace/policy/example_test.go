package policy_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// Denied names are refused, and hidden from everything that lists names.
func ExampleRules() {
	ctx := context.Background()
	fsys := memory.New(nil)
	for _, name := range []string{"main.go", ".env", "vendor/m.go"} {
		if _, err := fsys.WriteFile(ctx, name, nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	r, err := policy.Restrict(fsys, policy.Rules{DeniedPaths: []string{".env*"}, ReadOnlyPaths: []string{"vendor"}})
	if err != nil {
		log.Fatal(err)
	}
	names, err := r.Glob(ctx, "**", nil)
	fmt.Println(names, err)
	_, err = r.WriteFile(ctx, "vendor/new.go", nil, nil)
	fmt.Println(errors.Is(err, workspace.ErrPolicy), err)
	// Output:
	// [main.go vendor/m.go] <nil>
	// true write_file vendor/new.go: forbidden by policy: it can only be read: it matches readOnlyPaths[0], "vendor"
}

// Sub makes a directory the root, and ReadOnly refuses changes.
func ExampleSub() {
	ctx := context.Background()
	fsys := memory.New(nil)
	if _, err := fsys.WriteFile(ctx, "team/notes.md", []byte("hello\n"), nil); err != nil {
		log.Fatal(err)
	}
	sub, err := policy.Sub(fsys, "team")
	if err != nil {
		log.Fatal(err)
	}
	ws := workspace.New("team", policy.ReadOnly(sub), nil)
	data, err := ws.ReadFile(ctx, "notes.md")
	fmt.Printf("%s%v\n", data, err)
	fmt.Println(ws.Rm(ctx, "notes.md", nil))
	// Output:
	// hello
	// <nil>
	// rm notes.md: forbidden by policy: the workspace is read-only
}

// Explain says what rules would decide, without a file system.
func ExampleExplain() {
	d, err := policy.Explain(policy.Rules{AllowedPaths: []string{"src/**"}}, policy.OpRead, "go.mod")
	fmt.Println(d.Effect, err)
	// Output: deny <nil>
}
