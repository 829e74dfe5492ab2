package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// attempts are scripts that try to read what is outside of the workspace or denied in it, to
// change what may not be changed, and to start or find something of the machine. HOST is a
// folder of the host with the file "outside".
var attempts = []string{
	`cat HOST/outside`, `cat ../outside`, `cat ../../../../../../../HOST/outside`, `cat /../HOST/outside`,
	`cat < ../outside`, `cat < HOST/outside`, `echo "$(< HOST/outside)"`, `read x < HOST/outside; echo $x`,
	`mapfile x < HOST/outside; echo "${x[@]}"`, `. HOST/outside`, `source ../outside`, `bash HOST/outside`,
	`HOST/outside`, `PATH=HOST; outside`, `PATH=HOST; source outside`, `PATH=HOST; type outside; command -v outside`,
	`cd HOST && cat outside`, `cd ..; cat outside`, `pushd HOST; cat outside`, `cd HOST/..; pwd -P; cat */outside`,
	`echo HOST/*`, `cat HOST/o*`, `grep -r TOPSECRET HOST`, `grep -r TOPSECRET ..`, `find HOST -type f`, `ls HOST`,
	`cp HOST/outside stolen; cat stolen`, `mv HOST/outside stolen; cat stolen`, `sed -n p HOST/outside`, `rg TOPSECRET HOST`,
	`cat <(cat HOST/outside)`, `tail -n 5 HOST/outside`, `cat /tmp/../HOST/outside`, `cat /dev/fd/../../HOST/outside`,
	`TMPDIR=HOST; cat < HOST/sh-interp-1`, `export TMPDIR=HOST; bash -c 'cat < HOST/sh-interp-1'`,
	`echo changed > HOST/outside`, `echo changed >> ../outside`, `rm -f HOST/outside ../outside`, `touch HOST/new`, `mkdir HOST/new`,
	`cat sealed/key`, `cat ./sealed/../sealed/key`, `cat //sealed//key`, `cat < sealed/key`, `cat sealed/*`, `cd sealed; cat key`,
	`grep -r TOPSECRET .`, `grep TOPSECRET sealed/key`, `rg -uu TOPSECRET`, `find . -name key -exec cat {} \;`,
	`cp sealed/key x; cat x`, `mv sealed moved; cat moved/key`, `mv sealed/key x; cat x`, `sed -n p sealed/key`, `bash sealed/key`,
	`. sealed/key`, `for f in sealed/*; do while read l; do echo $l; done < $f; done`, `eval 'cat sea''led/key'`, `cat s?aled/k?y`,
	`echo changed > locked`, `echo changed >> locked`, `sed -i s/a/changed/ locked`, `rm -f locked`, `mv locked x`, `cp other locked`,
	`mv other locked`, `exec > locked; echo changed`, `bash -c 'echo changed > locked'`, `trap 'echo changed > locked' EXIT`,
	`(echo changed > locked) & wait`, `echo changed | cat > locked`, `f() { echo changed; }; f > locked`,
	`echo $((PPID)) ${PPID}`, `let x=PPID; echo $x`, `((y = PPID + 0)); echo $y`, `p=PPID; echo ${!p}`, `declare -n q=PPID; echo $q`, `for ((i = PPID; i; i = 0)); do echo $i; done`, `eval 'echo $((PPID))'`,
	`x=PPID y=x; echo $((x)) $((y+1)) $(($x)) $((2*$y)) $(("$x")) $(($(echo PPID))); ((z=x)); let w=y v=$x; echo $z $w $v`, `f() { echo $(($1)) $((${a[0]})) $((a[0])); }; a=(PPID); f PPID; for ((i=a; i; i=0)); do echo $i; done`,
	`x=PPID+0; echo $((x)) $(($x)); s=$(printf %09999999d 0 2>&1); x=PPID; echo ${#s}; cat '/dev/guarded-number/x' '/dev/guarded-number/PPID'; echo $(<'/dev/guarded-number/PPID') $(<'/dev/guarded-number/') $(<'/dev/guarded-number/=')`,
	`cat '/dev/guarded-number/e=PPID'; echo $(<'/dev/guarded-number/ePPID') $(<'/dev/guarded-number/e=PPID') $(<'/dev/guarded-number/t/PPID') $(<'/dev/guarded-number/t!'); x=PPID; shopt -s extglob; echo ${PPID##+(x)} ${PPID%.*} ${0%/*}; [[ PPID -eq 1 || $x -gt 1 ]]; echo $((1 / PPID)) $((1 / $x))`,
	`env`, `export -p`, `echo $HOST_ONLY $PPID`, `cat /proc/self/environ`, `cat /etc/passwd`, `echo ~root ~nobody`, `cat ~root/.bashrc`,
	`/bin/sh -c 'cat HOST/outside'`, `/usr/bin/env cat HOST/outside`, `exec cat HOST/outside`, `command cat HOST/outside`,
	`builtin source HOST/outside`, `command . HOST/outside`, `alias x='cat HOST/outside'; x`, `kill -9 $PPID`, `ulimit -a`,
	`awk 1 HOST/outside`, `awk 1 ../outside sealed/key`, `awk 'BEGIN { while ((getline l < "HOST/outside") > 0) print l }'`, `awk 'BEGIN { while ((getline l < "sealed/key") > 0) print l }'`,
	`awk 'BEGIN { system("cat HOST/outside sealed/key") }'`, `awk 'BEGIN { "cat HOST/outside" | getline l; print l }'`, `awk 'BEGIN { print "changed" | "cat > locked" }'`, `awk 'BEGIN { print "changed" > "locked" }'`,
	`awk 'BEGIN { print "changed" >> "HOST/outside" }'`, `awk -i inplace '{ print "changed" }' locked`, `awk -f sealed/key`, `awk -f HOST/outside`, `awk 'BEGIN { for (k in ENVIRON) print k, ENVIRON[k] }'`, `awk 'BEGIN { print > "HOST/new" }'`,
	`echo a > /dev/tcp/127.0.0.1/80`, `cat < /dev/tcp/127.0.0.1/80`, `cat /dev/mem`, `ln -s HOST/outside link; cat link`,
	`'wk run' 1; 'wk keep' < HOST/outside; cat '/dev/guard/HOST/outside'`, `cat '/dev/guarded-pipe' '/dev/guarded-answer/1'`,
	`echo changed > /dev/guarded-answer/1; echo TOP > '/dev/guard/x'`,
	`'wk printf' '%s\n' $PPID $$`, `'wk printf' '%s\n' ~root ~daemon`, `'wk show' "f() { echo $PPID; }"`, `'wk printf' '%s\n' <(ls)`,
	`'wk status' "$(echo $PPID | cat >&2)"`, `'wk run' "$(echo $$ >&2)"`, `'wk names' $(echo $PPID >&2)`, `'wk count' $PPID; 'wk time' 1 $PPID`,
	`$'wk printf' '%s\n' $PPID`, `"wk printf" '%s\n' $PPID`, `eval "'wk printf' '%s\n' \$PPID"`, `f() { 'wk keep' < ~root; 'wk type' ~daemon; }; f; type f`,
	`trap "'wk read' \$PPID" EXIT`, `bash -c "'wk printf' '%s\n' \$PPID"`, `echo "'wk printf' '%s\n' \$PPID" > s; . ./s; ./s; bash s`,
	// The name of a command of the shell itself, learned from a trace.
	learn + `eval "'wk $t printf' '%s\n' \$PPID \$\$ ~root"`, learn + `c="wk $t printf"; "$c" '%s\n' $PPID $$ ~root ~daemon`,
	learn + `c="wk $t show"; "$c" "f() { echo $PPID; }"`, learn + `eval "f() { 'wk $t run' 1 | cat; }"; f; type f; declare -f f`,
	learn + `z=$(printf '\x00'); eval "'wk $t"$'\0'" printf' \$PPID; 'w'\\''k $t printf' \$PPID"`,
	learn + `shopt -s expand_aliases; alias c="'wk $t printf' '%s\n' "; alias d='echo ~root'
d
c $PPID $$ ~daemon`,
	learn + `for c in run keep status show names count time type read mapfile printf; do "wk $t $c" $PPID ~root; "wk $t $c"; "wk $t $c" 1 2 3; done`,
	`shopt -s expand_aliases; alias x='echo ~root ~daemon'; eval x`, `echo {~root,~daemon}{,x}`, `x=a:~root; echo $x`,
	`a=(1); unset 'a[$(echo $PPID $$ >&2)]'`, `a=(1); declare -n r=a; unset -v b 'r[$(echo $PPID >&2)]'`, `a=(1); builtin unset 'a[$(cat <(echo $PPID >&2))]'`,
	`x='y=~root'; declare $x; echo $y; f() { local -r z=1 $x; echo $y; }; f; { export "$x"; env; } | grep y`, `declare -p PPID; x=PPID; declare -p $x; readonly PPID; readonly -p | grep PPID`,
	`n=PPID; declare -n q=$n; echo $q`, `declare -n q='$'; echo $q; declare -n "r=PPID"; echo $r; declare "-n" s=PPID; echo $s; x=-n; declare $x t=PPID; echo $t`,
	`f() { local -n q="$1"; echo $q; }; f PPID; f '$'; typeset -n z=P\PID; echo $z; nameref w=PPID; echo $w; builtin declare -n v=PPID; echo $v`,
	`a[PPID]=1; echo ${!a[@]}; b=([PPID]=1); echo ${!b[@]}; declare -a c=([PPID]=1); echo ${!c[@]} ${a[PPID]}`,
	`a=(PPID); (echo ${!a}); x=PPID; (echo ${!x[0]}); (cat <<< ${!x}); (: > ${!x}); ls; case ${!x} in *) echo x;; esac; declare -A m; (m[${!x}]=1; echo ${!m[@]})`, `f() { (echo ${!1}); (y="${!2}"; echo $y); for i in "${!1}"; do echo $i; done; }; f PPID '$'`,
	`set -- PPID; (echo ${!@}); (echo ${!*}); bash -c 'echo ${!0}' PPID; set -- PP ID; IFS=; echo ${!*}`, `set -- 'PPID/x'; (echo ${!1}); set -- x/PPID; (echo ${!1}); set -- '' PPID; (echo ${!1}${!2})`,
	learn + `c="wk $t time"; "$c" aaaa; "$c" 1; "$c" 1 $PPID; c="wk $t run"; f() { "$c" 1; }; f; declare -f`,
}

// learn is a script that finds out what the names of commands of the shell itself begin with.
const learn = `t=$( { set -x; : > /tmp/learned; } 2>&1 ); t=${t#*wk }; t=${t%% *}; [ ${#t} = 26 ] || echo TOPSECRET; `

// TestEscapes runs the attempts over memory and over a folder.
func TestEscapes(t *testing.T) {
	t.Parallel()
	if len(attempts) < 60 {
		t.Errorf("%d attempts, want 60", len(attempts))
	}
	for _, kind := range []string{"memory", "localbash"} {
		for _, attempt := range attempts {
			t.Run(kind, func(t *testing.T) {
				exhaustive.Sample(t, 1) // all, but for -short
				t.Parallel()
				tryEscape(t, kind, attempt)
			})
		}
	}
}

func tryEscape(t *testing.T, kind, attempt string) {
	t.Helper()
	host := t.TempDir()
	root := filepath.Join(host, "root")
	for name, content := range map[string]string{"outside": "echo TOPSECRET\n", "root/sealed/key": "echo TOPSECRET\n", "root/locked": "a\n", "root/other": "changed\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(host, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(host, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	where := "root"
	if kind == "memory" {
		where = "seed"
	}
	text := fmt.Sprintf("workspaces: {main: {provider: {kind: %s, %s: %q}, fs: {deniedPaths: [\"sealed/**\"], rules: [{deny: [write, edit, delete, move], paths: [locked]}]}}}",
		kind, where, root)
	c, err := config.Parse([]byte(text), &config.Options{Registry: workspacekit.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Open(t.Context(), workspacekit.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	ws := opened.All()[0].Workspace
	script := strings.ReplaceAll(attempt, "HOST", host)
	if strings.Contains(attempt, "HOST_ONLY") {
		script = attempt
	}
	result, err := shell.New([]*workspace.Workspace{ws}, nil).Run(t.Context(), script, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.ReplaceAll(result.Output, attempt, ""), "TOPSECRET") && !strings.Contains(result.Output, "TOPSECRET: ") {
		t.Errorf("%s\nprints %q", attempt, result.Output)
	}
	if data, err := ws.ReadFile(t.Context(), "locked"); err != nil || string(data) != "a\n" {
		t.Errorf("%s\nthe locked file is %q, %v", attempt, data, err)
	}
	if data, err := os.ReadFile(filepath.Join(host, "outside")); err != nil || string(data) != "echo TOPSECRET\n" {
		t.Errorf("%s\nthe file outside is %q, %v", attempt, data, err)
	}
	if data, err := os.ReadFile(filepath.Join(root, "sealed/key")); err != nil || string(data) != "echo TOPSECRET\n" {
		t.Errorf("%s\nthe sealed is %q, %v", attempt, data, err)
	}
	if entries, err := os.ReadDir(host); err != nil || len(entries) != 2 {
		t.Errorf("%s\nthere are %v beside the root, %v", attempt, entries, err)
	}
	for _, pid := range []int{os.Getpid(), os.Getppid()} {
		if strings.Contains(" "+strings.Join(strings.FieldsFunc(result.Output, func(c rune) bool { return c < '0' || c > '9' }), " ")+" ", " "+strconv.Itoa(pid)+" ") {
			t.Errorf("%s\nprints %q, which has a process of the host", attempt, result.Output)
		}
	}
	for _, found := range []string{"/bin/bash:", "root:x:0", os.Getenv("PATH") + ":", "/root\n", "/root ", "/usr/sbin", "budget Time"} {
		if strings.Contains(result.Output, found) {
			t.Errorf("%s\nprints %q", attempt, result.Output)
		}
	}
}
