package repotest_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestCustomerKey opens a bucket with a key from the environment, which neither
// errors nor references show.
func TestCustomerKey(t *testing.T) {
	const text = "workspaces: {main: {provider: {kind: objectstore, bucket: files, region: eu-west-1, caFile: ca.pem, encryption: {type: sse-c, keyVariable: FILES_KEY}}}}"
	noFile := strings.Replace(text, "caFile: ca.pem, ", "", 1)
	key := base64.StdEncoding.EncodeToString([]byte("hidden from all but the callers!"))
	for name, test := range map[string]struct{ file, key, want string }{
		"right":  {noFile, key, ""},
		"unset":  {noFile, "", "the variable FILES_KEY, which has the key, is not set"},
		"short":  {noFile, key[:40], "the variable FILES_KEY must have 32 bytes in base64"},
		"text":   {noFile, "hidden from all but the callers!", "the variable FILES_KEY must have 32 bytes in base64"},
		"caFile": {text, key, "caFile: the file does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("FILES_KEY", test.key)
			path := writeConfig(t, t.TempDir(), test.file)
			workspaces, err := workspacekit.Open(t.Context(), path)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), key[:20]) {
					t.Errorf("Open = %v, want %q and no key", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer workspaces.Close()
			ref, err := lookup(t, workspaces, "main").Ref(t.Context())
			const want = `{"bucket":"files","region":"eu-west-1","encryption":{"type":"sse-c","keyVariable":"FILES_KEY"}}`
			if err != nil || string(ref.Payload) != want {
				t.Errorf("Ref = %s, %v, want %s", ref.Payload, err, want)
			}
		})
	}
}

// TestGrantsOfURL tests that what the user is asked shows no part of a variable in a URL.
func TestGrantsOfURL(t *testing.T) {
	values := map[string]string{"BOX": "Hunter2/../zz q", "STORE": "s3://hunter2/h2?endpoint=https%3A%2F%2Fhunter2.example.org"}
	c, err := config.Load(writeConfig(t, t.TempDir(), `workspaces: { box: { provider: "docker://${BOX}" }, store: { provider: "${STORE}" } }`), &config.Options{
		Registry: workspacekit.NewRegistry(), Trust: config.NewTrustStore(""), Env: func(name string) (string, bool) { return values[name], true },
	})
	if err != nil {
		t.Fatal(err)
	}
	grants, err := c.Grants(t.Context(), workspacekit.NewRegistry())
	if err != nil || len(grants) != 4 {
		t.Fatalf("Grants = %q, %v, want two for each workspace, the last its variable", grants, err)
	}
	for i, want := range []string{`the container "${BOX}", by docker`, `the bucket "${STORE}" at ${STORE}, with your credentials`} {
		if got := grants[2*i].Text; got != want {
			t.Errorf("Grants of %s = %q, want %q", grants[2*i].Workspace, got, want)
		}
		if _, err := c.Open(t.Context(), workspacekit.NewRegistry(), grants[2*i].Workspace); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q) = %v, want an error with %q", grants[2*i].Workspace, err, want)
		}
	}
}

// TestStoreGrants tests that a bucket in a file that was found is not opened
// without trust, and that what the user is asked shows all it uses.
func TestStoreGrants(t *testing.T) {
	dir := t.TempDir()
	path := writeConfig(t, dir, `workspaces:
  main:
    provider: {kind: objectstore, bucket: files, endpoint: "https://store.example.org", assumeRole: {arn: "arn:aws:iam::123456789012:role/reader"}, requesterPays: true,
      caFile: ca.pem, proxy: "http://proxy.example.org", encryption: {type: sse-c, keyVariable: FILES_KEY}}
  public: {provider: {kind: objectstore, bucket: open, anonymous: true}}
`)
	c, err := config.Load(path, &config.Options{Registry: workspacekit.NewRegistry(), Trust: config.NewTrustStore("")})
	if err != nil {
		t.Fatal(err)
	}
	grants, err := c.Grants(t.Context(), workspacekit.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"main": {
			`the bucket "files" at https://store.example.org, as the role arn:aws:iam::123456789012:role/reader, which is assumed with your credentials, at your cost`,
			"the proxy http://proxy.example.org, through which the requests go",
			"the certificates in the file " + filepath.Join(dir, "ca.pem") + ", which are trusted",
			"the variable FILES_KEY of the environment, which is sent to the store as a key",
		},
		"public": {`the bucket "open", without credentials`},
	} {
		if _, err := c.Open(t.Context(), workspacekit.NewRegistry(), name); !errors.Is(err, config.ErrUntrusted) {
			t.Errorf("Open(%q) = %v, want %v", name, err, config.ErrUntrusted)
		}
		for _, use := range want {
			if !strings.Contains(fmt.Sprint(grants), use) {
				t.Errorf("grants = %q, want %q among them", grants, use)
			}
		}
	}
}
