package tools_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// bashTasks are the tasks of TestTasks as scripts.
var bashTasks = map[string][]string{
	"rename": {`grep -rnw LoadConfig . | head -n 4`,
		`grep -rlw LoadConfig --include='*.go' . | while read -r f; do sed -i 's/\bLoadConfig\b/ReadConfig/g' "$f"; done; grep -rlw LoadConfig .`},
	"message": {`grep -rn 'cannot open file' .`,
		`for f in app/load.go app/load_test.go cmd/main_test.go; do sed -i 's/cannot open file/file does not open/' "$f"; done; grep -rc 'does not open' app/load* cmd`},
	"log": {`r=$(grep -E '^\S+ ERROR ' server.log | cut -d= -f2 | cut -d' ' -f1); grep "request=$r " server.log`},
	"crlf": {`cat -A settings.ini`,
		`sed -i -e 's/^port=8080\r$/port=9090\r\ntls=on\r/' -e 's/^level=debug\r$/level=info\r/' settings.ini`},
	"minified": {`grep -o 'timeout[A-Za-z]*:[0-9]*' app.min.js; sed -i 's/timeoutMs:3000/timeoutMs:10000/' app.min.js`},
	"table": {`{ echo '| file | owner | what |'; echo '|---|---|---|'
grep -r 'TODO(' app | sort | sed -E 's/^([^:]*):.*TODO\(([a-z]*)\): (.*)$/| \1 | \2 | \3 |/'; } > TODO.md; cat TODO.md`},
	"move": {`grep -rlw Tree util`,
		`mkdir -p internal/tree; mv util/tree.go util/tree_test.go util/walk.go internal/tree/; sed -i 's/package util/package tree/' internal/tree/*.go`},
}

// The most calls and characters that all tasks may take together with the tool bash.
const (
	bashTaskCalls      = 12
	bashTaskCharacters = 5000
)

// TestBashTasks does the tasks of TestTasks with the tool bash, on each store: the files are
// the same at the end.
func TestBashTasks(t *testing.T) {
	exhaustive.Long(t)
	calls := 0
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		calls += len(bashTasks[name])
	}
	if calls > bashTaskCalls {
		t.Errorf("all tasks take %d calls, want at most %d", calls, bashTaskCalls)
	}
	all := maps.Clone(stores)
	all["server"], all["container"] = openServer, openContainer
	for store, open := range all {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			if store == "container" && testing.Short() {
				t.Skip("-short: no container")
			}
			characters := 0
			for _, name := range slices.Sorted(maps.Keys(tasks)) {
				t.Run(name, func(t *testing.T) { characters += tasks[name].playBash(t, open(t), bashTasks[name]) })
			}
			t.Logf("all tasks: %d calls, %d characters", calls, characters)
			if characters > bashTaskCharacters {
				t.Errorf("all tasks take %d characters, want at most %d", characters, bashTaskCharacters)
			}
		})
	}
}

// openContainer opens a directory in a new container.
func openContainer(t *testing.T) workspace.FileSystem {
	image := enginetest.Lookup(t, "WORKSPACEKIT_BUSYBOX_IMAGE")[0]
	fsys, err := container.Open(t.Context(), &container.Options{
		Engine: []string{"docker", "--host", enginetest.Docker(t, image)}, Image: image, Root: "/workspace",
		Create: container.CreateOptions{Workdir: "/workspace"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// playBash runs scripts and returns how many characters they and their results have. It
// checks the files that they leave.
func (k task) playBash(t *testing.T, fsys workspace.FileSystem, scripts []string) (characters int) {
	t.Helper()
	files := k.files()
	for name, content := range files {
		put(t, fsys, name, content)
	}
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Naming: "{op}", Bash: bashtool.New(nil)})
	tool, _ := set.Lookup("bash")
	last := ""
	for _, script := range scripts {
		args, err := json.Marshal(object{"script": script})
		if err != nil {
			t.Fatal(err)
		}
		result, err := tool.Call(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		last = result.Text
		characters += utf8.RuneCountInString(script) + utf8.RuneCountInString(last)
	}
	k.check(t, fsys, files, last)
	return characters
}
