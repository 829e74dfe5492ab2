package container_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
	"github.com/workspacekit/workspacekit/workspace"
)

// lasting stands in a table for an error of no kind: it stays as it is until
// somebody corrects it.
var lasting error

// TestEngineErrors has what the clients of engines say: Docker 20.10 and 28,
// Podman 4.3 and nerdctl 2, and kubectl 1.31.
func TestEngineErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		said string
		kind error
		text string
	}{
		// Docker
		{`Error response from daemon: No such container: box`, lasting, "there is no such container"},
		{"Error response from daemon: No such container: box\nError: failed to start containers: box", lasting, "there is no such container"},
		{`Error response from daemon: Container 8e525b2ef730a5e241e7b6049d8e9a515efa605bb0df00e696dcf05e0dc60af0 is not running`, workspace.ErrUnavailable, "the container is not running"},
		{`cannot exec in a stopped state: unknown`, workspace.ErrUnavailable, "the container is not running"},
		{`OCI runtime exec failed: exec failed: unable to start container process: error executing setns process: exit status 1: unknown`, workspace.ErrUnavailable, "the container is not running"},
		{`OCI runtime exec failed: exec failed: unable to start container process: read init-p: connection reset by peer: unknown`, workspace.ErrUnavailable, "the container is not running"},
		{`Error response from daemon: Container box is paused, unpause the container before exec`, workspace.ErrUnavailable, "the container is paused"},
		{`Error response from daemon: Conflict. The container name "/box" is already in use by container "8e525b2ef730". You have to remove (or rename) that container to be able to reuse that name.`, lasting, "another container has this name"},
		{`Error response from daemon: No such image: none:latest`, lasting, "there is no such image"},
		{"Unable to find image 'none:latest' locally\nError response from daemon: pull access denied for none, repository does not exist or may require 'docker login': denied: requested access to the resource is denied", fs.ErrPermission, "the registry does not give it"},
		{`Error response from daemon: pull access denied for none, repository does not exist or may require 'docker login'`, fs.ErrPermission, "the registry does not give it"},
		{`Error response from daemon: Head "https://ghcr.io/v2/x/manifests/latest": unauthorized`, fs.ErrPermission, "the registry does not give it"},
		{`Error response from daemon: Head "https://ghcr.io/v2/x/manifests/latest": denied`, fs.ErrPermission, "the registry does not give it"},
		{`Error response from daemon: Head "https://registry.gitlab.com/v2/x/manifests/latest": denied: access forbidden`, fs.ErrPermission, "the registry does not give it"},
		{"Error response from daemon: error from registry: denied\ndenied", fs.ErrPermission, "the registry does not give it"},
		{`Error response from daemon: Get "https://registry.internal/v2/x/manifests/latest": unauthorized: authentication required`, fs.ErrPermission, "the registry does not give it"},
		{"Unable to find image 'none:latest' locally\nError response from daemon: Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io on 10.255.255.53:53: no such host", workspace.ErrUnavailable, "cannot be reached"},
		{`Error response from daemon: manifest for debian:none not found: manifest unknown: manifest unknown`, lasting, "there is no such image"},
		{`Error response from daemon: toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading: https://www.docker.com/increase-rate-limit`, workspace.ErrUnavailable, "cannot be reached"},
		{`invalid reference format: repository name (library/Bad) must be lowercase`, lasting, "not the name of an image"},
		{`unable to find user nosuch: no matching entries in passwd file`, lasting, "no such user"},
		{`Error response from daemon: uids and gids must be in range 0-2147483647`, lasting, "refuses the number of the user"},
		{`OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown`, errors.ErrUnsupported, "no shell"},
		{"Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"sh\": executable file not found in $PATH: unknown\nError: failed to start containers: box", errors.ErrUnsupported, "no shell"},
		{`OCI runtime exec failed: exec failed: unable to start container process: chdir to cwd ("/nosuch") set in config.json failed: no such file or directory: unknown`, lasting, "no such working directory"},
		{`Error response from daemon: Cannot mkdir: /etc/passwd is not a directory`, workspace.ErrNotDir, "working directory is a file"},
		{`Error response from daemon: lstat /var/lib/docker/overlay2/b3c99a37e4c3/merged/etc/passwd/x: not a directory`, workspace.ErrNotDir, "working directory is a file"},
		{`Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error mounting "/etc/hostname" to rootfs at "/etc": mount /etc/hostname:/etc (via /proc/self/fd/6), flags: 0x5000: not a directory: unknown: Are you trying to mount a directory onto a file (or vice-versa)? Check if the specified host path exists and is the expected type`, lasting, "mounted on a file"},
		{"Error response from daemon: network nosuchnet not found\nError: failed to start containers: box", lasting, "no such network"},
		{`Error response from daemon: Minimum memory limit allowed is 6MB`, lasting, "refuses a limit"},
		{`Error response from daemon: Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available`, lasting, "refuses a limit"},
		{`Error response from daemon: image with reference box was found but does not match the specified platform: wanted linux/arm64, actual: linux/amd64`, errors.ErrUnsupported, "for this platform"},
		{`error parsing specified platform: "nonsense/x/y/z": cannot parse platform specifier: invalid argument`, errors.ErrUnsupported, "for this platform"},
		{`Error response from daemon: invalid mount config for type "bind": bind source path does not exist: /home/me/src`, lasting, "a folder to be mounted does not exist"},
		{`Error response from daemon: Invalid container name (a/b), only [a-zA-Z0-9][a-zA-Z0-9_.-] are allowed`, lasting, "not a name for a container"},
		{`Error response from daemon: client version 1.99 is too new. Maximum supported API version is 1.41`, errors.ErrUnsupported, "versions"},
		{"unknown flag: --platform\n\nUsage:  docker create [OPTIONS] IMAGE [COMMAND] [ARG...]\n\nRun 'docker create --help' for more information", errors.ErrUnsupported, "does not know one of the options"},
		{`Cannot connect to the Docker daemon at unix:///home/me/docker.sock. Is the docker daemon running?`, workspace.ErrUnavailable, "the engine does not answer"},
		{`error during connect: Get "http://build.internal:2375/v1.50/containers/x/json": dial tcp: lookup build.internal on 10.255.255.53:53: no such host`, workspace.ErrUnavailable, "the engine does not answer"},
		{"WARNING: Error loading config file: open /home/me/.docker/config.json: permission denied\nError response from daemon: No such container: box", lasting, "there is no such container"},
		{`permission denied while trying to connect to the Docker daemon socket at unix:///run/docker.sock: Get "http://%2Frun%2Fdocker.sock/v1.50/containers/x/json": dial unix /run/docker.sock: connect: permission denied`, fs.ErrPermission, "may not use the engine"},
		{`Failed to initialize: unable to resolve docker endpoint: context "none": context not found: open /home/me/.docker/contexts/meta/19ee/meta.json: no such file or directory`, lasting, "no such context"},
		{`Failed to initialize: unable to resolve docker endpoint: open /home/me/.docker/ca.pem: no such file or directory`, lasting, "no configuration that it can use"},
		{`Error response from daemon: mkdir /var/lib/docker/overlay2/4c: no space left on device`, workspace.ErrNoSpace, "no space"},
		// Podman
		{`Error: no container with name or ID "box" found: no such container`, lasting, "there is no such container"},
		{`Error: can only create exec sessions on running containers: container state improper`, workspace.ErrUnavailable, "the container is not running"},
		{`Error: creating container storage: the container name "box" is already in use by c5e591ccad3c. You have to remove that container to be able to reuse that name: that name is already in use`, lasting, "another container has this name"},
		{`Error: none: image not known`, lasting, "there is no such image"},
		{`Error: short-name "none" did not resolve to an alias and no unqualified-search registries are defined in "/etc/containers/registries.conf"`, lasting, "there is no such image"},
		{"Trying to pull localhost:1/x:latest...\ntime=\"2026-11-22T00:41:38Z\" level=warning msg=\"Failed, retrying in 1s ... (1/3).\"\nError: initializing source docker://localhost:1/x:latest: pinging container registry localhost:1: Get \"https://localhost:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused", workspace.ErrUnavailable, "cannot be reached"},
		{`Error: initializing source docker://ghcr.io/x:latest: reading manifest latest in ghcr.io/x: unauthorized`, fs.ErrPermission, "the registry does not give it"},
		{`Error: initializing source docker://none:latest: reading manifest latest in docker.io/library/none: requested access to the resource is denied`, fs.ErrPermission, "the registry does not give it"},
		{`Error: initializing source docker://ghcr.io/x:latest: Requesting bearer token: invalid status code from registry 403 (Forbidden)`, fs.ErrPermission, "the registry does not give it"},
		{`Error: invalid reference format`, lasting, "not the name of an image"},
		{`Error: runc: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: OCI runtime attempted to invoke a command that was not found`, errors.ErrUnsupported, "no shell"},
		{"env: 'sh': No such file or directory", errors.ErrUnsupported, "no shell"},
		{"/usr/bin/env: '/bin/sh': No such file or directory", errors.ErrUnsupported, "no shell"},
		{"env: can't execute '/bin/sh': No such file or directory", errors.ErrUnsupported, "no shell"},
		{"env: ‘sh’: No such file or directory", errors.ErrUnsupported, "no shell"},
		{"env: can't execute 'sh': No such file or directory", errors.ErrUnsupported, "no shell"},
		{"Error: crun: executable file `sh` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found", errors.ErrUnsupported, "no shell"},
		{`Error: unable to start container "8cc8": workdir "/nosuch" does not exist on container 8cc8`, lasting, "no such working directory"},
		{`Error: unable to start container "d98b": workdir "/etc/passwd" exists on container d98b, but is not a directory`, workspace.ErrNotDir, "working directory is a file"},
		{`Error: unable to start container "d98b": detecting workdir "/etc/passwd/x" on container d98b: stat /home/me/overlay/226d/merged/etc/passwd/x: not a directory`, workspace.ErrNotDir, "working directory is a file"},
		{`Error: OCI runtime error: unable to start container "87c3": runc: runc create failed: unable to start container process: error during container init: error mounting "/etc/hostname" to rootfs at "/etc": mount /etc/hostname:/etc (via /proc/self/fd/6), flags: 0x5000: not a directory`, lasting, "mounted on a file"},
		{`Error: OCI runtime error: unable to start container "5a97": runc: runc create failed: unable to start container process: error during container init: error mounting "tmpfs" to rootfs at "/etc/passwd": tmpcopyup: failed to copy /etc/passwd to /proc/self/fd/6 (/tmp/runctop2436924931/runctmpdir2638073550): stat /proc/self/fd/6/: not a directory`, lasting, "mounted on a file"},
		{`Error: unable to find network with name or ID nosuchnet: network not found`, lasting, "no such network"},
		{`Error: statfs /home/me/src: no such file or directory`, lasting, "a folder to be mounted does not exist"},
		{`Error: "CAP_NOPE": unknown capability`, errors.ErrUnsupported, "no such capability"},
		{`Error: OCI runtime error: unable to start container "e896": runc: runc create failed: unable to start container process: error during container init: error setting cgroup config for procHooks process: unable to set memory limit to 1024 (current usage: 2441216, peak usage: 2736128)`, lasting, "refuses a limit"},
		{`Error: minimum memoryswap limit should be larger than memory limit, see usage`, lasting, "refuses a limit"},
		{`Error: CPU cfs quota cannot be less than 1ms (i.e. 1000)`, lasting, "refuses a limit"},
		{`Error: strconv.ParseInt: parsing "1099511627776": value out of range`, lasting, "refuses a limit"},
		{`Error: unable to start container 2420afed5a1abc0704c8f092dd2165a4d0f1efc0dbc74d6be302b26d93dc3132: uids and gids must be in range 0-2147483647`, lasting, "refuses the number of the user"},
		{`Error: checking platform of image localhost/box:latest: parsing host platform: "nonsense/x/y/z": cannot parse platform specifier: invalid argument`, errors.ErrUnsupported, "for this platform"},
		{"Cannot connect to Podman. Please verify your connection to the Linux system using `podman system connection list`, or try `podman machine init` and `podman machine start` to manage a new Linux VM\nError: unable to connect to Podman socket: Get \"http://d/v4.3.1/libpod/_ping\": dial unix ///run/user/1000/podman/podman.sock: connect: no such file or directory", workspace.ErrUnavailable, "the engine does not answer"},
		{`time="2026-11-22T00:42:20Z" level=error msg="stat /root/.config/containers/storage.conf: permission denied"`, fs.ErrPermission, "denies permission"},
		// nerdctl
		{`time="2026-11-22T00:42:20Z" level=fatal msg="no such container box"`, lasting, "there is no such container"},
		{`FATA[0000] name-store error name "box" is already used by ID "0b1c"`, lasting, "another container has this name"},
		{`FATA[0000] image not available: "none"`, lasting, "there is no such image"},
		{`FATA[0000] failed to resolve reference "docker.io/library/none:latest": docker.io/library/none:latest: not found`, lasting, "there is no such image"},
		{`FATA[0000] failed to resolve reference "docker.io/library/none:latest": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`, fs.ErrPermission, "the registry does not give it"},
		{`time="2026-11-22T00:42:20Z" level=fatal msg="failed to resolve reference \"ghcr.io/x:latest\": unexpected status from HEAD request to https://ghcr.io/v2/x/manifests/latest: 401 Unauthorized"`, fs.ErrPermission, "the registry does not give it"},
		{`FATA[0000] failed to resolve reference "ghcr.io/x:latest": failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://ghcr.io/token?service=ghcr.io: 403 Forbidden`, fs.ErrPermission, "the registry does not give it"},
		{`FATA[0000] cannot access containerd socket "/run/containerd/containerd.sock": no such file or directory`, workspace.ErrUnavailable, "the engine does not answer"},
		{`FATA[0000] cannot access containerd socket "/run/containerd/containerd.sock": permission denied`, fs.ErrPermission, "may not use the engine"},
		{"FATA[0000] rootless containerd not running? (hint: use `containerd-rootless-setuptool.sh install` to start rootless containerd): stat /run/user/1000/containerd-rootless: no such file or directory", workspace.ErrUnavailable, "the engine does not answer"},
		{`WARN[0000] cgroup manager is set to "none", discarding resource limit requests. (Hint: enable cgroup v2 with systemd)` + "\n" + `FATA[0000] no such container box`, lasting, "there is no such container"},
		// kubectl
		{`Error from server (NotFound): pods "web" not found`, lasting, "there is no such pod"},
		{`Error from server (NotFound): deployments.apps "web" not found`, lasting, "there is no such pod"},
		{`Error from server (NotFound): namespaces "team" not found`, lasting, "no such namespace"},
		{`Error from server (Forbidden): pods "web" is forbidden: User "dev" cannot create resource "pods/exec" in API group "" in the namespace "shop"`, fs.ErrPermission, "the cluster forbids this"},
		{`error: You must be logged in to the server (Unauthorized)`, fs.ErrPermission, "does not accept the credentials"},
		{`error: unable to upgrade connection: Unauthorized`, fs.ErrPermission, "does not accept the credentials"},
		{`error: unable to upgrade connection: Forbidden (user=kube-apiserver, verb=create, resource=nodes, subresource=proxy)`, fs.ErrPermission, "the cluster forbids this"},
		{`error: context "prod" does not exist`, lasting, "no such context"},
		{`Error in configuration: context was not found for specified context: prod`, lasting, "no such context"},
		{`error: container box is not valid for pod web`, lasting, "the pod has no such container"},
		{`error: container box not found in pod web`, lasting, "the pod has no such container"},
		{`error: cannot exec into a container in a completed pod; current phase is Succeeded`, lasting, "the pod has ended"},
		{`error: the server doesn't have a resource type "deployx"`, lasting, "no such kind"},
		{`error: unable to upgrade connection: container not found ("web")`, workspace.ErrUnavailable, "the container is not running"},
		{`error: timed out waiting for the condition`, workspace.ErrUnavailable, "the container is not running"},
		{`The connection to the server 10.0.0.4:6443 was refused - did you specify the right host or port?`, workspace.ErrUnavailable, "the cluster does not answer"},
		{`Unable to connect to the server: dial tcp: lookup api.internal on 10.0.0.2:53: no such host`, workspace.ErrUnavailable, "the cluster does not answer"},
		{`Unable to connect to the server: x509: certificate signed by unknown authority`, lasting, "certificate"},
		{`Error from server: error dialing backend: dial tcp 10.0.0.5:10250: i/o timeout`, workspace.ErrUnavailable, "the cluster does not answer"},
		{`error: Internal error occurred: Internal error occurred: error executing command in container: failed to exec in container: failed to start exec "5c": OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown`, errors.ErrUnsupported, "no shell"},
		// ssh
		{`ssh: connect to host build.internal port 22: Connection refused`, workspace.ErrUnavailable, "ssh does not reach the host"},
		{`me@build.internal: Permission denied (publickey).`, fs.ErrPermission, "does not accept this user"},
		// unknown
		{`frobnicating "/home/my user/docker.sock" at 10.0.0.4:2375 or C:\pipe\docker: input/output error`, workspace.ErrUnavailable, "frobnicating [hidden] at [hidden] or [hidden] input/output error"},
		{``, workspace.ErrUnavailable, "without a word"},
	} {
		checkEngineError(t, test.said, ops.Error("open", "box", engine.Visible(engine.Fault(test.said)), nil), test.kind, test.text)
	}
}

// checkEngineError fails the test unless err is of the kind, has text and a
// remedy, and shows no path and no address.
func checkEngineError(t *testing.T, what string, err, kind error, text string) {
	t.Helper()
	kinds := []error{workspace.ErrUnavailable, errors.ErrUnsupported, fs.ErrPermission, workspace.ErrNoSpace, fs.ErrNotExist, fs.ErrExist, fs.ErrInvalid}
	for _, k := range kinds {
		if errors.Is(err, k) != (k == kind) {
			t.Errorf("%s: the error is %v, want the kind %v", what, err, kind)
		}
	}
	var remedied interface{ Remedy() string }
	if !errors.As(err, &remedied) || remedied.Remedy() == "" {
		t.Errorf("%s: the error is %v, want one with a remedy", what, err)
	}
	if err == nil || !strings.Contains(err.Error(), text) || strings.ContainsAny(strings.ReplaceAll(err.Error(), "input/output", ""), `/\@`) || strings.Contains(err.Error(), "internal") {
		t.Errorf("%s: the error is %v, want one with %q that shows no path and no address", what, err, text)
	}
}

// TestRealEngineErrors has the engines refuse.
func TestRealEngineErrors(t *testing.T) {
	inEngines(t, func(t *testing.T, r *running) {
		noShellImage(t, r)
		missing := filepath.Join(t.TempDir(), "none")
		for name, test := range map[string]struct {
			opts container.Options
			kind error
			text string
		}{
			"container":      {container.Options{Container: "workspacekit-test-none"}, lasting, "there is no such container"},
			"user":           {container.Options{Container: r.container, User: "nosuch"}, lasting, "no such user"},
			"reference":      {container.Options{Image: "Not:An:Image"}, lasting, "not the name of an image"},
			"image":          {container.Options{Image: "workspacekit-test-none", Create: container.CreateOptions{Pull: "never"}}, lasting, "there is no such image"},
			"platform":       {container.Options{Image: r.imageName(), Create: container.CreateOptions{Platform: "linux/s390x", Pull: "never"}}, r.platformKind(), ""},
			"mount":          {container.Options{Image: r.imageName(), Create: container.CreateOptions{Mounts: []container.Mount{{Source: missing, Target: "/m"}}}}, lasting, "a folder to be mounted does not exist"},
			"capability":     {container.Options{Image: r.imageName(), Create: container.CreateOptions{DropCapabilities: []string{"NO_SUCH"}}}, errors.ErrUnsupported, "no such capability"},
			"name":           {container.Options{Image: r.imageName(), Create: container.CreateOptions{Name: r.container}}, lasting, fmt.Sprintf("another container has the name %q", r.container)},
			"network":        {container.Options{Image: r.imageName(), Create: container.CreateOptions{Network: "workspacekit-test-none"}}, lasting, "there is no such network"},
			"memory":         {container.Options{Image: r.imageName(), Create: container.CreateOptions{Memory: "0.5"}}, lasting, "refuses a limit"},
			"new-no-shell":   {container.Options{Image: noShellName}, errors.ErrUnsupported, "no shell"},
			"no-such-client": {container.Options{Image: r.imageName(), Engine: []string{missing}}, errors.ErrUnsupported, "there is no none at the path given"},
			"no-right":       {container.Options{Image: r.imageName(), Engine: []string{t.TempDir()}}, fs.ErrPermission, "cannot be run"},
		} {
			if test.opts.Engine == nil {
				test.opts.Engine = r.engineArgs
			}
			f, err := container.Open(t.Context(), &test.opts)
			if err == nil {
				f.Close()
			}
			checkEngineError(t, name, unnamed(err), test.kind, test.text)
			r.run(t, "true") // in the container whose name was taken, which is still there
		}
	})
}

// platformKind returns the kind of the error about an image that is there, but for
// another platform. Podman looks for images of the platform alone.
func (r *running) platformKind() error {
	if r.name == "podman-busybox" {
		return lasting
	}
	return errors.ErrUnsupported
}

// unnamed returns what err says about the name that it is about, which a caller
// knows.
func unnamed(err error) error {
	if e := new(fs.PathError); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// noShellName is the name of an image with nothing in it that is a shell.
const noShellName = "workspacekit-test-no-shell"

// noShellImage makes that image for the length of the test.
func noShellImage(t *testing.T, r *running) {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "image.tar")
	shell(t, t.TempDir(), "mkdir -p bin proc && echo >bin/true && tar -cf '"+archive+"' .")
	engine := func(args ...string) *exec.Cmd {
		return exec.CommandContext(context.WithoutCancel(t.Context()), r.engineArgs[0], append(r.engineArgs[1:len(r.engineArgs):len(r.engineArgs)], args...)...)
	}
	if out, err := engine("import", archive, noShellName).CombinedOutput(); err != nil {
		t.Fatalf("import: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := engine("rmi", noShellName).CombinedOutput(); err != nil {
			t.Errorf("rmi: %v: %s", err, out)
		}
	})
}

// inEngines runs test in a container of each engine.
func inEngines(t *testing.T, test func(t *testing.T, r *running)) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no engines")
	}
	enginetest.Lookup(t, "WORKSPACEKIT_BUSYBOX_IMAGE")
	in(t, engines(), test)
}
