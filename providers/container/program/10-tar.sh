# unpack DIR: unpacks the input, a tar archive, into DIR.
unpack() {
	deep "$1" || return
	command -v tar >/dev/null || return $lacking
	printf '\n%s +\n' "$marker" >&4
	chunks | tar -x -f - 2>/dev/null && return
	quit=1 # what is left of the input must not be taken for requests
	refused
}

# chunks: writes the input, of which each part has its length on a line before
# it. A length of 0 ends it. It is read by dd, as some heads read too far.
chunks() {
	while read -r length <&3 && [ "$length" -gt 0 ]; do
		dd bs="$length" count=1 iflag=fullblock <&3 2>/dev/null || return
	done
}

# pack DIR: writes a tar archive of what is in DIR.
pack() {
	into "$1" || return
	command -v tar >/dev/null || return $lacking
	tar -c -f - . 2>/dev/null
	ran $?
}
