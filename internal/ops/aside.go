package ops

import (
	"crypto/rand"
	"path"
	"strings"
)

// Aside returns a free name beside name, for what is moved away from it for a moment. A person can
// still recognize it if it stays.
func Aside(name string) string {
	dir, base := path.Split(name)
	base = strings.ToValidUTF8(base[:min(len(base), 200)], "")
	return dir + base + ".mv~" + rand.Text()[:8]
}
