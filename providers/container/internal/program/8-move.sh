# second STATUS: says that the second of two names is meant.
second() { [ "$1" -eq 0 ] || return $((other + $1)); }

# move DIR BASE DIR BASE TEMPORARY: moves the first to the second. What the directory
# of the first is called may change meanwhile, but not what is open.
move() {
	at "$1" "$2" || return
	there || return $missing
	[ -w . ] || return $denied
	from=${PWD%/}/$b
	if [ -z "$still" ]; then
		carry "$from" "$3" "$4" "$5"
		return
	fi
	from=${here%/}/$b
	readable || return
	carry "/proc/self/fd/5/$b" "$3" "$4" "$5" 5<.
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
	if [ -f "$1" ] && [ ! -L "$1" ] && abroad "${1%/*}/."; then
		ferry "$@"
		return
	fi
	locked give "$1"
	second $?
}

# abroad DIR: whether DIR is in another file system than the current directory.
abroad() {
	set -- $(stat -c %d -- "$1" . 2>/dev/null)
	[ "$1" != "$2" ]
}

# ferry PATH DIR BASE TEMPORARY: moves a file to another file system, so that DIR BASE
# never has a part of it.
ferry() {
	reproduce "$@" keep || return
	rm -f -- "$1" 2>/dev/null && return
	rm -f -- "./$b"
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

# reproduce PATH DIR BASE TEMPORARY KEEP: copies PATH to DIR BASE, and unless KEEP is
# empty with all that mv keeps.
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
	if [ -n "$5" ] && [ ! -L "./$4" ]; then
		was=$(stat -c '%u:%g %a' -- "$1" 2>/dev/null)
		chown "${was% *}" "./$4" 2>/dev/null || was=${was#"${was%???}"} # no setuid for another owner
		chmod "${was#* }" "./$4" 2>/dev/null
		touch -r "$1" "./$4" 2>/dev/null
	fi
	size=$(stat -c %s -- "./$4")
	place "./$4" new '' "$size"
	second $?
}
