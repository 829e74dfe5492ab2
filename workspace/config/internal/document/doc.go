// Package document reads YAML as people write it into files of settings. [Read] makes [Node]
// values of the text, which know their places and which variables of the environment they
// used, and bounds what a hostile file costs. A [Decoder] sets Go values to them, strictly, by
// the tags that package encoding/json uses, and [SchemaOf] is the JSON Schema of the same
// types for editors. All that is wrong is collected in [Diagnostics], with places and
// remedies, so that it is reported together.
//
//	read.go         the text becomes nodes, with limits.go and expand.go
//	node.go         what a node is, and where in the file its parts are
//	decode.go       nodes become Go values
//	schema.go       the same types, described for editors
//	diagnostics.go  what is wrong, for people
//
// The YAML parser has a strict mode of its own, but it stops at the first error, and its
// errors name neither the remedy nor the key that was meant.
package document
