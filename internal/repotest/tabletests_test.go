package repotest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// tableTests say for each page with tables which test generates them, compares them with
// the code or shows what they say: by the header of the table, or for all others by "".
// A word without a dot says why there is none.
var tableTests = map[string]map[string]string{
	"CONTRIBUTING.md": {"": "for contributors"},
	"README.md": {
		"| provider | package | atomic and conditional writes | notes |": "internal/repotest.TestProvidersDoc",
	},
	"docs/README.md": {"": "internal/repotest.TestIndex"},
	"docs/acp.md": {
		"| error | code |":                 "adapters/acp.TestErrors",
		"| operation | where it happens |": "adapters/acp.TestAgentSeesUnsaved",
		"| the client gets | what it is |": "adapters/acp.TestReports",
	},
	"docs/command.md":       {"": "internal/cli.TestReference"},
	"docs/comparison.md":    {"": "internal/repotest.TestComparison"},
	"docs/compatibility.md": {"": "internal/repotest.TestCompatibility"},
	"docs/config.md": {
		"| key | meaning |":               "internal/repotest.TestTables",
		"| kind | what is opened again |": "internal/repotest.TestRef",
	},
	"docs/config-providers.md":           {"": "internal/repotest.TestTables"},
	"docs/config-reference.md":           {"": "internal/repotest.TestConfigReference"},
	"docs/config-reference-providers.md": {"": "internal/repotest.TestConfigReference"},
	"docs/config-settings.md": {
		"| key | meaning |":             "internal/repotest.TestTables",
		"| operation | is needed for |": "internal/repotest.TestTables",
		"| | |":                         "workspace/config.TestDocsTables",
	},
	"docs/container.md": {
		"| container | options |":        "providers/container.TestConformance",
		"| option | default | meaning |": "internal/repotest.TestTables",
		"| cause | kind of error |":      "providers/container.TestEngineErrors",
	},
	"docs/container-details.md": {"": "providers/container.TestRequests"},
	"docs/design.md":            {"": "internal/repotest.TestTables"},
	"docs/dialects.md":          {"": ".TestDialects"},
	"docs/errors.md":            {"": "internal/repotest.TestErrorsPage"},
	"docs/events.md": {
		"| observer | what it does |": "internal/repotest.TestDocLinks",
	},
	"docs/frameworks.md": {"": "internal/repotest.TestFrameworks"},
	"docs/mcp.md": {
		"| client | where | what |": "programs of vendors",
		"| feature | here |":        "adapters/mcp.TestFeatures",
	},
	"docs/objectstore.md": {
		"| store | how to reach it |":                       "stores of others",
		"| switch of `Compat` | AWS | any other endpoint |": "internal/repotest.TestTables",
		"| call | requests |":                               "providers/objectstore.TestDocsStateTheRequests",
	},
	"docs/performance-details.md": {"": "measured"},
	"docs/performance-limits.md":  {"": "measured"},
	"docs/performance-mcp.md":     {"": "measured"},
	"docs/performance-remote.md":  {"": "measured"},
	"docs/performance.md":         {"": "measured"},
	"docs/platforms.md":           {"": "internal/repotest.TestPlatformsPage"},
	"docs/providers.md":           {"": "internal/repotest.TestProvidersDoc"},
	"docs/running-locally.md": {
		"| | in the sandbox | without |": "providers/localbash.TestRunWithoutSandbox",
	},
	"docs/running.md": {
		"| wrapper | commands |": "workspace/policy.TestRun",
		"":                       "tools.TestDocs",
	},
	"docs/security.md":       {"": "internal/repotest.TestSecurityTable"},
	"docs/shell-programs.md": {"": "shell/internal/command.TestGNU"},
	"docs/shell.md": {
		"| | |":                     "shell.TestLanguage",
		"| `Options` | default | |": "shell.TestDocsStateTheBudgets",
		"":                          "tools.TestDocs",
	},
	"docs/tools-calls.md": {
		"| tool | requests |": "tools.TestPreflight",
		"| change | needs |":  "tools.TestReadRequired",
	},
	"docs/tools-editing.md":   {"": "tools.TestDocs"},
	"docs/tools-files.md":     {"": "tools.TestDocs"},
	"docs/tools-patches.md":   {"": "tools.TestDocs"},
	"docs/tools-reading.md":   {"": "tools.TestDocs"},
	"docs/tools-searching.md": {"": "tools.TestDocs"},
	"docs/tools.md": {
		"| limit | value |": "tools.TestDocsStateTheLimits",
		"| tools | page |":  "tools.TestDocs",
	},
	"docs/urls.md": {"": "internal/repotest.TestURLsPage"},
	"docs/views.md": {
		"| view | import | for what | what differs |": "internal/osfile.TestLikePackageOS",
	},
	"docs/writing-a-provider.md": {"": "internal/repotest.TestTables"},
}

// TestEveryTable tests that each table of a page has a row in tableTests, and that the test
// which it names exists.
func TestEveryTable(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		before := ""
		for line := range strings.Lines(read(t, page)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "|--") {
				test, header := tableTests[page][before], before
				if test == "" {
					test, header = tableTests[page][""], ""
				}
				found[page+header] = true
				if test == "" {
					t.Errorf("%s: no row of tableTests says which test checks the table %q", page, before)
				} else if strings.Contains(test, ".") && !strings.Contains(test, " ") {
					checkTest(t, test)
				}
			}
			before = line
		}
	}
	for page, tables := range tableTests {
		for header := range tables {
			if !found[page+header] {
				t.Errorf("%s has no table %q", page, header)
			}
		}
	}
}
