package workspace

import (
	"path"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// CleanName turns what people and models write ("/src/a", "./src/a",
// "src//a/", "") into a valid name. root is the absolute path under which
// they know the workspace, "" or "/" if there is none; it is removed from names
// that begin with it. A "." element and a repeated slash are removed; a ".."
// element that stays inside is resolved by its spelling.
//
// With the root "/home/me/app":
//
//	/home/me/app/src/a.go   src/a.go
//	/src/a.go               src/a.go, as from the workspace's own root
//	src//b/../a.go          src/a.go
//	../other                ErrEscape
//	src/a\x00go             fs.ErrInvalid
//
// # Errors
//
// [ErrEscape] if the name climbs out of the workspace (it is never clamped),
// [io/fs.ErrInvalid] if what remains is not valid.
func CleanName(root, name string) (string, error) {
	clean := path.Clean("./" + trimRoot(root, name))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", ErrEscape
	}
	if err := ops.CheckName(clean); err != nil {
		return "", err
	}
	return clean, nil
}

// trimRoot removes root from an absolute name that begins with it, with whatever
// slashes and dots the two are spelled. Another absolute name is one from the
// workspace's own root, and stays as it is.
func trimRoot(root, name string) string {
	if root == "" || !path.IsAbs(name) {
		return name
	}
	root = strings.TrimSuffix(path.Clean(root), "/")
	for _, spelled := range []string{name, path.Clean(name)} {
		if rest, ok := strings.CutPrefix(spelled, root); ok && (rest == "" || rest[0] == '/') {
			return rest
		}
	}
	return name
}
