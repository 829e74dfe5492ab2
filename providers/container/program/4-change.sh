# make DIR BASE: makes a directory.
make() {
	at "$1" "$2" || return
	there && return $exists
	mkdir -- "./$b" 2>&1 && return
	there && return $exists
	refused
}

# remove DIR BASE RECURSIVE
remove() {
	at "$1" "$2" || return
	there || return $missing
	if [ -L "./$b" ] || [ ! -d "./$b" ]; then
		rm -- "./$b" 2>&1 && return
	elif [ -n "$3" ]; then
		rm -r -f -- "./$b" 2>&1 && return
	else
		rmdir -- "./$b" 2>/dev/null && return
		occupied "./$b"
		case $? in
		0) return $notempty ;;
		1) rmdir -- "./$b" 2>&1 && return ;;
		esac
	fi
	there || return $missing
	refused
}

# occupied DIR: returns 1 if nothing is in DIR, after what writers that were
# killed have left there has been removed.
occupied() {
	set +f
	for entry in "$1"/.* "$1"/*; do
		case $entry in
		*/. | */..) continue ;;
		*/"$prefix"*)
			rm -f -- "$entry"
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
