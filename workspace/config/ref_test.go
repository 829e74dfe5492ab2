package config_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// envRef names, for a second process of this test, the file with a reference.
const envRef = "WORKSPACE_TEST_REF"

const refText = `
workspaces:
  repo:
    provider: { kind: localbash, root: files }
    fs: { allowedPaths: ["src/**"], maxFileSizeMb: 3 }
  scratch:
    provider: { kind: memory }
  url: mem://
`

// TestRefInOtherProcess tests that a reference opens the same files again in
// another process, in another folder, under the same settings.
func TestRefInOtherProcess(t *testing.T) {
	if file := os.Getenv(envRef); file != "" {
		resolveThere(t, file)
		return
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "files", "key"), "denied")
	opened := open(t, parse(t, dir, refText))
	for _, ws := range opened.All() {
		t.Run(ws.Name(), func(t *testing.T) {
			if _, err := ws.WriteFile(t.Context(), "src/a", []byte("kept in "+ws.Name()), nil); err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(refTo(t, ws))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "ref.json")
			writeFile(t, file, string(data))
			command := exec.Command(os.Args[0], "-test.run=^TestRefInOtherProcess$", "-test.v")
			command.Env = append(os.Environ(), envRef+"="+file)
			command.Dir = t.TempDir()
			out, err := command.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "resolved "+ws.Name()) {
				t.Errorf("the other process: %v\n%s", err, out)
			}
		})
	}
}

// resolveThere is what the second process does.
func resolveThere(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var ref config.Ref
	if err := json.Unmarshal(data, &ref); err != nil {
		t.Fatal(err)
	}
	ws, err := workspacekit.NewRegistry().Resolve(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if got, err := ws.ReadFile(t.Context(), "src/a"); string(got) != "kept in "+ref.Name {
		t.Errorf("ReadFile(src/a) = %q, %v", got, err)
	}
	if ref.Name == "repo" {
		if _, err := ws.ReadFile(t.Context(), "key"); !errors.Is(err, workspace.ErrPolicy) {
			t.Errorf("ReadFile(key) = %v, want %v", err, workspace.ErrPolicy)
		}
	}
	again := refTo(t, ws)
	if diff := cmp.Diff(ref, again); diff != "" {
		t.Errorf("the reference to what was resolved (-first +second):\n%s", diff)
	}
	t.Log("resolved " + ws.Name())
}

func refTo(t *testing.T, ws *config.Workspace) config.Ref {
	t.Helper()
	ref, err := ws.Ref(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// TestRefJSON shows the form of a reference, which is stable.
func TestRefJSON(t *testing.T) {
	opened := open(t, parse(t, "", "workspaces:\n  main:\n    provider: mem://\n    fs: { readOnly: true, allowedPaths: [\"src/**\"] }\n"))
	data, err := json.Marshal(refTo(t, lookup(t, opened, "main")))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kind":"memory","schemaVersion":1,"name":"main","payload":{"dirs":[],"files":{}},` +
		`"fs":{"readOnly":true,"allowedPaths":["src/**"]},` +
		`"capabilities":{"write":false,"versions":true,"conditionalWrite":false,"watch":"native","move":false,"copy":false,"run":false}}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("the reference (-want +got):\n%s", diff)
	}
}

func TestResolveRefuses(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "files", "a"), "")
	good := refTo(t, lookup(t, open(t, parse(t, dir, refText)), "repo"))
	tests := []struct {
		name   string
		change func(*config.Ref)
		want   string
	}{
		{"kind", func(r *config.Ref) { r.Kind = "localbush" }, `there is no kind of provider "localbush": did you mean "localbash"?`},
		{"newer", func(r *config.Ref) { r.SchemaVersion = 2 }, "its version is 2, and this program reads versions 1 to 1 of the provider localbash"},
		{"no-version", func(r *config.Ref) { r.SchemaVersion = 0 }, "its version is 0"},
		{"options-checked", func(r *config.Ref) {
			r.Kind, r.Payload = "container", json.RawMessage(`{"container":"a","image":"b"}`)
		}, "needs either the key container"},
		{"name", func(r *config.Ref) { r.Name = "a b" }, "its name has other characters"},
		{"payload-key", func(r *config.Ref) { r.Payload = json.RawMessage(`{"root":"/","other":1}`) }, `unknown field "other"`},
		{"payload-syntax", func(r *config.Ref) { r.Payload = json.RawMessage(`{`) }, "the payload of the reference cannot be read"},
		{"payload-empty", func(r *config.Ref) { r.Payload = nil }, "the payload of the reference cannot be read"},
		{"payload-twice", func(r *config.Ref) { r.Payload = json.RawMessage(`{"root":"/"}{}`) }, "more than one value"},
		{"folder-gone", func(r *config.Ref) { r.Payload = json.RawMessage(`{"root":"/none/such"}`) }, "file does not exist"},
		{"settings", func(r *config.Ref) { r.FS.AllowedPaths = []string{"["} }, "invalid pattern"},
		{"size", func(r *config.Ref) { r.FS.MaxFileSizeMb = -1 }, "maxFileSizeMb is out of bounds"},
		{"capabilities", func(r *config.Ref) { r.FS.ReadOnly = true }, "what it refers to lacks what it had: write, conditionalWrite, move, copy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ref := good
			tt.change(&ref)
			ws, err := workspacekit.NewRegistry().Resolve(t.Context(), ref)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Resolve = %v, %v, want an error with %q", ws, err, tt.want)
			}
		})
	}
	t.Run("not-changed", func(t *testing.T) {
		ws, err := workspacekit.NewRegistry().Resolve(t.Context(), good)
		if err != nil {
			t.Fatal(err)
		}
		ws.Close()
	})
}

// TestRefProtects tests that what a reference opens protects the files that it protected
// before, also from commands, and hides the backups of other workspaces.
func TestRefProtects(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "team.yaml"), `
workspaces:
  repo: { provider: { kind: folder }, audit: { file: repo.jsonl } }
  other: { provider: mem://, audit: { file: other.jsonl }, backup: { workspace: repo } }
`)
	r := workspacekit.NewRegistry()
	var names []string // of the files that commands must not change
	err := r.Register("folder", kind.Kind{
		Options: struct{}{}, Local: true,
		Open: func(_ context.Context, in kind.Input) (workspace.FileSystem, error) {
			names = in.ConfigNames(dir)
			return localbash.Open(dir, nil)
		},
		Ref: func(context.Context, workspace.FileSystem, kind.Input) (any, error) { return struct{}{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(filepath.Join(dir, "team.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	before := names
	ref := refTo(t, lookup(t, opened, "repo"))
	ws, err := r.Resolve(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if diff := cmp.Diff(before, names); diff != "" || len(names) == 0 {
		t.Errorf("the files that commands must not change (-opened +resolved):\n%s", diff)
	}
	for _, name := range []string{"team.yaml", "repo.jsonl", "other.jsonl", ".workspacekit/backups/other/a"} {
		if _, err := ws.WriteFile(t.Context(), name, nil, nil); !errors.Is(err, workspace.ErrPolicy) {
			t.Errorf("WriteFile(%q) = %v, want %v", name, err, workspace.ErrPolicy)
		}
	}
	if diff := cmp.Diff(ref, refTo(t, ws)); diff != "" {
		t.Errorf("the reference to what was resolved (-first +second):\n%s", diff)
	}
}

func TestRefUnsupported(t *testing.T) {
	r, _ := newCounting(t, 1)
	opened, err := parse(t, "", "workspaces: {main: {provider: {kind: counted}}}").Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if _, err := lookup(t, opened, "main").Ref(context.Background()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Ref = %v, want %v", err, errors.ErrUnsupported)
	}
}
