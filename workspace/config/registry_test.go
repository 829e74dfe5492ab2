package config_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/workspace/kind"
	"github.com/workspacekit/workspacekit/workspace/policy"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

func TestRegister(t *testing.T) {
	parseURL := func(string) (any, error) { return struct{}{}, nil }
	tests := []struct {
		name, kind string
		as         kind.Kind
		want       string // "" if it is registered
	}{
		{"fine", "fancy-2", kind.Kind{Options: struct{}{}, Open: outOfReach}, ""},
		{"taken", "memory", kind.Kind{Options: struct{}{}, Open: outOfReach}, "there is one of that name"},
		{"no-name", "", kind.Kind{Options: struct{}{}, Open: outOfReach}, "its name has other characters"},
		{"bad-name", "Fancy", kind.Kind{Options: struct{}{}, Open: outOfReach}, "its name has other characters"},
		{"no-open", "fancy", kind.Kind{Options: struct{}{}}, "it has no Open"},
		{"no-options", "fancy", kind.Kind{Open: outOfReach}, "its Options must be a struct"},
		{"pointer", "fancy", kind.Kind{Options: &struct{}{}, Open: outOfReach}, "its Options must be a struct"},
		{"key-kind", "fancy", kind.Kind{Options: struct {
			Kind string `json:"kind"`
		}{}, Open: outOfReach}, `its Options have a key "kind"`},
		{"function", "fancy", kind.Kind{Options: struct{ F func() }{}, Open: outOfReach}, "func"},
		{"scheme-without-parser", "fancy", kind.Kind{Options: struct{}{}, Open: outOfReach, Scheme: "fancy"}, "needs a ParseURL"},
		{"scheme-taken", "fancy", kind.Kind{Options: struct{}{}, Open: outOfReach, Scheme: "s3", ParseURL: parseURL}, `there is one with the scheme "s3"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := workspacekit.NewRegistry().Register(tt.kind, tt.as)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("Register(%q) = %v", tt.kind, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("Register(%q) = %v, want an error with %q", tt.kind, err, tt.want)
			}
		})
	}
}

func TestRegistryLists(t *testing.T) {
	r := workspacekit.NewRegistry()
	if diff := cmp.Diff([]string{"container", "kubernetes", "localbash", "memory", "objectstore"}, r.Kinds()); diff != "" {
		t.Errorf("Kinds() (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"docker", "file", "kubectl", "mem", "s3"}, r.Schemes()); diff != "" {
		t.Errorf("Schemes() (-want +got):\n%s", diff)
	}
}

// TestKindOfOthers tests that a kind that somebody else registers is checked
// like one of ours.
func TestKindOfOthers(t *testing.T) {
	r, _ := newCounting(t, 1)
	_, err := config.Parse([]byte("workspaces: {main: {provider: {kind: counted, size: 1}}}"), &config.Options{Registry: r})
	if err == nil || !strings.Contains(err.Error(), `the provider counted has no key "size": there are none`) {
		t.Errorf("Parse = %v, want an error about the key size", err)
	}
}

func TestIsURL(t *testing.T) {
	for text, want := range map[string]bool{
		"mem://": true, "s3://b/p": true, "main": false, "./a": false, "C:\\a": false, "a b://": false, "://x": false, "": false,
	} {
		if got := config.IsURL(text); got != want {
			t.Errorf("IsURL(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestOpenURL(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, url, as string
		settings      config.FS
		want          string // "" if it is opened
	}{
		{"memory", "mem://", "main", config.FS{}, ""},
		{"folder", "file://" + dir, "main", config.FS{AllowedPaths: []string{"**"}}, ""},
		{"folder-missing", "file://" + dir + "/none", "main", config.FS{}, "file does not exist"},
		{"unknown", "memo://", "main", config.FS{}, `did you mean "mem://"?`},
		{"no-url", "memory", "main", config.FS{}, "there is no kind of provider"},
		{"bucket", "s3://bucket", "main", config.FS{}, ""},
		{"checked", "kubectl://-pod/dir", "main", config.FS{}, "is not the name of a pod"},
		{"name", "mem://", "my files", config.FS{}, "other characters"},
		{"settings", "mem://", "main", config.FS{AllowedPaths: []string{"a/"}}, "ends in a slash"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws, err := workspacekit.NewRegistry().OpenURL(t.Context(), tt.as, tt.url, tt.settings)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("OpenURL(%q) = %v", tt.url, err)
			case tt.want == "":
				ws.Close()
			case err == nil || !strings.Contains(err.Error(), tt.want):
				t.Errorf("OpenURL(%q) = %v, want an error with %q", tt.url, err, tt.want)
			}
		})
	}
}

// TestKilled tests that each way to open a folder undoes the changes of a transaction whose program
// was killed, and that nothing is undone in a folder that is read only.
func TestKilled(t *testing.T) {
	r := workspacekit.NewRegistry()
	openURL := func(t *testing.T, dir string, settings config.FS) *config.Workspace {
		t.Helper()
		ws, err := r.OpenURL(t.Context(), "main", "file://"+dir, settings)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		return ws
	}
	tests := []struct {
		name, want string
		open       func(t *testing.T, dir string)
	}{
		{"file", "old", func(t *testing.T, dir string) {
			open(t, parse(t, dir, "workspaces: {main: {provider: {kind: localbash, root: .}}}"))
		}},
		{"URL", "old", func(t *testing.T, dir string) { openURL(t, dir, config.FS{}) }},
		{"URL, read only", "new", func(t *testing.T, dir string) { openURL(t, dir, config.FS{ReadOnly: true}) }},
		{"reference", "old", func(t *testing.T, dir string) {
			empty := t.TempDir()
			ref := refTo(t, openURL(t, empty, config.FS{}))
			ref.Payload = bytes.ReplaceAll(ref.Payload, []byte(empty), []byte(dir))
			ws, err := r.Resolve(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { ws.Close() })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			from, dir := t.TempDir(), filepath.Join(t.TempDir(), "killed")
			writeFile(t, filepath.Join(from, "a"), "old")
			leaveTransaction(t, openURL(t, from, config.FS{}), from, dir)
			tt.open(t, dir)
			if got, err := os.ReadFile(filepath.Join(dir, "a")); string(got) != tt.want || err != nil {
				t.Errorf("a is %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// leaveTransaction copies the folder from to dir, as it is in a transaction of ws that has written
// "new" to a, with a state that is too old for its program to continue it.
func leaveTransaction(t *testing.T, ws *config.Workspace, from, dir string) {
	t.Helper()
	err := ws.Transaction(t.Context(), func(ctx context.Context) error {
		_, err := ws.WriteFile(ctx, "a", []byte("new"), nil)
		return errors.Join(err, os.CopyFS(dir, os.DirFS(from)))
	})
	if err != nil {
		t.Fatal(err)
	}
	states, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(transaction.DefaultDir), "*", "state.json"))
	if err != nil || len(states) != 1 {
		t.Fatalf("the states are %q, %v, want one", states, err)
	}
	state, err := os.ReadFile(states[0])
	if err != nil {
		t.Fatal(err)
	}
	old := regexp.MustCompile(`"until":"[^"]*"`).ReplaceAllString(string(state), `"until":"2000-01-01T00:00:00Z"`)
	writeFile(t, states[0], old)
}

func TestCheckURL(t *testing.T) {
	r := workspacekit.NewRegistry()
	for url, want := range map[string]string{
		"mem://": "memory", "s3://bucket": "objectstore", "docker://box/w?engine=podman": "container", "kubectl://pod": "kubernetes",
		"file:///none": "localbash", "file:///none?relaxed=true&sync=false": "localbash",
	} {
		if got, err := r.CheckURL("main", url, config.FS{}); got != want || err != nil {
			t.Errorf("CheckURL(%q) = %q, %v, want %q", url, got, err, want)
		}
	}
	for url, want := range map[string]string{
		"mem://x": "nothing after it", "memo://": `did you mean "mem://"?`, "s3://a:b@bucket": "credentials", "docker://box?shells=-1": `the parameter "shells" is unknown: there are engine, user`,
		"docker://box?engin=podman": `the parameter "engin" is unknown: did you mean "engine"?`, "s3://b?regio=x": `the parameter "regio" is unknown: did you mean "region"?`, "kubectl://pod?user=1": `the parameter "user" is unknown`,
		"file:///none?relaxd=true": `the parameter "relaxd" is unknown: did you mean "relaxed"?`, "file:///none?x=true": `the parameter "x" is unknown: there are index, relaxed, sync`, "file:///none?sync": "true or false", "file:///none?sync=1": "true or false",
		"file:///none?sync=true&sync=true": "the parameter \"sync\" is there twice", "file:///none?%": "cannot be read", "file://none": "file:///path",
	} {
		if got, err := r.CheckURL("main", url, config.FS{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CheckURL(%q) = %q, %v, want an error with %q", url, got, err, want)
		}
	}
	if _, err := r.CheckURL("my files", "mem://", config.FS{}); err == nil {
		t.Error("CheckURL takes a name that cannot be used")
	}
	for _, settings := range []config.FS{{DeniedPaths: []string{"["}}, {AllowedExtensions: []string{"a/b"}}, {Rules: []policy.Rule{{Paths: []string{"a"}}}}} {
		if _, err := r.CheckURL("main", "mem://", settings); err == nil {
			t.Errorf("CheckURL takes the settings %+v", settings)
		}
	}
}

func TestKindOf(t *testing.T) {
	r := workspacekit.NewRegistry()
	for scheme, want := range map[string]string{"mem": "memory", "s3": "objectstore", "memory": "", "": ""} {
		if got := r.KindOf(scheme); got != want {
			t.Errorf("KindOf(%q) = %q, want %q", scheme, got, want)
		}
	}
}

// outOfReach is the Open of a kind that is not opened.
func outOfReach(context.Context, kind.Input) (workspace.FileSystem, error) {
	return nil, fmt.Errorf("it is out of reach of this test: %w", workspace.ErrUnavailable)
}
