package repotest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"

	bridge "github.com/workspacekit/workspacekit/providers/afero"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// listedProvider is a provider of the documents.
type listedProvider struct {
	name     string
	fsys     workspace.FileSystem
	symlinks bool // whether its store has symlinks
}

// listProviders opens a file system of each provider.
func listProviders(t *testing.T) []listedProvider {
	t.Helper()
	folder, err := localbash.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	inside, err := container.Open(t.Context(), &container.Options{Executor: container.Command{}, Root: t.TempDir()})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("needs a shell with the programs of Linux: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inside.Close() })
	bucket, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: "bucket"})
	if err != nil {
		t.Fatal(err)
	}
	return []listedProvider{
		{"`memory.New`", memory.New(nil), false},
		{"`afero.FromAfero`", bridge.FromAfero(afero.NewMemMapFs(), nil), false},
		{"`localbash.Open`", folder, true},
		{"`objectstore.Open`", bucket, false},
		{"`container.Open`", inside, true},
	}
}

// TestProvidersDoc keeps the table of what each provider declares.
func TestProvidersDoc(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Providers

What each provider declares in its ` + "`Capabilities`" + ` unless its options, or with afero the outermost type of its backend, say otherwise, and the conformance suite proves.

| provider | write | versions | conditional write | watch | move | copy | run |
|---|---|---|---|---|---|---|---|
`)
	for _, provider := range listProviders(t) {
		caps := workspace.CapabilitiesOf(provider.fsys)
		watch, run := string(caps.Watch), yes(caps.Run)
		switch provider.name {
		case "`container.Open`":
			watch = "native or polled" // as the image can
		case "`localbash.Open`":
			run = "with `Options.Run`, on Linux"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", provider.name,
			yes(caps.Write), yes(caps.Versions), yes(caps.ConditionalWrite), watch, yes(caps.Move), yes(caps.Copy), run)
	}
	b.WriteString("\nEach square is a clause of the [contract](contract.md):\n\n" +
		"![The clauses of the contract that the suite proves for each provider](images/conformance.svg)\n")
	golden(t, "docs/providers.md", b.String())
}

func yes(declared bool) string {
	if declared {
		return "yes"
	}
	return "no"
}
