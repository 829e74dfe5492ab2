// Package container is a workspace inside a running container of Docker,
// Podman or containerd, a pod of Kubernetes, or any other place that a command
// leads to a POSIX shell in. Nothing is installed there.
//
// To start a program in a container takes its engine some fifty milliseconds,
// however short the program runs. So a few shells are started once and kept
// open, and every operation is a request to one of them, by the protocol that
// package shell describes. The functions that the shells are taught are in the
// folder program.
//
// # Confinement
//
// Names cannot leave the root of the workspace, and symlinks are followed only
// inside it. That keeps an agent to its files; it is no wall against a program
// that runs in the container at the same time and exchanges directories for
// symlinks. The wall is the container.
package container
