package command

import "regexp"

// operands are files for programs that read any number of them.
var operands = []string{"", "", "-", "text", "words", "unicode", "nonl", "crlf", "nul", "empty", "blanks", "binary", "text nonl words",
	"nonl unicode", "missing", "text missing", "dir", "- text", "'with space'", "-- text", "long control"}

// gnuTextTests compares the programs that work on text.
var gnuTextTests = map[string]gnuTest{
	"cat": {slots: [][]string{{"", "-n", "-b", "-s", "-A", "-E", "-T", "-v", "-e", "-t", "-u"}, {"", "-n", "-s", "--number-nonblank", "--show-ends", "-bs"}, operands}},
	"head": {
		slots: [][]string{{"", "-n 3", "-n2", "-2", "-n -2", "-n-1", "-c 7", "-c -5", "-c3", "--lines=1", "--bytes=1K", "-n 0", "-c 0", "-n 1b", "-n +2", "--lines -3"}, {"", "-q", "-v", "-z"}, operands},
		lines: []string{"-n x", "-c", "-Z", "--foo", "-n 99999999999999999999 text", "-n -99999999999999999999 text"},
	},
	"tail": {
		slots: [][]string{{"", "-n 3", "-n2", "-2", "-n -2", "-n +2", "-n+3", "-c 7", "-c +5", "-c3", "--lines=1", "--lines=+0", "-n 0", "-c 0", "-c +0", "-n 1K", "-n +99"}, {"", "-q", "-v", "-z"}, operands},
		lines: []string{"-n x", "+3 text", "+3", "-Z", "--bytes", "-n 99999999999999999999 text"},
	},
	"wc": {
		slots: [][]string{{"", "-l", "-w", "-c", "-m", "-L", "-lw", "-cm", "-lwcmL", "--lines", "--max-line-length"}, operands},
		lines: []string{"--files0-from=nul", "-x", "--files0-from=- text"},
	},
	"nl": {slots: [][]string{{"", "-ba", "-bt", "-bn", "-b a -h a -f a"}, {"", "-w 3", "-w 10"}, {"", "-s :", "-s ''", "-s ' | '"}, {"", "-n ln", "-n rz", "-v 5", "-i 3", "-l 2", "-ba -l 2", "-p", "-d x", "-n xx", "-w 0", "-v -2"}, append([]string{"sections"}, operands...)},
		files: map[string]string{"sections": "body\n\\:\\:\\:\nhead\n\\:\\:\nbody\n\nmore\n\\:\nfoot\n\\:\\:\nlast\n"}},
	"tac": {slots: [][]string{{"", "", "-s e", "-s ' '", "-b", "-b -s o", "-s $'\\n\\n'", "-s th -b"}, operands}},
	"rev": {slots: [][]string{{"", "", "text", "unicode", "words nonl", "crlf", "missing", "blanks long", "empty"}}},
	"tr": {
		slots: [][]string{
			{"", "", "-d", "-s", "-c", "-cd", "-ds", "-cs", "-t", "-C", "--delete", "-s -c"},
			{"a-z", "a-zA-Z", "'[:lower:]'", "'[:upper:]'", "'[:space:]'", "'[:alpha:]'", "e", "aeiou", "'\\n'", "'\\r\\n'", "'\\000'", "'[:punct:]'", "'0-9'", "'a-z0-9'", "'[=e=]'", "' '", "'\\t '", "''", "'[a*3]'", "'[:digit:][:cntrl:]'", "'[:foo:]'", "'z-a'", "'\\101-\\103'", "-- -a"},
			{"", "", "A-Z", "'[:upper:]'", "'[:lower:]'", "x", "'[x*]'", "'\\n'", "''", "'[a*3]b'", "_", "'A-C'", "'[:space:]'", "'\\0'", "a b", "'[x*][y*]'"},
		},
		lines: []string{"", "a", "a b c", "-d a b", "-ds a", "-x a b"},
	},
	"sort": {
		slots: [][]string{
			{"", "", "-n", "-h", "-V", "-g", "-M", "-f", "-d", "-i", "-b", "-fd"},
			{"", "-r", "-u", "-s", "-ru", "-z", "-c", "-C", "-m", "-cu"},
			{"", "", "-k 2", "-k2,2", "-k 1.2", "-k 2n", "-k2,2nr -k1", "-t : -k 3", "-t , -k2,2 -k3n", "-k 1.2,1.3", "-k2b,2", "-t ' ' -k 2,2", "-k 1,1 -k 2,2r", "-k1f", "-t : -k 2.1,3.0", "-k 3 -b", "-k1,1b -k2.2b,2.3"},
			append([]string{"numbers", "versions", "sizes", "months", "colons csv", "words left", "-o out words"}, operands...),
		},
		files: map[string]string{
			"versions": "file10.txt\nfile2.txt\nfile1.tar.gz\nv1.2.10\nv1.2.9\n1.0~rc1\n1.0\n1.0a\n.hidden\n.\n..\n\na1\na01\nfoo.2.c\nfoo.10.c\n",
			"sizes":    "1K\n2M\n100\n1G\n-1K\n0\n5k\n3Ki\n1.5M\n0K\n",
			"months":   "mar x\nJAN\nfeb\nDecember\n  apr\nfoo\n\nmay 3\n",
		},
		changes: true,
		lines:   []string{"-k 0", "-k x", "-k 1.x", "-k 1,", "-k 1.0", "-t ab text", "-t '' text", "-t '\\0' nul", "-nh text", "-c words text", "-k 2,1 left", "-nd text", "-o out", "-o words words", "-k1,1.0 left", "--sort=numeric numbers", "--sort=foo", "-k 1z", "--check=quiet text", "--check=silent words", "-R -c text missing", "--reverse --numeric-sort numbers"},
	},
	"uniq": {
		slots: [][]string{{"", "-c", "-d", "-u", "-D", "-du", "-cd", "--group", "--group=both", "--all-repeated=separate", "--all-repeated=prepend", "--group=append", "-cu"}, {"", "", "-i", "-f 1", "-s 2", "-w 1", "-z", "-f1 -s1", "-iw 3", "-s 99", "-w 0"}, {"", "-", "words", "words", "words", "left", "text", "crlf", "nul", "unicode", "blanks", "nonl", "empty", "missing", "words out"}},
		lines: []string{"-cD", "--group -c", "--group=x", "-f x", "a b c", "--all-repeated=foo"}, changes: true,
	},
	"printf": {
		real: []string{"bash", "-c", `printf "$@"`, "printf"}, noInput: true,
		slots: [][]string{
			{"%s", "%d", "%5d", "%-5d", "%05d", "%+d", "'% d'", "%x", "%X", "%#x", "%o", "%#o", "%u", "%i", "%f", "%.2f", "%8.3f", "%e", "%g", "%G", "%.3g", "%#g", "%c", "%b", "%q", "%5s", "%-8s", "%.2s", "%*d", "%.*f", "%%", "%5.3d", "%E", "%08.2f", "%+.1e", "%Q", "'%(%Y-%m-%d)T'", "%5c", "%.0f", "%#.0f", "%lld", "%z", "%", "%5", "'a\\tb%s'"},
			{"'\\n'", "", "'|%s|\\n'", "'\\x41\\101\\u00e9\\n'", "'\\c%d'", "'\\\\\\e\\q\\n'"},
			{"", "5", "3 4 5", "abc", "3.14159", "-7", "0x1F", "010", "08", "$'\\'a'", "'a b'", "é", "1e3", "''", "inf nan", "99999999999999999999", "5x", "'a\\tb\\0101\\c' z", "-- -1", "'~a#b'", "$'a\\nb'", "1000000 0.0001 123456789", "-0.0", "'*?[x]'", ".5 5. 1e-10"},
		},
	},
	"date": {
		noInput: true,
		slots: [][]string{
			{"-d @0", "-d @1700000000", "-d @1234567890.123456789", "-d 2024-02-29", "-d '2024-01-31 +1 month'", "-d '2020-12-31 23:59:59'", "-d '2021-03-01T10:00:00Z'", "-d '2021-03-01 10:00 +0200'", "-d 2021-03-01T10:00:00+05:30", "-d 'Jan 5 2020'", "-d '5 January 2020 3pm'", "-d '1/2/2023'", "-d 20230405", "-d '20230405 1122'", "-d '2020-01-01 00:00:00 -3 days'", "-d '2020-01-01 3 days ago'", "-d '2020-01-01 next year'", "-d '2023-05-05 12:00 EST'", "-d '2024-02-30'", "-d foo", "-d '2020-01-01 2 weeks ago 3 hours'", "-d 'Mon, 05 Jan 2015 10:11:12 +0100'", "-d '10:61'", "-d '2020/5/6'", "-d '2020-01-05 12am'", "-d @-1", "-d '99-1-1'", "-d 'TZ=\"EST5\" 2020-01-01'", "-d '2016-12-31 1 fortnight'"},
			{"", "-u", "-R", "-I", "-Iseconds", "-Ins", "-Ihours", "--rfc-3339=seconds", "--rfc-3339=ns", "--iso-8601=minutes", "+%F", "+%T", "+%s", "+%s.%N", "'+%a %b %e %H:%M:%S %Z %Y'", "'+%A %B %d %j %U %W %V %G %g %u %w'", "'+%c|%x|%X|%r|%D|%R|%k|%l|%p|%P|%C|%h|%y'", "+%:z%::z%:::z%z", "'+%_d|%-d|%05d|%^a|%#p|%10Y|%_5m|%-H%%%n%t'", "+%N%3N%6N%-N", "+%Q%E%é%", "+%q", "'+%10A|%-A|%_10b|%^B'", "-Ix"},
		},
		lines: []string{"+%Y-%m-%d", "-d today +%F", "-d yesterday +%F", "-d 'tomorrow' +%F", "-d 'next friday' +%F", "-d 'last monday' +%F", "-d monday +%F", "-d '2 weeks ago' +%F", "-d '6pm' +%T", "-d 'yesterday 5pm' +%F_%T", "-d '3 days' +%F", "-d '' +%T", "-d '1 month ago' +%F", "-d 'last year' +%Y", "-d 'sunday 10:00' +%F_%T", "a b", "+%F +%T", "-d now -r text", "-r missing", "2020", "-d 'third monday' +%F", "-R -I", "-d '-1 day' +%F", "-d '+2 days' +%F", "-d '1 hour ago' +%F", "-d 'saturday' +%F", "-d 'this thursday' +%F", "-d 'fri' +%a", "-d '2 fri' +%F"},
	},
	"sleep": {noInput: true, slots: [][]string{{"", "0", "0.001", "0s", ".001", "x", "-1", "0m", "0h 0d", "1x", "''", "0.0001s", "-- 0", "nan", "--foo"}, {"", "0", "00", "0.00", "0.001s", "y", "0x0", "0e1", "0.1e-2", "+0", "0d", "-0"}}},
}

// gnuTextDifferences are those of the programs that work on text.
var gnuTextDifferences = []gnuDifference{
	{"tail", regexp.MustCompile(`^\["-2" ("-|".*" ")`), "`tail -5` may have more options and more than one file"},
	{"rev", regexp.MustCompile(`(nul|binary)$`), "Bytes that are not UTF-8, and NUL, are characters like others; the real `rev` stops there"},
}
