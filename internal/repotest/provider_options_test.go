package repotest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestOptions tests what is said of options that are of the right type and
// cannot be used.
func TestOptions(t *testing.T) {
	tests := []struct{ name, provider, want string }{ // want is "" if they can be used
		{"container", "{kind: container, container: box}", ""},
		{"local-empty", `{kind: localbash, root: ""}`, "root: it is empty: name a folder"},
		{"local-unset", `{kind: localbash, root: "${WORKSPACEKIT_NOT_SET:-}"}`, "root: it is empty: name a folder"},
		{"local-url", `{kind: localbash, root: "file:///etc"}`, "root: it is a URL: name a folder by its path"},
		{"local-short-url", `{kind: localbash, root: "file:/etc"}`, "root: it is a URL: name a folder by its path"},
		{"local-other-url", `{kind: localbash, root: "s3://user:secret@bucket"}`, "root: it is a URL: name a folder by its path"},
		{"local-colon", `{kind: localbash, root: "./file:/etc"}`, ""},
		{"local-run", "{kind: localbash, root: ., run: {enabled: false, sandbox: off, network: true, env: {A: b}, readable: [../tools], readOnly: [.git/hooks], " +
			"limits: {processes: 9, openFiles: -1, memoryMb: 64, fileMb: 1, cpuTime: 10s}}}", ""},
		{"local-run-enabled", "{kind: localbash, root: ., run: {sandbox: off}}", `run needs the key "enabled"`},
		{"local-run-sandbox", "{kind: localbash, root: ., run: {enabled: true, sandbox: maybe}}", `:1:88: run.sandbox: "maybe" is no sandbox: use try, require or off`},
		{"local-run-name", "{kind: localbash, root: ., run: {enabled: true, readOnly: [a, ../b]}}", `run.readOnly[1]: "../b" is not a name below the folder`},
		{"local-run-glob", "{kind: localbash, root: ., run: {enabled: true, readOnly: ['*.go']}}", `run.readOnly[0]: "*.go" is a glob: name files and directories`},
		{"local-run-home", "{kind: localbash, root: ., run: {enabled: true, readable: [a, ~/b]}}", `run.readable[1]: "~/b" begins with "~", which is not expanded: use "${HOME}" instead`},
		{"local-run-limit", "{kind: localbash, root: ., run: {enabled: true, limits: {processes: -1, fileMb: -2}}}", "run.limits.fileMb: it cannot be negative, but for -1"},
		{"local-run-file-most", "{kind: localbash, root: ., run: {enabled: true, limits: {fileMb: 8796093022207}}}", ""},
		{"local-run-file-huge", "{kind: localbash, root: ., run: {enabled: true, limits: {fileMb: 8796093022208}}}", "run.limits.fileMb: 8796093022208 is too many MiB: -1 is no limit"},
		{"local-run-memory-huge", "{kind: localbash, root: ., run: {enabled: true, limits: {memoryMb: 17592186044417}}}", "run.limits.memoryMb: 17592186044417 is too many MiB"},
		{"local-run-files", "{kind: localbash, root: ., run: {enabled: true, limits: {openFiles: 15}}}", "run.limits.openFiles: a shell needs 16 at least"},
		{"local-run-files-enough", "{kind: localbash, root: ., run: {enabled: false, limits: {openFiles: 16}}}", ""},
		{"local-run-time", "{kind: localbash, root: ., run: {enabled: true, limits: {cpuTime: -5s}}}", "run.limits.cpuTime: it cannot be negative, but for -1s"},
		{"local-run-env", `{kind: localbash, root: ., run: {enabled: true, env: {"A=": b}}}`, `run.env: "A=" is not a variable`},
		{"container-engine-path", "{kind: container, container: box, engine: ./evil.sh}", `engine: "./evil.sh" is none of docker, podman, nerdctl`},
		{"container-engine-shell", "{kind: container, container: box, engine: sh}", `engine: "sh" is none of docker`},
		{"container-engine-url", `"docker://box?engine=/bin/sh"`, `engine: "/bin/sh" is none of docker`},
		{"container-engine-flag", "{kind: container, container: box, engineArgs: [-c, ls]}", `engineArgs: "-c" is none of the flags`},
		{"container-engine-config", "{kind: container, container: box, engineArgs: [--config=here]}", `engineArgs: "--config=here" is none of the flags`},
		{"container-engine-value", "{kind: container, container: box, engineArgs: [--context]}", "engineArgs: --context needs a value"},
		{"container-engine-no-value", "{kind: container, container: box, engineArgs: [--context, --host=x]}", "engineArgs: --context needs a value"},
		{"container-several", "{kind: container, image: box, cpus: -1, pids: -2}", "pids: it cannot be negative"},
		{"bucket-space", `{kind: objectstore, bucket: "my bucket"}`, `bucket: "my bucket" is not a name of a bucket`},
		{"container-neither", "{kind: container, engine: podman}", ":1:31: a container needs either the key container"},
		{"container-both", "{kind: container, container: box, image: debian}", "needs either the key container"},
		{"container-of-new", "{kind: container, container: box, memory: 512m}", ":1:73: memory: it is for a new container"},
		{"container-of-new-keep", "{kind: container, container: box, keep: true}", "keep: it is for a new container"},
		{"container-of-new-cpus", "{kind: container, container: box, cpus: 1.5}", "cpus: it is for a new container"},
		{"container-image", "{kind: container, image: debian, cpus: 1.5, pids: 16, memory: 1g, network: host, name: x, keep: true}", ""},
		{"container-keep-no-name", "{kind: container, image: debian, keep: true}", "keep: a container that is kept needs the key name, by which the next start finds it"},
		{"container-options", "{kind: container, image: debian, mounts: [{source: data, target: /data}, {source: /srv, target: /srv, writable: true}], readOnlyRoot: true, tmpfs: [/tmp], " +
			"env: {A: b}, dropCapabilities: [], noNewPrivileges: false, memory: unlimited, pids: -1, pull: never, platform: linux/arm64/v8}", ""},
		{"container-of-new-several", "{kind: container, container: box, pull: never, env: {A: b}}", "env: it is for a new container"},
		{"container-memory", "{kind: container, image: box, memory: lots}", `:1:69: memory: "lots" is not an amount of memory: use one such as 512m`},
		{"container-memory-zero", "{kind: container, image: box, memory: '0'}", `memory: "0" is not an amount of memory`},
		{"container-pids-few", "{kind: container, image: box, pids: 15}", "pids: 15 are too few: a search needs 16 at least"},
		{"container-pids", "{kind: container, image: box, pids: -2}", "pids: it cannot be negative, but for -1"},
		{"container-pull", "{kind: container, image: box, pull: sometimes}", `pull: "sometimes" is not a time to pull an image: use missing, always or never`},
		{"container-platform", "{kind: container, image: box, platform: arm64}", `platform: "arm64" is not a platform: use one such as linux/arm64`},
		{"container-name", "{kind: container, image: box, name: a/b}", `name: "a/b" is not a name of a container`},
		{"container-image-space", "{kind: container, image: Bad Image}", `:1:56: image: "Bad Image" has white space: correct it`},
		{"container-image-names", "{kind: container, image: 'registry.example:5000/A_b/c.d:v1@sha256:0123'}", ""},
		{"container-space", "{kind: container, container: my box}", `container: "my box" has white space`},
		{"container-env", "{kind: container, image: box, env: {A-B: c}}", `env: "A-B" is not a name of a variable`},
		{"container-mark", "{kind: container, image: box, env: {WORKSPACEKIT_RUN: c}}", `env: the variable WORKSPACEKIT_RUN is the provider's own`},
		{"container-env-number", "{kind: container, image: box, env: {A: 1}}", `A must be a text, and is the number 1: write it in quotes, "1"`},
		{"container-capability", "{kind: container, image: box, dropCapabilities: [NET_RAW, --privileged]}", `:1:89: dropCapabilities[1]: "--privileged" is not a capability`},
		{"container-mount-target", "{kind: container, image: box, mounts: [{source: a, target: /a}, {source: /b, target: b}]}", `:1:116: mounts[1].target: "b" is not absolute`},
		{"container-mount-twice", "{kind: container, image: box, mounts: [{source: a, target: /a}], tmpfs: [/a/]}", "tmpfs[0]: /a is there twice"},
		{"container-mount-root", "{kind: container, image: box, mounts: [{source: a, target: /}]}", "mounts[0].target: nothing can be mounted at /"},
		{"container-mount-option", "{kind: container, image: box, mounts: [{source: 'a,bind-propagation=shared', target: /a}]}", "mounts[0].source: it has a comma"},
		{"container-mount-key", "{kind: container, image: box, mounts: [{source: a}]}", `item 1 of mounts needs the key "target"`},
		{"container-tmpfs-option", "{kind: container, image: box, tmpfs: ['/a:suid']}", `tmpfs[0]: "/a:suid" has a colon`},
		{"container-relative", "{kind: container, container: box, workspaceDir: work}", `workspaceDir: "work" is not absolute`},
		{"container-negative", "{kind: container, container: box, shells: -1}", "shells: it cannot be negative"},
		{"container-negative-time", "{kind: container, container: box, timeout: -1s}", "timeout: it cannot be negative"},
		{"container-negative-cpus", "{kind: container, image: box, cpus: -1}", "cpus: it cannot be negative"},
		{"kubernetes", "{kind: kubernetes, pod: deploy/web, context: prod}", ""},
		{"kubernetes-no-pod", "{kind: kubernetes}", `needs the key "pod"`},
		{"kubernetes-flag", "{kind: kubernetes, pod: --help}", `pod: "--help" is not the name of a pod`},
		{"kubernetes-names", "{kind: kubernetes, pod: Deployment.v1.apps/web-1.x, namespace: team-a, container: '0'}", ""},
		{"kubernetes-pod", "{kind: kubernetes, pod: BAD pod!}", `pod: "BAD pod!" is not the name of a pod`},
		{"kubernetes-pod-type", "{kind: kubernetes, pod: /web}", `pod: "/web" is not the name of a pod`},
		{"kubernetes-namespace", "{kind: kubernetes, pod: web, namespace: -x}", `:1:71: namespace: "-x" is not a name: use lower-case letters, digits, and in between dashes`},
		{"kubernetes-container", "{kind: kubernetes, pod: web, container: a.b}", `container: "a.b" is not a name`},
		{"kubernetes-relative", "{kind: kubernetes, pod: web, workspaceDir: a}", "workspaceDir: "},
		{"bucket", "{kind: objectstore, bucket: b, prefix: team-a/, endpoint: '', pollInterval: 5s}", ""},
		{"bucket-timeouts", "{kind: objectstore, bucket: b, responseTimeout: 2m, idleTimeout: -1s}", ""},
		{"bucket-slash", "{kind: objectstore, bucket: b/c}", "bucket: "},
		{"bucket-prefix", "{kind: objectstore, bucket: b, prefix: /a}", `prefix: "/a" is not a name`},
		{"bucket-endpoint", "{kind: objectstore, bucket: b, endpoint: 'localhost:9000'}", "endpoint: it must be a URL"},
		{"bucket-all", `{kind: objectstore, bucket: "arn:aws:s3:eu-west-1:123456789012:accesspoint/files", expectedBucketOwner: "123456789012", requesterPays: true,
			assumeRole: {arn: "arn:aws:iam::123456789012:role/reader", externalID: ticket-7}, caFile: ca.pem, proxy: "http://proxy:3128", maxAttempts: 5, workers: 4, partSizeMb: 16,
			cacheSizeMb: -1, folderTTL: 10s, compat: {verifyETags: false, conditionalCopy: true}, encryption: {type: sse-kms, kmsKey: alias/files, bucketKey: true},
			newObjects: [{glob: "**", storageClass: STANDARD_IA, metadata: {team: a}}, {glob: "*.html", cacheControl: max-age=60}]}`, ""},
		{"bucket-sse-c", "{kind: objectstore, bucket: b, encryption: {type: sse-c, keyVariable: WORKSPACEKIT_NOT_SET}}", ""},
		{"bucket-sse-c-no-variable", "{kind: objectstore, bucket: b, encryption: {type: sse-c}}", ":1:74: encryption: sse-c needs the key keyVariable"},
		{"bucket-sse-c-http", "{kind: objectstore, bucket: b, endpoint: 'http://x', encryption: {type: sse-c, keyVariable: KEY}}", "encryption: sse-c sends the key with each request"},
		{"bucket-sse-s3-variable", "{kind: objectstore, bucket: b, encryption: {type: sse-s3, keyVariable: KEY}}", "encryption: a customer key is for the type sse-c"},
		{"bucket-part-size", "{kind: objectstore, bucket: b, partSizeMb: 4}", ":1:74: partSizeMb: a part has at least 5 MiB"},
		{"bucket-part-size-huge", "{kind: objectstore, bucket: b, partSizeMb: 17592186044416}", "partSizeMb: "},
		{"bucket-cache-size", "{kind: objectstore, bucket: b, cacheSizeMb: -17592186044416}", ":1:75: cacheSizeMb: -17592186044416 is no size in MiB"},
		{"bucket-index", "{kind: objectstore, bucket: b, index: true, indexMemoryMb: 16}", ""},
		{"bucket-index-size", "{kind: objectstore, bucket: b, index: true, indexMemoryMb: -1}", "indexMemoryMb: -1 is no size"},
		{"bucket-no-index", "{kind: objectstore, bucket: b, indexMemoryMb: 16}", "indexMemoryMb: there is no index"},
		{"bucket-several", "{kind: objectstore, bucket: b, workers: -1, maxAttempts: -1}", "maxAttempts: it cannot be negative"},
		{"bucket-anonymous", "{kind: objectstore, bucket: b, anonymous: true, profile: p}", "anonymous: it sends no credentials"},
		{"bucket-role", "{kind: objectstore, bucket: b, assumeRole: {arn: reader}}", `assumeRole: "reader" is not the ARN of a role`},
		{"bucket-sse-c-escape", `{kind: objectstore, bucket: b, encryption: {type: sse-c, keyVariable: "A\x1b[2J"}}`, "encryption: keyVariable is not the name of a variable"},
		{"bucket-role-escape", `{kind: objectstore, bucket: b, assumeRole: {arn: "arn:aws:iam::123456789012:role/a\nb"}}`, "is not the ARN of a role"},
		{"bucket-proxy", "{kind: objectstore, bucket: b, proxy: 'http://me:hunter2@proxy'}", "proxy: it has credentials"},
		{"bucket-rule", "{kind: objectstore, bucket: b, newObjects: [{glob: '**', storageClass: GLACIER}]}", "newObjects: rule 1: files of the storage class GLACIER"},
		{"bucket-credentials", "{kind: objectstore, bucket: b, endpoint: 'http://key:hunter2@localhost:9000'}", "endpoint: it has credentials"},
		{"bucket-interval", "{kind: objectstore, bucket: b, pollInterval: -5s}", "pollInterval: it cannot be negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := fmt.Sprintf("workspaces: {main: {provider: %s}}", tt.provider)
			_, err := config.Parse([]byte(text), &config.Options{Registry: workspacekit.NewRegistry()})
			if tt.want == "" && err != nil {
				t.Errorf("Parse(%s) = %v", text, err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Parse(%s) = %v, want an error with %q", text, err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("Parse(%s) shows a password: %v", text, err)
			}
		})
	}
}

// TestOptionsAtOnce tests that every problem of a provider's options is told, with
// its place.
func TestOptionsAtOnce(t *testing.T) {
	_, err := config.Parse([]byte(`workspaces:
  main:
    provider:
      kind: container
      image: box
      workspaceDir: work
      shells: -1
      timeout: -1s
      memory: lots
      cpus: -1
      pids: -2
      pull: x
      platform: x
      engine: sh
      env: {"": x}
      tmpfs: [/a, b]
      mounts:
        - source: a
          target: /a
`), &config.Options{Registry: workspacekit.NewRegistry()})
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		t.Fatalf("Parse = %v, want an error of the file", err)
	}
	var lines []int
	for _, problem := range wrong.Problems {
		lines = append(lines, problem.Line)
	}
	if want := []int{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16}; !slices.Equal(lines, want) {
		t.Errorf("the problems are in the lines %v, want %v:\n%v", lines, want, err)
	}
}

// TestURLs tests which options URLs stand for, by the references that keep
// them, and what is said of others.
func TestURLs(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	tests := []struct{ url, payload, wrong string }{
		{"docker://box", `{"container":"box","engine":"docker"}`, ""},
		{"docker://box/srv/files?engine=podman&user=me", `{"container":"box","engine":"podman","workspaceDir":"/srv/files","user":"me"}`, ""},
		{"docker://me@box/srv", "", "it has a user before the name: expected docker://"},
		{"docker:///srv", "", "it cannot be read"},
		{"docker://box?image=debian", "", `the parameter "image" is unknown`},
		{"docker://box?user=a&user=b", "", "the parameter user twice"},
		{"docker://box?a;b", "", "it cannot be read"},
		{"kubectl://web-1/srv?container=main&namespace=team&context=prod",
			`{"pod":"web-1","container":"main","namespace":"team","context":"prod","workspaceDir":"/srv"}`, ""},
		{"kubectl://web-1?node=a", "", `the parameter "node" is unknown: there are container, context, namespace`},
		{"s3://lake/team%20a/?endpoint=http://127.0.0.1:9000&pathStyle=true",
			`{"bucket":"lake","prefix":"team a/","region":"eu-west-1","endpoint":"http://127.0.0.1:9000","pathStyle":true}`, ""},
		{"s3://lake?index=true", `{"bucket":"lake","region":"eu-west-1","index":true}`, ""},
		{"s3://lake?index=maybe", "", "index is \"maybe\""},
		{"s3://lake", `{"bucket":"lake","region":"eu-west-1"}`, ""},
		{"s3://key:secret@lake", "", "credentials do not belong in a URL"},
		{"mem://", `{"dirs":[],"files":{}}`, ""},
		{"mem://a", "", "expected mem://"},
		{"file://host/a", "", "expected file:///path/of/a/folder"},
		{"file:///a?b=c", "", `the parameter "b" is unknown: there are index, relaxed, sync`},
		{"file:///none/such", "", "file does not exist"},
	}
	for _, tt := range tests {
		t.Run(tt.url, func(t *testing.T) {
			ws, err := workspacekit.NewRegistry().OpenURL(t.Context(), "main", tt.url, config.FS{})
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("OpenURL(%q) = %v, want an error with %q", tt.url, err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatalf("OpenURL(%q) = %v", tt.url, err)
			}
			defer ws.Close()
			ref, err := ws.Ref(t.Context())
			if err != nil || string(ref.Payload) != tt.payload {
				t.Errorf("Ref of %q keeps %s, %v, want %s", tt.url, ref.Payload, err, tt.payload)
			}
		})
	}
}
