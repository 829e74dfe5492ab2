package document

import "testing"

func TestFind(t *testing.T) {
	target := &Node{At: Position{Line: 3}}
	list := &Node{At: Position{Line: 2}, Items: []*Node{target}}
	root := &Node{At: Position{Line: 1}, Entries: []Entry{{Key: "mounts", Value: list}}}
	for path, want := range map[string]int{"": 1, "none": 1, "mounts": 2, "mounts[0]": 3, "mounts[0].none": 3, "mounts[1]": 2, "mounts[-1]": 2, "mounts[x]": 2} {
		if got := root.Find(path).Line; got != want {
			t.Errorf("Find(%q) is in line %d, want %d", path, got, want)
		}
	}
}
