package contentcache_test

import (
	"fmt"
	"testing"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/contentcache"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestGet wants only the content of the version that is asked for.
func TestGet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what      string
		put, get  workspace.Version
		limit     int64
		data      string
		wantFound bool
	}{
		{"the same version", "1", "1", 4096, "text", true},
		{"no content", "1", "1", 4096, "", true},
		{"another version", "1", "2", 4096, "text", false},
		{"no version", "", "", 4096, "text", false},
		{"a weak version", `W/"1"`, `W/"1"`, 4096, "text", false},
		{"more than a quarter of the limit", "1", "1", 4096, string(make([]byte, 1000)), false},
		{"no room at all", "1", "1", 0, "text", false},
	} {
		c := contentcache.New[byte](test.limit)
		c.Put("file", test.put, []byte(test.data))
		got, ok := c.Get("file", test.get)
		if ok != test.wantFound || ok && string(got) != test.data {
			t.Errorf("%s: Get = %q, %v, want %q, %v", test.what, got, ok, test.data, test.wantFound)
		}
	}
	var none *contentcache.Cache[uint64]
	none.Put("file", "1", nil)
	if _, ok := none.Get("file", "1"); ok {
		t.Error("a nil Cache has a content")
	}
}

// TestBound puts more than fits, again and again. Some must always be found, and the size must
// be within the limit, and zero bytes must be left when all versions have changed.
func TestBound(t *testing.T) {
	t.Parallel()
	const files, limit = 1_000, 700 * (8*10 + 7 + 1 + 128)
	c := contentcache.New[uint64](limit)
	for round := range 10 {
		found := 0
		for i := range files {
			name := fmt.Sprintf("file%03d", i)
			if _, ok := c.Get(name, "1"); ok {
				found++
				continue
			}
			c.Put(name, "1", make([]uint64, 10))
		}
		if _, bytes := c.Size(); bytes > limit || bytes < limit/2 {
			t.Fatalf("the cache has %d bytes, want at most %d and at least half of it", bytes, limit)
		}
		if round > 0 && found < files/10 {
			t.Errorf("round %d: %d of %d files are found, want a tenth at least", round, found, files)
		}
	}
	for i := range files {
		c.Get(fmt.Sprintf("file%03d", i), "2")
	}
	if files, bytes := c.Size(); files != 0 || bytes != 0 {
		t.Errorf("Size = %d, %d after all versions changed, want 0, 0", files, bytes)
	}
}
