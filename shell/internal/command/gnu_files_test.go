package command

import (
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
	lines := strings.SplitAfter(output, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
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
		lines: []string{"", "-E", "-Z", "--foo a", "-A x a text", "-m x a", "-r foo missing", "-d skip a text dir", "-d recurse inner dir/inner", "--exclude='*.go' foo src/foo.go", "--include='*.txt' e text", "-r inner dir", "-rh inner dir", "-rc inner dir", "-rl inner dir", "-rL x dir", "-rn inner dir/", "-r inner dir text", "-rv x dir", "-ro n dir", "-r -A1 inner dir", "-rq inner dir", "-rz inner dir", "-H inner dir/inner"},
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
			{"", "", ".", "src", "src/", "src vendor", "./src", "src/lib", "src/foo.go", "docs .hidden", "missing src", ".."},
		},
	},
}

// gnuFilesDifferences are those of the programs that find and change files.
var gnuFilesDifferences = []gnuDifference{
	{"grep -r", regexp.MustCompile(`"\.\."`), "the root has no directory above it"},
}
