package initfile

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	wskind "github.com/workspacekit/workspacekit/workspace/kind"
)

// initiate runs init for a file in dir.
func initiate(t *testing.T, dir string, args ...string) error {
	t.Helper()
	root := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(New(target.NewFlags(root, config.Locate)))
	root.SetArgs(append([]string{"init", filepath.Join(dir, config.FileName)}, args...))
	root.SetIn(strings.NewReader(""))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	return root.ExecuteContext(t.Context())
}

// needed returns the flags without which init does not write a file of a kind.
func needed(k kind) []string {
	flags := []string{"--kind", k.name}
	for _, o := range k.options {
		if o.required {
			flags = append(flags, "--"+o.flag, "some")
		}
	}
	return flags
}

// uncomment makes the examples of a file hold.
func uncomment(text string) string {
	return regexp.MustCompile(`(?m)^( *)# ( *[a-zA-Z]+:( .*)?)$`).ReplaceAllString(text, "$1$2")
}

// TestInitEveryKind reads what is written for each kind, as it is and with all
// examples, and has the schema check it.
func TestInitEveryKind(t *testing.T) {
	schema := docsSchema(t)
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := initiate(t, dir, needed(kind)...); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, config.FileName))
			if err != nil {
				t.Fatal(err)
			}
			plain, full := string(data), uncomment(string(data))
			for _, text := range []string{plain, full} {
				c, err := config.Parse([]byte(text), &config.Options{Registry: workspacekit.NewRegistry()})
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if c.Kind("main") != kind.name {
					t.Errorf("the kind is %q, want %q", c.Kind("main"), kind.name)
				}
				var value any
				if err := yaml.Unmarshal([]byte(text), &value); err != nil {
					t.Fatal(err)
				}
				if err := schema.Validate(value); err != nil {
					t.Errorf("the schema refuses:\n%s\n%v", text, err)
				}
			}
			examples := len(kind.examples) + strings.Count(tail, ": ") + strings.Count(tail, ":\n") - strings.Count(tail, "\ntools:\n  bash: true")*2
			if got := strings.Count(plain, "# ") - strings.Count(full, "# "); got != examples {
				t.Errorf("%d lines are examples, want %d:\n%s", got, examples, full)
			}
		})
	}
}

// TestInitNamesOptions tests that what init writes for a bucket names every
// option.
func TestInitNamesOptions(t *testing.T) {
	data, err := os.ReadFile("../../../docs/workspace.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Definitions map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		if kind.name != target.KindStore {
			continue
		}
		given := map[string]*string{}
		for _, o := range kind.options {
			some := "some"
			given[o.flag] = &some
		}
		text, err := kind.file("main", given)
		if err != nil {
			t.Fatal(err)
		}
		options := schema.Definitions["provider-"+kind.name].Properties
		for option := range options {
			if !strings.Contains(text, " "+option+": ") {
				t.Errorf("init does not name the option %s of %s", option, kind.name)
			}
		}
		if len(options) == 0 {
			t.Errorf("the schema has no options of %s", kind.name)
		}
	}
}

// docsSchema returns the schema that editors use.
func docsSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	data, err := os.ReadFile("../../../docs/workspace.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func TestInitOffersEveryKind(t *testing.T) {
	for _, name := range workspacekit.NewRegistry().Kinds() {
		found := false
		for _, kind := range kinds {
			found = found || kind.name == name
		}
		if !found {
			t.Errorf("init does not offer the kind %s", name)
		}
	}
}

// TestInitSchemaLine compares the first line with the documentation.
func TestInitSchemaLine(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	if line := "\n# yaml-language-server: $schema=" + schemaURL + "\n"; !strings.Contains(string(docs), line) {
		t.Errorf("docs/config.md does not show %q", line)
	}
}

// TestInitKeepsValues reads back values that mean something else in YAML, or
// to the reader of files.
func TestInitKeepsValues(t *testing.T) {
	var read string
	r := captor(t, &read)
	for _, value := range []string{
		".", "src", "with space", `quote"d`, "it's", `back\slash`, "${HOME}", "$$", "a$", "#hash", "a #b", "a: b", "- a", "-", "*a", "&a", "!a",
		"%a", "@a", "`a`", "{a: b}", "[a]", "a, b", "~me", "null", "true", "yes", "1", "1.5", "0x10", "2001-01-01", "é日本😀", "<<", "a\\n", "</script>", "|", ">", "?",
	} {
		t.Run(value, func(t *testing.T) {
			dir := t.TempDir()
			if err := initiate(t, dir, "--root", value); err != nil {
				t.Fatal(err)
			}
			c, err := config.Load(filepath.Join(dir, config.FileName), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Open(t.Context(), r); err != nil || read != value {
				t.Errorf("the root is read as %q, %v, want %q", read, err, value)
			}
		})
	}
}

// captor returns a registry whose kind localbash only says what root it is given.
func captor(t *testing.T, root *string) *config.Registry {
	t.Helper()
	type options struct {
		Root string `json:"root"`
	}
	r := &config.Registry{}
	err := r.Register(target.KindLocal, wskind.Kind{Options: options{}, Open: func(_ context.Context, in wskind.Input) (workspace.FileSystem, error) {
		var o options
		err := in.Decode(&o)
		*root = o.Root
		return memory.New(nil), err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestInitRefusesValues(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"line-break":   {[]string{"--root", "a\nb: c"}, "--root: it has a character that cannot be seen"},
		"escape":       {[]string{"--root", "a\x1b[2J"}, "--root: it has a character that cannot be seen"},
		"bidi":         {[]string{"--root", "a\u202eb"}, "--root: it has a character that cannot be seen"},
		"not-utf-8":    {[]string{"--root", "a\xff"}, "--root: it is not valid UTF-8"},
		"name":         {[]string{"--name", "a b"}, `the name "a b" has other characters`},
		"name-break":   {[]string{"--name", "a\nb"}, "--name: it has a character that cannot be seen"},
		"endpoint":     {[]string{"--bucket", "b", "--endpoint", "http://user:secret@host"}, "endpoint: it has credentials"},
		"bucket":       {[]string{"--bucket", "a/b"}, "write what follows it as prefix"},
		"other-kind":   {[]string{"--kind", "memory", "--root", "a"}, "--root is for the kind localbash, and not for memory"},
		"two-kinds":    {[]string{"--bucket", "a", "--pod", "b"}, "--pod is for the kind kubernetes, and not for objectstore"},
		"unknown-kind": {[]string{"--kind", "memry"}, `--kind "memry" is unknown: did you mean "memory"?`},
		"needed":       {[]string{"--kind", "objectstore"}, "the kind objectstore needs --bucket"},
		"no-meaning":   {[]string{"--read-only"}, "--read-only has no meaning with init"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			err := initiate(t, dir, test.args...)
			var failed *term.Failure
			if err == nil || errors.As(err, &failed) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("init %q = %v, want a mistake on the command line with %q", test.args, err, test.want)
			}
			if _, err := os.Stat(filepath.Join(dir, config.FileName)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Stat(%s) = %v, want that nothing was written", config.FileName, err)
			}
		})
	}
}

// answers asks with the answers that a person gives.
func answers(t *testing.T, ctx context.Context, said ...string) (*initiation, error) {
	t.Helper()
	lines := make(chan string, len(said))
	for _, line := range said {
		lines <- line
	}
	if ctx.Err() == nil {
		close(lines)
	} else {
		lines = nil
	}
	i := &initiation{flags: target.NewFlags(&cobra.Command{}, config.Locate), name: "main", options: map[string]*string{}}
	for _, kind := range kinds {
		for _, o := range kind.options {
			i.options[o.flag] = new(string)
		}
	}
	return i, i.ask(&questions{ctx: ctx, out: new(strings.Builder), lines: lines})
}

func TestInitAsks(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		said []string
		want string // JSON of what was chosen
		err  error
	}{
		"defaults":  {t.Context(), []string{"", ""}, `{"kind":"localbash","root":"."}`, nil},
		"number":    {t.Context(), []string{"3", "lake", ""}, `{"bucket":"lake","kind":"objectstore"}`, nil},
		"name":      {t.Context(), []string{"kubernetes", "web"}, `{"kind":"kubernetes","pod":"web"}`, nil},
		"again":     {t.Context(), []string{"9", "x", "5", "", "web"}, `{"kind":"kubernetes","pod":"web"}`, nil},
		"no-answer": {t.Context(), []string{"3"}, `{"kind":"objectstore"}`, errNoAnswer},
		"nothing":   {t.Context(), nil, `{"kind":""}`, errNoAnswer},
		"ctrl-c":    {ended, nil, `{"kind":""}`, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			i, err := answers(t, test.ctx, test.said...)
			if !errors.Is(err, test.err) {
				t.Errorf("ask() = %v, want %v", err, test.err)
			}
			chosen := map[string]string{"kind": i.kind}
			for flag, value := range i.options {
				if *value != "" {
					chosen[flag] = *value
				}
			}
			got, err := json.Marshal(chosen)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("what was chosen differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestInitLosesARace has the file appear after it was looked for.
func TestInitLosesARace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte("another's"), 0o644); err != nil {
		t.Fatal(err)
	}
	var failed *term.Failure
	if err := new(initiation).write(t.Context(), path, "mine"); !errors.As(err, &failed) || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("write() = %v, want that it exists already", err)
	}
	if data, err := os.ReadFile(path); string(data) != "another's" {
		t.Errorf("the file is %q, %v, and was replaced", data, err)
	}
}
