package container_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestCommandLines(t *testing.T) {
	for _, test := range []struct {
		got  container.Command
		want string
	}{
		{container.Docker("name"), "docker exec -i name"},
		{container.Podman("name"), "podman exec -i name"},
		{container.Nerdctl("name"), "nerdctl exec -i name"},
	} {
		if got := strings.Join(test.got, " "); got != test.want {
			t.Errorf("the command is %q, want %q", got, test.want)
		}
	}
}

// stub puts a program on the PATH that stands in for a client: script in shell,
// with the arguments.
func stub(t *testing.T, name, script string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// gotPod answers kubectl get.
const gotPod = `case "$*" in
'--namespace=agents get pod pod --output=json' | '--namespace=agents get pod pod --ignore-not-found --output=json')
	echo '{"kind": "Pod", "metadata": {"name": "pod", "uid": "1"}}'
	exit ;;
esac
`

// TestClients works through clients that are not here: stand-ins that refuse
// any arguments but those that are right, and then are the shell inside.
func TestClients(t *testing.T) {
	exhaustive.NotShort(t, "runs many programs")
	for _, test := range []struct {
		name string
		args string
		opts container.Options
	}{
		{"kubectl", "--namespace=agents exec -i pod -c box -- ", container.Options{Executor: container.Kubectl("pod", "box", "--namespace=agents")}},
		{"nerdctl", "exec -i box ", container.Options{Executor: container.Nerdctl("box")}},
		{"podman", "exec -i --user 7 box ", container.Options{Container: "box", Engine: []string{"podman"}, User: "7"}},
		{"docker", "--context there exec -i box ", container.Options{Container: "box", Engine: []string{"docker", "--context", "there"}}},
		{"ssh", "host ", container.Options{Executor: container.Command{"ssh", "host"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			exhaustive.Sample(t, 3)
			shells := filepath.Join(t.TempDir(), "shells")
			stub(t, test.name, gotPod+fmt.Sprintf("[ \"$*\" = '%s' ] || { echo \"what is $*\" >&2; exit 1; }\necho $$ >>'%s'\nexec sh\n", test.args+started, shells))
			test.opts.Root = t.TempDir()
			smoke(t, open(t, &test.opts), shells)
		})
	}
}

// smoke makes one call of each kind. The process numbers of the shells are in
// the file shells.
func smoke(t *testing.T, f *container.FS, shells string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events, err := f.Watch(ctx, ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, f, "dir/it's", "needle\n")
	awaitEvent(t, events, "dir/it's")
	result, err := f.Grep(ctx, "needle", nil)
	if err != nil || !slices.Equal(matched(result), []string{"dir/it's"}) {
		t.Errorf("Grep = %+v, %v, want a match in %q", result, err, "dir/it's")
	}
	data, err := os.ReadFile(shells)
	if err != nil {
		t.Fatal(err)
	}
	for pid := range strings.FieldsSeq(string(data)) {
		shell(t, "/", "kill -9 "+pid+" 2>/dev/null || :")
	}
	if data, err := f.ReadFile(ctx, "dir/it's"); err != nil || string(data) != "needle\n" {
		t.Errorf("ReadFile after all shells were killed = %q, %v, want the file", data, err)
	}
	roundTrip(t, f, "dir/again", "x")
	if err := f.Close(); err != nil {
		t.Errorf("Close() = %v, want nil", err)
	}
	if _, err := f.ReadFile(ctx, "dir/again"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("ReadFile after Close = %v, want %q", err, fs.ErrClosed)
	}
}

// slowEngine is a stand-in for an engine that creates containers slowly: it has one
// while the file made is there, and continues when the file go is.
var slowEngine = `cd '%s' || exit
echo "$1" >>calls
case $1 in
create) while [ ! -e go ]; do sleep 0.01; done; touch made; echo number ;;
start) [ -e made ] || exit; echo; cat >/dev/null; rm -f made ;;
exec) shift; [ "$*" = "-i number ` + started + `" ] || exit; exec sh ;;
rm) rm -f made ;;
esac
`

// started is the command line of a shell.
var started = strings.Join(engine.ShellCommands[0], " ")

// TestLazyImage has calls that wait for a container to be made, and that give
// up or are ended meanwhile: none is left.
func TestLazyImage(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(t *testing.T, f *container.FS, cancel func())
		want error
	}{
		"cancel": {func(_ *testing.T, _ *container.FS, cancel func()) { cancel() }, context.Canceled},
		"close": {func(t *testing.T, f *container.FS, _ func()) {
			go func() { _ = f.Close() }()
		}, fs.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			stub(t, "docker", fmt.Sprintf(slowEngine, dir))
			f := open(t, &container.Options{Image: "image", Root: t.TempDir(), Lazy: true})
			if name := f.Container(); name != "" {
				t.Errorf("Container() before the start = %q, want none", name)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			called := make(chan error)
			go func() { called <- second(f.Stat(ctx, ".")) }()
			eventually(t, "no container is being made", func() error { return second(os.Stat(filepath.Join(dir, "calls"))) })
			test.end(t, f, cancel)
			shell(t, dir, "sleep 0.1; touch go")
			err := <-called
			isPathError(t, err, "stat", ".", test.want)
			if err := f.Close(); err != nil {
				t.Errorf("Close() = %v, want nil", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "made")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the container is left (%v)", err)
			}
		})
	}
}

func TestContainer(t *testing.T) {
	dir := t.TempDir()
	stub(t, "docker", fmt.Sprintf(slowEngine, dir))
	shell(t, dir, "touch go")
	for name, opts := range map[string]container.Options{
		"":       {Executor: container.Command{}},
		"named":  {Container: "named", Lazy: true},
		"number": {Image: "image"},
	} {
		opts.Root = t.TempDir()
		if got := open(t, &opts).Container(); got != name {
			t.Errorf("Container() of %+v = %q, want %q", opts, got, name)
		}
	}
}

// TestEngineForbidsLater has an engine that this user may no longer use after
// some calls: no search may end as if there were nothing.
func TestEngineForbidsLater(t *testing.T) {
	dir := t.TempDir()
	stub(t, "docker", `cd '`+dir+`' || exit
[ ! -e closed ] || { echo 'permission denied while trying to connect to the Docker daemon socket at unix:///run/docker.sock' >&2; exit 1; }
echo $$ >>shells
shift 3
exec "$@"
`)
	f := open(t, &container.Options{Container: "box", Root: t.TempDir()})
	if _, err := f.WriteFile(t.Context(), "dir/file", []byte("needle"), nil); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "touch closed; kill -9 $(cat shells)")
	for name, call := range map[string]func() error{
		"glob": func() error { return second(f.Glob(t.Context(), "**", nil)) },
		"grep": func() error { return second(f.Grep(t.Context(), "needle", nil)) },
		"ls":   func() error { return second(f.Ls(t.Context(), "dir", nil)) },
		"walk": func() error {
			return workspace.Walk(t.Context(), f, ".", nil, func(_ workspace.FileInfo, err error) error { return err })
		},
	} {
		checkEngineError(t, name, unnamed(call()), lasting, "this user may not use the engine")
	}
}
