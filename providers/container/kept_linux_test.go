package container_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/providers/container"
)

// keepingEngine stands in for an engine that has one container, while the file made is
// there; it runs while the file running is. A start with the file slow, and a shell
// with the file hang, say that they have begun by the files starting and hanging.
const keepingEngine = `cd '%s' || exit
case "$1 $2" in
create*)
	for flag; do
		case $flag in --label=io.github.workspacekit.keep=*) echo "${flag##*=}" >made ;; esac
	done
	echo number ;;
"container inspect")
	[ -e made ] || { echo "Error: No such container: $5" >&2; exit 1; }
	[ -e running ] && running=true || running=false
	echo '{"ID":"number","Name":"/named","Running":'$running',"Labels":{"io.github.workspacekit.name":"named","io.github.workspacekit.keep":"'$(cat made)'"}}' ;;
start*)
	if [ -e slow ]; then
		mv slow starting
		until [ -e go ]; do sleep 0.01; done
		exit 1
	fi
	touch running ;;
exec*)
	[ ! -e hang ] || { mv hang hanging; while read -r line; do :; done; exit; }
	exec sh ;;
rm*)
	case $* in *--force*) ;; *) [ ! -e running ] || exit 1 ;; esac
	rm -f made running ;;
esac
`

// keep returns the options of a container that is kept in such an engine, which is in dir.
func keep(t *testing.T, dir string) *container.Options {
	t.Helper()
	stub(t, "docker", fmt.Sprintf(keepingEngine, dir))
	return &container.Options{Image: "image", Root: t.TempDir(), Create: container.CreateOptions{Name: "named", Keep: true}}
}

// canceled opens f, cancels that once the file at exists, and continues what waits.
func canceled(t *testing.T, opts *container.Options, dir, at string, before func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opened := make(chan error, 1)
	go func() { opened <- second(container.Open(ctx, opts)) }()
	eventually(t, "nothing begins", func() error { return second(os.Stat(filepath.Join(dir, at))) })
	before()
	cancel()
	shell(t, dir, "touch go")
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("Open that is canceled = %v, want %v", err, context.Canceled)
	}
}

// hasContainer tests that the container is as it was.
func hasContainer(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"made", "running"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the container is not left as it was: %v", err)
		}
	}
}

// TestFailedOpenOfKeptContainer has starts that fail in a container which has been kept.
func TestFailedOpenOfKeptContainer(t *testing.T) {
	for name, fail := range map[string]func(t *testing.T, opts *container.Options, dir string){
		"missing-root": func(t *testing.T, opts *container.Options, _ string) {
			opts.Root += "/missing"
			if _, err := container.Open(t.Context(), opts); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Open of a missing Root = %v, want %v", err, fs.ErrNotExist)
			}
		},
		"canceled": func(t *testing.T, opts *container.Options, dir string) {
			shell(t, dir, "touch hang")
			canceled(t, opts, dir, "hanging", func() {})
		},
		"stopped": func(t *testing.T, opts *container.Options, dir string) {
			shell(t, dir, "touch hang")
			canceled(t, opts, dir, "hanging", func() { shell(t, dir, "rm running") })
			if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
				t.Errorf("a container that stopped meanwhile is deleted: %v", err)
			}
			shell(t, dir, "touch running")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			opts := keep(t, dir)
			if err := open(t, opts).Close(); err != nil {
				t.Fatal(err)
			}
			fail(t, opts, dir)
			hasContainer(t, dir)
		})
	}
}

// TestKeptContainerOfTwo cancels the creation of a container that somebody else uses by then.
func TestKeptContainerOfTwo(t *testing.T) {
	for _, wait := range [][2]string{{"slow", "starting"}, {"hang", "hanging"}} {
		t.Run(wait[0], func(t *testing.T) {
			dir := t.TempDir()
			opts := keep(t, dir)
			shell(t, dir, "touch "+wait[0])
			canceled(t, opts, dir, wait[1], func() {
				if _, err := open(t, opts).WriteFile(t.Context(), "file", nil, nil); err != nil {
					t.Error(err)
				}
			})
			hasContainer(t, dir)
		})
	}
}

// TestKeptContainerWithoutStart has a creation that fails before anybody can use the
// container, which is removed.
func TestKeptContainerWithoutStart(t *testing.T) {
	dir := t.TempDir()
	opts := keep(t, dir)
	shell(t, dir, "touch slow")
	canceled(t, opts, dir, "starting", func() {})
	if _, err := os.Stat(filepath.Join(dir, "made")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the container is left (%v)", err)
	}
}
