package policy_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	aferofs "github.com/spf13/afero"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/afero"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// minAttempts is how many attempts there must be on each store.
const minAttempts = 120

// bypassRules hide a directory and names of one kind, let one directory be read
// and not changed, one be listed and neither read nor written, and one be changed and not
// deleted.
var bypassRules = []policy.Rule{
	{Deny: policy.Ops(), Paths: []string{"vault", "*.key"}},
	{Deny: []policy.Op{policy.OpWrite, policy.OpEdit, policy.OpDelete, policy.OpMove, policy.OpMkdir}, Paths: []string{"locked"}},
	{Deny: []policy.Op{policy.OpRead, policy.OpWrite, policy.OpEdit}, Paths: []string{"sealed"}},
	{Ask: []policy.Op{policy.OpDelete, policy.OpMove}, Paths: []string{"keep"}},
}

// secret is in each file that may not be read. Hidden names have "hush".
const secret = "TOPSECRET"

// bypassFiles are the files of each attempt.
var bypassFiles = map[string]string{
	"vault/hush.txt": secret, "vault/in/hush": secret, "hush.key": secret, "dir/hush.key": secret, "dir/plain": "x",
	"locked/file": "as it was", "locked/in/file": "as it was", "sealed/file": secret, "sealed/in/file": secret,
	"keep/file": "as it was", "free/file": "x", "free/in/file": "x", "free/vault2/hush2": "x",
}

// bypass is what one attempt works with.
type bypass struct {
	*testing.T
	ctx context.Context
	raw workspace.FileSystem // without rules
	r   *policy.RestrictedFS
	ws  *workspace.Workspace // over r
}

// attempt tries to do what the rules forbid. It returns all that it has seen.
type attempt struct {
	name string
	do   func(b *bypass) string
}

// TestBypass makes every attempt on each store: none sees or changes what the
// rules forbid.
func TestBypass(t *testing.T) {
	exhaustive.NotShort(t, "tries to get past every rule")
	for store, open := range bypassStores(t) {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			all := attempts()
			if len(all) < minAttempts {
				t.Fatalf("there are %d attempts, want %d", len(all), minAttempts)
			}
			if testing.Short() && store == "objectstore" {
				t.Skip("-short: the attempts are made in memory")
			}
			if store == "local" {
				if testing.Short() {
					t.Log("-short: attempts without symlinks are made in memory alone")
					all = nil
				}
				all = append(all, linkAttempts()...)
			}
			for _, a := range all {
				t.Run(a.name, func(t *testing.T) {
					if store == "objectstore" {
						exhaustive.Draw(t, 4)
					}
					try(t, open(t), a)
				})
			}
			t.Logf("%d attempts", len(all))
		})
	}
}

// bypassStores are the stores that attempts are made on.
func bypassStores(t *testing.T) map[string]func(t *testing.T) workspace.FileSystem {
	all := stores()
	server := s3test.New(t, &s3test.Options{Public: true})
	all["objectstore"] = func(t *testing.T) workspace.FileSystem {
		fsys, err := objectstore.Open(t.Context(), &objectstore.Options{
			Bucket: "workspace", Prefix: rand.Text(), Endpoint: server.URL, Region: server.Region, Anonymous: true,
			Compat: &objectstore.Compat{PathStyle: true, ConditionalCopy: true, ConditionalDelete: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		return fsys
	}
	return all
}

// try makes one attempt on the files.
func try(t *testing.T, raw workspace.FileSystem, a attempt) {
	for name, text := range bypassFiles {
		write(t, raw, name, text)
	}
	r := firstMatch(t, raw, bypassRules...)
	b := &bypass{t, t.Context(), raw, r, workspace.New("main", r, nil)}
	before := protectedFiles(t, raw)
	seen := a.do(b)
	for _, forbidden := range []string{secret, "hush.txt", "hush.key", "in/hush"} {
		if strings.Contains(seen, forbidden) {
			t.Errorf("it saw %q:\n%s", forbidden, seen)
		}
	}
	if diff := cmp.Diff(before, protectedFiles(t, raw)); diff != "" {
		t.Errorf("it changed what is protected (-before +after):\n%s", diff)
	}
}

// protectedFiles returns what is in the names that some rule protects. What is in
// keep may change, and not disappear.
func protectedFiles(t *testing.T, raw workspace.FileSystem) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := workspace.Walk(t.Context(), raw, ".", nil, func(info workspace.FileInfo, err error) error {
		top, _, _ := strings.Cut(info.Path, "/")
		switch {
		case err != nil:
			return err
		case top != "vault" && top != "locked" && top != "sealed" && top != "keep" && !strings.HasSuffix(info.Path, ".key"):
		case info.IsDir():
			files[info.Path] = "directory"
		case top == "keep":
			files[info.Path] = "file"
		default:
			data, err := raw.ReadFile(t.Context(), info.Path)
			files[info.Path] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// attempts returns the attempts for every store.
func attempts() []attempt {
	var all []attempt
	for _, spelling := range []string{
		"vault/hush.txt", "/vault/hush.txt", "./vault/hush.txt", "vault//hush.txt", "vault/./hush.txt", "free/../vault/hush.txt",
		"free/in/../../vault/hush.txt", "vault/in/../hush.txt", "VAULT/hush.txt", "Vault/Hush.TXT", "vault/hush.txt/", `vault\hush.txt`,
		"vault/hu\u017fh.txt", "vault/hush.txt\x00", "hush.key", "HUSH.KEY", "./dir/hush.key",
	} {
		for _, use := range bypassUses() {
			all = append(all, attempt{fmt.Sprintf("%s %q", use.name, spelling), func(b *bypass) string { return use.do(b, spelling) }})
		}
	}
	for _, part := range [][]attempt{stepAttempts(), searchAttempts(), interfaceAttempts(), viewAttempts(), toolAttempts()} {
		all = append(all, part...)
	}
	return all
}

// bypassUse uses a name by a *workspace.Workspace, which cleans names.
type bypassUse struct {
	name string
	do   func(b *bypass, name string) string
}

func bypassUses() []bypassUse {
	return []bypassUse{
		{"read", func(b *bypass, name string) string { data, _ := b.ws.ReadFile(b.ctx, name); return string(data) }},
		{"read a range", func(b *bypass, name string) string {
			data, _ := b.ws.ReadRange(b.ctx, name, 0, 5)
			return strings.ReplaceAll(string(data), secret[:5], secret)
		}},
		{"copy", func(b *bypass, name string) string { _, _ = b.ws.Copy(b.ctx, name, "free/c"); return b.all("free/c") }},
		{"move", func(b *bypass, name string) string { _ = b.ws.Move(b.ctx, name, "free/m"); return b.all("free/m") }},
		{"grep", func(b *bypass, name string) string { return b.grep("", &workspace.GrepOptions{Path: name}) }},
		{"write", func(b *bypass, name string) string { _, _ = b.ws.WriteFile(b.ctx, name, nil, nil); return "" }},
		{"edit", func(b *bypass, name string) string {
			data, _, _ := b.ws.Edit(b.ctx, name, func(old []byte) ([]byte, error) { return old, nil })
			return string(data)
		}},
		{"remove", func(b *bypass, name string) string {
			_ = b.ws.Rm(b.ctx, name, &workspace.RmOptions{Recursive: true})
			return ""
		}},
	}
}

// all returns what the files at and below name have.
func (b *bypass) all(name string) string {
	text, _ := b.r.ReadFile(b.ctx, name)
	seen := string(text)
	_ = b.r.Walk(b.ctx, name, nil, func(info workspace.FileInfo, err error) error {
		data, _ := b.r.ReadFile(b.ctx, info.Path)
		seen += info.Path + ": " + string(data) + "\n"
		return nil
	})
	return seen
}

// grep returns all that a search shows.
func (b *bypass) grep(pattern string, opts *workspace.GrepOptions) string {
	result, err := b.ws.Grep(b.ctx, pattern, opts)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%+v", *result)
}

// stepAttempts move, copy and remove in several steps.
func stepAttempts() []attempt {
	recursive := &workspace.RmOptions{Recursive: true}
	moves := func(pairs ...string) func(b *bypass) string {
		return func(b *bypass) string {
			for i := 0; i < len(pairs); i += 2 {
				_ = b.r.Move(b.ctx, pairs[i], pairs[i+1])
			}
			return b.all("free") + b.all("moved")
		}
	}
	copies := func(pairs ...string) func(b *bypass) string {
		return func(b *bypass) string {
			for i := 0; i < len(pairs); i += 2 {
				_, _ = b.r.Copy(b.ctx, pairs[i], pairs[i+1])
			}
			return b.all("free")
		}
	}
	removes := func(name string) func(b *bypass) string {
		return func(b *bypass) string { _ = b.r.Rm(b.ctx, name, recursive); return "" }
	}
	writes := func(name string, opts *workspace.WriteOptions) func(b *bypass) string {
		return func(b *bypass) string {
			_, err := b.r.WriteFile(b.ctx, name, []byte("changed"), opts)
			if err == nil {
				b.Errorf("WriteFile(%q) = nil", name)
			}
			return ""
		}
	}
	return []attempt{
		{"move the directory", moves("vault", "free/v")},
		{"move a directory in it", moves("vault/in", "free/v")},
		{"move the directory above a hidden name", moves("dir", "free/d")},
		{"move what cannot be read", moves("sealed/file", "free/s")},
		{"move a directory that cannot be read", moves("sealed", "free/s")},
		{"move a directory below one that cannot be read", moves("sealed/in", "free/s")},
		{"move into place and back", moves("free", "vault/free", "vault", "moved")},
		{"move over the hidden directory", moves("free", "vault")},
		{"move to become hidden", moves("free/file", "free/new.key")},
		{"move a directory so that its parts become read-only", moves("free", "locked/free")},
		{"move a directory to the name of a read-only one", moves("locked", "l", "free", "locked")},
		{"move out of a read-only directory", moves("locked/file", "free/l")},
		{"move a read-only directory", moves("locked", "moved")},
		{"move what needs an approval", moves("keep/file", "free/k")},
		{"move the directory of what needs an approval", moves("keep", "free/k")},
		{"move in two steps", moves("free", "f", "vault", "free", "free", "f2")},
		{"swap names", moves("free/in", "tmp", "vault/in", "free/in", "tmp", "vault/in")},
		{"move the root", moves(".", "free/root")},
		{"copy what cannot be read", copies("sealed/file", "free/s", "sealed/in/file", "free/s2")},
		{"copy over what is read-only", copies("free/file", "locked/file")},
		{"copy into what is read-only", copies("free/file", "locked/new")},
		{"copy to a hidden name", copies("free/file", "free/new.key", "free/file", "vault/new")},
		{"copy in two steps", copies("vault/hush.txt", "dir/a.key", "dir/a.key", "free/a")},
		{"copy the directory", copies("vault", "free/v")},
		{"remove the directory above a hidden name", removes("dir")},
		{"remove what is read-only", removes("locked")},
		{"remove below what is read-only", removes("locked/in")},
		{"remove what needs an approval", removes("keep")},
		{"remove one file that needs an approval", removes("keep/file")},
		{"remove the hidden directory", removes("vault")},
		{"remove the root", removes(".")},
		{"write a new file to a read-only directory", writes("locked/new", nil)},
		{"write with IfNotExist", writes("locked/new", &workspace.WriteOptions{IfNotExist: true})},
		{"write with a version", writes("locked/file", &workspace.WriteOptions{IfVersion: "x"})},
		{"write below a file", writes("hush.key/below", nil)},
		{"write in other letters", writes("LOCKED/file", nil)},
		{"edit with the right version", func(b *bypass) string {
			_, version, _ := workspace.ReadVersioned(b.ctx, b.r, "locked/file", 0)
			_, _ = b.r.WriteFile(b.ctx, "locked/file", nil, &workspace.WriteOptions{IfVersion: version})
			return ""
		}},
		{"create a directory in a read-only one", func(b *bypass) string {
			_ = b.r.Mkdir(b.ctx, "locked/new/dir", &workspace.MkdirOptions{Recursive: true})
			return ""
		}},
		{"create a hidden directory", func(b *bypass) string { _ = b.r.Mkdir(b.ctx, "free/new.key", nil); return "" }},
		{"stream into a read-only file", func(b *bypass) string {
			w, err := b.r.Create(b.ctx, "locked/file", nil)
			if err == nil {
				_, _ = w.Write([]byte("changed"))
				_, _ = w.Commit()
			}
			return ""
		}},
		{"stream with IfNotExist into a hidden name", func(b *bypass) string {
			if w, err := b.r.Create(b.ctx, "free/new.key", &workspace.WriteOptions{IfNotExist: true}); err == nil {
				_, _ = w.Commit()
			}
			return ""
		}},
		{"race moves with reads", func(b *bypass) string {
			var wg sync.WaitGroup
			var seen string
			wg.Go(func() {
				for range 20 {
					_ = b.r.Move(b.ctx, "free/in", "free/swap")
					_ = b.r.Move(b.ctx, "vault/in", "free/in")
					_ = b.r.Move(b.ctx, "free/swap", "free/in")
				}
			})
			for range 20 {
				data, _ := b.r.ReadFile(b.ctx, "free/in/hush")
				seen += string(data)
			}
			wg.Wait()
			return seen
		}},
		{"race a removal with writes", func(b *bypass) string {
			var wg sync.WaitGroup
			wg.Go(func() { _ = b.r.Rm(b.ctx, "dir", recursive) })
			_, _ = b.r.WriteFile(b.ctx, "dir/new", nil, nil)
			_ = b.r.Move(b.ctx, "dir", "free/dir")
			wg.Wait()
			return b.all("free/dir")
		}},
	}
}

// searchAttempts look for hidden names and for contents that may not be read.
func searchAttempts() (all []attempt) {
	for _, o := range []workspace.GrepOptions{
		{}, {Gitignore: true}, {Path: "."}, {Path: "dir"}, {Path: "sealed"}, {IncludeGlob: "*.key"}, {IncludeGlob: "/vault/**"},
		{IncludeGlob: "sealed/**"}, {ExcludeGlob: "free/**"}, {MaxResults: 1}, {Before: 3, After: 3}, {IgnoreCase: true},
		{StartAfter: workspace.Position{Path: "vault"}}, {StartAfter: workspace.Position{Path: "vault/hush.txt"}},
		{StartAfter: workspace.Position{Path: "sealed/a", LineNumber: 1}}, {StartAfter: workspace.Position{Path: "dir/", LineNumber: 7}},
	} {
		all = append(all, attempt{fmt.Sprintf("grep %+v", o), func(b *bypass) string { return b.grep(".", &o) }})
	}
	for _, o := range []struct {
		pattern string
		opts    workspace.GlobOptions
	}{
		{"**", workspace.GlobOptions{}}, {"**/", workspace.GlobOptions{}}, {"vault/*", workspace.GlobOptions{}}, {"{vault,free}/**", workspace.GlobOptions{}},
		{"**/*.key", workspace.GlobOptions{}}, {"*", workspace.GlobOptions{Dir: "dir"}}, {"*", workspace.GlobOptions{Dir: "vault"}},
		{"**", workspace.GlobOptions{Gitignore: true}}, {"**", workspace.GlobOptions{After: "vault/"}}, {"**", workspace.GlobOptions{After: "dir/h", Limit: 1}},
		{"[v]ault/?ush.txt", workspace.GlobOptions{}},
	} {
		all = append(all, attempt{fmt.Sprintf("glob %q %+v", o.pattern, o.opts), func(b *bypass) string {
			found, _ := b.ws.Glob(b.ctx, o.pattern, &o.opts)
			return strings.Join(found, "\n")
		}})
	}
	for _, o := range []workspace.LsOptions{{}, {Limit: 1}, {After: "hush"}, {After: "hush.kex", Limit: 1}} {
		all = append(all, attempt{fmt.Sprintf("ls %+v", o), func(b *bypass) string {
			root, _ := b.r.Ls(b.ctx, ".", &o)
			dir, _ := b.r.Ls(b.ctx, "dir", &o)
			vault, _ := b.r.Ls(b.ctx, "vault", &o)
			return fmt.Sprint(paths(root), paths(dir), paths(vault))
		}})
	}
	return append(all,
		attempt{"stat", func(b *bypass) string {
			info, _ := b.r.Stat(b.ctx, "vault/hush.txt")
			return info.Path
		}},
		attempt{"walk after", func(b *bypass) (seen string) {
			_ = b.r.Walk(b.ctx, ".", &workspace.WalkOptions{After: "dir/h"}, func(info workspace.FileInfo, _ error) error {
				seen += info.Path + "\n"
				return nil
			})
			return seen
		}},
		attempt{"watch", func(b *bypass) string {
			ctx, cancel := context.WithCancel(b.ctx)
			defer cancel()
			events, err := b.r.Watch(ctx, ".", nil)
			if err != nil {
				return ""
			}
			// Nothing hidden may come before the event that ends this.
			go func() {
				_, _ = b.raw.WriteFile(ctx, "vault/hush.txt", []byte(secret), nil)
				_, _ = b.raw.WriteFile(ctx, "free/last", nil, nil)
			}()
			seen := ""
			if _, polled := b.raw.(*objectstore.FS); polled {
				return "" // which would take until the next listing
			}
			for event := range events {
				if seen += event.Path + "\n"; event.Path == "free/last" {
					break
				}
			}
			return seen
		}},
	)
}

// interfaceAttempts look for optional interfaces with less protection.
func interfaceAttempts() []attempt {
	reads := func(b *bypass, fsys workspace.FileSystem) string {
		data, _ := fsys.ReadFile(b.ctx, "vault/hush.txt")
		sealed, _ := fsys.ReadFile(b.ctx, "sealed/file")
		_, _ = fsys.WriteFile(b.ctx, "locked/file", nil, nil)
		infos, _ := fsys.Ls(b.ctx, "vault", nil)
		found, _ := fsys.Grep(b.ctx, ".", nil)
		return string(data) + string(sealed) + fmt.Sprint(paths(infos), found)
	}
	return []attempt{
		{"VersionedReader", func(b *bypass) string {
			v, _ := workspace.As[workspace.VersionedReader](b.ws)
			data, _, _ := v.ReadVersioned(b.ctx, "sealed/file", 0)
			return string(data)
		}},
		{"Opener", func(b *bypass) string {
			o, _ := workspace.As[workspace.Opener](b.ws)
			stream, info, err := o.Open(b.ctx, "vault/hush.txt", &workspace.OpenOptions{Length: 100})
			if err != nil {
				return ""
			}
			data, _ := io.ReadAll(stream)
			return info.Path + string(data)
		}},
		{"Creator", func(b *bypass) string {
			c, _ := workspace.As[workspace.Creator](b.ws)
			if w, err := c.Create(b.ctx, "vault/new", nil); err == nil {
				_, _ = w.Commit()
			}
			return ""
		}},
		{"Mover", func(b *bypass) string {
			m, _ := workspace.As[workspace.Mover](b.ws)
			_ = m.Move(b.ctx, "sealed/file", "free/s")
			return b.all("free/s")
		}},
		{"Copier", func(b *bypass) string {
			c, _ := workspace.As[workspace.Copier](b.ws)
			_, _ = c.Copy(b.ctx, "vault/hush.txt", "free/s")
			return b.all("free/s")
		}},
		{"Walker", func(b *bypass) (seen string) {
			w, _ := workspace.As[workspace.Walker](b.ws)
			_ = w.Walk(b.ctx, "vault", nil, func(info workspace.FileInfo, _ error) error { seen += info.Path; return nil })
			return seen
		}},
		{"Resolver", func(b *bypass) string {
			r, _ := workspace.As[workspace.Resolver](b.ws)
			target, err := r.Resolve(b.ctx, "vault/hush.txt")
			if err == nil {
				return target
			}
			return ""
		}},
		{"Exacter", func(b *bypass) string {
			exact, err := workspace.Exact(b.ws)
			if err != nil {
				b.Fatal(err)
			}
			return reads(b, exact)
		}},
		{"Exacter twice", func(b *bypass) string {
			exact, err := workspace.Exact(b.r)
			if err == nil {
				exact, err = workspace.Exact(exact)
			}
			if err != nil {
				b.Fatal(err)
			}
			return reads(b, exact)
		}},
		{"Hider", func(b *bypass) string {
			hider, _ := workspace.As[fallback.Hider](b.r)
			view, err := hider.Hide(func(string) func(string, bool) bool { return nil })
			if err != nil {
				return ""
			}
			return reads(b, view)
		}},
		{"Unwrapper", func(b *bypass) string {
			if wrapper, ok := workspace.As[fallback.Unwrapper](b.r); ok {
				return reads(b, wrapper.Unwrap())
			}
			return ""
		}},
		{"the store's own type", func(b *bypass) string {
			if m, ok := workspace.As[*memory.FS](b.r); ok {
				return reads(b, m)
			}
			if o, ok := workspace.As[*objectstore.FS](b.r); ok {
				return reads(b, o)
			}
			return ""
		}},
	}
}

// viewAttempts use the files through other types, and through policies over
// policies.
func viewAttempts() []attempt {
	names := func(iofs fs.FS) (seen string) {
		_ = fs.WalkDir(iofs, ".", func(path string, _ fs.DirEntry, _ error) error {
			data, _ := fs.ReadFile(iofs, path)
			seen += path + ": " + string(data) + "\n"
			return nil
		})
		data, _ := fs.ReadFile(iofs, "vault/hush.txt")
		found, _ := fs.Glob(iofs, "*/hush*")
		return seen + string(data) + strings.ReplaceAll(fmt.Sprint(found), "free/vault2/hush2", "")
	}
	return []attempt{
		{"io/fs", func(b *bypass) string { return names(b.ws.FS(b.ctx)) }},
		{"io/fs below", func(b *bypass) string {
			sub, err := fs.Sub(b.ws.FS(b.ctx), "vault")
			if err != nil {
				return ""
			}
			data, _ := fs.ReadFile(sub, "hush.txt")
			return string(data)
		}},
		{"afero", func(b *bypass) string {
			view := afero.ToAfero(b.ctx, b.ws)
			data, _ := aferofs.ReadFile(view, "vault/hush.txt")
			_ = aferofs.WriteFile(view, "locked/file", nil, 0o666)
			_ = view.Remove("locked/file")
			_ = view.Rename("sealed/file", "free/s")
			infos, _ := aferofs.ReadDir(view, "vault")
			return string(data) + fmt.Sprint(len(infos)) + b.all("free")
		}},
		{"a workspace over afero", func(b *bypass) string {
			fsys := afero.FromAfero(afero.ToAfero(b.ctx, b.ws), nil)
			return names(workspace.New("w", fsys, nil).FS(b.ctx))
		}},
		{"Sub of the hidden directory", func(b *bypass) string {
			sub, err := policy.Sub(b.r, "vault")
			if err != nil {
				return ""
			}
			return names(workspace.New("w", sub, nil).FS(b.ctx))
		}},
		{"Sub, and names that climb", func(b *bypass) string {
			sub, err := policy.Sub(b.r, "free")
			if err != nil {
				return ""
			}
			data, _ := sub.ReadFile(b.ctx, "../vault/hush.txt")
			_ = sub.Move(b.ctx, "in", "../locked/in2")
			return string(data)
		}},
		{"ReadOnly over it", func(b *bypass) string { return names(workspace.New("w", policy.ReadOnly(b.r), nil).FS(b.ctx)) }},
		{"rules that allow everything over it", func(b *bypass) string {
			r := firstMatch(b.T, b.r, policy.Rule{Allow: policy.Ops(), Paths: []string{"**"}}, policy.Rule{Deny: policy.Ops(), Paths: []string{"none"}})
			_, _ = r.WriteFile(b.ctx, "locked/file", nil, nil)
			_ = r.Rm(b.ctx, "keep", &workspace.RmOptions{Recursive: true})
			return names(workspace.New("w", r, nil).FS(b.ctx))
		}},
		{"a second workspace over the same store", func(b *bypass) string {
			other := firstMatch(b.T, b.raw, bypassRules...)
			_, _ = other.Copy(b.ctx, "vault/hush.txt", "free/c")
			_ = other.Move(b.ctx, "sealed", "free/s")
			return b.all("free")
		}},
		{"what another workspace has opened", func(b *bypass) string {
			stream, _, err := workspace.Open(b.ctx, b.raw, "free/file", nil)
			if err != nil {
				b.Fatal(err)
			}
			defer stream.Close()
			_ = b.r.Move(b.ctx, "free/file", "locked/moved")
			data, _ := io.ReadAll(stream)
			return string(data)
		}},
	}
}

// toolAttempts call each tool with names that are denied, and with cursors from
// tools without rules.
func toolAttempts() (all []attempt) {
	calls := []string{
		`read_file {"path": "vault/hush.txt"}`, `read_file {"path": "sealed/file"}`, `read_file {"path": "/dir/../hush.key"}`,
		`write_file {"path": "locked/file", "content": "x"}`, `write_file {"path": "free/a.key", "content": "x"}`,
		`edit_file {"path": "locked/file", "oldText": "as", "newText": "x"}`, `edit_file {"path": "vault/hush.txt", "oldText": "S", "newText": "x"}`,
		`edit_file {"path": "sealed/file", "oldText": "nothing", "newText": "x"}`,
		`ls {"path": "."}`, `ls {"path": "vault"}`, `ls {"path": "dir"}`, `glob {"pattern": "**"}`, `glob {"pattern": "vault/**"}`,
		`grep {"pattern": "."}`, `grep {"pattern": ".", "path": "sealed/file"}`, `grep {"pattern": "TOP", "before": 1}`,
		`stat {"path": "vault/hush.txt"}`, `mkdir {"path": "locked/new"}`, `mkdir {"path": "vault/a/b", "recursive": true}`,
		`rm {"path": "locked/file"}`, `rm {"path": "dir", "recursive": true}`, `rm {"path": "keep/file"}`,
		`move {"source": "sealed/file", "destination": "free/s"}`, `move {"source": "free/file", "destination": "locked/f"}`,
		`copy {"source": "vault/hush.txt", "destination": "free/s"}`, `copy {"source": "free/file", "destination": "dir/new.key"}`,
	}
	for _, c := range calls {
		op, args, _ := strings.Cut(c, " ")
		all = append(all, attempt{"tool " + c, func(b *bypass) string {
			// A denial repeats the name that the caller gave.
			seen := callTool(b, b.ws, op, args)
			if strings.Contains(seen, "POLICY_DENIED") {
				seen = strings.NewReplacer("vault/hush.txt", "", "hush.key", "").Replace(seen)
			}
			return seen + b.all("free/s")
		}})
	}
	for _, c := range []string{`ls {"path": ".", "limit": 1%s}`, `glob {"pattern": "**", "limit": 1%s}`, `grep {"pattern": ".", "limit": 1%s}`} {
		op, args, _ := strings.Cut(c, " ")
		all = append(all, attempt{"cursor of " + op, func(b *bypass) (seen string) {
			open, cursor := workspace.New("main", b.raw, nil), ""
			for range 20 { // each page without rules, then the next one with them
				var page struct {
					NextCursor string `json:"nextCursor"`
				}
				if err := json.Unmarshal([]byte(callStructured(b, open, op, fmt.Sprintf(args, cursor))), &page); err != nil || page.NextCursor == "" {
					return seen
				}
				cursor = fmt.Sprintf(`, "cursor": %q`, page.NextCursor)
				seen += callTool(b, b.ws, op, fmt.Sprintf(args, cursor))
			}
			return seen
		}})
	}
	return all
}

// callTool returns all that a call of a tool shows.
func callTool(b *bypass, ws *workspace.Workspace, op, args string) string {
	result := callResult(b, ws, op, args)
	return result.Text + string(result.Structured)
}

// callStructured returns the structured result of a call.
func callStructured(b *bypass, ws *workspace.Workspace, op, args string) string {
	return string(callResult(b, ws, op, args).Structured)
}

func callResult(b *bypass, ws *workspace.Workspace, op, args string) *tools.Result {
	set, err := tools.New(ws, nil)
	if err != nil {
		b.Fatal(err)
	}
	tool, ok := set.Lookup("workspace__main__" + op)
	if !ok {
		b.Fatalf("there is no tool %s", op)
	}
	result, err := tool.Call(b.ctx, json.RawMessage(args))
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// linkAttempts use symlinks and hard links in a folder.
func linkAttempts() (all []attempt) {
	for _, link := range []struct{ target, name, path string }{
		{"vault/hush.txt", "link", "link"}, {"vault", "link", "link/hush.txt"}, {"../vault/hush.txt", "free/link", "free/link"},
		{"link2", "link", "link/in/hush"}, {"hush.key", "plain", "plain"}, {"../sealed/file", "free/sealed", "free/sealed"},
		{".", "here", "here/vault/hush.txt"}, {"free/../vault", "way", "way/hush.txt"},
	} {
		for _, use := range bypassUses() {
			all = append(all, attempt{fmt.Sprintf("%s the symlink %s to %s", use.name, link.path, link.target), func(b *bypass) string {
				makeSymlink(b.T, fallback.Root(b.raw), link.target, link.name)
				makeSymlink(b.T, fallback.Root(b.raw), "vault", "link2")
				return use.do(b, link.path)
			}})
		}
	}
	for _, name := range []string{"locked/file", "vault/hush.txt"} {
		all = append(all, attempt{"write to a hard link to " + name, func(b *bypass) string {
			root := fallback.Root(b.raw)
			if err := os.Link(filepath.Join(root, name), filepath.Join(root, "free", "hard")); err != nil {
				b.Skip(err)
			}
			if _, err := b.r.WriteFile(b.ctx, "free/hard", []byte("changed"), nil); err != nil && !errors.Is(err, workspace.ErrPolicy) {
				b.Error(err)
			}
			return ""
		}})
	}
	for _, link := range []string{"dangling.key", "vault/new", "locked/new"} {
		all = append(all, attempt{"write through a dangling symlink to " + link, func(b *bypass) string {
			makeSymlink(b.T, fallback.Root(b.raw), "../"+link, "free/link")
			_, _ = b.r.WriteFile(b.ctx, "free/link", []byte("x"), nil)
			_ = b.r.Mkdir(b.ctx, "free/link", &workspace.MkdirOptions{Recursive: true})
			_, _ = b.r.Copy(b.ctx, "free/file", "free/link")
			return ""
		}})
	}
	return all
}
