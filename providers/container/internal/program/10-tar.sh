# unpack DIR TEMPORARY: unpacks the input, a tar archive without symlinks, into
# the directory TEMPORARY, and moves what is in it to DIR if the client says that it is
# whole.
unpack() {
	deep "$1" || return
	command -v tar >/dev/null || return $lacking
	mkdir -m 700 -- "./$2" 2>/dev/null || {
		refused
		return
	}
	result=$failed
	{
		printf '\n%s +\n' "$marker" >&4
		if chunks | (cd "./$2" && exec tar -x -p -f -) && read -r end <&3 && [ "$end" = whole ]; then
			pour /proc/self/fd/5/. "$1"
			result=$?
		else
			quit=1 # what is left of the input must not be taken for requests
			refused
			result=$?
			! lacks . 0 || result=$full
		fi
	} 2>/dev/null 5<"./$2"
	rm -r -f -- "./$2"
	return $result
}

# pour PATH NAME: moves what is in the directory PATH, in which there are no
# symlinks, to the current directory, which is NAME. What is in a directory that
# exists here, too, is moved into that.
pour() {
	set +f
	set -- "$1" "$2" "$1"/*/ "$1"/.*/
	set -f
	for below in "$@"; do
		b=${below%/}
		b=${b##*/}
		case $below in
		*/./ | */../) continue ;;
		*/) [ -d "$below" ] && there || continue ;;
		*) continue ;;
		esac
		(
			cd -P -- "./$b" 2>/dev/null || {
				[ -d "./$b" ] && exit $denied
				exit $notdir
			}
			name=$b
			[ "$2" = . ] || name=$2/$b
			inside || exit
			[ -z "$still" ] || straight "$name" || exit $symlink
			pour "$below." "$name"
		) || return
		rmdir -- "$below" || return $failed
	done
	find "$1" -mindepth 1 -maxdepth 1 -exec sh -c 'exec mv -f -- "$@" .' sh {} + && return
	set +f
	set -- "$1"/.[!.]* "$1"/..?* "$1"/*
	set -f
	for b in "$@"; do # it is still there
		[ ! -d "./${b##*/}" ] || return $isdir
	done
	refused
}

# link DIR BASE TARGET: makes a symlink in place of any file.
link() {
	deep "$1" || return
	b=$2
	[ ! -d "./$b" ] || [ -L "./$b" ] || return $isdir
	ln -s -f -n $exact -- "$3" "./$b" 2>/dev/null && return
	refused
}

# chunks: writes the input, in which each part has its length on a line before
# it. A length of 0 ends it. It is read by dd, as some heads read too far.
chunks() {
	while read -r length <&3 && [ "$length" -gt 0 ]; do
		dd bs="$length" count=1 iflag=fullblock <&3 2>/dev/null || return
	done
}

# pack DIR: writes a tar archive of what is in DIR, but for those of
# omitted that are in it. It writes nothing if there is nothing else, or DIR is
# in one of them.
pack() {
	into "$1" || return
	command -v tar >/dev/null || return $lacking
	set -- .
	IFS=$newline
	for mount in $omitted; do
		case $mount in "${PWD%/}"/*) set -- ;; esac
		case $PWD/ in "$mount"/*)
			unset IFS
			return 0
			;;
		esac
	done
	if [ $# -eq 0 ]; then
		set +f
		for entry in ./* ./.[!.]* ./..?*; do
			case $newline$omitted in *"$newline${PWD%/}${entry#.}$newline"*) continue ;; esac
			b=${entry#./}
			! there || set -- "$@" "$entry"
		done
		set -f
	fi
	unset IFS
	[ $# -gt 0 ] || return 0
	tar -c -f - "$@" 2>/dev/null
	ran $?
}
