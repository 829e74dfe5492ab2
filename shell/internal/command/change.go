package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
)

// mkdir creates directories, as POSIX says. Without -p, the parent must exist. -m is
// accepted: there are no permissions.
//
// An error is printed, and the next name is tried; the status is then 1. What -v prints with
// -p is found out before, so that a directory that somebody else creates meanwhile is printed,
// too.
func mkdir(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... DIRECTORY...")
	parents := f.BoolP("parents", "p", false, "missing parents, too; no error if it exists")
	verbose := f.BoolP("verbose", "v", false, "print what is created")
	f.StringP("mode", "m", "", "(ignored: a workspace has no permissions)")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		return f.wrong("missing operand")
	}
	for _, name := range names {
		missing := []string{name}
		if *parents {
			missing = missingParents(ctx, p, name)
		}
		if err := p.Mkdir(ctx, name, &workspace.MkdirOptions{Recursive: *parents}); err != nil {
			if *parents && errors.Is(err, workspace.ErrNotDir) {
				// GNU's mkdir -p names the file on the way. Of a file that has the name
				// itself it says that it exists.
				if info, statErr := p.Stat(ctx, name); statErr == nil && !info.IsDir() {
					err = fs.ErrExist
				} else {
					name = fileAbove(ctx, p, name)
				}
			}
			status = p.errorf("cannot create directory '%s': %s", name, ErrorText(err))
			continue
		}
		for _, created := range missing {
			if *verbose {
				fmt.Fprintf(p.Stdout, "%s: created directory '%s'\n", p.name(), created)
			}
		}
	}
	return status
}

// missingParents returns the directories on the way to name that do not exist, and name
// itself if it does not. They are in the order in which they are created, and spelled as in
// name: for a/b/c/ where only a exists, a/b and a/b/c/.
func missingParents(ctx context.Context, p *Process, name string) []string {
	var missing []string
	for dir := strings.TrimRight(name, "/"); dir != "" && dir != "." && dir != "/"; dir = path.Dir(dir) {
		if _, err := p.Stat(ctx, dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	if len(missing) > 0 {
		missing[0] = name
	}
	slices.Reverse(missing)
	return missing
}

// fileAbove returns the first part of name that is not a directory, and name if there is
// none.
func fileAbove(ctx context.Context, p *Process, name string) string {
	for i, c := range name {
		if c != '/' || i == 0 {
			continue
		}
		if info, err := p.Stat(ctx, name[:i]); err == nil && !info.IsDir() {
			return name[:i]
		}
	}
	return name
}

// rmdir removes empty directories, as POSIX says; with -p also those above, which are
// empty then.
func rmdir(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... DIRECTORY...")
	parents := f.BoolP("parents", "p", false, "the directories above it, too")
	verbose := f.BoolP("verbose", "v", false, "print what is removed")
	tolerant := f.Bool("ignore-fail-on-non-empty", false, "no error if it is not empty")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		return f.wrong("missing operand")
	}
	for _, name := range names {
		for dir := name; ; {
			if *verbose {
				fmt.Fprintf(p.Stdout, "%s: removing directory, '%s'\n", p.name(), dir)
			}
			err := removeDir(ctx, p, dir)
			if err != nil && !(*tolerant && errors.Is(err, workspace.ErrNotEmpty)) {
				what := ""
				if dir != name {
					what = "directory "
				}
				status = p.errorf("failed to remove %s'%s': %s", what, dir, ErrorText(err))
			}
			if dir = path.Dir(strings.TrimRight(dir, "/")); err != nil || !*parents || dir == "." || dir == "/" {
				break
			}
		}
	}
	return status
}

// removeDir removes an empty directory, and nothing else: Rm alone would remove a file as
// well. A symlink to a directory is [workspace.ErrNotDir], and "." is [fs.ErrInvalid], as for
// rmdir(2).
func removeDir(ctx context.Context, p *Process, name string) error {
	info, err := p.lstatEntry(ctx, name)
	switch {
	case err == nil && path.Base(name) == ".":
		return fs.ErrInvalid
	case err != nil:
		return err
	case !info.IsDir():
		return workspace.ErrNotDir
	}
	return p.Rm(ctx, name, nil)
}

// lstatEntry is Lstat for a name that is removed or moved: a symlink with a slash at its end is
// [workspace.ErrNotDir], as a workspace would remove or move the symlink.
func (p *Process) lstatEntry(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := p.Lstat(ctx, name)
	if err == nil && strings.HasSuffix(name, "/") {
		if link, err := p.Lstat(ctx, path.Clean(name)); err == nil && link.Type == workspace.TypeSymlink {
			return info, workspace.ErrNotDir
		}
	}
	return info, err
}

// rm removes files, as POSIX says. The root, "." and ".." are refused. A directory is removed in
// one operation, which a rule allows or refuses as a whole; with -v and -i, file by file.
//
// A symlink is removed itself (clause Y7 of the contract). An error is printed, and the next
// name is tried; -f hides that a name does not exist, and no other error.
func rm(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	recursive := f.BoolP("recursive", "r", false, "directories with all that is in them")
	f.BoolVarP(recursive, "R", "R", false, "the same as -r")
	r, force, once := removal{p: p}, false, false
	option := func(name, letter, usage string, isForce, isOnce, ask bool) { // the last one counts
		f.BoolFuncP(name, letter, usage, func(string) error {
			force, once, r.ask = isForce, isOnce, ask
			return nil
		})
	}
	option("force", "f", "no error if a file does not exist, and no question", true, false, false)
	option("i", "i", "ask before each removal", false, false, true)
	option("I", "I", "ask once before a removal of more than three files, or of directories", false, true, false)
	f.BoolVarP(&r.verbose, "verbose", "v", false, "print what is removed")
	empty := f.BoolP("dir", "d", false, "empty directories, too")
	f.Bool("one-file-system", false, "(ignored)")
	f.String("preserve-root", "", "(ignored: it is always so)")
	f.Lookup("preserve-root").NoOptDefVal = "all"
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		if force {
			return 0
		}
		return f.wrong("missing operand")
	}
	if once && (len(names) > 3 || *recursive) {
		question := wording.Count(len(names), "argument", "arguments")
		if *recursive {
			question += " recursively"
		}
		if !p.ask("remove %s?", question) {
			return 0
		}
	}
	for _, name := range names {
		if base := path.Base(strings.TrimRight(name, "/")); base == "." || base == ".." {
			if *recursive || *empty {
				status = p.errorf("refusing to remove '.' or '..' directory: skipping '%s'", name)
				continue
			}
		}
		info, err := p.lstatEntry(ctx, name)
		if err == nil && *recursive && p.isRoot(ctx, name) {
			status = p.errorf("it is dangerous to operate recursively on '%s'", name)
			continue
		}
		switch {
		case err == nil && info.IsDir() && !*recursive && !*empty:
			err = workspace.ErrIsDir
		case err == nil && (r.verbose || r.ask):
			_, err = r.remove(ctx, name, info, *recursive)
		case err == nil:
			err = p.Rm(ctx, name, &workspace.RmOptions{Recursive: *recursive})
		}
		missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotDir) && force
		if err != nil && !(missing && force) {
			status = p.errorf("cannot remove '%s': %s", name, ErrorText(err))
		}
	}
	return status
}

// isRoot reports whether name is the root of a workspace, or of all of them.
func (p *Process) isRoot(ctx context.Context, name string) bool {
	at, err := p.Files.Locate(ctx, p.Dir, name)
	return err == nil && at.Name == "."
}

// removal is one run of rm with -v or -i.
type removal struct {
	p            *Process
	verbose, ask bool
}

// remove removes a file or a directory, with everything in it if it is recursive, and prints each
// name. A directory comes after what is in it. It is kept without a question if a directory in it
// is, as with GNU's rm; to keep a file and remove its directory is an error. The first error ends
// it, and what has been removed by then stays removed.
func (r *removal) remove(ctx context.Context, name string, info workspace.FileInfo, recursive bool) (kept bool, err error) {
	if info.IsDir() && recursive {
		list, err := r.p.ReadDir(ctx, name)
		if err != nil {
			return true, err
		}
		if len(list) > 0 && r.ask && !r.p.ask("descend into directory '%s'?", name) {
			return true, nil
		}
		for _, child := range list {
			left, err := r.remove(ctx, joinShown(name, child.Name, false), child, true)
			if err != nil {
				return true, err
			}
			kept = kept || left
		}
	}
	if kept || r.ask && !r.p.ask("remove %s '%s'?", typeName(info), name) {
		return kept, nil
	}
	if err := r.p.Rm(ctx, name, nil); err != nil {
		return true, err
	}
	if r.verbose && info.IsDir() {
		fmt.Fprintf(r.p.Stdout, "removed directory '%s'\n", name)
	} else if r.verbose {
		fmt.Fprintf(r.p.Stdout, "removed '%s'\n", name)
	}
	return false, nil
}

// touch creates files that do not exist. A workspace does not let anybody set times, so
// the content of a file that exists is written again, which sets its time to now. Directories
// stay as they are, without an error. So -d, -t and -r are refused: scripts that set a time
// rely on it later.
func touch(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... FILE...")
	noCreate := f.BoolP("no-create", "c", false, "create no file")
	f.BoolP("a", "a", false, "(ignored)")
	f.BoolP("m", "m", false, "(ignored)")
	date := f.StringP("date", "d", "", "not possible here")
	stamp := f.StringP("t", "t", "", "not possible here")
	reference := f.StringP("reference", "r", "", "not possible here")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if *date+*stamp+*reference != "" {
		return p.errorf("setting a time is not possible here: a workspace sets the time of a file when it is written")
	}
	if len(names) == 0 {
		return f.wrong("missing file operand")
	}
	for _, name := range names {
		info, err := p.Stat(ctx, name)
		switch {
		case err == nil && info.Type == workspace.TypeFile:
			err = rewrite(ctx, p, name)
		case errors.Is(err, fs.ErrNotExist) && *noCreate:
			err = nil
		case errors.Is(err, fs.ErrNotExist):
			err = p.WriteFile(ctx, name, nil, nil)
			if errors.Is(err, workspace.ErrIsDir) {
				err = fs.ErrNotExist // a name with a slash at the end
			}
		}
		if err != nil {
			status = p.errorf("cannot touch '%s': %s", name, ErrorText(err))
		}
	}
	return status
}

// rewrite writes the content of a file again, on the condition that it is still the content.
// Otherwise touch would undo a write of somebody else in between; it is a
// [workspace.ErrConflict] where the workspace has conditional writes.
func rewrite(ctx context.Context, p *Process, name string) error {
	if _, _, err := p.Files.prepare(ctx, p.Dir, name, false); err != nil { // before the file is read, and so known
		return err
	}
	data, version, err := p.ReadFile(ctx, name)
	if err != nil {
		return err
	}
	return p.WriteFile(ctx, name, data, &workspace.WriteOptions{IfVersion: version})
}

// mktemp creates a file or a directory with a new name, and prints the name: the last run of at
// least three X in the template becomes random. Without a template, or with -p or -t, it is in that
// directory, in $TMPDIR or in /tmp.
//
//	mktemp               /tmp/tmp.Zq3kX0aBcd
//	mktemp aXXXX.txt     a8sQz.txt
//	mktemp -d -p dir     dir/tmp.Zq3kX0aBcd
func mktemp(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [TEMPLATE]")
	directory := f.BoolP("directory", "d", false, "create a directory, not a file")
	dry := f.BoolP("dry-run", "u", false, "only print a name")
	quiet := f.BoolP("quiet", "q", false, "suppress messages about failed creation")
	suffix := f.String("suffix", "", "append SUFF to TEMPLATE")
	parent := f.StringP("p", "p", "", "interpret TEMPLATE relative to DIR")
	f.StringVar(parent, "tmpdir", "", "interpret TEMPLATE relative to DIR, or without DIR to $TMPDIR or /tmp")
	const noDir = "\x00" // of --tmpdir alone
	f.Lookup("tmpdir").NoOptDefVal = noDir
	old := f.BoolP("t", "t", false, "interpret TEMPLATE as a name in $TMPDIR, DIR or /tmp")
	operands, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(operands) > 1 {
		return f.wrong("too many templates")
	}
	template, inParent := "tmp.XXXXXXXXXX", true
	if len(operands) > 0 {
		template, inParent = operands[0], *old || f.Changed("p") || f.Changed("tmpdir")
	}
	switch {
	case f.Changed("suffix") && !strings.HasSuffix(template, "X"):
		return p.errorf("with --suffix, template %s must end in X", quoteName(template))
	case !f.Changed("suffix"):
		end := strings.LastIndex(template, "X") + 1
		if end == 0 {
			end = len(template)
		}
		template, *suffix = template[:end], template[end:]
	}
	start := strings.TrimRight(template, "X")
	random := len(template) - len(start)
	switch {
	case strings.Contains(*suffix, "/"):
		return p.errorf("invalid suffix %s, contains directory separator", quoteName(*suffix))
	case random < 3:
		return p.errorf("too few X's in template %s", quoteName(template+*suffix))
	case inParent && *old && strings.Contains(start, "/"):
		return p.errorf("invalid template, %s, contains directory separator", quoteName(template+*suffix))
	case inParent && !*old && path.IsAbs(start):
		return p.errorf("invalid template, %s; with --tmpdir, it may not be absolute", quoteName(template+*suffix))
	}
	if inParent {
		given := strings.TrimPrefix(*parent, noDir)
		dir := cmp.Or(given, p.Env("TMPDIR"), "/tmp")
		if *old {
			dir = cmp.Or(p.Env("TMPDIR"), given, "/tmp")
		}
		start = strings.TrimSuffix(dir, "/") + "/" + start
	}
	// Of text that is random, 26 letters are 130 bits.
	var letters strings.Builder
	for letters.Len() < random {
		letters.WriteString(rand.Text())
	}
	name := start + letters.String()[:random] + *suffix
	var err error
	kind := "file"
	switch {
	case *dry:
		if _, err = p.Lstat(ctx, name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	case *directory:
		kind = "directory"
		err = p.Mkdir(ctx, name, nil)
	default:
		err = p.WriteFile(ctx, name, nil, &workspace.WriteOptions{IfNotExist: true})
	}
	if err != nil {
		if !*quiet {
			p.errorf("failed to create %s via template %s: %s", kind, quoteName(start+strings.Repeat("X", random)+*suffix), ErrorText(err))
		}
		return 1
	}
	if _, err := fmt.Fprintln(p.Stdout, name); err != nil {
		return p.failWrite(err)
	}
	return 0
}

// ln would create links. A workspace has no operation that does. It reads its options all the
// same, so that a script is told about links and not about an option.
func ln(_ context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... TARGET LINK_NAME")
	f.BoolP("symbolic", "s", false, "symlinks")
	f.BoolP("force", "f", false, "(ignored)")
	f.BoolP("no-dereference", "n", false, "(ignored)")
	f.BoolP("verbose", "v", false, "(ignored)")
	f.BoolP("relative", "r", false, "(ignored)")
	f.StringP("target-directory", "t", "", "(ignored)")
	f.BoolP("no-target-directory", "T", false, "(ignored)")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		return f.wrong("missing file operand")
	}
	return p.errorf("links are not possible here: a workspace can follow symlinks, and cannot create any; use cp to copy a file")
}
