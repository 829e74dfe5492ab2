package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// A program holds a Workspace, whichever file system is below it.
func Example() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "2026/todo.md", []byte("buy milk\ncall home\n"), nil); err != nil {
		log.Fatal(err)
	}
	infos, err := ws.Ls(ctx, "2026", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, info := range infos {
		fmt.Println(info.Path, info.Size)
	}
	result, err := ws.Grep(ctx, "milk|bread", &workspace.GrepOptions{Path: "2026"})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Matches {
		fmt.Printf("%s:%d: %s\n", m.Path, m.LineNumber, m.Line)
	}
	// Output:
	// 2026/todo.md 19
	// 2026/todo.md:1: buy milk
}

// Edit reads, changes and writes again until nobody has changed the file in between, so
// that no change is lost.
func ExampleWorkspace_Edit() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "todo.md", []byte("buy milk\n"), nil); err != nil {
		log.Fatal(err)
	}
	data, _, err := ws.Edit(ctx, "todo.md", func(old []byte) ([]byte, error) {
		return bytes.ReplaceAll(old, []byte("milk"), []byte("bread")), nil
	})
	fmt.Printf("%s%v\n", data, err)
	// Output:
	// buy bread
	// <nil>
}

// An optional operation is a method of Workspace and a function of the package, which
// does without the store's help where it has none.
func ExampleWalk() {
	ctx := context.Background()
	fsys := memory.New(nil)
	for _, name := range []string{"a/b.txt", "a/c/d.txt"} {
		if _, err := fsys.WriteFile(ctx, name, nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	err := workspace.Walk(ctx, fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		fmt.Println(info.Path)
		return err
	})
	fmt.Println(err)
	// Output:
	// a
	// a/b.txt
	// a/c
	// a/c/d.txt
	// <nil>
}

// A write can depend on what is there: on no file, or on the version that was read.
func ExampleWriteOptions() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	version, err := ws.WriteFile(ctx, "todo.md", []byte("buy milk\n"), &workspace.WriteOptions{IfNotExist: true})
	if err != nil {
		log.Fatal(err)
	}
	_, err = ws.WriteFile(ctx, "todo.md", nil, &workspace.WriteOptions{IfNotExist: true})
	fmt.Println(errors.Is(err, fs.ErrExist))

	// Somebody else writes, so the file has another version.
	if _, err := ws.WriteFile(ctx, "todo.md", []byte("buy bread\n"), nil); err != nil {
		log.Fatal(err)
	}
	_, err = ws.WriteFile(ctx, "todo.md", []byte("buy oats\n"), &workspace.WriteOptions{IfVersion: version})
	fmt.Println(errors.Is(err, workspace.ErrConflict))
	// Output:
	// true
	// true
}

// A file that is written as a stream is visible after Commit, and not before.
func ExampleWriter() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	w, err := ws.Create(ctx, "log.txt", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close() // discards what was not committed
	fmt.Fprintln(w, "begin")
	_, err = ws.Stat(ctx, "log.txt")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	fmt.Fprintln(w, "end")
	if _, err := w.Commit(); err != nil {
		log.Fatal(err)
	}
	stream, info, err := ws.Open(ctx, "log.txt", &workspace.OpenOptions{Offset: 6})
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	part, err := io.ReadAll(stream)
	fmt.Printf("%d bytes, from byte 6 on %q, %v\n", info.Size, part, err)
	// Output:
	// true
	// 10 bytes, from byte 6 on "end\n", <nil>
}

// A watch reports changes, whoever makes them, until its context ends.
func ExampleEvent() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ws := workspace.New("notes", memory.New(nil), nil)
	events, err := ws.Watch(ctx, ".", nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := ws.WriteFile(ctx, "todo.md", nil, nil); err != nil {
		log.Fatal(err)
	}
	event := <-events
	fmt.Println(event.Op, event.Path)
	// Output: create todo.md
}

// Files that a search could not look into are in its result.
func ExampleGrepResult() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	for name, content := range map[string]string{"a.txt": "milk\nbread\noats\n", "b.png": "\x89PNG\x00bread"} {
		if _, err := ws.WriteFile(ctx, name, []byte(content), nil); err != nil {
			log.Fatal(err)
		}
	}
	result, err := ws.Grep(ctx, "^b", &workspace.GrepOptions{Before: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Matches {
		fmt.Printf("%s:%d: %s, after %q\n", m.Path, m.LineNumber, m.Line, m.Before)
	}
	for _, s := range result.Skipped {
		fmt.Println(s.Path, s.Reason)
	}
	// Output:
	// a.txt:2: bread, after ["milk"]
	// b.png binary
}

// A listing in pages: each continues after the last path of the one before.
func ExampleGlobOptions() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	for _, name := range []string{"a.md", "b/c.md", "d.md"} {
		if _, err := ws.WriteFile(ctx, name, nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	opts := &workspace.GlobOptions{Limit: 2}
	for {
		paths, err := ws.Glob(ctx, "**/*.md", opts)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(paths)
		if len(paths) < opts.Limit {
			break
		}
		opts.After = paths[len(paths)-1]
	}
	// Output:
	// [a.md b/c.md]
	// [d.md]
}

// A program asks a workspace what it can do, and does not find out by an error.
func ExampleCapabilities() {
	caps := workspace.New("notes", memory.New(nil), nil).Capabilities()
	fmt.Println(caps.Write, caps.ConditionalWrite, caps.Watch, caps.Run)
	// Output: true true native false
}
