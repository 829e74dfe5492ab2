# second STATUS: says that the second of two names is meant.
second() { [ "$1" -eq 0 ] || return $((other + $1)); }

# move DIR BASE DIR BASE: moves the first to the second.
move() {
	at "$1" "$2" || return
	there || return $missing
	from=${PWD%/}/$b
	if [ -d "./$b" ] && [ ! -L "./$b" ]; then
		resolve "$3" # as far as it exists
		case $PWD/ in
		"$from"/*) return $beneath ;;
		esac
	fi
	deep "$3"
	second $? || return
	b=$4
	locked give "$from"
	second $?
}

# duplicate DIR BASE DIR BASE TEMPORARY: copies the first to the second.
duplicate() {
	file "$1" "$2" || return
	[ -r "./$b" ] || return $denied
	from=${PWD%/}/$b
	target "$3" "$4" new
	second $? || return
	if ! cp -- "$from" "./$5" 2>&1; then
		rm -f -- "./$5"
		[ -f "$from" ] || return $missing
		refused
		second $?
		return
	fi
	size=$(stat -c %s -- "./$5")
	place "./$5" new '' "$size"
	second $?
}
