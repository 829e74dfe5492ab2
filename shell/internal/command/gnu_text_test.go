package command

import (
	"regexp"
	"strings"
)

// operands are files for programs that read any number of them.
var operands = []string{"", "", "-", "text", "words", "unicode", "nonl", "crlf", "nul", "empty", "blanks", "binary", "text nonl words",
	"nonl unicode", "missing", "text missing", "dir", "- text", "'with space'", "-- text", "long control"}

// sumTest is the test of every program that prints and checks sums.
var sumTest = gnuTest{
	slots: [][]string{{"", "", "", "-b", "-t", "--tag", "-z", "-c", "-c --quiet", "-c --status", "--quiet", "--tag -c"}, append([]string{"$'new\nline'", "$'back\\slash'"}, operands...)},
	files: map[string]string{"new\nline": "x", "back\\slash": "y"},
}

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
		lines:   []string{"-k 0", "-k x", "-k 1.x", "-k 1,", "-k 1.0", "-t ab text", "-t '' text", "-t '\\0' nul", "-nh text", "-c words text", "-k 2,1 left", "-nd text", "-o out", "-o words words", "-k1,1.0 left", "--sort=numeric numbers", "--sort=foo", "-n --sort=month numbers", "--sort=month -n numbers", "-n --sort=numeric numbers", "--sort=version --sort=month numbers", "-k 1z", "--check=quiet text", "--check=silent words", "-R -c text missing", "--reverse --numeric-sort numbers"},
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
		lines: []string{"'%q\\n' $'\\xef' $'a\\xefb' $'\\xef\\xbf\\xbd' $'\\xe2\\x82' $'\\xc3\\x28' $'\\xef\\xbb'", "'%f|%8.2F|%+f|%08f|%g\\n' -nan -nan -nan -NAN -nan", "'%f %g\\n' nan +nan 'nan(1_a)' -inf", "'%f %g\\n' 0e99999 -0e99999 0x0p99999 0.00e30000 0x.0p-99999 -0e-99999"},
	},
	"date": {
		noInput: true,
		slots: [][]string{
			{"-d @0", "-d @1700000000", "-d @1234567890.123456789", "-d 2024-02-29", "-d '2024-01-31 +1 month'", "-d '2020-12-31 23:59:59'", "-d '2021-03-01T10:00:00Z'", "-d '2021-03-01 10:00 +0200'", "-d 2021-03-01T10:00:00+05:30", "-d 'Jan 5 2020'", "-d '5 January 2020 3pm'", "-d '1/2/2023'", "-d 20230405", "-d '20230405 1122'", "-d '2020-01-01 00:00:00 -3 days'", "-d '2020-01-01 3 days ago'", "-d '2020-01-01 next year'", "-d '2023-05-05 12:00 EST'", "-d '2024-02-30'", "-d foo", "-d '2020-01-01 2 weeks ago 3 hours'", "-d 'Mon, 05 Jan 2015 10:11:12 +0100'", "-d '10:61'", "-d '2020/5/6'", "-d '2020-01-05 12am'", "-d @-1", "-d '99-1-1'", "-d 'TZ=\"EST5\" 2020-01-01'", "-d '2016-12-31 1 fortnight'"},
			{"", "-u", "-R", "-I", "-Iseconds", "-Ins", "-Ihours", "--rfc-3339=seconds", "--rfc-3339=ns", "--iso-8601=minutes", "+%F", "+%T", "+%s", "+%s.%N", "'+%a %b %e %H:%M:%S %Z %Y'", "'+%A %B %d %j %U %W %V %G %g %u %w'", "'+%c|%x|%X|%r|%D|%R|%k|%l|%p|%P|%C|%h|%y'", "+%:z%::z%:::z%z", "'+%_d|%-d|%05d|%^a|%#p|%10Y|%_5m|%-H%%%n%t'", "+%N%3N%6N%-N", "+%Q%E%é%", "-Id", "-Isec", "--rfc-3339=n", "--rfc-3339=h", "+%q", "'+%10A|%-A|%_10b|%^B'", "-Ix"},
		},
		lines: []string{"+%Y-%m-%d", "-d today +%F", "-d yesterday +%F", "-d 'tomorrow' +%F", "-d 'next friday' +%F", "-d 'last monday' +%F", "-d monday +%F", "-d '2 weeks ago' +%F", "-d '6pm' +%T", "-d 'yesterday 5pm' +%F_%T", "-d '3 days' +%F", "-d '' +%T", "-d '1 month ago' +%F", "-d 'last year' +%Y", "-d 'sunday 10:00' +%F_%T", "a b", "+%F +%T", "-d now -r text", "-r missing", "2020", "-d 'third monday' +%F", "-R -I", "-d '-1 day' +%F", "-d '+2 days' +%F", "-d '1 hour ago' +%F", "-d 'saturday' +%F", "-d 'this thursday' +%F", "-d 'fri' +%a", "-d '2 fri' +%F", "-d '2026-01-01 2147483647 hours'", "-d '2026-01-01 -3000000 hours'", "-d '2026-01-01 2147483647 min'", "-d 10:59:60", "-d 23:59:60", "-d '2026-01-01 23:59:60 UTC'",
			"-d 'TZ=\"Etc/UTC\" 2026-01-01 12:00'", "-d 'tz=\"CET-1\" 2026-01-01 12:00'", "-d 'TZ=\"cet-1\" 2026-01-01 12:00 MAY'", "-d 'TZ=\"cet-1\" 2026-01-01 12:00 UTC'", "-d 'TZ=\"EST99\" 2026-01-01 12:00'", "-d 'TZ=\"EST5:99\" 2026-01-01 12:00'"},
	},
	"cut": {
		slots: [][]string{{"-f 1", "-f2", "-f 2-", "-f -2", "-f 1,3", "-f3,1", "-f 2-3 ", "-c 1-3", "-c 2,4-5,5-7", "-b 1,2", "-b -4", "-c 3-", "-f 1 -d ,", "-d : -f 2", "-d, -f2-", "-d ' ' -f 2", "-d ' ' -f1,3-", "-f0", "-f 3-1", "-f", "-f a", "-f -", "", "-c 1 -f 1", "-d ab -f 1", "-c1 -d ,", "-f 1,,2", "-f '1 3'", "-d é -f 1", "-d '' -f 1", "-b 99-"},
			{"", "", "-s", "--complement", "--output-delimiter=_", "--output-delimiter ''", "-z", "-n", "--complement --output-delimiter='<>'"},
			{"", "csv", "colons", "text", "blanks", "unicode", "crlf", "nonl", "nul", "empty", "missing", "csv colons", "dir", "left"}},
	},
	"paste": {
		slots: [][]string{{"", "-s", "-d ,", "-d , -s", "-d ',;' -s", "-d '\\n'", "-d '\\0\\t'", "-d ''", "-z", "-sd+", "-d '\\\\'", "-d 'ab\\'"},
			{"", "-", "- -", "- - -", "words", "words numbers", "left right", "left - right", "nonl empty words", "words missing", "unicode crlf", "empty empty", "text words numbers csv", "dir words", "nul left"}},
	},
	"join": {
		slots: [][]string{{"", "", "-a 1", "-a 2", "-a1 -a2", "-v 1", "-v 2", "-v1 -v 2"}, {"", "", "-1 2 -2 2", "-j 1", "-t ' '", "-t :", "-o 1.1,2.2", "-o 0,1.2,2.2 -e NONE", "-o auto -e X", "-i", "--header", "--check-order", "--nocheck-order", "-t ''", "-z", "-o '1.2 2.1'", "-j 2", "-t '\\0'", "-o 0"},
			{"left right", "right left", "- right", "left -", "unsorted left", "left unsorted", "left empty", "empty right", "words words", "colons colons", "missing left", "left missing", "text blanks", "nonl nonl", "csv csv"}},
		lines: []string{"", "left", "left right text", "- -", "dir left", "left dir", "-1 0 left right", "-1 x left right", "-o 3.1 left right", "-o 1.0 left right", "-a 3 left right", "-t ab left right", "-o 1 left right"},
	},
	"comm": {
		slots: [][]string{{"", "", "-1", "-2", "-3", "-12", "-13", "-23", "-123"}, {"", "", "--check-order", "--nocheck-order", "--total", "--output-delimiter=::", "-z", "--output-delimiter=", "--total -z"},
			{"left right", "right left", "- right", "left -", "words words", "unsorted left", "left unsorted", "words left", "nonl empty", "empty empty", "text crlf", "missing left", "left missing", "left dir", "sorted1 sorted2"}},
		files: map[string]string{"sorted1": "a\nb\nc\nd\ne\n", "sorted2": "b\nd\nd\nx"},
		lines: []string{"", "left", "left right text", "-4 left right"},
	},
	"fold":   {slots: [][]string{{"", "-w 10", "-w 20 -s", "-s", "-b -w 7", "-w5", "-20", "-w 1", "-sb -w 12", "-w 0", "-w x", "-c -w 3"}, operands}},
	"expand": {slots: [][]string{{"", "-t 4", "-i", "-t 2,5,9", "-t 3 -i", "--tabs=1", "-4", "-t 4,/8", "-t 3,+5", "-t '2 6'", "-t 0", "-t x", "-t 5,3", "-t /4"}, operands}},
	"unexpand": {slots: [][]string{{"", "-a", "-t 4", "--first-only", "-t 2,5,9", "-a -t 3", "-t 4 --first-only", "-t 1", "-t 0", "-t 4,/8", "-t 2,+3"}, append([]string{"spaces", "spaces"}, operands...)},
		files: map[string]string{"spaces": "        eight\n    four    then  two   three\n       seven \tmixed\n \t one\na       b       c\n              \n  x\t  y    z        end   \n"}},
	"column": {
		slots: [][]string{{"-t", "-t", "", "-t -s ,", "-t -s :", "-t -s ' '", "-t -o ' | '", "-t -s , -o ,", "-c 40", "-c 20", "-x", "-x -c 50", "-t -N A,B", "-t -s, -R 1,3", "-t -L", "-t -s ', '"},
			{"", "words", "csv", "colons", "text", "blanks", "left", "numbers", "unicode", "nonl", "empty", "newline", "left right", "missing", "'with space'"}},
	},
	"tee": {slots: [][]string{{"", "-a", "-i", "--append", "-p"}, {"", "out", "text", "out1 out2", "new words", "missing/out", "dir", "out missing/x", "-", "dir/new", "'a b'", "-- -x", "out out3 out4", "/dev/null"}}, changes: true},
	"split": {
		slots: [][]string{{"", "-l 2", "-l 1", "-b 10", "-b 1K", "-C 20", "-n 3", "-n l/2", "-n 2/3", "-l 3 -d", "-b 7 -x", "-l 2 -a 3", "-l 1 -a 1", "-n 4 -e", "-n l/1/2", "-l 2 --verbose", "-d -l 4 --additional-suffix=.txt", "--numeric-suffixes=5 -l 3", "-C 5", "-l0", "-l x", "-l 1 -b 1", "-t : -l 1", "-n 0", "-n 5/3", "-a 1 -b 1", "--lines=2 --hex-suffixes=9", "-b 2"},
			{"", "text", "- pre", "words part.", "nonl", "unicode u_", "empty", "missing", "crlf dir/x", "text a b", "long", "numbers"}},
		files:   map[string]string{"xaa": "1\n2\n3\n", "xab": "1\n2\n3\n"},
		lines:   []string{"-l 1 xaa", "-l 1 xab", "-n 2 ./xaa", "-b 2 --verbose xab", "-n 1/2 xaa"},
		changes: true,
	},
	"seq": {
		noInput: true,
		slots: [][]string{{"", "", "-w", "-s ,", "-s ''", "-f %g", "-f %.2f", "-f %05.1f", "-f 'n%gx'", "-f %e", "-w -s ' '", "-f x", "-f %d", "-f '%g%g'", "-f '%%%g'", "-f %3.0f%%"},
			{"5", "2 5", "1 2 10", "5 -1 1", "10 -3 1", "0.5 2", "1 .5 3", "0 0.1 1", "5 1", "1.00 2", "-3 3", "-- -1 -1 -3", "8 12", "-5", "1e2", "1 1e1 50", "0x10 0x14", "1 0 5", "x", "1 2 3 4", "", "0.1 0.1 0.35", "98 101", "9.5 10.5", "-1.5 0.5 0", "1 0.25 2", "3 nan", "0 1 007", "99999999999999999998 99999999999999999999", "1e-1 1", "-9 3 9", "+1 +3", "1.5e1 17", "0.05 0.05 0.2"}},
	},
	"base64": {slots: [][]string{{"", "", "-w 0", "-w 10", "-d", "-d", "-di", "--decode", "--wrap=3", "-w x", "-i"}, append([]string{"b64", "b64bad", "b64nopad", "b64two", "b64", "b64crlf"}, operands...)},
		files: map[string]string{"b64": "aGVsbG8gd29y\nbGQK\n", "b64bad": "aGVs!bG8=\n", "b64nopad": "aGVsbG8", "b64two": "YQ==YQ==\n", "b64crlf": "aGVsbG8=\r\n"}},
	"base32": {slots: [][]string{{"", "", "-w 0", "-w 10", "-d", "-d", "-di", "--decode"}, append([]string{"b32", "b32bad", "b32", "b32nopad"}, operands...)},
		files: map[string]string{"b32": "NBSWY3DPEB3W64TMMQFA====\n", "b32bad": "NBSW!Y3DP\n", "b32nopad": "NBSWY3DPEB3W64TMMQFA"}},
	"md5sum": sumTest, "sha1sum": sumTest, "sha224sum": sumTest, "sha256sum": sumTest, "sha384sum": sumTest, "sha512sum": sumTest,
	"cksum": {slots: [][]string{{"", "", "", "-a crc", "-a md5", "-a sha256", "-a sha1 --untagged", "--algorithm=sha512", "-a foo"}, operands}},
	"od": {
		slots: [][]string{{"", "", "-A d", "-A x", "-An", "-A n -v", "-v"}, {"", "-c", "-tx1", "-t x1z", "-t o1", "-td2", "-t u4", "-b", "-x", "-t x8", "-a", "-t cx1", "-t x2 -t c", "-d", "-s", "-i", "-t fD", "-t a -t d1", "-tx4z", "-t f4", "-t x3", "-o", "-l", "-t dL", "--endian=big -t x2"}, {"", "", "-w8", "-w4", "-N 20", "-j 5", "-j 3 -N 7", "-w", "-w5", "-N 0", "-j 9999"},
			{"", "text", "binary", "unicode", "nul", "empty", "nonl", "text binary", "missing", "zeros"}},
		files: map[string]string{"zeros": strings.Repeat("\x00", 100) + "x"},
	},
	"hexdump": {
		slots: [][]string{{"-C", "-C", "", "-x", "-d", "-o", "-b", "-c", "-v -C"}, {"", "", "-n 20", "-s 5", "-s 3 -n 7", "-n 0", "-s 0x10"}, {"", "text", "binary", "unicode", "nul", "empty", "nonl", "text binary", "missing", "zeros", "zeros"}},
		files: map[string]string{"zeros": strings.Repeat("\x00", 100) + "x"},
	},
	"xxd": {
		slots: [][]string{{"", "", "-p", "-b", "-i", "-u", "-a", "-d", "-ps", "-p -u", "-i -u"}, {"", "", "-l 20", "-s 5", "-c 8", "-g 1", "-g 4", "-c 5 -g 2", "-len 7", "-s 3 -l 6", "-c 10", "-g 0", "-o 16", "-cols 12", "-l 0x10"},
			{"", "text", "binary", "unicode", "nul", "empty", "nonl", "missing", "zeros", "dump", "plain", "-", "dir/inner"}},
		lines:   []string{"-r dump", "-r -p plain", "-r -p nonl", "-s -10 text", "-e text", "-e -c 8 binary", "-e -g 2 unicode", "-e -g 3 text", "-r -ps plain", "-c 300 text", "-l x text", "-n foo -i text", "-C -i text", "-p -c 8 text", "-p -c 0 long", "-a -c 8 zeros", "-r -s 5 dump", "dump out"},
		files:   map[string]string{"zeros": strings.Repeat("\x00", 100) + "x", "dump": "00000000: 6865 6c6c 6f20 776f 726c 640a            hello world.\n", "plain": "68656c6c6f20776f\n726c640a\n"},
		changes: true,
	},
	"strings": {slots: [][]string{{"", "", "-n 2", "-n 8", "-3", "-a"}, {"", "", "-t d", "-t x", "-o", "-f", "-w", "-s ,", "-t z", "-f -t o", "-td -w"}, {"", "text", "binary", "unicode", "nul", "empty", "nonl", "text binary", "missing", "control", "long", "-"}}},
	"echo": {noInput: true,
		slots: [][]string{{"", "", "-n", "-e", "-E", "-ne", "-en", "-eE", "-Ee", "-nEe", "-e -n", "-E -e", "-", "--", "-x", "-nx", "-e --"},
			{"", "a", "'a  b' c", `'a\tb\n'`, `'\0101\101\08\0'`, `'a\cb'`, `'a\c' b`, `'\x41\x4g\xg'`, `'\\t\q\a\e'`, `'\'`},
			{"", "", "-n", "-e", "é", `'\n'`}},
	},
	"env": {noInput: true, env: []string{"FOO=bar", "BAZ=1 2"},
		slots: [][]string{{"", "-i", "-", "-u FOO", "-u NONE", "-i A=1", "-0", "-C dir", "-C missing", "-C text", "-i -u FOO", "--unset=BAZ"}, {"", "X=y", "FOO=new", "X=y Z=", "A=1 A=2"}, {"", "echo hi", "printenv FOO", "printenv", "false", "true", "nosuchprogram", "cat inner", "printenv X FOO", "-- echo x"}},
		normalize: func(s string) string {
			return regexp.MustCompile(`PATH=[^\n\x00]*[\n\x00]`).ReplaceAllString(s, "")
		}},
	"expr": {noInput: true,
		slots: [][]string{{"1", "0", "-3", "abc", "''", "007", "99999999999999999999", "'('", "length", "+", "-", "é1x", "00", "-0"},
			{"", "+", "-", "'*'", "/", "%", ":", "'|'", "'&'", "'<'", "=", "'>='", "!=", "=="},
			{"", "2", "0", "'a\\(b\\)c'", "'.*'", "abc", "'[0-9]*'", "-7", "')'", "'\\(x\\)*'", "'^a'", "b", "99999999999999999998"},
			{"", "", "+ 1", "'|' x", "')'", "'&' 0", "'*' 3"}},
		lines: []string{"", "--", "-- 1", "1 + 2 '*' 3", "'(' 1 + 2 ')' '*' 3", "'(' 1 + 2", "'(' 1 2 ')'", "length héllo", "length + length", "index abcé éc", "index abc x", "index abc ''", "substr héllo 2 3", "substr abc 0 2", "substr abc 2 x", "substr abc 4 1", "substr abc 1 99999999999999999999",
			"match abc 'a.'", "match abc 'a\\(.\\)'", "+ + = x", "1 '|' 1 / 0", "0 '&' 1 / 0", "0 '|' 1 / 0", "'' '|' ''", "a '<' b", "10 '<' 9", "10 '<' 9a", "-1 '<' 0", "2 '+' a", "abc : 'x\\|ab'", "abc : '\\(x\\)'", "length", "substr a 1", "1 +", "1 2", "-7 / 2", "-7 % 2", "+", "+ x : x", "- : -", "a : '['", "$'a\\nb' : '.*'"}},
	"timeout": {
		slots: [][]string{{"", "", "-s HUP", "-s 2", "--preserve-status", "-k 1", "--foreground", "-s nosuch", "-sINT --preserve-status", "-k x", "--foo"}, {"5", "0", "0.05", "0.05s", "x", "-1", "1m", ""}, {"cat", "sleep 0.3", "false", "true", "nosuchprogram", "echo hi", "", "wc -c", "printf %s x", "sleep 0"}}},
	"readlink": {noInput: true,
		slots: [][]string{{"", "-f", "-e", "-m", "-fn", "-z", "-fz", "-n", "-v", "-fv", "-ev", "-q -f", "--canonicalize", "-x"}, {"text", "dir/inner", ".", "missing", "missing/x", "text/x", "text missing dir", "dir", "''", "", "dir/", "missing/", "text/", "'with space'"}}},
	"mktemp": {noInput: true, env: []string{"TMPDIR=dir"},
		slots: [][]string{{"", "", "-d", "-u", "-q", "-p dir", "-p missing", "--tmpdir", "--tmpdir=dir", "-t", "-t -p missing", "--suffix=.c", "--suffix .cc -d", "-x", "-dq -p text", "--suffix="}, {"", "=XXX", "dir/=XXXX", "=XX", "abc", "=XXXb.txt", "=XXXbXXX", "missing/=XXX", "XXX/b", "/nonexistent/=XXX", "=XXXX.tar.gz b", "''", "XXXX", "a/XXXb/c", "text/XXXX"}},
		normalize: func(s string) string {
			return regexp.MustCompile(`(?m)^((?:[a-z/]*/)?(?:tmp\.|=)?)[A-Za-z0-9]{3,10}?(|b\.txt|\.tar\.gz|\.cc?)$`).ReplaceAllString(s, "${1}X$2")
		}},
	"printenv": {noInput: true, env: []string{"FOO=bar", "BAZ=1 2", "EMPTY="}, slots: [][]string{{"FOO", "BAZ", "NONE", "FOO BAZ", "EMPTY", "NONE FOO", "-0 FOO", "FOO=bar", "-x", "TZ", "-- FOO", "LC_ALL", "''", "EMPTY NONE"}, {"", "FOO", "BAZ", "NONE", "TZ", "LC_ALL", "-0", "EMPTY", "A B", "FOO FOO", "--", "X=Y"}}},
	"basename": {noInput: true, slots: [][]string{{"", "", "-a", "-s .txt", "-z", "-az", "--suffix=.c -z", "--multiple"}, {"/usr/bin/sort", "include/stdio.h .h", "a.txt", "a/b.txt c/d.txt", "/", "//", "''", "a/", "a//b//", ".txt .txt", "a.txt .txt", "-x", "--", "-- -x", "''  x", "a b c", "x.c y.c", "é/ü.txt .txt", "./a", "../", "a.b.c .c", "/a /a"}}},
	"dirname":  {noInput: true, slots: [][]string{{"", "", "-z", "--zero"}, {"/usr/bin/sort", "a", "a/b", "/", "//", "''", "a/", "a//b//", "/a", "//a", "a/b c/d e", ".", "..", "./a", "a/.", "a/../b", "", "-x", "-- -x", "a///b", "/a/b/", "é/x"}, {"", "", "x/y", "/p/q/", "z"}}},
	"realpath": {slots: [][]string{{"", "", "-e", "-m", "-s", "-q", "-z", "--relative-to=dir", "--relative-to=.", "--relative-base=dir", "-m --relative-to=a/b", "--relative-to=missing", "-qe"}, {"text", "dir/inner", "dir/../text", ".", "missing", "missing/x", "text/x", "./dir//inner", "text missing dir", "dir", "''", "dir/..", "", "text/", "missing/", "dir/", "'with space'"}},
		noInput: true},
	"xargs": {
		slots: [][]string{{"", "", "-n 2", "-n1", "-L 1", "-L 2", "-I {}", "-I X", "-r", "-t", "-P 4", "-0", "-d '\\n'", "-d ,", "-0 -n 1", "-x", "-E fig", "-s 60", "-I{} -P 2", "-i", "-n 3 -r", "-d : -n 2", "--null", "-a words", "-a words -n 2", "-L1 -r", "-0 -I {}", "-d '\\0'", "-n 0"},
			{"", "echo", "echo a b", "echo {}", "echo '<{}>' {}", "printf '%s\\n'", "basename -a", "wc -c", "false", "nosuchprogram", "echo X-X", "true", "cat"}},
		lines: []string{"-I", "-d ab", "-Z", "--foo", "-n x"},
		files: map[string]string{},
	},
	"jq": {
		slots: [][]string{
			{"", "", "-c", "-r", "-n", "-s", "-e", "-j", "-S", "-a", "--tab", "--indent 1", "-cr", "-R", "-Rs", "--stream -c", "-M", "--seq", "-rn", "-sc", "-Rr", "--arg x 1 -c", "--argjson x '{\"a\":1}' -c", "--slurpfile x list -c", "--rawfile x list -c", "--indent 0", "-nc --args", "-ce"},
			{".", ".", "'.[]?'", ".name", "'.items[]?.id'", "'.items | length'", "'keys?'", "'map(.)?'", "'.[0]?'", "'[.[]?]|length'", "'type'", "'to_entries?'", "'.items[]? | select(.id > 1)'", "'.a.b.c?'", "'[inputs]'", "'.items | map(.id) | add'", "'{n: .name}'", "'\"x\\(1+2)\"'", "'@csv \"\\([1,\"a\"])\"'", "'[1,2,3] | @tsv'", "'.foo // \"none\"'", "'error(\"x\")'", "'.items[]? |= .id'", "'if .name then 1 else 2 end'", "'[limit(3; range(10))]'", "'. as $v | $v'", "'.['", "'nosuch'", "'.items[0]?.id | tostring'", "'[.items[]? | .tags[]?] | unique'", "'group_by(.)?'", "'null, false'", "'\"a,b\" | split(\",\")'", "'test(\"a\")?'", "'paths?'", "'del(.name)?'", "'input?'", "'$ENV.FOO'", "'$ARGS.positional'", "'.items[1:]?'", "'1/0'", "'@base64 \"\\(\"hi\")\"'", "'ascii_downcase?'", "'[.. | numbers]'", "'reduce range(5) as $i (0; . + $i)'", "'1e3, 0.1, 100000000000000000000'", "'\"\\u00e9\\n\"'", "'input_filename'", "'halt_error'", "''"},
			{"data.json", "data.json", "data.json", "list", "scalars", "", "data.json list", "empty", "missing"},
		},
		lines: []string{"-nc --args '$ARGS.positional' -- a -b", "-nc '$ARGS.positional' --jsonargs -- 1 -2", "-nc '$ARGS.positional' --args -- -- b", "--stream -s -c . data.json list", "--stream -sn -c input data.json list", "--stream -sn -c '[inputs]' scalars", "-R --stream . list", "-Rs --stream . list", "", ". text", "--seq . data.json", ". missing list", "-n '$x' --arg x", "--foo .", "-f filter data.json", "-n '[$a,$b]' --arg a 1 --arg b 2 -c", "-n '$ARGS' --args a b -c", "-n '$ARGS' --jsonargs 1 '{\"a\":2}' -c", "--argjson x '{' .", "-n --slurpfile x missing .", "--indent 9 .", "-e .nothing data.json", "-n empty -e", "-c . data.json list scalars", "-r '.items[].tags|join(\",\")' data.json", "-n '[range(0;10;3)]' -c", "-n 'env.FOO'", "-nr '\"a\\tb\"'", "-nr '@sh \"echo \\(\"a b\")\"'", "-n '\"2015-03-05T23:51:47Z\"|fromdate'", "-n '0|todate'", "-n '[1,[2]]|flatten' -c", "-n 'debug'", "-n '1 as $x | 2 as $y | [$x,$y,$__loc__]' -c", "input_line_number data.json", "-n 'import \"x\" as x; 1'", "-n 'try error(\"x\") catch .'", "-n '[splits(\"a\")]?'", "-n '\"abc\"|ltrimstr(\"a\")'", "-n 'def f(x): x*2; f(3)'", "-n '{a:1} + {b:2}' -c", "-n 'label $f | 1, break $f, 2'", "-n '[.[]?]' -c", "-n 'input' list", "-n '[inputs]' -c list scalars", "-n 'halt'", "-n '\"x\" * 3'", "-n 'now|type'", "-n '\"\\(1;2)\"'", "-ce '.items[]?.id' data.json list"},
		files: map[string]string{
			"data.json": "{\n  \"items\": [\n    {\"id\": 1, \"tags\": [\"a\", \"b\"]},\n    {\"id\": 2, \"tags\": []},\n    {\"id\": 3.5, \"tags\": [\"é\", \"b\"]}\n  ],\n  \"name\": \"Ann \\\"x\\\" 日本\",\n  \"nothing\": null,\n  \"ok\": true\n}\n",
			"list":      "[3,1,2]\n[]\n{}\n", "scalars": "1 \"two\" null true -0.5\n", "filter": ".name # comment\n",
		},
		env: []string{"FOO=bar"}, noInput: true,
	},
	"test": {
		real: []string{"bash", "-c", `test "$@"`, "test"}, noInput: true,
		slots: [][]string{{"", "", "!", "! !", "("}, {"-e text", "-f text", "-d dir", "-d text", "-s empty", "-s text", "-z ''", "-n x", "a = b", "a = a", "a != b", "1 -eq 1", "1 -lt 2", "10 -gt 9", "x -eq 1", "-e missing", "a == a", "a '<' b", "b '>' a", "-f dir", "text -ef text", "' 5 ' -eq 5", "x", "''", "-x dir", "-f", "-L text", "010 -eq 10", "-r text", "-t 0"}, {"", "", "-a x", "-o x", "-a ''", "-o ''", ")", "-a -f text", "-o -d dir -a -z x", "x", "-a ! -e missing"}},
	},
	"sleep": {noInput: true, slots: [][]string{{"", "0", "0.001", "0s", ".001", "x", "-1", "0m", "0h 0d", "1x", "''", "0.0001s", "-- 0", "nan", "--foo"}, {"", "0", "00", "0.00", "0.001s", "y", "0x0", "0e1", "0.1e-2", "+0", "0d", "-0"}}},
}

// gnuTextDifferences are those of the programs that work on text.
var gnuTextDifferences = []gnuDifference{
	{"tail", regexp.MustCompile(`^\["-2" ("-|".*" ")`), ""},
	{"rev", regexp.MustCompile(`(nul|binary)$`), "does not stop at a NUL, nor at bytes that are not UTF-8"},
	{"column", regexp.MustCompile(`^\["-t" "-L".*(\["-t" "-L"\]|newline"\]|empty"\]) `), ""},
	{"split", regexp.MustCompile(`^\["-n" "(3|4|l/2|2/3|l/1/2)"( "-e")?( "-".*)?\] `), "`-n` splits the standard input, too"},
	{"cksum", regexp.MustCompile(`^\["dir"\]`), "a directory is an error"},
	{"hexdump", regexp.MustCompile(`"-s" .*[^t"lyn]"\] <|"-s" "[^"]+"\] <|"-s" "3" "-n" "7"\] <`), "`-s` skips in the standard input, too"},
	{"strings", regexp.MustCompile(`"-"\] <`), "`-` is the standard input"},
	{"xxd", regexp.MustCompile(`"-l" "x"`), ""},
	{"jq", regexp.MustCompile(`^\["-n" "\$ARGS"|"\." "data.json"|"--seq"`), "objects have their keys in order"},
	{"jq", regexp.MustCompile(`\$__loc__|input_line_number`), "`$__loc__`, `input_line_number`, `leaf_paths` and some others are missing"},
	{"jq", regexp.MustCompile(`100000000000000000000`), "numbers of the input that do not change are printed as they were written"},
	{"jq", regexp.MustCompile(`"text"\] <|"missing" "list"\] <`), "after a missing file, all values of the next are read; what is not JSON has the status 2"},
	{"jq", regexp.MustCompile(`^\["-c?e" .*"list"\] <`), "an input without a result does not change the status of `-e`"},
	{"xargs", regexp.MustCompile(`(nul|binary)$`), "a NUL does not end a word"},
}
