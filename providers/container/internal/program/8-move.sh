# second STATUS: says that the second of two names is meant.
second() { [ "$1" -eq 0 ] || return $((other + $1)); }

# move DIR BASE DIR BASE TEMPORARY: moves the first to the second. What the directory
# of the first is called may change meanwhile, but not what is open, where it can be read.
move() {
	at "$1" "$2" || return
	there || return $missing
	[ -w . ] || return $denied
	from=${PWD%/}/$b
	[ -z "$still" ] || from=${here%/}/$b
	if readable; then
		carry "/proc/self/fd/5/$b" "$3" "$4" "$5" 5<.
	elif [ -n "$still" ]; then
		return $denied
	else
		carry "$from" "$3" "$4" "$5"
	fi
}

# carry PATH DIR BASE TEMPORARY: moves ./$b, which is PATH and the path from, to DIR
# BASE.
carry() {
	if [ -d "./$b" ] && [ ! -L "./$b" ]; then
		resolve "$2" # the part that exists
		case $PWD/ in
		"$from"/*) return $beneath ;;
		esac
	fi
	deep "$2"
	second $? || return
	b=$3
	if ! abroad "${1%/*}/."; then
		! laden "$1" '*overlay*' || return $busy
	elif point "$1" || laden "$1" '*'; then
		return $busy
	elif [ -f "$1" ] && [ ! -L "$1" ]; then
		ferry "$@"
		return
	fi
	both "${1%/*}" give "$1"
	result=$?
	[ $result -ne $busy ] || return $result
	second $result
}

# point PATH: whether the file or directory PATH, about whose directory abroad was asked,
# is mounted itself. Only mv that does not copy would notice.
point() {
	[ ! -L "$1" ] && { [ -f "$1" ] || [ -d "$1" ]; } || return
	mounted "$1"
	[ -n "$mount" ] && [ -n "$number" ] && [ "$mount" != "$number" ]
}

# laden PATH TYPES: whether PATH, also called $from, is a directory of a file system of these
# types, a pattern, in which something is mounted. If mv copies such a directory, it cannot
# remove it whole. With overlayfs it copies what is of the image.
laden() {
	[ -d "$1" ] && [ ! -L "$1" ] || return
	inner= kind=
	while read -r source at type line; do
		spelled
		case $at in "$from"/*) inner=1 ;; esac
		case $from in "${at%/}"/*) kind=$type ;; esac
	done 2>/dev/null </proc/mounts
	[ -n "$inner" ] || return
	case $kind in $2) ;; *) return 1 ;; esac
}

# spelled: spells the path at of a list of mounts as others do, which has a space as \040.
spelled() {
	case $at in *\\*) at=$(printf '%b.' "$at") at=${at%.} ;; esac
}

# abroad DIR: whether DIR is in another file system than the current directory, or in
# another mount of the same: mv would copy from there. turn is empty if both locks the
# current one first, and "same" if the two are one directory.
abroad() {
	mounted "$1"
	mount=$number
	mounted .
	set -- $(stat -c '%d %i' -- "$1" . 2>/dev/null)
	turn=
	if [ "$1 $2" = "$3 $4" ]; then
		turn=same
	elif { [ "$1" -lt "$3" ] || { [ "$1" = "$3" ] && [ "$2" -lt "$4" ]; }; } 2>/dev/null; then
		turn=other
	fi
	[ "$1" != "$3" ] || [ "$mount" != "$number" ]
}

# mounted PATH: finds out the number of the mount that PATH is in. It is empty if PATH cannot
# be read, or the kernel does not say.
mounted() {
	number=
	while read -r key value; do
		[ "$key" != mnt_id: ] || number=$value
	done 2>/dev/null 6<"$1" </proc/self/fdinfo/6
}

# both DIR FUNCTION ARGUMENT...: as locked, while no other shell does so in DIR either,
# about which abroad was asked. As every shell takes the two locks in the order of file
# systems and inodes, none waits for another that waits for it.
both() {
	if [ -z "$turn" ]; then
		locked beyond "$@"
		return
	fi
	dir=$1
	shift
	case $turn in
	same) locked "$@" ;;
	*) beyond "$dir" locked "$@" ;;
	esac
}

# beyond DIR FUNCTION ARGUMENT...: calls a function while no other shell does so in DIR.
# Where there is no room for a lock there is none for a write either.
beyond() {
	held=$1/.
	(
		cd -P -- "$held" 2>/dev/null || exit $overtaken
		lock
	)
	result=$?
	[ $result -eq 0 ] || [ $result -eq $full ] || return $result
	[ $result -eq 0 ] || held=
	shift
	"$@"
	outcome=$?
	[ -z "$held" ] || rm -f -- "$held/${prefix}lock"
	return $outcome
}

# ferry PATH DIR BASE TEMPORARY: moves a file to another mount, so that DIR BASE never has
# a part of it. It is copied again if it changes meanwhile.
ferry() {
	before=$(stat -c "$form" -- "$1" 2>/dev/null) || return $overtaken
	reproduce "$@" keep || return
	both "${1%/*}" settle "$1" "./$4" "$before"
	result=$?
	rm -f -- "./$4"
	return $result
}

# settle PATH TEMPORARY STAT: puts the copy TEMPORARY of the file PATH at ./$b in
# place of the file, which STAT described when it was copied.
settle() {
	[ "$(stat -c "$form" -- "$1" 2>/dev/null)" = "$3" ] || return $overtaken
	if ! ln $exact -- "$2" "./$b" 2>/dev/null; then
		give "$2"
		second $? || return
	fi
	told rm -- "$1" && return
	rm -f -- "./$b"
	[ -e "$1" ] || return $overtaken
	return $denied
}

# duplicate DIR BASE DIR BASE TEMPORARY: copies the first to the second.
duplicate() {
	file "$1" "$2" || return
	[ -r "./$b" ] || return $denied
	if [ -z "$still" ]; then
		reproduce "${PWD%/}/$b" "$3" "$4" "$5"
		return
	fi
	result=$again
	{
		pinned 5 && reproduce /proc/self/fd/5 "$3" "$4" "$5"
		result=$?
	} 2>/dev/null 5<"./$b"
	return $result
}

# reproduce PATH DIR BASE TEMPORARY KEEP: copies PATH to DIR BASE, or unless KEEP is
# empty only to TEMPORARY, with all that mv keeps.
reproduce() {
	target "$2" "$3" new
	second $? || return
	if ! told attended cp ${5:+-P} -- "$1" "./$4"; then
		rm -f -- "./$4"
		[ -f "$1" ] || return $missing
		refused
		second $?
		return
	fi
	if [ -n "$5" ]; then
		[ ! -L "./$4" ] || return 0
		was=$(stat -c '%u:%g %a' -- "$1" 2>/dev/null)
		chown "${was% *}" "./$4" 2>/dev/null || was=${was#"${was%???}"} # no setuid for another owner
		chmod "${was#* }" "./$4" 2>/dev/null
		touch -r "$1" "./$4" 2>/dev/null
		return 0
	fi
	size=$(stat -c %s -- "./$4")
	place "./$4" new '' "$size"
	second $?
}
