//go:build !unix

package localbash

import "os"

// readFlags open a file to read it.
const readFlags = os.O_RDONLY
