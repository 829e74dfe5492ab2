//go:build !linux

package localbash_test

// beSwapper is for the tests of Linux.
func beSwapper() {}
