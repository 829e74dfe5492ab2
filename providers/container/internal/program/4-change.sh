# make DIR BASE: makes a directory.
make() {
	at "$1" "$2" || return
	there && return $exists
	told mkdir -- "./$b" && return
	there && return $exists
	refused
}

# remove DIR BASE RECURSIVE
remove() {
	at "$1" "$2" || return
	there || return $missing
	if [ -L "./$b" ] || [ ! -d "./$b" ]; then
		told rm -- "./$b" && return
	elif [ -n "$3" ]; then
		told attended rm -r -f -- "./$b" && return
		# That of busybox does not say what it cannot list.
		[ -n "$said" ] || said=$(attended find "./$b" 2>&1 >/dev/null)
		case $said in '' | *'irectory not empty'*) ! there || return $overtaken ;; esac # somebody fills it
	else
		rmdir -- "./$b" 2>/dev/null && return
		vacant "$1" "$2"
		case $? in
		0) return $notempty ;;
		1) told rmdir -- "./$b" && return ;;
		esac
	fi
	there || return $missing
	refused
}

# vacant DIR BASE: what occupied returns for ./$b, which is BASE in DIR.
vacant() {
	if [ -z "$still" ]; then
		occupied "./$b"
		return
	fi
	name=$2
	[ "$1" = . ] || name=$1/$2
	(
		cd -P -- "./$b" 2>/dev/null && straight "$name" || exit 0
		occupied .
	)
}

# occupied DIR: returns 1 if nothing is in DIR, after what writers that were
# killed have left there has been removed. If something else is there, too, that
# stays: a lock may belong to a writer that lives.
occupied() {
	set +f
	set -- "$1"/.* "$1"/*
	set -f
	for entry in "$@"; do
		case $entry in */. | */..) continue ;; esac
		leftover "$entry" && continue
		[ ! -e "$entry" ] && [ ! -L "$entry" ] || return 0
	done
	for entry in "$@"; do
		! leftover "$entry" || rm -r -f -- "$entry"
	done
	return 1
}

# leftover PATH: whether PATH may be a lock, or a temporary file or directory, of
# ours, and not some other thing with the reserved prefix.
leftover() {
	case ${1##*/} in "$prefix"*) ;; *) return 1 ;; esac
	rest=${1##*/"$prefix"}
	case $rest in
	lock | unlock) ! odd "$1" ;;
	*[!A-Z2-7]*) false ;;
	*) [ ${#rest} -eq 26 ] && [ ! -L "$1" ] && { [ -d "$1" ] || ! odd "$1"; } ;;
	esac
}
