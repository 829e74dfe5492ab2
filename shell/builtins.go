package shell

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/shell/internal/command"
	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
)

// internalFunc is a command of the shell itself, with the arguments of a handler of the
// interpreter. args[0] is its name. An [interp.ExitStatus] is its status, nil is 0, an
// error of hc.Builtin is what the builtin did, such as exit, and any other error ends the run.
type internalFunc func(ctx context.Context, hc interp.HandlerContext, args []string) error

// Commands of the shell itself that are called in place of builtins, besides those that package
// rewrite puts into scripts.
const (
	typeCommand     = "type" // type, command -v
	readCommand     = "read"
	mapfileCommand  = "mapfile"
	printfCommand   = "printf"
	getoptsCommand  = "getopts"
	sourceCommand   = "source"  // changes BASH_SOURCE
	sourcedCommand  = "sourced" // source of a piece
	pushdCommand    = "pushd"
	dirsCommand     = "dirs"
	shoptCommand    = "shopt"    // shopt -q, shopt -p
	functionCommand = "function" // what may be a function with the name of a builtin
)

// internal returns the command of the shell itself that a name without its prefix stands for,
// nil if it is none. had says that the name had the prefix.
func (r *run) internal(name string, had bool) internalFunc {
	if !had {
		return nil
	}
	switch name {
	case rewrite.RunCommand:
		return r.runPiece
	case rewrite.KeepCommand:
		return r.keepInput
	case rewrite.StatusCommand:
		return r.status
	case rewrite.ShowCommand:
		return r.show
	case rewrite.NamesCommand:
		return r.names
	case rewrite.CountCommand:
		return r.count
	case rewrite.TimeCommand:
		return r.time
	case typeCommand:
		return r.typeOf
	case readCommand:
		return r.read
	case mapfileCommand:
		return r.mapfile
	case printfCommand:
		return r.printf
	case getoptsCommand:
		return r.getopts
	case rewrite.NumberCommand:
		return r.printNumber
	case rewrite.QuoteCommand:
		return r.quote
	case rewrite.TrimCommand:
		return r.trimmed
	case rewrite.GlobCommand:
		return r.checkGlob
	case rewrite.CatCommand:
		return r.cat
	case rewrite.IgnoreCommand:
		return r.ignore
	case rewrite.TailCommand:
		return r.tail
	case sourceCommand:
		return r.source
	case pushdCommand:
		return r.pushd
	case dirsCommand:
		return r.dirs
	case shoptCommand:
		return r.shopt
	case functionCommand:
		return r.function
	}
	return nil
}

// runPiece runs a part of a pipeline, or a background job. The interpreter has started a
// goroutine for it, and a panic there would end the process.
//
// Its output goes through pipePath, which is opened as a pipeWriter: so the part ends when
// nobody reads any more. A piece that begins after the end of the run does nothing: run.do
// holds the lock for good, and waits for those that run.
func (r *run) runPiece(ctx context.Context, hc interp.HandlerContext, args []string) (err error) {
	if len(args) != 2 {
		return interp.ExitStatus(2)
	}
	if n := r.subshells.Add(1); n > int64(r.opts.Subshells) {
		r.subshells.Add(-1)
		return r.stopBudget("subshells at a time", r.opts.Subshells, "Subshells")
	}
	defer r.subshells.Add(-1)
	if !r.pieces.TryRLock() {
		return context.Cause(ctx)
	}
	defer r.pieces.RUnlock()
	n, _ := strconv.Atoi(args[1])
	text := r.scripts.Piece(n)
	if text == "" {
		return errFinished // a job that begins after its script has ended, whose pieces are dropped
	}
	// A part that waits for its neighbor would otherwise never see that ctx has ended.
	end := context.AfterFunc(ctx, func() { unblock(hc.Stdin); unblock(hc.Stdout) })
	defer end()
	ctx, store := r.keeping(ctx)
	status := store(r.protect(func() error {
		err = hc.Builtin(ctx, []string{"eval", "{ " + text + "\n} >" + pipePath})
		return nil
	}))
	if status != 0 {
		return interp.ExitStatus(status)
	}
	return err
}

// keepInput keeps the standard input as /dev/fd/N, and prints that name: it is the end of
// the pipeline that rewrite makes of <(...). The data is kept until the run ends.
func (r *run) keepInput(_ context.Context, hc interp.HandlerContext, _ []string) error {
	if hc.Stdin == nil {
		return interp.ExitStatus(1)
	}
	limit := r.opts.Variables / 4
	data, err := io.ReadAll(io.LimitReader(r.input(hc), int64(limit)+1))
	if err != nil {
		return interp.ExitStatus(1)
	}
	if len(data) > limit {
		return r.stopQuarter("bytes in a process substitution")
	}
	name, err := r.files.KeepDescriptor(data, int64(r.opts.Variables))
	if err != nil {
		return r.stopBudget("bytes in process substitutions", r.opts.Variables, "Variables")
	}
	io.WriteString(hc.Stdout, name)
	return nil
}

// status returns its argument as the exit status, or 1 if a file could not be stored. It is
// what rewrite puts after a statement with a redirection, with $? as the argument.
//
// The count belongs to the run: of two files that are written at the same time, the failure
// of one may become the status of the other.
func (r *run) status(_ context.Context, _ interp.HandlerContext, args []string) error {
	if r.unstored.Swap(0) > 0 {
		return interp.ExitStatus(1)
	}
	if len(args) < 2 {
		return nil
	}
	n, _ := strconv.Atoi(args[1])
	return statusError(n & 0xff)
}

// ignore ends set -e in the subshell that calls it, and returns its argument as the exit status.
func (r *run) ignore(ctx context.Context, hc interp.HandlerContext, args []string) error {
	if err := hc.Builtin(ctx, []string{"set", "+e"}); err != nil || len(args) < 2 {
		return err
	}
	n, _ := strconv.Atoi(args[1])
	return statusError(n & 0xff)
}

// tail is the command after "a && b": it has the status of that, or succeeds where bash ignores it.
func (r *run) tail(_ context.Context, _ interp.HandlerContext, args []string) error {
	if len(args) < 2 || r.trapsErrors.Load() || len(args) > 2 && strings.Contains(args[2], "e") {
		return nil
	}
	n, _ := strconv.Atoi(args[1])
	return statusError(n)
}

// source changes BASH_SOURCE around a file that source has read. The call handler makes the builtin of
// the second command, as only after a builtin itself a return in the file does not end the script:
//
//	'wk source' + lib.sh    puts lib.sh before the other files
//	'wk sourced' 7 a        runs the piece 7 with the argument a
//	'wk source' $?          takes lib.sh away, and returns the status
func (r *run) source(ctx context.Context, hc interp.HandlerContext, args []string) error {
	files := hc.Env.Get(sourceName).List
	if len(args) < 3 {
		n, _ := strconv.Atoi(strings.Join(args[1:], ""))
		text := "builtin unset " + sourceName
		if len(files) > 1 {
			text = sourceName + "=" + quotedList(files[1:])
		}
		return cmp.Or(eval(ctx, hc, text), statusError(n&0xff))
	}
	files = slices.Concat(args[2:3], files)
	if err := r.keep(hc.Env, rewrite.VariableSize(expand.Variable{List: files})); err != nil {
		return err
	}
	return eval(ctx, hc, sourceName+"="+quotedList(files))
}

// sourceName is the variable with the files whose commands run, if there are any.
const sourceName = "BASH_SOURCE"

// quotedList returns values as an array in a script.
func quotedList(values []string) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = quoted(value)
	}
	return "(" + strings.Join(words, " ") + ")"
}

// pushd is the builtin of that name. The interpreter's forgets what cd has changed since the last one.
func (r *run) pushd(ctx context.Context, hc interp.HandlerContext, args []string) error {
	if err := eval(ctx, hc, currentOnStack(hc)); err != nil {
		return err
	}
	return hc.Builtin(ctx, append([]string{"pushd"}, args[1:]...))
}

// dirs is the builtin of that name, see pushd.
func (r *run) dirs(ctx context.Context, hc interp.HandlerContext, args []string) error {
	restore := "; builtin unset OLDPWD"
	if old := hc.Env.Get("OLDPWD"); old.IsSet() {
		restore = "; OLDPWD=" + quoted(old.String())
	}
	if err := eval(ctx, hc, currentOnStack(hc)+restore); err != nil {
		return err
	}
	return hc.Builtin(ctx, append([]string{"dirs"}, args[1:]...))
}

// currentOnStack returns a script that makes the working directory the top of the stack of pushd.
func currentOnStack(hc interp.HandlerContext) string {
	return "{ builtin pushd -n " + quoted(hc.Dir) + " && builtin popd; } >/dev/null"
}

// functionKey is the key of an [*atomic.Bool] in a context: whether run.function has called the
// function. What the function itself calls is looked up again.
type functionKey struct{}

// function calls a function with the name of a builtin. Where a script declares one, a call is of
// the builtin before the declaration has run and after unset, and only the interpreter knows which.
func (r *run) function(ctx context.Context, hc interp.HandlerContext, args []string) error {
	if len(args) < 2 || !interp.IsBuiltin(args[1]) {
		return interp.ExitStatus(1)
	}
	text := "builtin " + args[1]
	if r.functionSource(ctx, hc, args[1]) != "" {
		text = `\` + args[1] // which is no keyword, such as declare
		ctx = context.WithValue(ctx, functionKey{}, new(atomic.Bool))
	}
	for _, arg := range args[2:] {
		text += " " + quoted(arg)
	}
	return hc.Builtin(ctx, []string{"eval", text})
}

// show is declare -f: it prints functions without what rewrite has added to them.
func (r *run) show(ctx context.Context, hc interp.HandlerContext, args []string) error {
	status := 0
	err := r.eachFunction(ctx, hc, args[1:], func(name, source string) {
		text := r.scripts.Restore(source)
		if text == "" {
			fmt.Fprintf(hc.Stderr, "bash: declare: %s: the function cannot be shown\n", name)
			status = 1
		}
		io.WriteString(hc.Stdout, text)
	})
	return cmp.Or(err, statusError(status))
}

// eachFunction calls f with the name and the source of functions, as functionSource returns it:
// of all functions in order without names. The status is 1 if one does not exist.
func (r *run) eachFunction(ctx context.Context, hc interp.HandlerContext, names []string, f func(name, source string)) error {
	all := len(names) == 0
	if all {
		names = r.scripts.Functions()
	}
	status := 0
	for _, name := range names {
		if source := r.functionSource(ctx, hc, name); source != "" {
			f(name, source)
		} else if !all {
			status = 1
		}
	}
	return statusError(status)
}

// eval runs a statement of the shell itself in the interpreter that called a handler. text is
// not rewritten: values in it are quoted (see quoted), and names are checked. It is not traced.
func eval(ctx context.Context, hc interp.HandlerContext, text string) error {
	return hc.Builtin(ctx, []string{"eval", text + " 2>" + untracedPath})
}

// untracedPath is the standard error of what the shell itself evaluates, without traces (set -x).
const untracedPath = "/dev/guarded-error"

// untraced is what is opened as untracedPath.
type untraced struct{ pipeWriter }

// Write implements [io.Writer].
func (u *untraced) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("+ ")) {
		return len(b), nil
	}
	return u.pipeWriter.Write(b)
}

// answerPath is the directory of files that the interpreter writes its answers to. A name in
// it is a file only while run.ask waits for an answer. No script can guess it.
const answerPath = "/dev/guarded-answer/"

// functionSource returns the source of the function name, with what rewrite has added, and ""
// if there is none.
func (r *run) functionSource(ctx context.Context, hc interp.HandlerContext, name string) string {
	if !functionName().MatchString(name) {
		return ""
	}
	return r.ask(ctx, hc, "declare -f "+name)
}

// ask returns what a builtin of the interpreter prints. It stands in a condition, so that no option
// of the script ends it there.
func (r *run) ask(ctx context.Context, hc interp.HandlerContext, call string) string {
	file := answerPath + rand.Text()
	answer := &bytes.Buffer{}
	r.mu.Lock()
	r.answers[file] = answer
	r.mu.Unlock()
	eval(ctx, hc, "if "+call+" 2>/dev/null; then :; fi >"+file)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.answers, file)
	return answer.String()
}

// functionName is what names of functions look like. Such a name needs no quotes in a script.
var functionName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.:-]*$`)

// names is declare -F.
func (r *run) names(ctx context.Context, hc interp.HandlerContext, args []string) error {
	line := ""
	if len(args) == 1 {
		line = "declare -f "
	}
	return r.eachFunction(ctx, hc, args[1:], func(name, _ string) { fmt.Fprintln(hc.Stdout, line+name) })
}

// count prints how many elements an associative array has, or another array.
func (r *run) count(_ context.Context, hc interp.HandlerContext, args []string) error {
	if len(args) < 2 {
		return interp.ExitStatus(1)
	}
	n := 0
	switch vr := hc.Env.Get(args[1]); {
	case len(vr.Map) > 0 || len(vr.List) > 0:
		n = len(vr.Map) + len(vr.List)
	case vr.IsSet() && vr.Kind == expand.String:
		n = 1
	}
	fmt.Fprintln(hc.Stdout, n)
	return nil
}

// printNumber is the command that prints the number which its second argument stands for.
func (r *run) printNumber(_ context.Context, hc interp.HandlerContext, args []string) error {
	if len(args) < 3 {
		return interp.ExitStatus(1)
	}
	n, err := rewrite.Number(hc.Env, args[1], args[2])
	if err != nil {
		r.noNumber.Store(&err)
		return interp.ExitStatus(1)
	}
	r.noNumber.Store(nil)
	fmt.Fprintln(hc.Stdout, n)
	return nil
}

// quote is the command that prints its second argument as a part of an expression or a pattern
// that matches only that text. An end of a line at the end would be lost.
func (r *run) quote(_ context.Context, hc interp.HandlerContext, args []string) error {
	if len(args) < 3 {
		return interp.ExitStatus(1)
	}
	fmt.Fprint(hc.Stdout, rewrite.Quoted(args[1], args[2]))
	return nil
}

// trimmed is the command that prints how many characters of a text are left out at its beginning,
// or stay there, or which pattern is replaced: "##" and so on, the text, and the pattern. With "##="
// the text is that of a variable.
func (r *run) trimmed(ctx context.Context, hc interp.HandlerContext, args []string) error {
	if len(args) < 4 {
		return interp.ExitStatus(1)
	}
	text := args[2]
	op, isName := strings.CutSuffix(args[1], "=")
	if isName {
		vr := hc.Env.Get(text)
		if _, target := vr.Resolve(hc.Env); target.IsSet() {
			vr = target
		}
		if !vr.IsSet() && strings.HasPrefix(op, "/") {
			r.noNumber.Store(nil)
			return nil // without a pattern, nothing is replaced
		}
		text = vr.String()
	}
	answer, err := rewrite.Trimmed(ctx, op, text, args[3])
	if err != nil {
		failed := fmt.Errorf("bash: %.100s: %w", args[3], err)
		r.noNumber.Store(&failed)
		return interp.ExitStatus(1)
	}
	r.noNumber.Store(nil)
	io.WriteString(hc.Stdout, answer)
	return nil
}

// checkGlob is the command that fails for a pattern of extglob that the interpreter does not know.
func (r *run) checkGlob(ctx context.Context, hc interp.HandlerContext, args []string) error {
	if len(args) < 2 {
		return interp.ExitStatus(1)
	}
	err := rewrite.CheckGlob(args[1])
	if !strings.Contains(r.ask(ctx, hc, "builtin shopt extglob"), "on") {
		err = errors.New("a pattern of extglob needs shopt -s extglob")
	}
	if err != nil {
		failed := fmt.Errorf("bash: %.100s: %w", args[1], err)
		r.noNumber.Store(&failed)
		return interp.ExitStatus(1)
	}
	r.noNumber.Store(nil)
	return nil
}

// shopt is shopt -q and shopt -p. The interpreter has neither, and is asked for each option.
//
//	shopt -q extglob    status 1 if it is off
//	shopt -p extglob    shopt -u extglob
func (r *run) shopt(ctx context.Context, hc interp.HandlerContext, args []string) error {
	flags, names := shoptFlags(args)
	call, on, off := "builtin shopt ", "shopt -s", "shopt -u"
	if strings.Contains(flags, "o") {
		call, on, off = "builtin shopt -o ", "set -o", "set +o"
	}
	var answers []string
	for _, name := range names {
		answers = append(answers, r.ask(ctx, hc, call+"-- "+quoted(name)))
	}
	if len(names) == 0 {
		answers = slices.Collect(strings.Lines(r.ask(ctx, hc, call)))
	}
	status := 0
	for i, answer := range answers {
		name, state, known := strings.Cut(answer, "\t")
		set := off
		switch {
		case !known:
			fmt.Fprintf(hc.Stderr, "bash: shopt: %s: invalid shell option name\n", names[i])
			status = 1
			continue
		case strings.HasPrefix(state, "on"):
			set = on
		case len(names) > 0:
			status = 1
		}
		if !strings.Contains(flags, "q") {
			fmt.Fprintln(hc.Stdout, set, name)
		}
	}
	return statusError(status)
}

// cat is the command that prints its input.
func (r *run) cat(_ context.Context, hc interp.HandlerContext, _ []string) error {
	if hc.Stdin != nil {
		if _, err := io.Copy(hc.Stdout, r.input(hc)); err != nil {
			return interp.ExitStatus(1)
		}
	}
	return nil
}

// time is the keyword time: before a command, and then after it with its status.
//
//	'wk time' 7       notes when the command begins
//	'wk time' 7 $?    prints how long it took, and returns its status; with -p as POSIX has it
//
// The number keeps apart those that run at the same time. The time is by the clock of the machine,
// and not by Options.Now. User and system time are always 0.
func (r *run) time(_ context.Context, hc interp.HandlerContext, args []string) error {
	if len(args) < 2 {
		return interp.ExitStatus(1)
	}
	clock, err := strconv.Atoi(args[1])
	if err != nil {
		return interp.ExitStatus(1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(args) == 2 {
		r.started[clock] = time.Now()
		return nil
	}
	passed := time.Since(r.started[clock])
	if len(args) > 3 {
		fmt.Fprintf(hc.Stderr, "real %.2f\nuser 0.00\nsys 0.00\n", passed.Seconds())
	} else {
		fmt.Fprintf(hc.Stderr, "\nreal\t%dm%.3fs\nuser\t0m0.000s\nsys\t0m0.000s\n", int(passed.Minutes()), passed.Seconds()-60*float64(int(passed.Minutes())))
	}
	n, _ := strconv.Atoi(args[2])
	return statusError(n & 0xff)
}

// typeOf is type, command -v and command -V. The interpreter would look for programs on the
// host. args[1] is the mode, and the flags of type choose another:
//
//	type          "ls is /usr/bin/ls", and the source of a function
//	command-V     the same
//	command-v     the name, or the file of a program
//	-t            keyword, function, builtin or file
//	-p            the file of a program, or nothing
//	-P            the same, also where a builtin comes first
//
// -a prints all that the name stands for. -f, which leaves out functions, changes nothing.
func (r *run) typeOf(ctx context.Context, hc interp.HandlerContext, args []string) error {
	if len(args) < 2 {
		return interp.ExitStatus(1)
	}
	mode, names := args[1], args[2:]
	all := false
	for mode == "type" && len(names) > 0 && strings.HasPrefix(names[0], "-") {
		flag := names[0]
		names = names[1:]
		if flag == "--" {
			break
		}
		for _, c := range flag[1:] {
			switch c {
			case 't', 'p', 'P':
				mode = "-" + string(c)
			case 'a':
				all = true
			case 'f':
			default:
				fmt.Fprintf(hc.Stderr, "bash: type: -%c: invalid option\n", c)
				return interp.ExitStatus(2)
			}
		}
	}
	status := 0
	for _, name := range names {
		kinds := r.kinds(ctx, hc, name)
		if mode == "-P" {
			kinds = slices.DeleteFunc(kinds, func(k string) bool { return k != "file" })
		}
		if len(kinds) == 0 {
			status = 1
			if mode == "type" || mode == "command-V" || mode == "hash" {
				fmt.Fprintf(hc.Stderr, "bash: %s: %s: not found\n", strings.TrimSuffix(mode, "-V"), name)
			}
			continue
		}
		if !all {
			kinds = kinds[:1]
		}
		for _, kind := range kinds {
			r.printType(ctx, hc, mode, name, kind)
		}
	}
	return statusError(status)
}

// kinds returns what name is, in the order in which the shell looks: keyword, function,
// builtin, file. It is empty if name is nothing.
func (r *run) kinds(ctx context.Context, hc interp.HandlerContext, name string) []string {
	var kinds []string
	if syntax.IsKeyword(name) {
		kinds = append(kinds, "keyword")
	}
	if r.functionSource(ctx, hc, name) != "" {
		kinds = append(kinds, "function")
	}
	if interp.IsBuiltin(name) {
		kinds = append(kinds, "builtin")
	}
	dir, base := path.Split(name)
	switch {
	case dir == "" && slices.Contains(ProgramNames(), name),
		dir == "/bin/" && slices.Contains(ProgramNames(), base),
		dir == "/usr/bin/" && slices.Contains(ProgramNames(), base):
		kinds = append(kinds, "file")
	case dir != "":
		if info, err := r.files.Stat(ctx, hc.Dir, name); err == nil && !info.IsDir() {
			kinds = append(kinds, "file")
		}
	}
	return kinds
}

// printType prints one line of type.
func (r *run) printType(ctx context.Context, hc interp.HandlerContext, mode, name, kind string) {
	file := name
	if kind == "file" && !strings.Contains(name, "/") {
		file = "/usr/bin/" + name
	}
	switch mode {
	case "hash":
	case "-t":
		fmt.Fprintln(hc.Stdout, kind)
	case "-p", "-P":
		if kind == "file" {
			fmt.Fprintln(hc.Stdout, file)
		}
	case "command-v":
		fmt.Fprintln(hc.Stdout, file)
	default:
		switch kind {
		case "keyword":
			fmt.Fprintf(hc.Stdout, "%s is a shell keyword\n", name)
		case "function":
			fmt.Fprintf(hc.Stdout, "%s is a function\n", name)
			r.show(ctx, hc, []string{rewrite.ShowCommand, name})
		case "builtin":
			fmt.Fprintf(hc.Stdout, "%s is a shell builtin\n", name)
		default:
			fmt.Fprintf(hc.Stdout, "%s is %s\n", name, file)
		}
	}
}

// printf is the program printf, which can also store its output in a variable: printf -v x.
// The output for a variable is bounded as that of a command substitution is.
func (r *run) printf(ctx context.Context, hc interp.HandlerContext, args []string) error {
	program := command.Programs["printf"]
	if program == nil {
		return hc.Builtin(ctx, slices.Concat([]string{"printf"}, args[1:]))
	}
	p := r.process(hc, slices.Concat([]string{"printf"}, args[1:]))
	if len(args) < 4 || args[1] != "-v" {
		status := r.protect(func() error { return statusError(program(ctx, p)) })
		return statusError(status)
	}
	var out strings.Builder
	p.Args = slices.Concat([]string{"printf"}, args[3:])
	p.Stdout = &programWriter{Writer: r.newCapture(hc.Env, &out)}
	if status := r.protect(func() error { return statusError(program(ctx, p)) }); status != 0 {
		return interp.ExitStatus(status)
	}
	return r.assign(ctx, hc, args[2], out.String())
}

// getopts is the builtin of that name. The interpreter's does not pass over "--", has ":" for an
// argument that is missing also where the options do not begin with ":", and no empty argument.
func (r *run) getopts(ctx context.Context, hc interp.HandlerContext, args []string) error {
	err := hc.Builtin(ctx, slices.Concat([]string{"getopts"}, args[1:]))
	if len(args) < 3 || !syntax.ValidName(args[2]) {
		return err
	}
	options, name := args[1], args[2]
	letter := hc.Env.Get(name).String()
	switch {
	case err != nil && r.optionsEnd(ctx, hc, args[3:]):
		return cmp.Or(eval(ctx, hc, "((OPTIND++)) || :"), err)
	case err == nil && letter == ":" && !strings.HasPrefix(options, ":"):
		return eval(ctx, hc, name+"='?'")
	case err == nil && strings.Contains(options, letter+":") && !hc.Env.Get("OPTARG").IsSet():
		return eval(ctx, hc, "OPTARG=")
	}
	return err
}

// optionsEnd reports whether the next argument of getopts is "--": one of args, or without any of
// the positional parameters.
func (r *run) optionsEnd(ctx context.Context, hc interp.HandlerContext, args []string) bool {
	if len(args) == 0 {
		return r.ask(ctx, hc, `builtin echo "${@:OPTIND:1}"`) == "--\n"
	}
	n, err := strconv.Atoi(hc.Env.Get("OPTIND").String())
	return err == nil && n > 0 && n <= len(args) && args[n-1] == "--"
}

// target is what read and printf can assign to. The name becomes part of a script (run.assign),
// so it has nothing that would be expanded: bash runs the command in read 'x[$(cmd)]'.
var target = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(\[[A-Za-z0-9_@*]*\])?$`)

// assign gives a variable a value, in the scope that an assignment in the script has. It
// counts the value, and may end the run. A name that is none is a failure of the command.
func (r *run) assign(ctx context.Context, hc interp.HandlerContext, name string, value string) error {
	if !target().MatchString(name) {
		fmt.Fprintf(hc.Stderr, "bash: %s: not a valid identifier\n", name)
		return interp.ExitStatus(1)
	}
	if err := r.keep(hc.Env, int64(len(value))); err != nil {
		return err
	}
	return eval(ctx, hc, name+"="+quoted(value))
}

// quoted returns a value as a word of a script that expands to it. NUL bytes are removed, as
// no variable has any.
func quoted(value string) string {
	text, err := syntax.Quote(strings.ReplaceAll(value, "\x00", ""), syntax.LangBash)
	if err != nil {
		return "''"
	}
	return text
}

// readFlags are the flags of read and mapfile. Negative counts mean no bound, and a timeout
// of zero means none. The prompt is never printed, as there is no terminal.
type readFlags struct {
	raw, array, whole, trim bool // -r, -a and -N; -t of mapfile: lines without their ends
	delim                   byte // of -d: what ends the line; NUL if it is empty
	count, skip             int  // of -n and -N; of mapfile -s
	timeout                 time.Duration
	prompt                  string
	names                   []string
}

// parseRead reads the flags of read, or of mapfile. Flags may stand together, and the value of
// one may be in the same word: -rn1, -d:. What is left are names; -a puts its name first.
func parseRead(args []string, mapfile bool) (*readFlags, error) {
	f := &readFlags{delim: '\n', count: -1}
	args = args[1:]
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		cluster := args[0][1:]
		args = args[1:]
		if cluster == "-" {
			break
		}
		for cluster != "" {
			letter := cluster[0]
			cluster = cluster[1:]
			switch {
			case letter == 'r' && !mapfile:
				f.raw = true
				continue
			case (letter == 's' || letter == 'e') && !mapfile:
				continue
			case letter == 't' && mapfile:
				f.trim = true
				continue
			}
			if !strings.ContainsRune(map[bool]string{false: "adnNptiu", true: "dnsOuCc"}[mapfile], rune(letter)) {
				return nil, fmt.Errorf("-%c: invalid option", letter)
			}
			value := cluster
			if value == "" && len(args) > 0 {
				value, args = args[0], args[1:]
			} else if value == "" {
				return nil, fmt.Errorf("-%c: option requires an argument", letter)
			}
			if err := f.set(letter, value, mapfile); err != nil {
				return nil, err
			}
			break
		}
	}
	f.names = append(f.names, args...)
	return f, nil
}

// set is one flag with a value. A flag that bash has and that is not possible here is an error
// that says so: to ignore -u 3 would read from the wrong file.
func (f *readFlags) set(letter byte, value string, mapfile bool) error {
	n, err := strconv.Atoi(value)
	switch letter {
	case 'a':
		f.array, f.names = true, []string{value}
		return nil
	case 'd':
		f.delim = 0
		if value != "" {
			f.delim = value[0]
		}
		return nil
	case 'p':
		f.prompt = value
		return nil
	case 't':
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil || !(seconds >= 0) {
			return fmt.Errorf("%s: invalid timeout specification", value)
		}
		if seconds == 0 {
			return errors.New("-t 0 is not supported; use a timeout above 0")
		}
		f.timeout = max(1, time.Duration(min(seconds, 1e9)*float64(time.Second)))
		return nil
	case 'n', 'N', 's':
		if err != nil || n < 0 {
			return fmt.Errorf("%s: invalid number", value)
		}
		if letter == 's' {
			f.skip = n
			return nil
		}
		if !mapfile || n > 0 {
			f.count = n
		}
		f.whole = letter == 'N'
		return nil
	case 'u':
		if value == "0" {
			return nil
		}
		return errors.New("only the standard input can be read")
	}
	return fmt.Errorf("-%c is not supported", letter)
}

// read is the builtin read: the one of the interpreter knows few flags, and does not bound
// how much it reads.
//
// The status is 0 for a line with its end, 1 for the end of the input, and 142 after the
// timeout, as with bash (128 and SIGALRM). Variables are assigned in each case, so that the
// last line of a file without a line end is not lost:
//
//	while read -r line || [ -n "$line" ]; do ...; done
func (r *run) read(ctx context.Context, hc interp.HandlerContext, args []string) error {
	f, err := parseRead(args, false)
	if err != nil {
		fmt.Fprintf(hc.Stderr, "bash: read: %v\n", err)
		return interp.ExitStatus(2)
	}
	if f.array && !syntax.ValidName(f.names[0]) {
		fmt.Fprintf(hc.Stderr, "bash: read: `%s': not a valid identifier\n", f.names[0])
		return interp.ExitStatus(1)
	}
	end := context.AfterFunc(ctx, func() { unblock(hc.Stdin) })
	defer end()
	if pipe, ok := hc.Stdin.(*os.File); ok && f.timeout > 0 {
		pipe.SetReadDeadline(time.Now().Add(f.timeout))
		defer pipe.SetReadDeadline(time.Time{})
	}
	line, escaped, status, err := r.readLine(r.input(hc), f, hc.Stderr)
	if err != nil {
		return err
	}
	if err := r.keep(hc.Env, int64(len(line))); err != nil {
		return err
	}
	ifs := " \t\n"
	if vr := hc.Env.Get("IFS"); vr.IsSet() {
		ifs = vr.String()
	}
	assigned := error(nil)
	switch {
	case f.array:
		assigned = eval(ctx, hc, f.names[0]+"="+quotedList(splitFields(line, escaped, ifs, -1)))
	case len(f.names) == 0:
		assigned = eval(ctx, hc, "REPLY="+quoted(line))
	case f.whole:
		assigned = r.assign(ctx, hc, f.names[0], line)
	default:
		values := splitFields(line, escaped, ifs, len(f.names))
		for i, name := range f.names {
			value := ""
			if i < len(values) {
				value = values[i]
			}
			if err := r.assign(ctx, hc, name, value); err != nil {
				assigned = err
			}
		}
	}
	if assigned != nil {
		return assigned
	}
	return statusError(status)
}

// readLine reads a line without its end. escaped says which bytes had a backslash. It reads
// single bytes, as what follows is for others.
//
// An escaped byte separates no fields, and an escaped line end joins two lines, unless -r is
// given. NUL bytes are left out. err is only that of a budget; one of in is printed.
func (r *run) readLine(in io.Reader, f *readFlags, stderr io.Writer) (line string, escaped []bool, status int, err error) {
	var text []byte
	one := make([]byte, 1)
	for escape := false; f.count < 0 || len(text) < f.count; {
		n, err := in.Read(one)
		if n == 0 && err == nil {
			continue
		}
		if n == 0 {
			status = 1
			if errors.Is(err, os.ErrDeadlineExceeded) {
				status = 142
			} else if err != io.EOF {
				fmt.Fprintf(stderr, "bash: read: read error: 0: %s\n", command.ErrorText(err))
			}
			break
		}
		c := one[0]
		switch {
		case escape:
			if escape = false; c != '\n' {
				text, escaped = append(text, c), append(escaped, true)
			}
			continue
		case c == '\\' && !f.raw:
			escape = true
			continue
		case c == f.delim && !f.whole:
			return string(text), escaped, 0, nil
		case c == 0:
			continue
		}
		if text, escaped = append(text, c), append(escaped, false); len(text) > r.opts.Variables/4 {
			return "", nil, 1, r.stopQuarter("bytes in a line that read gets")
		}
	}
	return string(text), escaped, status, nil
}

// splitFields splits a line as read does: at most n fields, all if n is negative; the last
// one has the rest.
//
// POSIX (sh, "Field Splitting") has two kinds of characters in IFS. Blanks at both ends do not
// count, and several are one delimiter. Each other one is a delimiter, together with the
// blanks around it:
//
//	IFS=" "   "  a  b c  "   2 names: "a", "b c"
//	IFS=:     "a::b"         3 names: "a", "", "b"
//	IFS=:     "a:b:"         2 names: "a", "b"
//	IFS=:     "a:b:c:"       2 names: "a", "b:c:"
func splitFields(line string, escaped []bool, ifs string, n int) []string {
	isIFS := func(i int) bool { return !escaped[i] && strings.IndexByte(ifs, line[i]) >= 0 }
	isSpace := func(i int) bool { return isIFS(i) && strings.IndexByte(" \t\n", line[i]) >= 0 }
	start, end := 0, len(line)
	for start < end && isSpace(start) {
		start++
	}
	for end > start && isSpace(end-1) {
		end--
	}
	var fields []string
	for at := start; at < end; {
		next := at
		for next < end && !isIFS(next) {
			next++
		}
		after := next
		for after < end && isSpace(after) {
			after++
		}
		if after < end && isIFS(after) {
			after++
			for after < end && isSpace(after) {
				after++
			}
		}
		if n > 0 && len(fields) == n-1 {
			if after >= end && next < end { // one delimiter at the end is no part of the rest
				return append(fields, line[at:next])
			}
			return append(fields, line[at:end])
		}
		fields = append(fields, line[at:next])
		at = after
	}
	return fields
}

// mapfile is the builtin mapfile, which does not bound how much it reads.
//
// It reads its whole input, also with -n: unlike in bash, a command after it in the same
// block finds nothing left.
func (r *run) mapfile(ctx context.Context, hc interp.HandlerContext, args []string) error {
	f, err := parseRead(args, true)
	if err != nil {
		fmt.Fprintf(hc.Stderr, "bash: mapfile: %v\n", err)
		return interp.ExitStatus(2)
	}
	name := "MAPFILE"
	if len(f.names) > 0 {
		name = f.names[0]
	}
	if !syntax.ValidName(name) {
		fmt.Fprintf(hc.Stderr, "bash: mapfile: `%s': not a valid identifier\n", name)
		return interp.ExitStatus(1)
	}
	var data []byte
	if hc.Stdin != nil {
		end := context.AfterFunc(ctx, func() { unblock(hc.Stdin) })
		defer end()
		if data, err = io.ReadAll(io.LimitReader(r.input(hc), int64(r.opts.Variables/4)+1)); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) { // by the end of ctx
				fmt.Fprintf(hc.Stderr, "bash: mapfile: read error: 0: %s\n", command.ErrorText(err))
			}
			return interp.ExitStatus(1)
		}
	}
	if len(data) > r.opts.Variables/4 {
		return r.stopQuarter("bytes that mapfile gets")
	}
	if err := r.keep(hc.Env, int64(len(data))+32*int64(bytes.Count(data, []byte{f.delim}))); err != nil {
		return err
	}
	var elems strings.Builder
	for i := 0; len(data) > 0 && (f.count < 0 || i < f.skip+f.count); i++ {
		line, rest, found := bytes.Cut(data, []byte{f.delim})
		data = rest
		if i < f.skip {
			continue
		}
		text := string(line)
		if found && !f.trim && f.delim != 0 {
			text += string(f.delim)
		}
		elems.WriteString(quoted(text) + " ")
	}
	return eval(ctx, hc, name+"=("+elems.String()+")")
}

// maxNested is how many scripts may run in each other. Each has an interpreter of its own.
const maxNested = 50

// nested runs a script in an interpreter of its own, as a process of bash would: it inherits
// exported variables and the directory, and changes nothing of its caller's. name is $0, and
// args are $1, $2...; isFile says that name is the file of the script, and options are those of
// set. The status is 2 for a script that cannot be parsed.
//
// The run is the same, with its budgets and pieces, so that bash -c is no way around them.
func (r *run) nested(ctx context.Context, p *command.Process, text, name string, isFile bool, options, args []string) int {
	if r.shells.Add(1) > maxNested {
		r.stopBudget("nested scripts", maxNested, "Recursion")
		return 137
	}
	defer r.shells.Add(-1)
	file, err := r.scripts.Parse(text, name)
	if err != nil {
		fmt.Fprintf(p.Stderr, "bash: %v\n", err)
		return 2
	}
	inherited := map[string]string{}
	for _, pair := range p.Environ() {
		key, value, _ := strings.Cut(pair, "=")
		inherited[key] = value
	}
	env := (&state{Dir: p.Dir}).environ(inherited)
	env.drop(inherited)
	env.vars["BASH_ARGV0"] = expand.Variable{Set: true, Kind: expand.String, Str: name}
	if isFile {
		env.vars[sourceName] = expand.Variable{Set: true, Kind: expand.Indexed, List: []string{name}}
	}
	in, end, err := asPipe(ctx, p.Stdin)
	if err != nil {
		return 1
	}
	defer end()
	runner, err := r.runner(in, p.Stdout, p.Stderr, env)
	if err != nil {
		return 1
	}
	for i := 0; i < len(options); i++ {
		option := options[i : i+1]
		if options[i] == "-o" && i+1 < len(options) {
			option = options[i : i+2]
			i++
		}
		if err := interp.Params(option...)(runner); err != nil {
			fmt.Fprintf(p.Stderr, "bash: %v\n", err)
			return 2
		}
	}
	if err := interp.Params(append([]string{"--"}, args...)...)(runner); err != nil {
		return 2
	}
	ctx, store := r.keeping(ctx)
	defer r.sumAgain()
	return store(r.protect(func() error { return runner.Run(ctx, file) }))
}

// sumAgain has the variables added up when the next one is stored: those that were the last time
// may be of another script.
func (r *run) sumAgain() {
	r.mu.Lock()
	r.stored = int64(r.opts.Variables)
	r.mu.Unlock()
}

// asPipe returns a standard input as the interpreter needs it: stdin itself if it is a file, or
// a pipe, whose reads have deadlines. The caller calls the function that it returns, once.
//
// Where stdin is another reader, a goroutine copies it into a pipe. That may have taken more
// of stdin than the script has read. It ends with stdin, or with its next write after the
// pipe is closed; a Read of stdin that waits is not interrupted.
func asPipe(ctx context.Context, stdin io.Reader) (*os.File, func(), error) {
	if in, ok := stdin.(*input); ok {
		stdin = in.file
	}
	if file, ok := stdin.(*os.File); ok {
		return file, func() {}, nil
	}
	in, w, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.New("the standard input cannot be connected")
	}
	end := context.AfterFunc(ctx, func() { w.Close() })
	go func() {
		io.Copy(w, stdin)
		w.Close()
	}()
	return in, func() { end(); w.Close(); in.Close() }, nil
}
