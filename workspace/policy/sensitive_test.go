package policy_test

import (
	"errors"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestSensitive tests which names are sensitive, and for what.
func TestSensitive(t *testing.T) {
	for name, hidden := range map[string]bool{
		".env": true, "a/.env.local": true, ".ENV": true, ".envrc": true, ".env.production": true, ".env/lib/x.py": true,
		".env.example": false, "a/.env.sample": false, ".env.template": false, ".env.dist": false, ".env.example/.env": true,
		"server.pem": true, "a/b/KEY.PEM": true, "x.pem.bak": false, "password.go.pem": true,
		"id_rsa": true, ".ssh/id_ed25519": true, "id_rsa.pub": true, "id_generator.go": false, "grid_x": false,
		"credentials": true, ".aws/credentials": true, "credentials.json": true, "credentials.ts": false, "my-credentials": false,
		"secret": true, "client_secret.json": true, "secrets/a.txt": true, "secrets/a.go": true, "pkg/Secrets/x": true, "secret.ts": false, "a.secret.yaml": true,
		"passwords.txt": true, "password_test.go": false, "password.sh": true, "passwort": false,
		"private.key": true, "my-private-key.der": true, "privatekey": true, "private": false, "private_key.go": false,
		"secrets.go/credentials.json": true, "secrets.go/x": false,
		"src/main.go": false, ".git/config": false, ".gitignore": false,
	} {
		m := memory.New(nil)
		r, err := policy.Restrict(m, policy.Rules{DenySensitive: true})
		if err != nil {
			t.Fatal(err)
		}
		write(t, m, name, "x")
		if _, err := r.ReadFile(t.Context(), name); errors.Is(err, workspace.ErrPolicy) != hidden || !hidden && err != nil {
			t.Errorf("ReadFile(%q) = %v, want it denied: %t", name, err, hidden)
		}
		if _, err := r.WriteFile(t.Context(), "new/"+name, nil, nil); errors.Is(err, workspace.ErrPolicy) != (hidden || name == ".git/config") {
			t.Errorf("WriteFile(%q) = %v, want it denied: %t", "new/"+name, err, hidden)
		}
	}
	if len(policy.SensitiveNames()) != 7 {
		t.Errorf("SensitiveNames() = %q", policy.SensitiveNames())
	}
}

// TestSensitiveGit tests that a repository can be read and not changed.
func TestSensitiveGit(t *testing.T) {
	m := memory.New(nil)
	write(t, m, "sub/.git/config", "x")
	write(t, m, "evil", "x")
	r, err := policy.Restrict(m, policy.Rules{DenySensitive: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range concat(writeCalls()[:2], makeCalls(), removeCalls()) {
		for _, name := range []string{"sub/.git/config", "sub/.git", ".git/hooks/pre-commit", ".GIT/x"} {
			if err := c.do(t.Context(), r, name); !errors.Is(err, workspace.ErrPolicy) {
				t.Errorf("%s(%q) = %v, want %v", c.op, name, err, workspace.ErrPolicy)
			}
		}
	}
	if err := r.Move(t.Context(), "evil", ".git/hooks/post-commit"); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Move into .git = %v, want %v", err, workspace.ErrPolicy)
	}
	if err := r.Rm(t.Context(), "sub", &workspace.RmOptions{Recursive: true}); err == nil || err.Error() != `rm sub: forbidden by policy: it holds .git: it can only be read: it matches sensitive, ".git"` {
		t.Errorf("Rm of a directory with a repository = %v", err)
	}
	if _, err := r.Copy(t.Context(), "sub/.git/config", "config"); err != nil {
		t.Errorf("Copy out of .git = %v", err)
	}
}

// TestSensitiveIsCompiledOnce opens one of many workspaces with these rules.
func TestSensitiveIsCompiledOnce(t *testing.T) {
	fsys := memory.New(nil)
	allocations := testing.AllocsPerRun(10, func() {
		if _, err := policy.Restrict(fsys, policy.Rules{DenySensitive: true}); err != nil {
			t.Error(err)
		}
	})
	if allocations > 10 {
		t.Errorf("Restrict with DenySensitive allocates %v times, want at most 10", allocations)
	}
}
