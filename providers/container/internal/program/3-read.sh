# describe DIR BASE
describe() {
	at "$1" "$2" || return
	stat -c "$form" "./$b" 2>/dev/null && return
	there || return $missing
	return $failed
}

# content DIR BASE: the bytes of a file.
content() {
	file "$1" "$2" || return
	opened=
	{
		opened=1
		pinned 0 && cat
	} 2>/dev/null <"./$b" && return
	result=$?
	[ $result -ne $again ] || return $result
	unread
}

# snapshot DIR BASE LIMIT OFFSET LENGTH: a line that describes a file, and a
# window of its bytes. A LENGTH of 0 is to the end, a LIMIT of 0 is none.
snapshot() {
	file "$1" "$2" || return
	opened=
	{
		opened=1
		pinned 0 && window "$3" "$4" "$5"
	} 2>/dev/null <"./$b" && return
	result=$?
	[ $result -ne $toolarge ] && [ $result -ne $again ] || return $result
	unread
}

# unread: why ./$b could not be read.
unread() {
	[ -n "$opened" ] && return $failed
	there || return $missing
	return $denied
}

# window LIMIT OFFSET LENGTH: the same for the file that is open as standard
# input. It may grow, or be one of the kernel without a size, so a LIMIT, which
# only a whole file has, also ends it.
window() {
	limit=$1 offset=$2 length=$3
	line=$(stat -L -c "$form" /proc/self/fd/0) || return
	printf '%s\n' "$line"
	set -- $line
	[ $limit -eq 0 ] || [ "$2" -le $limit ] || return $toolarge
	if [ "$2" -eq 0 ] && [ $offset -gt 0 ]; then
		dd bs=1 count=$offset of=/dev/null # it skips nothing where there is no size
		offset=0
	fi
	[ $offset -eq 0 ] || [ $offset -lt "$2" ] || return 0
	if [ "$2" -eq 0 ] && [ $length -eq 0 ] && [ $limit -gt 0 ]; then
		head -c $((limit + 1))
	elif [ $limit -gt 0 ] && [ -n "$windows" ]; then
		dd bs=65536 iflag=fullblock count=$((limit / 65536 + 1)) # head of BusyBox is slow
	elif [ $limit -gt 0 ]; then
		head -c $((limit + 1))
	elif [ $offset -eq 0 ] && [ $length -eq 0 ]; then
		cat
	elif [ $length -eq 0 ]; then
		dd bs=1 skip=$offset count=0 && cat
	elif [ -n "$windows" ]; then
		dd bs=65536 iflag=skip_bytes,count_bytes skip=$offset count=$length
	else
		dd bs=1 skip=$offset count=0 && head -c $length
	fi
}

# children DIR: describes what is in DIR.
children() {
	into "$1" || return
	readable || return
	list . -maxdepth 1
}

# list WHERE CONDITION...: a description for each thing found, with its path
# after it and "//" and a line break after that, which no path has in it.
list() {
	where=$1
	shift
	{
		errors=$(
			if [ -n "$finds" ]; then
				find "$where" -mindepth 1 "$@" -printf '%y %s %i %U %G %m %T@ %p//\n' 2>&1 >&6
			else
				find "$where" -mindepth 1 "$@" -exec stat -c "$form %n//" {} + 2>&1 >&6
			fi
		)
		result=$?
	} 6>&1
	ran $result
	result=$?
	[ $result -eq $partial ] || return $result
	vanishing && return $vanished
	toolong && return
	return $partial
}

# toolong: whether all errors of a program are about paths that are too long for the
# kernel: busybox goes by paths. The names are too long, too, so each is described as
# a directory without a valid name.
toolong() {
	! printf '%s\n' "$errors" | grep -q -v '^find: .*/.*: File name too long$' || return
	line=$(stat -c "$form" .) || return
	printf '%s\n' "$errors" | while IFS= read -r where; do
		where=${where#find: }
		printf '%s %s/\377//\n' "$line" "${where%/*}"
	done
}

# vanishing: whether all errors of a program are about what is no longer where it
# was found. A name with a line break in it can hide that, but not pretend it.
vanishing() {
	! printf '%s\n' "$errors" |
		grep -q -v -e ': No such file or directory$' -e ': Not a directory$' -e ': No such process$'
}

# ran STATUS: what the exit status of a search over many files means.
ran() {
	[ "$1" -eq 0 ] && return
	[ "$1" -lt 126 ] && return $partial
	return $failed
}
