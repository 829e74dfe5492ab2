package repotest_test

import (
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
)

const module = "github.com/workspacekit/workspacekit/"

// policy is the import table: what each directory may import besides the
// standard library, test files aside. It lists directories of this module and
// other modules. Every directory with Go files must be in it. A trailing "/..."
// includes everything below.
var policy = map[string][]string{
	".":                  {"workspace/...", "providers/...", "shell/bashtool", "tools"},
	"workspace":          {"internal/ops", "internal/session"},
	"workspace/fallback": {"workspace", "internal/ops", "internal/scan", "internal/notify"},
	"workspace/provider": {"workspace", "workspace/fallback", "internal/notify", "internal/ops", "internal/scan"},
	"workspace/policy": {"workspace", "workspace/fallback", "internal/glob", "internal/ignore", "internal/ops", "internal/scan",
		"internal/session", "internal/wording", "workspace/policy/internal/shown"},
	"workspace/policy/internal/shown": {"workspace", "internal/ops", "internal/unified", "internal/wording"},

	"workspace/audit":       {"workspace", "workspace/observe", "internal/filelock"},
	"workspace/gitstage":    {"workspace", "workspace/observe", "internal/ops", "internal/session"},
	"workspace/observe":     {"workspace", "workspace/fallback", "internal/errcode", "internal/ops", "internal/session"},
	"workspace/quota":       {"workspace", "workspace/fallback", "workspace/policy", "internal/errcode", "internal/ops", "internal/session", "internal/wording"},
	"workspace/backup":      {"workspace", "workspace/fallback", "workspace/policy", "internal/errcode", "internal/ops", "internal/session", "internal/wording", "golang.org/x/sync/semaphore"},
	"workspace/jobs":        {"workspace", "internal/ops"},
	"workspace/kind":        {"workspace"},
	"workspace/patch":       {"workspace", "workspace/backup", "workspace/transaction", "internal/charset", "internal/lazyregexp", "internal/ops", "internal/wording", "github.com/bluekeyes/go-gitdiff/gitdiff"},
	"workspace/transaction": {"workspace", "workspace/backup", "workspace/fallback", "internal/ops", "internal/process", "internal/session"},
	"workspace/config": {"workspace/config/internal/document", "internal/filelock", "internal/ops", "internal/wording", "workspace", "workspace/fallback", "workspace/audit", "workspace/gitstage", "workspace/kind", "workspace/observe",
		"workspace/backup", "workspace/policy", "workspace/quota", "workspace/transaction", "github.com/google/jsonschema-go/jsonschema"},
	"workspace/config/internal/document": {"internal/lazyregexp", "internal/wording", "github.com/goccy/go-yaml/...", "github.com/google/jsonschema-go/jsonschema"},

	"internal/charset":    {"golang.org/x/text/encoding/..."},
	"internal/enginetest": {},
	"internal/exhaustive": {},
	"internal/nodetest":   {"internal/exhaustive"},

	"shell/internal/pattern": {"internal/ctxregexp", "internal/lazyregexp"},
	"shell/internal/awk":     {"shell/internal/pattern"},
	"shell/internal/rewrite": {"internal/ctxregexp", "internal/lazyregexp", "mvdan.cc/sh/v3/..."},

	"internal/errcode":      {"workspace"},
	"internal/filelock":     {"golang.org/x/sys/..."},
	"internal/glob":         {"workspace", "github.com/bmatcuk/doublestar/v4"},
	"internal/httpguard":    {},
	"internal/ignore":       {"workspace", "github.com/bmatcuk/doublestar/v4"},
	"internal/ctxregexp":    {},
	"internal/lines":        {"workspace", "internal/ctxregexp"},
	"internal/lazyregexp":   {},
	"internal/modeltest":    {"providers/memory", "tools", "workspace", "github.com/google/go-cmp/cmp"},
	"internal/notify":       {"workspace", "internal/ops"},
	"internal/ops":          {},
	"internal/osfile":       {"workspace", "workspace/fallback", "internal/ops"},
	"internal/process":      {},
	"internal/s3test":       {},
	"internal/session":      {},
	"internal/trigram":      {"workspace", "internal/lines"},
	"internal/unified":      {"internal/wording", "github.com/aymanbagabas/go-udiff"},
	"internal/wording":      {},
	"internal/repotest/...": {"internal/repotest", "golang.org/x/tools/go/packages"},
	"internal/progress":     {},
	"internal/scratch":      {"workspace", "providers/memory", "internal/ops"},
	"internal/scan":         {"workspace", "internal/glob", "internal/ignore", "internal/lines", "internal/ops", "internal/progress"},

	"internal/swaptest":  {"internal/exhaustive", "workspace", "workspace/policy", "golang.org/x/sys/unix"},
	"internal/mounttest": {},

	"conformance/internal/compare": {"workspace", "internal/ops", "pgregory.net/rapid", "github.com/google/go-cmp/..."},
	"conformance": {"conformance/internal/compare", "workspace", "workspace/fallback", "workspace/provider", "internal/ops", "pgregory.net/rapid", "github.com/anishathalye/porcupine",
		"github.com/google/go-cmp/..."},

	"providers/memory": {"workspace", "workspace/kind", "workspace/provider", "internal/..."},
	"providers/afero":  {"workspace", "workspace/provider", "internal/ops", "internal/osfile", "github.com/spf13/afero/..."},
	"providers/localbash": {"workspace", "workspace/fallback", "workspace/kind", "workspace/provider", "internal/...",
		"providers/localbash/internal/...", "golang.org/x/sys/unix"},
	"providers/localbash/internal/sys": {"golang.org/x/sys/unix"},
	"providers/localbash/internal/index": {"workspace", "internal/lines", "internal/scan", "internal/trigram",
		"providers/localbash/internal/dirwatch", "providers/localbash/internal/sys"},
	"providers/localbash/internal/command":  {"internal/lazyregexp", "golang.org/x/sys/unix"},
	"providers/localbash/internal/dirwatch": {"providers/localbash/internal/sys", "github.com/fsnotify/fsnotify", "golang.org/x/sys/unix"},

	"providers/objectstore": {"workspace", "workspace/fallback", "workspace/kind", "workspace/provider", "internal/...", "providers/objectstore/internal/...",
		"github.com/aws/aws-sdk-go-v2/..."},
	"providers/objectstore/internal/object": {"workspace", "internal/ops", "github.com/aws/aws-sdk-go-v2/aws"},
	"providers/objectstore/internal/answer": {"workspace", "workspace/provider", "internal/lazyregexp", "providers/objectstore/internal/object",
		"github.com/aws/aws-sdk-go-v2/...", "github.com/aws/smithy-go/..."},
	"providers/objectstore/internal/client": {"internal/lazyregexp", "providers/objectstore/internal/answer", "github.com/aws/aws-sdk-go-v2/...",
		"github.com/aws/smithy-go/..."},
	"providers/objectstore/internal/listing":      {"workspace", "providers/objectstore/internal/object"},
	"providers/objectstore/internal/dircache":     {"workspace", "providers/objectstore/internal/object"},
	"providers/objectstore/internal/contentcache": {"workspace"},
	"providers/objectstore/internal/bucket": {"workspace", "workspace/provider", "internal/lines", "providers/objectstore/internal/...",
		"github.com/aws/aws-sdk-go-v2/...", "github.com/aws/smithy-go/...", "golang.org/x/sync/errgroup"},

	"providers/container":                {"workspace", "workspace/fallback", "workspace/kind", "workspace/provider", "internal/...", "providers/container/internal/..."},
	"providers/container/internal/shell": {},
	"providers/container/internal/program": {"workspace", "workspace/provider", "internal/lazyregexp", "internal/ops", "internal/scan",
		"providers/container/internal/shell"},
	"providers/container/internal/command": {"workspace", "workspace/provider", "providers/container/internal/..."},
	"providers/container/internal/engine":  {"workspace", "workspace/provider", "internal/lazyregexp", "internal/ops", "internal/process", "providers/container/internal/shell"},
	"providers/container/internal/inotify": {"workspace", "workspace/fallback", "workspace/provider", "providers/container/internal/program",
		"providers/container/internal/shell"},
	"providers/container/internal/remotegrep": {"workspace", "internal/...", "providers/container/internal/..."},

	"tools": {"workspace", "workspace/backup", "workspace/fallback", "workspace/jobs", "workspace/patch", "workspace/policy", "workspace/transaction", "internal/charset", "internal/errcode", "internal/glob", "internal/lazyregexp", "internal/lines", "internal/ops", "internal/scratch", "internal/session", "internal/unified", "internal/wording",
		"tools/internal/...", "github.com/google/jsonschema-go/jsonschema"},
	"shell/bashtool":         {"shell", "tools", "workspace"},
	"shell/internal/command": {"workspace", "workspace/fallback", "workspace/patch", "shell/internal/awk", "shell/internal/pattern", "internal/...", "github.com/itchyny/gojq", "github.com/spf13/pflag", "golang.org/x/text/width"},
	"shell":                  {"workspace", "shell/internal/...", "internal/lazyregexp", "internal/ops", "internal/scratch", "internal/session", "internal/wording", "mvdan.cc/sh/v3/..."},
	"tools/lint":             {"tools", "internal/lazyregexp"},
	"tools/internal/...":     {"workspace", "internal/charset", "internal/ctxregexp", "internal/lazyregexp", "internal/lines", "tools/internal/..."},
	"adapters/mcp": {"workspace", "workspace/policy", "tools", "internal/httpguard", "internal/ops", "internal/progress", "internal/wording", "github.com/google/jsonschema-go/jsonschema",
		"github.com/modelcontextprotocol/go-sdk/..."},
	"adapters/anthropic":   {"tools", "github.com/anthropics/anthropic-sdk-go/..."},
	"adapters/billy":       {"workspace", "internal/osfile", "github.com/go-git/go-billy/v5/..."},
	"adapters/eino":        {"tools", "workspace", "github.com/cloudwego/eino/...", "github.com/eino-contrib/jsonschema"},
	"adapters/genkit":      {"tools", "github.com/firebase/genkit/go/..."},
	"adapters/googleai":    {"tools", "google.golang.org/genai"},
	"adapters/langchaingo": {"tools", "github.com/tmc/langchaingo/..."},
	"adapters/openai":      {"tools", "github.com/openai/openai-go/v3/..."},
	"adapters/otel": {"workspace/observe", "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes",
		"go.opentelemetry.io/otel/metric", "go.opentelemetry.io/otel/semconv/...", "go.opentelemetry.io/otel/trace"}, // and no SDK
	"adapters/acp": {"workspace", "workspace/fallback", "workspace/policy", "tools", "internal/errcode", "internal/ops", "internal/scan", "internal/session", "internal/wording",
		"golang.org/x/sync/semaphore", "github.com/coder/acp-go-sdk"},
	"adapters/webdav": {"workspace", "workspace/transaction", "internal/httpguard", "internal/osfile", "golang.org/x/net/webdav"},
	"cmd/workspace":   {"internal/cli", "internal/cli/target", "workspace/config"},
	"internal/cli/...": {".", "shell/...", "internal/cli/...", "internal/httpguard", "internal/lazyregexp", "internal/ops", "internal/session", "internal/unified", "internal/wording", "workspace/...", "providers/...", "tools/...",
		"adapters/acp", "adapters/mcp", "adapters/webdav",
		"github.com/coder/acp-go-sdk", "github.com/spf13/...", "golang.org/x/term"},
	"bench": {".", "bench/measure", "workspace", "workspace/observe", "workspace/policy", "tools", "providers/...",
		"github.com/cloudwego/eino/adk/filesystem", "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/spf13/afero"},
	"bench/measure":   {},
	"bench/container": {"workspace", "providers/..."},
	"bench/objectstore": {"workspace", "providers/objectstore", "internal/...", "github.com/aws/...", "gocloud.dev/...",
		"github.com/rclone/rclone/...", "golang.org/x/sync/errgroup"},
}

func TestImportPolicy(t *testing.T) {
	seen := map[string]bool{}
	for dir, imports := range importsByDir(t) {
		rule, allowed, ok := ruleFor(dir)
		if !ok {
			t.Errorf("directory %s is not in the import policy", dir)
			continue
		}
		seen[rule] = true
		for _, imported := range imports {
			if !permitted(imported, allowed) {
				t.Errorf("%s imports %s, which the import policy does not allow", dir, imported)
			}
		}
	}
	for rule := range policy {
		if !seen[rule] {
			t.Errorf("the import policy names %s, which has no Go files", rule)
		}
	}
}

func ruleFor(dir string) (rule string, allowed []string, ok bool) {
	if allowed, ok := policy[dir]; ok {
		return dir, allowed, true
	}
	for rule, allowed := range policy {
		if covers(rule, dir) {
			return rule, allowed, true
		}
	}
	return "", nil, false
}

func permitted(imported string, allowed []string) bool {
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	if imported+"/" == module {
		imported = "."
	}
	imported = strings.TrimPrefix(imported, module)
	return slices.ContainsFunc(allowed, func(rule string) bool { return covers(rule, imported) })
}

func covers(rule, name string) bool {
	prefix, all := strings.CutSuffix(rule, "/...")
	return name == prefix || all && strings.HasPrefix(name, prefix+"/")
}

// importsByDir maps each directory to what its Go files import, test files
// aside.
func importsByDir(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Dir(name)
		imports[dir] = append(imports[dir], "") // so that a directory without imports is seen, too
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imports[dir] = append(imports[dir], imported)
		}
	}
	return imports
}

// modules are the other modules that end up in a program that imports the package, as
// patterns. None of them is that of a model or of a framework.
var modules = map[string][]string{
	"workspace":             {},
	"providers/memory":      {"github.com/bmatcuk/doublestar/v4"},
	"providers/afero":       {"github.com/bmatcuk/doublestar/v4", "github.com/spf13/afero", "golang.org/x/text"},
	"providers/localbash":   {"github.com/bmatcuk/doublestar/v4", "github.com/fsnotify/fsnotify", "golang.org/x/sys"},
	"providers/objectstore": {"github.com/bmatcuk/doublestar/v4", "github.com/aws/...", "golang.org/x/sync"},
	"providers/container":   {"github.com/bmatcuk/doublestar/v4"},
	"tools": {"github.com/aymanbagabas/go-udiff", "github.com/bluekeyes/go-gitdiff", "github.com/bmatcuk/doublestar/v4",
		"github.com/google/jsonschema-go", "golang.org/x/sync", "golang.org/x/text"},
}

// TestModules tests what a program takes along that imports a package.
func TestModules(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "lists what every package depends on")
	for dir, allowed := range modules {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./"+dir)
		list.Dir = root
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%v: %v", list, err)
		}
		for name := range strings.FieldsSeq(string(out)) {
			if !slices.ContainsFunc(allowed, func(rule string) bool { return covers(rule, name) }) {
				t.Errorf("a program that imports %s has packages of %s", dir, name)
			}
		}
	}
}

// TestNestedModules tests that the modules in this one can be built: a change of go.mod
// at the root may need one of theirs.
func TestNestedModules(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "lists the packages of every module")
	for _, name := range files(t, "/go.mod") {
		list := exec.Command("go", "list", "./...")
		list.Dir = path.Join(root, path.Dir(name))
		if out, err := list.CombinedOutput(); err != nil {
			t.Errorf("go list in %s: %v; run go mod tidy there\n%s", path.Dir(name), err, out)
		}
	}
}
