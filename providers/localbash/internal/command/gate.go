package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The descriptors of the gate. Shells need not know numbers of two digits.
const (
	scriptFd = 3 + iota // the script
	reportFd            // gets a word: whether the program was started
	stderrFd            // the standard error of the program
	rootFd              // the folder, in the sandbox
	argsFd              // the arguments of bubblewrap
	holdFd              // what bubblewrap waits for before the gate, and closes
)

// What the gate reports.
const (
	reportStarted = "started"
	reportMissing = "missing"
	reportDenied  = "denied"
	reportTooLong = "toolong"
	reportBarred  = "barred"
)

// alwaysFits is how many bytes of a gate every system takes as the arguments and variables
// of a program. Longer ones are tried with a program that does nothing: a shell that cannot
// become its program can only end.
const alwaysFits = 32 << 10

// shell is the program of the gate and the keeper.
const shell = "/bin/sh"

// MarkName is the variable of the mark.
const MarkName = "WORKSPACEKIT_RUN"

// gate returns the script that becomes the program args with the environment env. The
// programs of the system are in path. In the sandbox it enters dir, and as bubblewrap
// reports a signal as an exit code, it runs the program as its child and reports how that
// ended.
func gate(s Settings, args []string, env map[string]string, path, dir string, sandboxed bool) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "exec 2>&%d %d>&- %d>&- %d>&-\nset -f\n", stderrFd, stderrFd, rootFd, argsFd)
	for _, limit := range s.limits() {
		b.WriteString(limit + "\n")
	}
	fmt.Fprintf(&b, "say() { echo \"$1\" >&%d; }\n", reportFd)
	if sandboxed {
		// Bubblewrap would say of this no more than of all else that fails.
		fmt.Fprintf(&b, "cd %s 2>/dev/null || { say %s; exit 126; }\n", quote(dir), reportBarred)
	}
	b.WriteString("unset OLDPWD SHLVL _\n")
	if sandboxed {
		// Only the first process has the mark, by which the keeper finds it: bubblewrap lets it
		// die with its own process, but no sooner than it starts.
		b.WriteString("unset " + MarkName + "\n")
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if isName(name) {
			fmt.Fprintf(&b, "export %s=%s\n", name, quote(env[name]))
		}
	}
	fmt.Fprintf(&b, `_wsk_file= _wsk_name=%[1]s
case $_wsk_name in
*/*) _wsk_file=$_wsk_name ;;
*)
	IFS=:
	for _wsk_dir in $PATH; do
		[ -f "${_wsk_dir:-.}/$_wsk_name" ] || continue
		if [ -x "${_wsk_dir:-.}/$_wsk_name" ]; then _wsk_file=${_wsk_dir:-.}/$_wsk_name; break; fi
		_wsk_file=${_wsk_file:-${_wsk_dir:-.}/$_wsk_name}
	done
	unset IFS ;;
esac
if ! [ -e "$_wsk_file" ]; then say %[2]s; exit 127; fi
if [ -d "$_wsk_file" ] || ! [ -x "$_wsk_file" ]; then say %[3]s; exit 126; fi
`, quote(args[0]), reportMissing, reportDenied)
	var words strings.Builder
	// A name that is no name for the shell is set by env, whose arguments others can see. It
	// starts nice, which changes nothing, as it would take a program with a = for a variable.
	var odd []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !isName(name) {
			odd = append(odd, quote(name+"="+env[name]))
		}
	}
	if len(odd) > 0 {
		fmt.Fprintf(&b, "_wsk_env=$(PATH=%[1]s command -v env) _wsk_nice=$(PATH=%[1]s command -v nice)\n", quote(path))
		words.WriteString(` "$_wsk_env" -- ` + strings.Join(odd, " ") + ` "$_wsk_nice" -n 0 --`)
	}
	for i, arg := range args {
		if i == 0 && strings.HasPrefix(arg, "-") {
			words.WriteString(` "$_wsk_file"`) // exec of some shells would take the name for an option
			continue
		}
		words.WriteString(" " + quote(arg))
	}
	if b.Len()+words.Len() > alwaysFits {
		fmt.Fprintf(&b, "(exec %s -c :%s) 2>/dev/null || [ $? -ne 126 ] || { say %s; exit 126; }\n", shell, words.String(), reportTooLong)
	}
	b.WriteString("say " + reportStarted + "\n")
	if !sandboxed {
		fmt.Fprintf(&b, "exec%s %d>&- %d>&-\n", words.String(), scriptFd, reportFd)
		return []byte(b.String())
	}
	// A shell says on its standard error that a signal has ended its child, except for
	// INT and PIPE. It ignores what the program sends to its own process group. It is a
	// child of the first process: some programs end if that is their parent, as it is of
	// those that were left behind.
	fmt.Fprintf(&b, `program() {
exec%[4]s
}
exec %[1]d>&2 2>/dev/null
(
	trap : INT TERM
	exec 2>&%[2]d
	(program) 2>&%[1]d %[3]d>&- %[2]d>&- %[1]d>&-
	say "=$?"
)
exit $?
`, stderrFd, reportFd, scriptFd, words.String())
	return []byte(b.String())
}

// limits returns the commands that set the limits. One above the hard limit fails, and the limit
// stays as it is.
func (s Settings) limits() []string {
	set := func(options string, value, otherwise, unit int64) string {
		if value == 0 {
			value = otherwise
		}
		if value < 0 {
			return ":"
		}
		value = (value + unit - 1) / unit
		tries := ""
		for _, option := range strings.Fields(options) {
			tries += fmt.Sprintf("ulimit -%s %d || ", option, value)
		}
		return "{ " + tries + ":; } 2>/dev/null"
	}
	return []string{
		"ulimit -c 0",
		set("n", int64(s.OpenFiles), 4096, 1),
		set("d", s.Memory, 4<<30, 1<<10),
		set("f", s.FileSize, 4<<30, 512),
		set("t", int64(s.CPU), int64(time.Hour), int64(time.Second)),
		set("u p", int64(s.Processes), 4096, 1), // dash calls it p
	}
}

// isName reports whether the shell can set a variable of this name.
func isName(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	// What the shell itself uses, or the gate.
	return name != "" && !strings.HasPrefix(name, "_wsk_") && !slices.Contains([]string{"IFS", "OPTIND", "BASHOPTS", "SHELLOPTS", "UID", "EUID", "PPID", "BASH_VERSINFO"}, name)
}

// quote returns text as one word of the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
