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
# killed have left there has been removed.
occupied() {
	set +f
	for entry in "$1"/.* "$1"/*; do
		case $entry in
		*/. | */..) continue ;;
		*/"$prefix"*)
			rm -r -f -- "$entry"
			continue
			;;
		esac
		if [ -e "$entry" ] || [ -L "$entry" ]; then
			set -f
			return 0
		fi
	done
	set -f
	return 1
}
