
# keep MARK: kills everything that has MARK in its environment when the client is cut
# off, or closes the session. Without a reader, a reply would end the shell before that.
keep() {
	kept=$1
	trap '' PIPE
	trap 'sweep "$kept"' EXIT
}

# sweep MARK [LEADER]: kills every process that has MARK in its environment, that one of
# them has started, or that is in the session or the group of one of them or of LEADER,
# until there are none.
sweep() {
	mark=$1 leaders=$2 sweeps=0
	while marked; do
		kill -9 $found 2>/dev/null
		sweeps=$((sweeps + 1))
		[ $sweeps -lt 3 ] || pause
		[ $sweeps -lt 500 ] || return $failed
	done
	return 0
}

# marked: whether there is a process that sweep kills. found has all of them. Busybox does not
# find a text after a NUL, but does find an expression.
marked() {
	found=
	for file in $(set +f && grep -l -s -e "$mark" /proc/[0-9]*/environ 2>/dev/null); do
		file=${file#/proc/}
		found="$found ${file%/environ}"
	done
	leaders="$leaders$found"
	before=.
	while [ "$before" != "$found" ]; do
		before=$found
		for file in $(set +f && echo /proc/[0-9]*/stat); do
			read -r line 2>/dev/null <"$file" || continue
			process=${line%% *}
			set -- ${line##*) } # state, parent, group, session
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
	done
	[ -n "$found" ]
}
