package remotegrep

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ignore"
	"github.com/workspacekit/workspacekit/workspace"
)

// rules are the ignore files of a tree.
type rules struct {
	files []*file // those that are read together, up to maxAhead; others are read alone

	mu   sync.Mutex       // guards data
	data map[*file][]byte // their bytes; nil before they are asked for
}

// readRules returns the bytes of an ignore file. Those of rules are read with the
// first. It returns false for one that is read alone.
func (fs *files) readRules(ctx context.Context, e *file) ([]byte, bool, error) {
	if fs.c.Exact {
		return nil, false, nil
	}
	fs.rules.mu.Lock()
	defer fs.rules.mu.Unlock()
	if fs.rules.data == nil {
		all := map[*file][]byte{}
		for left := fs.rules.files; len(left) > 0; {
			batch := fitting(left[:min(len(left), batchFiles)], batchSize)
			left = left[len(batch):]
			p, err := fs.fetch(ctx, batch, 0)
			if err != nil {
				return nil, false, err
			}
			maps.Copy(all, p.sent)
		}
		fs.rules.data = all
	}
	data := fs.rules.data[e]
	return data, data != nil, nil
}

// exclusion knows what the ignore files of a tree exclude, so that programs in the
// container need not look into it. It may exclude less than the search does, as it
// does not know the ignore files above the tree. A file that it excludes wrongly is
// read all the same if the search wants it.
type exclusion struct {
	files map[string]*ignore.File  // by directory, from the top
	rules map[string]*ignore.Rules // inside directories; nil inside one that is excluded
}

// dropIgnored removes the ignored files from the wanted ones.
func (fs *files) dropIgnored(ctx context.Context) error {
	x := exclusion{files: map[string]*ignore.File{}, rules: map[string]*ignore.Rules{}}
	for _, e := range fs.rules.files {
		data, _, err := fs.readRules(ctx, e)
		if err != nil {
			return err
		}
		dir, _ := workspace.Split(e.Name)
		x.files[dir] = ignore.Parse(data)
	}
	fs.wanted = slices.DeleteFunc(fs.wanted, func(e *file) bool { return x.excludes(e.Name) })
	return nil
}

func (x *exclusion) excludes(name string) bool {
	dir, base := workspace.Split(name)
	rules := x.inside(dir)
	return rules == nil || rules.Ignored(base, false)
}

// inside returns the rules inside dir, nil if dir is excluded.
func (x *exclusion) inside(dir string) *ignore.Rules {
	rules, ok := x.rules[dir]
	if !ok {
		rules = x.enter(dir)
		x.rules[dir] = rules
	}
	return rules
}

func (x *exclusion) enter(dir string) *ignore.Rules {
	if dir == "." {
		return (*ignore.Rules)(nil).Enter("", x.files[dir])
	}
	parent, name := workspace.Split(dir)
	outer := x.inside(parent)
	if outer == nil || outer.Ignored(name, true) {
		return nil
	}
	return outer.Enter(name, x.files[dir])
}
