//go:build !linux

package localbash

import "runtime"

// osName returns the name of the operating system as people write it.
func osName() string {
	switch runtime.GOOS {
	case "darwin":
		return "macOS"
	case "windows":
		return "Windows"
	}
	return runtime.GOOS
}

// fileSystemOf returns "", as finding it out is not simple here.
func fileSystemOf(string) string { return "" }
