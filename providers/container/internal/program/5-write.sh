# target DIR BASE CONDITION: enters the directory in which a file will be
# written, and makes it, unless CONDITION says that it must be there.
target() {
	case $3 in
	same)
		follow "$1" "$2"
		result=$?
		[ $result -ne $missing ] || return $conflict
		[ $result -eq 0 ] || return $result
		;;
	new)
		deep "$1" || return
		b=$2
		! there || return $exists
		;;
	*)
		deep "$1" || return
		b=$2
		if [ -L "./$b" ]; then
			[ -z "$still" ] || return $symlink
			resolve "$1/$2"
			result=$?
			[ $result -eq 0 ] || [ $result -eq $missing ] || return $result
			case $b in
			*/*)
				base=${b##*/} left=${b%/*}
				dig || return
				b=$base
				;;
			esac
		fi
		;;
	esac
	case ${PWD#"$root"}/$b in */"$prefix"*) return $reserved ;; esac
	[ ! -d "./$b" ] || return $isdir
	[ -f "./$b" ] || ! there || return $special
}

# lacks PATH SIZE: true if the file system of PATH has no room for SIZE bytes
# more. The shell's own printf does not say why it fails. One without blocks, such
# as /proc, is not full.
lacks() {
	df -Pk -- "$1" 2>/dev/null | {
		read -r line
		read -r line
		line=${line%%[0-9]%*} # up to the percentage, a column after the free blocks
		line=${line% *}
		line=${line%"${line##*[! ]}"}
		available=${line##* }
		line=${line%"$available"}
		line=${line%"${line##*[! ]}"}
		case $available${line##* } in '' | 00 | *[!0-9]*) return 1 ;; esac
		[ "$available" -le $(($2 / 1024 + 4)) ]
	}
}

# write DIR BASE CONDITION VERSION TEMPORARY SIZE FORMAT: writes a file whose
# bytes are FORMAT, as printf takes it.
write() {
	target "$1" "$2" "$3" || return
	if ! printf "$7" 2>/dev/null >"./$5"; then
		lacks . "$6"
		result=$?
		rm -f -- "./$5"
		[ $result -ne 0 ] || return $full
		refused
		return
	fi
	place "./$5" "$3" "$4" "$6"
}

# spool DIR BASE CONDITION TEMPORARY SIZE: stores the input in a temporary file
# beside the file that will be written, or in the nearest directory above it that
# exists, and writes the path. What CONDITION says is tested later.
spool() {
	resolve "$1"
	result=$?
	[ $result -eq 0 ] || [ $result -eq $missing ] || return $result
	[ "$b" = . ] || [ $result -eq $missing ] || return $notdir
	if [ $result -eq 0 ] && [ "$3" != new ] && [ -L "./$2" ]; then
		resolve "$1/$2" # it may lead to another file system
		result=$?
		[ $result -eq 0 ] || [ $result -eq $missing ] || return $result
		[ "$b" != . ] || return $isdir
	fi
	path=$PWD/$4
	[ -z "$still" ] || path=${here%/}/$4
	append "./$4" "$5" || return
	printf '%s' "$path"
}

# append PATH SIZE: adds the input to the end of a temporary file.
append() {
	case $1 in
	/*)
		cd -P -- "${1%/*}/" 2>/dev/null || return $overtaken
		dir=${1%/*}
		[ -z "$still" ] || arrived "${dir:-/}" || return $overtaken
		set -- "./${1##*/}" "$2"
		;;
	esac
	opened=
	{
		opened=1
		printf '\n%s +\n' "$marker" >&4
		head -c "$2" <&3
	} 2>/dev/null >>"$1" && return
	result=$?
	if [ -n "$opened" ]; then
		quit=1 # what is left of the input must not be taken for requests
		lacks "$1" "$2"
		lacks=$?
		rm -f -- "$1"
		survived $result || return
		[ $lacks -ne 0 ] || return $full
		printf 'the file could not be stored'
		return $failed
	fi
	refused
}

# commit DIR BASE CONDITION VERSION PATH SIZE: makes a temporary file the file.
commit() {
	[ -f "$5" ] || return $overtaken
	target "$1" "$2" "$3"
	result=$?
	if [ $result -ne 0 ]; then
		rm -f -- "$5"
		return $result
	fi
	place "$5" "$3" "$4" "$6"
}

# abandon DIR BASE TEMPORARY PATH: removes what a change of BASE in DIR that was
# given up has left: the temporary file, or the directory, where write, spool or
# unpack would have made it, or PATH if that is known, and the lock.
abandon() {
	resolve "$1"
	forsake "$3" "$4"
	[ -z "$2" ] || [ ! -L "./$2" ] || {
		resolve "$1/$2"
		forsake "$3"
	}
}

# forsake TEMPORARY PATH: does that in the current directory.
forsake() {
	rm -r -f -- "./$1" ${2:+"$2"}
	owner=
	! odd "./${prefix}unlock" && [ -f "./${prefix}lock" ] && read -r owner 2>/dev/null <"./${prefix}lock" || return 0
	! dead $owner || unlock "$owner"
}
