package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const three = `
workspaces:
  a: mem://
  b: { provider: mem://, fs: { maxFileSizeMb: 3 } }
  c: mem://
`

func TestOnly(t *testing.T) {
	c := parse(t, "", three)
	part, err := c.Only("c", "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "c"}, part.Names()); diff != "" {
		t.Errorf("Only(c, a) has other names (-want +got):\n%s", diff)
	}
	if got := len(open(t, part).All()); got != 2 {
		t.Errorf("Open() of two workspaces opened %d", got)
	}
	if got := len(c.Names()); got != 3 {
		t.Errorf("Only changed what it was called on: it has %d names", got)
	}
	const want = `workspace.yaml has no workspace "d": there are a, b, c`
	if _, err := c.Only("a", "d"); err == nil || err.Error() != want {
		t.Errorf("Only(a, d) = %v, want %s", err, want)
	}
}

func TestReadOnly(t *testing.T) {
	c := parse(t, "", three)
	for _, ws := range open(t, c.ReadOnly()).All() {
		if _, err := ws.WriteFile(t.Context(), "a", nil, nil); err == nil || ws.Capabilities().Write {
			t.Errorf("WriteFile in %s = %v, and it can write: %t, want a refusal", ws.Name(), err, ws.Capabilities().Write)
		}
	}
	b := lookup(t, open(t, c), "b")
	if _, err := b.WriteFile(t.Context(), "a", nil, nil); err != nil {
		t.Errorf("ReadOnly changed what it was called on: WriteFile = %v", err)
	}
	if got := lookup(t, open(t, c.ReadOnly()), "b").Settings().MaxFileSizeMb; got != 3 {
		t.Errorf("ReadOnly made maxFileSizeMb %d, want 3", got)
	}
}
