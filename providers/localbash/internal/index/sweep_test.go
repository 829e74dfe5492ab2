package index

import (
	"bytes"
	"context"
	"testing"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
)

// fakeDir is a directory with a text for each file, which counts what is read.
type fakeDir struct {
	Dir
	children []scan.Child
	stamps   map[string]Stamp
	read     int
}

func (d *fakeDir) List(context.Context) ([]scan.Child, error) { return d.children, nil }

func (d *fakeDir) StampOf(name string) (Stamp, error) { return d.stamps[name], nil }

func (d *fakeDir) Read(_ context.Context, name string, buf []byte, _ int64) ([]byte, Stamp, error) {
	d.read++
	return append(buf, bytes.Repeat([]byte("x"), int(d.stamps[name].Size))...), d.stamps[name], nil
}

// TestSweepKeeps sweeps a directory: what has not changed stays, and is not computed again, and
// any change is seen.
func TestSweepKeeps(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(d *fakeDir, l *Listing)
		kept   bool
		read   int
	}{
		"nothing":      {func(*fakeDir, *Listing) {}, true, 0},
		"a stamp":      {func(d *fakeDir, _ *Listing) { d.stamps["b"] = Stamp{Size: 4, Changed: 2} }, false, 1},
		"a name":       {func(d *fakeDir, _ *Listing) { d.children[2].Name, d.stamps["c"] = "c", d.stamps["b"] }, false, 1},
		"a type":       {func(d *fakeDir, _ *Listing) { d.children[1].Type = workspace.TypeOther }, false, 0},
		"a file less":  {func(d *fakeDir, _ *Listing) { d.children = d.children[:2] }, false, 0},
		"an event":     {func(_ *fakeDir, l *Listing) { l.setStale(0) }, false, 1},
		"a young file": {func(_ *fakeDir, l *Listing) { l.files[0].facts &^= mappedSettled }, false, 1},
		"a hard link":  {func(d *fakeDir, _ *Listing) { d.stamps["a"] = Stamp{Size: 4, Changed: 1, Linked: true} }, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := Stamp{ID: sys.FileID{}, Size: 4, Changed: 1}
			d := &fakeDir{
				children: []scan.Child{{Name: "a", Type: workspace.TypeFile}, {Name: "ab", Type: workspace.TypeDirectory}, {Name: "b", Type: workspace.TypeFile}},
				stamps:   map[string]Stamp{"a": old, "b": old},
			}
			known, err := (&reader{dir: d, room: 1 << 20}).listing(t.Context())
			if err != nil || d.read != 2 {
				t.Fatalf("listing = %v, and %d files were read, want 2", err, d.read)
			}
			d.read = 0
			test.change(d, known)
			got, err := (&reader{dir: d, known: known, sweep: true, room: 1 << 20}).listing(t.Context())
			if err != nil || (got == known) != test.kept || d.read != test.read {
				t.Errorf("listing kept what was known: %t, %v, and read %d files, want %t and %d", got == known, err, d.read, test.kept, test.read)
			}
		})
	}
}
