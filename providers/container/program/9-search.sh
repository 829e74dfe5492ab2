# tree TOP BELOW DEPTH: describes what is in the directory BELOW of TOP, to DEPTH
# levels, or to any if that is empty. BELOW is "." for TOP itself; otherwise no
# symlink in it is followed.
tree() {
	into "$1" || return
	if [ "$2" != . ]; then
		plain "$2"
		second $? || return
	fi
	[ -r . ] || return $denied
	list . ${3:+-maxdepth $3}
}

# plain DIR: enters DIR without following symlinks.
plain() {
	left=$1
	while [ -n "$left" ]; do
		case $left in
		*/*) b=${left%%/*} left=${left#*/} ;;
		*) b=$left left= ;;
		esac
		[ ! -L "./$b" ] || return $notdir
		if ! cd -P -- "./$b" 2>/dev/null; then
			[ ! -d "./$b" ] || return $denied
			there && return $notdir
			return $missing
		fi
	done
}

# batches SIZE COMMAND ARGUMENT...: runs a command of shell with names behind
# the arguments, as many as fit, until all are done. The names are the input,
# each with a NUL behind it.
batches() {
	size=$1
	shift
	printf '\n%s +\n' "$marker" >&4
	head -c "$size" <&3 | xargs -0 sh -c "$@" 2>/dev/null
	result=$?
	case $result in
	0) return 0 ;;
	123) return $partial ;; # one of them failed
	esac
	quit=1 # some of the names may be left, and must not be taken for requests
	return $failed
}

# candidates TOP SIZE OPTIONS PATTERN: writes which of the files in the input
# have a line that grep finds; without OPTIONS, which have a NUL.
candidates() {
	into "$1" || return
	[ "$greps" != no ] || return $lacking
	if [ -n "$3" ]; then
		set -- "$2" "$3 -e" "$4"
	else
		set -- "$2" "$nuls" "$nul"
	fi
	batches "$1" 'options=$0 pattern=$1
		shift
		printf "\0\n" | grep -l $options "$pattern" -- "$@"
		[ $? -lt 2 ]' "$greps $2" "$3"
}

# sift TOP SIZE OPTIONS PATTERN: does both of what candidates does, side by side.
# For some of the files at a time it writes first those with a line that grep
# finds, and then those with a NUL. Behind each of the two is "//" with the
# status of grep, which is no name.
sift() {
	into "$1" || return
	[ "$greps" != no ] || return $lacking
	batches "$2" 'options=$0 pattern=$1 nuls=$2 nul=$3
		shift 3
		{
			printf "\0\n" | grep -l $nuls "$nul" -- "$@"
			printf "//%d\n" $?
		} | {
			grep -l $options -e "$pattern" -- "$@"
			printf "//%d\n" $?
			cat
		}' "$greps $3" "$4" "$greps $nuls" "$nul"
}

# fetch TOP SIZE LENGTH: writes the bytes of the files in the input, at most
# LENGTH of each unless that is 0. Before those of some of them come their
# number and descriptions, behind them once more the descriptions.
fetch() {
	into "$1" || return
	batches "$2" 'length=$1
		shift
		printf "%d\n" $#
		stat -c "$0 %n//" -- "$@"
		if [ $length -eq 0 ]; then cat -- "$@"; else head -q -c $length -- "$@"; fi
		stat -c "$0 %n//" -- "$@"' "$form" "$3"
}
