//go:build !linux

package conformance_test

// runMutants returns none: the commands of a reference run on Linux alone.
func runMutants() []mutant { return nil }
