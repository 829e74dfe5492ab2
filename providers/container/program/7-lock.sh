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
	set -C
	printf '%s\n' "$me" 2>/dev/null >"$1"
	outcome=$?
	set +C
	return $outcome
}

# lock: makes the lock of this directory. One whose owner is dead is removed, and
# one whose owner cannot be judged from here when it has been there for long. A
# directory that has been removed takes no lock, and none is in it.
lock() {
	tries=0
	seen=
	absent=0
	until own "./${prefix}lock" 2>/dev/null; do
		[ -w . ] || return $denied
		owner=
		read -r owner 2>/dev/null <"./${prefix}lock"
		[ -e "./${prefix}lock" ] && absent=0 || absent=$((absent + 1))
		[ $absent -lt 20 ] || return $overtaken
		[ "$owner" = "$seen" ] || tries=0
		seen=$owner
		tries=$((tries + 1))
		if [ "${owner%% *}" = "${me%% *}" ] && [ -n "$owner" ]; then
			! dead $owner || unlock "$owner"
		elif [ $tries -gt 1000 ]; then
			unlock "$owner"
		fi
		sleep 0.01 2>/dev/null || sleep 1
	done
}

# dead SPACE PROCESS START: whether the process has ended, as far as this shell
# can tell: it must be in the same namespace.
dead() {
	[ "$1" = "${me%% *}" ] || return
	read -r line 2>/dev/null <"/proc/$2/stat" || return 0
	set -- "$3" ${line##*) }
	[ "$1" != "${21}" ]
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

# reap PROCESS START: ends what a shell that was given up is still doing, and
# all that it has started. Another process may have its number by now.
reap() {
	read -r line 2>/dev/null <"/proc/$1/stat" || return 0
	process=$1 start=$2
	set -- ${line##*) }
	[ "$start" != "${20}" ] || kill -9 "-$process"
}
