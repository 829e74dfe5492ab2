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

// A run can be suspended for an approval that comes later, perhaps in another process: the
// question is refused, and its fingerprint is stored. When the same call is made again, it
// is allowed if it does the same to the same bytes.
func ExampleRequest() {
	ctx := context.Background()
	fsys, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{
		{Ask: []policy.Op{policy.OpWrite}, Paths: []string{"**"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	asked := map[string]policy.Request{} // by fingerprint; a database
	approved := map[string]bool{}        // another one
	ask := func(_ context.Context, r policy.Request) (policy.Answer, error) {
		if approved[r.Fingerprint] {
			delete(approved, r.Fingerprint)
			return policy.Answer{Allow: true}, nil
		}
		asked[r.Fingerprint] = r
		return policy.Answer{Reason: "pending"}, nil
	}
	ctx = policy.WithApprover(ctx, policy.NewApprover(ask, nil))
	write := func(text string) {
		_, err := fsys.WriteFile(ctx, "notes.txt", []byte(text), nil)
		fmt.Println(errors.Is(err, policy.ErrRefused), err == nil)
	}
	write("milk\n") // the run ends here
	for fingerprint, r := range asked {
		fmt.Println(r.Op, r.Path) // a person reads r.Text()
		approved[fingerprint] = true
	}
	write("beer\n") // nobody has approved this
	write("milk\n")
	// Output:
	// true false
	// write notes.txt
	// true false
	// false true
}

// Explain says what rules would decide, without a file system.
func ExampleExplain() {
	d, err := policy.Explain(policy.Rules{AllowedPaths: []string{"src/**"}}, policy.OpRead, "go.mod")
	fmt.Println(d.Effect, err)
	// Output: deny <nil>
}
