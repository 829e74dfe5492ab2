package command

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// gnuTree are the files that searches and listings get besides gnuFiles.
var gnuTree = map[string]string{
	"src/main.go": "package main\n\nfunc main() {\n\tfoo()\n}\n", "src/foo.go": "package main\n\n// foo is foo_bar.\nfunc foo() int { return 42 }\n",
	"src/foo_test.go": "package main\n\nfunc TestFoo() {}\n", "src/lib/deep/a.txt": "deep foo\n", "src/lib/b.TXT": "Foo\n", "src/empty.go": "",
	"vendor/foo.go": "package vendor // foo\n", "docs/read me.md": "# Foo\n\nfoo bar\n", ".hidden": "foo hidden\n", ".git/config": "foo\n", "src/bin": "foo\x00bar\n",
}

// sorted sorts the lines of an output: the real programs find files in the order of the
// directory.
func sorted(output string) string {
	lines := strings.SplitAfter(strings.ReplaceAll(output, "\x00", "\x00\n"), "\n")
	slices.Sort(lines)
	return strings.ReplaceAll(strings.Join(lines, ""), "--\n", "") // of a binary file there is one, or not
}

// longLine matches a line of ls -l: there are no links in a workspace, and a directory
// has a size of its own.
var longLine = regexp.MustCompile(`(?m)^([-dl][-rwx]{9}) +\d+ (.*?) *([\d.]+[KM]?) (T|[A-Z][a-z]{2} [ \d]\d +[\d:]{4,5}) `)

// plainLong takes from the output of ls what depends on the disk.
func plainLong(output string) string {
	output = regexp.MustCompile(`(?m)^total .*\n`).ReplaceAllString(output, "")
	return longLine.ReplaceAllStringFunc(output, func(line string) string {
		m := longLine.FindStringSubmatch(line)
		if m[1][0] == 'd' {
			m[1], m[3] = "drwxr-xr-x", "SIZE"
		}
		return strings.Join([]string{m[1], m[2], m[3], ""}, " ")
	})
}

// gnuFilesTests compares the programs that find and change files.
var gnuFilesTests = map[string]gnuTest{
	"grep": {
		slots: [][]string{
			{"", "", "-n", "-c", "-l", "-L", "-o", "-on", "-q", "-v", "-vn", "-vc", "-b", "-ob", "-cv", "-lv", "-H", "-h", "-Hn", "-m 1", "-m 2 -n", "-m1 -c", "-s", "-Z", "-lZ", "-z", "-nH --null", "-m 0", "-Lv", "-zc", "--label=in -H", "-T"},
			{"", "", "", "-i", "-w", "-x", "-A 1", "-B 1", "-C 1", "-1", "-a", "-I", "-A2 -B1", "-nC2", "--color=never", "-iw", "-ax", "--binary-files=without-match", "-y"},
			{"a", "e", "-e a", "-e the -e 'x y'", "'^a'", "'e$'", "'an*'", "-E 'a+|o'", "-F a.b", "-E '(th|jum)e?'", "''", "'^$'", "-P '\\d+'", "-P 'a(?:n|p)p?'", "-E '[[:upper:]][a-z]+'", "'\\<a'", "'\\bt'", "-F $'a\\nthe'", "-f pats", "-f empty", "-e", "'[a'", "-E 'a{2'", "-E 'p{2}'", "'a\\|e'", "-F 'a'", "-w the", "'[^a-z ]'", "'é'", "'.'", "-E '^.{5}$'", "-P 'e\\b'", "'wör'", "-E 'x*'", "-P '(a'", "-E '\\w+'", "-x apple"},
			operands,
		},
		lines: []string{"", "-E", "-Z", "--foo a", "-A x a text", "-m x a", "-r foo missing", "-rn --include='*.go' e text", "-rn --exclude='t*' e text", "-rl e text", "-rc e text nonl", "-r t binary", "-rI t binary", "-ra t binary", "-r e text/", "-rn -w e text dir", "-rnh e text dir", "-rv e text", "-rw the text", "-d skip a text dir", "-d recurse inner dir/inner", "--exclude='*.go' foo src/foo.go", "--include='*.txt' e text", "-r inner dir", "-rh inner dir", "-rc inner dir", "-rl inner dir", "-rL x dir", "-rn inner dir/", "-r inner dir text", "-rv x dir", "-ro n dir", "-r -A1 inner dir", "-rq inner dir", "-rz inner dir", "-T -nC2 e text", "-o -w -x apple words", "-n -w -x apple words", "-H inner dir/inner", "-P 'the\\n|e' text", "-nvP '\\n|an|e' text", "-rP 'no\\n|inn' dir"},
		files: map[string]string{"pats": "the\nan\n"},
	},
	"egrep": {real: []string{"grep", "-E"}, slots: [][]string{{"", "-o", "-c", "-n"}, {"a+", "'a|e'", "'(a|b)c'", "'[0-9]{2,}'", "'^(x|a)'", "'o?x'"}, operands}},
	"fgrep": {real: []string{"grep", "-F"}, slots: [][]string{{"", "-o", "-c", "-n", "-x", "-w"}, {"a", "'a|e'", "$'a\\ne'", "apple", "'.'", "''"}, operands}},
	"grep -r": {
		program: "grep", normalize: sorted, files: gnuTree, noInput: true,
		slots: [][]string{
			{"-r", "-rn", "-rl", "-rc", "-rL", "-rh", "-ro", "-rv", "-rnv", "-rH", "-rb", "-rI", "-ra", "-R", "-rno", "-rcv", "-rm1", "-rm 1 -n", "-rs"},
			{"", "", "-i", "-w", "-E", "-A1", "-C1", "-x"},
			{"", "", "--include='*.go'", "--exclude='*.go'", "--exclude-dir=.git", "--include='*.go' --include='*.md'", "--exclude-dir=src", "--exclude-dir=lib --include='*.t*'", "--exclude='.*'", "--exclude='f*' --exclude='b*'", "--include='*.[gt]*'", "--exclude-dir='.*'", "--exclude-dir=src/", "--include='*_test.go'"},
			{"foo", "Foo", "'^package'", "main", "-e foo -e bar", "'foo.*bar'", "nothing", "'a$'", "''"},
			{"", "", ".", "src", "src/", "src//", "src vendor", "./src", "src/lib", "src/foo.go", "docs .hidden", "missing src", ".."},
		},
	},
	"rg": {
		normalize: sorted, files: rgTree, noInput: true,
		slots: [][]string{
			{"", "-n", "-c", "-l", "-o", "-on", "-v", "-vc", "-N", "-H", "--files-without-match", "--no-filename -n", "-m 1", "-q", "-I -n", "--column", "-nA1", "-C 1", "--no-heading -n", "--max-count=2 -n", "-0l"},
			{"", "", "-i", "-w", "-F", "-S", "-x", "-s", "--hidden", "--no-ignore", "-u", "-uu", "-a"},
			{"", "", "-g '*.go'", "-g '!*.go'", "-tgo", "-Tgo", "-g '*.{md,txt}'", "-g 'src/**'", "-t md -t go", "--max-depth 1", "-g '!lib/'", "--type=txt"},
			{"foo", "Foo", "'^package'", "'main|bar'", "-e foo -e bar", "'foo.*bar'", "nothing", "'a$'", "'\\bfoo\\b'", "'f(o+)' -r 'g$1'", "'[[:upper:]]\\w+'", "'(foo'", "'\\d+'"},
			{".", "src", "src docs", "./src", "src/lib", "src/foo.go", "docs .hidden", "missing src", "text words", "src/bin", "ignored.txt", "unicode"},
		},
		lines: []string{"--files .", "--files src docs", "--files -g '*.go' .", "-g '!*.md' -t py foo .", "-g '!*.md' -t py -t go -l foo .", "-g '*.md' -t go -l foo .", "-i -s FOO .", "-s -i FOO text src", "-S -s FOO src", "-s -S FOO src", "-S -i Foo src", "-i -S Foo src",
			`-S 'f\W*oo' docs`, `-S 'foo\S*' src docs`, `-S '\pLoo' docs`, `-S '\p{Lu}oo' docs`, `-S '\x46oo' src docs`, `-S 'fo\x{6F}' src docs`, `-S '\x6Foo' src docs`, `-S '[[:upper:]]' docs`, `-S '[[:upper:]]oo' docs src`, `-S '(?P<N>foo)' docs src`, `-S '[A-F]oo' docs src`, `-S '\W{2}' docs`, `-SF '\W' src`, "-S -e foo -e X src docs",
			`'(?P<n>f)(o)' -r '[$1a|$1|${1}a|$1-x|$1_|$a1|${a}x|$$1|$|${|${1|$é|$1é|$01|${01}|$9|$99999999999999999999|${n}|$n|$nx|${}|$-|${ 1}|${1x}|$[1]' src/foo.go`, "-e", "--foo x .", "-t nope foo .", "--files missing"},
	},
	"stat": {
		owner:   regexp.MustCompile(`%[uUgG]`),
		noInput: true, files: gnuTree,
		slots: [][]string{
			{"-c %n", "-c %s", "-c '%n %s %F'", "-c '%a %A'", "--format=%U:%G", "-c '%u %g'", "--printf '%n\\t%F\\n'", "--printf=%s", "-c '[%10n] [%-12n]'", "-c %%%n", "-c '%f'", "-L -c %n", "-c ''", "-c 'size=%s type=%F'", "-c %5a"},
			{"text", "empty", "text words nonl", "missing", "missing text", "src/foo.go", "'with space'", "unicode", "src/empty.go text", "", "text/x"},
		},
		lines: []string{"-c '%010n|%015A|%010F|%-010s|%010s' text"},
	},
	"file": {
		noInput: true, files: kindFiles,
		slots: [][]string{{"", "-b", "-i", "--mime-type", "--mime-encoding", "-bi", "-b --mime-type", "--brief"}, {"text", "empty", "nonl", "crlf", "unicode", "dir", "missing", "json", "script", "bash", "python", "text words", "latin1", "long", "bom", "png", "gzip", "words crlf", "with-escape", "array", "mixed", "utf16"}},
	},
	"tree": {
		noInput: true, files: gnuTree,
		slots: [][]string{
			{"", "-a", "-d", "-L 1", "-L 2", "-f", "-F", "--dirsfirst", "--noreport", "-aF", "-I vendor", "-I '*.go|lib'", "-P '*.go'", "-a -I .git", "-ad", "--gitignore", "-P '*.go' --prune", "-n", "-fa", "--charset=ascii", "--charset utf-8", "--charset=US-ASCII"},
			{"", ".", "src", "src docs", "src/lib", "missing", "vendor", ".git", "docs dir", "src/lib/deep"},
			{"", "--noreport", "-L 3"},
		},
	},
	"du": {
		noInput: true, files: gnuTree, normalize: noSizes,
		slots: [][]string{{"", "-a", "-s", "-h", "-b", "-k", "-c", "-d 1", "--max-depth=0", "-ab", "-sh", "-sb", "-0", "-S", "-m", "--apparent-size", "-as", "-ac", "-d 2 -a", "--exclude='*.go' -a", "--exclude=src"}, {"", ".", "src", "src docs", "text", "missing", "missing text", "src/lib src", "src/"}},
	},
	"diff": {
		normalize: noTimes, files: diffFiles,
		slots: [][]string{
			{"", "-u", "-q", "-s", "-U 0", "-U1", "-u -L x -L y", "--unified=2", "-i", "-w", "-b", "-B", "-Z", "-uB", "-ub", "-uw", "-a", "--strip-trailing-cr", "--brief", "-ui", "-N", "-uN", "-r", "-ru", "-rq", "-rN", "-ruN", "-rs", "-rB", "-x '*1' -r", "--normal", "--color=never", "-d", "-uBw"},
			{"v1 v2", "v2 v1", "v1 v1", "v1 v3", "v3 v4", "v4 v5", "code1 code2", "code2 code1", "text blanks", "words unsorted", "nonl text", "text nonl", "empty text", "text empty", "crlf text", "spaces1 spaces2", "spaces2 spaces1", "binary nul", "binary text", "missing text", "text missing", "missing missing2", "t1 t2", "t1 t1", "t1/f t2", "t2 t1/f", "- text", "text -", "- -", "dir t1", "unicode text", "blank1 blank2", "blank2 blank1", "repeat1 repeat2", "repeat2 repeat1", "newline empty", "nonl nonl2", "nonl2 nonl", "missing t1", "t1/ t2/", "v1 v5", "case1 case2", "words words2", "code1 v1"},
		},
		lines: []string{"", "text", "a b c", "-Z text", "--foo v1 v2", "-L a -L b -L c v1 v2", "-U x v1 v2", "-r -x t1 t1 t2", "t1 -x t2 -r t2", "-r -x -- t1 -- t2", "t1 -r -- t2", "-U 9223372036854775807 v1 v2", "-U 99999999999999999999 v1 v2", "-U -1 v1 v2", "--unified=-1 v1 v2"},
	},
	"cmp": {
		slots: [][]string{{"", "-s", "-l", "-n 5", "-i 2", "-l -n 20", "-s -n 3", "--bytes=1K", "-i 1:2", "--verbose", "-ls", "-n x", "-i x"}, {"text words", "text text", "words words2", "nonl nonl2", "nonl2 nonl", "empty text", "text empty", "missing text", "text missing", "dir text", "text dir", "binary nul", "newline empty", "v1 v2", "v2 v1", "v1 v3", "unicode text", "long text", "text words 1", "text words 4 0", "crlf text", "v4 v5", "empty empty", "a b c d e", "", "-- v1 v2", "t1/f t2/f"}},
		files: diffFiles,
	},
	"find": {
		changes: true, normalize: sorted, files: gnuTree, noInput: true,
		slots: [][]string{
			{"", "", ".", "src", "src docs", "src/", "./src", "missing src", "text", "text src", "src/lib vendor", "-- src"},
			{"", "", "-maxdepth 1", "-mindepth 1", "-maxdepth 0", "-mindepth 2 -maxdepth 2", "-depth", "-type f", "-type d", "-not -type d", "-type f,d", "! -name '*.go'", "-path '*/.git' -prune -o", "-name src -prune -o -type f", "-maxdepth x", "-type q", "-mount"},
			{"", "-name '*.go'", "-iname '*.txt'", "-name 'foo*'", "-path '*/lib/*'", "-name '*.go' -print", "-name '*.go' -print0", "-empty", "-type f -empty", "-size 1 -type f", "-type f -size -20c", "-type f -size +1k", "-type f -size 0", "-regex '.*foo.*'", "-regextype posix-extended -regex '.*/(foo|main)[.]go'", "-iregex '.*FOO.GO'", "-name a.txt -o -name '*.md'", "'(' -name '*.go' -or -iname '*.TXT' ')' -print",
				"-name '*.go' -delete", "-type f -name 'foo*' -exec cat {} ';'", "-name '*.md' -exec printf '%s\\n' {} +", "-name '*.md' -exec false {} ';' -print", "-type f -printf '%p|%f|%h|%P|%s|%y|%d|%m|%M|%H\\n'", "-printf '%-20f|%%\\t\\061\\n'", "-type f -printf '%010s|%010p|%.2f|%5.1f|%-5m|%05m|%05d|%05U|%010y|%.9s|%-05s\\n'", "-name 'f*' -a -not -name '*_test*'", "-name '[!a-m]*'", "-name '.*'", "-name 'read?me*'", "-false -o -print", "-true", "-newer missing", "-mtime -1 -type f", "-mtime +1", "-daystart -mtime 0 -type f", "-mtime -1 -daystart -mtime +0", "-mmin -10 -name '*.go'", "-mtime 0 -name main.go", "-name", "'('", "')'", "-name x ')'", "'(' ')'", "-foo", "-exec", "-exec cat {}", "-o -print", "-print -o", "-not", "-name '*.go' foo", "-size x", "-name '*.go' , -name '*.md' -print", "-type f -name '*.go' -quit", "-path ./src/lib -prune -o -print", "-wholename src/foo.go", "-name '*.go' -exec grep -l foo {} +", "-name 'foo.go' -exec grep -q lib {} ';' -print", "-type d -empty", "-delete", "-name lib -delete", "-newermt 2000-01-01 -name '*.go'", "! '(' -name '*.go' -o -type d ')'", "-name '\\*'", "-name 'src/'", "-perm"},
		},
	},
	"ls": {
		owner:     regexp.MustCompile(`(^| )-[a-zA-Z]*[lnog]`),
		normalize: plainLong, files: gnuTree, noInput: true,
		slots: [][]string{
			{"", "-1", "-a", "-A", "-l", "-la", "-R", "-d", "-ld", "-F", "-p", "-r", "-lh", "-X", "-v", "-lA", "-AF", "-Rl", "-n", "-g", "-o", "-lG", "-C -1", "--group-directories-first", "-B", "-I '*.go'", "--hide=f* -a", "-l --time-style=+T", "-aR", "-1r", "--zero", "-L", "--sort=extension", "--sort=foo", "-dF", "--color=never"},
			{"", "", "-r", "-p", "-A", "-1"},
			{"", ".", "src", "src docs", "text src", "missing", "missing src text", "src/", "src/lib .git", "text", "src/foo.go text", "docs", "'docs/read me.md'", ".git/config", "src src", "./src/../docs", "words text nonl", "text/", "src/empty.go", "src/missing"},
		},
		lines: []string{"-S text words nonl empty long", "-rS text words nonl empty long", "-lS long unicode", "--foo", "-l --time-style=foo", "-lh long text"},
	},
	"mkdir": {changes: true, noInput: true, files: changeFiles, slots: [][]string{{"", "-p", "-v", "-pv", "-m 755", "--parents", "-p -m 700"}, {"new", "'ü/x'", "new/a new/b", "h/", "d/new", "new/x/y", "a", "g", "g/x", "a/new", "new new2", "a/b/f/x", "new/", ".", "'x y'", "-- -dash", "new new", "a/../new", "", "/", "new missing/x a/new", "d/a/x/y/z", "e/n1/n2 e/n3"}}, lines: []string{"-z new"}},
	"rmdir": {changes: true, noInput: true, files: changeFiles, slots: [][]string{{"", "-p", "-v", "-pv", "--ignore-fail-on-non-empty", "-p --ignore-fail-on-non-empty"}, {"a", "a/b", "d", "missing", "g", "e", "a d", ".", "e/", "", "missing g", "a/b/f", "d/a d", "a/b a", "g/x", "./e"}, {"", "a/b", "dir", "missing"}}},
	"rm":    {changes: true, normalize: sorted, noInput: true, files: changeFiles, slots: [][]string{{"", "-r", "-f", "-rf", "-v", "-rv", "-d", "-R", "-fv", "--recursive --force", "-i -r -f", "-rfv"}, {"", "g", "a", "missing", "g h", "g missing h", "a/b", "a/b/f", "a/", "d e", "g/x", ".", "./g", "a d g", "'with space'", "-- g", "a/../g", "..", "a/.", "text/"}}, lines: []string{"-z"}},
	"mv":    {changes: true, noInput: true, files: changeFiles, slots: [][]string{{"", "-n", "-f", "-v", "-t d", "-T", "-nv", "-fv", "--no-clobber", "-t missing", "-t g"}, changeNames}, lines: []string{"-z a b", "a/g g e", "-f a/g g e", "-n a/g g e", "-v a/g g e", "-vn a/g g e", "-t e a/g g h", "a/g g a/g e", "-f a/g g a", "a/g ./g d/", "a/b d/b e", "a d/a e"}},
	"cp":    {changes: true, normalize: sorted, noInput: true, files: changeFiles, slots: [][]string{{"", "-r", "-n", "-v", "-rv", "-a", "-t d", "-r -t d", "-T", "-rT", "-R", "-f", "-rn", "-p", "-av"}, changeNames}, lines: []string{"-z a b", "a/g g e", "-f a/g g e", "-n a/g g e", "-u a/g g e", "-v a/g g e", "-vn a/g g e", "-t e a/g g h", "a/g g a/g e", "-f a/g g a", "a/g ./g d/", "-r a d/a e", "-r a d/a h d", "g ./g e", "-r a ./a e", "-r a/. d/. e"}},
	"touch": {changes: true, noInput: true, files: changeFiles, slots: [][]string{{"", "-c", "-a", "-m", "-am", "--no-create"}, {"", "new", "g", "a", "missing/x", "g/x", "new new2", "a/new", "'x y'", "d/", "new/", "./new", "g new missing/y", "-- -n", "e/.keep", "a/b/f a/b/n", "new2", "h h"}, {"", "", "h", "other", "d/old"}}},
	"sed": {
		changes: true, files: map[string]string{"script": "s/a/A/\n/the/d\n", "n.sed": "#n\n2p\n"},
		slots: [][]string{
			{"", "", "-n", "-E", "-s", "-z", "-nE", "-i", "-i.bak", "-u", "-n -s", "-r", "--quiet"},
			sedScripts,
			operands,
		},
		lines: []string{"", "-e", "-f script text", "-f n.sed text", "-f missing text", "--expression=p text", "-e p -e d text", `-e 'a\' -e foo text`, "-n -e 2p -e '$=' text nonl", "-i -n p missing text", "--foo", "-i d", "-i.bak -s 1d words text", "-ibak_* 1d words", "-n '$=' text words", "-ns '$=' text words",
			"-n '/the/,$p;$F' text", "-l 5 -n l long", "-l 1 -n l text", "-n 'l 20' binary", "-i q words", "-i 2q words", "-i 'N;N;q' words", "-n -i 2,3p words", "-i 's/x/y/' text", "-E 's/(a|b)+/[&]/g' words", "-s -n '1p;$p' text words nonl", "-i '$d' text words", "'/^\\(.*\\)\\n\\1$/!P' text", "'s/[^x]/y/g' binary", `-i '1i\\top' nonl empty`},
	},
}

// rgTree is gnuTree with rules of what to ignore.
var rgTree = func() map[string]string {
	tree := maps.Clone(gnuTree)
	tree[".gitignore"], tree["ignored.txt"], tree["src/lib/ignored.txt"] = "ignored.txt\n", "foo ignored\n", "foo\n"
	return tree
}()

// patchFiles are patches, and what they change.
var patchFiles = map[string]string{
	"v1": "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", "v2": "gone\n", "sub/v1": "a\nb\nc\nd\n", "tail": "x\ny", "moved": "0\n1\na\nb\nc\nd\ne\n", "crs": "a\r\nb\r\n",
	"modify.diff": "--- a/v1\n+++ b/v1\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d\n", "create.diff": "--- /dev/null\n+++ b/new/file\n@@ -0,0 +1,2 @@\n+one\n+two\n",
	"remove.diff": "--- a/v2\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n", "two.diff": "--- a/v1\n+++ b/v1\n@@ -2,3 +2,4 @@\n b\n c\n+C\n d\n@@ -8,3 +9,2 @@\n h\n-i\n j\n--- a/tail\n+++ b/tail\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n\\ No newline at end of file\n",
	"git.diff": "diff --git a/v1 b/v1\nindex 111..222 100644\n--- a/v1\n+++ b/v1\n@@ -9,2 +9,3 @@ head\n i\n j\n+k\n", "nonl.diff": "--- a/tail\n+++ b/tail\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n",
	"stale.diff": "--- a/v1\n+++ b/v1\n@@ -1,3 +1,3 @@\n q\n-r\n+R\n s\n", "offset.diff": "--- a/moved\n+++ b/moved\n@@ -2,4 +2,4 @@\n a\n-b\n+B\n c\n d\n",
	"reversed.diff": "--- a/v1\n+++ b/v1\n@@ -1,3 +1,3 @@\n a\n-X\n+b\n c\n", "crlf.diff": "--- a/crs\n+++ b/crs\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n",
}

// changeFiles are directories and files that are changed.
var changeFiles = map[string]string{"a/b/f": "f\n", "a/g": "g\n", "d/old": "old\n", "d/a/x": "x\n", "g": "top\n", "h": "h\n", "e/.keep": ""}

// changeNames are two names, or more.
var changeNames = []string{"g h", "g new", "g d", "g d/", "g new/", "a new", "a d", "a new/", "a g", "g nope/x", "missing h", "g g", "a a", "a a/b/c", "a/b d", "g h d", "g missing d", "g h new", "g h a/g", "a/g d/old", "d/old .", "a/. new", "a/b/ e", "a d/a/x", "g", "", "'with space' new", "a/b/f a/g e", "a d e", "d/a a", "text g/x", "-- g new", "a e/", "a/b/../g new", "./g ./h", "e d"}

// kindFiles are files of several kinds.
var kindFiles = map[string]string{
	"json": "{\"a\": [1, 2]}\n", "array": "[1, 2]\n", "script": "#!/bin/sh\necho\n", "bash": "#!/usr/bin/env bash\necho\n", "python": "#!/usr/bin/env python3\nprint()\n",
	"latin1": "caf\xe9\n", "bom": "\xef\xbb\xbfhello\n", "with-escape": "\x1b[0m\n", "mixed": "a\r\nb\n", "utf16": "\xff\xfea\x00\n\x00",
	"png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00", "gzip": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
}

// noSizes replaces the sizes that du prints, which depend on the disk, and sorts the
// lines.
func noSizes(output string) string {
	return sorted(regexp.MustCompile(`(?m)(^|\x00)[\d.]+[KM]?\t`).ReplaceAllString(output, "${1}N\t"))
}

// diffFiles are files that are compared.
var diffFiles = map[string]string{
	"v1": "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n", "v2": "a\nb\nX\nd\ne\nf\ng\nh\ni\nj\nK\nl\n", "v3": "b\nc\nd\nnew\ne\nf\ng\nh\ni\nj\nk\nl\nm", "v4": "a\n", "v5": "a",
	"code1": "func a() {\n\tx := 1\n\treturn x\n}\n\nfunc b() {\n\treturn 2\n}\n", "code2": "func a() {\n\tx := 1\n\treturn x\n}\n\nfunc c() {\n\treturn 3\n}\n\nfunc b() {\n\treturn 2\n}\n",
	"spaces1": "a  b\n c\nd \n\te\n", "spaces2": "a b\nc\nd\n\t\te\n", "blank1": "a\n\n\nb\nc\n", "blank2": "a\nb\n\nc\n\n", "nonl2": "first line\nlast line without end\n", "case1": "Hello\nWORLD\n", "case2": "hello\nworld\n!\n",
	"repeat1": "x\ny\nx\ny\nx\nz\nx\ny\n", "repeat2": "y\nx\nx\nz\ny\nx\ny\nx\n", "words2": "pear\napple\nBanana\ncherry\nApple\nfig\ngrape\n",
	"t1/f": "1\n", "t2/f": "2\n", "t1/same": "s\n", "t2/same": "s\n", "t1/only1": "o\n", "t2/sub/q": "q\n", "t1/kind": "k\n", "t2/kind/x": "x\n", "t1/deep/x": "1\n", "t2/deep/x": "1\n2\n", "t1/b": "a\x00", "t2/b": "b\x00",
}

// noTimes takes the times from the heads of a diff.
func noTimes(output string) string {
	return regexp.MustCompile(`(?m)^((?:---|\+\+\+) .*)\t.*$`).ReplaceAllString(output, "$1")
}

// sedScripts are scripts of sed.
var sedScripts = []string{
	"p", "2p", "'$p'", "'$!d'", "1d", "'/an/d'", "'/an/!d'", "2,3d", "'2,/an/d'", "'/an/,/ch/d'", "'/an/,+1d'", "'/an/,2p'", "'2,1p'", "'0,/a/d'", "'1,/a/d'", "'1~2d'", "'0~3p'", "'2~0p'", "'2,~2p'", "'/a/I,/E/Ip'", "'$!N;P;D'", `'N;N;s/\n/+/g'`, "'$!{h;d};x;G'", "'1!G;h;$!d'",
	"'s/a/X/'", "'s/a/X/g'", "'s/a/X/2'", "'s/e/X/2g'", "'s/a/[&]/gp'", `'s/\(a\)\(.\)/\2\1/'`, "'s/x*/-/g'", "'s/^/> /'", "'s/$/ </'", "'s/.*/<&>/'", `'s/[aeiou]/\U&/g'`, `'s/\w\+/\u&/g'`, `'s/\(.*\)/\L\u\1/'`, `'s/\b./\U&\E!/g'`, "'s,/,|,g'", `'s|a\|b|X|g'`, `'s/a\nb/X/'`, `'s/\t/TAB/g'`, "'s/A/x/Ig'", `'s/a/\n/g'`, `'s/a/b\tc/'`, `'s/the/a\/b/'`, "'s/a/&&/;s//Y/'", "'/an/s//<&>/'", `$'s/a/b\\\nc/'`, "'s/a/X/w out'", "'s/a/ls/e'", "'s/.$//'", `'s/\r$//'`, `'s/ \+/ /g'`, `'s/^[ \t]*//;s/[ \t]*$//'`, `'s/\(^\|[^0-9.]\)\([0-9]*\)/\1<\2>/g'`,
	"'a foo'", `'2a\  foo'`, `'a\foo'`, `$'a\\\nfoo\\\nbar'`, `'1i\top'`, `'i one\ntwo'`, "'$a end'", "'2c new'", "'2,3c new'", `'/an/c\x'`, "'$!c x'", "'2,3!c x'", `'a\ttab'`, `'a one\ttwo'`, "'1a  lead'", `'1a\'`, `'$i\'`,
	"'y/abc/xyz/'", `'y/a\/b/123/'`, "'y/é/e/'", "'y/ab/c/'", `'y/\n\t/  /'`,
	"=", "'$='", "'/a/='", "l", "'2l 10'", "'1~3l 1'", "F", "z", "'z;s/^$/empty/'", "q", "3q", "'2q5'", "'Q'", "'/an/Q3'", "'$q'", "n", "'n;d'", "'$!n;s/a/X/'", "'n;n;s/^/>/'", "N", `'$!N;s/\n/ /'`, "D", "P", "'h;G'", "'H;x'", "'G;G'", "'x;p;x'", `'H;$!d;x;s/\n/,/g'`,
	"':a;s/a/X/;ta'", `':a;N;$!ba;s/\n/ /g'`, "'s/a/X/;t;s/$/!/'", "'s/a/X/;T;s/$/!/'", "'/an/b end;s/^/-/;:end'", "'/an/{s/a/X/;s/$/!/}'", "'2{p;p};3!{d}'", "'/a/{/b/!d}'", "'{p}'", "'{;p;}'", "'1{2{p}}'", "'b;p'", "': a;n;b a'", "'$!{N;D}'", "'r words'", "'2r nonl'", "'$r missing'", "'R words'", "'1,3R nonl'", "'w out'", "e", "'1e ls'", "'p;p # comment'", "'# comment'", "'p;;p'", "'2 p'", "'2,3 !p'", "'1!!p'", "'2,4{=;p}'",
	"k", "'s/a/b'", "'s/a'", "'/a'", `'s/\(a/b/'`, `'s/a/\1/'`, "'y/a/b'", "'{p'", "'p}'", "'b nowhere'", "'s/a/b/x'", "'s/a/b/gg'", "'s/a/b/0'", "'2,p'", "'1,2='", "'1,2q'", "'0p'", "'0,2p'", "'pp'", "'}'", "':'", "'1:a'", "'s/[/x/'", `'s/a\{2/x/'`, "''", "' '", "a", `'p;s/[0-9]\{2,\}/#/g'`, "'s/[^,]*,//2'", `'s/[[:space:]]\+$//'`, "'/^$/d'", `'/^#/d;/^\s*$/d'`, `'\,an,d'`, `'\xanxp'`, `'s/a\|e/_/g'`, "'s/é/E/g'", "'s/./X/3'", `'s/\x61/X/'`, `'s/a/\x41/'`, `'s/a/\o101\d066/'`, `'s/a/\cA/'`, `'s/[\n]/X/'`, `'N;s/[^\n]*\n//'`, `'s/a/\\/g'`, `'s/$/\r/'`, "'M,p'", "'s/^a/X/M'", "'N;N;s/^./>/Mg'", "'N;s/a$/X/M'", `'s/e\>/E/g'`, `'s/\<./X/g'`, `'$!N;/^\(.*\)\n\1$/!P;D'`, "'2,4!d;2,3s/e/E/;4q'", "'/lazy/,/run/{//!d}'",
	"'s/[^/]*$//'", "'s,[,.],-,g'", "'s/[[:alpha:]/]/x/g'", "'s/[]/]/x/'", "'s/[^]/e]/x/'", `'s/[a\/b]/x/g'`, "'/[/e]/p'", `'s/[\n/e]/x/'`, "'s/[[./.]e]/x/'", "'s/a[/b/'", `'s/\[/x/'`, "'s/[[:alpha:/]/x/'", `$'s/[a\n/]/x/'`,
}

// gnuFilesDifferences are those of the programs that find and change files.
var gnuFilesDifferences = []gnuDifference{
	{"grep -r", regexp.MustCompile(`"\.\."`), "the root has no directory above it"},
	{"grep", regexp.MustCompile(`"-T" "-nC2"`), ""},
	{"grep", regexp.MustCompile(`"-on?" "-w" "-x"`), "`-o -w -x` prints no empty matches"},
	{"cp", regexp.MustCompile(`"a" "a/b/c"|"-t" "d" .*"d"|"-r" "-t" "d"|"a" "a"`), "a directory is not copied into itself"},
	{"file", regexp.MustCompile(`"(png|gzip)"`), "prints only the name of a binary format, and of CSV that it is text"},
	{"rg", regexp.MustCompile(`"-g" "(src/\*\*|\*\.\{md,txt\})"`), "`-g` keeps to `.gitignore` files"},
	{"sed", regexp.MustCompile(`\\\\1\$/!P`), ""},
	{"sed", regexp.MustCompile(`binary`), ""},
	{"sed", regexp.MustCompile(`"(s/a/ls/e|1?e( ls)?|w out|s/a/X/w out)"`), "the commands and flags e, w and W are refused"},
}
