// Package kind describes a kind of provider to package config: how its options
// are spelled in a file and a URL, what it needs, and how it is opened. A
// provider that wants to be named in YAML exports a Kind.
//
//	err := registry.Register("greeting", kind.Kind{Options: options{}, Open: open})
package kind

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
)

// Kind is a kind of provider: how its options are spelled, and how it is opened.
type Kind struct {
	// Summary says in a sentence what the kind is, for the JSON Schema.
	Summary string
	// Options is a zero value of the struct that the options are decoded into.
	// Its JSON tags are the keys in the file. Keys without "omitempty" or
	// "omitzero" are required. Its jsonschema tags describe
	// them. Fields are strings, switches, signed numbers, [time.Duration], and
	// structs, slices, maps and pointers of these. It is required.
	Options any
	// AnyOf lists keys, at least one needed in a file, for the JSON Schema; Check tests
	// it. Empty means that each key is either required or not.
	AnyOf []string
	// Open opens what the options describe. It must not start anything
	// (processes, watches, connections) that the first use can start. It is
	// required.
	Open func(ctx context.Context, in Input) (workspace.FileSystem, error)
	// Check returns what is wrong with the options besides their types. It does
	// no I/O. Nil means that nothing more is checked.
	Check func(in Input) error
	// Grants returns what Open uses beyond memory and the folder in.Dir, for
	// people: "the folder /srv", "the bucket lake". A file that was found needs
	// the user's trust for it. Nil means that the kind always needs that trust.
	Grants func(in Input) ([]string, error)

	// CanRun reports whether what Open opens may run commands. It does no I/O. Nil means
	// that it may.
	CanRun func(in Input) bool
	// Discards reports whether what Open opens is new, and deleted when it is closed, so that
	// no backups can be kept in it. It does no I/O. Nil means that it is not.
	Discards func(in Input) bool
	// Local says that the files are in a folder of this computer, which the
	// Root of the FileSystem names. A file that describes workspaces is then
	// protected in it.
	Local bool

	// Scheme is what the URLs begin with that stand for a workspace of the
	// kind: "mem" for "mem://". Empty means that there are none.
	Scheme string
	// ParseURL returns the options that a URL stands for, of the type of
	// Options. Its scheme is in lower case. It is required with a Scheme.
	ParseURL func(text string) (options any, err error)

	// SchemaVersion is the version of the kind's references. It
	// grows with each change after which this program cannot read old
	// references, or old programs cannot read new ones. Zero means 1.
	SchemaVersion int
	// Ref returns what a reference to fsys keeps (config.Ref): a value that JSON can hold,
	// without credentials, with absolute paths. in is what fsys was opened
	// with, by Open or Resolve. Nil means that there are no references.
	Ref func(ctx context.Context, fsys workspace.FileSystem, in Input) (payload any, err error)
	// Resolve opens what Ref has returned, which in decodes, in another process
	// and any current folder. Nil means Open, if Ref returns options.
	Resolve func(ctx context.Context, in Input) (workspace.FileSystem, error)

	// About says in a few words what the provider runs on, with versions, for
	// people: "Docker Engine 20.10.24 (linux/amd64)". fsys is what Open or
	// Resolve opened with in. What it returns has no credentials and no paths
	// of this computer, and is empty if nothing is known. Nil means that
	// nothing is known.
	About func(ctx context.Context, fsys workspace.FileSystem, in Input) (string, error)
}
