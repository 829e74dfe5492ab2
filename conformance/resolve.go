package conformance

import "github.com/workspacekit/workspacekit/workspace"

// resolveCases are the cases for Resolve in a store without symlinks. Programs
// resolve names before they compare them with rules, so names that will be
// created count, too.
var resolveCases = []testCase{
	{"no-symlink", "RS1", needFiles, resolvePlain},
	{"not-yet-there", "RS2", 0, resolveMissing},
	{"below-a-file", "RS2", needFiles, resolveBelowFile},
}

// resolves fails the case unless name resolves to want.
func (e *env) resolves(name, want string) {
	e.Helper()
	got, err := workspace.Resolve(e.ctx, e.fsys, name)
	if err != nil || got != want {
		e.Errorf("Resolve(%q) = %q, %v, want %q", name, got, err, want)
	}
}

// resolvePlain tests that names without symlinks resolve to themselves.
func resolvePlain(e *env) {
	e.given(files{"file": "x", "dir/sub/child": "x"})
	for _, name := range []string{".", "file", "dir", "dir/sub", "dir/sub/child"} {
		e.resolves(name, name)
	}
}

// resolveBelowFile tests that a name below a file keeps its spelling. No error
// is right here: whether the name can be used is for the call that uses it.
func resolveBelowFile(e *env) {
	e.given(files{"file": "x", "dir/child": "x"})
	for _, name := range []string{"file/x", "file/x/y", "dir/child/x"} {
		e.resolves(name, name)
	}
}

// resolveMissing tests that a missing name keeps its spelling.
func resolveMissing(e *env) {
	for _, name := range []string{"none", "none/of/these"} {
		e.resolves(name, name)
	}
}
