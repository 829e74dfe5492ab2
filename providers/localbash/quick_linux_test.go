package localbash_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/providers/localbash"
)

// withoutQuick takes the way of other operating systems.
func withoutQuick(_ testing.TB, fsys *localbash.FS) { fsys.WithoutOpenat2() }
