package scratch_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/scratch"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestSpill checks that outputs can be read, also large ones, that those of before make
// room, and that files of scripts are left alone.
func TestSpill(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	space := scratch.New(30 << 20)
	if _, err := space.Workspace.WriteFile(ctx, "output-1", []byte("of a script"), nil); err != nil {
		t.Fatal(err)
	}
	if err := space.Workspace.Mkdir(ctx, "output-3", nil); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range []byte("abcd") {
		name, err := space.Spill(ctx, bytes.Repeat([]byte{b}, 12<<20))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "/dev/shm/output-2 /dev/shm/output-4 /dev/shm/output-5 /dev/shm/output-6" {
		t.Errorf("the files are %s", got)
	}
	for i, name := range names {
		got, err := space.ReadScratch(ctx, name)
		if kept := i >= 2; kept && (err != nil || len(got) != 12<<20 || got[0] != "abcd"[i]) || !kept && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
	}
	if _, err := space.Spill(ctx, make([]byte, 31<<20)); !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("Spill of too much = %v, want %v", err, workspace.ErrNoSpace)
	}
	if got, err := space.Read(ctx, "output-1"); err != nil || string(got) != "of a script" {
		t.Errorf("the file of a script has %q, %v", got, err)
	}
	for _, name := range []string{"output-1", "/tmp/output-1", "/dev/shm/../output-1", "/dev/shm/none"} {
		if got, err := space.ReadScratch(ctx, name); err == nil {
			t.Errorf("ReadScratch(%q) = %q", name, got)
		}
	}
}

// TestOpenFile checks that a file counts while it is being written, also when the files are
// counted again, and that one which is discarded makes room.
func TestOpenFile(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	create := func(space *scratch.Space, name string) workspace.Writer {
		w, err := space.Workspace.Create(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	space := scratch.New(4 << 20)
	a := create(space, "a")
	defer a.Close()
	for range 3 {
		if _, err := a.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	above := create(space, "above")
	if _, err := above.Write(make([]byte, 2<<20)); !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("Write above the limit = %v, want %v", err, workspace.ErrNoSpace)
	}
	if _, err := above.Commit(); !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("Commit after it = %v, want %v", err, workspace.ErrNoSpace)
	}
	if err := above.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := space.Workspace.WriteFile(ctx, "b", make([]byte, 2<<20), nil); !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("WriteFile beside an open file = %v, want %v", err, workspace.ErrNoSpace)
	}
	if _, err := a.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := space.Workspace.WriteFile(ctx, "b", make([]byte, 2<<20), nil); !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("WriteFile beside a file = %v, want %v", err, workspace.ErrNoSpace)
	}
	if err := space.Workspace.Rm(ctx, "a", nil); err != nil {
		t.Fatal(err)
	}
	b := create(space, "b")
	if _, err := b.Write(make([]byte, 3<<20)); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := space.Workspace.WriteFile(ctx, "c", make([]byte, 2<<20), nil); err != nil {
		t.Errorf("WriteFile after a file was discarded: %v", err)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("line\n", 100)
	wide := strings.Repeat("é", 250)
	for _, c := range []struct {
		name, all   string
		begin, end  int // how much of it is known
		fails       bool
		head, notes string
	}{
		{"short", "a\nb", 3, 3, false, "a\nb", ""},
		{"at the limit", lines[:300], 300, 300, false, lines[:300], ""},
		{"whole lines", lines, 500, 500, false, "line\nline\n", "all of it is in /x"},
		{"only the end is kept", lines, 500, 300, false, "line\n", "all of it is in /x"},
		{"only the beginning goes to the file", lines, 400, 300, false, "line\n", "the first 400 bytes are in /x"},
		{"little of the end is kept", lines, 500, 30, false, "line\n", "all of it is in /x"},
		{"all that is known", lines, 200, 50, false, lines[:200], "they were not kept"},
		{"known in two parts", lines[:290], 200, 100, false, lines[:290], ""},
		{"no room", lines, 500, 500, true, "line\n", "print less"},
		{"one line of wide characters", wide + ".", 501, 501, false, "éé", "all of it is in /x"},
		{"a part of a character", "." + wide, 501, 501, false, ".é", "all of it is in /x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spilled := ""
			got := scratch.Shorten([]byte(c.all[:c.begin]), []byte(c.all[len(c.all)-c.end:]), int64(len(c.all)), 300, func(b []byte) (string, error) {
				if spilled = string(b); c.fails {
					return "", workspace.ErrNoSpace
				}
				return "/x", nil
			})
			if !strings.HasPrefix(got.Text, c.head) || !strings.Contains(got.Text, c.notes) || !utf8.ValidString(got.Text) {
				t.Errorf("Shorten = %q", got.Text)
			}
			if c.notes == "" {
				if got.Text != c.all || got.Cut != 0 || got.Spilled != "" {
					t.Errorf("Shorten = %+v", got)
				}
				return
			}
			before, after, _ := strings.Cut(got.Text, "\n[")
			_, after, _ = strings.Cut(after, "]\n")
			if !strings.HasPrefix(c.all, before) || !strings.HasSuffix(c.all, after) || int64(len(before)+len(after))+got.Cut != int64(len(c.all)) || len(before)+len(after) > 300 {
				t.Errorf("Shorten = %+v", got)
			}
			known := before == c.all[:c.begin] && len(after) == c.end
			if !known && spilled != c.all[:c.begin] || (got.Spilled == "") != (c.fails || known) {
				t.Errorf("the file %q has %d bytes", got.Spilled, len(spilled))
			}
		})
	}
}

func TestRunes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ all, whole, from string }{
		{"", "", ""},
		{"abc", "abc", "abc"},
		{"a€", "a€", "a€"},
		{"a\xe2\x82", "a", "a\xe2\x82"},
		{"a\xe2", "a", "a\xe2"},
		{"\x82\xaca", "\x82\xaca", "a"},
		{"\x82\xac\xac", "\x82\xac\xac", "\x82\xac\xac"},
		{"a\xff\xff", "a\xff\xff", "a\xff\xff"},
	} {
		if got := string(scratch.WholeRunes([]byte(c.all))); got != c.whole {
			t.Errorf("WholeRunes(%q) = %q, want %q", c.all, got, c.whole)
		}
		if got := string(scratch.FromRune([]byte(c.all))); got != c.from {
			t.Errorf("FromRune(%q) = %q, want %q", c.all, got, c.from)
		}
	}
}
