package main

// The names of the kinds of provider that come with this module.
const (
	nameLocal      = "localbash"
	nameMemory     = "memory"
	nameStore      = "objectstore"
	nameContainer  = "container"
	nameKubernetes = "kubernetes"
)

// kindOfScheme returns the kind that a workspace has which is described by a
// URL, and any other word as it is.
func kindOfScheme(kind string) string {
	switch kind {
	case "file":
		return nameLocal
	case "mem":
		return nameMemory
	case "s3":
		return nameStore
	case "docker":
		return nameContainer
	case "kubectl":
		return nameKubernetes
	}
	return kind
}
