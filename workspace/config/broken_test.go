package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

var update = flag.Bool("update", false, "rewrite the golden files and the schema")

// secretValue is the value of the variable SECRET of the tests.
const secretValue = "hunter2"

// testEnv is an environment with few variables.
func testEnv(name string) (string, bool) {
	value, ok := map[string]string{
		"SECRET": secretValue, "SECRET_PATH": "hunter2/x", "BUCKET": "lake", "EMPTY": "", "HOME": "/home/me", "SIZE": "3", "ON": "true", "INJECT": "}\nx: y",
	}[name]
	return value, ok
}

// TestBrokenFiles tests the message of each broken file: it is in the golden
// file beside it.
func TestBrokenFiles(t *testing.T) {
	files := brokenFiles(t)
	if len(files) < 40 {
		t.Fatalf("there are %d broken files, want 40", len(files))
	}
	registry := workspacekit.NewRegistry()
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			_, err := config.Load(file, &config.Options{Name: filepath.Base(file), Env: testEnv, Registry: registry})
			var broken *config.Error
			if !errors.As(err, &broken) {
				t.Fatalf("Load(%q) = %v, want a *config.Error", file, err)
			}
			checkGolden(t, strings.TrimSuffix(file, ".yaml")+".golden", err.Error()+"\n")
			if strings.Contains(err.Error(), secretValue) {
				t.Errorf("Load(%q) shows a value of the environment:\n%v", file, err)
			}
		})
	}
}

func brokenFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func checkGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run the test with -update to write it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
