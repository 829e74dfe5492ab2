package tools_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// stores are the file systems on which the tools have the same outcome.
var stores = map[string]func(t *testing.T) workspace.FileSystem{
	"memory": func(*testing.T) workspace.FileSystem { return memory.New(nil) },
	"localbash": func(t *testing.T) workspace.FileSystem {
		fsys, err := localbash.Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { fsys.Close() })
		return fsys
	},
	"objectstore": func(t *testing.T) workspace.FileSystem {
		server := s3test.New(t, &s3test.Options{Buckets: []string{"bucket"}, Public: true})
		fsys, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: "bucket", Endpoint: server.URL, Region: server.Region, Anonymous: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { fsys.Close() })
		return fsys
	},
}

// openServer opens a part of the bucket that the environment names, and skips the test if
// it names none.
func openServer(t *testing.T) workspace.FileSystem {
	server, ok := s3test.External(t)
	if !ok {
		t.Skip("there is no S3 server")
	}
	compat := objectstore.CompatFor(server.Endpoint)
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(server.Endpoint), Region: server.Region, UsePathStyle: compat.PathStyle,
		Credentials: credentials.NewStaticCredentialsProvider(server.AccessKeyID, server.SecretAccessKey, ""),
	})
	fsys, err := objectstore.New(client, &objectstore.Options{Bucket: server.Bucket, Prefix: "dialects-" + rand.Text(), Compat: &compat})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		children, err := fsys.Ls(ctx, ".", nil)
		for _, c := range children {
			err = errors.Join(err, fsys.Rm(ctx, c.Path, &workspace.RmOptions{Recursive: true}))
		}
		if err != nil {
			t.Errorf("the bucket is not as it was: %v", err)
		}
	})
	return fsys
}

// dialectFiles are in the workspace at the beginning of each transcript.
var dialectFiles = map[string]string{
	"README.md":         "# Title\n\nText with a word.\n",
	"src/main.go":       "package main\n\nfunc main() {\n\tprintln(\"one\")\n\tprintln(\"two\")\n}\n",
	"src/lib/lib.go":    "package lib\n\n// Word is a word.\nconst Word = \"word\"\n",
	"src/lib/crlf.txt":  "one\r\ntwo\r\nthree\r\n",
	"notes/twice.txt":   "same\nsame\n",
	"notes/no-newline":  "last line",
	"notes/image.png":   pixel,
	"notes/latin-1.txt": "caf\xe9\n",
}

// TestDialects plays the calls of each transcript in testdata/dialects on each
// store, and on a real S3 server if there is one. After the first line, "$ TOOL ARGUMENTS" is a call; what follows is its result: the text,
// and after "=" the structured result. The files that it leaves are at the end. With
// -update the results are rewritten, from memory.
func TestDialects(t *testing.T) {
	all := maps.Clone(stores)
	all["server"] = openServer
	for _, d := range tools.Dialects()[1:] {
		file := filepath.Join("testdata", "dialects", string(d)+".golden")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("dialect %s has no transcript: %v", d, err)
			continue
		}
		if *update {
			got := play(t, stores["memory"](t), d, string(raw))
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			raw = []byte(got)
		}
		for store, open := range all {
			t.Run(string(d)+"/"+store, func(t *testing.T) {
				t.Parallel()
				if diff := cmp.Diff(string(raw), play(t, open(t), d, string(raw))); diff != "" {
					t.Errorf("%s differs; -update rewrites it (-want +got):\n%s", file, diff)
				}
			})
		}
	}
}

// play returns the transcript of the calls in script.
func play(t *testing.T, fsys workspace.FileSystem, d tools.Dialect, script string) string {
	t.Helper()
	for name, content := range dialectFiles {
		put(t, fsys, name, content)
	}
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: d})
	called := map[string]bool{}
	var out strings.Builder
	heading, script, _ := strings.Cut(script, "\n")
	out.WriteString(heading + "\n\n")
	for line := range strings.Lines(script) {
		command, isCall := strings.CutPrefix(line, "$ ")
		if !isCall {
			continue
		}
		out.WriteString(line)
		op, args, _ := strings.Cut(strings.TrimSpace(command), " ")
		tool, ok := set.Lookup(op)
		if !ok {
			t.Fatalf("no tool %s", op)
		}
		called[op] = true
		checkDialectPlan(t, tool, args)
		result, err := tool.Call(t.Context(), json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		checkTranscribed(t, tool, result)
		what := ""
		if result.IsError {
			what = "error "
		}
		fmt.Fprintf(&out, "%s\n%s= %s\n\n", masked(result.Text), what, masked(string(result.Structured)))
	}
	for _, tool := range set.Tools() {
		if !called[tool.Op] {
			t.Errorf("the transcript of %s does not call %s", d, tool.Op)
		}
	}
	return out.String() + contents(t, fsys)
}

// checkDialectPlan checks that a preflight succeeds where the arguments are valid, or
// says why, and that a tool that only reads would touch nothing else.
func checkDialectPlan(t *testing.T, tool *tools.Tool, args string) {
	t.Helper()
	requests, err := tool.Preflight(t.Context(), json.RawMessage(args))
	var failed *tools.Error
	if err != nil && !errors.As(err, &failed) {
		t.Errorf("Preflight of %s %s = %v", tool.Op, args, err)
	}
	for _, r := range requests {
		if tool.Annotations.ReadOnly && r.Op != policy.OpRead && r.Op != policy.OpList {
			t.Errorf("Preflight of %s %s has %+v, and the tool only reads", tool.Op, args, r)
		}
	}
}

// TestDialectSessions changes a file that the session has not read, and then one that
// it has, by any spelling of its name, in a workspace that asks for that.
func TestDialectSessions(t *testing.T) {
	for d, calls := range map[tools.Dialect][2]string{ // a change, and a read before it
		tools.DialectHelix:         {`edit_file {"path": "f", "oldText": "two", "newText": "2"}`, `read_file {"path": "/./f"}`},
		tools.DialectMCPFilesystem: {`edit_file {"path": "f", "edits": [{"oldText": "two", "newText": "2"}]}`, `read_text_file {"path": "/f"}`},
		tools.DialectAgentkit:      {`fs_replace_in_file {"path": "f", "find": "two", "replace": "2"}`, `fs_read_file {"path": "f", "from": 2, "to": 2}`},
		tools.DialectFS:            {`file_edit {"path": "f", "old_text": "two", "new_text": "2"}`, `file_read {"path": "./f", "offset": 2}`},
		tools.DialectAnthropic:     {`str_replace_based_edit_tool {"command": "str_replace", "path": "/f", "old_str": "two", "new_str": "2"}`, `str_replace_based_edit_tool {"command": "view", "path": "f"}`},
		tools.DialectOpenAI:        {`apply_patch {"input": "*** Begin Patch\n*** Update File: f\n@@\n-two\n+2\n*** End Patch"}`, `read_file {"file_path": "/f"}`},
	} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			fsys := memory.New(nil)
			put(t, fsys, "f", "one\ntwo\n")
			set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: d, ReadBeforeWrite: []string{"test"}})
			for i, c := range []string{calls[0], calls[1], calls[0]} {
				op, args, _ := strings.Cut(c, " ")
				tool, _ := set.Lookup(op)
				result, err := tool.Call(t.Context(), json.RawMessage(args))
				if err != nil || result.IsError != (i == 0) {
					t.Fatalf("%s = %+v, %v", c, result, err)
				}
				if i == 0 {
					contains(t, c, result.Text, "Read it with ")
					holds(t, fsys, "f", "one\ntwo\n")
				}
			}
			holds(t, fsys, "f", "one\n2\n")
		})
	}
}

// TestDialectReadsWholeFiles reads a file of more than one page at once, and none that
// is larger than the workspace allows.
func TestDialectReadsWholeFiles(t *testing.T) {
	content := strings.Repeat("a line of a file that is read at once\n", 40_000)
	fsys := memory.New(nil)
	put(t, fsys, "f", content)
	for size, want := range map[int64]string{0: content, 1 << 20: "file too large"} {
		set := newSetOf(t, workspace.New("test", fsys, &workspace.Options{MaxFileSize: size}), &tools.Options{Dialect: tools.DialectMCPFilesystem})
		tool, _ := set.Lookup("read_text_file")
		result, err := tool.Call(t.Context(), json.RawMessage(`{"path": "f"}`))
		if err != nil || result.IsError != (size > 0) || !strings.Contains(result.Text, want) {
			t.Errorf("with a limit of %d: %d characters, %v, %v", size, len(result.Text), result.IsError, err)
		}
		checkEncoded(t, result)
	}
}

// TestDialectHasTheParameter tests that the text of a search names no parameter of another
// dialect.
func TestDialectHasTheParameter(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "a.log", "text\n")
	put(t, fsys, ".gitignore", "*\n")
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectHelix})
	if got, want := call(t, set, "grep", object{"pattern": "text"}).Text, "no lines match (0 files searched)"; got != want {
		t.Errorf("grep = %q, want %q", got, want)
	}
}

// TestEditorDescribesItsCommands tests that a tool of several commands describes those that
// the workspace can do, and no others.
func TestEditorDescribesItsCommands(t *testing.T) {
	all := workspace.Capabilities{Write: true, Versions: true, ConditionalWrite: true, Move: true}
	for _, caps := range []workspace.Capabilities{all, {Write: true, Move: true}, {Write: true}, {}} {
		ws := workspace.New("test", restricted{memory.New(nil), caps}, nil)
		for _, tool := range newSetOf(t, ws, &tools.Options{Dialect: tools.DialectAnthropic}).Tools() {
			possible := tool.Parameters()[0].Values
			for _, command := range []string{"create", "str_replace", "insert", "delete", "rename"} {
				described := strings.Contains(tool.Description(), "\n"+command+" ")
				if described != slices.Contains(possible, command) {
					t.Errorf("%s with %+v can do %v, and describes:\n%s", tool.Name, caps, possible, tool.Description())
					break
				}
			}
		}
	}
}

// checkEncoded checks the text of a result as a string of JSON.
func checkEncoded(t *testing.T, result *tools.Result) {
	t.Helper()
	var text string
	if encoded := result.AppendTextJSON(nil); json.Unmarshal(encoded, &text) != nil || text != result.Text {
		t.Errorf("AppendTextJSON() is not the JSON of the text:\n%s", encoded)
	}
}

// checkTranscribed checks what holds for every result of a dialect.
func checkTranscribed(t *testing.T, tool *tools.Tool, result *tools.Result) {
	t.Helper()
	checkEncoded(t, result)
	if result.IsError {
		checkError(t, tool, result)
		return
	}
	if err := resolve(t, tool.OutputSchema()).Validate(members(t, result.Structured)); err != nil {
		t.Errorf("%s: result does not match its schema: %v\n%s", tool.Op, err, result.Structured)
	}
}

// Versions differ from run to run, and not every store has times for directories.
var (
	versions = regexp.MustCompile(`(version |"version":")[^\s)\]",]+`)
	times    = regexp.MustCompile(`, modified [^\s,]+|,"mtime":"[^"]+"|(\\n|\n)modified: [^\n\\]+`)
)

func masked(text string) string {
	return times.ReplaceAllString(versions.ReplaceAllString(text, "${1}*"), "")
}

// contents returns the files of fsys.
func contents(t *testing.T, fsys workspace.FileSystem) string {
	t.Helper()
	paths, err := workspace.New("test", fsys, nil).Glob(t.Context(), "**", nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, path := range paths {
		data, err := fsys.ReadFile(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %q\n", path, data)
	}
	return out.String()
}

func TestUnknownDialect(t *testing.T) {
	ws := workspace.New("test", memory.New(nil), nil)
	for d, want := range map[tools.Dialect]string{"helixx": `did you mean "helix"?`, "zzz": "the dialects are workspace, anthropic"} {
		for name, make := range map[string]func() (*tools.Set, error){
			"New": func() (*tools.Set, error) { return tools.New(ws, &tools.Options{Dialect: d}) },
			"NewAll": func() (*tools.Set, error) {
				return tools.NewAll([]*workspace.Workspace{ws}, &tools.Options{Dialect: d})
			},
		} {
			if _, err := make(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s with dialect %q = %v, want %q", name, d, err, want)
			}
		}
	}
}

// TestDialectsHoldWhatTheWorkspaceSays checks, for the tools of each dialect, that
// a read-only workspace has none that write, that one can be disabled, and that the
// schemas are complete.
func TestDialectsHoldWhatTheWorkspaceSays(t *testing.T) {
	for _, d := range tools.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			full := newSetOf(t, workspace.New("test", memory.New(nil), nil), &tools.Options{Dialect: d})
			var reading []string
			for _, tool := range full.Tools() {
				if tool.Annotations.ReadOnly {
					reading = append(reading, tool.Op)
				}
				describeAll(t, tool.Op, members(t, tool.InputSchema()))
				describeAll(t, tool.Op, members(t, tool.OutputSchema()))
				contains(t, tool.Op, tool.Description(), " ")
			}
			set := newSetOf(t, workspace.New("test", restricted{memory.New(nil), workspace.Capabilities{}}, nil), &tools.Options{Dialect: d})
			for _, tool := range set.Tools() {
				if !tool.Annotations.ReadOnly || tool.Annotations.Destructive {
					t.Errorf("a read-only workspace has the tool %s", tool.Op)
				}
			}
			for _, op := range reading {
				if _, ok := set.Lookup(op); !ok {
					t.Errorf("a read-only workspace has no tool %s", op)
				}
			}
			first := full.Tools()[0].Op
			set = newSetOf(t, workspace.New("test", memory.New(nil), nil), &tools.Options{Dialect: d, Disable: []string{first}, Naming: "x_{op}"})
			if slices.Contains(strings.Fields(opsOf(set)), first) || !strings.HasPrefix(set.Tools()[0].Name, "x_") {
				t.Errorf("tools without %s are %s, the first is called %s", first, opsOf(set), set.Tools()[0].Name)
			}
		})
	}
}

// TestDialectsShared declares the tools of each dialect for a workspace and a second,
// read-only one: each tool once, with a parameter for the workspace.
func TestDialectsShared(t *testing.T) {
	both := []*workspace.Workspace{
		workspace.New("a", memory.New(nil), nil),
		workspace.New("b", policy.ReadOnly(memory.New(nil)), nil),
	}
	for _, d := range tools.Dialects() {
		set, err := tools.NewAll(both, &tools.Options{Dialect: d, Shared: tools.SharedTrue})
		if err != nil {
			t.Errorf("NewAll with dialect %s = %v", d, err)
			continue
		}
		one := newSetOf(t, both[0], &tools.Options{Dialect: d})
		if got, want := opsOf(set), opsOf(one); got != want {
			t.Errorf("the shared tools of %s are %s, want %s", d, got, want)
		}
		for _, tool := range set.Tools() {
			contains(t, tool.Op, string(tool.InputSchema()), `"required":["workspace"`)
		}
	}
}

// TestDialectShared calls the tools of two workspaces in one dialect.
func TestDialectShared(t *testing.T) {
	a, b := workspace.New("a", memory.New(nil), nil), workspace.New("b", memory.New(nil), nil)
	put(t, b, "f", "text\n")
	set, err := tools.NewAll([]*workspace.Workspace{a, b}, &tools.Options{Dialect: tools.DialectHelix, Shared: tools.SharedTrue})
	if err != nil {
		t.Fatal(err)
	}
	tool, ok := set.Lookup("workspace__read_file")
	if !ok {
		t.Fatalf("no workspace__read_file in %s", opsOf(set))
	}
	result, err := tool.Call(context.Background(), json.RawMessage(`{"workspace": "b", "path": "f"}`))
	if err != nil || result.Text != "text\n" {
		t.Errorf("read_file = %+v, %v", result, err)
	}
}

// immovable is a file system in which no move succeeds.
type immovable struct{ *memory.FS }

func (f immovable) Exact() (workspace.FileSystem, error) { return f, nil }

func (immovable) Move(context.Context, string, string) error { return workspace.ErrUnavailable }

// TestAgentkitOverwrite tests that a move that fails deletes nothing.
func TestAgentkitOverwrite(t *testing.T) {
	fsys := immovable{memory.New(nil)}
	for name, text := range map[string]string{"a": "new", "b": "old"} {
		if _, err := fsys.WriteFile(t.Context(), name, []byte(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectAgentkit})
	bad(t, set, "fs_move", object{"from": "a", "to": "b", "overwrite": true}, tools.CodeUnavailable)
	for name, want := range map[string]string{"a": "new", "b": "old"} {
		if data, err := fsys.ReadFile(t.Context(), name); string(data) != want || err != nil {
			t.Errorf("%s holds %q, %v, want %q", name, data, err, want)
		}
	}
}

// TestAgentkitOverwriteRefused tests that nothing is deleted that could not be brought back.
func TestAgentkitOverwriteRefused(t *testing.T) {
	const hint = "It could not be brought back if the move failed. Delete it with fs_delete first."
	dir := t.TempDir()
	local, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	files := []string{"file", "src/x", "dst/f", "links/f"}
	for _, name := range files {
		put(t, local, name, name)
	}
	if err := os.Symlink("f", filepath.Join(dir, "links", "l")); err != nil {
		t.Skip(err)
	}
	restricted, err := policy.Restrict(local, policy.Rules{ReadOnlyPaths: []string{"src/**"}}) // without transactions
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		fsys     workspace.FileSystem
		from, to string
		code     tools.Code
		hint     string
	}{
		{restricted, "src/x", "dst", tools.CodePolicy, ""},
		{restricted, "src/x", "file", tools.CodePolicy, ""},
		{restricted, "dst/f", "file", tools.CodeExist, hint},
		{restricted, "file", "dst", tools.CodeExist, hint},
		{local, "file", "links", tools.CodeUnsupported, hint},
		{local, "file", "links/l", tools.CodeUnsupported, hint},
	} {
		set := newSetOf(t, workspace.New("test", test.fsys, nil), &tools.Options{Dialect: tools.DialectAgentkit})
		failed := bad(t, set, "fs_move", object{"from": test.from, "to": test.to, "overwrite": true}, test.code)
		if test.hint != "" && failed.Hint != test.hint {
			t.Errorf("the hint of fs_move %s to %s is %q, want %q", test.from, test.to, failed.Hint, test.hint)
		}
		for _, name := range files {
			holds(t, local, name, name)
		}
	}
}

// copyingStore cannot move, and does not delete "a". It changes the copy if changed is set,
// and has no versions if versions is not.
type copyingStore struct {
	*memory.FS
	changed, versions bool
}

func (copyingStore) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{Write: true, Copy: true}
}

func (s copyingStore) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := s.FS.Stat(ctx, name)
	if !s.versions {
		info.Version = ""
	}
	return info, err
}

func (s copyingStore) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	version, err := s.FS.Copy(ctx, source, destination)
	if !s.versions {
		version = ""
	}
	return version, err
}

func (s copyingStore) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if name != "a" {
		return s.FS.Rm(ctx, name, opts)
	}
	if s.changed {
		s.FS.WriteFile(ctx, "b", []byte("changed"), nil)
	}
	return ops.Error(ops.Rm, name, fs.ErrPermission, nil)
}

// TestFSMoveKeepsChangedCopy tests which copies stay after a move that fails.
func TestFSMoveKeepsChangedCopy(t *testing.T) {
	for _, c := range []struct {
		changed, versions bool
		want              string // what the copy holds
	}{{false, true, ""}, {true, true, "changed"}, {false, false, "text"}, {true, false, "changed"}} {
		fsys := copyingStore{memory.New(nil), c.changed, c.versions}
		put(t, fsys, "a", "text")
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectFS})
		failed := bad(t, set, "file_move", object{"source": "a", "destination": "b"}, tools.CodePermission)
		data, err := fsys.ReadFile(t.Context(), "b")
		if string(data) != c.want || (err == nil) != (c.want != "") || strings.Contains(failed.Message, "the copy stays") != (err == nil) {
			t.Errorf("%+v: the copy holds %q, %v; %v", c, data, err, failed)
		}
	}
}

// lostAnswerStore cannot move, and removes "a" with the function rm.
type lostAnswerStore struct {
	copyingStore
	rm func(*memory.FS) error
}

func (s lostAnswerStore) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if name != "a" {
		return s.FS.Rm(ctx, name, opts)
	}
	return s.rm(s.FS)
}

// TestFSMoveKeepsOnlyCopy tests that the copy stays where the original has been removed, or may
// be soon, and the answer says otherwise.
func TestFSMoveKeepsOnlyCopy(t *testing.T) {
	t.Parallel()
	lost := ops.Error(ops.Rm, "a", workspace.ErrUnavailable, nil)
	for name, c := range map[string]struct {
		rm   func(*memory.FS) error
		code tools.Code
	}{
		"removed": {func(m *memory.FS) error { return errors.Join(m.Rm(t.Context(), "a", nil), lost) }, tools.CodeUnavailable},
		"removed, and created by somebody else": {func(m *memory.FS) error {
			_, err := m.WriteFile(t.Context(), "a", []byte("another"), nil)
			return errors.Join(err, lost)
		}, tools.CodeUnavailable},
		"removed later":      {func(*memory.FS) error { return lost }, tools.CodeUnavailable},
		"removed by a retry": {func(m *memory.FS) error { m.Rm(t.Context(), "a", nil); return m.Rm(t.Context(), "a", nil) }, tools.CodeNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := lostAnswerStore{copyingStore{memory.New(nil), false, true}, c.rm}
			put(t, fsys, "a", "text")
			set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectFS})
			failed := bad(t, set, "file_move", object{"source": "a", "destination": "b"}, c.code)
			contains(t, "message", failed.Message, "the copy stays, as the original may be gone")
			holds(t, fsys, "b", "text")
		})
	}
}

// unlookableStore cannot move, and cannot describe "a" once it has been copied.
type unlookableStore struct {
	copyingStore
	copied *bool
}

func (s unlookableStore) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	*s.copied = true
	return s.copyingStore.Copy(ctx, source, destination)
}

func (s unlookableStore) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if name == "a" && *s.copied {
		return workspace.FileInfo{}, ops.Error(ops.Stat, name, workspace.ErrUnavailable, nil)
	}
	return s.copyingStore.Stat(ctx, name)
}

// TestFSMoveWithoutRemoval tests that no copy stays if the move fails before the removal.
func TestFSMoveWithoutRemoval(t *testing.T) {
	t.Parallel()
	fsys := unlookableStore{copyingStore{memory.New(nil), false, true}, new(bool)}
	put(t, fsys, "a", "text")
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectFS})
	bad(t, set, "file_move", object{"source": "a", "destination": "b"}, tools.CodeUnavailable)
	if _, err := fsys.FS.Stat(t.Context(), "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(%q) = %v, want %v", "b", err, fs.ErrNotExist)
	}
}

// overtakenStore cannot move, and somebody else edits "a" once it has been copied.
type overtakenStore struct{ copyingStore }

func (s overtakenStore) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	version, err := s.copyingStore.Copy(ctx, source, destination)
	_, editErr := s.FS.WriteFile(ctx, "a", []byte("edited"), nil)
	return version, errors.Join(err, editErr)
}

func (s overtakenStore) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return s.FS.Rm(ctx, name, opts)
}

// TestFSMoveKeepsEdit edits a file that is moved by a copy. The edit stays, and no copy does.
func TestFSMoveKeepsEdit(t *testing.T) {
	fsys := overtakenStore{copyingStore{memory.New(nil), false, true}}
	put(t, fsys, "a", "text")
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectFS})
	bad(t, set, "file_move", object{"source": "a", "destination": "b"}, tools.CodeConflict)
	holds(t, fsys, "a", "edited")
	if _, err := fsys.Stat(t.Context(), "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(b) = %v, want ErrNotExist", err)
	}
}

// readsOfDialects are, for each dialect, calls that read a file which the test fills in, and
// one that replaces its content as a whole, or adds to it.
var readsOfDialects = map[tools.Dialect]struct {
	reads  []string
	change string
}{
	tools.DialectMCPFilesystem: {[]string{`read_text_file {"path": "%s"}`, `read_text_file {"path": "%s", "head": 9}`, `read_text_file {"path": "%s", "tail": 9}`, `read_file {"path": "%s"}`,
		`read_media_file {"path": "%s"}`, `read_multiple_files {"paths": ["%s"]}`}, `write_file {"path": "%s", "content": "new\n"}`},
	tools.DialectAgentkit: {[]string{`fs_read_file {"path": "%s"}`, `fs_read_file {"path": "%s", "from": 1}`, `fs_read_file {"path": "%s", "to": 9}`}, `fs_write_file {"path": "%s", "contents": "new\n"}`},
	tools.DialectFS:       {[]string{`file_read {"path": "%s"}`, `file_read {"path": "%s", "offset": 1, "limit": 9}`}, `file_write {"path": "%s", "content": "new\n"}`},
	tools.DialectAnthropic: {[]string{`str_replace_based_edit_tool {"command": "view", "path": "%s"}`, `str_replace_based_edit_tool {"command": "view", "path": "%s", "view_range": [1, -1]}`},
		`str_replace_based_edit_tool {"command": "insert", "path": "%s", "insert_line": 0, "insert_text": "new"}`},
	tools.DialectOpenAI:     {[]string{`read_file {"file_path": "%s"}`}, `apply_patch {"input": "*** Begin Patch\n*** Delete File: %s\n*** End Patch"}`},
	tools.DialectClaudeCode: {[]string{`Read {"file_path": "%s"}`, `Read {"file_path": "%s", "offset": 1, "limit": 9}`}, `Write {"file_path": "%s", "content": "new\n"}`},
	tools.DialectGemini:     {[]string{`read_file {"file_path": "%s"}`, `read_file {"file_path": "%s", "start_line": 1, "end_line": 9}`}, `write_file {"file_path": "%s", "content": "new\n"}`},
	tools.DialectHelix:      {[]string{`read_file {"path": "%s"}`}, `write_file {"path": "%s", "content": "new\n"}`},
}

// TestDialectSpellings reads a file, an empty one too, by each spelling of its name and
// changes it by another one: the session knows it. No read, and a read of another
// file, are not enough.
func TestDialectSpellings(t *testing.T) {
	spellings := []string{"d/f", "/d/f", "./d/f", "d//f", "d/./f", "x/../d/f", "/d/x/../f"}
	for _, d := range tools.Dialects()[1:] {
		calls, known := readsOfDialects[d]
		if !known {
			t.Errorf("dialect %s has no calls in this test", d)
		}
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			for _, content := range []string{"", "one\ntwo\n", "one"} {
				for _, read := range append(calls.reads, "") {
					for i, spelling := range spellings {
						fsys := memory.New(nil)
						put(t, fsys, "d/f", content)
						put(t, fsys, "d/g", content)
						set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: d, ReadBeforeWrite: []string{"test"}})
						calling := func(call, name string) *tools.Result {
							op, args, _ := strings.Cut(strings.ReplaceAll(call, "%s", name), " ")
							tool, _ := set.Lookup(op)
							result, err := tool.Call(t.Context(), json.RawMessage(args))
							if err != nil {
								t.Fatal(err)
							}
							return result
						}
						other := spellings[(i+1)%len(spellings)]
						if read == "" {
							calling(calls.reads[0], "d/g")
						} else if result := calling(read, spelling); result.IsError {
							t.Errorf("%s of %s = %s", read, spelling, result.Text)
						}
						if result := calling(calls.change, other); result.IsError != (read == "") {
							t.Errorf("after %s of %s (%q), %s of %s = %s", read, spelling, content, calls.change, other, result.Text)
						}
					}
				}
			}
		})
	}
}

// TestDialectScratch reads a file that a script has left in the scratch space of the session,
// which does not keep that.
func TestDialectScratch(t *testing.T) {
	t.Parallel()
	for d, calls := range readsOfDialects {
		s := tools.NewSession()
		set := newBashSet(t, nil, &tools.Options{Dialect: d, ReadBeforeWrite: []string{"main"}}, "main")
		for _, c := range append([]string{`bash {"script": "echo scratch > /dev/shm/f"}`}, calls.reads...) {
			op, args, _ := strings.Cut(strings.ReplaceAll(c, "%s", "/dev/shm/f"), " ")
			tool, ok := set.Lookup(op)
			if !ok {
				t.Fatalf("dialect %s has no tool %s", d, op)
			}
			result, err := tool.Call(tools.WithSession(t.Context(), s), json.RawMessage(args))
			if err != nil || result.IsError {
				t.Errorf("%s: %s = %s, %v", d, c, result.Text, err)
			} else if text := result.Text + string(result.Structured); op != "bash" && !strings.Contains(text, "scratch") && !strings.Contains(text, "c2NyYXRjaAo=") {
				t.Errorf("%s: %s = %s, want what the file has", d, c, text)
			}
		}
		if data, err := s.MarshalJSON(); err != nil || strings.Contains(string(data), "dev/shm") {
			t.Errorf("%s: the session keeps %s, %v", d, data, err)
		}
	}
}

// TestDialectsSuggestNoDeletion deletes a name that does not exist, beside one like it.
func TestDialectsSuggestNoDeletion(t *testing.T) {
	for call, d := range map[string]tools.Dialect{
		`fs_delete {"path": "memories/mian.go", "recursive": true}`:                                                                                  tools.DialectAgentkit,
		`memory {"command": "delete", "path": "/memories/mian.go"}`:                                                                                  tools.DialectAnthropic,
		`file_delete {"path": "memories/mian.go"}`:                                                                                                   tools.DialectFS,
		`rm {"path": "memories/mian.go"}`:                                                                                                            tools.DialectHelix,
		`apply_patch {"input": "*** Begin Patch\n*** Delete File: memories/mian.go\n*** End Patch"}`:                                                 tools.DialectOpenAI,
		`apply_patch {"patch": "*** Begin Patch\n*** Delete File: memories/mian.go\n*** End Patch"}`:                                                 tools.DialectWorkspace,
		`apply_patch {"patch": "--- a/memories/mian.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-text\n"}`:                                                     tools.DialectWorkspace,
		`apply_patch {"patch": "diff --git a/memories/mian.go b/memories/mian.go\ndeleted file mode 100644\n"}`:                                      tools.DialectWorkspace,
		`apply_patch {"patch": "*** Begin Patch\n*** Delete File: memories/mian.go\n*** Update File: memories/miain.go\n@@\n-a\n+b\n*** End Patch"}`: tools.DialectWorkspace,
	} {
		fsys := memory.New(nil)
		put(t, fsys, "memories/main.go", "text")
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: d})
		op, args, _ := strings.Cut(call, " ")
		tool, _ := set.Lookup(op)
		result, err := tool.Call(t.Context(), json.RawMessage(args))
		if err != nil || !result.IsError || strings.Contains(result.Text, "main.go") {
			t.Errorf("%s = %+v, %v", call, result, err)
		}
	}
}

// TestDialectsSharedWithReadOnlyFirst declares the tools of a read-only workspace and
// one that can be written to: the order of the two does not matter.
func TestDialectsSharedWithReadOnlyFirst(t *testing.T) {
	for _, d := range tools.Dialects() {
		var schemas [2]map[string]string
		for i := range schemas {
			both := []*workspace.Workspace{workspace.New("a", memory.New(nil), nil), workspace.New("b", policy.ReadOnly(memory.New(nil)), nil)}
			if i == 1 {
				slices.Reverse(both)
			}
			set, err := tools.NewAll(both, &tools.Options{Dialect: d, Shared: tools.SharedTrue})
			if err != nil {
				t.Fatal(err)
			}
			schemas[i] = map[string]string{}
			for _, tool := range set.Tools() {
				in := members(t, tool.InputSchema())
				delete(in["properties"].(object), "workspace")
				schemas[i][tool.Op] = fmt.Sprint(in)
			}
		}
		if diff := cmp.Diff(schemas[0], schemas[1]); diff != "" {
			t.Errorf("the tools of %s are not the same if the read-only workspace comes first:\n%s", d, diff)
		}
	}
}

// TestParameters compares the parameters of each tool with its schema.
func TestParameters(t *testing.T) {
	type described struct {
		Type, Description string
		Default           json.RawMessage
		Enum              []string
	}
	for _, d := range tools.Dialects() {
		for _, tool := range newSetOf(t, workspace.New("test", memory.New(nil), nil), &tools.Options{Dialect: d}).Tools() {
			type object struct {
				Properties map[string]described
				Required   []string
			}
			var want object
			if err := json.Unmarshal(tool.InputSchema(), &want); err != nil {
				t.Fatal(err)
			}
			got := object{Properties: map[string]described{}}
			for _, p := range tool.Parameters() {
				got.Properties[p.Name] = described{p.Type, p.Description, p.Default, p.Values}
				if p.Required {
					got.Required = append(got.Required, p.Name)
				}
			}
			slices.Sort(want.Required)
			slices.Sort(got.Required)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the parameters of %s differ from its schema (-schema +parameters):\n%s", d, tool.Op, diff)
			}
		}
	}
}

// TestAnthropicInsertAfterByteOrderMark tests that a byte order mark stays the first.
func TestAnthropicInsertAfterByteOrderMark(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "f", "\ufeffone\r\n")
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectAnthropic})
	good(t, set, "str_replace_based_edit_tool", object{"command": "insert", "path": "/f", "insert_line": 0, "insert_text": "zero"})
	holds(t, fsys, "f", "\ufeffzero\r\none\r\n")
}

// TestMemoryRoot tests that the memory tool changes its directory itself in no way.
func TestMemoryRoot(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "memories/a", "note")
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectAnthropic})
	for _, args := range []object{
		{"command": "create", "path": "/memories", "file_text": "x"},
		{"command": "str_replace", "path": "/memories/", "old_str": "note", "new_str": "x"},
		{"command": "insert", "path": "/memories", "insert_line": 0, "insert_text": "x"},
		{"command": "delete", "path": "/memories"},
		{"command": "rename", "old_path": "/memories", "new_path": "/memories/b"},
		{"command": "rename", "old_path": "/memories/a", "new_path": "/memories"},
	} {
		want := fmt.Sprintf("is the directory of all notes, which %s cannot change", args["command"])
		contains(t, fmt.Sprint(args), bad(t, set, "memory", args, tools.CodeInvalid).Message, want)
	}
	good(t, set, "memory", object{"command": "view", "path": "/memories"})
	holds(t, fsys, "memories/a", "note")
}

// anthropicIn returns a folder, and the tools of the dialect anthropic for it.
func anthropicIn(t *testing.T, dir string) (*localbash.FS, *tools.Set) {
	t.Helper()
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys, newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectAnthropic})
}

// TestMemorySymlinks tests that no symlink leads the memory tool out of its directory.
func TestMemorySymlinks(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "memories"), 0o755), os.Mkdir(filepath.Join(dir, "src"), 0o755),
		os.WriteFile(filepath.Join(dir, "src", "a"), []byte("secret"), 0o644), os.WriteFile(filepath.Join(dir, "memories", "b"), []byte("note"), 0o644),
		os.Symlink("../src", filepath.Join(dir, "memories", "out")), os.Symlink("../src/new", filepath.Join(dir, "memories", "new")), os.Symlink("b", filepath.Join(dir, "memories", "in")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fsys, set := anthropicIn(t, dir)
	for _, args := range []object{
		{"command": "view", "path": "/memories/out"},
		{"command": "view", "path": "/memories/out/a"},
		{"command": "create", "path": "/memories/new", "file_text": "x"},
		{"command": "create", "path": "/memories/out/new", "file_text": "x"},
		{"command": "str_replace", "path": "/memories/out/a", "old_str": "secret", "new_str": "x"},
		{"command": "insert", "path": "/memories/out/a", "insert_line": 0, "insert_text": "x"},
		{"command": "delete", "path": "/memories/out/a"},
		{"command": "rename", "old_path": "/memories/out/a", "new_path": "/memories/a"},
		{"command": "rename", "old_path": "/memories/b", "new_path": "/memories/out/b"},
	} {
		contains(t, fmt.Sprint(args), bad(t, set, "memory", args, tools.CodeInvalid).Message, "is not below /memories")
	}
	for _, args := range []object{
		{"command": "view", "path": "/memories"},
		{"command": "view", "path": "/memories/in"},
		{"command": "rename", "old_path": "/memories/out", "new_path": "/memories/elsewhere"},
		{"command": "delete", "path": "/memories/elsewhere"},
	} {
		good(t, set, "memory", args)
	}
	holds(t, fsys, "src/a", "secret")
}

// TestMemoryRootSymlink tests that the memory tool does nothing at all if its directory is a
// symlink, wherever that leads.
func TestMemoryRootSymlink(t *testing.T) {
	for _, target := range []string{".", "notes", "none"} {
		dir := t.TempDir()
		for _, err := range []error{
			os.Mkdir(filepath.Join(dir, "notes"), 0o755), os.Symlink(target, filepath.Join(dir, "memories")),
			os.WriteFile(filepath.Join(dir, "a"), []byte("secret"), 0o644), os.WriteFile(filepath.Join(dir, "notes", "a"), []byte("secret"), 0o644),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		fsys, set := anthropicIn(t, dir)
		for _, args := range []object{
			{"command": "view", "path": "/memories"},
			{"command": "view", "path": "/memories/a"},
			{"command": "create", "path": "/memories/new", "file_text": "x"},
			{"command": "str_replace", "path": "/memories/a", "old_str": "secret", "new_str": "x"},
			{"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "x"},
			{"command": "delete", "path": "/memories/a"},
			{"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"},
		} {
			contains(t, fmt.Sprint(target, args), bad(t, set, "memory", args, tools.CodeInvalid).Message, "is not below /memories")
		}
		holds(t, fsys, "a", "secret")
		holds(t, fsys, "notes/a", "secret")
	}
}

// TestDialectsNameNoOtherParameters tests that the texts of tools that call the default
// ones name no parameters that they do not have.
func TestDialectsNameNoOtherParameters(t *testing.T) {
	for d, calls := range map[tools.Dialect][]string{
		tools.DialectClaudeCode: {`Read {"file_path": "/bin"}`, `Write {"file_path": "/crlf", "content": "a\nb\n"}`, `Read {"file_path": "/crlf", "offset": 9}`,
			`Read {"file_path": "/large.png"}`, `Edit {"file_path": "/crlf", "old_string": "a", "new_string": "a"}`,
			`MultiEdit {"file_path": "/crlf", "edits": [{"old_string": "a", "new_string": "a"}, {"old_string": "", "new_string": "b"}]}`,
			`Edit {"file_path": "/crlf", "old_string": "a\r\n", "new_string": "a\n"}`},
		tools.DialectGemini: {`read_file {"file_path": "/bin"}`, `write_file {"file_path": "/crlf", "content": "a\nb\n"}`, `read_file {"file_path": "/crlf", "start_line": 9}`,
			`read_file {"file_path": "/crlf", "start_line": 2000000000}`, `read_file {"file_path": "/large.png"}`,
			`replace {"file_path": "/crlf", "old_string": "a", "new_string": "a"}`},
		tools.DialectAgentkit:  {`fs_replace_in_file {"path": "crlf", "find": "a", "replace": "a"}`},
		tools.DialectFS:        {`file_edit {"path": "crlf", "old_text": "a", "new_text": "a"}`},
		tools.DialectAnthropic: {`str_replace_based_edit_tool {"command": "create", "path": "/new"}`, `str_replace_based_edit_tool {"command": "str_replace", "path": "/crlf", "old_str": "a", "new_str": "a"}`},
		tools.DialectHelix:     {`write_file {"path": "crlf", "content": "a\nb\n"}`},
	} {
		fsys := memory.New(nil)
		for name, content := range map[string]string{"bin": "\x00\x01", "crlf": "a\r\nb\r\n", "large.png": pixel + strings.Repeat("\x00", 4<<20)} {
			put(t, fsys, name, content)
		}
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: d})
		for _, c := range calls {
			op, args, _ := strings.Cut(c, " ")
			tool, _ := set.Lookup(op)
			result, err := tool.Call(t.Context(), json.RawMessage(args))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"keepLineEnds", "encoding", "base64", "tail", `"line"`, "oldText", "newText"} {
				if _, own := members(t, tool.InputSchema())["properties"].(object)[name]; !own && strings.Contains(result.Text, name) {
					t.Errorf("%s names the parameter %s:\n%s", c, name, result.Text)
				}
			}
			if strings.Contains(c, "large.png") {
				contains(t, c, result.Text, "up to 3 MiB")
				contains(t, op, tool.Description(), "PDFs up to 3 MiB")
			}
			if strings.Contains(c, `"offset"`) && !result.IsError {
				t.Errorf("%s = %s, want an error: the file has two lines", c, result.Text)
			}
		}
	}
}

// ending ends a context after a read that succeeds.
type ending struct {
	*memory.FS
	end context.CancelFunc
}

func (f ending) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, err := f.FS.ReadFile(ctx, name)
	f.end()
	return data, err
}

// TestMCPEditOfOpenLine replaces the last line of a file, which has no line end, by several,
// and finds it without its indentation.
func TestMCPEditOfOpenLine(t *testing.T) {
	for before, want := range map[string]string{
		"a\r\n\tlast":      "a\r\n\tx\r\ny",
		"a\n\tlast":        "a\n\tx\ny",
		"a\r\nb\n\tlast":   "a\r\nb\n\tx\ny",
		"a\r\n\tlast\nb\n": "a\r\n\tx\ny\nb\n",
		"\tlast":           "\tx\ny",
	} {
		fsys := memory.New(nil)
		put(t, fsys, "f", before)
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectMCPFilesystem})
		good(t, set, "edit_file", object{"path": "f", "edits": []object{{"oldText": "  last", "newText": "  x\ny"}}})
		holds(t, fsys, "f", want)
	}
}

// TestEditOfMixedLineEnds joins two lines of a file with both kinds of line ends.
func TestEditOfMixedLineEnds(t *testing.T) {
	t.Parallel()
	for dialect, c := range map[tools.Dialect]struct {
		op   string
		args object
	}{
		tools.DialectAgentkit:      {"fs_replace_in_file", object{"path": "f", "find": "\nb", "replace": " b"}},
		tools.DialectMCPFilesystem: {"edit_file", object{"path": "f", "edits": []object{{"oldText": "\nb", "newText": " b"}}}},
	} {
		fsys := memory.New(nil)
		put(t, fsys, "f", "a\r\nb\nc\n")
		good(t, newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: dialect}), c.op, c.args)
		holds(t, fsys, "f", "a b\nc\n")
	}
}

// TestMCPTreeOfBoth tests that directory_tree shows what is below a name that is a file and a
// directory.
func TestMCPTreeOfBoth(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, &s3test.Options{Public: true})
	open := func(prefix string) workspace.FileSystem {
		fsys, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: "workspace", Prefix: prefix, Endpoint: server.URL, Region: server.Region, Anonymous: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { fsys.Close() })
		return fsys
	}
	fsys := open("")
	put(t, fsys, "d/a", "")
	put(t, fsys, "d/a-b", "")
	put(t, open("d/a"), "x/y", "")
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectMCPFilesystem})
	const want = `[{"name":"a","type":"directory","children":[{"name":"x","type":"directory","children":[{"name":"y","type":"file"}]}]},{"name":"a-b","type":"file"}]`
	got := call(t, set, "directory_tree", `{"path": "d"}`).Text
	if got = strings.NewReplacer("\n", "", " ", "").Replace(got); got != want {
		t.Errorf("directory_tree = %s, want %s", got, want)
	}
}

// TestMCPReadAllEnds ends the context of a call when a file has just been read.
func TestMCPReadAllEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fsys := memory.New(nil)
	put(t, fsys, "f", "text")
	set := newSetOf(t, workspace.New("test", restricted{ending{fsys, cancel}, workspace.Capabilities{}}, nil), &tools.Options{Dialect: tools.DialectMCPFilesystem})
	tool, _ := set.Lookup("read_multiple_files")
	if _, err := tool.Call(ctx, json.RawMessage(`{"paths": ["f"]}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("Call() = %v, want %v", err, context.Canceled)
	}
}

// guarded refuses to list one directory, which it shows.
type guarded struct{ *memory.FS }

func (f guarded) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	if dir == "d/no" {
		return nil, ops.Error(ops.Ls, dir, fs.ErrPermission, nil)
	}
	return f.FS.Ls(ctx, dir, opts)
}

// TestDialectListsAroundDeniedDirectory lists two levels with a directory that may not be
// listed in the second.
func TestDialectListsAroundDeniedDirectory(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "d/no/f", "text")
	put(t, fsys, "d/yes/g", "text")
	ws := workspace.New("test", restricted{guarded{fsys}, workspace.Capabilities{}}, nil)
	for d, c := range map[tools.Dialect]string{
		tools.DialectAnthropic: `str_replace_based_edit_tool {"command": "view", "path": "/d"}`,
		tools.DialectOpenAI:    `list_dir {"dir_path": "/d"}`,
	} {
		set := newSetOf(t, ws, &tools.Options{Dialect: d})
		op, args, _ := strings.Cut(c, " ")
		result := call(t, set, op, args)
		if result.IsError {
			t.Errorf("%s = %s", c, result.Text)
		}
		contains(t, c, result.Text, "no", "yes", "g")
		if result := call(t, set, op, strings.Replace(args, `"/d"`, `"/d/no"`, 1)); !result.IsError || result.Error.Code != tools.CodePermission {
			t.Errorf("%s of the directory itself = %s, want %s", op, result.Text, tools.CodePermission)
		}
	}
}

// TestNotesInText tests that a text that is a JSON object stays one, and that a text that
// merely looks like one keeps its own members.
func TestNotesInText(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "a", `{"a":1}`)
	for _, tt := range []struct {
		dialect  tools.Dialect
		op, args string
		want     string
	}{
		{tools.DialectFS, "file_write", `{"path": 5, "content": "x"}`, `{"success":true,"data":{"path":"/5"},"notes":["path: 5 was read as \"5\""]}`},
		{tools.DialectFS, "file_read", `{"path": "b", "limit": "1"}`, `{"success":false,"error":{"code":"FILE_NOT_FOUND","message":"b: file does not exist"},"notes":["limit: \"1\" was read as 1"]}`},
		{tools.DialectAgentkit, "fs_create_directory", `{"path": 6}`, `{"path":"6","created":true,"notes":["path: 6 was read as \"6\""]}`},
		{tools.DialectAgentkit, "fs_read_file", `{"path": "a", "from": "1"}`, "{\"a\":1}\n[note: from: \"1\" was read as 1]"},
		{tools.DialectWorkspace, "mkdir", `{"path": 7}`, "Made the directory 7.\n[note: path: 7 was read as \"7\"]"},
	} {
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tt.dialect})
		if result := call(t, set, tt.op, tt.args); result.Text != tt.want {
			t.Errorf("%s %s = %s, want %s", tt.op, tt.args, result.Text, tt.want)
		}
	}
}

// TestNotesAreBounded gives arguments with very much that has to be understood.
func TestNotesAreBounded(t *testing.T) {
	set := newSetOf(t, workspace.New("test", memory.New(nil), nil), &tools.Options{Dialect: tools.DialectMCPFilesystem})
	for op, args := range map[string]string{
		"directory_tree": `{"path": "/", "excludePatterns": [` + strings.Repeat("1,", 5000) + `1]}`,
		"list_directory": `{"path": ` + strings.Repeat("1", 5000) + `}`,
	} {
		if result := call(t, set, op, args); len(result.Notes) == 0 || len(result.Text) > 2000 {
			t.Errorf("%s with long arguments: %d notes, %d characters", op, len(result.Notes), len(result.Text))
		}
	}
	result := call(t, set, "directory_tree", `{"path": "/", "excludePatterns": [`+strings.Repeat("1,", 99)+`1]}`) // 100 notes
	contains(t, "the last note", result.Notes[len(result.Notes)-1], "90 more")
}

// TestTextIsArray tests that the text of a listing that clients parse is a JSON array and
// nothing else: notes are in the structured result alone, and where entries would be
// missing, the call fails.
func TestTextIsArray(t *testing.T) {
	t.Parallel()
	const most = 10_000
	fsys := memory.New(nil)
	for i := range most {
		put(t, fsys, fmt.Sprint("1/", i), "")
	}
	for op, dialect := range map[string]tools.Dialect{
		"fs_list_directory": tools.DialectAgentkit,
		"directory_tree":    tools.DialectMCPFilesystem,
	} {
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: dialect})
		result := call(t, set, op, `{"path": 1}`)
		var entries []any
		if err := json.Unmarshal([]byte(result.Text), &entries); err != nil || len(entries) != most || len(result.Notes) != 1 {
			t.Errorf("%s: %d entries, %v, notes %q; want %d and the note that 1 is no text", op, len(entries), err, result.Notes, most)
		}
		contains(t, op, string(result.Structured), `"notes":["path: 1 was read`)
		put(t, fsys, "1/more", "")
		bad(t, set, op, `{"path": "1"}`, tools.CodeInvalidArguments)
		if err := fsys.Rm(t.Context(), "1/more", nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClaudeGrepShowsText searches a file that is not UTF-8. Texts of results are.
func TestClaudeGrepShowsText(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "a.txt", "caf\xe9\nnext \xff\n")
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectClaudeCode})
	got := call(t, set, "Grep", object{"pattern": "caf", "output_mode": "content", "-A": 1})
	if want := "/a.txt:1:caf\uFFFD\n/a.txt-2-next \uFFFD"; got.Text != want {
		t.Errorf("Grep = %q, want %q", got.Text, want)
	}
}

// TestSearchesAreBounded searches for a match of 20,000 lines, and for 700 files with long
// names.
func TestSearchesAreBounded(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	put(t, fsys, "long.txt", "BEGIN\n"+strings.Repeat("line\n", 20_000)+"END\n")
	for i := range 700 {
		put(t, fsys, fmt.Sprintf("%s/%d.txt", strings.Repeat("d", 200), i), "find\n")
	}
	for _, tt := range []struct {
		dialect  tools.Dialect
		op, args string
	}{
		{tools.DialectClaudeCode, "Grep", `{"pattern": "BEGIN.*END", "multiline": true, "output_mode": "content"}`},
		{tools.DialectClaudeCode, "Grep", `{"pattern": "find", "head_limit": 700}`},
		{tools.DialectClaudeCode, "Grep", `{"pattern": "find", "head_limit": 700, "output_mode": "count"}`},
		{tools.DialectOpenAI, "grep_files", `{"pattern": "find", "limit": 700}`},
		{tools.DialectGemini, "grep_search", `{"pattern": "find"}`},
		{tools.DialectHelix, "grep", `{"pattern": "find", "maxResults": 700}`},
	} {
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tt.dialect})
		result := call(t, set, tt.op, tt.args)
		contains(t, tt.op, result.Text, "[there are more]")
		if len(result.Text) > 33<<10 {
			t.Errorf("%s %s = %d bytes, want at most 32 KiB and notes", tt.op, tt.args, len(result.Text))
		}
	}
}

// TestDialectWithoutTheTool calls a tool that there is not. Its error has the text of the dialect.
func TestDialectWithoutTheTool(t *testing.T) {
	set := newSetOf(t, workspace.New("test", memory.New(nil), nil), &tools.Options{Dialect: tools.DialectFS})
	result, err := set.Call(t.Context(), "file_raed", nil)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "file_raed", result.Text, `{"success":false,"error":{"code":"`, `there is no tool`)
}

// TestEditorSaysWhatIsMissing tests that only what must not be empty is said to be so.
func TestEditorSaysWhatIsMissing(t *testing.T) {
	set := newSetOf(t, workspace.New("test", memory.New(nil), nil), &tools.Options{Dialect: tools.DialectAnthropic})
	for _, c := range []struct {
		args object
		want string
	}{
		{object{"command": "view", "path": ""}, "Give it, with a value that is not empty."},
		{object{"command": "str_replace", "path": "a"}, "Give it, with a value that is not empty."},
		{object{"command": "create", "path": "a"}, `Give it; "" is a value, too.`},
		{object{"command": "insert", "path": "a", "insert_line": 0}, `Give it; "" is a value, too.`},
		{object{"command": "insert", "path": "a", "insert_text": ""}, "Give it."},
	} {
		if err := bad(t, set, "str_replace_based_edit_tool", c.args, tools.CodeInvalidArguments); err.Hint != c.want {
			t.Errorf("hint of %v = %q, want %q", c.args, err.Hint, c.want)
		}
	}
	good(t, set, "str_replace_based_edit_tool", object{"command": "create", "path": "a", "file_text": ""})
}

// TestEditorListsMatches tests that a list of many matches says that it is not all of them.
func TestEditorListsMatches(t *testing.T) {
	_, ws := newSet(t, map[string]string{"many": strings.Repeat("x\n", 25), "line": "x x\n"}, nil)
	set := newSetOf(t, ws, &tools.Options{Dialect: tools.DialectAnthropic})
	for name, want := range map[string]string{"many": "in lines: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and others. Please", "line": "in lines: 1. Please"} {
		args := object{"command": "str_replace", "path": "/" + name, "old_str": "x", "new_str": "y"}
		contains(t, "message", bad(t, set, "str_replace_based_edit_tool", args, tools.CodeTextNotUnique).Message, want)
	}
}

// TestEditorShowsLongEdit tests that the lines around an edit end with a note if they are
// not all.
func TestEditorShowsLongEdit(t *testing.T) {
	_, ws := newSet(t, map[string]string{"a": "first\nlast\n"}, nil)
	set := newSetOf(t, ws, &tools.Options{Dialect: tools.DialectAnthropic})
	args := object{"command": "insert", "path": "/a", "insert_line": 1, "insert_text": strings.Repeat("x\n", 2500)}
	contains(t, "text", call(t, set, "str_replace_based_edit_tool", args).Text, "  2000\tx\n[lines 1-2000 of 2502; go on with view_range [2001, 2502]]")
}

// TestMultiEditGrows makes edits that would make a file of many gigabytes of a short one, which
// exists or not. The text is not made.
func TestMultiEditGrows(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectClaudeCode})
	good(t, set, "Write", object{"file_path": "/a", "content": "seed"})
	for name, first := range map[string]string{"/a": "seed", "/new": ""} {
		edits := []object{
			{"old_string": first, "new_string": strings.Repeat("a", 90_000)},
			{"old_string": "a", "new_string": strings.Repeat("b", 20_000), "replace_all": true},
		}
		err := bad(t, set, "MultiEdit", object{"file_path": name, "edits": edits}, tools.CodeTooLarge)
		contains(t, "message", err.Message, "edit 2 of 2: file too large: it would have 1800000000 bytes")
	}
	holds(t, fsys, "a", "seed")
}

// TestMultiEditCreates creates a file with an empty text first, as Edit does, and goes on with
// it.
func TestMultiEditCreates(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectClaudeCode})
	create := object{"file_path": "/d/a", "edits": []object{{"old_string": "", "new_string": "one\ntwo\n"}, {"old_string": "two", "new_string": "2"}}}
	if got, err := preflight(t, set, "MultiEdit", create); err != nil || len(got) != 1 || got[0].Op != policy.OpWrite || !strings.HasSuffix(got[0].Diff, "\n+one\n+2\n") {
		t.Errorf("Preflight = %+v, %v, want a write of both lines", got, err)
	}
	good(t, set, "MultiEdit", create)
	holds(t, fsys, "d/a", "one\n2\n")
	bad(t, set, "MultiEdit", create, tools.CodeExist)
	create["file_path"], create["edits"] = "/b", []object{{"old_string": "", "new_string": "one"}, {"old_string": "none", "new_string": "2"}}
	contains(t, "message", bad(t, set, "MultiEdit", create, tools.CodeTextNotFound).Message, "edit 2 of 2: ")
	if _, err := fsys.Stat(t.Context(), "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of a file whose edits failed = %v", err)
	}
}

// TestNamedIgnoredFiles tests that searches that leave out .git say when they do not.
func TestNamedIgnoredFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect  tools.Dialect
		op, args string
	}{
		{tools.DialectWorkspace, "grep", `{"pattern": "find", "path": %q}`},
		{tools.DialectClaudeCode, "Glob", `{"pattern": "*", "path": %q}`},
		{tools.DialectClaudeCode, "Grep", `{"pattern": "find", "path": %q}`},
		{tools.DialectGemini, "grep_search", `{"pattern": "find", "dir_path": %q}`},
		{tools.DialectHelix, "grep", `{"pattern": "find", "path": %q}`},
	} {
		fsys := memory.New(nil)
		put(t, fsys, ".git/hooks", "find\n")
		put(t, fsys, "build/hooks", "find\n")
		put(t, fsys, ".gitignore", "build/\n")
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: c.dialect})
		for dir, want := range map[string]bool{".git": true, "build": true, ".": false} {
			result := call(t, set, c.op, fmt.Sprintf(c.args, dir))
			if got := strings.Contains(result.Text, "hooks"); got != want {
				t.Errorf("%s of %s in %s finds the file: %t, want %t:\n%s", c.op, c.dialect, dir, got, want, result.Text)
			}
		}
		tool, _ := set.Lookup(c.op)
		if c.dialect == tools.DialectWorkspace {
			contains(t, c.op, string(tool.InputSchema()), "even if ignored")
		} else {
			contains(t, c.op, tool.Description(), "path is in it")
		}
	}
}

// TestEditorRangeOfLongFile views a part of a file with more lines than six digits can number.
func TestEditorRangeOfLongFile(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	put(t, fsys, "long", strings.Repeat("x\n", 1_000_000))
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: tools.DialectAnthropic})
	const op = "str_replace_based_edit_tool"
	bad(t, set, op, object{"command": "view", "path": "/long"}, tools.CodeTooLarge)
	contains(t, op, call(t, set, op, object{"command": "view", "path": "/long", "view_range": []int{999_999, 1_000_000}}).Text, "999999\tx\n1000000\tx")
}

// TestNamesInTexts checks that no text has a line break or an invisible character of a name, with
// which a file could forge what else the text says. A text in JSON escapes line breaks.
func TestNamesInTexts(t *testing.T) {
	t.Parallel()
	const dir, name = "d\x1b", "d\x1b/a\nforged\u202e"
	calls := map[tools.Dialect]map[string][]object{
		tools.DialectWorkspace: {
			"ls": {{"path": dir}}, "tree": {{}}, "glob": {{"pattern": "**"}}, "stat": {{"path": name}}, "read_files": {{"paths": []string{name, name + "x"}}},
			"grep":      {{"pattern": "find"}, {"pattern": "find", "output": "files"}, {"pattern": "find", "output": "count"}, {"pattern": "x", "includeGlob": "x/*", "path": dir}},
			"read_file": {{"path": name}, {"path": name, "tail": 1}, {"path": name + "x"}, {"path": name, "line": 7}, {"path": "a\x00\nforged"}}, "move": {{"source": name + "x", "destination": "y"}},
			"edit_file": {{"path": "d*/*", "oldText": "find", "newText": "new", "replaceAll": true, "dryRun": true}, {"path": "d*/*", "oldText": "find", "newText": strings.Repeat("long line\n", 4000), "replaceAll": true, "dryRun": true}}, "copy": {{"source": dir, "destination": dir + "2", "recursive": true}},
			"write_file": {{"path": name + "x", "content": "", "ifVersion": "3"}},
			"bash":       {{"script": "cp d*/a* $'b\\nforged'"}}, "rm": {{"path": name}, {"path": dir}},
		},
		tools.DialectMCPFilesystem: {"list_directory": {{"path": dir}}, "list_directory_with_sizes": {{"path": dir}}, "search_files": {{"path": "", "pattern": "**"}}, "read_text_file": {{"path": name + "x"}}, "read_multiple_files": {{"paths": []string{name, name + "x"}}}},
		tools.DialectAnthropic: {"str_replace_based_edit_tool": {{"command": "view", "path": dir}, {"command": "view", "path": name}, {"command": "view", "path": name + "x"},
			{"command": "create", "path": name, "file_text": "x"}, {"command": "str_replace", "path": name, "old_str": "x", "new_str": "y"}}},
		tools.DialectOpenAI:     {"list_dir": {{"dir_path": "/"}, {"dir_path": dir}}, "grep_files": {{"pattern": "find"}}, "read_file": {{"file_path": name, "offset": 9}}},
		tools.DialectClaudeCode: {"LS": {{"path": dir}}, "Glob": {{"pattern": "**"}}, "Read": {{"file_path": name, "offset": 9}}, "Edit": {{"file_path": name, "old_string": "find", "new_string": "find me"}}, "Grep": {{"pattern": "find"}, {"pattern": "find", "output_mode": "content"}, {"pattern": "find", "output_mode": "count"}}},
		tools.DialectGemini:     {"list_directory": {{"dir_path": dir}}, "glob": {{"pattern": "**"}}, "grep_search": {{"pattern": "find"}, {"pattern": "find", "names_only": true}}, "replace": {{"file_path": name, "instruction": "", "old_string": "find", "new_string": "find me"}}},
		tools.DialectHelix:      {"ls": {{"path": dir}}, "glob": {{"pattern": "**"}}, "grep": {{"pattern": "find"}}, "stat": {{"path": name}}},
	}
	for d, ops := range calls {
		for op, all := range ops {
			for _, args := range all {
				set := newBashSet(t, map[string]string{name: "find\n"}, &tools.Options{Dialect: d}, "main")
				if text := call(t, set, op, args).Text; strings.ContainsAny(text, "\x00\x1b\u202e") || strings.Contains(text, "\nforged") || !strings.Contains(text, "\\") {
					t.Errorf("%s of %s with %q = %q, want the names quoted", op, d, args, text)
				}
			}
		}
	}
}
