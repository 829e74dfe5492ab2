package main

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/workspace/config"
)

var update = flag.Bool("update", false, "rewrite the golden files of scripts")

func TestMain(m *testing.M) {
	exhaustive.Quicken()
	testscript.Main(m, map[string]func(){"workspace": func() { runProgram(locateInside) }, "test-agent": runAgent})
}

// locateInside is [config.Locate] without the files above the folder of the
// script or test, which the variable WORK names.
func locateInside(explicit, dir string, env func(string) (string, bool)) (config.Location, error) {
	file, err := config.Locate(explicit, dir, env)
	if work := os.Getenv("WORK"); file.Found && !strings.HasPrefix(file.Path, work+string(filepath.Separator)) {
		return config.Location{}, fs.ErrNotExist
	}
	return file, err
}

// scripts returns the scripts of testdata/script: some of them with -short.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*")
	if err != nil || len(all) == 0 {
		t.Fatalf("Glob = %q, %v, want scripts", all, err)
	}
	return exhaustive.Sampled(all, 4)
}

func TestScripts(t *testing.T) {
	store := s3test.New(t, nil)
	schema, err := filepath.Abs("../../docs/workspace.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SCHEMA", schema)
			env.Setenv("XDG_STATE_HOME", env.Getenv("WORK")+"/.state")
			env.Setenv("S3_ENDPOINT", store.URL)
			env.Setenv("S3_KEY", store.AccessKeyID)
			env.Setenv("S3_SECRET", store.SecretAccessKey)
			return os.Mkdir(env.Getenv("WORK")+"/empty", 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"await":  await,
			"object": object,
			"fill":   fill,
			"put":    put,
		},
	})
}

// exits runs a command and checks its exit code: exits 2 workspace nope.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	code := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exitCode(exit)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}
