package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reference is the server that the protocol's own project has for files, and
// how npm knows it. The newest release is installed, so ratios of different
// days may be to different ones.
const reference = "@modelcontextprotocol/server-filesystem"

// The files and directories that are served.
const (
	largeBytes = 1 << 20
	smallBytes = 4 << 10
	entries    = 300
	repeats    = 20 // calls in one round, where one call is short
)

// benchMCP measures what it takes to read, list and edit through servers that are
// child processes: ours with its own tools, the same without structured results, ours
// with the tools of the reference server, that server, and one of the Go SDK that
// answers texts which it has ready, which no server of the SDK can beat. All have the
// same client, the one of the protocol's Go SDK.
func benchMCP(b *bench) (err error) {
	dir, err := os.MkdirTemp("", "bench-mcp-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	served := filepath.Join(dir, "served")
	large, small := lines(largeBytes), lines(smallBytes)
	if err := serve(served, large, small); err != nil {
		return err
	}
	program, err := b.command()
	if err != nil {
		return err
	}
	ours, err := connect(exec.Command(program, "-C", served, "--name", "main", "mcp"))
	if err != nil {
		return err
	}
	defer ours.Close()
	dialect, err := connect(exec.Command(program, "-C", served, "--name", "main", "mcp", "--dialect", "mcp-filesystem"))
	if err != nil {
		return err
	}
	defer dialect.Close()
	theirs, err := startReference(dir, served)
	if err != nil {
		return err
	}
	defer theirs.Close()
	lean, err := connect(exec.Command(program, "-C", served, "--name", "main", "mcp", "--text-only"))
	if err != nil {
		return err
	}
	defer lean.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	constant, err := connect(exec.Command(self, constantCommand))
	if err != nil {
		return err
	}
	defer constant.Close()
	path := func(name string) string { return filepath.Join(served, name) }
	run := func(job string, ours, lean, dialect, theirs, constant func() (int, error)) error {
		return b.Run(job, by("workspace mcp", ours), by("the reference server", theirs), by("--text-only", lean),
			by("--dialect mcp-filesystem", dialect), by("constant texts", constant))
	}
	return errors.Join(
		run("read 4 KiB over MCP, 20 times",
			often(func() (int, error) { return readPages(ours, "small.txt", small) }),
			often(func() (int, error) { return readTexts(lean, "small.txt", small) }),
			often(func() (int, error) { return readAtOnce(dialect, "/small.txt", small) }),
			often(func() (int, error) { return readAtOnce(theirs, path("small.txt"), small) }),
			often(func() (int, error) { return readAtOnce(constant, "small.txt", small) })),
		run("read 1 MiB over MCP: by pages, and at once",
			func() (int, error) { return readPages(ours, "large.txt", large) },
			func() (int, error) { return readTexts(lean, "large.txt", large) },
			func() (int, error) { return readAtOnce(dialect, "/large.txt", large) },
			func() (int, error) { return readAtOnce(theirs, path("large.txt"), large) },
			func() (int, error) { return readAtOnce(constant, "large.txt", large) }),
		run("list 300 entries over MCP, 20 times",
			often(func() (int, error) { return list(ours, "workspace__main__ls", "many") }),
			often(func() (int, error) { return list(lean, "workspace__main__ls", "many") }),
			often(func() (int, error) { return list(dialect, "list_directory", "/many") }),
			often(func() (int, error) { return list(theirs, "list_directory", path("many")) }),
			often(func() (int, error) { return list(constant, "list_directory", "many") })),
		run("edit 4 KiB over MCP, 20 times",
			often(edit(ours, "workspace__main__edit_file", "edit1.txt", false)),
			often(edit(lean, "workspace__main__edit_file", "edit1.txt", false)),
			often(edit(dialect, "edit_file", "/edit2.txt", true)),
			often(edit(theirs, "edit_file", path("edit3.txt"), true)),
			often(edit(constant, "edit_file", "edit3.txt", true))))
}

// constantCommand makes of this program a server of constant texts. The child
// is this program itself, so that no second one must be built.
const constantCommand = "constant-texts"

// serveConstants answers with texts in memory what this client asks the reference server.
func serveConstants() error {
	var names strings.Builder
	for n := range entries {
		fmt.Fprintf(&names, "[FILE] file%03d.go\n", n)
	}
	texts := map[string]string{"small.txt": lines(smallBytes), "large.txt": lines(largeBytes), "many": names.String(), "edit3.txt": "done"}
	server := mcp.NewServer(&mcp.Implementation{Name: "constant", Version: "1"}, nil)
	for _, name := range []string{"read_text_file", "list_directory", "edit_file"} {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args struct{ Path string }
			err := json.Unmarshal(req.Params.Arguments, &args)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: texts[args.Path]}}}, err
		})
	}
	return server.Run(context.Background(), &mcp.StdioTransport{})
}

// serve makes the folder that is served.
func serve(dir, large, small string) error {
	files := map[string]string{"large.txt": large, "small.txt": small}
	for n := range 3 {
		files[fmt.Sprintf("edit%d.txt", n+1)] = "the first line\n" + small
	}
	for n := range entries {
		files[fmt.Sprintf("many/file%03d.go", n)] = "package many\n"
	}
	if err := os.MkdirAll(filepath.Join(dir, "many"), 0o777); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(content), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// often returns do, several times.
func often(do func() (int, error)) func() (int, error) {
	return func() (n int, err error) {
		for range repeats {
			if n, err = do(); err != nil {
				return n, err
			}
		}
		return n, nil
	}
}

// lines returns size bytes of text that looks like source code. It is the same
// text for the same size in each run.
func lines(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%s\"%s\" = %d\n", strings.Repeat("\t", random.IntN(4)), strings.Repeat("word ", random.IntN(12)), random.Int())
	}
	return b.String()[:size]
}

// startReference installs the reference server from npm, and starts it for the
// folder served. It needs npm, node and the network.
func startReference(dir, served string) (*mcp.ClientSession, error) {
	if err := quietly("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", reference); err != nil {
		return nil, err
	}
	return connect(exec.Command("node", filepath.Join(dir, "node_modules", filepath.FromSlash(reference), "dist", "index.js"), served))
}

// connect starts a server of the Model Context Protocol on standard input and
// output. The caller closes the session, which ends the server.
func connect(command *exec.Cmd) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	return client.Connect(context.Background(), &mcp.CommandTransport{Command: command}, nil)
}

// readPages reads the file as the results say how to continue, and returns how many
// pages it has.
func readPages(session *mcp.ClientSession, path, want string) (pages int, err error) {
	var text strings.Builder
	for line := 1.0; line > 0; pages++ {
		result, err := callTool(session, "workspace__main__read_file", map[string]any{"path": path, "line": line})
		if err != nil {
			return 0, err
		}
		page, ok := result.StructuredContent.(map[string]any)
		if !ok {
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

// pageHeader is the first line of a page.
var pageHeader = regexp.MustCompile(`^\[[^\n]*: lines \d+-(\d+) of (\d+)[^\n]*\]\n`)

// readTexts is readPages for results that are text alone.
func readTexts(session *mcp.ClientSession, path, want string) (pages int, err error) {
	for line, rest := 1, want; ; pages++ {
		text, err := callText(session, "workspace__main__read_file", map[string]any{"path": path, "line": line})
		if err != nil {
			return 0, err
		}
		header := pageHeader.FindStringSubmatch(text)
		if header == nil {
			return 0, fmt.Errorf("no page from line %d: %.80q", line, text)
		}
		last, _ := strconv.Atoi(header[1]) // which are digits
		page := text[len(header[0]):]
		for ; line <= last; line++ {
			n := strings.IndexByte(rest, '\n') + 1
			if n == 0 {
				n = len(rest)
			}
			if !strings.HasPrefix(page, rest[:n]) {
				return 0, errors.New("the pages are not the file")
			}
			page, rest = page[n:], rest[n:]
		}
		if header[1] == header[2] {
			return pages + 1, nil
		}
	}
}

// readAtOnce reads a file of one page.
func readAtOnce(session *mcp.ClientSession, path, want string) (int, error) {
	text, err := callText(session, "read_text_file", map[string]any{"path": path})
	if err == nil && text != want {
		err = errors.New("the result is not the file")
	}
	return 1, err
}

// list returns how many of the entries the text of a listing has.
func list(session *mcp.ClientSession, tool, path string) (int, error) {
	text, err := callText(session, tool, map[string]any{"path": path})
	if n := strings.Count(text, ".go"); err == nil && n != entries {
		err = fmt.Errorf("the list has %d entries", n)
	}
	return entries, err
}

// edit returns what replaces a word of a file, each time by the other one of
// two. So a file is the same after two calls. inList says that the tool takes a
// list of edits.
func edit(session *mcp.ClientSession, tool, path string, inList bool) func() (int, error) {
	from, to := "the first line", "line number one"
	return func() (int, error) {
		change := map[string]any{"oldText": from, "newText": to}
		args := map[string]any{"path": path, "edits": []any{change}}
		if !inList {
			args = map[string]any{"path": path, "oldText": from, "newText": to}
		}
		from, to = to, from
		_, err := callText(session, tool, args)
		return 1, err
	}
}

// callTool calls a tool, which must succeed and return something.
func callTool(session *mcp.ClientSession, tool string, args map[string]any) (*mcp.CallToolResult, error) {
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err == nil && (result.IsError || len(result.Content) == 0) {
		err = fmt.Errorf("%s(%v) failed: %v", tool, args, result.Content)
	}
	return result, err
}

// callText returns the first text of a result.
func callText(session *mcp.ClientSession, tool string, args map[string]any) (string, error) {
	result, err := callTool(session, tool, args)
	if err != nil {
		return "", err
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return "", fmt.Errorf("%s returns no text", tool)
	}
	return text.Text, nil
}
