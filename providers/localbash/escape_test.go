package localbash_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// secret is what nobody may learn; it is the content of files outside.
const secret = "the-secret-outside"

// verdict is what becomes of a name.
type verdict string

const (
	escapes verdict = "escapes" // refused, as it leads out
	invalid verdict = "invalid" // refused, as it is no name or leads nowhere
	inside  verdict = "inside"  // it stays inside
)

// escapeCase is a name, and the symlinks that it meets: from "name" to
// "target", where OUT stands for the absolute path of the folder outside, and
// ROOT for the path of the workspace.
type escapeCase struct {
	name  string
	want  verdict
	links string // "name target" pairs, separated by "; "
}

func escapeCases() []escapeCase {
	return append(namedEscapes(), linkedEscapes()...)
}

// namedEscapes lead out by their spelling.
func namedEscapes() []escapeCase {
	return []escapeCase{
		{"..", escapes, ""},
		{"../outside", escapes, ""},
		{"../outside/secret", escapes, ""},
		{"../root-evil/secret", escapes, ""},
		{"../root/mine", escapes, ""},
		{"dir/..", escapes, ""},
		{"dir/../..", escapes, ""},
		{"dir/../../outside/secret", escapes, ""},
		{"dir/../mine", escapes, ""},
		{"./../outside/secret", escapes, ""},
		{"missing/../../outside/secret", escapes, ""},
		{"dir/sub/../../../outside/secret", escapes, ""},
		{"../../../../../../../../etc/passwd", escapes, ""},
		{"/../outside/secret", escapes, ""},
		{"/", invalid, ""},
		{"/etc/passwd", invalid, ""},
		{"//etc/passwd", invalid, ""},
		{"./mine", invalid, ""},
		{"dir/./x", invalid, ""},
		{"dir//x", invalid, ""},
		{"mine/", invalid, ""},
		{"mine\x00", invalid, ""},
		{"\x00/../../outside/secret", invalid, ""},
		{"mine\xff", invalid, ""},
		{strings.Repeat("a/", 2100) + "a", invalid, ""},
		{strings.Repeat("a", 256), invalid, ""},
		{".workspacekit-tmp-x", invalid, ""},
		{"dir/.workspacekit-tmp-x", invalid, ""},
		{".workspacekit-tmp-x/secret", invalid, ""},
		{`..\outside\secret`, inside, ""},
		{"..;/outside", inside, ""},
		{"...", inside, ""},
		{"%2e%2e/outside/secret", inside, ""},
		{"~/secret", inside, ""},
		{"$HOME", inside, ""},
		{"-rf", inside, ""},
	}
}

// linkedEscapes lead out by a symlink, or look as if they did.
func linkedEscapes() []escapeCase {
	return []escapeCase{
		{"out", escapes, "out OUT"},
		{"out", escapes, "out ../outside"},
		{"out", escapes, "out ../outside/"},
		{"out", escapes, "out OUT/secret"},
		{"out", escapes, "out ../outside/secret"},
		{"out", escapes, "out ../outside/new"},
		{"out", escapes, "out OUT/missing/new"},
		{"out", escapes, "out ../root-evil"},
		{"out", escapes, "out ../root-evil/secret"},
		{"out", escapes, "out .."},
		{"out", escapes, "out ../"},
		{"out", escapes, "out ../."},
		{"out", escapes, "out /"},
		{"out", escapes, "out /etc/passwd"},
		{"out", escapes, "out //etc/passwd"},
		{"out", escapes, "out /proc/self/root/etc/passwd"},
		{"out", escapes, "out /dev/zero"},
		{"out", escapes, "out ROOT"},
		{"out", escapes, "out ROOT/mine"},
		{"out", escapes, "out ../root"},
		{"out", escapes, "out ../root/mine"},
		{"out", escapes, "out dir/../../outside/secret"},
		{"out", escapes, "out ./../outside/secret"},
		{"out", escapes, "out dir/sub/../../../outside/secret"},
		{"out/secret", escapes, "out OUT"},
		{"out/secret", escapes, "out ../outside"},
		{"out/dir/secret", escapes, "out ../outside"},
		{"out/new", escapes, "out ../outside"},
		{"out/new", escapes, "out ../missing"},
		{"out/secret", escapes, "out ../root-evil"},
		{"out/root-evil/secret", escapes, "out .."},
		{"out/root/mine", escapes, "out .."},
		{"dir/out", escapes, "dir/out ../../outside/secret"},
		{"dir/out/secret", escapes, "dir/out ../../outside"},
		{"dir/sub/out/secret", escapes, "dir/sub/out ../../../outside"},
		{"one", escapes, "one two; two three; three OUT"},
		{"one", escapes, "one two; two three; three ../outside/secret"},
		{"one/secret", escapes, "one dir/two; dir/two ../three; three ../outside"},
		{"one/out/secret", escapes, "one dir; dir/out ../../outside"},
		{"one/up/up/up/outside/secret", escapes, "one dir/sub; dir/sub/up ..; dir/up ..; up .."},
		{"self/self/self/out", escapes, "self .; out ../outside"},
		{"dir/up/out/secret", escapes, "dir/up ..; out ../outside"},
		{"chain0", escapes, chain(20, "../outside")},
		{"chain0", escapes, chain(20, "OUT/secret")},
		{"chain0/secret", escapes, chain(20, "../outside")},
		{"chain0/new", escapes, chain(20, "OUT")},
		{"chain0/out/secret", escapes, chain(20, "dir") + "; dir/out ../../outside"},
		{"loop", invalid, "loop loop"},
		{"loop/secret", invalid, "loop loop"},
		{"one", invalid, "one two; two one"},
		{"one/x", invalid, "one dir/two; dir/two ../one"},
		{"deeper", invalid, "deeper deeper/x"},
		{"chain0", invalid, chain(60, "mine")},
		{"chain0/file", invalid, chain(60, "dir")},
		{"chain0/loop/x", invalid, chain(20, "dir") + "; dir/loop loop"},
		{"good", inside, "good mine"},
		{"good", inside, "good dir"},
		{"good/file", inside, "good dir"},
		{"dir/good", inside, "dir/good ../mine"},
		{"dir/sub/good", inside, "dir/sub/good ../../dir/file"},
		{"good", inside, "good dir/../mine"},
		{"good", inside, "good ./././mine"},
		{"good", inside, "good missing"},
		{"good", inside, "good dir/missing"},
		{"chain0", inside, chain(20, "mine")},
		{"chain0/file", inside, chain(20, "dir")},
		{"chain0", inside, chain(20, "dir/missing")},
		{"chain0/new", inside, chain(20, "missing")},
		{"up/mine", inside, "up " + strings.Repeat("dir/sub/../../", 99)},
		{"self/self/mine", inside, "self ."},
	}
}

// chain makes n symlinks, each to the next, and another one to target.
func chain(n int, target string) string {
	var links []string
	for i := range n {
		links = append(links, fmt.Sprintf("chain%d chain%d", i, i+1))
	}
	return strings.Join(links, "; ") + fmt.Sprintf("; chain%d %s", n, target)
}

func TestEscape(t *testing.T) {
	if n := len(escapeCases()); n < 60 {
		t.Fatalf("%d cases, want 60 at least", n)
	}
	for i, test := range escapeCases() {
		name := fmt.Sprintf("%02d-%s", i, test.want)
		t.Run(name, func(t *testing.T) {
			exhaustive.Sample(t, 3)
			t.Parallel()
			test.run(t)
		})
	}
}

func (c escapeCase) run(t *testing.T) {
	base := c.build(t)
	before := tree(t, base)
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			c.try(t, open(t, filepath.Join(base, "root"), nil), op)
		})
		after := tree(t, base)
		if diff := cmp.Diff(outside(before), outside(after)); diff != "" {
			t.Errorf("%s(%q) with links %q changed what is outside (-before +after):\n%s", op.name, c.name, c.links, diff)
		}
		if !maps.Equal(before, after) {
			base = c.build(t)
			before = tree(t, base)
		}
	}
}

// outside returns what of a tree is not in the workspace.
func outside(all map[string]string) map[string]string {
	rest := maps.Clone(all)
	maps.DeleteFunc(rest, func(name, _ string) bool { return name == "root" || strings.HasPrefix(name, "root/") })
	return rest
}

// try does op and looks at its result.
func (c escapeCase) try(t *testing.T, fsys *localbash.FS, op operation) {
	throughLink := op.follows || !isLink(filepath.Join(fsys.Root(), c.name))
	text, err := op.do(context.Background(), fsys, c.name)
	call := fmt.Sprintf("%s(%q) with links %q", op.name, c.name, c.links)
	if strings.Contains(text, secret) || copiedSecret(t, fsys.Root()) {
		t.Errorf("%s = %q, want nothing of what is outside", call, text)
	}
	if err != nil && strings.Contains(err.Error(), filepath.Dir(fsys.Root())) {
		t.Errorf("%s = %v, want no host path", call, err)
	}
	switch {
	case c.want == escapes && throughLink && !errors.Is(err, workspace.ErrEscape):
		t.Errorf("%s = %v, want %q", call, err, workspace.ErrEscape)
	case c.want == invalid && throughLink && !errors.Is(err, fs.ErrInvalid):
		t.Errorf("%s = %v, want %q", call, err, fs.ErrInvalid)
	case c.want == inside && errors.Is(err, workspace.ErrEscape):
		t.Errorf("%s = %v, want anything but that", call, err)
	}
}

// isLink reports whether path is a symlink itself.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// build makes a workspace "root" with the links of c, and folders beside it.
func (c escapeCase) build(t *testing.T) string {
	base := t.TempDir()
	for name, content := range map[string]string{
		"root/mine": "mine", "root/dir/file": "mine", "root/dir/sub/file": "mine",
		"outside/secret": secret, "outside/dir/secret": secret, "root-evil/secret": secret,
	} {
		put(t, filepath.Join(base, name), content)
	}
	if c.links == "" {
		return base
	}
	places := strings.NewReplacer("OUT", filepath.Join(base, "outside"), "ROOT", filepath.Join(base, "root"))
	for pair := range strings.SplitSeq(c.links, "; ") {
		name, target, _ := strings.Cut(pair, " ")
		link(t, places.Replace(target), filepath.Join(base, "root", name))
	}
	return base
}

// copiedSecret reports whether a file below root has the secret.
func copiedSecret(t *testing.T, root string) bool {
	t.Helper()
	for _, description := range tree(t, root) {
		if strings.Contains(description, secret) {
			return true
		}
	}
	return false
}

// tree describes everything below dir, by slash-separated names.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)], err = describe(path, entry)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func describe(path string, entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	description := fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
	if !info.Mode().IsRegular() {
		return description, nil
	}
	data, err := os.ReadFile(path)
	return description + " " + string(data), err
}
