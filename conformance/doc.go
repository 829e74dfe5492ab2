// Package conformance is the suite that tests whether a
// [workspace.FileSystem] keeps its contract. A provider author runs it in
// three lines:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return New() }, nil)
//	}
//
// Every case is a subtest named for what it tests, such as
// TestConformance/WriteFile/if-not-exist-existing, so it can be run alone with
// -run and left out with [Options].Skip. A failure shows the call, what it
// returned and what it should have, and the clauses of docs/contract.md that
// it breaks.
//
// The suite does not trust what a file system declares: a capability that is
// declared is tried out, and one that is not declared must be refused. A case
// that cannot run without a capability is skipped and says which.
//
// pgregory.net/rapid draws random sequences of operations. Its flags work as
// usual: -rapid.seed repeats a run, -rapid.checks makes it longer. Long
// cases are left out by -short.
//
// Cases run in parallel, each on a file system of its own, so a case can be
// repeated or debugged without the others. The few that test what happens by
// chance, such as races, repeat it several times: a file system that passes once
// and fails once is wrong.
//
// [Compare] finds what no case is about: it runs random sequences of all
// operations in two file systems and fails where they differ.
package conformance
