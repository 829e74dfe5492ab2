package repotest_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/shell"
)

// TestTables compares the first column of tables in the documents with the code: what is
// in backquotes there, without what follows a colon.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, table := range []struct {
		page, header string
		want         []string
		elsewhere    []string // names that the page or another one describes in its text
	}{
		{"docs/config.md", "| key | meaning |", keysOf(t), nil},
		{"docs/config-settings.md", "| key | meaning |", fsKeys(t), nil},
		{"docs/config-settings.md", "| operation | is needed for |", declaredOps(t), nil},
		{"docs/container.md", "| option | default | meaning |", fieldsOf(container.CreateOptions{}), []string{"Name", "Workdir", "Keep", "Pull", "Platform"}},
		{"docs/objectstore.md", "| switch of `Compat` | AWS | any other endpoint |", append(fieldsOf(objectstore.Compat{}), "PathStyle"), nil},
		{"docs/config-providers.md", "| kind | where the files are | URL |", workspacekit.NewRegistry().Kinds(), nil},
		{"docs/writing-a-provider.md", "| interface | when the store can |", storeInterfaces(t), nil},
		{"docs/shell.md", "| `Options` | default | |", fieldsOf(shell.Options{}), []string{"Now"}},
		{"docs/design.md", "| module | for | why it, and not our own |", append(requirements(t), "github.com/go-git/go-billy/v5", "bench/go.mod"), nil},
	} {
		got := firstColumn(t, table.page, table.header)
		want := slices.DeleteFunc(slices.Clone(table.want), func(name string) bool { return slices.Contains(table.elsewhere, name) })
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
			t.Errorf("the table %q in %s differs from the code (-code +page):\n%s", table.header, table.page, diff)
		}
	}
}

// firstColumn returns the names in the first column of all tables of a page with a
// header.
func firstColumn(t *testing.T, page, header string) (names []string) {
	t.Helper()
	text := read(t, page)
	for {
		_, rest, ok := strings.Cut(text, "\n"+header+"\n")
		if !ok {
			break
		}
		text = rest
		for line := range strings.Lines(rest) {
			if !strings.HasPrefix(line, "|") {
				break
			}
			cell, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimPrefix(line, "|"), `\|`, ""), "|")
			cell, _, _ = strings.Cut(cell, ": ")
			for _, name := range regexp.MustCompile("`([^`*]+)`").FindAllStringSubmatch(cell, -1) {
				names = append(names, name[1])
			}
		}
	}
	if names == nil {
		t.Errorf("%s has no table %q", page, header)
	}
	return names
}

// fieldsOf returns the names of the exported fields of a struct.
func fieldsOf(value any) (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeOf(value)) {
		if field.IsExported() && len(field.Index) == 1 {
			names = append(names, field.Name)
		}
	}
	return names
}

// schemaOf returns the schema of a file.
func schemaOf(t *testing.T) *schemaNode {
	t.Helper()
	schema, err := workspacekit.NewRegistry().Schema()
	if err != nil {
		t.Fatal(err)
	}
	root := new(schemaNode)
	if err := json.Unmarshal(schema, root); err != nil {
		t.Fatal(err)
	}
	return root
}

// keysOf returns the keys of a workspace and of the mapping tools in a file.
func keysOf(t *testing.T) (names []string) {
	t.Helper()
	root := schemaOf(t)
	for _, p := range root.Definitions["workspace"].Properties {
		names = append(names, p.name)
	}
	for _, p := range root.Properties {
		if p.name == "tools" {
			for _, key := range p.Properties {
				names = append(names, key.name)
			}
		}
	}
	return names
}

// fsKeys returns the keys of the mapping fs of a workspace.
func fsKeys(t *testing.T) (names []string) {
	t.Helper()
	root := schemaOf(t)
	for _, p := range root.Definitions["workspace"].Properties {
		if p.name == "fs" {
			for _, key := range p.Properties {
				names = append(names, key.name)
			}
		}
	}
	return names
}

// storeInterfaces returns the interfaces of package provider that a store can have.
func storeInterfaces(t *testing.T) (names []string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?m)^\t([A-Z]\w+) interface {`).FindAllStringSubmatch(read(t, "workspace/provider/store.go"), -1) {
		names = append(names, match[1])
	}
	return names
}

// declaredOps returns the operations of rules, which package policy declares.
func declaredOps(t *testing.T) (names []string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?m)^\tOp\w+ Op = "(\w+)"`).FindAllStringSubmatch(read(t, "workspace/policy/rules.go"), -1) {
		names = append(names, match[1])
	}
	return names
}

// requirements returns the modules that go.mod requires directly, and those of one
// project as one.
func requirements(t *testing.T) (names []string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		name := match[1]
		for _, project := range []string{"github.com/aws/aws-sdk-go-v2", "go.opentelemetry.io/otel"} {
			if strings.HasPrefix(name, project+"/") {
				name = project
			}
		}
		names = append(names, name)
	}
	return names
}
