package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// newServer returns a server of the files of several workspaces.
func newServer(t *testing.T, opts *mcp.Options, all map[string]workspace.FileSystem) *sdk.Server {
	t.Helper()
	var workspaces []*workspace.Workspace
	for name, fsys := range all {
		workspaces = append(workspaces, workspace.New(name, fsys, nil))
	}
	slices.SortFunc(workspaces, func(a, b *workspace.Workspace) int { return strings.Compare(a.Name(), b.Name()) })
	set, err := tools.NewAll(workspaces, nil)
	if err != nil {
		t.Fatal(err)
	}
	return mcp.NewServer(set, opts)
}

// TestResourcesListEveryFile tests that pages add up to all files of all workspaces, and
// that what is listed can be read, whatever its name is.
func TestResourcesListEveryFile(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	files := map[string]string{".gitignore": "*.log\n"}
	for _, name := range []string{"a b", "a%20b", "a?b#c", "é/界", "&=+;,@:$'()*!", "[x]{y}", "line\nbreak", `back\slash`, "-", "...", "d/..."} {
		files[name] = "of " + name
	}
	for i := range 1500 {
		files[fmt.Sprintf("many/%d.txt", i)] = "x"
	}
	want := map[string]string{}
	for name, content := range files {
		want["big "+name], want["small "+name] = content, content
	}
	files["debug.log"] = "ignored"
	session := newClient(t, newServer(t, nil, map[string]workspace.FileSystem{
		"big": newMemory(t, files), "empty": newMemory(t, nil), "small": newMemory(t, files),
	}))
	got, pages := map[string]string{}, 1
	for params := (&sdk.ListResourcesParams{}); ; pages++ {
		page, err := session.ListResources(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Resources {
			read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
			if err != nil {
				t.Fatalf("ReadResource(%q) = %v", r.URI, err)
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(r.URI, "workspace://"), "/")
			got[name+" "+r.Name] = read.Contents[0].Text
		}
		if page.NextCursor == "" {
			break
		}
		params.Cursor = page.NextCursor
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files differ (-want +got):\n%s", diff)
	}
	if pages != 4 {
		t.Errorf("there are %d pages, want 4", pages)
	}
	for _, cursor := range []string{"nonsense", "workspace://other/a", "workspace://big/../x"} {
		if _, err := session.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor}); err == nil || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("ListResources(%q) = %v, want an error of the cursor", cursor, err)
		}
	}
}

// TestResourcesOfOthers tests that what was added to the server is listed whole, and the
// files after it, however many pages it takes.
func TestResourcesOfOthers(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 1, 999, 1000, 1001, 2000} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()
			server := newServer(t, nil, map[string]workspace.FileSystem{"main": newMemory(t, map[string]string{"a": "", "b": "", "c": ""})})
			want := []string{"workspace://main/a", "workspace://main/b", "workspace://main/c"}
			for i := range count {
				uri := fmt.Sprintf("own://%d", i)
				server.AddResource(&sdk.Resource{URI: uri, Name: uri}, nil)
				want = append(want, uri)
			}
			session := newClient(t, server)
			var got []string
			for r, err := range session.Resources(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, r.URI)
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the resources differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestResourcesRefuse reads what is no resource.
func TestResourcesRefuse(t *testing.T) {
	t.Parallel()
	restricted, err := policy.Restrict(newMemory(t, map[string]string{"a.txt": "secret", "d/hidden": "secret", "bin": "\x89PNG\r\n\x1a\n\x00"}), policy.Rules{DeniedPaths: []string{"d/hidden"}})
	if err != nil {
		t.Fatal(err)
	}
	session := newClient(t, newServer(t, nil, map[string]workspace.FileSystem{"main": restricted}))
	for _, path := range []string{
		"workspace://main/", "workspace://main/.", "workspace://main", "workspace://other/a.txt", "workspace:///a.txt", "workspace:/main/a.txt",
		"file:///etc/passwd", "workspace://main//etc/passwd", "workspace://main/../a.txt", "workspace://main/d/../a.txt", "workspace://main/%2e%2e/a.txt",
		"workspace://main/..%2fa.txt", "workspace://main/d/%2e%2e/a.txt", "workspace://main/./a.txt", "workspace://main/%2fa.txt", "workspace://main//a.txt",
		"workspace://main/a.txt/", "workspace://main/a.txt%00", "workspace://main/a%00/../a.txt", "workspace://main/%ff", "workspace://main/%zz", "workspace://main/d",
		"workspace://main/d/hidden", "workspace://MAIN/a.txt", "workspace://main@other/a.txt", "workspace://main:80/a.txt", `workspace://main/..\a.txt`,
		"workspace://main/.workspacekit-tmp-a", "workspace://main/" + strings.Repeat("x", 5000), "", "a.txt",
	} {
		if result, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: path}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("ReadResource(%.80q) = %+v, %v, want an error", path, result, err)
		}
	}
	read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "workspace://main/bin"})
	if err != nil || read.Contents[0].MIMEType != "image/png" || len(read.Contents[0].Blob) != 9 {
		t.Fatalf("ReadResource(bin) = %+v, %v, want an image", read, err)
	}
	if read.CacheScope != "private" || read.TTLMs != 0 {
		t.Errorf("ReadResource(bin) may be kept: %+v", read.Cacheable)
	}
	listed, err := session.ListResources(t.Context(), nil)
	if err != nil || listed.CacheScope != "private" || listed.TTLMs != 0 {
		t.Errorf("ListResources = %+v, %v, which may be kept", listed, err)
	}
}

// TestResourcesEmpty tests that an empty file has a blob: the protocol demands contents with a
// text or a blob, also empty.
func TestResourcesEmpty(t *testing.T) {
	t.Parallel()
	session := newClient(t, newServer(t, nil, map[string]workspace.FileSystem{"main": newMemory(t, map[string]string{"a": ""})}))
	read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "workspace://main/a"})
	if err != nil || read.Contents[0].Blob == nil || read.Contents[0].MIMEType != "text/plain" {
		t.Errorf("ReadResource(a) = %+v, %v, want an empty blob", read, err)
	}
}

// TestResourcesAsk reads files about which a rule asks. Before the version in which a call
// ends with its question, the client is asked.
func TestResourcesAsk(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		all := map[string]workspace.FileSystem{}
		for _, name := range []string{"main", "two"} {
			asking, err := policy.Restrict(newMemory(t, map[string]string{"a": name}), policy.Rules{FirstMatch: []policy.Rule{
				{Ask: []policy.Op{policy.OpRead}, Paths: []string{"a"}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			all[name] = asking
		}
		u := &user{answer: decides("allow")}
		session := u.join(t, version, inMemory(t, newServer(t, nil, all)), nil)
		read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "workspace://two/a"})
		if version == versions[1] {
			if err == nil || u.asked() != 0 {
				t.Errorf("%s: ReadResource(two/a) = %+v, want an error and no question", version, read)
			}
			continue
		}
		if err != nil || read.Contents[0].Text != "two" {
			t.Errorf("%s: ReadResource(two/a) = %+v, %v, want its content", version, read, err)
		}
		if want := []string{"Allow this?\n\nread a, in the workspace two\nasked by: rules[0]"}; !slices.Equal(u.messages, want) {
			t.Errorf("%s: the questions are %q, want %q", version, u.messages, want)
		}
	}
}

// TestResourcesNeedAReadingTool tests that nothing is a resource that no tool reads.
func TestResourcesNeedAReadingTool(t *testing.T) {
	t.Parallel()
	set, err := tools.New(workspace.New("main", newMemory(t, map[string]string{"a": "x"}), nil), &tools.Options{Disable: []string{"read_file", "read_files"}})
	if err != nil {
		t.Fatal(err)
	}
	session := newClient(t, mcp.NewServer(set, nil))
	if session.InitializeResult().Capabilities.Resources != nil {
		t.Error("the server has resources")
	}
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "workspace://main/a"}); err == nil {
		t.Error("ReadResource(a) = nil, want an error")
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	files := map[string]string{"src/main.go": "", "src/map/x": "", "src/other": "", "sub": ""}
	for i := range 150 {
		files[fmt.Sprintf("many/%d", i)] = ""
	}
	session := newClient(t, newServer(t, nil, map[string]workspace.FileSystem{"a": newMemory(t, files), "b": newMemory(t, nil)}))
	for _, test := range []struct {
		uri, argument, value string
		want                 []string
	}{
		{"workspace://a/{+path}", "path", "s", []string{"src/", "sub"}},
		{"workspace://a/{+path}", "path", "", []string{"many/", "src/", "sub"}},
		{"workspace://a/{+path}", "path", "src/ma", []string{"src/main.go", "src/map/"}},
		{"workspace://a/{+path}", "path", "src/map/", []string{"src/map/x"}},
		{"workspace://a/{+path}", "path", "nowhere/x", nil},
		{"workspace://a/{+path}", "path", "../", nil},
		{"workspace://a/{+path}", "other", "s", nil},
		{"workspace://b/{+path}", "path", "s", nil},
		{"workspace://c/{+path}", "path", "s", nil},
	} {
		result, err := session.Complete(t.Context(), &sdk.CompleteParams{
			Ref:      &sdk.CompleteReference{Type: "ref/resource", URI: test.uri},
			Argument: sdk.CompleteParamsArgument{Name: test.argument, Value: test.value},
		})
		if err != nil || !slices.Equal(result.Completion.Values, test.want) {
			t.Errorf("Complete(%s, %q) = %+v, %v, want %q", test.uri, test.value, result, err, test.want)
		}
	}
	result, err := session.Complete(t.Context(), &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "workspace://a/{+path}"}, Argument: sdk.CompleteParamsArgument{Name: "path", Value: "many/"},
	})
	if c := result.Completion; err != nil || len(c.Values) != 100 || c.Total != 150 || !c.HasMore {
		t.Errorf("Complete(many/) = %d values of %d, more: %t, %v, want 100 of 150", len(c.Values), c.Total, c.HasMore, err)
	}
}

// listening is a FileSystem that says when its watches begin and end.
type listening struct {
	*memory.FS
	began, ended chan struct{}
}

func (l listening) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	l.began <- struct{}{}
	context.AfterFunc(ctx, func() { l.ended <- struct{}{} })
	return l.FS.Watch(ctx, dir, opts)
}

// newListener returns a client that tells the URIs of updates.
func newListener(t *testing.T, server *sdk.Server, version string) (*sdk.ClientSession, <-chan string) {
	t.Helper()
	updated := make(chan string, 100)
	near, far := sdk.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), near, nil); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) { updated <- req.Params.URI },
	}).Connect(t.Context(), far, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session, updated
}

// TestSubscribe tests that each client hears of the files that it has subscribed to, and
// that nothing is watched longer than needed.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			testSubscribe(t, version)
		})
	}
}

func testSubscribe(t *testing.T, version string) {
	fsys := listening{newMemory(t, map[string]string{"a": "1", "b": "1", "d/c": "1"}), make(chan struct{}, 10), make(chan struct{}, 10)}
	server := newServer(t, nil, map[string]workspace.FileSystem{"main": fsys})
	first, ofFirst := newListener(t, server, version)
	second, ofSecond := newListener(t, server, version)
	subscribe := func(session *sdk.ClientSession, uri string) {
		t.Helper()
		if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatalf("Subscribe(%s) = %v", uri, err)
		}
	}
	write := func(name string) {
		t.Helper()
		if _, err := fsys.WriteFile(t.Context(), name, []byte(time.Now().String()), nil); err != nil {
			t.Fatal(err)
		}
	}
	subscribe(first, "workspace://main/a")
	subscribe(first, "workspace://main/d/c")
	subscribe(second, "workspace://main/b")
	receive(t, fsys.began)
	// Later versions have no answer that says when a subscription has begun.
	again := time.Duration(deadline)
	if version >= "2026-07-28" {
		again = 10 * time.Millisecond
	}
	for _, step := range []struct {
		name string
		of   <-chan string
	}{{"a", ofFirst}, {"b", ofSecond}, {"d/c", ofFirst}} {
		awaitUpdate(t, step.of, "workspace://main/"+step.name, again, func() { write(step.name) })
	}
	if version < "2026-07-28" {
		for _, uri := range []string{"workspace://main/nowhere", "workspace://main/d", "workspace://other/a", "workspace://main/../a"} {
			if err := first.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
				t.Errorf("Subscribe(%s) = nil, want an error", uri)
			}
		}
		if err := first.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "workspace://main/a"}); err != nil {
			t.Fatal(err)
		}
		write("a")
		write("d/c")
		if uri := receive(t, ofFirst); uri != "workspace://main/d/c" {
			t.Errorf("the first update after Unsubscribe is of %s, want the other file", uri)
		}
	}
	first.Close()
	awaitUpdate(t, ofSecond, "workspace://main/b", again, func() { write("b") })
	second.Close()
	receive(t, fsys.ended)
	if len(fsys.began) > 0 {
		t.Error("the workspace was watched twice")
	}
}

// TestSubscribeAlias tests that a client hears of a file by each URI that it has subscribed
// to, however that is escaped, until it unsubscribes that one.
func TestSubscribeAlias(t *testing.T) {
	t.Parallel()
	const canonical, alias = "workspace://main/app/%5Bid%5D.tsx", "workspace://main/app/[id].tsx"
	fsys := newMemory(t, map[string]string{"app/[id].tsx": "1"})
	write := func() {
		if _, err := fsys.WriteFile(t.Context(), "app/[id].tsx", []byte(time.Now().String()), nil); err != nil {
			t.Fatal(err)
		}
	}
	later, ofLater := newListener(t, newServer(t, nil, map[string]workspace.FileSystem{"main": fsys}), "2026-07-28")
	if err := later.Subscribe(t.Context(), &sdk.SubscribeParams{URI: alias}); err != nil {
		t.Fatal(err)
	}
	awaitUpdate(t, ofLater, alias, 10*time.Millisecond, write)
	session, updated := newListener(t, newServer(t, nil, map[string]workspace.FileSystem{"main": fsys}), "2025-11-25")
	for _, uri := range []string{canonical, alias} {
		if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	write()
	got := []string{receive(t, updated), receive(t, updated)}
	slices.Sort(got)
	if want := []string{canonical, alias}; !slices.Equal(got, want) {
		t.Errorf("a change is reported of %q, want %q", got, want)
	}
	if err := session.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: alias}); err != nil {
		t.Fatal(err)
	}
	awaitUpdate(t, updated, canonical, deadline, write)
}

// TestSubscribeSymlink tests that a client that would get no updates hears so: changes have the
// name of the file.
func TestSubscribeSymlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "d"), 0o700), os.WriteFile(filepath.Join(dir, "d", "a"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("d", filepath.Join(dir, "link")), os.Symlink("d/a", filepath.Join(dir, "b"))); err != nil {
		t.Skipf("this system makes no symlinks: %v", err)
	}
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	if err := errors.Join(os.Symlink(t.TempDir(), filepath.Join(dir, "out")), os.Symlink("loop", filepath.Join(dir, "loop"))); err != nil {
		t.Fatal(err)
	}
	session, _ := newListener(t, newServer(t, nil, map[string]workspace.FileSystem{"main": fsys}), "2025-11-25")
	for name, want := range map[string]string{
		"b":      "subscribe to workspace://main/d/a",
		"link/a": "subscribe to workspace://main/d/a",
		"out":    "out: name leads out of the workspace",
		"loop":   "loop: invalid",
	} {
		err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "workspace://main/" + name})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Subscribe(%s) = %v, want an error with %q", name, err, want)
		}
	}
}

// awaitUpdate changes a file, every so often, until its update comes.
func awaitUpdate(t *testing.T, updated <-chan string, want string, again time.Duration, change func()) {
	t.Helper()
	late := time.After(deadline)
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		change()
		select {
		case got := <-updated:
			if got == want {
				return
			}
			if again == deadline {
				t.Errorf("the update is of %s, want %s", got, want)
			}
		case <-tick.C:
		case <-late:
			t.Fatalf("no update of %s", want)
		}
	}
}

// TestProgress tests that a client is told how many files a long search has read.
func TestProgress(t *testing.T) {
	t.Parallel()
	fsys := slowGrep{newMemory(t, map[string]string{"a": "x", "b": "x", "c": "x"}), make(chan struct{})}
	server := newServer(t, &mcp.Options{ProgressInterval: time.Millisecond}, map[string]workspace.FileSystem{"main": fsys})
	told := make(chan *sdk.ProgressNotificationParams, 1000)
	near, far := sdk.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), near, nil); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { told <- req.Params },
	}).Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	params := &sdk.CallToolParams{Name: "workspace__main__grep", Arguments: json.RawMessage(`{"pattern": "x"}`)}
	params.SetProgressToken("t")
	ended := make(chan error, 1)
	go func() {
		_, err := session.CallTool(t.Context(), params)
		ended <- err
	}()
	first, second := receive(t, told), receive(t, told)
	if first.ProgressToken != "t" || first.Progress <= 0 || second.Progress <= first.Progress {
		t.Errorf("progress = %+v, %+v, want some that increases", first, second)
	}
	for !strings.Contains(receive(t, told).Message, "3 files searched") {
	}
	close(fsys.release)
	if err := receive(t, ended); err != nil {
		t.Errorf("CallTool() = %v", err)
	}
}

// slowGrep is a FileSystem whose searches end when they are released.
type slowGrep struct {
	workspace.FileSystem
	release chan struct{}
}

func (s slowGrep) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	result, err := s.FileSystem.Grep(ctx, pattern, opts)
	<-s.release
	return result, err
}

// TestLogging tests that a client that wants logs gets an entry for each call, and
// none below the level that it wants.
func TestLogging(t *testing.T) {
	t.Parallel()
	//lint:ignore SA1019 the versions of the protocol before 2026-07-28 have logs
	told := make(chan *sdk.LoggingMessageParams, 100)
	near, far := sdk.NewInMemoryTransports()
	if _, err := newServer(t, nil, map[string]workspace.FileSystem{"main": newMemory(t, nil)}).Connect(t.Context(), near, nil); err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 as above
	options := &sdk.ClientOptions{LoggingMessageHandler: func(_ context.Context, req *sdk.LoggingMessageRequest) { told <- req.Params }}
	// A client of a version that has logs.
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options).Connect(t.Context(), far, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	call(t, session, "ls", `{}`) // before anybody wants logs
	for _, step := range []struct{ level, path, want string }{
		{"debug", ".", "seconds"}, {"warning", "x", "FILE_NOT_FOUND"},
	} {
		//lint:ignore SA1019 as above
		level := sdk.LoggingLevel(step.level)
		//lint:ignore SA1019 as above
		if err := session.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: level}); err != nil {
			t.Fatal(err)
		}
		call(t, session, "ls", `{"path": "`+step.path+`"}`)
		got := receive(t, told)
		data, _ := json.Marshal(got.Data) // which was JSON
		if got.Level != level || got.Logger != "workspace__main__ls" || !strings.Contains(string(data), step.want) {
			t.Errorf("log = %+v, want level %s and %s", got, level, step.want)
		}
		call(t, session, "ls", `{}`)
		if step.level == "debug" {
			receive(t, told)
		}
	}
	call(t, session, "write_file", `{"path": "a", "content": "private\n"}`)
	call(t, session, "apply_patch", `{"patch": "*** Begin Patch\n*** Update File: a\n@@\n-other\n+new\n*** End Patch"}`)
	data, _ := json.Marshal(receive(t, told).Data)
	if text := string(data); strings.Contains(text, "private") || !strings.Contains(text, `"path":"a"`) {
		t.Errorf("log of a patch that does not apply = %s, want the path and no content of the file", text)
	}
	if len(told) > 0 {
		t.Errorf("more was logged: %+v", <-told)
	}
}

// TestAddTools adds the tools to a server that somebody else has made.
func TestAddTools(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "mine", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "own"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	mcp.AddTools(server, newSet(t, newMemory(t, map[string]string{"a.txt": "text"})))
	session := newClient(t, server)
	if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 15 {
		t.Errorf("ListTools() = %v, %v, want 15 tools", list, err)
	}
	if text := textOf(t, call(t, session, "read_file", `{"path": "a.txt"}`)); !strings.Contains(text, "text") {
		t.Errorf("read_file = %q, want the text", text)
	}
	if session.InitializeResult().ServerInfo.Name != "mine" {
		t.Error("the server has another name")
	}
}
