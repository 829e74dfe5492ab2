//go:build linux

package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// endless declares a function that prints without an end.
const endless = "yes() { while :; do printf '%s\\n' {1..2000}; done; }; "

// oneLine declares a function that prints a line of 16 MB, which begins with a digit.
const oneLine = `line() { awk 'BEGIN { x = "a"; while (length(x) < 16000000) x = x x; printf "1%s", x }'; }; `

// hostile are scripts that ask for too much, with a part of the message that ends them.
var hostile = []struct{ name, script, message string }{
	{"loop", `while :; do :; done`, "budget Commands"},
	{"loop without commands", `while [[ 1 ]]; do x=1; done`, "budget Time"},
	{"loop of arithmetic", `for ((;;)); do ((i++)); done`, "budget Commands"},
	{"loop in awk", `awk 'BEGIN { while (1) i++ }'`, "budget Time"},
	{"expression of grep", oneLine + `line | grep -cE '.{3,255}.{2,255}.{1,255}[0-9]'`, "budget Time"},
	{"words of grep", oneLine + `line | grep -cE '(.{1,255}){3}\>a'`, "budget Time"},
	{"expression of rg", oneLine + `line | rg -c '(?i)` + strings.Repeat("a", 10_000) + `b'`, "budget Time"},
	{"expression of sed", oneLine + `line | sed -E 's/(.{1,255}){3}[0-9]/x/'`, "budget Time"},
	{"expression of awk", oneLine + `line | awk '/(.{1,255}){3}[0-9]/'`, "budget Time"},
	{"expression of jq", oneLine + `line | jq -R 'test("(.{1,255}){3}[0-9]")'`, "budget Time"},
	{"expression of expr", oneLine + `expr "$(line | head -c 4000000)" : '\(.\{1,255\}\)\{3\}[0-9]'`, "budget Time"},
	{"many searches of awk", oneLine + `line | head -c 80000 | awk '{ while (i++ < 100000) if (match($0, /(.{1,255}){3}[0-9]/)) n++ }'`, "budget Time"},
	{"matches of sed", oneLine + `line | sed 's/a[^b]*b\|a/x/g'`, "budget Time"},
	{"list of matches of sed", oneLine + `line | sed 's/a/x/g' | tail -c 1`, ""},
	{"list of matches of grep", oneLine + `line | grep -o a | tail -n 1`, ""},
	{"list of matches of rg", oneLine + `line | rg -r x a | tail -c 1`, ""},
	{"matches of awk", oneLine + `line | awk '{ gsub(/a[^b]*b|a/, "x") }'`, "budget Time"},
	{"levels of jq as a text", `jq -n 'reduce range(20000) as $i (0; [.]) | tojson'`, "levels deep"},
	{"levels of jq compared", `jq -n 'reduce range(20000) as $i (0; [.]) | . == .'`, "levels deep"},
	{"levels of jq printed", `jq -n 'reduce range(20000) as $i (0; [.])'`, "levels deep"},
	{"levels of jq in a path", `jq -n 'setpath([range(100000) | "a"]; 1)'`, "levels deep"},
	{"parts of jq as a text", `jq -n 'reduce range(40) as $i (0; [., .]) | "\(.)"'`, "too much memory"},
	{"parts of jq compared", `jq -n 'reduce range(40) as $i (0; [., .]) | [.] == [.]'`, "too much memory"},
	{"parts of jq printed", `jq -n 'reduce range(40) as $i (0; [., .])' >/dev/null`, "budget Time"},
	{"pairs of jq", `jq -n '[range(100000)] - [range(100000)]'`, "too long"},
	{"rows of jq", `jq -n '[[range(100000)], (range(100000) | [])] | transpose'`, "too much memory"},
	{"digits of jq", `jq -n 'reduce range(40) as $i (3; . * .)'`, "bits"},
	{"matches of jq", oneLine + `line | jq -R 'gsub("a[^b]*b|a"; "x")'`, "budget Time"},
	{"matches of grep", oneLine + `line | grep -oE 'a[^b]*b|a' | tail -n 1`, "budget Time"},
	{"doubling in awk", `awk 'BEGIN { x = "aaaaaaaa"; while (1) x = x x }'`, "too much memory"},
	{"array in awk", `awk 'BEGIN { while (1) a[i++] = i }'`, "too much memory"},
	{"fields in awk", `awk 'BEGIN { $1000000000 = 1 }'`, "too much memory"},
	{"width in awk", `awk 'BEGIN { printf "%2000000000d", 1 }'`, "too much memory"},
	{"recursion in awk", `awk 'function f(n) { return f(n + 1) + 1 } BEGIN { f(1) }'`, "too deep"},
	{"files of awk", `awk 'BEGIN { while (1) print > ("/tmp/f" i++) }'`, "close some"},
	{"commands of awk", `awk 'BEGIN { while (1) system("true") }'`, "budget"},
	{"pipe of awk", `awk 'BEGIN { while (1) print "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" | "cat" }'`, "too much memory"},
	{"output for awk", `awk 'BEGIN { "yes" | getline x; print x }'`, "too much memory"},
	{"awk in awk", `export e='awk "BEGIN { system(ENVIRON[\"e\"]) }"'; eval "$e"`, "budget"},
	{"fork bomb", `:(){ :|:& };:`, ""}, // the script ends at once, and with it all that it started
	{"fork bomb and wait", `:(){ :|:& wait; };:`, "budget"},
	{"fork bomb that waits", `f(){ f | f; }; f`, "budget"},
	{"fork bomb in the background", `f(){ f & f; }; f`, "budget"},
	{"background jobs", `while :; do sleep 100 & done`, "budget Subshells"},
	{"recursion", `f(){ f; }; f`, "more than about 500 nested functions and compound commands (budget Recursion)"},
	{"recursion in substitutions", `f(){ x=$(f); }; f`, "budget Recursion"},
	{"recursion of eval", `e='eval "$e"'; eval "$e"`, "budget"},
	{"recursion of bash -c", `export e='bash -c "$e"'; bash -c "$e"`, "more than 50 nested scripts (budget Recursion)"},
	{"recursion of source", `echo '. /tmp/s' > /tmp/s; . /tmp/s`, "budget"},
	{"recursion of a script", `echo '/tmp/s.sh' > /tmp/s.sh; /tmp/s.sh`, "budget Recursion"},
	{"recursion with long arguments", `x=aaaaaaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do x=$x$x; done; f(){ f "$1"a; }; f $x`, "budget"},
	{"braces", `echo {1..1000000000}`, "budget Expansions"},
	{"braces with overflow", `echo {1..9223372036854775807}`, "budget Expansions"},
	{"braces multiplied", `echo {1..999}{1..999}{1..999}`, "budget Expansions"},
	{"braces in eval", `eval 'echo {1..1000000000}'`, "budget Expansions"},
	{"braces in an array", `a=({1..16000} {1..16000} {1..16000} {1..16000} {1..16000} {1..16000} {1..16000} {1..16000} {1..16000} {1..16000} {1..16000} {1..16000} {1..16000})`, "budget Expansions"},
	{"braces of one word", `echo {1..16385} | wc -w; echo on`, "more than 16384 words"},
	{"braces of one word in an array", `a=({1..9} {1..16385}); echo on`, "more than 16384 words"},
	{"deep braces", `eval "echo $(printf '{a,%.0s' {1..16000})$(printf '}%.0s' {1..16000}) | wc -w"`, "braces make more words"},
	{"nested braces", `eval "echo $(printf '{a,%.0s' {1..50})$(printf '}%.0s' {1..50}) | wc -w"`, "50"},
	{"long words of braces", `x=aaaaaaaaaaaaaaaa; for i in {1..14}; do x=$x$x; done; eval "echo {1..16384}$x$x$x | wc -c"`, "budget Variables"},
	{"long replacements in an expression", `x=aaaaaaaaaaaaaaaa; for i in {1..14}; do x=$x$x; done; echo $((${x//a/$x}))`, "budget Variables"},
	{"long variables in words of braces", `x=aaaaaaaaaaaaaaaa; for i in {1..14}; do x=$x$x; done; echo {1..16384}$x$x$x | wc -c`, "budget Variables"},
	{"long variables in an array of braces", `x=aaaaaaaaaaaaaaaa; for i in {1..14}; do x=$x$x; done; a=({1..16384}"$x")`, "budget Variables"},
	{"squaring in an array", `x=aaaaaaaaaaaaaaaa; for i in {1..12}; do x=$x$x; done; a=(a ${x//a/$x})`, "budget Variables"},
	{"braces before an expansion in an array", `x=aaaaaaaaaaaaaaaa; for i in {1..14}; do x=$x$x; done; a=({a,b$y}{1..8000}"$x")`, "budget Variables"},
	{"long variables in a loop over braces", `x=aaaaaaaaaaaaaaaa; for i in {1..14}; do x=$x$x; done; for y in {1..16384}"${x}"; do :; done`, "budget Variables"},
	{"deeper braces", `x=$(printf '{,%.0s' {1..15000}); y=$(printf '}%.0s' {1..15000}); eval "echo $x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$y$y$y$y$y$y$y$y$y$y$y$y$y$y$y$y$y$y$y$y"`, "braces make more words"},
	{"pipelines of eval", `x=aaaaaaaaaaaaaaaa; for i in {1..15}; do x=$x$x; done; while :; do eval ": $x | :"; done`, "budget Variables"},
	{"files of source", `x=aaaaaaaaaaaaaaaa; for i in {1..15}; do x=$x$x; done; echo "# $x$x" > /tmp/s; echo ": $x" >> /tmp/s; while :; do . /tmp/s; done`, "budget"},
	{"doubling", `x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done`, "budget Variables"},
	{"doubling by appending", `x=aaaaaaaaaaaaaaaa; while :; do x+=$x; done`, "budget Variables"},
	{"doubling in quotes", `x=aaaaaaaaaaaaaaaa; while :; do x="$x${x}"; done`, "budget Variables"},
	{"doubling in export", `x=aaaaaaaaaaaaaaaa; while :; do export x="$x$x"; done`, "budget Variables"},
	{"doubling in defaults", `x=aaaaaaaaaaaaaaaa; while :; do unset y; : ${y:=$x$x}; x=$y; done`, "than"},
	{"doubling by a reference", `x=aaaaaaaaaaaaaaaa; declare -n r=x; while :; do r=$r$r; done`, "budget Variables"},
	{"doubling by indirection", `x=aaaaaaaaaaaaaaaa; n=x; while :; do x=${!n}${!n}; done`, "budget Variables"},
	{"doubling by indirection of an array", `x=aaaaaaaaaaaaaaaa; n=(x); while :; do x=${!n}${!n}; done`, "budget Variables"},
	{"doubling by indirection of a parameter", `x=aaaaaaaaaaaaaaaa; set -- x; while :; do x=${!1}${!1}; done`, "budget Variables"},
	{"squaring by indirection of a parameter", `x=aaaaaaaaaaaaaaaa; set -- x; while :; do x=${x//a/${!1}}; done`, "budget Variables"},
	{"squaring in a case", `x=aaaaaaaaaaaaaaaa; for i in {1..13}; do x=$x$x; done; case ${x//a/$x} in x) ;; esac`, "budget Variables"},
	{"squaring in a here-string", `x=aaaaaaaaaaaaaaaa; for i in {1..13}; do x=$x$x; done; cat <<< ${x//a/$x}`, "budget Variables"},
	{"doubling of parameters", `set -- aaaaaaaaaaaaaaaa; while :; do set -- "$1$1"; done`, "arguments of set take more"},
	{"more parameters", `set -- a b c d; while :; do set -- "$@" "$@"; done`, "arguments of set take more"},
	{"doubling of an array", `a=(a b c d); while :; do a+=("${a[@]}"); done`, "budget Variables"},
	{"doubling of elements", `a[0]=aaaaaaaaaaaaaaaa; while :; do a[0]=${a[0]}${a[0]}; done`, "budget Variables"},
	{"doubling in an associative array", `declare -A m; m[k]=aaaaaaaaaaaaaaaa; while :; do m[k]=${m[k]}${m[k]}; done`, "budget Variables"},
	{"many variables", `x=aaaaaaaaaaaaaaaa; for i in {1..14}; do x=$x$x; done; i=0; while :; do i=$((i+1)); declare "v$i=$x"; done`, "budget Variables"},
	{"squaring", `x=aaaaaaaaaaaaaaaa; while :; do x=${x//a/$x}; done`, "budget Variables"},
	{"squaring an argument", `x=aaaaaaaaaaaaaaaa; for i in {1..13}; do x=$x$x; done; echo ${x//a/$x}`, "budget Variables"},
	{"doubling in printf", `x=aaaaaaaaaaaaaaaa; while :; do printf -v x '%s%s' "$x" "$x"; done`, "than"},
	{"width of printf", `printf '%1000000000d' 1`, ""},
	{"width of printf by an argument", `printf '%*d' 2000000000 1`, ""},
	{"here-document", `x=aaaaaaaaaaaaaaaa; for i in {1..18}; do x=$x$x; done; cat <<EOF
$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x
EOF`, "budget Variables"},
	{"arguments", `x=aaaaaaaaaaaaaaaa; for i in {1..18}; do x=$x$x; done; echo $x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x`, "than"},
	{"endless substitution", `x=$(while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done)`, "budget"},
	{"endless substitution of a program", endless + `x=$(yes aaaaaaaaaaaaaaaaaaaaaaa)`, "bytes in a command substitution (a quarter of budget Variables)"},
	{"many substitutions", `f() { yes | head -c 3000000; }; while :; do x="$(f)$(f)$(f)$(f)"; y+=$x; done`, "budget"},
	{"endless line", endless + `yes | tr -d '\n' | read x`, "budget"},
	{"endless mapfile", endless + `yes | mapfile x`, "budget"},
	{"endless process substitution", endless + `cat <(yes)`, "budget"},
	{"endless output", endless + `yes`, "budget"},
	{"endless output to standard error", `while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >&2; done`, "budget"},
	{"endless sort", `yes | sort`, ""},
	{"endless tac", `yes | tac`, ""},
	{"endless file", `yes > /tmp/f`, ""},
	{"endless file of the workspace", `yes > f`, ""},
	{"endless append", `while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >> f; done`, "budget"},
	{"many files", `i=0; while :; do i=$((i+1)); : > /tmp/$i; done`, "budget"},
	{"deep expr", `expr $(yes '(' | head -n 100000) 1; expr $(yes length | head -n 100000)`, "more than 1000 levels"},
	{"large product of expr", `x=$(printf '9%.0s' {1..9000}); expr $x '*' $x '*' $x '*' $x`, "more than 10000 digits"},
	{"long template of mktemp", `mktemp $(yes X | head -n 500000 | tr -d '\n')`, "longer than 4096 bytes"},
	{"timeout without an end", `timeout 0 sleep 1000`, "budget Time"},
	{"timeouts in each other", `timeout 500 timeout 400 sleep 1000`, "budget Time"},
	{"sleep", `sleep 1000`, "budget Time"},
	{"wait", `sleep 1000 & wait`, "budget Time"},
	{"long output of printf into a variable", `x=aaaaaaaaaaaaaaaa; for i in {1..12}; do x=$x$x; done; printf -v y "$x%.0s" {1..16384}`, "budget Variables"},
	{"endless output in the background of a substitution", `x=$(yes & wait)`, "budget Variables"},
	{"reading from nothing", `while :; do read x; done`, "budget Commands"},
	{"exec in a loop", `echo a > /tmp/f; while :; do exec < /tmp/f; done`, "calls of exec"},
	{"long pattern", `x='*a'; for i in {1..15}; do x=$x$x; done; [[ a == $x ]]`, "pattern"},
	{"long pattern of case", `x='[a]'; for i in {1..15}; do x=$x$x; done; case a in $x) ;; esac`, "pattern"},
	{"long pattern in a replacement", `x='*a'; for i in {1..15}; do x=$x$x; done; y=${PATH//$x/b}`, "pattern"},
	{"long expression", `x='a*'; for i in {1..15}; do x=$x$x; done; [[ a =~ $x ]]`, "pattern"},
	{"shortest of many matches", `x=aaaaaaaaaaaaaaaa; for i in {1..16}; do x=$x$x; done; while :; do y=${x#@(*b|*a)}; done`, "budget"},
	{"long pattern of a suffix", `x='*a'; for i in {1..15}; do x=$x$x; done; y=${PATH%$x*}`, "pattern"},
	{"suffixes", `x=aaaaaaaaaaaaaaaa; while :; do x=${x%b*}$x; done`, "budget Variables"},
	{"suffixes in each other", `eval "$(printf '${x%%${x%%*%.0s' {1..2000})$(printf '}%.0s' {1..4000})"; eval "echo $(printf '${x%%*${x%%*%.0s' {1..2000})$(printf '}}%.0s' {1..2000}) | wc -c"`, ""},
	{"tests in each other", `eval "[[ $(printf '( ! a && %.0s' {1..15000}) b $(printf ')%.0s' {1..15000}) ]]"`, "nested too deeply"},
	{"long tests", `eval "[[ $(printf '! a && 1 -eq 1 || %.0s' {1..15000}) b ]]"`, ""},
	{"divisors in each other", `eval "echo $(printf '$((1/(1+%.0s' {1..2000})1$(printf ')))%.0s' {1..2000})"`, ""},
	{"indexes in each other", `eval "echo $(printf '${a[1-%.0s' {1..2000})1$(printf ']}%.0s' {1..2000})"`, ""},
	{"long glob", `x='*a'; for i in {1..15}; do x=$x$x; done; echo $x`, "pattern"},
	{"multiplying globs", `mkdir d; for i in {1..30}; do mkdir d/$i; done; cd d; echo */../*/../*/../*/../*/../*/../*/../*`, "budget Expansions"},
	{"deep parentheses", `eval "$(printf '(%.0s' {1..15000})"`, "nested too deeply"},
	{"deep arithmetic", `eval "echo \$(($(printf '(%.0s' {1..15000})1"`, "nested too deeply"},
	{"deep subscript", `x=$(printf '!%.0s' {1..15000}); x=$x$x$x$x$x$x$x$x$x$x; x=$x$x$x$x$x; a=(1); unset "a[${x}1]"`, "nested too deeply"},
	{"squaring an argument of a command of the shell", `x=aaaaaaaaaaaaaaaa; for i in {1..13}; do x=$x$x; done; 'wk printf' %s "${x//a/$x}"`, "budget Variables"},
	{"deep substitution", `eval "$(printf '$(%.0s' {1..15000})"`, "nested too deeply"},
	{"deep quotes", `eval "$(printf '"$(%.0s' {1..15000})"`, "nested too deeply"},
	{"traps", `trap 'while :; do :; done' EXIT`, "budget Commands"},
	{"trap of errors", `trap 'false' ERR; while :; do false; done`, "budget Commands"},
	{"endless alias", `shopt -s expand_aliases; alias a='a a'; a`, ""},
	{"xargs", `yes | xargs -n 1 echo > /dev/null`, "budget"},
	{"endless output of a program", `yes`, "budget TotalOutput"},
	{"pipes", `while :; do echo a | cat | cat | cat | cat > /dev/null; done`, "budget"},
	{"redirections in each other", `{ { { yes > /tmp/a; } > /tmp/b; } > /tmp/c; }`, ""},
}

// maxHostileMemory is how many bytes a process with one of these scripts may need.
const maxHostileMemory = 600 << 20

// TestHostile runs each script in a process of its own, so that it is seen how much memory
// it needs, and that it does not end the process.
func TestHostile(t *testing.T) {
	t.Parallel()
	step := exhaustive.Some(t, "two of three hostile scripts", 1, 3)
	for i, h := range hostile {
		if i%step != 0 {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			exhaustive.Sample(t, 3)
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileChild$", "-test.count=1")
			// The default of GOGC: tests collect garbage seldom, which takes more memory.
			cmd.Env = append(os.Environ(), "WORKSPACEKIT_HOSTILE="+h.name, "GOGC=100")
			start := time.Now()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out[:min(len(out), 2000)])
			}
			if !strings.Contains(string(out), h.message) {
				t.Errorf("the output is %q, without %q", out[max(0, len(out)-500):], h.message)
			}
			t.Log(time.Since(start).Round(10 * time.Millisecond))
		})
	}
}

// peakMemory returns how many bytes of memory this process has needed. The number that a parent
// gets when it ends is not that: it is at least what the parent needed when it started it.
func peakMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(peak, &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// TestHostileChild is the other process of TestHostile.
func TestHostileChild(t *testing.T) {
	name, ok := os.LookupEnv("WORKSPACEKIT_HOSTILE")
	if !ok {
		return
	}
	for _, h := range hostile {
		if h.name != name {
			continue
		}
		// Small budgets, so that the test is quick; but a script that another budget stops has
		// time for it on a slow machine, too.
		options := shell.Options{Time: time.Minute, Commands: 20_000}
		if h.message == "" || h.message == "budget" || h.message == "budget Time" {
			options.Time = 2 * time.Second
		}
		s := shell.New([]*workspace.Workspace{workspace.New("repo", memory.New(nil), nil)}, &options)
		start := time.Now()
		result, err := s.Run(t.Context(), h.script, nil)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > options.Time+5*time.Second {
			t.Errorf("the run took %v", took)
		}
		tail := result.Output[max(0, len(result.Output)-400):]
		if n := strings.Count(tail, result.Stopped); result.Stopped != "" && n != 1 {
			t.Errorf("the output %q has the message %q %d times, want once", tail, result.Stopped, n)
		}
		os.Stdout.WriteString(tail)
		again, err := s.Run(t.Context(), "echo still here", nil)
		if err != nil || again.Stopped != "" {
			t.Errorf("after it: %v, %v", again, err)
		}
		if used := peakMemory(t); used > maxHostileMemory {
			t.Errorf("%d MiB of memory", used>>20)
		}
	}
}
