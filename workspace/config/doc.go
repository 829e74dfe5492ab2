// Package config opens workspaces that a YAML file describes:
//
//	workspaces:
//	  repo:
//	    provider: { kind: localbash, root: . }
//	    fs: { readOnly: true }
//	tools:
//	  disable: [rm]
//
// [Load] and [Parse] read a file, strictly: what is not known, of the wrong type
// or missing is an error with its place in the file, and all of them are
// reported together. [Config.Open] opens what the file describes, all of it or
// nothing.
//
// The package knows no provider. A [Registry] is told of each [Kind] there is:
// how its options are spelled, and how it is opened. docs/config.md describes
// the file.
package config
