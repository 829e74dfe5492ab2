package config_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/workspace/kind"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// probeOptions has a field of each type that a file can set.
type probeOptions struct {
	Text   string             `json:"text,omitempty"`
	Number int                `json:"number,omitempty"`
	Small  int8               `json:"small,omitempty"`
	Real   float64            `json:"real,omitempty"`
	Switch bool               `json:"switch,omitempty"`
	Maybe  *bool              `json:"maybe,omitempty"`
	List   []string           `json:"list,omitempty"`
	Map    map[string]int     `json:"map,omitempty"`
	Nested struct{ A, B int } `json:"nested,omitempty"`
}

// parseProbe returns the options that the text is read as.
func parseProbe(t *testing.T, options string) (probeOptions, error) {
	t.Helper()
	var got probeOptions
	r := &config.Registry{}
	err := r.Register("probe", kind.Kind{
		Options: probeOptions{},
		Open:    outOfReach,
		Check:   func(in kind.Input) error { return in.Decode(&got) },
	})
	if err != nil {
		t.Fatal(err)
	}
	text := "workspaces:\n  main:\n    provider:\n      kind: probe\n" + indent(options)
	_, err = config.Parse([]byte(text), &config.Options{Env: testEnv, Registry: r})
	return got, err
}

func indent(text string) string {
	return "      " + strings.ReplaceAll(text, "\n", "\n      ") + "\n"
}

func TestParseValues(t *testing.T) {
	yes, no := true, false
	tests := []struct {
		name, text string
		want       probeOptions
	}{
		{"plain", "text: some words", probeOptions{Text: "some words"}},
		{"quoted-number", `text: "12"`, probeOptions{Text: "12"}},
		{"single-quotes", `text: 'it''s ${BUCKET}'`, probeOptions{Text: "it's lake"}},
		{"escapes", `text: "a\tb\u00e9"`, probeOptions{Text: "a\tbé"}},
		{"block", "text: |\n  one\n  ${BUCKET}\n", probeOptions{Text: "one\nlake\n"}},
		{"comment", "text: a # and why\n# more", probeOptions{Text: "a"}},
		{"word-that-is-no-switch", "text: yes", probeOptions{Text: "yes"}},
		{"variable", "text: a/${BUCKET}/b", probeOptions{Text: "a/lake/b"}},
		{"variables", `text: "${BUCKET}${BUCKET}"`, probeOptions{Text: "lakelake"}},
		{"default", "text: ${NO_SUCH:-a:-b}", probeOptions{Text: "a:-b"}},
		{"default-unused", "text: ${BUCKET:-other}", probeOptions{Text: "lake"}},
		{"default-of-empty", "text: ${EMPTY:-other}", probeOptions{Text: "other"}},
		{"empty-default", `text: "${NO_SUCH:-}"`, probeOptions{}},
		{"empty-variable", `text: "${EMPTY}"`, probeOptions{}},
		{"dollars", "text: a$$b$$${BUCKET}", probeOptions{Text: "a$b$lake"}},
		{"dollar-before-brace", `text: "$${BUCKET}"`, probeOptions{Text: "${BUCKET}"}},
		{"no-structure-from-variables", `text: "${INJECT}"`, probeOptions{Text: "}\nx: y"}},
		{"numbers", "number: -12\nsmall: 0x7f\nreal: 1.5", probeOptions{Number: -12, Small: 127, Real: 1.5}},
		{"number-with-zeros", "number: 010\nsmall: 0o10", probeOptions{Number: 10, Small: 8}},
		{"whole-real", "real: 3", probeOptions{Real: 3}},
		{"switches", "switch: true\nmaybe: false", probeOptions{Switch: true, Maybe: &no}},
		{"number-from-variable", `number: "${SIZE}"`, probeOptions{Number: 3}},
		{"switch-from-variable", "maybe: ${ON}", probeOptions{Maybe: &yes}},
		{"switch-from-default", "switch: ${NO_SUCH:-true}", probeOptions{Switch: true}},
		{"list", "list: [a, \"${BUCKET}\"]", probeOptions{List: []string{"a", "lake"}}},
		{"block-list", "list:\n- a\n- b", probeOptions{List: []string{"a", "b"}}},
		{"map", "map: {a: 1, b: 2}", probeOptions{Map: map[string]int{"a": 1, "b": 2}}},
		{"nested", "nested: {A: 1, B: 2}", probeOptions{Nested: struct{ A, B int }{1, 2}}},
		{"alias", "list: &l [a]\nmap: {a: &n 1, b: *n}", probeOptions{List: []string{"a"}, Map: map[string]int{"a": 1, "b": 1}}},
		{"windows-lines", "text: a\r\nnumber: 1\r", probeOptions{Text: "a", Number: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseProbe(t, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestParseWrongValues(t *testing.T) {
	for _, text := range []string{
		"small: 128", "number: 1.0", "number: \"1\"", "real: .inf", "real: .nan", "real: \"1\"", "switch: \"true\"",
		"switch: 1", "text: 1", "text: true", "text: ~", "text: 2024-01-01T00:00:00Z\nnumber: x", "map: [a]", "list: {a: b}",
		"nested: 1", "nested: {C: 1}", "map: {a: b}", "number: 99999999999999999999",
	} {
		if got, err := parseProbe(t, text); err == nil {
			t.Errorf("%q is read as %+v, want an error", text, got)
		}
	}
}

func TestConfigDescribes(t *testing.T) {
	c, err := config.Parse([]byte(`
workspaces:
  zoo: { provider: { kind: memory } }
  ant: mem://
tools: { naming: "{name}_{op}", disable: [rm, move] }
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"zoo", "ant"}, c.Names()); diff != "" {
		t.Errorf("Names() (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"zoo": "memory", "ant": "mem", "none": ""} {
		if got := c.Kind(name); got != want {
			t.Errorf("Kind(%q) = %q, want %q", name, got, want)
		}
	}
	if diff := cmp.Diff(config.Tools{Naming: "{name}_{op}", Disable: []string{"rm", "move"}}, c.Tools); diff != "" {
		t.Errorf("Tools (-want +got):\n%s", diff)
	}
}

// TestConfigSharesTools reads the values of shared.
func TestConfigSharesTools(t *testing.T) {
	env := func(name string) (string, bool) { return "true", name == "SHARE" }
	for text, want := range map[string]config.Tools{
		"shared: true":                 {Shared: config.SharedTrue},
		"shared: false":                {Shared: config.SharedFalse},
		"shared: auto":                 {Shared: config.SharedAuto},
		`shared: "${SHARE}"`:           {Shared: config.SharedTrue},
		"shared: auto, maxTools: 128":  {Shared: config.SharedAuto, MaxTools: 128},
		`shared: true, naming: "{op}"`: {Shared: config.SharedTrue, Naming: "{op}"},
	} {
		c, err := config.Parse([]byte("workspaces: {a: mem://, b: mem://}\ntools: {"+text+"}\n"), &config.Options{Env: env})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, c.Tools); diff != "" {
			t.Errorf("%s: Tools (-want +got):\n%s", text, diff)
		}
	}
}

// TestParseChecksTheRestLater tests that without a registry what is wrong with
// kinds and options is found by Check.
func TestParseChecksTheRestLater(t *testing.T) {
	c, err := config.Parse([]byte("workspaces:\n  main:\n    provider: {kind: memry}\n  other:\n    provider: {kind: memory, sed: x}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Check(workspacekit.NewRegistry())
	var broken *config.Error
	if !errors.As(err, &broken) || len(broken.Problems) != 2 {
		t.Errorf("Check = %v, want two problems", err)
	}
}

// TestCheckRun tests that Check says which workspaces require commands that their provider
// never runs.
func TestCheckRun(t *testing.T) {
	for provider, want := range map[string]string{
		"mem://":                            "memory",
		"{kind: memory}":                    "memory",
		"{kind: objectstore, bucket: lake}": "objectstore",
		"{kind: localbash, root: .}":        "localbash",
		"{kind: localbash, root: ., run: {enabled: true}}": "",
		"{kind: container, container: box}":                "",
		"{kind: kubernetes, pod: web}":                     "",
	} {
		r := workspacekit.NewRegistry()
		c, err := config.Parse([]byte("workspaces:\n  main:\n    provider: "+provider+"\n    requires: [write, run]\ntools: { run: true }\n"), &config.Options{Registry: r})
		if err != nil {
			t.Errorf("Parse of %s = %v", provider, err)
			continue
		}
		if want != "" {
			want = `workspace.yaml:4:15: the workspace "main" requires run, and its provider (` + want + `) runs no commands: choose a container or a folder with run: {enabled: true}, or leave run out`
		}
		if err = c.Check(r); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want+"\n")) {
			t.Errorf("Check of %s = %v, want %s", provider, err, want)
		}
	}
}

// TestCheckRunOfSettings tests that Check and Open agree on which settings refuse every command.
func TestCheckRunOfSettings(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("commands in a local folder run on Linux only")
	}
	for settings, runs := range map[string]bool{
		"":                               false,
		"\ntools: { run: true }":         true,
		"\n    fs: { sensitive: allow }": false,
		"\n    fs: { mode: audit }\n    audit: { file: log }":                                                 true,
		"\n    fs: { mode: audit, quota: { files: 1 } }\n    audit: { file: log }":                            false,
		"\n    fs: { rules: [{ allow: [run], paths: [\"**\"] }] }":                                            true,
		"\n    fs: { rules: [{ deny: [run], paths: [a] }, { ask: [run], paths: [\"**\"] }] }":                 true,
		"\n    fs: { rules: [{ deny: [run], paths: [\"**\"] }] }\ntools: { run: true }":                       false,
		"\n    fs: { rules: [{ deny: [delete], paths: [\"**\"] }] }\ntools: { run: true }":                    false,
		"\n    fs: { readOnlyPaths: [q] }\ntools: { run: true }":                                              false,
		"\n    fs: { allowedExtensions: [.go] }\ntools: { run: true }":                                        false,
		"\n    fs: { quota: { files: 1 } }\ntools: { run: true }":                                             false,
		"\n    fs: { maxFileSizeMb: 1 }\ntools: { run: true }":                                                true,
		"\n    fs: { quota: { files: 1 }, rules: [{ allow: [run], paths: [\"**\"] }] }\ntools: { run: true }": false,
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "workspace.yaml")
			text := "workspaces:\n  main:\n    provider: {kind: localbash, root: ., run: {enabled: true, sandbox: off}}\n    requires: [run]" + settings + "\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r := workspacekit.NewRegistry()
			c, err := config.Load(file, &config.Options{Registry: r})
			if err != nil {
				t.Fatal(err)
			}
			checked := c.Check(r)
			workspaces, opened := c.Open(t.Context(), r)
			if opened == nil {
				workspaces.Close()
			}
			if (checked == nil) != runs || (opened == nil) != runs {
				t.Errorf("Check = %v, Open = %v, want an error of both: %t", checked, opened, !runs)
			}
			for _, err := range []error{checked, opened} {
				if err != nil && !strings.Contains(err.Error(), `requires run, and its settings refuse every command: write rules: [{ask: [run], paths: ["**"]}] in its fs, and no quota, or leave run out`) {
					t.Errorf("the error is %v, want one about the settings", err)
				}
			}
		})
	}
}

// Editors begin files with a byte order mark, and other programs with a version.
func TestParseBeginnings(t *testing.T) {
	for _, text := range []string{
		"\ufeffworkspaces: {a: mem://}\n",
		"%YAML 1.2\n---\nworkspaces: {a: mem://}\n",
		"# a comment\n---\nworkspaces: {a: mem://}\n...\n",
	} {
		if c, err := config.Parse([]byte(text), nil); err != nil || len(c.Names()) != 1 {
			t.Errorf("Parse(%q) = %v, want one workspace", text, err)
		}
	}
	for _, text := range []string{
		"%TAG ! tag:example.org,2000:\n---\nworkspaces: {a: mem://}\n",
		"workspaces: {a: mem://}\n---\nworkspaces: {a: mem://}\n",
	} {
		if _, err := config.Parse([]byte(text), nil); err == nil {
			t.Errorf("Parse(%q) = nil, want an error", text)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if _, err := config.Load(filepath.Join(dir, "none.yaml"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of nothing = %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := config.Load(dir, nil); err == nil {
		t.Error("Load of a folder succeeds")
	}
	path := filepath.Join(dir, "workspace.yaml")
	for _, start := range []string{"", "\ufeff"} { // a byte order mark is not part of the text
		writeFile(t, path, start+"workspaces: {a: mem://}\n"+strings.Repeat("#", 3<<20))
		if _, err := config.Load(path, nil); err == nil || !strings.Contains(err.Error(), "the file has more than 2097152 bytes") {
			t.Errorf("Load of %q and 3 MiB = %v, want an error about the limit", start, err)
		}
	}
}

// TestLoadRelative tests that folders start from the folder of the file, wherever
// the program runs.
func TestLoadRelative(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "conf", "workspace.yaml")
	writeFile(t, path, "workspaces: {main: {provider: {kind: localbash, root: ../files}}}")
	writeFile(t, filepath.Join(dir, "files", "a"), "found")
	c, err := config.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := lookup(t, open(t, c), "main").ReadFile(t.Context(), "a")
	if string(data) != "found" {
		t.Errorf("ReadFile(a) = %q, %v", data, err)
	}
}

// TestErrorJSON shows the form of what is wrong with a file for programs.
func TestErrorJSON(t *testing.T) {
	_, err := config.Parse([]byte("workspaces:\n  a b: mem://\n"), nil)
	var broken *config.Error
	if !errors.As(err, &broken) {
		t.Fatalf("Parse = %v, want a *config.Error", err)
	}
	data, err := json.Marshal(broken)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"file":"workspace.yaml","problems":[{"line":2,"column":3,` +
		`"text":"the name \"a b\" has other characters than ASCII letters, digits, \"_\" and \"-\", and becomes a part of tool names: rename it",` +
		`"source":"  a b: mem://","mark":3}]}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("the error (-want +got):\n%s", diff)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

var _ workspace.FileSystem = (*config.Workspace)(nil)
