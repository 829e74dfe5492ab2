# observe DIR: writes a line for each change below DIR, after one that says that
# all of it is observed. Nothing reports that a directory is removed while a program
# is in it.
observe() {
	into "$1" || return
	readable || return
	top=${PWD%/}/
	cd /
	set --
	IFS=$newline
	for mount in $omitted; do
		case $mount in "$top"*) set -- "$@" "@$mount" ;; esac
	done
	unset IFS
	# It tells on standard error when it has begun.
	attended inotifywait -m -r --format %e --exclude "/$prefix" \
		-e modify -e create -e delete -e move -e delete_self -e move_self "$top" "$@" 2>&1
	return $failed
}

# survey DIR SIZE: writes what inotifyd reports about the directories in the
# input, DIR and those below it: arguments of it with a NUL after each. It does not
# say when it has begun.
survey() {
	into "$1" || return
	readable || return
	cd /
	printf '\n%s +\n' "$marker" >&4
	head -c "$2" <&3 | xargs -0 -s 1500000 sh -c "$attending" sh inotifyd - 2>/dev/null
	quit=1 # some of the input may be left, and must not be taken for requests
	return $failed
}

# knock DIR: opens the directory, which those who observe it are told.
knock() {
	into "$1" || return
	readable
}
