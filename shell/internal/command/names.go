package command

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// basename prints names without their directories, as POSIX says: "/a/b/" is b, "/" is
// "/". A suffix is taken away unless it is the whole name. No file is looked at.
//
//	basename /a/b.c .c         b
//	basename .c .c             .c
//	basename -s .c a.c b.c     a, b
func basename(ctx context.Context, p *Process) int {
	f := newFlags(p, "NAME [SUFFIX]\n  or:  basename OPTION... NAME...")
	f.first = true
	multiple := f.BoolP("multiple", "a", false, "support multiple arguments and treat each as a NAME")
	suffix := f.StringP("suffix", "s", "", "remove a trailing SUFFIX; implies -a")
	zero := f.BoolP("zero", "z", false, "end each output line with NUL, not newline")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		return f.wrong("missing operand")
	}
	if !*multiple && !f.Changed("suffix") {
		if len(names) > 2 {
			return f.wrong("extra operand %s", quoteName(names[2]))
		}
		if len(names) == 2 {
			*suffix = names[1]
		}
		names = names[:1]
	}
	out := bufio.NewWriter(p.Stdout)
	for _, name := range names {
		base := strings.TrimRight(name, "/")
		base = base[strings.LastIndex(base, "/")+1:]
		if base == "" && name != "" {
			base = "/"
		}
		if base != *suffix {
			base = strings.TrimSuffix(base, *suffix)
		}
		out.WriteString(base)
		out.WriteByte(lineEnd(*zero))
	}
	return p.finish(out, 0)
}

// dirname prints the directories of names, as POSIX says: without the last element and
// the slashes around it. "/a" is "/", and "a" is ".". No file is looked at.
//
//	a/b//c//    a/b
//	//          /
func dirname(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION] NAME...")
	zero := f.BoolP("zero", "z", false, "end each output line with NUL, not newline")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		return f.wrong("missing operand")
	}
	out := bufio.NewWriter(p.Stdout)
	for _, name := range names {
		dir := strings.TrimRight(name, "/")
		at := strings.LastIndex(dir, "/")
		switch {
		case dir == "" && name != "":
			dir = "/"
		case at < 0:
			dir = "."
		default:
			if dir = strings.TrimRight(dir[:at], "/"); dir == "" {
				dir = "/"
			}
		}
		out.WriteString(dir)
		out.WriteByte(lineEnd(*zero))
	}
	return p.finish(out, 0)
}

// realpath prints absolute names without symlinks, as GNU's does. The last element may
// be missing, with -m any, with -e none. ".." is taken away before symlinks are
// followed, as names are everywhere in the shell.
//
// With --relative-base, names below that directory are relative to it, and others absolute;
// with --relative-to, all are relative to that one.
func realpath(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... FILE...")
	existing := f.BoolP("canonicalize-existing", "e", false, "all components of the path must exist")
	missing := f.BoolP("canonicalize-missing", "m", false, "no path components need exist or be a directory")
	f.BoolP("logical", "L", false, "resolve '..' components before symlinks")
	f.BoolP("physical", "P", false, "resolve symlinks as encountered (default)")
	quiet := f.BoolP("quiet", "q", false, "suppress most error messages")
	relative := f.String("relative-to", "", "print the resolved path relative to DIR")
	relativeBase := f.String("relative-base", "", "print absolute paths unless paths below DIR")
	plain := f.BoolP("strip", "s", false, "don't expand symlinks")
	f.BoolVar(plain, "no-symlinks", false, "the same as -s")
	zero := f.BoolP("zero", "z", false, "end each output line with NUL, not newline")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		return f.wrong("missing operand")
	}
	mode := lastMissing
	switch {
	case *existing:
		mode = noneMissing
	case *missing:
		mode = anyMissing
	}
	resolve := func(name string, mode missingMode) (string, bool) {
		full, err := p.realPath(ctx, name, mode, *plain)
		if err != nil {
			if !*quiet {
				p.fail(name, err)
			}
			status = 1
		}
		return full, err == nil
	}
	base := ""
	for _, dir := range []string{*relativeBase, *relative} {
		if dir == "" {
			continue
		}
		var ok bool
		if base, ok = resolve(dir, mode); !ok {
			return 1
		}
	}
	out := bufio.NewWriter(p.Stdout)
	for _, name := range names {
		full, ok := resolve(name, mode)
		if !ok {
			continue
		}
		if base != "" && (*relativeBase == "" || isBelow(full, base)) {
			full = relativeFrom(full, base)
		}
		out.WriteString(full)
		out.WriteByte(lineEnd(*zero))
	}
	return p.finish(out, status)
}

// readlink prints what symlinks lead to, or with -f, -e and -m absolute names as realpath does. It
// says nothing about what is no symlink, unless -v is given, and has the status 1.
//
// What a symlink leads to is an absolute name: a workspace does not say what is written in it.
func readlink(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... FILE...")
	canonical := f.BoolP("canonicalize", "f", false, "all components but the last must exist")
	existing := f.BoolP("canonicalize-existing", "e", false, "all components must exist")
	missing := f.BoolP("canonicalize-missing", "m", false, "no components need exist")
	noNewline := f.BoolP("no-newline", "n", false, "do not end the output with a newline")
	f.BoolP("quiet", "q", false, "suppress most error messages (default)")
	f.BoolP("silent", "s", false, "the same as -q")
	verbose := f.BoolP("verbose", "v", false, "report errors")
	zero := f.BoolP("zero", "z", false, "end each output line with NUL, not newline")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		return f.wrong("missing operand")
	}
	if *noNewline && len(names) > 1 {
		p.errorf("ignoring --no-newline with multiple arguments")
		*noNewline = false
	}
	mode := noneMissing
	switch {
	case *existing:
	case *missing:
		mode = anyMissing
	case *canonical:
		mode = lastMissing
	}
	out := bufio.NewWriter(p.Stdout)
	for _, name := range names {
		full, err := p.readLink(ctx, name)
		if *canonical || *existing || *missing {
			full, err = p.realPath(ctx, name, mode, false)
		}
		if err != nil {
			if status = 1; *verbose {
				p.fail(name, err)
			}
			continue
		}
		out.WriteString(full)
		if !*noNewline {
			out.WriteByte(lineEnd(*zero))
		}
	}
	return p.finish(out, status)
}

// readLink returns what a symlink leads to, [fs.ErrInvalid] for what is none.
func (p *Process) readLink(ctx context.Context, name string) (string, error) {
	info, err := p.Lstat(ctx, name)
	if err != nil {
		return "", err
	}
	if info.Type != workspace.TypeSymlink {
		return "", fs.ErrInvalid
	}
	if !path.IsAbs(name) {
		name = path.Join(p.Dir, name)
	}
	return p.target(ctx, path.Clean(name))
}

// missingMode is which elements of a path may be missing.
type missingMode int

// How many elements of a name realpath lets be missing: the last one by default, none
// with -e, and any with -m. With anyMissing, a file may even stand where a directory should.
const (
	lastMissing missingMode = iota
	noneMissing
	anyMissing
)

// realPath returns an absolute name without symlinks, and without "." and "..". It
// looks for the longest part that exists, resolves it, and adds the rest.
//
// The symlinks are those of the workspace, which resolves them in itself: what stands before
// its name, such as /repo, is kept. With keepLinks no symlink is followed, and only mode is
// checked.
//
// # Errors
//
// [fs.ErrNotExist] for "" and where more is missing than mode allows, [workspace.ErrNotDir]
// for a file with something below it or with a slash at its end, and those of
// [workspace.Workspace.Resolve].
func (p *Process) realPath(ctx context.Context, name string, mode missingMode, keepLinks bool) (string, error) {
	if name == "" {
		return "", fs.ErrNotExist
	}
	full, own := path.Clean("/"+name), ""
	if !path.IsAbs(name) {
		full, own = path.Join("/", p.Dir, name), "/" // a name with two slashes is no host path
	}
	existing, missing := full, ""
	var info workspace.FileInfo
	for {
		var err error
		if info, err = p.Stat(ctx, own+existing); err == nil {
			break
		}
		if mode != anyMissing && (mode == noneMissing || missing != "" && !keepLinks || !errors.Is(err, fs.ErrNotExist)) || existing == "/" {
			return "", err
		}
		if link, err := p.Lstat(ctx, own+existing); err == nil && link.Type == workspace.TypeSymlink && !keepLinks {
			target, err := p.target(ctx, own+existing)
			if err != nil {
				return "", err
			}
			if target != existing {
				existing = target // which does not exist
				continue
			}
		}
		existing, missing = path.Dir(existing), path.Join(path.Base(existing), missing)
	}
	if mode != anyMissing && !info.IsDir() && (missing != "" || strings.HasSuffix(name, "/")) {
		return "", workspace.ErrNotDir
	}
	if keepLinks {
		return full, nil
	}
	target, err := p.target(ctx, own+existing)
	if err != nil {
		return "", err
	}
	return path.Join(target, missing), nil
}

// target returns the name, without symlinks, of what a clean absolute name leads to.
func (p *Process) target(ctx context.Context, name string) (string, error) {
	at, err := p.Files.Locate(ctx, "/", name)
	if err != nil || at.Workspace == nil {
		return name, err
	}
	resolved, err := at.Workspace.Resolve(ctx, at.Name)
	if err != nil {
		return "", err
	}
	if at.Name != "." {
		name = strings.TrimSuffix(name, at.Name)
	}
	return path.Join(name, resolved), nil
}

// isBelow reports whether the clean absolute name is dir or below it.
func isBelow(name, dir string) bool {
	return name == dir || dir == "/" || strings.HasPrefix(name, dir+"/")
}

// relativeFrom returns how to go from base to name; both are absolute and clean.
//
//	from /a/b to /a/c/d    ../c/d
//	from /a to /a/b        b
//	from /a to /a          .
func relativeFrom(name, base string) string {
	up := ""
	for !isBelow(name, base) {
		up += "../"
		base = path.Dir(base)
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(name, base), "/")
	if s := strings.TrimSuffix(up+rest, "/"); s != "" {
		return s
	}
	return "."
}
