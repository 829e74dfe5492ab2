package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// search is one pattern, and what grep is to do with it. options are letters
// that are added to those of grep.
type search struct {
	what, pattern, options string
	limit                  int // of matches; 0 for none
}

// bar is that of a search that does what grep does. The first matches that grep
// finds are not the first in the order of their paths.
func (s search) bar() bar {
	if s.limit > 0 {
		return 0
	}
	return atMost(1.5)
}

// atMost returns the bar for what may take so many times theirs.
func atMost(times float64) bar { return bar(1 / times) }

// searches are the patterns: what they have in common with the text decides how much of
// it grep has to look at.
func searches() []search {
	return []search{
		{"a rare word", "readGCStats", "", 0},
		{"a common word", "interface", "", 0},
		{"a regular expression", `func \w+Context\(`, "", 0},
		{"either case", "(?i)readdeadline", "i", 0},
		{"no word", "[A-Z]{3,}_[0-9]+", "", 0},
		{"the first 100 of a common word", "return", "", 100},
	}
}

// benchGrep measures searches of a tree of about 10,000 files against one run of
// grep in the container. The first search of a workspace finds out, too, which
// files are binary, and opens a second shell. Each search must find what a local
// folder's finds.
func benchGrep(ctx context.Context, b *box, t *table, dir string) error {
	local, err := localbash.Open(dir, nil)
	if err != nil {
		return err
	}
	defer local.Close()
	archive, err := pack(dir)
	if err != nil {
		return err
	}
	if err := b.files.ImportTar(ctx, "src", archive, nil); err != nil {
		return err
	}
	for _, s := range searches() {
		want, err := local.Grep(ctx, s.pattern, &workspace.GrepOptions{MaxResults: s.limit})
		if err != nil {
			return err
		}
		if err := b.again(ctx, t, s, want); err != nil {
			return err
		}
		if err := b.first(ctx, t, s, want); err != nil {
			return err
		}
	}
	return nil
}

// again compares searches by a workspace that has been searched before.
func (b *box) again(ctx context.Context, t *table, s search, want *workspace.GrepResult) error {
	return t.compare(fmt.Sprintf("Grep for %s, again", s.what), s.bar(),
		contender{name: "container", turns: 1, do: func() error { return grep(ctx, b.files, s, want) }}, b.peer(ctx, s))
}

// first compares the first searches of workspaces that have just been opened.
// Opening them is not counted. Each turn has a workspace of its own, since a
// second search would know which files are binary.
func (b *box) first(ctx context.Context, t *table, s search, want *workspace.GrepResult) error {
	var f *container.FS
	fresh := func() (err error) {
		if f != nil {
			err = f.Close()
		}
		if err == nil {
			f, err = b.attach(ctx)
		}
		return err
	}
	err := t.compare(fmt.Sprintf("Grep for %s, the first", s.what), s.bar(), contender{
		name: "container", turns: 1, before: fresh, do: func() error { return grep(ctx, f, s, want) },
	}, b.peer(ctx, s))
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}

// peer is one run of grep in the container. With a limit, head ends grep early,
// as the limit ends ours.
func (b *box) peer(ctx context.Context, s search) contender {
	options := "-rnE" + s.options
	command := []string{"grep", options, "-e", strings.TrimPrefix(s.pattern, "(?i)"), "src"}
	if s.limit > 0 {
		options += " | head -n 100"
		command = append([]string{"sh", "-c", fmt.Sprintf(`"$@" | head -n %d`, s.limit), "sh"}, command...)
	}
	return contender{name: "docker exec grep " + options, turns: 1, do: func() error {
		return second(b.exec(ctx, command...))
	}}
}

// grep searches, and sees to it that the result is the wanted one.
func grep(ctx context.Context, f *container.FS, s search, want *workspace.GrepResult) error {
	got, err := f.Grep(ctx, s.pattern, &workspace.GrepOptions{Path: "src", MaxResults: s.limit})
	if err != nil {
		return err
	}
	for i := range got.Matches {
		got.Matches[i].Path = strings.TrimPrefix(got.Matches[i].Path, "src/")
	}
	for i := range got.Skipped {
		got.Skipped[i].Path = strings.TrimPrefix(got.Skipped[i].Path, "src/")
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("Grep(%q) has %d matches and %d files skipped, and a local folder's %d and %d, or others",
			s.pattern, len(got.Matches), len(got.Skipped), len(want.Matches), len(want.Skipped))
	}
	return nil
}

// pack returns a tar archive of a folder.
func pack(dir string) (*bytes.Buffer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		return nil, err
	}
	return &b, w.Close()
}
