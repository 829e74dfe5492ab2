package shell_test

import (
	"context"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// rooted is a file system whose root has a path on a host.
type rooted struct {
	*memory.FS
	root string
}

// Root returns the path of the root.
func (r rooted) Root() string { return r.root }

// TestHostPaths runs scripts in a workspace with the root /app, with a directory app in it and without.
func TestHostPaths(t *testing.T) {
	t.Parallel()
	nested := map[string]string{"app/m/f": "inner\n", "m/f": "outer\n", "app/s.sh": "echo inner\n", "s.sh": "echo outer\n", "app/p": "a\n", "p": "a\n"}
	plain := map[string]string{"m/f": "outer\n", "s.sh": "echo outer\n"}
	for _, test := range []struct {
		files        map[string]string
		script, want string
	}{
		{nested, "cat app/m/f; rm app/m/f; cat m/f; cat app/m/f 2>/dev/null || echo none", "inner\nouter\nnone\n"},
		{nested, "cat /app/m/f <app/m/f; cat <app/m/f; cat <$PWD/app/m/f; cat </app/m/f", "inner\ninner\ninner\ninner\n"},
		{nested, "echo x >app/m/f; cat /app/m/f m/f; echo y >>/app/m/f; cat app/m/f", "x\nouter\nx\ny\n"},
		{nested, "find / -name f -exec cat {} \\;; find /app -name f -exec cat {} +; find app -name f | xargs cat", "inner\nouter\ninner\ninner\n"},
		{nested, "cd app; pwd; cat m/f; cd /app/m; pwd; cat f; cat ../../m/f; pushd /app >/dev/null; pwd; cat m/f", "/app\ninner\n/app/m\ninner\nouter\n/app\ninner\n"},
		{nested, "source app/s.sh; . /app/s.sh; app/s.sh; bash app/s.sh; . s.sh", "inner\ninner\ninner\ninner\nouter\n"},
		{nested, "rm app/p; [ -f app/p ] || [[ -f /app/p ]] || test -e app/p || echo none; ls p", "none\np\n"},
		{nested, "cat /app/*/f app/m/* /*/m/f; for f in /*; do [ -d $f ] && echo $f; done", "inner\ninner\ninner\n/app\n/m\n"},
		{nested, "printf -- '--- a/app/p\\n+++ b/app/p\\n@@ -1 +1 @@\\n-a\\n+b\\n' | patch -p1 -s; cat p app/p; realpath app/m/f", "a\nb\n/app/m/f\n"},
		{plain, "cat /app/m/f; cat </app/m/f; source /app/s.sh; [ -f /app/m/f ] && [[ -f /app/m/f ]] && cat /app/m/*", "outer\nouter\nouter\nouter\n"},
		{plain, "cd /app/m; pwd; cat f; cat /app/s.sh; [ -e app ] || cd ..; pwd; cd -; cd /app; pwd", "/m\nouter\necho outer\n/\n/m\n/\n"},
		{plain, "pushd /app/m >/dev/null; pwd; popd >/dev/null; pwd; HOME=/app/m; cd; pwd", "/m\n/\n/m\n"},
		{plain, "env -C /app/m cat f; env -C /app/m pwd; echo x >/app/m/g; cat m/g; find /app/m -name g -exec cat {} \\;", "outer\n/m\nx\nx\n"},
		{plain, "cd m; rm -rfv /app 2>&1; ls", "rm: it is dangerous to operate recursively on '/app'\nf\n"},
		{plain, "cat app/m/f 2>/dev/null; cat 2>/dev/null <app/m/f; cat //app/m/f 2>/dev/null || echo none", "none\n"},
		{plain, "[ -d app ] || test -e app/m/f || cd app 2>/dev/null || pushd app/m 2>/dev/null || realpath -e app 2>/dev/null || mkdir app && ls -d app /*", "/app\n/m\n/s.sh\napp\n"},
		{plain, "cd m; [ -e ../app/m/f ] || cd ../app/m 2>/dev/null || mkdir -p ../app/m && echo new >../app/m/f; cat /app/m/f f", "new\nouter\n"},
	} {
		fsys := rooted{memory.New(nil), "/app"}
		ws := workspace.New("repo", fsys, nil)
		for name, content := range test.files {
			if _, err := ws.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := output(t, shell.New([]*workspace.Workspace{ws}, nil), test.script); got != test.want {
			t.Errorf("%s:\n%q, want\n%q", test.script, got, test.want)
		}
	}
}

// TestHostPathsDeep has roots with several elements, also below /tmp.
func TestHostPathsDeep(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"/home/me/app", "/tmp/me/app"} {
		ws := workspace.New("repo", rooted{memory.New(nil), root}, nil)
		if _, err := ws.WriteFile(t.Context(), "d/f", []byte("x\n"), nil); err != nil {
			t.Fatal(err)
		}
		script := "cat ROOT/d/f; echo ROOT/*/f ROOT/d/* /home/*; echo y >ROOT/g; cat g; echo z >/tmp/g; cat /tmp/g; ls /tmp"
		want := "x\nROOT/d/f ROOT/d/f /home/*\ny\nz\ng\n"
		s := shell.New([]*workspace.Workspace{ws}, nil)
		if got := output(t, s, strings.ReplaceAll(script, "ROOT", root)); got != strings.ReplaceAll(want, "ROOT", root) {
			t.Errorf("in %s: %q", root, got)
		}
	}
}

// lateRoot is a file system whose root is known after FindRoot.
type lateRoot struct {
	rooted
	found bool
}

func (r *lateRoot) FindRoot(context.Context) error {
	r.found = true
	return nil
}

// Root returns "" before FindRoot.
func (r *lateRoot) Root() string {
	if !r.found {
		return ""
	}
	return r.rooted.Root()
}

// TestLateRoot has roots that are found when a script uses the first file. With a root below /tmp, the
// names of a file mean the same, absolute or relative, in every command.
func TestLateRoot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ root, script, want string }{
		{"/tmp/w", "cat /tmp/w/f; cat /tmp/w/f", "x\nx\n"},
		{"/tmp/w", "cd /tmp/w; cat f; pwd; cd /tmp/w; cat f", "x\n/\nx\n"},
		{"/tmp/w", "cd /tmp; mkdir w 2>&1; cd w && echo y >g; ls; echo *; cat $PWD/g; cat /g; ls .. | wc -l", "mkdir: cannot create directory 'w': File exists\nf\ng\nf g\ny\ny\n2\n"},
		{"/tmp/w", "cd /tmp; echo y >w/g; rm w/f; cd ..; ls; ls tmp 2>/dev/null || echo none", "g\nnone\n"},
		{"/tmp/w", "cd /dev/shm; mkdir v; cd v; cat ../../../tmp/w/f; cd /tmp; ls; [ -f w/f ] && test -d w && echo yes", "x\nv\nyes\n"},
		{"/tmp/a/b", "cd /tmp; mkdir -p a/b a/c; ls; cd a; ls; echo *; cat b/f; echo y >b/g; cat /g", "a\nc\nc\nx\ny\n"},
		{"/tmp/w", "mkdir tmp; cd tmp; mkdir w; echo y >w/f; cat w/f /tmp/w/f; cat /f", "y\ny\nx\n"},
		{"/app", "[ -e app/f ] || test -e app/f || echo none", "none\n"},
	} {
		ws := workspace.New("repo", &lateRoot{rooted: rooted{memory.New(nil), test.root}}, nil)
		if _, err := ws.WriteFile(t.Context(), "f", []byte("x\n"), nil); err != nil {
			t.Fatal(err)
		}
		if got := output(t, shell.New([]*workspace.Workspace{ws}, nil), test.script); got != test.want {
			t.Errorf("in %s, %s:\n%q, want\n%q", test.root, test.script, got, test.want)
		}
	}
}

// TestRootIsTmp has a root that is /tmp on its host: in the shell, that is the scratch space.
func TestRootIsTmp(t *testing.T) {
	t.Parallel()
	ws := workspace.New("repo", rooted{memory.New(nil), "/tmp"}, nil)
	if _, err := ws.WriteFile(t.Context(), "f", []byte("x\n"), nil); err != nil {
		t.Fatal(err)
	}
	s := shell.New([]*workspace.Workspace{ws}, nil)
	if got, want := output(t, s, "echo y >/tmp/g; ls /tmp; rm -r /tmp/*; ls /tmp; cat f"), "g\nx\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestHostDirectory has the directory of a run given as a host path.
func TestHostDirectory(t *testing.T) {
	t.Parallel()
	ws := workspace.New("repo", rooted{memory.New(nil), "/home/me/app"}, nil)
	if _, err := ws.WriteFile(t.Context(), "d/f", []byte("x\n"), nil); err != nil {
		t.Fatal(err)
	}
	s := shell.New([]*workspace.Workspace{ws}, nil)
	result, err := s.Run(t.Context(), "pwd; cat f; cat /home/me/app/d/f", &shell.RunOptions{Dir: "/home/me/app/d"})
	if err != nil || result.Output != "/d\nx\nx\n" || s.Dir() != "/d" {
		t.Errorf("Run = %+v, %v in %s, want the directory /d", result, err, s.Dir())
	}
}
