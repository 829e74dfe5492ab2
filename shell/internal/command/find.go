package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/shell/internal/pattern"
	"github.com/workspacekit/workspacekit/workspace"
)

// findEntry is a file or directory that find looks at.
type findEntry struct {
	info  workspace.FileInfo
	shown string // its path, as it is printed
	start string // the argument where it was found
	depth int
	prune bool // what is below it is left out
}

// findTest is a part of an expression. It returns whether it is true of an entry. An
// action is a test with an effect: -print is always true, and -exec is true if the
// status is 0.
//
// A test that cannot find out, as -delete of a file that cannot be removed, prints why,
// sets the status, and is false. It may set e.prune and findRun.quit.
type findTest func(ctx context.Context, e *findEntry) bool

// findRun is one run of find.
//
// The parser sets the options before the first file is looked at, so that -maxdepth at the
// end of an expression bounds the whole walk.
type findRun struct {
	p                  *Process
	out                *bufio.Writer
	maxDepth, minDepth int // maxDepth is -1 for none
	depthFirst         bool
	depthAsked         bool // by -depth itself
	named, follow      bool // -H and -L: symlinks are followed among the arguments, or all
	deletes, prunes    bool
	acts               bool // the expression prints or does something
	quit               bool
	status             int
	batches            []*findBatch // of -exec ... +
	regexType          pattern.Syntax
	dayStart           bool // -daystart stands before the test that is read

	args []string // of the expression that are left to read
	// Both spare requests: name leaves out entries by their names before anything is
	// asked about them, and looks says whether sizes and times are needed at all.
	name  *glob.State // matches all names that the expression is true of; nil for any
	looks bool        // it needs to know more of a file than its name and type
	trail trail       // with -L, the directories that are being walked
}

// dirSize is the size that listings show of a directory.
// It is the size of a small directory on Linux, so that -size and %s agree with ls.
const dirSize = 4096

// find walks directories and prints what an expression is true of, as POSIX and GNU's
// findutils define it. With -L, a directory that the walk is in already is left out.
// Owners, permissions, links and devices are refused by name, since a workspace has
// none; -printf shows fixed ones.
//
// An expression is read by one method for each level of precedence, the loosest first:
//
//	list    or [, or]...        both; the last one gives the result
//	or      and [-o and]...     the right side only if the left is false
//	and     not [[-a] not]...   the right side only if the left is true
//	not     ! not
//	primary -name x, ( list )
//
// So in find -name a -o -name b -print the action belongs to the right side alone, and
// nothing is printed for a: (-name a) -o (-name b -a -print). Where no action is in the
// expression, it is as if ( expression ) -print had been given. -prune is no action.
//
// Unlike GNU's, find lists a directory in the order of the workspace, sorted by name.
func find(ctx context.Context, p *Process) int {
	f := &findRun{p: p, out: bufio.NewWriter(p.Stdout), maxDepth: -1, regexType: pattern.Basic}
	if len(p.Args) == 2 && (p.Args[1] == "--help" || p.Args[1] == "-help") {
		fmt.Fprintf(f.out, "Usage: find [PATH]... [EXPRESSION]\nOperators: ( EXPR )  ! EXPR  EXPR -a EXPR  EXPR -o EXPR  EXPR , EXPR\nTests and actions: %s\n", strings.Join(findWords, " "))
		return p.finish(f.out, 0)
	}
	starts, test, err := f.parse()
	if err != nil {
		return p.errorf("%v", err)
	}
	for _, start := range starts {
		if err := f.walk(ctx, start, test); err != nil {
			f.fail(start, err)
		}
		if f.quit || ctx.Err() != nil {
			break
		}
	}
	for _, b := range f.batches {
		f.runBatch(ctx, b)
	}
	return p.finish(f.out, f.status)
}

// fail reports an entry that cannot be looked at, and goes on. What was printed before
// comes before the message.
// The status is then 1.
func (f *findRun) fail(name string, err error) {
	if isPipe(err) {
		return
	}
	f.out.Flush()
	f.p.errorf("'%s': %s", name, ErrorText(err))
	f.status = 1
}

// findError is an error of the arguments, in the words of GNU's find.
type findError string

// Error implements the error interface.
func (e findError) Error() string { return string(e) }

// findErrorf returns an error of the expression, which ends find before it has looked
// at a file.
func findErrorf(format string, args ...any) error { return findError(fmt.Sprintf(format, args...)) }

// parse reads the arguments: directories, up to the first word that begins with "-" or
// is "(" or "!", and an expression. -delete implies -depth, under which -prune has no
// effect: GNU's find refuses both together rather than delete what the script meant to
// keep, and so does this one.
func (f *findRun) parse() (starts []string, test findTest, err error) {
	args := f.p.Args[1:]
	for len(args) > 0 && slices.Contains([]string{"-H", "-L", "-P", "--"}, args[0]) {
		if args[0] != "--" {
			f.named, f.follow = args[0] != "-P", args[0] == "-L"
		}
		args = args[1:]
	}
	for len(args) > 0 && !(strings.HasPrefix(args[0], "-") && len(args[0]) > 1 || args[0] == "(" || args[0] == "!") {
		starts, args = append(starts, args[0]), args[1:]
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	f.findName(args)
	if f.args = args; len(args) == 0 {
		test = func(context.Context, *findEntry) bool { return true }
	} else if test, err = f.list(); err != nil {
		return nil, nil, err
	}
	if f.follow {
		f.name = nil // a symlink leads to other names
	}
	if len(f.args) > 0 {
		if f.args[0] == ")" {
			return nil, nil, findErrorf("invalid expression; you have too many ')'")
		}
		return nil, nil, findErrorf("paths must precede expression: `%s'", f.args[0])
	}
	if f.deletes && f.prunes && !f.depthAsked {
		return nil, nil, findErrorf("The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  If you want to carry on anyway, just explicitly use the -depth option.")
	}
	if !f.acts {
		inner := test
		test = func(ctx context.Context, e *findEntry) bool {
			return inner(ctx, e) && !f.quit && f.print(e.shown, "\n")
		}
	}
	return starts, test, nil
}

// peek reports whether the next word is one of words.
func (f *findRun) peek(words ...string) bool {
	return len(f.args) > 0 && slices.Contains(words, f.args[0])
}

// list reads expressions with commas between them.
//
// first and second belong to one round of the loop: the test that calls them runs later,
// when test itself is the whole expression.
func (f *findRun) list() (findTest, error) {
	test, err := f.or()
	for err == nil && f.peek(",") {
		f.args = f.args[1:]
		first := test
		var second findTest
		second, err = f.or()
		test = func(ctx context.Context, e *findEntry) bool {
			first(ctx, e)
			return second(ctx, e)
		}
	}
	return test, err
}

// or reads expressions with -o between them.
func (f *findRun) or() (findTest, error) {
	test, err := f.and()
	for err == nil && f.peek("-o", "-or") {
		f.args = f.args[1:]
		first := test
		var second findTest
		second, err = f.and()
		test = func(ctx context.Context, e *findEntry) bool { return first(ctx, e) || second(ctx, e) }
	}
	return test, err
}

// and reads expressions in a row. -a may be left out; another expression follows unless
// the next word ends the row.
func (f *findRun) and() (findTest, error) {
	test, err := f.not()
	for err == nil && len(f.args) > 0 && !f.peek("-o", "-or", ",", ")") {
		if f.peek("-a", "-and") {
			f.args = f.args[1:]
		}
		first := test
		var second findTest
		second, err = f.not()
		test = func(ctx context.Context, e *findEntry) bool { return first(ctx, e) && second(ctx, e) }
	}
	return test, err
}

// not reads an expression with any number of "!" before it.
func (f *findRun) not() (findTest, error) {
	if !f.peek("!", "-not") {
		return f.primary()
	}
	word := f.args[0]
	if f.args = f.args[1:]; len(f.args) == 0 {
		return nil, findErrorf("expected an expression after '%s'", word)
	}
	test, err := f.not()
	return func(ctx context.Context, e *findEntry) bool { return !test(ctx, e) }, err
}

// primary reads one test or action, or an expression in parentheses.
//
// The words that are consumed depend on the test: none more, one value, or all up to the
// end of -exec.
func (f *findRun) primary() (findTest, error) {
	if len(f.args) == 0 {
		return nil, findErrorf("invalid expression; an expression is missing at the end")
	}
	word := f.args[0]
	f.args = f.args[1:]
	if word == "(" {
		if f.peek(")") {
			return nil, findErrorf("invalid expression; empty parentheses are not allowed.")
		}
		test, err := f.list()
		if err == nil && !f.peek(")") {
			err = findErrorf("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
		}
		if err != nil {
			return nil, err
		}
		f.args = f.args[1:]
		return test, nil
	}
	if test, ok := f.simple(word); ok {
		return test, nil
	}
	if word == "-exec" {
		return f.exec()
	}
	make := f.withValue(word)
	switch {
	case word == ")" || slices.Contains([]string{"-o", "-or", "-a", "-and", ","}, word):
		return nil, findErrorf("invalid expression; you have used a binary operator '%s' with nothing before it.", word)
	case !strings.HasPrefix(word, "-"):
		return nil, findErrorf("paths must precede expression: `%s'", word)
	case findInstead[word] != "":
		return nil, findErrorf("%s is not possible here; use %s", word, findInstead[word])
	case slices.Contains(findRefused, word):
		return nil, findErrorf("%s is not possible here: a workspace has no owners, permissions, links or devices", word)
	case make == nil:
		if near := wording.Closest(word, findWords); near != "" {
			return nil, findErrorf("unknown predicate `%s'; did you mean `%s'?", word, near)
		}
		return nil, findErrorf("unknown predicate `%s'; find --help lists them", word)
	case len(f.args) == 0:
		return nil, findErrorf("missing argument to `%s'", word)
	}
	value := f.args[0]
	f.args = f.args[1:]
	return make(value)
}

// findWords are the tests and actions, for people.
var findWords = []string{"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-regextype", "-type", "-maxdepth", "-mindepth", "-size", "-empty",
	"-mtime", "-mmin", "-newer", "-newermt", "-depth", "-prune", "-true", "-false", "-print", "-print0", "-printf", "-delete", "-exec", "-quit"}

// findRefused are tests and actions of GNU's find that do not exist here. They have a
// message of their own, as nothing that is spelled like them would help.
var findRefused = []string{"-perm", "-user", "-group", "-uid", "-gid", "-nouser", "-nogroup", "-links", "-inum", "-samefile", "-fstype",
	"-readable", "-writable", "-executable", "-ls", "-lname", "-ilname", "-context", "-used", "-anewer", "-cnewer", "-xtype"}

// findInstead are actions that do not exist here, and what to use instead.
var findInstead = map[string]string{"-ok": "-exec", "-okdir": "-exec", "-execdir": "-exec",
	"-fprint": "> FILE", "-fprintf": "> FILE", "-fprint0": "> FILE", "-fls": "> FILE"}

// simple returns the test of a word that has no value. Options such as -depth are true
// wherever they stand, and hold for the whole expression.
func (f *findRun) simple(word string) (test findTest, ok bool) {
	always := func(context.Context, *findEntry) bool { return true }
	switch word {
	case "-print":
		f.acts = true
		return func(_ context.Context, e *findEntry) bool { return f.print(e.shown, "\n") }, true
	case "-print0":
		f.acts = true
		return func(_ context.Context, e *findEntry) bool { return f.print(e.shown, "\x00") }, true
	case "-delete":
		f.acts, f.depthFirst, f.deletes = true, true, true
		return f.delete, true
	case "-prune":
		f.prunes = true
		return func(_ context.Context, e *findEntry) bool {
			e.prune = true
			return true
		}, true
	case "-daystart":
		f.dayStart = true
		return always, true
	case "-quit":
		return func(context.Context, *findEntry) bool {
			f.quit = true
			return true
		}, true
	case "-empty":
		f.looks = true
		return f.empty, true
	case "-true":
		return always, true
	case "-false":
		return func(context.Context, *findEntry) bool { return false }, true
	case "-depth", "-d":
		f.depthFirst, f.depthAsked = true, true
		return always, true
	case "-follow":
		f.named, f.follow = true, true
		return always, true
	case "-xdev", "-mount", "-noleaf", "-ignore_readdir_race", "-noignore_readdir_race", "-warn", "-nowarn":
		return always, true
	}
	return nil, false
}

// withValue returns what makes the test of a word that has a value; nil if there is no
// such word. The patterns of -name and -path match leading dots, and in -path "*"
// matches "/".
//
// It sets f.looks for tests that need more than a name and a type, even if their value is
// then wrong.
func (f *findRun) withValue(word string) func(value string) (findTest, error) {
	fold := strings.HasPrefix(word, "-i")
	switch word {
	case "-name", "-iname":
		return func(value string) (findTest, error) {
			re := wildcard(value, fold)
			return func(_ context.Context, e *findEntry) bool { return re.MatchString(baseOf(e.shown)) }, nil
		}
	case "-path", "-wholename", "-ipath", "-iwholename":
		return func(value string) (findTest, error) {
			re := wildcard(value, fold)
			return func(_ context.Context, e *findEntry) bool { return re.MatchString(e.shown) }, nil
		}
	case "-regex", "-iregex":
		return func(value string) (findTest, error) {
			re, err := pattern.Compile([]string{value}, f.regexType, &pattern.Options{IgnoreCase: fold, Line: true})
			return func(ctx context.Context, e *findEntry) bool { return re.Match(ctx, []byte(e.shown)) }, err
		}
	case "-regextype":
		return f.setRegexType
	case "-type":
		return findTypes
	case "-maxdepth", "-mindepth":
		return func(value string) (findTest, error) {
			n, err := strconv.ParseUint(value, 10, 31)
			if err != nil {
				return nil, findErrorf("Expected a positive decimal integer argument to %s, but got '%s'", word, value)
			}
			if word == "-maxdepth" {
				f.maxDepth = int(n)
			} else {
				f.minDepth = int(n)
			}
			return func(context.Context, *findEntry) bool { return true }, nil
		}
	case "-size":
		f.looks = true
		return findSize
	case "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin":
		f.looks = true
		return func(value string) (findTest, error) { return f.age(word, value) }
	case "-newer", "-newermt":
		f.looks = true
		return func(value string) (findTest, error) { return f.newer(word, value) }
	case "-printf":
		f.looks = true
		return f.printf
	}
	return nil
}

// baseOf returns the last element of a path, as -name sees it: "a" of "a/".
func baseOf(name string) string {
	if trimmed := strings.TrimRight(name, "/"); trimmed != "" {
		return path.Base(trimmed)
	}
	return "/"
}

// print prints a path. It is always true. A reader that wants no more ends the walk.
//
// The output is buffered. -exec and messages flush it first, so that what they print comes
// after what was printed before.
func (f *findRun) print(name, end string) bool {
	f.out.WriteString(name)
	if _, err := f.out.WriteString(end); err != nil {
		f.quit = true
	}
	return true
}

// setRegexType is -regextype, for each -regex after it. GNU's default is that of Emacs;
// here it is the basic one of POSIX, which is nearest.
func (f *findRun) setRegexType(value string) (findTest, error) {
	switch value {
	case "posix-extended", "egrep", "posix-egrep", "awk", "gnu-awk", "posix-awk", "posix-minimal-basic":
		f.regexType = pattern.Extended
	case "grep", "sed", "posix-basic", "emacs", "findutils-default", "ed":
		f.regexType = pattern.Basic
	default:
		return nil, findErrorf("Unknown regular expression type '%s'", value)
	}
	return func(context.Context, *findEntry) bool { return true }, nil
}

// findTypes is -type, with GNU's lists: -type f,d. There are no devices, pipes and
// sockets, so that these letters are true of nothing.
func findTypes(value string) (findTest, error) {
	types := map[string]workspace.FileType{"f": workspace.TypeFile, "d": workspace.TypeDirectory, "l": workspace.TypeSymlink}
	var wanted []workspace.FileType
	for _, letter := range strings.Split(value, ",") {
		switch t, ok := types[letter]; {
		case ok:
			wanted = append(wanted, t)
		case letter != "" && strings.Contains("bcpsD", letter):
		default:
			return nil, findErrorf("Unknown argument to -type: %s", value)
		}
	}
	return func(_ context.Context, e *findEntry) bool { return slices.Contains(wanted, e.info.Type) }, nil
}

// comparison reads "+n", "-n" or "n": more than, less than, exactly.
//
// compare takes a value in the unit of the test, which the test has rounded. An empty value is
// an error of ParseFloat.
func comparison(value string) (n float64, compare func(a float64) bool, err error) {
	digits := strings.TrimLeft(value, "+-")
	if len(value)-len(digits) > 1 {
		return 0, nil, findErrorf("invalid number")
	}
	if n, err = strconv.ParseFloat(digits, 64); err != nil {
		return 0, nil, err
	}
	switch value[0] {
	case '+':
		return n, func(a float64) bool { return a > n }, nil
	case '-':
		return n, func(a float64) bool { return a < n }, nil
	}
	return n, func(a float64) bool { return a == n }, nil
}

// sizeOf returns the size that listings show.
func sizeOf(info workspace.FileInfo) int64 {
	if info.IsDir() {
		return dirSize
	}
	return info.Size
}

// findSize is -size. The size is rounded up to the unit before it is compared, so that
// -size -1M is true of empty files only; the unit without a letter is 512 bytes.
func findSize(value string) (findTest, error) {
	units := map[byte]int64{'c': 1, 'w': 2, 'b': 512, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}
	unit, digits := int64(512), value
	if value != "" && units[value[len(value)-1]] > 0 {
		unit, digits = units[value[len(value)-1]], value[:len(value)-1]
	}
	_, compare, err := comparison(digits)
	if err != nil || strings.Contains(digits, ".") {
		return nil, findErrorf("Invalid argument `%s' to -size", value)
	}
	return func(_ context.Context, e *findEntry) bool {
		return compare(float64((sizeOf(e.info) + unit - 1) / unit))
	}, nil
}

// age is -mtime and -mmin, and those for other times, as a workspace knows one time.
// Days are cut: -mtime +0 is true of what is at least a day old, -mtime 0 of what is
// younger. For -mmin n, the minute that has begun counts. After -daystart, ages count from the
// end of today, so that -mtime 0 is true of what has changed today.
func (f *findRun) age(word, value string) (findTest, error) {
	_, compare, err := comparison(value)
	if err != nil {
		return nil, findErrorf("invalid argument `%s' to `%s'", value, word)
	}
	now := f.p.Now()
	if f.dayStart {
		year, month, day := now.In(f.p.location()).Date()
		now = time.Date(year, month, day+1, 0, 0, 0, 0, f.p.location())
	}
	if strings.HasSuffix(word, "min") {
		return func(_ context.Context, e *findEntry) bool {
			minutes := now.Sub(e.info.ModTime).Minutes()
			if value[0] != '+' && value[0] != '-' {
				minutes = float64(int64(minutes) + 1)
			}
			return compare(minutes)
		}, nil
	}
	return func(_ context.Context, e *findEntry) bool {
		return compare(float64(int64(now.Sub(e.info.ModTime).Hours() / 24)))
	}, nil
}

// newer is -newer and -newermt.
//
// The time is looked up once, when the expression is read. A file with the same time is not
// newer.
func (f *findRun) newer(word, value string) (findTest, error) {
	var since time.Time
	if word == "-newer" {
		info, err := f.p.Stat(context.Background(), value)
		if err != nil {
			return nil, findErrorf("'%s': %s", value, ErrorText(err))
		}
		since = info.ModTime
	} else {
		var err error
		if since, err = parseDate(value, f.p.Now().In(f.p.location())); err != nil {
			return nil, findErrorf("I cannot figure out how to interpret '%s' as a date or time", value)
		}
	}
	return func(_ context.Context, e *findEntry) bool { return e.info.ModTime.After(since) }, nil
}

// empty is -empty. One entry is enough to know that a directory is not.
//
// A directory that cannot be listed, and the directory of the workspaces, is not empty.
func (f *findRun) empty(ctx context.Context, e *findEntry) bool {
	if !e.info.IsDir() {
		return e.info.Type == workspace.TypeFile && e.info.Size == 0
	}
	at, err := f.p.Files.Locate(ctx, f.p.Dir, e.shown)
	if err != nil || at.Workspace == nil {
		return false
	}
	list, err := at.Workspace.Ls(ctx, at.Name, &workspace.LsOptions{Limit: 1})
	return err == nil && len(list) == 0
}

// delete is -delete. A directory must be empty by then, which the order of -depth sees
// to. Where find begins is left, if it is the working directory.
//
// It is false for what could not be removed, so that -delete -print prints what is removed.
func (f *findRun) delete(ctx context.Context, e *findEntry) bool {
	if e.shown == "." {
		return true
	}
	remove := func() error { return f.p.Rm(ctx, e.shown, nil) }
	if e.depth == 0 && e.info.IsDir() { // it may be a symlink with a slash at its end
		remove = func() error { return removeDir(ctx, f.p, e.shown) }
	}
	if err := remove(); err != nil {
		if !isPipe(err) {
			f.out.Flush()
			f.p.errorf("cannot delete '%s': %s", e.shown, ErrorText(err))
			f.status = 1
		}
		return false
	}
	return true
}

// findBatch is a command of -exec ... +, and what it is going to get.
type findBatch struct {
	command []string // with the arguments before "{}"
	names   []string // that the next call gets
	size    int      // bytes of names, for the bound of a call
}

// The bounds of a batch.
const (
	// A command gets as many names as these bounds allow; they bound memory, as there
	// is no limit of a kernel.
	batchNames = 5000
	batchBytes = 128 << 10
)

// exec reads the command of -exec. In the form with ";", each {} in each argument is
// the path, also within a word, and the command runs at once, as a test. In the form
// with "{} +", the paths come in place of the last argument, the command runs later,
// and the test is true.
//
// For the files a and b:
//
//	-exec cp {} {}.bak ;    cp a a.bak, and then cp b b.bak
//	-exec rm {} +           rm a b
func (f *findRun) exec() (findTest, error) {
	f.acts = true
	end := slices.IndexFunc(f.args, func(arg string) bool { return arg == ";" })
	plus := -1
	for i := 1; i < len(f.args) && (end < 0 || i < end); i++ {
		if f.args[i] == "+" && f.args[i-1] == "{}" {
			plus = i
			break
		}
	}
	switch {
	case plus > 0:
		b := &findBatch{command: f.args[:plus-1]}
		f.batches, f.args = append(f.batches, b), f.args[plus+1:]
		if len(b.command) == 0 {
			return nil, findErrorf("missing argument to `-exec'")
		}
		return func(ctx context.Context, e *findEntry) bool {
			b.names = append(b.names, e.shown)
			if b.size += len(e.shown); len(b.names) >= batchNames || b.size > batchBytes {
				f.runBatch(ctx, b)
			}
			return true
		}, nil
	case end < 1:
		return nil, findErrorf("missing argument to `-exec'")
	}
	command := f.args[:end]
	f.args = f.args[end+1:]
	return func(ctx context.Context, e *findEntry) bool {
		args := make([]string, len(command))
		for i, arg := range command {
			args[i] = strings.ReplaceAll(arg, "{}", e.shown)
		}
		return f.runCommand(ctx, args) == 0
	}, nil
}

// runBatch runs the command of -exec ... + for the names that were collected.
// A status other than 0 makes find's own status 1: POSIX asks for it with "+" only, as with ";" it
// is the result of a test.
func (f *findRun) runBatch(ctx context.Context, b *findBatch) {
	if len(b.names) == 0 {
		return
	}
	if f.runCommand(ctx, append(slices.Clone(b.command), b.names...)) != 0 {
		f.status = 1
	}
	b.names, b.size = nil, 0
}

// runCommand runs a program with nothing to read. The output before it is flushed, so
// that both stay in order.
//
// It returns the status, 1 if the output is read no more. The program has the working
// directory of find, so that the paths are right as they are printed.
func (f *findRun) runCommand(ctx context.Context, args []string) int {
	if err := f.out.Flush(); err != nil {
		f.quit = true
		return 1
	}
	child := *f.p
	child.Args, child.Stdin = args, strings.NewReader("")
	return f.p.Run(ctx, &child)
}

// walk tests start, and what is in it. To spare a request, start is not looked at first
// where a listing will show that it is a directory: begin then tests it before its
// first entry, or after the listing if that has none. If the listing fails, start is
// looked at, and is a file or does not exist.
func (f *findRun) walk(ctx context.Context, start string, test findTest) error {
	top := &findEntry{info: directory(start), shown: start, start: start}
	supposed := f.supposeDir(ctx, start)
	if !supposed {
		var err error
		if top.info, err = f.p.Lstat(ctx, start); err != nil {
			return err
		}
		if f.named {
			f.dereference(ctx, top)
		}
	}
	if f.depthFirst {
		return f.walkDepthFirst(ctx, top, test)
	}
	began := false
	begin := func() {
		if !began && f.minDepth == 0 {
			test(ctx, top)
		}
		began = true
	}
	if !supposed {
		begin()
	}
	if !top.info.IsDir() || top.prune || f.quit {
		return nil
	}
	err := f.below(ctx, top, func(e *findEntry) error {
		if begin(); top.prune || f.quit {
			return fs.SkipAll
		}
		if e.depth >= f.minDepth {
			test(ctx, e)
		}
		switch {
		case f.quit:
			return fs.SkipAll
		case e.prune && e.info.IsDir():
			return fs.SkipDir
		}
		return nil
	})
	if supposed && err != nil {
		var statErr error
		if top.info, statErr = f.p.Lstat(ctx, start); statErr != nil {
			return statErr
		}
		if !top.info.IsDir() {
			err = nil
		}
	}
	begin()
	return err
}

// supposeDir reports whether start is a directory if it can be listed, and no symlink to
// one, so that nothing else must be asked about it.
//
// -depth, -maxdepth 0 and tests of sizes or times need the description before the listing, so
// nothing can be supposed then.
func (f *findRun) supposeDir(ctx context.Context, start string) bool {
	at, err := f.p.Files.Locate(ctx, f.p.Dir, start)
	if _, device := f.p.device(start); err != nil || device || at.Workspace == nil || f.looks || f.depthFirst || f.maxDepth == 0 {
		return false
	}
	target, err := at.Workspace.Resolve(at.In(ctx), at.Name)
	return err == nil && target == at.Name
}

// walkDepthFirst tests what is in a directory before the directory. It collects the
// entries of a walk and goes through them in reverse, so that -delete cannot disturb
// the walk.
//
// Each entry counts its name and 200 bytes; more than MaxMemory ends this start with an error
// before anything in it is tested, or deleted.
func (f *findRun) walkDepthFirst(ctx context.Context, top *findEntry, test findTest) error {
	entries, size := []*findEntry{top}, int64(0)
	if top.info.IsDir() {
		err := f.below(ctx, top, func(e *findEntry) error {
			if size += int64(len(e.shown)) + 200; size > f.p.MaxMemory {
				return errTooMuch(f.p.MaxMemory)
			}
			entries = append(entries, e)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, e := range slices.Backward(entries) {
		if e.depth >= f.minDepth {
			test(ctx, e)
		}
		if f.quit || ctx.Err() != nil {
			break
		}
	}
	return nil
}

// dereference describes what a symlink leads to. One that leads nowhere stays as it is.
func (f *findRun) dereference(ctx context.Context, e *findEntry) {
	if e.info.Type != workspace.TypeSymlink {
		return
	}
	if info, err := f.p.Stat(ctx, e.shown); err == nil {
		e.info = info
	}
}

// errLoop is the error of a directory that is above itself.
var errLoop = findError("File system loop detected")

// followed is what -L does with an entry: it visits a symlink, and what is in the directory
// that it leads to. It reports false for what the walk itself visits.
func (f *findRun) followed(ctx context.Context, e *findEntry, visit func(e *findEntry) error) (done bool, err error) {
	last, isLink := len(f.trail)-1, e.info.Type == workspace.TypeSymlink
	if !isLink && (!e.info.IsDir() || last == 0) {
		return false, nil
	}
	if isLink {
		f.dereference(ctx, e)
		f.trail[last].to = path.Dir(path.Join("/", f.p.resolve(ctx, e.shown, true).Name))
		defer func() { f.trail[last].to = "" }()
	}
	if e.info.IsDir() && f.trail.has(f.p.resolve(ctx, e.shown, false)) {
		f.fail(e.shown, errLoop)
		err = fs.SkipDir
	} else if !isLink {
		return false, nil
	} else if err = visit(e); err == nil && e.info.IsDir() {
		err = f.below(ctx, e, visit)
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			f.fail(e.shown, err)
			err = nil
		}
	}
	if isLink && err == fs.SkipDir {
		err = nil
	}
	return true, err
}

// below calls visit with what is in the directory top, as deep as the options say.
//
// visit returns [fs.SkipDir] to leave out what is in e and [fs.SkipAll] to end. An entry that
// cannot be described has its error printed, and the walk goes on.
func (f *findRun) below(ctx context.Context, top *findEntry, visit func(e *findEntry) error) error {
	if f.maxDepth >= 0 && top.depth >= f.maxDepth {
		return nil
	}
	at, err := f.p.Files.Locate(ctx, f.p.Dir, top.shown)
	if err != nil {
		return err
	}
	if f.follow {
		at = f.p.resolve(ctx, top.shown, false)
		f.trail = append(f.trail, trail{{from: at}}...)
		defer func() { f.trail = f.trail[:len(f.trail)-1] }()
	}
	if at.Workspace == nil || f.maxDepth == top.depth+1 {
		return f.children(ctx, top, at.Workspace == nil, visit)
	}
	// Files of a folder of this computer take longer to describe than to find.
	folder := len(at.Workspace.Root()) > len("/")
	opts := &workspace.WalkOptions{TypesOnly: !f.looks || folder && f.name != nil}
	return at.Workspace.Walk(ctx, at.Name, opts, func(info workspace.FileInfo, err error) error {
		if err == nil && !info.IsDir() && f.name != nil && !f.name.Match(info.Name) {
			return nil
		}
		rel := relativeTo(at.Name, info.Path)
		e := &findEntry{info: info, shown: joinFound(top.shown, rel), start: top.start, depth: top.depth + 1 + strings.Count(rel, "/")}
		if err != nil {
			f.fail(e.shown, err)
			return nil
		}
		if f.looks && opts.TypesOnly && f.name.Match(info.Name) {
			if e.info, err = at.Workspace.Stat(ctx, info.Path); errors.Is(err, fs.ErrNotExist) {
				return nil // it was removed in between
			} else if err != nil {
				f.fail(e.shown, err)
				return nil
			}
		}
		if f.follow {
			if done, err := f.followed(ctx, e, visit); done {
				return err
			}
		}
		if err := visit(e); err != nil {
			return err
		}
		if info.IsDir() && f.maxDepth >= 0 && e.depth >= f.maxDepth {
			return fs.SkipDir
		}
		return nil
	})
}

// findName sets the name that the expression asks for, if it is tests in a row and one
// of them is -name: then nothing else is looked at.
//
//	-type f -name '*.go' -size +1k     *.go
//	-name '*.go' -o -newer x           none: other names can match, too
//	-print -name '*.go'                none: other names are printed
func (f *findRun) findName(args []string) {
	for i, arg := range args {
		if slices.Contains([]string{"-o", "-or", "!", "-not", "(", ")", ",", "-prune", "-depth", "-d", "-delete", "-exec"}, arg) {
			f.name = nil
			return
		}
		if f.name == nil && slices.Contains([]string{"-print", "-print0", "-printf", "-quit"}, arg) {
			return // that is done for other names, too
		}
		if i > 0 && args[i-1] == "-name" && arg != "" && !strings.ContainsAny(arg, "/\\[") {
			if compiled, err := glob.Compile(strings.TrimPrefix(anywhere(arg), "**/")); err == nil {
				name := compiled.Start()
				f.name = &name
			}
		}
	}
}

// children is below for one directory: the one of the workspaces, or the last one that
// the options allow.
//
// deeper says to enter the entries: each workspace is walked by its own Walk. Without it,
// one listing is all, and a Walk would list what nobody needs.
func (f *findRun) children(ctx context.Context, top *findEntry, deeper bool, visit func(e *findEntry) error) error {
	list, err := f.p.ReadDir(ctx, top.shown)
	if err != nil {
		return err
	}
	for _, info := range list {
		e := &findEntry{info: info, shown: joinFound(top.shown, info.Name), start: top.start, depth: top.depth + 1}
		var err error
		done := false
		if f.follow {
			done, err = f.followed(ctx, e, visit)
		}
		if !done {
			err = visit(e)
		}
		if err == nil && !done && deeper {
			err = f.below(ctx, e, visit)
		}
		switch err {
		case nil, fs.SkipDir:
		case fs.SkipAll:
			return nil
		default:
			return err
		}
	}
	return nil
}

// joinFound returns the path of what is in a directory. Of slashes at its end, find keeps all.
func joinFound(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// printfTime is a time in the format of -printf: %T, %A or %C, with a letter of
// strftime, "@" for seconds, or "+".
var printfTime = lazyregexp.New(`^%[TAC](@|\+|[A-Za-z])`)

// printfField is what may stand before the letter of a directive: flags, a width and a precision.
var printfField = lazyregexp.New(`^%([-+ #0]*)([0-9]*)(\.[0-9]*)?`)

// printf is -printf.
func (f *findRun) printf(format string) (findTest, error) {
	f.acts = true
	_, err := f.format(context.Background(), format, &findEntry{})
	return func(ctx context.Context, e *findEntry) bool {
		text, _ := f.format(ctx, format, e)
		return f.print(text, "")
	}, err
}

// format returns what -printf prints: escapes, directives with a width, and times. The
// date of %T and a letter is printed as the program date does. A directive that is not known is
// an error, whatever e is. A width is at most maxField.
//
//	%p\n        the path and a line end
//	%-20f|      the name, padded to 20 columns
//	%TY-%Tm     year and month of the last change
//	%Q          an error, as there is no such directive
func (f *findRun) format(ctx context.Context, format string, e *findEntry) (string, error) {
	var b strings.Builder
	for at := 0; at < len(format); at++ {
		c := format[at]
		if c == '\\' && at+1 < len(format) {
			text, n := findEscape(format[at+1:])
			b.WriteString(text)
			at += n
			continue
		}
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		if m := printfTime().FindStringSubmatch(format[at:]); m != nil {
			b.WriteString(formatTime(e.info.ModTime.In(f.p.location()), printfTimes(m[1])))
			at += len(m[0]) - 1
			continue
		}
		m := printfField().FindStringSubmatch(format[at:])
		next := at + len(m[0])
		value, ok := "", false
		if next < len(format) {
			value, ok = f.directive(ctx, format[next], e)
		}
		if !ok {
			return "", findErrorf("-printf %s is not supported", format[at:min(next+1, len(format))])
		}
		d := directive{flags: m[1], width: min(atoi(m[2]), maxField), precision: -1}
		if m[3] != "" {
			d.precision = atoi(m[3][1:])
		}
		b.WriteString(d.pad(d.cut(value), d.has('0') && (format[next] == 'd' || format[next] == 'm')))
		at = next
	}
	return b.String(), nil
}

// printfTimes returns the format of date for what follows %T. Seconds have a fraction
// of ten digits, as GNU's find prints them: nine of nanoseconds, and a zero.
func printfTimes(letter string) string {
	switch letter {
	case "@":
		return "%s.%N0"
	case "+":
		return "%Y-%m-%d+%H:%M:%S.%N0"
	case "S":
		return "%S.%N0"
	case "T", "X":
		return "%H:%M:%S.%N0"
	}
	return "%" + letter
}

// directive returns the value of one letter of -printf. Owners, modes and links are
// those that ls -l shows; blocks are of 4096 bytes, as on most disks.
func (f *findRun) directive(ctx context.Context, letter byte, e *findEntry) (string, bool) {
	dir := "."
	if trimmed := strings.TrimRight(e.shown, "/"); strings.Contains(trimmed, "/") {
		dir = trimmed[:strings.LastIndexByte(trimmed, '/')]
	}
	switch letter {
	case '%':
		return "%", true
	case 'p':
		return e.shown, true
	case 'f':
		if e.depth == 0 && strings.HasSuffix(e.shown, "/") {
			return baseOf(e.shown) + "/", true
		}
		return baseOf(e.shown), true
	case 'h':
		return dir, true
	case 'P':
		return strings.TrimPrefix(strings.TrimPrefix(e.shown, e.start), "/"), true
	case 'H':
		return e.start, true
	case 's':
		return strconv.FormatInt(sizeOf(e.info), 10), true
	case 'k':
		return strconv.FormatInt((sizeOf(e.info)+4095)/4096*4, 10), true
	case 'b':
		return strconv.FormatInt((sizeOf(e.info)+4095)/4096*8, 10), true
	case 'd':
		return strconv.Itoa(e.depth), true
	case 'l':
		target := ""
		if e.info.Type == workspace.TypeSymlink {
			target, _ = f.p.readLink(ctx, e.shown)
		}
		return target, true
	case 'y', 'Y':
		return typeLetter(e.info.Type, "f"), true
	case 'm':
		return modeOf(e.info)[:3], true
	case 'M':
		return modeText(e.info), true
	case 'u', 'g':
		return ownerName, true
	case 'U', 'G':
		return "0", true
	case 'n':
		return "1", true
	case 't':
		return formatTime(e.info.ModTime.In(f.p.location()), "%a %b %e %H:%M:%S.%N0 %Y"), true
	}
	return "", false
}

// findEscape reads an escape of -printf after its backslash.
//
// n is how many bytes of s it has read. s is not empty. Octal numbers have up to three
// digits, and a character that is no escape keeps its backslash.
func findEscape(s string) (text string, n int) {
	if s[0] >= '0' && s[0] <= '7' {
		for n = 1; n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7'; n++ {
		}
		code, _ := strconv.ParseUint(s[:n], 8, 16)
		return string([]byte{byte(code)}), n
	}
	if at := strings.IndexByte(`abfnrtv\`, s[0]); at >= 0 {
		return "\a\b\f\n\r\t\v\\"[at : at+1], 1
	}
	return `\` + s[:1], 1
}
