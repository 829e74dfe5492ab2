package main

// The names of the kinds of provider that come with this module.
const (
	nameLocal      = "localbash"
	nameMemory     = "memory"
	nameStore      = "objectstore"
	nameContainer  = "container"
	nameKubernetes = "kubernetes"
)
