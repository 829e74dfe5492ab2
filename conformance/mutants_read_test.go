package conformance_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// mutateRead is a mutant whose reads all go through change.
func mutateRead(change func(name string, data []byte) []byte) func(*hooked) {
	return func(h *hooked) {
		h.readVersion = func(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
			data, version, err := h.reference.ReadVersioned(ctx, name, limit)
			return change(name, data), version, err
		}
		h.readFile = func(ctx context.Context, name string) ([]byte, error) {
			data, err := h.reference.ReadFile(ctx, name)
			return change(name, data), err
		}
	}
}

// mutateStat is a mutant whose Stat goes through change.
func mutateStat(change func(info *workspace.FileInfo)) func(*hooked) {
	return func(h *hooked) {
		h.stat = func(ctx context.Context, name string) (workspace.FileInfo, error) {
			info, err := h.reference.Stat(ctx, name)
			change(&info)
			return info, err
		}
	}
}

func readMutants() []mutant {
	return []mutant{
		{"reads-as-text", mutateRead(func(_ string, data []byte) []byte { return bytes.ToValidUTF8(data, []byte("\ufffd")) }),
			[]string{"ReadFile/every-byte", "ReadFile/five-mebibytes", "ReadVersioned/content"}},
		{"reads-lines-as-lf", mutateRead(func(_ string, data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }),
			[]string{"ReadFile/content"}},
		{"reads-at-most-a-mebibyte", mutateRead(func(_ string, data []byte) []byte { return data[:min(len(data), 1<<20)] }),
			[]string{"ReadFile/five-mebibytes", "WriteFile/five-mebibytes", "Copy/large", "Create/large-in-parts"}},
		{"empty-is-missing", emptyIsMissing, []string{"ReadFile/empty", "WriteFile/empty", "WriteFile/nil-data"}},
		{"directory-reads-empty", directoryReadsEmpty, []string{"ReadFile/directory", "ReadVersioned/directory"}},
		{"shares-its-bytes", sharesBytes, []string{"ReadFile/bytes-are-the-callers", "ReadVersioned/bytes-are-the-callers"}},
		{"shares-its-bytes-above-4-KiB", sharesLargeBytes, []string{"ReadFile/bytes-are-the-callers", "ReadVersioned/bytes-are-the-callers"}},
		{"read-takes-a-negative-limit-for-none", negativeIsNone, []string{"ReadVersioned/negative-limit"}},
		{"reads-once", readsOnce, []string{"ReadFile/repeated"}},
		{"stat-size-of-first-write", mutateStat(func(i *workspace.FileInfo) { i.Size = min(i.Size, 5) }), []string{"Stat/size-follows", "WriteFile/new"}},
		{"stat-path-is-name", mutateStat(func(i *workspace.FileInfo) { i.Path = i.Name }), []string{"Stat/file", "Stat/directory", "Names/unusual-spaces"}},
		{"stat-root-has-no-name", mutateStat(func(i *workspace.FileInfo) { i.Name = strings.TrimPrefix(i.Name, ".") }), []string{"Stat/root", "Names/root"}},
		{"directory-has-version", mutateStat(func(i *workspace.FileInfo) { i.Version = "1" }), []string{"Stat/directory", "Symlink/stat-describes-itself"}},
		{"time-of-1970", mutateStat(func(i *workspace.FileInfo) { i.ModTime = time.Unix(0, 0) }), []string{"Stat/mod-time"}},
		{"time-of-creation", mutateWrite(timeOfCreation), []string{"Stat/mod-time-moves"}},
		{"names-in-one-letter-case", ignoresCase, []string{"Names/letter-case"}},
		{"names-without-spaces", losesCharacters(" \u00a0"), unusual("spaces")},
		{"names-without-control-characters", losesCharacters("\t\r\n\x01\x1b\x7f\u2028"), unusual("control")},
		{"names-without-shell-characters", losesCharacters("-~$`;|&!()<>#"), unusual("shell")},
		{"names-without-quotes", losesCharacters("'\"\\"), unusual("quotes")},
		{"names-without-url-characters", losesCharacters("%+?=@^,:"), unusual("url")},
		{"names-without-pattern-characters", losesCharacters("*?[]{}!"), unusual("pattern")},
		{"names-without-dots", losesCharacters("."), unusual("dots")},
		{"names-in-ascii", losesCharacters("é\u0301日本語ßİ🙂"), unusual("unicode")},
		{"names-without-noncharacters", losesCharacters("\ufffe\uffff"), unusual("code-points")},
		{"no-names-over-200-bytes", shortNames, []string{"Names/longest-element", "Names/longest-name"}},
		{"no-names-over-64-elements", mutateWrite(refusesBelow(64, fs.ErrInvalid)), []string{"Names/deep"}},
		{"deepest-name-is-unavailable", mutateWrite(refusesBelow(2000, workspace.ErrUnavailable)), []string{"Names/deepest"}},
		{"begins-with-a-file", func(h *hooked) { h.reference.put("lost+found", nil) }, []string{"Names/root-is-empty", "Glob/empty-file-system"}},
		{"resolves-to-parent", func(h *hooked) {
			h.resolve = func(_ context.Context, name string) (string, error) { return path.Dir(name), nil }
		}, []string{"Resolve/no-symlink", "Resolve/not-yet-there"}},
	}
}

func emptyIsMissing(h *hooked) {
	h.readFile = func(ctx context.Context, name string) ([]byte, error) {
		data, err := h.reference.ReadFile(ctx, name)
		if err == nil && len(data) == 0 {
			err = ops.Error(ops.ReadFile, name, fs.ErrNotExist, nil)
		}
		return data, err
	}
}

func directoryReadsEmpty(h *hooked) {
	isDir := func(ctx context.Context, name string) bool {
		info, err := h.reference.Stat(ctx, name)
		return err == nil && info.IsDir()
	}
	h.readVersion = func(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
		if isDir(ctx, name) {
			return nil, "", nil
		}
		return h.reference.ReadVersioned(ctx, name, limit)
	}
	h.readFile = func(ctx context.Context, name string) ([]byte, error) {
		data, _, err := h.readVersion(ctx, name, 0)
		return data, err
	}
}

func sharesBytes(h *hooked) {
	h.readFile = func(ctx context.Context, name string) ([]byte, error) {
		if n := h.reference.nodes[name]; n != nil && n.kind == workspace.TypeFile {
			return n.data, nil
		}
		return h.reference.ReadFile(ctx, name)
	}
	h.readVersion = func(ctx context.Context, name string, _ int64) ([]byte, workspace.Version, error) {
		data, err := h.readFile(ctx, name)
		return data, "", err
	}
}

func negativeIsNone(h *hooked) {
	read := h.readVersion
	h.readVersion = func(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
		return read(ctx, name, max(limit, 0))
	}
}

func sharesLargeBytes(h *hooked) {
	read := h.readVersion
	h.readVersion = func(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
		data, version, err := read(ctx, name, limit)
		if len(data) > 4<<10 {
			data = h.reference.nodes[name].data
		}
		return data, version, err
	}
	h.readFile = func(ctx context.Context, name string) ([]byte, error) {
		data, _, err := h.readVersion(ctx, name, 0)
		return data, err
	}
}

// timeOfCreation keeps the time of a file that is replaced.
func timeOfCreation(h *hooked, write writeFunc) writeFunc {
	return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		old, _ := h.reference.Stat(ctx, name)
		version, err := write(ctx, name, data, opts)
		h.reference.mu.Lock()
		defer h.reference.mu.Unlock()
		if n := h.reference.nodes[name]; err == nil && n != nil && !old.ModTime.IsZero() {
			n.time = old.ModTime
		}
		return version, err
	}
}

// ignoresCase takes a name that differs from an existing one in case for that.
func ignoresCase(h *hooked) {
	h.interpose(func(ctx context.Context, name string) (context.Context, string) {
		h.reference.mu.Lock()
		defer h.reference.mu.Unlock()
		found := "."
		for element := range strings.SplitSeq(name, "/") {
			for _, child := range h.reference.children(found) {
				if strings.EqualFold(child, element) {
					element = child
				}
			}
			found = workspace.Join(found, element)
		}
		if ops.ValidName(name) {
			return ctx, found
		}
		return ctx, name
	}, nil)
}

// readsOnce is a stream that is not rewound.
func readsOnce(h *hooked) {
	read := make(map[string]bool)
	h.readFile = func(ctx context.Context, name string) ([]byte, error) {
		data, err := h.reference.ReadFile(ctx, name)
		if read[name] {
			data = nil
		}
		read[name] = true
		return data, err
	}
}

func unusual(theme string) []string {
	return []string{"Names/unusual-" + theme, "Names/unusual-" + theme + "-in-search"}
}

// losesCharacters stores every name without those characters.
func losesCharacters(characters string) func(*hooked) {
	lose := func(ctx context.Context, name string) (context.Context, string) {
		elements := strings.Split(name, "/")
		for i, element := range elements {
			rest := strings.Map(func(r rune) rune {
				if strings.ContainsRune(characters, r) {
					return -1
				}
				return r
			}, element)
			if rest != "" {
				elements[i] = rest
			}
		}
		return ctx, strings.Join(elements, "/")
	}
	return func(h *hooked) { h.interpose(lose, nil) }
}

// refusesBelow fails to write files below more than most directories.
func refusesBelow(most int, kind error) func(*hooked, writeFunc) writeFunc {
	return func(_ *hooked, write writeFunc) writeFunc {
		return func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
			if strings.Count(name, "/") > most {
				return "", ops.Error(ops.WriteFile, name, kind, nil)
			}
			return write(ctx, name, data, opts)
		}
	}
}

func shortNames(h *hooked) {
	h.writeFile = func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if utf8.RuneCountInString(name) > 200 {
			return "", ops.Error(ops.WriteFile, name, workspace.ErrUnavailable, io.ErrShortWrite)
		}
		return h.reference.WriteFile(ctx, name, data, opts)
	}
}
