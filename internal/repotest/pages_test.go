package repotest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// A page says how tests check a document. [TestPages] runs its commands, loads its files
// and compiles its Go; the rest is up to tests of its own.
type page struct {
	// tests compare the page with the code, such as the tables on it. Each is the
	// directory of a package, a dot and a function.
	tests []string
	// files are what the commands find in their folder.
	files map[string]string
	// replace are texts of the commands, and what they are here, in pairs.
	replace []string
	// env are variables of the environment.
	env []string
	// notRun are beginnings of commands that do not run here, and why.
	notRun map[string]string
	// vars are variables that the fragments of Go use, as parameters of a function, and
	// decls what else they leave out.
	vars, decls string
	// module says that the go command finds this tree as the latest version of the module.
	module bool
	// maxCommands is how many commands the page may need. Zero means any number.
	maxCommands int
	// long says that the page may have more than maxWords words.
	long bool
	// program is one that the commands need, empty for none.
	program string
	// store starts an S3 server, at which the commands find the bucket "workspace".
	store bool
}

// pages are all documents that users read.
var pages = map[string]page{
	"CONTRIBUTING.md": {tests: []string{"internal/repotest.TestDocLinks"}},
	"README.md": {
		tests:   []string{"internal/repotest.TestREADMEExample", "internal/repotest.TestREADMEFile"},
		files:   map[string]string{"main.go": "package main // TODO\n"},
		replace: []string{"/path/to", ".", "s3://bucket/", "s3://workspace/"},
		decls:   "func New() workspace.FileSystem { panic(0) }\n",
		notRun:  map[string]string{"go install ": "the quick start installs it"},
		store:   true,
	},
	"SECURITY.md": {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/acp.md": {
		tests: []string{"internal/repotest.TestNumbers"},
		vars: "ws *workspace.Workspace, toAgent io.Writer, fromAgent io.Reader, buffers interface{ Text(string) (string, bool) }, " +
			"req sdk.NewSessionRequest, conn *sdk.AgentSideConnection, local *localbash.FS, fsys *acp.FS, set *tools.Set, sessionID sdk.SessionId, clientCapabilities sdk.ClientCapabilities, " +
			"toolUse struct { ID, Name string; Input json.RawMessage }",
		decls: `func (editor) RequestPermission(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) { panic(0) }
			func (editor) SessionUpdate(context.Context, sdk.SessionNotification) error { panic(0) }
			`,
		notRun: map[string]string{"workspace -C ~/project acp": "the agent is the reader's; acp.txtar has one"},
	},
	"docs/architecture.md": {tests: []string{"internal/repotest.TestArchitecturePackages", "internal/repotest.TestCodeLinks"}},
	"docs/command.md": {
		tests:   []string{"internal/cli.TestReference"},
		files:   map[string]string{"workspace.yaml": "workspaces: { docs: { provider: { kind: localbash, root: . } } }\n", "README.md": "# Notes\n"},
		replace: []string{"~/project", "."},
	},
	"docs/README.md":        {tests: []string{"internal/repotest.TestIndex"}},
	"docs/comparison.md":    {tests: []string{"internal/repotest.TestComparison"}},
	"docs/compatibility.md": {files: someFiles, tests: []string{"internal/repotest.TestCompatibility"}},
	"docs/faq.md":           {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/config-history.md": {
		files: map[string]string{"workspace.yaml": "workspaces: { repo: { provider: { kind: localbash, root: repo }, backup: {} } }\n", "repo/notes.md": "A note.\n"},
	},
	"docs/config-providers.md":           {tests: []string{"workspace/config.TestDocsTables"}},
	"docs/config-reference.md":           {tests: []string{"internal/repotest.TestConfigReference"}},
	"docs/config-reference-providers.md": {tests: []string{"internal/repotest.TestConfigReference"}, long: true},
	"docs/config-settings.md":            {tests: []string{"workspace/config.TestDocsTables"}},
	"docs/config.md": {
		store: true, files: map[string]string{
			"workspace.yaml": "workspaces: { repo: { provider: { kind: localbash, root: . } }, scratch: mem:// }\n",
			"team.yaml":      "workspaces: { lake: mem:// }\n",
		},
		replace: []string{"s3://bucket/", "s3://workspace/"},
		notRun: map[string]string{
			"workspace trust --revoke": "nothing in the file needs trust; trust.txtar revokes it",
		},
		vars: "repo *config.Workspace",
	},
	"docs/container-details.md": {tests: []string{"providers/container.TestRequests"}},
	"docs/container.md":         {tests: []string{"internal/repotest.TestTables", "internal/repotest.TestNumbers"}, vars: "ws *workspace.Workspace"},
	"docs/contract.md":          {tests: []string{"conformance.TestContract"}, long: true},
	"docs/design-policies.md":   {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/design-remote.md":     {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/design-search.md":     {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/design-tools.md":      {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/design.md":            {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/dialects.md": {
		tests: []string{".TestDialects", "adapters/mcp.TestReference"},
		vars:  "ws *workspace.Workspace", files: someFiles,
	},
	"docs/errors.md":     {tests: []string{"internal/repotest.TestErrorsPage"}},
	"docs/events.md":     {tests: []string{"internal/repotest.TestDocLinks"}, vars: "notify func(context.Context, observe.Event)"},
	"docs/frameworks.md": {tests: []string{"internal/repotest.TestFrameworks"}, vars: "ws *workspace.Workspace"},
	"docs/mcp.md": {
		tests: []string{"internal/repotest.TestNumbers", "adapters/mcp.TestFeatures"},
		vars:  "set *tools.Set", files: someFiles,
		notRun: map[string]string{
			"claude ": "the program of a vendor; servers are started as it would",
		},
	},
	"docs/objectstore.md":          {tests: []string{"providers/objectstore.TestDocsStateTheRequests", "internal/repotest.TestTables", "internal/repotest.TestNumbers"}},
	"docs/performance-details.md":  {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/performance-limits.md":   {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/performance-mcp.md":      {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/performance-remote.md":   {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/performance.md":          {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/platforms.md":            {tests: []string{"internal/repotest.TestPlatformsPage"}},
	"docs/providers.md":            {tests: []string{"internal/repotest.TestProvidersDoc"}},
	"docs/quickstart-framework.md": {maxCommands: 5, module: true},
	"docs/quickstart-provider.md":  {maxCommands: 5, module: true},
	"docs/quickstart-yaml.md": {
		tests: []string{"internal/repotest.TestQuickStartFile"}, maxCommands: 5,
		// Everything but the version is as printed.
		replace: []string{"go install github.com/workspacekit/workspacekit/cmd/workspace@latest", "go install -C " + absolute(root) + " ./cmd/workspace"},
	},
	"docs/rough-edges.md":     {tests: []string{"internal/repotest.TestDocLinks"}},
	"docs/running.md":         {tests: []string{"workspace/policy.TestRun", "providers/container.TestRunConformance"}, vars: "ws *workspace.Workspace"},
	"docs/running-locally.md": {tests: []string{"providers/localbash.TestRunAttacks", "providers/localbash.TestRunOptions"}},
	"docs/security.md":        {tests: []string{"internal/repotest.TestSecurityTable"}},
	"docs/shell-programs.md":  {tests: []string{"shell/internal/command.TestGNU"}},
	"docs/shell.md":           {tests: []string{"shell.TestDocsStateTheBudgets", "internal/repotest.TestTables"}, files: map[string]string{"notes.md": "A note.\n"}, vars: "repo *workspace.Workspace"},
	"docs/tools.md":           {tests: []string{"tools.TestDocs", "tools.TestDocsStateTheLimits", "internal/repotest.TestNumbers"}, vars: toolVars},
	"docs/tools-calls.md":     {tests: []string{"tools.TestDocs"}, vars: toolVars},
	"docs/tools-editing.md":   {tests: []string{"tools.TestDocs"}, vars: toolVars},
	"docs/tools-files.md":     {tests: []string{"tools.TestDocs"}, vars: toolVars},
	"docs/tools-patches.md":   {tests: []string{"tools.TestDocs"}, vars: toolVars},
	"docs/tools-reading.md":   {tests: []string{"tools.TestDocs"}, vars: toolVars},
	"docs/tools-searching.md": {tests: []string{"tools.TestDocs"}, vars: toolVars},
	"docs/urls.md":            {tests: []string{"internal/repotest.TestURLsPage", "internal/repotest.TestVariablesAreListed"}},
	"docs/views.md":           {tests: []string{"internal/repotest.TestNumbers", "internal/osfile.TestLikePackageOS", "workspace.TestFSServesHTTP", "providers/afero.TestToAfero", "adapters/billy.TestSymlinksAreNotSupported", "adapters/webdav.TestRequests"}, files: someFiles},
	"docs/troubleshooting.md": {
		program: "docker",
		files: map[string]string{
			"unset.yaml":            "workspaces:\n  repo: { provider: { kind: localbash, root: . } }\n  lake: { provider: { kind: objectstore, bucket: \"${BUCKET}\" } }\n",
			"here.yaml":             "workspaces:\n  repo: { provider: { kind: localbash, root: . } }\n",
			"cloned/workspace.yaml": "workspaces: { home: { provider: { kind: localbash, root: .. } } }\n",
			".env":                  "KEY=1\n", "a.txt": "hello\n", "big.bin": strings.Repeat("x", 11<<20),
		},
		env: []string{"AWS_EC2_METADATA_DISABLED=true", "AWS_REGION=us-east-1", "DOCKER_HOST=tcp://127.0.0.1:1"},
	},
	"docs/writing-a-provider.md": {
		tests: []string{"internal/repotest.TestTables"},
		decls: "func open(t *testing.T) workspace.FileSystem { panic(0) }\nfunc reference(t *testing.T) workspace.FileSystem { panic(0) }",
	},
}

// maxWords is how many words a page may have, so that it is read.
const maxWords = 2000

// toolVars are what the fragments about tools use.
const toolVars = "ws *workspace.Workspace, tool *tools.Tool, args json.RawMessage, session *tools.Session, text string, a []byte, version workspace.Version"

// someFiles are a small project.
var someFiles = map[string]string{
	"workspace.yaml": "workspaces:\n  repo: { provider: { kind: localbash, root: . } }\n  scratch: mem://\n",
	"main.go":        "package main // TODO\n",
	"notes.md":       "A note.\n",
	"src/a.go":       "package src // TODO\n",
}

// absolute returns the path of a folder for commands that run in another one.
func absolute(dir string) string {
	path, err := filepath.Abs(dir)
	if err != nil {
		panic(err)
	}
	return path
}

// TestPages checks each page by its row in the table.
func TestPages(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "runs what every page shows")
	names := slices.DeleteFunc(files(t, ".md"), func(name string) bool {
		return name == "CHANGELOG.md" || path.Dir(name) != "." && path.Dir(name) != "docs"
	})
	for _, name := range names {
		p, ok := pages[name]
		if !ok {
			t.Errorf("%s has no row in the table pages of pages_test.go: say which tests check it", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if p.program != "" {
				exhaustive.Program(t, p.program)
			}
			text := read(t, name)
			all := blocks(text)
			if len(p.tests) == 0 && len(all) == 0 {
				t.Error("nothing on the page is checked")
			}
			if words := len(strings.Fields(text)); words > maxWords && !p.long {
				t.Errorf("%d words, want at most %d: cut it, or split it by subject", words, maxWords)
			}
			for _, test := range p.tests {
				checkTest(t, test)
			}
			checkGo(t, name, all, p.vars, p.decls)
			checkFiles(t, name, all)
			p.follow(t, name, all)
		})
	}
	for name := range pages {
		if !slices.Contains(names, name) {
			t.Errorf("there is no page %s", name)
		}
	}
}

// checkTest tests that there is a test, such as tools.TestDocs.
func checkTest(t *testing.T, test string) {
	t.Helper()
	dot := strings.LastIndexByte(test, '.')
	dir, function := test[:dot], test[dot+1:]
	for _, name := range files(t, "_test.go") {
		if path.Dir(name) == path.Clean(dir) && strings.Contains(read(t, name), "\nfunc "+function+"(t *testing.T) {") {
			return
		}
	}
	t.Errorf("there is no test %s", test)
}

// checkFiles loads the descriptions of workspaces among the blocks of a document, and
// looks whether its JSON is JSON.
func checkFiles(t *testing.T, name string, all []block) {
	t.Helper()
	env := func(name string) (string, bool) {
		return map[string]string{"BUCKET": "files"}[name], name == "BUCKET"
	}
	for _, b := range all {
		var err error
		switch b.lang {
		case "json":
			if !json.Valid([]byte(b.text)) {
				err = fmt.Errorf("no JSON")
			}
		case "yaml":
			text := b.text
			if !strings.Contains(text, "workspaces:") {
				text = "workspaces: { main: mem:// }\n" + text
			}
			_, err = config.Parse([]byte(text), &config.Options{Env: env, Registry: workspacekit.NewRegistry()})
		}
		if err != nil {
			t.Errorf("%s:%d: %v", name, b.line, err)
		}
	}
}

// follow does what a page says, in one folder: it saves the files, types the commands and
// starts the servers that clients would start.
func (p page) follow(t *testing.T, name string, all []block) {
	t.Helper()
	list := steps(all)
	servers := servers(t, name, all)
	if len(list) == 0 && len(servers) == 0 {
		return
	}
	if p.maxCommands > 0 && testing.Short() {
		t.Skip("-short: a quick start compiles programs")
	}
	r := p.newReader(t)
	begin, typed, left := time.Now(), 0, maps.Clone(p.notRun)
	for _, s := range list {
		if s.file != "" {
			r.save(t, s.file, s.text)
			continue
		}
		typed++
		if prefix, ok := p.exempt(s.line); ok {
			delete(left, prefix)
			continue
		}
		r.run(t, s)
	}
	for _, args := range servers {
		r.serve(t, args)
	}
	for prefix := range left {
		t.Errorf("there is no command %s…", prefix)
	}
	if p.maxCommands > 0 {
		t.Logf("%d commands took %.1f s", typed, time.Since(begin).Seconds())
		if typed > p.maxCommands {
			t.Errorf("the page needs %d commands, want at most %d", typed, p.maxCommands)
		}
	}
}

// exempt returns the key of notRun that a command begins with.
func (p page) exempt(line string) (prefix string, ok bool) {
	for prefix := range p.notRun {
		if strings.HasPrefix(line, prefix) {
			return prefix, true
		}
	}
	return "", false
}

var serverArgs = regexp.MustCompile(`"?args"?\s*[:=]\s*(\[[^\]]*\])`)

// servers returns the arguments with which the configurations of clients start servers.
func servers(t *testing.T, name string, all []block) (list [][]string) {
	t.Helper()
	for _, b := range all {
		if b.lang != "json" && b.lang != "toml" {
			continue
		}
		for _, match := range serverArgs.FindAllStringSubmatch(b.text, -1) {
			var args []string
			if err := json.Unmarshal([]byte(match[1]), &args); err != nil {
				t.Errorf("%s:%d: %v", name, b.line, err)
			}
			list = append(list, args)
		}
	}
	return list
}

// reader is who does what a page says.
type reader struct {
	dir     string
	env     []string
	replace *strings.Replacer
}

func (p page) newReader(t *testing.T) *reader {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "project")
	r := &reader{dir: dir, env: append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home+"/.state", "XDG_CONFIG_HOME="+home+"/.config",
		"PATH="+home+"/bin:"+os.Getenv("PATH"), "GOBIN="+home+"/bin", "GOCACHE="+goVariable(t, "GOCACHE"), "GOMODCACHE="+goVariable(t, "GOMODCACHE"),
		config.EnvFile+"=")}
	r.env = append(r.env, p.env...)
	pairs := append([]string{"--http 8080", "--http 0", "/home/me/project", dir}, p.replace...)
	if p.store {
		store := s3test.New(t, nil)
		pairs = append(pairs, "http://localhost:9000", store.URL)
		r.env = append(r.env, "AWS_ACCESS_KEY_ID="+store.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+store.SecretAccessKey,
			"AWS_REGION="+store.Region, "AWS_EC2_METADATA_DISABLED=true")
	}
	if p.module {
		r.env = append(r.env, goEnviron(t)...)
	}
	r.replace = strings.NewReplacer(pairs...)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range p.files {
		r.save(t, name, text)
	}
	return r
}

func (r *reader) save(t *testing.T, name, text string) {
	t.Helper()
	writeFile(t, filepath.Join(r.dir, name), r.replace.Replace(text))
}

// serves matches commands that end when they are interrupted.
var serves = regexp.MustCompile(`^workspace .*(--http |\bwatch\b)`)

// run types a command, and compares what it prints with what the page shows. Where
// the page shows nothing, the command must succeed.
func (r *reader) run(t *testing.T, s step) {
	t.Helper()
	begin := time.Now()
	line := r.replace.Replace(s.line)
	var out string
	var err error
	if serves.MatchString(line) {
		out, err = r.interrupt(t, "exec "+line)
	} else {
		var raw []byte
		raw, err = r.command(t, "sh", "-c", line).CombinedOutput()
		out = string(raw)
	}
	t.Logf("%5.1f s  $ %s", time.Since(begin).Seconds(), s.line)
	switch line := missing(out, s.shown); {
	case line != "":
		t.Errorf("$ %s\n%s\nthe page shows %q there", s.line, out, line)
	case err != nil && s.shown == "":
		t.Errorf("$ %s\n%s%v", s.line, out, err)
	}
}

// interrupt runs a script until its first output, and interrupts it then.
func (r *reader) interrupt(t *testing.T, script string) (string, error) {
	t.Helper()
	cmd := r.command(t, "sh", "-c", script)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	first := make([]byte, 1)
	io.ReadFull(stderr, first) //nolint:errcheck // without output, the command has ended
	interrupted := cmd.Process.Signal(os.Interrupt)
	rest, err := io.ReadAll(stderr)
	cmd.Wait() //nolint:errcheck // some say that they were interrupted
	return string(first) + string(rest), errors.Join(interrupted, err)
}

// serve starts a server as a client does, and says hello.
func (r *reader) serve(t *testing.T, args []string) {
	t.Helper()
	for i := range args {
		args[i] = r.replace.Replace(args[i])
	}
	cmd := r.command(t, "workspace", args...)
	cmd.Stdin = strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", ` +
		`"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}` + "\n")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"serverInfo"`) {
		t.Errorf("workspace %q = %s, %v", args, out, err)
	}
}

// command returns one that runs in the folder of the reader, for at most two minutes.
func (r *reader) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.dir, r.env, time.Second
	return cmd
}
