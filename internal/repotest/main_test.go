package repotest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/cli"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// envResolve turns the test binary into a program that opens what a reference
// on its standard input refers to.
const envResolve = "WORKSPACEKIT_TEST_RESOLVE"

func TestMain(m *testing.M) {
	if os.Getenv(envResolve) == "" {
		exhaustive.Quicken()
		testscript.Main(m, map[string]func(){"workspace": runWorkspace})
	}
	if err := resolve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runWorkspace is the program workspace.
func runWorkspace() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, config.Locate))
}

// resolve continues in the workspace that in refers to: it prints a.txt, and
// writes b.txt.
func resolve(in io.Reader, out io.Writer) error {
	var ref config.Ref
	if err := json.NewDecoder(in).Decode(&ref); err != nil {
		return err
	}
	ctx := context.Background()
	ws, err := workspacekit.NewRegistry().Resolve(ctx, ref)
	if err != nil {
		return err
	}
	defer ws.Close()
	data, err := ws.ReadFile(ctx, "a.txt")
	if err != nil {
		return err
	}
	if _, err := ws.WriteFile(ctx, "b.txt", []byte("from the second"), nil); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s %s: %s", ws.Kind(), ws.Name(), data)
	return err
}
