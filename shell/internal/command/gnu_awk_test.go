package command

import "regexp"

// gnuAwkTests compares awk with gawk. Loops over arrays are sorted, since each awk has
// an order of its own.
var gnuAwkTests = map[string]gnuTest{"awk": {
	real: []string{"gawk"}, env: []string{"COLOR=red"}, changes: true,
	slots: [][]string{
		{"", "", "-F:", "-F ,", "-F '\\t'", "-F '[ ,:]+'", "-v OFS=-", "-v RS=", "-v 'RS=[0-9]+'", "-v RS=e", "-F '|'", "-F ''", "-v IGNORECASE=1", "-Ft", "-v NR=10", "-v CONVFMT=%.2f", "-v 'FPAT=[a-z]+'"},
		{
			"'{print $1}'", "'{print $NF, NF, NR, FNR, FILENAME}'", "'{$2=\"\"; print}'", "'{NF=2; $1=$1} 1'", "'NR==2,/e/'", "'/a/{n++} END{print n+0}'", "'!seen[$1]++'",
			"'{s+=$1} END{print s, s/NR}'", "'{print length, length($1), toupper($0), tolower($2)}'", "'{gsub(/[aeiou]/,\"<&>\")} 1'", "'{print substr($0,2,3), index($0,\"e\"), match($0,/[a-z]+/), RSTART, RLENGTH}'",
			"'{n=split($0,a,/[ e]/); for(i=1;i<=n;i++) printf \"%s|\", a[i]; print \"\"}'", "'{printf \"%5.1f|%-8s|%03d|%c|%x\\n\", $1, $2, $1, $1, length}'", "'{$5=\"x\"; print; print NF}'",
			"'{a[NR]=$0} END{for(i=NR;i>0;i--) print a[i]}'", "'{c[$1]++} END{PROCINFO[\"sorted_in\"]=\"@ind_str_asc\"; for(k in c) print k, c[k]}'", "'{print $1 > \"out1\"; print $2 >> \"words\"}'",
			"'$1 ~ /^[a-z]/ && $2 !~ /x/'", "'{print ($1 > $2), ($1 == $2), $1 < 10}'", "'{print gensub(/([a-z])([a-z])/, \"\\\\2\\\\1\", \"g\")}'", "'NF{print $NF; nextfile}'",
			"'BEGINFILE{print \"<\" FILENAME} {n++} ENDFILE{print FNR, n \">\"}'", "'{while((getline l < \"left\")>0) n++; close(\"left\")} END{print n, l}'", "'NR%2{getline x; print x; next} {print NR, $0}'", "'{sub(/^[ \\t]+/,\"\"); print $1; $0=\"a b c\"; print NF}'", "'END{print $0, NF, NR}'",
			"'{print substr($0, length($0)-2); print RT}'", "'{print $1+0, -$1, !$1, $1%3, $1^2}'", "'/o/,/e/{print NR\": \"$0}'", "'length > 10'", "'{n=asort(a); split($0,a); n=asort(a,b); for(i=1;i<=n;i++) printf \"%s,\", b[i]; print n}'",
		},
		{"text", "words", "numbers", "csv", "colons", "unicode", "nonl", "crlf", "empty", "blanks", "left right", "", "-", "missing text", "x=1 text FS=, csv", "long", "dir words"},
	},
	lines: awkLines,
	files: map[string]string{"prog.awk": "# a program\n\nBEGIN { FS = \" \" }\n/e/ {\n\tn++\n\tif (n > 1 &&\n\t    n < 4)\n\t\tprint n,\n\t\t  $1\n}\nEND { print n + 0 }\n", "more.awk": "END { print \"more\" }\n"},
}}

// awkLines are programs without an input to speak of.
var awkLines = []string{
	`'BEGIN{print -12 " " -24; print 1==1.0, "a"<"b", 2<10, "2"<"10"; print 1e6, 1e300*10, 0.1+0.2, 100000*100000, 1/3, -0, 2^53+1}'`,
	`'BEGIN{print 2^3^2, -2^2, !0+1, 7%-3, -7%3, 2**3; x=5; x^=2; x%=7; print x++ + ++x, x--, x}'`,
	`'BEGIN{a["x"]=1; print ("x" in a), ("y" in a), length(a); delete a["x"]; print length(a); b[1,2]=3; for(k in b){split(k,p,SUBSEP); print p[1], p[2]} if((1,2) in b) print "yes"}'`,
	`'function f(n){return n<2?n:f(n-1)+f(n-2)} BEGIN{print f(15)}'`, `'function g(a,k){a[k]=1} BEGIN{g(x,"q"); for(i in x) print i; print length(x)}'`,
	`'function h(a,  i,s){for(i=1;i in a;i++) s=s a[i]; return s} BEGIN{split("a b c",z); print h(z), i, s}'`,
	`'BEGIN{printf "%d %i %5d|%-5d|%05d|%+d|% d|%x|%X|%#x|%o|%#o|%u\n", 3.9, -3.9, 42, 42, 42, 42, 42, 255, 255, 255, 8, 8, 7}'`,
	`'BEGIN{printf "%e %E %f %F %g %G %.3g %#g %10.2e|%-10.1f|%+.2f|%010.3f\n", 1234.5, 1234.5, 1.5, 2.5, 1e10, 1e-10, 1234567, 1, 12345, 2.25, 1, 3.14159}'`,
	`'BEGIN{printf "%s %10s|%-10s|%.2s|%c%c%c|%5c|%%|%*d|%-*d|%.*f\n", "a", "b", "c", "defg", 65, "xyz", 233, "q", 5, 42, 5, 42, 2, 3.14159}'`,
	`'BEGIN{printf "%d %d %x %s\n", "0x1A", "12abc", -1, 1e18; printf "%d %s\n", 2^60, 2^60; printf "%5s|%-5s|\n", "日本", "é"}'`,
	`'BEGIN{print substr("hello",2), substr("hello",0), substr("hello",-1,3), substr("hello",2,100), substr("hello",1.5,2.3), substr("héllo",2,1) "|" substr("x",5) "|"}'`,
	`'BEGIN{print index("foobar","bar"), index("日本語","語"), length("日本語"), toupper("éa"), tolower("ÀB")}'`,
	`'BEGIN{s="aaa"; print gsub(/a/,"b",s), s; s="abc"; gsub(//,"-",s); print s; s="hello"; gsub(/l*/,"x",s); print s; s="a.b"; gsub(/\./,"\\&",s); print s}'`,
	`'BEGIN{s="path/to"; gsub("/","\\/",s); print s; t="a&b"; sub(/&/,"[\\\\&]",t); print t; u="x"; gsub(/x/,"\\\\\\&",u); print u; v="q"; gsub(/q/, "a\\\\b", v); print v}'`,
	`'BEGIN{print match("foobar",/o+/), RSTART, RLENGTH; print match("x",/y/), RSTART, RLENGTH; if(match("ab12cd",/([a-z]+)([0-9]+)/,m)) print m[0], m[1], m[2], m[1,"start"], m[2,"length"]}'`,
	`'BEGIN{n=split("a:b:c",a,":"); print n, a[1], a[3]; n=split("",a); print n, length(a); n=split("abc",a,""); print n, a[2]; n=split("  x  y ",a," "); print n, a[1] a[2]; n=split("a1b22c",a,/[0-9]+/,s); print n, s[1], s[2]}'`,
	`'BEGIN{print int(3.9), int(-3.9), int("4x"), sqrt(16), exp(0), log(1), sin(0), cos(0), atan2(0,-1)}'`,
	`'BEGIN{print and(12,10), or(12,10), xor(12,10), lshift(1,4), rshift(16,2), strtonum("0x1F"), strtonum("017"), strtonum("12")}'`,
	`'BEGIN{print strftime("%Y-%m-%d %H:%M:%S",0), strftime("%A %j %U",86400*45), mktime("2020 02 03 04 05 06")}'`,
	`'BEGIN{print ENVIRON["COLOR"], ENVIRON["HOME"] "."; print ARGC, ARGV[1], ARGV[2]}' x y=1`, `'END{print x, y}' x=3 text y=4`,
	`'BEGIN { x = "A"; if (x ~ "^" "A$") print "m"; print "a" "b" > "/dev/stdout" }'`, `'BEGIN{getline; print "got " $0; getline x; print x, NR}' text`,
	`'BEGIN{print getline < "nofile"; print (getline line < "words"), line; print close("words"), close("zzz")}'`, `'BEGIN{switch("b"){case "a": print 1; case /b/: print 2; case "c": print 3; break; default: print 4}}'`,
	`'BEGIN{do {i++; if(i==2) continue; if(i>4) break; print i} while(1); for(;;) if(++j>3) break; print j}'`, `'BEGIN{exit 3} END{print "end"}'`, `'{exit} END{print NR; exit 4}' text`, `'function f(){exit 5} BEGIN{f(); print "no"}'`, `'function f(){next} NR==1{f()} {print NR; if(NR>2) exit}' text`,
	`'BEGIN{a["x"]=3;a["y"]=1;a["z"]=2; PROCINFO["sorted_in"]="@val_num_desc"; for(k in a) print k; PROCINFO["sorted_in"]="@ind_str_desc"; for(k in a) print k}'`,
	`'BEGIN{a[10]=1;a[9]=1;a[100]=1; PROCINFO["sorted_in"]="@ind_num_asc"; for(k in a) print k; n=asorti(a,b); for(i=1;i<=n;i++) print b[i]}'`,
	`'function c(i,v,j,w){return w-v} BEGIN{a[1]=5;a[2]=9;a[3]=7; PROCINFO["sorted_in"]="c"; for(k in a) print a[k]; n=asort(a,b,"@val_num_desc"); print b[1], b[3]}'`,
	`'BEGIN{a[1][2]=3; a[1]["x"]=4; print a[1][2], length(a[1]), isarray(a[1]); n=0; for(i in a) for(j in a[i]) n++; print n}'`, `'BEGIN{print typeof(x), typeof(1), typeof("a"), typeof(a[1]); b[1]; print typeof(b)}'`,
	`'BEGIN{printf "a\tb\\n\x41\101\"\n"}'`, `'BEGIN{if(!("x" in a)) print "none"; if(!x) print "unset"; print x+0, x ""; print length()}'`,
	`'/[[:upper:]]/{print} /\yfox\y/{print "word"} /\<The\>/{print "The"}' text`, `'/[^[:alnum:][:space:]]/' text csv`, `'/a{2}|p{2}/' words`, `'$0 ~ "\\." {print "dot: " $0}' text`, `'/[]a]/' words`, `'/a\/b|[/]/' text`, `'/^$/{n++} END{print n}' text`, `'/\$|\^|\(/' csv`,
	`-f prog.awk text`, `-f prog.awk -f more.awk words`, `-f nofile`, `-v 'x=a\tb' 'BEGIN{print x}'`, `-v 's=1' -v t=2 -- 'BEGIN{print s+t}'`, `-i inplace '{$1="E"; print}' left right`, `-i inplace 'NR==1{exit} 1' left`, `-i inplace '{print > "other"}' left`, `''`, `'BEGIN{'`, `'BEGIN{print 1/x}'`, `'{print $-1}' text`, `'BEGIN{f(1)}'`, `'BEGIN{x=1; x[1]=2}'`, `'BEGIN { print "unterminated }'`, `'/abc'`, `'BEGIN{return}'`, `'next' text`, `-Z`, `-v`, `''  text`, `'BEGIN{print length(12345), length}'`, `'BEGIN{getline x < "left"; print x; print "more" > "left2"; close("left2"); while((getline y < "left2")>0) print y}'`,
	`'{print > $1".txt"} END{close("1.txt")}' left`, `'{print $1, $2 > "/dev/stderr"}' left`, `'NR==FNR{a[$1]=$2;next} $1 in a{print $0, a[$1]}' left right`, `-F: '{print $1":"$2; $1="X"}1' OFS=: colons`, `-F, 'NR>1&&NF==3{s+=$3;n++} END{printf "%.2f\n", s/n}' csv`,
	`'BEGIN{RS="";FS="\n"}{print NR": "$1"|"$2}' text`, `'BEGIN{RS="\n\n+"}{print NR": "$0}' text`, `'BEGIN{FIELDS=1;$0="a b c";print NF,$2;$2="";print;print NF;$7="z";print;NF=3;print;$0="";print NF}'`, `'{$3="";$1=$1}1' OFS=, text`, `'BEGIN{CONVFMT="%d";a[12.5]=1;for(k in a)print k;x=3.7;y=x "";print y;OFMT="%.1f";print 3.14159, 3.0, 17 ""}'`,
	`'BEGIN{x["a"]; if("a" in x) print "in"; delete x; print length(x); print 1 < 2 ? "a" : "b"}'`, `'BEGIN{print (1>2)?"a":"b"; print 1,2 > "/dev/stdout"; print(1)(2)}'`, `'BEGIN{print (1)(2); print(1,2); print (1)+2; x = "a" "b"; print x; print 1 " " 2, 3}'`, `'BEGIN{$3="c";print NF, $0;print 010+0, 0x10, "0x10"+0, "1e2"+0, ".5."+0, "+5"+0}'`,
	`'BEGIN{a="10"; b=9; print (a<b), (a+0<b); $0="10 9 abc 1e1"; print ($1<$2), ($1==$4), ($3>$1), $1==10.0, $1=="10.0"}'`, `'BEGIN { if (1) print "x"; else print "y"; if (0) { } else if (1) { print "z" } ; while (i < 3) i++; print i }'`, `'BEGIN{print substr("abc", 2, -1) "|" substr("abc", "x") "|" index("abc","") "|" length(a b)}'`, `'BEGIN{print log(0), -log(0), int("inf"), "+inf"+0, "nan"+0; printf "%d %f %s\n", -log(0), log(0), -log(0)}'`, `'BEGIN{print toupper(substr("word",1,1)) substr("word",2)}'`, `'{ $2 = $2 * 2; print } # comment' left`, `'function f(x){x[1]=1} BEGIN{y=1; f(y)}'`, `'BEGIN{printf "%s"}'`, `'BEGIN{print gensub(/(a)(b)/,"[\\2\\1&\\0]","g","abxab"), gensub(/a/,"X",2,"aaa"), gensub(/z/,"Y","G","aaa")}'`,
}

// gnuAwkDifferences are the differences from gawk.
var gnuAwkDifferences = []gnuDifference{
	{"awk", regexp.MustCompile(`"BEGIN\{"|unterminated|"/abc"|\{return\}|"next"|"-Z"|^\["-v"\]`), "after an error of syntax or of usage, the status is 2"},
}
