package repotest_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestREADMEExample tests that the program in the README is the one that the
// compiler sees and go test runs.
func TestREADMEExample(t *testing.T) {
	_, rest, ok := strings.Cut(read(t, "README.md"), "```go\n")
	if !ok {
		t.Fatal("README.md has no Go program")
	}
	shown, _, _ := strings.Cut(rest, "```")
	indented := "\t" + strings.ReplaceAll(strings.TrimSpace(shown), "\n", "\n\t")
	if !strings.Contains(read(t, "example_test.go"), indented) {
		t.Errorf("the program in README.md is not the body of Example in example_test.go:\n%s", shown)
	}
}

// TestProviderExample tests that the provider in the quick start is the one that package
// provider shows and tests, and that it stays short.
func TestProviderExample(t *testing.T) {
	_, want, _ := strings.Cut(read(t, "workspace/provider/example_test.go"), "\n)\n")
	want, _, _ = strings.Cut(want, "\n// The store above")
	all := blocks(read(t, "docs/quickstart-provider.md"))
	i := slices.IndexFunc(all, func(b block) bool { return b.file == "fancy.go" })
	if i < 0 {
		t.Fatal("docs/quickstart-provider.md has no fancy.go")
	}
	_, got, _ := strings.Cut(all[i].text, "\n)\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the provider in docs/quickstart-provider.md (-workspace/provider/example_test.go +page):\n%s", diff)
	}
	if lines := strings.Count(got, "\n"); lines > 120 {
		t.Errorf("the provider in docs/quickstart-provider.md has %d lines after its imports, want at most 120", lines)
	}
}

// TestFrameworks tests docs/frameworks.md: the functions in it are those that the
// examples of the adapters and the tools run, none is longer than a screen, and the versions are those
// that the adapters are built with.
func TestFrameworks(t *testing.T) {
	const maxLines, maxWords = 40, 1500
	page := read(t, "docs/frameworks.md")
	if words := len(strings.Fields(page)); words > maxWords {
		t.Errorf("docs/frameworks.md has %d words, want at most %d", words, maxWords)
	}
	var examples strings.Builder
	for _, name := range files(t, "example_test.go") {
		if strings.HasPrefix(name, "adapters/") || strings.HasPrefix(name, "tools/") {
			examples.WriteString(read(t, name))
		}
	}
	functions := regexp.MustCompile("(?s)```go\n(func .*?)```").FindAllStringSubmatch(page, -1)
	for _, f := range functions {
		if lines := strings.Count(f[1], "\n"); !strings.Contains(examples.String(), f[1]) || lines > maxLines {
			t.Errorf("a function in docs/frameworks.md is in no example, or has more than %d lines:\n%s", maxLines, f[1])
		}
	}
	rows := regexp.MustCompile(`(?m)^\|.*\[(adapters/\w+)\].*`+"`(.+)` (v[0-9.]+) \\|$").FindAllStringSubmatch(page, -1)
	for _, row := range rows {
		if dir, required := row[1], row[2]+" "+row[3]; !strings.Contains(read(t, dir+"/go.mod"), required+"\n") {
			t.Errorf("docs/frameworks.md says that %s is tested with %s, and its go.mod does not", dir, required)
		}
	}
	if len(functions) != 7 || len(rows) != 6 {
		t.Errorf("docs/frameworks.md has %d functions and %d modules, want 7 and 6", len(functions), len(rows))
	}
}

// TestREADMEFile tests that the configuration in the README is valid.
func TestREADMEFile(t *testing.T) {
	_, rest, ok := strings.Cut(read(t, "README.md"), "```yaml\n")
	if !ok {
		t.Fatal("README.md has no file")
	}
	shown, _, _ := strings.Cut(rest, "```")
	env := func(string) (string, bool) { return "files", true }
	c, err := config.Parse([]byte(shown), &config.Options{Env: env, Registry: workspacekit.NewRegistry()})
	if err != nil || len(c.Names()) != 3 {
		t.Errorf("Parse() = %v, want three workspaces", err)
	}
}

// TestDocLinks follows the relative links of every document, to headings too.
func TestDocLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]*)(#[^)]+)?\)`)
	links := 0
	for _, document := range files(t, ".md") {
		for _, match := range link.FindAllStringSubmatch(read(t, document), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			links++
			target := document
			if match[1] != "" {
				target = path.Join(path.Dir(document), match[1])
			}
			if _, err := fs.Stat(tree, target); err != nil {
				t.Errorf("%s links to %s, which does not exist", document, match[1])
			} else if match[2] != "" && !slices.Contains(anchors(read(t, target)), match[2]) {
				t.Errorf("%s links to %s%s, which is no heading", document, match[1], match[2])
			}
		}
	}
	if links == 0 {
		t.Error("no document links to another: the test is broken")
	}
}

// anchors returns what links to the headings of a document end in.
func anchors(document string) (all []string) {
	for line := range strings.Lines(document) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			words := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			all = append(all, "#"+strings.ReplaceAll(words, " ", "-"))
		}
	}
	return all
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)

// TestDocHeadings tests that go doc shows every heading in a comment as a
// heading: it does so only if there are blank lines around the line.
func TestDocHeadings(t *testing.T) {
	heading := regexp.MustCompile(`^\s*// # \S`)
	headings := 0
	for _, name := range files(t, ".go") {
		lines := strings.Split(read(t, name), "\n")
		for i, line := range lines {
			if !heading.MatchString(line) {
				continue
			}
			headings++
			if isComment(lines[max(i-1, 0)]) || isComment(lines[i+1]) {
				t.Errorf("%s:%d: no blank comment line before and after %q", name, i+1, strings.TrimSpace(line))
			}
		}
	}
	if headings == 0 {
		t.Error("no comment has a heading: the test is broken")
	}
}

// isComment reports whether line is a comment with text.
func isComment(line string) bool {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
	return ok && text != ""
}

// TestQuickStartFile tests that the file in the quick start is the one that workspace init
// writes, without its comments.
func TestQuickStartFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command("workspace", "init")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("workspace init: %v\n%s", err, out)
	}
	written, err := os.ReadFile(filepath.Join(dir, config.FileName))
	if err != nil {
		t.Fatal(err)
	}
	without := regexp.MustCompile(`(?m)(^| +)#.*`).ReplaceAllString(string(written), "")
	without = regexp.MustCompile(`\n+`).ReplaceAllString(strings.TrimSpace(without), "\n") + "\n"
	all := blocks(read(t, "docs/quickstart-yaml.md"))
	if !slices.ContainsFunc(all, func(b block) bool { return b.lang == "yaml" && b.text == without }) {
		t.Errorf("docs/quickstart-yaml.md does not show the file that workspace init writes:\n%s", without)
	}
}

// TestTestCommand tests that what is checked before a change lands runs the command of the README.
func TestTestCommand(t *testing.T) {
	const command = "go test ./..."
	if !strings.Contains(read(t, "README.md"), "`"+command+"`") || !strings.Contains(read(t, ".ci/run"), "\n"+command+"\n") {
		t.Errorf("README.md or .ci/run has no %q", command)
	}
}

// TestIndex tests that docs/README.md leads to every page.
func TestIndex(t *testing.T) {
	t.Parallel()
	index := read(t, "docs/README.md")
	for name := range pages {
		if path.Dir(name) == "docs" && path.Base(name) != "README.md" && !strings.Contains(index, "("+path.Base(name)) {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}

// TestComparison tests that docs/comparison.md names the versions that this repository
// uses of what it compares with.
func TestComparison(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/comparison.md")
	for _, use := range []struct{ file, version, shown string }{
		{".ci/node/package.json", `"@modelcontextprotocol/server-filesystem": "([0-9.]+)"`, "src/filesystem) %s |"},
		{"go.mod", `github.com/spf13/afero v([0-9.]+)`, "/afero) %s |"},
	} {
		match := regexp.MustCompile(use.version).FindStringSubmatch(read(t, use.file))
		if match == nil || !strings.Contains(page, fmt.Sprintf(use.shown, match[1])) {
			t.Errorf("docs/comparison.md does not name the version in %s: %q", use.file, match)
		}
	}
}

// TestCompatibility tests that the tests which docs/compatibility.md names exist.
func TestCompatibility(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile("`([a-z/]+\\.Test[A-Za-z]+)`").FindAllStringSubmatch(read(t, "docs/compatibility.md"), -1)
	if len(names) == 0 {
		t.Error("docs/compatibility.md names no test")
	}
	for _, match := range names {
		checkTest(t, match[1])
	}
}

// TestExamples tests that go doc shows, for each public package, what it is for, a few lines
// of Go that compile, and an example.
func TestExamples(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "compiles the examples of packages")
	const vars = "ws, repo *workspace.Workspace, local *localbash.FS, fsys workspace.FileSystem, set *tools.Set, call struct { Name string; Arguments json.RawMessage }, " +
		"text, dir string, store provider.Store, registry *config.Registry, toAgent io.Writer, fromAgent io.Reader, archive *zip.Reader, log observe.Observer"
	const decls = `type options struct{}
		func New() workspace.FileSystem { panic(0) }
		func open(context.Context, kind.Input) (workspace.FileSystem, error) { panic(0) }
		type editor struct { *acp.Files; acp.NoTerminals }
		func (editor) RequestPermission(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) { panic(0) }
		func (editor) SessionUpdate(context.Context, sdk.SessionNotification) error { panic(0) }
		`
	examples, comments := map[string]bool{}, map[string]string{}
	for _, name := range files(t, ".go") {
		dir, text := path.Dir(name), read(t, name)
		switch {
		case notPublic.MatchString(dir):
		case strings.HasSuffix(name, "_test.go"):
			examples[dir] = examples[dir] || strings.Contains(text, "\nfunc Example")
		default:
			comments[dir] += packageComment.FindString(text)
		}
	}
	for dir, comment := range comments {
		code := codeInComment.FindString(comment)
		if comment == "" || code == "" || !examples[dir] {
			t.Errorf("%s has a package comment: %t, with Go: %t, an example: %t; want all", dir, comment != "", code != "", examples[dir])
		}
		if !ownModule.MatchString(dir) { // of their own, with imports of their own
			checkGo(t, dir, []block{{lang: "go", text: strings.ReplaceAll(code, "//\t", "")}}, vars, decls)
		}
	}
}

var (
	notPublic      = regexp.MustCompile(`(^|/)(internal|cmd|bench)(/|$)`)
	ownModule      = regexp.MustCompile(`^adapters/(anthropic|billy|eino|genkit|googleai|langchaingo|openai)$`)
	packageComment = regexp.MustCompile(`(?m)^// Package \w+ (?:.*\n//)*.*\npackage `)
	codeInComment  = regexp.MustCompile(`(?m)(?:^//\t.*\n)+`)
)
