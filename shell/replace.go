package shell

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/shell/internal/command"
	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
)

// replace returns what is called instead of args.
//
// The words builtin and command before a name are kept, so that a function of that name is
// passed over, as a script asks for; an internal command stands alone.
func (r *run) replace(ctx context.Context, hc interp.HandlerContext, args []string) []string {
	prefix := 0
	for prefix < len(args)-1 && (args[prefix] == "builtin" || args[prefix] == "command") {
		if strings.HasPrefix(args[prefix+1], "-") && args[prefix] == "command" {
			return r.replaceCommand(ctx, hc, args, prefix)
		}
		prefix++
	}
	if prefix == 0 && interp.IsBuiltin(args[0]) && r.scripts.HasFunction(args[0]) {
		if called, ok := ctx.Value(functionKey{}).(*atomic.Bool); ok && !called.Swap(true) || !syntax.ValidName(args[0]) {
			return args
		}
		return slices.Concat([]string{r.scripts.Prefix + functionCommand}, args)
	}
	if prefix > 0 && args[prefix-1] == "builtin" && !interp.IsBuiltin(args[prefix]) {
		return r.fails(hc, 1, "builtin: %s: not a shell builtin", args[prefix])
	}
	rest := r.replaceBuiltin(ctx, hc, args[prefix:])
	if len(rest) > 0 && (strings.HasPrefix(rest[0], r.scripts.Prefix) || strings.HasPrefix(rest[0], binDir) && rest[0] != args[prefix]) {
		return rest // an internal command or a program is none of the interpreter's builtins
	}
	return slices.Concat(args[:prefix], rest)
}

// replaceCommand handles the flags of command. A flag that it does not know is left to the
// interpreter, which refuses it.
func (r *run) replaceCommand(ctx context.Context, hc interp.HandlerContext, args []string, prefix int) []string {
	switch flag := args[prefix+1]; flag {
	case "-v", "-V":
		return slices.Concat([]string{r.scripts.Prefix + typeCommand, "command" + flag}, args[prefix+2:])
	case "-p", "--":
		return r.replace(ctx, hc, slices.Concat(args[:prefix+1], args[prefix+2:]))
	default:
		return args
	}
}

// replaceBuiltin is replace for a call without prefixes. A command that is no builtin is
// returned as it is, and the interpreter then asks exec to run it.
func (r *run) replaceBuiltin(ctx context.Context, hc interp.HandlerContext, args []string) []string {
	if why := refusal(args); why != "" {
		return r.fails(hc, 2, "%s: not possible here: %s", args[0], why)
	}
	if helps(args) {
		return r.help(hc, args)
	}
	if own := ownBuiltins[args[0]]; own != "" {
		return slices.Concat([]string{r.scripts.Prefix + own}, args[1:])
	}
	switch args[0] {
	case "eval":
		text, err := r.scripts.Text(strings.Join(args[1:], " "))
		if err != nil {
			return r.fails(hc, 2, "eval: %v", err)
		}
		return []string{"eval", text}
	case "let": // a keyword of the interpreter, which has no such builtin
		text := "let"
		for _, arg := range args[1:] {
			text += " " + quoted(arg)
		}
		return r.replaceBuiltin(ctx, hc, []string{"eval", text})
	case "source", ".":
		return r.replaceSource(ctx, hc, args)
	case r.scripts.Prefix + sourcedCommand:
		n, _ := strconv.Atoi(strings.Join(args[1:min(2, len(args))], ""))
		return slices.Concat([]string{"source", sourcePath + strconv.Itoa(n)}, args[min(2, len(args)):])
	case "trap":
		return r.replaceTrap(hc, args)
	case "alias":
		for _, arg := range args[1:] {
			_, text, _ := strings.Cut(arg, "=")
			if strings.ContainsAny(arg, "$`<>{}()~") || !isWords(text) {
				return r.fails(hc, 1, "alias: only plain words are supported; define a function")
			}
		}
	case "declare", "typeset", "local", "export", "readonly", "nameref":
		return r.replaceDeclare(hc, args)
	case "unset":
		return r.replaceUnset(ctx, hc, args)
	case "hash":
		if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
			return slices.Concat([]string{r.scripts.Prefix + typeCommand}, args)
		}
	case "type":
		return slices.Concat([]string{r.scripts.Prefix + typeCommand}, args)
	case "shift":
		count, counted := strings.CutPrefix(args[len(args)-1], "=") // from rewrite
		if counted {
			args = args[:len(args)-1]
		}
		n, err := 1, error(nil)
		if len(args) > 1 {
			n, err = strconv.Atoi(strings.Join(args[1:], " "))
		}
		if err == nil && n < 0 { // the interpreter would panic
			return r.fails(hc, 1, "shift: %s: shift count out of range", args[1])
		}
		if most, _ := strconv.Atoi(count); err == nil && counted && n > most {
			return []string{r.scripts.Prefix + rewrite.StatusCommand, "1"}
		}
	case "umask":
		return r.umask(hc, args)
	case "echo":
		if hc.Stdout == io.Discard {
			return r.fails(hc, 1, "echo: write error: %s", command.ErrorText(errClosed))
		}
		return echoLine(args)
	case "test", "[":
		args = testElements(hc.Env, args)
		if testsMore(args) || r.testsHost(ctx, hc.Dir, args) {
			return slices.Concat([]string{binDir + args[0]}, args[1:])
		}
	case "pwd":
		// With -P, the interpreter would look for symlinks on the host.
		if flags := strings.Join(args[1:], ""); strings.LastIndexByte(flags, 'P') > strings.LastIndexByte(flags, 'L') {
			return []string{binDir + "realpath", "."}
		}
		return []string{"pwd"}
	case "cd":
		return r.changeDir(ctx, hc, cdArgs(args, hc.Env))
	case "pushd":
		if args = r.changeDir(ctx, hc, args); args[0] != "pushd" {
			return args
		}
		if len(args) < 2 || args[1] != "-n" {
			return slices.Concat([]string{r.scripts.Prefix + pushdCommand}, args[1:])
		}
	case "set", "shopt":
		// The options are read when the run has ended (state.take).
		r.optsUsed.Store(true)
		if args[0] == "set" {
			return setFlags(args)
		}
		return r.shoptArgs(args)
	case "exec":
		if len(args) > 1 {
			return args
		}
		if r.keepsOpen.Add(1) > maxExecs {
			r.stop("more than %d calls of exec", maxExecs)
		}
		keepOpen(ctx, hc.Stdout, hc.Stderr)
	}
	return args
}

// ownBuiltins are the builtins that are commands of the shell itself, whatever their arguments.
var ownBuiltins = map[string]string{
	"read": readCommand, "mapfile": mapfileCommand, "readarray": mapfileCommand, "printf": printfCommand,
	"getopts": getoptsCommand, "dirs": dirsCommand,
}

// refused are the builtins of bash that do not exist here, and what to do instead. With a
// flag, it is the builtin with this flag.
var refused = map[string]string{
	"bg": noJobs, "disown": noJobs, "fg": noJobs, "jobs": noJobs, "suspend": noJobs, "wait -n": noJobs, "wait -p": noJobs,
	"kill":   "there are no processes; background jobs end with the script",
	"ulimit": "the limits are those of the shell",
	"fc":     "there is no history", "history": "there is no history",
	"bind": noTerminal, "compgen": noTerminal, "complete": noTerminal, "compopt": noTerminal, "logout": "use exit",
	"caller": "there is no stack of calls", "enable": "builtins cannot be switched off",
	"trap -l": noSignals, "trap -p": noSignals,
	"declare -i": noIntegers, "local -i": noIntegers,
	"declare -l": noLetterCase, "declare -u": noLetterCase, "local -l": noLetterCase, "local -u": noLetterCase,
	"declare +x": noExport, "local +x": noExport,
	"set -v": "use set -x, which prints each command before it runs", "set -T": "there is no trap of DEBUG or RETURN",
	"set -C": noClobber, "set -o noclobber": noClobber,
}

// The reasons why builtins of bash are refused, each with what to use instead where
// there is something.
const (
	noJobs       = "jobs have no names; wait waits for all that run in the background"
	noTerminal   = "there is no terminal"
	noSignals    = "only EXIT and ERR ever come"
	noIntegers   = "assign $((...))"
	noLetterCase = "assign ${x,,} or ${x^^}"
	noExport     = "use export -n"
	noClobber    = "> always replaces a file"
)

// refusal returns why a builtin cannot be called, "" if it can.
func refusal(args []string) string {
	if len(args) > 1 && (strings.HasPrefix(args[1], "-") || strings.HasPrefix(args[1], "+")) {
		return cmp.Or(refused[args[0]], refused[args[0]+" "+args[1]], refused[strings.Join(args, " ")])
	}
	return refused[args[0]]
}

// isWords reports whether text is words alone, without an operator such as "|".
func isWords(text string) bool {
	for _, err := range syntax.NewParser().WordsSeq(strings.NewReader(text)) {
		if err != nil {
			return false
		}
	}
	return true
}

// usages are what builtins print with --help. Those of bash that do not know it, such as
// echo and test, are not there.
var usages = map[string]string{
	"cd": "[-L|-P] [dir]", "eval": "[arg ...]", "exec": "[command [argument ...]] [redirection ...]", "export": "[-n] [name[=value] ...]",
	"mapfile": "[-t] [-d delim] [-n count] [-O origin] [-s count] [array]", "printf": "[-v var] format [arguments]", "pwd": "[-LP]",
	"read":   "[-r] [-a array] [-d delim] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [name ...]",
	"source": "filename [arguments]", "trap": "[command] [EXIT|ERR ...]", "type": "[-afptP] name [name ...]", "wait": "[pid ...]",
}

// helps reports whether a builtin is asked for its usage, or the shell for what there is.
func helps(args []string) bool {
	return args[0] == "help" || len(args) == 2 && args[1] == "--help" && usages[args[0]] != ""
}

// help prints the usage of a builtin, as builtin --help or help builtin, or what can be called.
func (r *run) help(hc interp.HandlerContext, args []string) []string {
	name, status := args[0], 2 // of --help, as in bash
	if name == "help" {
		name, status = cmp.Or(strings.Join(args[1:], " "), "help"), 0
	}
	switch usage := usages[name]; {
	case usage != "":
		fmt.Fprintf(hc.Stdout, "%s: %s %s\n", name, name, usage)
	case name == "help":
		fmt.Fprintf(hc.Stdout, "There are the builtins of bash, and these programs, which print their flags with --help:\n%s\n", strings.Join(ProgramNames(), " "))
	default:
		return r.fails(hc, 1, "help: no help for %s; try %s --help", name, name)
	}
	return []string{r.scripts.Prefix + rewrite.StatusCommand, strconv.Itoa(status)}
}

// fails prints a message, and returns a call with an exit status. The message is printed now,
// to the standard error that the command has.
func (r *run) fails(hc interp.HandlerContext, status int, format string, args ...any) []string {
	fmt.Fprintf(hc.Stderr, "bash: "+format+"\n", args...)
	return []string{r.scripts.Prefix + rewrite.StatusCommand, strconv.Itoa(status)}
}

// keptFiles are the files that exec has opened in a script or in a piece of one.
// The interpreter does not close them.
type keptFiles struct {
	mu    sync.Mutex
	files []io.Closer // guarded by mu
}

// keptKey is the key of the [*keptFiles] of a context.
type keptKey struct{}

// keeping returns a context for a script or a piece, and a function that is called after it. It
// stores the files that exec has opened, and returns the status, or 1 instead of 0 if one could
// not be stored.
func (r *run) keeping(ctx context.Context) (context.Context, func(status int) int) {
	kept := &keptFiles{}
	return context.WithValue(ctx, keptKey{}, kept), func(status int) int {
		kept.mu.Lock()
		defer kept.mu.Unlock()
		for _, file := range kept.files {
			stored := r.protect(func() error {
				if file.Close() != nil {
					return interp.ExitStatus(1)
				}
				return nil
			})
			status = cmp.Or(status, stored)
		}
		return status
	}
}

// keepOpen adds those of the streams of exec that are files to the kept files of a context.
func keepOpen(ctx context.Context, streams ...io.Writer) {
	kept := ctx.Value(keptKey{}).(*keptFiles)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	for _, stream := range streams {
		if file, ok := stream.(*storedFile); ok {
			kept.files = append(kept.files, file)
		}
	}
}

// replaceSource reads the file that source runs, and rewrites it. What the interpreter then
// sources is a piece, by a name that no file has.
//
// A name without a slash is one in the working directory: PATH is not searched.
func (r *run) replaceSource(ctx context.Context, hc interp.HandlerContext, args []string) []string {
	if len(args) < 2 {
		return r.fails(hc, 2, "%s: filename argument required", args[0])
	}
	file, err := r.process(hc, args).Open(ctx, args[1])
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(file, rewrite.MaxScript+1)) // a longer one is refused
		file.Close()
	}
	if err != nil {
		return r.fails(hc, 1, "%s: %s", args[1], command.ErrorText(err))
	}
	text, err := r.scripts.Text(string(data))
	if err != nil {
		return r.fails(hc, 2, "%s: %v", args[1], err)
	}
	n, err := r.keepPiece(text)
	if err != nil {
		return r.fails(hc, 1, "%s: %v", args[1], err)
	}
	call := quoted(r.scripts.Prefix + sourceCommand)
	text = call + " + " + quoted(args[1]) + "; " + quoted(r.scripts.Prefix+sourcedCommand) + " " + strconv.Itoa(n)
	for _, arg := range args[2:] {
		text += " " + quoted(arg)
	}
	return []string{"eval", text + "; " + call + " $?"}
}

// isSignal matches the names and the numbers of the signals of Linux.
var isSignal = lazyregexp.New(`(?i)^((SIG)?(HUP|INT|QUIT|ILL|TRAP|ABRT|BUS|FPE|KILL|USR[12]|SEGV|PIPE|ALRM|TERM|STKFLT|CHLD|CONT|STOP|TSTP|TTIN|TTOU|URG|XCPU|XFSZ|VTALRM|PROF|WINCH|IO|PWR|SYS|RTMIN(\+[0-9]+)?|RTMAX(-[0-9]+)?)|[0-9]|[1-5][0-9]|6[0-4])$`)

// replaceTrap rewrites what a trap runs. Signals never come, so only EXIT and ERR are left. A
// trap of others does nothing, and succeeds: scripts set them to clean up.
//
//	trap 'rm -f t' EXIT INT TERM    trap 'rm -f t' EXIT
//	trap '' PIPE                    :
func (r *run) replaceTrap(hc interp.HandlerContext, args []string) []string {
	if len(args) < 3 || strings.HasPrefix(args[1], "-") && args[1] != "-" && args[1] != "--" {
		return args
	}
	rest := args[1:]
	if rest[0] == "--" {
		rest = rest[1:]
	}
	text, err := rest[0], error(nil)
	if text != "-" && text != "" {
		if text, err = r.scripts.Text(text); err != nil {
			return r.fails(hc, 2, "trap: %v", err)
		}
	}
	signals := []string{}
	for _, signal := range rest[1:] {
		switch strings.TrimPrefix(strings.ToUpper(signal), "SIG") {
		case "0", "EXIT":
			signals = append(signals, "EXIT")
		case "ERR":
			signals = append(signals, "ERR")
			r.trapsErrors.Store(text != "-")
		case "DEBUG", "RETURN":
			if text != "-" && text != "" {
				return r.fails(hc, 2, "trap: not possible here: %s", noSignals)
			}
		default:
			if !isSignal().MatchString(signal) {
				return r.fails(hc, 1, "trap: %s: invalid signal specification", signal)
			}
		}
	}
	if len(signals) == 0 {
		return []string{":"}
	}
	return slices.Concat([]string{"trap", text}, signals)
}

// replaceDeclare evaluates a declaration whose words are expanded already, so that their values
// are quoted. A reference leads to no parameter of the host.
func (r *run) replaceDeclare(hc interp.HandlerContext, args []string) []string {
	text, isRef := args[0], args[0] == "nameref"
	if text == "typeset" {
		text = "declare"
	}
	unexport := false // which assigns, and drops the export of what is set already; see unexported
	for i, arg := range args[1:] {
		if flag, ok := strings.CutPrefix(arg, "-"); ok {
			switch {
			case strings.Trim(flag, "aAfFginlprux") != "":
				return r.fails(hc, 2, "%s: %s: invalid option", args[0], arg)
			case strings.Contains(flag, "F"):
				return slices.Concat([]string{r.scripts.Prefix + rewrite.NamesCommand}, args[i+2:])
			case strings.Contains(flag, "f"):
				return slices.Concat([]string{r.scripts.Prefix + rewrite.ShowCommand}, args[i+2:])
			}
			for _, letter := range flag {
				if why := refused["declare -"+string(letter)]; why != "" {
					return r.fails(hc, 2, "%s: not possible here: %s", args[0], why)
				}
				if unexport = unexport || letter == 'n' && args[0] == "export"; unexport {
					text = ":"
					continue
				}
				isRef = isRef || letter == 'n'
				text += " -" + string(letter) // see splitFlags
			}
			continue
		}
		name, value, assigned := strings.Cut(arg, "=")
		if !syntax.ValidName(name) {
			return r.fails(hc, 1, "%s: `%s': not a valid identifier", args[0], arg)
		}
		if unexport && !assigned {
			text += unexported(hc.Env, name)
			continue
		}
		if unexport {
			text += unexported(hc.Env, name) + ";"
		}
		text += " " + rewrite.Renamed(name)
		if assigned {
			if isRef {
				value = rewrite.Renamed(value)
			}
			text += "=" + quoted(value)
		}
	}
	if err := r.keep(hc.Env, int64(len(text))); err != nil {
		return r.fails(hc, 1, "%s: %v", args[0], err)
	}
	return []string{"eval", text}
}

// unexported returns what follows a command to end the export of a variable: it is unset, which keeps
// it local to a function, and assigned again. Arrays are not exported, and others stay as they are.
func unexported(env expand.Environ, name string) string {
	vr := env.Get(name)
	if !vr.Exported || vr.Kind != expand.String || vr.ReadOnly {
		return ""
	}
	return "; builtin unset " + name + "; " + name + "=" + quoted(vr.Str)
}

// plainElement is what unset can be called with: a name, or an element without an expression.
var plainElement = lazyregexp.New(`^[^\[]*(\[([A-Za-z0-9_]*|[@*]|-[0-9]+)\])?$`)

// replaceUnset rewrites the subscripts of unset, which the interpreter would parse and expand
// by itself. Those of associative arrays are keys, which it takes as they are.
//
//	unset 'a[$i+1]'    eval 'unset "a[$(($i+1))]"'
//	unset ref          eval 'unset target'
//	unset 'a[-9]' b    eval 'unset b; builtin false'
//
// For what cannot be unset, as a[-9] of a shorter array, the interpreter returns 0.
func (r *run) replaceUnset(ctx context.Context, hc interp.HandlerContext, args []string) []string {
	text, computed, fails := "unset", false, false
	for _, arg := range args[1:] {
		name, sub, _ := strings.Cut(arg, "[")
		vr := hc.Env.Get(name)
		if target, value := vr.Resolve(hc.Env); vr.Kind == expand.NameRef && !slices.Contains(args, "-n") {
			vr, arg, name, computed = value, target+strings.TrimPrefix(arg, name), target, true
		}
		if plainElement().MatchString(arg) || vr.Kind == expand.Associative {
			if why := unsetError(hc.Env, vr, name, strings.TrimSuffix(sub, "]")); why != "" && !slices.Contains(args, "-f") {
				fmt.Fprintf(hc.Stderr, "bash: unset: %s\n", why)
				fails = true
				continue
			}
			text += " " + quoted(arg)
			continue
		}
		if !syntax.ValidName(name) { // it becomes a part of a script
			fmt.Fprintf(hc.Stderr, "bash: unset: `%s': not a valid identifier\n", arg)
			fails = true
			continue
		}
		text += fmt.Sprintf(` "%s[$((%s))]"`, name, strings.TrimSuffix(sub, "]"))
		computed = true
	}
	if fails {
		text += "; builtin false"
	} else if !computed {
		return args
	}
	return r.replaceBuiltin(ctx, hc, []string{"eval", text})
}

// unsetError returns why a variable cannot be unset, or an element of it if sub is not empty.
func unsetError(env expand.Environ, vr expand.Variable, name, sub string) string {
	switch {
	case vr.ReadOnly:
		return name + ": cannot unset: readonly variable"
	case vr.Kind == expand.String && sub != "" && sub != "0":
		return name + ": not an array variable"
	case vr.Kind == expand.Indexed && strings.Trim(sub, "@*") != "":
		if _, err := rewrite.Number(env, "["+name, sub); err != nil {
			return "[" + sub + "]: bad array subscript"
		}
	}
	return ""
}

// binDir is a directory of the programs.
const binDir = "/usr/bin/"

// testsMore reports whether args call test for what only the program of that name can do.
// The interpreter's builtin takes a text that is no number for 0, and lacks some operators;
// the program knows no variables.
func testsMore(args []string) bool {
	if args[0] != "test" && args[0] != "[" {
		return false
	}
	operands := args[1:]
	if args[0] == "[" && args[len(args)-1] == "]" {
		operands = operands[:len(operands)-1]
	}
	// What has no operator: the interpreter's message has a place, and no name.
	more := len(operands) == 2 && !isOperator(operands[0]) || len(operands) == 3 && !isOperator(operands[0]) && !isOperator(operands[1])
	for i, arg := range args {
		switch arg {
		case "-v", "-R":
			return false
		case "-ef", "-O", "-G", "<", ">", "(", ")":
			more = true
		case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
			more = more || i > 1 && !isNumber(args[i-1]) || i+1 < len(args) && !isNumber(args[i+1])
		}
	}
	return more
}

// testsHost reports whether a relative name is tested that the interpreter would make a host path.
func (r *run) testsHost(ctx context.Context, dir string, args []string) bool {
	for i, op := range args[:len(args)-1] {
		if len(op) == 2 && op[0] == '-' && strings.Contains("bcdefghkprsuwxLOGSN", op[1:]) && r.files.MayBeHost(ctx, dir, args[i+1]) {
			return true
		}
	}
	return false
}

// isOperator reports whether an argument of test can be an operator.
func isOperator(arg string) bool { return arg != "" && strings.ContainsAny(arg[:1], "-!=<>(") }

// testElements replaces tests of elements of arrays, which the interpreter does not find.
//
//	[ -v m[a] ]    [ -n x ], or [ -n "" ] if it is not set
func testElements(env expand.Environ, args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		name, sub, found := strings.Cut(strings.TrimSuffix(arg, "]"), "[")
		if !found || !syntax.ValidName(name) || i == 0 || args[i-1] != "-v" {
			continue
		}
		args[i-1], args[i] = "-n", ""
		if isElement(env, name, sub) {
			args[i] = "x"
		}
	}
	return args
}

// isElement reports whether a variable has an element.
func isElement(env expand.Environ, name, sub string) bool {
	vr := env.Get(name)
	if _, target := vr.Resolve(env); target.Declared() {
		vr = target
	}
	switch {
	case sub == "@" || sub == "*":
		return vr.Kind == expand.String || len(vr.List)+len(vr.Map) > 0
	case vr.Kind == expand.Associative:
		_, ok := vr.Map[sub]
		return ok
	}
	number, err := rewrite.Number(env, "["+name, sub)
	n, _ := strconv.Atoi(number)
	if err != nil || vr.Kind != expand.Indexed {
		return err == nil && n == 0 && vr.IsSet()
	}
	if len(vr.Indexes) > 0 {
		last := vr.Indexes[len(vr.Indexes)-1]
		return slices.Contains(vr.Indexes, n) || n < 0 && slices.Contains(vr.Indexes, n+last+1)
	}
	return n >= -len(vr.List) && n < len(vr.List)
}

// umask prints the mask that most systems have, and sets no other: a workspace has no permissions.
func (r *run) umask(hc interp.HandlerContext, args []string) []string {
	switch strings.Join(args[1:], " ") {
	case "":
		fmt.Fprintln(hc.Stdout, "0022")
	case "-p":
		fmt.Fprintln(hc.Stdout, "umask 0022")
	case "-S":
		fmt.Fprintln(hc.Stdout, "u=rwx,g=rx,o=rx")
	case "022", "0022":
	default:
		return r.fails(hc, 2, "umask: not possible here: a workspace has no permissions")
	}
	return []string{r.scripts.Prefix + rewrite.StatusCommand, "0"}
}

// isNumber reports whether text is a decimal number.
func isNumber(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

// echoLine returns an echo that the interpreter writes at once, so that those of background jobs
// do not mix within a line: with one argument, which has the line end. The flags end at the first
// word that is none. With -e it is the program, whose \101 is a character: bash has only \0101.
func echoLine(args []string) []string {
	end, rest := "\n", args[1:]
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' && strings.Trim(rest[0][1:], "neE") == "" {
		if strings.Contains(rest[0], "e") {
			call := []string{binDir + "echo"}
			for _, arg := range args[1:] {
				call = append(call, plainOctal.Replace(arg))
			}
			return call
		}
		if strings.Contains(rest[0], "n") {
			end = ""
		}
		rest = rest[1:]
	}
	return []string{"echo", "-n", strings.Join(rest, " ") + end}
}

// plainOctal gives a backslash to \1 to \7, so that they stay as they are.
var plainOctal = strings.NewReplacer(`\\`, `\\`, `\1`, `\\1`, `\2`, `\\2`, `\3`, `\\3`, `\4`, `\\4`, `\5`, `\\5`, `\6`, `\\6`, `\7`, `\\7`)

// shoptArgs returns what to call for shopt. The interpreter refuses the flags q and p: alone they
// are a command of the shell itself, and beside s or u they say nothing.
func (r *run) shoptArgs(args []string) []string {
	flags, names := shoptFlags(args)
	others := strings.NewReplacer("q", "", "p", "").Replace(flags)
	switch {
	case others == flags:
		return args
	case strings.Trim(others, "o") == "":
		return slices.Concat([]string{r.scripts.Prefix + shoptCommand}, args[1:])
	case len(names) == 0:
		return args
	}
	return slices.Concat([]string{"shopt", "-" + others, "--"}, names)
}

// shoptFlags returns the letters of the flags of shopt, and its other arguments.
func shoptFlags(args []string) (flags string, names []string) {
	for names = args[1:]; len(names) > 0 && len(names[0]) > 1 && names[0][0] == '-'; names = names[1:] {
		if names[0] == "--" {
			return flags, names[1:]
		}
		flags += names[0][1:]
	}
	return flags, names
}

// setFlags drops the option errtrace of set: the interpreter does not know it, and runs the
// trap of ERR in functions in any case.
//
//	set -Eeuo pipefail    set -euo pipefail
//	set -o errtrace       :
func setFlags(args []string) []string {
	kept := []string{"set"}
	for i := 1; i < len(args); i++ {
		flags := args[i]
		if len(flags) < 2 || flags[0] != '-' && flags[0] != '+' || flags == "--" {
			kept = append(kept, args[i:]...)
			break
		}
		flags = flags[:1] + strings.ReplaceAll(flags[1:], "E", "")
		var value []string
		if strings.HasSuffix(flags, "o") && i+1 < len(args) {
			i++
			if value = args[i : i+1]; args[i] == "errtrace" {
				flags, value = strings.TrimSuffix(flags, "o"), nil
			}
		}
		if len(flags) > 1 {
			kept = append(append(kept, flags), value...)
		}
	}
	if len(kept) == 1 && len(args) > 1 {
		return []string{":"} // set alone prints all variables
	}
	return kept
}

// cdArgs drops the flags of cd, which the interpreter's cd does not have, and names the home
// directory where there is no argument.
func cdArgs(args []string, env expand.Environ) []string {
	for len(args) > 1 && slices.Contains([]string{"-L", "-P", "--"}, args[1]) {
		args = slices.Delete(slices.Clone(args), 1, 2)
	}
	if len(args) == 1 {
		args = []string{"cd", env.Get("HOME").String()}
	}
	return args
}

// changeDir returns args, of cd or pushd, without host paths: relative names are seen from the
// directory.
func (r *run) changeDir(ctx context.Context, hc interp.HandlerContext, args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		switch {
		case i == 0 || strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+"):
		case r.files.MayBeHost(ctx, hc.Dir, arg):
			if _, err := r.files.Stat(ctx, hc.Dir, arg); err != nil {
				return r.fails(hc, 1, "%s: %s: %s", args[0], arg, command.ErrorText(err))
			}
			fallthrough
		case path.IsAbs(arg):
			args[i] = r.files.Absolute(ctx, hc.Dir, arg)
		}
	}
	return args
}
