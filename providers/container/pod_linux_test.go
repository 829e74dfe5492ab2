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
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// kubectl is a stand-in for a cluster in a directory: pods has what kubectl says about
// each pod, and root the files of the pod in which the last shell was opened. It
// gives each shell another pod if it is asked for one of several.
var kubectl = `cd '%s' || exit
echo "$*" >>calls
[ ! -e hang-$1 ] || { touch hangs; while [ -e hang-$1 ]; do sleep 0.02; done; }
[ ! -e down-$1 ] || { echo 'Unable to connect to the server: dial tcp 10.0.0.2:6443: i/o timeout' >&2; exit 1; }
case "$*" in
'get pods --selector=app=web --output=json')
	(cd pods && printf '{"items": [' && ls | sed '1!s/.*/,\n&/' | while read -r p; do [ "$p" = , ] && echo , || cat "$p"; done && echo ']}') ;;
'get pod '*)
	[ ! -e pods/$3 ] || exec cat pods/$3
	case $4 in --ignore-not-found) exit ;; esac
	echo "Error from server (NotFound): pods \"$3\" not found" >&2; exit 1 ;;
'get '*/*' --output=json')
	cat "kinds/${2%%%%/*}" ;;
'exec -i '*' -- ` + started + `' | 'exec -i '*' -- /usr/bin/env WORKSPACEKIT_RUN='*' /bin/sh')
	pod=$3
	case $pod in */*) pod=$(ls pods | sed -n $(($(wc -l <shells) %% $(ls pods | wc -l) + 1))p) ;; esac
	[ -e pods/$pod ] || { echo "Error from server (NotFound): pods \"$pod\" not found" >&2; exit 1; }
	uid=$(sed 's/.*"uid": "//;s/".*//' pods/$pod) last=$(cat last)
	[ $uid = $last ] || { mv root files-$last; mkdir -p files-$uid; mv files-$uid root; echo $uid >last; }
	echo $$ >>shells
	shift 4
	exec "$@" ;;
*) echo "stub: $*" >&2; exit 64 ;;
esac
`

// newCluster returns the directory of a cluster with two pods of several owners.
func newCluster(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	shell(t, dir, "mkdir pods kinds root; touch shells; echo none >last")
	putPod(t, dir, "web-1", "uid-1", "2026-01-02", "Running", true)
	putPod(t, dir, "web-2", "uid-2", "2026-01-03", "Running", true)
	for name, text := range map[string]string{
		"deploy": `{"kind": "Deployment", "spec": {"selector": {"matchLabels": {"app": "web"}}}}`,
		"svc":    `{"kind": "Service", "spec": {"selector": {"app": "web"}}}`,
		"all":    `{"kind": "Service", "spec": {}}`,
		"odd":    `{"kind": "Deployment", "spec": {"selector": {"matchExpressions": [{"key": "app", "operator": "Like"}]}}}`,
		"text":   `web is a deployment`,
	} {
		put(t, filepath.Join(dir, "kinds", name), text)
	}
	stub(t, "kubectl", fmt.Sprintf(kubectl, dir))
	return dir
}

func putPod(t *testing.T, dir, name, uid, created, phase string, ready bool) {
	t.Helper()
	put(t, filepath.Join(dir, "pods", name), fmt.Sprintf(
		`{"kind": "Pod", "metadata": {"name": %q, "uid": %q, "creationTimestamp": %q}, "status": {"phase": %q, "conditions": [{"type": "Ready", "status": %q}]}}`+"\n",
		name, uid, created, phase, map[bool]string{true: "True", false: "False"}[ready]))
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// killShells ends all shells that were opened, as a network does that fails.
func killShells(t *testing.T, dir string) {
	t.Helper()
	shell(t, dir, "for p in $(cat shells); do kill -9 $p || :; done 2>/dev/null")
}

// pods returns the pods in which kubectl was to open shells.
func pods(t *testing.T, dir string) []string {
	t.Helper()
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(calls)) {
		if words := strings.Fields(line); words[0] == "exec" {
			names = append(names, words[2])
		}
	}
	return names
}

func openPod(t *testing.T, dir, name string) *container.FS {
	t.Helper()
	return open(t, &container.Options{Executor: container.Kubectl(name, ""), Root: filepath.Join(dir, "root"), Lazy: true})
}

// TestPodStays reads what it has written, by one shell after the other, while
// pods come and go.
func TestPodStays(t *testing.T) {
	exhaustive.Long(t)
	for _, name := range []string{"deploy/web", "svc/web", "web-1"} {
		t.Run(name, func(t *testing.T) {
			dir := newCluster(t)
			f := openPod(t, dir, name)
			for i := range 3 {
				file, want := fmt.Sprintf("file-%d", i), fmt.Sprint("content ", i)
				if _, err := f.WriteFile(t.Context(), file, []byte(want), nil); err != nil {
					t.Fatal(err)
				}
				killShells(t, dir)
				if got, err := f.ReadFile(t.Context(), file); err != nil || string(got) != want {
					t.Errorf("ReadFile(%q) = %q, %v, want %q", file, got, err, want)
				}
				putPod(t, dir, fmt.Sprint("web-0", i), fmt.Sprint("uid-0", i), "2026-01-01", "Running", true)
			}
			if got := slices.Compact(pods(t, dir)); !slices.Equal(got, []string{"web-1"}) {
				t.Errorf("shells were opened in %q, want web-1 alone", got)
			}
		})
	}
}

// TestPodLost has the pod of an FS end in several ways.
func TestPodLost(t *testing.T) {
	exhaustive.NotShort(t, "waits for pods")
	for name, lose := range map[string]func(t *testing.T, dir string){
		"deleted":  func(t *testing.T, dir string) { shell(t, dir, "rm pods/web-1") },
		"evicted":  func(t *testing.T, dir string) { putPod(t, dir, "web-1", "uid-1", "2026-01-02", "Failed", false) },
		"replaced": func(t *testing.T, dir string) { putPod(t, dir, "web-1", "uid-3", "2026-01-04", "Running", true) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newCluster(t)
			f := openPod(t, dir, "deploy/web")
			roundTrip(t, f, "file", "content")
			lose(t, dir)
			killShells(t, dir)
			for what, call := range map[string]func() error{
				"read":  func() error { return second(f.ReadFile(t.Context(), "file")) },
				"write": func() error { return second(f.WriteFile(t.Context(), "file", []byte("new"), nil)) },
				"glob":  func() error { return second(f.Glob(t.Context(), "**", nil)) },
				"grep":  func() error { return second(f.Grep(t.Context(), "content", nil)) },
				"open":  func() error { _, _, err := f.Open(t.Context(), "file", nil); return err },
			} {
				err := call()
				if errors.Is(err, workspace.ErrUnavailable) { // a write that was under way
					err = call()
				}
				if !errors.Is(err, container.ErrPodLost) {
					t.Errorf("%s after the pod was %s = %v, want %q", what, name, err, container.ErrPodLost)
				}
				checkEngineError(t, what, unnamed(err), lasting, `the pod "web-1" of this workspace`)
			}
			if got := slices.Compact(pods(t, dir)); !slices.Equal(got, []string{"web-1"}) {
				t.Errorf("shells were opened in %q, want web-1 alone", got)
			}
			noShells(t, dir)
			again := openPod(t, dir, "deploy/web")
			if _, err := again.Stat(t.Context(), "file"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Stat in another pod = %v, want %q", err, fs.ErrNotExist)
			}
		})
	}
}

// noShells waits until no shell is left.
func noShells(t *testing.T, dir string) {
	t.Helper()
	noneRuns(t, filepath.Join(dir, "shells"))
}

// noneRuns waits until none of the processes runs whose numbers are in a file.
func noneRuns(t *testing.T, numbers string) {
	t.Helper()
	eventually(t, "processes are left", func() error {
		data, err := os.ReadFile(numbers)
		for pid := range strings.FieldsSeq(string(data)) {
			if _, err := os.Stat("/proc/" + pid); err == nil {
				return fmt.Errorf("the process %s runs", pid)
			}
		}
		return err
	})
}

// TestPodReplacedAtStart replaces the pod between the choice and the first shell.
// The next call has another choice.
func TestPodReplacedAtStart(t *testing.T) {
	dir := newCluster(t)
	put(t, filepath.Join(dir, "hang-exec"), "")
	f := openPod(t, dir, "web-1")
	called := make(chan error, 1)
	go func() { called <- second(f.Stat(t.Context(), ".")) }()
	eventually(t, "no shell is being opened", func() error { return second(os.Stat(filepath.Join(dir, "hangs"))) })
	putPod(t, dir, "web-1", "uid-3", "2026-01-04", "Running", true)
	shell(t, dir, "rm hang-exec")
	if err := <-called; !errors.Is(err, container.ErrPodLost) {
		t.Errorf("Stat = %v, want %q", err, container.ErrPodLost)
	}
	noShells(t, dir)
	roundTrip(t, f, "file", "content")
}

// TestPodReplacedBeforeCommand replaces the pod while kubectl is slow to start a command.
func TestPodReplacedBeforeCommand(t *testing.T) {
	for name, command := range map[string][]string{"runs": {"touch", "made"}, "refused": {"./only-in-the-old-pod"}} {
		t.Run(name, func(t *testing.T) {
			dir := newCluster(t)
			f := openPod(t, dir, "web-1")
			if _, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}}); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "hang-exec"), "")
			called := make(chan error, 1)
			go func() { called <- second(f.Run(t.Context(), &workspace.RunOptions{Command: command})) }()
			eventually(t, "no command is being started", func() error { return second(os.Stat(filepath.Join(dir, "hangs"))) })
			putPod(t, dir, "web-1", "uid-3", "2026-01-04", "Running", true)
			shell(t, dir, "rm hang-exec")
			err := <-called
			if !errors.Is(err, container.ErrPodLost) {
				t.Errorf("Run = %v, want %q", err, container.ErrPodLost)
			}
			checkEngineError(t, name, unnamed(err), lasting, `the pod "web-1" of this workspace`)
			if _, err := os.Stat(filepath.Join(dir, "root", "made")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the command ran in the new pod (%v)", err)
			}
		})
	}
}

// TestPodUnknown has a cluster that does not say whether a pod is the same: no
// shell is used that may be in another.
func TestPodUnknown(t *testing.T) {
	exhaustive.NotShort(t, "waits for pods")
	dir := newCluster(t)
	f := openPod(t, dir, "web-1")
	roundTrip(t, f, "file", "content")
	killShells(t, dir)
	put(t, filepath.Join(dir, "down-get"), "")
	checkEngineError(t, "down", unnamed(second(f.ReadFile(t.Context(), "file"))), workspace.ErrUnavailable, "the cluster does not answer")
	shell(t, dir, "rm down-get")
	checkEngineError(t, "hanging", unnamed(readHanging(t, dir, shortTimeout)), workspace.ErrUnavailable, "kubectl get did not answer")
	shell(t, dir, "rm hangs")
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error, 1)
	go func() { called <- second(f.ReadFile(ctx, "file")) }()
	eventually(t, "nobody asks", func() error { return second(os.Stat(filepath.Join(dir, "hangs"))) })
	begun := time.Now()
	cancel()
	isPathError(t, <-called, ops.ReadFile, "file", context.Canceled)
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("a canceled ReadFile returned after %v, want at once", took)
	}
	noShells(t, dir)
	shell(t, dir, "rm hang-get")
	roundTrip(t, f, "file", "new")
}

// readHanging returns the error of a read after kubectl get begins to hang. A machine
// that is too slow for the timeout gets a longer one.
func readHanging(t *testing.T, dir string, timeout time.Duration) error {
	t.Helper()
	f := open(t, &container.Options{Executor: container.Kubectl("web-1", ""), Root: filepath.Join(dir, "root"), Timeout: timeout, Lazy: true})
	_, err := f.ReadFile(t.Context(), "file")
	if err == nil {
		killShells(t, dir)
		put(t, filepath.Join(dir, "hang-get"), "")
		_, err = f.ReadFile(t.Context(), "file")
	}
	if timeout > 20*shortTimeout || strings.Contains(fmt.Sprint(err), "kubectl get") {
		return err
	}
	t.Logf("with a timeout of %v: %v", timeout, err)
	shell(t, dir, "rm -f hang-get hangs")
	return readHanging(t, dir, 4*timeout)
}

// TestPodChoice tests which pod is chosen of several.
func TestPodChoice(t *testing.T) {
	exhaustive.NotShort(t, "runs many programs")
	for _, test := range []struct {
		name    string
		arrange func(t *testing.T, dir string)
		want    string // empty for an error
		kind    error
		text    string
	}{
		{"deploy/web", func(t *testing.T, dir string) {
			putPod(t, dir, "web-1", "uid-1", "2026-01-02", "Running", false)
		}, "web-2", nil, ""},
		{"deploy/web", func(t *testing.T, dir string) {
			putPod(t, dir, "web-1", "uid-1", "2026-01-02", "Pending", false)
			putPod(t, dir, "web-2", "uid-2", "2026-01-03", "Running", false)
		}, "web-2", nil, ""},
		{"deploy/web", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "pods", "web-1"), `{"metadata": {"name": "web-1", "uid": "uid-1", "creationTimestamp": "2026-01-01", "deletionTimestamp": "2026-01-05"}, "status": {"phase": "Running"}}`)
		}, "web-2", nil, ""},
		{"deploy/web", func(t *testing.T, dir string) { shell(t, dir, "rm pods/*") }, "", workspace.ErrUnavailable, "none of its pods runs"},
		{"deploy/web", func(t *testing.T, dir string) {
			putPod(t, dir, "web-1", "uid-1", "2026-01-02", "Succeeded", false)
			shell(t, dir, "rm pods/web-2")
		}, "", workspace.ErrUnavailable, "none of its pods runs"},
		{"deploy/web", func(t *testing.T, dir string) {
			putPod(t, dir, "--kubeconfig=x", "uid-1", "2026-01-01", "Running", true)
		}, "", workspace.ErrUnavailable, "cannot be understood"},
		{"deploy/web", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "kinds", "deploy"), `{"spec": {"selector": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}, {"key": "old", "operator": "DoesNotExist"}]}}}`)
			stub(t, "kubectl", `[ "$3" != '--selector=tier in (a,b),!old' ] || set -- get pods --selector=app=web --output=json`+"\n"+fmt.Sprintf(kubectl, dir))
		}, "web-1", nil, ""},
		{"none", nil, "", lasting, "there is no such pod"},
		{"all/web", nil, "", lasting, "selects no pods"},
		{"odd/web", nil, "", errors.ErrUnsupported, "an unknown operator"},
		{"text/web", nil, "", workspace.ErrUnavailable, "cannot be understood"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := newCluster(t)
			if test.arrange != nil {
				test.arrange(t, dir)
			}
			err := second(openPod(t, dir, test.name).Stat(t.Context(), "."))
			if test.want == "" {
				checkEngineError(t, test.name, unnamed(err), test.kind, test.text)
				return
			}
			if got := pods(t, dir); err != nil || !slices.Equal(got, []string{test.want}) {
				t.Errorf("Stat = %v in a shell in %q, want %q", err, got, test.want)
			}
		})
	}
}
