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
	return strings.ReplaceAll(strings.Join(lines, ""), "--\n", "") // of a binary file there is one, or not
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
		lines: []string{"", "-E", "-Z", "--foo a", "-A x a text", "-m x a", "-r foo missing", "-d skip a text dir", "-d recurse inner dir/inner", "--exclude='*.go' foo src/foo.go", "--include='*.txt' e text", "-r inner dir", "-rh inner dir", "-rc inner dir", "-rl inner dir", "-rL x dir", "-rn inner dir/", "-r inner dir text", "-rv x dir", "-ro n dir", "-r -A1 inner dir", "-rq inner dir", "-rz inner dir", "-T -nC2 e text", "-o -w -x apple words", "-H inner dir/inner"},
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

// sedScripts are scripts of sed.
var sedScripts = []string{
	"p", "2p", "'$p'", "'$!d'", "1d", "'/an/d'", "'/an/!d'", "2,3d", "'2,/an/d'", "'/an/,/ch/d'", "'/an/,+1d'", "'/an/,2p'", "'2,1p'", "'0,/a/d'", "'1,/a/d'", "'1~2d'", "'0~3p'", "'2~0p'", "'2,~2p'", "'/a/I,/E/Ip'", "'$!N;P;D'", `'N;N;s/\n/+/g'`, "'$!{h;d};x;G'", "'1!G;h;$!d'",
	"'s/a/X/'", "'s/a/X/g'", "'s/a/X/2'", "'s/e/X/2g'", "'s/a/[&]/gp'", `'s/\(a\)\(.\)/\2\1/'`, "'s/x*/-/g'", "'s/^/> /'", "'s/$/ </'", "'s/.*/<&>/'", `'s/[aeiou]/\U&/g'`, `'s/\w\+/\u&/g'`, `'s/\(.*\)/\L\u\1/'`, `'s/\b./\U&\E!/g'`, "'s,/,|,g'", `'s|a\|b|X|g'`, `'s/a\nb/X/'`, `'s/\t/TAB/g'`, "'s/A/x/Ig'", `'s/a/\n/g'`, `'s/a/b\tc/'`, `'s/the/a\/b/'`, "'s/a/&&/;s//Y/'", "'/an/s//<&>/'", `$'s/a/b\\\nc/'`, "'s/a/X/w out'", "'s/a/ls/e'", "'s/.$//'", `'s/\r$//'`, `'s/ \+/ /g'`, `'s/^[ \t]*//;s/[ \t]*$//'`, `'s/\(^\|[^0-9.]\)\([0-9]*\)/\1<\2>/g'`,
	"'a foo'", `'2a\  foo'`, `'a\foo'`, `$'a\\\nfoo\\\nbar'`, `'1i\top'`, `'i one\ntwo'`, "'$a end'", "'2c new'", "'2,3c new'", `'/an/c\x'`, "'$!c x'", "'2,3!c x'", `'a\ttab'`, `'a one\ttwo'`, "'1a  lead'", `'1a\'`, `'$i\'`,
	"'y/abc/xyz/'", `'y/a\/b/123/'`, "'y/é/e/'", "'y/ab/c/'", `'y/\n\t/  /'`,
	"=", "'$='", "'/a/='", "l", "'2l 10'", "'1~3l 1'", "F", "z", "'z;s/^$/empty/'", "q", "3q", "'2q5'", "'Q'", "'/an/Q3'", "'$q'", "n", "'n;d'", "'$!n;s/a/X/'", "'n;n;s/^/>/'", "N", `'$!N;s/\n/ /'`, "D", "P", "'h;G'", "'H;x'", "'G;G'", "'x;p;x'", `'H;$!d;x;s/\n/,/g'`,
	"':a;s/a/X/;ta'", `':a;N;$!ba;s/\n/ /g'`, "'s/a/X/;t;s/$/!/'", "'s/a/X/;T;s/$/!/'", "'/an/b end;s/^/-/;:end'", "'/an/{s/a/X/;s/$/!/}'", "'2{p;p};3!{d}'", "'/a/{/b/!d}'", "'{p}'", "'{;p;}'", "'1{2{p}}'", "'b;p'", "': a;n;b a'", "'$!{N;D}'", "'r words'", "'2r nonl'", "'$r missing'", "'R words'", "'1,3R nonl'", "'w out'", "e", "'1e ls'", "'p;p # comment'", "'# comment'", "'p;;p'", "'2 p'", "'2,3 !p'", "'1!!p'", "'2,4{=;p}'",
	"k", "'s/a/b'", "'s/a'", "'/a'", `'s/\(a/b/'`, `'s/a/\1/'`, "'y/a/b'", "'{p'", "'p}'", "'b nowhere'", "'s/a/b/x'", "'s/a/b/gg'", "'s/a/b/0'", "'2,p'", "'1,2='", "'1,2q'", "'0p'", "'0,2p'", "'pp'", "'}'", "':'", "'1:a'", "'s/[/x/'", `'s/a\{2/x/'`, "''", "' '", "a", `'p;s/[0-9]\{2,\}/#/g'`, "'s/[^,]*,//2'", `'s/[[:space:]]\+$//'`, "'/^$/d'", `'/^#/d;/^\s*$/d'`, `'\,an,d'`, `'\xanxp'`, `'s/a\|e/_/g'`, "'s/é/E/g'", "'s/./X/3'", `'s/\x61/X/'`, `'s/a/\x41/'`, `'s/a/\o101\d066/'`, `'s/a/\cA/'`, `'s/[\n]/X/'`, `'N;s/[^\n]*\n//'`, `'s/a/\\/g'`, `'s/$/\r/'`, "'M,p'", "'s/^a/X/M'", "'N;N;s/^./>/Mg'", "'N;s/a$/X/M'", `'s/e\>/E/g'`, `'s/\<./X/g'`, `'$!N;/^\(.*\)\n\1$/!P;D'`, "'2,4!d;2,3s/e/E/;4q'", "'/lazy/,/run/{//!d}'",
}

// gnuFilesDifferences are those of the programs that find and change files.
var gnuFilesDifferences = []gnuDifference{
	{"grep -r", regexp.MustCompile(`"\.\."`), "the root has no directory above it"},
	{"grep", regexp.MustCompile(`"-T" "-nC2"`), "with `-T`, numbers of lines are not aligned"},
	{"grep", regexp.MustCompile(`"-w" "-x"`), "`-w -x` is `-x`"},
	{"sed", regexp.MustCompile(`\\\\1\$/!P`), "back references are refused"},
	{"sed", regexp.MustCompile(`binary`), "a byte that is not UTF-8 is a character, which `.` and `[^a]` match"},
	{"sed", regexp.MustCompile(`"(s/a/ls/e|1?e( ls)?|w out|s/a/X/w out)"`), "the commands and flags e and w are refused"},
}
