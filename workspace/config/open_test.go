package config_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/workspace/kind"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

func parse(t testing.TB, dir, text string) *config.Config {
	t.Helper()
	c, err := config.Parse([]byte(text), &config.Options{Dir: dir, Env: testEnv})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t testing.TB, c *config.Config, names ...string) *config.Workspaces {
	t.Helper()
	opened, err := c.Open(context.Background(), workspacekit.NewRegistry(), names...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

func lookup(t testing.TB, opened *config.Workspaces, name string) *config.Workspace {
	t.Helper()
	ws, ok := opened.Lookup(name)
	if !ok {
		t.Fatalf("there is no workspace %q", name)
	}
	return ws
}

// TestOpenSettings tests that what a file says holds for what it opens.
func TestOpenSettings(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "src", "a.go"), "package a")
	writeFile(t, filepath.Join(dir, "key.pem"), "secret")
	writeFile(t, filepath.Join(dir, "big.md"), strings.Repeat("x", 2<<20))
	opened := open(t, parse(t, dir, `
workspaces:
  repo:
    provider: { kind: localbash, root: . }
    fs: { maxFileSizeMb: 1, allowedPaths: ["src/**", "*.md"] }
    requires: [write, watch, conditionalWrite]
  frozen:
    provider: { kind: memory, seed: src }
    fs: { readOnly: true }
  guarded:
    provider: { kind: localbash, root: . }
    fs: { deniedPaths: ["*.PEM"], readOnlyPaths: [src] }
`))
	repo, frozen, guarded := lookup(t, opened, "repo"), lookup(t, opened, "frozen"), lookup(t, opened, "guarded")
	ctx := t.Context()
	if _, err := repo.ReadFile(ctx, "key.pem"); tools.CodeOf(err) != tools.CodePolicy {
		t.Errorf("ReadFile(key.pem) = %v, want %s", err, tools.CodePolicy)
	}
	for _, err := range []error{
		second(guarded.ReadFile(ctx, "key.pem")),
		second(guarded.WriteFile(ctx, "src/a.go", nil, nil)),
		guarded.Rm(ctx, "src", &workspace.RmOptions{Recursive: true}),
	} {
		if tools.CodeOf(err) != tools.CodePolicy {
			t.Errorf("a call with a guarded name = %v, want %s", err, tools.CodePolicy)
		}
	}
	if data, err := guarded.ReadFile(ctx, "src/a.go"); string(data) != "package a" {
		t.Errorf("ReadFile(src/a.go) = %q, %v", data, err)
	}
	if _, err := repo.ReadFile(ctx, "big.md"); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("ReadFile(big.md) = %v, want %v", err, workspace.ErrTooLarge)
	}
	if _, err := repo.WriteFile(ctx, "src/b.go", []byte("package b"), nil); err != nil {
		t.Errorf("WriteFile(src/b.go) = %v", err)
	}
	if data, err := frozen.ReadFile(ctx, "a.go"); string(data) != "package a" {
		t.Errorf("ReadFile(a.go) = %q, %v", data, err)
	}
	if _, err := frozen.WriteFile(ctx, "a.go", nil, nil); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("WriteFile(a.go) = %v, want %v", err, workspace.ErrPolicy)
	}
	if frozen.Capabilities().Write {
		t.Error("a workspace that is read-only has the capability to write")
	}
	if repo.Kind() != "localbash" || frozen.Kind() != "memory" {
		t.Errorf("kinds %s and %s, want localbash and memory", repo.Kind(), frozen.Kind())
	}
}

// second returns the error of a call that returns something else, too.
func second(_ any, err error) error { return err }

func TestOpenNames(t *testing.T) {
	c := parse(t, t.TempDir(), "workspaces:\n  one: mem://\n  two: mem://\n  broken: {provider: {kind: localbash, root: ./none}}\n")
	var got []string
	for _, ws := range open(t, c, "two", "one").All() {
		got = append(got, ws.Name())
	}
	if diff := cmp.Diff([]string{"one", "two"}, got); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
	_, err := c.Open(t.Context(), workspacekit.NewRegistry(), "tow")
	const want = `workspace.yaml has no workspace "tow": did you mean "two"?`
	if err == nil || err.Error() != want {
		t.Errorf("Open(tow) = %v, want %s", err, want)
	}
}

// counted is a file system that tells when it is closed.
type counted struct {
	workspace.FileSystem
	open *int
}

func (c counted) Close() error {
	*c.open--
	return nil
}

// newCounting returns a registry with a kind that counts what is open, and that
// opens no more than a given number.
func newCounting(t *testing.T, most int) (*config.Registry, *int) {
	t.Helper()
	r, count := workspacekit.NewRegistry(), new(int)
	err := r.Register("counted", kind.Kind{
		Options: struct{}{},
		Open: func(context.Context, kind.Input) (workspace.FileSystem, error) {
			if *count == most {
				return nil, fmt.Errorf("no more: %w", workspace.ErrUnavailable)
			}
			*count++
			return counted{memory.New(nil), count}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, count
}

// TestOpenAllOrNone tests that what was opened is closed if something fails.
func TestOpenAllOrNone(t *testing.T) {
	const two = "workspaces:\n  one: {provider: {kind: counted}}\n  two: {provider: {kind: counted}}\n"
	tests := []struct {
		name, text string
		want       error
	}{
		{"provider-fails", two + "  three: {provider: {kind: counted}}\n", workspace.ErrUnavailable},
		{"capability-missing", "workspaces:\n  one: {provider: {kind: counted}}\n  two:\n    provider: {kind: counted}\n    requires: [watch, move]\n", errors.ErrUnsupported},
		{"folder-missing", two + "  three: {provider: {kind: localbash, root: none}}\n", fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, count := newCounting(t, 2)
			opened, err := parse(t, t.TempDir(), tt.text).Open(t.Context(), r)
			if opened != nil || !errors.Is(err, tt.want) {
				t.Errorf("Open = %v, %v, want nil, %v", opened, err, tt.want)
			}
			if *count != 0 {
				t.Errorf("%d workspaces are still open", *count)
			}
		})
	}
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r, count := newCounting(t, 2)
		if _, err := parse(t, "", two).Open(ctx, r); !errors.Is(err, context.Canceled) || *count != 0 {
			t.Errorf("Open = %v with %d open, want %v with none", err, *count, context.Canceled)
		}
	})
	t.Run("closed-with-the-others", func(t *testing.T) {
		r, count := newCounting(t, 2)
		opened, err := parse(t, "", two).Open(t.Context(), r)
		if err != nil || *count != 2 {
			t.Fatalf("Open = %v with %d open, want 2", err, *count)
		}
		if err := opened.Close(); err != nil || *count != 0 {
			t.Errorf("Close = %v with %d open, want none", err, *count)
		}
	})
}

func TestOpenRequires(t *testing.T) {
	c := parse(t, "", "workspaces:\n  main:\n    provider: { kind: memory }\n    requires: [watch, write, move]\n")
	_, err := c.ReadOnly().Open(t.Context(), workspacekit.NewRegistry())
	const want = `workspace.yaml:4:15: the workspace "main" requires what its provider (memory) and its settings do not give: write, move`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Open = %v, want %s", err, want)
	}
}

// TestOpenErrorsTellNoValues tests that the error of a provider shows the names
// of variables in place of their values, however the provider spells them.
func TestOpenErrorsTellNoValues(t *testing.T) {
	for _, secret := range []string{"hunter2", "./hunter2/", `quo"te`, "sp ace", "per/cent%", "7"} {
		c, err := config.Parse([]byte(`workspaces: {main: {provider: {kind: leaky, text: "a-${SECRET}-b"}}}`),
			&config.Options{Env: func(string) (string, bool) { return secret, true }})
		if err != nil {
			t.Fatal(err)
		}
		r := &config.Registry{}
		err = r.Register("leaky", kind.Kind{
			Options: probeOptions{},
			Open: func(_ context.Context, in kind.Input) (workspace.FileSystem, error) {
				var o probeOptions
				if err := in.Decode(&o); err != nil {
					return nil, err
				}
				inner := ops.Error("open", filepath.Join("a", secret, "b"), fs.ErrNotExist, nil)
				return nil, kind.KeyError("text", fmt.Errorf("%q %s %s %s: %w", o.Text, o.Text,
					url.PathEscape(secret), url.QueryEscape(secret), inner))
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Open(t.Context(), r)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open = %v, want %v", err, fs.ErrNotExist)
		}
		var broken *config.Error
		if !errors.As(err, &broken) {
			t.Fatalf("Open = %v, want a *config.Error", err)
		}
		for _, spelled := range []string{secret, filepath.Clean(secret), url.PathEscape(secret), url.QueryEscape(secret)} {
			if strings.Contains(broken.Problems[0].Text, spelled) {
				t.Errorf("Open shows %q: %v", spelled, err)
			}
		}
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			t.Errorf("Open lets the error of the provider be had: %v", pathError)
		}
	}
}

// manyOf returns a file of n workspaces.
func manyOf(n int, provider string) []byte {
	var b strings.Builder
	b.WriteString("workspaces:\n")
	for i := range n {
		fmt.Fprintf(&b, "  w%d: { provider: %s }\n", i, provider)
	}
	return []byte(b.String())
}

// TestOpenMany shows what many workspaces in one file cost.
func TestOpenMany(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: it opens hundreds of workspaces")
	}
	for _, tt := range []struct {
		name, provider string
		n              int
	}{
		{"memory", "{ kind: memory }", 10_000},
		{"local", "{ kind: localbash, root: . }", 1_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := manyOf(tt.n, tt.provider)
			goroutines := runtime.NumGoroutine()
			before, start := heap(), time.Now()
			c, err := config.Parse(text, &config.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			parsed, parsedHeap := time.Since(start), heap()
			opened := open(t, c)
			each := (heap() - parsedHeap) / int64(tt.n)
			t.Logf("%d workspaces: read in %v (%d KiB kept), opened in %v (%d bytes each)", tt.n, parsed,
				(parsedHeap-before)>>10, time.Since(start)-parsed, each)
			if each > 6<<10 {
				t.Errorf("a workspace keeps %d bytes: what all have in common is not shared", each)
			}
			if len(opened.All()) != tt.n {
				t.Errorf("%d are open, want %d", len(opened.All()), tt.n)
			}
			if now := runtime.NumGoroutine(); now > goroutines {
				t.Errorf("opening started %d goroutines", now-goroutines)
			}
		})
	}
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
