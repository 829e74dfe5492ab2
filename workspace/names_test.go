package workspace_test

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestValidName(t *testing.T) {
	long := strings.Repeat("a", ops.MaxElementLength)
	for name, want := range map[string]bool{
		".": true, "a": true, "a/b": true, "a b": true, "-rf": true, "a\\b": true, "a\nb": true, "é": true,
		"*?[": true, ".workspacekit-tmp": true, "x.workspacekit-tmp-x": true, "...": true, "..a": true, "a..": true, ".git": true, long: true, long + "/" + long: true,
		"": false, "/": false, "/a": false, "a/": false, "a//b": false, "./a": false, "a/.": false, "a/./b": false,
		"..": false, "../a": false, "a/..": false, "a/../b": false, "a\x00": false, "\xff": false,
		".workspacekit-tmp-": false, "a/.workspacekit-tmp-x": false, ".workspacekit-tmp-x/a": false, long + "a": false, "b/" + long + "a/c": false, strings.Repeat("a/", ops.MaxNameLength/2) + "a": false,
	} {
		if got := ops.ValidName(name); got != want {
			t.Errorf("ValidName(%.40q) = %v, want %v", name, got, want)
		}
	}
}

func TestCleanName(t *testing.T) {
	for _, test := range []struct {
		root, name, want string
		err              error
	}{
		{"", "a", "a", nil},
		{"", "", ".", nil},
		{"", ".", ".", nil},
		{"", "/", ".", nil},
		{"", "/src/a", "src/a", nil},
		{"", "./src/a", "src/a", nil},
		{"", "src//a/", "src/a", nil},
		{"", "src/../a", "a", nil},
		{"", "a/./b", "a/b", nil},
		{"", "..", "", workspace.ErrEscape},
		{"", "../a", "", workspace.ErrEscape},
		{"", "a/../../b", "", workspace.ErrEscape},
		{"", "/..", "", workspace.ErrEscape},
		{"", "/../etc/passwd", "", workspace.ErrEscape},
		{"", "a\x00b", "", fs.ErrInvalid},
		{"", "\xff", "", fs.ErrInvalid},
		{"", "a\\..\\b", "a\\..\\b", nil},
		{"/home/me/p", "/home/me/p", ".", nil},
		{"/home/me/p", "/home/me/p/", ".", nil},
		{"/home/me/p", "/home/me/p/src/a", "src/a", nil},
		{"/home/me/p", "/home/me//p/./src/a", "src/a", nil},
		{"/home/me/p/", "/home/me/p/a", "a", nil},
		{"/home/me/p", "/home/me/p-evil/a", "home/me/p-evil/a", nil},
		{"/home/me/p", "/home/me/p/../q", "", workspace.ErrEscape},
		{"/home/me/p", "/home/me/../me/p/a", "a", nil},
		{"/home/me/p", "/home/me/p/../../../../etc", "", workspace.ErrEscape},
		{"/home/me/p", "home/me/p/a", "home/me/p/a", nil},
		{"/home/me/p", "/a", "a", nil},
		{"/", "/a", "a", nil},
	} {
		got, err := workspace.CleanName(test.root, test.name)
		if got != test.want || !errors.Is(err, test.err) || (err != nil) != (test.err != nil) {
			t.Errorf("CleanName(%q, %q) = %q, %v, want %q, %v", test.root, test.name, got, err, test.want, test.err)
		}
	}
}

func FuzzCleanName(f *testing.F) {
	for _, name := range []string{"a/../b", "/..", "//", "./.", "a/b/../../../c", "/r/a", "\x00", "/r/../r/../../x"} {
		f.Add("/r", name)
	}
	f.Fuzz(func(t *testing.T, root, name string) {
		got, err := workspace.CleanName(root, name)
		if err != nil {
			if got != "" || !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("CleanName(%q, %q) = %q, %v, want an ErrInvalid alone", root, name, got, err)
			}
			return
		}
		if !ops.ValidName(got) {
			t.Errorf("CleanName(%q, %q) = %q, which is not valid", root, name, got)
		}
		if again, err := workspace.CleanName("", got); again != got || err != nil {
			t.Errorf("CleanName of the clean %q = %q, %v", got, again, err)
		}
		if ops.ValidName(name) && got != name {
			t.Errorf("CleanName(%q, %q) = %q changes a valid name", root, name, got)
		}
		// Whoever takes the name for a path of the host's, below the root, must
		// not be led out of it.
		if joined := path.Join("/jail", got); joined != "/jail" && !strings.HasPrefix(joined, "/jail/") {
			t.Errorf("CleanName(%q, %q) = %q leads out", root, name, got)
		}
	})
}
