package objectstore_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// foreignCase is keys that other programs made, all but those at the top of the
// workspace in the directory "d".
type foreignCase struct {
	name  string
	keys  []string
	walk  []string // what is seen of them
	files []string // those of walk that are files; none if nil
	empty bool     // d can be removed without what is in it
	still bool     // a modest store cannot move it: its answer is no XML
}

func foreignCases() []foreignCase {
	deep := strings.Repeat("/"+strings.Repeat("y", 200), 6)[:1024-len("p/d")]
	return []foreignCase{
		{name: "empty-element", keys: []string{"d//b"}, walk: []string{"d"}},
		{name: "two-empty-elements", keys: []string{"d///", "d//"}, walk: []string{"d"}},
		{name: "leading-slash", keys: []string{"/lead"}},
		{name: "climbing", keys: []string{"../up", "..", "."}},
		{name: "climbing-inside", keys: []string{"d/../y", "d/.", "d/..", "d/./z"}, walk: []string{"d"}},
		{name: "marker-with-content", keys: []string{"d/"}, walk: []string{"d"}, empty: true},
		{name: "raw-control", keys: []string{"d/ctl\x01name", "d/\x02/x"}, walk: []string{"d"}, still: true},
		{name: "not-xml", keys: []string{"d/\uffff", "d/\ufffd"}, walk: []string{"d", "d/\ufffd"},
			files: []string{"d/\ufffd"}, still: true},
		{name: "long-element", keys: []string{"d/" + strings.Repeat("x", 300)}, walk: []string{"d"}},
		{name: "reserved", keys: []string{"d/.workspacekit-tmp-x", "d/.workspacekit-tmp-y/z"}, walk: []string{"d"}},
		{name: "escape", keys: []string{"d/%01"}, walk: []string{"d", "d/\x01"}, files: []string{"d/\x01"}},
		{name: "escaped-escape", keys: []string{"d/%2501"}, walk: []string{"d", "d/%01"}, files: []string{"d/%01"}},
		{name: "escape-of-no-control", keys: []string{"d/%41", "d/%"}, walk: []string{"d", "d/%", "d/%41"}, files: []string{"d/%", "d/%41"}},
		{name: "file-and-directory", keys: []string{"d/both", "d/both/child"}, walk: []string{"d", "d/both", "d/both/child"},
			files: []string{"d/both", "d/both/child"}},
		{name: "deepest", keys: []string{"d" + deep}, walk: ancestry("d" + deep), files: []string{"d" + deep}},
		{name: "hidden-beside-seen", keys: []string{"d//b", "d/f", "d/sub/../y"}, walk: []string{"d", "d/f", "d/sub"}, files: []string{"d/f"}},
	}
}

// ancestry returns the directories that name lies in, and name.
func ancestry(name string) []string {
	var all []string
	for i, c := range name {
		if c == '/' {
			all = append(all, name[:i])
		}
	}
	return append(all, name)
}

// neighbours are keys around the workspace "p". Nothing may touch them.
func neighbours() []string {
	return []string{"o", "p", "p-", "p.", "p2/x", "p0", "q", "../p/d", "/p/d"}
}

const foreignContent = "made by another program\n"

// foreign is a bucket with keys and neighbours.
func foreign(t *testing.T, p profile, keys []string) (*s3test.Server, *objectstore.FS) {
	server := s3test.New(t, p.options)
	for _, key := range neighbours() {
		server.Put(bucket, key, []byte(foreignContent))
	}
	for _, key := range keys {
		server.Put(bucket, "p/"+key, []byte(foreignContent))
	}
	return server, inProcess(server, p.compat).open(t, "p", objectstore.Options{})
}

// TestForeignKeys shows each case to every operation.
func TestForeignKeys(t *testing.T) {
	exhaustive.Long(t)
	for _, c := range foreignCases() {
		for _, p := range profiles() {
			t.Run(c.name+"/"+p.name, func(t *testing.T) {
				server, f := foreign(t, p, c.keys)
				c.testReads(t, f)
				if len(c.walk) > 0 {
					if !c.still || p.name == "aws" {
						c.testMove(t, server, f)
					}
					c.testRm(t, server, f)
				}
				checkNeighbours(t, server)
			})
		}
	}
}

func (c foreignCase) testReads(t *testing.T, f *objectstore.FS) {
	ctx := t.Context()
	want := append([]string{}, c.walk...)
	if got, err := walked(ctx, f, ".", nil); err != nil || !slices.Equal(got, want) {
		t.Errorf("Walk = %q, %v, want %q", got, err, want)
	}
	if got, err := f.Glob(ctx, "**", nil); err != nil || !slices.Equal(got, c.files) {
		t.Errorf("Glob(**) = %q, %v, want %q", got, err, c.files)
	}
	result, err := f.Grep(ctx, "another", nil)
	if err != nil || len(result.Matches) != len(c.files) || len(result.Skipped) > 0 {
		t.Errorf("Grep = %v, %v, want a match in each of %q", result, err, c.files)
	}
	for _, name := range c.files {
		if data, err := f.ReadFile(ctx, name); err != nil || string(data) != foreignContent {
			t.Errorf("ReadFile(%q) = %q, %v, want %q", name, data, err, foreignContent)
		}
	}
	for _, name := range c.walk {
		info, err := f.Stat(ctx, name)
		if isFile := slices.Contains(c.files, name); err != nil || info.IsDir() == isFile {
			t.Errorf("Stat(%q) = %v, %v, want a file: %v", name, info, err, isFile)
		}
	}
	c.testLs(t, f, ".")
	if len(c.walk) > 0 {
		c.testLs(t, f, "d")
	}
}

func (c foreignCase) testLs(t *testing.T, f *objectstore.FS, dir string) {
	want := []string{}
	for _, name := range c.walk {
		if parent, _ := workspace.Split(name); parent == dir {
			want = append(want, name)
		}
	}
	infos, err := f.Ls(t.Context(), dir, nil)
	if got := pathsOf(infos); err != nil || !slices.Equal(got, want) {
		t.Errorf("Ls(%q) = %q, %v, want %q", dir, got, err, want)
	}
}

// testMove moves the directory, with what is not seen, too, there and back.
func (c foreignCase) testMove(t *testing.T, server *s3test.Server, f *objectstore.FS) {
	if len(c.keys[0]) > 1000 {
		return // the new keys would be too long
	}
	for _, names := range [][2]string{{"d", "moved"}, {"moved", "d"}} {
		before := keysBelow(server, names[0])
		if err := f.Move(t.Context(), names[0], names[1]); err != nil {
			t.Errorf("Move(%q, %q) = %v, want nil", names[0], names[1], err)
		}
		if left := keysBelow(server, names[0]); len(left) > 0 {
			t.Errorf("Move(%q, %q) leaves %q", names[0], names[1], left)
		}
		if diff := cmp.Diff(before, keysBelow(server, names[1])); diff != "" {
			t.Errorf("Move(%q, %q) (-want +got):\n%s", names[0], names[1], diff)
		}
	}
}

// keysBelow returns the keys in the directory dir, as seen from there, without
// its own marker.
func keysBelow(server *s3test.Server, dir string) []string {
	var below []string
	for _, key := range server.Objects(bucket) {
		if rest, ok := strings.CutPrefix(key, "p/"+dir+"/"); ok && rest != "" {
			below = append(below, rest)
		}
	}
	return below
}

func (c foreignCase) testRm(t *testing.T, server *s3test.Server, f *objectstore.FS) {
	err := f.Rm(t.Context(), "d", nil)
	if c.empty {
		if err != nil {
			t.Errorf("Rm(d) = %v, want nil", err)
		}
		return
	}
	if !errors.Is(err, workspace.ErrNotEmpty) {
		t.Errorf("Rm(d) = %v, want %v", err, workspace.ErrNotEmpty)
	}
	if err := f.Rm(t.Context(), "d", &workspace.RmOptions{Recursive: true}); err != nil {
		t.Errorf("Rm(d) recursively = %v, want nil", err)
	}
	if left := keysBelow(server, "d"); len(left) > 0 {
		t.Errorf("Rm(d) recursively leaves %q", left)
	}
	if _, err := f.Stat(t.Context(), "d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(d) after Rm = %v, want %v", err, fs.ErrNotExist)
	}
}

// checkNeighbours checks that nothing outside the workspace has been asked for
// or changed.
func checkNeighbours(t *testing.T, server *s3test.Server) {
	t.Helper()
	for _, key := range neighbours() {
		if data, ok := server.Get(bucket, key); !ok || string(data) != foreignContent {
			t.Errorf("the key %q has become %q (there: %v)", key, data, ok)
		}
	}
	for _, key := range server.Objects(bucket) {
		if !strings.HasPrefix(key, "p/") && !slices.Contains(neighbours(), key) {
			t.Errorf("there is a new key %q", key)
		}
	}
	for _, r := range server.Requests() {
		asked := r.Key
		if r.Op == "ListObjectsV2" {
			asked = r.Query.Get("prefix")
		}
		if r.Op != "DeleteObjects" && !strings.HasPrefix(asked, "p/") {
			t.Errorf("%s of %q, want only what is below \"p/\"", r.Op, asked)
		}
	}
}

// TestFileAndDirectory removes and lists what is both.
func TestFileAndDirectory(t *testing.T) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			ctx := t.Context()
			server, f := foreign(t, p, []string{"both", "both-", "both/child"})
			infos, err := f.Ls(ctx, "both", nil)
			if got := pathsOf(infos); err != nil || !slices.Equal(got, []string{"both/child"}) {
				t.Errorf("Ls(both) = %q, %v, want its child", got, err)
			}
			if err := f.Rm(ctx, "both", &workspace.RmOptions{Recursive: true}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"p/both-", "p/both/child"}, slices.DeleteFunc(server.Objects(bucket), isNeighbour)); diff != "" {
				t.Errorf("keys after Rm(both) (-want +got):\n%s", diff)
			}
			if info, err := f.Stat(ctx, "both"); err != nil || !info.IsDir() {
				t.Errorf("Stat(both) = %v, %v, want the directory that remains", info, err)
			}
		})
	}
}

// TestGrepFileAndDirectory searches what is both, by time too: then each file that matches is
// searched once more.
func TestGrepFileAndDirectory(t *testing.T) {
	for _, p := range profiles() {
		for name, cacheSize := range map[string]int64{"cached": 0, "uncached": -1} {
			t.Run(p.name+"/"+name, func(t *testing.T) {
				server, _ := foreign(t, p, []string{"both", "both/child", "marked", "marked/"})
				fsys := inProcess(server, p.compat).open(t, "p", objectstore.Options{CacheSize: cacheSize})
				set, err := tools.New(workspace.New("bucket", fsys, nil), &tools.Options{Naming: "{op}"})
				if err != nil {
					t.Fatal(err)
				}
				grep, _ := set.Lookup("grep")
				result, err := grep.Call(t.Context(), json.RawMessage(`{"pattern": "program", "sort": "mtime"}`))
				if err != nil || result.IsError {
					t.Fatalf("grep by time = %+v, %v, want matches", result, err)
				}
				want := []string{"both", "both/child", "marked"}
				if cacheSize < 0 {
					want = []string{"both/child"} // nothing shows that the others are files
				}
				var structured struct{ Matches []struct{ Path string } }
				if err := json.Unmarshal(result.Structured, &structured); err != nil {
					t.Fatal(err)
				}
				var paths []string
				for _, m := range structured.Matches {
					paths = append(paths, m.Path)
				}
				if slices.Sort(paths); !slices.Equal(paths, want) {
					t.Errorf("grep by time matches in %q, want %q", paths, want)
				}
				if cacheSize < 0 {
					return
				}
				for _, path := range []string{"both", "marked"} {
					found, err := fsys.Grep(t.Context(), "program", &workspace.GrepOptions{Path: path})
					if err != nil || len(found.Matches) != 1 || found.Matches[0].Path != path {
						t.Errorf("Grep in %q = %+v, %v, want the match in the file", path, found, err)
					}
				}
			})
		}
	}
}

func isNeighbour(key string) bool { return slices.Contains(neighbours(), key) }

// TestForeignWatch makes keys that are no names beside one that is.
func TestForeignWatch(t *testing.T) {
	server, f := foreign(t, profiles()[0], []string{"d/"})
	events, err := f.Watch(t.Context(), ".", &workspace.WatchOptions{Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"/lead", "../up", "d//b", "d/ctl\x01name", "d/..", "z", "z/both"} {
		server.Put(bucket, "p/"+key, nil)
	}
	for _, key := range []string{"o", "p2/x"} {
		server.Put(bucket, key, []byte("changed"))
	}
	want := map[workspace.Event]bool{
		{Op: workspace.EventCreate, Path: "z"}: true, {Op: workspace.EventCreate, Path: "z/both"}: true,
	}
	for len(want) > 0 {
		select {
		case event := <-events:
			if !want[event] {
				t.Fatalf("event %v, want one of %v", event, want)
			}
			delete(want, event)
		case <-time.After(patience):
			t.Fatalf("waited for %v in vain", want)
		}
	}
}
