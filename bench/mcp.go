package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reference is the server that the protocol's own project has for files, and
// how npm knows it.
const reference = "@modelcontextprotocol/server-filesystem"

// readBytes is the size of the file that is read through the servers.
const readBytes = 1 << 20

// benchMCP measures what it takes to read a file through a server that is a
// child process: ours by pages, as a model has to, and the reference server in
// one call. Both have the same client, the one of the protocol's Go SDK.
func benchMCP(rounds int) (err error) {
	dir, err := os.MkdirTemp("", "bench-mcp-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	served := filepath.Join(dir, "served")
	content := lines(readBytes)
	if err := errors.Join(os.Mkdir(served, 0o777), os.WriteFile(filepath.Join(served, "file.txt"), []byte(content), 0o666)); err != nil {
		return err
	}
	ours, err := startOurs(dir, served)
	if err != nil {
		return err
	}
	defer ours.Close()
	theirs, err := startReference(dir, served)
	if err != nil {
		return err
	}
	defer theirs.Close()
	return compare(fmt.Sprintf("read %d KiB over MCP: by pages, and by the reference server at once", readBytes>>10), rounds,
		contender{"workspace mcp", func() (int, error) { return readPages(ours, content) }},
		contender{reference, func() (int, error) { return readAtOnce(theirs, filepath.Join(served, "file.txt"), content) }})
}

// lines returns size bytes of text that looks like source code.
func lines(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%s\"%s\" = %d\n", strings.Repeat("\t", random.IntN(4)), strings.Repeat("word ", random.IntN(12)), random.Int())
	}
	return b.String()[:size]
}

func startOurs(dir, served string) (*mcp.ClientSession, error) {
	program := filepath.Join(dir, "workspace")
	if err := quietly("go", "build", "-o", program, "./cmd/workspace"); err != nil {
		return nil, err
	}
	return connect(exec.Command(program, "-C", served, "--name", "main", "mcp"))
}

func startReference(dir, served string) (*mcp.ClientSession, error) {
	if err := quietly("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", reference); err != nil {
		return nil, err
	}
	return connect(exec.Command("node", filepath.Join(dir, "node_modules", filepath.FromSlash(reference), "dist", "index.js"), served))
}

// quietly runs a program whose output matters only if it fails.
func quietly(program string, args ...string) error {
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, args[0], err, out)
	}
	return nil
}

func connect(command *exec.Cmd) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	return client.Connect(context.Background(), &mcp.CommandTransport{Command: command}, nil)
}

// readPages reads the file as the results say how to go on, and returns how many
// pages it has.
func readPages(session *mcp.ClientSession, want string) (pages int, err error) {
	var text strings.Builder
	for line := 1.0; line > 0; pages++ {
		result, err := session.CallTool(context.Background(), &mcp.CallToolParams{
			Name: "workspace__main__read_file", Arguments: map[string]any{"path": "file.txt", "line": line},
		})
		if err != nil {
			return 0, err
		}
		page, ok := result.StructuredContent.(map[string]any)
		if !ok || result.IsError {
			return 0, fmt.Errorf("no page from line %v", line)
		}
		part, _ := page["text"].(string)
		text.WriteString(part)
		line, _ = page["nextLine"].(float64)
	}
	if text.String() != want {
		return 0, errors.New("the pages are not the file")
	}
	return pages, nil
}

func readAtOnce(session *mcp.ClientSession, path, want string) (int, error) {
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{
		Name: "read_text_file", Arguments: map[string]any{"path": path},
	})
	if err != nil {
		return 0, err
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok || text.Text != want {
		return 0, errors.New("the result is not the file")
	}
	return 1, nil
}
