
# keep MARK: kills everything that has MARK in its environment when the client is cut
# off, or closes the session. Without a reader, a reply would end the shell before that.
keep() {
	kept=$1
	trap '' PIPE
	trap 'sweep "$kept"' EXIT
}

# sweep MARK [LEADER]: kills every process that has MARK in its environment, that one of
# them has started, or that is in the session or the group of one of them or of LEADER,
# until there are none. There may be room for no other process until some of them have ended.
sweep() {
	mark=$1 leaders=$2 sweeps=0
	[ "${2:-0}" -gt 1 ] 2>/dev/null && kill -9 "-$2" 2>/dev/null
	while marked; do
		kill -9 $found 2>/dev/null
		sweeps=$((sweeps + 1))
		[ $sweeps -lt 3 ] || pause
		[ $sweeps -lt 500 ] || return $failed
	done
	return 0
}

# marked: whether there is a process that sweep kills. found has those that are known by what
# they belong to, or if there are none, those with MARK and what belongs to them. Busybox does
# not find a text after a NUL, but does find an expression.
marked() {
	found=
	! related || return 0
	files=$(
		set +f
		grep -l -s -e "$mark" /proc/[0-9]*/environ 2>/dev/null
		echo .
	)
	case $files in *.) ;; *) return 0 ;; esac # grep could not be started
	for file in ${files%.}; do
		file=${file#/proc/}
		found="$found ${file%/environ}"
	done
	[ -n "$found" ] && related
}

# related: adds to found what belongs to a process there or to leaders, and is true if found
# has any then. It starts no process.
related() {
	leaders="$leaders$found"
	before=.
	while [ "$before" != "$found" ]; do
		before=$found
		set +f
		for file in /proc/[0-9]*/stat; do
			set -f
			last=
			while read -r line; do last=$line; done 2>/dev/null <"$file" # a name may have line breaks
			[ -n "$last" ] || continue
			process=${file#/proc/}
			process=${process%/stat}
			set -- ${last##*) } # state, parent, group, session
			case $1 in [ZX]) continue ;; esac
			case "$found " in
			*" $process "*) ;;
			*" $2 "*) found="$found $process" ;;
			*)
				case " $leaders " in
				*" $3 "* | *" $4 "*) found="$found $process" ;;
				esac
				;;
			esac
		done
		set -f
	done
	leaders="$leaders$found"
	[ -n "$found" ]
}
