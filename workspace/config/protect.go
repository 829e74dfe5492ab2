package config

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// protect returns fsys in which the configuration cannot be changed, if its
// files are those of this computer: neither the file in use, nor the record of
// trusted files, nor a name that [Find] would find the next time. Whoever can
// write such a file chooses what is opened and which limits hold.
func (p provider) protect(fsys workspace.FileSystem) (workspace.FileSystem, error) {
	if !p.kind.Local || p.unprotected {
		return fsys, nil
	}
	// Found out before the first change, as opening a workspace is cheap.
	inUse := sync.OnceValue(func() []string { return p.configNames(workspace.RootOf(fsys)) })
	return policy.Protect(fsys, func(name string) bool {
		return isConfigName(path.Base(name)) ||
			slices.ContainsFunc(inUse(), func(used string) bool { return strings.EqualFold(used, name) })
	})
}

// holdsConfig reports whether a protected file of the configuration is below
// root, or is root.
func (p provider) holdsConfig(root string) bool {
	return !p.unprotected && len(p.configNames(root)) > 0
}

// configNames returns the names that the configuration has below root.
func (p provider) configNames(root string) []string {
	root = kind.RealPath(filepath.FromSlash(root))
	var names []string
	for _, file := range p.configFiles() {
		for _, spelled := range []string{file, kind.RealPath(file)} {
			if name, err := filepath.Rel(root, spelled); err == nil && filepath.IsLocal(name) {
				names = append(names, filepath.ToSlash(name))
			}
		}
	}
	return names
}

// configFiles returns the absolute paths of the file in use and of the record
// of trusted files.
func (p provider) configFiles() []string {
	var files []string
	if p.path != "" {
		if file, err := trustKey(p.path); err == nil {
			files = append(files, file)
		}
	}
	if store, err := UserTrustStore(); err == nil {
		if file, err := trustKey(store.Path()); err == nil {
			files = append(files, file)
		}
	}
	return files
}

// isConfigName reports whether Find takes base for the file. Some file systems
// do not tell letters of either case apart, and Windows neither sees spaces and
// dots at the end nor what follows a colon, and has short names.
func isConfigName(base string) bool {
	if runtime.GOOS == "windows" {
		base, _, _ = strings.Cut(base, ":")
		base = strings.TrimRight(base, ". ")
		if strings.HasPrefix(strings.ToLower(base), "worksp~") {
			return true
		}
	}
	return slices.ContainsFunc(fileNames, func(name string) bool { return strings.EqualFold(name, base) })
}
