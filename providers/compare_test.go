// Package providers_test compares the providers of this module with each
// other: the same random operations must have the same results in all of them.
//
//	go test ./providers                                        # a few hundred
//	go test ./providers -rapid.checks=2000 -rapid.steps=100    # 200,000 in each
//	go test ./providers -parallel=32 -compare.time=1m          # for a minute
//	go test ./providers -run TestCompare/s3/sub -rapid.seed=42 # the same ones again
//
// S3 is left out unless the environment names a server; see package s3test.
package providers_test

import (
	"context"
	"crypto/rand"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/spf13/afero"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	aferofs "github.com/workspacekit/workspacekit/providers/afero"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

var compareTime = flag.Duration("compare.time", 0, "how long the longest comparison goes on; 0 means until -rapid.checks sequences have run")

// TestMain makes few comparisons unless a flag asks for more.
func TestMain(m *testing.M) {
	exhaustive.Quicken()
	flag.Parse()
	checks := "5"
	if *compareTime > 0 {
		checks = "100000"
	}
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", checks); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// backends open an empty file system of each kind.
var backends = []struct {
	name string
	// prepare returns what opens an empty one.
	prepare func(t *testing.T) func(t *testing.T) workspace.FileSystem
	// share divides the time: what waits for nothing does more in a tenth of it, and
	// then leaves the processors to the others.
	share time.Duration
}{
	{"memory", prepared(newMemory), 10},
	{"afero", prepared(newAfero), 10},
	{"localbash", prepared(newLocal), 2},
	{"shell", prepareShell, 1},
	{"s3", prepareS3, 1},
}

// wrapping is a way in which a file system is used.
type wrapping struct {
	name string
	wrap func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem
}

// wrappings are the ways in which every file system is used.
var wrappings = []wrapping{
	{"bare", func(_ *testing.T, fsys workspace.FileSystem) workspace.FileSystem { return fsys }},
	{"sub", sub},
	{"restrict", restrict},
	{"workspace", newWorkspace},
}

func TestCompare(t *testing.T) {
	for _, backend := range backends {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			open := backend.prepare(t)
			for _, wrapping := range wrappings {
				t.Run(wrapping.name, func(t *testing.T) {
					t.Parallel()
					compare(t, wrapping.name, *compareTime/backend.share, func(t *testing.T) workspace.FileSystem { return wrapping.wrap(t, open(t)) })
				})
			}
		})
	}
}

// compare compares with memory. Only a Workspace cleans names, so it is
// compared with one.
func compare(t *testing.T, wrapping string, limit time.Duration, newFS func(t *testing.T) workspace.FileSystem) {
	t.Helper()
	reference := newMemory
	if wrapping == "workspace" {
		reference = func(t *testing.T) workspace.FileSystem { return newWorkspace(t, newMemory(t)) }
	}
	conformance.Compare(t, reference, newFS, &conformance.CompareOptions{Time: limit})
}

// TestCompareWorkspace compares a Workspace with what it is for, where names
// are clean.
func TestCompareWorkspace(t *testing.T) {
	t.Parallel()
	conformance.Compare(t, newMemory, func(t *testing.T) workspace.FileSystem { return newWorkspace(t, newMemory(t)) },
		&conformance.CompareOptions{Time: *compareTime / 10, CleanNames: true})
}

// TestCompareSymlinks compares a shell's symlinks with those of a local folder.
func TestCompareSymlinks(t *testing.T) {
	t.Parallel()
	prepareShell(t)
	for _, wrapping := range slices.Concat(wrappings, []wrapping{{"exact", exact}}) {
		t.Run(wrapping.name, func(t *testing.T) {
			t.Parallel()
			var roots sync.Map // by file system
			rooted := func(open func(t *testing.T, dir string) workspace.FileSystem) func(t *testing.T) workspace.FileSystem {
				return func(t *testing.T) workspace.FileSystem {
					dir := filepath.Join(t.TempDir(), "root")
					if err := os.Mkdir(dir, 0o755); err != nil {
						t.Fatal(err)
					}
					fsys := wrapping.wrap(t, open(t, dir))
					if wrapping.name == "sub" {
						dir = filepath.Join(dir, subName)
					}
					roots.Store(fsys, dir)
					return fsys
				}
			}
			conformance.Compare(t, rooted(openLocal), rooted(openShell), &conformance.CompareOptions{
				Time:       *compareTime,
				CleanNames: wrapping.name == "workspace",
				Symlink: func(t *testing.T, fsys workspace.FileSystem, target, name string) {
					t.Helper()
					dir, _ := roots.Load(fsys)
					if err := os.Symlink(target, filepath.Join(dir.(string), name)); err != nil {
						t.Fatal(err)
					}
				},
			})
		})
	}
}

func prepared(open func(t *testing.T) workspace.FileSystem) func(t *testing.T) func(t *testing.T) workspace.FileSystem {
	return func(*testing.T) func(t *testing.T) workspace.FileSystem { return open }
}

func newMemory(*testing.T) workspace.FileSystem { return memory.New(nil) }

func newAfero(*testing.T) workspace.FileSystem { return aferofs.FromAfero(afero.NewMemMapFs(), nil) }

func newLocal(t *testing.T) workspace.FileSystem { return openLocal(t, t.TempDir()) }

func openLocal(t *testing.T, dir string) workspace.FileSystem {
	t.Helper()
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// prepareShell skips where a computer has no shell.
func prepareShell(t *testing.T) func(t *testing.T) workspace.FileSystem {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("needs sh: %v", err)
	}
	return newShell
}

// newShell is a container's shell on this computer.
func newShell(t *testing.T) workspace.FileSystem { return openShell(t, t.TempDir()) }

func openShell(t *testing.T, dir string) workspace.FileSystem {
	t.Helper()
	fsys, err := container.Open(t.Context(), &container.Options{Executor: container.Command{}, Root: dir, Shells: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// prepareS3 returns what opens a new prefix in the bucket that the environment
// names.
func prepareS3(t *testing.T) func(t *testing.T) workspace.FileSystem {
	t.Helper()
	server, ok := s3test.External(t)
	if !ok {
		t.Skip("there is no S3 server")
	}
	compat := objectstore.CompatFor(server.Endpoint)
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(server.Endpoint), Region: server.Region, UsePathStyle: compat.PathStyle,
		Credentials: credentials.NewStaticCredentialsProvider(server.AccessKeyID, server.SecretAccessKey, ""),
	})
	return func(t *testing.T) workspace.FileSystem {
		t.Helper()
		prefix := "compare-" + rand.Text()
		fsys, err := objectstore.New(client, &objectstore.Options{Bucket: server.Bucket, Prefix: prefix, Compat: &compat})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { clear(t, client, server.Bucket, prefix+"/") })
		return fsys
	}
}

// clear removes what is left in a prefix, in the store's own way.
func clear(t *testing.T, client *s3.Client, bucket, prefix string) {
	t.Helper()
	ctx := context.Background()
	for {
		page, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
		if err != nil {
			t.Error(err)
			return
		}
		if len(page.Contents) == 0 {
			return
		}
		for _, object := range slices.Backward(page.Contents) {
			if _, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: object.Key}); err != nil {
				t.Error(err)
				return
			}
		}
	}
}

// subName is hostile to globs.
const subName = "su[b]"

// sub returns a directory of fsys, beside files that nothing may find.
func sub(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
	t.Helper()
	if err := fsys.Mkdir(t.Context(), subName, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{subName + "-x/a", "a/b", "b"} {
		if _, err := fsys.WriteFile(t.Context(), name, []byte("a\nb\n"), nil); err != nil {
			t.Fatal(err)
		}
	}
	s, err := policy.Sub(fsys, subName)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exact is the view in which no name follows a symlink.
func exact(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
	t.Helper()
	view, err := workspace.Exact(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// restrict tests each name and denies none.
func restrict(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
	t.Helper()
	r, err := policy.Restrict(fsys, policy.Rules{AllowedPaths: []string{"**/*"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newWorkspace(_ *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
	return workspace.New("compared", fsys, &workspace.Options{MaxFileSize: -1})
}
