package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/workspace/config"
)

func TestMaxMessage(t *testing.T) {
	const most = (math.MaxInt - 1<<20) / escaped
	for file, want := range map[int64]int{
		1:             mcp.DefaultMaxMessage,
		100 << 20:     601 << 20,
		most:          most*escaped + 1<<20,
		most + 1:      math.MaxInt,
		math.MaxInt64: math.MaxInt,
	} {
		if got := maxMessage(file); got != want {
			t.Errorf("maxMessage(%d) = %d, want %d", file, got, want)
		}
	}
}

// TestInstructions tests that the instructions name only tools that the client has.
func TestInstructions(t *testing.T) {
	file := filepath.Join(t.TempDir(), config.FileName)
	const both = " Search with grep and glob before you read, and read a file before you change it."
	for settings, want := range map[string]string{
		"":                      both,
		"disable: [ls]":         both,
		"disable: [grep]":       " Search with glob before you read, and read a file before you change it.",
		"disable: [glob]":       " Search with grep before you read, and read a file before you change it.",
		"disable: [grep, glob]": " Read a file before you change it.",
		"dialect: claude-code":  " Read a file before you change it.",

		"}\nworkspaces: {a: {provider: mem://, fs: {readOnly: true}}":                     " Search with grep and glob before you read.",
		"dialect: claude-code}\nworkspaces: {a: {provider: mem://, fs: {readOnly: true}}": "",
	} {
		text := fmt.Sprintf("tools: {%s}\n", settings)
		if !strings.Contains(settings, "workspaces") {
			text += "workspaces: {a: mem://, b: mem://}\n"
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		root := &cobra.Command{}
		flags := target.NewFlags(root, config.Locate)
		if err := root.PersistentFlags().Parse([]string{"--config", file}); err != nil {
			t.Fatal(err)
		}
		opened, err := flags.OpenTools(t.Context(), target.ToolFlags{})
		if err != nil {
			t.Fatal(err)
		}
		opened.Close()
		if got := instructions(opened); !strings.HasSuffix(got, "have forward slashes."+want) {
			t.Errorf("tools: {%s}: the instructions are %q, want %q at the end", settings, got, want)
		}
	}
}

// TestGreatestFile tests that messages are as large as the workspace with the
// greatest limit needs them.
func TestGreatestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), config.FileName)
	const text = `workspaces: {a: {provider: mem://, fs: {maxFileSizeMb: 30}}, b: {provider: mem://, fs: {maxFileSizeMb: 3}}, c: mem://}`
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want int64
	}{
		{[]string{"--config", file}, 30 << 20},
		{[]string{"--config", file, "-w", "b"}, 3 << 20},
		{[]string{"--config", file, "-w", "b", "-w", "c"}, 10 << 20},
		{[]string{"-w", "mem://", "--max-file-size-mb", "5"}, 5 << 20},
	} {
		root := &cobra.Command{}
		flags := target.NewFlags(root, config.Locate)
		if err := root.PersistentFlags().Parse(test.args); err != nil {
			t.Fatal(err)
		}
		opened, err := flags.OpenTools(t.Context(), target.ToolFlags{})
		if err != nil {
			t.Fatal(err)
		}
		opened.Close()
		if opened.MaxFileSize != test.want {
			t.Errorf("%q: the greatest file has %d bytes, want %d", test.args, opened.MaxFileSize, test.want)
		}
	}
}

// TestListenTaken tests that the error of a port that is taken says how to choose another one.
func TestListenTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	h := httpFlags{address: taken.Addr().String()}
	if _, err := h.listen(t.Context()); err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), "0 for any free one") {
		t.Errorf("listen() = %v, want that 0 is any free port", err)
	}
}

// TestListenInterrupted tests that a server that is ended while it asks for the address of a
// name is interrupted, and has not failed.
func TestListenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := httpFlags{address: "name.invalid:0"}
	if _, err := h.listen(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("listen() = %v, want that it was interrupted", err)
	}
}
