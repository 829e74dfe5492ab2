package command

import (
	"bufio"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ignore"
	"github.com/workspacekit/workspacekit/workspace"
)

// duRun is one run of du.
type duRun struct {
	p               *Process
	out             *bufio.Writer
	all, apparent   bool             // -a and --apparent-size
	human           bool             // -h
	depth           int              // -1 for all
	unit            int64            // of the sizes, in bytes
	end             string           // of a line
	exclude         []*regexp.Regexp // of --exclude
	status          int
	total           int64    // of all arguments, for -c
	done            []string // the arguments that have been measured
	separateSummary bool     // -S: a directory without those in it
}

// du prints how much space files take, as POSIX says, with GNU's -h, -a, -c, -b, -d and
// -S: in units of 1 KiB, and by blocks of 4 KiB, as a workspace does not know what a
// disk uses. An argument that is in another one is counted once.
//
// A directory itself counts one block. Symlinks in a directory are not followed, and count
// without their targets. A file of 10 bytes, alone in d:
//
//	du d          8      d      two blocks
//	du -b d       4106   d      4096 for the directory, and 10
//	du -ah d      4.0K   d/f
//	              8.0K   d
func du(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	d := &duRun{p: p, out: bufio.NewWriter(p.Stdout), unit: 1024, end: "\n"}
	summarize := f.BoolP("summarize", "s", false, "print only the arguments")
	f.BoolVarP(&d.all, "all", "a", false, "print files, too")
	f.BoolVarP(&d.human, "human-readable", "h", false, "sizes such as 1.5K")
	f.BoolVar(&d.apparent, "apparent-size", false, "sizes of files, not of the blocks that they take")
	f.BoolVarP(&d.separateSummary, "separate-dirs", "S", false, "without the directories in a directory")
	bytes := f.BoolP("bytes", "b", false, "--apparent-size in bytes")
	kilo := f.BoolP("k", "k", false, "in KiB")
	mega := f.BoolP("m", "m", false, "in MiB")
	total := f.BoolP("total", "c", false, "print the sum, too")
	zero := f.BoolP("null", "0", false, "a NUL byte after each line")
	f.IntVarP(&d.depth, "max-depth", "d", -1, "print directories down to that depth")
	follow := f.BoolP("dereference-args", "D", false, "what symlinks among the arguments lead to")
	exclude := f.StringArray("exclude", nil, "leave out files whose name matches")
	for letter, name := range map[string]string{"x": "one-file-system", "l": "count-links"} {
		f.BoolP(name, letter, false, "(ignored)")
	}
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	switch {
	case *summarize && d.all:
		return f.wrong("cannot both summarize and show all entries")
	case *summarize && d.depth > 0:
		return f.wrong("warning: summarizing conflicts with --max-depth=%d", d.depth)
	case *summarize:
		d.depth = 0
	case f.Changed("max-depth") && d.depth < 0:
		return f.wrong("invalid maximum depth '%d'", d.depth)
	}
	if *bytes {
		d.apparent, d.unit = true, 1
	}
	if *kilo {
		d.unit = 1024
	}
	if *mega {
		d.unit = 1 << 20
	}
	if *zero {
		d.end = "\x00"
	}
	for _, text := range *exclude {
		d.exclude = append(d.exclude, wildcard(text, false))
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	for _, name := range names {
		if d.counted(name) {
			continue
		}
		describe := p.Lstat
		if *follow {
			describe = p.Stat
		}
		info, err := describe(ctx, name)
		if err == nil {
			var size int64
			size, err = d.measure(ctx, name, info, 0)
			d.total += size
			d.done = append(d.done, path.Join(p.Dir, name))
		}
		if err != nil {
			d.out.Flush()
			d.status = p.errorf("cannot access %s: %s", quoteName(name), ErrorText(err))
		}
	}
	if *total {
		d.print(d.total, "total")
	}
	return p.finish(d.out, d.status)
}

// print prints a size, in bytes.
// Sizes are rounded up to the unit.
func (d *duRun) print(size int64, name string) {
	if d.human {
		fmt.Fprintf(d.out, "%s\t%s%s", humanSize(size), name, d.end)
		return
	}
	fmt.Fprintf(d.out, "%d\t%s%s", (size+d.unit-1)/d.unit, name, d.end)
}

// counted reports whether a file is, or is in, an argument that has been measured.
// The names are compared as they are spelled, cleaned: a symlink to a directory that was
// measured counts again.
func (d *duRun) counted(name string) bool {
	full := path.Join(d.p.Dir, name)
	return slices.ContainsFunc(d.done, func(dir string) bool {
		return full == dir || strings.HasPrefix(full, strings.TrimSuffix(dir, "/")+"/")
	})
}

// measure prints and returns the size of a file, or of a directory with all that is in
// it. A directory comes after what is in it. With -S, what it prints leaves out the
// directories in it, and what it returns does not.
//
// An error ends the measuring of the whole argument, whose sizes so far have been printed.
// An excluded file counts nothing, and an excluded directory is not read.
func (d *duRun) measure(ctx context.Context, name string, info workspace.FileInfo, depth int) (int64, error) {
	if d.counted(name) || slices.ContainsFunc(d.exclude, func(re *regexp.Regexp) bool { return matchesEnd(re, name) }) {
		return 0, nil
	}
	size := diskUsage(info)
	if d.apparent {
		size = sizeOf(info)
	}
	own := size
	if info.IsDir() {
		list, err := d.p.ReadDir(ctx, name)
		if err != nil {
			return 0, err
		}
		for _, child := range list {
			part, err := d.measure(ctx, joinShown(name, child.Name, false), child, depth+1)
			if err != nil {
				return 0, err
			}
			if size += part; !child.IsDir() {
				own += part
			}
		}
	}
	if (info.IsDir() || d.all || depth == 0) && (d.depth < 0 || depth <= d.depth) {
		shown := size
		if d.separateSummary {
			shown = own
		}
		d.print(shown, name)
	}
	return size, nil
}

// treeRun is one run of tree.
//
// An argument that is no directory makes the status 2; a directory below one that cannot be
// read makes it 1, and the tree goes on. dirs and files count what was printed.
type treeRun struct {
	p                              *Process
	out                            *bufio.Writer
	all, dirsOnly, full, dirsFirst bool // -a, -d, -f and --dirsfirst
	ascii                          bool // --charset
	mark, sizes, human             bool // -F, -s and -h
	gitignore, prune               bool
	depth                          int              // -L; zero for all
	leave, match                   []*regexp.Regexp // of -I and -P
	dirs, files                    int              // what the last line counts
	status                         int
}

// tree prints directories as a tree, as the program of Steve Baker does, sorted
// bytewise. Symlinks are not followed. --gitignore reads the .gitignore files below the
// argument.
//
//	.
//	├── a
//	│   └── b
//	└── c
//
//	2 directories, 2 files
func tree(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [DIRECTORY]...")
	t := &treeRun{p: p, out: bufio.NewWriter(p.Stdout)}
	f.BoolVarP(&t.all, "a", "a", false, "hidden files, too")
	f.BoolVarP(&t.dirsOnly, "d", "d", false, "directories only")
	f.BoolVarP(&t.full, "f", "f", false, "the path before each name")
	f.BoolVarP(&t.mark, "F", "F", false, "a slash after the names of directories")
	f.BoolVarP(&t.sizes, "s", "s", false, "sizes")
	f.BoolVarP(&t.human, "h", "h", false, "sizes such as 1.5K")
	f.BoolVar(&t.dirsFirst, "dirsfirst", false, "directories first")
	f.BoolVar(&t.gitignore, "gitignore", false, "without what .gitignore files exclude")
	f.BoolVar(&t.prune, "prune", false, "without empty directories")
	f.IntVarP(&t.depth, "L", "L", 0, "down to that depth")
	leave := f.StringArrayP("I", "I", nil, "leave out names that match; | separates patterns")
	match := f.StringArrayP("P", "P", nil, "only files whose name matches")
	noReport := f.Bool("noreport", false, "no line with the numbers at the end")
	for _, letter := range []string{"n", "C", "N", "A", "x", "q"} {
		f.BoolP(letter, letter, false, "(ignored)")
	}
	charset := f.String("charset", "utf-8", "lines of ASCII characters, if it is not utf-8")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if f.Changed("L") && t.depth < 1 {
		return p.errorf("Invalid level, must be greater than 0.")
	}
	t.ascii = !strings.EqualFold(*charset, "utf-8")
	t.leave, t.match = alternatives(*leave), alternatives(*match)
	if len(names) == 0 {
		names = []string{"."}
	}
	for _, name := range names {
		info, err := p.Stat(ctx, name)
		if err != nil || !info.IsDir() {
			fmt.Fprintf(t.out, "%s  [error opening dir]\n", name)
			t.status = 2
			continue
		}
		end := ""
		if t.mark && !strings.HasSuffix(name, "/") {
			end = "/"
		}
		fmt.Fprintf(t.out, "%s%s%s\n", t.size(info), name, end)
		var rules *ignore.Rules
		if t.gitignore {
			rules = rules.Enter("", t.ignoreFile(ctx, name))
		}
		t.list(ctx, name, "", 1, rules)
	}
	if !*noReport {
		t.report()
	}
	return p.finish(t.out, t.status)
}

// alternatives returns the wildcards in texts, which "|" separates. A slash at the end, which
// tree has for directories, means nothing here.
func alternatives(texts []string) []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, text := range texts {
		for _, one := range strings.Split(text, "|") {
			all = append(all, wildcard(strings.TrimSuffix(one, "/"), false))
		}
	}
	return all
}

// report prints how many there are, after an empty line. With -d files are not counted.
func (t *treeRun) report() {
	count := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	fmt.Fprintf(t.out, "\n%s", count(t.dirs, "directory", "directories"))
	if !t.dirsOnly {
		fmt.Fprintf(t.out, ", %s", count(t.files, "file", "files"))
	}
	t.out.WriteByte('\n')
}

// ignoreFile returns the rules in a directory, nil if it has none. A file that cannot be read
// is as none: tree shows more then, and never less.
func (t *treeRun) ignoreFile(ctx context.Context, dir string) *ignore.File {
	data, _, err := t.p.ReadFile(ctx, joinShown(dir, ignore.FileName, false))
	if err != nil {
		return nil
	}
	return ignore.Parse(data)
}

// entries returns what is shown of a directory.
//
// --prune asks this of each directory below, again at each level. A directory that cannot be
// read is not pruned, so that its error is seen.
func (t *treeRun) entries(ctx context.Context, dir string, rules *ignore.Rules) ([]workspace.FileInfo, error) {
	list, err := t.p.ReadDir(ctx, dir)
	matches := func(name string) func(re *regexp.Regexp) bool {
		return func(re *regexp.Regexp) bool { return re.MatchString(name) }
	}
	list = slices.DeleteFunc(list, func(info workspace.FileInfo) bool {
		return !t.all && strings.HasPrefix(info.Name, ".") || t.dirsOnly && !info.IsDir() ||
			slices.ContainsFunc(t.leave, matches(info.Name)) ||
			len(t.match) > 0 && !info.IsDir() && !slices.ContainsFunc(t.match, matches(info.Name)) ||
			t.gitignore && rules.Ignored(info.Name, info.IsDir())
	})
	if t.prune {
		list = slices.DeleteFunc(list, func(info workspace.FileInfo) bool {
			if !info.IsDir() {
				return false
			}
			child := joinShown(dir, info.Name, false)
			below, err := t.entries(ctx, child, t.enter(ctx, rules, info.Name, child))
			return err == nil && len(below) == 0
		})
	}
	if t.dirsFirst {
		slices.SortStableFunc(list, func(a, b workspace.FileInfo) int {
			switch {
			case a.IsDir() == b.IsDir():
				return 0
			case a.IsDir():
				return -1
			}
			return 1
		})
	}
	return list, err
}

// enter returns the rules in a child directory: those of the directories above it, and its
// own. It returns nil without --gitignore, so that no file is read.
func (t *treeRun) enter(ctx context.Context, rules *ignore.Rules, name, dir string) *ignore.Rules {
	if !t.gitignore {
		return nil
	}
	return rules.Enter(name, t.ignoreFile(ctx, dir))
}

// asciiTree makes the lines of a tree ASCII characters.
var asciiTree = strings.NewReplacer("─", "-", "├", "|", "│", "|", "└", "`", "\u00a0", " ")

// list prints what is in a directory. indent is what stands before its lines, and depth is 1
// for an argument. It returns when ctx ends.
func (t *treeRun) list(ctx context.Context, dir, indent string, depth int, rules *ignore.Rules) {
	if t.depth > 0 && depth > t.depth || ctx.Err() != nil {
		return
	}
	list, err := t.entries(ctx, dir, rules)
	if err != nil {
		t.out.Flush()
		t.status = t.p.fail(dir, err)
	}
	if depth == 1 && len(list) > 0 {
		t.dirs++ // the argument counts if there is something in it
	}
	for i, info := range list {
		branch, next := "├── ", "│\u00a0\u00a0 "
		if i == len(list)-1 {
			branch, next = "└── ", "    "
		}
		if t.ascii {
			branch, next = asciiTree.Replace(branch), asciiTree.Replace(next)
		}
		name := info.Name
		child := joinShown(dir, name, false)
		if t.full {
			name = child
		}
		if t.mark && info.IsDir() {
			name += "/"
		}
		if info.Type == workspace.TypeSymlink {
			if target, err := t.p.readLink(ctx, child); err == nil {
				name += " -> " + target
			}
		}
		fmt.Fprintf(t.out, "%s%s%s%s\n", indent, branch, t.size(info), name)
		if !info.IsDir() {
			t.files++
			continue
		}
		t.dirs++
		t.list(ctx, child, indent+next, depth+1, t.enter(ctx, rules, path.Base(child), child))
	}
}

// size returns the size before a name, with -s or -h.
func (t *treeRun) size(info workspace.FileInfo) string {
	switch {
	case t.human:
		return fmt.Sprintf("[%4s]  ", humanSize(sizeOf(info)))
	case t.sizes:
		return fmt.Sprintf("[%11d]  ", sizeOf(info))
	}
	return ""
}
