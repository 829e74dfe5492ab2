//go:build !unix

package config

// checkOwner knows nothing of owners here.
func checkOwner(string) error { return nil }
