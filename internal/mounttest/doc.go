// Package mounttest mounts file systems for tests that need a full disk.
package mounttest
