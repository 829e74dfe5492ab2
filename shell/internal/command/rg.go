package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/shell/internal/pattern"
	"github.com/workspacekit/workspacekit/workspace"
)

// rgTypes are the globs of the types of files that rg knows by name: the common ones of
// ripgrep's list.
//
// One name has the globs of all languages that ripgrep lists under it, which can overlap:
// -t c and -t cpp both have *.h. A key is what --type-list prints.
var rgTypes = map[string][]string{
	"c": {"*.[chH]", "*.[chH].in", "*.cats"}, "cpp": {"*.[ChH]", "*.cc", "*.[ch]pp", "*.[ch]xx", "*.hh", "*.inl"},
	"cs": {"*.cs"}, "css": {"*.css", "*.scss"}, "csv": {"*.csv"}, "docker": {"*Dockerfile*"}, "go": {"*.go"},
	"html": {"*.htm", "*.html", "*.ejs"}, "java": {"*.java", "*.jsp", "*.jspx", "*.properties"},
	"js": {"*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"}, "json": {"*.json", "composer.lock"}, "kotlin": {"*.kt", "*.kts"},
	"lua": {"*.lua"}, "make": {"[Gg][Nn][Uu]makefile", "[Mm]akefile", "*.mk", "*.mak"}, "markdown": {"*.markdown", "*.md", "*.mdown", "*.mkdn"},
	"perl": {"*.perl", "*.pl", "*.PL", "*.plx", "*.pm", "*.t"}, "php": {"*.php", "*.php3", "*.php4", "*.php5", "*.phtml"},
	"proto": {"*.proto"}, "py": {"*.py", "*.pyi"}, "ruby": {"*.rb", "*.gemspec", "Gemfile", "Rakefile"}, "rust": {"*.rs"},
	"sh": {"*.bash", "*.csh", "*.ksh", "*.sh", "*.tcsh", "*.zsh"}, "sql": {"*.sql", "*.psql"}, "swift": {"*.swift"},
	"toml": {"*.toml", "Cargo.lock"}, "ts": {"*.ts", "*.tsx", "*.cts", "*.mts"}, "txt": {"*.txt"},
	"xml": {"*.xml", "*.xsd", "*.xsl", "*.xslt", "*.svg"}, "yaml": {"*.yaml", "*.yml"},
}

// rgAliases are other names of types.
var rgAliases = map[string]string{"md": "markdown", "python": "py", "rs": "rust", "typescript": "ts", "javascript": "js", "yml": "yaml", "rb": "ruby", "cc": "cpp"}

// rg finds lines as ripgrep does, and leaves out hidden files and those that .gitignore
// files exclude. Files are sorted by path. Patterns are those of the regex crate, with
// -P Perl's without look-around. A pattern matches in one line. Without a path it
// searches the standard input if something can be read from it, and else the working
// directory. The status is that of grep.
//
// It is the search of grep with other options (see grepRun): rg reads the options, filters
// makes globs of -g, -t, -d and hidden names, and the workspace searches directories by
// these.
//
// What rg prints is made for a program that reads it, as if the output were no terminal: no
// colors, no headings unless asked for, and no numbers of lines without -n. --json and
// --multiline are refused, since a script that asks for them cannot use anything else;
// options that only tune the search are accepted.
func rg(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... PATTERN [PATH]...")
	f.failure = exitUsage
	o := grepOptions{anyBytes: true, gitignore: true, label: "<stdin>"}
	var po pattern.Options
	given := f.StringArrayP("regexp", "e", nil, "a pattern; can be repeated")
	patternFiles := f.StringArrayP("file", "f", nil, "a file with patterns, one a line")
	fixed := f.BoolP("fixed-strings", "F", false, "patterns are plain text")
	perl := f.BoolP("pcre2", "P", false, "patterns are Perl's, without look-around and back references")
	smart := false
	// The last one of these counts.
	caseOf := func(ignore, bySmart bool) func(string) error {
		return func(string) error { po.IgnoreCase, smart = ignore, bySmart; return nil }
	}
	f.BoolFuncP("ignore-case", "i", "letters match in either case", caseOf(true, false))
	f.BoolFuncP("case-sensitive", "s", "letters match in their case", caseOf(false, false))
	f.BoolFuncP("smart-case", "S", "-i for a pattern without capital letters", caseOf(false, true))
	f.BoolVarP(&po.Word, "word-regexp", "w", false, "a match is a whole word")
	f.BoolVarP(&po.Line, "line-regexp", "x", false, "a match is a whole line")
	f.BoolVarP(&o.invert, "invert-match", "v", false, "print the lines that do not match")
	f.BoolVarP(&o.number, "line-number", "n", false, "print the numbers of lines")
	noNumber := f.BoolP("no-line-number", "N", false, "print no numbers of lines")
	f.BoolVar(&o.column, "column", false, "print the columns of matches")
	f.BoolVarP(&o.list, "files-with-matches", "l", false, "print the names of the files with matches")
	f.BoolVar(&o.listNot, "files-without-match", false, "print the names of the files without matches")
	f.BoolVarP(&o.count, "count", "c", false, "print how many lines of each file match")
	f.BoolVar(&o.zeroCount, "include-zero", false, "with -c: files without a match, too")
	f.BoolVarP(&o.only, "only-matching", "o", false, "print only the part of a line that matches")
	replacement := f.StringP("replace", "r", "", "print this in place of a match; $1 is a group")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing, the status tells")
	f.BoolVar(&o.silent, "no-messages", false, "no messages about files that cannot be read")
	f.IntVarP(&o.max, "max-count", "m", -1, "stop after so many lines of a file")
	f.IntVarP(&o.before, "before-context", "B", -1, "print so many lines before a match")
	f.IntVarP(&o.after, "after-context", "A", -1, "print so many lines after a match")
	around := f.IntP("context", "C", 0, "print so many lines around a match")
	globs := f.StringArrayP("glob", "g", nil, "search only the files that it matches, or with ! leave them out")
	types := f.StringArrayP("type", "t", nil, "search only files of that type")
	typesNot := f.StringArrayP("type-not", "T", nil, "leave out files of that type")
	typeList := f.Bool("type-list", false, "print the types")
	list := f.Bool("files", false, "print the files that would be searched")
	hidden := f.BoolP("hidden", ".", false, "search hidden files, too")
	noIgnore := f.Bool("no-ignore", false, "search files that .gitignore files exclude, too")
	unrestricted := f.CountP("unrestricted", "u", "once: --no-ignore; twice: also --hidden; three times: also -a")
	f.BoolVarP(&o.text, "text", "a", false, "binary files are text")
	withName := f.BoolP("with-filename", "H", false, "print the names of files before lines")
	noName := f.BoolP("no-filename", "I", false, "print no names of files")
	heading := f.Bool("heading", false, "print the name of a file once, above its lines")
	f.BoolVarP(&o.zeroName, "null", "0", false, "print a NUL byte after the names of files")
	depth := f.IntP("max-depth", "d", -1, "with --files: directories down to that depth")
	for _, ignored := range []string{"no-heading", "no-config", "no-ignore-vcs", "no-ignore-parent", "no-require-git", "line-buffered"} {
		f.Bool(ignored, false, "(ignored)")
	}
	follow := f.BoolP("follow", "L", false, "not possible here")
	f.String("sort", "path", "(ignored: files are sorted by path)")
	f.IntP("threads", "j", 0, "(ignored)")
	color := f.String("color", "never", "only never and auto")
	json := f.Bool("json", false, "not possible here")
	multiline := f.BoolP("multiline", "U", false, "not possible here")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	switch {
	case *json:
		p.errorf("--json is not possible here")
		return exitUsage
	case *multiline:
		p.errorf("--multiline is not possible here: patterns match in one line")
		return exitUsage
	case *follow:
		p.errorf("--follow is not possible here: symlinks are not followed")
		return exitUsage
	case *color != "never" && *color != "auto":
		p.errorf("colors are not possible here: --color=%s", *color)
		return exitUsage
	case *typeList:
		return printTypes(p)
	}
	patterns, err := grepPatterns(ctx, p, *given, *patternFiles)
	if err != nil {
		p.errorf("%v", err)
		return exitUsage
	}
	if !f.Changed("regexp") && !f.Changed("file") && !*list {
		if len(names) == 0 {
			p.errorf("the following required arguments were not provided:\n    <PATTERN>")
			return exitUsage
		}
		patterns, names = names[:1], names[1:]
	}
	o.number = (o.number || o.column) && !*noNumber
	if f.Changed("replace") {
		o.replace = replacement
	}
	// -A and -B count more than -C, wherever they stand.
	for _, n := range []*int{&o.before, &o.after} {
		if *n < 0 {
			*n = *around
		}
	}
	o.gitignore = !*noIgnore && *unrestricted == 0
	o.text = o.text || *unrestricted > 2
	language := pattern.Rust
	if *perl {
		language = pattern.Perl
	}
	if *fixed {
		language = pattern.Fixed
	}
	if smart {
		text := strings.Join(patterns, "|")
		if !*fixed {
			text = rgCharacters(text)
		}
		po.IgnoreCase = text != "" && !strings.ContainsFunc(text, unicode.IsUpper)
	}
	r := &rgRun{p: p, options: o, globs: *globs, hidden: *hidden || *unrestricted > 1, depth: *depth}
	if r.types, err = typeGlobs(*types); err == nil {
		r.typesNot, err = typeGlobs(*typesNot)
	}
	if err != nil {
		p.errorf("%v", err)
		return exitUsage
	}
	implicit := len(names) == 0
	if implicit {
		// This is what ripgrep does in a pipe: rg x and cat f | rg x both do what is meant.
		if names = []string{"."}; !*list && r.hasInput() {
			names = []string{"-"}
		}
	}
	if *list {
		return r.list(ctx, names, implicit)
	}
	r.options.withName = (*withName || len(names) > 1) && !*noName
	return r.search(ctx, names, implicit, *noName, *heading, patterns, language, &po)
}

// rgSyntax is what of a pattern is no character that -S looks at: operators, escapes, names of
// classes and groups, and flags.
var rgSyntax = lazyregexp.New(`\\(?:[pP](?:\{[^}]*\}|.)|x[[:xdigit:]]{2}|u[[:xdigit:]]{4}|U[[:xdigit:]]{8}|[xuU]\{[[:xdigit:]]+\}|.)` +
	`|\(\?(?:P?<\w*>|[a-zA-Z-]*[:)])|\[:\^?\w+:\]|\{[0-9,]*\}|[][.*+?(){}|^$-]`)

// rgCharacters returns the characters that a pattern spells. The capital letter of an escape is
// none of them, and that of a character's code is:
//
//	\W+foo      foo       \x41b     Ab
//	\p{Lu}      none      [A-Z]     AZ
//	\.          .         (?P<N>a)  a
func rgCharacters(text string) string {
	return rgSyntax().ReplaceAllStringFunc(text, func(part string) string {
		switch {
		case part[0] != '\\' || unicode.IsLetter(rune(part[1])) && len(part) == 2 || part[1]|0x20 == 'p':
			return ""
		case len(part) == 2:
			return part[1:]
		}
		code, _ := strconv.ParseUint(strings.Trim(part[2:], "{}"), 16, 32)
		return string(rune(code))
	})
}

// printTypes prints the types of -t, sorted, with their globs.
func printTypes(p *Process) int {
	var names []string
	for name := range rgTypes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(p.Stdout, "%s: %s\n", name, strings.Join(rgTypes[name], ", "))
	}
	return 0
}

// typeGlobs returns the globs of types.
//
// The error names the first type that is unknown. No names give no globs, which stands for
// all files.
func typeGlobs(names []string) ([]string, error) {
	var globs []string
	for _, name := range names {
		if alias := rgAliases[name]; alias != "" {
			name = alias
		}
		found, ok := rgTypes[name]
		if !ok {
			return nil, fmt.Errorf("unrecognized file type: %s", name)
		}
		globs = append(globs, found...)
	}
	return globs, nil
}

// rgRun is one run of rg.
type rgRun struct {
	p               *Process
	options         grepOptions
	globs           []string // -g
	types, typesNot []string // of -t and -T
	hidden          bool     // --hidden: names that begin with a dot, too
	depth           int      // of --max-depth; -1 for any
}

// hasInput reports whether something can be read from the standard input, which is then
// searched if there are no paths.
//
// It waits for the first byte or the end of the input. The byte is not lost: Stdin of the
// process is the reader that has looked.
func (r *rgRun) hasInput() bool {
	if r.p.Stdin == nil {
		return false
	}
	in := bufio.NewReader(r.p.Stdin)
	_, err := in.Peek(1)
	r.p.Stdin = in
	return err == nil
}

// search searches files and directories.
//
// In a directory, lines have the name of their file, and binary files are left out. A file
// that is named on the command line is searched in any case, by the rules of the options.
// Whether a name is a directory is found out by the search, which spares a request; the
// function that tree gets restores the rules for a file. implicit says that the directory
// was not named, so that paths begin without "./".
func (r *rgRun) search(ctx context.Context, names []string, implicit, noName, heading bool, patterns []string, language pattern.Syntax, po *pattern.Options) int {
	g, err := newGrep(ctx, r.p, r.options, patterns, language, po)
	if err != nil {
		r.p.errorf("%v", err)
		return exitUsage
	}
	g.heading = heading
	for _, name := range names {
		if !g.mayBeDir(ctx, name) {
			g.operand(ctx, name)
		} else {
			g.withName, g.noBinary = !noName, !g.text
			g.includes, g.excludes = r.filters(name)
			if err := g.compileFilter(); err != nil {
				g.fail(name, err)
				continue
			}
			g.tree(ctx, name, implicit, func() bool {
				g.withName, g.noBinary = r.options.withName, false
				return true
			})
			g.noBinary = false
		}
		if g.done(ctx) {
			break
		}
	}
	return g.finish()
}

// filters returns the globs of the files that are searched in the directory name, and
// of those that are left out. Those of the options begin at the working directory, so
// that the path of the directory is taken from them:
//
//	rg -g 'src/*.go' x src    src/*.go becomes *.go in src
//	rg -g '!*.md' x           leaves out *.md at any depth
//	rg -g '.github/**' x      shows hidden files, as the glob names one
//
// A glob of the result that begins with "/" counts from the directory name (see anywhere).
// A glob that leaves out a directory leaves out what is in it. -g with a slash at its end
// is about directories alone.
func (r *rgRun) filters(name string) (includes, excludes []string) {
	hidden := r.hidden
	prefix := path.Clean(name)
	if prefix == "." {
		prefix = ""
	}
	for _, text := range r.globs {
		text, not := strings.CutPrefix(text, "!")
		text = strings.TrimPrefix(strings.TrimPrefix(text, "./"), "/")
		inDir := strings.HasSuffix(text, "/")
		text = strings.TrimSuffix(text, "/")
		if !strings.Contains(text, "/") {
			text = "**/" + text
		} else if rest, below := strings.CutPrefix(text, prefix+"/"); prefix != "" && below {
			text = rest
		}
		switch {
		case !not:
			if hidden = hidden || strings.Contains(text, "/.") || strings.HasPrefix(text, "."); !inDir {
				includes = append(includes, "/"+text)
			}
		case inDir:
			excludes = append(excludes, "/"+text+"/**")
		default:
			excludes = append(excludes, "/"+text)
			if !strings.HasSuffix(text, "**") {
				excludes = append(excludes, "/"+text+"/**")
			}
		}
	}
	// With -d 1 this leaves out */**/*, all that has a directory above it.
	if r.depth >= 0 {
		excludes = append(excludes, "/"+strings.Repeat("*/", min(r.depth, 100))+"**/*")
	}
	if !hidden {
		excludes = append(excludes, "**/.*", "**/.*/**")
	}
	for _, text := range r.typesNot {
		excludes = append(excludes, "**/"+text)
	}
	if len(includes) == 0 { // a glob that includes counts more than a type
		for _, text := range r.types {
			includes = append(includes, "**/"+text)
		}
	}
	return includes, excludes
}

// list prints the files that would be searched.
func (r *rgRun) list(ctx context.Context, names []string, implicit bool) int {
	g, err := newGrep(ctx, r.p, r.options, nil, pattern.Fixed, &pattern.Options{})
	if err != nil {
		return r.p.errorf("%v", err)
	}
	for _, name := range names {
		at, err := r.p.Files.Locate(ctx, r.p.Dir, name)
		if err == nil && at.Workspace == nil {
			err = &fs.PathError{Op: "ls", Path: name, Err: fs.ErrInvalid}
		}
		if err == nil {
			err = r.listDir(ctx, g, at, name, implicit)
		}
		if err != nil {
			g.fail(name, err)
		}
	}
	return g.finish()
}

// listDir prints the files of --files below name: those that a search would read.
// implicit says that no name was given, so that they are shown without the "./" in
// front.
//
// name may be a file, which is printed whatever the globs say. Paths are sorted.
func (r *rgRun) listDir(ctx context.Context, g *grepRun, at Location, name string, implicit bool) error {
	g.includes, g.excludes = r.filters(name)
	if err := g.compileFilter(); err != nil {
		return err
	}
	if info, err := r.p.Stat(ctx, name); err == nil && !info.IsDir() {
		fmt.Fprintln(g.out, name)
		g.found = true
		return nil
	}
	files, err := globFiles(ctx, at, r.options.gitignore)
	for _, file := range files {
		rel := relativeTo(at.Name, file)
		dir, base := workspace.Split(rel)
		if g.filter(dir, base) || r.depth >= 0 && strings.Count(rel, "/") >= r.depth {
			continue
		}
		g.found = true
		end := "\n"
		if g.zeroName {
			end = "\x00"
		}
		if _, err := io.WriteString(g.out, joinShown(name, rel, implicit)+end); err != nil {
			return nil // the reader wants no more
		}
	}
	return err
}

// replaced returns a line with the replacement in place of each match.
//
// line is not changed. An empty match gets the replacement where it is.
func (g *grepRun) replaced(line []byte) []byte {
	var out []byte
	at := 0
	for m := range g.re.Each(g.ctx, line) {
		out = append(out, line[at:m[0]]...)
		out = g.expand(out, line, m)
		at = m[1]
	}
	return append(out, line[at:]...)
}

// rgGroup is a group in a replacement, after the "$".
var rgGroup = lazyregexp.New(`^(?:\{([0-9A-Za-z_]+)\}|([0-9A-Za-z_]+))`)

// expand adds the replacement of a match to out: $1, ${1}, $name and ${name} are groups, $0 is
// the match, and $$ a dollar sign. A group that did not match, or does not exist, is empty. A name
// is as long as possible.
//
// m has the bounds of the match and its groups in line, as package regexp returns them,
// with -1 for a group that did not match. With the groups a and b:
//
//	$2-$1     b-a          ${1}0     a0
//	$$1       $1           $1x       nothing: no group is named 1x
func (g *grepRun) expand(out, line []byte, m []int) []byte {
	text := *g.replace
	for text != "" {
		before, rest, found := strings.Cut(text, "$")
		out = append(out, before...)
		if !found {
			break
		}
		text = rest
		if strings.HasPrefix(text, "$") {
			out, text = append(out, '$'), text[1:]
			continue
		}
		group := rgGroup().FindStringSubmatch(text)
		if group == nil {
			out = append(out, '$')
			continue
		}
		text = text[len(group[0]):]
		number, err := strconv.Atoi(group[1] + group[2])
		if err != nil {
			number = g.re.Group(group[1] + group[2])
		}
		if number >= 0 && number < len(m)/2 && m[2*number] >= 0 {
			out = append(out, line[m[2*number]:m[2*number+1]]...)
		}
	}
	return out
}
