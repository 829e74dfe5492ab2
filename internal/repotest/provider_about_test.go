package repotest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// about returns what is said about the workspace that a provider opens.
func about(t *testing.T, provider string) (string, error) {
	t.Helper()
	c, err := config.Parse([]byte("workspaces: {main: {provider: "+provider+"}}"), &config.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Open(t.Context(), workspacekit.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	return opened.All()[0].About(t.Context())
}

func TestAbout(t *testing.T) {
	store := s3test.New(t, nil)
	t.Setenv("AWS_ACCESS_KEY_ID", store.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", store.SecretAccessKey)
	local := `^\S.* \(` + runtime.GOOS + "/" + runtime.GOARCH + `\)`
	if runtime.GOOS == "linux" {
		local = `^Linux \d+\.\S+ \(linux/` + runtime.GOARCH + `\)(, [a-z0-9/]+)?$`
	}
	for _, test := range []struct{ name, provider, want string }{
		{"localbash", "{kind: localbash, root: .}", local},
		{"memory", "mem://", "^the memory of this process$"},
		{"objectstore", "{kind: objectstore, bucket: workspace, endpoint: '" + store.URL + "'}", "^AmazonS3$"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := about(t, test.provider)
			if err != nil || !regexp.MustCompile(test.want).MatchString(got) {
				t.Errorf("About() = %q, %v, want it to match %s", got, err, test.want)
			}
		})
	}
}

func TestAboutMissingBucket(t *testing.T) {
	store := s3test.New(t, nil)
	t.Setenv("AWS_ACCESS_KEY_ID", store.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", store.SecretAccessKey)
	if got, err := about(t, "{kind: objectstore, bucket: nope, endpoint: '"+store.URL+"'}"); err == nil {
		t.Errorf("About() = %q, want an error", got)
	}
}

// TestAboutContainers runs stubs of the clients: those of a container and a pod
// ask differently.
func TestAboutContainers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stubs of the clients are shell scripts")
	}
	dir := t.TempDir()
	for name, answer := range map[string]string{
		"docker":  `{"Server":{"Version":"27.0","Os":"linux","Arch":"arm64"}}`,
		"kubectl": `{"serverVersion":{"gitVersion":"v1.30.2"}}`,
		"broken":  "",
	} {
		script := "#!/bin/sh\ncase \"$*\" in *version*) echo '" + answer + "';; get*) echo '{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"1\"}}';; *) shift $(($# - 1)); exec \"$1\";; esac\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, test := range []struct{ name, provider, engine, want string }{
		{"container", "{kind: container, container: c, workspaceDir: '" + dir + "'}", "", "Docker Engine 27.0 (linux/arm64)"},
		{"nothing", "{kind: container, container: c, workspaceDir: '" + dir + "'}", "broken", ""},
		{"kubernetes", "{kind: kubernetes, pod: p, workspaceDir: '" + dir + "'}", "", "Kubernetes v1.30.2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv(container.EnvEngine, test.engine)
			if got, err := about(t, test.provider); err != nil || got != test.want {
				t.Errorf("About() = %q, %v, want %q", got, err, test.want)
			}
		})
	}
}
