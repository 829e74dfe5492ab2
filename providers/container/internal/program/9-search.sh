# tree TOP BELOW DEPTH: describes what is in the directory BELOW of TOP, to DEPTH
# levels, or to any if that is empty. BELOW is "." for TOP itself; otherwise no
# symlink in it is followed. Nothing is described that is in one of omitted.
tree() {
	into "$1" || return
	top=
	[ "$1" = . ] || top=$1/
	if [ "$2" != . ]; then
		plain "$2"
		second $? || return
	fi
	readable || return
	set -- ${3:+-maxdepth $3}
	if [ -n "$omitted" ]; then
		set -- "$@" "("
		IFS=$newline
		for mount in $omitted; do
			case $PWD/ in "$mount"/*)
				unset IFS
				return 0
				;;
			esac
			set -- "$@" -path ".${mount#"${PWD%/}"}" -prune -o
		done
		unset IFS
		set -- "$@" -type d -o ! -type d ")"
	fi
	list . "$@"
}

# plain DIR: enters DIR without following symlinks.
plain() {
	left=$1
	way=
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
		way=${way:+$way/}$b
		[ -z "$still" ] || straight "$top$way" || return $notdir
	done
}

# batches SIZE COMMAND ARGUMENT...: runs a command of shell with names after the
# arguments, as many as fit, until all are done. The names are the input, each
# with a NUL after it.
batches() {
	size=$1
	shift
	printf '\n%s +\n' "$marker" >&4
	head -c "$size" <&3 | xargs -0 -s $room sh -c "$@" 2>/dev/null
	result=$?
	case $result in
	0) return 0 ;;
	123) return $partial ;; # one of them failed
	esac
	quit=1 # some of the names may be left, and must not be taken for requests
	return $failed
}

# nuls TOP SIZE: writes which of the files in the input have a NUL. For some of
# them at a time comes first a list and then, after "//", which is no name, the
# status of grep and how many they are.
nuls() {
	into "$1" || return
	[ "$greps" != no ] || return $lacking
	batches "$2" 'options=$0 nul=$1
		shift
		printf "\0\n" | grep -l $options "$nul" -- "$@"
		printf "//%d %d\n" $? $#' "$greps $nuls" "$nul"
}

# remotegrep TOP SIZE OPTIONS PATTERN NULS: writes what grep finds in the files in the
# input, and with NULS beside it which have a NUL. For some of them at a time
# comes first the one and then the other, each with what nuls has after it.
remotegrep() {
	into "$1" || return
	[ "$greps" != no ] || return $lacking
	batches "$2" 'options=$0 pattern=$1 nuls=$2 nul=$3
		shift 3
		{
			[ -z "$nuls" ] || printf "\0\n" | grep -l $nuls "$nul" -- "$@"
			printf "//%d %d\n" $? $#
		} | {
			grep -H $options -e "$pattern" -- "$@"
			printf "//%d %d\n" $? $#
			cat
		}' "$3" "$4" "${5:+$greps $nuls}" "$nul"
}

# fetch TOP SIZE LENGTH MARK: writes the bytes of the files in the input, at most
# LENGTH of each unless that is 0. Some of them at a time make a frame: first come
# their number and names, then their bytes, and between two MARKs what tells if
# one has changed.
fetch() {
	into "$1" || return
	batches "$2" 'length=$0 mark=$1
		shift
		printf "%d\n" $#
		printf "%s//\n" "$@"
		if [ $length -eq 0 ]; then cat -- "$@"; else head -q -c $length -- "$@"; fi
		printf "\n%s\n" "$mark"
		stat -c "%i %s %y %n//" -- "$@"
		printf "%s\n" "$mark"' "$3" "$4"
}
