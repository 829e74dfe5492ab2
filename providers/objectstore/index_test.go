package objectstore_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// indexed are options of a workspace with an index and no room for contents.
func indexed() objectstore.Options {
	return objectstore.Options{Index: &objectstore.IndexOptions{}, CacheSize: -1}
}

// TestIndexRequests counts what a search of many objects costs that were searched before: their
// listing, and a download of each that has changed.
func TestIndexRequests(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "counts the requests for 1,200 objects")
	objects := exhaustive.Some(t, "most of 10,000 objects", 10_000, 1_200)
	pages := (objects + 999) / 1000
	names := numbered("d/f%05d", objects)
	for _, test := range []struct {
		what    string
		options objectstore.Options
		pattern string
		matches int
		more    int // for each of two changes
	}{
		{"contents, with matches", objectstore.Options{}, "f0099", 10, 1},
		{"contents and an index, with matches", objectstore.Options{Index: &objectstore.IndexOptions{}}, "f0099", 10, 1},
		{"contents and an index, all match", objectstore.Options{Index: &objectstore.IndexOptions{}}, "f", objects, 0},
		{"an index, without matches", indexed(), "absent", 0, 0},
	} {
		t.Run(test.what, func(t *testing.T) {
			exhaustive.Sample(t, 3)
			t.Parallel()
			server := s3test.New(t, nil)
			seed(server, names...)
			fsys := inProcess(server, awsCompat()).open(t, "p", test.options)
			search := func(what string, matches, downloads int) {
				t.Helper()
				before := len(server.Requests())
				result, err := fsys.Grep(t.Context(), test.pattern, nil)
				if err != nil || len(result.Matches) != matches || result.Searched != objects {
					t.Fatalf("%s: Grep(%q) = %+v, %v, want %d matches in %d files", what, test.pattern, result, err, matches, objects)
				}
				sent := map[string]int{}
				for _, request := range server.Requests()[before:] {
					sent[request.Op]++
				}
				if len(server.Requests()) != before+pages+downloads || sent["ListObjectsV2"] != pages || sent["GetObject"] != downloads {
					t.Errorf("%s: the requests are %v, want %d listings and %d downloads", what, sent, pages, downloads)
				}
			}
			search("the first search", test.matches, objects)
			search("the second search", test.matches, 0)
			server.Put(bucket, "p/d/f00500", []byte("by another client: f0099"))
			search("after a change by another client", test.matches+test.more, 1)
			if _, err := fsys.WriteFile(t.Context(), "d/f00501", []byte("by this one: f0099"), nil); err != nil {
				t.Fatal(err)
			}
			search("after a change by this one", test.matches+2*test.more, 1)
		})
	}
}

// TestIgnoreFilesAreKept searches with ignore files. The one at the root comes after other
// names. A search downloads those that have changed.
func TestIgnoreFilesAreKept(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, nil)
	for name, content := range map[string]string{
		".git/HEAD": "x", ".env": "x", ".gitignore": "*.log\n", "a.log": "x", "a.txt": "x", "sub/.gitignore": "/tmp\n", "sub/tmp/c.txt": "x", "sub/b.txt": "x",
	} {
		server.Put(bucket, "p/"+name, []byte(content))
	}
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	search := func(what string, downloads int, want ...string) {
		t.Helper()
		before := len(server.Requests())
		result, err := fsys.Grep(t.Context(), "x", &workspace.GrepOptions{Gitignore: true, IncludeGlob: "*.txt"})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, m := range result.Matches {
			found = append(found, m.Path)
		}
		paths, err := fsys.Glob(t.Context(), "**/*.txt", &workspace.GlobOptions{Gitignore: true})
		if diff := cmp.Diff([][]string{want, want}, [][]string{found, paths}); err != nil || diff != "" {
			t.Errorf("%s: Glob = %v (-want +got of Grep and Glob):\n%s", what, err, diff)
		}
		got := 0
		for _, request := range server.Requests()[before:] {
			if request.Op == "GetObject" {
				got++
			}
		}
		if got != downloads {
			t.Errorf("%s: Grep and Glob download %d files, want %d", what, got, downloads)
		}
	}
	search("the first search", 4, "a.txt", "sub/b.txt")
	search("the second search", 0, "a.txt", "sub/b.txt")
	server.Put(bucket, "p/sub/.gitignore", []byte("b.txt\n"))
	search("after a change", 2, "a.txt", "sub/tmp/c.txt")
}

// TestIndexKinds searches a text, a binary file and a large one again.
func TestIndexKinds(t *testing.T) {
	t.Parallel()
	for _, p := range profiles() {
		server := s3test.New(t, p.options)
		server.Put(bucket, "p/text", []byte("some words"))
		server.Put(bucket, "p/empty", nil)
		server.Put(bucket, "p/binary", []byte("some\x00words"))
		server.Put(bucket, "p/large", bytes.Repeat([]byte("and others\n"), 1000))
		fsys := inProcess(server, p.compat).open(t, "p", indexed())
		for _, want := range []string{"ListObjectsV2 GetObject*2", "ListObjectsV2"} {
			before := len(server.Requests())
			result, err := fsys.Grep(t.Context(), "absent", &workspace.GrepOptions{MaxFileSize: 1000})
			wantSkipped := []workspace.Skipped{{Path: "binary", Reason: workspace.SkipBinary}, {Path: "large", Reason: workspace.SkipTooLarge}}
			if err != nil || result.Searched != 2 || cmp.Diff(wantSkipped, result.Skipped) != "" {
				t.Errorf("%s: Grep = %+v, %v, want 2 files searched, and skipped %v", p.name, result, err, wantSkipped)
			}
			if got := trace(server.Requests()[before:]); got != want {
				t.Errorf("%s: the requests are %q, want %q", p.name, got, want)
			}
		}
	}
}

// TestIndexBound wants what an index has no room for to be downloaded again, and some not.
func TestIndexBound(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	const objects, room = 1_000, 700
	server := s3test.New(t, nil)
	seed(server, numbered("f%04d", objects)...)
	o := indexed()
	o.Index.MaxMemory = room * 180
	fsys := inProcess(server, awsCompat()).open(t, "p", o)
	for range 2 {
		before := len(server.Requests())
		if _, err := fsys.Grep(t.Context(), "absent", nil); err != nil {
			t.Fatal(err)
		}
		downloads := len(server.Requests()) - before - 1
		files, size := fsys.IndexSize()
		if size > o.Index.MaxMemory || files < objects/4 || downloads < objects-files && files < objects {
			t.Errorf("the index has %d files in %d bytes after %d downloads, want at most %d bytes", files, size, downloads, o.Index.MaxMemory)
		}
		if before > 0 && downloads > objects*9/10 {
			t.Errorf("the second search downloads %d of %d objects, want fewer", downloads, objects)
		}
	}
}

// searched is a workspace in which all was searched before each search.
type searched struct{ *objectstore.FS }

func (s searched) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	if _, err := s.FS.Grep(ctx, "a word", nil); err != nil {
		return nil, err
	}
	return s.FS.Grep(ctx, pattern, opts)
}

// TestIndexConformance runs the cases about searches with an index, and each search twice.
func TestIndexConformance(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "runs the suite a second time")
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			if p.name == "modest" {
				exhaustive.Need(t, "a store whose answers differ nowhere in searches")
			}
			s := inProcess(s3test.New(t, p.options), p.compat)
			conformance.Run(t, func(t *testing.T) workspace.FileSystem {
				return searched{s.open(t, s.prefix(t), indexed())}
			}, &conformance.Options{Short: !exhaustive.On(), Only: []string{"Grep", "Hide", "Exact"}})
		})
	}
}

// TestIndexRounds lets other clients change a bucket, also while it is searched. Each search
// that nobody writes beside must find what a workspace without an index and cache finds.
func TestIndexRounds(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	everyStore(t, func(t *testing.T, s store) {
		t.Parallel()
		rounds := 120 // of another seed each time
		if strings.HasSuffix(t.Name(), "external") {
			rounds = 20
		}
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		prefix := s.prefix(t)
		other := s.open(t, prefix, objectstore.Options{CacheSize: -1})
		warm := []*objectstore.FS{s.open(t, prefix, indexed()), s.open(t, prefix, objectstore.Options{Index: &objectstore.IndexOptions{MaxMemory: 2000}, CacheSize: 2000})}
		word := func(random *rand.Rand) string { return fmt.Sprintf("word%d", random.IntN(12)) }
		change := func(random *rand.Rand) {
			client := append(warm, other)[random.IntN(3)]
			name := fmt.Sprintf("d%d/f", random.IntN(4))
			content := strings.Repeat(word(random)+"\n", 1+random.IntN(3)) + strings.Repeat("\x00", random.IntN(8)/7)
			var err error
			switch random.IntN(5) {
			case 0:
				err = client.Rm(t.Context(), name, nil)
			case 1:
				_, err = client.Copy(t.Context(), name, "d0/copy")
			default:
				_, err = client.WriteFile(t.Context(), name, []byte(content), nil)
			}
			_ = err // a copy of what is missing, or to what exists
		}
		for range exhaustive.Some(t, "most of 10,000 rounds", 10_000, rounds) {
			for range 1 + random.IntN(2) {
				change(random)
			}
			if random.IntN(4) == 0 {
				beside := make(chan struct{})
				side := rand.New(rand.NewPCG(random.Uint64(), 0))
				go func() {
					defer close(beside)
					change(side)
				}()
				for _, fsys := range warm { // what it finds may be from before or after
					if _, err := fsys.Grep(t.Context(), word(random), nil); err != nil {
						t.Error(err)
					}
				}
				<-beside
			}
			pattern := word(random)
			want, err := other.Grep(t.Context(), pattern, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, fsys := range warm {
				got, err := fsys.Grep(t.Context(), pattern, nil)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Fatalf("Grep(%q) = %v; it differs (-without +with an index):\n%s", pattern, err, diff)
				}
			}
		}
		if files, _ := warm[0].IndexSize(); files == 0 {
			t.Error("the index knows no file")
		}
	})
}
