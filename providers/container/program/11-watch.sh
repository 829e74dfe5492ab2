# observe DIR: writes a line for each change below DIR, after one that says that
# all of it is observed.
observe() {
	into "$1" || return
	[ -r . ] || return $denied
	# It tells on standard error when it has begun.
	inotifywait -m -r --format %e --exclude "/$prefix" \
		-e modify -e create -e delete -e move -e delete_self -e move_self . 2>&1
	return $failed
}
