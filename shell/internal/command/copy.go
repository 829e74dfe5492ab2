package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// transfer is one run of cp or mv. Both end with the status 1 if a file could not be
// copied or moved, and go on with the next one.
//
// run finds the destination of each source, check compares the two, and copy or move does
// the work. Paths stay as the arguments have them, for messages, and are resolved by each
// operation.
type transfer struct {
	p         *Process
	recursive bool     // cp -r
	keep      bool     // -n: a file that exists is not replaced
	ask       bool     // -i: it is replaced if the answer is yes
	update    bool     // -u: nor one that is newer
	verbose   bool     // -v
	whole     bool     // -T: the destination is no directory to put something in
	follow    bool     // cp -L: symlinks in directories, too
	links     bool     // cp -P and -r: a symlink that is named, which is an error
	status    int      // 1 once something has failed
	created   []string // the destinations of run so far, in order
	copied    []copied // by copyAll, in order

	open []Location // with -L, the directories that are being copied, which none in them may be
}

// copied is a file or a directory that copyAll has copied.
type copied struct {
	from, to string
	source   workspace.FileInfo // of from, before it was copied
	made     workspace.FileInfo // of to, after that, if it is a file
}

// newTransfer adds the options that cp and mv have in common.
//
// target is the value of -t, which is right after parse.
func newTransfer(f *flags) (t *transfer, target *string) {
	t = &transfer{p: f.p}
	option := func(name, letter, usage string, keep, ask bool) { // the last one counts
		f.BoolFuncP(name, letter, usage, func(string) error {
			t.keep, t.ask = keep, ask
			return nil
		})
	}
	option("no-clobber", "n", "replace no file that exists", true, false)
	option("interactive", "i", "ask before a file is replaced", false, true)
	if f.p.name() == "mv" {
		option("force", "f", "replace files without a question", false, false)
	} else {
		f.BoolP("force", "f", false, "(ignored: a file that exists can be written)")
	}
	f.BoolVarP(&t.update, "update", "u", false, "replace no file that is newer")
	f.BoolVarP(&t.verbose, "verbose", "v", false, "print what is done")
	f.BoolVarP(&t.whole, "no-target-directory", "T", false, "the destination is not a directory to put files in")
	return t, f.StringP("target-directory", "t", "", "the directory to put files in")
}

// cp copies files, as POSIX says, with GNU's -a, -H, -L, -n, -t, -T, -u and -v. What a file had is
// replaced at once.
//
// A source that is a symlink is followed, except with -P, -d, -a and -r without -H or -L, where it
// is an error, as a workspace cannot create any. So is one in a directory: without -L it is never
// followed, since it may lead back to the directory, and two such links would make endless copies.
//
// A destination that exists is replaced as the shell's ">" replaces it, see [Files.Create]:
// a copy that fails leaves it as it was.
func cp(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... SOURCE... DESTINATION")
	t, target := newTransfer(f)
	f.BoolVarP(&t.recursive, "recursive", "r", false, "directories with all that is in them")
	f.BoolVarP(&t.recursive, "R", "R", false, "the same as -r")
	archive := f.BoolP("archive", "a", false, "the same as -rP: a workspace has no owners and permissions")
	f.BoolVarP(&t.follow, "dereference", "L", false, "files that symlinks in directories lead to")
	named := f.BoolP("H", "H", false, "files that symlinks among the arguments lead to")
	f.BoolVarP(&t.links, "no-dereference", "P", false, "symlinks themselves, which is an error")
	f.BoolVarP(&t.links, "d", "d", false, "the same as -P")
	for letter, name := range map[string]string{"p": "p", "x": "one-file-system"} {
		f.BoolP(name, letter, false, "(ignored)")
	}
	f.String("preserve", "", "(ignored)")
	f.Lookup("preserve").NoOptDefVal = "all"
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	t.recursive = t.recursive || *archive
	t.links = (t.links || t.recursive) && !t.follow && !*named
	return t.run(ctx, f, names, *target, t.copyNamed)
}

// mv gives files and directories other names, as POSIX says. A directory replaces an
// empty one only. Between two workspaces it copies, and then removes; if that fails, it
// takes the copy back.
//
// Where the workspace can move, a file has one of its two names at any time. Where a file
// must be copied, both names may exist for a moment, and never none.
func mv(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... SOURCE... DESTINATION")
	t, target := newTransfer(f)
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	return t.run(ctx, f, names, *target, t.move)
}

// run calls do with each source and its destination.
//
// As POSIX says, a destination that is a directory gets the sources under their own names:
//
//	cp a b        b/a if b is a directory, else b
//	cp a b d      d/a and d/b; d must be a directory
//	cp -T a d     d itself, never d/a
//	cp -t d a b   d/a and d/b
//	cp -r a/. d   what is in a, in d
//
// An error of do is printed, and the next source follows. A file that an earlier source has become
// is not replaced, as that may be the only copy after mv. One in a directory that cp has copied is.
func (t *transfer) run(ctx context.Context, f *flags, names []string, target string, do func(ctx context.Context, from, to string) error) int {
	p := t.p
	switch {
	case len(names) == 0:
		return f.wrong("missing file operand")
	case target == "" && len(names) == 1:
		return f.wrong("missing destination file operand after '%s'", names[0])
	case target != "" && t.whole:
		return f.wrong("cannot combine --target-directory (-t) and --no-target-directory (-T)")
	case t.whole && len(names) > 2:
		return f.wrong("extra operand '%s'", names[2])
	}
	into := target != "" || len(names) > 2
	if target == "" {
		target, names = names[len(names)-1], names[:len(names)-1]
	}
	info, err := p.Stat(ctx, target)
	if into && (err != nil || !info.IsDir()) {
		if err == nil {
			err = workspace.ErrNotDir
		}
		what := "target"
		if f.Changed("target-directory") {
			what = "target directory"
		}
		return p.errorf("%s '%s': %s", what, target, ErrorText(err))
	}
	into = into || err == nil && info.IsDir() && !t.whole
	for i, from := range names {
		// Only cp has this option, and only cp can be given a source twice: for mv it is an
		// error that the second does not exist.
		again := func(other string) bool {
			return path.Base(other) == path.Base(from) && path.Clean(other) == path.Clean(from)
		}
		if f.Lookup("recursive") != nil && slices.ContainsFunc(names[:i], again) {
			p.errorf("warning: source file '%s' specified more than once", from)
			continue
		}
		to := target
		if into {
			to = joinShown(target, path.Base(strings.TrimRight(from, "/")), false)
			if base := path.Base(from); base == "." || base == ".." {
				to = target
			}
		}
		switch err := do(ctx, from, to); {
		case err == nil:
			t.created = append(t.created, to)
		case !errors.Is(err, errSkipped) && !isPipe(err):
			t.status = p.errorf("%v", err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return t.status
}

// errSkipped says that a file was left as it is, as -n and -u ask, or an answer.
var errSkipped = errors.New("skipped")

// check describes both files, and returns the error of a transfer that cannot be. there is
// nil if the destination does not exist, and if a directory will be created where a policy
// shows nothing: it may deny only files of that name, and creating it fails if it exists.
//
// info describes both: Stat for cp, which follows symlinks, and lstatEntry for mv. The
// error is errSkipped or a text to print, in GNU's words. With an error after that of info,
// source is set, too: copy looks at its type.
func (t *transfer) check(ctx context.Context, from, to string, info func(ctx context.Context, name string) (workspace.FileInfo, error)) (source workspace.FileInfo, there *workspace.FileInfo, err error) {
	if source, err = info(ctx, from); err != nil {
		return source, nil, fmt.Errorf("cannot stat '%s': %s", from, ErrorText(err))
	}
	found, err := info(ctx, to)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, workspace.ErrPolicy) && source.IsDir():
		return source, nil, nil
	case err != nil:
		return source, nil, fmt.Errorf("cannot stat '%s': %s", to, ErrorText(err))
	}
	link := found.Type == workspace.TypeSymlink // which mv replaces, even by what it leads to
	a, b := t.p.resolve(ctx, from, link), t.p.resolve(ctx, to, link)
	switch {
	case t.keep && !(source.IsDir() && t.recursive):
		return source, nil, errSkipped
	case a == b && a.Workspace != nil && !source.IsDir():
		return source, nil, fmt.Errorf("'%s' and '%s' are the same file", from, to)
	case t.update && !source.IsDir() && !source.ModTime.After(found.ModTime):
		return source, nil, errSkipped
	case found.IsDir() && !source.IsDir():
		return source, nil, fmt.Errorf("cannot overwrite directory '%s' with non-directory", to)
	case !found.IsDir() && source.IsDir():
		return source, nil, fmt.Errorf("cannot overwrite non-directory '%s' with directory '%s'", to, from)
	case t.ask && !(source.IsDir() && t.recursive) && !t.p.ask("overwrite '%s'?", to):
		return source, nil, errSkipped
	case !source.IsDir() && slices.Contains(t.created, to): // by a source of the same name
		return source, nil, fmt.Errorf("will not overwrite just-created '%s' with '%s'", to, from)
	}
	return source, &found, nil
}

// inside reports whether to is from, or in it, after symlinks.
func (t *transfer) inside(ctx context.Context, from, to string) bool {
	a, b := t.p.resolve(ctx, from, false), t.p.resolve(ctx, to, false)
	return a.Workspace == b.Workspace && (a.Name == "." || a == b || strings.HasPrefix(b.Name, a.Name+"/"))
}

// copyNamed is copy for a source that is an argument. A symlink with a slash at its end is followed.
func (t *transfer) copyNamed(ctx context.Context, from, to string) error {
	if t.links {
		if info, err := t.p.lstatEntry(ctx, from); err == nil && info.Type == workspace.TypeSymlink {
			return linkError(to)
		}
	}
	return t.copy(ctx, from, to)
}

// copy copies a file, or with -r a directory.
//
// The error is errSkipped or a text to print. Errors of files in a directory are not returned:
// copyDir prints them.
func (t *transfer) copy(ctx context.Context, from, to string) error {
	source, there, err := t.check(ctx, from, to, t.p.Stat)
	switch {
	case errors.Is(err, errSkipped):
		return err
	case err == nil && source.IsDir() && !t.recursive, err != nil && source.IsDir() && !t.recursive:
		return fmt.Errorf("-r not specified; omitting directory '%s'", from)
	case err != nil:
		return err
	case source.IsDir() && t.inside(ctx, from, to):
		return fmt.Errorf("cannot copy a directory, '%s', into itself, '%s'", from, to)
	case source.IsDir():
		return t.copyDir(ctx, from, to, there)
	}
	if there == nil && strings.HasSuffix(to, "/") {
		return fmt.Errorf("cannot create regular file '%s': Not a directory", to)
	}
	t.say("'%s' -> '%s'", from, to)
	if err := t.copyFile(ctx, from, to); err != nil {
		if isPipe(err) {
			return err
		}
		if info, linkErr := t.p.Lstat(ctx, to); there == nil && linkErr == nil && info.Type == workspace.TypeSymlink {
			return fmt.Errorf("not writing through dangling symlink '%s'", to)
		}
		return fmt.Errorf("cannot create regular file '%s': %s", to, ErrorText(err))
	}
	return nil
}

// linkError is the error of a symlink that would be copied as one.
func linkError(to string) error {
	return fmt.Errorf("cannot create symbolic link '%s': a workspace cannot create any; -L copies what it leads to", to)
}

// copyFile copies the content of a file. One of both may be a device such as /dev/null.
func (t *transfer) copyFile(ctx context.Context, from, to string) error {
	if !t.isDevice(from) && !t.isDevice(to) {
		return t.p.Copy(ctx, from, to)
	}
	in, err := t.p.Open(ctx, from)
	if err != nil {
		return err
	}
	defer in.Close()
	unobserved(in)
	out, err := t.p.Create(ctx, to, 0)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, contextReader{ctx, in}); err != nil {
		if file, ok := out.(*handle); ok {
			file.Drop(err)
		}
		return err
	}
	return out.Close()
}

// isDevice reports whether name is /dev/null or the like.
func (t *transfer) isDevice(name string) bool {
	_, ok := t.p.Files.deviceInfo(t.p.Dir, name)
	return ok
}

// say prints what was done, with -v.
func (t *transfer) say(format string, args ...any) {
	if t.verbose {
		fmt.Fprintf(t.p.Stdout, format+"\n", args...)
	}
}

// copyDir copies a directory. A file that cannot be copied does not end it.
//
// Files in the destination that the source does not have stay. The listing of one directory
// of each level is held in memory.
func (t *transfer) copyDir(ctx context.Context, from, to string, there *workspace.FileInfo) error {
	if t.follow {
		at := t.p.resolve(ctx, from, false)
		if slices.Contains(t.open, at) {
			return fmt.Errorf("cannot copy cyclic symbolic link '%s'", from)
		}
		t.open = append(t.open, at)
		defer func() { t.open = t.open[:len(t.open)-1] }()
	}
	if there == nil {
		if err := t.p.Mkdir(ctx, to, nil); err != nil {
			return fmt.Errorf("cannot create directory '%s': %s", to, ErrorText(err))
		}
		t.say("'%s' -> '%s'", from, to)
	}
	list, err := t.p.ReadDir(ctx, from)
	if err != nil {
		return fmt.Errorf("cannot access '%s': %s", from, ErrorText(err))
	}
	for _, info := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		source, target := joinShown(from, info.Name, false), joinShown(to, info.Name, false)
		err := linkError(target)
		if t.follow || info.Type != workspace.TypeSymlink {
			err = t.copy(ctx, source, target)
		}
		if err != nil && !errors.Is(err, errSkipped) {
			t.status = t.p.errorf("%v", err)
		}
	}
	return nil
}

// move gives a file or a directory another name. The error is errSkipped or a text to print.
//
// A symlink is moved itself, but where rename must copy: then it is an error. "." and ".." cannot
// be moved, as rename of POSIX says.
func (t *transfer) move(ctx context.Context, from, to string) error {
	source, there, err := t.check(ctx, from, to, t.p.lstatEntry)
	switch {
	case err != nil:
		return err
	case t.isDevice(from) || t.isDevice(to):
		return fmt.Errorf("cannot move '%s' to '%s': Permission denied", from, to)
	case path.Base(from) == "." || path.Base(from) == "..":
		return fmt.Errorf("cannot move '%s' to '%s': Device or resource busy", from, to)
	case source.IsDir() && t.inside(ctx, from, to):
		return fmt.Errorf("cannot move '%s' to a subdirectory of itself, '%s'", from, to)
	case there == nil && !source.IsDir() && strings.HasSuffix(to, "/"):
		return fmt.Errorf("cannot move '%s' to '%s': Not a directory", from, to)
	}
	if err := t.rename(ctx, from, to, source, there); err != nil {
		return fmt.Errorf("cannot move '%s' to '%s': %s", from, to, ErrorText(err))
	}
	t.say("renamed '%s' -> '%s'", from, to)
	return nil
}

// rename is move after its checks. A workspace's move does not replace: a file is
// replaced by a copy, and an empty directory is removed first, and created again if the
// move fails. Where one of the two is a symlink, a copy would change what it leads to, or lose
// it: to is moved to another name first, and removed at the end.
//
// An error says if what it undoes fails, too:
//
//	to is nothing        Move, or moveByCopy
//	to is a file         replace
//	one is a symlink     Move to ops.Aside, then as for nothing, then Rm; Move back if that fails
//	to is a directory    Rm, then as for nothing; Mkdir if that fails
func (t *transfer) rename(ctx context.Context, from, to string, source workspace.FileInfo, there *workspace.FileInfo) error {
	parent, err := t.p.Stat(ctx, path.Dir(strings.TrimRight(to, "/"))) // which Move would create
	switch {
	case err != nil:
		return err
	case !parent.IsDir():
		return workspace.ErrNotDir
	case there != nil && (there.Type == workspace.TypeSymlink || !there.IsDir() && source.Type == workspace.TypeSymlink):
		aside := ops.Aside(strings.TrimRight(to, "/"))
		if err := t.p.Move(ctx, to, aside); err != nil {
			return err
		}
		err := t.rename(ctx, from, to, source, nil)
		undo, cancel := outlasting(ctx)
		defer cancel()
		if err != nil {
			return undone(err, t.p.Move(undo, aside, to), "restore it from", aside)
		}
		return t.p.Rm(undo, aside, nil)
	case there != nil && !there.IsDir():
		return t.replace(ctx, from, to, source)
	case there != nil:
		if err := t.p.Rm(ctx, to, nil); err != nil { // unless it is empty
			return err
		}
	}
	err = t.p.Move(ctx, from, to)
	if errors.Is(err, ErrCrossWorkspace) || errors.Is(err, errors.ErrUnsupported) {
		err = t.moveByCopy(ctx, from, to, source)
	}
	if err != nil && there != nil {
		undo, cancel := outlasting(ctx)
		defer cancel()
		err = undone(err, t.p.Mkdir(undo, to, nil), "restore directory", to)
	}
	return err
}

// undone returns the error of a move, and that of undoing it, if there is one: somebody must then
// look after the files. what says what it would have done.
func undone(err, failed error, what, name string) error {
	if failed == nil {
		return err
	}
	return fmt.Errorf("%s; and cannot %s '%s': %s", ErrorText(err), what, name, ErrorText(failed))
}

// replace moves a file to a name that exists: the content is replaced at once, and the
// old name removed. If that fails, the old content comes back, if from is still there and nobody
// else has written to meanwhile.
//
// The old content is held in memory meanwhile, so a file that is over the limit of its
// workspace cannot be replaced. It is restored even when ctx has ended.
func (t *transfer) replace(ctx context.Context, from, to string, source workspace.FileInfo) error {
	if err := t.p.Files.mayReplace(ctx, t.p.Dir, from, to); err != nil {
		return err
	}
	old, _, err := t.p.ReadFile(ctx, to)
	if err != nil {
		return err
	}
	if err := t.p.Copy(ctx, from, to); err != nil {
		return err
	}
	made, err := t.made(ctx, to)
	if err == nil {
		err = t.removeCopied(ctx, from, source)
	}
	if err == nil {
		return nil
	}
	undo, cancel := outlasting(ctx)
	defer cancel()
	_, lost := t.p.Lstat(undo, from)
	if lost != nil || t.unchanged(undo, to, made) != nil {
		return err // to may have the only copy, or what somebody else has written
	}
	return undone(err, t.p.Files.restore(undo, t.p.Dir, to, old, made.Version), "restore", to)
}

// made describes a file that has just been written, also if that was the end of ctx: without it,
// what others write there cannot be told from it.
func (t *transfer) made(ctx context.Context, name string) (workspace.FileInfo, error) {
	late, cancel := outlasting(ctx)
	defer cancel()
	return t.p.Lstat(late, name)
}

// removeCopied removes a file that has been copied. One that somebody has changed since it was
// described as source stays: that is [workspace.ErrConflict].
func (t *transfer) removeCopied(ctx context.Context, from string, source workspace.FileInfo) error {
	if err := t.unchanged(ctx, from, source); err != nil {
		return err
	}
	return t.p.Files.rmMoved(ctx, t.p.Dir, from, nil)
}

// unchanged returns [workspace.ErrConflict] if somebody has changed a file since it was described.
func (t *transfer) unchanged(ctx context.Context, name string, before workspace.FileInfo) error {
	now, err := t.p.Lstat(ctx, name)
	if err == nil && !same(before, now) {
		return workspace.ErrConflict
	}
	return err
}

// same reports whether what has been described twice is the same: of directories, only the type.
func same(before, now workspace.FileInfo) bool {
	return before.Type == now.Type && (now.IsDir() || fallback.SameBytes(before, now))
}

// removeCopiedDir removes a directory that has been copied, as all describes, unless somebody has
// changed something in it since, or added to it: that is [workspace.ErrConflict].
func (t *transfer) removeCopiedDir(ctx context.Context, from string, all []copied) error {
	children := map[string]map[string]workspace.FileInfo{} // of each directory, by name
	for _, c := range all {
		name := path.Clean(c.from)
		if in := children[path.Dir(name)]; in != nil {
			in[path.Base(name)] = c.source
		}
		if c.source.IsDir() {
			children[name] = map[string]workspace.FileInfo{}
		}
	}
	for dir, in := range children {
		list, err := t.p.ReadDir(ctx, dir)
		if err != nil {
			return err
		}
		for _, now := range list {
			if before, ok := in[now.Name]; !ok || !same(before, now) {
				return workspace.ErrConflict
			}
		}
	}
	return t.p.Files.rmMoved(ctx, t.p.Dir, from, &workspace.RmOptions{Recursive: true})
}

// moveByCopy copies a file or a directory, and then removes it. If one of both fails, the
// copy is removed, and what was removed is copied back.
//
// At any time each file is at from, at to, or at both. Nothing is removed before all has
// been copied, and the copy is kept if it is the only one.
func (t *transfer) moveByCopy(ctx context.Context, from, to string, source workspace.FileInfo) error {
	if err := t.checkLinks(ctx, from, to, source); err != nil {
		return err
	}
	quiet := &transfer{p: t.p, recursive: true}
	err := quiet.copyAll(ctx, from, to, source)
	all, whole := quiet.copied, err == nil
	switch {
	case whole && source.IsDir():
		err = t.removeCopiedDir(ctx, from, all)
	case whole:
		err = t.removeCopied(ctx, from, source)
	}
	if err == nil {
		return nil
	}
	undo, cancel := outlasting(ctx)
	defer cancel()
	if !whole {
		return undone(err, t.removeCopy(undo, all), "remove copy", to)
	}
	if failed := quiet.restore(undo, to, from); failed != nil { // the copy stays, as it has what is missing
		return undone(err, failed, "restore all from copy", to)
	}
	return undone(err, t.removeCopy(undo, all), "remove copy", to)
}

// checkLinks returns the error of the first symlink that a move by copy would meet: the copy would
// be of what it leads to.
func (t *transfer) checkLinks(ctx context.Context, from, to string, source workspace.FileInfo) error {
	if source.Type == workspace.TypeSymlink {
		return fmt.Errorf("cannot create symbolic link '%s': a workspace cannot create any", to)
	}
	if !source.IsDir() {
		return nil
	}
	list, err := t.p.ReadDir(ctx, from)
	for _, info := range list {
		if err == nil {
			err = t.checkLinks(ctx, joinShown(from, info.Name, false), joinShown(to, info.Name, false), info)
		}
	}
	return err
}

// removeCopy removes what a move has created, unless another process has done so, has written a
// file again, or has put something into a directory. It returns the first error.
func (t *transfer) removeCopy(ctx context.Context, all []copied) (first error) {
	for _, c := range slices.Backward(all) {
		if err := ctx.Err(); err != nil {
			return cmp.Or(first, err)
		}
		var err error
		if !c.source.IsDir() {
			err = t.unchanged(ctx, c.to, c.made)
		}
		if err == nil {
			err = t.p.Files.rmMoved(ctx, t.p.Dir, c.to, nil)
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, workspace.ErrNotEmpty) && !errors.Is(err, workspace.ErrConflict) {
			first = cmp.Or(first, err)
		}
	}
	return first
}

// copyAll copies a file or a directory to a name that does not exist. It ends with the
// first error.
//
// checkLinks has found no symlink. What was created before an error stays; the caller removes it.
func (t *transfer) copyAll(ctx context.Context, from, to string, source workspace.FileInfo) error {
	if !source.IsDir() {
		if err := t.p.Copy(ctx, from, to); err != nil {
			return err
		}
		made, err := t.made(ctx, to)
		t.copied = append(t.copied, copied{from, to, source, made})
		return err
	}
	if err := t.p.Mkdir(ctx, to, nil); err != nil {
		return err
	}
	t.copied = append(t.copied, copied{from: from, to: to, source: source})
	list, err := t.p.ReadDir(ctx, from)
	for _, info := range list {
		if err == nil {
			err = t.copyAll(ctx, joinShown(from, info.Name, false), joinShown(to, info.Name, false), info)
		}
	}
	return err
}

// restore copies back what is in the copy and no longer in the original.
//
// What is still there is left alone, even if it has changed since.
func (t *transfer) restore(ctx context.Context, copied, original string) error {
	info, err := t.p.Lstat(ctx, copied)
	if err != nil {
		return err
	}
	_, err = t.p.Lstat(ctx, original)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t.copyAll(ctx, copied, original, info)
	case err != nil || !info.IsDir():
		return err
	}
	list, err := t.p.ReadDir(ctx, copied)
	for _, child := range list {
		if err == nil {
			err = t.restore(ctx, joinShown(copied, child.Name, false), joinShown(original, child.Name, false))
		}
	}
	return err
}
