package command

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// ownerName is the user and the group of every file: a workspace has none.
const ownerName = "root"

// typeLetter returns the letter of a type in listings; file is the letter of a file.
//
// ls has "-" for a file, and find -printf %y has "f". Anything that is no file, directory
// or symlink, such as /dev/null, is shown as a character device.
func typeLetter(t workspace.FileType, file string) string {
	switch t {
	case workspace.TypeDirectory:
		return "d"
	case workspace.TypeSymlink:
		return "l"
	case workspace.TypeOther:
		return "c"
	}
	return file
}

// modeOf returns the permissions that listings show, in octal.
//
// Scripts compare them, so they are what the usual umask of 022 gives. Nothing can be
// executed, and so no file has 755.
func modeOf(info workspace.FileInfo) string {
	switch info.Type {
	case workspace.TypeDirectory:
		return "755"
	case workspace.TypeSymlink:
		return "777"
	case workspace.TypeOther:
		return "666"
	}
	return "644"
}

// modeText returns the type and the permissions of a file as ls shows them.
//
// A directory is "drwxr-xr-x", and a file "-rw-r--r--".
func modeText(info workspace.FileInfo) string {
	text := typeLetter(info.Type, "-")
	for _, digit := range modeOf(info) {
		for bit, letter := range "rwx" {
			// The low three bits of the character of a digit are its value.
			if digit&(4>>bit) == 0 {
				letter = '-'
			}
			text += string(letter)
		}
	}
	return text
}

// humanSize returns a size as -h shows it, in powers of 1024: rounded up, with one
// digit after the point below 10. 1025 is 1.1K, and 10240 is 10K.
//
// Rounding up keeps a file of one byte more than a unit from looking as large as the unit.
// From 1 PiB on there is no digit after the point: ten times such a size could be too large
// for an int64.
func humanSize(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	units := "KMGTPE"
	unit := int64(1)
	for i := range units {
		unit <<= 10
		if tenths := (n*10 + unit - 1) / unit; n < 1<<50 && tenths < 100 {
			return fmt.Sprintf("%d.%d%c", tenths/10, tenths%10, units[i])
		}
		if whole := (n + unit - 1) / unit; whole < 1024 || i == len(units)-1 {
			return fmt.Sprintf("%d%c", whole, units[i])
		}
	}
	return ""
}

// diskUsage returns how many bytes of a disk a file takes, in blocks of 4 KiB.
func diskUsage(info workspace.FileInfo) int64 { return (sizeOf(info) + 4095) / 4096 * 4096 }

// lsRun is one run of ls.
type lsRun struct {
	p                                       *Process
	out                                     *bufio.Writer
	long, all, almost, recursive, directory bool             // -l, -a, -A, -R and -d
	reverse, human, classify, slash         bool             // -r, -h, -F and -p
	noOwner, noGroup, numeric, dirsFirst    bool             // -g, -o and -G, -n, --group-directories-first
	follow, zero                            bool             // -L and --zero
	sort                                    string           // "", name, time, size, extension, version, none
	style                                   string           // of times
	ignore                                  []*regexp.Regexp // of -I and -B
	status                                  int
	printed                                 bool // something stands above

	open []Location // with -L, the directories that are being listed, which end a loop
}

// lsEntry is a file in a listing.
type lsEntry struct {
	info  workspace.FileInfo
	shown string // as it is printed: the name, or the argument
}

// ls lists directories, as POSIX says, with GNU's common options: one name a line, as
// if the output were no terminal, and sorted bytewise. Hidden names need -a or -A. A
// workspace has no owners, permissions and links, so that -l shows fixed ones (root,
// 644, 755, 1 link), and no blocks, so that "total" counts blocks of 4 KiB. Times are
// those of the last change, with -u and -c, too. The status is 2 for an argument that
// does not exist, 1 for a directory further down that cannot be read.
//
// operands sorts the arguments into files and directories, list prints one directory, order
// sorts, and print prints lines. Options for columns and colors are accepted, as they are in
// many aliases and scripts, and do nothing.
func ls(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	f.failure = exitUsage
	l := &lsRun{p: p, out: bufio.NewWriter(p.Stdout)}
	f.BoolFuncP("all", "a", "hidden files, too, and . and ..", func(string) error {
		l.all, l.almost = true, false
		return nil
	})
	f.BoolFuncP("almost-all", "A", "hidden files, too", func(string) error {
		l.all, l.almost = false, true
		return nil
	})
	f.BoolVarP(&l.long, "l", "l", false, "with type, size and time")
	f.BoolVarP(&l.recursive, "recursive", "R", false, "directories with all that is in them")
	f.BoolVarP(&l.directory, "directory", "d", false, "directories themselves, not what is in them")
	f.BoolVarP(&l.reverse, "reverse", "r", false, "the other way round")
	f.BoolVarP(&l.human, "human-readable", "h", false, "sizes such as 1.5K")
	f.BoolVarP(&l.classify, "F", "F", false, "a mark after the names of directories and symlinks")
	f.BoolVarP(&l.slash, "p", "p", false, "a slash after the names of directories")
	f.BoolVarP(&l.numeric, "numeric-uid-gid", "n", false, "-l with numbers of users and groups")
	f.BoolVarP(&l.noOwner, "g", "g", false, "-l without the user")
	f.BoolVarP(&l.noGroup, "o", "o", false, "-l without the group")
	noGroup := f.BoolP("no-group", "G", false, "no groups")
	f.BoolVarP(&l.follow, "dereference", "L", false, "what symlinks lead to")
	f.BoolVar(&l.zero, "zero", false, "a NUL byte after each name")
	f.BoolVar(&l.dirsFirst, "group-directories-first", false, "directories first")
	// The last of these options on the command line counts. -f also shows hidden files.
	for letter, by := range map[string]string{"t": "time", "S": "size", "X": "extension", "v": "version", "U": "none", "f": "none"} {
		f.BoolFuncP(letter, letter, "sort by "+by, func(string) error {
			l.sort = by
			l.all = l.all || letter == "f"
			return nil
		})
	}
	f.StringVar(&l.sort, "sort", "", "sort by time, size, extension, version, name or none")
	f.StringVar(&l.style, "time-style", "locale", "full-iso, long-iso, iso or +FORMAT")
	fullTime := f.Bool("full-time", false, "-l with --time-style=full-iso")
	ignored := f.StringArrayP("ignore", "I", nil, "leave out names that match")
	hidden := f.StringArray("hide", nil, "leave out names that match, without -a and -A")
	backups := f.BoolP("ignore-backups", "B", false, "leave out names that end with ~")
	f.String("color", "never", "(ignored)")
	f.Lookup("color").NoOptDefVal = "auto"
	quoting := f.String("quoting-style", "literal", "only literal")
	format := f.String("format", "single-column", "long, verbose, or single-column, which across, horizontal and vertical are here")
	f.IntP("width", "w", 0, "(ignored)")
	for letter, name := range map[string]string{"1": "1", "C": "C", "x": "x", "N": "literal", "k": "kibibytes", "q": "hide-control-chars", "u": "u", "c": "c"} {
		f.BoolP(name, letter, false, "(ignored)")
	}
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if *backups {
		*ignored = append(*ignored, "*~")
	}
	// --hide, unlike -I, has no effect on somebody who asks for all names.
	if !l.all && !l.almost {
		*ignored = append(*ignored, *hidden...)
	}
	for _, text := range *ignored {
		l.ignore = append(l.ignore, wildcard(text, false))
	}
	if *fullTime {
		l.long, l.style = true, "full-iso"
	}
	if !slices.Contains([]string{"", "name", "time", "size", "extension", "version", "none"}, l.sort) {
		return p.errorf("invalid argument '%s' for '--sort'", l.sort)
	}
	if !strings.HasPrefix(l.style, "+") && !slices.Contains([]string{"locale", "full-iso", "long-iso", "iso"}, strings.TrimPrefix(l.style, "posix-")) {
		p.errorf("invalid argument '%s' for 'time style'", l.style)
		return exitUsage
	}
	switch *format {
	case "single-column", "across", "horizontal", "vertical":
	case "long", "verbose":
		l.long = true
	default:
		return p.errorf("--format=%s is not possible here", *format)
	}
	if *quoting != "literal" {
		return p.errorf("--quoting-style=%s is not possible here", *quoting)
	}
	l.long = l.long || l.numeric || l.noOwner || l.noGroup
	l.noGroup = l.noGroup || *noGroup
	if len(names) == 0 {
		names = []string{"."}
	}
	l.operands(ctx, names)
	return p.finish(l.out, l.status)
}

// operands lists the arguments: files first.
//
// A header stands above each directory if there are several arguments, or with -R. An
// argument that does not exist is reported at once, and the others are listed. POSIX asks
// for files before directories, each sorted, whatever the order of the arguments was.
func (l *lsRun) operands(ctx context.Context, names []string) {
	var files, dirs []lsEntry
	for _, name := range names {
		info, err := l.describe(ctx, name)
		switch {
		case err != nil:
			l.out.Flush()
			l.p.errorf("cannot access %s: %s", quoteName(name), ErrorText(err))
			l.status = exitUsage
		case info.IsDir() && !l.directory:
			dirs = append(dirs, lsEntry{info, name})
		default:
			files = append(files, lsEntry{info, name})
		}
	}
	l.order(files)
	l.order(dirs)
	if len(files) > 0 {
		l.print(ctx, files, "")
		l.printed = true
	}
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return
		}
		l.list(ctx, dir.shown, len(names) > 1 || l.recursive, true)
	}
}

// describe describes an argument. A symlink to a directory is followed, unless it is
// described itself.
//
// POSIX has it so: ls link lists the directory behind it, and ls -l, -d and -F show the
// link. With -L, a link that leads nowhere is an error.
func (l *lsRun) describe(ctx context.Context, name string) (workspace.FileInfo, error) {
	if l.follow {
		return l.p.Stat(ctx, name)
	}
	if !l.long && !l.directory && !l.classify {
		if info, err := l.p.Stat(ctx, name); err == nil && info.IsDir() {
			return info, nil
		}
	}
	return l.p.Lstat(ctx, name)
}

// list lists one directory, and with -R those in it: first all that is in it, then each
// directory.
//
// head says whether the name stands above, and operand that it is an argument, whose errors
// have another status. Symlinks to directories are entered with -L only, and then not where
// they lead back, so that -R ends. There a symlink that leads nowhere is shown itself. Entries
// are held in memory, one directory of each level at a time.
func (l *lsRun) list(ctx context.Context, name string, head, operand bool) {
	if l.follow {
		at := l.p.resolve(ctx, name, false)
		if slices.Contains(l.open, at) {
			l.out.Flush()
			l.p.errorf("%s: not listing already-listed directory", name)
			l.status = exitUsage
			return
		}
		l.open = append(l.open, at)
		defer func() { l.open = l.open[:len(l.open)-1] }()
	}
	infos, err := l.p.ReadDir(ctx, name)
	if err != nil {
		l.out.Flush()
		l.p.errorf("cannot open directory %s: %s", quoteName(name), ErrorText(err))
		if l.status = max(l.status, 1); operand {
			l.status = exitUsage
		}
		return
	}
	if head {
		if l.printed {
			l.out.WriteByte('\n')
		}
		l.out.WriteString(name + ":\n")
	}
	l.printed = true
	var entries []lsEntry
	if l.all {
		// ".." has the description of the directory, too: what is above the root is
		// unknown.
		here, _ := l.p.Stat(ctx, name)
		here.Type = workspace.TypeDirectory
		entries = append(entries, lsEntry{here, "."}, lsEntry{here, ".."})
	}
	for _, info := range infos {
		if l.leavesOut(info.Name) {
			continue
		}
		shown := info.Name
		if l.follow && info.Type == workspace.TypeSymlink {
			if target, err := l.p.Stat(ctx, joinShown(name, shown, false)); err == nil {
				info = target
			}
		}
		entries = append(entries, lsEntry{info, shown})
	}
	l.order(entries)
	var total int64
	for _, e := range entries {
		total += diskUsage(e.info)
	}
	if l.long {
		text := strconv.FormatInt(total/1024, 10)
		if l.human {
			text = humanSize(total)
		}
		fmt.Fprintf(l.out, "total %s\n", text)
	}
	l.print(ctx, entries, name)
	if !l.recursive {
		return
	}
	for _, e := range entries {
		if e.info.IsDir() && e.shown != "." && e.shown != ".." && ctx.Err() == nil {
			l.list(ctx, joinShown(name, e.shown, false), true, false)
		}
	}
}

// leavesOut reports whether a name is hidden or ignored.
func (l *lsRun) leavesOut(name string) bool {
	if strings.HasPrefix(name, ".") && !l.all && !l.almost {
		return true
	}
	return slices.ContainsFunc(l.ignore, func(re *regexp.Regexp) bool { return re.MatchString(name) })
}

// order sorts a listing. Of times the newest comes first, of sizes the largest, and
// names decide where they are equal. --group-directories-first is not reversed by -r.
//
// Without -t and the like, names are compared as bytes, as in the C locale: "B" comes
// before "a". The sort is stable, so that with -U the order of the workspace stays.
func (l *lsRun) order(entries []lsEntry) {
	compare := func(a, b lsEntry) int { return strings.Compare(a.shown, b.shown) }
	by := compare
	switch l.sort {
	case "none":
		by = func(a, b lsEntry) int { return 0 }
	case "time":
		by = func(a, b lsEntry) int { return cmp.Or(b.info.ModTime.Compare(a.info.ModTime), compare(a, b)) }
	case "size":
		by = func(a, b lsEntry) int { return cmp.Or(cmp.Compare(sizeOf(b.info), sizeOf(a.info)), compare(a, b)) }
	case "extension":
		by = func(a, b lsEntry) int {
			return cmp.Or(strings.Compare(extension(a.shown), extension(b.shown)), compare(a, b))
		}
	case "version":
		by = func(a, b lsEntry) int {
			return cmp.Or(compareVersions([]byte(a.shown), []byte(b.shown)), compare(a, b))
		}
	}
	slices.SortStableFunc(entries, func(a, b lsEntry) int {
		if l.dirsFirst && a.info.IsDir() != b.info.IsDir() {
			if a.info.IsDir() {
				return -1
			}
			return 1
		}
		if l.reverse {
			a, b = b, a
		}
		return by(a, b)
	})
}

// extension returns what follows the last dot of a name, with the dot.
//
// "" sorts first, so names without a dot do.
func extension(name string) string {
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		return name[at:]
	}
	return ""
}

// print prints entries of the directory dir.
//
// dir is "" for arguments. Only the sizes are aligned: the other columns have one width,
// unless times have a +FORMAT. -l shows of a symlink where it leads at last, as an absolute
// name: a workspace does not say what text a symlink has.
func (l *lsRun) print(ctx context.Context, entries []lsEntry, dir string) {
	end := "\n"
	if l.zero {
		end = "\x00"
	}
	sizes, width := make([]string, len(entries)), 0
	for i, e := range entries {
		sizes[i] = strconv.FormatInt(sizeOf(e.info), 10)
		if l.human {
			sizes[i] = humanSize(sizeOf(e.info))
		}
		width = max(width, len(sizes[i]))
	}
	for i, e := range entries {
		if l.long {
			fmt.Fprintf(l.out, "%s 1 %s%*s %s ", modeText(e.info), l.owners(), width, sizes[i], l.time(e.info.ModTime))
		}
		l.out.WriteString(e.shown + l.mark(e.info))
		if l.long && e.info.Type == workspace.TypeSymlink {
			if target, err := l.p.readLink(ctx, path.Join(dir, e.shown)); err == nil {
				l.out.WriteString(" -> " + target)
			}
		}
		l.out.WriteString(end)
	}
}

// owners returns the user and the group, each with a space.
func (l *lsRun) owners() string {
	name := ownerName + " "
	if l.numeric {
		name = "0 "
	}
	text := ""
	if !l.noOwner {
		text += name
	}
	if !l.noGroup {
		text += name
	}
	return text
}

// mark returns what -F and -p print after a name.
//
// With -l, the arrow to its target shows a symlink.
func (l *lsRun) mark(info workspace.FileInfo) string {
	switch {
	case info.IsDir() && (l.classify || l.slash):
		return "/"
	case info.Type == workspace.TypeSymlink && l.classify && !l.long:
		return "@"
	}
	return ""
}

// time returns a time as -l shows it: with the time of day if it is not older than half
// a year nor in the future, else with the year. A store without times shows 1970.
//
// POSIX asks for both forms, and draws the line at six months. They have the same width,
// and so have those of iso.
func (l *lsRun) time(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	t = t.In(l.p.location())
	now := l.p.Now()
	recent := t.After(now.Add(-365*24*time.Hour/2)) && !t.After(now)
	switch style := strings.TrimPrefix(l.style, "posix-"); {
	case strings.HasPrefix(style, "+"):
		return formatTime(t, style[1:])
	case style == "full-iso":
		return formatTime(t, "%Y-%m-%d %H:%M:%S.%N %z")
	case style == "long-iso":
		return formatTime(t, "%Y-%m-%d %H:%M")
	case style == "iso" && recent:
		return formatTime(t, "%m-%d %H:%M")
	case style == "iso":
		return formatTime(t, "%Y-%m-%d ")
	case recent:
		return formatTime(t, "%b %e %H:%M")
	}
	return formatTime(t, "%b %e  %Y")
}
