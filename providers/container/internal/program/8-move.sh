# second STATUS: says that the second of two names is meant.
second() { [ "$1" -eq 0 ] || return $((other + $1)); }

# move DIR BASE DIR BASE: moves the first to the second. What the directory of the
# first is called may change meanwhile, but not what is open.
move() {
	at "$1" "$2" || return
	there || return $missing
	[ -w . ] || return $denied
	from=${PWD%/}/$b
	if [ -z "$still" ]; then
		carry "$from" "$3" "$4"
		return
	fi
	from=${here%/}/$b
	readable || return
	carry "/proc/self/fd/5/$b" "$3" "$4" 5<.
}

# carry PATH DIR BASE: moves ./$b, which is PATH and the path from, to DIR BASE.
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
	locked give "$1"
	second $?
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

# reproduce PATH DIR BASE TEMPORARY: copies PATH to DIR BASE.
reproduce() {
	target "$2" "$3" new
	second $? || return
	if ! told attended cp -- "$1" "./$4"; then
		rm -f -- "./$4"
		[ -f "$1" ] || return $missing
		refused
		second $?
		return
	fi
	size=$(stat -c %s -- "./$4")
	place "./$4" new '' "$size"
	second $?
}
