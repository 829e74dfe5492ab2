package repotest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/repotest/pictures"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// picture keeps a picture of the documents, which code has drawn.
func picture(t *testing.T, name, svg string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "docs/images/"+name+".svg", svg)
}

// TestPictureOfArchitecture draws the packages that docs/architecture.md lists.
func TestPictureOfArchitecture(t *testing.T) {
	_, block, _ := strings.Cut(read(t, "docs/architecture.md"), "```\n")
	block, _, _ = strings.Cut(block, "```")
	var adapters, above, wrappers, below, providers []string
	for line := range strings.Lines(block) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.Contains(fields[0], "internal") {
			continue
		}
		dir, about := fields[0], strings.Join(fields[1:], " ")
		switch path.Dir(dir) {
		case "adapters", "cmd":
			adapters = append(adapters, dir)
		case "providers":
			providers = append(providers, dir)
		case "workspace":
			switch {
			case strings.HasPrefix(about, "a wrapper"), strings.HasPrefix(about, "wrappers"), strings.HasPrefix(about, "an observer"):
				wrappers = append(wrappers, dir)
			case dir == "workspace/provider", dir == "workspace/fallback":
				below = append(below, dir)
			}
		}
		if dir == "tools" || dir == "shell" {
			above = append(above, dir)
		}
	}
	svg, err := pictures.Layers("The architecture", []pictures.Layer{
		{Title: "Programs", Boxes: append(adapters, "your Go program")},
		{Title: "For models", Boxes: above},
		{Title: "The contract", Boxes: []string{"workspace.Workspace", "workspace.FileSystem"}},
		{Title: "Wrappers", Boxes: wrappers},
		{Title: "Shared code", Boxes: append(below, "internal/scan")},
		{Title: "Providers", Boxes: providers},
		{Title: "Stores", Boxes: []string{"memory", "a folder", "S3 and its like", "Docker, Podman", "Kubernetes", "any afero file system"}},
	})
	picture(t, "architecture", svg, err)
}

// openRecorded opens a bucket of a server that records the requests.
func openRecorded(t *testing.T) (*s3test.Server, *workspace.Workspace) {
	t.Helper()
	server := s3test.New(t, nil)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": server.AccessKeyID, "AWS_SECRET_ACCESS_KEY": server.SecretAccessKey, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	fsys, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: "workspace", Region: server.Region, Endpoint: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return server, workspace.New("lake", fsys, nil)
}

// TestPictureOfWrite draws what a call of write_file to a bucket sends.
func TestPictureOfWrite(t *testing.T) {
	server, ws := openRecorded(t)
	version, err := ws.WriteFile(t.Context(), "notes.md", []byte("One.\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := set.Lookup("workspace__lake__write_file")
	for _, args := range []string{
		`{"path": "first.md", "content": "The first change of a session looks for changes to undo after a crash.\n"}`,
		fmt.Sprintf(`{"path": "notes.md", "content": "Two.\n", "ifVersion": %q}`, version),
	} {
		server.ResetRequests()
		if result, err := tool.Call(t.Context(), json.RawMessage(args)); err != nil || result.IsError {
			t.Fatalf("write_file(%s) = %v, %v", args, result, err)
		}
	}
	const model, toolsLane, contract, wrappers, provider, store = 0, 1, 2, 3, 4, 5
	steps := []pictures.Step{
		{From: model, To: toolsLane, Text: "write_file, ifVersion"},
		{From: toolsLane, To: toolsLane, Text: "checks arguments, size"},
		{From: toolsLane, To: provider, Text: "reads the old content, for its encoding and the diff"},
	}
	for _, r := range server.Requests() {
		if r.Op == "PutObject" {
			steps = append(steps,
				pictures.Step{From: toolsLane, To: contract, Text: "WriteFile"},
				pictures.Step{From: contract, To: contract, Text: "cleans the name, checks the size"},
				pictures.Step{From: contract, To: wrappers, Text: "WriteFile"},
				pictures.Step{From: wrappers, To: wrappers, Text: "rules, backup, quota, audit: those of the file"},
				pictures.Step{From: wrappers, To: provider, Text: "WriteFile"},
				pictures.Step{From: provider, To: provider, Text: "checks the conditions, adds a random token"})
		}
		text := r.Op
		if r.Header.Get("If-Match") != "" {
			text += ", If-Match"
		}
		steps = append(steps, pictures.Step{From: provider, To: store, Text: text},
			pictures.Step{From: store, To: provider, Text: fmt.Sprintf("%d, ETag", r.Status)})
	}
	steps = append(steps,
		pictures.Step{From: provider, To: provider, Text: "no answer? its own token in the object says that the write took place"},
		pictures.Step{From: provider, To: toolsLane, Text: "the new version, which is the ETag"},
		pictures.Step{From: toolsLane, To: model, Text: "version, diff"})
	svg, err := pictures.Sequence("A write to a bucket", []string{"model", "tools", "Workspace", "wrappers", "objectstore", "S3 store"}, steps)
	picture(t, "bucket-write", svg, err)
}

// TestPictureOfGrep draws how four providers search the same files.
func TestPictureOfGrep(t *testing.T) {
	const files = 200
	server, ws := openRecorded(t)
	for i := range files {
		server.Put("workspace", fmt.Sprintf("src/%03d.go", i), []byte("package src // TODO\n"))
	}
	var requests []int
	for range 2 {
		server.ResetRequests()
		found, err := ws.Grep(context.Background(), "TODO", &workspace.GrepOptions{MaxResults: 2 * files})
		if err != nil || len(found.Matches) != files {
			t.Fatalf("Grep = %v, %v, want %d matches", found, err, files)
		}
		requests = append(requests, len(server.Requests()))
	}
	if page := read(t, "docs/container-details.md"); !strings.Contains(page, "\n| `Grep` | usually 3 or more: ") {
		t.Error("docs/container-details.md does not say that a search in a container takes three requests or more")
	}
	svg, err := pictures.Columns("A grep over four providers", fmt.Sprintf("Grep for TODO in %d files", files), []pictures.Column{
		{Title: "memory", Lines: []string{"The tree is in order.", "The engine reads the", "bytes where they are."}, Result: "no I/O"},
		{Title: "localbash", Lines: []string{"Workers read the folder", "in parallel, below the", "root only. A filter for", "literals skips most files", "before the regexp."}, Result: "a few system calls a file"},
		{Title: "objectstore", Lines: []string{"Listings give the names,", "sizes and ETags. Files are", "downloaded 16 at a time,", "and kept by their ETag", "for the next search."},
			Result: fmt.Sprintf("%d requests; again: %d", requests[0], requests[1])},
		{Title: "container", Lines: []string{"The container's own grep", "finds the lines that can", "match. Only those come", "back, and the engine", "decides."}, Result: "3 requests or a few more"},
	}, "the same matches in the same order, byte for byte: one engine, one conformance suite")
	picture(t, "grep", svg, err)
}

// TestPictureOfConformance draws which clauses of the contract hold for which provider.
func TestPictureOfConformance(t *testing.T) {
	list := listProviders(t)
	var names []string
	for _, p := range list {
		names = append(names, strings.Trim(strings.Split(p.name, ".")[0], "`"))
	}
	clause := regexp.MustCompile(`(?m)^(?:## (.+)|- \*\*[A-Z]+[0-9]+\*\* (?:\[([A-Za-z, ]+)\] )?)`)
	var rows []pictures.Row
	clauses := 0
	for _, match := range clause.FindAllStringSubmatch(read(t, "docs/contract.md"), -1) {
		if match[1] != "" {
			rows = append(rows, pictures.Row{Title: match[1], Cells: make([][]bool, len(list))})
			continue
		}
		if len(rows) == 0 {
			t.Fatalf("a clause before the first heading: %q", match[0])
		}
		clauses++
		for i, p := range list {
			row := &rows[len(rows)-1]
			row.Cells[i] = append(row.Cells[i], declares(t, p.fsys, match[2]) && (p.symlinks || row.Title != "Symlinks"))
		}
	}
	rows = slices.DeleteFunc(rows, func(r pictures.Row) bool { return len(r.Cells[0]) == 0 })
	svg, err := pictures.Matrix(fmt.Sprintf("%d clauses of the contract and the providers that the suite proves them for", clauses), names, rows,
		[2]string{"a clause that the conformance suite proves for the provider", "one about a capability, or about symlinks, that it does not have"})
	picture(t, "conformance", svg, err)
}

// declares reports whether a file system has the capabilities, by their names in
// docs/contract.md.
func declares(t *testing.T, fsys workspace.FileSystem, capabilities string) bool {
	t.Helper()
	caps := workspace.CapabilitiesOf(fsys)
	for name := range strings.FieldsFuncSeq(capabilities, func(r rune) bool { return r == ',' || r == ' ' }) {
		holds, known := map[string]bool{
			"Write": caps.Write, "Versions": caps.Versions, "ConditionalWrite": caps.ConditionalWrite,
			"Move": caps.Move, "Run": caps.Run, "Copy": caps.Copy, "Watch": caps.Watch != "" && caps.Watch != workspace.WatchNone,
		}[name]
		if !known {
			t.Errorf("docs/contract.md has the capability %q, which the picture does not know", name)
		}
		if !holds {
			return false
		}
	}
	return true
}

// TestPictureOfTerminal draws what the command prints in an empty folder, from its
// first file to a client's first request.
func TestPictureOfTerminal(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the picture was drawn on Linux")
	}
	const columns = 100
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"client","version":"1"}}}`
	r := page{files: map[string]string{"../initialize.json": hello + "\n"}}.newReader(t)
	var lines []string
	for _, typed := range []string{"workspace init", "workspace validate", "workspace doctor", "workspace mcp < ../initialize.json"} {
		out, err := r.command(t, "sh", "-c", typed).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", typed, err, out)
		}
		lines = append(lines, "$ "+typed)
		for line := range strings.Lines(string(out)) {
			line = steadyOutput(strings.TrimRight(line, "\n"))
			if all := []rune(line); len(all) > columns {
				line = string(all[:columns-1]) + "…"
			}
			lines = append(lines, line)
		}
	}
	svg, err := pictures.Terminal("init, validate, doctor and mcp", lines)
	picture(t, "terminal", svg, err)
}

// steadyOutput replaces what differs from one run to the next.
func steadyOutput(line string) string {
	line = regexp.MustCompile(` +[0-9]+ ms`).ReplaceAllStringFunc(line, func(found string) string {
		if !strings.HasPrefix(found, "  ") { // in a sentence, not in a column
			return " 1 ms"
		}
		return fmt.Sprintf("%*s", len(found), "1 ms")
	})
	return regexp.MustCompile(`Linux .*`).ReplaceAllString(line, "Linux")
}
