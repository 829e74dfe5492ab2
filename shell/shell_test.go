package shell_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// newWorkspace returns a workspace in memory with files.
func newWorkspace(t testing.TB, name string, files map[string]string) *workspace.Workspace {
	t.Helper()
	ws := workspace.New(name, memory.New(nil), nil)
	for name, content := range files {
		if _, err := ws.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	return ws
}

// output runs a script and returns what it printed.
func output(t testing.TB, s *shell.Shell, script string) string {
	t.Helper()
	result, err := s.Run(t.Context(), script, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Output
}

// TestPhysicalDirectory prints the directory below a symlink, which pwd -P follows.
func TestPhysicalDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("d", filepath.Join(dir, "l")); err != nil {
		t.Skipf("this system makes no symlinks: %v", err)
	}
	folder, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	s := shell.New([]*workspace.Workspace{workspace.New("repo", folder, nil)}, nil)
	for script, want := range map[string]string{
		"cd /l; pwd; pwd -L; pwd -P":                                                          "/l\n/l\n/d\n",
		"cd /l; pwd -LP; pwd -P -L; builtin pwd -PL; builtin pwd -P":                          "/d\n/l\n/l\n/d\n",
		"cd /l; bash -c 'pwd() { echo mine; command pwd -P; }; pwd -P; unset -f pwd; pwd -P'": "mine\n/d\n/d\n",
		"cd /; pwd -P; cd l; f() { command pwd -P; }; f":                                      "/\n/d\n",
	} {
		if got := output(t, s, script); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// TestCirclesOfLinks has ** go round in circles of symlinks, which a budget ends soon.
func TestCirclesOfLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		err := os.Mkdir(filepath.Join(dir, name), 0o700)
		if err == nil {
			err = os.Symlink("..", filepath.Join(dir, name, "up"))
		}
		if err != nil {
			t.Skipf("this system makes no symlinks: %v", err)
		}
	}
	folder, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	s := shell.New([]*workspace.Workspace{workspace.New("repo", folder, nil)}, &shell.Options{Time: 5 * time.Second})
	result, err := s.Run(t.Context(), "echo a/up/b/up/*; shopt -s globstar; echo **", nil)
	if err != nil || !strings.HasPrefix(result.Output, "a/up/b/up/a a/up/b/up/b\n") || !strings.Contains(result.Output, "budget Expansions") {
		t.Errorf("Run = %+v, %v, want that the budget Expansions ends it", result, err)
	}
}

// TestWriteThroughLink writes through symlinks that lead to nothing, as bash does.
func TestWriteThroughLink(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo x >l; cat file; readlink l":                      "x\n/file\n",
		"echo x >>l; echo y >>l; cat file":                     "x\ny\n",
		"echo x | tee l; cat file":                             "x\nx\n",
		"echo x >deep || ls no":                                "bash: deep: No such file or directory\nls: cannot access 'no': No such file or directory\n",
		"echo y >file; mv file deep; test -L deep || cat deep": "y\n",
	} {
		dir := t.TempDir()
		for name, target := range map[string]string{"l": "file", "deep": "no/file"} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Skipf("this system makes no symlinks: %v", err)
			}
		}
		folder, err := localbash.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		s := shell.New([]*workspace.Workspace{workspace.New("repo", folder, nil)}, nil)
		if got := output(t, s, script); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, "repo", map[string]string{"d/a": "a\n"})
	s := shell.New([]*workspace.Workspace{ws}, nil)
	define := `
cd d
x='a  b'; export e=1; readonly r=2; a=(1 'two words' 3); declare -A m=([k]=v [l]=w); unset 'a[0]'; b=$'\xff'
f() { local y=$x$1; for ((i=0;i<2;i++)); do echo "$i $y" | cat; done; cat <(echo "$x") a; time { : $$ ${#m[@]}; } 2>/dev/null; z=2; let "k=z+1"; ((n=$z*(k+$(echo 3)))); echo $((n + ${#x})) ${x:z-2:$z} $(<$PWD/a); } 2>&1
g() { f "$@" > out & wait; cat < out; declare -F f; }
h() { local -n p=$1; echo "$p"; }
set -o pipefail; shopt -s nullglob
echo "$(f q)" nothing*`
	show := `pwd; declare -p x e r a 2>&1 | cat; echo "${#b} ${!a[@]} ${m[k]} ${#m[@]}"; f z | while read l; do echo "<$l>"; done; g y; h x; echo no*; false | true; echo $?; declare -f f g; r=3; echo $r`
	first := output(t, s, define) + output(t, s, show)
	if !strings.Contains(first, "1 a  bz") || strings.Contains(first, "wk ") || strings.Contains(first, "/dev/guard") {
		t.Errorf("the output is %q", first)
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	restored := shell.New([]*workspace.Workspace{ws}, nil)
	if err := json.Unmarshal(data, restored); err != nil {
		t.Fatal(err)
	}
	// The interpreter's printer keeps some empty lines, and not others.
	sameLines := func(s string) string { return strings.NewReplacer(`\n\n`, `\n`, `{\n\n`, `{\n`).Replace(s) }
	if again, err := json.Marshal(restored); err != nil || sameLines(string(again)) != sameLines(string(data)) {
		t.Errorf("the state changes by storing it (%v):\n%s\n%s", err, data, again)
	}
	emptyLine := regexp.MustCompile(`(?m)^\s*\n|^.*\d+m\d+\.\d+s.*\n`) // nor how long something took
	want, got := emptyLine.ReplaceAllString(output(t, s, show), ""), emptyLine.ReplaceAllString(output(t, restored, show), "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a restored session differs (-want +got):\n%s", diff)
	}
	for _, damaged := range []string{`{"dir":"x"}`, `{"dir":"/","options":["exec"]}`,
		`{"dir":"/","variables":{"a b":{"kind":1}}}`, `{"dir":"/","variables":{"a":{"kind":3,"indexes":[1,0],"list":["x","y"]}}}`, `{`} {
		if err := json.Unmarshal([]byte(damaged), restored); err == nil {
			t.Errorf("Unmarshal(%s) = nil", damaged)
		}
	}
}

// TestStoredFunctions runs functions before and after their session is stored.
func TestStoredFunctions(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`a=(4 5); [[ a[0]+1 -eq 5 && $((a[1] + 1)) -eq 6 ]] && echo yes`:                                        "yes\n",
		`x=1; [[ "x + 1" -eq 2 && " $x + 1" -eq 2 && "" -eq 0 && '1 + 1' -eq 2 && '2' -eq 1+1 ]] && echo yes`:   "yes\n",
		`[[ $'2' -eq 2 && $'1\x2b1' -eq 2 ]] && echo yes`:                                                       "yes\n",
		`x=5; [[ "$x"1 -eq 51 && $x'1' -eq 51 && "$x"1 -eq "${x}1" && "-$x"1 -eq -51 ]] && echo $(("$x"1 + 1))`: "52\n",
		`x=5; a=(1 2 3); echo $(("$x"1 / "1$x"0)) "${a["$x"0 - 49]}"`:                                           "0 2\n",
		"cat <<A & wait; cat <<'B'\nx\nA\ny\nB":                                                                 "x\ny\n",
		"cat <<A | tee f <<'B' | cat\nx\nA\ny\nB":                                                               "y\n",
		`declare -A m=([a]=1); m=(); echo ${#m[@]}`:                                                             "0\n",
		`x=a//b; echo "${x////}"`:                                                                               "ab\n",
	} {
		s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
		if got := output(t, s, "f() {\n"+body+"\n}; f; { f; } | cat; {\n"+body+"\n} | cat"); got != want+want+want {
			t.Errorf("%s: printed %q, want %q three times", body, got, want)
		}
		for range 2 {
			data, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			s = shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
			if err := json.Unmarshal(data, s); err != nil {
				t.Fatal(err)
			}
			if got := output(t, s, "f"); got != want {
				t.Errorf("%s: stored as %s, it printed %q, want %q", body, data, got, want)
			}
		}
	}
}

// TestNestedHereDocuments stores functions with a here-document in another one, which the printer
// may put where it is run as commands: they are lost.
func TestNestedHereDocuments(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"cat <<-A\n\t\tx\ty $(cat <<B\nbody\n\tb\nB\n)\tz\n\tA": "x\ty body\n\tb\tz\n",
		"cat <<-A | cat\n\tx $(cat <<B\nrm precious\nB\n)\n\tA": "x rm precious\n",
		"cat <<A &\nx $(cat <<B\nrm precious\nB\n)\nA\nwait":    "x rm precious\n",
	} {
		ws := newWorkspace(t, "repo", map[string]string{"precious": "1"})
		s := shell.New([]*workspace.Workspace{ws}, nil)
		if got := output(t, s, "f() {\n"+body+"\n}; f; { f; } | cat; {\n"+body+"\n} | cat"); got != want+want+want {
			t.Errorf("%s: printed %q, want %q three times", body, got, want)
		}
		shown := "bash: declare: f: the function cannot be shown\n"
		if got := output(t, s, `eval "$(declare -f f)"; f; declare -f f | cat`); got != shown+want+shown {
			t.Errorf("%s: printed %q, want %q and %q", body, got, shown, want)
		}
		for range 2 {
			data, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			s = shell.New([]*workspace.Workspace{ws}, nil)
			if err := json.Unmarshal(data, s); err != nil {
				t.Fatal(err)
			}
			if got, want := output(t, s, "f; ls"), "bash: f: the function could not be stored; define it again\nprecious\n"; got != want {
				t.Errorf("%s: stored as %s, it printed %q, want %q", body, data, got, want)
			}
		}
	}
}

// TestLostFunctions begins a session with functions that do not parse: all else is as it was.
func TestLostFunctions(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
	data := `{"dir":"/","variables":{"x":{"kind":1,"value":"1"}},"functions":{"f":"","g":"h() { :; }","eval":"(","a; b":"(","ok":"ok() { echo $x; }"}}`
	for range 2 {
		if err := json.Unmarshal([]byte(data), s); err != nil {
			t.Fatal(err)
		}
		const want = "1\nbash: f: the function could not be stored; define it again\n127\nbash: g: the function could not be stored; define it again\non\nf g ok\n"
		if got := output(t, s, `ok; f; echo $?; g; eval 'echo on'; echo $(declare -F | sed 's/.* //')`); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
		stored, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		data = string(stored)
	}
}

// TestTraceIsKept has set -x hold until set +x, also in the next script.
func TestTraceIsKept(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
	for _, step := range []struct{ script, want string }{
		{"set -x", ""}, {"echo a", "+ echo a\na\n"}, {"x=1; set -u", "+ x=1\n+ set -u\n"}, {"echo $x", "+ echo 1\n1\n"},
		{"set +x", "+ set +x\n"}, {"echo b", "b\n"},
	} {
		if got := output(t, s, step.script); got != step.want {
			t.Errorf("Run(%q) prints %q, want %q", step.script, got, step.want)
		}
	}
}

// TestStatusIsKept has $? be the status of the script before, as from one line of a prompt to
// the next.
func TestStatusIsKept(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, &shell.Options{Commands: 20})
	for _, c := range []struct{ script, want string }{
		{"echo $?", "0\n"}, {"(exit 7)", ""}, {"echo $?", "7\n"}, {"echo $?", "0\n"},
		{"set -ex; false", "+ false\n"}, {"set +x", "+ set +x\n"}, {"echo $?; set +e", "0\n"},
		{"while :; do :; done", "bash: stopped: more than 20 commands (budget Commands)\n"}, {"echo $?", "137\n"},
	} {
		if got := output(t, s, c.script); got != c.want {
			t.Errorf("%q prints %q, want %q", c.script, got, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Run(ctx, "echo; sleep 50", &shell.RunOptions{Stdout: canceler(cancel)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	s = shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	if got, want := output(t, s, "echo $?"), "130\n"; got != want {
		t.Errorf("echo $? prints %q after a canceled run, want %q", got, want)
	}
}

// TestVariablesAreKept has each script find what the one before has done to variables that the
// shell sets by itself, also in a session that was stored.
func TestVariablesAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, script, want string }{
		{"IFS=,", "x=a,b; echo $x; echo $?", "a b\n0\n"}, {`IFS=$'\n,\xff'`, `printf %q "$IFS"`, `$'\n,\377'`}, {"IFS=", `echo "[$IFS]"`, "[]\n"}, {"unset IFS", `echo "[${IFS-unset}]"`, "[unset]\n"},
		{"readonly IFS=,", "x=a,b; echo $x; IFS=:", "a b\nIFS: readonly variable\n"}, {"set -ex; IFS=,", "echo $?", "+ echo 0\n0\n"},
		{"getopts ab x -a -b", "getopts ab x -a -b; echo $x $OPTIND", "b 3\n"},
		{"unset LANG HOME UID", `echo "[${LANG-unset}]" "[${HOME-unset}]" "[${UID-unset}]" $?; env | grep -c 'LANG\|HOME'`, "[unset] [unset] [unset] 0\n0\n"},
		{"unset LANG", "LANG=de; env | grep LANG", ""}, {`unset LANG; unset() { echo no; }`, `echo "[$LANG]"`, "[]\n"}, {"unset LANG; export LANG=de", "env | grep LANG", "LANG=de\n"},
		{"readonly USER LANG=de; export OSTYPE IFS", "USER=z; echo $USER $LANG; env | grep -c '^OSTYPE\\|^IFS'", "USER: readonly variable\nuser de\n2\n"},
		{"f() { local LANG IFS=,; unset IFS; }; f", `printf '%q ' "$LANG" "$IFS"`, `C.UTF-8 $' \t\n' `},
	} {
		s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, &shell.Options{Commands: 6})
		output(t, s, c.before)
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		restored := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
		if err := json.Unmarshal(data, restored); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*shell.Shell{s, restored} {
			if got := output(t, s, c.script); got != c.want {
				t.Errorf("after %q, %q prints %q, want %q", c.before, c.script, got, c.want)
			}
		}
	}
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
	output(t, s, "unset LANG")
	if result, err := s.Run(t.Context(), "echo $LANG", &shell.RunOptions{Env: map[string]string{"LANG": "de"}}); err != nil || result.Output != "de\n" {
		t.Errorf("a variable of the options is %q, %v, want de", result.Output, err)
	}
}

// TestDirIsKept tests that a stored session finds its working directory in the scratch space,
// which is not stored.
func TestDirIsKept(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/tmp", "/tmp/q/r", "/dev/shm/q"} {
		s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
		output(t, s, "mkdir -p "+dir+"; cd "+dir+"; echo > old")
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		restored := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
		if err := json.Unmarshal(data, restored); err != nil {
			t.Fatal(err)
		}
		if got, want := output(t, restored, "ls; echo x > f; pwd; ls"), dir+"\nf\n"; got != want {
			t.Errorf("after cd %s, a stored session prints %q, want %q", dir, got, want)
		}
	}
}

// canceler is a writer that cancels a context.
type canceler context.CancelFunc

func (c canceler) Write(p []byte) (int, error) {
	c()
	return len(p), nil
}

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	a, b := newWorkspace(t, "a", map[string]string{"x": "in a\n"}), newWorkspace(t, "b", nil)
	s := shell.New([]*workspace.Workspace{a, b}, nil)
	result, err := s.Run(t.Context(), `for f in /*; do echo $f; done; cd /a; cat x > ../b/y; cat /b/y; echo tmp > /tmp/z; cat /tmp/z; echo no > /c`, &shell.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "/a\n/b\n/tmp\nin a\ntmp\nbash: /c: No such file or directory\n"; result.Output != want {
		t.Errorf("output %q, want %q", result.Output, want)
	}
	if len(result.Changes) != 1 || result.Changes[0].Workspace != "b" || result.Changes[0].Path != "y" || result.Changes[0].Version == "" {
		t.Errorf("changes %+v", result.Changes)
	}
	if data, err := b.ReadFile(t.Context(), "y"); err != nil || string(data) != "in a\n" {
		t.Errorf("y = %q, %v", data, err)
	}
}

func TestRunOptions(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", map[string]string{"d/a": ""})}, nil)
	result, err := s.Run(t.Context(), `read x; pwd; echo "$x $V $1 $#" >&2; exit 3`, &shell.RunOptions{
		Stdin: strings.NewReader("in\n"), Dir: "d", Env: map[string]string{"V": "v"}, Args: []string{"-e", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "/d\nin v -e 2\n"; result.Output != want || result.ExitCode != 3 {
		t.Errorf("output %q, want %q; exit %d", result.Output, want, result.ExitCode)
	}
	if got := output(t, s, "pwd; cd /; f() { x=1; }"); got != "/d\n" || s.Dir() != "/" {
		t.Errorf("the directory is %q, then %q", got, s.Dir())
	}
	for dir, want := range map[string]error{"nope": fs.ErrNotExist, "/d/a": workspace.ErrNotDir} {
		if _, err := s.Run(t.Context(), ":", &shell.RunOptions{Dir: dir}); !errors.Is(err, want) {
			t.Errorf("Run in %q = %v, want %v", dir, err, want)
		}
	}
	if _, err := s.Run(t.Context(), ":", &shell.RunOptions{Timeout: -1}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Run with a negative timeout = %v, want %v", err, fs.ErrInvalid)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ended, ":", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Run with an ended context = %v", err)
	}
	broke := shell.New([]*workspace.Workspace{newWorkspace(t, "a", nil)}, &shell.Options{Commands: -1})
	if _, err := broke.Run(t.Context(), ":", nil); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Run with a negative budget = %v, want %v", err, fs.ErrInvalid)
	}
	for _, bad := range []*shell.Shell{shell.New(nil, nil), shell.New([]*workspace.Workspace{newWorkspace(t, "a", nil), newWorkspace(t, "a", nil)}, nil)} {
		if _, err := bad.Run(t.Context(), ":", nil); err == nil {
			t.Error("Run of an invalid shell = nil")
		}
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, &shell.Options{Output: 1000})
	result, err := s.Run(t.Context(), `for i in {1..1000}; do echo line $i; done`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Output) > 1200 || !strings.HasPrefix(result.Output, "line 1\nline 2\n") || !strings.HasSuffix(result.Output, "\nline 1000\n") ||
		!strings.Contains(result.Output, "all of it is in "+result.Spilled) {
		t.Errorf("output %q", result.Output)
	}
	whole, err := s.ReadScratch(t.Context(), result.Spilled)
	if err != nil || strings.Count(string(whole), "\n") != 1000 || len(result.Output) >= len(whole) {
		t.Errorf("%d bytes are spilled, %v", len(whole), err)
	}
	if got := output(t, s, `mapfile -t l < `+result.Spilled+`; echo ${l[499]}`); got != "line 500\n" {
		t.Errorf("a line of the spilled output is %q", got)
	}
}

// TestScratch checks that files below /dev/shm are those of the scratch workspace, for
// redirections and programs, also where the workspace has a directory of that name.
// TestTotalOutput prints as much as a run may, and one byte more.
func TestTotalOutput(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, &shell.Options{TotalOutput: 100})
	for script, want := range map[string]string{
		"printf %100s x": "", "printf %60s x; printf %40s x >&2; :": "", "yes | head -c 100": "",
		"printf %101s x": "more than 100 bytes of output (budget TotalOutput)", "printf %100s x; echo": "more than 100 bytes of output (budget TotalOutput)",
	} {
		result, err := s.Run(t.Context(), script, nil)
		if err != nil || result.Stopped != want {
			t.Errorf("%s is stopped by %q, %v, want %q", script, result.Stopped, err, want)
		}
		if printed, _, _ := strings.Cut(result.Output, "bash: "); len(printed) != 100 {
			t.Errorf("%s prints %d bytes, want 100", script, len(printed))
		}
	}
}

func TestScratch(t *testing.T) {
	t.Parallel()
	for _, files := range []map[string]string{nil, {"dev/shm/x": "of the workspace\n", "tmp/x": "of the workspace\n"}} {
		ws := newWorkspace(t, "repo", files)
		s := shell.New([]*workspace.Workspace{ws}, &shell.Options{Scratch: 20 << 20})
		script := `echo hi >/dev/shm/x && cat /dev/shm/x && cat </dev/shm/x && grep -c h /dev/shm/x && cd /dev/shm && sed -i s/i/o/ x && cat x && cp x y && ls && echo /dev/shm/* && rm x && cd / && echo /dev/shm/[x-z] /nosuch/*
head -c 30000000 /dev/zero >/dev/shm/z || echo failed`
		if got := output(t, s, script); !strings.HasPrefix(got, "hi\nhi\n1\nho\nx\ny\n/dev/shm/x /dev/shm/y\n/dev/shm/y /nosuch/*\n") || !strings.HasSuffix(got, "failed\n") {
			t.Errorf("the scratch space: %q", got)
		}
		if infos, err := ws.Ls(t.Context(), ".", nil); err != nil || len(infos) != len(files) {
			t.Errorf("the workspace has %v, %v", infos, err)
		}
	}
}

// TestRefused checks that builtins which do not exist here say what to do instead, that
// those which do know --help, and that functions may have their names.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script, want string
		status       int
	}{
		{"wait -n", "bash: wait: not possible here: jobs have no names; wait waits for all that run in the background\n", 2},
		{"jobs -l", "bash: jobs: not possible here: jobs have no names; wait waits for all that run in the background\n", 2},
		{"kill $!", "bash: kill: not possible here: there are no processes; background jobs end with the script\n", 2},
		{"umask 0022; command umask; command umask 077 || echo failed", "0022\nbash: umask: not possible here: a workspace has no permissions\nfailed\n", 0},
		{"help pwd", "pwd: pwd [-LP]\n", 0},
		{"help() { echo mine; }; help", "mine\n", 0},
		{"help | tail -n 1 | cut -c 1-24; help nosuch", "[ awk base32 base64 base\nbash: help: no help for nosuch; try nosuch --help\n", 1},
		{"chmod +x f", "bash: chmod: command not found\nbash: a workspace has no permissions; each file of text runs as a script, as ./run.sh\n", 127},
		{"git status; help | grep -c ' ln '; nosuch a", "bash: git: command not found\nbash: git is not available in this shell\n0\nbash: nosuch: command not found\nbash: no program of the machine can be run; help lists those of the shell\n", 127},
		{"set -- PPID; case ${!1} in 1000) echo same;; *) echo other;; esac", "bash: PPID: invalid indirect expansion\n", 1},
		{"builtin history", "bash: history: not possible here: there is no history\n", 2},
		{"echo ${a[@]/#/b}", "bash: ${a[@]/#/b} is not supported; use a loop over the elements\n", 2},
		{"f() { :; }; echo ${1/%$(f)/b}", "bash: ${1/%$(f)/b} is not supported; use variables for the text and the pattern\n", 2},
		{`x=$'\xff'; echo ${x/#a/b}; echo on`, "bash: a: the text is not UTF-8\n", 1},
		{"trap -p", "bash: trap: not possible here: only EXIT and ERR ever come\n", 2},
		{"declare -i x=1", "bash: declare: not possible here: assign $((...))\n", 2},
		{"f() { local -gu x=a; }; f", "bash: local: not possible here: assign ${x,,} or ${x^^}\n", 2},
		{"typeset -rl x=A || echo failed", "bash: declare: not possible here: assign ${x,,} or ${x^^}\nfailed\n", 0},
		{"set -v", "bash: set: not possible here: use set -x, which prints each command before it runs\n", 2},
		{"set -T", "bash: set: not possible here: there is no trap of DEBUG or RETURN\n", 2},
		{"set -C", "bash: set: not possible here: > always replaces a file\n", 2},
		{"set -o noclobber", "bash: set: not possible here: > always replaces a file\n", 2},
		{"declare +x a", "bash: declare: not possible here: use export -n\n", 2},
		{"export +x a", "bash: declare: not possible here: use export -n\n", 2},
		{"f() { local -r +x a; }; f", "bash: local: not possible here: use export -n\n", 2},
		{"test a b", "test: a: unary operator expected\n", 2},
		{"[ a b ]", "[: a: unary operator expected\n", 2},
		{"[ a b c ]", "[: b: binary operator expected\n", 2},
		{"[ ! -z a ]; [ ! a ] || [ a -a b ] && [ -z '' ]", "", 0},
		{"trap 'echo d' DEBUG; trap 'echo r' INT SIGRETURN; trap - DEBUG; trap '' RETURN; echo $?", "bash: trap: not possible here: only EXIT and ERR ever come\nbash: trap: not possible here: only EXIT and ERR ever come\n0\n", 0},
		{"trap x FOO; echo $?; trap x EXIT int SIGTERM rtmin+1 64 && trap - SIGFOO 65; echo $?; trap - EXIT", "bash: trap: FOO: invalid signal specification\n1\nbash: trap: SIGFOO: invalid signal specification\n1\n", 0},
		{"echo no; m[a b]=1", "bash: bash:1:14: not a valid arithmetic operator: `b`; a key with a blank needs quotes, as in m[\"a b\"]\n", 2},
		{"echo $((a b))", "bash: bash:1:11: not a valid arithmetic operator: `b`\n", 2},
		{"jq -n '\"x\" * 40000000'", "jq: error (at <stdin>): a string of more than 8388608 bytes needs too much memory\n", 5},
		{"split -n r/2 file", "split: -n r/2 is not supported; use l/2\n", 1},
		{"awk --help | head -n 2; awk --help >/dev/null", "Usage: awk [OPTION]... PROGRAM [FILE]...\n  -F, --field-separator        split fields at this text or expression\n", 0},
		{"awk; echo $?; awk --fil", "awk: missing program\nTry 'awk --help' for more information.\n2\nawk: option '--file' requires an argument\nTry 'awk --help' for more information.\n", 2},
		{"hash nosuch ls || hash -r && hash ls cd && f() { hash f; }; f && command hash no", "bash: hash: nosuch: not found\nbash: hash: no: not found\n", 1},
		{"alias x='a | b' || alias x='a; b' || alias y=\"'\" || alias ll='ls -l' && alias ll", "bash: alias: only plain words are supported; define a function\nbash: alias: only plain words are supported; define a function\nbash: alias: only plain words are supported; define a function\nalias ll='ls -l'\n", 0},
		{"a=(1 2); echo \"${a[@]@A}\"", "bash: ${a[@]@A} is not supported; use a loop over the elements\n", 2},
		{"set -- a b; echo ${*@Q}", "bash: ${*@Q} is not supported; use a loop over the elements\n", 2},
		{"declare -A m; echo \"${m[@]@K}\"", "bash: ${m[@]@K} is not supported; use a loop over the elements\n", 2},
		{"x=1; echo \"${x@k}\"", "bash: ${x@k} is not supported; use ${x@Q}\n", 2},
		{"echo \"${x@P}\"", "bash: ${x@P} is not supported; use ${x@Q}\n", 2},
		{"a=(b); x=c; echo ${a[0]@Q} ${x@U} ${x@A}", "b C x=c\n", 0},
		{"set -- a b; shift -1; echo $? $#", "bash: shift: -1: shift count out of range\n1 2\n", 0},
		{"sleep 0.1 | read -t 0", "bash: read: -t 0 is not supported; use a timeout above 0\n", 2},
		{"sleep 0.1 | read -t 0.0000000001", "", 142},
		{"echo a | read -t nan", "bash: read: nan: invalid timeout specification\n", 2},
		{"n=x; echo ${!n:-d}", "bash: ${!n:-d} is not supported; use declare -n ref=$n, and ${ref:-d}\n", 2},
		{"echo ${!n%.*}", "bash: ${!n%.*} is not supported; use declare -n ref=$n, and ${ref%.*}\n", 2},
		{"echo ${!1/a/b}", "bash: ${!1/a/b} is not supported; use declare -n ref=$1, and ${ref/a/b}\n", 2},
		{"echo \"${!n:0:1}\"", "bash: ${!n:0:1} is not supported; use declare -n ref=$n, and ${ref:0:1}\n", 2},
		{"x=v n=x; echo ${!n} ${!x*} ${x:-d}", "v x v\n", 0},
		{`f() { echo "${10}" $((${11} + 1)) ${12} "[${13}]" $10; x=${10}; for y in ${10}; do echo $x $y ${y#${10}} ${y##+($10)}; [[ $y == ${10} ]] || (( ${11} > 9 )) && echo ${x:${11}-9:1}; done; }; f 1 2 3 4 5 6 7 8 9 'a  b' 11 'c  d'; set -- ${10}; echo $#; declare -f f`,
			"a  b 12 c d [] 10\na b a a a\n\na b b b b\n\n0\nf() {\n\techo \"${*:10:1}\" $((${*:11:1} + 1)) ${*:12:1} \"[${*:13:1}]\" $10\n\tx=${*:10:1}\n\tfor y in ${*:10:1}; do\n\t\techo $x $y ${y#${*:10:1}} ${y##+($10)}\n\t\t[[ $y == ${*:10:1} ]] || ((${*:11:1} > 9)) && echo ${x:${*:11:1}-9:1}\n\tdone\n}\n", 0},
		{"echo ${10:-x}", "bash: ${10:-x} is not supported; assign ${10} to a variable first\n", 2},
		{"n=x; echo \"${!n[@]}\"; unset n; echo on; echo \"${!n[@]}\"; echo on", "\non\nbash: invalid indirect expansion of a name that is not set\n", 1},
		{"printf '\\x7fELF\\0' >s; ./s", "bash: ./s: cannot execute binary file: only scripts of bash can be run\n", 126},
		{"n='$'; (echo ${!n}; echo no); echo $?; n=PPID; echo ${!n}; echo no", "bash: n: invalid indirect expansion\n1\nbash: n: invalid indirect expansion\n", 1},
		{"f() { echo ${!1}; }; (f PPID; echo no); echo $?; a=(PPID b); echo ${!a[@]}; f nosuch; set -u; f 2>&1 | cat", "bash: PPID: invalid indirect expansion\n1\n0 1\n\n1: unbound variable\n", 0},
		{"echo on; ((x = a[0]++))", "bash: the assignment to a[0] in an expression must stand alone, as in ((a[0] += 1))\n", 2},
		{"let m[$k]+=1", "bash: the assignment to m[$k] in an expression must stand alone, as in ((m[$k] += 1))\n", 2},
		{"a=(1 2); declare -n r=a; for x in \"${r[@]}\"; do echo $x; done", "bash: ${r[@]} is not supported, as r is a reference; pass the elements as arguments\n", 2},
		{"echo on; cat <> file", "bash: <> is not supported\n", 2},
		{"echo on; a[i++]+=x", "bash: a[i++]+=: an index that assigns must stand alone, before the assignment\n", 2},
		{"declare -n r=a; r[1]=x", "bash: r[...]=: r is a reference, whose elements cannot be assigned\n", 2},
		{"declare -A m; m[a.b]=1", "bash: bash:1:18: a number has no \".\"; a key with one needs quotes, as in m[\"a.b\"]\n", 2},
		{"a[0]+=(1)", "bash: a[0]: a list cannot be assigned to an element\n", 2},
		{"a | b; echo ${PIPESTATUS[0]}", "bash: PIPESTATUS is not supported; use set -o pipefail\n", 2},
		{"GLOBIGNORE=keep; rm *", "bash: GLOBIGNORE is not supported; use !(...) of extglob\n", 2},
		{"export GLOBIGNORE=keep", "bash: GLOBIGNORE is not supported; use !(...) of extglob\n", 2},
		{"x=\"${PIPESTATUS[@]}\"", "bash: PIPESTATUS is not supported; use set -o pipefail\n", 2},
		{"ls > >(cat)", "bash: >(...) is not supported; write to a file below /tmp, and read that\n", 2},
		{"echo on; exec 3>&1; echo no", "bash: 3>&1: file descriptors above 2 are not supported; write to a file below /tmp\n", 2},
		{"echo on; f() { echo x >&3; }", "bash: >&3: file descriptors above 2 are not supported; write to a file below /tmp\n", 2},
		{"echo on; while read -ru 4 x; do :; done 4<file", "bash: 4<file: file descriptors above 2 are not supported; write to a file below /tmp\n", 2},
		{"eval 'echo no 2>&12-' || eval 'cat <&5'", "bash: eval: 2>&12-: file descriptors above 2 are not supported; write to a file below /tmp\nbash: eval: <&5: file descriptors above 2 are not supported; write to a file below /tmp\n", 2},
		{"eval 'exec {n}>file' || echo on", "bash: eval: {n}>file: file descriptors above 2 are not supported; write to a file below /tmp\non\n", 0},
		{"echo a >3 2>&1 1>&2; cat 0<3 2>&- >&1; cat <&-", "a\n", 0},
		{`r='(a)\1' s='\\1'; [[ aa =~ x|$r$s ]]; echo $?; f() { [[ '\1(a)\1' =~ ${s}"$r"$ && a != $r ]] && echo on; }; f; eval "$(declare -f f)"; f`, "bash: r: back references are not supported in [[ =~ ]]\n2\non\non\n", 0},
		{"mkdir d; ./d; echo $?; d/; echo $?; env ./d; echo $?; ./file/; echo $?; bash d; echo $?; ./nope; echo $?; bash nope",
			"bash: ./d: Is a directory\n126\nbash: d/: Is a directory\n126\nbash: ./d: Is a directory\n126\nbash: ./file/: Not a directory\n126\nbash: d: Is a directory\n126\nbash: ./nope: No such file or directory\n127\nbash: nope: No such file or directory\n", 127},
		{"for line in '/bin/sh -e' '/bin/bash -eu ' '/usr/bin/env -S bash -e' ' /bin/bash -x' '/bin/sh -' /usr/bin/env\\ bash '/bin/bash -z'; do printf '%s\\n' \"#!$line\" false 'echo on $0 $1' >s; ./s a; echo $?; done",
			"1\n1\n1\n+ false\n+ echo 'on ./s a'\non ./s a\n0\non ./s a\n0\non ./s a\n0\nbash: -z: invalid option\n2\n", 0},
		{"for line in '/home/josh/bin/python3' '/usr/share/perl/bin/perl' '/usr/bin/env -S node --no-flash' /usr/bin/env /bin/fish ''; do printf '%s\n' \"#!$line\" 'echo on' >s; ./s 2>&1 | cut -c 1-20; ./s 2>/dev/null || echo $?; done",
			strings.Repeat("bash: ./s: no progra\n126\n", 6), 0},
		{"for line in '/usr/bin/env -S A=b -i bash -e' /usr/local/bin/dash '/bin/ksh' '/usr/bin/env -S - zsh'; do printf '%s\n' \"#!$line\" false 'echo on' >s; ./s; echo $?; done", "1\non\n0\non\n0\non\n0\n", 0},
		{"printf 'n\ny\nleft' | { cp -i file vars; mv -i vars file; cat; }; rm -i file; mkdir d; rm -ri d", "cp: overwrite 'vars'? mv: overwrite 'file'? leftrm: remove regular file 'file'? rm: remove directory 'd'? ", 0},
		{"jobs() { echo mine; }; jobs", "mine\n", 0},
		{"cd() { builtin cd --help; }; cd", "cd: cd [-L|-P] [dir]\n", 2},
		{"(sleep 0; echo a) & wait", "a\n", 0},
		{"printf --help", "printf: printf [-v var] format [arguments]\n", 2},
		{"env printf --help", "printf: printf [-v var] format [arguments]\n", 2},
		{"pwd --help | cat", "pwd: pwd [-LP]\n", 0},
		{"wait --help", "wait: wait [pid ...]\n", 2},
		{"test --help; echo --help", "--help\n", 0}, // as in bash
		{"find --help | head -n 1", "Usage: find [PATH]... [EXPRESSION]\n", 0},
		{"for w in $(find --help | sed -n 's/^Tests and actions: //p'); do find . $w 2>&1; done | grep unknown", "", 1},
		{"find . -nam x", "find: unknown predicate `-nam'; did you mean `-name'?\n", 1},
		{"find . -ok ls \\;", "find: -ok is not possible here; use -exec\n", 1},
		{"find . -fprint f", "find: -fprint is not possible here; use > FILE\n", 1},
		{"find . -perm 644", "find: -perm is not possible here: a workspace has no owners, permissions, links or devices\n", 1},
		{"find . -frobnicate", "find: unknown predicate `-frobnicate'; find --help lists them\n", 1},
		{"ls --colour", "ls: unrecognized option '--colour'; did you mean '--color'?\nTry 'ls --help' for more information.\n", 2},
		{"grep -r x file/", "grep: file/: Not a directory\n", 2},
		{"grep -r y file/", "grep: file/: Not a directory\n", 2},
		{"grep x file/", "grep: file/: Not a directory\n", 2},
		{"rg y file/", "rg: file/: Not a directory\n", 2},
		{"cat file/", "cat: file/: Not a directory\n", 1},
		{"cat < file/", "bash: file/: Not a directory\n", 1},
		{"cp /dev/null new && cat new && cp /dev/stdin new <<< a && cat new; cp file /dev/null; cp -v file /dev/stdout; cp file /dev/stderr; cp -u /dev/null file && cat file; cp <(echo b) new && cat new", "a\n'file' -> '/dev/stdout'\nx\nx\nx\nb\n", 0},
		{"cp /dev/nothing new", "cp: cannot stat '/dev/nothing': No such file or directory\n", 1},
		{"cp file /dev/nothing", "cp: cannot create regular file '/dev/nothing': No such file or directory\n", 1},
		{"echo x >/dev/sda; mkdir dev; echo y >dev/a; cat /dev/a dev/null; echo z >/dev/fd/7; cd dev; tee sda </dev/null; echo *", "bash: /dev/sda: No such file or directory\ny\nbash: /dev/fd/7: Permission denied\na sda\n", 0},
		{"mv file /dev/stdout; mv /dev/null new; cat file", "mv: cannot move 'file' to '/dev/stdout': Permission denied\nmv: cannot move '/dev/null' to 'new': Permission denied\nx\n", 0},
		{"ln file new; type ln; command -v ln", "ln: links are not possible here: a workspace can follow symlinks, and cannot create any; use cp to copy a file\nbash: type: ln: not found\n", 1},
		// An error in an expansion ends the script, and one in a command does not.
		{"x='a b'; echo $((x + 1)); echo next", "bash: x: syntax error in expression\n", 1},
		{"x=3.7; echo $((2 * $x)) || :", "bash: x: syntax error in expression\n", 1},
		{"echo $(($(echo 1.5)))", "bash: 1.5: syntax error in expression\n", 1},
		{"x=1+2; echo $((2 * $x)); echo next", "bash: x: an expression in a value needs parentheses beside an operator\n", 1},
		{"v=1; for i in {1..60}; do eval \"v$i=\\$v\"; v=v$i+v$i; done; echo $((v10)) $((v60))", "bash: v60: expression recursion level exceeded\n", 1},
		{"x=y y=x; echo $((x))", "bash: x: expression recursion level exceeded\n", 1},
		{"(x='$(echo 5)'; echo $((x))); (x='y=5'; echo $((x))); (x='1)); echo hi; ((2'; echo $((x))); echo $?", strings.Repeat("bash: x: syntax error in expression\n", 3) + "1\n", 0},
		{"echo $((1/0)); echo next", "bash: 0: division by 0\n", 1},
		{"x=5; y=0; echo $((x % $y))", "bash: 0: division by 0\n", 1},
		{"x=08; (echo $((x))) || echo $(($x + 1))", "bash: x: 08: value too great for base\nbash: x: 08: value too great for base\n", 1},
		{"((1/0)) || let x=08 || [[ 1.5 -gt 1 ]] || [[ 09 -ge 0 ]] || echo next", "bash: 0: division by 0\nbash: 08: 08: value too great for base\nbash: 1.5: syntax error in expression\nbash: 09: 09: value too great for base\nnext\n", 0},
		{"echo $((2 ** -1)) && echo next", "bash: -1: exponent less than 0\n", 1},
		{"x=-1; let y=2**x || ((2 ** $x)) || echo next", "bash: x: exponent less than 0\nbash: -1: exponent less than 0\nnext\n", 0},
		{"echo $((2 / (1/0))) && echo next", "bash: 0: division by 0\nbash: 0: division by 0\n", 1},
		{"x=1; echo $((1/--x)) && echo next", "bash: 0: division by 0\n", 1},
		{"x=0; ((y=1/x--)) || ((y%=x+=1)) || let y=1/x++ || echo next $x $y", "bash: 0: division by 0\nbash: 0: division by 0\nbash: 0: division by 0\nnext 1\n", 0},
		{"x=2; echo $((9 / (x-=1) / x-- * 2**x++ + 8/(4/++x))) $x; f() { local x=-5; echo $((2**++x)) && echo next; }; f", "13 2\nbash: -4: exponent less than 0\n", 1},
		{"a=(1 2 3); i=2; ((x=a[--i]+1)); echo $x $i ${a[--i]} $i ${a[i+=2]}; echo ${a[i-=9]} && echo next", "3 1 1 0 3\nbash: -7: bad array subscript of a\n", 1},
		{"x=abc; (y=${x:1:-3}; echo $y); for y in ${x:3-i:-9}; do echo $y; done; echo next", "bash: -3: substring expression < 0\nbash: -9: substring expression < 0\n", 1},
		{"a=(1 2); echo ${a[1/0]} && echo next", "bash: 0: division by 0\nbash: 0: division by 0\n", 1},
		{"a=(1 2); ((x = a[1/0] + 1)) && echo next", "bash: 0: division by 0\nbash: 0: division by 0\nbash: 0: division by 0\n", 1},
		{"a=(1); [[ ${a[-2]} -eq 0 ]] || echo next", "bash: -2: bad array subscript of a\nbash: -2: bad array subscript of a\n", 1},
		{"x=$(echo $((1/0))); y=4; [[ $x$y -eq 4 ]] && echo $(( $(echo 2) + y )) $((2**y)) ${y##+(0)}", "bash: 0: division by 0\n6 16 4\n", 0},
		{"b=([1/0]=3) && echo next", "bash: 0: division by 0\n", 1},
		{"b[1%0]=3 && echo next", "bash: 0: division by 0\nbash: 0: division by 0\n", 1},
		{"a=(1 2); i=-2; echo ${a[-1]} ${a[i]} ${a[$i]} ${a[i+1]} ${a[i-i]}; echo ${a[-9]} && echo next", "2 1 1 2 1\nbash: -9: bad array subscript of a\n", 1},
		{"a=(1 2); i=-9; (echo ${a[i]} && echo next); (echo ${#a[$i]} && echo next); (echo ${a[2-$i*2-99]} && echo next); echo $?", "bash: i: bad array subscript of a\nbash: i: bad array subscript of a\nbash: -79: bad array subscript of a\n1\n", 0},
		{"n=z; declare -A \"$n\"; z[k]=v; k=k; echo ${z[k]} ${z[$k]}", "v v\n", 0},
		{"echo @(f|v)* && echo next", "bash: @(f|v)*: a pattern of extglob needs shopt -s extglob\n", 1},
		{"shopt -s extglob; echo @(f|v)* !(f*) d/!(x); cat !(x)d* && echo next", "file vars vars d/!(x)\nbash: !(x)d*: !(...) is only supported beside plain text\n", 1},
		{"shopt -s extglob; echo !(x)d* && echo next; echo $?; x=$(echo a !(x)* || echo b); echo $x; a=(1 !(x)*); echo $? ${#a[@]}; for f in !(x)*; do echo on; done; echo $?", "bash: !(x)d*: !(...) is only supported beside plain text\n1\nbash: !(x)*: !(...) is only supported beside plain text\nb\nbash: !(x)*: !(...) is only supported beside plain text\n1 1\nbash: !(x)*: !(...) is only supported beside plain text\n1\n", 0},
		{"shopt -s extglob; (for f in *!(x); do echo $f; done && echo next) || a=(*!(b)) && echo next", "bash: *!(x): !(...) is only supported beside plain text\nbash: *!(b): !(...) is only supported beside plain text\n", 1},
		{"x=$(<missing) || echo $? $(<missing) \"$(<vars)\"", "bash: missing: No such file or directory\nbash: missing: No such file or directory\n1 v=1\n", 0},
		// bash ends such a loop.
		{"for ((i=1/0;;)); do :; done; echo $?; for ((;1/0;)); do :; done; echo $?; for ((i=3;;i/=0)); do echo $i; done; echo $?", "bash: 0: division by 0\n1\nbash: 0: division by 0\n1\n3\nbash: 0: division by 0\n1\n", 0},
		{"a=(1); for ((;;a[1/0])); do echo on; done 2>/dev/null; echo $?; for ((;;2**-1)); do :; done; while ((1/0)); do :; done; until ((1/0)); do break; done; echo $?", "on\n1\nbash: -1: exponent less than 0\nbash: 0: division by 0\nbash: 0: division by 0\n0\n", 0},
		{"for f in \"${@:-x}\"; do :; done", "bash: \"${@:-x}\" is not supported where it may make several words; use if ((${#array[@]})) or if (($#))\n", 2},
		{"x=a; echo ${x//+(a)/b}", "bash: patterns of extglob are not supported in this expansion: ${x//+(a)/b}\n", 2},
		{"x=a; echo ${x##!(b)}; echo next", "bash: !(b): !(...) is not supported in expansions\n", 1},
		{"p=$(printf %032768d); [[ a == $p ]] || echo \"[${p#$p}]\"; p+=0; [[ a == $p ]]", "[]\nbash: stopped: a pattern longer than 32768 bytes\n", 137},
		{"source /dev/null; source vars; source <(echo w=2); echo $v $w", "1 2\n", 0},
	} {
		t.Run(c.script, func(t *testing.T) {
			t.Parallel()
			// Of its own: one of the scripts deletes all files.
			ws := newWorkspace(t, "repo", map[string]string{"file": "x\n", "vars": "v=1\n"})
			result, err := shell.New([]*workspace.Workspace{ws}, nil).Run(t.Context(), c.script, nil)
			if err != nil || result.Output != c.want || result.ExitCode != c.status {
				t.Errorf("Run = %+v, %v, want %q and %d", result, err, c.want, c.status)
			}
		})
	}
}

// TestVariablesOfTime runs two scripts of a session at different times: what a variable of the
// time was is not kept.
func TestVariablesOfTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, &shell.Options{Now: func() time.Time { return now }})
	for _, want := range []string{"1700000000 0 x\n", "1700000100 0 x\n"} {
		if got := output(t, s, "x=x; echo $EPOCHSECONDS $SECONDS $x"); got != want {
			t.Errorf("Run prints %q, want %q", got, want)
		}
		now = now.Add(100 * time.Second)
	}
}

// TestShown shows what declare, time and set -x show of a script, without what the shell adds.
func TestShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, want string }{
		{`f() { ! [[ ( a == b || c == c ) && ! ( d == e && f == f ) ]] 2>g; [[ ( a && b ) ]]; }; declare -f f`, "f() {\n\n\t! [[ (a == b || c == c) && ! (d == e && f == f) ]] 2>g\n\n\t[[ a && b ]]\n}\n"},
		{`f() { builtin shift; shift 2; }; declare -f f`, "f() {\n\tbuiltin shift\n\tshift 2\n}\n"},
		{`f() { echo ${x/#a/b} "${x/%"$1"/c}"; }; declare -f f`, "f() { echo ${x/#a/b} \"${x/%\"$1\"/c}\"; }\n"},
		{`f() { time -p ls; }; declare -f f`, "f() {\n\ttime -p ls\n\n}\n"},
		{`f() { echo $BASHPID ${BASHPID} $$ $0 $BASH_ARGV0; }; declare -f f; f`, "f() { echo $BASHPID ${BASHPID} ${$} ${0} $BASH_ARGV0; }\n1000 1000 1000 bash bash\n"},
		{`f() { a=(~/{a,b}$x "$y" $(ls)); echo {1,2}$x "$@"; }; declare -f f`, "f() {\n\ta=(~/{a,b}$x \"$y\" $(ls))\n\techo {1,2}$x \"$@\"\n}\n"},
		{`f() { declare -f "$1"; }; f f; declare -f nosuch f; echo $?`, "f() { declare -f \"$1\"; }\nf() { declare -f \"$1\"; }\n1\n"},
		{`g() { :; }; f() { :; }; export -f f; declare -F; declare -F g nosuch; declare -f`, "declare -f f\ndeclare -f g\ng\nf() { :; }\ng() { :; }\n"},
		{`f() { local -n r=$1; local "$2=x" k=2; }; declare -f f`, "f() {\n\tlocal -n r=\"$1\"\n\t{\n\t\tlocal k=2\n\t\tlocal \"$2=x\"\n\t}\n}\n"},
		{`n=a v='~root \q *'; declare "$n=$v"; echo "$a"; declare -A m=([PPID]=1); echo ${m[PPID]} ${!m[@]}; export $(echo b=1 c=2); env | grep '^[bc]'`, "~root \\q *\n1 PPID\nb=1\nc=2\n"},
		{`time -p :`, "real 0.00\nuser 0.00\nsys 0.00\n"},
		{`set -x; read y <<< a; printf -v z b; mapfile q <<< c; type cd`, "+ read y\n+ printf '-v z b'\n+ mapfile q\n+ type cd\ncd is a shell builtin\n"},
		{`set -x; i=1; let "k=i+1"; f() { let l=2*$1; }; f 2; echo $((i + $k))`, "+ i=1\n+ let k=i+1\n+ f 2\n+ let l=2*$1\n+ echo 3\n3\n"},
		{`f() { ((x = $1 + y)); echo $((a[1] + $(ls)))  ${s:n:$m}; }; declare -f f`, "f() {\n\t((x = $1 + y))\n\techo $((${a[1]} + $(ls))) ${s:n:$m}\n}\n"},
		{`f() { [[ ! $1 =~ ^"a.b"$ && -n $2 || a[1] -eq 1+$n ]]; }; declare -f f`, "f() { [[ ! $1 =~ ^\"a.b\"$ && -n $2 || ${a[1]} -eq 1+$n ]]; }\n"},
		{`f() { echo "${1%.*}" ${x##+(0)} "${x#"$p"}" "${x//a/\n}" "${x:-y}"; }; declare -f f`, "f() { echo \"${1%.*}\" ${x##+(0)} \"${x#\"$p\"}\" \"${x//a/\\n}\" \"${x:-y}\"; }\n"},
		{`f() { ls ${a[@]+"${a[@]}"} "${a[@]+"${a[@]}"}" "${*:-x}"; }; declare -f f`, "f() { ls ${a[@]+\"${a[@]}\"} \"${a[@]+\"${a[@]}\"}\" \"${*:-x}\"; }\n"},
		{`f() { local -A m; for k in "${!m[@]}"; do ls "${m[@]}"; done; }; declare -f f`, "f() {\n\tlocal -A m\n\n\tfor k in \"${!m[@]}\"; do\n\n\t\tls \"${m[@]}\"\n\tdone\n}\n"},
		{`f() { echo $((x / y)) $((x % $y)) $((x / (y + 1))); }; declare -f f`, "f() { echo $((x / y)) $((x % $y)) $((x / (y + 1))); }\n"},
		{`shopt -s extglob; f() { echo ${a[i]} ${a[$i]} ${a[-1]} ${a[i-1]} ${a[$1]} $((2**x)) $((2**(x-1))) @(a|b)*; }; declare -f f`, "f() { echo ${a[i]} ${a[$i]} ${a[-1]} ${a[i - 1]} ${a[$1]} $((2 ** x)) $((2 ** (x - 1))) @(a|b)*; }\n"},
		{`f() { ((x /= y--)); echo $((2 / (--x + 1) % 2 ** x++)) ${a[--i]}; }; declare -f f`, "f() {\n\t((x /= y--))\n\techo $((2 / (--x + 1) % 2 ** x++)) ${a[--i]}\n}\n"},
		{`set -x; x=2; ((y = 4 / --x)); let y=1/x++`, "+ x=2\n+ let y=1/x++\n"},
		{`f() { echo ${x:0:-1} ${x:i:n} ${1: -i:i++} ${x:1:2} ${a[0]:0:-1}; }; declare -f f`, "f() { echo ${x:0:-1} ${x:i:n} ${1: -i:i++} ${x:1:2} ${a[0]:0:-1}; }\n"},
		{`set -x; a=(1 2) i=1; x=${a[i]} y=${a[$i]} z=${a[i-2]}; echo ${a[i]}`, "+ a=(1 2)\n+ i=1\n+ x=2\n+ y=2\n+ z=2\n+ echo 2\n2\n"},
		{`set -x; x=a.b; [[ $x =~ "a.b" ]]; echo "${x%.*}" "${x#"a."}"`, "+ x=a.b\n+ echo 'a b'\na b\n"},
		{`readonly y; read y <<< a`, "y: readonly variable\n"},
	} {
		s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
		if got := output(t, s, c.script); got != c.want {
			t.Errorf("Run(%s) prints %q, want %q", c.script, got, c.want)
		}
	}
}

// refuser is an observer that refuses to change what has not been read.
type refuser struct{ read map[string]bool }

func (o *refuser) Read(_ context.Context, _ *workspace.Workspace, name string, _ workspace.Version, _ [32]byte, lines int) {
	o.read[name] = lines > 0
}

func (o *refuser) Wrote(_ context.Context, _ *workspace.Workspace, name string, _ workspace.Version, _ [32]byte, lines int) {
	o.read[name] = lines > 0
}

func (o *refuser) Change(_ context.Context, _ string, _ *workspace.Workspace, name string, info *workspace.FileInfo) error {
	if info != nil && !o.read[name] || path.Base(name) == "refused" {
		return &fs.PathError{Op: "write_file", Path: name, Err: fs.ErrPermission}
	}
	return nil
}

func (o *refuser) Moved(_ context.Context, _ *workspace.Workspace, name, to string) {
	o.read[to], o.read[name] = o.read[name], false
}

func (o *refuser) Copied(_ context.Context, _ *workspace.Workspace, name, to string) {
	o.read[to] = o.read[name]
}

func TestObserver(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", map[string]string{"a": "a\n", "b": "b\n"})}, nil)
	result, err := s.Run(t.Context(), `echo x > a && echo wrong; cat b > /dev/null; echo y >> b && echo right; echo z > new && echo new; echo $?
mv b c && echo moved; cp c d && echo copied; echo w > d && rm c && echo known; cp a e; rm e
mkdir refused; mkdir -p x/refused; mkdir -p y; cp -r y refused`,
		&shell.RunOptions{Observer: &refuser{map[string]bool{}}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "bash: a: Permission denied\nright\nnew\n0\nmoved\ncopied\nknown\nrm: cannot remove 'e': Permission denied\n" +
		"mkdir: cannot create directory 'refused': Permission denied\nmkdir: cannot create directory 'x/refused': Permission denied\n" +
		"cp: cannot create directory 'refused': Permission denied\n"; result.Output != want {
		t.Errorf("output %q, want %q", result.Output, want)
	}
}

// TestWriteErrors tests that the error of an output is not said to be one of the input, and once.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, "repo", map[string]string{"big": strings.Repeat("a b\n", 50000), "x": "x\n"})
	small := workspace.New("small", memory.New(nil), &workspace.Options{MaxFileSize: 100_000})
	for _, program := range []string{"cat", "cat -n", "head -n 99999", "tail -n 99999", "tac", "cut -c 1-", "nl", "fold", "sed p", "jq -R .", "comm"} {
		s := shell.New([]*workspace.Workspace{ws, small}, nil)
		name, _, _ := strings.Cut(program, " ")
		want := name + ": write error: File too large\nbash: /small/o: File too large\n"
		if got := output(t, s, "cd /repo; "+program+" big x > /small/o"); got != want {
			t.Errorf("%s prints %q, want %q", program, got, want)
		}
	}
}

// slow is an observer whose changes take as long as the run has.
type slow struct{ *refuser }

func (slow) Change(ctx context.Context, _ string, _ *workspace.Workspace, _ string, _ *workspace.FileInfo) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestTimeUp tests that only one message says that the time of a script is up.
func TestTimeUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := shell.New([]*workspace.Workspace{workspace.New("repo", memory.New(nil), nil)}, nil)
		result, err := s.Run(t.Context(), "echo a; touch f{1..9}", &shell.RunOptions{Observer: slow{}, Timeout: time.Second})
		if want := "a\nbash: stopped: more than 1s (budget Time)\n"; err != nil || result.Output != want {
			t.Errorf("Run = %+v, %v, want the output %q", result, err, want)
		}
	})
}

// TestReadOnly edits files that may not be written: the first failure ends sed, as that of GNU.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	files := memory.New(nil)
	for _, name := range []string{"a", "b"} {
		if _, err := files.WriteFile(t.Context(), name, []byte("x\n"), nil); err != nil {
			t.Fatal(err)
		}
	}
	s := shell.New([]*workspace.Workspace{workspace.New("repo", policy.ReadOnly(files), nil)}, nil)
	result, err := s.Run(t.Context(), "sed -i s/x/y/ a b; echo $?; sed -i.bak s/z/y/ a", nil)
	if err != nil {
		t.Fatal(err)
	}
	const refused = "Permission denied (forbidden by policy: the workspace is read-only)\n"
	if want := "sed: couldn't write a: " + refused + "4\nsed: couldn't write a.bak: " + refused; result.Output != want || result.ExitCode != 4 {
		t.Errorf("output %q, status %d, want %q, 4", result.Output, result.ExitCode, want)
	}
}

// TestAllowedExtensions gives directories new names: a rule for the extensions of files denies
// to describe what does not exist, as it could be a file, but not to create a directory.
func TestAllowedExtensions(t *testing.T) {
	t.Parallel()
	files, err := policy.Restrict(memory.New(nil), policy.Rules{AllowedExtensions: []string{".txt"}})
	if err != nil {
		t.Fatal(err)
	}
	s := shell.New([]*workspace.Workspace{workspace.New("repo", files, nil)}, nil)
	result, err := s.Run(t.Context(), `mkdir -p a/b && echo x >a/b/f.txt && mv a moved && cp -r moved copied && cp -rT moved/ other/ && cp -rn moved not && mv -nT not last
find * -type f; cp moved/b/f.txt f; mv moved/b/f.txt f; cp -r moved f.c/d; mv moved moved/in; ls`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := `copied/b/f.txt
last/b/f.txt
moved/b/f.txt
other/b/f.txt
cp: cannot stat 'f': Permission denied (forbidden by policy: it has none of the allowed extensions (.txt))
mv: cannot stat 'f': Permission denied (forbidden by policy: it has none of the allowed extensions (.txt))
cp: cannot create directory 'f.c/d': No such file or directory
mv: cannot move 'moved' to a subdirectory of itself, 'moved/in'
copied
last
moved
other
`; result.Output != want {
		t.Errorf("output %q, want %q", result.Output, want)
	}
}

// closed is a file system with directories that cannot be listed: the errors by name.
type closed struct {
	workspace.FileSystem
	errs map[string]error
}

// Ls implements [workspace.FileSystem].
func (c closed) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	for _, name := range []string{dir, path.Dir(dir)} {
		if err := c.errs[name]; err != nil {
			return nil, &fs.PathError{Op: "ls", Path: dir, Err: err}
		}
	}
	return c.FileSystem.Ls(ctx, dir, opts)
}

// Stat implements [workspace.FileSystem].
func (c closed) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := c.errs[path.Dir(name)]; err != nil {
		return workspace.FileInfo{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return c.FileSystem.Stat(ctx, name)
}

// TestGlobErrors expands globs that meet directories that cannot be listed: one that may not be has
// no matches, and a store that fails ends the script.
func TestGlobErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script, want string
		status       int
	}{
		{"echo */*; echo st $?; for i in */*; do echo [$i]; done; a=(*/*); echo ${#a[@]}", "open/x\nst 0\n[open/x]\n1\n", 0},
		{"echo closed/* clos*/* closed/../open/* */closed/*", "closed/* clos*/* closed/../open/x */closed/*\n", 0},
		{"echo */x */ *; cd open; echo ../*/x", "open/x closed/ open/ closed open\n../open/x\n", 0},
		{"shopt -s globstar nullglob; echo **; echo **/x closed/*", "closed open open/x\nopen/x\n", 0},
		{"mkdir new; cd new; rmdir ../new; echo * ../*/*", "* ../open/x\n", 0},
		{"mkdir down; echo next; echo */* && echo wrong; echo wrong", "next\nbash: /down: temporarily unavailable\n", 1},
		{"mkdir down; for i in */*; do echo wrong; done && echo wrong", "bash: /down: temporarily unavailable\n", 1},
		{"mkdir down; x=$(echo */*) || echo $?; a=(*/*); echo wrong", "bash: /down: temporarily unavailable\n1\nbash: /down: temporarily unavailable\n", 1},
		{"mkdir removed; echo */*; echo wrong", "bash: /removed: No such file or directory\n", 1},
	} {
		files := closed{memory.New(nil), map[string]error{"closed": fs.ErrPermission, "down": workspace.ErrUnavailable, "removed": fs.ErrNotExist}}
		for _, name := range []string{"closed/x", "open/x"} {
			if _, err := files.WriteFile(t.Context(), name, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		result, err := shell.New([]*workspace.Workspace{workspace.New("repo", files, nil)}, nil).Run(t.Context(), c.script, nil)
		if err != nil || result.Output != c.want || result.ExitCode != c.status {
			t.Errorf("Run(%s) = %+v, %v, want %q and %d", c.script, result, err, c.want, c.status)
		}
	}
}

// TestUnstored shows that a file that cannot be stored when it is closed is a failure.
func TestUnstored(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, "repo", map[string]string{"a": "a\n"})
	s := shell.New([]*workspace.Workspace{ws}, nil)
	result, err := s.Run(t.Context(), `set -e
f() { echo mine; echo > other; }
if f > a; then echo wrong; else echo "failed $?"; fi
f > a
echo never`, &shell.RunOptions{Observer: meddler{t}})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Output; !strings.Contains(got, "file has changed") || !strings.Contains(got, "failed 1") || strings.Contains(got, "never") {
		t.Errorf("output %q", got)
	}
	if data, err := ws.ReadFile(t.Context(), "a"); err != nil || string(data) != "meddled" {
		t.Errorf("a = %q, %v", data, err)
	}
}

// TestExec shows that what exec has opened is stored when the script ends.
func TestExec(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		script, want string
		exit         int
	}{
		{`exec > z; echo a`, "a\n", 0},
		{`f() { exec >> z; }; f; echo a; trap 'echo b' EXIT; exit 3`, "a\nb\n", 3},
		{`exec &> z; echo a; exec > y; echo b`, "a\n", 0},
		{`exec > a; echo > other; echo mine`, "", 1},
	} {
		ws := newWorkspace(t, "repo", map[string]string{"a": "a\n"})
		result, err := shell.New([]*workspace.Workspace{ws}, nil).Run(t.Context(), test.script, &shell.RunOptions{Observer: meddler{t}})
		if err != nil || result.ExitCode != test.exit {
			t.Errorf("Run(%s) = %v, %v, want the status %d", test.script, result, err, test.exit)
		}
		if data, _ := ws.ReadFile(t.Context(), "z"); string(data) != test.want {
			t.Errorf("Run(%s) writes %q, want %q", test.script, data, test.want)
		}
	}
}

// closingFS has files whose streams say when they are closed.
type closingFS struct {
	workspace.FileSystem
	closed chan struct{}
}

func (c closingFS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	stream, info, err := workspace.Open(ctx, c.FileSystem, name, opts)
	return closingStream{stream, c.closed}, info, err
}

type closingStream struct {
	io.ReadCloser
	closed chan struct{}
}

func (c closingStream) Close() error {
	close(c.closed)
	return c.ReadCloser.Close()
}

// TestExecInputEnds tests that a file that stays the standard input is closed with the run.
func TestExecInputEnds(t *testing.T) {
	t.Parallel()
	fsys := closingFS{memory.New(nil), make(chan struct{})}
	if _, err := fsys.WriteFile(t.Context(), "f", bytes.Repeat([]byte("line\n"), 1<<20), nil); err != nil {
		t.Fatal(err)
	}
	s := shell.New([]*workspace.Workspace{workspace.New("main", fsys, nil)}, nil)
	if result, err := s.Run(t.Context(), "exec <f; head -1", nil); err != nil || result.Output != "line\n" {
		t.Fatalf("Run = %+v, %v, want the first line", result, err)
	}
	select {
	case <-fsys.closed:
	case <-time.After(10 * time.Second):
		t.Error("the file is still open 10s after the run")
	}
}

// TestSourceTooLarge tests that the error claims no size of a script that was not read whole.
func TestSourceTooLarge(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", map[string]string{"s.sh": strings.Repeat("#", 2<<20)})}, nil)
	want := "the script has more than 1048576 bytes"
	if result, err := s.Run(t.Context(), `. ./s.sh`, nil); err != nil || !strings.Contains(result.Output, want) {
		t.Errorf("Run = %+v, %v, want an output with %q", result, err, want)
	}
}

// TestSourceContext shows that source reads with the context of the run.
func TestSourceContext(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", map[string]string{"s.sh": "echo a\n"})}, nil)
	reads := 0
	observer := contextReader(func(ctx context.Context) {
		reads++
		if _, ok := ctx.Deadline(); !ok {
			t.Error("source reads a file without the budget Time")
		}
	})
	if result, err := s.Run(t.Context(), `. ./s.sh`, &shell.RunOptions{Observer: observer}); err != nil || result.Output != "a\n" || reads != 1 {
		t.Errorf("Run = %v, %v after %d reads", result, err, reads)
	}
}

// TestVariables keeps all variables together below their budget, however they get their values.
func TestVariables(t *testing.T) {
	t.Parallel()
	const first = `tr '\0' a < f > /tmp/x; for i in {1..9}; do a=$(cat /tmp/x); done; b=$(</tmp/x); v[1]=$(cat /tmp/x); printf -v d %s "$a"; `
	for _, last := range []string{`e=$(cat /tmp/x)`, `e=$(</tmp/x)`, `v[2]=$(cat /tmp/x)`, `declare e=$(cat /tmp/x)`, `e=($(cat /tmp/x))`, `m=([3]=$(cat /tmp/x))`, `printf -v e %s "$a"`, `e=$a`, `read -r e < /tmp/x`, `mapfile e < /tmp/x`, `a+=$a`, `e=$(x=$(cat /tmp/x); echo)`} {
		ws := newWorkspace(t, "repo", map[string]string{"f": strings.Repeat("\x00", 250_000)})
		s := shell.New([]*workspace.Workspace{ws}, &shell.Options{Variables: 1 << 20})
		output(t, s, first)
		result, err := s.Run(t.Context(), `echo four; bash -c 'x=$(echo)'; `+last+"; echo on", nil)
		if err != nil || result.ExitCode != 137 || !strings.HasPrefix(result.Output, "four\nbash: stopped: ") {
			t.Errorf("%s: Run = %+v, %v, want that it is stopped", last, result, err)
		}
		if again, err := shell.New([]*workspace.Workspace{ws}, &shell.Options{Variables: 1 << 20}).Run(t.Context(), first+"unset d; "+last+"; echo on", nil); err != nil || again.Output != "on\n" {
			t.Errorf("%s after unset: Run = %+v, %v, want no error", last, again, err)
		}
	}
}

// TestSubstitutionOfParts captures what parts of a script write at the same time.
func TestSubstitutionOfParts(t *testing.T) {
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
	for script, want := range map[string]string{
		`x=$(for i in {1..6}; do for j in {1..8}; do echo $i; done & done; wait); echo ${#x}`:                                                "95\n",
		`for n in {1..20}; do x=$(for i in {1..40}; do echo a b $i & done; wait); grep -c '^a b [0-9]*$' <<< "$x"; done | uniq`:              "40\n",
		`x=$( { for i in {1..6}; do echo $i >&2; done | for i in {1..6}; do echo $i >&2; done; } 2>&1 ); echo ${#x}`:                         "23\n",
		`x=$( { for i in {1..6}; do ls /none; done | for i in {1..6}; do ls /none; done; } 2>/dev/guarded-capture 2>&1 ); echo ${#x}`:        "635\n",
		`x=$( { set -x; for i in {1..6}; do : $i; done | for i in {1..6}; do : $i; done; } 2>&1 ); x=${x//[^:]}; echo ${#x}`:                 "12\n",
		"x=`echo a & echo b & wait`; echo ${#x}; cat <<< \"$(echo a & wait)\"; echo $(( $(echo 1 & wait) )); cat <<E\n$(echo b & wait)\nE\n": "3\na\n1\nb\n",
		`f() { x=$(a); z=$(<d); }; declare -f f`: "f() {\n\tx=$(a)\n\n\tz=$(<d)\n}\n",
	} {
		if result, err := s.Run(t.Context(), script, nil); err != nil || result.Output != want {
			t.Errorf("Run(%q) = %+v, %v, want %q", script, result, err, want)
		}
	}
}

// contextReader is an observer that is called with the contexts of reads.
type contextReader func(context.Context)

func (f contextReader) Read(ctx context.Context, _ *workspace.Workspace, _ string, _ workspace.Version, _ [32]byte, _ int) {
	f(ctx)
}

func (contextReader) Wrote(context.Context, *workspace.Workspace, string, workspace.Version, [32]byte, int) {
}

func (contextReader) Moved(context.Context, *workspace.Workspace, string, string)  {}
func (contextReader) Copied(context.Context, *workspace.Workspace, string, string) {}

func (contextReader) Change(context.Context, string, *workspace.Workspace, string, *workspace.FileInfo) error {
	return nil
}

// meddler is an observer that writes the file a whenever other is written.
type meddler struct{ t *testing.T }

func (meddler) Read(context.Context, *workspace.Workspace, string, workspace.Version, [32]byte, int) {
}

func (meddler) Wrote(context.Context, *workspace.Workspace, string, workspace.Version, [32]byte, int) {
}

func (meddler) Moved(context.Context, *workspace.Workspace, string, string) {}

func (meddler) Copied(context.Context, *workspace.Workspace, string, string) {}

func (m meddler) Change(ctx context.Context, _ string, ws *workspace.Workspace, name string, _ *workspace.FileInfo) error {
	if name == "other" {
		if _, err := ws.WriteFile(ctx, "a", []byte("meddled"), nil); err != nil {
			m.t.Error(err)
		}
	}
	return nil
}

// BenchmarkRun runs short scripts in one session.
func BenchmarkRun(b *testing.B) {
	s := shell.New([]*workspace.Workspace{newWorkspace(b, "repo", map[string]string{"a.txt": "a\nb\n"})}, nil)
	for b.Loop() {
		if _, err := s.Run(b.Context(), `for f in *.txt; do while read -r l; do x="$x$l"; done < "$f"; done; cat a.txt | cat > out; echo "${x%a}"; x=`, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                     true,
		"echo a":               true,
		"echo )":               true,
		"echo 'a":              false,
		"echo $(ls":            false,
		"if true; then":        false,
		"ls |\n":               false,
		"cat <<E":              false,
		"cat <<E\na\n":         false,
		"cat <<E\na\nE":        true,
		`echo a \`:             false,
		"echo a \\\n":          false,
		"echo a \\\n b\n":      true,
		"echo a \\\n\n":        true,
		`echo a \\`:            true,
		"echo a \\\\\n":        true,
		"echo a # b \\\n":      true,
		"echo 'a' \\\n":        false,
		"echo a; # b\necho \\": false,
	} {
		if got := shell.Complete(text); got != want {
			t.Errorf("Complete(%q) = %v, want %v", text, got, want)
		}
	}
}

// panicking is a FileSystem that panics where a file is described or read.
type panicking struct{ *memory.FS }

func (panicking) WriteFile(context.Context, string, []byte, *workspace.WriteOptions) (workspace.Version, error) {
	panic("the cause")
}

func (panicking) Stat(context.Context, string) (workspace.FileInfo, error) { panic("the cause") }

func (panicking) Open(context.Context, string, *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	panic("the cause")
}

// TestPanicOfFiles tests that a panic of the file system ends the script, which is not blamed for
// it, wherever in the script it is.
func TestPanicOfFiles(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		"test -e a", "test -e a || echo after", "cat a; echo after", "cat < a; echo after", "cat a | cat; echo after", "cat a | (cat; echo after)", "x=$(cat a); echo after",
		"cat a & wait; echo after", "bash -c 'cat a; echo after'; echo after", "f() { cat a; }; f || echo after", "echo a | xargs cat; echo after", "trap 'echo after' EXIT; cat a",
		"exec > a; echo text", "exec 2> a; echo text >&2", "exec > a; exit 3", "(exec > a; echo text) | cat; echo after", "{ exec > a; echo text; } & wait; echo after",
	} {
		s := shell.New([]*workspace.Workspace{workspace.New("repo", panicking{memory.New(nil)}, nil)}, nil)
		result, err := s.Run(t.Context(), script, nil)
		if err != nil {
			t.Fatal(err)
		}
		if result.ExitCode != 137 || !strings.Contains(result.Stopped, "a panic") || !strings.HasSuffix(result.Output, result.Stopped+"\n") || strings.Contains(result.Output, "the cause") || strings.Contains(result.Output, "after") {
			t.Errorf("Run(%q) = %d, %q, want 137 and that there was a panic", script, result.ExitCode, result.Output)
		}
	}
}

// TestHostileNames gives builtins names that would run a command as a part of a script.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	commands := []string{
		`read "$n" <<< a`, `read -r x "$n" <<< a`, `read -N 1 "$n" <<< a`, `read -a "$n" <<< a`, `mapfile "$n" <<< a`, `printf -v "$n" a`,
		`getopts a "$n" -a`, `export "$n"`, `export "$n=a"`, `export -n "$n"`, `declare "$n"`, `declare "$n=a"`, `declare -n "r=$n"; r=a`,
		`f() { local "$n"; }; f`, `readonly "$n"`, `unset "$n"`, `unset -v "$n"`, `unset -f "$n"`, `test -v "$n"`, `[ -v "$n" ]`, `[[ -v $n ]]`,
		`echo "${!n}"`, `type "$n"`, `declare -f "$n"`, `declare -p "$n"`, `trap : "$n"`, `alias "$n=a"`, `wait "$n"`, `shopt -s "$n"`, `set -o "$n"`,
		`command -v "$n"`, `builtin "$n"`, `source "$n"`, `cd "$n"`, `pushd "$n"`,
	}
	for _, name := range []string{
		"x=1; touch /tmp/did; y", "x\ntouch /tmp/did\ny", "x$(touch /tmp/did)", "`touch /tmp/did`",
		`x"; touch /tmp/did; "[1+1]`, `x'; touch /tmp/did; '[1+1]`, "x; touch /tmp/did; y[1+1]", "x=(); touch /tmp/did #",
	} {
		quoted, err := syntax.Quote(name, syntax.LangBash)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range commands {
			s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", nil)}, nil)
			result, err := s.Run(t.Context(), "n="+quoted+"\n"+command, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := output(t, s, "ls /tmp"); got != "" {
				t.Errorf("%s with n=%q: %+v, and %q in /tmp", command, name, result, got)
			}
		}
	}
}

// TestStoredKeys stores an associative array with keys that are not UTF-8.
func TestStoredKeys(t *testing.T) {
	t.Parallel()
	ws := []*workspace.Workspace{newWorkspace(t, "repo", nil)}
	before, after := shell.New(ws, nil), shell.New(ws, nil)
	output(t, before, `declare -A m; m[$'\xe9']=a; m[$'\xe8']=$'\xff'; m[é]=c`)
	data, err := json.Marshal(before)
	if err == nil {
		err = json.Unmarshal(data, after)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := output(t, after, `echo "${m[$'\xe9']}${m[$'\xe8']}${m[é]}" ${#m[@]}`), "a\xffc 3\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestExecutable has each file executable, as each is run by its path.
func TestExecutable(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{newWorkspace(t, "repo", map[string]string{"run": "echo ran\n", "d/f": ""})}, nil)
	script := "[ -x run ] && [[ -x run && -x d ]] && env test -x run && ./run; for f in none /dev/null; do [ -x $f ] || [[ -x $f ]] || env test -x $f || echo no; done"
	if got, want := output(t, s, script), "ran\nno\nno\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTooLargeFile has set -e end a script with 1 after a write that the file is too small for.
func TestTooLargeFile(t *testing.T) {
	t.Parallel()
	s := shell.New([]*workspace.Workspace{workspace.New("repo", memory.New(nil), &workspace.Options{MaxFileSize: 2 << 20})}, nil)
	for _, script := range []string{"set -e; yes | head -c 2097153 >g", "yes | head -c 2097153 >g", "{ yes | head -c 2097153; } >g; echo $?; exit 1"} {
		result, err := s.Run(t.Context(), script, nil)
		if err != nil || result.ExitCode != 1 || !strings.Contains(result.Output, "bash: g: File too large") {
			t.Errorf("Run(%s) = %+v, %v, want that the file is too large and 1", script, result, err)
		}
	}
}

// TestAbandonedOutputs ends awk while its outputs are open: nothing of them is stored, and what
// comes after replaces the files.
func TestAbandonedOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	for script, want := range map[string]string{
		`echo old >f; echo precious >x; awk '{print > "f"; print 1/0}' x; mv x f; cat f; ls x`:             "precious\n",
		`echo old >f; echo a >x; timeout 0.1 awk '{print > "f"; while (1);}' x; cat f; echo new >f; cat f`: "old\nnew\n",
		`echo old >f; awk 'BEGIN {while (n++ < 2000) printf "%1000s", "" > "f"; print 1/0}'; cat f`:        "old\n",
		`echo a >x; awk -i inplace '{print 1; print 1/0}' x; cat x; echo new >x; cat x`:                    "a\nnew\n",
	} {
		s := shell.New([]*workspace.Workspace{workspace.New("repo", fsys, nil)}, nil)
		result, err := s.Run(t.Context(), "{ "+script+"; } 2>/dev/null", nil)
		if err != nil || result.Output != want {
			t.Errorf("Run(%s) = %+v, %v, want %q", script, result, err, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".workspacekit-tmp-*")); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}

// torn is a file system whose streams of the file "torn" fail after the first line.
type torn struct{ *memory.FS }

func (f torn) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	stream, info, err := workspace.Open(ctx, f.FS, name, opts)
	if err != nil || name != "torn" {
		return stream, info, err
	}
	text := strings.NewReader("line 1\n")
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(text, iotest.ErrReader(errors.New("the store is out of order"))), stream}, info, nil
}

// newTorn returns a shell over a workspace with the file "torn".
func newTorn(t *testing.T) *shell.Shell {
	t.Helper()
	ws := workspace.New("repo", torn{memory.New(nil)}, nil)
	if _, err := ws.WriteFile(t.Context(), "torn", []byte("line 1\nline 2\n"), nil); err != nil {
		t.Fatal(err)
	}
	return shell.New([]*workspace.Workspace{ws}, nil)
}

// TestTornEdit edits a file in place that cannot be read to its end: it stays as it is.
func TestTornEdit(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"{print}", "{while ((getline line) > 0); print 1 > \"g\"}"} {
		result, err := newTorn(t).Run(t.Context(), "awk -i inplace '"+program+"' torn; mv torn x; cat x", nil)
		if err != nil || !strings.HasSuffix(result.Output, "line 1\nline 2\n") {
			t.Errorf("Run(%s) = %+v, %v, want the whole file", program, result, err)
		}
	}
}

// TestTornInput reads a standard input that fails after its first line: no reader takes that for
// the end of the file.
func TestTornInput(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"sort <torn >out && rm torn; ls":                       "sort: -: the store is out of order\nout\ntorn\n",
		"{ head -n 1; cat; } <torn; echo $?":                   "line 1\ncat: -: the store is out of order\n1\n",
		"cat <torn 2>/dev/null | cat; bash -c cat <torn":       "line 1\nline 1\ncat: -: the store is out of order\n",
		"read a <torn; read b <torn; echo $?":                  "0\n",
		"{ read a; read b; echo $? $a; } <torn":                "bash: read: read error: 0: the store is out of order\n1 line 1\n",
		"while read a; do echo $a; done <torn":                 "line 1\nbash: read: read error: 0: the store is out of order\n",
		"mapfile m <torn; echo $? ${#m[@]}":                    "bash: mapfile: read error: 0: the store is out of order\n1 0\n",
		"x=$(<torn); echo $?":                                  "1\n",
		"exec <torn; cat >/dev/null || echo failed":            "cat: -: the store is out of order\nfailed\n",
		"read -t 0.01 a < <(cat missing 2>/dev/null); echo $?": "1\n",
	} {
		result, err := newTorn(t).Run(t.Context(), script, nil)
		if err != nil || result.Output != want {
			t.Errorf("Run(%s) = %+v, %v, want %q", script, result, err, want)
		}
	}
}

// slowFS takes a second to store a file.
type slowFS struct{ *memory.FS }

func (f slowFS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	time.Sleep(time.Second)
	return f.FS.WriteFile(ctx, name, data, opts)
}

// TestAppendAtOnce has background jobs append to one file, which others of them are storing.
func TestAppendAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		files := memory.New(nil)
		s := shell.New([]*workspace.Workspace{workspace.New("repo", slowFS{files}, nil)}, nil)
		if result, err := s.Run(t.Context(), "for i in 1 2 3 4; do { sleep 0.$i; echo $i >>o; } & done; wait", nil); err != nil || result.Output != "" {
			t.Errorf("Run = %+v, %v", result, err)
		}
		if data, err := files.ReadFile(t.Context(), "o"); err != nil || len(strings.Fields(string(data))) != 4 {
			t.Errorf("the file has %q, %v, want four lines", data, err)
		}
	})
}

// TestSharedFile moves, copies and writes to a file that a background job or exec has open until
// the run ends, or its time is up. Nothing is lost whose command had the status 0.
func TestSharedFile(t *testing.T) {
	t.Parallel()
	const job = "(while sleep 0.2; do echo t; done) > /b/log & sleep 0.5; "
	const busy = "'/b/log': another command is writing it\n"
	for _, c := range []struct{ script, output, kept, log string }{
		{job + "mv /b/new /b/log || mv /a/new /b/log", "mv: cannot move '/b/new' to " + busy + "mv: cannot move '/a/new' to " + busy, "new\n", "none"},
		{job + "cp /b/new /b/log || cp /a/new /b/log", "cp: cannot create regular file " + busy + "cp: cannot create regular file " + busy, "new\n", "none"},
		{"echo old > /b/log; " + job + "mv /b/new /b/log || mv /a/new /b/log", "mv: cannot move '/b/new' to " + busy + "mv: cannot move '/a/new' to " + busy, "new\n", "old\n"},
		{"exec > /b/log; mv /a/new /b/log && echo moved", "mv: cannot move '/a/new' to " + busy, "new\n", ""},
		{"exec > /b/log; mv /a/new /b/log; sleep 1000", "mv: cannot move '/a/new' to " + busy + "bash: stopped: more than 1m0s (budget Time)\n", "new\n", "none"},
		{"echo old > /b/log; " + job + "echo mine > /b/log", "", "new\n", "t\nt\nmine\n"},
		{"exec > /b/log; echo mine > /b/log; sleep 1000", "bash: stopped: more than 1m0s (budget Time)\n", "new\n", "mine\n"},
		{"awk 'BEGIN { print \"y\" > \"/b/log\"; system(\"sleep 1000\") }' & sleep 0.5; echo mine > /b/log", "", "new\n", "y\nmine\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, b := memory.New(nil), memory.New(nil)
			content := func(fsys *memory.FS, name string) string {
				data, err := fsys.ReadFile(t.Context(), name)
				if err != nil {
					return "none"
				}
				return string(data)
			}
			for _, fsys := range []*memory.FS{a, b} {
				if _, err := fsys.WriteFile(t.Context(), "new", []byte("new\n"), nil); err != nil {
					t.Fatal(err)
				}
			}
			s := shell.New([]*workspace.Workspace{workspace.New("a", a, nil), workspace.New("b", b, nil)}, nil)
			result, err := s.Run(t.Context(), c.script, nil)
			if err != nil || strings.ReplaceAll(result.Output, "bash: /b/log: context canceled\n", "") != c.output {
				t.Errorf("%s = %+v, %v, want %q", c.script, result, err, c.output)
			}
			if got := []string{content(a, "new"), content(b, "new"), content(b, "log")}; !slices.Equal(got, []string{c.kept, c.kept, c.log}) {
				t.Errorf("after %s, the files have %q, want %q, %q and %q", c.script, got, c.kept, c.kept, c.log)
			}
		})
	}
}
