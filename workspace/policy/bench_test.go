package policy_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// fiftyRules are rules of the kinds that people write: most of them deny something
// in every directory, or a part of the tree, and a few allow parts of it again.
func fiftyRules() policy.Rules {
	var rules []policy.Rule
	for i := range 25 {
		rules = append(rules,
			policy.Rule{Deny: policy.Ops(), Paths: []string{fmt.Sprintf("*.secret%d", i)}},
			policy.Rule{Deny: []policy.Op{policy.OpWrite, policy.OpDelete}, Paths: []string{fmt.Sprintf("gen/part%d/**", i)}})
	}
	return policy.Rules{FirstMatch: rules, DenySensitive: true}
}

// BenchmarkRules measures reads and searches without rules, with names of secrets
// alone, and with fifty rules beside them.
func BenchmarkRules(b *testing.B) {
	m := memory.New(nil)
	text := bytes.Repeat([]byte("a line of a file that is read\n"), 137)[:4096]
	var names []string
	for i := range 10_000 {
		name := fmt.Sprintf("src/part%d/in/file%d.go", i%100, i)
		if _, err := m.WriteFile(b.Context(), name, text, nil); err != nil {
			b.Fatal(err)
		}
		names = append(names, name)
	}
	for _, bb := range []struct {
		name string
		fsys workspace.FileSystem
	}{{"none", m}, {"sensitive", benchRestrict(b, m, policy.Rules{DenySensitive: true})}, {"fifty", benchRestrict(b, m, fiftyRules())}} {
		for _, hot := range []int{1, len(names)} {
			b.Run(fmt.Sprintf("read-%d/%s", hot, bb.name), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					if _, err := bb.fsys.ReadFile(b.Context(), names[i%hot]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run("grep/"+bb.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := bb.fsys.Grep(b.Context(), "nothing like it", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchRestrict(b *testing.B, fsys workspace.FileSystem, rules policy.Rules) *policy.RestrictedFS {
	r, err := policy.Restrict(fsys, rules)
	if err != nil {
		b.Fatal(err)
	}
	return r
}
