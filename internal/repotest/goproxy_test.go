package repotest_test

import (
	"archive/zip"
	"bytes"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// modulePath and moduleVersion are what [goEnviron] serves.
const (
	modulePath    = "github.com/workspacekit/workspacekit"
	moduleVersion = "v0.1.0"
)

// goEnviron returns variables with which the go command finds this tree as the latest
// version of the module, and what it needs in the module cache. It uses no network, and
// changes nothing in that cache.
func goEnviron(t *testing.T) []string {
	t.Helper()
	proxy := t.TempDir()
	prefix := filepath.Join(proxy, filepath.FromSlash(modulePath), "@v", moduleVersion)
	writeFile(t, filepath.Join(filepath.Dir(prefix), "list"), moduleVersion+"\n")
	writeFile(t, prefix+".info", `{"Version": "`+moduleVersion+`", "Time": "2026-01-01T00:00:00Z"}`)
	writeFile(t, prefix+".mod", read(t, "go.mod"))
	writeFile(t, prefix+".zip", moduleZip(t))
	downloads := filepath.Join(goVariable(t, "GOMODCACHE"), "cache", "download")
	return []string{
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(downloads),
		"GOMODCACHE=" + t.TempDir(), "GOPATH=" + t.TempDir(),
		// With -trimpath, what was compiled in another folder serves here too.
		"GOFLAGS=-modcacherw -trimpath", "GOSUMDB=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOENV=off",
	}
}

// moduleZip returns the files of the module as a proxy serves them.
func moduleZip(t *testing.T) string {
	t.Helper()
	all := files(t, "")
	var nested []string // other modules
	for _, name := range all {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			nested = append(nested, path.Dir(name)+"/")
		}
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
next:
	for _, name := range all {
		for _, dir := range nested {
			if strings.HasPrefix(name, dir) {
				continue next
			}
		}
		w, err := archive.Create(modulePath + "@" + moduleVersion + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(read(t, name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// goVariable returns a setting of the go command.
func goVariable(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
