package container_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// hostileNames are names that a shell, a program's options or the protocol
// might mistake for something else.
func hostileNames() []string {
	return []string{
		"-", "--", "-rf", "-n", "-e", "--help", "--version", "-exec", "!", "(", ")", "-o", "-print", "-delete",
		" ", "  ", " a", "a ", "a b", "\t", "\n", "a\nb", "\n\n", "\r", "a\r\nb", "\v", "\f", "\x01", "\x1b[2J", "\x7f",
		"'", "''", `"`, `""`, `\`, `\\`, `\n`, "it's", "`id`", "$(id)", "$HOME", "${IFS}", "$", "$$", "$?", "%s", "%n%n%n", "%", `\000`, `\x41`,
		"*", "?", "[a]", "[", "]", "{a,b}", "~", "~root", "#", ";", ";id", "&", "&&", "|", "||", "<", ">", "> x", "<(id)", "!!",
		"...", "..a", "a..", ".hidden", "a\u2215b", "con", "NUL", "request", "exit", "EOF", "0", "+",
		"\u00e9", "e\u0301", "\u65e5\u672c\u8a9e", "\U0001f642", "\u202e", "\ufeff", "\u2028", "\u0401\u0402\u0403\u0404\u0405\u0406\u0407\u0408",
		strings.Repeat("n", 255), strings.Repeat("'", 255), strings.Repeat("\n", 255), strings.Repeat("\u00e9", 127),
	}
}

// hostileContents are bytes that might be taken for protocol or for shell.
func hostileContents() []string {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return []string{
		"", "-", "-rf", "--", "-v x", "\n", "\n\n", "\x00", "\x00\n", "x", "no line break", "exit\n", "exit 1\nexit 1\n", "'", "'; exit; '", `\`, `\\`, "%", "%s%n", "%%", `\000`, `\n`,
		"$(id)`id`$HOME", "request 0 exit\n", "\n0123456789abcdef0123456789abcdef 0\n", "\n0123456789abcdef0123456789abcdef +\n", "EOF\n", "\r\n",
		string(every), strings.Repeat(string(every), 60), "\xff\xfe\xfd", "\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89", strings.Repeat("'", 16<<10), strings.Repeat("\x00", 16<<10),
		strings.Repeat("%", 16<<10+1), strings.Repeat("exit\n", 100_000), strings.Repeat("\x00\n'\\%", 1<<20),
	}
}

func TestHostileNames(t *testing.T) {
	exhaustive.Long(t)
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		for _, name := range hostileNames() {
			for _, full := range []string{name, "in/" + name, "under/" + name + "/file"} {
				roundTrip(t, f, full, "content of "+full)
			}
		}
		names := hostileNames()
		slices.Sort(names)
		infos, err := f.Ls(t.Context(), "in", nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, info := range infos {
			got = append(got, info.Name)
		}
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("Ls of them (-want +got):\n%s", diff)
		}
		result, err := f.Grep(t.Context(), "content of in/", &workspace.GrepOptions{Path: "in"})
		if err != nil {
			t.Fatal(err)
		}
		if found := matched(result); len(found) != len(names) {
			t.Errorf("Grep finds %d of the %d files: %q", len(found), len(names), found)
		}
		for _, name := range names {
			if err := f.Rm(t.Context(), "under/"+name, &workspace.RmOptions{Recursive: true}); err != nil {
				t.Errorf("Rm(%q, Recursive) = %v, want nil", "under/"+name, err)
			}
		}
		if infos, err := f.Ls(t.Context(), "under", nil); err != nil || len(infos) > 0 {
			t.Errorf("Ls after each was removed = %v, %v, want nothing", infos, err)
		}
	})
}

// matched returns the names of the files with matches.
func matched(result *workspace.GrepResult) []string {
	var found []string
	for _, m := range result.Matches {
		if len(found) == 0 || found[len(found)-1] != m.Path {
			found = append(found, m.Path)
		}
	}
	return found
}

func TestHostileContents(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		for i, content := range hostileContents() {
			roundTrip(t, f, "file", content)
			roundTrip(t, f, "new/"+strconv.Itoa(i), content)
		}
	})
}

// roundTrip writes a file and reads it by every way.
func roundTrip(t testing.TB, f *container.FS, name, content string) {
	t.Helper()
	ctx := context.Background()
	version, err := f.WriteFile(ctx, name, []byte(content), nil)
	if err != nil {
		t.Errorf("WriteFile(%q, %d bytes, %.20q) = %v, want nil", name, len(content), content, err)
		return
	}
	data, err := f.ReadFile(ctx, name)
	if err != nil || string(data) != content {
		t.Errorf("ReadFile(%q) = %d bytes, %.20q, %v, want the %d bytes %.20q", name, len(data), data, err, len(content), content)
	}
	data, read, err := f.ReadVersioned(ctx, name, 0)
	if err != nil || string(data) != content || read != version {
		t.Errorf("ReadVersioned(%q) = %d bytes, version %q, %v, want %d and %q", name, len(data), read, err, len(content), version)
	}
	if info, err := f.Stat(ctx, name); err != nil || info.Size != int64(len(content)) || info.Version != version {
		t.Errorf("Stat(%q) = %+v, %v, want %d bytes of version %q", name, info, err, len(content), version)
	}
}

// TestNamesFromInside has names in the container that no caller could give.
func TestNamesFromInside(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		r.run(t, "sh", "-c", `cd "$1" && mkdir dir && touch "$(printf 'bad\377name')" "$(printf 'dir/\200')" good dir/good`, "sh", f.Root())
		got, err := f.Glob(t.Context(), "**", nil)
		if want := []string{"dir/good", "good"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Glob beside names that are not UTF-8 = %q, %v, want %q", got, err, want)
		}
		if err := f.Rm(t.Context(), "dir", &workspace.RmOptions{Recursive: true}); err != nil {
			t.Errorf("Rm of a directory with such a name = %v, want nil", err)
		}
	})
}

func TestHundredMebibytes(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: it writes 100 MiB")
	}
	f := places()[0].start(t).open(t)
	content := bytes.Repeat([]byte("0123456789abcd\n\x00"), 100<<20/16)
	if _, err := f.WriteFile(t.Context(), "large", content, nil); err != nil {
		t.Fatal(err)
	}
	data, err := f.ReadFile(t.Context(), "large")
	if err != nil || !bytes.Equal(data, content) {
		t.Errorf("ReadFile = %d bytes, %v, want the %d that were written", len(data), err, len(content))
	}
}

func TestReservedNames(t *testing.T) {
	f := places()[0].start(t).open(t)
	for _, name := range []string{".workspacekit-tmp-x", "dir/.workspacekit-tmp-lock", ".workspacekit-tmp-/x"} {
		if _, err := f.WriteFile(t.Context(), name, nil, nil); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("WriteFile(%q) = %v, want %q", name, err, fs.ErrInvalid)
		}
	}
}

func FuzzNamesAndContents(f *testing.F) {
	exhaustive.NotShort(f, "writes 100 files")
	for _, name := range hostileNames() {
		f.Add(name, []byte(name))
	}
	for _, content := range hostileContents() {
		if len(content) < 1<<10 {
			f.Add("file", []byte(content))
		}
	}
	fsys := open(f, &container.Options{Executor: container.Command{}, Root: f.TempDir()})
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if !ops.ValidName(name) || name == "." || strings.Contains(name, ".workspacekit-tmp-") || len(name) > 1000 {
			if _, err := fsys.WriteFile(t.Context(), name, content, nil); err == nil && len(name) <= 1000 {
				t.Errorf("WriteFile(%q) = nil, want an error", name)
			}
			return
		}
		roundTrip(t, fsys, name, string(content))
		top, _, _ := strings.Cut(name, "/")
		if err := fsys.Rm(t.Context(), top, &workspace.RmOptions{Recursive: true}); err != nil {
			t.Errorf("Rm(%q) = %v, want nil", top, err)
		}
	})
}

// TestSymlinkToLongName follows symlinks to names that no directory can have in it.
func TestSymlinkToLongName(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		version, err := f.WriteFile(t.Context(), "file", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, target := range []string{strings.Repeat("a", 256), strings.Repeat("ä", 128), "new/" + strings.Repeat("a", 300) + "/new", "file" + strings.Repeat("a", 300)} {
			link := fmt.Sprint("link", i)
			r.symlink(t, f, target, link)
			for _, name := range []string{link, link + "/below"} {
				calls := map[string]func() error{
					"read_file":  func() error { return second(f.ReadFile(t.Context(), name)) },
					"open":       func() error { _, _, err := f.Open(t.Context(), name, &workspace.OpenOptions{Offset: 1}); return err },
					"write_file": func() error { return second(f.WriteFile(t.Context(), name, []byte("x"), nil)) },
					"create": func() error {
						w, err := f.Create(t.Context(), name, nil)
						if err != nil {
							return err
						}
						defer w.Close()
						if _, err := w.Write(make([]byte, 3<<20)); err != nil {
							return err
						}
						return second(w.Commit())
					},
					"ls":    func() error { return second(f.Ls(t.Context(), name, nil)) },
					"mkdir": func() error { return f.Mkdir(t.Context(), name, &workspace.MkdirOptions{Recursive: true}) },
					"walk": func() error {
						return f.Walk(t.Context(), name, nil, func(workspace.FileInfo, error) error { return nil })
					},
					"grep": func() error { return second(f.Grep(t.Context(), "x", &workspace.GrepOptions{Path: name})) },
					"glob": func() error { return second(f.Glob(t.Context(), "*", &workspace.GlobOptions{Dir: name})) },
					"copy": func() error { return second(f.Copy(t.Context(), name, "copy")) },
					"run": func() error {
						return second(f.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}, Dir: name}))
					},
				}
				if name != link {
					calls["stat"] = func() error { return second(f.Stat(t.Context(), name)) }
					calls["rm"] = func() error { return f.Rm(t.Context(), name, nil) }
					calls["move"] = func() error { return f.Move(t.Context(), "file", name) }
				} else {
					calls["if_version"] = func() error {
						return second(f.WriteFile(t.Context(), name, nil, &workspace.WriteOptions{IfVersion: version}))
					}
				}
				for op, call := range calls {
					if err := call(); !errors.Is(err, fs.ErrInvalid) || strings.Contains(err.Error(), "File name") {
						t.Errorf("%s of %q to %.20q = %v, want %v", op, name, target, err, fs.ErrInvalid)
					}
				}
			}
			if _, err := f.Stat(t.Context(), link); err != nil {
				t.Errorf("Stat(%q) = %v, want nil", link, err)
			}
			if _, err := f.WriteFile(t.Context(), link, nil, &workspace.WriteOptions{IfNotExist: true}); !errors.Is(err, fs.ErrExist) {
				t.Errorf("WriteFile(%q, IfNotExist) = %v, want %v", link, err, fs.ErrExist)
			}
			if err := f.Move(t.Context(), link, "moved"); err != nil {
				t.Errorf("Move(%q) = %v, want nil", link, err)
			}
			if err := f.Rm(t.Context(), "moved", nil); err != nil {
				t.Errorf("Rm(%q) = %v, want nil", "moved", err)
			}
		}
		if left := r.run(t, "ls", "-A", f.Root()); left != "file\n" {
			t.Errorf("calls that were refused left %q", left)
		}
	})
}
