# inside: whether the shell is below the root. Where no symlink is followed that is
# known already.
inside() {
	[ -z "$still" ] || return 0
	case $PWD/ in
	"$root"/*) return 0 ;;
	/) return $overtaken ;; # a directory that was removed has no path
	esac
	return $escape
}

# straight NAME: whether the shell is in the directory NAME, and no symlink has led
# it there.
straight() {
	case $1 in
	.) arrived "${root:-/}" ;;
	*) arrived "$root/$1" ;;
	esac
}

# arrived PATH: whether the shell is in the directory PATH, in which there are no
# symlinks. here is where it is: the kernel knows, and some shells only believe
# to know.
arrived() {
	here=$PWD
	if [ -n "$BASH_VERSION$KSH_VERSION$ZSH_VERSION$YASH_VERSION" ]; then
		here=$(
			readlink /proc/self/cwd
			printf .
		)
		here=${here%??}
	fi
	[ "$here" = "$1" ]
}

# pinned DESCRIPTOR: whether ./$b was opened without following a symlink.
pinned() {
	[ -n "$still" ] || return 0
	target=$(
		readlink "/proc/self/fd/$1"
		printf .
	)
	[ "${target%??}" = "${here%/}/$b" ] || return $again
}

# there: whether ./$b is there.
there() { [ -e "./$b" ] || [ -L "./$b" ]; }

# readable: whether the current directory can be opened. Busybox says that root may
# read any, also without capabilities.
readable() {
	{ :; } 2>/dev/null <. || return $denied
}

# refused: why the current directory, or what a program that told has run for was
# about, cannot be changed.
refused() {
	case $said in
	*'ermission denied'* | *'not permitted'* | *'ead-only file system'*) return $denied ;;
	*'irectory not empty'*) return $notempty ;;
	*'esource busy'*) return $busy ;;
	*': No space left on device' | *'uota exceeded') return $full ;;
	esac
	[ -w . ] || return $denied
	# Busybox says that root may, also without capabilities or where nobody may.
	# There may be room for bytes, but for no file. mkdir follows no symlink that somebody
	# has left under the name, and rmdir removes nothing that has anything in it.
	read -r unknown 2>/dev/null </proc/sys/kernel/random/uuid || unknown=$$
	case $(mkdir -- "./$prefix$unknown" 2>&1 && rmdir -- "./$prefix$unknown" 2>&1) in
	*'Read-only file system'* | *'ermission denied'* | *'not permitted'*) return $denied ;;
	*': No space left on device' | *'uota exceeded') return $full ;;
	*onexistent* | *'No such file'*) # so it is with /proc, where nothing can be created
		[ ! . -ef "$PWD/" ] || return $denied
		return $overtaken
		;;
	esac
	case $said in *'ile exists'* | *'No such file'* | *'s a directory'*) return $overtaken ;; esac # no longer
	return $failed
}

# resolve NAME: follows NAME, element by element, with all symlinks. Returns 0
# if it exists, then the shell is in its directory and b is the last element,
# or b is "." and the shell is in NAME itself. If it is missing b is the part
# that is.
resolve() {
	left=$1
	links=0
	way= made=
	cd -P -- "$root/." 2>/dev/null || return $overtaken
	[ -z "$still" ] || straight . || return $overtaken
	while [ -n "$left" ]; do
		case $left in
		*/*) b=${left%%/*} left=${left#*/} ;;
		*) b=$left left= ;;
		esac
		case $b in
		'' | .) continue ;;
		..)
			cd -P .. || return $failed
			continue
			;;
		esac
		if [ -L "./$b" ]; then
			[ -z "$still" ] || return $symlink
			links=$((links + 1))
			[ $links -le 40 ] || return $loop
			target=$(
				readlink "./$b"
				printf .
			)
			target=${target%??}
			case $target in /*) cd -P / ;; esac
			left=$target/$left
			continue
		fi
		if cd -P -- "./$b" 2>/dev/null; then
			way=$way/$b
			[ -z "$still" ] || straight "${way#/}" || return $symlink
			continue
		fi
		inside || return
		if [ ! -e "./$b" ]; then
			b=$b/$left
			while :; do
				case $b in
				*/) b=${b%/} ;;
				*) break ;;
				esac
			done
			fits || return $long
			return $missing
		elif [ -d "./$b" ]; then
			cd -P -- "./$b" 2>/dev/null || return $denied
			[ -z "$still" ] || return $again
			continue # it was made meanwhile
		fi
		there || return $overtaken
		[ -z "${left%/}" ] || return $notdir
		return 0
	done
	b=.
	inside
}

# fits: whether no element of $b, the missing end of a path, is too long for a name. What a
# symlink leads to may have such a one.
fits() {
	rest=/$b
	while [ -n "$rest" ]; do
		rest=${rest#/}
		element=${rest%%/*}
		[ ${#element} -le 255 ] || return
		rest=${rest#"$element"}
	done
}

# into DIR: enters DIR.
into() {
	if cd -P -- "$root/$1" 2>/dev/null; then
		if [ -z "$still" ]; then
			inside
			return
		fi
		straight "$1" && return
	fi
	resolve "$1" || return
	[ "$b" = . ] || return $notdir
}

# at DIR BASE: enters DIR; b is BASE.
at() {
	into "$1" || return
	b=$2
}

# follow DIR BASE: as at, but b is what BASE leads to if it is a symlink.
follow() {
	at "$1" "$2" || return
	[ -L "./$b" ] || return 0
	[ -z "$still" ] || return $symlink
	resolve "$1/$2"
}

# file DIR BASE: follows to what must be a file.
file() {
	follow "$1" "$2" || return
	[ -f "./$b" ] && return
	[ -d "./$b" ] && return $isdir
	there && return $special
	return $missing
}

# deep DIR: enters DIR, making it and its parents if they are missing.
deep() {
	into "$1"
	result=$?
	[ $result -eq $missing ] || return $result
	left=$b
	way=${1%"$left"}
	dig
}

# dig: enters the directory $left of the current one, making it and its parents.
# way is the current one, where no symlink is followed. made is how much of the path
# of the current one has been made, with a slash before each element.
dig() {
	case /$left/ in */../*) return $missing ;; esac
	while [ -n "$left" ]; do
		case $left in
		*/*) b=${left%%/*} left=${left#*/} ;;
		*) b=$left left= ;;
		esac
		case $b in "$prefix"*) return $reserved ;; esac
		fresh=$made/$b
		said=$(mkdir -- "./$b" 2>&1) || fresh=
		if ! cd -P -- "./$b" 2>/dev/null; then
			[ -z "$still" ] || [ ! -L "./$b" ] || return $symlink
			[ -z "$fresh" ] || return $overtaken
			[ ! -f "./$b" ] && [ ! -L "./$b" ] || return $notdir
			refused
			return
		fi
		made= said=
		inside || return
		way=$way$b
		[ -z "$still" ] || straight "$way" || return $symlink
		way=$way/
		made=$fresh
	done
}

# resolved NAME: writes what NAME leads to, from the root.
resolved() {
	resolve "$1"
	result=$?
	case $result in
	0 | $missing) ;;
	$notdir) # nothing exists below a file
		case /$left/ in */../*) return $notdir ;; esac
		b=$b/$left
		;;
	*) return $result ;;
	esac
	if [ -n "$still" ]; then
		printf '%s' "$1"
	else
		printf '%s' "${PWD#"$root"}/$b"
	fi
}
