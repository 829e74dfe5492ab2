package repotest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// schemes are the kinds of provider that URLs name, with the form of the URLs and an
// example.
var schemes = []struct {
	name          string
	kind          kind.Kind
	form, example string
	about         string
}{
	{"memory", memory.Kind(), "mem://", "mem://", ""},
	{"localbash", localbash.Kind(), "file:///PATH", "file:///srv/my%20files?sync=true",
		"The path is absolute, on Windows with a drive: `file:///C:/folder`."},
	{"objectstore", objectstore.Kind(), "s3://BUCKET/PREFIX", "s3://team-files/notes/?endpoint=http://127.0.0.1:9000&region=us-east-1",
		"The prefix is optional. Credentials are refused."},
	{"container", container.Kind(), "docker://CONTAINER/DIRECTORY", "docker://box/srv/files?engine=podman",
		"The container must be running. The directory is optional."},
	{"kubernetes", container.PodKind(), "kubectl://POD/DIRECTORY", "kubectl://web-1/srv?namespace=team",
		"The directory is optional. `kubectl://deploy/web` is the directory `/web` of the pod `deploy`: a selection needs a file."},
}

const urlsHead = `# URLs and environment variables

A URL names a workspace: in [workspace.yaml](config.md#workspaces) in place of the workspace or
its ` + "`provider`" + `, after ` + "`-C`" + ` and ` + "`-w`" + ` of the [command](command.md), and for ` + "`Registry.OpenURL`" + ` in Go.
` + "`%20`" + ` is a space.
`

// TestURLsPage keeps docs/urls.md: which parameters each scheme has is tried.
func TestURLsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(urlsHead)
	for _, s := range schemes {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", s.form, strings.TrimSpace(s.kind.Summary+" "+s.about))
		options, err := s.kind.ParseURL(s.example)
		if err != nil || !strings.HasPrefix(s.example, s.kind.Scheme+"://") {
			t.Errorf("ParseURL(%q) = %v", s.example, err)
			continue
		}
		text, err := json.Marshal(options)
		if err != nil {
			t.Fatal(err)
		}
		spelled := strings.TrimSuffix(`{"kind":"`+s.name+`",`+strings.TrimPrefix(string(text), "{"), ",}")
		if !strings.HasSuffix(spelled, "}") {
			spelled += "}"
		}
		fmt.Fprintf(&b, "`%s` is the same as\n\n```json\n%s\n```\n", s.example, spelled)
		if names := parameters(s.kind, s.example); len(names) > 0 {
			fmt.Fprintf(&b, "\nParameters, among the [options](config-reference-providers.md#%s): `%s`.\n", s.name, strings.Join(names, "`, `"))
		}
	}
	b.WriteString("\n## Environment variables\n\n| variable | who reads it | meaning |\n|---|---|---|\n")
	for _, v := range variables {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.ReplaceAll(v.name, ", ", "`, `"), v.reader, v.meaning)
	}
	golden(t, "docs/urls.md", b.String())
}

// parameters returns the options of a kind that its URLs accept as parameters.
func parameters(k kind.Kind, example string) (names []string) {
	base, _, _ := strings.Cut(example, "?")
	for i := range reflect.TypeOf(k.Options).NumField() {
		field := reflect.TypeOf(k.Options).Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		accepted := slices.ContainsFunc([]string{"true", "1s", "http://127.0.0.1", "x", "docker"}, func(value string) bool {
			_, err := k.ParseURL(base + "?" + url.Values{name: {value}}.Encode())
			return err == nil
		})
		if accepted {
			names = append(names, name)
		}
	}
	return names
}

const (
	program = "the command"
	sdk     = "`objectstore`, by the AWS SDK"
	clients = "the client of the engine"
)

// variables are the variables of the environment that have a meaning. Libraries and
// other programs read those from AWS_ACCESS_KEY_ID on.
var variables = []struct{ name, reader, meaning string }{
	{"WORKSPACE_CONFIG", program + ", `workspacekit.Open` without a path", "the file; `--config` takes precedence"},
	{"WORKSPACE_ENGINE", "`container` in files and URLs, `workspace gc`", "the engine's client, if the options name none: `docker`, `podman`, `nerdctl` or the path of a program"},
	{"WORKSPACE_MCP_TOKEN", "`workspace mcp --http`", "the tokens that clients may send, one on each line"},
	{"WORKSPACE_WEBDAV_TOKEN", "`workspace webdav`", "the same"},
	{"NO_COLOR", program, "if it is not empty, output has no colors without `--color always`"},
	{"TERM", program, "if it is `dumb`, the same"},
	{"PATH", "`container`, `kubernetes`, `localbash`, `git: {stage: true}`", "where docker, podman, nerdctl, kubectl, bwrap and git are, and the programs of [commands](running-locally.md)"},
	{"XDG_STATE_HOME", program + ", `workspacekit.Open`", "where `workspace/trusted.json` records trusted files; if it is no absolute path, `~/.local/state`, or `%LocalAppData%` on Windows"},
	{"AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN", sdk, "credentials"},
	{"AWS_PROFILE", sdk, "the profile, if the options name none; credentials in variables take precedence"},
	{"AWS_REGION, AWS_DEFAULT_REGION", sdk, "the region, if the options name none; the first takes precedence, then the second, then the profile"},
	{"AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL", sdk, "the URL of the store, if the options name none"},
	{"AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL", sdk, "the URL for `assumeRole`"},
	{"AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE", sdk, "a role, and the file with a token for it"},
	{"AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE", sdk, "the files of profiles, by default `~/.aws/config` and `~/.aws/credentials`"},
	{"AWS_CA_BUNDLE", sdk, "a file of certificates to trust, instead of those of the system unless there is a `caFile`"},
	{"AWS_MAX_ATTEMPTS", sdk, "`maxAttempts`, if the options have none"},
	{"AWS_EC2_METADATA_DISABLED", sdk, "`true`: ask no metadata service of EC2 for credentials"},
	{"TMPDIR", "`localbash`", "a directory, not in the folder, for the `HOME` of commands"},
	{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "`objectstore`", "the proxy, if the options name none; not for localhost"},
	{"DOCKER_HOST, DOCKER_CONTEXT", clients, "the engine to use; Podman reads `CONTAINER_HOST`"},
	{"KUBECONFIG", "kubectl", "the file of clusters and contexts"},
}

// TestVariablesAreListed tests that docs/urls.md has every variable that the code reads,
// and no variable of this project that it does not read.
func TestVariablesAreListed(t *testing.T) {
	reads := regexp.MustCompile(`(?:Getenv|LookupEnv)\("([A-Z_]+)"\)|"(WORKSPACE_[A-Z_]+)"`)
	elsewhere := regexp.MustCompile(`_test\.go$|^bench/|^internal/\w+test/|^internal/exhaustive/`)
	found := map[string]bool{}
	for _, name := range files(t, ".go") {
		if elsewhere.MatchString(name) {
			continue
		}
		for _, match := range reads.FindAllStringSubmatch(read(t, name), -1) {
			found[match[1]+match[2]] = true
		}
	}
	var listed []string
	for _, v := range variables {
		if strings.HasPrefix(v.name, "AWS_") {
			break
		}
		listed = append(listed, v.name)
	}
	slices.Sort(listed)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(found)), listed); diff != "" {
		t.Errorf("the variables that the code reads differ from those in docs/urls.md (-code +page):\n%s", diff)
	}
}
