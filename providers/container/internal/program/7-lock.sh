# locked FUNCTION ARGUMENT...: calls a function while no other shell, of
# whatever client, does so in this directory.
locked() {
	lock || return
	"$@"
	outcome=$?
	rm -f -- "./${prefix}lock"
	return $outcome
}

# own PATH: makes the file PATH, with who we are in it, if there is none.
own() {
	fresh=
	set -C
	{
		fresh=1
		printf '%s\n' "$me"
	} 2>/dev/null >"$1"
	outcome=$?
	set +C
	[ $outcome -ne 0 ] && [ -n "$fresh" ] || return $outcome
	rm -f -- "$1"
	return $full
}

# How long a lock that does not change hands is waited for, in hundredths of a
# second.
patience=3000

# lock: makes the lock of this directory. One whose owner is dead is removed, and
# one whose owner cannot be judged from here when it has been there for long. A
# directory that has been removed takes no lock, and none is in it.
lock() {
	tries=0
	since=
	seen=
	absent=0
	owner=
	while :; do
		if odd "./${prefix}lock" || odd "./${prefix}unlock" || [ $tries -gt $patience ]; then
			stuck
			return $locked
		fi
		own "./${prefix}lock" 2>/dev/null && return
		[ $? -ne $full ] || return $full
		[ -w . ] || return $denied
		owner=
		read -r owner 2>/dev/null <"./${prefix}lock"
		[ -e "./${prefix}lock" ] && absent=0 || absent=$((absent + 1))
		if [ $absent -ge 20 ]; then
			refused
			outcome=$?
			[ $outcome -eq $failed ] || return $outcome
			return $overtaken
		fi
		[ "$owner" = "$seen" ] || tries=0 since=
		seen=$owner
		tries=$((tries + 1))
		clocked
		if [ "${owner%% *}" = "${me%% *}" ] && [ -n "$owner" ]; then
			! dead $owner || unlock "$owner"
		elif [ $tries -gt 1000 ]; then
			unlock "$owner"
		fi
		pause
	done
}

# clocked: raises tries to what the clock says, as a round takes longer than its
# pause. The clock has whole seconds, so one is taken off.
clocked() {
	read -r now line 2>/dev/null </proc/uptime || return
	now=${now%%.*}
	since=${since:-$now}
	passed=$(((now - since - 1) * 100))
	[ $passed -le $tries ] || tries=$passed
}

# pause: waits for a moment, and longer if it has been waited for long.
pause() {
	if [ $tries -lt 100 ]; then
		sleep 0.01 2>/dev/null && return
	else
		tries=$((tries + 9))
		sleep 0.1 2>/dev/null && return
	fi
	tries=$((tries + 90))
	sleep 1
}

# odd PATH: whether PATH is there and is no regular file, so no lock of ours. Each
# test must hold by itself: between two of them a lock may be released.
odd() { [ -L "$1" ] || [ -d "$1" ] || [ -p "$1" ] || [ -S "$1" ] || [ -b "$1" ] || [ -c "$1" ]; }

# stuck: writes which file is in the way, from the root, and the number of the
# process that it belongs to, if it is known.
stuck() {
	way=${prefix}lock
	! odd "./${prefix}unlock" || way=${prefix}unlock
	way=${PWD#"$root"}/$way
	holder=
	[ "${owner%% *}" != "${me%% *}" ] || holder=${owner#* }
	printf '%s\n%s' "${holder%% *}" "${way#/}"
}

# dead SPACE PROCESS START: whether the process has ended, if this shell can
# know: it must be in the same namespace.
dead() {
	[ "$1" = "${me%% *}" ] || return
	ended "$2" "$3"
}

# ended PROCESS START: whether the process that began at START has ended.
ended() {
	read -r line 2>/dev/null <"/proc/$1/stat" || return 0
	set -- "$2" ${line##*) }
	[ "$2" = Z ] || [ "$1" != "${21}" ]
}

# unlock OWNER: removes the lock that OWNER has left. A lock of its own sees to
# it that of several who try, none removes what another has made since.
unlock() {
	if ! own "./${prefix}unlock" 2>/dev/null; then
		owner=
		read -r owner 2>/dev/null <"./${prefix}unlock"
		[ -n "$owner" ] && ! dead $owner || rm -f -- "./${prefix}unlock"
		return
	fi
	owner=
	read -r owner 2>/dev/null <"./${prefix}lock"
	[ "$owner" != "$1" ] || rm -f -- "./${prefix}lock"
	rm -f -- "./${prefix}unlock"
}

# killorphan PROCESS START FIRST: ends what a shell that was given up is still doing,
# and all that it has started. Another process may have its number by now. If the
# shell has ended, those that it has started keep the number from others, unless
# the container was started again since, and with it the first process.
killorphan() {
	process=$1 start=$2
	if read -r line 2>/dev/null <"/proc/$process/stat"; then
		set -- ${line##*) }
		[ "$start" = "${20}" ] || return 0
	elif [ -z "$first" ] || [ "$first" != "$3" ]; then
		return 0
	fi
	kill -9 "-$process" 2>/dev/null
	tries=0
	until ended "$process" "$start" || [ $tries -ge 50 ]; do
		tries=$((tries + 1))
		pause
	done
}
