package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

const (
	schemaFile = "../../docs/workspace.schema.json"
	docsFiles  = "../../docs/config*.md"
)

// TestSchemaFile tests that the committed schema is the schema of the Go types.
func TestSchemaFile(t *testing.T) {
	schema, err := workspacekit.NewRegistry().Schema()
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, schemaFile, string(schema))
}

// docs returns the pages about files.
func docs(t *testing.T) string {
	t.Helper()
	pages, err := filepath.Glob(docsFiles)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// docsExamples returns the files that the documentation shows.
func docsExamples(t *testing.T) []string {
	t.Helper()
	var examples []string
	for i, part := range strings.Split(docs(t), "```") {
		if yaml, ok := strings.CutPrefix(part, "yaml\n"); ok && i%2 == 1 {
			examples = append(examples, yaml)
		}
	}
	if len(examples) < 5 {
		t.Fatalf("%s have %d examples", docsFiles, len(examples))
	}
	return examples
}

// TestDocsExamples tests that what the documentation shows is a file that is
// right, and that the schema knows it.
func TestDocsExamples(t *testing.T) {
	schema := resolved(t)
	for _, example := range docsExamples(t) {
		if _, err := config.Parse([]byte(example), &config.Options{Env: testEnv, Registry: workspacekit.NewRegistry()}); err != nil {
			t.Errorf("Parse:\n%s\n%v", example, err)
		}
		if err := validate(schema, []byte(example)); err != nil {
			t.Errorf("the schema refuses:\n%s\n%v", example, err)
		}
	}
}

// TestSchemaAcceptsVariables tests that the schema knows variables where the reader of
// files does, also in place of a word of a list.
func TestSchemaAcceptsVariables(t *testing.T) {
	const file = `workspaces:
  main:
    provider: { kind: "${KIND:-memory}" }
    fs: { rules: [{ deny: ["${OP:-write}"], paths: ["**"] }] }
    requires: ["${CAPABILITY:-versions}"]
    policyTests: [{ op: "${OP:-write}", path: a, want: deny }]
  url: "${SCHEME:-mem}://"
  later: "m${REST:-em}://"
tools: { disable: ["${TOOL:-rm}"], naming: "${NAMING}", timeout: "1m${MORE:-30s}" }
`
	env := func(name string) (string, bool) {
		text, ok := map[string]string{"NAMING": "x_{name}_{op}"}[name]
		return text, ok
	}
	if _, err := config.Parse([]byte(file), &config.Options{Env: env, Registry: workspacekit.NewRegistry()}); err != nil {
		t.Error(err)
	}
	if err := validate(resolved(t), []byte(file)); err != nil {
		t.Errorf("the schema refuses:\n%s\n%v", file, err)
	}
}

// TestSchemaKnowsDurations tests that the schema takes a duration if the reader of files does.
func TestSchemaKnowsDurations(t *testing.T) {
	schema := resolved(t)
	for text, want := range map[string]bool{
		"10s": true, "1m30s": true, "1.5h": true, ".5s": true, "1.s": true, "+5s": true, "5µs": true, "5μs": true,
		"1..2s": false, ".s": false, "5": false, "s": false, "-5s": false,
	} {
		file := []byte(fmt.Sprintf("workspaces: {main: mem://}\ntools: {timeout: %q}\n", text))
		if _, err := config.Parse(file, &config.Options{Registry: workspacekit.NewRegistry()}); (err == nil) != want {
			t.Errorf("Parse of the timeout %s = %v, want that it is right: %t", text, err, want)
		}
		if err := validate(schema, file); (err == nil) != want {
			t.Errorf("the schema says %v of the timeout %s, want that it is right: %t", err, text, want)
		}
	}
}

// TestPatternsAcceptVariables tests that each key whose value has a pattern in the schema can
// have a variable anywhere in it.
func TestPatternsAcceptVariables(t *testing.T) {
	data, err := workspacekit.NewRegistry().Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	var walk func(key string, value any)
	walk = func(key string, value any) {
		switch value := value.(type) {
		case map[string]any:
			if pattern, ok := value["pattern"].(string); ok && key != "propertyNames" { // which name workspaces
				for _, text := range []string{"${X}", "m${X}"} {
					if !regexp.MustCompile(pattern).MatchString(text) {
						t.Errorf("the pattern %s of %s refuses %s", pattern, key, text)
					}
				}
			}
			for key, value := range value {
				walk(key, value)
			}
		case []any:
			for _, value := range value {
				walk(key, value)
			}
		}
	}
	walk("", root)
}

// TestDocsTables tests that the documentation names each option of each kind.
func TestDocsTables(t *testing.T) {
	text := docs(t)
	var schema struct {
		Definitions map[string]struct {
			Properties map[string]any
		}
	}
	data, err := workspacekit.NewRegistry().Schema()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	for name, definition := range schema.Definitions {
		for key := range definition.Properties {
			if !strings.Contains(text, "`"+key+"`") && key != "kind" {
				t.Errorf("%s do not name %s of %s", docsFiles, key, name)
			}
		}
	}
}

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	data, err := workspacekit.NewRegistry().Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// validate returns what the schema has against a file.
func validate(schema *jsonschema.Resolved, file []byte) error {
	data, err := yaml.YAMLToJSON(file)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	return schema.Validate(value)
}

// beyondShape lists the broken files whose shape is right: a schema cannot know
// what is wrong with them.
func beyondShape() map[string]bool {
	names := map[string]bool{}
	for _, name := range []string{
		"env-missing", "env-missing-twice", "env-unended", "env-operator", "env-without-braces", "env-wrong-type",
		"env-in-option-of-kind", "env-in-allowed-path", "env-in-url",
		"allowed-path-glob", "denied-path-negated", "rule-path", "option-checked-by-kind", "option-empty-from-env", "env-missing-in-checked-kind", "names-by-letter-case", "naming-without-name", "naming-with-dots", "tools-timeout-zero", "audit-key", "git-memory",
		"tool-unknown", // the dialects have tools of their own
		"backup-dir", "backup-dir-git", "backup-in-itself", "backup-shared", "backup-unknown", "requires-read-only",
		"url-wrong", "url-with-credentials",
		"list-goes-on",
		"tag", "merge-key", "two-documents", "file-not-utf8", // for the reader, not for the schema
	} {
		names[name] = true
	}
	return names
}

// TestSchemaRefusesBrokenFiles tests that the schema refuses each broken file,
// but for those that are broken in a way that no schema can express.
func TestSchemaRefusesBrokenFiles(t *testing.T) {
	schema := resolved(t)
	beyond := beyondShape()
	for _, file := range brokenFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == "aliases-multiply" {
			continue // which a plain reader does not survive
		}
		if err := validate(schema, data); (err == nil) != beyond[name] {
			t.Errorf("the schema says %v of %s, and that it is beyond it is %t", err, file, beyond[name])
		}
	}
}
