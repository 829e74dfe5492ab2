# What a shell in the container is taught when it is opened: one function for
# each request. It keeps to POSIX and to what busybox has: dash, ash and bash
# all run it. Where a test can be made by the shell itself no program is
# started, as that takes ten times as long.
#
# A name comes as two arguments, its directory and its last element, and is
# used as "./element" in that directory, so no name is taken for an option. The
# shell enters a directory by its physical path and then compares that with the
# root: so symlinks are followed, and those that lead out are noticed.

LC_ALL=C
TZ=UTC0
export LC_ALL TZ
set -f
exec 3<&0 4>&1

newline='
'
# The lines of /proc/mounts about the file systems of the kernel.
kernel=' (proc|sysfs|devtmpfs|devpts|mqueue|cgroup2?|bpf|configfs|debugfs|securityfs|tracefs|fusectl|pstore|binfmt_misc|efivarfs|selinuxfs) |^[^ ]+ /dev tmpfs '
# Type and mode, size, inode, owner, group, mode, and in three words the time at
# which the bytes changed.
form='%f %s %i %u %g %a %y'
quit=

# What attended does with the arguments; result is how they ended.
attending='
exec "$@" &
worker=$!
{
	read -r line <&3
	kill -9 $worker
} 2>/dev/null &
guard=$!
wait $worker
result=$?
kill -9 $guard 2>/dev/null
wait $guard 2>/dev/null'

# attended PROGRAM ARGUMENT...: runs a program that may take long, and ends it if
# the client is cut off meanwhile: then the input ends, in which nothing comes
# before the reply.
attended() {
	eval "$attending"
	return $result
}

# request MARKER FUNCTION ARGUMENT...: calls the function and ends its reply. The
# shell does not stay in a directory, which could not be unmounted then; and if
# it were removed, nothing would report that.
request() {
	marker=$1
	shift
	attempt "$@" </dev/null
	printf '\n%s %d\n' "$marker" $?
	cd /
	[ -z "$quit" ] || exit 0
}

# attempt FUNCTION ARGUMENT...: calls the function, and removes the directories
# that it has made if it fails. The shell is still in the last of them then.
attempt() {
	made= said=
	"$@" && return
	outcome=$?
	while [ -n "$made" ]; do
		cd -P .. && rmdir -- "./${made##*/}" 2>/dev/null || break
		made=${made%/*}
	done
	made=
	return $outcome
}

# exactly FUNCTION ARGUMENT...: calls the function so that it follows no symlink.
still=
exactly() {
	still=1
	turns=0
	while :; do
		attempt "$@"
		result=$?
		[ $result -eq $again ] || break
		result=$overtaken
		turns=$((turns + 1))
		[ $turns -lt 100 ] || break
	done
	still=
	return $result
}

# hello ROOT: begins a session in the directory ROOT, or if that is empty where
# the shell is. Tells what the shell is and what the image has.
hello() {
	if ! cd -P -- "${1:-.}" 2>/dev/null; then
		if [ ! -e "$1" ]; then
			way=$1 # what exists of it
			while [ -n "$way" ] && [ ! -e "$way" ]; do way=${way%/*}; done
			[ ! -d "$way/" ] || (cd -- "$way/" 2>/dev/null) || return $denied
			return $missing
		fi
		[ -d "$1" ] || return $notdir
		return $denied
	fi
	root=${PWD%/}
	search
	equipped || return
	omit
	probe
	group= start= first=
	if read -r line 2>/dev/null </proc/1/stat; then
		set -- ${line##*) }
		first=${20}
	fi
	if read -r line 2>/dev/null </proc/$$/stat; then
		set -- ${line##*) }
		group=$3 start=${20}
		me="$(readlink /proc/self/ns/pid) $$ $start"
	fi
	capabilities=
	while read -r key value; do
		[ "$key" != CapEff: ] || capabilities=$value
	done 2>/dev/null </proc/$$/status
	printf '%s\n' "$$" "$group" "$start $first" "$(id -u)" "$(id -G)" "$watches" "$greps" "$texts" "$finds" "$removes" "$capabilities" "$PWD"
}

# search: leaves out of PATH what does not exist, and what is below the root,
# unless that is all there is.
search() {
	top=$PWD
	path= all=
	IFS=:
	for dir in $PATH; do
		cd -P -- "$dir" 2>/dev/null || continue
		case :$all: in *:"$PWD":*) continue ;; esac
		all=$all${all:+:}$PWD
		case $PWD/ in "$root"/*) continue ;; esac
		path=$path${path:+:}$PWD
	done
	unset IFS
	PATH=${path:-$all}
	cd -P -- "$top"
}

# omit: finds out where below the root the file systems are in which the kernel
# shows itself and its devices. What is in them are no files that somebody has
# written, and comes and goes all the time. omitted has each on a line.
omit() {
	omitted=
	IFS=$newline
	for mount in $(grep -E "$kernel" /proc/mounts 2>/dev/null); do
		mount=${mount#* }
		mount=${mount%% *}
		case $mount in
		*[!A-Za-z0-9._/-]*) continue ;; # it would be spelled otherwise, or be a pattern
		"$root"/?*) ;;
		*) continue ;;
		esac
		for known in $omitted; do
			case $mount in "$known"/*) continue 2 ;; esac
		done
		omitted=$omitted$mount$newline
	done
	unset IFS
}

# barred DIR: writes the path of DIR if it is empty and this user cannot write
# there, unless it is mounted, or in what is.
barred() {
	cd -P -- "$1" 2>/dev/null || return $missing
	[ -r . ] && [ ! -w . ] || return 0
	[ "$(find . -maxdepth 1)" = . ] || return 0
	[ "$PWD" != / ] || return 0
	while read -r source at line; do
		[ "$at" != / ] || continue
		spelled
		case $PWD/ in "$at"/*) return 0 ;; esac
	done </proc/mounts
	printf '%s' "$PWD"
}

# equipped: whether the image has what cannot be done without.
equipped() {
	for tool in cat chmod cp dd find grep head id ln mkdir mv readlink rm rmdir sleep stat touch; do
		if ! hash $tool 2>/dev/null; then # which also remembers where it is
			printf 'the image has no %s' $tool
			return $lacking
		fi
	done
	case $(stat -c "$form" . 2>/dev/null) in
	*:*.*) return ;;
	esac
	printf 'the image has a stat that does not tell parts of seconds'
	return $lacking
}

# probe: finds out what the programs of the image can do.
probe() {
	finds=
	[ "$(find . -maxdepth 0 -printf x 2>/dev/null)" = x ] && finds=1
	removes=
	case $(rm --help 2>&1) in *--one-file-system*) removes=1 ;; esac
	exact=
	case $(mv --help 2>&1) in *-T*) exact=-T ;; esac
	greps=no nuls=-e
	nul=$(printf '[^\001-\377]')
	if printf 'a\0b\n' | grep -qa "$nul" 2>/dev/null; then
		greps=-a
	elif printf 'a\0b\n' | grep -q "$nul" 2>/dev/null; then
		greps=
	fi
	# Some take a NUL as a text, which is found twice as fast as an expression.
	# Both files are there wherever there is /proc; the first has NULs in it.
	set -- /proc/self/cmdline /proc/version
	if [ "$(printf '\0\n' | grep -l $greps -F -f - "$@" 2>/dev/null)" = "$1" ]; then
		nuls='-F -f' nul=-
	fi
	# Whether grep leaves out what has a NUL, and nothing else.
	texts=
	case $(printf 'a\200b\n' | grep -c -I a 2>/dev/null)$(printf 'a\0b\n' | grep -c -I a 2>/dev/null) in
	10) texts=-I ;;
	esac
	windows=
	[ "$(printf abc | dd iflag=skip_bytes,count_bytes,fullblock skip=1 count=1 2>/dev/null)" = b ] && windows=1
	# How long the arguments of a program may be together. The kernel counts the
	# pointers to them, too, so short ones take three times as much.
	room=30000
	stack=$(ulimit -s 2>/dev/null)
	if [ "$stack" = unlimited ] || [ "$stack" -ge 8192 ] 2>/dev/null; then
		room=600000
	fi
	watches=
	if hash inotifywait 2>/dev/null; then
		watches=inotifywait
	elif hash inotifyd 2>/dev/null; then
		watches=inotifyd
	fi
	return 0
}

# told PROGRAM ARGUMENT...: runs a program, and writes what it says if it fails. A
# warning of one that succeeds is no part of the reply.
told() {
	said=$("$@" 2>&1) && return
	ended=$?
	printf '%s' "$said"
	return $ended
}

# survived STATUS: whether a program ended by itself.
survived() { [ "$1" -lt 128 ] || return $killed; }
