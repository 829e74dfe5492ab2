package config_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/workspace/kind"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// A kind that does not say what it uses needs the user's trust, and with that,
// or named, the file opens it.
func TestTrustOfUnknownKind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, config.FileName)
	writeFile(t, path, "workspaces: {main: {provider: {kind: custom}}}\n")
	store := config.NewTrustStore(filepath.Join(dir, "state", "trusted.json"))
	if err := openCustom(t, path, store); !errors.Is(err, config.ErrUntrusted) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Open before the file is trusted = %v, want %v", err, config.ErrUntrusted)
	}
	if err := openCustom(t, path, nil); err != nil {
		t.Errorf("Open of a file that was named = %v", err)
	}
	trust(t, store, path)
	if err := openCustom(t, path, store); err != nil {
		t.Errorf("Open of a trusted file = %v", err)
	}
	writeFile(t, path, "workspaces: {main: {provider: {kind: custom}}} \n")
	if err := openCustom(t, path, store); !errors.Is(err, config.ErrUntrusted) {
		t.Errorf("Open after one more byte = %v, want %v", err, config.ErrUntrusted)
	}
}

// TestTrustOfVariables tests that a file that nobody named needs the user's trust for each variable
// of the environment, set or not: an error of a policy, or the name of a tool, would show its value
// to an agent, and what the file uses would change with it.
func TestTrustOfVariables(t *testing.T) {
	t.Parallel()
	env := func(name string) (string, bool) {
		value, set := map[string]string{"TOKEN": "Hunter2", "EMPTY": ""}[name]
		return value, set
	}
	for file, want := range map[string][]string{
		"workspaces: {main: {provider: mem://, fs: {allowedPaths: [\"${TOKEN}/**\", \"${TOKEN}\"]}}}\n":     {"TOKEN"},
		"workspaces: {main: {provider: mem://}}\ntools: {naming: \"${TOKEN:-x}_{op}\"}\n":                   {"TOKEN"},
		"workspaces: {main: {provider: \"mem://\", fs: {allowedPaths: [\"$${TOKEN}\"]}}}\n":                 nil,
		"workspaces: {main: {provider: {kind: localbash, root: \"${SUB:-.}${EMPTY}\"}}}\n":                  {"SUB", "EMPTY"},
		"workspaces: {main: {provider: mem://}}\nprotectConfig: \"${PROTECT:-true}\"\n":                     {"PROTECT"},
		"workspaces: {main: {provider: mem://, fs: {allowedPaths: &a [\"${SUB:-a}\"], deniedPaths: *a}}}\n": {"SUB"},
	} {
		path := filepath.Join(t.TempDir(), config.FileName)
		writeFile(t, path, file)
		c, err := config.Load(path, &config.Options{Trust: config.NewTrustStore(path + ".json"), Env: env})
		if err != nil {
			t.Fatal(err)
		}
		var wanted []config.Grant
		for _, name := range want {
			wanted = append(wanted, config.Grant{Workspace: "main", Text: "the variable " + name + " of the environment"})
		}
		grants, err := c.Grants(t.Context(), workspacekit.NewRegistry())
		if diff := cmp.Diff(wanted, grants); err != nil || diff != "" {
			t.Errorf("Grants of %q: %v (-want +got):\n%s", file, err, diff)
		}
		opened, err := c.Open(t.Context(), workspacekit.NewRegistry())
		if err == nil {
			opened.Close()
		}
		if errors.Is(err, config.ErrUntrusted) != (want != nil) || err != nil && strings.Contains(err.Error(), "Hunter2") {
			t.Errorf("Open of %q = %v, want an untrusted file: %t", file, err, want != nil)
		}
	}
}

// TestUntrustedPlaces tests that an error names all that needs trust, each with its place.
func TestUntrustedPlaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), config.FileName)
	writeFile(t, path, `protectConfig: false
workspaces:
  main:
    audit: { file: log.jsonl }
    git: { stage: true }
    provider: { kind: localbash, root: ., relaxed: true }
    fs:
      sensitive: allow
      deniedPaths: [a, "${A:-b}"]
tools: { naming: "${B:-x}_{op}" }
`)
	c, err := config.Load(path, &config.Options{Name: "f", Trust: config.NewTrustStore(path + ".json"), Env: testEnv})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Open(t.Context(), workspacekit.NewRegistry())
	var broken *config.Error
	if !errors.As(err, &broken) || !errors.Is(err, config.ErrUntrusted) {
		t.Fatalf("Open = %v, want a *config.Error that is %v", err, config.ErrUntrusted)
	}
	var got []string
	for _, problem := range broken.Problems {
		got = append(got, fmt.Sprintf("%d:%d %s", problem.Line, problem.Column, problem.Text))
	}
	uses := func(text string) string { return `the workspace "main" uses ` + text }
	want := []string{
		"1:16 " + uses("the files that describe workspaces (protectConfig: false)"),
		"4:12 " + uses("the audit log "+filepath.Join(filepath.Dir(path), "log.jsonl")),
		"5:10 " + uses("the program git"),
		"6:15 " + uses("whatever the symlinks in the folder lead to (relaxed)"),
		"8:18 " + uses("files with the names of secrets (sensitive: allow)"),
		"9:24 " + uses("the variable A of the environment"),
		"10:18 " + uses(`the variable B of the environment, and a file that nobody named needs your trust for that: read the file, then run "workspace trust f"`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Open (-want +got):\n%s", diff)
	}
}

// TestURLTellsNoValues tests that errors of a URL show no value of a variable in it, in other
// letters or decoded.
func TestURLTellsNoValues(t *testing.T) {
	t.Parallel()
	for url, value := range map[string]string{"${S}": "Hunter2://abc", "${S}://x": "Hunter2", "file://${S}": "/hunter2%20none/"} {
		c, err := config.Parse([]byte("workspaces: {main: {provider: \""+url+"\"}}\n"), &config.Options{Env: func(string) (string, bool) { return value, true }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Open(t.Context(), workspacekit.NewRegistry())
		if err == nil || strings.Contains(strings.ToLower(err.Error()), "hunter2") || !strings.Contains(err.Error(), "${S}") {
			t.Errorf("Open of %q with S=%q = %v, want an error that names ${S} alone", url, value, err)
		}
	}
}

// TestNoRegistry tests that what needs a registry fails without one.
func TestNoRegistry(t *testing.T) {
	c, err := config.Parse([]byte("workspaces: {main: {provider: {kind: memory}}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(nil); err == nil {
		t.Error("Check without a registry succeeds")
	}
	if _, err := c.Grants(t.Context(), nil); err == nil {
		t.Error("Grants without a registry succeeds")
	}
	if _, err := c.Open(t.Context(), nil); err == nil {
		t.Error("Open without a registry succeeds")
	}
}

func customRegistry(t *testing.T) *config.Registry {
	t.Helper()
	r := &config.Registry{}
	if err := r.Register("custom", kind.Kind{
		Options: struct{}{},
		Open: func(context.Context, kind.Input) (workspace.FileSystem, error) {
			return memory.New(nil), nil
		},
	}); err != nil {
		t.Fatal(err)
	}
	return r
}

func openCustom(t *testing.T, path string, store *config.TrustStore) error {
	t.Helper()
	c, err := config.Load(path, &config.Options{Trust: store})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Open(t.Context(), customRegistry(t))
	if err == nil {
		opened.Close()
	}
	return err
}

func trust(t *testing.T, store *config.TrustStore, path string) {
	t.Helper()
	c, err := config.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Trust(c); err != nil {
		t.Fatal(err)
	}
}

// TestTrustStore tests which files a store trusts.
func TestTrustStore(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state", "deep", "trusted.json")
	store := config.NewTrustStore(state)
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.Mkdir(real, 0o777); err != nil {
		t.Fatal(err)
	}
	content := []byte("workspaces: {main: {provider: {kind: custom}}}\n")
	path := filepath.Join(real, config.FileName)
	writeFile(t, path, string(content))
	trust(t, store, path)

	// Another store in another process sees it, in the same folder however it
	// is reached.
	again := config.NewTrustStore(state)
	if err := os.Symlink("real", link); err != nil {
		t.Skipf("symlinks cannot be created here: %v", err)
	}
	elsewhere := filepath.Join(dir, config.FileName)
	for _, tt := range []struct {
		path    string
		content []byte
		want    bool
	}{
		{path, content, true},
		{filepath.Join(link, config.FileName), content, true},
		{path, append(content, '\n'), false},
		{path, nil, false},
		{elsewhere, content, false},
	} {
		if got := again.Trusts(tt.path, tt.content); got != tt.want {
			t.Errorf("Trusts(%q, %q) = %t, want %t", tt.path, tt.content, got, tt.want)
		}
	}
	if info, err := os.Stat(state); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("Stat(%q) = %v, %v, want a file that only its owner can read", state, info, err)
	}
	if err := store.Revoke(elsewhere); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Revoke(%q) = %v, want %v", elsewhere, err, fs.ErrNotExist)
	}
	if err := store.Revoke(path); err != nil || again.Trusts(path, content) {
		t.Errorf("Revoke(%q) = %v, and it is trusted: %t", path, err, again.Trusts(path, content))
	}
	if list, err := again.List(); err != nil || len(list) > 0 {
		t.Errorf("List() = %v, %v, want nothing", list, err)
	}
	parsed, err := config.Parse(content, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Trust(parsed); err == nil {
		t.Error("Trust of what no file holds = nil, want an error")
	}
}

// TestTrustStoreTogether changes a store from many sides at once, each with a TrustStore of its own,
// as processes have. No change is lost.
func TestTrustStoreTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state", "trusted.json")
	var paths []string
	for i := range 32 {
		paths = append(paths, filepath.Join(dir, fmt.Sprint(i), config.FileName))
		if err := os.Mkdir(filepath.Dir(paths[i]), 0o777); err != nil {
			t.Fatal(err)
		}
		writeFile(t, paths[i], "workspaces: {main: {provider: {kind: custom}}}\n")
		if i%2 == 0 {
			trust(t, config.NewTrustStore(state), paths[i])
		}
	}
	var changes sync.WaitGroup
	for i, path := range paths {
		changes.Go(func() {
			store := config.NewTrustStore(state)
			c, err := config.Load(path, nil)
			switch {
			case err != nil:
			case i%2 == 0:
				err = store.Revoke(path)
			default:
				err = store.Trust(c)
			}
			if err != nil {
				t.Errorf("change of %s: %v", path, err)
			}
		})
	}
	changes.Wait()
	list, err := config.NewTrustStore(state).List()
	if err != nil || len(list) != len(paths)/2 {
		t.Errorf("List() = %v, %v, want the files with odd numbers", list, err)
	}
	for i, path := range paths {
		if got := config.NewTrustStore(state).Trusts(path, []byte("workspaces: {main: {provider: {kind: custom}}}\n")); got != (i%2 == 1) {
			t.Errorf("Trusts(%q) = %t, want %t", path, got, i%2 == 1)
		}
	}
}

// Parse cannot know what the content came with, so it is not trusted.
func TestParseTrustsNothing(t *testing.T) {
	store := config.NewTrustStore(filepath.Join(t.TempDir(), "trusted.json"))
	c, err := config.Parse([]byte("workspaces: {main: {provider: {kind: custom}}}\n"), &config.Options{Trust: store})
	if err != nil || c.Trusted() {
		t.Errorf("Parse = %v, trusted: %t", err, c.Trusted())
	}
}
