//go:build !unix

package enginetest

import "testing"

// share does nothing: .ci/engines starts no dockerd here.
func share(testing.TB) {}

// own does nothing: .ci/engines starts no dockerd here.
func own(testing.TB) {}
