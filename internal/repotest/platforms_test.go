package repotest_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlatformsPage tests that docs/platforms.md says of the right systems that they are
// not tested, and names each public package whose code differs between systems.
func TestPlatformsPage(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/platforms.md")
	systems := regexp.MustCompile(`repotest/othersystems ([a-z ]+)\n`).FindStringSubmatch(read(t, ".ci/run"))
	if systems == nil {
		t.Fatal(".ci/run checks the types for no other systems")
	}
	var checked []string
	for _, row := range regexp.MustCompile("(?m)^\\| .*\\(`(\\w+)`\\) \\| .*type-checked.*no test runs \\|$").FindAllStringSubmatch(page, -1) {
		checked = append(checked, row[1])
	}
	if diff := cmp.Diff(strings.Fields(systems[1]), checked); diff != "" {
		t.Errorf("the systems whose types .ci/run checks differ from those on the page (-run +page):\n%s", diff)
	}

	differs := regexp.MustCompile(`(?m)^//go:build .*(linux|unix|windows|darwin)|runtime\.GOOS [=!]=`)
	bySystem := regexp.MustCompile(`_(linux|darwin|windows)\.go$`)
	found := map[string]bool{}
	for _, name := range files(t, ".go") {
		dir := regexp.MustCompile(`^(workspace|providers|tools|adapters)(/\w+)?/`).FindString(name)
		if dir == "" || strings.HasSuffix(name, "_test.go") || !bySystem.MatchString(name) && !differs.MatchString(read(t, name)) {
			continue
		}
		dir = strings.TrimSuffix(strings.TrimSuffix(dir, "/"), "/internal")
		found[dir] = true
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| .* \\| `([a-z/]+)` \\|$").FindAllStringSubmatch(page, -1) {
		listed[row[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(listed))); diff != "" {
		t.Errorf("the packages whose code differs between systems differ from those on the page (-code +page):\n%s", diff)
	}
}
