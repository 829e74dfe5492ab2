//go:build !linux

package localbash_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/providers/localbash"
)

// withoutQuick has nothing to do here.
func withoutQuick(t testing.TB, _ *localbash.FS) { t.Skip("there is no other way here") }

// linuxRoles are none here.
func linuxRoles() map[string]func(dir string) error { return nil }
