package config

import (
	"context"
	"strings"
	"unicode/utf8"
)

// maxAbout is how many bytes [Workspace.About] returns at most.
const maxAbout = 200

// About says in a few words what the provider of w runs on, with versions, for
// people: "Docker Engine 20.10.24 (linux/amd64)". It is one line without
// control characters, and empty if nothing is known. It may start what the
// first use of w would start.
//
// # Errors
//
// Those of [Kind].About.
func (w *Workspace) About(ctx context.Context) (string, error) {
	kind := w.opener.kind
	if kind.About == nil {
		return "", nil
	}
	said, err := kind.About(ctx, w.fsys, w.opener.in)
	if err != nil {
		return "", err
	}
	said = strings.TrimSpace(printable(said))
	if len(said) <= maxAbout {
		return said, nil
	}
	end := maxAbout
	for !utf8.RuneStart(said[end]) {
		end--
	}
	return said[:end], nil
}
