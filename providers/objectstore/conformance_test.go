package objectstore_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestConformance runs the whole suite on a server of this process that has what the real
// one has. On others it runs the cases whose requests and answers differ there.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]struct {
		open func(*testing.T) store
		only []string // nil for all cases
	}{
		"aws":      {func(t *testing.T) store { return inProcess(s3test.New(t, nil), awsCompat()) }, nil},
		"modest":   {func(t *testing.T) store { return inProcess(s3test.New(t, modest()), otherCompat()) }, ofModest()},
		"tls":      {func(t *testing.T) store { return inProcess(s3test.New(t, &s3test.Options{TLS: true}), awsCompat()) }, ofTLS()},
		"external": {func(t *testing.T) store { return external(t) }, ofServers()},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "aws" {
				t.Skip("-short: one kind of store is enough")
			}
			if name == "modest" || name == "tls" {
				exhaustive.Long(t)
			}
			bucket := s.open(t)
			only := s.only
			switch {
			case testing.Short():
				only = ofServers()
			case name == "external" && !exhaustive.IsLong():
				only = []string{"ReadFile", "WriteFile", "Create", "Ls", "Walk", "Rm", "Copy", "Move", "Exact"}
			case exhaustive.On() && name != "tls":
				only = nil
			}
			opts := conformance.Options{Short: !exhaustive.IsLong() || only != nil && !exhaustive.On(), Only: only}
			if name == "external" {
				opts.Skip = map[string]string{"Open/version-of-the-bytes": "the store may mix two versions, and a stream is not verified: see docs/rough-edges.md"}
			}
			conformance.Run(t, func(t *testing.T) workspace.FileSystem { return bucket.empty(t) }, &opts)
		})
	}
}

// ofModest has the cases that take other requests where the store honours fewer conditions:
// a copy in parts, a move by markers, a delete after a look. ETags are compared with what is
// read, and listings have names as they are.
func ofModest() []string {
	return []string{
		"Copy", "Move", "Rm", "Linearizability", "Concurrency", "ReadVersioned", "Property/random-operations",
		"Names/unusual-control", "Names/unusual-url", "Names/unusual-code-points",
		"ReadFile/every-byte", "ReadFile/five-mebibytes", "Open/window-of-a-large-file", "Stat/mod-time-moves",
		"WriteFile/edits-are-not-lost", "WriteFile/version-never-missing", "WriteFile/if-version-race",
		"Create/large-in-parts", "Create/large-conditions", "Walk/after", "Watch/nothing-lost", "Context/walk-canceled-on-the-way",
	}
}

// ofTLS has the cases about what is sent: over TLS checksums come in trailers.
func ofTLS() []string {
	return []string{
		"ReadFile/every-byte", "ReadFile/five-mebibytes", "WriteFile/five-mebibytes", "WriteFile/every-byte", "WriteFile/empty",
		"WriteFile/if-version-race", "WriteFile/large-conditions", "Create/large-in-parts", "Create/large-conditions",
		"Copy/large", "Move/file", "Rm/recursive", "Concurrency/never-torn-streams",
	}
}

// ofServers has what a server of others may do in another way: every kind of request, names in
// keys and in listings, and races.
func ofServers() []string {
	return []string{
		"ReadFile", "ReadVersioned", "Open", "WriteFile", "Create", "Stat", "Ls", "Walk", "Mkdir", "Rm", "Copy", "Move",
		"Linearizability", "Property/random-operations", "Watch/nothing-lost", "Grep/many-files", "Glob/order",
		"Concurrency/never-torn", "Concurrency/never-torn-streams", "Concurrency/never-missing", "Concurrency/own-writes-are-read",
		"Concurrency/same-new-parents", "Context/walk-canceled-on-the-way", "Context/write-file-canceled",
		"Names/unusual-spaces", "Names/unusual-control", "Names/unusual-shell", "Names/unusual-quotes", "Names/unusual-url",
		"Names/unusual-pattern", "Names/unusual-dots", "Names/unusual-unicode", "Names/unusual-code-points",
		"Names/longest-element", "Names/longest-name", "Names/letter-case", "Names/root-is-empty", "Exact",
	}
}
