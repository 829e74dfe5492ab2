set -f
refuse() {
	echo "$1" >&2
	exit
}
cd -P -- "$dir" 2>/dev/null || {
	[ -e "$dir" ] || refuse missing
	[ -d "$dir" ] || refuse notdir
	refuse denied
}
[ "$PWD" = "$dir" ] || refuse moved
program=
case $1 in
-*/*) program=./$1 ;;
*/*) program=$1 ;;
*)
	IFS=:
	for at in $search; do
		at=${at:-.}/$1
		[ -f "$at" ] || continue
		program=${program:-$at}
		[ -x "$at" ] && program=$at && break
	done
	unset IFS
	;;
esac
[ -n "$program" ] && [ -e "$program" ] || refuse noprogram
[ -f "$program" ] && [ -x "$program" ] || refuse noexec
case $1 in
-*) # exec of some shells, and the interpreter of a script, would mistake it for an option
	shift
	set -- "$program" "$@"
	;;
esac
case $1 in
*=*) set -- "$sh" -c 'exec "$@"' sh "$@" ;; # env would regard it as a variable
esac
echo "ready $$" >&2
read -r marker || exit
exec 3<&0 4>&1 5>&2
# A shell says on its standard error that a signal has ended a program, except for INT
# and PIPE. That of a program that exits with 137 is the same code without the words. Bash
# warns of a missing locale when it begins.
said=$("$sh" -c 'exec 2>&1; (exec "$@" <&3 >&4 2>&5 3<&- 4>&- 5>&-); printf =%d $?' sh \
	"$env" -- ENVIRONMENT "$@" 2>/dev/null) ||
	[ $? -ne 126 ] || said==toolong # the kernel refuses the arguments, also those of the shell
code=${said##*=}
said=${said%=*}
signal=
case $code,$said in
*[!0-9]*,*) ;;
130,* | 141,* | *,?*) [ "$code" -le 128 ] || signal=$(kill -l $((code - 128))) ;;
esac
# A command can have set its outputs so that a write fails while there is no room.
say() {
	until printf "$@"; do sleep 1 || break; done 2>/dev/null
}
say '%s\n' "$marker" >&4
say '%s %s %s\n' "$marker" "$code" "$signal" >&5
exit
