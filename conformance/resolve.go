package conformance

import "github.com/workspacekit/workspacekit/workspace"

func resolveCases() []testCase {
	return []testCase{
		{"no-symlink", "RS1", needFiles, resolvePlain},
		{"not-yet-there", "RS2", 0, resolveMissing},
		{"below-a-file", "RS2", needFiles, resolveBelowFile},
	}
}

func (e *env) resolves(name, want string) {
	e.Helper()
	got, err := workspace.Resolve(e.ctx, e.fsys, name)
	if err != nil || got != want {
		e.Errorf("Resolve(%q) = %q, %v, want %q", name, got, err, want)
	}
}

func resolvePlain(e *env) {
	e.given(files{"file": "x", "dir/sub/child": "x"})
	for _, name := range []string{".", "file", "dir", "dir/sub", "dir/sub/child"} {
		e.resolves(name, name)
	}
}

func resolveBelowFile(e *env) {
	e.given(files{"file": "x", "dir/child": "x"})
	for _, name := range []string{"file/x", "file/x/y", "dir/child/x"} {
		e.resolves(name, name)
	}
}

func resolveMissing(e *env) {
	for _, name := range []string{"none", "none/of/these"} {
		e.resolves(name, name)
	}
}
