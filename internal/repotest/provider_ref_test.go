package repotest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestRef tests that a reference to a workspace of each kind opens it again in
// another process.
func TestRef(t *testing.T) {
	useStore(t)
	stub := stubEngine(t)
	tests := []struct {
		name, provider string
		kind           string
		copied         bool // what the second process writes must not show
	}{
		{"localbash", "{kind: localbash, root: files}", "localbash", false},
		{"memory", "{kind: memory}", "memory", true},
		{"objectstore", `{kind: objectstore, bucket: "${BUCKET}", prefix: refs, endpoint: "${S3_ENDPOINT}"}`, "objectstore", false},
		{"container", "{kind: container, container: box, engine: docker, workspaceDir: " + stub + "/files}", "container", false},
		{"image", "{kind: container, image: box, engine: docker, workspaceDir: " + stub + "/files}", "container", false},
		{"deployment", "{kind: kubernetes, pod: deploy/web, container: main, namespace: team, workspaceDir: " + stub + "/files}", "kubernetes", false},
		{"kubernetes", "{kind: kubernetes, pod: box, container: main, namespace: team, workspaceDir: " + stub + "/files}", "kubernetes", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { roundTrip(t, tt.provider, tt.kind, tt.copied) })
	}
}

// TestRefDocker tests the same with a real container, which lives until it is
// closed here.
func TestRefDocker(t *testing.T) {
	useEngine(t)
	roundTrip(t, `{kind: container, image: "debian:12", workspaceDir: /workspace}`, "container", false)
}

// roundTrip continues in a workspace with another process.
func roundTrip(t *testing.T, provider, kind string, copied bool) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "files"), 0o777); err != nil {
		t.Fatal(err)
	}
	ws := lookup(t, open(t, writeConfig(t, dir, "workspaces: {main: {provider: "+provider+"}}")), "main")
	ctx := t.Context()
	if _, err := ws.WriteFile(ctx, "a.txt", []byte("from the first"), nil); err != nil {
		t.Fatal(err)
	}
	if got, want := resolveElsewhere(t, ws), kind+" main: from the first"; got != want {
		t.Errorf("the second process prints %q, want %q", got, want)
	}
	data, err := ws.ReadFile(ctx, "b.txt")
	if copied && err == nil {
		t.Errorf("ReadFile(b.txt) = %q, want an error, as the second process has a copy", data)
	}
	if !copied && string(data) != "from the second" {
		t.Errorf("ReadFile(b.txt) = %q, %v, want what the second process wrote", data, err)
	}
	for _, name := range []string{"a.txt", "b.txt"} {
		if err := ws.Rm(ctx, name, nil); err != nil && !copied {
			t.Error(err)
		}
	}
}

// resolveElsewhere gives a reference to ws to another process, in another
// folder, and returns what that prints.
func resolveElsewhere(t *testing.T, ws *config.Workspace) string {
	t.Helper()
	ref, err := ws.Ref(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(ref)
	if err != nil {
		t.Fatal(err)
	}
	if secret := os.Getenv("AWS_SECRET_ACCESS_KEY"); secret != "" && bytes.Contains(data, []byte(secret)) {
		t.Errorf("the reference has the secret: %s", data)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), envResolve+"=1", "BUCKET=", "S3_ENDPOINT=", "AWS_REGION=")
	cmd.Stdin = bytes.NewReader(data)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the second process: %v: %s\n%s", err, complaint.String(), data)
	}
	return string(out)
}

// TestReadOnlyNotProbed tests that opening a read-only workspace sends no writes that ask
// what its store can do.
func TestReadOnlyNotProbed(t *testing.T) {
	server := s3test.New(t, nil)
	t.Setenv("AWS_ACCESS_KEY_ID", server.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.SecretAccessKey)
	url := "s3://workspace/p?probe=true&region=" + server.Region + "&endpoint=" + server.URL
	for _, readOnly := range []bool{true, false} {
		file := fmt.Sprintf("workspaces: {main: {provider: %q, fs: {readOnly: %v}}}", url, readOnly)
		ws := lookup(t, open(t, writeConfig(t, t.TempDir(), file)), "main")
		ref, err := ws.Ref(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for what, reopen := range map[string]func() (*config.Workspace, error){
			"Open":    func() (*config.Workspace, error) { return ws, nil },
			"Resolve": func() (*config.Workspace, error) { return workspacekit.NewRegistry().Resolve(t.Context(), ref) },
			"OpenURL": func() (*config.Workspace, error) {
				return workspacekit.NewRegistry().OpenURL(t.Context(), "main", url, config.FS{ReadOnly: readOnly})
			},
		} {
			again, err := reopen()
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			writes := func(r s3test.Request) bool { return r.Op != "ListObjectsV2" }
			if got := slices.ContainsFunc(server.Requests(), writes); got == readOnly {
				t.Errorf("%s with readOnly: %v sends writes: %v", what, readOnly, got)
			}
		}
	}
}

// TestRefGone tests what a reference says to something that is not there any
// more.
func TestRefGone(t *testing.T) {
	dir := t.TempDir()
	files := filepath.Join(dir, "files")
	if err := os.Mkdir(files, 0o777); err != nil {
		t.Fatal(err)
	}
	ws := lookup(t, open(t, writeConfig(t, dir, "workspaces: {main: {provider: {kind: localbash, root: files}}}")), "main")
	ref, err := ws.Ref(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(files); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(ref)
	if err != nil {
		t.Fatal(err)
	}
	err = resolve(bytes.NewReader(data), &bytes.Buffer{})
	const want = `the reference to the workspace "main" cannot be resolved: root: `
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Resolve = %v, want an error that begins with %q", err, want)
	}
}

// TestRefReplacedPod tests that a reference does not open another pod of the same name,
// unless it was written before references had the UID.
func TestRefReplacedPod(t *testing.T) {
	stub, dir := stubEngine(t), t.TempDir()
	ws := lookup(t, open(t, writeConfig(t, dir, "workspaces: {main: {provider: {kind: kubernetes, pod: box, container: main, namespace: team, workspaceDir: "+stub+"/files}}}")), "main")
	if _, err := ws.Stat(t.Context(), "."); err != nil {
		t.Fatal(err)
	}
	ref, err := ws.Ref(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	old := ref
	old.Payload = bytes.Replace(ref.Payload, []byte(`,"uid":"1"`), nil, 1)
	setUID(t, stub, "2")
	for _, tt := range []struct {
		name string
		ref  config.Ref
		want error
	}{{"with-uid", ref, container.ErrPodLost}, {"without", old, nil}} {
		again, err := workspacekit.NewRegistry().Resolve(t.Context(), tt.ref)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if _, err := again.Stat(t.Context(), "."); !errors.Is(err, tt.want) {
			t.Errorf("%s: Stat of what %s opens = %v, want %v", tt.name, tt.ref.Payload, err, tt.want)
		}
	}
}

// setUID sets the UID of the pod box.
func setUID(t *testing.T, dir, uid string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "kubectl.uid"), []byte(uid+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
}

// stubEngine puts programs named docker and kubectl onto the PATH, whose only
// container is this computer, and returns their folder, which has a folder
// "files".
func stubEngine(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "files"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"docker": `#!/bin/sh
case "$*" in
create*) echo made ;;
"start --attach --interactive made") echo; cat ;;
"rm --force --volumes made") ;;
"exec -i box /usr/bin/env -i "*" /bin/sh" | "exec -i made /usr/bin/env -i "*" /bin/sh") exec sh ;;
*) echo "stub: $*" >&2; exit 64 ;;
esac
`,
		"kubectl": `#!/bin/sh
case "$*" in
"--namespace=team get deploy/web "*)
	[ ! -e "$0.chosen" ] || { echo "a pod was chosen before" >&2; exit 64; }
	touch "$0.chosen"
	echo '{"kind": "Deployment", "spec": {"selector": {"matchLabels": {"app": "web"}}}}' ;;
"--namespace=team get pods "*) echo '{"items": [{"metadata": {"name": "box", "uid": "1"}, "status": {"phase": "Running"}}]}' ;;
"--namespace=team get pod box "*)
	read -r uid <"$0.uid"
	echo '{"kind": "Pod", "metadata": {"name": "box", "uid": "'"$uid"'"}}' ;;
"--namespace=team exec -i box -c main -- /usr/bin/env -i "*" /bin/sh") exec sh ;;
*) echo "stub: $*" >&2; exit 64 ;;
esac
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	setUID(t, dir, "1")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}
